package io.mintmark.console.pages.history;

/** Decisions on requests for access, in words. */
final class Verdicts {
    private Verdicts() {}

    /** The verbs for the verdicts of decisions. */
    static String past(String verdict) {
        return switch (verdict) {
            case "approve" -> "approved";
            case "refuse" -> "refused";
            case "withdraw" -> "withdrew access under";
            default -> verdict;
        };
    }
}
