package io.mintmark.clients;

import io.mintmark.base.outbound.RawServer;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;

/** A broker that mints whatever it is asked for, and whose clock isn't that of this machine. */
final class SkewedBroker implements AutoCloseable {
    private final RawServer server;
    private final Duration ahead;
    private final Duration life;

    /**
     * @param ahead of this machine's clock
     * @param life of each credential
     */
    SkewedBroker(Duration ahead, Duration life) throws IOException {
        this.ahead = ahead;
        this.life = life;
        this.server = RawServer.serving(this::answer);
    }

    String url() {
        return server.origin();
    }

    int mints() {
        return server.connections();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private void answer(Socket client) throws IOException {
        String request = RawServer.request(client.getInputStream());
        Instant now = Instant.now().plus(ahead).truncatedTo(ChronoUnit.SECONDS);
        String body = body(request.split(" ", 3)[1], now);
        String head =
                "HTTP/1.1 200 OK\r\nDate: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
                        .formatted(
                                DateTimeFormatter.RFC_1123_DATE_TIME.format(
                                        now.atOffset(ZoneOffset.UTC)),
                                body.length());
        client.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
    }

    private String body(String path, Instant now) {
        Instant end = now.plus(life);
        return path.startsWith("/sdk/aws/")
                ? "{\"AccessKeyId\": \"A\", \"SecretAccessKey\": \"s\", \"Token\": \"t\", \"Expiration\": \"%s\"}"
                        .formatted(end)
                : """
                {"credentials": {"a": {"%s": "%s"}}, "issuedAt": "%s", "expiresAt": "%s", "subject": "s"}
                """
                        .formatted(
                                path.startsWith("/sign/") ? "certificate" : "ACCESS_TOKEN",
                                path.startsWith("/sign/")
                                        ? "ssh-ed25519-cert-v01@openssh.com AAAA"
                                        : "t",
                                now,
                                end);
    }
}
