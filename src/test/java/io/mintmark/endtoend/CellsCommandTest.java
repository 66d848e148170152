package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One command for two cells: {@code a}, which has the tenant {@code acme}, and {@code b}. */
@ResourceLock(Resources.SYSTEM_OUT)
@ResourceLock(Resources.SYSTEM_ERR)
class CellsCommandTest {
    private static final String ISSUERS =
            "SELECT issuer FROM broker.shared_issuer WHERE issuer LIKE '%ci.example.com'";

    private static final String PLATFORM =
            Documented.blocks("run/cells.md", "sql").stream()
                    .filter(block -> block.contains("platform.sql"))
                    .findFirst()
                    .orElseThrow();

    @TempDir private Path directory;
    private Path cells;
    private World world;
    private MovingCell a;
    private MovingCell b;

    @BeforeEach
    void start() throws IOException {
        world = new World();
        a = MovingCell.of(world, directory);
        b = MovingCell.make(directory);
        cells = Files.createDirectory(directory.resolve("cells"));
        file("a", a);
        file("b", b);
        Files.writeString(cells.resolve("README"), "The settings of each cell.");
    }

    @AfterEach
    void stop() {
        b.broker().close();
        b.database().close();
        world.close();
    }

    private void file(String name, MovingCell cell) throws IOException {
        Files.writeString(
                cells.resolve(name + ".yaml"),
                """
                database: {url: "%s"}
                audit: {signing-key-file: "%s"}
                """
                        .formatted(
                                cell.settings().get("DATABASE_URL"),
                                cell.settings().get("AUDIT_SIGNING_KEY_FILE")));
    }

    private MovingCell.Ran run(Who who, String... command) {
        Map<String, String> environment = new HashMap<>();
        environment.put("DATABASE_PASSWORD", a.settings().get("DATABASE_PASSWORD"));
        MovingCell none = new MovingCell(a.database(), a.broker(), environment, directory);
        String[] arguments = new String[command.length + 2];
        arguments[0] = "cells";
        arguments[1] = cells.toString();
        System.arraycopy(command, 0, arguments, 2, command.length);
        return none.run(who, arguments);
    }

    private MovingCell.Ran apply(String sql, String... further) throws IOException {
        Path file = Files.writeString(directory.resolve("platform.sql"), sql);
        String[] arguments = new String[further.length + 2];
        arguments[0] = "apply";
        arguments[1] = file.toString();
        System.arraycopy(further, 0, arguments, 2, further.length);
        return run(Who.ADMIN, arguments);
    }

    private static void assertRan(int status, MovingCell.Ran ran, String... lines) {
        assertEquals(status, ran.status(), ran.output());
        List<String> printed = ran.output().lines().toList();
        int from = 0;
        for (String line : lines) {
            int at = printed.subList(from, printed.size()).indexOf(line);
            assertTrue(at >= 0, "no '%s' after line %d of %s".formatted(line, from, printed));
            from += at + 1;
        }
    }

    @Test
    void rows_of_the_platform_reach_every_cell_and_a_cell_that_missed_them_gets_them_later()
            throws IOException {
        Path file = cells.resolve("b.yaml");
        String whole = Files.readString(file);
        Files.writeString(file, whole.replace("/" + b.database().name(), "/none"));

        MovingCell.Ran first = apply(PLATFORM);
        Files.writeString(file, whole);
        MovingCell.Ran second = apply(PLATFORM);
        MovingCell.Ran third = apply(PLATFORM);

        assertRan(
                1,
                first,
                "== cell a",
                "INSERT shared_issuer https://ci.example.com",
                "Changes: 2",
                "== cell b",
                "cell a: succeeded",
                "cell b: failed with exit code 1");
        assertRan(
                0,
                second,
                "== cell a",
                "Changes: 0",
                "== cell b",
                "Changes: 2",
                "cell a: succeeded",
                "cell b: succeeded");
        assertRan(0, third, "Changes: 0", "Changes: 0");
        for (MovingCell cell : List.of(a, b)) {
            cell.database().assertRows(ISSUERS, "https://ci.example.com");
            cell.database()
                    .assertRows(
                            "SELECT reason FROM broker.blocked_subject WHERE tenant IS NULL",
                            "SEC-7: the account is taken over");
        }
    }

    @Test
    void a_statement_that_fails_leaves_nothing_of_its_file() throws IOException {
        String sql = PLATFORM + "SELECT 1 / (SELECT count(*) - 1 FROM broker.tenant);";

        MovingCell.Ran ran = apply(sql);

        assertRan(
                1,
                ran,
                "mintmark: division by zero",
                "Changes: 2",
                "cell a: failed with exit code 1");
        a.database().assertRows(ISSUERS);
        b.database().assertRows(ISSUERS, "https://ci.example.com");
    }

    @ParameterizedTest
    @ValueSource(strings = {"COMMIT;", "ROLLBACK; BEGIN;", "SAVEPOINT s;"})
    void a_file_does_not_end_its_own_transaction(String statement) throws IOException {
        MovingCell.Ran ran = apply(PLATFORM + statement);

        assertRan(1, ran, "cell a: failed with exit code 1", "cell b: failed with exit code 1");
        assertTrue(ran.output().contains("transaction command"), ran.output());
        a.database().assertRows(ISSUERS);
    }

    @Test
    void a_dry_run_lists_the_changes_and_makes_none() throws IOException {
        assertRan(
                0,
                apply(PLATFORM, "--dry-run"),
                "INSERT shared_issuer https://ci.example.com",
                "Changes, which were rolled back: 2");
        a.database().assertRows(ISSUERS);
    }

    @Test
    void one_command_verifies_and_exports_every_cell() throws IOException {
        assertEquals(200, world.broker().mint(world.token(), "api").status());
        Eventually.holds(
                () -> !b.database().column("SELECT number FROM audit.checkpoint").isEmpty());

        assertRan(
                0,
                run(Who.AUDITOR, "audit", "verify", "--no-record"),
                "cell a: succeeded",
                "cell b: succeeded");
        assertRan(
                0,
                run(
                        Who.AUDITOR,
                        "audit",
                        "export",
                        "--all",
                        "--state",
                        directory + "/{cell}.state",
                        "--output",
                        directory + "/{cell}.jsonl"));
        assertTrue(Files.readString(directory.resolve("a.jsonl")).contains("\"issued\""));
        assertTrue(Files.readString(directory.resolve("b.jsonl")).contains("\"checkpoint\""));

        a.broker().stop();
        a.database().removeEvents("kind = 'issued'");
        assertRan(
                1,
                run(Who.AUDITOR, "audit", "verify", "--no-record"),
                "cell a: failed with exit code 1",
                "cell b: succeeded");
    }

    @ParameterizedTest
    @ValueSource(strings = {"serve", "console", "audit export --state x --follow"})
    void a_command_that_never_ends_is_refused(String command) {
        MovingCell.Ran ran = run(Who.APP, command.split(" ", -1));

        assertEquals(1, ran.status());
        assertTrue(ran.output().contains("would not end by itself"), ran.output());
    }

    @Test
    void a_database_that_the_environment_sets_for_all_cells_is_refused() {
        MovingCell.Ran ran = a.run(Who.AUDITOR, "cells", cells.toString(), "audit", "verify");

        assertEquals(1, ran.status());
        assertTrue(ran.output().contains("unset it"), ran.output());
    }
}
