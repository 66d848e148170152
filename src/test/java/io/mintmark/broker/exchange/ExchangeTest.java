package io.mintmark.broker.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Unchecked;
import io.mintmark.audit.Event;
import io.mintmark.audit.Kind;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.AccessRefusal;
import io.mintmark.base.verdict.MintRefusal;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.token.LogBook;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.NotCalled;
import io.mintmark.provider.MintResult.Withheld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;

/** The use case: what is minted, and what is refused to whom. */
final class ExchangeTest {
    @AutoClose private final Stage stage = new Stage();
    private final MemoryTenant tenant = stage.tenant;
    private final MemoryLog store = stage.store;
    private final FakeCloud cloud = stage.cloud;

    @Test
    void what_comes_so_late_that_others_may_have_ended_it_is_withheld() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        takes(Stage.TIMEOUT.plusSeconds(60));
        assertEquals(1, stage.minted("deploy").byKey().size());
        takes(Stage.TIMEOUT.plusSeconds(61));
        assertThrows(Unavailable.class, () -> stage.refusal("deploy"));
        Event last = store.events().getLast();
        assertEquals(Kind.WITHHELD, last.kind());
        assertEquals(Optional.of("too_late"), last.reason());
    }

    @Test
    void a_tenant_with_too_many_requests_in_flight_does_not_use_up_a_token() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        tenant.acceptTokensOnce();
        RequestPermit busy =
                new RequestPermit() {
                    @Override
                    public void waitsForKeys(TenantName name) {}

                    @Override
                    public void isAdmitted(TenantName name) {
                        throw new Unavailable("too many", Duration.ofSeconds(1));
                    }
                };
        MintRequest refused = stage.request(busy, "deploy");
        assertThrows(Unavailable.class, () -> stage.exchange.mint(refused));
        assertEquals(1, stage.minted("deploy").byKey().size());
        assertEquals(new TokenRefusal.TokenReplayed(), stage.refusal("deploy"));
    }

    /** This replica is stopped for so long while its provider answers. */
    private void takes(Duration time) {
        cloud.answer(
                "deploy",
                order -> {
                    Instant later = stage.now.updateAndGet(now -> now.plus(time));
                    return FakeCloud.credential(order, later.plusSeconds(60));
                });
    }

    @Test
    void keys_are_minted_at_the_same_time() {
        tenant.key("one").key("two").grant(Stage.SUBJECT, "one").grant(Stage.SUBJECT, "two");
        CyclicBarrier both = new CyclicBarrier(2);
        for (String key : List.of("one", "two")) {
            cloud.answer(
                    key,
                    order -> {
                        Unchecked.run(both::await);
                        return FakeCloud.credential(order, Stage.START.plusSeconds(1));
                    });
        }
        assertEquals(2, stage.minted("one", "two").byKey().size());
    }

    @Test
    void a_token_that_can_not_be_verified_for_now_is_on_record_with_the_reason() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        tenant.publishKeysAt("https://127.0.0.1:9/keys");
        for (int i = 0; i < 2; i++) {
            assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        }
        Eventually.holds(() -> store.events().size() == 2);
        for (Event event : store.events()) {
            assertEquals(Kind.REJECTED, event.kind());
            assertEquals(Optional.of("issuer_keys_unavailable"), event.reason());
            assertEquals(
                    Optional.of(
                            "{\"fault\":\"jwks_uri: 127.0.0.1 can't be reached"
                                    + " (HttpHostConnectException)\"}"),
                    event.detail());
        }
    }

    @Test
    void a_life_that_is_shorter_than_asked_for_is_on_record_and_logged_once() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        try (LogBook log = LogBook.open()) {
            for (int i = 0; i < 3; i++) {
                lives(Duration.ofSeconds(20));
                assertEquals(1, stage.minted("deploy").byKey().size());
                assertEquals(
                        Optional.of(
                                "the credential is valid for 20 s, although 3600 s were"
                                        + " requested"),
                        store.events().getLast().detail());
            }
            assertEquals(1, log.linesWith("issues credentials of key 'deploy'").size());
            // short, though of use
            lives(Duration.ofMinutes(30));
            stage.minted("deploy");
            assertTrue(store.events().getLast().detail().isPresent());
            // what clocks and transport take
            lives(Duration.ofSeconds(3590));
            stage.minted("deploy");
            assertEquals(Optional.empty(), store.events().getLast().detail());
            lives(Duration.ofSeconds(20));
            stage.minted("deploy");
            assertEquals(2, log.linesWith("issues credentials of key 'deploy'").size());
        }
    }

    private void lives(Duration life) {
        cloud.answer("deploy", order -> FakeCloud.credential(order, Stage.START.plus(life)));
    }

    @Test
    void the_others_are_awaited_when_one_fails_and_withheld() {
        tenant.key("bad").key("slow").grant(Stage.SUBJECT, "bad").grant(Stage.SUBJECT, "slow");
        CountDownLatch failed = new CountDownLatch(1);
        cloud.answer(
                "bad",
                _ -> {
                    failed.countDown();
                    return new Failed(Reason.PROVIDER_REJECTED, "no");
                });
        cloud.answer(
                "slow",
                order -> {
                    Unchecked.await(failed);
                    return FakeCloud.credential(order, Stage.START.plusSeconds(1));
                });
        assertEquals(
                new MintRefusal("cloud", "bad", Reason.PROVIDER_REJECTED),
                stage.refusal("bad", "slow"));
        assertEquals(
                List.of(
                        "requested bad",
                        "requested slow",
                        "failed bad provider_rejected",
                        "withheld slow other_key_failed"),
                store.rows());
    }

    /** No provider refused, so it isn't a provider's failure. */
    @Test
    void a_tenant_that_has_too_much_under_way_is_unavailable_for_a_moment() {
        tenant.key("busy").key("idle").grant(Stage.SUBJECT, "busy").grant(Stage.SUBJECT, "idle");
        cloud.answer(
                "busy",
                _ ->
                        new NotCalled(
                                NotCalled.Why.TENANT_BUSY,
                                "1024 provider calls of the tenant are already waiting"));

        Unavailable busy = assertThrows(Unavailable.class, () -> stage.refusal("busy", "idle"));

        assertEquals(Duration.ofSeconds(1), busy.retryAfter());
        assertEquals(
                "The tenant has reached its limit of concurrent provider calls, so no credential was"
                        + " returned; try again.",
                busy.getMessage());
        assertEquals(
                List.of(
                        "requested busy",
                        "requested idle",
                        "failed busy tenant_busy",
                        "withheld idle other_key_failed"),
                store.rows());
    }

    @Test
    void a_credential_may_live_a_minute_longer_than_asked_and_no_second_more() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        Instant last = Stage.START.plus(MemoryTenant.AT_MOST).plusSeconds(60);
        cloud.answer("deploy", order -> FakeCloud.credential(order, last));
        assertEquals(last, stage.minted("deploy").expiresAt());
        cloud.answer("deploy", order -> FakeCloud.credential(order, last.plusSeconds(1)));
        assertEquals(
                new MintRefusal("cloud", "deploy", Reason.PROVIDER_ERROR), stage.refusal("deploy"));
        assertEquals("withheld deploy provider_error", store.rows().getLast());
    }

    @Test
    void a_credential_that_had_expired_when_it_came_is_withheld() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        for (Instant end : List.of(Stage.START, Stage.START.minusSeconds(1), Instant.EPOCH)) {
            cloud.answer("deploy", order -> FakeCloud.credential(order, end));
            assertEquals(
                    new MintRefusal("cloud", "deploy", Reason.PROVIDER_ERROR),
                    stage.refusal("deploy"));
            assertEquals("withheld deploy provider_error", store.rows().getLast());
        }
        cloud.answer("deploy", order -> FakeCloud.credential(order, Stage.START.plusSeconds(1)));
        assertEquals(Stage.START.plusSeconds(1), stage.minted("deploy").expiresAt());
    }

    @Test
    void a_credential_that_is_not_handed_out_is_ended_after_it_is_on_record() {
        tenant.key("bad").key("good").grant(Stage.SUBJECT, "bad").grant(Stage.SUBJECT, "good");
        List<String> rows = new CopyOnWriteArrayList<>();
        CountDownLatch ended = new CountDownLatch(1);
        cloud.answer("bad", _ -> new Failed(Reason.PROVIDER_REJECTED, "no"));
        cloud.answer(
                "good",
                order ->
                        FakeCloud.credential(order, Stage.START.plusSeconds(1))
                                .endedBy(_ -> {
                                    rows.addAll(store.rows());
                                    ended.countDown();
                                    return Optional.empty();
                                }));

        stage.refusal("bad", "good");

        Unchecked.await(ended);
        assertEquals("withheld good other_key_failed", rows.getLast());
    }

    @Test
    void a_credential_that_is_handed_out_is_not_ended() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        AtomicBoolean ended = new AtomicBoolean();
        cloud.answer(
                "deploy",
                order ->
                        FakeCloud.credential(order, Stage.START.plusSeconds(1))
                                .endedBy(_ -> {
                                    ended.set(true);
                                    return Optional.empty();
                                }));

        stage.minted("deploy");

        assertFalse(ended.get());
    }

    @Test
    void a_token_that_a_provider_gave_and_that_is_not_fit_is_on_record_as_withheld() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        cloud.answer(
                "deploy",
                _ -> Withheld.ofToken(new Secret("t"), Optional.empty(), "no expires_in"));
        assertEquals(
                new MintRefusal("cloud", "deploy", Reason.PROVIDER_ERROR), stage.refusal("deploy"));
        assertEquals("withheld deploy provider_error", store.rows().getLast());
        var note = store.events().getLast().credential().orElseThrow();
        assertEquals(Optional.of(HexFormat.of().formatHex(new Secret("t").hash())), note.id());
        assertEquals(Stage.START.plus(MemoryTenant.AT_MOST).plusSeconds(60), note.expiresAt());
    }

    @Test
    void a_provider_that_throws_fails_its_mint_and_says_nothing_of_what_it_threw() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        cloud.answer(
                "deploy",
                _ -> {
                    throw new IllegalStateException("s3cret");
                });
        assertEquals(
                new MintRefusal("cloud", "deploy", Reason.PROVIDER_ERROR), stage.refusal("deploy"));
        assertEquals("failed deploy provider_error", store.rows().getLast());
        assertTrue(
                store.events().stream()
                        .map(Event::detail)
                        .noneMatch(detail -> detail.orElse("").contains("s3cret")));
    }

    @Test
    void a_token_that_works_once_mints_once_and_its_second_use_is_on_record() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy").acceptTokensOnce();
        MintRequest request = stage.request("deploy");
        assertInstanceOf(Verdict.Passed.class, stage.exchange.mint(request));
        assertEquals(
                Verdict.refused(new TokenRefusal.TokenReplayed()), stage.exchange.mint(request));
        assertEquals(
                Verdict.refused(new TokenRefusal.TokenReplayed()),
                stage.exchange.keys(Stage.list(request)));
        Eventually.holds(() -> store.rows().contains("rejected  token_replayed"));
        assertEquals(1, cloud.orders().size());
    }

    @Test
    void a_list_of_keys_uses_up_a_token_that_works_once() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy").acceptTokensOnce();
        MintRequest request = stage.request("deploy");
        assertInstanceOf(Verdict.Passed.class, stage.exchange.keys(Stage.list(request)));
        assertEquals(
                Verdict.refused(new TokenRefusal.TokenReplayed()), stage.exchange.mint(request));
    }

    @Test
    void whoever_has_some_key_learns_which_are_missing_and_a_stranger_does_not() {
        tenant.key("deploy").key("api").grant(Stage.SUBJECT, "api");
        assertEquals(
                new AccessRefusal.KeysMissing(Stage.SUBJECT, List.of("nothing")),
                stage.refusal("nothing"));
        tenant.revoke("api");
        stage.catalogue.changed(MemoryTenant.NAME);
        assertEquals(
                new AccessRefusal.KeysDenied(
                        Stage.SUBJECT, List.of("nothing", "deploy"), List.of()),
                stage.refusal("nothing", "deploy"));
        assertEquals(
                Verdict.refused(
                        new AccessRefusal.SubjectNotFound(Stage.SUBJECT, "ci", Optional.empty())),
                stage.exchange.keys(Stage.list(stage.request("deploy"))));
    }
}
