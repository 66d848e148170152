package io.mintmark.auditor.reader;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.checkpoint.Checkpoint.Leaf;
import io.mintmark.audit.checkpoint.Checkpoint.LostEnd;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Cosignature;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.audit.log.AuditConnection;
import io.mintmark.audit.log.CheckpointRow;
import io.mintmark.audit.log.LogLookups;
import io.mintmark.auditor.verify.Findings;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.auditor.verify.MintProof;
import io.mintmark.auditor.verify.RetirementVerification;
import io.mintmark.auditor.verify.SealedRange;
import io.mintmark.base.config.DatabaseSettings;
import io.mintmark.base.schema.SchemaManifest;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.Roles;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.YearMonth;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/** The audit log in one snapshot of the database, over a connection of its own. */
public final class PostgresLog implements LogReader, LogReader.LogTables, AutoCloseable {
    private static final String CHECKPOINTS =
            """
            SELECT number, sealed_at, jws, announced_by, note, inserted_by, inserted_at
              FROM audit.checkpoint
             ORDER BY number
            """;

    private static final String VIEWER =
            "SELECT pg_catalog.set_config('mintmark.console_claims', ?, true)";

    private static final String SEES_ALL = "SELECT internal.viewer_sees_all() AS all_tenants";

    private static final String UNRESOLVED = "SELECT mint_id::text FROM audit.unresolved";

    private final AuditConnection connection;
    private final Roles roles;
    private final int threads;
    private final LogLookups lookups;

    /**
     * Opens the connection. Rows are decoded and judged on all processors.
     *
     * @param roles that the schema is granted to
     * @throws StoreUnreachable if there is no connection
     */
    public PostgresLog(DatabaseLogin login, Roles roles) {
        this(login, roles, Runtime.getRuntime().availableProcessors());
    }

    /**
     * Opens the connection.
     *
     * @param roles that the schema is granted to
     * @param threads that decode and judge rows
     * @throws StoreUnreachable if there is no connection
     */
    public PostgresLog(DatabaseLogin login, Roles roles, int threads) {
        this.connection = new AuditConnection(login, AuditConnection.ALONG_CHAINS);
        this.roles = roles;
        this.threads = threads;
        this.lookups = new LogLookups(connection);
    }

    /** The audit log, as the service's login reads it. */
    public static PostgresLog of(DatabaseSettings settings) {
        return of(settings, Logins.service(settings));
    }

    /**
     * The audit log, as the service's login reads it.
     *
     * @param threads that decode and judge rows
     */
    public static PostgresLog of(DatabaseSettings settings, int threads) {
        return new PostgresLog(Logins.service(settings), Logins.roles(settings.roles()), threads);
    }

    /** The audit log, as another login than the service's reads it. */
    public static PostgresLog of(DatabaseSettings settings, DatabaseLogin login) {
        return new PostgresLog(login, Logins.roles(settings.roles()));
    }

    /**
     * Opens the connection with the permissions of a console's viewer.
     *
     * @param claims of the viewer, as the text of a JSON object
     * @throws StoreUnreachable if the connection fails
     * @throws IllegalStateException if the viewer doesn't see all tenants in this snapshot: the
     *     database would show only a part of the log, or none, and that part would be intact
     */
    public static PostgresLog asViewer(DatabaseLogin login, Roles roles, String claims) {
        PostgresLog log = new PostgresLog(login, roles);
        try {
            log.connection.use(Query.of(VIEWER, claims)::execute);
            List<Boolean> seesAll =
                    log.connection.list(Query.of(SEES_ALL), row -> row.getBoolean("all_tenants"));
            if (!seesAll.equals(List.of(true))) {
                throw new IllegalStateException(
                        "The viewer no longer has access to all tenants, which a verification"
                                + " needs.");
            }
            return log;
        } catch (StoreUnreachable | IllegalStateException e) {
            log.close();
            throw e;
        }
    }

