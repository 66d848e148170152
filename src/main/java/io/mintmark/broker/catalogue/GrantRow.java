package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.config.Cidr;
import io.mintmark.base.tenant.Glob;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.broker.grant.ActorRule;
import io.mintmark.broker.grant.Grant;
import io.mintmark.broker.grant.SubjectPattern;

/** A row of {@code broker.subject_grant}, by the alias {@code g}, as JSON. */
public final class GrantRow {
    static final String KIND = "grant";

    private static final String DOCUMENT =
            BoundedRows.document(
                    RowDigest.columns("g"),
                    "g.subject",
                    "g.claims",
                    "g.actor",
                    "g.actor_claims",
                    "g.networks");

    /** Selects the glob grants of a tenant. */
    static final String GLOBS = rows("g.tenant = t.name AND g.match = 'glob'");

    private GrantRow() {}

    /**
     * Grants in force: enabled, and approved where a second admin is required. The tenant has the
     * alias {@code t}.
     */
    static String rows(String condition) {
        return BoundedRows.of(
                KIND,
                "cast(g.id AS text)",
                DOCUMENT,
                "FROM broker.subject_grant AS g WHERE g.enabled"
                        + " AND (NOT t.require_second_admin OR g.approved_at IS NOT NULL) AND "
                        + condition);
    }

    public static Grant map(JsonNode row) {
        return new Grant(
                row.path("id").longValue(),
                new IdpName(row.path("idp").asText()),
                pattern(row.path("match").asText(), row.path("subject").asText()),
                new KeyName(row.path("key").asText()),
                IdentityProviderRow.conditions(row.path("claims")),
                DocumentFields.text(row, "actor").map(actor -> actor(row, actor)),
                DocumentFields.texts(row, "networks").stream().map(Cidr::parse).toList(),
                DocumentFields.time(row, "valid_from"),
                DocumentFields.time(row, "valid_until"),
                DocumentFields.seconds(row, "max_duration"),
                RowDigest.GRANT.of(row));
    }

    private static ActorRule actor(JsonNode row, String actor) {
        return new ActorRule(
                new IdpName(row.path("actor_idp").asText()),
                pattern(row.path("actor_match").asText(), actor),
                IdentityProviderRow.conditions(row.path("actor_claims")));
    }

    /**
     * Maps a grant of a glob. The database refuses a glob without a literal segment in front; one
     * that it holds all the same grants nothing.
     */
    static Grant glob(JsonNode row) {
        Grant grant = map(row);
        if (grant.subject() instanceof SubjectPattern.Matching(Glob glob) && !glob.isAnchored()) {
            throw new IllegalArgumentException("the glob doesn't start with a literal segment");
        }
        return grant;
    }

    static SubjectPattern pattern(String match, String subject) {
        return switch (match) {
            case "exact" -> new SubjectPattern.Exact(subject);
            case "glob" -> new SubjectPattern.Matching(new Glob(subject));
            default ->
                    throw new IllegalArgumentException(
                            "match is '%s'; it must be exact or glob".formatted(match));
        };
    }
}
