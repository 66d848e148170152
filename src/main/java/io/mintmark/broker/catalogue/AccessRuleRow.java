package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.broker.grant.AccessRule;

/** A row of {@code broker.access_rule}, by the alias {@code q}, as JSON. */
final class AccessRuleRow {
    static final String KIND = "access_rule";

    /** Selects the enabled rules of a tenant, by the alias {@code t}. */
    static final String ROWS =
            BoundedRows.of(
                    KIND,
                    "cast(q.id AS text)",
                    BoundedRows.document(
                            """
                            jsonb_build_object('idp', q.idp, 'match', q.match, 'subject', q.subject,
                                               'key', q.key, 'claims', q.claims,
                                               'break_glass', q.break_glass, 'consent', q.consent)\
                            """,
                            "q.subject",
                            "q.claims"),
                    "FROM broker.access_rule AS q WHERE q.tenant = t.name AND q.enabled"
                            + " AND (NOT t.require_second_admin OR q.approved_at IS NOT NULL)");

    private AccessRuleRow() {}

    static AccessRule map(JsonNode row) {
        return new AccessRule(
                new IdpName(row.path("idp").asText()),
                GrantRow.pattern(row.path("match").asText(), row.path("subject").asText()),
                new KeyName(row.path("key").asText()),
                IdentityProviderRow.conditions(row.path("claims")),
                row.path("break_glass").booleanValue(),
                row.path("consent").booleanValue());
    }
}
