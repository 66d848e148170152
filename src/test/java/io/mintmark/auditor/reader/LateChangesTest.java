package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.audit.Event;
import io.mintmark.audit.MintEvents;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A change that brokers and the sealer didn't see for minutes is a doubt, and each mint without it.
 * Both verifiers say so of the database and of an export; honest delays stay silent.
 */
@Tag("heavy")
class LateChangesTest {
    private static final Pattern DOUBT =
            Pattern.compile("(?m)^DOUBT: .*\\(--accept-gap ([0-9a-f]{64})\\)$");

    private static final String REVOKE =
            "UPDATE broker.subject_grant SET enabled = false WHERE subject = 'ci:main'";

    @TempDir private Path directory;
    private final TestDatabase database = TestDatabase.migrated();
    private final Database connections = new Database(database.login(Who.APP));
    private final PostgresEventStore store = new PostgresEventStore(connections, "here/1");
    private final GrantedMints granted = new GrantedMints(database);
    private final Instant now = Instant.now();

    @BeforeEach
    void seal() {
        store.append(mintAfter(Duration.ZERO));
        Seals.sealAt(database, now);
    }

    @AfterEach
    void close() {
        connections.close();
        database.close();
    }

    private List<Event> mintAfter(Duration time) {
        return granted.of(AuditRows.mint("ci:main", "{}", "10.0.0.1", now.plus(time)));
    }

    private void sealAfter(Duration time) {
        Seals.sealAt(database, now.plus(time));
    }

    private void assertDoubts(int count) throws Exception {
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(List.of(), found.altered);
        assertEquals("{}", found.ungranted.toString());
        assertEquals(count, found.doubtful.size(), found.doubtful::toString);
        Path log = directory.resolve("log.jsonl");
        assertEquals(
                found.doubtful, Seals.foundInExport(database, log, List.of(Seals.KEY)).doubtful);
        Set<String> hashes = new TreeSet<>(found.doubtful.values());
        assertScript(count, hashes, List.of());
        assertScript(count, hashes, List.of("--export", log.toString()));
    }

    private void assertScript(int count, Set<String> hashes, List<String> log) throws Exception {
        Script script = new Script(directory, database);
        assertEquals(count == 0 ? 0 : 3, script.status(log), script::output);
        List<MatchResult> doubts = DOUBT.matcher(script.output()).results().toList();
        assertEquals(count, doubts.size(), script::output);
        assertEquals(
                hashes,
                doubts.stream()
                        .map(doubt -> doubt.group(1))
                        .collect(Collectors.toCollection(TreeSet::new)));
        List<String> accepting = new ArrayList<>();
        hashes.forEach(hash -> accepting.addAll(List.of("--accept-gap", hash)));
        accepting.addAll(log);
        assertEquals(0, script.status(accepting), script::output);
    }

    @Test
    void a_change_that_was_hidden_and_a_mint_without_it_are_doubts() throws Exception {
        List<Event> unseen = mintAfter(Duration.ofMinutes(3));
        long revision = Long.parseLong(database.value("SELECT broker.revision('acme')"));
        database.runAsSuperuser(
                "CREATE POLICY hides ON log.config_change AS RESTRICTIVE FOR SELECT TO"
                        + " mintmark_app USING (tenant IS DISTINCT FROM 'acme' OR revision <= "
                        + revision
                        + ")");
        database.admin(REVOKE);
        sealAfter(Duration.ofMinutes(3));
        store.append(unseen);
        database.runAsSuperuser("DROP POLICY hides ON log.config_change");
        sealAfter(Duration.ofMinutes(4));
        assertDoubts(2);
    }

    @Test
    void a_transaction_that_was_open_for_minutes_is_a_doubt() throws Exception {
        changeWhile(REVOKE, () -> sealAfter(Duration.ofSeconds(150)), "SELECT");
        sealAfter(Duration.ofSeconds(200));
        assertDoubts(1);
    }

    @Test
    void a_transaction_that_goes_on_writing_is_none() throws Exception {
        List<Event> during = mintAfter(Duration.ofSeconds(170));
        changeWhile(
                REVOKE,
                () -> {
                    sealAfter(Duration.ofSeconds(150));
                    store.append(during);
                },
                "UPDATE broker.tenant SET display_name = 'imported' WHERE name = 'acme'");
        database.runAsSuperuser(
                """
                ALTER TABLE log.config_change DISABLE TRIGGER is_append_only;
                DO $do$
                DECLARE
                    last audit.config_change;
                BEGIN
                    SELECT c.* INTO last FROM audit.config_change AS c WHERE c.tenant = 'acme' ORDER BY c.revision DESC LIMIT 1;
                    last.changed_at := last.changed_at + interval '60 seconds';
                    UPDATE audit.config_change SET changed_at = last.changed_at, hash = audit.change_hash(last)
                     WHERE tenant = 'acme' AND revision = last.revision;
                END $do$;
                ALTER TABLE log.config_change ENABLE ALWAYS TRIGGER is_append_only;
                """);
        sealAfter(Duration.ofSeconds(200));
        assertDoubts(0);
    }

    private void changeWhile(String change, Runnable meanwhile, String last) throws Exception {
        try (Connection admin = database.connect(Who.ADMIN);
                Statement statement = admin.createStatement()) {
            admin.setAutoCommit(false);
            statement.execute(change);
            meanwhile.run();
            statement.execute(last);
            admin.commit();
        }
    }

    @Test
    void clocks_that_differ_and_a_sealer_that_paused_are_none() throws Exception {
        List<Event> ahead = mintAfter(Duration.ofSeconds(100));
        database.admin(REVOKE);
        store.append(ahead);
        sealAfter(Duration.ofMinutes(50));
        assertDoubts(0);
    }

    @Test
    void a_clock_that_was_set_back_is_none() throws Exception {
        sealAfter(Duration.ofMinutes(20));
        database.admin(REVOKE);
        sealAfter(Duration.ofSeconds(5));
        assertDoubts(0);
    }

    @Test
    void a_mint_that_was_decided_again_is_none() throws Exception {
        List<Event> again = granted.of(AuditRows.failed("ci:main", "decided_again"));
        MintEvents late =
                new MintEvents(
                        again.getFirst().mintId(),
                        again.getFirst().caller().orElseThrow(),
                        again.getFirst().subject().orElseThrow(),
                        again.getFirst().key().orElseThrow(),
                        again.getFirst().grant());
        database.admin(REVOKE);
        sealAfter(Duration.ofMinutes(1));
        Instant at = now.plus(Duration.ofMinutes(30));
        store.append(
                List.of(
                        late.requested(at, at.plusSeconds(600)),
                        late.failed(at, "decided_again", "words")));
        sealAfter(Duration.ofMinutes(31));
        assertDoubts(0);
    }
}
