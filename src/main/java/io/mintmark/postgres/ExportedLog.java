package io.mintmark.postgres;

import io.mintmark.audit.Checkpoint.Position;
import io.mintmark.audit.Findings;
import io.mintmark.audit.LogReader;
import io.mintmark.audit.SignedCheckpoint;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.postgres.PlacedLine.Chain;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The log as {@code audit export --all --format jsonl} wrote it, in any number of files and any
 * order. Who changed an export may have written anything, so every line must be exactly what the
 * export writes; a row that comes again, as on standard output, must be the same.
 */
public final class ExportedLog implements LogReader, AutoCloseable {
    private static final int CHECKPOINT = 0;
    private static final int EVENT = 1;
    private static final int CHANGE = 2;
    private static final Chain CHECKPOINTS = new Chain(CHECKPOINT, Optional.empty());

    private static final int BLOCK = 64 * 1024;

    /** Lines without a place, which somebody else must have written. */
    private static final long NOWHERE = -1;

    private static final Map<String, ColumnType> EVENT_COLUMNS =
            Arrays.stream(EventFields.values())
                    .collect(
                            Collectors.toMap(
                                    EventFields::column,
                                    EventFields::type,
                                    (one, _) -> one,
                                    LinkedHashMap::new));

    private static final Map<String, ColumnType> CHANGE_COLUMNS = changeColumns();

    private static final Set<String> HASHES = Set.of("prev_hash", "hash");

    private final Findings findings;
    private final SortedLines lines;

