package io.mintmark.admin.tenant;

import io.mintmark.audit.checkpoint.MoveStatement;
import io.mintmark.audit.checkpoint.PublicKeys;
import io.mintmark.audit.checkpoint.TrustedKeys;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.QuestionFailed;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** {@code tenant import}: imports a tenant from another cell, completely or not at all. */
@Command(
        name = "import",
        description = {
            "Imports a tenant that another cell wrote with mintmark tenant export: its rows with"
                    + " their ids, its history and its approvals.",
            "Nothing is written unless the file is signed with a key of --keys, or of"
                    + " AUDIT_CELL_KEYS_FILE.",
            "Needs a platform admin's login."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:the tenant was imported; with --dry-run: it can be imported",
            "1:nothing was written; one line gives the reason"
        },
        mixinStandardHelpOptions = true)
public final class TenantImport implements Callable<Integer> {
    private static final String ROWS =
            "SELECT table_name, row_count FROM broker.import_tenant(cast(? AS jsonb), ?, ?, ?)";

    private final Supplier<SettingsReader> settings;

    @Parameters(paramLabel = "FILE", description = "The file of mintmark tenant export.")
    private @Nullable Path file;

    @Option(
            names = "--keys",
            paramLabel = "FILE",
            description =
                    "Public audit keys of the cells to trust, PEM. By default, AUDIT_CELL_KEYS_FILE.")
    private @Nullable Path keys;

    @Option(names = "--dry-run", description = "Checks everything, and writes nothing.")
    private boolean dryRun;

    public TenantImport(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    private record Count(String table, long rows) {}

    @Override
    public Integer call() {
        SettingsReader reader = settings.get();
        TenantFile moving = TenantFile.read(Objects.requireNonNull(file));
        MoveStatement stated =
                moving.opened(new TrustedKeys(PublicKeys.read(keys(reader), "--keys")));
        requireHere(stated, reader.broker().url().map(URI::toString));
        List<Count> counts;
        try (Connection connection =
                Logins.service(reader.database())
                        .source("mintmark tenant import", "-c lock_timeout=15000")
                        .getConnection()) {
            connection.setAutoCommit(false);
            counts =
                    Query.of(ROWS, moving.content(), stated.from(), moving.statement(), dryRun)
                            .list(
                                    connection,
                                    row ->
                                            new Count(
                                                    row.getString("table_name"),
                                                    row.getLong("row_count")));
            if (dryRun) {
                connection.rollback();
            } else {
                connection.commit();
            }
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
        report(stated, counts);
        return 0;
    }

    /** The keys of other cells; without them, no file is trusted. */
    private Path keys(SettingsReader reader) {
        return Optional.ofNullable(keys)
                .or(reader::cellKeysFile)
                .orElseThrow(() ->
                        new CommandFailed(
                                "no key of another cell is trusted; give its public audit key with --keys FILE, or set AUDIT_CELL_KEYS_FILE"));
    }

    /** A file for one cell must not be taken in by two. */
    private static void requireHere(MoveStatement stated, Optional<String> here) {
        boolean oneAddress = stated.to().equals(stated.from());
        if (!oneAddress && !here.equals(Optional.of(stated.to()))) {
            throw new CommandFailed(
                    "the file was exported for the cell at %s, but the BROKER_URL of this cell is %s; nothing was imported. Import the file at that cell, or export it again with this cell's URL as --to"
                            .formatted(stated.to(), here.orElse("not set")));
        }
    }

    private void report(MoveStatement stated, List<Count> counts) {
        System.out.printf(
                "%s tenant %s from %s, with %d changes of its history:%n",
                dryRun ? "Would import" : "Imported",
                stated.tenant(),
                stated.from(),
                stated.revision());
        counts.stream()
                .filter(count -> count.rows() > 0 && !count.table().equals("config_change"))
                .forEach(count ->
                        System.out.printf("  broker.%s: %d%n", count.table(), count.rows()));
        System.out.println(
                dryRun
                        ? "Nothing was written."
                        : "Next: copy the tenant's secrets to this cell, and run mintmark check.");
    }
}
