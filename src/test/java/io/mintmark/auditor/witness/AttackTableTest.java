package io.mintmark.auditor.witness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.sql.AuditCommand;
import io.mintmark.base.sql.AuditCommand.Ran;
import io.mintmark.base.sql.AuditRows;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.GrantedMints;
import io.mintmark.base.sql.Script;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What an operator does who has the audit key, the key of notes and the database, and who finds it:
 * each cell of the table in docs/audit.md.
 */
@Tag("heavy")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AttackTableTest {
    private static final Mint YEAR = new Mint("ci:year", Duration.ofDays(370));
    private static final Mint MONTH = new Mint("ci:month", Duration.ofDays(31));
    private static final Mint DAY = new Mint("ci:day", Duration.ofDays(1));
    private static final Mint HOURS = new Mint("ci:hours", Duration.ofHours(3));
    private static final Mint TODAY = new Mint("ci:today", Duration.ofMinutes(5));
    private static final Mint FALSE = new Mint("ci:false", Duration.ofDays(31));
    private static final List<Mint> HONEST = List.of(YEAR, MONTH, DAY, HOURS, TODAY);

    @TempDir private Path directory;
    private final Instant now = Instant.now();
    private final Map<Attack, Scene> scenes = new EnumMap<>(Attack.class);

    private record Mint(String subject, Duration ago) {}

    /** With what an auditor verifies. */
    enum With {
        ALONE,
        KEPT,
        QUORUM
    }

    /** What comes of it. */
    enum Found {
        NO(0),
        YES(1),
        DOUBT(3);

        private final int status;

        Found(int status) {
            this.status = status;
        }
    }

    enum Attack {
        SECOND("shows one auditor a second history", Found.NO, Found.NO, Found.YES),
        YEAR("rewrites a year and signs it again", Found.NO, Found.YES, Found.YES),
        MONTH("dates rows of today to last month", Found.NO, Found.YES, Found.YES),
        CUT("cuts off the last day with its checkpoints", Found.NO, Found.YES, Found.DOUBT),
        RESTORE("restores the database without declaring it", Found.NO, Found.YES, Found.YES),
        RECEIPT("makes a receipt of a row that isn't in the log", Found.NO, Found.YES, Found.YES);

        private final String words;
        private final Found alone;
        private final Found kept;
        private final Found quorum;

        Attack(String words, Found alone, Found kept, Found quorum) {
            this.words = words;
            this.alone = alone;
            this.kept = kept;
            this.quorum = quorum;
        }

        private Found cell(With with) {
            return switch (with) {
                case ALONE -> alone;
                case KEPT -> kept;
                case QUORUM -> quorum;
            };
        }

        private String row() {
            return "| %s | %s |"
                    .formatted(
                            words,
                            Arrays.stream(With.values())
                                    .map(with -> cell(with).name().toLowerCase(Locale.ROOT))
                                    .collect(Collectors.joining(" | ")));
        }
    }

    record Cell(Attack attack, With with) {}

    /** What an auditor is shown, and what they have. */
    private record Scene(
            TestDatabase shown,
            List<SignedCheckpoint> kept,
            TestWitness witness,
            List<TestDatabase> others)
            implements AutoCloseable {
        @Override
        public void close() throws IOException {
            witness.close();
            shown.close();
            others.forEach(TestDatabase::close);
        }
    }

    static Stream<Cell> cells() {
        return Arrays.stream(Attack.values())
                .flatMap(attack -> Arrays.stream(With.values()).map(it -> new Cell(attack, it)));
    }

    @AfterAll
    void end() throws IOException {
        for (Scene scene : scenes.values()) {
            scene.close();
        }
    }

    @ParameterizedTest
    @MethodSource("cells")
    void a_cell_of_the_table_says_what_is_found(Cell cell) throws Exception {
        Scene scene = scenes.get(cell.attack());
        if (scene == null) {
            scene = made(cell.attack());
            scenes.put(cell.attack(), scene);
        }
        int status = cell.attack().cell(cell.with()).status;
        if (cell.attack() == Attack.RECEIPT) {
            judgeReceipt(scene, cell.with(), status);
        } else {
            judgeLog(scene, cell.with(), status);
        }
    }

    @Test
    void an_honest_log_passes_with_everything() throws Exception {
        try (Scene scene = honest("honest")) {
            for (With with : With.values()) {
                judgeLog(scene, with, 0);
                judgeReceipt(scene, with, 0);
            }
        }
    }

    @Test
    void the_table_of_the_page_has_these_cells() throws Exception {
        String page = Files.readString(Path.of("docs/audit.md"));
        String table =
                Arrays.stream(Attack.values()).map(Attack::row).collect(Collectors.joining("\n"));
        assertEquals(
                table,
                page.lines()
                        .dropWhile(line -> !line.startsWith("| the operator "))
                        .skip(2)
                        .takeWhile(line -> line.startsWith("|"))
                        .collect(Collectors.joining("\n")));
    }

    private Scene made(Attack attack) throws Exception {
        return switch (attack) {
            case SECOND -> second(true);
            case YEAR -> replaced(0, List.of(FALSE, MONTH, DAY, HOURS, TODAY));
            case MONTH, RECEIPT -> second(false);
            case CUT -> replaced(3, List.of());
            case RESTORE -> replaced(3, List.of(HOURS, TODAY));
        };
    }

    private Scene honest(String name) throws Exception {
        TestWitness witness = new TestWitness(directory, name);
        TestDatabase database = database();
        return new Scene(database, history(database, HONEST, witness), witness, List.of());
    }

    /**
     * Another history of the same keys, which has one row more and which the witness refuses.
     *
     * @param shownBefore whether the auditor has always been shown this one
     */
    private Scene second(boolean shownBefore) throws Exception {
        Scene honest = honest("second-" + shownBefore);
        TestDatabase shown = database();
        List<SignedCheckpoint> other =
                history(shown, List.of(YEAR, MONTH, FALSE, DAY, HOURS, TODAY), null);
        assertNotEquals(200, honest.witness().ask(shown, now));
        return new Scene(
                shown,
                shownBefore ? other : honest.kept(),
                honest.witness(),
                List.of(honest.shown()));
    }

    /**
     * A history of which a beginning is left, and goes on in another way.
     *
     * @param left how many mints of it are left
     */
    private Scene replaced(int left, List<Mint> then) throws Exception {
        TestWitness witness =
                new TestWitness(directory, "replaced-%d-%d".formatted(left, then.size()));
        TestDatabase original = database();
        List<SignedCheckpoint> kept =
                new ArrayList<>(history(original, HONEST.subList(0, left), witness));
        TestDatabase shown = left == 0 ? database() : original.copy();
        kept.addAll(history(original, HONEST.subList(left, HONEST.size()), witness));
        var _ = history(shown, then, null);
        if (!then.isEmpty()) {
            assertNotEquals(200, witness.ask(shown, now));
        }
        return new Scene(shown, kept, witness, List.of(original));
    }

    private TestDatabase database() {
        TestDatabase database = TestDatabase.migrated();
        HONEST.forEach(mint -> partition(database, mint));
        GrantedMints.since(
                database,
                at(YEAR).minus(Duration.ofHours(1)),
                Stream.concat(HONEST.stream(), Stream.of(FALSE))
                        .map(Mint::subject)
                        .toArray(String[]::new));
        return database;
    }

    private Instant at(Mint mint) {
        return now.minus(mint.ago());
    }

    private void partition(TestDatabase database, Mint mint) {
        database.run(
                Who.OWNER, "SELECT audit.create_partition(cast('%s' AS date))".formatted(at(mint)));
    }

    private String policy(Scene scene) throws Exception {
        String group = "group all all %s\nquorum all\n".formatted(scene.witness().name());
        return Files.writeString(
                        directory.resolve("policy"),
                        TestWitness.log() + scene.witness().line() + group)
                .toString();
    }

    /** Mints that are sealed a minute later each, and cosigned then if there is a witness. */
    private List<SignedCheckpoint> history(
            TestDatabase database, List<Mint> mints, @Nullable TestWitness witness) {
        GrantedMints granted = new GrantedMints(database);
        List<SignedCheckpoint> sealed = new ArrayList<>();
        try (Database connections = new Database(database.login(Who.APP))) {
            PostgresEventStore store = new PostgresEventStore(connections, "here/1");
            for (Mint mint : mints) {
                store.append(granted.of(AuditRows.mintAt(at(mint), mint.subject())));
                Instant sealedAt = at(mint).plusSeconds(60);
                sealed.add(Seals.notedAt(database, sealedAt));
                if (witness != null) {
                    assertEquals(200, witness.ask(database, sealedAt));
                }
            }
        }
        return sealed;
    }

    private void judgeLog(Scene scene, With with, int status) throws Exception {
        List<String> command = new ArrayList<>(List.of("verify", "--no-record"));
        List<String> script = new ArrayList<>();
        switch (with) {
            case ALONE -> {}
            case KEPT -> {
                String kept = kept(scene);
                command.addAll(List.of("--checkpoints", kept));
                script.add(kept);
            }
            case QUORUM -> {
                command.addAll(List.of("--policy", policy(scene)));
                script.addAll(List.of("--policy", policy(scene)));
            }
        }
        Ran ran =
                new AuditCommand(scene.shown(), directory, Who.AUDITOR)
                        .run(command.toArray(String[]::new));
        assertEquals(status, ran.status(), () -> ran.output() + ran.errors());
        Script verifier = new Script(directory, scene.shown());
        assertEquals(status, verifier.status(script), verifier::output);
    }

    private String kept(Scene scene) throws Exception {
        return Files.write(
                        directory.resolve("kept.jsonl"),
                        scene.kept().stream().map(SignedCheckpoint::line).toList())
                .toString();
    }

    private void judgeReceipt(Scene scene, With with, int status) throws Exception {
        Path file = directory.resolve("receipt.json");
        Files.deleteIfExists(file);
        String mint =
                scene.shown()
                        .value(
                                "SELECT mint_id FROM audit.event WHERE subject IN ('%s', '%s') AND step = 1 ORDER BY subject LIMIT 1"
                                        .formatted(FALSE.subject(), MONTH.subject()));
        Ran ran =
                new AuditCommand(scene.shown(), directory, Who.AUDITOR)
                        .run("prove", mint, "--output", file.toString());
        assertEquals(0, ran.status(), ran.errors());
        Script verifier = new Script(directory, null);
        List<String> arguments =
                new ArrayList<>(
                        List.of(
                                file.toString(),
                                "--key",
                                directory.resolve("keys.pem").toString()));
        switch (with) {
            case ALONE -> {}
            case KEPT -> arguments.addAll(List.of("--kept", kept(scene)));
            case QUORUM -> arguments.addAll(List.of("--policy", policy(scene)));
        }
        assertEquals(status, verifier.status(Path.of("--receipt"), arguments), verifier::output);
    }
}
