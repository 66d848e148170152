package io.mintmark.postgres;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.grant.CatalogueStore;
import io.mintmark.grant.GlobIndex;
import io.mintmark.grant.Key;
import io.mintmark.grant.SharedSnapshot;
import io.mintmark.grant.SubjectGrants;
import io.mintmark.grant.TenantSnapshot;
import io.mintmark.tenant.IdpName;
import io.mintmark.tenant.StateId;
import io.mintmark.tenant.TenantName;
import io.mintmark.tenant.TenantState;
import io.mintmark.token.IdentityProvider;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads what tenants have. Each question is one statement, so that its answer is of one moment. */
public final class PostgresCatalogue implements CatalogueStore {
    private static final String OWN =
            "jsonb_build_object('revision', own.revision, 'hash', encode(own.hash, 'hex'))";

    private static final String SHARED =
            "jsonb_build_object('revision', shared.revision, 'hash', encode(shared.hash, 'hex'))";

    private static final String STATE =
            "SELECT cast(" + OWN + " AS text) AS document FROM audit.last_change(:tenant) AS own";

    private static final String CHANGED =
            """
            SELECT cast(to_jsonb(tenant) AS text) AS document
              FROM audit.changed_tenants(cast(:tenants AS text[]), cast(:states AS text[])) AS tenant
            """;

    private static final String SHARED_STATE =
            "SELECT cast(jsonb_build_object('read_at', clock_timestamp(), 'state', "
                    + SHARED
                    + ") AS text) AS document FROM audit.last_change(NULL) AS shared";

    private static final String SHARED_ROWS =
            "SELECT cast(jsonb_build_object('read_at', clock_timestamp(), 'state', "
                    + SHARED
                    + ", 'min_durations',"
                    + " (SELECT jsonb_object_agg(y.type, y.min_duration)"
                    + " FROM broker.provider_type AS y), 'blocks', "
                    + BlockedSubjectRow.globs("b.tenant IS NULL")
                    + ") AS text) AS document FROM audit.last_change(NULL) AS shared";

    private static final String TENANT =
            "SELECT cast(jsonb_build_object('state', "
                    + OWN
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
                    + ", 'blocks', "
                    + BlockedSubjectRow.globs("b.tenant = t.name")
                    + ") FROM broker.tenant AS t WHERE t.name = :tenant AND t.enabled)"
                    + ") AS text) AS document FROM audit.last_change(:tenant) AS own";

    private static final String GRANTS =
            "SELECT cast(jsonb_build_object('state', jsonb_build_object('own', "
                    + OWN
                    + ", 'shared', "
                    + SHARED
                    + "), 'grants', "
                    + GrantRow.list(
                            "g.tenant = :tenant AND g.idp = :idp AND g.match = 'exact'"
                                    + " AND hashtextextended(g.subject, 0)"
                                    + " = hashtextextended(:subject, 0)"
                                    + " AND g.subject = :subject")
                    + ", 'blocked_until', "
                    + BlockedSubjectRow.UNTIL
                    + ") AS text) AS document"
                    + " FROM audit.last_change(:tenant) AS own, audit.last_change(NULL) AS shared";

    private final Documents documents;

    public PostgresCatalogue(Database database) {
        this.documents = new Documents(database.reading());
    }

    @Override
    public StateId state(TenantName tenant) {
        return stateId(documents.read(STATE, Map.of("tenant", tenant.value())).getFirst());
    }

    private static TenantState state(JsonNode state) {
        return new TenantState(stateId(state.path("own")), stateId(state.path("shared")));
    }

    private static StateId stateId(JsonNode state) {
        return new StateId(state.path("revision").longValue(), state.path("hash").asText());
    }

    @Override
    public Set<TenantName> changed(Map<TenantName, StateId> known) {
        List<TenantName> tenants = List.copyOf(known.keySet());
        String[] names = tenants.stream().map(TenantName::value).toArray(String[]::new);
        String[] states =
                tenants.stream()
                        .map(tenant -> Objects.requireNonNull(known.get(tenant)).toString())
                        .toArray(String[]::new);
        return documents.read(CHANGED, Map.of("tenants", names, "states", states)).stream()
                .map(name -> new TenantName(name.asText()))
                .collect(Collectors.toSet());
    }

    @Override
    public SharedState sharedState() {
        JsonNode found = documents.read(SHARED_STATE, Map.of()).getFirst();
        return new SharedState(stateId(found.path("state")), readAt(found));
    }

    @Override
    public SharedSnapshot shared() {
        JsonNode found = documents.read(SHARED_ROWS, Map.of()).getFirst();
        Map<String, Duration> minDurations = new HashMap<>();
        found.path("min_durations")
                .properties()
                .forEach(type ->
                        minDurations.put(
                                type.getKey(), Duration.ofSeconds(type.getValue().longValue())));
        return new SharedSnapshot(
                stateId(found.path("state")),
                readAt(found),
                minDurations,
                BlockedSubjectRow.index(found.path("blocks")));
    }

    private static Instant readAt(JsonNode found) {
        return Documents.time(found, "read_at")
                .orElseThrow(() -> new IllegalStateException("the database said no time"));
    }

    @Override
    public TenantSnapshot tenant(TenantName tenant) {
        JsonNode found = documents.read(TENANT, Map.of("tenant", tenant.value())).getFirst();
        StateId state = stateId(found.path("state"));
        JsonNode row = found.path("tenant");
        return row.isObject()
                ? snapshot(tenant, state, row)
                : TenantSnapshot.nothing(tenant, state);
    }

    private static TenantSnapshot snapshot(TenantName tenant, StateId state, JsonNode row) {
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
                GlobIndex.of(Documents.each(row.path("patterns"), "grant", GrantRow::map)),
                BlockedSubjectRow.index(row.path("blocks")),
                Documents.size(row.path("identity_providers"))
                        + Documents.size(row.path("keys"))
                        + Documents.size(row.path("patterns"))
                        + Documents.size(row.path("blocks")));
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
                BlockedSubjectRow.until(row.path("blocked_until")),
                Documents.size(row.path("grants")));
    }
}
