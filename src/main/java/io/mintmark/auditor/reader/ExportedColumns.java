package io.mintmark.auditor.reader;

import io.mintmark.audit.canonical.ColumnType;
import io.mintmark.audit.canonical.EventFields;
import io.mintmark.audit.canonical.ExportedLine;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The columns of a table of the log, as its export writes them. */
final class ExportedColumns {
    private static final Set<String> HASHES = Set.of("prev_hash", "hash");

    static final ExportedColumns EVENT =
            new ExportedColumns(
                    CanonicalForm.EVENT,
                    Arrays.stream(EventFields.values())
                            .collect(
                                    Collectors.toMap(
                                            EventFields::column,
                                            EventFields::type,
                                            (one, _) -> one,
                                            LinkedHashMap::new)),
                    "chain",
                    "seq",
                    "occurred_at");

    static final ExportedColumns CHANGE =
            new ExportedColumns(
                    CanonicalForm.CHANGE, changeColumns(), "tenant", "revision", "changed_at");

    /** The position of rows without a chain, which no broker wrote. */
    private static final long NOWHERE = -1;

    private final CanonicalForm form;
    private final Map<String, ColumnType> types;
    private final Set<String> all;
    private final String chain;
    private final String place;
    private final String time;

    /**
     * @param form of the rows
     * @param types by column, in the order of the table
     * @param chain the column that names the chain
     * @param place the column of the place in the chain
     * @param time the column of the time at which the row was written
     */
    private ExportedColumns(
            CanonicalForm form,
            Map<String, ColumnType> types,
            String chain,
            String place,
            String time) {
        this.form = form;
        this.types = types;
        Set<String> names = new HashSet<>(types.keySet());
        names.addAll(HASHES);
        this.all = Set.copyOf(names);
        this.chain = chain;
        this.place = place;
        this.time = time;
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

    /** Whether a line has exactly these columns and the hashes, and values that fit them. */
    boolean fit(ExportedLine row) {
        if (!row.names().equals(all)) {
            return false;
        }
        try {
            types.forEach((column, type) -> type.canonical(row.value(column)));
            HASHES.forEach(hash -> ColumnType.BYTES.canonical(row.value(hash)));
        } catch (IllegalArgumentException e) {
            return false;
        }
        return true;
    }

    Optional<String> chain(ExportedLine row) {
        return Optional.ofNullable(row.text(chain));
    }

    long place(ExportedLine row) {
        return row.number(place).orElse(NOWHERE);
    }

    /** When a row was written, as {@link LogReader.Row} has it. */
    String micros(ExportedLine row) {
        return String.valueOf(ColumnType.TIME.canonical(row.value(time)));
    }

    /** The row of an event's line. */
    static LogReader.Row event(PlacedLine line) {
        ExportedLine row = ExportedLine.parse(line.text()).orElseThrow();
        String name = "Step " + word(row, "step") + " of mint " + word(row, "mint_id");
        return EVENT.row(line, row, name);
    }

    /** The row of a change's line. */
    static LogReader.Row change(PlacedLine line) {
        ExportedLine row = ExportedLine.parse(line.text()).orElseThrow();
        Optional<String> tenant = line.place().chain().name();
        String of = tenant.map(name -> "of tenant " + name).orElse("(no tenant)");
        return CHANGE.row(line, row, "Change %s %s".formatted(word(row, "revision"), of));
    }

    private static String word(ExportedLine row, String member) {
        return row.value(member).text();
    }

    /** The row of a line that fits. */
    LogReader.Row row(PlacedLine line, ExportedLine row, String name) {
        List<@Nullable String> fields = new ArrayList<>(types.size());
        types.forEach((column, type) -> fields.add(type.canonical(row.value(column))));
        String chainName = line.place().chain().name().orElse(null);
        String previous = ColumnType.BYTES.canonical(row.value("prev_hash"));
        return new LogReader.Row(
                chainName,
                name,
                line.place().at() == NOWHERE ? null : line.place().at(),
                micros(row),
                fields,
                previous,
                ColumnType.BYTES.canonical(row.value("hash")),
                form.hashInChain(previous, fields));
    }
}
