package evenkeel.clients;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.remoting.RPCHook;

/** What one client was started with: words like {@code group=G}, those of several clients parted by {@code --}. */
final class Options {
    private final Map<String, String> given = new HashMap<>();

    static List<Options> read(String[] words) {
        List<Options> all = new ArrayList<>();
        all.add(new Options());
        for (String word : words) {
            int equals = word.indexOf('=');
            if (word.equals("--")) {
                all.add(new Options());
            } else if (equals > 0) {
                all.get(all.size() - 1).given.put(word.substring(0, equals), word.substring(equals + 1));
            } else {
                throw new IllegalArgumentException("needed name=value, saw " + word);
            }
        }
        return all;
    }

    String text(String name) {
        String value = given.get(name);
        if (value == null) {
            throw new IllegalArgumentException("needed " + name + "=..., saw only " + given.keySet());
        }
        return value;
    }

    String text(String name, String otherwise) {
        return given.getOrDefault(name, otherwise);
    }

    int number(String name, int otherwise) {
        return Integer.parseInt(text(name, String.valueOf(otherwise)));
    }

    boolean flag(String name) {
        return Boolean.parseBoolean(text(name, "false"));
    }

    /** Gives what signs requests where {@code acl=access:secret} is given, else null. */
    RPCHook signature() {
        if (!given.containsKey("acl")) {
            return null;
        }
        String[] keys = text("acl").split(":", 2);
        return new AclClientRPCHook(new SessionCredentials(keys[0], keys[1]));
    }
}
