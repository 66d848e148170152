package io.mintmark.auditor.reader;

import io.mintmark.audit.canonical.ColumnType;
import io.mintmark.audit.canonical.EventFields;
import io.mintmark.auditor.verify.LogReader.Row;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The rows of the log as queries return them. */
final class StoredRows {
    private static final String HASHES = ", prev_hash::bytea, hash::bytea";

    /** Selects from {@code audit.event}, by the alias {@code e}. */
    static final String EVENTS =
            Arrays.stream(EventFields.values())
                    .map(EventFields::expression)
                    .collect(
                            Collectors.joining(
                                    ", ", "SELECT ", HASHES + " FROM audit.event AS e "));

    /** Types of an event's canonical fields, then of the hash of the row before and its own. */
    static final List<ColumnType> EVENT_TYPES =
            Stream.concat(
                            Arrays.stream(EventFields.values()).map(EventFields::type),
                            Stream.of(ColumnType.BYTES, ColumnType.BYTES))
                    .toList();

    /** Selects from {@code audit.config_change}, by the alias {@code c}. */
    static final String CHANGES =
            """
            SELECT tenant::text, revision::text, table_name::text, operation::text, before::text,
                   after::text, changed_by::text,
                   trunc(extract(epoch FROM changed_at) * 1000000)::text, transaction_id::text,
                   encode(prev_hash, 'hex'), encode(hash, 'hex')
              FROM audit.config_change AS c
            """;

    /** The canonical fields of a change. */
    private static final int CHANGE_FIELDS = 9;

    /** Types of a change's canonical fields, then of the hash of the row before and its own. */
    static final List<ColumnType> CHANGE_TYPES =
            Collections.nCopies(CHANGE_FIELDS + 2, ColumnType.TEXT);

    private StoredRows() {}

    /** An event from its columns. */
    static Row event(List<@Nullable String> texts) {
        int count = EventFields.values().length;
        List<@Nullable String> fields = texts.subList(0, count);
        String chain = EventFields.CHAIN.in(fields);
        String at = EventFields.SEQ.in(fields);
        String previous = texts.get(count);
        return new Row(
                chain,
                "Step " + fields.get(1) + " of mint " + fields.get(0),
                at == null ? null : Long.valueOf(at),
                String.valueOf(EventFields.OCCURRED_AT.in(fields)),
                fields,
                previous,
                texts.get(count + 1),
                CanonicalForm.EVENT.hashInChain(previous, fields));
    }

    /** A change from its columns. */
    static Row change(List<@Nullable String> texts) {
        List<@Nullable String> fields = texts.subList(0, CHANGE_FIELDS);
        String tenant = fields.get(0);
        String at = fields.get(1);
        String of = tenant == null ? "(no tenant)" : "of tenant " + tenant;
        String previous = texts.get(CHANGE_FIELDS);
        return new Row(
                tenant,
                "Change %s %s".formatted(at, of),
                at == null ? null : Long.valueOf(at),
                String.valueOf(fields.get(7)),
                fields,
                previous,
                texts.get(CHANGE_FIELDS + 1),
                CanonicalForm.CHANGE.hashInChain(previous, fields));
    }

    /** The columns of a change, for {@link #change}. */
    static List<@Nullable String> texts(ResultSet row) throws SQLException {
        List<@Nullable String> texts = new ArrayList<>(CHANGE_TYPES.size());
        for (int i = 1; i <= CHANGE_TYPES.size(); i++) {
            texts.add(row.getString(i));
        }
        return texts;
    }
}