    /** Asks about checkpoints of a time and later, by number, until there is an answer. */
    <T> Optional<T> firstCheckpoint(
            Optional<Instant> since, Function<SignedCheckpoint, Optional<T>> look) {
        return lookups.firstCheckpoint(since, look);
    }

    /** The trees of checkpoints in the same snapshot. */
    CheckpointTrees trees() {
        return new CheckpointTrees(connection);
    }

    @Override
    public void checkpoints(Consumer<StoredCheckpoint> each) {
        connection.each(
                Query.of(CHECKPOINTS),
                row ->
                        each.accept(
                                new StoredCheckpoint(
                                        CheckpointRow.withNote(row),
                                        "Login '%s' wrote the checkpoint at %s"
                                                .formatted(
                                                        row.getString("inserted_by"),
                                                        row.getTimestamp("inserted_at")
                                                                .toInstant()))));
    }

    /** The months of the log before one, which is the first that stays. */
    public RetirementVerification.Months before(YearMonth month) {
        return new MonthsToRetire(this, connection, month);
    }

    @Override
    public void cosignatures(Consumer<Cosignature> each) {
        lookups.cosignatures(each);
    }

    @Override
    public <T> void events(Function<Row, T> judge, BiConsumer<Row, T> each) {
        events("ORDER BY e.chain, e.seq", judge, each);
    }

    /** Queries rows of {@code audit.event}, by the alias {@code e}. */
    <T> void events(String which, Function<Row, T> judge, BiConsumer<Row, T> each) {
        new CopiedRows(connection, StoredRows.EVENTS + which, StoredRows.EVENT_TYPES, threads)
                .each(StoredRows::event, judge, each);
    }

    /** Queries rows of {@code audit.config_change}, by the alias {@code c}. */
    List<Row> changes(String which, @Nullable Object... parameters) {
        return connection.list(
                Query.of(StoredRows.CHANGES + which, parameters),
                row -> StoredRows.change(StoredRows.texts(row)));
    }

    @Override
    public <T> void changes(Function<Row, T> read, BiConsumer<Row, T> each) {
        String inOrder = StoredRows.CHANGES + "ORDER BY c.tenant, c.revision";
        new CopiedRows(connection, inOrder, StoredRows.CHANGE_TYPES, threads)
                .each(StoredRows::change, read, each);
    }

    @Override
    public Optional<SealedRange> part() {
        return Optional.empty();
    }

    @Override
    public MintProof proof(Findings findings) {
        return new PastConfiguration(findings);
    }

    @Override
    public Optional<LogTables> tables() {
        return Optional.of(this);
    }

    @Override
    public void configuration(Consumer<Difference> each) {
        new ConfigurationHistory(connection).differences(each);
    }

    @Override
    public void definitions(Consumer<String> each) {
        connection.use(it -> new SchemaManifest(it, roles).differences(each));
    }

    @Override
    public void unresolved(Consumer<String> each) {
        connection.each(Query.of(UNRESOLVED), row -> each.accept(row.getString(1)));
    }

    @Override
    public List<@Nullable String> checkpointTexts(List<Long> numbers) {
        return lookups.checkpointTexts(numbers);
    }

    @Override
    public long lastEvent(String chain) {
        return lookups.lastEvent(chain);
    }

    /** The rows of {@code audit.event} that are missing before others of their chain. */
    public void gaps(Consumer<LostEnd> each) {
        lookups.gaps(each);
    }

    @Override
    public List<@Nullable String> eventHashes(List<Position> positions) {
        return lookups.eventHashes(positions);
    }

    @Override
    public List<@Nullable String> changeHashes(List<Position> positions) {
        return lookups.changeHashes(positions);
    }

    @Override
    public List<List<Leaf>> eventRanges(List<Position> ranges) {
        return lookups.eventRanges(ranges);
    }

    @Override
    public List<List<Leaf>> changeRanges(List<Position> ranges) {
        return lookups.changeRanges(ranges);
    }

    @Override
    public void close() {
        connection.close();
    }
}
