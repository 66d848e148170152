package io.mintmark.auditor.reader;

import io.mintmark.audit.canonical.ColumnType;
import io.mintmark.audit.log.AuditConnection;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyOut;

import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The rows of a query in PostgreSQL's binary format, which costs the server less than texts. They
 * are decoded on several threads and handed over in their order.
 */
final class CopiedRows {
    private static final byte[] SIGNATURE = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', -1, '\r', '\n', 0};

    private record Judged<R, T>(R row, T answer) {}

    private final AuditConnection connection;
    private final String sql;
    private final List<ColumnType> types;
    private final int threads;

    /**
     * @param types of the columns that the query returns
     * @param threads that decode them
     */
    CopiedRows(AuditConnection connection, String sql, List<ColumnType> types, int threads) {
        this.connection = connection;
        this.sql = sql;
        this.types = types;
        this.threads = threads;
    }

    /**
     * Reads all rows.
     *
     * @param map makes a row of its canonical texts, on any thread
     * @param judge is asked about each row, on any thread
     * @param each takes each row with the answer, one after the other in their order
     * @throws io.mintmark.audit.StoreUnreachable if the store can't be read
     */
    <R, T> void each(
            Function<List<@Nullable String>, R> map, Function<R, T> judge, BiConsumer<R, T> each) {
        connection.use(connected -> {
            CopyOut copy =
                    connected
                            .unwrap(PGConnection.class)
                            .getCopyAPI()
                            .copyOut("COPY (%s) TO STDOUT (FORMAT binary)".formatted(sql));
            try (InOrder<ByteBuffer, Judged<R, T>> rows =
                    new InOrder<>(
                            threads,
                            sent -> judged(sent, map, judge),
                            it -> each.accept(it.row(), it.answer()))) {
                read(copy, rows);
                rows.flush();
            } finally {
                if (copy.isActive()) {
                    copy.cancelCopy();
                }
            }
        });
    }

    private <R, T> Judged<R, T> judged(
            ByteBuffer sent, Function<List<@Nullable String>, R> map, Function<R, T> judge) {
        R row = map.apply(texts(sent));
        return new Judged<>(row, judge.apply(row));
    }

    /** Reads a row from each message. */
    private static void read(CopyOut copy, InOrder<ByteBuffer, ?> rows) throws SQLException {
        byte[] message = copy.readFromCopy();
        while (message != null) {
            ByteBuffer row = ByteBuffer.wrap(message);
            if (isHeader(row)) {
                int extension = row.getInt(SIGNATURE.length + Integer.BYTES);
                row.position(SIGNATURE.length + 2 * Integer.BYTES + extension);
            }
            // the trailer has no columns
            if (row.remaining() > Short.BYTES) {
                rows.add(row, message.length);
            }
            message = copy.isActive() ? copy.readFromCopy() : null;
        }
    }

    private static boolean isHeader(ByteBuffer row) {
        return row.remaining() > SIGNATURE.length
                && row.slice(0, SIGNATURE.length).equals(ByteBuffer.wrap(SIGNATURE));
    }

    private List<@Nullable String> texts(ByteBuffer row) {
        List<@Nullable String> texts = new ArrayList<>(types.size());
        row.position(row.position() + Short.BYTES);
        for (ColumnType type : types) {
            int length = row.getInt();
            if (length < 0) {
                texts.add(null);
            } else {
                byte[] sent = new byte[length];
                row.get(sent);
                texts.add(type.canonical(sent));
            }
        }
        return texts;
    }
}
