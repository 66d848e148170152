package io.mintmark.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.audit.Selection;
import io.mintmark.config.SettingsReader;
import io.mintmark.postgres.PostgresExport;
import io.mintmark.postgres.PostgresExport.By;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.ArgGroup;
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
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** The subcommands that read the audit log: {@code audit export} and {@code audit show}. */
final class AuditReading {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int STEP = 10_000;

    private final Supplier<SettingsReader> settings;

    AuditReading(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    private PostgresExport open() {
        return new PostgresExport(Logins.service(settings.get().database()));
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

    /** {@code audit export}. */
    @Command(
            name = "export",
            description = "Writes the log's rows, in the order of mints.",
            mixinStandardHelpOptions = true)
    final class Export implements Callable<Integer> {
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
                    PostgresExport rows = open()) {
                if (format == Format.CSV) {
                    out.print(Csv.header(PostgresExport.COLUMNS));
                }
                rows.rows(
                        wanted,
                        row -> {
                            out.print(line(row));
                            count++;
                            if (count % STEP == 0) {
                                progress.show(count);
                            }
                        });
                progress.clear();
                if (out.checkError()) {
                    throw new StartFailed("--output: not everything could be written");
                }
            }
            return 0;
        }

        private PrintStream out() throws IOException {
            OutputStream stream = output == null ? System.out : Files.newOutputStream(output);
            return new PrintStream(new BufferedOutputStream(stream), false, StandardCharsets.UTF_8);
        }

        private String line(String row) {
            return switch (format) {
                case NDJSON -> row + "\n";
                case CSV -> Csv.line(PostgresExport.COLUMNS, parse(row));
            };
        }
    }

    /** What {@code audit show} looks for: exactly one of them. */
    static final class Sought {
        @Option(names = "--mint", paramLabel = "ID", description = "A mint id.")
        private @Nullable String mint;

        @Option(names = "--subject", description = "A subject.")
        private @Nullable String subject;

        @Option(
                names = "--credential",
                paramLabel = "ID",
                description = "A credential's public id, such as ASIA….")
        private @Nullable String credential;
    }

    /** {@code audit show}. */
    @Command(
            name = "show",
            description =
                    "Tells what happened: token, grant and who made it, provider, outcome; the"
                            + " latest first.",
            mixinStandardHelpOptions = true)
    final class Show implements Callable<Integer> {
        @ArgGroup(multiplicity = "1")
        private Sought sought = new Sought();

        @Option(
                names = "--most",
                defaultValue = "50",
                description = "How many mints at most; 50 if not given.")
        private int most;

        private long count;

        @Override
        public Integer call() {
            Timeline timeline = new Timeline(System.out);
            try (PostgresExport rows = open()) {
                rows.timeline(
                        by(),
                        what(),
                        most,
                        row -> {
                            timeline.print(parse(row));
                            count++;
                        });
            }
            if (count == 0) {
                System.err.println("mintmark: the audit log has nothing of it");
            }
            return count == 0 ? 1 : 0;
        }

        private By by() {
            return sought.mint != null
                    ? By.MINT
                    : sought.subject != null ? By.SUBJECT : By.CREDENTIAL;
        }

        private String what() {
            return Optional.ofNullable(sought.mint)
                    .or(() -> Optional.ofNullable(sought.subject))
                    .or(() -> Optional.ofNullable(sought.credential))
                    .orElseThrow();
        }
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
        } catch (java.time.format.DateTimeParseException e) {
            throw new StartFailed(
                    "%s: '%s' is no time; write 2026-03-01 or 2026-03-01T12:00:00Z"
                            .formatted(option, text));
        }
    }

    private static JsonNode parse(String row) {
        try {
            return JSON.readTree(row);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("PostgreSQL wrote JSON that can't be read", e);
        }
    }
}
