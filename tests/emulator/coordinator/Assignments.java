import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.node.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.*;
import org.apache.kafka.coordinator.group.assignor.*;
import java.util.*;
import java.io.File;

/**
 * Assigns the groups of a JSON file with Kafka's own assignors (share groups name none), and prints
 * what each member gets:
 * java -cp 'kafka-4.1.2/*' Assignments.java assignments.json
 */
public class Assignments {
    public static void main(String[] args) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        ArrayNode out = mapper.createArrayNode();
        for (JsonNode c : mapper.readTree(new File(args[0]))) {
            Map<String, JsonNode> members = new HashMap<>();
            Map<Uuid, Set<Integer>> taken = new HashMap<>();
            for (JsonNode m : c.get("members")) {
                members.put(m.get("id").asText(), m);
                assigned(m).forEach((t, ps) -> taken.computeIfAbsent(t, k -> new HashSet<>()).addAll(ps));
            }
            Map<Uuid, Integer> counts = new HashMap<>();
            c.get("partitions").fields().forEachRemaining(e -> counts.put(Uuid.fromString(e.getKey()), e.getValue().asInt()));
            GroupSpec spec = new GroupSpec() {
                public Collection<String> memberIds() { return members.keySet(); }
                public SubscriptionType subscriptionType() { return c.get("homogeneous").asBoolean() ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS; }
                public boolean isPartitionAssignable(Uuid t, int p) { return true; }
                public boolean isPartitionAssigned(Uuid t, int p) { return taken.getOrDefault(t, Set.of()).contains(p); }
                public MemberSubscription memberSubscription(String id) {
                    JsonNode m = members.get(id); Set<Uuid> topics = new HashSet<>();
                    m.get("topics").forEach(t -> topics.add(Uuid.fromString(t.asText())));
                    return new MemberSubscription() {
                        public Optional<String> rackId() { return Optional.empty(); }
                        public Optional<String> instanceId() { return m.get("instance").asText().isEmpty() ? Optional.empty() : Optional.of(m.get("instance").asText()); }
                        public Set<Uuid> subscribedTopicIds() { return topics; }
                    };
                }
                public MemberAssignment memberAssignment(String id) {
                    Map<Uuid, Set<Integer>> a = assigned(members.get(id));
                    return () -> a;
                }
            };
            SubscribedTopicDescriber describer = new SubscribedTopicDescriber() {
                public int numPartitions(Uuid t) { return counts.getOrDefault(t, -1); }
                public Set<String> racksForPartition(Uuid t, int p) { return Set.of(); }
            };
            PartitionAssignor assignor = switch (c.path("assignor").asText("simple")) {
                case "range" -> new RangeAssignor();
                case "uniform" -> new UniformAssignor();
                default -> new SimpleAssignor();
            };
            ObjectNode found = mapper.createObjectNode();
            assignor.assign(spec, describer).members().forEach((id, a) -> {
                ObjectNode mine = found.putObject(id);
                a.partitions().forEach((t, ps) -> { ArrayNode row = mine.putArray(t.toString()); new TreeSet<>(ps).forEach(row::add); });
            });
            out.add(found);
        }
        System.out.println(mapper.writeValueAsString(out));
    }
    static Map<Uuid, Set<Integer>> assigned(JsonNode m) {
        Map<Uuid, Set<Integer>> a = new HashMap<>();
        m.get("assigned").fields().forEachRemaining(e -> {
            List<Integer> ps = new ArrayList<>(); e.getValue().forEach(p -> ps.add(p.asInt()));
            a.put(Uuid.fromString(e.getKey()), new HashSet<>(ps));
        });
        return Collections.unmodifiableMap(a);
    }
}
