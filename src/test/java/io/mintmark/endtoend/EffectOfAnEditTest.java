package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** What the commit of an intent alone finds out, on a replica that has everything in its caches. */
class EffectOfAnEditTest {
    @AutoClose private World world;

    /** Staleness is set so high that only polling or the commit of an intent can tell. */
    @BeforeEach
    void start() {
        world = new World(Map.of("CATALOG_MAX_STALENESS", "PT1H"));
        Eventually.holds(() -> mint().status() == 200);
    }

    private Answer mint() {
        return world.broker().mint(world.token(), "api");
    }

    /** From now on the broker can't ask what has changed. */
    private void stopPolling() {
        world.database()
                .runAsSuperuser(
                        "REVOKE EXECUTE ON FUNCTION audit.changed_tenants FROM mintmark_app");
    }

    @Test
    void a_revoked_grant_stops_the_next_mint_though_nobody_asked_what_changed() {
        stopPolling();
        world.admin("DELETE FROM broker.subject_grant WHERE key = 'api'");
        assertEquals("403 FORBIDDEN ", mint().verdict());
        assertEquals("denied api not_granted", world.audited("key = 'api'").getLast());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "('acme', 'ci:main', 'exact', 'x')",
                "('acme', 'ci:**', 'glob', 'x')",
                "(NULL, 'ci:main', 'exact', 'x')",
                "(NULL, 'ci:**', 'glob', 'x')"
            })
    void a_block_stops_the_next_mint_though_nobody_asked_what_changed(String row) {
        stopPolling();
        world.admin(
                "INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES "
                        + row);
        assertEquals("403 FORBIDDEN ", mint().verdict());
        assertEquals("denied api subject_blocked", world.audited("key = 'api'").getLast());
    }

    @Test
    void a_disabled_identity_provider_stops_the_next_mint_though_nobody_asked_what_changed() {
        stopPolling();
        world.admin("UPDATE broker.identity_provider SET enabled = false WHERE name = 'ci'");
        assertEquals("401 UNAUTHORIZED unknown_issuer", mint().verdict());
    }

    @Test
    void a_disabled_tenant_stops_the_next_mint_though_nobody_asked_what_changed() {
        stopPolling();
        world.admin("UPDATE broker.tenant SET enabled = false WHERE name = 'acme'");
        assertEquals("401 UNAUTHORIZED unknown_issuer", mint().verdict());
    }

    @Test
    void new_required_claims_stop_the_next_mint_though_nobody_asked_what_changed() {
        stopPolling();
        world.admin("UPDATE broker.identity_provider SET required_claims = '{\"ref\": \"main\"}'");
        assertEquals("401 INVALID_TOKEN claims_not_accepted", mint().verdict());
    }

    @Test
    void a_disabled_key_is_missing_at_the_next_mint_though_nobody_asked_what_changed() {
        stopPolling();
        world.admin("UPDATE broker.key SET enabled = false WHERE name = 'api'");
        assertEquals("404 NOT_FOUND ", mint().verdict());
    }

    @Test
    void a_key_that_aims_elsewhere_now_is_minted_as_it_is_now() {
        stopPolling();
        world.admin(
                "UPDATE broker.key SET outputs = '{\"TOKEN\": \"AccessToken\"}' WHERE name ="
                        + " 'api'");
        Answer answer = mint();
        assertEquals(200, answer.status(), answer.toString());
        assertEquals(1, answer.body().at("/credentials/api").size());
        assertFalse(answer.at("/credentials/api/TOKEN").isEmpty());
    }

    @Test
    void any_edit_of_the_tenant_is_decided_on_again() {
        stopPolling();
        world.admin("UPDATE broker.key SET description = 'Other' WHERE name = 'spare'");
        assertEquals(200, mint().status());
        assertEquals("issued api", world.audited("key = 'api'").getLast());
        world.assertRows(
                "SELECT DISTINCT reason FROM audit.event WHERE kind = 'failed'", "decided_again");
    }

    @Test
    void a_grant_that_ends_while_the_log_is_written_mints_nothing() throws Exception {
        Instant end = Instant.now().plusSeconds(3);
        world.admin("UPDATE broker.subject_grant SET valid_until = '%s'".formatted(end));
        Eventually.holds(() ->
                world.broker().keys(world.token()).status() == 200 || Instant.now().isAfter(end));
        CompletableFuture<Answer> minting;
        try (Connection writing = world.database().connect(Who.OWNER)) {
            writing.setAutoCommit(false);
            try (Statement statement = writing.createStatement()) {
                statement.execute("SET ROLE mintmark_owner; LOCK TABLE log.event IN SHARE MODE");
            }
            minting = CompletableFuture.supplyAsync(this::mint);
            Eventually.holds(() -> Instant.now().isAfter(end));
            writing.commit();
        }
        Answer answer = minting.join();
        assertEquals("403 FORBIDDEN ", answer.verdict(), answer.toString());
        assertEquals("denied api not_granted", world.audited("key = 'api'").getLast());
    }
}
