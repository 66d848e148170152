package io.mintmark.auditor.command;

import io.mintmark.audit.log.LogFeed;
import io.mintmark.auditor.export.PostgresExport;
import io.mintmark.auditor.export.Selection;
import io.mintmark.base.config.SettingsReader;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.output.Progress;
import io.mintmark.base.output.Times;
import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.Logins;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.stream.Stream;

@Command(
        name = "export",
        description = {
            "Writes the log's rows: those of a time range, or with --state all rows added "
                    + "since the last run.",
            "With --state, rows come in the order of their chains, including rows that were"
                    + " committed late."
        },
        mixinStandardHelpOptions = true)
public final class AuditExport implements Callable<Integer> {
    private static final int STEP = 10_000;

    private final Supplier<SettingsReader> settings;

    @Option(
            names = "--from",
            paramLabel = "TIME",
            description = "The start, inclusive: 2026-03-01 (UTC) or 2026-03-01T12:00:00Z.")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "TIME", description = "The end, exclusive.")
    private @Nullable String to;

    @Option(names = "--tenant", description = "Only rows of this tenant.")
    private @Nullable String tenant;

    @Option(names = "--subject", description = "Only rows of this subject.")
    private @Nullable String subject;

    @Option(names = "--key", description = "Only rows of this key.")
    private @Nullable String key;

    @Option(
            names = "--state",
            paramLabel = "FILE",
            description =
                    "Continues where the last run with this file ended, and records its own "
                            + "end.")
    private @Nullable Path state;

    @Option(names = "--follow", description = "Runs until it is stopped. Needs --state.")
    private boolean follow;

    @Option(
            names = "--all",
            description =
                    "Also writes configuration changes and checkpoints, which audit verify --export needs. Requires --state, or --from or --to. With --from or --to, writes the rows that were sealed in that range, with their proof.")
    private boolean all;

    @Option(
            names = "--format",
            converter = ExportFormat.Converter.class,
            description = "One of ${COMPLETION-CANDIDATES}; jsonl if not given.")
    private ExportFormat format = ExportFormat.JSONL;

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "The file to write; by default, standard output.")
    private @Nullable Path output;

    private long count;

    public AuditExport(Supplier<SettingsReader> settings) {
        this.settings = settings;
    }

    @Override
    public Integer call() throws IOException {
        requireSense();
        DatabaseLogin login = Logins.service(settings.get().database());
        if (state != null) {
            resume(login, state);
        } else if (all) {
            part(login);
        } else {
            once(login);
        }
        return 0;
    }

    private void requireSense() {
        if (state == null && follow) {
            throw new CommandFailed(
                    "--follow needs --state FILE, which records the export's position");
        }
        if (state == null && all) {
            requirePart();
        }
        if (state != null && Stream.of(from, to, tenant, subject, key).anyMatch(Objects::nonNull)) {
            throw new CommandFailed(
                    "--state exports every row; leave out --from, --to, --tenant, --subject "
                            + "and --key");
        }
        if (state != null
                && output != null
                && state.toAbsolutePath().normalize().equals(output.toAbsolutePath().normalize())) {
            throw new CommandFailed("--state and --output must be different files");
        }
        if (all && format == ExportFormat.CSV) {
            throw new CommandFailed(
                    "--all: csv can't contain changes and checkpoints, whose columns differ; use"
                            + " --format jsonl or ocsf");
        }
    }

    private void requirePart() {
        if (from == null && to == null) {
            throw new CommandFailed(
                    "--all needs --state FILE to export the whole log, or --from or --to to export a part");
        }
        if (Stream.of(tenant, subject, key).anyMatch(Objects::nonNull)) {
            throw new CommandFailed(
                    "--all exports every row; leave out --tenant, --subject and --key");
        }
        if (format != ExportFormat.JSONL) {
            throw new CommandFailed("--all without --state supports only --format jsonl");
        }
    }

    private void part(DatabaseLogin login) throws IOException {
        try (LogFeed feed = new LogFeed(login);
                ExportSink sink = sink(Optional.empty())) {
            new PartExport(feed, sink).write(Times.of("--from", from), Times.of("--to", to));
        }
    }

    private void resume(DatabaseLogin login, Path kept) throws IOException {
        try (StateFile file = new StateFile(kept)) {
            Optional<ExportState> before = file.read();
            before.ifPresent(known -> requireFit(known, file));
            try (ExportSink sink = sink(before.flatMap(ExportState::output))) {
                new ExportRun(login, file, sink, format, all).run(follow);
            }
        }
    }

    private void requireFit(ExportState known, StateFile file) {
        if (!known.format().equals(format.toString()) || known.all() != all) {
            throw file.unfit(
                    ("belongs to an export with --format %s%s; use the same format, or start "
                                    + "a new state file")
                            .formatted(known.format(), known.all() ? " --all" : ""));
        }
        if (known.output().isPresent() && output == null) {
            throw file.unfit(
                    "belongs to an export to '%s'; pass that file, or start a new state file"
                            .formatted(known.output().orElseThrow().path()));
        }
    }

    private ExportSink sink(Optional<ExportState.Output> before) {
        return output == null
                ? new ExportSink.Stream(System.out)
                : new ExportSink.File(output, before);
    }

    private void once(DatabaseLogin login) throws IOException {
        Selection wanted =
                new Selection(
                        Times.of("--from", from),
                        Times.of("--to", to),
                        Optional.ofNullable(tenant),
                        Optional.ofNullable(subject),
                        Optional.ofNullable(key));
        try (PostgresExport rows = new PostgresExport(login)) {
            requireSense(wanted, rows);
            reportFuture(wanted);
            reportPending(wanted, rows);
            if (output == null) {
                write(wanted, rows, WholeFile.printing(System.out));
            } else {
                try (WholeFile file = new WholeFile(output)) {
                    write(wanted, rows, file.out());
                    file.complete();
                }
            }
        }
    }

    private void write(Selection wanted, PostgresExport rows, PrintStream out) {
        Progress progress = new Progress();
        out.print(format.header());
        rows.rows(
                wanted,
                row -> {
                    out.print(format.event(row));
                    count++;
                    if (count % STEP == 0) {
                        written(out);
                        progress.show(count);
                    }
                });
        progress.clear();
        written(out);
    }

    /**
     * Reports what no export by time can contain: an outcome that happened before the end of the
     * range and was committed after it, for example during an outage.
     */
    private static void reportPending(Selection wanted, PostgresExport rows) {
        long pending = wanted.to().map(rows::pending).orElse(0L);
        if (pending > 0) {
            System.err.printf(
                    "mintmark: %d mints before --to have no outcome yet. The next export, "
                            + "from this time on, would not include outcomes that arrive later. "
                            + "To include every row, use --state.%n",
                    pending);
        }
    }

    private static void reportFuture(Selection wanted) {
        wanted.to()
                .filter(Instant.now()::isBefore)
                .ifPresent(to ->
                        System.err.printf(
                                "mintmark: --to %s is in the future; the export ends with the rows that the log has now%n",
                                to));
    }

    /** Rejects a range or tenant that must be a typo, instead of exporting nothing. */
    static void requireSense(Selection wanted, PostgresExport rows) {
        wanted.from()
                .filter(from -> wanted.to().filter(to -> !from.isBefore(to)).isPresent())
                .ifPresent(from -> {
                    throw new CommandFailed(
                            "--from %s is not before --to %s"
                                    .formatted(from, wanted.to().orElseThrow()));
                });
        wanted.tenant()
                .filter(name -> !rows.hasTenant(name))
                .ifPresent(name -> {
                    throw new CommandFailed("--tenant: unknown tenant '%s'".formatted(name));
                });
    }

    private static void written(PrintStream out) {
        if (out.checkError()) {
            throw new CommandFailed("--output: the file is incomplete; run the command again");
        }
    }
}
