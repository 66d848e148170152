package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.http.request.AccessLog;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Collectors;

/** The {@code client_id} of {@code POST /oauth2/token} in the access line of its request. */
class OAuthClientInLogTest {
    private static final Logger LOGGER = Logger.getLogger(AccessLog.class.getName());

    @AutoClose private final World world = new World();
    @AutoClose private final AccessLines lines = new AccessLines();

    @Test
    void the_access_line_of_an_accepted_token_names_the_client() {
        assertEquals(200, post("granted", world.token(), "api", "gitlab-runner"));
        assertEquals(Optional.of("gitlab-runner"), lines.client("granted"));

        assertEquals(400, post("denied", world.token(), "nothing", "x".repeat(300)));
        assertEquals(Optional.of("x".repeat(255)), lines.client("denied"));
    }

    @Test
    void a_client_without_a_name_or_without_an_accepted_token_is_not_in_the_log() {
        assertEquals(200, post("unnamed", world.token(), "api", ""));
        assertEquals(Optional.empty(), lines.client("unnamed"));

        assertEquals(400, post("stranger", world.expiredToken(), "api", "gitlab-runner"));
        assertEquals(Optional.empty(), lines.client("stranger"));
    }

    private int post(String requestId, String token, String key, String client) {
        String form =
                Map.of(
                                "grant_type",
                                "urn:ietf:params:oauth:grant-type:token-exchange",
                                "subject_token",
                                token,
                                "subject_token_type",
                                "urn:ietf:params:oauth:token-type:jwt",
                                "audience",
                                key,
                                "client_id",
                                client)
                        .entrySet()
                        .stream()
                        .map(field ->
                                field.getKey()
                                        + "="
                                        + URLEncoder.encode(
                                                field.getValue(), StandardCharsets.UTF_8))
                        .collect(Collectors.joining("&"));
        return world.broker()
                .send(
                        world.broker()
                                .request("/oauth2/token")
                                .header("Content-Type", "application/x-www-form-urlencoded")
                                .header("X-Request-ID", requestId)
                                .POST(BodyPublishers.ofString(form)))
                .status();
    }

    /** The clients of the access lines that were written while it is open, by request id. */
    private static final class AccessLines extends Handler implements AutoCloseable {
        private final Map<String, Optional<String>> clients = new ConcurrentHashMap<>();
        private final Optional<Level> before = Optional.ofNullable(LOGGER.getLevel());

        AccessLines() {
            LOGGER.setLevel(Level.INFO);
            LOGGER.addHandler(this);
        }

        Optional<String> client(String requestId) {
            Eventually.holds(() -> clients.containsKey(requestId));
            return clients.getOrDefault(requestId, Optional.empty());
        }

        @Override
        public void publish(LogRecord record) {
            clients.put(MDC.get("requestId"), Optional.ofNullable(MDC.get("oauthClientId")));
        }

        @Override
        public void flush() {
            // nothing is held back
        }

        @Override
        public void close() {
            LOGGER.removeHandler(this);
            LOGGER.setLevel(before.orElse(null));
        }
    }
}
