import java.lang.reflect.Field;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

/**
 * Prints the groups' configurations of the release whose jars are on the class path, one a line:
 * its name (with an exclamation mark if it is internal), type, the lowest value that its validator
 * admits (or a dash), and default, separated by tabs.
 */
public class GroupConfigs {
    public static void main(String[] arguments) throws Exception {
        for (ConfigDef.ConfigKey key : definition().configKeys().values()) {
            boolean isSet = key.hasDefault() && key.defaultValue != null;
            String value = isSet ? "=" + ConfigDef.convertToString(key.defaultValue, key.type) : "=";
            String internal = key.internalConfig ? "!" : "";
            System.out.println(String.join("\t", key.name + internal, key.type.toString(), lowest(key), value));
        }
    }

    private static ConfigDef definition() throws Exception {
        Class<?> owner = Class.forName("org.apache.kafka.coordinator.group.GroupConfig");
        for (Field field : owner.getDeclaredFields()) {
            if (ConfigDef.class.isAssignableFrom(field.getType())) {
                field.setAccessible(true);
                return (ConfigDef) field.get(null);
            }
        }
        throw new IllegalStateException("there is no definition of groups' configurations");
    }

    /** The lowest whole number that passes, found by halving; a dash if all do, or no number. */
    private static String lowest(ConfigDef.ConfigKey key) {
        boolean isInt = key.type == ConfigDef.Type.INT;
        if (key.validator == null || !isInt && key.type != ConfigDef.Type.LONG) {
            return "-";
        }
        long refused = isInt ? Integer.MIN_VALUE : Long.MIN_VALUE;
        if (passes(key, refused)) {
            return "-";
        }
        long passed = ((Number) key.defaultValue).longValue();
        while (refused + 1 < passed) {
            long middle = Math.floorDiv(passed, 2) + Math.floorDiv(refused, 2) + (passed & refused & 1);
            if (passes(key, middle)) {
                passed = middle;
            } else {
                refused = middle;
            }
        }
        return Long.toString(passed);
    }

    private static boolean passes(ConfigDef.ConfigKey key, long value) {
        try {
            Object number = key.type == ConfigDef.Type.INT ? (Object) (int) value : (Object) value;
            key.validator.ensureValid(key.name, number);
            return true;
        } catch (ConfigException refused) {
            return false;
        }
    }
}
