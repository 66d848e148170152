package io.mintmark.audit;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The mints without outcome, as the rows tell, against those that the log itself lists as such. The
 * rows of a mint mostly stand close to each other in one chain; half a mint is remembered until the
 * other half comes.
 */
final class OpenMints {
    /** Halves that are remembered; a log with more can't be compared in bounded memory. */
    private static final int MOST = 500_000;

    /** Places in {@link LogReader.Row#fields}, which are in the order of the columns. */
    private static final int MINT = 0;

    private static final int KIND = 2;

    private final Findings findings;
    private final Set<String> begun = new HashSet<>();
    private final Set<String> ended = new HashSet<>();
    private boolean tooMany;

    OpenMints(Findings findings) {
        this.findings = findings;
    }

    void row(LogReader.Row row) {
        String kind = row.fields().get(KIND);
        String mint = row.fields().get(MINT);
        if (tooMany || kind == null || mint == null) {
            return;
        }
        if (kind.equals(Kind.REQUESTED.word())) {
            join(mint, ended, begun);
        } else if (!kind.equals(Kind.DENIED.word()) && !kind.equals(Kind.REJECTED.word())) {
            join(mint, begun, ended);
        }
        tooMany = begun.size() + ended.size() > MOST;
    }

    private static void join(String mint, Set<String> others, Set<String> own) {
        if (!others.remove(mint)) {
            own.add(mint);
        }
    }

    /** To be called after the last row. Without tables there is no list to compare with. */
    void compare(Optional<LogReader.LogTables> tables) {
        if (tooMany) {
            findings.told("audit.unresolved wasn't compared: too many mints are half there");
            return;
        }
        if (!begun.isEmpty()) {
            findings.told("%d mints have no outcome".formatted(begun.size()));
        }
        if (!ended.isEmpty()) {
            findings.told(
                    "%d mints have an outcome but were never requested, one of them %s"
                            .formatted(ended.size(), ended.iterator().next()));
        }
        tables.ifPresent(this::compare);
    }

    private void compare(LogReader.LogTables tables) {
        tables.unresolved(mint -> {
            if (!begun.remove(mint)) {
                findings.wrong(
                        "audit.unresolved lists mint %s, which isn't unresolved".formatted(mint));
            }
        });
        begun.stream()
                .sorted()
                .forEach(mint ->
                        findings.wrong(
                                "audit.unresolved doesn't list mint %s, which has no outcome"
                                        .formatted(mint)));
    }
}
