package io.mintmark.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Event;
import io.mintmark.audit.Kind;
import io.mintmark.audit.Rejections;
import io.mintmark.endtoend.Eventually;
import io.mintmark.grant.Catalogue;
import io.mintmark.grant.KnownIssuers;
import io.mintmark.mint.AccessProviders;
import io.mintmark.mint.MintResult.Failed;
import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.GuardedHttp;
import io.mintmark.outbound.Secret;
import io.mintmark.tenant.KeyName;
import io.mintmark.tenant.MintIds;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.OwnIssuer;
import io.mintmark.token.PresentedToken;
import io.mintmark.token.SigningKeys;
import io.mintmark.token.TestKey;
import io.mintmark.token.TokenVerifier;
import io.mintmark.verdict.AccessRefusal;
import io.mintmark.verdict.MintRefusal;
import io.mintmark.verdict.MintRefusal.Reason;
import io.mintmark.verdict.Refusal;
import io.mintmark.verdict.TokenRefusal;
import io.mintmark.verdict.Unavailable;
import io.mintmark.verdict.Verdict;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicReference;

/** The use case with everything around it in memory, so that any moment can be made to go wrong. */
final class ExchangeTest {
    private static final TestKey SIGNER = TestKey.es256("key-1");
    private static final String SUBJECT = "repo:acme/shop";
    private static final Instant START = Instant.parse("2026-03-04T05:06:07Z");
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final AtomicReference<Instant> now = new AtomicReference<>(START);
    private final MemoryTenant tenant = new MemoryTenant(SIGNER);
    private final MemoryLog store = new MemoryLog(tenant);
    private final FakeCloud cloud = new FakeCloud(now::get);
    private final AuditLog log = new AuditLog(store, Duration.ofSeconds(5)).start();
    private final MintIds ids = new MintIds(now::get, new SecureRandom());
    private final Rejections rejections = new Rejections(store, ids, now::get).start();
    private final Set<String> usedTokens = ConcurrentHashMap.newKeySet();
    private final Catalogue catalogue = new Catalogue(tenant, Duration.ofDays(1), System::nanoTime);
    private final Exchange exchange = exchange();

    @AfterEach
    void stop() {
        log.close();
        rejections.close();
    }

