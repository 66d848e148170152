package io.mintmark.auditor.command;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.log.LogFeed;
import io.mintmark.base.sql.DatabaseLogin;

import java.time.Duration;
import java.util.Optional;

/** One run of a resumable export, either to the end of the log or continuously. */
final class ExportRun {
    private static final Duration POLL = Duration.ofSeconds(1);
    private static final Duration OUTAGE = Duration.ofSeconds(5);

    /** The number of passes between searches for chains that only old mints still write to. */
    private static final int THOROUGH = 1_000;

    private final DatabaseLogin login;
    private final StateFile file;
    private final ExportSink sink;
    private final ExportFormat format;
    private final boolean all;
    private boolean down;

    ExportRun(
            DatabaseLogin login,
            StateFile file,
            ExportSink sink,
            ExportFormat format,
            boolean all) {
        this.login = login;
        this.file = file;
        this.sink = sink;
        this.format = format;
        this.all = all;
    }

    /**
     * Exports the selected rows.
     *
     * @param follow whether to continue with new rows, through outages, until this thread is
     *     interrupted
     */
    void run(boolean follow) {
        try {
            boolean again = true;
            while (again) {
                again = isCutOff(follow);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Exports, and returns whether the database became unavailable while the log was followed. */
    private boolean isCutOff(boolean follow) throws InterruptedException {
        try (LogFeed feed = new LogFeed(login)) {
            export(begun(feed), follow);
            return false;
        } catch (StoreUnreachable e) {
            if (!follow) {
                throw e;
            }
            outage(e);
            return true;
        }
    }

    private void export(ResumedExport export, boolean follow) throws InterruptedException {
        export.pass(true);
        if (follow) {
            for (long pass = 1; ; pass++) {
                down = false;
                Thread.sleep(POLL);
                export.pass(pass % THOROUGH == 0);
            }
        }
    }

    /** Rows that the state file doesn't confirm yet are read again. */
    private void outage(StoreUnreachable e) throws InterruptedException {
        sink.drop();
        if (!down) {
            System.err.println(
                    "mintmark: the log can't be read now, and the export keeps"
                            + " retrying: "
                            + e.getMessage());
        }
        down = true;
        Thread.sleep(OUTAGE);
    }

    /** Begins the export. The state names the output file before anything is written to it. */
    private ResumedExport begun(LogFeed feed) {
        Optional<ExportState> known = file.read();
        String origin = feed.origin();
        if (known.filter(state -> !state.origin().equals(origin)).isPresent()) {
            throw file.unfit(
                    "belongs to an export of another database; start a new state " + "file");
        }
        Optional<ExportState.Output> output = sink.commit();
        ExportState state =
                known.orElseGet(() -> ExportState.beginning(origin, format.toString(), all))
                        .withOutput(output);
        file.write(state);
        if (output.map(to -> to.length() == 0).orElse(known.isEmpty())) {
            sink.write(format.header());
        }
        tellOutside(feed.outside());
        return new ResumedExport(feed, file, sink, state, format);
    }

    private static void tellOutside(long rows) {
        if (rows > 0) {
            System.err.printf(
                    "mintmark: %d rows of audit.event are in no chain, so no broker wrote "
                            + "them, and they are not exported; audit verify lists them%n",
                    rows);
        }
    }
}
