package io.mintmark.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.broker.token.IssuerKeys;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.URI;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Which ID tokens are sessions, and which ended ones stay ended. */
class SessionsTest {
    private static final Instant START = Instant.parse("2026-11-01T12:00:00Z");
    private static final int REMEMBERED = 2;

    @AutoClose private static IssuerStandIn issuer;
    @AutoClose private static IssuerStandIn other;

    private Instant now = START;
    private Sessions sessions;

    @BeforeAll
    static void listen() {
        issuer = IssuerStandIn.start();
        other = IssuerStandIn.start();
    }

    @BeforeEach
    void setUp() {
        InstantSource clock = () -> now;
        var endpoints =
                new LoginEndpoints(
                        issuer.url(),
                        URI.create(issuer.url() + "/authorize"),
                        URI.create(issuer.url() + "/tokens"),
                        URI.create(issuer.url() + IssuerStandIn.KEYS),
                        Optional.empty(),
                        false);
        var http = new GuardedHttp(new Destinations(List.of("127.0.0.1")));
        sessions =
                new Sessions(endpoints, "console", new IssuerKeys(http, clock), clock, REMEMBERED);
    }

    /** An ID token of Audrey's. */
    private static String token(Instant issuedAt, int seconds, Map<String, ?> further) {
        Map<String, Object> claims = new LinkedHashMap<>();
        claims.put("iss", issuer.url());
        claims.put("sub", "audrey");
        claims.put("aud", "console");
        claims.put("iat", issuedAt.getEpochSecond());
        claims.put("exp", issuedAt.plusSeconds(seconds).getEpochSecond());
        claims.putAll(further);
        return issuer.signExactly(claims);
    }

    private static String token(Instant issuedAt) {
        return token(issuedAt, 3_600, Map.of());
    }

    @Test
    void an_ended_session_stays_ended_however_many_end_after_it() {
        String first = token(START.minusSeconds(100));
        assertTrue(sessions.end(first).isPresent());
        for (int i = 0; i < REMEMBERED + 3; i++) {
            String next = token(START.minusSeconds(50 - i));
            assertTrue(sessions.end(next).isPresent());
            assertTrue(sessions.viewer(next).isEmpty());
        }

        assertTrue(sessions.viewer(first).isEmpty(), "an ended session is live again");
        assertTrue(sessions.viewer(token(START)).isPresent(), "nobody can log in any more");
    }

    @Test
    void only_sessions_as_old_as_a_forgotten_one_end_with_it() {
        String older = token(START.minusSeconds(200));
        String younger = token(START.minusSeconds(10));
        for (int i = 0; i <= REMEMBERED; i++) {
            sessions.end(token(START.minusSeconds(100 - i)));
        }

        assertTrue(sessions.viewer(older).isEmpty());
        assertTrue(sessions.viewer(younger).isPresent());
    }

    @Test
    void a_token_that_is_no_session_takes_no_place() {
        String older = token(START.minusSeconds(200));
        for (int i = 0; i <= REMEMBERED; i++) {
            Instant at = START.minusSeconds(100 - i);
            assertTrue(sessions.end("anything " + i).isEmpty());
            assertTrue(sessions.end(token(at, 5, Map.of())).isEmpty());
            assertTrue(sessions.end(token(at, 600, Map.of("aud", "another"))).isEmpty());
            assertTrue(sessions.end(token(at, 600, Map.of("azp", "another"))).isEmpty());
        }
        String once = token(START.minusSeconds(99));
        assertTrue(sessions.end(once).isPresent());
        assertTrue(sessions.end(once).isEmpty());

        assertTrue(sessions.viewer(older).isPresent());
    }

    /** All of these have the console's client id as audience and are signed with the same key. */
    @Test
    void a_genuine_token_that_was_made_for_something_else_is_no_session() {
        for (Map<String, ?> claims :
                List.of(
                        Map.of("events", Map.of("https://example.com/event", Map.of())),
                        Map.of("typ", "Refresh"),
                        Map.of("typ", "Offline"),
                        Map.of("typ", "Logout"),
                        Map.of("cnf", Map.of("jkt", "thumbprint")))) {
            assertTrue(sessions.viewer(token(START, 60, claims)).isEmpty(), claims.toString());
        }
        assertTrue(sessions.viewer(token(START, 60, Map.of("typ", "ID"))).isPresent());
    }

    /** OpenID Connect Core 1.0 section 3.1.3.7, point 4. */
    @Test
    void a_token_for_several_audiences_must_name_the_console_as_its_authorized_party() {
        List<String> both = List.of("console", "another");
        assertTrue(sessions.viewer(token(START, 60, Map.of("aud", both))).isEmpty());
        assertTrue(
                sessions.viewer(token(START, 60, Map.of("aud", both, "azp", "another"))).isEmpty());
        assertTrue(
                sessions.viewer(token(START, 60, Map.of("aud", both, "azp", "console")))
                        .isPresent());
        assertTrue(
                sessions.viewer(token(START, 60, Map.of("aud", List.of("console")))).isPresent());
    }

    @Test
    void an_ended_session_is_remembered_until_its_token_expires() {
        String older = token(START.minusSeconds(200));
        for (int i = 0; i < REMEMBERED; i++) {
            sessions.end(token(START.minusSeconds(i), 60, Map.of()));
        }
        now = START.plusSeconds(60);

        assertTrue(sessions.end(token(START)).isPresent());

        assertTrue(sessions.viewer(older).isPresent(), "the expired ones still took places");
    }

    @Test
    void a_token_of_ours_is_one_even_when_it_has_expired() {
        assertTrue(sessions.isOurs(token(START)));
        assertTrue(sessions.isOurs(token(START.minusSeconds(90_000))));
        String ended = token(START.minusSeconds(1));
        sessions.end(ended);
        assertTrue(sessions.isOurs(ended));
    }

    @Test
    void anything_else_is_no_token_of_ours() {
        Instant longAgo = START.minusSeconds(90_000);
        String expired = token(longAgo);
        String forged = expired.substring(0, expired.lastIndexOf('.')) + ".AAAA";
        String foreign =
                other.signExactly(
                        Map.of(
                                "iss", issuer.url(),
                                "sub", "audrey",
                                "aud", "console",
                                "iat", START.getEpochSecond(),
                                "exp", START.plusSeconds(60).getEpochSecond()));

        for (String token :
                List.of(
                        "",
                        "refresh-1",
                        forged,
                        foreign,
                        token(START, 60, Map.of("aud", "another")),
                        token(longAgo, 60, Map.of("aud", "another")),
                        token(longAgo, 60, Map.of("azp", "another")),
                        token(START, 60, Map.of("iss", other.url())))) {
            assertFalse(sessions.isOurs(token), token);
        }
        assertEquals(Optional.empty(), sessions.viewer(foreign));
    }
}
