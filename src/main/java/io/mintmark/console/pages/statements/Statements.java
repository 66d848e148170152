package io.mintmark.console.pages.statements;

import static java.util.stream.Collectors.joining;

import io.mintmark.auditor.explain.Explanations.Actor;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Statements that change the configuration, ready to be copied: the console itself changes nothing.
 */
public final class Statements {
    /** The number of a statement's lines that a page shows unfolded. */
    static final int LONG = 20;

    /** A word in angle brackets is invalid SQL, so the statement fails until it is replaced. */
    static final String REASON = "<reason>";

    private static final String FILL_IN =
            "-- Replace <reason> with a quoted text, such as a ticket. Until then this is not valid SQL.\n";

    private Statements() {}

    /**
     * A statement and what it does.
     *
     * @param does as a heading
     * @param who may run it
     * @param leaves what it does not do
     * @param types the types of the credentials that it does not end
     */
    public record Statement(
            String does, String who, List<String> leaves, List<String> types, String sql) {
        Statement(String does, String who, String sql) {
            this(does, who, List.of(), List.of(), sql);
        }
    }

    static final String KEEPERS = "For the tenant's admins and platform admins.";
    private static final String READERS = "For auditors, the tenant's admins and platform admins.";
    static final String PLATFORM = "For platform admins.";

    /** Signs off grants. */
    public static Statement review(List<Long> grants) {
        return new Statement(
                "Sign these grants off",
                KEEPERS,
                """
                -- Replace <note> with a quoted text, such as a ticket. Until then this is not valid SQL.
                -- Write 'remove' instead of 'keep' to disable a grant.
                INSERT INTO broker.grant_review (grant_id, verdict, note)
                VALUES %s;\
                """
                        .formatted(
                                grants.stream()
                                        .map("(%d, 'keep', <note>)"::formatted)
                                        .collect(joining(",\n       "))));
    }

