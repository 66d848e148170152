package io.mintmark.console.pages.proof;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.proof.ProofPage.LogExtent;
import io.mintmark.console.verification.ProofRun;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/**
 * The log from its first row to now: how far the last verification passed, and how far the log is
 * sealed.
 *
 * @param verified the time of the checkpoint up to which the last verification passed; empty if
 *     there was none, or it found something wrong
 * @param result of the last verification in its words; empty if there was none
 */
record LogBar(
        Instant first,
        Optional<Instant> verified,
        Optional<Instant> sealed,
        Optional<String> result) {
    private static final String SEALED_AT =
            "SELECT c.sealed_at FROM audit.checkpoint AS c WHERE c.number = ?";

    /** A part is at least so wide, in percent, however short its time is. */
    private static final double LEAST = 1.5;

    private static final double WHOLE = 100;

    /**
     * The bar of a log that has rows.
     *
     * @param run the last verification, if this console began it
     * @param recorded the last verification on record, if it is newer
     */
    static Optional<LogBar> of(
            Connection connection,
            LogExtent extent,
            Optional<ProofRun> run,
            Optional<RecordedResult> recorded)
            throws SQLException {
        return extent.first().isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new LogBar(
                                extent.first().get().at(),
                                recorded.isPresent()
                                        ? passed(connection, recorded.get())
                                        : run.flatMap(LogBar::passed),
                                extent.sealed().map(LastCheckpoint::at),
                                recorded.map(RecordedResult::sentence)
                                        .or(() ->
                                                run.filter(one -> one.end().isPresent())
                                                        .map(ProofRun::verdict))));
    }

    private static Optional<Instant> passed(Connection connection, RecordedResult result)
            throws SQLException {
        return result.isWrong() || result.checkpoint().isEmpty()
                ? Optional.empty()
                : Query.of(SEALED_AT, result.checkpoint().get())
                        .first(connection, row -> Query.time(row, "sealed_at"));
    }

    private static Optional<Instant> passed(ProofRun run) {
        return run.isWrong()
                ? Optional.empty()
                : run.end().flatMap(ProofRun.End::summary).flatMap(summary -> summary.sealedAt());
    }

    /** The width of the verified part. */
    String verifiedWidth(Instant now) {
        return percent(verified.map(at -> verifiedShare(at, now)).orElse(0.0));
    }

    /** The width of the part that checkpoints cover, with the verified part. */
    String sealedWidth(Instant now) {
        return percent(sealed.map(at -> sealedShare(at, now)).orElse(0.0));
    }

    private double sealedShare(Instant at, Instant now) {
        return Math.clamp(share(at, now), LEAST, WHOLE - LEAST);
    }

    private double verifiedShare(Instant at, Instant now) {
        double most = sealed.map(end -> sealedShare(end, now)).orElse(WHOLE - LEAST);
        boolean isAll = sealed.filter(at::isBefore).isEmpty();
        return Math.clamp(share(at, now), LEAST / 2, isAll ? most : most - LEAST / 2);
    }

    private double share(Instant at, Instant now) {
        double whole = Math.max(1, Duration.between(first, now).toMillis());
        return WHOLE * Duration.between(first, at).toMillis() / whole;
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.2f%%", share);
    }

    /** The bar in words, for people who can't see it. */
    String sentence(Frame frame) {
        return "The log begins %s. %s. %s."
                .formatted(
                        frame.at(first).clock(),
                        verifiedWords(frame),
                        sealed.map(at -> "Sealed up to " + frame.at(at).clock())
                                .orElse("Not sealed yet"));
    }

    /** How far the log is verified, in the words of the last verification. */
    String verifiedWords(Frame frame) {
        String words = result.map(LogBar::withoutStop).orElse("Not verified yet");
        return verified.map(at -> "%s (%s)".formatted(words, frame.at(at).clock())).orElse(words);
    }

    private static String withoutStop(String sentence) {
        return sentence.endsWith(".") ? sentence.substring(0, sentence.length() - 1) : sentence;
    }
}