    @Test
    void the_intent_is_on_record_before_the_cloud_is_asked() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        cloud.answer(
                "deploy",
                order -> {
                    assertEquals(List.of("requested deploy"), store.rows());
                    return FakeCloud.credential(order, START);
                });
        Credentials credentials = minted("deploy");
        assertEquals(Map.of("SECRET", new Secret("s3cret of deploy")), only(credentials));
        assertEquals(List.of("requested deploy", "issued deploy"), store.rows());
    }

    @Test
    void the_intent_says_until_when_a_credential_could_live_at_the_latest() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        minted("deploy");
        assertEquals(
                START.plus(MemoryTenant.AT_MOST).plus(PATIENCE).plusSeconds(60),
                store.events().getFirst().credential().orElseThrow().expiresAt());
    }

    @Test
    void keys_are_minted_at_the_same_time() {
        tenant.key("one").key("two").grant(SUBJECT, "one").grant(SUBJECT, "two");
        CyclicBarrier both = new CyclicBarrier(2);
        for (String key : List.of("one", "two")) {
            cloud.answer(
                    key,
                    order -> {
                        await(both);
                        return FakeCloud.credential(order, START);
                    });
        }
        assertEquals(2, minted("one", "two").byKey().size());
    }

    @Test
    void the_others_are_awaited_when_one_fails_and_withheld() {
        tenant.key("bad").key("slow").grant(SUBJECT, "bad").grant(SUBJECT, "slow");
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
                    await(failed);
                    return FakeCloud.credential(order, START);
                });
        assertEquals(
                new MintRefusal("cloud", "bad", Reason.PROVIDER_REJECTED), refusal("bad", "slow"));
        assertEquals(
                List.of(
                        "requested bad",
                        "requested slow",
                        "failed bad provider_rejected",
                        "withheld slow other_key_failed"),
                store.rows());
    }

    @Test
    void a_credential_may_live_a_minute_longer_than_asked_and_no_second_more() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        Instant last = START.plus(MemoryTenant.AT_MOST).plusSeconds(60);
        cloud.answer("deploy", order -> FakeCloud.credential(order, last));
        assertEquals(last, minted("deploy").expiresAt());
        cloud.answer("deploy", order -> FakeCloud.credential(order, last.plusSeconds(1)));
        assertEquals(new MintRefusal("cloud", "deploy", Reason.PROVIDER_ERROR), refusal("deploy"));
        assertEquals("withheld deploy provider_error", store.rows().getLast());
    }

    @Test
    void a_grant_that_is_revoked_while_the_intent_is_written_mints_nothing() {
        tenant.key("deploy").key("api").grant(SUBJECT, "deploy").grant(SUBJECT, "api");
        onIntent(() -> tenant.revoke("deploy"));
        assertEquals(
                new AccessRefusal.KeysDenied(SUBJECT, List.of("deploy"), List.of("api")),
                refusal("deploy", "api"));
        assertEquals(List.of(), cloud.orders());
        assertEquals(
                List.of(
                        "requested deploy",
                        "requested api",
                        "failed deploy decided_again",
                        "failed api decided_again",
                        "denied deploy not_granted"),
                store.rows());
    }

    @Test
    void an_identity_provider_that_stops_believing_meanwhile_mints_nothing() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        onIntent(tenant::distrust);
        assertInstanceOf(TokenRefusal.class, refusal("deploy"));
        assertEquals(List.of(), cloud.orders());
        assertTrue(store.rows().contains("failed deploy decided_again"), store.rows()::toString);
    }

    @Test
    void an_edit_that_changes_nothing_here_costs_nothing() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        onIntent(tenant::touch);
        minted("deploy");
        assertEquals(List.of("requested deploy", "issued deploy"), store.rows());
    }

    @Test
    void a_grant_that_ends_while_the_intent_is_written_mints_nothing() {
        Instant end = START.plusSeconds(100);
        tenant.key("deploy").grant(SUBJECT, "deploy", Optional.of(end));
        onIntent(() -> now.set(end));
        assertInstanceOf(AccessRefusal.KeysDenied.class, refusal("deploy"));
        assertEquals(List.of(), cloud.orders());
    }

    @Test
    void a_credential_is_asked_for_until_the_end_of_the_grant_as_it_is_after_the_intent() {
        Instant end = START.plusSeconds(100);
        tenant.key("deploy").grant(SUBJECT, "deploy", Optional.of(end));
        onIntent(() -> now.set(START.plusSeconds(30)));
        minted("deploy");
        assertEquals(Duration.ofSeconds(70), cloud.orders().getFirst().duration());
    }

    @Test
    void a_tenant_that_never_stands_still_is_told_to_come_again() {
        tenant.key("deploy");
        tenant.grant(SUBJECT, "deploy");
        store.meanwhile(event -> {
            if (event.kind() == Kind.REQUESTED) {
                tenant.revoke("deploy");
                tenant.grant(SUBJECT, "deploy", Optional.of(START.plus(unique(event))));
            }
        });
        assertThrows(Unavailable.class, () -> exchange.mint(request("deploy")));
        assertEquals(List.of(), cloud.orders());
        assertEquals(5, store.rows().stream().filter("requested deploy"::equals).count());
        assertEquals(
                5, store.rows().stream().filter("failed deploy decided_again"::equals).count());
    }

    @Test
    void without_a_log_no_cloud_is_asked() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        store.refuse(Kind.REQUESTED);
        assertThrows(Unavailable.class, () -> exchange.mint(request("deploy")));
        assertEquals(List.of(), cloud.orders());
        assertEquals(List.of(), store.rows());
    }

    @Test
    void an_intent_that_nobody_heard_of_ends_as_failed_once_the_log_is_back() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        store.breakAfter(Kind.REQUESTED);
        assertThrows(Unavailable.class, () -> exchange.mint(request("deploy")));
        assertEquals(List.of(), cloud.orders());
        Eventually.holds(() ->
                store.rows()
                        .equals(List.of("requested deploy", "failed deploy audit_unavailable")));
    }

    @Test
    void a_credential_whose_row_can_not_be_written_does_not_leave_and_ends_as_withheld() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        store.refuse(Kind.ISSUED);
        assertThrows(Unavailable.class, () -> exchange.mint(request("deploy")));
        assertEquals(1, cloud.orders().size());
        Eventually.holds(() ->
                store.rows()
                        .equals(List.of("requested deploy", "withheld deploy audit_unavailable")));
    }

    @Test
    void a_failure_whose_row_can_not_be_written_is_owed_to_the_log() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        cloud.answer("deploy", _ -> new Failed(Reason.PROVIDER_TIMEOUT, "late"));
        store.refuse(Kind.FAILED);
        assertThrows(Unavailable.class, () -> exchange.mint(request("deploy")));
        store.recover();
        Eventually.holds(() ->
                store.rows().equals(List.of("requested deploy", "failed deploy provider_timeout")));
    }

    @Test
    void a_refusal_is_not_told_before_its_rows_are_written() {
        tenant.key("deploy").key("api").grant(SUBJECT, "api");
        store.refuse(Kind.DENIED);
        assertThrows(Unavailable.class, () -> exchange.mint(request("deploy")));
        store.recover();
        assertEquals(
                new AccessRefusal.KeysDenied(SUBJECT, List.of("deploy"), List.of("api")),
                refusal("deploy"));
    }

    @Test
    void a_provider_that_throws_fails_its_mint_and_says_nothing_of_what_it_threw() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        cloud.answer(
                "deploy",
                _ -> {
                    throw new IllegalStateException("s3cret");
                });
        assertEquals(new MintRefusal("cloud", "deploy", Reason.PROVIDER_ERROR), refusal("deploy"));
        assertEquals("failed deploy provider_error", store.rows().getLast());
        assertTrue(
                store.events().stream()
                        .map(Event::detail)
                        .noneMatch(detail -> detail.orElse("").contains("s3cret")));
    }

    @Test
    void a_tenant_that_can_not_be_read_again_after_an_edit_mints_nothing_and_that_is_on_record() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        onIntent(tenant::goAway);
        assertThrows(Unavailable.class, () -> exchange.mint(request("deploy")));
        assertEquals(List.of(), cloud.orders());
        Eventually.holds(() ->
                store.rows()
                        .equals(List.of("requested deploy", "failed deploy audit_unavailable")));
    }

    @Test
    void an_identity_provider_that_was_changed_unheard_is_noticed_by_the_revision() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        minted("deploy");
        tenant.distrust();
        assertInstanceOf(TokenRefusal.UnsupportedAlgorithm.class, refusal("deploy"));
        assertEquals(1, cloud.orders().size());
    }

    @Test
    void a_token_that_works_once_mints_once_and_its_second_use_is_on_record() {
        tenant.key("deploy").grant(SUBJECT, "deploy").acceptTokensOnce();
        MintRequest request = request("deploy");
        assertInstanceOf(Verdict.Passed.class, exchange.mint(request));
        assertEquals(Verdict.refused(new TokenRefusal.TokenReplayed()), exchange.mint(request));
        assertEquals(
                Verdict.refused(new TokenRefusal.TokenReplayed()), exchange.keys(request.token()));
        Eventually.holds(() -> store.rows().contains("rejected  token_replayed"));
        assertEquals(1, cloud.orders().size());
    }

    @Test
    void a_list_of_keys_uses_up_a_token_that_works_once() {
        tenant.key("deploy").grant(SUBJECT, "deploy").acceptTokensOnce();
        MintRequest request = request("deploy");
        assertInstanceOf(Verdict.Passed.class, exchange.keys(request.token()));
        assertEquals(Verdict.refused(new TokenRefusal.TokenReplayed()), exchange.mint(request));
    }

    @Test
    void whoever_has_some_key_learns_which_are_missing_and_a_stranger_does_not() {
        tenant.key("deploy").key("api").grant(SUBJECT, "api");
        assertEquals(
                new AccessRefusal.KeysMissing(SUBJECT, List.of("nothing")), refusal("nothing"));
        tenant.revoke("api");
        catalogue.changed(MemoryTenant.NAME);
        assertEquals(
                new AccessRefusal.KeysDenied(SUBJECT, List.of("nothing", "deploy"), List.of()),
                refusal("nothing", "deploy"));
        assertEquals(
                Verdict.refused(new AccessRefusal.SubjectNotFound(SUBJECT, "ci")),
                exchange.keys(request("deploy").token()));
    }

    @Test
    void the_record_says_who_it_was() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        minted("deploy");
        var holder = store.events().getLast().holder().orElseThrow();
        assertEquals(Optional.of(SUBJECT), holder.subject());
        assertEquals(Optional.of(MemoryTenant.NAME), holder.tenant());
        assertEquals(Optional.of(MemoryTenant.IDP), holder.idp());
    }

    @Test
    void a_token_that_is_not_accepted_is_on_record_without_its_subject() {
        tenant.key("deploy").grant(SUBJECT, "deploy");
        tenant.distrust();
        assertInstanceOf(TokenRefusal.class, refusal("deploy"));
        Eventually.holds(() -> store.rows().equals(List.of("rejected  unsupported_algorithm")));
        assertTrue(store.events().getFirst().holder().orElseThrow().subject().isEmpty());
    }

    private void onIntent(Runnable happens) {
        store.meanwhile(event -> {
            if (event.kind() == Kind.REQUESTED) {
                happens.run();
            }
        });
    }

    private static Duration unique(Event event) {
        return Duration.ofSeconds(200 + Math.floorMod(event.mintId().value().hashCode(), 3000));
    }

    private Credentials minted(String... keys) {
        return switch (exchange.mint(request(keys))) {
            case Verdict.Passed<Credentials>(Credentials credentials) -> credentials;
            case Verdict.Refused<Credentials>(Refusal refusal) ->
                    throw new AssertionError("refused: " + refusal);
        };
    }

    private Refusal refusal(String... keys) {
        return switch (exchange.mint(request(keys))) {
            case Verdict.Passed<Credentials> _ -> throw new AssertionError("not refused");
            case Verdict.Refused<Credentials>(Refusal refusal) -> refusal;
        };
    }

    private static Map<String, Secret> only(Credentials credentials) {
        assertEquals(1, credentials.byKey().size());
        return credentials.byKey().values().iterator().next();
    }

    private MintRequest request(String... keys) {
        return new MintRequest(
                "request-1",
                InetAddress.getLoopbackAddress(),
                Optional.empty(),
                new PresentedToken(new Secret(token())),
                Arrays.stream(keys).map(KeyName::new).toList());
    }

    private String token() {
        return SIGNER.sign(
                "{\"alg\":\"ES256\",\"kid\":\"key-1\"}",
                "{\"iss\":\"%s\",\"aud\":\"%s\",\"sub\":\"%s\",\"jti\":\"1\",\"iat\":%d,\"exp\":%d}"
                        .formatted(
                                MemoryTenant.ISSUER,
                                MemoryTenant.AUDIENCE,
                                SUBJECT,
                                START.getEpochSecond(),
                                START.plusSeconds(600).getEpochSecond()));
    }

    private Exchange exchange() {
        OwnIssuer own = new OwnIssuer("https://broker.example");
        KnownIssuers issuers = new KnownIssuers(tenant, own, Duration.ofDays(1), System::nanoTime);
        return new Exchange(
                new TokenVerifier(
                        issuers,
                        new SigningKeys(new GuardedHttp(new Destinations(List.of())), now::get),
                        (_, id, _) -> usedTokens.add(id),
                        own,
                        now::get),
                issuers,
                catalogue,
                new AccessProviders(List.of(cloud), now::get),
                log,
                rejections,
                ids,
                now::get,
                PATIENCE,
                new Deaf());
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Deaf implements MintListener {
        @Override
        public void tokenExamined(Duration taken) {}

        @Override
        public void providerAnswered(String type, boolean minted, Duration taken) {}

        @Override
        public void settled(TenantName tenant, String type, Kind outcome) {}
    }
}
