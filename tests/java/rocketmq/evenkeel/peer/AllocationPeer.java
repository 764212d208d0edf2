package evenkeel.peer;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Collections;
import java.util.List;

import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Answers on standard output what RocketMQ's released strategy objects allocate for the groups read from standard
 * input, or how long they take for a whole group. Ends with its input.
 */
public final class AllocationPeer {
    private static final String GROUP = "group";
    private static final int ALLOCATED = 0;
    private static final int THREW = 1;

    private AllocationPeer() {
    }

    public static void main(String[] args) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out = new DataOutputStream(
            new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        System.setOut(System.err); // no log line may get between the answers
        for (int verb = in.read(); verb >= 0; verb = in.read()) {
            switch (verb) {
                case 'A':
                    answer(in, out);
                    break;
                case 'T':
                    GroupTimer.read(in).run(out);
                    break;
                default:
                    throw new IllegalArgumentException("verb " + verb + ", needed A (allocate) or T (time)");
            }
            out.flush();
        }
    }

    private static void answer(DataInputStream in, DataOutputStream out) throws IOException {
        MemberStrategy strategy = MemberStrategy.read(in);
        List<MessageQueue> queues = Wire.readQueues(in);
        List<String> clients = Wire.readStrings(in);
        List<String> asked = Wire.readStrings(in);
        Collections.sort(queues); // as RebalanceImpl.rebalanceByTopic does before it asks the strategy
        Collections.sort(clients);
        Wire.writeQueues(out, queues);
        Wire.writeStrings(out, clients);
        for (String member : asked) {
            answerOne(strategy, member, queues, clients, out);
        }
    }

    private static void answerOne(
        MemberStrategy strategy, String member, List<MessageQueue> queues, List<String> clients, DataOutputStream out
    ) throws IOException {
        List<MessageQueue> allocated;
        try {
            allocated = strategy.of(member).allocate(GROUP, member, queues, clients);
        } catch (RuntimeException e) {
            out.writeByte(THREW);
            Wire.writeString(out, e.getClass().getSimpleName());
            Wire.writeString(out, e.getMessage());
            return;
        }
        out.writeByte(ALLOCATED);
        Wire.writeQueues(out, allocated);
    }
}
