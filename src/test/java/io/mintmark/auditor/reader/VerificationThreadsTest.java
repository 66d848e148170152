package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.jwk.ECKey;

import io.mintmark.audit.Event;
import io.mintmark.audit.checkpoint.PublicKeys;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.auditor.verify.Verification;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A verification finds the same, in the same words and order, on one thread and on four. */
class VerificationThreadsTest {
    private static final int MINTS = 3_000;

    @TempDir private Path directory;

    private static List<Object> verdicts(Seals.Found found) {
        return List.of(
                found.wrong,
                found.foreign,
                found.declared,
                List.copyOf(found.doubtful.entrySet()),
                found.told,
                List.copyOf(found.ungranted.entrySet()),
                found.altered,
                String.valueOf(found.summary));
    }

    private static Seals.Found found(LogReader log, List<ECKey> keys, Seals.Found found) {
        found.summary = new Verification(log, new TrustedKeys(keys), found).run(Stream.empty());
        return found;
    }

    private static Seals.Found inExport(Path file, List<ECKey> keys, int threads) {
        Seals.Found found = new Seals.Found();
        try (ExportedLog log = new ExportedLog(List.of(file), Optional::of, found, threads)) {
            return found(log, keys, found);
        }
    }

    static Stream<JsonNode> variants() throws Exception {
        return LogVectorTest.variants();
    }

    @ParameterizedTest
    @MethodSource("variants")
    void of_each_log_of_the_test_vector(JsonNode variant) throws Exception {
        Path log =
                Files.writeString(directory.resolve("log.jsonl"), LogVectorTest.tampered(variant));
        List<ECKey> keys = PublicKeys.read(LogVectorTest.VECTOR.resolve("keys.pem"), "--keys");
        assertEquals(verdicts(inExport(log, keys, 1)), verdicts(inExport(log, keys, 4)));
    }

    /** A log of thousands of rows, so that there are many batches for each thread. */
    private static TestDatabase manyRows() {
        TestDatabase database = TestDatabase.migrated();
        database.admin(
                """
                INSERT INTO broker.tenant (name) SELECT 'tenant-' || n FROM generate_series(1, 300) AS n;
                UPDATE broker.tenant SET display_name = repeat('x', 500) WHERE name LIKE 'tenant-%';
                """);
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore one = new PostgresEventStore(connections, "here/1");
            PostgresEventStore two = new PostgresEventStore(connections, "here/2");
            append(one, MINTS / 2);
            Seals.seal(database);
            append(two, MINTS / 2);
        }
        Seals.seal(database);
        return database;
    }

    private static void append(PostgresEventStore store, int mints) {
        List<Event> rows = new ArrayList<>();
        for (int i = 0; i < mints; i++) {
            rows.addAll(AuditRows.mint("job:" + i, "{\"ref\":\"main\"}"));
        }
        store.append(rows);
    }

    private static Seals.Found inDatabase(TestDatabase database, int threads) {
        try (PostgresLog log =
                new PostgresLog(database.login(Who.AUDITOR), TestDatabase.ROLES, threads)) {
            return found(log, List.of(Seals.KEY), new Seals.Found());
        }
    }

    private Seals.Found alike(TestDatabase database) {
        Seals.Found found = inDatabase(database, 1);
        assertEquals(verdicts(found), verdicts(inDatabase(database, 4)));
        Path file = directory.resolve("log.jsonl");
        Seals.foundInExport(database, file, List.of(Seals.KEY));
        assertEquals(
                verdicts(inExport(file, List.of(Seals.KEY), 1)),
                verdicts(inExport(file, List.of(Seals.KEY), 4)));
        return found;
    }

    @Test
    void of_thousands_of_rows() {
        try (TestDatabase database = manyRows()) {
            Seals.Found found = alike(database);
            assertEquals(List.of(), found.wrong);
            assertEquals(MINTS, found.ungranted.size(), "no mint of this log has a grant");
        }
    }

    @Test
    void of_thousands_of_rows_of_which_some_were_changed_or_removed() {
        try (TestDatabase database = manyRows()) {
            database.runAsSuperuser(
                    """
                    DO $$
                    DECLARE
                        t regclass;
                    BEGIN
                        FOR t IN SELECT tgrelid FROM pg_trigger WHERE tgname = 'is_append_only' LOOP
                            EXECUTE format('ALTER TABLE %s DISABLE TRIGGER is_append_only', t);
                        END LOOP;
                    END $$;
                    UPDATE audit.event SET user_agent = 'another' WHERE seq % 500 = 7;
                    DELETE FROM audit.event WHERE seq % 700 = 11;
                    UPDATE audit.event SET prev_hash = hash WHERE seq % 900 = 13;
                    UPDATE audit.config_change SET changed_by = 'another'
                     WHERE revision = 2 AND tenant LIKE 'tenant-%7';
                    DELETE FROM audit.config_change WHERE revision = 1 AND tenant LIKE 'tenant-%9';
                    """);
            Seals.Found found = alike(database);
            assertTrue(found.wrong.size() > 60, found.wrong.toString());
        }
    }
}
