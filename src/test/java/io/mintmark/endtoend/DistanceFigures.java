package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;

/**
 * What a distant database costs a mint: {@code mvn test -Dtest=DistanceFigures}. All that goes to
 * it and comes back is delayed.
 */
class DistanceFigures {
    private static final int WARM_UP = 300;
    private static final int ROUNDS = 500;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 5, 10, 90})
    void a_mint_waits_for_its_database(int milliseconds) throws Exception {
        Duration roundTrip = Duration.ofMillis(milliseconds);
        try (TestDatabase database = TestDatabase.migrated();
                IssuerStandIn issuer = IssuerStandIn.start()) {
            URI server = URI.create(database.url().substring("jdbc:".length()));
            try (CutWire wire = new CutWire(server.getPort(), roundTrip.dividedBy(2));
                    RunningBroker broker =
                            RunningBroker.at(
                                    database.url()
                                            .replace(
                                                    server.getAuthority(),
                                                    "127.0.0.1:" + wire.port()),
                                    Map.of())) {
                database.run(
                        TestDatabase.Who.ADMIN,
                        World.tenant(issuer.url(), "https://sts.example.com"));
                String token = issuer.sign(World.SUBJECT, World.AUDIENCE);
                long[] took = new long[ROUNDS];
                for (int round = -WARM_UP; round < ROUNDS; round++) {
                    long begun = System.nanoTime();
                    assertEquals(200, broker.mint(token, "api").status());
                    if (round >= 0) {
                        took[round] = System.nanoTime() - begun;
                    }
                }
                Arrays.sort(took);
                System.out.printf(
                        "round trip %d ms: mint p50 %.1f ms, p99 %.1f ms%n",
                        milliseconds, took[ROUNDS / 2] / 1e6, took[ROUNDS * 99 / 100] / 1e6);
            }
        }
    }
}
