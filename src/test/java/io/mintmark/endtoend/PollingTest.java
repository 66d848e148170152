package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.Map;

/** What follows an edit by polling alone: nothing here mints, and nothing gets too old. */
class PollingTest {
    @AutoClose private World world;

    @BeforeEach
    void start() {
        world = new World(Map.of("CATALOG_MAX_STALENESS", "PT1H"));
        Eventually.holds(() -> list(World.AUDIENCE).status() == 200);
    }

    private Answer list(String audience) {
        return world.broker().keys(world.issuer().sign(World.SUBJECT, audience));
    }

    private int count() {
        return list(World.AUDIENCE).body().at("/keys").size();
    }

    @Test
    void a_list_shows_a_new_grant_and_no_revoked_one() {
        assertEquals(2, count());
        world.admin(
                "INSERT INTO broker.subject_grant (tenant, idp, subject, key)"
                        + " VALUES ('acme', 'ci', 'ci:main', 'spare')");
        Eventually.holds(() -> count() == 3);
        world.admin("DELETE FROM broker.subject_grant WHERE key <> 'spare'");
        Eventually.holds(() -> count() == 1);
    }

    @Test
    void tokens_of_a_new_tenant_are_accepted_though_they_were_refused_before() {
        assertEquals(401, list("mintmark-new").status());
        world.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('new');
                INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
                VALUES ('new', 'new', '%s', '{mintmark-new}');
                """
                        .formatted(world.issuer().url()));
        Eventually.holds(() -> list("mintmark-new").status() == 404);
    }

    @Test
    void tokens_of_a_disabled_tenant_are_refused() {
        world.admin("UPDATE broker.tenant SET enabled = false");
        Eventually.holds(() -> list(World.AUDIENCE).status() == 401);
    }

    @Test
    void an_edit_of_a_table_without_tenant_is_seen_too() {
        assertEquals(2, count());
        world.database()
                .runAsSuperuser(
                        "UPDATE broker.provider_type SET min_duration = 601 WHERE type = 'jwt'");
        Eventually.holds(() -> count() == 1);
    }
}
