package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

/**
 * A standby that was promoted before it had received the last edits, or a backup that was restored,
 * under replicas that have seen more than it. Two replicas hold a grant; the third one looks at the
 * tables anew each time and shows what is true.
 */
class SetBackDatabaseTest {
    private World world;
    private RunningBroker second;

    @BeforeEach
    void start() {
        world = new World(Map.of("CATALOG_MAX_STALENESS", "PT1H", "AUDIT_ON_LOSS", "alert"));
        second =
                RunningBroker.on(
                        world.database(),
                        Map.of("CATALOG_MAX_STALENESS", "PT1H", "AUDIT_ON_LOSS", "alert"));
        touch(3);
        Eventually.holds(() -> mint(world.broker()).equals("200  "));
        Eventually.holds(() -> mint(second).equals("200  "));
    }

    @AfterEach
    void stop() {
        second.close();
        world.close();
    }

    /** Its tokens have the issuer of the broker that made them; both take the same ones. */
    private String mint(RunningBroker broker) {
        return broker.mint(world.token(), "api").verdict();
    }

    private void touch(int times) {
        world.admin(touches(times));
    }

    private static String touches(int times) {
        return "UPDATE broker.key SET description = description || '+' WHERE name = 'spare';"
                .repeat(times);
    }

    /** The tenant's last changes never came about, as far as the database knows. */
    private static String lose(int changes) {
        return """
        ALTER TABLE log.config_change DISABLE TRIGGER is_append_only;
        DELETE FROM audit.config_change
         WHERE tenant = 'acme' AND revision > broker.revision('acme') - %d;
        ALTER TABLE log.config_change ENABLE ALWAYS TRIGGER is_append_only;
        """
                .formatted(changes);
    }

    /** In one transaction, as far as replicas can see. */
    private void inItsPlace(String... statements) {
        world.database().runAsSuperuser("BEGIN;" + String.join("", statements) + "COMMIT;");
    }

    private void assertNothingIsMinted(String verdict) {
        for (RunningBroker broker : List.of(world.broker(), second)) {
            assertEquals(verdict, mint(broker));
        }
        assertEquals("denied api not_granted", world.audited("key = 'api'").getLast());
    }

    @Test
    void a_grant_that_was_revoked_anew_up_to_the_same_revision_mints_nothing() {
        inItsPlace(
                lose(3),
                "UPDATE broker.subject_grant SET enabled = false WHERE key = 'api';",
                touches(2));
        assertNothingIsMinted("403 FORBIDDEN ");
    }

    @Test
    void a_grant_that_was_revoked_at_a_lower_revision_mints_nothing() {
        inItsPlace(lose(3), "UPDATE broker.subject_grant SET enabled = false WHERE key = 'api';");
        assertNothingIsMinted("403 FORBIDDEN ");
    }

    @Test
    void a_grant_that_was_never_made_there_mints_nothing() {
        inItsPlace(
                lose(4),
                "ALTER TABLE broker.subject_grant DISABLE TRIGGER record_change;",
                "DELETE FROM broker.subject_grant WHERE key = 'api';",
                "ALTER TABLE broker.subject_grant ENABLE ALWAYS TRIGGER record_change;");
        assertNothingIsMinted("403 FORBIDDEN ");
    }

    @Test
    void the_list_of_keys_follows_within_a_moment() {
        inItsPlace(
                lose(3),
                "UPDATE broker.subject_grant SET enabled = false WHERE key = 'api';",
                touches(2));
        for (RunningBroker broker : List.of(world.broker(), second)) {
            Eventually.holds(() ->
                    broker.keys(world.token()).body().at("/keys").findValues("key").isEmpty()
                            || !broker.keys(world.token()).body().toString().contains("\"api\""));
        }
    }
}
