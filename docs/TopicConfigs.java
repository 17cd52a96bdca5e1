import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;

/**
 * Prints the topics' configurations of the release whose jars are on the class path, one a line:
 * its name, type, the broker's configuration that it overrides (or a dash), and default, separated
 * by tabs. Internal ones are left out.
 */
public class TopicConfigs {
    public static void main(String[] arguments) throws Exception {
        ConfigDef definition = definition();
        for (ConfigDef.ConfigKey key : new TreeMap<>(definition.configKeys()).values()) {
            if (isInternal(key)) {
                continue;
            }
            boolean isSet = key.hasDefault() && key.defaultValue != null;
            String value = isSet ? "=" + ConfigDef.convertToString(key.defaultValue, key.type) : "";
            System.out.println(String.join("\t", key.name, key.type.toString(), ofBroker(definition, key.name), value));
        }
    }

    private static ConfigDef definition() throws Exception {
        for (String name : new String[] {
                "org.apache.kafka.storage.internals.log.LogConfig", "kafka.log.LogConfig$", "kafka.log.LogConfig" }) {
            try {
                Class<?> found = Class.forName(name);
                for (Field each : found.getDeclaredFields()) {
                    if (ConfigDef.class.isAssignableFrom(each.getType())) {
                        each.setAccessible(true);
                        Object owner = null;
                        try {
                            owner = found.getField("MODULE$").get(null);
                        } catch (NoSuchFieldException isJava) {
                            // a static field
                        }
                        ConfigDef definition = (ConfigDef) each.get(owner);
                        if (definition.names().contains("segment.jitter.ms")) {
                            return definition;
                        }
                    }
                }
            } catch (ClassNotFoundException elsewhere) {
                // another release's name
            }
        }
        throw new IllegalStateException("there is no LogConfig");
    }

    /** The broker's name, as the definition tells it for the documentation. */
    private static String ofBroker(ConfigDef definition, String name) throws Exception {
        for (Method each : definition.getClass().getDeclaredMethods()) {
            if (each.getName().equals("getConfigValue")) {
                each.setAccessible(true);
                String value = (String) each.invoke(definition, definition.configKeys().get(name), "Server Default Property");
                return value == null || value.isEmpty() || value.equals("None") || value.startsWith("follower.") || value.startsWith("leader.") ? "-" : value;
            }
        }
        return "-";
    }

    private static boolean isInternal(ConfigDef.ConfigKey key) throws Exception {
        try {
            return key.getClass().getField("internalConfig").getBoolean(key);
        } catch (NoSuchFieldException before2_2) {
            return false;
        }
    }
}
