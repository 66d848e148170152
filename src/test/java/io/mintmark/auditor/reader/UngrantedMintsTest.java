package io.mintmark.auditor.reader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.Event;
import io.mintmark.audit.MintEvents;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.broker.token.IssuerStandIn;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.RunningBroker;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Somebody who owns the database has a broker mint past the history of the configuration, and puts
 * everything back. Each such mint is named, and no other, from the database and from an export, by
 * the command and by the script.
 */
@Tag("heavy")
class UngrantedMintsTest {
    private static final Pattern UNGRANTED = Pattern.compile("ungranted_mint ([0-9a-f-]{36})");

    /** What admins change that has nothing to do with it, and what mints meanwhile. */
    private static final List<String> EDITS =
            List.of(
                    "UPDATE broker.tenant SET display_name = md5(random()::text) WHERE name ="
                            + " 'acme'",
                    "UPDATE broker.subject_grant SET enabled = NOT enabled WHERE subject ="
                            + " 'ci:sometimes'",
                    "UPDATE broker.key SET max_duration = 1100 - max_duration WHERE name = 'spare'",
                    "UPDATE broker.subject_grant SET claims = CASE WHEN claims = '{}' THEN"
                            + " '{\"aud\": \"mintmark-acme\"}'::jsonb ELSE '{}' END WHERE subject ="
                            + " 'ci:sometimes'",
                    "UPDATE broker.blocked_subject SET enabled = NOT enabled WHERE subject ="
                            + " 'ci:now-and-then'",
                    "UPDATE broker.identity_provider SET clock_skew = 60 - clock_skew WHERE name ="
                            + " 'ci'",
                    "INSERT INTO broker.tenant (name) VALUES ('t' || substr(md5(random()::text), 1,"
                            + " 20))");

    @TempDir private Path directory;
    private final TestDatabase database = TestDatabase.migrated();
    private final IssuerStandIn issuer = IssuerStandIn.start();
    private final IssuerStandIn evil = IssuerStandIn.start();
    private final Map<String, PastTheHistory> ungranted = new LinkedHashMap<>();
    private List<String> lastChange = List.of();

