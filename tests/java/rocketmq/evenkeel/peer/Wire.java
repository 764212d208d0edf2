package evenkeel.peer;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Values on the wire, in the order of {@code tests/peers/wire.py}.
 *
 * A string is its number of UTF-16 units and the units, so that lone surrogates survive; -1 stands for null.
 */
final class Wire {
    private static final int NULL = -1;

    private Wire() {
    }

    static String readString(DataInputStream in) throws IOException {
        int units = in.readInt();
        if (units == NULL) {
            return null;
        }
        char[] text = new char[units];
        for (int i = 0; i < units; i++) {
            text[i] = in.readChar();
        }
        return new String(text);
    }

    static List<String> readStrings(DataInputStream in) throws IOException {
        int count = in.readInt();
        if (count == NULL) {
            return null;
        }
        List<String> strings = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            strings.add(readString(in));
        }
        return strings;
    }

    static Map<String, String> readTable(DataInputStream in) throws IOException {
        List<String> keys = readStrings(in);
        List<String> values = readStrings(in);
        Map<String, String> table = new HashMap<>();
        for (int i = 0; i < keys.size(); i++) {
            table.put(keys.get(i), values.get(i));
        }
        return table;
    }

    static List<MessageQueue> readQueues(DataInputStream in) throws IOException {
        int count = in.readInt();
        if (count == NULL) {
            return null;
        }
        List<MessageQueue> queues = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            queues.add(new MessageQueue(readString(in), readString(in), in.readInt()));
        }
        return queues;
    }

    /** Reads (topic, broker, count) and makes queues 0 to count - 1 of each. */
    static List<MessageQueue> readRoutes(DataInputStream in) throws IOException {
        List<MessageQueue> queues = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            String topic = readString(in);
            String broker = readString(in);
            int count = in.readInt();
            for (int id = 0; id < count; id++) {
                queues.add(new MessageQueue(topic, broker, id));
            }
        }
        return queues;
    }

    static void writeString(DataOutputStream out, String text) throws IOException {
        if (text == null) {
            out.writeInt(NULL);
            return;
        }
        out.writeInt(text.length());
        out.writeChars(text);
    }

    static void writeStrings(DataOutputStream out, List<String> strings) throws IOException {
        out.writeInt(strings.size());
        for (String text : strings) {
            writeString(out, text);
        }
    }

    static void writeQueues(DataOutputStream out, List<MessageQueue> queues) throws IOException {
        if (queues == null) {
            out.writeInt(NULL);
            return;
        }
        out.writeInt(queues.size());
        for (MessageQueue queue : queues) {
            writeString(out, queue.getTopic());
            writeString(out, queue.getBrokerName());
            out.writeInt(queue.getQueueId());
        }
    }
}