    /**
     * Reads it.
     *
     * @param findings is told of lines that are none of an export
     * @throws StoreUnreachable if a file can't be read
     */
    public ExportedLog(List<Path> files, Findings findings) {
        this.findings = findings;
        files.forEach(ExportedLog::requireReadable);
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
        }
    }

    private static void requireReadable(Path file) {
        if (!Files.isReadable(file) || Files.isDirectory(file)) {
            throw new StoreUnreachable(
                    "the export can't be read: there is no file '%s' that can be".formatted(file),
                    false,
                    null);
        }
    }

    private static Map<String, ColumnType> changeColumns() {
        Map<String, ColumnType> columns = new LinkedHashMap<>();
        columns.put("tenant", ColumnType.TEXT);
        columns.put("revision", ColumnType.NUMBER);
        columns.put("table_name", ColumnType.TEXT);
        columns.put("operation", ColumnType.TEXT);
        columns.put("before", ColumnType.JSON);
        columns.put("after", ColumnType.JSON);
        columns.put("changed_by", ColumnType.TEXT);
        columns.put("changed_at", ColumnType.TIME);
        columns.put("transaction_id", ColumnType.NUMBER);
        return columns;
    }

    private void read(Path file) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        byte[] block = new byte[BLOCK];
        long number = 0;
        try (InputStream in = Files.newInputStream(file)) {
            for (int size = in.read(block); size >= 0; size = in.read(block)) {
                int from = 0;
                for (int at = 0; at < size; at++) {
                    if (block[at] == '\n') {
                        line.write(block, from, at - from);
                        number++;
                        add(line.toByteArray(), "line " + number + " of " + file);
                        line.reset();
                        from = at + 1;
                    }
                }
                line.write(block, from, size - from);
            }
        }
        if (line.size() > 0) {
            findings.told("%s ends within a line, which counts for nothing".formatted(file));
        }
    }

    private void add(byte[] bytes, String origin) throws IOException {
        Optional<PlacedLine> line = decoded(bytes).flatMap(text -> line(text, origin));
        if (line.isPresent()) {
            lines.add(line.get());
        } else {
            findings.wrong("There is something that no export wrote: " + origin);
        }
    }

    private static Optional<String> decoded(byte[] bytes) {
        try {
            return Optional.of(
                    StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    private static Optional<PlacedLine> line(String text, String origin) {
        return ExportedLine.parse(text)
                .flatMap(row -> {
                    if (row.has("checkpoint")) {
                        return SignedCheckpoint.in(text)
                                .map(signed ->
                                        new PlacedLine(CHECKPOINTS, signed.number(), origin, text));
                    }
                    boolean event = row.has("mint_id");
                    Set<String> columns = (event ? EVENT_COLUMNS : CHANGE_COLUMNS).keySet();
                    return isMadeOf(row, columns)
                            ? Optional.of(
                                    new PlacedLine(
                                            chain(row, event), place(row, event), origin, text))
                            : Optional.empty();
                });
    }

    private static boolean isMadeOf(ExportedLine row, Set<String> columns) {
        return row.names().size() == columns.size() + HASHES.size()
                && row.names().containsAll(columns)
                && row.names().containsAll(HASHES);
    }

    private static Chain chain(ExportedLine row, boolean event) {
        return new Chain(
                event ? EVENT : CHANGE, Optional.ofNullable(row.text(event ? "chain" : "tenant")));
    }

    private static long place(ExportedLine row, boolean event) {
        return row.number(event ? "seq" : "revision").orElse(NOWHERE);
    }

    @Override
    public void checkpoints(Consumer<StoredCheckpoint> each) {
        long[] last = {0};
        each(
                CHECKPOINT,
                line -> {
                    if (line.place() == last[0]) {
                        findings.wrong(
                                "Checkpoint %d is in the export again, and differs: %s"
                                        .formatted(line.place(), line.origin()));
                    } else {
                        last[0] = line.place();
                        each.accept(
                                new StoredCheckpoint(
                                        signed(line), "It is %s".formatted(line.origin())));
                    }
                });
    }

    private static SignedCheckpoint signed(PlacedLine line) {
        return SignedCheckpoint.in(line.text()).orElseThrow();
    }

    @Override
    public List<@Nullable String> checkpointTexts(List<Long> numbers) {
        List<@Nullable String> texts = new ArrayList<>();
        for (long number : numbers) {
            texts.add(at(CHECKPOINTS, number).map(line -> signed(line).jws()).orElse(null));
        }
        return texts;
    }

    @Override
    public void events(Consumer<Row> each) {
        each(
                EVENT,
                line -> {
                    ExportedLine row = parsed(line);
                    String name =
                            "Step %s of mint %s".formatted(word(row, "step"), word(row, "mint_id"));
                    each.accept(row(line, row, EVENT_COLUMNS, name, "occurred_at"));
                });
    }

    @Override
    public void changes(Consumer<Row> each) {
        each(
                CHANGE,
                line -> {
                    ExportedLine row = parsed(line);
                    String of =
                            line.chain()
                                    .name()
                                    .map(tenant -> "of tenant " + tenant)
                                    .orElse("(no tenant)");
                    String name = "Change %s %s".formatted(word(row, "revision"), of);
                    each.accept(row(line, row, CHANGE_COLUMNS, name, "changed_at"));
                });
    }

    private static String word(ExportedLine row, String member) {
        return row.value(member).text();
    }

    private static ExportedLine parsed(PlacedLine line) {
        return ExportedLine.parse(line.text()).orElseThrow();
    }

    private static Row row(
            PlacedLine line,
            ExportedLine row,
            Map<String, ColumnType> columns,
            String name,
            String happened) {
        List<@Nullable String> fields = new ArrayList<>(columns.size());
        columns.forEach((column, type) -> fields.add(type.canonical(row.value(column))));
        return new Row(
                line.chain().name().orElse(null),
                name,
                line.place() == NOWHERE ? null : line.place(),
                String.valueOf(ColumnType.TIME.canonical(row.value(happened))),
                fields,
                ColumnType.BYTES.canonical(row.value("prev_hash")),
                ColumnType.BYTES.canonical(row.value("hash")));
    }

    @Override
    public Optional<LogTables> tables() {
        return Optional.empty();
    }

    @Override
    public long lastEvent(String chain) {
        return lines.last(new Chain(EVENT, Optional.of(chain)));
    }

    @Override
    public List<@Nullable String> eventHashes(List<Position> positions) {
        return hashes(EVENT, positions);
    }

    @Override
    public List<@Nullable String> changeHashes(List<Position> positions) {
        return hashes(CHANGE, positions);
    }

    private List<@Nullable String> hashes(int group, List<Position> positions) {
        List<@Nullable String> hashes = new ArrayList<>();
        for (Position position : positions) {
            hashes.add(
                    at(new Chain(group, position.chain()), position.at())
                            .map(line -> ColumnType.BYTES.canonical(parsed(line).value("hash")))
                            .orElse(null));
        }
        return hashes;
    }

    private void each(int group, Consumer<PlacedLine> each) {
        try {
            lines.each(group, each);
        } catch (IOException e) {
            throw unreachable(e);
        }
    }

    private Optional<PlacedLine> at(Chain chain, long place) {
        try {
            return lines.at(chain, place);
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
