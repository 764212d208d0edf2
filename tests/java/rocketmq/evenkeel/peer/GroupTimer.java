package evenkeel.peer;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Times one group's rebalance of one topic: every member asks its own strategy object, as they do in life.
 *
 * The lists are sorted beforehand, once for all; what the members' own sorts cost on top is timed apart. Where all
 * members together would not fit into the time allowed, an evenly spaced sample of them is asked.
 */
final class GroupTimer {
    private static final String GROUP = "group";
    private static final long WARM_UP_NS = 2_000_000_000L;
    private static final int STRIDE = 31; // so that a short warm-up does not only ask the first members
    private static final int SORTS = 5;
    private static final int UNOWNED = -1;

    private final AllocateMessageQueueStrategy strategy;
    private final List<MessageQueue> queues;
    private final List<String> clients;
    private final int rounds;
    private final long allowedNs;
    private final List<List<MessageQueue>> allocated = new ArrayList<>();

    private GroupTimer(DataInputStream in) throws IOException {
        strategy = MemberStrategy.read(in).of(null);
        queues = Wire.readRoutes(in);
        clients = Wire.readStrings(in);
        rounds = in.readInt();
        allowedNs = in.readLong();
        Collections.sort(queues);
        Collections.sort(clients);
    }

    static GroupTimer read(DataInputStream in) throws IOException {
        return new GroupTimer(in);
    }

    void run(DataOutputStream out) throws IOException {
        int[] sample = sample(warmUp());
        List<Long> times = new ArrayList<>();
        long begun = System.nanoTime();
        do {
            times.add(timeRound(sample));
        } while (times.size() < rounds && System.nanoTime() - begun < allowedNs);
        writeInts(sample, out);
        writeLongs(times, out);
        writeLongs(timeSorts(), out);
        writeInts(owners(sample), out);
    }

    /** Asks members until the compiler has had time to work; the later half of them tells what one costs. */
    private long warmUp() {
        long begun = System.nanoTime();
        long halfWay = begun;
        int asked = 0;
        int askedSince = 0;
        while (askedSince == 0 || System.nanoTime() - begun < WARM_UP_NS) {
            int member = (int) ((long) asked++ * STRIDE % clients.size());
            strategy.allocate(GROUP, clients.get(member), queues, clients);
            if (System.nanoTime() - begun < WARM_UP_NS / 2) {
                halfWay = System.nanoTime();
            } else {
                askedSince++;
            }
        }
        return (System.nanoTime() - halfWay) / askedSince;
    }

    private int[] sample(long perMember) {
        long affordable = Math.max(1, allowedNs / rounds / Math.max(1, perMember));
        int size = (int) Math.min(clients.size(), affordable);
        int[] sample = new int[size];
        for (int i = 0; i < size; i++) {
            sample[i] = (int) ((long) i * clients.size() / size);
        }
        return sample;
    }

    private long timeRound(int[] sample) {
        allocated.clear();
        long start = System.nanoTime();
        for (int member : sample) {
            allocated.add(strategy.allocate(GROUP, clients.get(member), queues, clients));
        }
        return System.nanoTime() - start;
    }

    /** One member's own two sorts, of lists in an order that nobody chose. */
    private List<Long> timeSorts() {
        List<Long> times = new ArrayList<>();
        for (int round = 0; round < SORTS; round++) {
            List<MessageQueue> mqAll = new ArrayList<>(queues);
            List<String> cidAll = new ArrayList<>(clients);
            Collections.shuffle(mqAll, new Random(round));
            Collections.shuffle(cidAll, new Random(round));
            long start = System.nanoTime();
            Collections.sort(mqAll);
            Collections.sort(cidAll);
            times.add(System.nanoTime() - start);
        }
        return times;
    }

    private int[] owners(int[] sample) {
        Map<MessageQueue, Integer> place = new HashMap<>();
        for (int i = 0; i < queues.size(); i++) {
            place.put(queues.get(i), i);
        }
        int[] owner = new int[queues.size()];
        Arrays.fill(owner, UNOWNED);
        for (int i = 0; i < sample.length; i++) {
            for (MessageQueue queue : allocated.get(i)) {
                owner[place.get(queue)] = sample[i];
            }
        }
        return owner;
    }

    private static void writeInts(int[] values, DataOutputStream out) throws IOException {
        out.writeInt(values.length);
        for (int value : values) {
            out.writeInt(value);
        }
    }

    private static void writeLongs(List<Long> values, DataOutputStream out) throws IOException {
        out.writeInt(values.size());
        for (long value : values) {
            out.writeLong(value);
        }
    }
}
