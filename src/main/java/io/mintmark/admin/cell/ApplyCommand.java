package io.mintmark.admin.cell;

import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.sql.Logins;
import io.mintmark.base.sql.Query;
import io.mintmark.base.sql.QuestionFailed;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/**
 * {@code apply}: runs a file of SQL in one transaction and lists the changed rows. One {@code DO}
 * runs the whole file, because PostgreSQL then refuses a {@code COMMIT} in it.
 */
@Command(
        name = "apply",
        description = {
            "Runs the SQL statements of a file in one transaction, and lists the rows that they"
                    + " changed. If a statement fails, nothing is changed.",
            "Needs the login of an admin. With mintmark cells, it writes the same rows to all cells."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:the changes are committed; with --dry-run: they can be made",
            "1:nothing was changed; one line gives the reason"
        },
        mixinStandardHelpOptions = true)
public final class ApplyCommand implements Callable<Integer> {
    private static final String CHANGES =
            "SELECT concat_ws(' ', operation, table_name, name, 'of tenant ' || tenant) AS line"
                    + " FROM broker.pending_change";

    private final Supplier<SettingsReader> settings;
    private final PrintStream out;
    private final PrintStream errors;

    @Parameters(
            paramLabel = "FILE",
            description =
                    "SQL statements, without BEGIN and COMMIT, and without commands of psql such as"
                            + " \\copy.")
    private @Nullable Path file;

    @Option(names = "--dry-run", description = "Lists the changes, and rolls them back.")
    private boolean dryRun;

    public ApplyCommand(Supplier<SettingsReader> settings, PrintStream out, PrintStream errors) {
        this.settings = settings;
        this.out = out;
        this.errors = errors;
    }

    @Override
    public Integer call() {
        String sql = read(Objects.requireNonNull(file));
        List<String> changes;
        try (Connection connection =
                Logins.service(settings.get().database())
                        .source("mintmark apply", "-c lock_timeout=15000")
                        .getConnection()) {
            connection.setAutoCommit(false);
            run(connection, sql);
            changes = Query.of(CHANGES).list(connection, row -> row.getString("line"));
            if (dryRun) {
                connection.rollback();
            } else {
                connection.commit();
            }
        } catch (SQLException e) {
            throw QuestionFailed.because(e);
        }
        changes.forEach(out::println);
        out.printf(
                "%s: %d%n", dryRun ? "Changes, which were rolled back" : "Changes", changes.size());
        return 0;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new CommandFailed("can't read " + file + ": " + e);
        }
    }

    private void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setEscapeProcessing(false);
            statement.execute("DO 'BEGIN EXECUTE %s; END'".formatted(doubled(literal(sql))));
            for (SQLWarning w = statement.getWarnings(); w != null; w = w.getNextWarning()) {
                errors.println("mintmark: " + w.getMessage());
            }
            statement.execute("SET CONSTRAINTS ALL IMMEDIATE");
        }
    }

    private static String literal(String text) {
        return "'" + doubled(text) + "'";
    }

    private static String doubled(String text) {
        return text.replace("'", "''");
    }
}
