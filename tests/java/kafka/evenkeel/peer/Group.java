package evenkeel.peer;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/** A group in Kafka's terms. Partitions are numbered through, topic by topic, and members likewise. */
final class Group implements SubscribedTopicDescriber {
    private static final int UNOWNED = -1;

    private final Uuid[] topics;
    private final int[] partitions;
    private final Map<Uuid, Integer> numberOfTopic = new HashMap<>();
    private final String[] members;
    private final Map<String, Set<Uuid>> subscriptions = new HashMap<>();
    private final int[] before;

    private Group(DataInputStream in) throws IOException {
        topics = new Uuid[in.readInt()];
        partitions = new int[topics.length];
        Random seeded = new Random(7);
        for (int topic = 0; topic < topics.length; topic++) {
            topics[topic] = new Uuid(seeded.nextLong(), seeded.nextLong());
            partitions[topic] = in.readInt();
            numberOfTopic.put(topics[topic], topic);
        }
        members = new String[in.readInt()];
        Map<Set<Uuid>, Set<Uuid>> shared = new HashMap<>();
        for (int member = 0; member < members.length; member++) {
            members[member] = in.readUTF();
            subscriptions.put(members[member], shared.computeIfAbsent(readTopics(in), topicIds -> topicIds));
        }
        before = new int[in.readInt()];
        for (int number = 0; number < before.length; number++) {
            before[number] = in.readInt();
        }
    }

    static Group read(DataInputStream in) throws IOException {
        return new Group(in);
    }

    private Set<Uuid> readTopics(DataInputStream in) throws IOException {
        Set<Uuid> subscribed = new HashSet<>();
        for (int left = in.readInt(); left > 0; left--) {
            subscribed.add(topics[in.readInt()]);
        }
        return subscribed;
    }

    @Override
    public int numPartitions(Uuid topic) {
        return partitions[numberOfTopic.get(topic)];
    }

    @Override
    public Set<String> racksForPartition(Uuid topic, int partition) {
        return Collections.emptySet();
    }

    /** The group, with what every member has been assigned before. */
    GroupSpec changed() {
        Map<Uuid, Map<Integer, String>> names = new HashMap<>();
        Map<String, Map<Uuid, Set<Integer>>> held = new HashMap<>();
        int number = 0;
        for (int topic = 0; topic < topics.length; topic++) {
            for (int partition = 0; partition < partitions[topic]; partition++) {
                int owner = before[number++];
                if (owner != UNOWNED) {
                    names.computeIfAbsent(topics[topic], unused -> new HashMap<>()).put(partition, members[owner]);
                    held.computeIfAbsent(members[owner], unused -> new HashMap<>())
                        .computeIfAbsent(topics[topic], unused -> new HashSet<>()).add(partition);
                }
            }
        }
        return new GroupSpecImpl(specs(held), subscriptionType(), names);
    }

    private Map<String, MemberSubscriptionAndAssignmentImpl> specs(Map<String, Map<Uuid, Set<Integer>>> held) {
        Map<String, MemberSubscriptionAndAssignmentImpl> specs = new HashMap<>();
        for (String member : members) {
            specs.put(member, spec(member, new Assignment(held.getOrDefault(member, Collections.emptyMap()))));
        }
        return specs;
    }

    private MemberSubscriptionAndAssignmentImpl spec(String member, Assignment held) {
        return new MemberSubscriptionAndAssignmentImpl(
            Optional.empty(), Optional.empty(), subscriptions.get(member), held);
    }

    private SubscriptionType subscriptionType() {
        boolean alike = new HashSet<>(subscriptions.values()).size() == 1;
        return alike ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
    }

    /** The number of the member that owns each partition. */
    int[] owners(GroupAssignment assignment) {
        int[] starts = new int[topics.length + 1];
        for (int topic = 0; topic < topics.length; topic++) {
            starts[topic + 1] = starts[topic] + partitions[topic];
        }
        int[] owner = new int[starts[topics.length]];
        Arrays.fill(owner, UNOWNED);
        for (int member = 0; member < members.length; member++) {
            MemberAssignment held = assignment.members().getOrDefault(members[member], Assignment.EMPTY);
            for (Map.Entry<Uuid, Set<Integer>> ofTopic : held.partitions().entrySet()) {
                int start = starts[numberOfTopic.get(ofTopic.getKey())];
                for (int partition : ofTopic.getValue()) {
                    owner[start + partition] = member;
                }
            }
        }
        return owner;
    }
}
