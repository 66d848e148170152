package io.mintmark.auditor.witness;

import io.mintmark.Unchecked;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.Arrays;

/**
 * An ssh-agent with one Ed25519 key (draft-ietf-sshm-ssh-agent), which a test can keep from
 * signing.
 */
final class SshAgentStandIn implements AutoCloseable {
    private static final int LIST = 11;
    private static final int LISTED = 12;
    private static final int SIGN = 13;
    private static final int SIGNED = 14;
    private static final String KIND = "ssh-ed25519";
    private static final int KEY_BYTES = 32;

    private final ServerSocketChannel server;
    private final byte[] published;
    private final KeyPair pair;
    private volatile boolean silent;
    private volatile boolean asked;

    SshAgentStandIn(Path socket) throws IOException {
        this.pair = Unchecked.call(() -> KeyPairGenerator.getInstance("Ed25519").generateKeyPair());
        byte[] encoded = pair.getPublic().getEncoded();
        this.published = Arrays.copyOfRange(encoded, encoded.length - KEY_BYTES, encoded.length);
        this.server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket));
        var _ = Thread.ofVirtual().start(this::accept);
    }

    /** The 32 bytes of its key. */
    byte[] published() {
        return published.clone();
    }

    /** Doesn't answer the next request for a signature. */
    void stall() {
        asked = false;
        silent = true;
    }

    /** Whether a signature was requested since then. */
    boolean isStalled() {
        return asked;
    }

    /** Signs again. */
    void goOn() {
        silent = false;
    }

    private void accept() {
        while (true) {
            try {
                SocketChannel client = server.accept();
                var _ = Thread.ofVirtual().start(() -> serve(client));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(SocketChannel client) {
        try (client;
                DataInputStream in = new DataInputStream(Channels.newInputStream(client));
                DataOutputStream out = new DataOutputStream(Channels.newOutputStream(client))) {
            while (true) {
                DataInputStream request = new DataInputStream(new ByteArrayInputStream(string(in)));
                int type = request.read();
                if (type == SIGN && silent) {
                    asked = true;
                } else {
                    byte[] answer = answer(type, request);
                    out.writeInt(answer.length);
                    out.write(answer);
                }
            }
        } catch (IOException e) {
            // the witness was killed, and a test that needs an answer fails without it
        }
    }

    private byte[] answer(int type, DataInputStream request) throws IOException {
        Message answer = new Message();
        if (type == LIST) {
            answer.out.write(LISTED);
            answer.out.writeInt(1);
            return answer.string(key()).string("witness".getBytes(StandardCharsets.UTF_8)).bytes();
        }
        if (type == SIGN) {
            var _ = string(request); // its only key
            byte[] data = string(request);
            answer.out.write(SIGNED);
            return answer.string(typed(Unchecked.call(() -> sign(data)))).bytes();
        }
        throw new IOException("a witness doesn't send requests of type " + type);
    }

    private byte[] sign(byte[] data) throws Exception {
        Signature signing = Signature.getInstance("Ed25519");
        signing.initSign(pair.getPrivate());
        signing.update(data);
        return signing.sign();
    }

    private byte[] key() throws IOException {
        return typed(published);
    }

    private static byte[] typed(byte[] value) throws IOException {
        return new Message().string(KIND.getBytes(StandardCharsets.UTF_8)).string(value).bytes();
    }

    private static byte[] string(DataInputStream in) throws IOException {
        byte[] value = new byte[in.readInt()];
        in.readFully(value);
        return value;
    }

    /** A message that is being written. */
    private static final class Message {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final DataOutputStream out = new DataOutputStream(bytes);

        Message string(byte[] value) throws IOException {
            out.writeInt(value.length);
            out.write(value);
            return this;
        }

        byte[] bytes() {
            return bytes.toByteArray();
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
