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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * {@code audit.who_could_mint} against a replay of the same history, after thousands of random
 * edits in transactions that overlap.
 */
@Tag("heavy")
class WhoCouldMintRandomlyTest {
    private static final int EDITORS = 4;
    private static final int TRANSACTIONS = 80;
    private static final int MOMENTS = 200;
    private static final int MOST_MOMENTS = 2_000;
    private static final Duration BETWEEN_CHECKPOINTS = Duration.ofMillis(3);

    private final long seed = Long.getLong("seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final Map<Long, Commit> commits = RandomEdits.commits();
    private List<Change> history = List.of();
    private List<Note> notes = List.of();
    private final List<Note> seen = new CopyOnWriteArrayList<>();
    private final AtomicBoolean edited = new AtomicBoolean();
    private int certain;
    private int uncertain;
    private int proven;

    /** Which transactions somebody found ended: all below the first that wasn't, and some after. */
    private record Note(Instant at, long firstRunning, long firstUnknown, Set<Long> running) {
        static Note of(Instant at, String snapshot) {
            String[] parts = snapshot.split(":", 3);
            return new Note(
                    at,
                    Long.parseLong(parts[0]),
                    Long.parseLong(parts[1]),
                    Arrays.stream(parts[2].split(","))
                            .filter(number -> !number.isEmpty())
                            .map(Long::valueOf)
                            .collect(Collectors.toSet()));
        }

        boolean ended(long transaction) {
            return transaction < firstRunning
                    || (transaction < firstUnknown && !running.contains(transaction));
        }
    }

    @Test
    void it_says_what_a_replay_says_and_is_sure_of_nothing_that_was_not_committed()
            throws SQLException {
        System.out.println("-Dseed=" + seed);
        try (TestDatabase database = TestDatabase.migrated()) {
            RandomEdits.setUp(database);
            edit(database);
            try (Connection connection = database.connect(Who.AUDITOR)) {
                history = history(connection);
                notes = notes(connection);
                assertTrue(history.size() > 1_000, () -> "only " + history.size() + " changes");
                assertFewNotes();
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

    /** How often is up to the machine: the slower it commits, the less is proven. */
    private boolean foundBoth() {
        return proven > 300 && uncertain > 100;
    }

    /** At the same time, however few cores there are. */
    private void edit(TestDatabase database) {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            CompletableFuture<Void> sealing =
                    CompletableFuture.runAsync(() -> seal(database), threads);
            CompletableFuture.allOf(
                            IntStream.range(0, EDITORS)
                                    .mapToObj(editor ->
                                            CompletableFuture.runAsync(
                                                    new RandomEdits(
                                                            database,
                                                            seed + editor,
                                                            TRANSACTIONS,
                                                            commits),
                                                    threads))
                                    .toArray(CompletableFuture[]::new))
                    .whenComplete((_, _) -> edited.set(true))
                    .join();
            sealing.join();
        }
    }

    /**
     * One checkpoint after the other. What each has seen could be noted and mostly isn't, and the
     * answers have to be those that all these notes would give.
     */
    private void seal(TestDatabase database) {
        try (Connection connection = database.connect(Who.APP);
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            for (int number = 1; !edited.get(); number++) {
                LockSupport.parkNanos(BETWEEN_CHECKPOINTS.toNanos());
                String snapshot = text(statement, "SELECT pg_current_snapshot()::text");
                statement.execute(
                        "INSERT INTO audit.checkpoint (number, sealed_at, jws) VALUES (%d, now(), 'e30.e30.AA')"
                                .formatted(number));
                String at = text(statement, "SELECT to_json(clock_timestamp()) #>> '{}'");
                seen.add(Note.of(OffsetDateTime.parse(at).toInstant(), snapshot));
                connection.commit();
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String text(Statement statement, String question) throws SQLException {
        try (ResultSet row = statement.executeQuery(question)) {
            row.next();
            return row.getString(1);
        }
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

    /** Of each transaction, and of the checkpoint that was the first to find it ended. */
    private void assertFewNotes() {
        long transactions = history.stream().mapToLong(Change::transaction).distinct().count();
        String found =
                "%d notes of %d transactions and %d checkpoints"
                        .formatted(notes.size(), transactions, seen.size());
        System.out.println(found);
        assertTrue(seen.size() > 100 && notes.size() <= 3 * transactions, found);
    }

    /** The last first. */
    private static List<Note> notes(Connection connection) throws SQLException {
        List<Note> notes = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows =
                        statement.executeQuery(
                                "SELECT noted_at, snapshot::text FROM runtime.noted_snapshot ORDER"
                                        + " BY noted_at DESC")) {
            while (rows.next()) {
                notes.add(
                        Note.of(
                                rows.getObject(1, OffsetDateTime.class).toInstant(),
                                rows.getString(2)));
            }
        }
        return notes;
    }

    /** Just when something was changed, or a little before or after. */
    private Instant moment() {
        return history.get(random.nextInt(history.size()))
                .at()
                .plusNanos(1_000L * (random.nextBoolean() ? 0 : random.nextInt(20_000) - 10_000));
    }

    private void check(Connection connection, Instant at) throws SQLException {
        Optional<HistoryReplay> committed = committed(at);
        for (String tenant : RandomEdits.TENANTS) {
            Predicate<Change> made = change -> !change.at().isAfter(at);
            Predicate<Change> sure = made.and(notOfTheLast(tenant, at)).and(notOfTheLast("", at));
            Predicate<Change> ownSure = made.and(notOfTheLast(tenant, at));
            Predicate<Change> sharedSure = made.and(notOfTheLast("", at));
            List<HistoryReplay> possible =
                    Stream.of(ownSure, sharedSure, sure)
                            .map(counts -> new HistoryReplay(history, counts))
                            .toList();
            HistoryReplay shown = new HistoryReplay(history, made);
            Map<Long, String> ofEachKey = new TreeMap<>();
            for (String key : RandomEdits.KEYS) {
                List<Map<Long, String>> inEach =
                        possible.stream()
                                .map(world -> world.whoCouldMint(tenant, key, at))
                                .toList();
                Map<Long, String> expected = new TreeMap<>();
                shown.whoCouldMint(tenant, key, at)
                        .forEach((id, row) ->
                                expected.put(
                                        id,
                                        row.substring(0, row.indexOf(' '))
                                                + (inEach.stream()
                                                                .allMatch(found ->
                                                                        row.equals(found.get(id)))
                                                        ? ""
                                                        : " uncertain")));
                Map<Long, String> said =
                        said(connection, "audit.who_could_mint(?, ?, ?)", tenant, key, at);
                assertEquals(
                        expected,
                        said,
                        () -> "-Dseed=%d: %s of %s at %s".formatted(seed, key, tenant, at));
                ofEachKey.putAll(said);
                prove(said, committed.map(world -> world.whoCouldMint(tenant, key, at)), at);
            }
            assertEquals(
                    ofEachKey,
                    said(connection, "internal.who_could_mint_any(?, ?, ?)", tenant, null, at),
                    () -> "-Dseed=%d: all keys of %s at %s".formatted(seed, tenant, at));
        }
    }

    /**
     * All but the changes that the last transaction of a chain made, if nobody had found it ended.
     */
    private Predicate<Change> notOfTheLast(String tenant, Instant at) {
        Optional<Change> last =
                history.stream()
                        .filter(change ->
                                change.tenant().equals(tenant) && !change.at().isAfter(at))
                        .reduce((_, later) -> later);
        if (last.isEmpty() || hadEnded(last.get(), at)) {
            return _ -> true;
        }
        long transaction = last.get().transaction();
        return change -> !change.tenant().equals(tenant) || change.transaction() != transaction;
    }

    private boolean hadEnded(Change change, Instant at) {
        List<Note> between =
                notes.stream()
                        .filter(note -> note.at().isAfter(change.at()) && !note.at().isAfter(at))
                        .toList();
        return Stream.concat(
                                between.stream().limit(10),
                                between.stream().skip(Math.max(0, between.size() - 100)))
                        .anyMatch(note -> note.ended(change.transaction()))
                || seen.stream()
                        .filter(note -> note.at().isAfter(change.at()) && !note.at().isAfter(at))
                        .anyMatch(note -> note.ended(change.transaction()));
    }

    /** The state that was committed, where it is known. */
    private Optional<HistoryReplay> committed(Instant at) {
        boolean known =
                commits.values().stream()
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
        Commit commit = commits.get(change.transaction());
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
