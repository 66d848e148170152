package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.provider.sts.StsAnswer;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** A tenant whose provider hangs, with as many calls as it may have. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("heavy")
class BusyTenantTest {
    private static final int MOST_REQUESTS = 16;

    @AutoClose
    private final World world =
            new World(
                    Map.of(
                            "PROVIDER_TIMEOUT",
                            "PT20S",
                            "SERVER_MAX_REQUESTS",
                            Integer.toString(MOST_REQUESTS)));

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

    @Test
    void
            a_tenant_whose_requests_keep_too_much_in_memory_is_told_so_and_leaves_others_their_turns() {
        // 32 KiB for each request that may be worked on, half of it for one tenant, 4 for each
        List<CompletableFuture<Answer>> mints = hangingMints(4);
        List<CompletableFuture<Answer>> beyond = asManyAsMayBeWorkedOn();
        beyond.forEach(each -> assertEquals(503, each.join().status()));
        assertTrue(mints.stream().noneMatch(CompletableFuture::isDone));

        assertEquals(200, world.broker().get("/credentials/idp-providers").status());
        Answer refused = world.broker().mint(world.token(), "deploy");
        assertEquals("503 SERVICE_UNAVAILABLE", refused.verdict().strip());
        assertEquals("1", refused.at("/retryAfter"));
        mints.forEach(CompletableFuture::join);
    }

    @Test
    void as_many_mints_as_hang_leave_other_requests_their_turns() {
        List<CompletableFuture<Answer>> hanging = hangingMints(3);

        assertEquals(200, world.broker().get("/credentials/idp-providers").status());
        assertEquals(200, world.broker().mint(world.token(), "api").status());
        assertTrue(hanging.stream().noneMatch(CompletableFuture::isDone));
        hanging.forEach(each ->
                assertEquals("500 CREDENTIAL_MINT_FAILED provider_timeout", each.join().verdict()));
    }

    /** Each group only when the one before hangs, since a request waits one second for its turn. */
    private List<CompletableFuture<Answer>> hangingMints(int groups) {
        world.sts().always(new StsAnswer.Hanging());
        List<CompletableFuture<Answer>> mints = new ArrayList<>();
        for (int group = 1; group <= groups; group++) {
            mints.addAll(asManyAsMayBeWorkedOn());
            Eventually.holds(() -> world.sts().calls().size() == mints.size());
        }
        return mints;
    }

    private List<CompletableFuture<Answer>> asManyAsMayBeWorkedOn() {
        return IntStream.range(0, MOST_REQUESTS)
                .mapToObj(_ ->
                        CompletableFuture.supplyAsync(
                                () -> world.broker().mint(world.token(), "deploy"),
                                Thread::startVirtualThread))
                .toList();
    }
}
