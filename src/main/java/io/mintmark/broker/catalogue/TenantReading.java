package io.mintmark.broker.catalogue;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.sql.Query;
import io.mintmark.base.tenant.Glob;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.grant.AccessRule;
import io.mintmark.broker.grant.BlockRule;
import io.mintmark.broker.grant.GlobIndex;
import io.mintmark.broker.grant.Grant;
import io.mintmark.broker.grant.Key;
import io.mintmark.broker.grant.Provider;
import io.mintmark.broker.grant.ResourceUri;
import io.mintmark.broker.grant.TenantSnapshot;
import io.mintmark.broker.token.IdentityProvider;

import org.jspecify.annotations.Nullable;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads a tenant row by row, and stops when its rows weigh too much. */
final class TenantReading {
    /** Selects one row for each row of the tenant, or a row without name if there is none. */
    static final String SQL =
            """
            SELECT own.revision, encode(own.hash, 'hex') AS hash, t.external_id, t.max_calls,
                   t.max_requests, t.issuer, t.moved_to, r.kind, r.name, r.document
              FROM audit.last_change(?) AS own
              LEFT JOIN broker.tenant AS t ON t.name = ? AND t.enabled
              LEFT JOIN LATERAL (%s) AS r ON true
            """
                    .formatted(
                            BoundedRows.all(
                                    IdentityProviderRow.ROWS,
                                    ProviderRow.ROWS,
                                    KeyRow.ROWS,
                                    GrantRow.GLOBS,
                                    BlockedSubjectRow.RULES,
                                    AccessRuleRow.ROWS));

    private final TenantName tenant;
    private final long most;
    private final ReadRows<IdentityProvider> identityProviders =
            ReadRows.optional(
                    "identity provider", RowWeight.OF_CONDITIONS, IdentityProviderRow::map);
    private final ReadRows<Provider> providers =
            ReadRows.optional("access provider", RowWeight.OF_CONDITIONS, ProviderRow::map);
    private final ReadRows<KeyRow> keys =
            ReadRows.optional("key", RowWeight.OF_SETTINGS, KeyRow::map);
    private final ReadRows<Grant> patterns =
            ReadRows.optional("grant", RowWeight.OF_CONDITIONS, GrantRow::glob);
    private final ReadRows<BlockRule> blocks =
            ReadRows.required("blocked subject", RowWeight.OF_CONDITIONS, BlockedSubjectRow::map);
    private final ReadRows<AccessRule> accessRules =
            ReadRows.optional("access rule", RowWeight.OF_CONDITIONS, AccessRuleRow::map);
    private long bytes;

    /**
     * @param most what the rows may weigh, in bytes
     */
    TenantReading(TenantName tenant, long most) {
        this.tenant = tenant;
        this.most = most;
    }

    /** The rows of {@link #SQL}. */
    TenantSnapshot read(ResultSet rows) throws SQLException {
        if (!rows.next()) {
            throw new IllegalStateException("the database returned no state");
        }
        StateId state = new StateId(rows.getLong("revision"), rows.getString("hash"));
        UUID externalId = rows.getObject("external_id", UUID.class);
        int maxCalls = rows.getInt("max_calls");
        OptionalInt maxRequests = maxRequests(rows);
        TenantSnapshot.Place place =
                new TenantSnapshot.Place(Query.text(rows, "issuer"), Query.text(rows, "moved_to"));
        if (externalId == null) {
            return TenantSnapshot.nothing(tenant, state);
        }
        do {
            bytes += add(rows);
            if (bytes > most) {
                return TenantSnapshot.tooLarge(tenant, state);
            }
        } while (rows.next());
        return snapshot(state, externalId, maxCalls, maxRequests, place);
    }

    private long add(ResultSet row) throws SQLException {
        String kind = row.getString("kind");
        return kind == null ? 0 : add(kind, row.getString("name"), row.getString("document"));
    }

    private long add(String kind, String name, @Nullable String document) {
        ReadRows<?> rows =
                switch (kind) {
                    case IdentityProviderRow.KIND -> identityProviders;
                    case ProviderRow.KIND -> providers;
                    case KeyRow.KIND -> keys;
                    case GrantRow.KIND -> patterns;
                    case BlockedSubjectRow.KIND -> blocks;
                    case AccessRuleRow.KIND -> accessRules;
                    default -> throw new IllegalStateException("rows of kind " + kind);
                };
        return rows.add(name, document);
    }

