package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.SqlCase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;

/** A subject of any allowed length is written, recorded and found along an index. */
@Tag("every-postgres")
class LongSubjectsTest {
    /** Three bytes a character, in an order that doesn't compress: more than a B-tree takes. */
    private static final String LONGEST =
            "(SELECT string_agg(chr(19968 + (n * 7919) % 20000), '' ORDER BY n)"
                    + " FROM generate_series(1, 1024) AS n)";

    @AutoClose private static TestDatabase database;

    @BeforeAll
    static void create() throws IOException {
        database = TestDatabase.migrated();
        database.admin(SqlCase.script("refusals", "setup"));
        database.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'ci', 'repo:' || n, 'api' FROM generate_series(1, 3000) AS n
                UNION ALL SELECT 'acme', 'ci', %s, 'api'
                """
                        .formatted(LONGEST));
        database.run(
                Who.APP,
                """
                INSERT INTO audit.event
                       (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject,
                        key, reason, broker)
                SELECT cast(overlay(cast(audit.first_mint_id(now() + n * interval '1 ms') AS text)
                                    placing '7' from 15 for 1) AS uuid),
                       2, 'denied', now(), 'r', 'acme', 'ci', 'https://ci.example.com',
                       CASE n WHEN 0 THEN %s ELSE 'repo:' || n END, 'k', 'not_granted', 'test'
                  FROM generate_series(0, 3000) AS n
                """
                        .formatted(LONGEST));
        database.runAsSuperuser("ANALYZE broker.subject_grant, audit.event");
    }

    private static void assertUses(String index, String query) {
        String plan = String.join("\n", database.column(Who.ADMIN, "EXPLAIN " + query));
        assertTrue(plan.contains(index), plan);
    }

    @Test
    void its_grant_is_found() {
        database.assertRows(
                "SELECT key FROM broker.what_can_mint('ci', %s)".formatted(LONGEST), "api");
        database.assertRows(
                "SELECT granted FROM broker.explain('ci', %s) WHERE key = 'api'".formatted(LONGEST),
                "t");
    }

    @Test
    void its_events_are_found() {
        database.assertRows(
                "SELECT reason FROM audit.denial WHERE subject = %s".formatted(LONGEST),
                "not_granted");
    }

    @Test
    void the_grants_of_a_subject_are_found_along_their_index() {
        assertUses(
                "grants_of_a_subject",
                """
                SELECT g.id FROM broker.subject_grant AS g
                 WHERE g.tenant = 'acme' AND g.idp = 'ci' AND g.match = 'exact' AND g.subject = 'repo:7'
                   AND hashtextextended(g.subject, 0) = hashtextextended('repo:7', 0)
                """);
    }

    @Test
    void the_globs_of_a_tenant_are_found_along_their_index() {
        assertUses(
                "globs_of_an_identity_provider",
                """
                SELECT g.id FROM broker.subject_grant AS g
                 WHERE g.tenant = 'acme' AND g.match = 'glob' AND g.enabled
                """);
    }

    @Test
    void the_events_of_a_subject_are_found_along_their_index() {
        assertUses(
                "hashtextextended_mint_id_idx",
                """
                SELECT e.mint_id FROM audit.event AS e
                 WHERE e.subject = 'repo:7'
                   AND hashtextextended(e.subject, 0) = hashtextextended('repo:7', 0)
                 ORDER BY e.mint_id DESC LIMIT 1
                """);
    }
}
