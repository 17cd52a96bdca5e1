import java.io.*;
import java.time.Duration;
import java.util.*;
import java.util.stream.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/** Sends what it reads, a "PARTITION VALUE" a line, and prints what it is told; at the end it reads all back. */
class Faults {
  static synchronized void say(Object... words) {
    System.out.println(Arrays.stream(words).map(String::valueOf).collect(Collectors.joining(" ")));
    System.out.flush();
  }

  static void told(ProducerRecord<String, String> record, RecordMetadata stored, Exception error) {
    if (error == null) say("acknowledged", stored.partition(), stored.offset(), record.value());
    else say("failed", record.value(), error);
  }

  public static void main(String[] args) throws IOException {
    Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", args[0], "acks", "all"));
    settings.putAll(Map.of("enable.idempotence", true, "linger.ms", 2));
    var lines = new BufferedReader(new InputStreamReader(System.in));
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] words = line.split(" ");
        var record = new ProducerRecord<String, String>(args[1], Integer.valueOf(words[0]), null, words[1]);
        producer.send(record, (stored, error) -> told(record, stored, error));
      }
    }
    try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      var partitions = consumer.partitionsFor(args[1]).stream()
          .map(each -> new TopicPartition(each.topic(), each.partition())).toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      var ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each)))
        for (var each : consumer.poll(Duration.ofSeconds(1)))
          say("read", each.partition(), each.offset(), each.value());
    }
  }
}
