package evenkeel.clients;

import java.util.Collection;
import java.util.Map;

/** Says what was seen as JSON, one object a line, each with the wall clock in milliseconds. */
final class Lines {
    private Lines() {
    }

    /** Prints one line; {@code rest} alternates names and values: texts, numbers, or collections and maps of texts. */
    static void say(String saw, Object... rest) {
        StringBuilder line = new StringBuilder("{\"ms\":").append(System.currentTimeMillis());
        line.append(",\"saw\":").append(quoted(saw));
        for (int i = 0; i < rest.length; i += 2) {
            line.append(',').append(quoted((String) rest[i])).append(':').append(value(rest[i + 1]));
        }
        line.append("}\n");
        synchronized (System.out) {
            System.out.print(line);
            System.out.flush();
        }
    }

    private static String value(Object value) {
        if (value instanceof Collection) {
            StringBuilder all = new StringBuilder();
            for (Object one : (Collection<?>) value) {
                all.append(all.length() == 0 ? "" : ",").append(value(one));
            }
            return "[" + all + "]";
        }
        if (value instanceof Map) {
            StringBuilder all = new StringBuilder();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                all.append(all.length() == 0 ? "" : ",").append(quoted(entry.getKey().toString()));
                all.append(':').append(value(entry.getValue()));
            }
            return "{" + all + "}";
        }
        return value == null || value instanceof Number ? String.valueOf(value) : quoted(value.toString());
    }

    private static String quoted(String text) {
        StringBuilder all = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                all.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                all.append(String.format("\\u%04x", (int) c));
            } else {
                all.append(c);
            }
        }
        return all.append('"').toString();
    }
}
