package io.mintmark.postgres;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.grant.BlockedGlob;
import io.mintmark.grant.GlobIndex;
import io.mintmark.tenant.Glob;
import io.mintmark.tenant.IdpName;

import java.time.Instant;
import java.time.OffsetDateTime;

/**
 * A row of {@code broker.blocked_subject}, by the alias {@code b}. Unlike a grant, one that can't
 * be read isn't as good as absent: nothing is decided without it.
 */
final class BlockedSubjectRow {
    private static final String ENDLESS = "infinity";

    private static final String IN_FORCE =
            "b.enabled AND (b.until IS NULL OR b.until > clock_timestamp())";

    /**
     * When the last block of exactly {@code :subject} of {@code :idp} in {@code :tenant} ends, as
     * JSON; null if there is none. What has ended already is left out, since only an edit, which
     * makes another state, can bring it back.
     */
    static final String UNTIL =
            """
            (SELECT max(coalesce(b.until, 'infinity')) FROM broker.blocked_subject AS b
              WHERE (b.tenant = :tenant OR b.tenant IS NULL) AND (b.idp = :idp OR b.idp IS NULL)
                AND b.match = 'exact' AND b.subject = :subject
                AND hashtextextended(b.subject, 0) = hashtextextended(:subject, 0) AND %s)\
            """
                    .formatted(IN_FORCE);

    private BlockedSubjectRow() {}

    /** The globs in force, as JSON. */
    static String globs(String condition) {
        return BoundedRows.list(
                "b.id",
                BoundedRows.document(
                        "jsonb_build_object('idp', b.idp, 'subject', b.subject, 'until', b.until)",
                        "b.subject"),
                "FROM broker.blocked_subject AS b WHERE b.match = 'glob' AND "
                        + IN_FORCE
                        + " AND "
                        + condition);
    }

    /** Maps what {@link #globs} gives. */
    static GlobIndex<BlockedGlob> index(JsonNode rows) {
        return GlobIndex.of(Documents.all(rows, "blocked subject", BlockedSubjectRow::map));
    }

    private static BlockedGlob map(JsonNode row) {
        return new BlockedGlob(
                Documents.text(row, "idp").map(IdpName::new),
                new Glob(row.path("subject").asText()),
                Documents.time(row, "until").orElse(Instant.MAX));
    }

    /** Maps what {@link #UNTIL} gives. */
    static Instant until(JsonNode time) {
        if (time.isNull()) {
            return Instant.MIN;
        }
        return time.asText().equals(ENDLESS)
                ? Instant.MAX
                : OffsetDateTime.parse(time.asText()).toInstant();
    }
}
