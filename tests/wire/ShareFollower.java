import java.time.Duration;
import java.util.*;
import java.util.stream.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.serialization.*;

/**
 * Is a member of a share group until its standard input ends: it accepts records, but releases those whose value begins with
 * "poison", and tells each with the number of its delivery once that is acknowledged.
 */
class ShareFollower {
  static synchronized void say(Object... words) {
    System.out.println(Arrays.stream(words).map(String::valueOf).collect(Collectors.joining(" ")));
    System.out.flush();
  }

  public static void main(String[] args) throws Exception {
    Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", args[0], "group.id", args[1]));
    settings.put("share.acknowledgement.mode", "explicit");
    say("started");
    try (var consumer = new KafkaShareConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(List.of(args[2]));
      while (System.in.available() == 0) {
        var records = consumer.poll(Duration.ofMillis(200));
        for (var each : records) {
          boolean poison = each.value().startsWith("poison");
          consumer.acknowledge(each, poison ? AcknowledgeType.RELEASE : AcknowledgeType.ACCEPT);
        }
        var failed = new HashSet<String>();
        consumer.commitSync().forEach((partition, error) -> error.ifPresent(e -> failed.add(partition.topicPartition().toString())));
        for (var each : records) {
          boolean isStored = !failed.contains(each.topic() + "-" + each.partition());
          say(isStored ? "stored" : "lost", each.partition(), each.offset(), each.value(), each.deliveryCount().orElse((short) 0));
        }
      }
    }
    say("closed");
  }
}
