package io.mintmark.auditor.explain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.auditor.explain.HistoryReplay.Change;
import io.mintmark.auditor.explain.RandomEdits.Commit;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * {@code audit.who_could_mint} against a replay of the same history, after thousands of random
 * edits in transactions that overlap.
 */
@Tag("heavy")
class WhoCouldMintRandomlyTest {
    private static final int EDITORS = 4;
    private static final int ROUNDS = 20;
    private static final int TRANSACTIONS = 4;
    private static final int MOMENTS = 200;
    private static final int MOST_MOMENTS = 4_000;
    private static final Duration LATEST_COMMIT = Duration.ofMinutes(2);

    /** Between two rounds, when no transaction is open. */
    private static final Duration QUIET = LATEST_COMMIT.multipliedBy(2);

    private final long seed = Long.getLong("seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final Map<Long, Commit> commits = RandomEdits.commits();
    private final Map<Long, Commit> stretched = new HashMap<>();
    private final TreeSet<Instant> ends = new TreeSet<>();
    private final List<Instant> quiet = new ArrayList<>();
    private List<Change> history = List.of();
    private int certain;
    private int uncertain;
    private int proven;

    @Test
    void it_says_what_a_replay_says_and_is_sure_of_nothing_that_was_not_committed()
            throws SQLException {
        System.out.println("-Dseed=" + seed);
        try (TestDatabase database = TestDatabase.migrated()) {
            RandomEdits.setUp(database);
            for (int round = 0; round < ROUNDS; round++) {
                edit(database, seed + (long) round * EDITORS);
                commits.values().stream()
                        .map(Commit::notAfter)
                        .max(Instant::compareTo)
                        .ifPresent(ends::add);
            }
            stretch(database);
            try (Connection connection = database.connect(Who.AUDITOR)) {
                history = history(connection);
                assertTrue(history.size() > 1_000, () -> "only " + history.size() + " changes");
                for (int i = 0; i < MOMENTS || (i < MOST_MOMENTS && !foundBoth()); i++) {
                    check(connection, moment());
                }
            }
        }
        String found =
                "%d certain, %d of them proven, %d uncertain".formatted(certain, proven, uncertain);
        System.out.println(found);
        assertTrue(foundBoth(), found);
    }

    /** How often is up to chance: the longer the longest commit, the less is proven. */
    private boolean foundBoth() {
        return proven > 300 && uncertain > 100;
    }

    /** At the same time, however few cores there are. */
    private void edit(TestDatabase database, long firstSeed) {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            CompletableFuture.allOf(
                            IntStream.range(0, EDITORS)
                                    .mapToObj(editor ->
                                            CompletableFuture.runAsync(
                                                    new RandomEdits(
                                                            database,
                                                            firstSeed + editor,
                                                            TRANSACTIONS,
                                                            commits),
                                                    threads))
                                    .toArray(CompletableFuture[]::new))
                    .join();
        }
    }

    /**
     * As if something had happened at a steady pace, the slowest commit had taken two minutes, and
     * the last edit had been made just now. Everything keeps its order, and a machine that stood
     * still during one commit makes no difference.
     */
    private void stretch(TestDatabase database) throws SQLException {
        List<Change> edits;
        try (Connection connection = database.connect(Who.AUDITOR)) {
            edits = history(connection);
        }
        Map<Instant, Integer> order = order(edits);
        int slowest =
                edits.stream()
                        .filter(change -> commits.containsKey(change.transaction()))
                        .mapToInt(change ->
                                placed(order, commit(change).notAfter())
                                        - placed(order, change.at()))
                        .max()
                        .orElseThrow();
        Duration step = LATEST_COMMIT.dividedBy(slowest).truncatedTo(ChronoUnit.MICROS);
        Instant last = edits.stream().map(Change::at).max(Instant::compareTo).orElseThrow();
        UnaryOperator<Instant> moved =
                at ->
                        last.plus(step.multipliedBy(placed(order, at) - placed(order, last)))
                                .minus(
                                        QUIET.multipliedBy(
                                                ends.stream()
                                                        .filter(end ->
                                                                !end.isBefore(at)
                                                                        && end.isBefore(last))
                                                        .count()));
        ends.headSet(last).forEach(end -> quiet.add(moved.apply(end)));
        commits.forEach((transaction, commit) ->
                stretched.put(
                        transaction,
                        new Commit(
                                moved.apply(commit.notBefore()), moved.apply(commit.notAfter()))));
        String moves =
                edits.stream()
                        .map(Change::at)
                        .distinct()
                        .map(at ->
                                "(timestamptz '%s', timestamptz '%s')"
                                        .formatted(at, moved.apply(at)))
                        .collect(Collectors.joining(", "));
        database.runAsSuperuser(
                """
                ALTER TABLE log.config_change DISABLE TRIGGER is_append_only;
                UPDATE audit.config_change AS c SET changed_at = m.later
                  FROM (VALUES %s) AS m (at, later) WHERE c.changed_at = m.at;
                ALTER TABLE log.config_change ENABLE ALWAYS TRIGGER is_append_only;
                """
                        .formatted(moves));
    }

    /** The place of each moment at which something happened. */
    private Map<Instant, Integer> order(List<Change> edits) {
        TreeSet<Instant> moments = new TreeSet<>();
        edits.forEach(change -> moments.add(change.at()));
        commits.values()
                .forEach(commit -> {
                    moments.add(commit.notBefore());
                    moments.add(commit.notAfter());
                });
        Map<Instant, Integer> order = new HashMap<>();
        moments.forEach(moment -> order.put(moment, order.size()));
        return order;
    }

