package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.mint.sts.StsAnswer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A tenant whose provider hangs, with as many calls as it may have. */
class BusyTenantTest {
    private final World world = new World(Map.of("PROVIDER_TIMEOUT", "PT4S"));

    @AfterEach
    void close() {
        world.close();
    }

    @Test
    void a_mint_beyond_max_calls_is_unavailable_and_no_providers_failure() {
        world.admin("UPDATE broker.tenant SET max_calls = 1 WHERE name = 'acme'");
        world.sts().next(new StsAnswer.Hanging());
        CompletableFuture<Answer> first =
                CompletableFuture.supplyAsync(() -> world.broker().mint(world.token(), "deploy"));
        Eventually.holds(() -> world.sts().calls().size() == 1);

        Answer second = world.broker().mint(world.token(), "deploy");

        assertEquals("503 SERVICE_UNAVAILABLE", second.verdict().strip());
        assertEquals("1", second.at("/retryAfter"));
        assertEquals("500 CREDENTIAL_MINT_FAILED provider_timeout", first.join().verdict());
        assertEquals(
                List.of("failed deploy provider_timeout", "failed deploy tenant_busy"),
                world.audited("kind = 'failed'").stream().sorted().toList());
    }
}
