package io.mintmark.auditor.verify;

import io.mintmark.audit.Kind;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.auditor.verify.MintNotes.Note;
import io.mintmark.auditor.verify.MintProof.Objection;
import io.mintmark.base.canonical.CanonicalForm;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Compares the rows of each mint with each other, wherever in the log they are: each step once, no
 * outcome and no end without a request, no outcome that contradicts it, and no credential under an
 * objection.
 */
final class MintLedger implements AutoCloseable {
    /** Mints that are remembered; a log with more without outcome can't be compared. */
    private static final int MOST = 100_000;

    /** Mints under an objection that wait for their outcome. */
    private static final int MOST_DOUBTED = 10_000;

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

    /** The content of rows that say less. */
    private static final long NOTHING = 0;

    /** The rows that a mint can have. */
    private static final int REQUESTED = 1;

    private static final int CALLED = 2;
    private static final int NOT_CALLED = 4;
    private static final int REFUSED = 8;
    private static final int ENDED = 16;

    /** Not called, since the commit of the request could not be made sure of. */
    private static final int UNSURE = 32;

    private static final int OUTCOME = CALLED | NOT_CALLED | UNSURE;

    /** An outcome that differs from its request. */
    private static final int CONTRADICTED = 64;

    /** Rows whose step the mint has again, this many bits to the left. */
    private static final int REPEATED = 8;

    private final Findings findings;
    private final boolean isPart;
    private final boolean mayLack;
    private final MintNotes notes;
    private final Map<UUID, Objection> doubted = new LinkedHashMap<>();
    private final Map<UUID, Integer> ofDoubted = new HashMap<>();
    private final Set<UUID> open = new TreeSet<>();
    private boolean tooMany;
    private long neverRequested;
    private @Nullable UUID oneNeverRequested;

    /**
     * @param isPart whether other rows of these mints may be outside of the part that is read
     * @param mayLack whether rows may be missing, or come again, that a declaration covers
     */
    MintLedger(Findings findings, boolean isPart, boolean mayLack) {
        this.findings = findings;
        this.isPart = isPart;
        this.mayLack = mayLack;
        this.notes = new MintNotes();
    }

