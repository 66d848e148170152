package io.mintmark.postgres.catalogue;

import io.mintmark.grant.BlockedGlob;
import io.mintmark.grant.GlobIndex;
import io.mintmark.grant.Grant;
import io.mintmark.grant.Key;
import io.mintmark.grant.Provider;
import io.mintmark.grant.TenantSnapshot;
import io.mintmark.tenant.ProviderName;
import io.mintmark.tenant.StateId;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.IdentityProvider;

import org.jspecify.annotations.Nullable;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reads a tenant row by row, and stops when its rows weigh too much. */
final class TenantReading {
    /** One row for each row of the tenant, and one without name where there is none. */
    static final String SQL =
            """
            SELECT own.revision, encode(own.hash, 'hex') AS hash, t.external_id, t.max_calls,
                   t.max_requests, r.kind, r.name, r.document
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
                                    BlockedSubjectRow.GLOBS));

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
            ReadRows.optional("grant", RowWeight.OF_CONDITIONS, GrantRow::map);
    private final ReadRows<BlockedGlob> blocks =
            ReadRows.required("blocked subject", RowWeight.OF_CONDITIONS, BlockedSubjectRow::map);
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
        if (externalId == null) {
            return TenantSnapshot.nothing(tenant, state);
        }
        do {
            bytes += add(rows);
            if (bytes > most) {
                return TenantSnapshot.tooLarge(tenant, state);
            }
        } while (rows.next());
        return snapshot(state, externalId, maxCalls, maxRequests);
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
                    default -> throw new IllegalStateException("rows of kind " + kind);
                };
        return rows.add(name, document);
    }

    private static OptionalInt maxRequests(ResultSet row) throws SQLException {
        int value = row.getInt("max_requests");
        return row.wasNull() ? OptionalInt.empty() : OptionalInt.of(value);
    }

    private TenantSnapshot snapshot(
            StateId state, UUID externalId, int maxCalls, OptionalInt maxRequests) {
        return new TenantSnapshot(
                tenant,
                state,
                externalId,
                maxCalls,
                maxRequests,
                by(IdentityProvider::name, identityProviders.rows()),
                by(Key::name, keys(by(Provider::name, providers.rows()))),
                GlobIndex.of(patterns.rows()),
                GlobIndex.of(blocks.rows()),
                bytes,
                false);
    }

    /** A key whose access provider could not be read counts as absent too. */
    private List<Key> keys(Map<ProviderName, Provider> byName) {
        return keys.rows().stream()
                .flatMap(key ->
                        Optional.ofNullable(byName.get(key.provider())).map(key::of).stream())
                .toList();
    }

    private static <N, T> Map<N, T> by(Function<T, N> name, List<T> rows) {
        return rows.stream().collect(Collectors.toMap(name, Function.identity()));
    }
}
