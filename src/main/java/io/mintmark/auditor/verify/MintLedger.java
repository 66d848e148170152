package io.mintmark.auditor.verify;

import io.mintmark.audit.StoreUnreachable;
import io.mintmark.auditor.verify.MintNotes.Note;
import io.mintmark.auditor.verify.MintProof.Objection;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * Compares the rows of each mint with each other, wherever in the log they are: each step once, no
 * outcome and no end without a request, no outcome that contradicts it, and no credential under an
 * objection.
 */
final class MintLedger implements AutoCloseable {
    /**
     * Mints that are remembered; a log with more without outcome can't be compared, and of more
     * with findings the order isn't that of the mints.
     */
    private static final int MOST = 100_000;

    /** Mints under an objection that wait for their outcome. */
    private static final int MOST_DOUBTED = 10_000;

    private static final int OUTCOME = MintStep.CALLED | MintStep.NOT_CALLED | MintStep.UNSURE;

    /** The flag for an outcome that differs from its request. */
    private static final int CONTRADICTED = 64;

    /** The flags of rows that appear more than once are shifted left by this number of bits. */
    private static final int REPEATED = 8;

    private final Findings findings;
    private final boolean isPart;
    private final boolean mayLack;
    private final MintNotes notes;
    private final Map<UUID, Objection> doubted = new LinkedHashMap<>();
    private final Map<UUID, Integer> ofDoubted = new HashMap<>();
    private final Set<UUID> open = new TreeSet<>();
    private final Map<UUID, List<Runnable>> flawed = new TreeMap<>();
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

    /** Takes the next row. */
    void add(MintStep step) {
        Optional<UUID> id = step.id();
        step.objection()
                .ifPresent(it -> {
                    boolean waits = id.isPresent() && doubted.size() < MOST_DOUBTED;
                    if (!waits || doubted.putIfAbsent(id.get(), it) != null) {
                        report(step.mint(), it);
                    }
                });
        if (step.note().isEmpty()) {
            findings.wrong(
                    "%s was inserted: no broker writes kind %s with that step"
                            .formatted(step.row(), step.kind()));
        } else if (id.isPresent()) {
            try {
                notes.add(id.get(), step.note().get());
            } catch (IOException e) {
                throw failed(e);
            }
        }
    }

    private static Note combined(Note some, Note row) {
        int rows = some.rows() | row.rows() | (some.rows() & ofStep(row.rows())) << REPEATED;
        if (some.content() == MintStep.NOTHING || row.content() == MintStep.NOTHING) {
            return new Note(rows, some.content() | row.content());
        }
        boolean differs = some.content() != row.content();
        return new Note(differs ? rows | CONTRADICTED : rows, some.content());
    }

    /**
     * Judges the mints whose rows are complete now. Call this after the last row. Without {@code
     * tables}, no list of active credentials is compared.
     */
    void end(Optional<LogReader.LogTables> tables) {
        try {
            notes.each(MintLedger::combined, (mint, all) -> judge(mint, all.rows()));
        } catch (IOException e) {
            throw failed(e);
        }
        flawed.forEach((_, reports) -> reports.forEach(Runnable::run));
        doubted.forEach((mint, it) -> judge(mint, it, ofDoubted.getOrDefault(mint, 0)));
        if (neverRequested > 0 && !isPart) {
            findings.told(
                    "%d mints have an outcome but were never requested, for example %s"
                            .formatted(neverRequested, oneNeverRequested));
        }
        if (tooMany) {
            findings.told(
                    "audit.unresolved was not checked, because more than %d mints have no outcome"
                            .formatted(MOST));
            return;
        }
        if (!open.isEmpty()) {
            findings.told("%d mints have no outcome".formatted(open.size()));
        }
        tables.ifPresent(this::compare);
    }

    private void judge(UUID mint, int all) {
        if (all >>> REPEATED != 0) {
            report(mint, () -> lacks("A step of mint %s appears more than once".formatted(mint)));
        }
        if ((all & CONTRADICTED) != 0) {
            report(
                    mint,
                    () ->
                            findings.wrong(
                                    "The rows of mint %s contradict each other".formatted(mint)));
        }
        if (doubted.containsKey(mint)) {
            ofDoubted.put(mint, all);
        }
        boolean isRequested = (all & MintStep.REQUESTED) != 0;
        if ((all & MintStep.ENDED) != 0 && !isRequested && !isPart) {
            report(mint, () -> lacks("Mint %s ended but was never requested".formatted(mint)));
        }
        if (isRequested && (all & OUTCOME) == 0) {
            tooMany |= open.size() >= MOST;
            if (!tooMany) {
                open.add(mint);
            }
        } else if (!isRequested
                && !isPart
                && (all & (MintStep.CALLED | MintStep.NOT_CALLED)) != 0) {
            report(
                    mint,
                    () -> lacks("Mint %s has an outcome but was never requested".formatted(mint)));
        } else if (!isRequested && (all & MintStep.UNSURE) != 0) {
            neverRequested++;
            oneNeverRequested =
                    oneNeverRequested == null || mint.compareTo(oneNeverRequested) < 0
                            ? mint
                            : oneNeverRequested;
        }
    }

    /** Keeps a finding for later, because mints come in any order and are reported in theirs. */
    private void report(UUID mint, Runnable finding) {
        if (flawed.containsKey(mint) || flawed.size() < MOST) {
            flawed.computeIfAbsent(mint, _ -> new ArrayList<>()).add(finding);
        } else {
            finding.run();
        }
    }

    /** All rows of the step that a row is of. */
    private static int ofStep(int row) {
        return row == MintStep.REQUESTED || row == MintStep.ENDED
                ? row
                : OUTCOME | MintStep.REFUSED;
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
        if ((rows & OUTCOME) != 0 && (rows & MintStep.CALLED) == 0) {
            return;
        }
        if (objection.ofState() && (rows & OUTCOME) == 0 && (rows & MintStep.REQUESTED) != 0) {
            findings.told(
                    "Mint %s has no outcome, and %s. A broker leaves such a row if it stops before it calls the provider"
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
                        "audit.unresolved lists mint %s, which has an outcome or was never requested"
                                .formatted(mint));
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
