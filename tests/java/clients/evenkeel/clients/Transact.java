package evenkeel.clients;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;

import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A stock producer of transactions, until SIGTERM: sends the message of each word of {@code bodies}, and decides by its
 * beginning: commit-, rollback-, later-commit- or later-rollback-, of which the last two only when it is asked.
 *
 * Options: namesrv, group, topic, bodies (parted by commas).
 */
public final class Transact {
    private Transact() {
    }

    public static void main(String[] words) throws Exception {
        Options options = Options.read(words).get(0);
        TransactionMQProducer producer = new TransactionMQProducer(options.text("group"));
        producer.setNamesrvAddr(options.text("namesrv"));
        producer.setInstanceName(options.text("name"));
        producer.setSendMsgTimeout(20_000);
        producer.setMqClientApiTimeout(20_000);
        producer.setHeartbeatBrokerInterval(1_000); // a broker asks only whom it knows, and gives up after some checks
        producer.setTransactionListener(new TransactionListener() {
            @Override
            public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
                return decide(new String(message.getBody(), StandardCharsets.UTF_8));
            }

            @Override
            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                String body = new String(message.getBody(), StandardCharsets.UTF_8);
                Lines.say("checked", "body", body, "topic", message.getTopic());
                return decide(body.replaceFirst("^later-", ""));
            }
        });
        producer.start();
        Lines.say("started", "client_id", producer.buildMQClientId());
        for (String body : options.text("bodies").split(",")) {
            Message message = new Message(options.text("topic"), "tag", body.getBytes(StandardCharsets.UTF_8));
            SendResult sent = producer.sendMessageInTransaction(message, null);
            Lines.say("sent", "body", body, "status", sent.getSendStatus());
        }
        CountDownLatch told = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(told::countDown));
        told.await();
    }

    private static LocalTransactionState decide(String body) {
        if (body.startsWith("commit-")) {
            return LocalTransactionState.COMMIT_MESSAGE;
        }
        return body.startsWith("rollback-") ? LocalTransactionState.ROLLBACK_MESSAGE : LocalTransactionState.UNKNOW;
    }
}
