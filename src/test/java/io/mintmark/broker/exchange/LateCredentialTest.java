package io.mintmark.broker.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.Event;
import io.mintmark.audit.Event.End;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.verdict.MintRefusal;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.Undo;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A provider that answers after the deadline, when the mint is on record as failed. */
class LateCredentialTest {
    private static final MintRefusal TIMED_OUT =
            new MintRefusal("cloud", "deploy", Reason.PROVIDER_TIMEOUT);
    private static final List<String> FAILED =
            List.of("requested deploy", "failed deploy provider_timeout");

    @AutoClose private final Stage stage = new Stage();
    private final MemoryLog store = stage.store;
    private final CompletableFuture<Boolean> recorded = new CompletableFuture<>();
    private final Undo undo = _ -> Optional.empty();

    @BeforeEach
    void leaves_the_call_a_moment() {
        stage.tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.cloud.beforeFirstCall(
                () -> stage.now.set(Stage.START.plus(Stage.TIMEOUT).minus(Duration.ofMillis(100))));
    }

    @Test
    void a_credential_that_comes_after_the_deadline_is_revoked_and_its_end_is_on_record() {
        answersLate(
                order -> FakeCloud.credential(order, Stage.START.plusSeconds(60)).endedBy(undo));

        assertEquals(TIMED_OUT, stage.refusal("deploy"));
        assertEquals(FAILED, store.rows());
        recorded.complete(true);

        Eventually.holds(() -> store.rows().getLast().equals("ended deploy undone"));
        assertEquals(
                Optional.of("id of deploy"),
                store.events().getLast().end().flatMap(End::credentialId));
        assertEquals(1, store.events().stream().map(Event::mintId).distinct().count());
    }

    @Test
    void one_that_would_be_withheld_is_revoked_alike() {
        answersLate(_ ->
                Withheld.ofToken(new Secret("t"), Optional.empty(), "no expires_in").endedBy(undo));

        assertEquals(TIMED_OUT, stage.refusal("deploy"));
        recorded.complete(true);

        Eventually.holds(() -> store.rows().getLast().equals("ended deploy undone"));
    }

    @Test
    void a_type_that_calls_nobody_is_late_by_the_replicas_own_fault() {
        stage.cloud.callsNobody();
        answersLate(order -> FakeCloud.credential(order, Stage.START.plusSeconds(60)));

        Unavailable late = assertThrows(Unavailable.class, () -> stage.refusal("deploy"));

        assertEquals(Unavailable.Part.REPLICA, late.part());
        assertEquals(Duration.ofSeconds(1), late.retryAfter());
        assertTrue(String.valueOf(late.getMessage()).contains("short of CPU"), late.getMessage());
        assertEquals(List.of("requested deploy", "failed deploy audit_unavailable"), store.rows());
        assertEquals(List.of(), stage.providerAnswers, "no provider is to blame");
        recorded.complete(true);
    }

    @Test
    void a_provider_that_is_late_is_counted() {
        answersLate(order -> FakeCloud.credential(order, Stage.START.plusSeconds(60)));

        assertEquals(TIMED_OUT, stage.refusal("deploy"));
        assertEquals(List.of(false), stage.providerAnswers);
        recorded.complete(true);
    }

    /** Goes on when it is interrupted, until the failure is on record. */
    private void answersLate(Function<MintOrder, MintResult> answer) {
        stage.cloud.answer(
                "deploy",
                order -> {
                    var _ = recorded.join();
                    return answer.apply(order);
                });
    }
}
