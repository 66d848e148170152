package io.mintmark.audit;

import java.util.HashSet;
import java.util.Set;

/**
 * Finds credentials that are recorded as ended though their mint was never requested. An end may be
 * in another chain than its request and long after it, so requests are looked up, many at a time.
 */
final class EndedMints {
    private static final int BATCH = 1_000;

    /** Places in {@link LogReader.Row#fields}, which are in the order of the columns. */
    private static final int MINT = 0;

    private static final int KIND = 2;

    private final LogReader log;
    private final Findings findings;
    private final boolean mayLack;
    private final Set<String> waiting = new HashSet<>();

    /**
     * @param mayLack whether requests may be missing that a declaration covers
     */
    EndedMints(LogReader log, Findings findings, boolean mayLack) {
        this.log = log;
        this.findings = findings;
        this.mayLack = mayLack;
    }

    /** The next row. Of a part nothing can be said, since it may lack requests. */
    void row(LogReader.Row row) {
        String mint = row.fields().get(MINT);
        if (mint == null
                || !Kind.ENDED.word().equals(row.fields().get(KIND))
                || log.part().isPresent()) {
            return;
        }
        waiting.add(mint);
        if (waiting.size() >= BATCH) {
            lookUp();
        }
    }

    /** To be called after the last row. */
    void end() {
        if (!waiting.isEmpty()) {
            lookUp();
        }
    }

    private void lookUp() {
        waiting.removeAll(log.requested(waiting));
        for (String mint : waiting) {
            String sentence = "Mint %s ended but was never requested".formatted(mint);
            if (mayLack) {
                findings.told(sentence + "; rows were declared lost");
            } else {
                findings.wrong(sentence);
            }
        }
        waiting.clear();
    }
}
