package io.mintmark.provider.sts;

import io.mintmark.base.outbound.RawServer;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;

/**
 * An STS that keeps its connections and says more on them than it was asked: each credential that
 * it makes bears the session's name up to its first dot.
 */
final class DoubleTalkingSts implements AutoCloseable {

    /** What it does beside answering each request once. */
    enum Habit {
        /** Nothing. */
        HONEST,
        /** The same answer once more, at once. */
        TWICE,
        /** The same answer once more, when the client has the first one. */
        LATER,
        /** Blank lines after the answer. */
        BLANK_LINES,
        /** It ends the connection, though it said that it would stay. */
        HANGS_UP
    }

    private static final Pattern SESSION = Pattern.compile("RoleSessionName=([^.&]*)");

    private final RawServer server;
    private final Habit habit;
    private final CountDownLatch clientHasIt = new CountDownLatch(1);
    private final CountDownLatch saidMore = new CountDownLatch(1);

    DoubleTalkingSts(Habit habit) throws IOException {
        this.habit = habit;
        server = RawServer.serving(this::serve);
    }

    String endpoint() {
        return server.origin();
    }

    int connections() {
        return server.connections();
    }

    /** Lets it say or do what comes after an answer, and returns when it has. */
    void goOn() throws InterruptedException {
        clientHasIt.countDown();
        saidMore.await();
    }

    @Override
    public void close() throws IOException {
        clientHasIt.countDown();
        server.close();
    }

    private void serve(Socket client) throws IOException, InterruptedException {
        try (client) {
            InputStream in = new BufferedInputStream(client.getInputStream());
            for (Optional<String> session = session(in);
                    session.isPresent();
                    session = session(in)) {
                speak(client.getOutputStream(), answer(session.get()));
                if (habit == Habit.HANGS_UP) {
                    return;
                }
            }
        } finally {
            saidMore.countDown();
        }
    }

    private void speak(OutputStream out, byte[] answer) throws IOException, InterruptedException {
        switch (habit) {
            case HONEST, HANGS_UP -> out.write(answer);
            case TWICE -> out.write(joined(answer, answer));
            case LATER -> {
                out.write(answer);
                clientHasIt.await();
                out.write(answer);
                saidMore.countDown();
            }
            case BLANK_LINES -> out.write(joined(answer, new byte[] {'\r', '\n'}));
        }
    }

    /** In one piece, so that there is no moment between the two. */
    private static byte[] joined(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    /** The session's name of the next request; nothing if the client has left. */
    private static Optional<String> session(InputStream in) throws IOException {
        return SESSION.matcher(RawServer.request(in)).results().map(it -> it.group(1)).findFirst();
    }

    private static byte[] answer(String session) {
        Instant expiry = InstantSource.system().instant().plusSeconds(3600);
        String body =
                """
                <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
                  <AssumeRoleWithWebIdentityResult>
                    <Credentials>
                      <AccessKeyId>key-of-%s</AccessKeyId>
                      <SecretAccessKey>secret</SecretAccessKey>
                      <SessionToken>token</SessionToken>
                      <Expiration>%s</Expiration>
                    </Credentials>
                  </AssumeRoleWithWebIdentityResult>
                </AssumeRoleWithWebIdentityResponse>
                """
                        .formatted(session, expiry.truncatedTo(ChronoUnit.SECONDS));
        return "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(body.length(), body)
                .getBytes(StandardCharsets.US_ASCII);
    }
}