    private static int placed(Map<Instant, Integer> order, Instant moment) {
        return Objects.requireNonNull(order.get(moment));
    }

    private Commit commit(Change change) {
        return Objects.requireNonNull(commits.get(change.transaction()));
    }

    private static List<Change> history(Connection connection) throws SQLException {
        List<Change> history = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows =
                        statement.executeQuery(
                                "SELECT * FROM audit.config_change ORDER BY tenant, revision")) {
            while (rows.next()) {
                history.add(
                        Change.of(
                                rows.getString("tenant"),
                                rows.getLong("revision"),
                                rows.getString("table_name"),
                                rows.getString("before"),
                                rows.getString("after"),
                                rows.getObject("changed_at", OffsetDateTime.class).toInstant(),
                                rows.getLong("transaction_id")));
            }
        }
        return history;
    }

    /**
     * Between two rounds, or just when something was changed, or a little before or after; not
     * after the last change, since nothing is uncertain at the time of asking.
     */
    private Instant moment() {
        if (random.nextBoolean()) {
            return quiet.get(random.nextInt(quiet.size()))
                    .plus(LATEST_COMMIT)
                    .plusMillis(random.nextInt(100_000));
        }
        Instant last = history.stream().map(Change::at).max(Instant::compareTo).orElseThrow();
        Instant moment =
                history.get(random.nextInt(history.size()))
                        .at()
                        .plusNanos(
                                1_000L
                                        * (random.nextBoolean()
                                                ? 0
                                                : random.nextInt(240_000_000) - 120_000_000));
        return moment.isAfter(last) ? last : moment;
    }

    private void check(Connection connection, Instant at) throws SQLException {
        Optional<HistoryReplay> committed = committed(at);
        for (String tenant : RandomEdits.TENANTS) {
            Predicate<Change> made = change -> !change.at().isAfter(at);
            HistoryReplay sure =
                    new HistoryReplay(
                            history, change -> !change.at().isAfter(at.minus(LATEST_COMMIT)));
            HistoryReplay shown = new HistoryReplay(history, made);
            boolean recorded =
                    history.stream()
                            .filter(change -> Set.of(tenant, "").contains(change.tenant()))
                            .map(Change::at)
                            .anyMatch(change ->
                                    !change.isAfter(at) && change.isAfter(at.minus(LATEST_COMMIT)));
            Map<Long, String> ofEachKey = new TreeMap<>();
            for (String key : RandomEdits.KEYS) {
                Map<Long, String> expected = shown.whoCouldMint(tenant, key, at);
                Map<Long, String> certainly = sure.whoCouldMint(tenant, key, at);
                Map<Long, String> said =
                        said(connection, "audit.who_could_mint(?, ?, ?)", tenant, key, at);
                Supplier<String> where =
                        () -> "-Dseed=%d: %s of %s at %s".formatted(seed, key, tenant, at);
                assertEquals(expected.keySet(), said.keySet(), where);
                said.forEach((id, row) -> {
                    boolean unsure = row.endsWith(" uncertain");
                    String seconds = row.replace(" uncertain", "");
                    String replayed = String.valueOf(expected.get(id));
                    assertEquals(replayed.substring(0, replayed.indexOf(' ')), seconds, where);
                    assertTrue(unsure || replayed.equals(certainly.get(id)), where);
                    assertTrue(!unsure || recorded, where);
                });
                ofEachKey.putAll(said);
                prove(said, committed.map(world -> world.whoCouldMint(tenant, key, at)), at);
            }
            assertEquals(
                    ofEachKey,
                    said(connection, "internal.who_could_mint_any(?, ?, ?)", tenant, null, at),
                    () -> "-Dseed=%d: all keys of %s at %s".formatted(seed, tenant, at));
        }
    }

    /** The state that was committed, where it is known. */
    private Optional<HistoryReplay> committed(Instant at) {
        boolean known =
                stretched.values().stream()
                        .noneMatch(commit ->
                                !commit.notBefore().isAfter(at) && commit.notAfter().isAfter(at));
        return known
                ? Optional.of(new HistoryReplay(history, change -> committedBy(change, at)))
                : Optional.empty();
    }

    /** What is certain holds in the state that was committed, where that is known. */
    private void prove(Map<Long, String> said, Optional<Map<Long, String>> committed, Instant at) {
        said.forEach((id, row) -> {
            if (row.endsWith("uncertain")) {
                uncertain++;
                return;
            }
            certain++;
            if (committed.isPresent()) {
                proven++;
                assertTrue(
                        committed.get().containsKey(id),
                        () -> "-Dseed=%d: grant %d at %s wasn't there yet".formatted(seed, id, at));
            }
        });
    }

    /** What was there before the editors came has no commit on record. */
    private boolean committedBy(Change change, Instant at) {
        Commit commit = stretched.get(change.transaction());
        return commit == null ? !change.at().isAfter(at) : !commit.notAfter().isAfter(at);
    }

    private static Map<Long, String> said(
            Connection connection, String function, String tenant, @Nullable String key, Instant at)
            throws SQLException {
        Map<Long, String> said = new TreeMap<>();
        try (PreparedStatement statement =
                connection.prepareStatement(
                        "SELECT grant_id, max_duration, uncertain FROM " + function)) {
            statement.setString(1, tenant);
            statement.setString(2, key);
            statement.setObject(3, at.atOffset(ZoneOffset.UTC));
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    said.put(
                            rows.getLong("grant_id"),
                            rows.getLong("max_duration")
                                    + (rows.getBoolean("uncertain") ? " uncertain" : ""));
                }
            }
        }
        return said;
    }
}
