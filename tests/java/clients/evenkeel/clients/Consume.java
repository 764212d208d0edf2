package evenkeel.clients;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Stock push consumers, any number in one process; they stop in order on SIGTERM.
 *
 * Options: namesrv, group, name (the instance's), topics (T or T,T), strategy, orderly, tags, retries (the most),
 * fail (how often each message fails first), threads, takes (milliseconds a message), acl, tls, patience (milliseconds
 * that servers may take to answer; a busy machine needs more than the usual 3,000), poll (milliseconds between looks at
 * routes), quiet (no line for each message, but the count each second), until (say how long so many messages took),
 * namespace.
 */
public final class Consume {
    private static final int LOOK_EVERY_MS = 20;

    private final Options options;
    private final String name;
    private final DefaultMQPushConsumer consumer;
    private final AtomicLong count = new AtomicLong();
    private final AtomicReference<Stopwatch> begun = new AtomicReference<>();
    private List<String> held;
    private long counted;

    private Consume(Options options) throws Exception {
        this.options = options;
        name = options.text("name");
        consumer = new DefaultMQPushConsumer(options.text("group"), options.signature(),
            strategy(options.text("strategy", "AVG")));
        consumer.setNamesrvAddr(options.text("namesrv"));
        consumer.setInstanceName(name);
        consumer.setNamespace(options.text("namespace", null));
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setUseTLS(options.flag("tls"));
        consumer.setMqClientApiTimeout(options.number("patience", 20_000));
        consumer.setPollNameServerInterval(options.number("poll", 30_000));
        consumer.setMaxReconsumeTimes(options.number("retries", -1));
        consumer.setConsumeThreadMin(options.number("threads", 4));
        consumer.setConsumeThreadMax(options.number("threads", 4));
        for (String topic : options.text("topics").split(",")) {
            consumer.subscribe(topic, options.text("tags", "*"));
        }
        if (options.flag("orderly")) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> took(messages)
                ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> took(messages)
                ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        }
    }

    public static void main(String[] words) throws Exception {
        List<Consume> all = new ArrayList<>();
        for (Options options : Options.read(words)) {
            all.add(new Consume(options));
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> all.forEach(Consume::stop)));
        for (Consume one : all) {
            one.consumer.start();
            Lines.say("started", "name", one.name, "client_id", one.consumer.buildMQClientId());
        }
        for (long look = 0; ; look++) {
            for (Consume one : all) {
                one.look(look % (1000 / LOOK_EVERY_MS) == 0);
            }
            Thread.sleep(LOOK_EVERY_MS);
        }
    }

    private static AllocateMessageQueueStrategy strategy(String strategy) {
        switch (strategy) {
            case "AVG":
                return new AllocateMessageQueueAveragely();
            case "AVG_BY_CIRCLE":
                return new AllocateMessageQueueAveragelyByCircle();
            case "CONSISTENT_HASH":
                return new AllocateMessageQueueConsistentHash();
            default:
                throw new IllegalArgumentException("no strategy is called " + strategy);
        }
    }

    private boolean took(List<MessageExt> messages) {
        boolean all = true;
        begun.compareAndSet(null, new Stopwatch());
        for (MessageExt message : messages) {
            if (count.incrementAndGet() == options.number("until", 0)) {
                begun.get().say(name, options.number("until", 0));
            }
            if (!options.flag("quiet")) {
                Lines.say("got", "name", name, "queue", queue(message.getTopic(), message.getBrokerName(), message.getQueueId()),
                    "offset", message.getQueueOffset(), "body", new String(message.getBody(), StandardCharsets.UTF_8),
                    "again", message.getReconsumeTimes(), "tags", message.getTags(), "keys", message.getKeys(),
                    "properties", message.getProperties());
            }
            pause(options.number("takes", 0));
            all &= message.getReconsumeTimes() >= options.number("fail", 0);
        }
        return all;
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }

    private void look(boolean counts) {
        List<String> now = new ArrayList<>();
        RebalanceImpl rebalance = consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl();
        for (MessageQueue queue : new TreeSet<>(rebalance.getProcessQueueTable().keySet())) {
            now.add(queue(queue.getTopic(), queue.getBrokerName(), queue.getQueueId()));
        }
        if (!now.equals(held)) {
            held = now;
            Lines.say("held", "name", name, "queues", now);
        }
        long taken = count.get();
        if (counts && options.flag("quiet") && taken != counted) {
            counted = taken;
            Lines.say("counted", "name", name, "messages", taken);
        }
    }

    private void stop() {
        consumer.shutdown();
        Lines.say("stopped", "name", name);
    }

    private static String queue(String topic, String broker, int id) {
        return topic + "/" + broker + "/" + id;
    }
}
