package io.mintmark.broker.lease;

import com.fasterxml.jackson.databind.JsonNode;

import io.helidon.dbclient.DbRow;
import io.mintmark.audit.Event.How;
import io.mintmark.audit.StoreUnreachable;
import io.mintmark.audit.canonical.StorableText;
import io.mintmark.base.sql.Database;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.catalogue.DocumentFields;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;

/** {@code runtime.ending}, by the database's clock. */
public final class PostgresLeases implements LeaseStore {
    private final Queries queries;
    private final String replica;

    /**
     * @param replica the name of this one
     */
    public PostgresLeases(Database database, String replica) {
        this.queries = database.reading();
        this.replica = replica;
    }

    @Override
    public void noteRequests() {
        var _ = asked(() -> queries.change(LeaseStatements.NOTE_REQUESTS, Map.of()));
    }

    @Override
    public void noteProviders() {
        var _ = asked(() -> queries.change(LeaseStatements.NOTE_PROVIDERS, Map.of()));
    }

    @Override
    public List<Due> due(Set<String> types) {
        return documents(
                LeaseStatements.DUE,
                Map.of("types", types.toArray(String[]::new)),
                row ->
                        new Due(
                                new ProviderId(
                                        new TenantName(row.path("tenant").asText()),
                                        new ProviderName(row.path("provider").asText())),
                                row.path("calls").asInt(),
                                row.path("sweep").asBoolean()));
    }

    @Override
    public Optional<Open> claim(ProviderId provider, Duration lease) {
        Map<String, Object> parameters = of(provider);
        parameters.put("replica", replica);
        parameters.put("lease", lease.toString());
        return documents(LeaseStatements.CLAIM, parameters, row -> open(provider, row)).stream()
                .findFirst();
    }

    @Override
    public void release(MintId mint) {
        change(LeaseStatements.RELEASE, mint, Map.of());
    }

    @Override
    public void postpone(MintId mint, String reason, String detail, Duration pause) {
        change(
                LeaseStatements.POSTPONE,
                mint,
                Map.of(
                        "reason",
                        StorableText.fit(reason, StorableText.NAME),
                        "detail",
                        StorableText.fit(detail, StorableText.DETAIL),
                        "pause",
                        pause.toString()));
    }

    @Override
    public void forget(MintId mint) {
        change(LeaseStatements.FORGET, mint, Map.of());
    }

    @Override
    public Optional<AtProvider> claimSweep(ProviderId provider, Duration pause) {
        Map<String, Object> parameters = of(provider);
        parameters.put("pause", pause.toString());
        return documents(LeaseStatements.CLAIM_SWEEP, parameters, row -> at(provider, row)).stream()
                .findFirst();
    }

    @Override
    public long noteLeftBehind(
            ProviderId provider, Collection<MintId> over, Collection<MintId> others) {
        Map<String, Object> parameters = of(provider);
        parameters.put("over", ids(over));
        parameters.put("others", ids(others));
        return asked(() ->
                queries.query(
                                LeaseStatements.NOTE,
                                parameters,
                                row -> row.column("noted").get(Long.class))
                        .getFirst());
    }

    private static String[] ids(Collection<MintId> mints) {
        return mints.stream().map(MintId::toString).toArray(String[]::new);
    }

    private static Map<String, Object> of(ProviderId provider) {
        Map<String, Object> parameters = new HashMap<>();
        parameters.put("tenant", provider.tenant().value());
        parameters.put("provider", provider.name().value());
        return parameters;
    }

    private void change(String sql, MintId mint, Map<String, String> further) {
        Map<String, Object> parameters = new HashMap<>(further);
        parameters.put("mint", mint.toString());
        parameters.put("replica", replica);
        var _ = asked(() -> queries.change(sql, parameters));
    }

    private <T> List<T> documents(
            String sql, Map<String, ?> parameters, Function<JsonNode, T> each) {
        return asked(() -> queries.query(sql, parameters, row -> each.apply(document(row))));
    }

    private static JsonNode document(DbRow row) {
        return DocumentFields.parse(row.column("document").get(String.class));
    }

    private static AtProvider at(ProviderId provider, JsonNode row) {
        return new AtProvider(
                provider,
                row.path("type").asText(),
                row.path("settings"),
                row.path("calls").asInt());
    }

    private static Open open(ProviderId provider, JsonNode row) {
        return new Open(
                new MintId(UUID.fromString(row.path("mint").asText())),
                at(provider, row),
                DocumentFields.text(row, "key").map(KeyName::new),
                DocumentFields.text(row, "credential"),
                How.valueOf(row.path("how").asText()),
                row.path("call").asBoolean(),
                row.path("tries").asInt());
    }

    private static <T> T asked(Supplier<T> question) {
        try {
            return question.get();
        } catch (QueryFailed e) {
            throw new StoreUnreachable(
                    "the list of credentials to revoke can't be read or written",
                    e.perhapsDone(),
                    e);
        }
    }
}
