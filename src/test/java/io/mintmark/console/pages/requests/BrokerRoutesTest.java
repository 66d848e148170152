package io.mintmark.console.pages.requests;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.Secret;
import io.mintmark.console.pages.requests.BrokerRoutes.Choice;
import io.mintmark.console.pages.requests.BrokerRoutes.Outcome;
import io.mintmark.console.pages.requests.BrokerRoutes.Outcome.Failed;
import io.mintmark.endtoend.RunningBroker;

import org.junit.jupiter.api.Test;

import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** What people read if the broker can't be asked. RequestDecisionsTest asks a real one. */
class BrokerRoutesTest {
    private static final String TOKEN = "eyJ.the-token-of-a.session";

    private static Failed sentTo(String broker) {
        GuardedHttp http = new GuardedHttp(new Destinations(List.of()));
        Outcome outcome =
                new BrokerRoutes(URI.create(broker), http)
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
    void the_token_goes_to_no_host_by_plain_http() {
        Failed failed = sentTo("http://broker.example.com");
        assertEquals(502, failed.status());
        assertShows(failed.sentence(), "http");
    }
}
