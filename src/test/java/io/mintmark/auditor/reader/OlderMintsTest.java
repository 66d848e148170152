package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.Event;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * A mint that is older than the tenant, provider, key and grant it names is a finding of both
 * verifiers, in the database and in an export, unless two clocks may differ by as much.
 */
class OlderMintsTest {
    private static final String SHARED =
            "INSERT INTO broker.blocked_subject (subject, reason) VALUES ('ci:nobody', 'a test')";

    @TempDir private Path directory;
    @AutoClose private final TestDatabase database = TestDatabase.migrated();

    /** Rows of a mint as a broker would write them now, but for their time. */
    private void mint(Instant at) {
        // in the first days of a month, it may be in the month before
        database.run(Who.OWNER, "SELECT audit.create_partition('%s'::date)".formatted(at));
        List<Event> rows = new GrantedMints(database).of(AuditRows.mintAt(at, "ci:main"));
        try (Database connections = new Database(database.login(Who.APP))) {
            new PostgresEventStore(connections, "here/1").append(rows);
        }
        Seals.seal(database);
    }

    private Instant lastChange(String tenant) {
        return Instant.parse(
                database.value(
                        """
                        SELECT to_char(max(changed_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
                          FROM audit.config_change WHERE %s
                        """
                                .formatted(tenant)));
    }

    @ParameterizedTest
    @CsvSource({"29, 0", "31, 1", "86400, 1"})
    void a_mint_that_is_older_than_its_grant_is_named(long seconds, int named) throws Exception {
        var _ = new GrantedMints(database).of(AuditRows.mint("ci:main", "{}"));
        mint(lastChange("tenant = 'acme'").minusSeconds(seconds));
        assertNamed(named, "of tenant acme, which was made later, at");
    }

    @ParameterizedTest
    @CsvSource({"29, 0", "31, 1"})
    void a_mint_that_is_older_than_a_block_that_it_names_is_named(long seconds, int named)
            throws Exception {
        GrantedMints.since(database, Instant.now().minus(Duration.ofDays(1)), "ci:main");
        database.admin(SHARED);
        mint(lastChange("tenant IS NULL").minusSeconds(seconds));
        assertNamed(named, "of the tables without tenant, which was made later, at");
    }

    @Test
    void a_configuration_that_was_written_earlier_allows_it() throws Exception {
        GrantedMints.since(database, Instant.now().minus(Duration.ofDays(2)), "ci:main");
        mint(Instant.now().minus(Duration.ofDays(1)));
        assertNamed(0, "only made");
    }

    private void assertNamed(int count, String why) throws Exception {
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(List.of(), found.altered);
        assertEquals(count, found.ungranted.size(), found.ungranted::toString);
        assertTrue(
                found.ungranted.values().stream().allMatch(it -> it.contains(why)),
                found.ungranted::toString);
        Path log = directory.resolve("log.jsonl");
        Map<String, String> exported =
                Seals.foundInExport(database, log, List.of(Seals.KEY)).ungranted;
        assertEquals(found.ungranted, exported);
        Script script = new Script(directory, database);
        for (List<String> arguments :
                List.of(List.<String>of(), List.of("--export", log.toString()))) {
            assertEquals(count == 0 ? 0 : 1, script.status(arguments), script::output);
            assertEquals(count > 0, script.output().contains("ungranted_mint"), script::output);
            assertEquals(count > 0, script.output().contains(why), script::output);
        }
    }
}
