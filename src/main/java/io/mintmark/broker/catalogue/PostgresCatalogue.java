package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Database;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;
import io.mintmark.broker.grant.CatalogueStore;
import io.mintmark.broker.grant.GlobIndex;
import io.mintmark.broker.grant.Grant;
import io.mintmark.broker.grant.SharedSnapshot;
import io.mintmark.broker.grant.SubjectGrants;
import io.mintmark.broker.grant.TenantSnapshot;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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
                    + ", 'lifetimes', (SELECT jsonb_object_agg(y.type, jsonb_build_object("
                    + "'shortest', y.min_duration, 'longest', y.max_duration))"
                    + " FROM broker.provider_type AS y), 'blocks', "
                    + BlockedSubjectRow.RULES_OF_ALL_TENANTS
                    + ") AS text) AS document FROM audit.last_change(NULL) AS shared";

    private static final String TENANTS =
            """
            SELECT cast(to_jsonb(t.name) AS text) AS document
              FROM broker.tenant AS t WHERE t.enabled ORDER BY t.name
            """;

    private static final String ACCESS_PROVIDERS =
            """
            SELECT cast(jsonb_build_object(
                       'tenant', p.tenant, 'name', p.name, 'settings', p.settings) AS text) AS document
              FROM broker.access_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant AND t.enabled
             WHERE p.enabled AND p.type = :type
             ORDER BY p.tenant, p.name
            """;

    /** Selects one row for each grant, or a row without document if there is no grant. */
    private static final String GRANTS =
            """
            SELECT own.revision, encode(own.hash, 'hex') AS hash,
                   shared.revision AS shared_revision, encode(shared.hash, 'hex') AS shared_hash,
                   %s AS blocked_until, r.name, r.document
              FROM (VALUES (cast(? AS text), cast(? AS text), cast(? AS text)))
                   AS asked (tenant, idp, subject)
              LEFT JOIN broker.tenant AS t ON t.name = asked.tenant
             CROSS JOIN LATERAL audit.last_change(asked.tenant) AS own
             CROSS JOIN audit.last_change(NULL) AS shared
              LEFT JOIN LATERAL (%s LIMIT %d) AS r ON true
            """
                    .formatted(
                            BlockedSubjectRow.UNTIL,
                            BoundedRows.all(
                                    GrantRow.rows(
                                            """
                                            g.tenant = asked.tenant AND g.idp = asked.idp
                                            AND g.match = 'exact' AND g.subject = asked.subject
                                            AND hashtextextended(g.subject, 0)
                                                = hashtextextended(asked.subject, 0)\
                                            """)),
                            SubjectGrants.MOST + 1);

    private final Documents documents;
    private final ConfigurationRows configuration;

    public PostgresCatalogue(Database database) {
        this.documents = new Documents(database.reading());
        this.configuration = new ConfigurationRows(database.reading());
    }

    @Override
    public StateId state(TenantName tenant) {
        return stateId(documents.read(STATE, Map.of("tenant", tenant.value())).getFirst());
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
        JsonNode found = configuration.read(SHARED_ROWS).getFirst();
        Map<String, SharedSnapshot.Lifetime> lifetimes = new HashMap<>();
        found.path("lifetimes")
                .properties()
                .forEach(type -> lifetimes.put(type.getKey(), lifetime(type.getValue())));
        return new SharedSnapshot(
                stateId(found.path("state")),
                readAt(found),
                lifetimes,
                GlobIndex.of(
                        Documents.all(
                                found.path("blocks"), "blocked subject", BlockedSubjectRow::map)));
    }

    private static SharedSnapshot.Lifetime lifetime(JsonNode type) {
        return new SharedSnapshot.Lifetime(
                DocumentFields.seconds(type, "shortest").orElseThrow(),
                DocumentFields.seconds(type, "longest").orElseThrow());
    }

    private static Instant readAt(JsonNode found) {
        return DocumentFields.time(found, "read_at")
                .orElseThrow(() -> new IllegalStateException("the database returned no time"));
    }

    @Override
    public TenantSnapshot tenant(TenantName tenant, long most) {
        return configuration.stream(
                TenantReading.SQL,
                List.of(tenant.value(), tenant.value()),
                rows -> new TenantReading(tenant, most).read(rows));
    }

    /**
     * Reads every enabled tenant, one after the other.
     *
     * @param most bytes that a tenant's rows may take
     * @return the names of tenants whose rows take more
     */
    public List<String> tooLarge(long most) {
        return documents.read(TENANTS, Map.of()).stream()
                .map(JsonNode::asText)
                .filter(name -> tenant(new TenantName(name), most).tooLarge())
                .toList();
    }

    /**
     * Reads the enabled access providers of a type.
     *
     * @return for each its tenant, name and settings, in their order
     */
    public List<JsonNode> accessProviders(String type) {
        return documents.read(ACCESS_PROVIDERS, Map.of("type", type));
    }

    @Override
    public SubjectGrants grants(TenantName tenant, IdpName idp, String subject, long most) {
        return configuration.stream(
                GRANTS, List.of(tenant.value(), idp.value(), subject), rows -> grants(rows, most));
    }

    private static SubjectGrants grants(ResultSet rows, long most) throws SQLException {
        if (!rows.next()) {
            throw new IllegalStateException("the database returned no state");
        }
        TenantState state =
                new TenantState(
                        new StateId(rows.getLong("revision"), rows.getString("hash")),
                        new StateId(
                                rows.getLong("shared_revision"), rows.getString("shared_hash")));
        Instant blockedUntil = BlockedSubjectRow.until(rows.getString("blocked_until"));
        ReadRows<Grant> grants = ReadRows.optional("grant", RowWeight.OF_CONDITIONS, GrantRow::map);
        long bytes = 0;
        int found = 0;
        do {
            String name = rows.getString("name");
            if (name != null) {
                found++;
                bytes += grants.add(name, rows.getString("document"));
            }
            if (bytes > most || found > SubjectGrants.MOST) {
                return SubjectGrants.tooLarge(state);
            }
        } while (rows.next());
        return new SubjectGrants(state, grants.rows(), blockedUntil, bytes, false);
    }
}
