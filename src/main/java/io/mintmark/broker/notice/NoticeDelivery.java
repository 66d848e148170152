package io.mintmark.broker.notice;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.ProviderWords;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.Sender;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.outbound.UnusableSecretException;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Sends a notice as a CloudEvent (CloudEvents 1.0.2, HTTP protocol binding, structured mode). The
 * header {@value #SIGNATURE} is {@code t=SECONDS,v1=HEX}: the HMAC-SHA-256 of the time, a point and
 * the body.
 */
public final class NoticeDelivery {
    static final String SIGNATURE = "Mintmark-Signature";

    /** The time limit of a receiver, from the DNS lookup to the last byte. */
    static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final String MEDIA_TYPE = "application/cloudevents+json";
    private static final String HMAC = "HmacSHA256";

    private final TenantHttpClients http;
    private final SecretFiles secrets;
    private final String source;
    private final Optional<String> console;
    private final InstantSource clock;

    /**
     * @param source where events come from: the broker's address, if it has one
     * @param console its URL, to which notices link
     */
    public NoticeDelivery(
            TenantHttpClients http,
            SecretFiles secrets,
            String source,
            Optional<String> console,
            InstantSource clock) {
        this.http = http;
        this.secrets = secrets;
        this.source = source;
        this.console = console;
        this.clock = clock;
    }

    /** Sends it once. Returns why its receiver doesn't have it; empty if it does. */
    Optional<String> send(AccessNotice notice) {
        try {
            Secret key = secrets.read(notice.tenant().value(), notice.secret());
            Reply reply =
                    http.post(
                            new Sender(notice.tenant().value(), () -> {}),
                            request(notice, key),
                            TIMEOUT);
            return reply.isSuccess()
                    ? Optional.empty()
                    : Optional.of("the receiver answered with status " + reply.status());
        } catch (UnusableSecretException e) {
            return Optional.of("notice_secret " + e.getMessage());
        } catch (OutboundFailure e) {
            return Optional.of(ProviderWords.fit(String.valueOf(e.getMessage())));
        }
    }

    private OutboundRequest request(AccessNotice notice, Secret key) {
        String body = event(notice).toString();
        return new OutboundRequest(notice.url(), MEDIA_TYPE, new Secret(body), List.of(key))
                .with(SIGNATURE, new Secret(signature(key, clock.instant(), body)));
    }

    private ObjectNode event(AccessNotice notice) {
        ObjectNode event =
                JsonNodeFactory.instance
                        .objectNode()
                        .put("specversion", "1.0")
                        .put("id", notice.id().toString())
                        .put("source", "%s/tenants/%s".formatted(source, notice.tenant()))
                        .put("type", notice.type())
                        .put("subject", notice.request().toString())
                        .put("time", notice.at().toString())
                        .put("datacontenttype", "application/json");
        event.set("data", notice.data());
        console.ifPresent(url ->
                event.withObjectProperty("data")
                        .put("consoleUrl", "%s/requests/%s".formatted(url, notice.request())));
        return event;
    }

    private static String signature(Secret key, Instant at, String body) {
        long seconds = at.getEpochSecond();
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(key.reveal().getBytes(StandardCharsets.UTF_8), HMAC));
            byte[] signed = mac.doFinal((seconds + "." + body).getBytes(StandardCharsets.UTF_8));
            return "t=%d,v1=%s".formatted(seconds, HexFormat.of().formatHex(signed));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime lacks " + HMAC, e);
        }
    }
}
