package io.mintmark.auditor.command;

import io.mintmark.auditor.verify.Verification;

import java.util.ArrayList;
import java.util.List;

/**
 * The verdict on a verified log.
 *
 * @param wrong findings in rows that brokers wrote
 * @param foreign checkpoints that no broker made
 * @param ungranted mints that the configuration of their time didn't allow
 * @param altered objects of the schema that differ from the release's
 * @param unaccepted declarations and doubts that the auditor did not accept
 */
record AuditVerdict(long wrong, long foreign, long ungranted, long altered, long unaccepted) {
    /** The verdict in words, for the gravest finding. */
    String sentence(Verification.Summary summary) {
        List<String> findings = new ArrayList<>();
        if (ungranted > 0) {
            findings.add(
                    "%s NOT granted according to the configuration history"
                            .formatted(counted(ungranted, "mint was", "mints were")));
        }
        if (foreign > 0) {
            findings.add(
                    "%s not made by a broker"
                            .formatted(
                                    counted(
                                            foreign,
                                            "checkpoint in the log was",
                                            "checkpoints in the log were")));
        }
        if (altered > 0) {
            findings.add(
                    "%s from this release"
                            .formatted(
                                    counted(
                                            altered,
                                            "object of the schema DIFFERS",
                                            "objects of the schema DIFFER")));
        }
        String others = String.join("; ", findings);
        if (wrong > 0) {
            return "The log is NOT intact: %s.%s"
                    .formatted(
                            counted(wrong, "finding", "findings"),
                            others.isEmpty() ? "" : " Also: %s.".formatted(others));
        }
        if (ungranted > 0 || altered > 0) {
            return "The log is intact, but %s.".formatted(others);
        }
        String proven = proven(summary);
        if (foreign > 0) {
            return "%s But %s.".formatted(proven, others);
        }
        return unaccepted > 0
                ? "%s But %s not accepted."
                        .formatted(
                                proven,
                                counted(
                                        unaccepted,
                                        "declaration or doubt is",
                                        "declarations or doubts are"))
                : proven;
    }

    private static String counted(long count, String one, String many) {
        return "%,d %s".formatted(count, count == 1 ? one : many);
    }

    /**
     * Rows that were cut off the end of a log are only noticed with checkpoints that were kept
     * elsewhere.
     */
    private static String proven(Verification.Summary summary) {
        if (summary.part().isPresent()) {
            return "Nothing in this part was changed, and nothing in it is missing.";
        }
        return summary.kept()
                .map(last ->
                        "Nothing was changed, and nothing is missing up to checkpoint %d."
                                .formatted(last.number()))
                .orElse(
                        "Nothing was changed up to checkpoint %d. This run can't detect whether later rows were removed."
                                .formatted(summary.last()));
    }
}
