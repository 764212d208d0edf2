package evenkeel.clients;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * A stock producer; it ends after {@code count} messages, or in order on SIGTERM.
 *
 * Options: namesrv, group, topic, count, rate (a second; 0 is as fast as it goes), prefix (bodies are prefix-number),
 * pad (bytes of padding), compress (from which size), fault (latency faults on), timeout (milliseconds), acl, tls,
 * patience, poll and namespace as in Consume, quiet (no line for each message), senders (how
 * many send at a time), warm (how many are sent before the time counts).
 */
public final class Produce {
    private static final String[] TAGS = {"red", "green", "blue"};

    private static volatile boolean ending;
    private static String padding;
    private static boolean quiet;

    private Produce() {
    }

    public static void main(String[] words) throws Exception {
        Options options = Options.read(words).get(0);
        DefaultMQProducer producer = new DefaultMQProducer(options.text("group", "producers"), options.signature());
        producer.setNamesrvAddr(options.text("namesrv"));
        producer.setInstanceName(options.text("name", "producer"));
        producer.setNamespace(options.text("namespace", null));
        producer.setUseTLS(options.flag("tls"));
        producer.setMqClientApiTimeout(options.number("patience", 20_000));
        producer.setPollNameServerInterval(options.number("poll", 30_000));
        producer.setSendLatencyFaultEnable(options.flag("fault"));
        producer.setSendMsgTimeout(options.number("timeout", 3000));
        producer.setCompressMsgBodyOverHowmuch(options.number("compress", 4096));
        producer.start();
        Lines.say("started", "client_id", producer.buildMQClientId());
        padding = new String(new char[options.number("pad", 0)]).replace('\0', '.');
        quiet = options.flag("quiet");
        Thread sending = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ending = true;
            try {
                sending.join(TimeUnit.SECONDS.toMillis(20));
            } catch (InterruptedException twice) {
                Thread.currentThread().interrupt();
            }
        }));
        send(producer, options);
        producer.shutdown();
        Lines.say("stopped");
    }

    private static void send(DefaultMQProducer producer, Options options) throws InterruptedException {
        int warm = options.number("warm", 0);
        for (int i = 0; i < warm; i++) {
            sendOne(producer, options, i);
        }
        Stopwatch stopwatch = new Stopwatch();
        AtomicInteger next = new AtomicInteger();
        List<Thread> senders = new ArrayList<>();
        for (int i = 0; i < options.number("senders", 1); i++) {
            Thread sender = new Thread(() -> sendAll(producer, options, next));
            sender.start();
            senders.add(sender);
        }
        for (Thread sender : senders) {
            sender.join();
        }
        stopwatch.say(options.text("name", "producer"), next.get());
    }

    private static void sendAll(DefaultMQProducer producer, Options options, AtomicInteger next) {
        int rate = options.number("rate", 0);
        long begun = System.nanoTime();
        while (!ending) {
            int number = next.getAndUpdate(now -> now < options.number("count", 1) ? now + 1 : now);
            if (number >= options.number("count", 1)) {
                return;
            }
            sendOne(producer, options, number);
            if (rate > 0) {
                long due = begun + (number + 1) * TimeUnit.SECONDS.toNanos(1) / rate;
                try {
                    TimeUnit.NANOSECONDS.sleep(Math.max(0, due - System.nanoTime()));
                } catch (InterruptedException stopping) {
                    return;
                }
            }
        }
    }

    private static void sendOne(DefaultMQProducer producer, Options options, int number) {
        String body = options.text("prefix", "m") + "-" + number + padding;
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        Message message = new Message(options.text("topic"), TAGS[number % TAGS.length], "key" + number, bytes);
        message.putUserProperty("colour", "früh " + number);
        long before = System.nanoTime();
        try {
            SendResult sent = producer.send(message);
            if (!quiet) {
                MessageQueue queue = sent.getMessageQueue();
                Lines.say("sent", "number", number,
                    "queue", queue.getTopic() + "/" + queue.getBrokerName() + "/" + queue.getQueueId(), "offset", sent.getQueueOffset(), "body", body,
                    "status", sent.getSendStatus(), "latency_ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
            }
        } catch (Exception failure) {
            Lines.say("failed", "number", number, "reason", failure.toString(),
                "latency_ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
        }
    }
}
