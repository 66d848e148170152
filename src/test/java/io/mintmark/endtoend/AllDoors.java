package io.mintmark.endtoend;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Every request that asks for credentials or for the list of keys. */
final class AllDoors {
    /** As in RFC 8709 section 4. */
    private static final String PUBLIC_KEY =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJfkNV4OS33ImTXvorZr72q4v5XhVEQKfvqsxOEJ/XaR";

    private AllDoors() {}

    static List<HttpRequest.Builder> requests(URI broker, String token) {
        return List.of(
                HttpRequest.newBuilder(broker.resolve("/credentials/mint"))
                        .header("Authorization", "Bearer " + token)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString("{\"keys\":[\"deploy\"]}")),
                HttpRequest.newBuilder(broker.resolve("/credentials/keys"))
                        .header("Authorization", "Bearer " + token),
                HttpRequest.newBuilder(broker.resolve("/sdk/aws/deploy"))
                        .header("Authorization", token),
                StsForms.request(broker, StsForms.encoded(StsForms.form(token, World.ROLE))),
                HttpRequest.newBuilder(broker.resolve("/oauth2/token"))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(form(token))),
                HttpRequest.newBuilder(broker.resolve("/oauth2/token"))
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(BodyPublishers.ofString(assertion(token))),
                HttpRequest.newBuilder(broker.resolve("/sign/deploy"))
                        .header("Authorization", "Bearer " + token)
                        .POST(BodyPublishers.ofString(PUBLIC_KEY)));
    }

    private static String assertion(String token) {
        return "grant_type=%s&assertion=%s&audience=api"
                .formatted(encoded("urn:ietf:params:oauth:grant-type:jwt-bearer"), encoded(token));
    }

    private static String form(String token) {
        return "grant_type=%s&subject_token_type=%s&subject_token=%s&audience=api"
                .formatted(
                        encoded("urn:ietf:params:oauth:grant-type:token-exchange"),
                        encoded("urn:ietf:params:oauth:token-type:jwt"),
                        encoded(token));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
