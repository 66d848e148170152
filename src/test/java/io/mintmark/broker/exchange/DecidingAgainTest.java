package io.mintmark.broker.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.Event;
import io.mintmark.audit.Kind;
import io.mintmark.base.verdict.AccessRefusal;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.endtoend.Eventually;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** What happens if something changes while the intent is being written. */
final class DecidingAgainTest {
    @AutoClose private final Stage stage = new Stage();
    private final MemoryTenant tenant = stage.tenant;
    private final MemoryLog store = stage.store;
    private final FakeCloud cloud = stage.cloud;

    @Test
    void a_grant_that_is_revoked_while_the_intent_is_written_mints_nothing() {
        tenant.key("deploy").key("api").grant(Stage.SUBJECT, "deploy").grant(Stage.SUBJECT, "api");
        stage.onIntent(() -> tenant.revoke("deploy"));
        assertEquals(
                new AccessRefusal.KeysDenied(Stage.SUBJECT, List.of("deploy"), List.of("api")),
                stage.refusal("deploy", "api"));
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
    void a_subject_that_is_blocked_while_the_intent_is_written_mints_nothing() {
        tenant.key("deploy").key("api").grant(Stage.SUBJECT, "deploy").grant(Stage.SUBJECT, "api");
        stage.onIntent(() -> tenant.block(Stage.SUBJECT, Instant.MAX));
        assertBlocked(stage.refusal("deploy", "api"));
    }

    @Test
    void a_subject_that_is_blocked_in_all_tenants_meanwhile_mints_nothing() {
        tenant.key("deploy").key("api").grant(Stage.SUBJECT, "deploy").grant(Stage.SUBJECT, "api");
        stage.onIntent(() -> tenant.blockEverywhere("repo:**"));
        assertBlocked(stage.refusal("deploy", "api"));
    }

    private void assertBlocked(Refusal refusal) {
        assertEquals(
                new AccessRefusal.KeysDenied(Stage.SUBJECT, List.of("deploy", "api"), List.of()),
                refusal);
        assertEquals(List.of(), cloud.orders());
        assertEquals(
                List.of(
                        "requested deploy", "requested api",
                        "failed deploy decided_again", "failed api decided_again",
                        "denied deploy subject_blocked", "denied api subject_blocked"),
                store.rows());
    }

    @Test
    void a_block_in_all_tenants_has_no_tenant_read_anew() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.minted("deploy");
        tenant.blockEverywhere("somebody:**");
        stage.minted("deploy");
        assertEquals(1, tenant.readings());
        tenant.touch();
        stage.minted("deploy");
        assertEquals(2, tenant.readings());
    }

