import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.AppInfoParser;

/** The adapter of Apache Kafka's Java client: one producer or one consumer at a time. */
final class JavaClient {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int ERROR_MAX = 500;
  private static final Map<String, Byte> ACKNOWLEDGE_TYPES =
      Map.of("accept", (byte) 1, "release", (byte) 2, "reject", (byte) 3);
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(2);

  private static final List<String> UNKNOWN_TO_SHARE_CONSUMERS =
      List.of("auto.offset.reset", "enable.auto.commit", "session.timeout.ms", "heartbeat.interval.ms");

  private KafkaProducer<String, String> producer;
  private KafkaConsumer<String, String> consumer;
  private KafkaShareConsumer<String, String> sharing;
  private ConsumerRecords<String, String> given;

  public static void main(String[] arguments) throws Exception {
    var client = new JavaClient();
    var lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      ObjectNode answer = JSON.createObjectNode();
      try {
        client.answer(JSON.readTree(line), answer);
      } catch (Exception error) {
        answer.put("error", text(error));
      }
      System.out.println(JSON.writeValueAsString(answer));
      System.out.flush();
    }
    System.exit(0);
  }

  private void answer(JsonNode request, ObjectNode answer) throws Exception {
    switch (request.get("do").asText()) {
      case "hello" -> hello(answer);
      case "producer" -> openProducer(settings(request));
      case "send" -> send(request.get("records"), answer.putArray("results"));
      case "begin" -> producer.beginTransaction();
      case "commit transaction" -> producer.commitTransaction();
      case "abort" -> producer.abortTransaction();
      case "send offsets" -> {
        var group = new ConsumerGroupMetadata(request.get("group").asText());
        producer.sendOffsetsToTransaction(offsets(request), group);
      }
      case "consumer" -> openConsumer(request);
      case "share consumer" -> openShareConsumer(request);
      case "acknowledge" -> acknowledge(AcknowledgeType.forId(ACKNOWLEDGE_TYPES.get(request.get("how").asText())));
      case "poll" -> poll(request.get("ms").asLong(), answer);
      case "commit" -> consumer.commitSync(offsets(request));
      case "close" -> close();
      default -> throw new IllegalArgumentException("no such request: " + request.get("do"));
    }
  }

  private static void hello(ObjectNode answer) {
    answer.put("client", "kafka-clients " + AppInfoParser.getVersion());
    answer.put("oldest", "2.1");
    ArrayNode can = answer.putArray("can");
    List.of("idempotence", "transactions", "groups", "cooperative", "static", "consumer protocol", "truncation",
            "share groups")
        .forEach(can::add);
  }

  private static Map<String, Object> settings(JsonNode request) {
    var settings = new HashMap<String, Object>();
    request.get("settings").properties().forEach(pair -> settings.put(pair.getKey(), pair.getValue().asText()));
    return settings;
  }

  private void openProducer(Map<String, Object> settings) {
    producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    if (settings.containsKey("transactional.id")) {
      producer.initTransactions();
    }
  }

  private void send(JsonNode records, ArrayNode results) throws InterruptedException {
    var futures = new ArrayList<Future<RecordMetadata>>();
    for (JsonNode record : records) {
      int partition = record.get("partition").asInt();
      String topic = record.get("topic").asText();
      futures.add(
          producer.send(
              new ProducerRecord<>(topic, partition, record.get("key").asText(), record.get("value").asText())));
    }
    for (Future<RecordMetadata> future : futures) {
      ObjectNode result = results.addObject();
      try {
        result.put("offset", future.get().offset());
      } catch (ExecutionException error) {
        result.put("error", text(error.getCause()));
      }
    }
  }

  private void openConsumer(JsonNode request) {
    Map<String, Object> settings = settings(request);
    if ("consumer".equals(settings.get("group.protocol"))) {
      List.of("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy")
          .forEach(settings::remove);
    } else if (settings.containsKey("partition.assignment.strategy")) {
      settings.put("partition.assignment.strategy", assignor((String) settings.get("partition.assignment.strategy")));
    }
    consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    var topics = new ArrayList<String>();
    request.get("topics").forEach(topic -> topics.add(topic.asText()));
    var partitions = new ArrayList<TopicPartition>();
    request.get("partitions").forEach(at -> partitions.add(new TopicPartition(at.get(0).asText(), at.get(1).asInt())));
    if (topics.isEmpty()) {
      consumer.assign(partitions);
    } else {
      consumer.subscribe(topics);
    }
  }

  private void openShareConsumer(JsonNode request) {
    var settings = new HashMap<String, Object>(settings(request));
    UNKNOWN_TO_SHARE_CONSUMERS.forEach(settings::remove);
    settings.put("share.acknowledgement.mode", "explicit");
    sharing = new KafkaShareConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    var topics = new ArrayList<String>();
    request.get("topics").forEach(topic -> topics.add(topic.asText()));
    sharing.subscribe(topics);
  }

  private void acknowledge(AcknowledgeType type) {
    given.forEach(record -> sharing.acknowledge(record, type));
    for (var failed : sharing.commitSync().values()) {
      if (failed.isPresent()) {
        throw failed.get();
      }
    }
  }

  private static String assignor(String name) {
    String kind = name.equals("cooperative-sticky") ? "CooperativeSticky" : "Range";
    return "org.apache.kafka.clients.consumer." + kind + "Assignor";
  }

  private void poll(long milliseconds, ObjectNode answer) {
    ArrayNode records = answer.putArray("records");
    Duration within = Duration.ofMillis(milliseconds);
    given = consumer == null ? sharing.poll(within) : consumer.poll(within);
    for (ConsumerRecord<String, String> record : given) {
      ObjectNode told = records.addObject();
      told.put("topic", record.topic());
      told.put("partition", record.partition());
      told.put("offset", record.offset());
      told.put("value", record.value());
    }
    ArrayNode assigned = answer.putArray("assigned");
    var owned = consumer == null ? List.<TopicPartition>of() : consumer.assignment();
    owned.forEach(at -> assigned.addArray().add(at.topic()).add(at.partition()));
  }

  private static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode request) {
    var offsets = new HashMap<TopicPartition, OffsetAndMetadata>();
    for (JsonNode at : request.get("offsets")) {
      var partition = new TopicPartition(at.get("topic").asText(), at.get("partition").asInt());
      offsets.put(partition, new OffsetAndMetadata(at.get("offset").asLong()));
    }
    return offsets;
  }

  private void close() {
    if (producer != null) {
      producer.close(CLOSE_WITHIN);
    }
    if (consumer != null) {
      consumer.close(CloseOptions.timeout(CLOSE_WITHIN));
    }
    if (sharing != null) {
      sharing.close(CLOSE_WITHIN);
    }
    producer = null;
    consumer = null;
    sharing = null;
  }

  private static String text(Throwable error) {
    String text = error.getClass().getSimpleName() + ": " + error.getMessage();
    return text.substring(0, Math.min(text.length(), ERROR_MAX));
  }
}
