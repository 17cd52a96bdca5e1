import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;

/**
 * Prints the brokers' configurations of the release whose jars are on the class path, one a line:
 * its name, type, update mode and default, separated by tabs. Internal ones are left out.
 */
public class BrokerConfigs {
    public static void main(String[] arguments) throws Exception {
        Map<?, ?> modes = updateModes();
        ConfigDef definition = (ConfigDef) member(object("kafka.server.KafkaConfig$"), "configDef");
        for (ConfigDef.ConfigKey key : new TreeMap<>(definition.configKeys()).values()) {
            if (isInternal(key)) {
                continue;
            }
            Object mode = modes.containsKey(key.name) ? modes.get(key.name) : "read-only";
            boolean isSet = key.hasDefault() && key.defaultValue != null;
            String value = isSet ? "=" + ConfigDef.convertToString(key.defaultValue, key.type) : "";
            System.out.println(String.join("\t", key.name, key.type.toString(), mode.toString(), value));
        }
    }

    private static boolean isInternal(ConfigDef.ConfigKey key) throws Exception {
        try {
            return key.getClass().getField("internalConfig").getBoolean(key);
        } catch (NoSuchFieldException before2_2) {
            return false;
        }
    }

    /** How names are changed while brokers run: since 1.1 (KIP-226), in Java since 4.3. */
    private static Map<?, ?> updateModes() throws Exception {
        String method = "dynamicConfigUpdateModes";
        try {
            return (Map<?, ?>) member(object("kafka.server.DynamicBrokerConfig$"), method);
        } catch (ClassNotFoundException before1_1) {
            return Map.of();
        } catch (NoSuchFieldException inJava) {
            Class<?> found = Class.forName("org.apache.kafka.server.config.DynamicBrokerConfig");
            return (Map<?, ?>) found.getMethod(method).invoke(null);
        }
    }

    private static Object object(String name) throws Exception {
        return Class.forName(name).getField("MODULE$").get(null);
    }

    /** What a Scala object has by a name, which may be private. */
    private static Object member(Object owner, String name) throws Exception {
        for (Method each : owner.getClass().getDeclaredMethods()) {
            boolean isNamed = each.getName().equals(name) || each.getName().endsWith("$$" + name);
            if (isNamed && each.getParameterCount() == 0) {
                each.setAccessible(true);
                return each.invoke(owner);
            }
        }
        for (Field each : owner.getClass().getDeclaredFields()) {
            if (each.getName().equals(name) || each.getName().endsWith("$$" + name)) {
                each.setAccessible(true);
                return each.get(owner);
            }
        }
        throw new NoSuchFieldException(name);
    }
}
