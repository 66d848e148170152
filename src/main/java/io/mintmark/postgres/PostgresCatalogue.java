package io.mintmark.postgres;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.grant.CatalogueStore;
import io.mintmark.grant.Key;
import io.mintmark.grant.PatternGrants;
import io.mintmark.grant.SubjectGrants;
import io.mintmark.grant.TenantSnapshot;
import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.IdentityProvider;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads what tenants have. Each question is one statement, so that its answer is of one moment. */
public final class PostgresCatalogue implements CatalogueStore {
    private static final String REVISION =
            "SELECT cast(to_jsonb(broker.revision(:tenant)) AS text) AS document";

    private static final String TENANT =
            "SELECT cast(jsonb_build_object("
                    + "'revision', broker.revision(t.name),"
                    + "'enabled', t.enabled,"
                    + "'external_id', t.external_id,"
                    + "'identity_providers', (SELECT coalesce(jsonb_agg("
                    + IdentityProviderRow.DOCUMENT
                    + "), '[]') FROM broker.identity_provider AS p"
                    + " WHERE p.tenant = t.name AND p.enabled),"
                    + "'keys', (SELECT coalesce(jsonb_agg("
                    + KeyRow.DOCUMENT
                    + "), '[]')"
                    + KeyRow.ENABLED
                    + " AND k.tenant = t.name),"
                    + "'patterns', (SELECT coalesce(jsonb_agg("
                    + GrantRow.DOCUMENT
                    + "), '[]') FROM broker.subject_grant AS g"
                    + " WHERE g.tenant = t.name AND g.enabled AND g.match = 'glob')"
                    + ") AS text) AS document FROM broker.tenant AS t WHERE t.name = :tenant";

    private static final String GRANTS =
            "SELECT cast(jsonb_build_object("
                    + "'revision', broker.revision(:tenant),"
                    + "'grants', (SELECT coalesce(jsonb_agg("
                    + GrantRow.DOCUMENT
                    + "), '[]') FROM broker.subject_grant AS g"
                    + " WHERE g.tenant = :tenant AND g.idp = :idp AND g.match = 'exact'"
                    + " AND g.subject = :subject AND g.enabled)"
                    + ") AS text) AS document";

    private final Documents documents;

    public PostgresCatalogue(Database database) {
        this.documents = new Documents(database.reading());
    }

    @Override
    public long revision(TenantName tenant) {
        return documents.read(REVISION, Map.of("tenant", tenant.value())).getFirst().longValue();
    }

    @Override
    public TenantSnapshot tenant(TenantName tenant) {
        List<JsonNode> found = documents.read(TENANT, Map.of("tenant", tenant.value()));
        if (found.isEmpty()) {
            return TenantSnapshot.nothing(tenant, 0);
        }
        JsonNode row = found.getFirst();
        long revision = row.path("revision").longValue();
        return row.path("enabled").booleanValue()
                ? snapshot(tenant, revision, row)
                : TenantSnapshot.nothing(tenant, revision);
    }

    private static TenantSnapshot snapshot(TenantName tenant, long revision, JsonNode row) {
        return new TenantSnapshot(
                tenant,
                revision,
                UUID.fromString(row.path("external_id").asText()),
                Documents.each(
                                row.path("identity_providers"),
                                "identity provider",
                                IdentityProviderRow::map)
                        .stream()
                        .collect(Collectors.toMap(IdentityProvider::name, Function.identity())),
                Documents.each(row.path("keys"), "key", KeyRow::map).stream()
                        .collect(Collectors.toMap(Key::name, Function.identity())),
                PatternGrants.of(Documents.each(row.path("patterns"), "grant", GrantRow::map)));
    }

    @Override
    public SubjectGrants grants(TenantName tenant, IdpName idp, String subject) {
        JsonNode row =
                documents
                        .read(
                                GRANTS,
                                Map.of(
                                        "tenant",
                                        tenant.value(),
                                        "idp",
                                        idp.value(),
                                        "subject",
                                        subject))
                        .getFirst();
        return new SubjectGrants(
                row.path("revision").longValue(),
                Documents.each(row.path("grants"), "grant", GrantRow::map));
    }
}
