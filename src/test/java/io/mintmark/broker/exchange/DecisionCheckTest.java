package io.mintmark.broker.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.AccessRefusal;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintResult.Failed;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** A decision that has become old when the provider is to be called. */
class DecisionCheckTest {
    private static final Duration LONG = Duration.ofMillis(1_500);

    @AutoClose private final Stage stage = new Stage();
    private final MemoryTenant tenant = stage.tenant;
    private final MemoryLog store = stage.store;
    private final FakeCloud cloud = stage.cloud;

    /** After the commit and before the call something happens, and that takes so long. */
    private void beforeTheCall(Duration time, Runnable happens) {
        cloud.beforeFirstCall(() -> {
            happens.run();
            stage.now.updateAndGet(now -> now.plus(time));
        });
    }

    @Test
    void a_grant_that_is_revoked_during_a_pause_calls_no_provider() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        beforeTheCall(LONG, () -> tenant.revoke("deploy"));

        assertEquals(
                new AccessRefusal.KeysDenied(Stage.SUBJECT, List.of("deploy"), List.of()),
                stage.refusal("deploy"));
        assertEquals(List.of(), cloud.orders());
        assertEquals(
                List.of(
                        "requested deploy",
                        "failed deploy decided_again",
                        "denied deploy not_granted"),
                store.rows());
    }

    @Test
    void a_token_that_is_trusted_no_more_after_a_pause_calls_no_provider_and_is_on_record_once() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        beforeTheCall(LONG, tenant::distrust);

        assertInstanceOf(TokenRefusal.class, stage.refusal("deploy"));
        assertEquals(List.of(), cloud.orders());
        List<String> rows =
                List.of(
                        "failed deploy decided_again",
                        "rejected  unsupported_algorithm",
                        "requested deploy");
        Eventually.holds(() -> store.rows().stream().sorted().toList().equals(rows));
    }

    @Test
    void a_token_that_is_rejected_before_several_calls_is_on_record_once() {
        tenant.key("one").key("two").grant(Stage.SUBJECT, "one").grant(Stage.SUBJECT, "two");
        beforeTheCall(LONG, tenant::distrust);

        assertInstanceOf(TokenRefusal.class, stage.refusal("one", "two"));
        stage.close();
        assertEquals(
                List.of(
                        "failed one decided_again",
                        "failed two decided_again",
                        "rejected  unsupported_algorithm",
                        "requested one",
                        "requested two"),
                store.rows().stream().sorted().toList());
    }

    @Test
    void a_check_on_another_thread_waits_for_no_keys() throws IOException {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        var _ = stage.exchange.keys(Stage.list(stage.request("deploy"))); // reads the keys
        List<Thread> waiting = new CopyOnWriteArrayList<>();
        RequestPermit permit =
                new RequestPermit() {
                    @Override
                    public void waitsForKeys(TenantName tenant) {
                        waiting.add(Thread.currentThread());
                    }

                    @Override
                    public void isAdmitted(TenantName tenant) {}
                };
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String uri = "http://127.0.0.1:%d/jwks.json".formatted(silent.getLocalPort());
            beforeTheCall(LONG, () -> tenant.publishKeysAt(uri));
            MintRequest request = stage.request(permit, "deploy");

            assertThrows(Unavailable.class, () -> stage.exchange.mint(request));
        }
        assertEquals(List.of(), waiting);
        assertEquals(List.of(), cloud.orders());
        // the rejection is written by a thread of its own
        List<String> rows =
                List.of(
                        "failed deploy audit_unavailable",
                        "rejected  issuer_keys_unavailable",
                        "requested deploy");
        Eventually.holds(() -> store.rows().stream().sorted().toList().equals(rows));
    }

    @Test
    void a_token_that_expires_during_a_pause_calls_no_provider() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.now.set(Stage.START.plusSeconds(598));
        beforeTheCall(Duration.ofSeconds(5), () -> {});

        assertInstanceOf(TokenRefusal.TokenExpired.class, stage.refusal("deploy"));
        assertEquals(List.of(), cloud.orders());
    }

    @Test
    void a_grant_that_ends_during_a_pause_calls_no_provider() {
        tenant.key("deploy")
                .grant(Stage.SUBJECT, "deploy", Optional.of(Stage.START.plusSeconds(64)));
        beforeTheCall(Duration.ofSeconds(5), () -> {}); // leaves less than the type's 60 s

        assertInstanceOf(AccessRefusal.KeysDenied.class, stage.refusal("deploy"));
        assertEquals(List.of(), cloud.orders());
    }

    @Test
    void a_pause_without_a_change_has_the_state_asked_again_and_costs_nothing_else() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");

        assertTrue(questionsBeforeTheCall(LONG) > 0);
        assertEquals(List.of("requested deploy", "issued deploy"), store.rows());
    }

    @Test
    void an_edit_during_a_pause_that_changes_nothing_here_starts_nothing_over() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        beforeTheCall(LONG, tenant::touch);

        stage.minted("deploy");

        assertEquals(List.of("requested deploy", "issued deploy"), store.rows());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 700})
    void a_decision_of_less_than_a_second_stands_without_a_question(long millis) {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");

        assertEquals(0, questionsBeforeTheCall(Duration.ofMillis(millis)));
    }

    /** How often the state is asked for between the commit and the call. */
    private int questionsBeforeTheCall(Duration pause) {
        var before = new AtomicInteger();
        beforeTheCall(pause, () -> before.set(tenant.questions()));
        var after = new AtomicInteger();
        cloud.answer(
                "deploy",
                order -> {
                    after.set(tenant.questions());
                    return FakeCloud.credential(order, Stage.START.plus(order.duration()));
                });
        stage.minted("deploy");
        return after.get() - before.get();
    }

    @Test
    void a_tenant_that_can_not_be_read_after_a_pause_calls_no_provider_and_that_is_on_record() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        beforeTheCall(LONG, tenant::goAway);

        Unavailable unavailable =
                assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));

        assertEquals(Duration.ofSeconds(1), unavailable.retryAfter());
        assertEquals(List.of(), cloud.orders());
        assertEquals(List.of("requested deploy", "failed deploy audit_unavailable"), store.rows());
    }

    @Test
    void a_database_that_never_answers_within_a_second_calls_no_provider() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        tenant.onQuestion(() -> stage.now.updateAndGet(now -> now.plusMillis(1_100)));
        beforeTheCall(LONG, () -> {});

        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        assertEquals(List.of(), cloud.orders());
        assertEquals(List.of("requested deploy", "failed deploy audit_unavailable"), store.rows());
    }

    @Test
    void a_replica_whose_threads_wait_for_a_processor_says_so() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        tenant.onQuestion(() -> stage.now.updateAndGet(now -> now.plusMillis(1_100)));
        beforeTheCall(LONG, () -> stage.perReading.set(Duration.ofMillis(200)));

        Unavailable unavailable =
                assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        assertTrue(
                String.valueOf(unavailable.getMessage()).contains("short of CPU"),
                unavailable.getMessage());
        assertEquals(List.of(), cloud.orders());
        assertEquals(List.of("requested deploy", "failed deploy audit_unavailable"), store.rows());
    }

    @Test
    void what_other_keys_got_is_withheld_and_all_is_decided_again() {
        tenant.key("first").grant(Stage.SUBJECT, "first").key("late").grant(Stage.SUBJECT, "late");
        cloud.beforeFirstCall(() -> {
            // the second key's: the first one's call has begun
            if (cloud.prepared().size() == 2) {
                Eventually.holds(() -> cloud.orders().size() == 1);
                tenant.revoke("late");
                stage.now.updateAndGet(now -> now.plus(LONG));
            }
        });

        assertEquals(
                new AccessRefusal.KeysDenied(Stage.SUBJECT, List.of("late"), List.of("first")),
                stage.refusal("first", "late"));
        assertEquals(
                List.of(
                        "requested first",
                        "requested late",
                        "withheld first other_key_failed",
                        "failed late decided_again",
                        "denied late not_granted"),
                store.rows());
    }

    @Test
    void a_failure_beside_it_is_recorded_as_what_it_is() {
        tenant.key("first").grant(Stage.SUBJECT, "first").key("late").grant(Stage.SUBJECT, "late");
        cloud.answer("first", _ -> new Failed(Reason.PROVIDER_REJECTED, "no"));
        cloud.beforeFirstCall(() -> {
            if (cloud.prepared().size() == 2) {
                Eventually.holds(() -> cloud.orders().size() == 1);
                tenant.revoke("late");
                stage.now.updateAndGet(now -> now.plus(LONG));
            }
        });

        assertInstanceOf(AccessRefusal.KeysDenied.class, stage.refusal("first", "late"));
        assertTrue(store.rows().contains("failed first provider_rejected"), store.rows()::toString);
    }

    @Test
    void a_tenant_that_changes_during_every_pause_is_told_to_come_again() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        var end = new AtomicReference<>(Stage.START.plusSeconds(3_000));
        beforeTheCall(
                LONG,
                () -> {
                    tenant.revoke("deploy");
                    Instant next = end.updateAndGet(time -> time.minusSeconds(100));
                    tenant.key("deploy").grant(Stage.SUBJECT, "deploy", Optional.of(next));
                });

        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        assertEquals(List.of(), cloud.orders());
        assertEquals(5, store.rows().stream().filter("requested deploy"::equals).count());
    }
}
