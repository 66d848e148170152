package io.mintmark.console.pages.requests;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.LoopbackHttp;
import io.mintmark.base.outbound.Secret;
import io.mintmark.console.pages.requests.BrokerRoutes.Choice;
import io.mintmark.console.pages.requests.BrokerRoutes.Outcome;
import io.mintmark.console.pages.requests.BrokerRoutes.Outcome.Failed;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** What people read if the broker can't be asked. RequestDecisionsTest asks a real one. */
class BrokerRoutesTest {
    private static final String TOKEN = "eyJ.the-token-of-a.session";

    private static BrokerRoutes routes(String broker) {
        return new BrokerRoutes(
                URI.create(broker), new GuardedHttp(new Destinations(List.of("127.0.0.1"))));
    }

    private static Failed sentTo(String broker) {
        Outcome outcome =
                routes(broker)
                        .send(
                                new Secret(TOKEN),
                                new UUID(1, 2),
                                Choice.APPROVE,
                                "a note",
                                Optional.empty());
        return assertInstanceOf(Failed.class, outcome);
    }

    @Test
    void a_broker_out_of_reach_is_reported_without_the_token() {
        Failed failed = sentTo("http://localhost:" + RunningBroker.freePort());
        assertEquals(502, failed.status());
        assertShows(failed.sentence(), "The broker could not be asked: localhost");
        assertLacks(failed.sentence() + failed.advice(), TOKEN);
    }

    @Test
    void a_request_for_access_that_the_broker_did_not_answer_may_be_sent_again() {
        Outcome outcome =
                routes("http://localhost:" + RunningBroker.freePort())
                        .ask(new Secret(TOKEN), "deploy", "a reason", Duration.ofHours(1));
        Failed failed = assertInstanceOf(Failed.class, outcome);
        assertEquals(502, failed.status());
        assertShows(failed.advice(), "it does not make a second one.");
        assertLacks(failed.sentence() + failed.advice(), TOKEN);
    }

    @Test
    void an_answer_that_names_no_request_is_no_success() throws IOException {
        HttpServer broker = LoopbackHttp.serving(0, BrokerRoutesTest::nothing);
        try {
            Outcome outcome =
                    routes("http://127.0.0.1:" + broker.getAddress().getPort())
                            .ask(new Secret(TOKEN), "deploy", "a reason", Duration.ofHours(1));
            assertEquals(502, assertInstanceOf(Failed.class, outcome).status());
        } finally {
            broker.stop(0);
        }
    }

    private static void nothing(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = "{\"requests\": []}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(202, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Test
    void the_token_goes_to_no_host_by_plain_http() {
        Failed failed = sentTo("http://broker.example.com");
        assertEquals(502, failed.status());
        assertShows(failed.sentence(), "http");
    }
}
