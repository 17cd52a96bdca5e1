import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.common.metadata.AbortTransactionRecord;
import org.apache.kafka.common.metadata.BeginTransactionRecord;
import org.apache.kafka.common.metadata.EndTransactionRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.image.TopicImage;
import org.apache.kafka.metadata.BrokerRegistration;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Prints what each batch of metadata logs changes in Kafka's own image, one line of JSON for each
 * batch that changes anything: the batch's first offset, and the new values by name (null: gone).
 * The segments of one log follow each other and are in a folder of their own.
 *
 * java -cp 'KAFKA_LIBS/*' Images.java 00000000000000000000.log ..
 */
public class Images {
    private static final int RECORDS_AT = 61;
    private static final int CONTROL = 0x20;

    private MetadataImage image = MetadataImage.EMPTY;
    private MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
    private boolean isInTransaction = false;
    private Map<String, String> told = new TreeMap<>();

    public static void main(String[] segments) throws IOException {
        Images images = new Images();
        Path folder = null;
        for (String segment : segments) {
            if (!Path.of(segment).getParent().equals(folder)) {
                images = new Images();
                folder = Path.of(segment).getParent();
            }
            System.out.println("segment " + segment);
            ByteBuffer log = ByteBuffer.wrap(Files.readAllBytes(Path.of(segment)));
            while (log.remaining() >= RECORDS_AT) {
                int begin = log.position();
                int end = begin + 12 + log.getInt(begin + 8);
                if (end > log.limit()) {
                    break;
                }
                long offset = log.getLong(begin);
                if ((log.getShort(begin + 21) & CONTROL) == 0) {
                    images.take(log, begin);
                }
                log.position(end);
                images.tell(offset);
            }
        }
    }

    private void take(ByteBuffer log, int begin) {
        int count = log.getInt(begin + 57);
        ByteBuffer records = log.duplicate();
        records.position(begin + RECORDS_AT);
        for (int i = 0; i < count; i++) {
            int size = varint(records);
            int end = records.position() + size;
            records.get();
            varint(records);
            varint(records);
            int keySize = varint(records);
            records.position(records.position() + Math.max(0, keySize));
            int valueSize = varint(records);
            ByteBuffer value = records.slice(records.position(), valueSize);
            replay(new MetadataRecordSerde().read(new ByteBufferAccessor(value), valueSize).message());
            records.position(end);
        }
        if (!isInTransaction) {
            image = delta.apply(MetadataProvenance.EMPTY);
            delta = new MetadataDelta.Builder().setImage(image).build();
        }
    }

    private static int varint(ByteBuffer buffer) {
        long value = 0;
        int shift = 0;
        byte next;
        do {
            next = buffer.get();
            value |= (long) (next & 0x7f) << shift;
            shift += 7;
        } while (next < 0);
        return (int) ((value >>> 1) ^ -(value & 1));
    }

    private void replay(ApiMessage message) {
        if (message instanceof BeginTransactionRecord) {
            isInTransaction = true;
        } else if (message instanceof EndTransactionRecord) {
            isInTransaction = false;
        } else if (message instanceof AbortTransactionRecord) {
            isInTransaction = false;
            delta = new MetadataDelta.Builder().setImage(image).build();
        } else {
            delta.replay(message);
        }
    }

    private void tell(long offset) {
        Map<String, String> now = values();
        TreeSet<String> names = new TreeSet<>(told.keySet());
        names.addAll(now.keySet());
        List<String> changed = new ArrayList<>();
        for (String name : names) {
            if (!Objects.equals(told.get(name), now.get(name))) {
                changed.add(text(name) + ": " + now.get(name));
            }
        }
        told = now;
        if (!changed.isEmpty()) {
            System.out.println("{\"offset\": " + offset + ", \"changed\": {" + String.join(", ", changed) + "}}");
        }
    }

    private Map<String, String> values() {
        Map<String, String> values = new TreeMap<>();
        image.features().finalizedVersions().forEach((name, level) -> values.put("feature " + name, "" + level));
        Object version = image.features().metadataVersion();  // an Optional from 4.0 on
        if (version instanceof Optional<?> optional) {
            version = optional.orElse(null);
        }
        if (version != null && !image.features().isEmpty()) {
            values.put("feature metadata.version", "" + ((MetadataVersion) version).featureLevel());
        }
        image.cluster().controllers().forEach((id, controller) ->
            values.put("controller " + id, text(controller.incarnationId().toString())));
        image.cluster().brokers().forEach((id, broker) -> values.put("broker " + id, broker(broker)));
        for (TopicImage topic : image.topics().topicsById().values()) {
            topic.partitions().forEach((number, partition) ->
                values.put("partition " + topic.name() + "-" + number, partition(topic, partition)));
        }
        image.configs().resourceData().forEach((resource, config) -> {
            String kind = resource.type().name().toLowerCase();
            values.put("config " + kind + ":" + resource.name(), settings(config.data()));
        });
        values.put("next producer id", "" + image.producerIds().nextProducerId());
        return values;
    }

    private static String broker(BrokerRegistration broker) {
        return "{\"epoch\": " + broker.epoch()
            + ", \"incarnation\": " + text(broker.incarnationId().toString())
            + ", \"fenced\": " + broker.fenced()
            + ", \"in_controlled_shutdown\": " + broker.inControlledShutdown()
            + ", \"rack\": " + broker.rack().map(Images::text).orElse("null") + "}";
    }

    private static String partition(TopicImage topic, PartitionRegistration partition) {
        return "{\"topic_id\": " + text(topic.id().toString())
            + ", \"replicas\": " + numbers(partition.replicas)
            + ", \"isr\": " + numbers(partition.isr)
            + ", \"leader\": " + partition.leader
            + ", \"leader_epoch\": " + partition.leaderEpoch
            + ", \"partition_epoch\": " + partition.partitionEpoch
            + ", \"recovery\": " + partition.leaderRecoveryState.value()
            + ", \"adding\": " + numbers(partition.addingReplicas)
            + ", \"removing\": " + numbers(partition.removingReplicas)
            + ", \"elr\": " + numbers(partition.elr)
            + ", \"last_known_elr\": " + numbers(partition.lastKnownElr) + "}";
    }

    private static String settings(Map<String, String> data) {
        Collection<String> pairs = new TreeMap<>(data).entrySet().stream()
            .map(each -> text(each.getKey()) + ": " + text(each.getValue()))
            .collect(Collectors.toList());
        return "{" + String.join(", ", pairs) + "}";
    }

    private static String numbers(int[] values) {
        return Arrays.toString(values);
    }

    private static String text(String value) {
        return "\"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
