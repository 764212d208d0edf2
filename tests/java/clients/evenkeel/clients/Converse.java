package evenkeel.clients;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.utils.MessageUtil;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A stock producer that sends requests and waits for each reply, and a stock consumer that replies, each an instance of
 * its own.
 *
 * Options: namesrv, group, topic, name, count.
 */
public final class Converse {
    private static final int PATIENCE_MS = 60_000;

    private Converse() {
    }

    public static void main(String[] words) throws Exception {
        Options options = Options.read(words).get(0);
        int count = options.number("count", 1);
        CountDownLatch handedOver = new CountDownLatch(count); // a reply may be there before its broker says so
        DefaultMQProducer replying = producer(options, "replying");
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(options.text("group"));
        consumer.setNamesrvAddr(options.text("namesrv"));
        consumer.setInstanceName(options.text("name") + "-replying");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(options.text("topic"), "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                try {
                    byte[] body = ("re: " + new String(message.getBody(), StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
                    replying.send(MessageUtil.createReplyMessage(message, body), PATIENCE_MS);
                    handedOver.countDown();
                } catch (Exception failure) {
                    Lines.say("not replied", "reason", failure.toString());
                }
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        DefaultMQProducer asking = producer(options, "asking");
        for (int i = 0; i < count; i++) {
            Message question = new Message(options.text("topic"), ("question " + i).getBytes(StandardCharsets.UTF_8));
            Message reply = asking.request(question, PATIENCE_MS);
            Lines.say("replied", "body", new String(reply.getBody(), StandardCharsets.UTF_8));
        }
        handedOver.await(PATIENCE_MS, TimeUnit.MILLISECONDS);
        asking.shutdown();
        consumer.shutdown();
        replying.shutdown();
        Lines.say("stopped");
    }

    private static DefaultMQProducer producer(Options options, String what) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(options.text("group") + "-" + what);
        producer.setNamesrvAddr(options.text("namesrv"));
        producer.setInstanceName(options.text("name") + "-" + what);
        producer.setMqClientApiTimeout(PATIENCE_MS);
        producer.start();
        return producer;
    }
}
