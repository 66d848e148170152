package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.Glob;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.broker.grant.BlockedGlob;
import io.mintmark.broker.grant.GlobIndex;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.time.OffsetDateTime;

/**
 * A row of {@code broker.blocked_subject}, by the alias {@code b}. Unlike a grant, one that can't
 * be read isn't as good as absent: nothing is decided without it.
 */
final class BlockedSubjectRow {
    static final String KIND = "blocked_subject";
    private static final String ENDLESS = "infinity";

    private static final String IN_FORCE =
            "b.enabled AND (b.until IS NULL OR b.until > clock_timestamp())";

    /**
     * When the last block of exactly the subject {@code asked} ends, as the text of its JSON; null
     * if there is none. What has ended already is left out, since only an edit, which makes another
     * state, can bring it back.
     */
    static final String UNTIL =
            """
            (SELECT to_jsonb(max(coalesce(b.until, 'infinity'))) #>> '{}'
               FROM broker.blocked_subject AS b
              WHERE (b.tenant = asked.tenant OR b.tenant IS NULL)
                AND (b.idp = asked.idp OR b.idp IS NULL)
                AND b.match = 'exact' AND b.subject = asked.subject
                AND hashtextextended(b.subject, 0) = hashtextextended(asked.subject, 0) AND %s)\
            """
                    .formatted(IN_FORCE);

    private static final String DOCUMENT =
            BoundedRows.document(
                    "jsonb_build_object('idp', b.idp, 'subject', b.subject, 'until', b.until)",
                    "b.subject");

    /** The globs in force of a tenant, by the alias {@code t}. */
    static final String GLOBS =
            BoundedRows.of(KIND, "cast(b.id AS text)", DOCUMENT, globs("b.tenant = t.name"));

    /** The globs in force of all tenants, as JSON. */
    static final String GLOBS_OF_ALL_TENANTS =
            BoundedRows.list("b.id", DOCUMENT, globs("b.tenant IS NULL"));

    private BlockedSubjectRow() {}

    private static String globs(String condition) {
        return "FROM broker.blocked_subject AS b WHERE b.match = 'glob' AND "
                + IN_FORCE
                + " AND "
                + condition;
    }

    /** Maps {@link #GLOBS_OF_ALL_TENANTS}. */
    static GlobIndex<BlockedGlob> index(JsonNode rows) {
        return GlobIndex.of(Documents.all(rows, "blocked subject", BlockedSubjectRow::map));
    }

    static BlockedGlob map(JsonNode row) {
        return new BlockedGlob(
                DocumentFields.text(row, "idp").map(IdpName::new),
                new Glob(row.path("subject").asText()),
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
