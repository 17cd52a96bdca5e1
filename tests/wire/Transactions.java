import java.io.*;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * Makes a transaction of each line that it reads: "commit VALUE" or "abort VALUE".
 *
 * Each writes the value to two partitions and commits an offset of the group "readers"; the epoch of its producer is
 * printed. At the end the committed values and the group's offset are printed.
 */
class Transactions {
  static void say(Object word, Object value) {
    System.out.println(word + " " + value);
    System.out.flush();
  }

  public static void main(String[] args) throws Exception {
    Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", args[0], "isolation.level", "read_committed"));
    settings.putAll(Map.of("transactional.id", "x", "group.id", "readers"));
    var topic = args[1];
    var lines = new BufferedReader(new InputStreamReader(System.in));
    try (var admin = Admin.create(Map.of("bootstrap.servers", (Object) args[0]));
        var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      producer.initTransactions();
      long offset = 0;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        producer.beginTransaction();
        for (int partition = 0; partition < 2; partition++)
          producer.send(new ProducerRecord<>(topic, partition, null, words[1]));
        var at = new OffsetAndMetadata(++offset);
        producer.sendOffsetsToTransaction(Map.of(new TopicPartition(topic, 0), at), new ConsumerGroupMetadata("readers"));
        if (words[0].equals("commit")) producer.commitTransaction();
        else producer.abortTransaction();
        say("epoch", admin.describeTransactions(List.of("x")).description("x").get().producerEpoch());
      }
    }
    settings.remove("transactional.id");
    try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      var partitions = List.of(new TopicPartition(topic, 0), new TopicPartition(topic, 1));
      consumer.assign(partitions);
      say("committed", consumer.committed(Set.copyOf(partitions)).get(partitions.get(0)).offset());
      consumer.seekToBeginning(partitions);
      var ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each)))
        for (var each : consumer.poll(Duration.ofSeconds(1))) say("read", each.value());
    }
  }
}
