package io.mintmark.cli;

import io.mintmark.audit.Selection;
import io.mintmark.config.SettingsReader;
import io.mintmark.postgres.PostgresExport;
import io.mintmark.wiring.Logins;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** {@code audit export}. */
@Command(
        name = "export",
        description = "Writes the log's rows, in the order of mints.",
        mixinStandardHelpOptions = true)
final class AuditExport implements Callable<Integer> {
    private static final int STEP = 10_000;

    private final Supplier<SettingsReader> settings;

    @Option(
            names = "--from",
            paramLabel = "TIME",
            description = "The first moment: 2026-03-01 (UTC) or 2026-03-01T12:00:00Z.")
    private @Nullable String from;

    @Option(
            names = "--to",
            paramLabel = "TIME",
            description = "The first moment that isn't wanted any more.")
    private @Nullable String to;

    @Option(names = "--tenant", description = "Only this tenant's.")
    private @Nullable String tenant;

    @Option(names = "--subject", description = "Only this subject's.")
    private @Nullable String subject;

    @Option(names = "--key", description = "Only of this key.")
    private @Nullable String key;

    @Option(
            names = "--format",
            description = "One of ${COMPLETION-CANDIDATES}; ndjson if not given.")
    private Format format = Format.NDJSON;

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "Where to write; standard output if not given.")
    private @Nullable Path output;

    private long count;

    AuditExport(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    /** In what form rows are written. */
    enum Format {
        NDJSON,
        CSV;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public Integer call() throws IOException {
        Selection wanted =
                new Selection(
                        time("--from", from),
                        time("--to", to),
                        Optional.ofNullable(tenant),
                        Optional.ofNullable(subject),
                        Optional.ofNullable(key));
        Progress progress = new Progress();
        try (PrintStream out = out();
                PostgresExport rows =
                        new PostgresExport(Logins.service(settings.get().database()))) {
            requireSense(wanted, rows);
            if (format == Format.CSV) {
                out.print(Csv.header(PostgresExport.COLUMNS));
            }
            rows.rows(
                    wanted,
                    row -> {
                        out.print(line(row));
                        count++;
                        if (count % STEP == 0) {
                            written(out);
                            progress.show(count);
                        }
                    });
            progress.clear();
            written(out);
        }
        return 0;
    }

    /** What can only be a slip isn't answered with nothing. */
    private static void requireSense(Selection wanted, PostgresExport rows) {
        wanted.from()
                .filter(from -> wanted.to().filter(to -> !from.isBefore(to)).isPresent())
                .ifPresent(from -> {
                    throw new CommandFailed(
                            "--from %s isn't before --to %s, so there is nothing between them"
                                    .formatted(from, wanted.to().orElseThrow()));
                });
        wanted.tenant()
                .filter(name -> !rows.hasTenant(name))
                .ifPresent(name -> {
                    throw new CommandFailed("--tenant: there is no tenant '%s'".formatted(name));
                });
    }

    private PrintStream out() throws IOException {
        OutputStream stream = output == null ? System.out : Files.newOutputStream(output);
        return new PrintStream(new BufferedOutputStream(stream), false, StandardCharsets.UTF_8);
    }

    private static void written(PrintStream out) {
        if (out.checkError()) {
            throw new CommandFailed("--output: not everything could be written");
        }
    }

    private String line(String row) {
        return switch (format) {
            case NDJSON -> row + "\n";
            case CSV -> Csv.line(PostgresExport.COLUMNS, ExportedRow.parse(row));
        };
    }

    private static Optional<Instant> time(String option, @Nullable String text) {
        if (text == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    text.length() == "2026-03-01".length()
                            ? LocalDate.parse(text).atStartOfDay().toInstant(ZoneOffset.UTC)
                            : Instant.parse(text));
        } catch (DateTimeParseException e) {
            throw new CommandFailed(
                    "%s: '%s' is no time; write 2026-03-01 or 2026-03-01T12:00:00Z"
                            .formatted(option, text));
        }
    }
}
