package io.mintmark.provider.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.FormBody;
import io.mintmark.base.outbound.OutboundFailure.Kind;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.NotMinted;
import io.mintmark.provider.Orders;
import io.mintmark.provider.web.Step.Done;
import io.mintmark.provider.web.Step.Stopped;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

class CallsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final InstantSource CLOCK = InstantSource.system();

    private final List<String> waits = new ArrayList<>();

    @Test
    void an_answer_is_taken_as_it_is() {
        try (var server = ScriptedServer.doing(ScriptedServer.saying(200, says("a")))) {
            assertEquals("a", said(post(server.url(), TIMEOUT)));
            assertEquals(1, server.calls());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    void who_says_that_it_is_too_much_just_now_is_asked_again(int status) {
        try (var server =
                ScriptedServer.doing(
                        ScriptedServer.saying(status, "later"),
                        ScriptedServer.saying(status, "later"),
                        ScriptedServer.saying(200, says("now")))) {
            assertEquals("now", said(post(server.url(), TIMEOUT)));
            assertEquals(3, server.calls());
        }
    }

    @Test
    void the_third_answer_is_the_last() {
        try (var server = ScriptedServer.doing(ScriptedServer.saying(429, "never"))) {
            assertEquals(429, reply(post(server.url(), TIMEOUT)).status());
            assertEquals(3, server.calls());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 403, 404, 408, 500, 502, 504})
    void any_other_error_is_final(int status) {
        try (var server = ScriptedServer.doing(ScriptedServer.saying(status, ""))) {
            assertEquals(status, reply(post(server.url(), TIMEOUT)).status());
            assertEquals(1, server.calls());
        }
    }

    @Test
    void a_connection_that_was_never_made_is_tried_again() {
        int port = RunningBroker.freePort();
        List<ScriptedServer> started = new ArrayList<>();
        // asked for the first wait before the first attempt, for the second before the second
        var random =
                new Jitter(
                        waits,
                        () -> {
                            if (waits.size() == 2) {
                                started.add(
                                        new ScriptedServer(
                                                port, ScriptedServer.saying(200, says("up"))));
                            }
                        });
        try {
            Step<Reply> step = post(calls(random), "http://127.0.0.1:%d/".formatted(port), TIMEOUT);

            assertEquals("up", said(step));
            assertEquals(2, waits.size());
        } finally {
            started.forEach(ScriptedServer::close);
        }
    }

    @Test
    void a_connection_that_can_not_be_made_is_given_up() {
        Failed failed =
                failed(
                        post(
                                "http://127.0.0.1:%d/secret-path"
                                        .formatted(RunningBroker.freePort()),
                                TIMEOUT));

        assertEquals(Reason.PROVIDER_UNREACHABLE, failed.reason());
        assertEquals(3, waits.size());
        assertFalse(failed.detail().contains("secret"), failed.detail());
    }

    @Test
    void after_a_broken_connection_nothing_is_tried_again() {
        try (var server =
                ScriptedServer.doing(
                        ScriptedServer.dropping(), ScriptedServer.saying(200, "once too often"))) {
            assertEquals(Reason.PROVIDER_UNREACHABLE, failed(post(server.url(), TIMEOUT)).reason());
            assertEquals(1, server.calls());
        }
    }

    @Test
    void an_answer_that_does_not_come_by_the_deadline_is_not_asked_for_again() {
        try (var server = ScriptedServer.doing()) {
            server.then(server.hanging());

            assertEquals(
                    Reason.PROVIDER_TIMEOUT,
                    failed(post(server.url(), Duration.ofMillis(400))).reason());
            assertEquals(1, server.calls());
        }
    }

    @ParameterizedTest
    @CsvSource({"307, '', PROVIDER_ERROR", "200, gzip, PROVIDER_ERROR"})
    void an_answer_of_a_wrong_kind_is_final(int status, String encoding, Reason reason) {
        Map<String, String> headers =
                encoding.isEmpty()
                        ? Map.of("Location", "https://elsewhere.example")
                        : Map.of("Content-Encoding", encoding);
        try (var server = ScriptedServer.doing(ScriptedServer.saying(status, "", headers))) {
            assertEquals(reason, failed(post(server.url(), TIMEOUT)).reason());
            assertEquals(1, server.calls());
        }
    }

    @Test
    void who_asks_for_time_gets_it() {
        try (var server =
                ScriptedServer.doing(
                        ScriptedServer.saying(503, "", Map.of("Retry-After", "1")),
                        ScriptedServer.saying(200, says("now")))) {
            assertEquals(200, reply(post(server.url(), TIMEOUT)).status());
            assertTrue(server.arrival(1) - server.arrival(0) >= Duration.ofSeconds(1).toNanos());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"60", "999999"})
    void who_asks_for_more_time_than_there_is_has_the_last_word(String seconds) {
        try (var server =
                ScriptedServer.doing(
                        ScriptedServer.saying(429, "", Map.of("Retry-After", seconds)))) {
            assertEquals(429, reply(post(server.url(), TIMEOUT)).status());
            assertEquals(1, server.calls());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Wed, 21 Oct 2099 07:28:00 GMT", "-1", "1e9", "99999999999999999999"})
    void a_time_that_is_no_number_of_seconds_counts_as_none(String time) {
        try (var server =
                ScriptedServer.doing(
                        ScriptedServer.saying(429, "", Map.of("Retry-After", time)),
                        ScriptedServer.saying(200, ""))) {
            assertEquals(200, reply(post(server.url(), TIMEOUT)).status());
        }
    }

    @Test
    void no_second_attempt_is_begun_when_its_wait_would_last_until_the_deadline() {
        try (var server = ScriptedServer.doing(ScriptedServer.saying(503, ""))) {
            var slow = new Jitter(waits, () -> {}, Duration.ofSeconds(30).toMillis());

            Step<Reply> step = post(calls(slow), server.url(), TIMEOUT);

            assertEquals(503, reply(step).status());
            assertEquals(1, server.calls());
        }
    }

    @Test
    void waits_double_and_are_spread_over_the_half_of_them() {
        try (var server = ScriptedServer.doing(ScriptedServer.saying(503, ""))) {
            post(server.url(), TIMEOUT);

            assertEquals(List.of("100 to 200", "200 to 400", "400 to 800"), waits);
        }
    }

    @Test
    void who_is_interrupted_while_waiting_gets_a_result_and_stays_interrupted() {
        var random =
                new Jitter(
                        waits,
                        () -> {
                            if (waits.size() == 2) {
                                Thread.currentThread().interrupt();
                            }
                        });
        try (var server = ScriptedServer.doing(ScriptedServer.saying(503, ""))) {
            assertEquals(
                    Reason.PROVIDER_TIMEOUT,
                    failed(post(calls(random), server.url(), TIMEOUT)).reason());
            assertTrue(Thread.interrupted());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ADDRESS_UNUSABLE,     PROVIDER_MISCONFIGURED",
        "DESTINATION_REFUSED,  PROVIDER_MISCONFIGURED",
        "AUTHORITY_UNREADABLE, PROVIDER_MISCONFIGURED",
        "UNREACHABLE,          PROVIDER_UNREACHABLE",
        "BUSY,                 PROVIDER_UNREACHABLE",
        "CUT_OFF,              PROVIDER_UNREACHABLE",
        "NOT_TRUSTED,          PROVIDER_UNREACHABLE",
        "TIMED_OUT,            PROVIDER_TIMEOUT",
        "REDIRECTED,           PROVIDER_ERROR",
        "STATUS,               PROVIDER_ERROR",
        "TOO_LARGE,            PROVIDER_ERROR",
        "ENCODED,              PROVIDER_ERROR",
    })
    void every_failure_has_its_reason(Kind kind, Reason reason) {
        assertEquals(reason, Calls.meaning(kind));
    }

    @ParameterizedTest
    @CsvSource({
        "http://far.example/token, plain http is allowed only",
        "http://10.0.0.1/token,    plain http is allowed only",
        "https://10.0.0.1/token,   10.0.0.1",
        "https://169.254.169.254/, 169.254.169.254",
    })
    void an_address_that_is_not_asked_is_the_settings_fault(String url, String told) {
        Failed failed = failed(post(url, TIMEOUT));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason());
        assertTrue(failed.detail().contains(told), failed.detail());
        assertEquals(1, waits.size());
    }

    @Test
    void what_is_said_of_a_failure_is_fit_for_the_audit_log() {
        Failed failed =
                Calls.failed(
                        Reason.PROVIDER_ERROR,
                        "bad token eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln\nreally",
                        Endpoint.at("https://far.example/secret-path"));

        assertEquals("bad token [token] really (https://far.example)", failed.detail());
    }

    private Step<Reply> post(String url, Duration timeout) {
        return post(calls(new Jitter(waits, () -> {})), url, timeout);
    }

    private static Step<Reply> post(Calls calls, String url, Duration timeout) {
        return calls.post(
                Orders.of("x", "{}", "{}").within(timeout).order(),
                Endpoint.at(url),
                () -> new FormBody().with("a", "b").to(url));
    }

    private static Calls calls(RandomGenerator random) {
        var allowed = new Destinations(List.of("127.0.0.1"));
        return new Calls(new TenantHttpClients(allowed), CLOCK, random);
    }

    private static String says(String word) {
        return "{\"word\":\"%s\"}".formatted(word);
    }

    private static String said(Step<Reply> step) {
        return reply(step).answer().words("word").orElseThrow();
    }

    private static Reply reply(Step<Reply> step) {
        return switch (step) {
            case Done<Reply>(Reply reply) -> reply;
            case Stopped<Reply>(NotMinted why) -> throw new AssertionError(why);
        };
    }

    private static Failed failed(Step<Reply> step) {
        return switch (step) {
            case Done<Reply>(Reply reply) -> throw new AssertionError(reply);
            case Stopped<Reply>(NotMinted why) -> (Failed) why;
        };
    }

    /** Chooses the shortest wait, or always the same, and notes what it could choose from. */
    private record Jitter(List<String> waits, Runnable then, long always)
            implements RandomGenerator {
        Jitter(List<String> waits, Runnable then) {
            this(waits, then, -1);
        }

        @Override
        public long nextLong() {
            throw new AssertionError("a wait has bounds");
        }

        @Override
        public long nextLong(long origin, long bound) {
            waits.add("%d to %d".formatted(origin, bound - 1));
            then.run();
            return always < 0 ? origin : always;
        }
    }
}
