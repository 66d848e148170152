package io.mintmark.console.pages.tenants;

import static io.mintmark.TextAssertions.assertLacks;
import static io.mintmark.TextAssertions.assertShows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.console.pages.ConsoleWorld;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;

/** A tenant with more keys and grants than anybody looks through. */
@Tag("every-postgres")
class ManyGrantsTest {
    @AutoClose private static final TestDatabase database = ConsoleWorld.filled();
    private static final ConsoleWorld world = ConsoleWorld.of(database);

    @Test
    void long_lists_are_filtered_by_the_address_and_short_ones_have_no_filter() {
        assertLacks(world.page("lead", "/tenants/acme"), "Keys, subjects and providers with");
        database.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                SELECT 'acme', 'batch-' || n, 'services', 900, '{"audience": "https://batch.acme.example"}'
                  FROM generate_series(1, 45) AS n;
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'acme-k8s', 'sa:batch:' || n, 'batch-7' FROM generate_series(1, 60) AS n;
                """);

        assertShows(world.page("lead", "/tenants/acme"), "Keys, subjects and providers with");
        String some = world.page("lead", "/tenants/acme?q=batch-7");
        assertShows(some, "/keys/acme/batch-7\"", "q=batch-7&amp;after=", "sa:batch:1<");
        assertLacks(some, "/keys/acme/batch-8\"", "/keys/acme/deploy\"");
        assertShows(world.page("lead", "/tenants/acme?q=nothing-has-this"), "None with this text.");
        assertShows(world.page("lead", "/keys/acme/batch-7"), "Subjects with");
        String one = world.page("lead", "/keys/acme/batch-7?q=batch:13");
        assertShows(one, "sa:batch:13", "One grant in force");
        assertShows(
                world.page("lead", "/keys/acme/batch-7?q=nothing-has-this"),
                "No grant in force has a subject with this text.");
    }

    @Test
    void a_grant_for_an_actor_says_on_whose_behalf() {
        database.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, actor_match)
                VALUES ('acme', 'acme-k8s', 'sa:person:alice', 'read-only', 'acme-k8s', 'sa:agents:bot', 'exact'),
                       ('acme', 'acme-k8s', 'sa:person:bob', 'read-only', 'acme-k8s', 'sa:agents:*', 'glob');
                """);
        for (String path :
                List.of(
                        "/tenants/acme?q=sa:person",
                        "/keys/acme/read-only",
                        "/reviews?show=all&tenant=acme")) {
            assertShows(
                    world.page("lead", path),
                    "only through <a class=\"id\" href=\"/mints?actor=sa%3Aagents%3Abot\">sa:agents:bot</a>",
                    "only through <span class=\"id\">sa:agents:*</span> (glob)",
                    "on behalf of the subject");
        }
        assertShows(world.page("lead", "/subjects?q=sa:person:alice"), "sa:agents:bot");
    }

    @Test
    void grants_of_a_key_are_sorted_as_people_sort_them() {
        database.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT 'acme', 'acme-k8s', 'sa:sorted:job-' || n, 'read-only' FROM generate_series(1, 12) AS n
                """);
        String page = world.page("lead", "/keys/acme/read-only?q=sa:sorted");
        List<Integer> places =
                List.of("job-1<", "job-2<", "job-9<", "job-10<", "job-12<").stream()
                        .map(page::indexOf)
                        .toList();
        assertEquals(places.stream().sorted().toList(), places, page);
        assertTrue(places.getFirst() > 0, page);
    }

    /** A key's lint isn't stored: it is found anew, which nobody waits for with many keys. */
    @Test
    void lint_of_too_many_keys_is_left_out_and_the_pages_say_so() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            ConsoleWorld there = ConsoleWorld.of(own);
            String left = "keys</a> are not counted";
            for (String viewer : List.of("auditor", "lead")) {
                assertLacks(there.page(viewer, "/"), left);
                assertLacks(there.page(viewer, "/tenants/acme"), "Lint of keys is not shown here");
            }
            own.admin(
                    """
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                    SELECT 'acme', 'lint-' || n, 'services', 30, '{"audience": "https://lint.acme.example"}'
                      FROM generate_series(1, 500) AS n
                    """);
            assertShows(
                    own.value(
                            "SELECT count(*) > 0 FROM broker.lint WHERE tenant = 'acme' AND table_name = 'key'"),
                    "t");
            for (String viewer : List.of("auditor", "lead")) {
                String overview = there.page(viewer, "/");
                assertShows(overview, left);
                assertLacks(overview, "over 1,000", "500</b> <a href=\"#lint\"");
                assertShows(there.page(viewer, "/tenants/acme"), "Lint of keys is not shown here");
            }
        }
    }

    @Test
    void a_tenants_lint_is_counted_whatever_the_others_have() {
        try (TestDatabase own = ConsoleWorld.filled()) {
            ConsoleWorld there = ConsoleWorld.of(own);
            own.admin("INSERT INTO broker.tenant (name) VALUES ('late')");
            own.runAsSuperuser(
                    """
                    INSERT INTO internal.lint_finding (table_name, id, tenant, rule, detail)
                    SELECT 'subject_grant', n, CASE WHEN n <= 1001 THEN 'acme' ELSE 'late' END, 'no_end', 'x'
                      FROM generate_series(1, 1003) AS n ORDER BY n;
                    """);

            String table = there.page("auditor", "/tenants");
            assertShows(
                    table,
                    "/tenants/acme#lint\"><b>over 1,000</b>",
                    "/tenants/late#lint\"><b>2</b>");
            assertShows(
                    there.page("auditor", "/"),
                    "<b>over 1,000</b> <a href=\"#lint\">lint warnings</a>",
                    "the first 1,000 in 1 tenant",
                    "the first 1,000; <a href=\"/tenants\">each tenant's</a>");
            assertLacks(there.page("lead", "/tenants"), "/tenants/late");
        }
    }
}
