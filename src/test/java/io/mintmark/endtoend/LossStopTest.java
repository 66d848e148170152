package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.admin.cli.Commands;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code AUDIT_ON_LOSS}: a promoted standby lacks rows that the primary had confirmed. */
class LossStopTest {
    /** As a promoted standby names the files of its log. */
    private static final String PROMOTION =
            """
            SET allow_system_table_mods = on;
            ALTER FUNCTION pg_catalog.pg_walfile_name(pg_lsn) RENAME TO on_the_old_timeline;
            CREATE FUNCTION pg_catalog.pg_walfile_name(pg_lsn) RETURNS text LANGUAGE sql
            RETURN '0000000F' || right(on_the_old_timeline($1), 16);
            """;

    private static final List<String> BLOCKS = Documented.blocks("run/restore.md", "sh");

    @TempDir private Path directory;

    @Test
    void nothing_is_minted_until_an_operator_has_acknowledged_the_loss() {
        try (World world = new World()) {
            lose(world);
            Eventually.holds(() -> mint(world) == 503);
            for (int i = 0; i < 20; i++) {
                assertEquals(503, mint(world));
            }
            Eventually.holds(() ->
                    world.broker()
                            .get("/health")
                            .response()
                            .body()
                            .contains("mintmark audit acknowledge-loss"));

            assertEquals(0, acknowledge(world));

            Eventually.holds(() -> mint(world) == 200);
            Eventually.holds(() -> world.broker().get("/health").status() == 200);
            assertTrue(
                    world.column("SELECT count(*) FROM audit.checkpoint").stream()
                            .noneMatch("0"::equals));
        }
    }

    /** A restart, or a replica that is added meanwhile, would otherwise mint on revoked grants. */
    @Test
    void a_replica_that_starts_after_the_loss_mints_nothing_either() {
        try (World world = new World()) {
            lose(world);
            Eventually.holds(() -> mint(world) == 503);

            try (RunningBroker further = RunningBroker.on(world.database(), Map.of())) {
                assertEquals(503, further.mint(world.token(), "api").status());
                assertEquals(503, further.get("/health").status());
                assertEquals(1, run(world, "check"));

                assertEquals(0, acknowledge(world));

                Eventually.holds(() -> further.mint(world.token(), "api").status() == 200);
                Eventually.holds(() -> mint(world) == 200);
            }
            assertEquals(0, run(world, "check"));
            world.assertRows(
                    "SELECT count(*) FROM runtime.lost_row WHERE acknowledged_by IS NOT NULL", "1");
        }
    }

    @Test
    void nothing_can_be_acknowledged_that_no_replica_has_reported() {
        try (World world = new World()) {
            Eventually.holds(() -> mint(world) == 200);

            assertEquals(1, acknowledge(world));
        }
    }

    @Test
    void a_replica_goes_on_where_a_loss_only_alerts() {
        try (World world = new World(Map.of("AUDIT_ON_LOSS", "alert"))) {
            lose(world);

            assertEquals(200, mint(world));
        }
    }

    private static void lose(World world) {
        Eventually.holds(() -> mint(world) == 200);
        world.database().removeEvents("true");
        world.database().runAsSuperuser(PROMOTION);
    }

    private static int mint(World world) {
        return world.broker().mint(world.token(), "api").status();
    }

    private int acknowledge(World world) {
        Matcher command =
                Pattern.compile("mintmark (\\S+) (\\S+) (\\S+) \"(.*)\"\n").matcher(BLOCKS.get(5));
        assertTrue(command.matches(), BLOCKS.get(5));
        return run(world, command.group(1), command.group(2), command.group(3), command.group(4));
    }

    private int run(World world, String... command) {
        Map<String, String> environment =
                new HashMap<>(
                        RunningBroker.environment(world.database(), RunningBroker.freePort()));
        return new Commands(environment, directory).execute(command);
    }
}
