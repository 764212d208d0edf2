package evenkeel.clients;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;

/**
 * A stock producer; it ends after {@code count} messages, or in order on SIGTERM.
 *
 * Options: namesrv, group, topic, count, rate (a second; 0 is as fast as it goes), prefix (bodies are prefix-number),
 * pad (bytes of padding), compress (from which size), fault (latency faults on), timeout (milliseconds), acl, tls,
 * patience and poll as in Consume, quiet (one line at the end).
 */
public final class Produce {
    private static final String[] TAGS = {"red", "green", "blue"};

    private static volatile boolean ending;

    private Produce() {
    }

    public static void main(String[] words) throws Exception {
        Options options = Options.read(words).get(0);
        DefaultMQProducer producer = new DefaultMQProducer(options.text("group", "producers"), options.signature());
        producer.setNamesrvAddr(options.text("namesrv"));
        producer.setInstanceName(options.text("name", "producer"));
        producer.setUseTLS(options.flag("tls"));
        producer.setMqClientApiTimeout(options.number("patience", 20_000));
        producer.setPollNameServerInterval(options.number("poll", 30_000));
        producer.setSendLatencyFaultEnable(options.flag("fault"));
        producer.setSendMsgTimeout(options.number("timeout", 3000));
        producer.setCompressMsgBodyOverHowmuch(options.number("compress", 4096));
        producer.start();
        Lines.say("started", "client_id", producer.buildMQClientId());
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
        String padding = new String(new char[options.number("pad", 0)]).replace('\0', '.');
        int count = options.number("count", 1);
        int rate = options.number("rate", 0);
        boolean quiet = options.flag("quiet");
        long begun = System.nanoTime();
        for (int i = 0; i < count && !ending; i++) {
            String body = options.text("prefix", "m") + "-" + i + padding;
            Message message = new Message(options.text("topic"), TAGS[i % TAGS.length], "key" + i, body.getBytes(StandardCharsets.UTF_8));
            message.putUserProperty("colour", "früh " + i);
            long before = System.nanoTime();
            try {
                SendResult sent = producer.send(message);
                if (!quiet) {
                    Lines.say("sent", "number", i, "queue", message.getTopic() + "/" + sent.getMessageQueue().getBrokerName() + "/"
                        + sent.getMessageQueue().getQueueId(), "offset", sent.getQueueOffset(), "body", body,
                        "status", sent.getSendStatus(), "latency_ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
                }
            } catch (Exception failure) {
                Lines.say("failed", "number", i, "reason", failure.toString(),
                    "latency_ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
            }
            if (rate > 0) {
                long due = begun + (i + 1) * TimeUnit.SECONDS.toNanos(1) / rate;
                TimeUnit.NANOSECONDS.sleep(Math.max(0, due - System.nanoTime()));
            }
        }
        if (quiet) {
            Lines.say("counted", "messages", count, "ns", System.nanoTime() - begun);
        }
    }
}