    /** Lists all grants of a key, for pages that show only some. */
    public static Statement listGrants(String tenant, String key, Optional<Instant> at) {
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

    /** Revokes a grant. From the commit on, no mint begins on it. */
    public static Statement revoke(String tenant, long grant, Outstanding out) {
        return new Statement(
                "Revoke this grant",
                KEEPERS,
                List.of(out.left("this grant")),
                out.types(),
                """
                UPDATE broker.subject_grant SET enabled = false
                 WHERE tenant = %s AND id = %d;\
                """
                        .formatted(SqlText.of(tenant), grant));
    }

    /**
     * Blocks a subject, whatever grants it has.
     *
     * @param idp whose tokens are meant; none for any of the tenant's identity providers
     * @param out the credentials that were handed out
     */
    public static Statement block(
            String tenant, Optional<String> idp, String subject, Outstanding out) {
        return new Statement(
                "Block this subject with tokens from " + scope(tenant, idp),
                KEEPERS,
                List.of(out.left("this subject")),
                out.types(),
                FILL_IN
                        + """
                        -- INSERT 0 0 means that this block exists; nothing was written.
                        INSERT INTO broker.blocked_subject (tenant, idp, subject, match, until, reason)
                        VALUES (%s, %s, %s, 'exact',
                                NULL, -- no end; for a limited time: now() + interval '7 days'
                                %s)
                            ON CONFLICT DO NOTHING;\
                        """
                                .formatted(
                                        SqlText.of(tenant),
                                        SqlText.of(idp),
                                        SqlText.of(subject),
                                        REASON));
    }

    private static String scope(String tenant, Optional<String> idp) {
        return idp.map(name -> "identity provider %s of tenant %s".formatted(name, tenant))
                .orElse("any identity provider of tenant " + tenant);
    }

    /**
     * Removes the end of a block.
     *
     * @param idp the block's; none for any of the tenant's identity providers
     * @param block the id of the existing one, of the same subject
     */
    public static Statement blockLonger(
            String tenant, Optional<String> idp, long block, Outstanding out) {
        return new Statement(
                "Block this subject without an end, with tokens from " + scope(tenant, idp),
                KEEPERS,
                List.of(
                        "This removes the end of the existing block %d and adds to the block's reason."
                                .formatted(block),
                        out.left("this subject")),
                out.types(),
                FILL_IN
                        + """
                        UPDATE broker.blocked_subject
                           SET until = NULL, reason = left(concat_ws('; ', reason, %s), 1000)
                         WHERE tenant = %s AND id = %d AND enabled;\
                        """
                                .formatted(REASON, SqlText.of(tenant), block));
    }

    /**
     * The required claims are left to the user who runs it.
     *
     * @param actor who is to act for the subject; empty for the subject alone
     */
    public static Statement give(
            String tenant, String idp, String subject, Optional<Actor> actor, String key) {
        String title = "Give this subject the key " + key;
        return new Statement(
                actor.map(one -> title + ", through " + one.name()).orElse(title),
                KEEPERS,
                FILL_IN
                        + NewGrant.insert(
                                tenant, SqlText.of(idp), SqlText.of(subject), actor, key));
    }

    /** Enables a grant unchanged. */
    public static Statement enable(String tenant, long grant) {
        return new Statement(
                "Enable grant %d again, which gives this subject the key".formatted(grant),
                KEEPERS,
                FILL_IN
                        + """
                        UPDATE broker.subject_grant
                           SET enabled = true, reason = left(concat_ws('; ', reason, %s), 1000)
                         WHERE tenant = %s AND id = %d;\
                        """
                                .formatted(REASON, SqlText.of(tenant), grant));
    }

    /** Postpones the end of a grant; a grant that has ended is in force again. */
    public static Statement extend(String tenant, long grant) {
        return new Statement(
                "Extend this grant by 30 days",
                KEEPERS,
                FILL_IN
                        + """
                        UPDATE broker.subject_grant
                           SET valid_until = greatest(valid_until, now()) + interval '30 days',
                               reason = left(concat_ws('; ', reason, %s), 1000)
                         WHERE tenant = %s AND id = %d;\
                        """
                                .formatted(REASON, SqlText.of(tenant), grant));
    }

    /**
     * A grant for somebody. The placeholder in angle brackets is invalid SQL, so the statement
     * fails until it is replaced, and the database rejects another tenant's identity provider.
     *
     * @param idps some of the tenant's identity providers, to choose from
     */
    public static Statement giveSomebody(String tenant, List<String> idps, String key) {
        String choice =
                idps.isEmpty()
                        ? "the tenant has none yet"
                        : "such as " + idps.stream().map(SqlText::of).collect(joining(", "));
        return new Statement(
                "Give a subject the key",
                KEEPERS,
                """
                -- Replace the words in angle brackets with quoted texts. Until then this is not valid SQL.
                --   <identity provider>  one of the tenant's: %s
                --   <subject>            the sub claim of its tokens, whole
                --   <reason>             why, such as a ticket
                """
                                .formatted(choice)
                        + NewGrant.insert(
                                tenant, "<identity provider>", "<subject>", Optional.empty(), key));
    }

    /** Disables a key. From the commit on, clients get the same error as for an unknown key. */
    public static Statement disableKey(String tenant, String key, String type) {
        return new Statement(
                "Disable this key",
                KEEPERS,
                List.of(Outstanding.LIVES_ON),
                List.of(type),
                """
                UPDATE broker.key SET enabled = false
                 WHERE tenant = %s AND name = %s;\
                """
                        .formatted(SqlText.of(tenant), SqlText.of(key)));
    }

    /** Disables a tenant: from the commit on, its tokens are refused. */
    public static Statement disableTenant(String tenant) {
        return new Statement(
                "Disable this tenant",
                PLATFORM,
                List.of(
                        Outstanding.LIVES_ON,
                        "To end a credential early, see the page of its subject."),
                List.of(),
                """
                UPDATE broker.tenant SET enabled = false
                 WHERE name = %s;\
                """
                        .formatted(SqlText.of(tenant)));
    }

    /** Makes a tenant visible in the console for viewers with a claim. */
    public static Statement letSee(String tenant) {
        return new Statement(
                "Give access to this tenant in the console",
                PLATFORM,
                """
                -- Replace both words in angle brackets with quoted texts. Until then this is not valid SQL.
                INSERT INTO broker.console_access (tenant, claim, value, reason)
                VALUES (%s, 'email', to_jsonb(text <email address>), %s);\
                """
                        .formatted(SqlText.of(tenant), REASON));
    }
}
