package evenkeel.peer;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Arrays;

import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;

/**
 * Tells on standard output what Kafka's server-side UniformAssignor assigns to groups in which something has
 * changed, and how long it takes, for the groups read from standard input. Ends with its input.
 */
public final class UniformPeer {
    private static final long WARM_UP_NS = 5_000_000_000L;
    private static final int FEWEST_WARM_UPS = 3;

    private final UniformAssignor assignor = new UniformAssignor();
    private final Group group;
    private final int rounds;
    private final long allowedNs;

    private UniformPeer(DataInputStream in) throws IOException {
        group = Group.read(in);
        rounds = in.readInt();
        allowedNs = in.readLong();
    }

    public static void main(String[] args) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out = new DataOutputStream(
            new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        System.setOut(System.err); // no log line may get between the answers
        while (in.read() >= 0) {
            new UniformPeer(in).run(out);
            out.flush();
        }
    }

    private void run(DataOutputStream out) throws IOException {
        GroupSpec changed = group.changed();
        warmUp(changed);
        long[] times = times(changed);
        out.writeInt(times.length);
        for (long time : times) {
            out.writeLong(time);
        }
        writeOwners(group.owners(assignor.assign(changed, group)), out);
    }

    private void warmUp(GroupSpec changed) {
        long start = System.nanoTime();
        int done = 0;
        while (done < FEWEST_WARM_UPS || System.nanoTime() - start < WARM_UP_NS) {
            assignor.assign(changed, group);
            done++;
        }
    }

    private long[] times(GroupSpec changed) {
        long[] times = new long[rounds];
        long begun = System.nanoTime();
        int done = 0;
        while (done < rounds && (done < FEWEST_WARM_UPS || System.nanoTime() - begun < allowedNs)) {
            long start = System.nanoTime();
            assignor.assign(changed, group);
            times[done++] = System.nanoTime() - start;
        }
        return Arrays.copyOf(times, done);
    }

    private static void writeOwners(int[] owner, DataOutputStream out) throws IOException {
        out.writeInt(owner.length);
        for (int member : owner) {
            out.writeInt(member);
        }
    }
}
