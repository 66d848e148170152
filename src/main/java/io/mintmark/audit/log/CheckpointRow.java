package io.mintmark.audit.log;

import io.mintmark.audit.checkpoint.Cosignature;
import io.mintmark.audit.checkpoint.SignedCheckpoint;
import io.mintmark.base.sql.Query;

import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * A row of {@code audit.checkpoint} or {@code audit.cosignature}, for everyone who reads them and
 * for the sealer.
 */
public final class CheckpointRow {
    private CheckpointRow() {}

    /** The columns of {@link #read} and {@code note}. */
    public static SignedCheckpoint withNote(ResultSet row) throws SQLException {
        SignedCheckpoint signed = read(row);
        return new SignedCheckpoint(
                signed.number(),
                signed.sealedAt(),
                signed.jws(),
                signed.announcedBy(),
                Query.text(row, "note"));
    }

    /** The columns {@code number}, {@code sealed_at}, {@code jws} and {@code announced_by}. */
    public static SignedCheckpoint read(ResultSet row) throws SQLException {
        return new SignedCheckpoint(
                row.getLong("number"),
                Query.time(row, "sealed_at"),
                row.getString("jws"),
                Query.text(row, "announced_by"));
    }

    /** All columns of {@code audit.cosignature}. */
    public static Cosignature cosignature(ResultSet row) throws SQLException {
        return new Cosignature(
                row.getLong("number"),
                row.getLong("tree"),
                row.getLong("size"),
                row.getString("witness"),
                row.getString("line"),
                Query.time(row, "received_at"));
    }
}