    @Test
    void a_block_ends_by_the_clock_of_the_database_and_not_by_the_replicas() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        tenant.block(Stage.SUBJECT, Stage.START);
        stage.now.set(Stage.START.plusSeconds(10));
        tenant.databaseTime(Stage.START.minusSeconds(15));
        assertInstanceOf(AccessRefusal.KeysDenied.class, stage.refusal("deploy"));
        stage.now.set(Stage.START.minusSeconds(10));
        tenant.databaseTime(Stage.START);
        stage.catalogue.changed(MemoryTenant.NAME);
        stage.minted("deploy");
    }

    @Test
    void a_key_that_there_is_not_is_denied_to_a_blocked_subject_as_to_a_stranger() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        tenant.block(Stage.SUBJECT, Instant.MAX);
        assertEquals(
                new AccessRefusal.KeysDenied(
                        Stage.SUBJECT, List.of("deploy", "nothing"), List.of()),
                stage.refusal("deploy", "nothing"));
    }

    @Test
    void an_identity_provider_that_stops_believing_meanwhile_mints_nothing() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.onIntent(tenant::distrust);
        assertInstanceOf(TokenRefusal.class, stage.refusal("deploy"));
        assertEquals(List.of(), cloud.orders());
        assertTrue(store.rows().contains("failed deploy decided_again"), store.rows()::toString);
    }

    @Test
    void an_edit_that_changes_nothing_here_is_decided_and_recorded_again() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        AtomicBoolean edited = new AtomicBoolean();
        stage.onIntent(() -> {
            if (edited.compareAndSet(false, true)) {
                tenant.touch();
            }
        });
        stage.minted("deploy");
        assertEquals(
                List.of(
                        "requested deploy",
                        "failed deploy decided_again",
                        "requested deploy",
                        "issued deploy"),
                store.rows());
    }

    @Test
    void a_revocation_in_another_history_with_the_same_number_mints_nothing() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.minted("deploy");
        tenant.beginAnotherHistory(() -> tenant.revoke("deploy"));
        assertInstanceOf(AccessRefusal.KeysDenied.class, stage.refusal("deploy"));
        assertEquals(1, cloud.orders().size());
    }

    @Test
    void a_grant_that_ends_while_the_intent_is_written_mints_nothing() {
        Instant end = Stage.START.plusSeconds(100);
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy", Optional.of(end));
        stage.onIntent(() -> stage.now.set(end));
        assertInstanceOf(AccessRefusal.KeysDenied.class, stage.refusal("deploy"));
        assertEquals(List.of(), cloud.orders());
    }

    @Test
    void a_credential_lives_no_longer_than_its_type_allows_after_the_intent() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.minted("deploy");
        AtomicBoolean limited = new AtomicBoolean();
        stage.onIntent(() -> {
            if (limited.compareAndSet(false, true)) {
                tenant.limitType(Duration.ofSeconds(90));
            }
        });
        stage.minted("deploy");
        assertEquals(
                List.of(MemoryTenant.AT_MOST, Duration.ofSeconds(90)),
                cloud.orders().stream().map(order -> order.duration()).toList());
    }

    @Test
    void a_credential_is_asked_for_until_the_end_of_the_grant_as_it_is_after_the_intent() {
        Instant end = Stage.START.plusSeconds(100);
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy", Optional.of(end));
        stage.onIntent(() -> stage.now.set(Stage.START.plusSeconds(30)));
        stage.minted("deploy");
        assertEquals(Duration.ofSeconds(70), cloud.orders().getFirst().duration());
    }

    @Test
    void a_tenant_that_never_stands_still_is_told_to_come_again() {
        tenant.key("deploy");
        tenant.grant(Stage.SUBJECT, "deploy");
        store.meanwhile(event -> {
            if (event.kind() == Kind.REQUESTED) {
                tenant.revoke("deploy");
                tenant.grant(Stage.SUBJECT, "deploy", Optional.of(Stage.START.plus(unique(event))));
            }
        });
        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        assertEquals(List.of(), cloud.orders());
        assertEquals(5, store.rows().stream().filter("requested deploy"::equals).count());
        assertEquals(
                5, store.rows().stream().filter("failed deploy decided_again"::equals).count());
    }

    @Test
    void a_tenant_that_can_not_be_read_again_after_an_edit_mints_nothing_and_that_is_on_record() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.onIntent(tenant::goAway);
        assertThrows(Unavailable.class, () -> stage.exchange.mint(stage.request("deploy")));
        assertEquals(List.of(), cloud.orders());
        Eventually.holds(() ->
                store.rows()
                        .equals(List.of("requested deploy", "failed deploy audit_unavailable")));
    }

    @Test
    void an_identity_provider_that_was_changed_unheard_is_noticed_by_the_revision() {
        tenant.key("deploy").grant(Stage.SUBJECT, "deploy");
        stage.minted("deploy");
        tenant.distrust();
        assertInstanceOf(TokenRefusal.UnsupportedAlgorithm.class, stage.refusal("deploy"));
        assertEquals(1, cloud.orders().size());
    }

    private static Duration unique(Event event) {
        return Duration.ofSeconds(200 + Math.floorMod(event.mintId().value().hashCode(), 3000));
    }
}
