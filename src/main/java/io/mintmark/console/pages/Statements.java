package io.mintmark.console.pages;

import static java.util.stream.Collectors.joining;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** What changes the configuration, ready to be copied: the console itself writes nothing. */
final class Statements {
    private static final String WHY = SqlText.of("TICKET-1: why");

    private Statements() {}

    /**
     * A statement and what it does.
     *
     * @param does as a heading
     * @param who may run it
     * @param leaves what it doesn't do, though one may think so
     */
    record Statement(String does, String who, Optional<String> leaves, String sql) {
        Statement(String does, String who, String sql) {
            this(does, who, Optional.empty(), sql);
        }
    }

    private static final String KEEPERS = "For the tenant's admins and platform admins.";
    private static final String READERS = "For auditors, the tenant's admins and platform admins.";
    private static final String PLATFORM = "For platform admins.";

    /** All that a page may be too short for. */
    static Statement listGrants(String tenant, String key, Optional<Instant> at) {
        return at.isPresent()
                ? new Statement(
                        "List who could mint it then",
                        READERS,
                        "SELECT * FROM audit.who_could_mint(%s, %s, %s);"
                                .formatted(
                                        SqlText.of(tenant),
                                        SqlText.of(key),
                                        SqlText.of(at.get().toString())))
                : new Statement(
                        "List who may mint it",
                        READERS,
                        """
                        SELECT * FROM broker.who_can_mint
                         WHERE tenant = %s AND key = %s
                         ORDER BY subject;\
                        """
                                .formatted(SqlText.of(tenant), SqlText.of(key)));
    }

    /**
     * No mint begins on the grant from the commit on.
     *
     * @param out what was minted on it
     */
    static Statement revoke(String tenant, long grant, Outstanding out) {
        return new Statement(
                "Revoke this grant",
                KEEPERS,
                Optional.of(out.left("this grant")),
                """
                UPDATE broker.subject_grant SET enabled = false
                 WHERE tenant = %s AND id = %d;\
                """
                        .formatted(SqlText.of(tenant), grant));
    }

    /**
     * Whatever grants there are or will be.
     *
     * @param out what the subject got
     */
    static Statement block(String tenant, Optional<String> idp, String subject, Outstanding out) {
        return new Statement(
                "Block this subject in tenant " + tenant,
                KEEPERS,
                Optional.of(out.left("this subject")),
                """
                INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason)
                VALUES (%s, %s, %s, 'exact', %s)
                    ON CONFLICT (internal.block_digest(tenant, idp, match, subject)) WHERE enabled
                    DO UPDATE SET until = NULL, reason = excluded.reason;\
                """
                        .formatted(SqlText.of(tenant), SqlText.of(idp), SqlText.of(subject), WHY));
    }

    /** What the subject's token must hold besides is left to whoever runs it. */
    static Statement give(String tenant, String idp, String subject, String key) {
        return new Statement(
                "Give this subject the key",
                KEEPERS,
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                VALUES (%s, %s, %s, %s, %s)
                    ON CONFLICT DO NOTHING;\
                """
                        .formatted(
                                SqlText.of(tenant),
                                SqlText.of(idp),
                                SqlText.of(subject),
                                SqlText.of(key),
                                WHY));
    }

    /**
     * For whoever is meant: a word in angle brackets is no SQL, so nothing runs before it is filled
     * in, and the database refuses an identity provider that isn't the tenant's.
     *
     * @param idps some of the tenant's identity providers, to choose from
     */
    static Statement giveSomebody(String tenant, List<String> idps, String key) {
        String choice =
                idps.isEmpty()
                        ? "the tenant has none yet"
                        : "such as " + idps.stream().map(SqlText::of).collect(joining(", "));
        return new Statement(
                "Give a subject the key",
                KEEPERS,
                """
                -- Fill in both words in angle brackets, as texts in quotes: before that it doesn't run.
                --   <identity provider>  one of the tenant's: %s
                --   <subject>            the sub claim of its tokens, whole
                INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
                VALUES (%s, <identity provider>, <subject>, %s, %s)
                    ON CONFLICT DO NOTHING;\
                """
                        .formatted(choice, SqlText.of(tenant), SqlText.of(key), WHY));
    }

    /** Whoever asks for the key is told that there is none. */
    static Statement disableKey(String tenant, String key) {
        return new Statement(
                "Disable this key",
                KEEPERS,
                Optional.of(Outstanding.LIVES_ON),
                """
                UPDATE broker.key SET enabled = false
                 WHERE tenant = %s AND name = %s;\
                """
                        .formatted(SqlText.of(tenant), SqlText.of(key)));
    }

    /** Its tokens are refused from the commit on. */
    static Statement disableTenant(String tenant) {
        return new Statement(
                "Disable this tenant",
                PLATFORM,
                Optional.of(Outstanding.LIVES_ON),
                """
                UPDATE broker.tenant SET enabled = false
                 WHERE name = %s;\
                """
                        .formatted(SqlText.of(tenant)));
    }

    /** Who shows such a claim sees the tenant in the console. */
    static Statement letSee(String tenant) {
        return new Statement(
                "Let somebody see this tenant here",
                PLATFORM,
                """
                INSERT INTO broker.console_access (tenant, claim, value, reason)
                VALUES (%s, 'email', '"somebody@example.com"', %s);\
                """
                        .formatted(SqlText.of(tenant), WHY));
    }
}