    /**
     * The next row.
     *
     * @param objection to the mint that it requests
     */
    void row(LogReader.Row row, Optional<Objection> objection) {
        String mint = String.valueOf(row.fields().get(MINT));
        Optional<UUID> id = id(mint);
        objection.ifPresent(it -> {
            boolean waits = id.isPresent() && doubted.size() < MOST_DOUBTED;
            if (!waits || doubted.putIfAbsent(id.get(), it) != null) {
                report(mint, it);
            }
        });
        Optional<Kind> kind = Kind.of(row.fields().get(KIND));
        if (kind.filter(it -> Integer.toString(it.step()).equals(row.fields().get(STEP)))
                .isEmpty()) {
            findings.wrong(
                    "%s was inserted: no broker writes kind %s with that step"
                            .formatted(row.name(), row.fields().get(KIND)));
        } else if (id.isPresent()) {
            try {
                notes.add(id.get(), note(kind.get(), row.fields()));
            } catch (IOException e) {
                throw failed(e);
            }
        }
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

    /** Never {@link #NOTHING}. */
    private static long content(List<@Nullable String> fields) {
        List<@Nullable String> content = new ArrayList<>(fields.subList(TENANT, GRANT_ID + 1));
        content.addAll(fields.subList(ACTOR_IDP, ACTOR + 1));
        String hash = CONTENT.hash(content);
        return HexFormat.fromHexDigitsToLong(hash, 0, 16) | 1;
    }

    private static Note combined(Note some, Note row) {
        int rows = some.rows() | row.rows() | (some.rows() & ofStep(row.rows())) << REPEATED;
        if (some.content() == NOTHING || row.content() == NOTHING) {
            return new Note(rows, some.content() | row.content());
        }
        boolean differs = some.content() != row.content();
        return new Note(differs ? rows | CONTRADICTED : rows, some.content());
    }

    /** Empty for a value that is not a mint id, which the broker never writes. */
    private static Optional<UUID> id(String mint) {
        try {
            return Optional.of(UUID.fromString(mint)).filter(id -> id.toString().equals(mint));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** To be called after the last row. Without tables there is no list to compare with. */
    void end(Optional<LogReader.LogTables> tables) {
        try {
            notes.each(MintLedger::combined, (mint, all) -> judge(mint, all.rows()));
        } catch (IOException e) {
            throw failed(e);
        }
        doubted.forEach((mint, it) -> judge(mint, it, ofDoubted.getOrDefault(mint, 0)));
        if (neverRequested > 0 && !isPart) {
            findings.told(
                    "%d mints have an outcome but were never requested, one of them %s"
                            .formatted(neverRequested, oneNeverRequested));
        }
        if (tooMany) {
            findings.told("audit.unresolved was not compared: too many mints are incomplete");
            return;
        }
        if (!open.isEmpty()) {
            findings.told("%d mints have no outcome".formatted(open.size()));
        }
        tables.ifPresent(this::compare);
    }

    private void judge(UUID mint, int all) {
        if (all >>> REPEATED != 0) {
            lacks("A step of mint %s appears more than once".formatted(mint));
        }
        if ((all & CONTRADICTED) != 0) {
            findings.wrong("The rows of mint %s contradict each other".formatted(mint));
        }
        if (doubted.containsKey(mint)) {
            ofDoubted.put(mint, all);
        }
        boolean isRequested = (all & REQUESTED) != 0;
        if ((all & ENDED) != 0 && !isRequested && !isPart) {
            lacks("Mint %s ended but was never requested".formatted(mint));
        }
        if (isRequested && (all & OUTCOME) == 0) {
            tooMany |= open.size() >= MOST;
            if (!tooMany) {
                open.add(mint);
            }
        } else if (!isRequested && !isPart && (all & (CALLED | NOT_CALLED)) != 0) {
            lacks("Mint %s has an outcome but was never requested".formatted(mint));
        } else if (!isRequested && (all & UNSURE) != 0) {
            neverRequested++;
            oneNeverRequested = mint;
        }
    }

    /** All rows of the step that a row is of. */
    private static int ofStep(int row) {
        return row == REQUESTED || row == ENDED ? row : OUTCOME | REFUSED;
    }

    private void lacks(String sentence) {
        if (mayLack) {
            findings.told(sentence + "; rows were declared lost");
        } else {
            findings.wrong(sentence);
        }
    }

    /** A mint needs no grant if its only outcome says that its provider wasn't called. */
    private void judge(UUID mint, Objection objection, int rows) {
        if ((rows & OUTCOME) != 0 && (rows & CALLED) == 0) {
            return;
        }
        if (objection.ofState() && (rows & OUTCOME) == 0 && (rows & REQUESTED) != 0) {
            findings.told(
                    "Mint %s has no outcome, and %s: a broker that stopped before it called the provider leaves such a row"
                            .formatted(mint, objection.why()));
        } else {
            report(mint.toString(), objection);
        }
    }

    private void report(String mint, Objection objection) {
        objection
                .overlooked()
                .ifPresentOrElse(
                        change ->
                                findings.doubtful(
                                        "Step 1 of mint %s: %s".formatted(mint, objection.why()),
                                        change),
                        () -> findings.ungranted(mint, objection.why()));
    }

    private void compare(LogReader.LogTables tables) {
        tables.unresolved(mint -> {
            if (!open.remove(UUID.fromString(mint))) {
                findings.wrong(
                        "audit.unresolved lists mint %s, which isn't unresolved".formatted(mint));
            }
        });
        open.forEach(mint ->
                findings.wrong(
                        "audit.unresolved doesn't list mint %s, which has no outcome"
                                .formatted(mint)));
    }

    private static StoreUnreachable failed(IOException e) {
        return new StoreUnreachable("the mints can't be sorted on disk: " + e, false, e);
    }

    @Override
    public void close() {
        try {
            notes.close();
        } catch (IOException e) {
            throw failed(e);
        }
    }
}
