package io.mintmark.benchmark;

import io.mintmark.base.outbound.RawServer;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * An STS that costs little and takes a settable time. It looks whether it was asked for what a
 * broker asks, and gives each answer an access key id of its own, so that rows can be compared with
 * what was given out.
 */
final class StsForLoad implements AutoCloseable {
    private static final Duration LIFETIME = Duration.ofHours(1);

    private final RawServer server;
    private final LongAdder given = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private volatile Duration delay = Duration.ZERO;

    StsForLoad() throws IOException {
        server = RawServer.serving(this::serve);
    }

    String endpoint() {
        return server.origin();
    }

    /** How long each answer takes from now on. */
    void delay(Duration each) {
        delay = each;
    }

    /** Credentials that were given since the last call of this method. */
    long given() {
        return given.sumThenReset();
    }

    /** Calls so far that no broker should make. */
    long refused() {
        return refused.sum();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private void serve(Socket client) throws IOException, InterruptedException {
        client.setTcpNoDelay(true);
        InputStream in = new BufferedInputStream(client.getInputStream());
        for (String call = RawServer.request(in); !call.isEmpty(); call = RawServer.request(in)) {
            byte[] answer = answer(call);
            if (delay.isPositive()) {
                Thread.sleep(delay);
            }
            client.getOutputStream().write(answer);
        }
    }

    private byte[] answer(String call) {
        if (!call.startsWith("POST / ")
                || !call.contains("Action=AssumeRoleWithWebIdentity")
                || !call.contains("WebIdentityToken=ey")) {
            refused.increment();
            return http("400 Bad Request", "<ErrorResponse/>");
        }
        given.increment();
        String expiry = Instant.now().plus(LIFETIME).truncatedTo(ChronoUnit.SECONDS).toString();
        return http(
                "200 OK",
                """
                <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
                  <AssumeRoleWithWebIdentityResult>
                    <Credentials>
                      <AccessKeyId>ASIALOAD%08d</AccessKeyId>
                      <SecretAccessKey>wJalrXUtnFEMIK7MDENGbPxRfiCYzEXAMPLEKEY</SecretAccessKey>
                      <SessionToken>%s</SessionToken>
                      <Expiration>%s</Expiration>
                    </Credentials>
                  </AssumeRoleWithWebIdentityResult>
                </AssumeRoleWithWebIdentityResponse>
                """
                        .formatted(
                                Math.floorMod(System.nanoTime(), 100_000_000L),
                                "t".repeat(500),
                                expiry));
    }

    private static byte[] http(String status, String body) {
        return "HTTP/1.1 %s\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(status, body.length(), body)
                .getBytes(StandardCharsets.US_ASCII);
    }
}
