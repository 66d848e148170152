package io.mintmark.console.pages;

import io.mintmark.credential.CredentialType;
import io.mintmark.credential.CredentialType.LoggedMint;
import io.mintmark.credential.CredentialType.ProviderLog;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * What all pages have in common.
 *
 * @param title the question that the page answers
 * @param section the entry of the navigation that it belongs to: the first part of its path
 * @param viewer the user; none on the pages before a login
 * @param seesAll whether the viewer sees all tenants, and with them rows that belong to no tenant
 * @param now when it was requested
 * @param requestId its id in the log
 * @param failed the verification that found the log altered, or gaps that were declared in it
 * @param types the types of credentials that this release knows, by name
 */
record Frame(
        String title,
        String section,
        Optional<String> viewer,
        boolean seesAll,
        Instant now,
        String requestId,
        Optional<ProofRun> failed,
        Map<String, CredentialType> types) {

    /** An id of so many characters is shown whole, such as an access key's. */
    private static final int WHOLE = 24;

    /** What is left of a longer one's beginning and end; the whole stands elsewhere on the page. */
    private static final int SHORT = 8;

    Moment at(Instant time) {
        return new Moment(time, now);
    }

    /** Whether the navigation's entry is the page, or leads to its like. */
    boolean isIn(String entry) {
        return section.equals(entry);
    }

    /** Whether the last verification found that a row of this mint was altered. */
    boolean isAltered(String mint) {
        return failed.filter(run -> run.isWrong(mint)).isPresent();
    }

    /** How credentials of a type can be ended before they expire. */
    String earlyEnd(String type) {
        return Optional.ofNullable(types.get(type))
                .map(known ->
                        "To end a credential of type %s early: %s"
                                .formatted(type, known.earlyEnd()))
                .orElseGet(
                        () -> "This release does not know credentials of type %s.".formatted(type));
    }

    /** Where the provider's log shows a mint; empty for denials, which never reached a provider. */
    Optional<ProviderLog> providerLog(Mint mint) {
        MintLine line = mint.line();
        return line.providerType()
                .map(types::get)
                .map(type ->
                        type.log(
                                new LoggedMint(
                                        line.tenant().orElse(""),
                                        line.key().orElse(""),
                                        line.credentialId(),
                                        line.at(),
                                        line.expiresAt())));
    }

    /** A whole number as people write it. */
    static String number(long number) {
        return String.format(Locale.ENGLISH, "%,d", number);
    }

    /** So many of something, whose plural is regular. */
    static String count(long number, String what) {
        return number(number) + " " + what + (number == 1 ? "" : "s");
    }

    /** Seconds as people say them. */
    static String seconds(long seconds) {
        return Moment.length(Duration.ofSeconds(seconds));
    }

    /** An id's beginning and end, between which the others differ least. */
    static String shortened(String id) {
        return id.length() <= WHOLE
                ? id
                : id.substring(0, SHORT) + "…" + id.substring(id.length() - SHORT);
    }
}
