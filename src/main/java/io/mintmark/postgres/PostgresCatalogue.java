package io.mintmark.postgres;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.grant.CatalogueStore;
import io.mintmark.grant.Key;
import io.mintmark.grant.PatternGrants;
import io.mintmark.grant.SubjectGrants;
import io.mintmark.grant.TenantSnapshot;
import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.StateId;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;
import io.mintmark.token.IdentityProvider;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads what tenants have. Each question is one statement, so that its answer is of one moment. */
public final class PostgresCatalogue implements CatalogueStore {
    private static final String STATE =
            """
            jsonb_build_object(
                'own', jsonb_build_object(
                    'revision', own.revision, 'hash', encode(own.hash, 'hex')),
                'shared', jsonb_build_object(
                    'revision', shared.revision, 'hash', encode(shared.hash, 'hex')))\
            """;

    private static final String STATES =
            " FROM audit.last_change(:tenant) AS own, audit.last_change(NULL) AS shared";

    private static final String CHANGED =
            """
            SELECT cast(to_jsonb(tenant) AS text) AS document
              FROM audit.changed_tenants(cast(:tenants AS text[]), cast(:states AS text[])) AS tenant
            """;

    private static final String SHARED =
            """
            SELECT cast(jsonb_build_object(
                       'revision', shared.revision, 'hash', encode(shared.hash, 'hex')) AS text)
                   AS document
              FROM audit.last_change(NULL) AS shared
            """;

    private static final String TENANT =
            "SELECT cast(jsonb_build_object('state', "
                    + STATE
                    + ", 'tenant', (SELECT jsonb_build_object("
                    + "'external_id', t.external_id,"
                    + "'max_calls', t.max_calls,"
                    + "'identity_providers', "
                    + BoundedRows.list(
                            "p.name",
                            IdentityProviderRow.DOCUMENT,
                            "FROM broker.identity_provider AS p"
                                    + " WHERE p.tenant = t.name AND p.enabled")
                    + ", 'keys', "
                    + KeyRow.LIST
                    + ", 'patterns', "
                    + GrantRow.list("g.tenant = t.name AND g.match = 'glob'")
                    + ") FROM broker.tenant AS t WHERE t.name = :tenant AND t.enabled)"
                    + ") AS text) AS document"
                    + STATES;

    private static final String GRANTS =
            "SELECT cast(jsonb_build_object('state', "
                    + STATE
                    + ", 'grants', "
                    + GrantRow.list(
                            "g.tenant = :tenant AND g.idp = :idp AND g.match = 'exact'"
                                    + " AND hashtextextended(g.subject, 0)"
                                    + " = hashtextextended(:subject, 0)"
                                    + " AND g.subject = :subject")
                    + ") AS text) AS document"
                    + STATES;

    private final Documents documents;

    public PostgresCatalogue(Database database) {
        this.documents = new Documents(database.reading());
    }

    @Override
    public TenantState state(TenantName tenant) {
        String sql = "SELECT cast(" + STATE + " AS text) AS document" + STATES;
        return state(documents.read(sql, Map.of("tenant", tenant.value())).getFirst());
    }

    private static TenantState state(JsonNode state) {
        return new TenantState(stateId(state.path("own")), stateId(state.path("shared")));
    }

    private static StateId stateId(JsonNode state) {
        return new StateId(state.path("revision").longValue(), state.path("hash").asText());
    }

    @Override
    public Set<TenantName> changed(Map<TenantName, TenantState> known) {
        List<TenantName> tenants = List.copyOf(known.keySet());
        String[] names = tenants.stream().map(TenantName::value).toArray(String[]::new);
        String[] states =
                tenants.stream()
                        .map(tenant -> Objects.requireNonNull(known.get(tenant)).own().toString())
                        .toArray(String[]::new);
        StateId shared = stateId(documents.read(SHARED, Map.of()).getFirst());
        Set<TenantName> changed = new HashSet<>();
        documents
                .read(CHANGED, Map.of("tenants", names, "states", states))
                .forEach(name -> changed.add(new TenantName(name.asText())));
        known.forEach((tenant, state) -> {
            if (!state.shared().equals(shared)) {
                changed.add(tenant);
            }
        });
        return changed;
    }

    @Override
    public TenantSnapshot tenant(TenantName tenant) {
        JsonNode found = documents.read(TENANT, Map.of("tenant", tenant.value())).getFirst();
        TenantState state = state(found.path("state"));
        JsonNode row = found.path("tenant");
        return row.isObject()
                ? snapshot(tenant, state, row)
                : TenantSnapshot.nothing(tenant, state);
    }

    private static TenantSnapshot snapshot(TenantName tenant, TenantState state, JsonNode row) {
        return new TenantSnapshot(
                tenant,
                state,
                UUID.fromString(row.path("external_id").asText()),
                row.path("max_calls").asInt(),
                Documents.each(
                                row.path("identity_providers"),
                                "identity provider",
                                IdentityProviderRow::map)
                        .stream()
                        .collect(Collectors.toMap(IdentityProvider::name, Function.identity())),
                Documents.each(row.path("keys"), "key", KeyRow::map).stream()
                        .collect(Collectors.toMap(Key::name, Function.identity())),
                PatternGrants.of(Documents.each(row.path("patterns"), "grant", GrantRow::map)),
                Documents.size(row.path("identity_providers"))
                        + Documents.size(row.path("keys"))
                        + Documents.size(row.path("patterns")));
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
                state(row.path("state")),
                Documents.each(row.path("grants"), "grant", GrantRow::map),
                Documents.size(row.path("grants")));
    }
}
