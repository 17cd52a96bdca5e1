import java.util.*;
import java.util.stream.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.metadata.placement.*;

/**
 * Prints where Kafka puts replicas in random clusters, a JSON object a line: placements.jsonl.
 *
 * Run as java -cp "LIBS/*" Placements.java 200, with the jars of a release; 3.9.2, 4.1.2 and 4.4.0 print the same.
 */
class Placements {
  /** Draws the same number every time, so that the order in which racks are asked does not matter. */
  static class Constant extends Random {
    final int drawn;
    Constant(int drawn) { this.drawn = drawn; }
    @Override public int nextInt(int bound) { return drawn % bound; }
  }

  public static void main(String[] args) {
    var random = new Random(1);
    for (int round = 0; round < Integer.parseInt(args[0]); round++) {
      var brokers = new ArrayList<UsableBroker>();
      int racks = 1 + random.nextInt(4);
      for (int id = 0; id < 1 + random.nextInt(9); id++) {
        int rack = random.nextInt(racks + 1);
        Optional<String> name = rack == racks && random.nextBoolean() ? Optional.empty() : Optional.of("r" + rack % racks);
        brokers.add(new UsableBroker(id, name, random.nextInt(5) == 0));
      }
      int partitions = 1 + random.nextInt(24), drawn = random.nextInt(12);
      short factor = (short) random.nextInt(brokers.size() + 2);
      var describer = new ClusterDescriber() {
        public Iterator<UsableBroker> usableBrokers() { return brokers.iterator(); }
        public Uuid defaultDir(int broker) { return Uuid.ZERO_UUID; }
      };
      String placed;
      try {
        var found = new StripedReplicaPlacer(new Constant(drawn)).place(new PlacementSpec(0, partitions, factor), describer);
        placed = found.assignments().stream().map(each -> each.replicas().toString()).collect(Collectors.joining(", ", "[", "]"));
      } catch (InvalidReplicationFactorException error) {
        placed = "null";
      }
      var them = brokers.stream().map(each -> "[" + each.id() + ", " + each.rack().map(it -> '"' + it + '"').orElse("null") + ", " + each.fenced() + "]");
      System.out.println("{\"brokers\": [" + them.collect(Collectors.joining(", ")) + "], \"partitions\": " + partitions
          + ", \"factor\": " + factor + ", \"drawn\": " + drawn + ", \"placed\": " + placed + "}");
    }
  }
}
