package io.mintmark.auditor.reader;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.audit.checkpoint.Checkpoint.Leaf;
import io.mintmark.audit.checkpoint.Checkpoint.Position;
import io.mintmark.audit.checkpoint.Cosignature;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.auditor.reader.PlacedLine.Chain;
import io.mintmark.auditor.verify.Findings;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.auditor.verify.MintProof;
import io.mintmark.auditor.verify.SealedRange;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The log as {@code audit export --all} wrote it, in any number of files and any order. Who changed
 * an export may have written anything, so every line must be exactly what the export writes; a row
 * that comes again, as on standard output, must be the same.
 */
public final class ExportedLog implements LogReader, AutoCloseable {
    private final Findings findings;
    private final Form form;
    private final int threads;
    private final SortedLines lines;
    private Optional<SealedRange> part = Optional.empty();

    /** The format of an export's lines. */
    public interface Form {
        /** The line's row in the jsonl format; empty if no export writes the line. */
        Optional<String> row(String line);
    }

    private record Written(ByteBuffer bytes, String origin) {}

    private record Judged<T>(Row row, T answer) {}

    /** Reads jsonl, on all processors. */
    public ExportedLog(List<Path> files, Findings findings) {
        this(files, Optional::of, findings, Runtime.getRuntime().availableProcessors());
    }

    /**
     * Reads it.
     *
     * @param findings takes lines that no export writes
     * @param threads that parse lines and judge rows
     * @throws StoreUnreachable if a file can't be read
     */
    public ExportedLog(List<Path> files, Form form, Findings findings, int threads) {
        this.findings = findings;
        this.form = form;
        this.threads = threads;
        files.forEach(BoundedLines::requireReadable);
        try {
            this.lines = new SortedLines();
        } catch (IOException e) {
            throw unreachable(e);
        }
        try {
            for (Path file : files) {
                read(file);
            }
            lines.sort();
        } catch (IOException e) {
            close();
            throw unreachable(e);
        } catch (StoreUnreachable e) {
            close();
            throw e;
        }
    }

    private void read(Path file) throws IOException {
        boolean cut;
        try (InOrder<Written, ReadLine> lines =
                new InOrder<>(
                        threads, it -> ReadLine.of(it.bytes(), form, it.origin()), this::add)) {
            cut =
                    BoundedLines.read(
                            file,
                            new BoundedLines.Each() {
                                @Override
                                public void line(byte[] bytes, long number) {
                                    lines.add(
                                            new Written(
                                                    ByteBuffer.wrap(bytes), origin(file, number)),
                                            bytes.length);
                                }

                                @Override
                                public void tooLong(long number) {
                                    lines.flush();
                                    findings.wrong(
                                            "A line has more than %d bytes, the limit for a line of an export: %s"
                                                    .formatted(
                                                            BoundedLines.LONGEST,
                                                            origin(file, number)));
                                }
                            });
            lines.flush();
        }
        if (cut) {
            findings.told("%s ends with an incomplete line, which is ignored".formatted(file));
        }
    }

    private static String origin(Path file, long number) {
        return "line " + number + " of " + file;
    }

    private void add(ReadLine read) {
        if (read.header().isPresent()) {
            set(read.header().get());
        } else if (read.line().isPresent()) {
            try {
                lines.add(read.line().get());
            } catch (IOException e) {
                throw unreachable(e);
            }
        } else {
            findings.wrong("This line doesn't have the format of an export: " + read.origin());
        }
    }

    private void set(SealedRange found) {
        if (part.filter(known -> !known.equals(found)).isPresent()) {
            findings.wrong("The files are different parts of a log; verify each separately");
        }
        part = Optional.of(found);
    }

    @Override
    public Optional<SealedRange> part() {
        return part;
    }

    @Override
    public MintProof proof(Findings to) {
        return new PastConfiguration(to);
    }

