package io.mintmark.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mintmark.Unchecked;
import io.mintmark.base.sql.ReadOnlyDatabase;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.console.ViewerDatabase.Bounds;
import io.mintmark.console.ViewerDatabase.Reading;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** What a page is shown of the database, over one connection that all viewers share. */
@Tag("every-postgres")
class ViewerDatabaseTest {
    private static final Viewer LEAD = new Viewer("lead", "{\"groups\": [\"acme-leads\"]}");
    private static final Viewer AUDITOR = new Viewer("auditor", "{\"role\": \"auditor\"}");
    private static final Viewer STRANGER = new Viewer("stranger", "{\"sub\": \"nobody\"}");

    /** As a page asks that forgot whom it is for. */
    private static final String TENANTS = "SELECT name FROM broker.tenant ORDER BY name";

    @AutoClose private static TestDatabase database;
    private static ViewerDatabase viewers;

    @BeforeAll
    static void setUp() {
        database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name) VALUES ('acme'), ('other');
                INSERT INTO broker.console_access (tenant, all_tenants, claim, value)
                VALUES ('acme', false, 'groups', '"acme-leads"'), (NULL, true, 'role', '"auditor"');
                INSERT INTO broker.identity_provider (tenant, name, issuer, audiences)
                SELECT t.name, t.name || '-ci', 'https://ci.example.com', ARRAY[t.name] FROM broker.tenant AS t;
                INSERT INTO broker.access_provider (tenant, name, type, settings)
                SELECT t.name, 'tokens', 'jwt', '{}' FROM broker.tenant AS t;
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                SELECT t.name, 'api', 'tokens', 600, '{"audience": "https://api.example.com"}' FROM broker.tenant AS t;
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                SELECT t.name, t.name || '-ci', 'job', 'api' FROM broker.tenant AS t
                """);
        viewers =
                database.closing(
                        new ViewerDatabase(
                                new ReadOnlyDatabase(database.login(Who.CONSOLE), "console", 1),
                                1));
    }

    @Test
    void a_question_without_condition_shows_what_the_viewers_claims_give() {
        assertEquals(List.of("acme"), viewers.read(LEAD, column(TENANTS)));
        assertEquals(List.of("acme", "other"), viewers.read(AUDITOR, column(TENANTS)));
        assertEquals(List.of(), viewers.read(STRANGER, column(TENANTS)));
    }

    /** It runs with its owner's rights, and a page may name any tenant to it. */
    @Test
    void the_activity_of_named_tenants_is_that_of_those_that_the_viewer_sees() {
        String activity =
                """
                SELECT DISTINCT a.tenant
                  FROM internal.activity_of_tenants('{acme,other}', now() - interval '1 day', interval '1 hour', 24, 100) AS a
                 ORDER BY 1
                """;

        assertEquals(List.of("acme"), viewers.read(LEAD, column(activity)));
        assertEquals(List.of("acme", "other"), viewers.read(AUDITOR, column(activity)));
        assertEquals(List.of(), viewers.read(STRANGER, column(activity)));
    }

    /** Like the activity, and a page may name any grant to it. */
    @Test
    void the_uses_of_named_grants_are_those_that_the_viewer_sees() {
        String uses =
                """
                SELECT g.tenant
                  FROM internal.uses_of_grants('{1,2,3,4}', now() - interval '1 day', 100) AS u
                  JOIN (VALUES (%s, 'acme'), (%s, 'other')) AS g (id, tenant) ON g.id = u.grant_id
                 ORDER BY 1
                """
                        .formatted(grantOf("acme"), grantOf("other"));

        assertEquals(List.of("acme"), viewers.read(LEAD, column(uses)));
        assertEquals(List.of("acme", "other"), viewers.read(AUDITOR, column(uses)));
        assertEquals(List.of(), viewers.read(STRANGER, column(uses)));
    }

    private static String grantOf(String tenant) {
        return database.value(
                "SELECT id FROM broker.subject_grant WHERE tenant = '%s'".formatted(tenant));
    }

    @Test
    void an_access_that_is_taken_back_shows_nothing_from_the_next_page_on() {
        Viewer temp = new Viewer("temp", "{\"sub\": \"temp\"}");
        database.admin(
                "INSERT INTO broker.console_access (tenant, claim, value) VALUES ('other', 'sub',"
                        + " '\"temp\"')");
        assertEquals(List.of("other"), viewers.read(temp, column(TENANTS)));

        database.admin("DELETE FROM broker.console_access WHERE claim = 'sub'");

        assertEquals(List.of(), viewers.read(temp, column(TENANTS)));
    }

    @Test
    void claims_end_with_their_transaction() {
        Reading<List<String>> committing =
                connection -> {
                    connection.commit();
                    return column(TENANTS).from(connection);
                };

        assertEquals(List.of(), viewers.read(AUDITOR, committing));
        assertEquals(List.of(), viewers.read(STRANGER, column(TENANTS)));
    }

    @Test
    void claims_that_break_out_of_their_text_show_nothing() {
        Viewer hostile =
                new Viewer("x", "{\"sub\": \"', true); SET mintmark.console_claims = '{}'; --\"}");

        assertEquals(List.of(), viewers.read(hostile, column(TENANTS)));
    }

    @Test
    void nothing_can_be_written() {
        ReadingFailed failed =
                assertThrows(
                        ReadingFailed.class,
                        () -> viewers.read(AUDITOR, column("CREATE TEMPORARY TABLE t (i int)")));

        assertEquals(ReadingFailed.Why.FAILED, failed.why());
    }

    @Test
    void a_statement_that_takes_too_long_is_ended_and_leaves_the_connection_free() {
        ReadingFailed failed =
                assertThrows(
                        ReadingFailed.class,
                        () -> viewers.read(AUDITOR, column("SELECT pg_sleep(60)")));

        assertEquals(ReadingFailed.Why.TOO_SLOW, failed.why());
        assertEquals(List.of("acme"), viewers.read(LEAD, column(TENANTS)));
    }

    @Test
    void whoever_finds_every_connection_taken_is_told_so() throws InterruptedException {
        CountDownLatch taken = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        Thread page = Thread.startVirtualThread(() -> viewers.read(LEAD, held(taken, over)));
        taken.await();

        ReadingFailed failed =
                assertThrows(ReadingFailed.class, () -> viewers.read(AUDITOR, column(TENANTS)));

        over.countDown();
        page.join();
        assertEquals(ReadingFailed.Why.BUSY, failed.why());
    }

    @Test
    void one_viewer_has_half_of_the_connections_at_most() throws InterruptedException {
        var bounds = new Bounds(Duration.ofMillis(200), Duration.ofMinutes(1));
        try (ViewerDatabase two = two(bounds)) {
            CountDownLatch taken = new CountDownLatch(1);
            CountDownLatch over = new CountDownLatch(1);
            Thread page = Thread.startVirtualThread(() -> two.read(LEAD, held(taken, over)));
            taken.await();

            assertEquals(List.of("acme", "other"), two.read(AUDITOR, column(TENANTS)));
            ReadingFailed failed =
                    assertThrows(ReadingFailed.class, () -> two.read(LEAD, column(TENANTS)));

            over.countDown();
            page.join();
            assertEquals(ReadingFailed.Why.BUSY, failed.why());
            assertEquals(List.of("acme"), two.read(LEAD, column(TENANTS)));
        }
    }

    @Test
    void a_page_of_many_quick_statements_is_ended_too_and_its_connection_replaced() {
        var bounds = new Bounds(Duration.ofSeconds(10), Duration.ofMillis(200));
        Reading<List<String>> endless =
                connection -> {
                    while (true) {
                        assertEquals(List.of("acme"), column(TENANTS).from(connection));
                    }
                };
        try (ViewerDatabase two = two(bounds)) {
            ReadingFailed failed = assertThrows(ReadingFailed.class, () -> two.read(LEAD, endless));

            assertEquals(ReadingFailed.Why.TOO_SLOW, failed.why());
            assertEquals(List.of("acme"), two.read(LEAD, column(TENANTS)));
        }
    }

    private static ViewerDatabase two(Bounds bounds) {
        return new ViewerDatabase(TestDatabase.patient(database.login(Who.CONSOLE), 2), 2, bounds);
    }

    static Reading<String> held(CountDownLatch taken, CountDownLatch over) {
        return connection -> {
            taken.countDown();
            Unchecked.await(over);
            return "";
        };
    }

    private static Reading<List<String>> column(String sql) {
        return connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet rows = statement.executeQuery(sql)) {
                List<String> values = new ArrayList<>();
                while (rows.next()) {
                    values.add(rows.getString(1));
                }
                return values;
            }
        };
    }
}