    private static OptionalInt maxRequests(ResultSet row) throws SQLException {
        int value = row.getInt("max_requests");
        return row.wasNull() ? OptionalInt.empty() : OptionalInt.of(value);
    }

    private TenantSnapshot snapshot(
            StateId state,
            UUID externalId,
            int maxCalls,
            OptionalInt maxRequests,
            TenantSnapshot.Place place) {
        return new TenantSnapshot(
                tenant,
                state,
                externalId,
                maxCalls,
                maxRequests,
                place,
                by(IdentityProvider::name, identityProviders.rows()),
                by(Key::name, keys(by(Provider::name, providers.rows()))),
                GlobIndex.of(patterns.rows()),
                GlobIndex.of(blocks.rows()),
                accessRules.rows().stream().collect(Collectors.groupingBy(AccessRule::key)),
                bytes,
                false);
    }

    /** The keys. A key whose access provider could not be read is left out. */
    private List<Key> keys(Map<ProviderName, Provider> byName) {
        return keys.rows().stream()
                .flatMap(key ->
                        Optional.ofNullable(byName.get(key.provider())).map(key::of).stream())
                .toList();
    }

    private static <N, T> Map<N, T> by(Function<T, N> name, List<T> rows) {
        return rows.stream().collect(Collectors.toMap(name, Function.identity()));
    }

    /** A row of {@code broker.access_provider}, by the alias {@code a}, as JSON. */
    private static final class ProviderRow {
        static final String KIND = "access_provider";

        /** Selects the enabled keys of a tenant, by the alias {@code t}. */
        static final String ROWS =
                BoundedRows.of(
                        KIND,
                        "a.name",
                        BoundedRows.document(
                                RowDigest.columns("a"), "a.settings", "a.allowed_targets"),
                        "FROM broker.access_provider AS a WHERE a.tenant = t.name AND a.enabled");

        private ProviderRow() {}

        static Provider map(JsonNode row) {
            return new Provider(
                    new ProviderName(row.path("name").asText()),
                    row.path("type").asText(),
                    row.path("settings"),
                    DocumentFields.texts(row, "allowed_targets").stream().map(Glob::new).toList(),
                    row.path("shared_identity").booleanValue(),
                    RowDigest.ACCESS_PROVIDER.of(row));
        }
    }

    /** A row of {@code broker.key}, by the alias {@code k}, as JSON. */
    private record KeyRow(
            KeyName name,
            String description,
            Duration maxDuration,
            JsonNode settings,
            Map<String, String> outputs,
            Optional<ResourceUri> resource,
            ProviderName provider,
            String digest) {
        static final String KIND = "key";

        /** All keys in force of a tenant, by the alias {@code t}, with enabled access providers. */
        static final String ROWS =
                BoundedRows.of(
                        KIND,
                        "k.name",
                        BoundedRows.document(
                                "("
                                        + RowDigest.columns("k")
                                        + ") || jsonb_build_object('tenant', jsonb_build_object('max_duration', t.max_duration))",
                                "k.description",
                                "k.settings",
                                "k.outputs",
                                "k.resource"),
                        """
                         FROM broker.key AS k
                         JOIN broker.access_provider AS a
                           ON a.tenant = k.tenant AND a.name = k.provider AND a.enabled
                        WHERE k.tenant = t.name AND k.enabled
                          AND (NOT t.require_second_admin OR k.approved_at IS NOT NULL)\
                        """);

        static KeyRow map(JsonNode row) {
            Map<String, String> outputs = new LinkedHashMap<>();
            row.path("outputs")
                    .properties()
                    .forEach(output -> outputs.put(output.getKey(), output.getValue().asText()));
            return new KeyRow(
                    new KeyName(row.path("name").asText()),
                    DocumentFields.text(row, "description").orElse(""),
                    maxDuration(row),
                    row.path("settings"),
                    outputs,
                    DocumentFields.text(row, "resource").flatMap(ResourceUri::of),
                    new ProviderName(row.path("provider").asText()),
                    RowDigest.KEY.of(row));
        }

        /** The shorter limit: the key's own, or its tenant's. */
        private static Duration maxDuration(JsonNode row) {
            Duration own = DocumentFields.seconds(row, "max_duration").orElse(Duration.ZERO);
            return DocumentFields.seconds(row.path("tenant"), "max_duration")
                    .filter(bound -> bound.compareTo(own) < 0)
                    .orElse(own);
        }

        Key of(Provider named) {
            return new Key(
                    name, description, maxDuration, settings, outputs, resource, named, digest);
        }
    }
}
