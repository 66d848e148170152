package io.mintmark.auditor.verify;

import io.mintmark.audit.Kind;
import io.mintmark.auditor.verify.MintNotes.Note;
import io.mintmark.auditor.verify.MintProof.Objection;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * One step of a mint, as a row of the log records it.
 *
 * @param mint the id, as it is stored
 * @param id empty for a value that is not a mint id, which the broker never writes
 * @param note empty for a kind and step that no broker writes together
 * @param objection to the mint that the row requests
 */
record MintStep(
        String row,
        String mint,
        String kind,
        Optional<UUID> id,
        Optional<Note> note,
        Optional<Objection> objection) {
    /** Places in {@link LogReader.Row#fields}, which are in the order of the columns. */
    private static final int MINT = 0;

    private static final int STEP = 1;
    private static final int KIND = 2;
    private static final int TENANT = 5;
    private static final int GRANT_ID = 12;
    private static final int REASON = 16;
    private static final int ACTOR_IDP = 24;
    private static final int ACTOR = 26;

    /** The columns that a request and its outcome share. */
    private static final CanonicalForm CONTENT = new CanonicalForm("mint");

    /** The content value of rows without shared columns. */
    static final long NOTHING = 0;

    /** The rows that a mint can have. */
    static final int REQUESTED = 1;

    static final int CALLED = 2;
    static final int NOT_CALLED = 4;
    static final int REFUSED = 8;
    static final int ENDED = 16;

    /**
     * The flag of a mint whose provider wasn't called, because the commit of the request is
     * uncertain.
     */
    static final int UNSURE = 32;

    /** Reads a row, on any thread. */
    static MintStep read(LogReader.Row row, Optional<Objection> objection) {
        List<@Nullable String> fields = row.fields();
        String mint = String.valueOf(fields.get(MINT));
        return new MintStep(
                row.name(),
                mint,
                String.valueOf(fields.get(KIND)),
                id(mint),
                Kind.of(fields.get(KIND))
                        .filter(kind -> Integer.toString(kind.step()).equals(fields.get(STEP)))
                        .map(kind -> note(kind, fields)),
                objection);
    }

    private static Note note(Kind kind, List<@Nullable String> fields) {
        return switch (kind) {
            case REQUESTED -> new Note(REQUESTED, content(fields));
            case ISSUED, WITHHELD -> new Note(CALLED, content(fields));
            case FAILED -> new Note(failed(fields.get(REASON)), content(fields));
            case DENIED, REJECTED -> new Note(REFUSED, NOTHING);
            case ENDED -> new Note(ENDED, NOTHING);
        };
    }

    private static int failed(@Nullable String reason) {
        return switch (String.valueOf(reason)) {
            case "decided_again" -> NOT_CALLED;
            case "audit_unavailable" -> UNSURE;
            default -> CALLED;
        };
    }

    /** A digest of the columns that a request and its outcome share; never {@link #NOTHING}. */
    private static long content(List<@Nullable String> fields) {
        List<@Nullable String> content = new ArrayList<>(fields.subList(TENANT, GRANT_ID + 1));
        content.addAll(fields.subList(ACTOR_IDP, ACTOR + 1));
        String hash = CONTENT.hash(content);
        return HexFormat.fromHexDigitsToLong(hash, 0, 16) | 1;
    }

    private static Optional<UUID> id(String mint) {
        try {
            return Optional.of(UUID.fromString(mint)).filter(id -> id.toString().equals(mint));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
