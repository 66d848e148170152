package io.mintmark.console.pages.proof;

import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.verification.Finding;
import io.mintmark.console.verification.ProofRun;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;

/** A finding of a verification, each row that it names with the address of its page. */
record FindingLine(Finding.Kind kind, List<Part> parts) {
    private static final int UNFOLDED = 10;

    /**
     * A part of the sentence.
     *
     * @param address of the page of the row that the part names
     */
    record Part(String text, Optional<String> address) {}

    /** The findings of a verification, in the order in which it reported them. */
    static List<FindingLine> of(ProofRun run) {
        return run.findings().stream().map(FindingLine::of).toList();
    }

    static FindingLine of(Finding finding) {
        String sentence = finding.sentence();
        List<Part> parts = new ArrayList<>();
        int end = 0;
        for (MatchResult row : finding.rows()) {
            parts.add(new Part(sentence.substring(end, row.start()), Optional.empty()));
            parts.add(new Part(row.group(), Optional.of(address(row))));
            end = row.end();
        }
        parts.add(new Part(sentence.substring(end), Optional.empty()));
        return new FindingLine(finding.kind(), parts);
    }

    private static String address(MatchResult row) {
        return row.group("mint") != null
                ? Links.mint(row.group("mint"))
                : Links.change(row.group("tenant"), Long.parseLong(row.group("revision")));
    }

    /** The findings that are shown at once. */
    static List<FindingLine> first(ProofRun run) {
        return of(run).stream().limit(UNFOLDED).toList();
    }

    /** The findings after the first ones. */
    static List<FindingLine> others(ProofRun run) {
        return of(run).stream().skip(UNFOLDED).toList();
    }
}