    @Override
    public void checkpoints(Consumer<StoredCheckpoint> each) {
        long[] last = {0};
        each(
                ExportedPlaces.CHECKPOINT,
                line -> {
                    if (line.place().at() == last[0]) {
                        findings.wrong(
                                ("Checkpoint %d is in the export twice, with different "
                                                + "content: %s")
                                        .formatted(last[0], line.origin()));
                    } else {
                        last[0] = line.place().at();
                        each.accept(
                                new StoredCheckpoint(
                                        signed(line),
                                        "The checkpoint is %s".formatted(line.origin())));
                    }
                });
    }

    private static SignedCheckpoint signed(PlacedLine line) {
        return SignedCheckpoint.in(line.text()).orElseThrow();
    }

    @Override
    public void cosignatures(Consumer<Cosignature> each) {
        each(
                ExportedPlaces.COSIGNATURE,
                line -> each.accept(Cosignature.in(parsed(line)).orElseThrow()));
    }

    @Override
    public List<@Nullable String> checkpointTexts(List<Long> numbers) {
        List<@Nullable String> texts = new ArrayList<>();
        for (long number : numbers) {
            texts.add(
                    found(() -> lines.at(ExportedPlaces.CHECKPOINTS, number))
                            .map(line -> signed(line).jws())
                            .orElse(null));
        }
        return texts;
    }

    @Override
    public <T> void events(Function<Row, T> judge, BiConsumer<Row, T> each) {
        rows(ExportedPlaces.EVENT, ExportedColumns::event, judge, each);
    }

    @Override
    public <T> void changes(Function<Row, T> read, BiConsumer<Row, T> each) {
        rows(ExportedPlaces.CHANGE, ExportedColumns::change, read, each);
    }

    private <T> void rows(
            int group,
            Function<PlacedLine, Row> map,
            Function<Row, T> judge,
            BiConsumer<Row, T> each) {
        try (InOrder<PlacedLine, Judged<T>> rows =
                new InOrder<>(
                        threads,
                        line -> judged(map.apply(line), judge),
                        it -> each.accept(it.row(), it.answer()))) {
            each(group, line -> rows.add(line, line.text().length()));
            rows.flush();
        }
    }

    private static <T> Judged<T> judged(Row row, Function<Row, T> judge) {
        return new Judged<>(row, judge.apply(row));
    }

    private static ExportedLine parsed(PlacedLine line) {
        return ExportedLine.parse(line.text()).orElseThrow();
    }

    @Override
    public Optional<LogTables> tables() {
        return Optional.empty();
    }

    @Override
    public long lastEvent(String chain) {
        return found(() -> lines.last(new Chain(ExportedPlaces.EVENT, Optional.of(chain))));
    }

    @Override
    public List<@Nullable String> eventHashes(List<Position> positions) {
        return found(() -> ExportedHashes.ofEvents(lines).at(positions));
    }

    @Override
    public List<@Nullable String> changeHashes(List<Position> positions) {
        return found(() -> ExportedHashes.ofChanges(lines).at(positions));
    }

    @Override
    public List<List<Leaf>> eventRanges(List<Position> ranges) {
        return found(() -> ExportedHashes.ofEvents(lines).within(ranges));
    }

    @Override
    public List<List<Leaf>> changeRanges(List<Position> ranges) {
        return found(() -> ExportedHashes.ofChanges(lines).within(ranges));
    }

    /** A search in the sorted lines of the export. */
    private interface Lookup<T> {
        T find() throws IOException;
    }

    private static <T> T found(Lookup<T> lookup) {
        try {
            return lookup.find();
        } catch (IOException e) {
            throw unreachable(e);
        }
    }

    private void each(int group, Consumer<PlacedLine> each) {
        try {
            lines.each(group, each);
        } catch (IOException e) {
            throw unreachable(e);
        }
    }

    private static StoreUnreachable unreachable(IOException e) {
        return new StoreUnreachable("the export can't be read: " + e, false, e);
    }

    @Override
    public void close() {
        try {
            lines.close();
        } catch (IOException e) {
            throw unreachable(e);
        }
    }
}