    @BeforeEach
    void configure() {
        database.admin(World.tenant(issuer.url(), "https://sts.example.com"));
        database.admin(PastTheHistory.CONFIGURATION);
        database.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'ci', 'ci:sometimes', 'spare'), ('acme', 'ci', 'ci:now-and-then', 'spare');
                INSERT INTO broker.blocked_subject (subject, reason) VALUES ('ci:now-and-then', 'a test');
                """);
        lastChange =
                database.column(
                        Who.OWNER,
                        "SELECT pg_get_functiondef('audit.last_change(text)'::regprocedure)");
        Seals.seal(database);
    }

    @AfterEach
    void close() {
        issuer.close();
        evil.close();
        database.close();
    }

    /** One that goes on after its history was rewritten, as most deeds here do. */
    private RunningBroker broker() throws Exception {
        return RunningBroker.on(
                database,
                Map.of(
                        "AUDIT_SIGNING_KEY_FILE",
                        AuditCommand.signingKey(directory).toString(),
                        "AUDIT_ON_LOSS",
                        "alert"));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void every_mint_past_the_history_is_named_and_no_other(long seed) throws Exception {
        Random random = new Random(seed);
        List<PastTheHistory> deeds = new ArrayList<>(List.of(PastTheHistory.values()));
        Collections.shuffle(deeds, random);
        try (RunningBroker broker = broker()) {
            for (PastTheHistory deed : deeds) {
                for (int i = random.nextInt(4); i > 0; i--) {
                    database.admin(EDITS.get(random.nextInt(EDITS.size())));
                    mint(broker, "ci:main", "api");
                    mint(broker, "ci:sometimes", "spare");
                    mint(broker, "ci:now-and-then", "spare");
                }
                if (random.nextBoolean()) {
                    Seals.seal(database);
                }
                doIt(broker, deed);
            }
            database.admin(EDITS.getFirst());
            mint(broker, "ci:main", "api");
        }
        assertNamed(ungranted);
    }

    private void mint(RunningBroker broker, String subject, String key) {
        var _ = broker.mint(issuer.sign(subject, World.AUDIENCE), key);
    }

    private void doIt(RunningBroker broker, PastTheHistory deed) {
        String token = deed.token(issuer, evil, World.AUDIENCE);
        deed.begin(database, evil);
        AtomicReference<String> answer = new AtomicReference<>("");
        try {
            Eventually.holds(() -> {
                var minted = broker.mint(token, deed.key());
                answer.set(minted.toString());
                return minted.status() == 200;
            });
        } catch (AssertionError e) {
            throw new AssertionError(deed + ": " + answer, e);
        }
        ungranted.put(
                database.value(
                        "SELECT mint_id FROM audit.event WHERE kind = 'issued'"
                                + " ORDER BY mint_id DESC LIMIT 1"),
                deed);
        deed.end(database, lastChange);
    }

    private void assertNamed(Map<String, PastTheHistory> expected) throws Exception {
        Seals.Found found = Seals.found(database, List.of(Seals.KEY));
        assertEquals(List.of(), found.wrong);
        assertEquals(List.of(), found.altered);
        assertEquals(named(expected, expected.keySet()), named(expected, found.ungranted.keySet()));
        Path log = directory.resolve("log.jsonl");
        assertEquals(
                found.ungranted, Seals.foundInExport(database, log, List.of(Seals.KEY)).ungranted);
        Script script = new Script(directory, database);
        int status = expected.isEmpty() ? 0 : 1;
        for (List<String> arguments :
                List.of(List.<String>of(), List.of("--export", log.toString()))) {
            assertEquals(status, script.status(arguments), script::output);
            assertEquals(
                    named(expected, expected.keySet()),
                    named(
                            expected,
                            UNGRANTED
                                    .matcher(script.output())
                                    .results()
                                    .map(mint -> mint.group(1))
                                    .collect(Collectors.toSet())));
        }
    }

    /** So that a failure says which deed went unnoticed, or who was accused wrongly. */
    private static Set<String> named(Map<String, PastTheHistory> deeds, Set<String> mints) {
        return mints.stream()
                .map(mint -> deeds.containsKey(mint) ? deeds.get(mint).toString() : mint)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void nobody_is_accused_while_the_configuration_changes() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try (RunningBroker one = broker();
                RunningBroker two = broker()) {
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                for (RunningBroker broker : List.of(one, two)) {
                    for (String subject : List.of("ci:main", "ci:sometimes", "ci:now-and-then")) {
                        String key = subject.equals("ci:main") ? "api" : "spare";
                        threads.execute(() -> {
                            while (!stop.get()) {
                                mint(broker, subject, key);
                            }
                        });
                    }
                }
                Random random = new Random(7);
                for (int i = 0; i < 60; i++) {
                    database.admin(EDITS.get(random.nextInt(EDITS.size())));
                    if (i % 10 == 0) {
                        Seals.seal(database);
                    }
                }
                stop.set(true);
            }
        }
        long again =
                Long.parseLong(
                        database.value(
                                "SELECT count(*) FROM audit.event WHERE reason = 'decided_again'"));
        assertTrue(again > 0, "no mint met an edit");
        assertNamed(Map.of());
    }

    /** A superuser can; both verifiers show the row, and the mint none the less. */
    @Test
    void a_second_outcome_clears_no_mint() throws Exception {
        List<Event> ungrantedMint = AuditRows.mint("ci:evil", "{}");
        try (Database connections = new Database(database.login(Who.APP))) {
            new PostgresEventStore(connections, "here/1").append(ungrantedMint);
            database.runAsSuperuser(
                    "ALTER TABLE log.event DROP CONSTRAINT event_holds_each_step_of_a_mint_once");
            Event forged = ungrantedMint.getFirst();
            new PostgresEventStore(connections, "evil/1")
                    .append(
                            List.of(
                                    new MintEvents(
                                                    forged.mintId(),
                                                    forged.caller().orElseThrow(),
                                                    forged.subject().orElseThrow(),
                                                    forged.key().orElseThrow(),
                                                    forged.grant())
                                            .failed(Instant.now(), "decided_again", "words")));
        }
        Seals.seal(database);
        String mint = ungrantedMint.getFirst().mintId().toString();
        String twice = "A step of mint %s appears more than once".formatted(mint);
        Path log = directory.resolve("log.jsonl");
        Script script = new Script(directory, database);
        for (Seals.Found found :
                List.of(
                        Seals.found(database, List.of(Seals.KEY)),
                        Seals.foundInExport(database, log, List.of(Seals.KEY)))) {
            assertEquals(List.of(twice), found.wrong);
            assertEquals(Set.of(mint), found.ungranted.keySet());
        }
        for (List<String> arguments :
                List.of(List.<String>of(), List.of("--export", log.toString()))) {
            assertEquals(1, script.status(arguments), script::output);
            assertTrue(script.output().contains("WRONG: a" + twice.substring(1)), script::output);
            assertTrue(script.output().contains("ungranted_mint " + mint), script::output);
        }
    }
}
