import de.bwaldvogel.mongo.bson.BinData;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Admits a connection that proves the password of the one user with SCRAM-SHA-256 (RFC 5802, RFC 7677), as MongoDB
 * does. All other commands are refused before.
 */
final class ScramGate {
    private static final int ITERATIONS = 15_000;
    private static final int UNAUTHORIZED = 13;
    private static final int AUTHENTICATION_FAILED = 18;
    private static final Set<String> OPEN_COMMANDS = Set.of("hello", "ismaster", "saslstart", "saslcontinue");
    private static final AttributeKey<Boolean> ADMITTED = AttributeKey.valueOf("admitted");
    private static final AttributeKey<String> CONVERSATION = AttributeKey.valueOf("conversation");

    private final SecureRandom random = new SecureRandom();
    private final String user;
    private final byte[] salt = randomBytes(16);
    private final byte[] storedKey;
    private final byte[] serverKey;

    ScramGate(String user, String password) throws GeneralSecurityException {
        this.user = user;
        PBEKeySpec specification = new PBEKeySpec(password.toCharArray(), salt, ITERATIONS, 256);
        byte[] salted = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(specification).getEncoded();
        storedKey = MessageDigest.getInstance("SHA-256").digest(hmac(salted, "Client Key"));
        serverKey = hmac(salted, "Server Key");
    }

    /** Returns the reply to a step of the authentication, or null for a command that the connection may send. */
    Document check(Channel channel, String command, Document query) {
        String name = command.toLowerCase();
        if (name.equals("saslstart")) return begin(channel, query);
        if (name.equals("saslcontinue")) return finish(channel, query);
        requireAdmitted(channel, name);
        return null;
    }

    /** Refuses what a connection sends before it is admitted. */
    void requireAdmitted(Channel channel, String command) {
        if (OPEN_COMMANDS.contains(command) || channel.hasAttr(ADMITTED)) return;
        throw new MongoServerError(UNAUTHORIZED, "Unauthorized", "command " + command + " requires authentication");
    }

    private Document begin(Channel channel, Document query) {
        String message = payloadOf(query);
        if (!"SCRAM-SHA-256".equals(query.get("mechanism")) || !message.startsWith("n,,")) throw refusal();
        String clientFirst = message.substring("n,,".length());
        Map<String, String> fields = fieldsOf(clientFirst);
        if (!user.equals(fields.get("n")) || fields.getOrDefault("r", "").isEmpty()) throw refusal();
        String nonce = fields.get("r") + Base64.getEncoder().encodeToString(randomBytes(18));
        String serverFirst = "r=" + nonce + ",s=" + Base64.getEncoder().encodeToString(salt) + ",i=" + ITERATIONS;
        channel.attr(CONVERSATION).set(clientFirst + "," + serverFirst);
        return reply(serverFirst, false);
    }

    private Document finish(Channel channel, Document query) {
        String conversation = channel.attr(CONVERSATION).getAndSet(null);
        String message = payloadOf(query);
        int proofAt = message.lastIndexOf(",p=");
        if (conversation == null || proofAt < 0) throw refusal();
        String withoutProof = message.substring(0, proofAt);
        if (!conversation.contains(",r=" + fieldsOf(withoutProof).get("r") + ",s=")) throw refusal();
        byte[] proof = Base64.getDecoder().decode(message.substring(proofAt + ",p=".length()));
        try {
            String signed = conversation + "," + withoutProof;
            byte[] clientKey = hmac(storedKey, signed);
            if (proof.length != clientKey.length) throw refusal();
            for (int at = 0; at < clientKey.length; at++) clientKey[at] ^= proof[at];
            if (!MessageDigest.isEqual(MessageDigest.getInstance("SHA-256").digest(clientKey), storedKey)) throw refusal();
            channel.attr(ADMITTED).set(true);
            return reply("v=" + Base64.getEncoder().encodeToString(hmac(serverKey, signed)), true);
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static String payloadOf(Document query) {
        if (query.get("payload") instanceof BinData data) return new String(data.getData(), StandardCharsets.UTF_8);
        throw refusal();
    }

    private static Map<String, String> fieldsOf(String message) {
        Map<String, String> fields = new HashMap<>();
        for (String field : message.split(",")) {
            if (field.length() > 1 && field.charAt(1) == '=') fields.put(field.substring(0, 1), field.substring(2));
        }
        return fields;
    }

    private static Document reply(String payload, boolean done) {
        Document reply = new Document("conversationId", 1);
        reply.put("done", done);
        reply.put("payload", new BinData(payload.getBytes(StandardCharsets.UTF_8)));
        reply.put("ok", 1.0);
        return reply;
    }

    private static MongoServerError refusal() {
        return new MongoServerError(AUTHENTICATION_FAILED, "AuthenticationFailed", "Authentication failed.");
    }

    private byte[] randomBytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] hmac(byte[] key, String text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    }
}
