package io.mintmark.audit.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.SealingKeys;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Seals;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;

/**
 * Changes are looked for from the last horizon on: none is left out that was open while others were
 * sealed, whichever replica sealed them.
 */
@Tag("every-postgres")
class HorizonTest {
    private static final int TENANTS = 6;

    /** An edit of a tenant that isn't committed. */
    private record Open(int tenant, Connection admin) {}

    @AutoClose private static Database connections;
    @AutoClose private static TestDatabase database;

    private final SealingKeys keys = new SealingKeys(List.of(Seals.KEY));

    @BeforeAll
    static void start() {
        database = TestDatabase.migrated();
        connections = new Database(database.login(Who.APP));
        for (int tenant = 0; tenant < TENANTS; tenant++) {
            database.run(
                    Who.ADMIN,
                    "INSERT INTO broker.tenant (name) VALUES ('t-%d')".formatted(tenant));
        }
    }

    private PostgresSeals replica() {
        PostgresSeals replica = new PostgresSeals(connections, "test");
        var _ = seal(replica, true);
        return replica;
    }

    private SignedCheckpoint seal(PostgresSeals replica, boolean everything) {
        return replica.seal(
                        everything, unsealed -> Optional.of(keys.seal(unsealed, "test", List.of())))
                .orElseThrow();
    }

    /** The chains of changes that a look at all of them finds unsealed. */
    private List<String> unsealed() throws SQLException {
        try (Connection connection = database.connect(Who.APP)) {
            return new ChainHeads(connection, true, OptionalLong.empty(), Optional::empty)
                    .changes().stream().map(Position::chain).flatMap(Optional::stream).toList();
        }
    }

    private static Connection editing(int tenant) throws SQLException {
        Connection admin = database.connect(Who.ADMIN);
        admin.setAutoCommit(false);
        edit(admin, tenant);
        return admin;
    }

    private static void edit(Connection admin, int tenant) throws SQLException {
        try (var statement = admin.createStatement()) {
            statement.execute(
                    "UPDATE broker.tenant SET max_keys = max_keys + 1 WHERE name = 't-%d'"
                            .formatted(tenant));
        }
    }

    @Test
    void a_change_that_was_open_over_two_checkpoints_is_sealed_by_the_next() throws SQLException {
        PostgresSeals replica = replica();
        try (Connection open = editing(0)) {
            try (Connection other = editing(1)) {
                other.commit();
            }
            var _ = seal(replica, false);
            var _ = seal(replica, false);
            assertEquals(List.of(), unsealed());
            open.commit();
        }
        assertEquals(List.of("t-0"), unsealed());
        var _ = seal(replica, false);
        assertEquals(List.of(), unsealed());
    }

    /** An export that follows looks only at chains that may have grown. */
    @Test
    void a_change_that_was_open_over_two_passes_of_an_export_is_in_the_next() throws SQLException {
        try (LogFeed feed = new LogFeed(database.login(Who.AUDITOR))) {
            assertTrue(grown(feed, true).containsAll(List.of("t-2", "t-3")));
            try (Connection open = editing(2)) {
                try (Connection other = editing(3)) {
                    other.commit();
                }
                assertTrue(grown(feed, false).contains("t-3"));
                var _ = grown(feed, false);
                open.commit();
            }
            assertTrue(grown(feed, false).contains("t-2"));
        }
    }

    private static List<String> grown(LogFeed feed, boolean everything) {
        feed.release();
        return feed.changeHeads(everything).stream()
                .map(Position::chain)
                .flatMap(Optional::stream)
                .toList();
    }

    @Test
    void random_edits_and_checkpoints_of_two_replicas_leave_nothing_out() throws SQLException {
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        List<PostgresSeals> replicas = List.of(replica(), replica());
        List<Open> open = new ArrayList<>();
        Deque<Integer> free = new ArrayDeque<>(List.of(0, 1, 2, 3, 4, 5));
        for (int step = 0; step < 200; step++) {
            switch (random.nextInt(4)) {
                case 0, 1 -> {
                    if (!free.isEmpty()) {
                        int tenant = free.remove();
                        open.add(new Open(tenant, editing(tenant)));
                    }
                }
                case 2 -> {
                    if (!open.isEmpty()) {
                        Open ended = open.remove(random.nextInt(open.size()));
                        free.add(ended.tenant());
                        try (Connection one = ended.admin()) {
                            if (random.nextInt(4) > 0) {
                                one.commit();
                            } else {
                                one.rollback();
                            }
                        }
                    }
                }
                default -> {
                    var _ = seal(replicas.get(random.nextInt(2)), false);
                    assertEquals(List.of(), unsealed(), "-Dseed=%d, step %d".formatted(seed, step));
                }
            }
        }
        for (Open one : open) {
            one.admin().close();
        }
    }
}
