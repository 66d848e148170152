package io.mintmark.broker.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.End;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Kind;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.AccessRefusal;
import io.mintmark.base.verdict.MintRefusal;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.Undo;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/** What is on record, and what happens if it can't be written. */
@Execution(ExecutionMode.CONCURRENT)
final class RecordsTest {
    @AutoClose private final Stage stage = new Stage();
    private final MemoryTenant tenant = stage.tenant;
    private final MemoryLog store = stage.store;
    private final FakeCloud cloud = stage.cloud;

    @Test
    void the_intent_is_on_record_before_the_cloud_is_asked() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        cloud.answer(
                "deploy",
                order -> {
                    assertEquals(List.of("requested deploy"), store.rows());
                    return FakeCloud.credential(order, Stage.START.plusSeconds(1));
                });
        Credentials credentials = stage.minted("deploy");
        assertEquals(Map.of("SECRET", new Secret("s3cret of deploy")), only(credentials));
        assertEquals(List.of("requested deploy", "issued deploy"), store.rows());
    }

    @Test
    void the_intent_says_until_when_a_credential_could_live_at_the_latest() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.minted("deploy");
        assertEquals(
                Stage.START.plus(MemoryTenant.AT_MOST).plus(Stage.TIMEOUT).plusSeconds(60),
                store.events().getFirst().credential().orElseThrow().expiresAt());
    }

    @Test
    void without_a_log_no_cloud_is_asked() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        store.refuse(Kind.REQUESTED);
        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        assertEquals(List.of(), cloud.orders());
        assertEquals(List.of(), store.rows());
    }

    @Test
    void an_intent_that_nobody_heard_of_ends_as_failed_once_the_log_is_back() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        store.breakAfter(Kind.REQUESTED);
        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        assertEquals(List.of(), cloud.orders());
        Eventually.holds(() ->
                store.rows()
                        .equals(List.of("requested deploy", "failed deploy audit_unavailable")));
    }

    @Test
    void a_credential_whose_row_can_not_be_written_does_not_leave_and_ends_as_withheld() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        store.refuse(Kind.ISSUED);
        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        assertEquals(1, cloud.orders().size());
        Eventually.holds(() ->
                store.rows()
                        .equals(List.of("requested deploy", "withheld deploy audit_unavailable")));
    }

    @Test
    void a_failure_whose_row_can_not_be_written_is_written_later() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        cloud.answer("deploy", _ -> new Failed(Reason.PROVIDER_TIMEOUT, "late"));
        store.refuse(Kind.FAILED);
        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        store.recover();
        Eventually.holds(() ->
                store.rows().equals(List.of("requested deploy", "failed deploy provider_timeout")));
    }

    @Test
    void a_mint_that_a_stop_interrupts_may_have_a_credential_and_what_was_obtained_is_withheld()
            throws Exception {
        tenant.key("slow").grant(Stage.SUBJECT, "slow").key("quick").grant(Stage.SUBJECT, "quick");
        CountDownLatch called = new CountDownLatch(1);
        CompletableFuture<Void> answer = new CompletableFuture<>();
        cloud.answer(
                "slow",
                order -> {
                    called.countDown();
                    answer.join();
                    return FakeCloud.credential(order, Stage.START);
                });
        Thread request =
                Thread.ofVirtual().start(() -> stage.exchange.mint(stage.request("quick", "slow")));
        called.await();
        Eventually.holds(() -> cloud.orders().size() == 2);
        request.interrupt();
        Eventually.holds(() ->
                store.rows().contains("failed slow provider_timeout")
                        && store.rows().contains("withheld quick other_key_failed"));
        answer.complete(null);
        request.join();
        assertEquals(4, store.rows().size());
    }

    /** A key whose credential its provider can revoke, and one that fails. */
    private void oneIsDropped(Undo undo) {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy").key("api").grant(Stage.SUBJECT, "api");
        cloud.answer(
                "deploy",
                order ->
                        FakeCloud.credential(order, Stage.START.plus(order.duration()))
                                .endedBy(undo));
        cloud.answer("api", _ -> new Failed(Reason.PROVIDER_REJECTED, "no"));
    }

    private static final List<String> DROPPED =
            List.of(
                    "requested deploy",
                    "requested api",
                    "withheld deploy other_key_failed",
                    "failed api provider_rejected");

    @Test
    void
            a_dropped_credential_that_was_revoked_is_recorded_as_ended_and_as_little_as_identifies_it() {
        oneIsDropped(_ -> Optional.empty());
        stage.refusal("deploy", "api");
        Eventually.holds(() -> store.rows().size() > DROPPED.size());
        assertEquals(
                Stream.concat(DROPPED.stream(), Stream.of("ended deploy undone")).toList(),
                store.rows());
        Event ended = store.events().getLast();
        assertEquals(store.events().getFirst().mintId(), ended.mintId());
        GrantReference of = store.events().getFirst().grant().orElseThrow();
        assertEquals(
                Optional.of(
                        new End(
                                MemoryTenant.NAME,
                                of.provider(),
                                of.providerType(),
                                Optional.of("id of deploy"))),
                ended.end());
        assertEquals(Optional.empty(), ended.subject());
        assertEquals(Optional.empty(), ended.caller());
    }

    @Test
    void a_dropped_credential_that_could_not_be_revoked_is_not_recorded_as_ended()
            throws Exception {
        CountDownLatch tried = new CountDownLatch(1);
        oneIsDropped(_ -> {
            tried.countDown();
            return Optional.of("gone");
        });
        stage.refusal("deploy", "api");
        tried.await();
        stage.close();
        assertEquals(DROPPED, store.rows());
    }

    @Test
    void an_answer_waits_neither_for_the_revocation_nor_for_its_row() {
        CompletableFuture<Optional<String>> revoked = new CompletableFuture<>();
        oneIsDropped(_ -> revoked.join());
        tenant.key("other").grant(Stage.SUBJECT, "other");
        store.refuse(Kind.ENDED);
        stage.refusal("deploy", "api");
        assertEquals(DROPPED, store.rows());
        revoked.complete(Optional.empty());
        Eventually.holds(() -> store.refused() > 1);
        stage.minted("other");
        store.recover();
        Eventually.holds(() -> store.rows().contains("ended deploy undone"));
    }

    @Test
    void an_end_is_written_behind_the_outcome_that_could_not_be_written_either() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        cloud.answer(
                "deploy",
                order ->
                        FakeCloud.credential(order, Stage.START.plus(order.duration()))
                                .endedBy(_ -> Optional.empty()));
        store.refuse(Kind.ISSUED, Kind.WITHHELD);
        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        Eventually.holds(() -> store.refused() > 1);
        store.recover();
        Eventually.holds(() -> store.rows().size() > 2);
        assertEquals(
                List.of(
                        "requested deploy",
                        "withheld deploy audit_unavailable",
                        "ended deploy undone"),
                store.rows());
    }

    @Test
    void an_issued_credential_is_not_revoked() {
        oneIsDropped(_ -> {
            throw new AssertionError("it was handed out");
        });
        stage.minted("deploy");
        stage.close();
        assertEquals(List.of("requested deploy", "issued deploy"), store.rows());
    }

    @Test
    void a_refusal_is_not_told_before_its_rows_are_written() {
        tenant.key("deploy").key("api").grant(Stage.SUBJECT, "api");
        store.refuse(Kind.DENIED);
        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        store.recover();
        assertEquals(
                new AccessRefusal.KeysDenied(Stage.SUBJECT, List.of("deploy"), List.of("api")),
                stage.refusal("deploy"));
    }

    @Test
    void the_record_says_who_it_was() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.minted("deploy");
        var subject = store.events().getLast().subject().orElseThrow();
        assertEquals(Optional.of(Stage.SUBJECT), subject.name());
        assertEquals(Optional.of(MemoryTenant.NAME), subject.tenant());
        assertEquals(Optional.of(MemoryTenant.IDP), subject.idp());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "+10000-01-01T00:00:00Z",
                "+294277-01-01T00:00:00Z",
                "+999999999-12-31T23:59:59.999999999Z"
            })
    void a_credential_that_ends_beyond_all_calendars_is_withheld_with_a_time_that_can_be_stored(
            String end) {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        cloud.answer("deploy", order -> FakeCloud.credential(order, Instant.parse(end)));
        assertEquals(
                new MintRefusal("cloud", "deploy", Reason.PROVIDER_ERROR), stage.refusal("deploy"));
        assertEquals("withheld deploy provider_error", store.rows().getLast());
        assertEquals(
                Instant.parse("9999-12-31T23:59:59Z"),
                store.events().getLast().credential().orElseThrow().expiresAt());
    }

    @Test
    void a_token_that_is_not_accepted_is_on_record_without_its_subject() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        tenant.distrust();
        assertInstanceOf(TokenRefusal.class, stage.refusal("deploy"));
        Eventually.holds(() -> store.rows().equals(List.of("rejected  unsupported_algorithm")));
        assertTrue(store.events().getFirst().subject().orElseThrow().name().isEmpty());
    }

    @Test
    void a_token_that_is_not_accepted_for_the_list_of_keys_is_on_record_too() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        tenant.distrust();
        assertInstanceOf(
                Verdict.Refused.class, stage.exchange.keys(Stage.list(stage.request("deploy"))));
        Eventually.holds(() -> store.rows().equals(List.of("rejected  unsupported_algorithm")));
        assertEquals("request-1", store.events().getFirst().caller().orElseThrow().requestId());
    }

    private static Map<String, Secret> only(Credentials credentials) {
        assertEquals(1, credentials.byKey().size());
        return credentials.byKey().values().iterator().next();
    }
}
