import java.time.Duration;
import java.util.*;
import java.util.regex.Pattern;
import java.util.stream.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * Is a member of a group, with the protocol that it is told to use, until its standard input ends: it tells its partitions
 * and the records that it has read and committed.
 */
class Follower {
  static synchronized void say(Object... words) {
    System.out.println(Arrays.stream(words).map(String::valueOf).collect(Collectors.joining(" ")));
    System.out.flush();
  }

  public static void main(String[] args) throws Exception {
    Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", args[0], "group.id", args[1]));
    settings.putAll(Map.of("group.protocol", args[3], "auto.offset.reset", "earliest", "enable.auto.commit", false));
    say("started");
    if (args[3].equals("classic")) settings.put("heartbeat.interval.ms", 500);
    if (args.length > 4) settings.put("group.instance.id", args[4]);
    try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      var listener = new ConsumerRebalanceListener() {
        void tell() {
          say("assigned", consumer.assignment().stream().map(each -> "" + each.partition()).sorted().collect(Collectors.joining(",")));
        }

        public void onPartitionsAssigned(Collection<TopicPartition> added) {
          tell();
        }

        public void onPartitionsRevoked(Collection<TopicPartition> removed) {
          say("revoked", removed.size());
        }
      };
      consumer.subscribe(List.of(args[2]), listener);
      while (System.in.available() == 0) {
        for (var each : consumer.poll(Duration.ofMillis(200))) {
          say("read", each.partition(), each.offset(), each.value());
          consumer.commitSync(Map.of(new TopicPartition(each.topic(), each.partition()), new OffsetAndMetadata(each.offset() + 1)));
        }
      }
    }
    say("closed");
  }
}
