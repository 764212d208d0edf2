package evenkeel.peer;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.common.message.MessageQueue;

/** Makes the released strategy object that one member of the group would have been started with. */
interface MemberStrategy {
    AllocateMessageQueueStrategy of(String member);

    static MemberStrategy read(DataInputStream in) throws IOException {
        String name = Wire.readString(in);
        switch (name) {
            case "AVG":
                return member -> new AllocateMessageQueueAveragely();
            case "AVG_BY_CIRCLE":
                return member -> new AllocateMessageQueueAveragelyByCircle();
            case "CONFIG":
                return config(in);
            case "MACHINE_ROOM":
                return machineRoom(in);
            case "CONSISTENT_HASH":
                int virtualNodes = in.readInt();
                return member -> new AllocateMessageQueueConsistentHash(virtualNodes);
            case "MACHINE_ROOM_NEARBY":
                return nearby(in);
            default:
                throw new IllegalArgumentException("no strategy is called " + name);
        }
    }

    static MemberStrategy config(DataInputStream in) throws IOException {
        Map<String, List<MessageQueue>> lists = new HashMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            lists.put(Wire.readString(in), Wire.readQueues(in));
        }
        return member -> {
            AllocateMessageQueueByConfig strategy = new AllocateMessageQueueByConfig();
            strategy.setMessageQueueList(lists.get(member));
            return strategy;
        };
    }

    static MemberStrategy machineRoom(DataInputStream in) throws IOException {
        List<String> rooms = Wire.readStrings(in);
        return member -> {
            AllocateMessageQueueByMachineRoom strategy = new AllocateMessageQueueByMachineRoom();
            strategy.setConsumeridcs(rooms == null ? null : new HashSet<>(rooms));
            return strategy;
        };
    }

    static MemberStrategy nearby(DataInputStream in) throws IOException {
        Map<String, String> roomOfBroker = Wire.readTable(in);
        Map<String, String> roomOfClient = Wire.readTable(in);
        MemberStrategy inner = read(in);
        AllocateMachineRoomNearby.MachineRoomResolver rooms = new AllocateMachineRoomNearby.MachineRoomResolver() {
            @Override
            public String brokerDeployIn(MessageQueue queue) {
                return roomOfBroker.get(queue.getBrokerName());
            }

            @Override
            public String consumerDeployIn(String client) {
                return roomOfClient.get(client);
            }
        };
        return member -> new AllocateMachineRoomNearby(inner.of(member), rooms);
    }
}
