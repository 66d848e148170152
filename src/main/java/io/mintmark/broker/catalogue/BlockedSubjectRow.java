package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.grant.BlockRule;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.OffsetDateTime;

/**
 * A row of {@code broker.blocked_subject}, by the alias {@code b}. Unlike a grant, one that can't
 * be read isn't as good as absent: nothing is decided without it.
 */
public final class BlockedSubjectRow {
    static final String KIND = "blocked_subject";
    private static final String ENDLESS = "infinity";

    private static final String IN_FORCE =
            "b.enabled AND (b.until IS NULL OR b.until > clock_timestamp())";

    /**
     * The end of the last block of every token of exactly the subject {@code asked}, as the text of
     * its JSON; null if there is none. Blocks that have ended are left out, because only an edit,
     * which makes another state, can put them in force again.
     */
    static final String UNTIL =
            """
            (SELECT to_jsonb(max(coalesce(b.until, 'infinity'))) #>> '{}'
               FROM broker.blocked_subject AS b
              WHERE (b.tenant = asked.tenant OR b.tenant IS NULL)
                AND (b.idp = asked.idp OR b.idp IS NULL)
                AND b.match = 'exact' AND b.claims = '{}' AND b.subject = asked.subject
                AND hashtextextended(b.subject, 0) = hashtextextended(asked.subject, 0) AND %s)\
            """
                    .formatted(IN_FORCE);

    private static final String DOCUMENT =
            BoundedRows.document(
                    """
                    jsonb_build_object('idp', b.idp, 'match', b.match, 'subject', b.subject,
                                       'claims', b.claims, 'until', b.until)\
                    """,
                    "b.subject",
                    "b.claims");

    /** The rules in force of a tenant, by the alias {@code t}. */
    static final String RULES =
            BoundedRows.of(KIND, "cast(b.id AS text)", DOCUMENT, rules("b.tenant = t.name"));

    /** The rules in force of all tenants, as JSON. */
    static final String RULES_OF_ALL_TENANTS =
            BoundedRows.list("b.id", DOCUMENT, rules("b.tenant IS NULL"));

    private BlockedSubjectRow() {}

    private static String rules(String condition) {
        return "FROM broker.blocked_subject AS b WHERE (b.match = 'glob' OR b.claims <> '{}') AND "
                + IN_FORCE
                + " AND "
                + condition;
    }

    /** Maps a row of {@link #RULES}, or of the history. */
    public static BlockRule map(JsonNode row) {
        return new BlockRule(
                DocumentFields.text(row, "idp").map(IdpName::new),
                GrantRow.pattern(row.path("match").asText(), row.path("subject").asText()),
                IdentityProviderRow.conditions(row.path("claims")),
                DocumentFields.time(row, "until").orElse(Instant.MAX));
    }

    /** Maps {@link #UNTIL}. */
    static Instant until(@Nullable String time) {
        if (time == null) {
            return Instant.MIN;
        }
        return time.equals(ENDLESS) ? Instant.MAX : OffsetDateTime.parse(time).toInstant();
    }
}
