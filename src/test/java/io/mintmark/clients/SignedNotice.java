package io.mintmark.clients;

import io.mintmark.Unchecked;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HexFormat;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A notice of a request, as a broker sends it.
 *
 * @param signature the header; may be wrong
 */
record SignedNotice(String body, String signature) {
    static final String SECRET = "a secret";

    /** A request for the key spare, with ticket INC-4711. */
    static SignedNotice of(String request, String subject, String revisions) {
        return signed(
                """
                {"type": "io.mintmark.access.requested", "subject": "%s", "data": {"reason": "INC-4711: stuck", "key": "spare",
                 "idp": "ci", "subject": "%s", "actorIdp": null, "actor": null, "seconds": 900, "revisions": %s}}
                """
                        .formatted(request, subject, revisions),
                Instant.now(),
                SECRET);
    }

    static SignedNotice signed(String body, Instant at, String secret) {
        String time = Long.toString(at.getEpochSecond());
        return new SignedNotice(
                body, "t=%s,v1=%s".formatted(time, hmac(time + "." + body, secret)));
    }

    private static String hmac(String text, String secret) {
        return Unchecked.call(() -> {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        });
    }

    SignedNotice withBody(String other) {
        return new SignedNotice(other, signature);
    }

    /** The status of the receiver's response. */
    int sendTo(int port) {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"))
                        .header("Mintmark-Signature", signature)
                        .POST(BodyPublishers.ofString(body))
                        .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            return Unchecked.call(() -> client.send(request, BodyHandlers.discarding()))
                    .statusCode();
        }
    }
}
