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

/**
 * {@code runtime.ending}, by the database's clock. The statement that writes the audit log writes
 * it too, so no lock on its rows outlives a statement.
 */
public final class PostgresLeases implements LeaseStore {
    private static final String NOTE_REQUESTS =
            """
            WITH asked AS (
                SELECT e.mint_id, r.asked_by
                  FROM work.early_end AS r JOIN work.ending AS e ON e.mint_id = r.mint_id
                 LIMIT 1000
                   FOR UPDATE OF e SKIP LOCKED
            ), moved AS (
                UPDATE work.ending AS e
                   SET early = true, asked_by = asked.asked_by,
                       due = CASE WHEN e.outcome IS NULL THEN e.due ELSE least(e.due, now()) END,
                       next_try = CASE WHEN e.outcome IS NULL THEN e.next_try ELSE now() END
                  FROM asked WHERE e.mint_id = asked.mint_id
                RETURNING e.mint_id
            )
            DELETE FROM work.early_end AS r
             WHERE r.mint_id IN (SELECT mint_id FROM moved)
                OR NOT EXISTS (SELECT FROM work.ending AS e WHERE e.mint_id = r.mint_id)
            """;

    private static final String IS_FREE = "(e.claimed_until IS NULL OR e.claimed_until < now())";

    /** An access provider that is gone, or has another type, isn't swept any more. */
    private static final String NOTE_PROVIDERS =
            """
            WITH swept AS (
                SELECT p.tenant, p.name AS provider
                  FROM broker.access_provider AS p
                  JOIN broker.provider_type AS y ON y.type = p.type AND y.leaves_behind
            ), gone AS (
                DELETE FROM work.sweep AS s
                 WHERE NOT EXISTS (SELECT FROM swept AS p WHERE p.tenant = s.tenant AND p.provider = s.provider)
            )
            INSERT INTO work.sweep (tenant, provider, next_sweep)
            SELECT p.tenant, p.provider, now() FROM swept AS p
             WHERE NOT EXISTS (SELECT FROM work.sweep AS s WHERE s.tenant = p.tenant AND s.provider = p.provider)
                ON CONFLICT DO NOTHING
            """;

    /**
     * Finds access providers by their due mints; while more than a thousand are due, each access
     * provider is asked whether it has one, so that the cost doesn't depend on their number.
     */
    private static final String DUE =
            """
            WITH first AS MATERIALIZED (
                SELECT e.tenant, e.provider FROM work.ending AS e
                 WHERE e.next_try <= now() AND %1$s
                 ORDER BY e.next_try LIMIT 1001
            )
            SELECT cast(jsonb_build_object('tenant', f.tenant, 'provider', f.provider, 'calls', p.max_calls,
                                           'sweep', EXISTS (SELECT FROM work.sweep AS s
                                                             WHERE s.tenant = f.tenant AND s.provider = f.provider
                                                               AND s.next_sweep <= now())) AS text) AS document
              FROM (SELECT d.tenant, d.provider FROM first AS d WHERE (SELECT count(*) FROM first) <= 1000
                     UNION
                    SELECT p.tenant, p.name FROM broker.access_provider AS p
                     CROSS JOIN LATERAL (SELECT FROM work.ending AS e
                                          WHERE e.tenant = p.tenant AND e.provider = p.name
                                            AND e.next_try <= now() AND %1$s
                                          LIMIT 1) AS d
                     WHERE (SELECT count(*) FROM first) > 1000
                     UNION
                    SELECT s.tenant, s.provider FROM work.sweep AS s WHERE s.next_sweep <= now()) AS f
             CROSS JOIN LATERAL (
                SELECT t.max_calls
                  FROM broker.access_provider AS p
                  JOIN broker.provider_type AS y ON y.type = p.type AND y.leaves_behind
                  JOIN broker.tenant AS t ON t.name = p.tenant
                 WHERE p.tenant = f.tenant AND p.name = f.provider AND p.type = ANY (cast(:types AS text[]))
                OFFSET 0) AS p
            """
                    .formatted(IS_FREE);

    private static final String AT_PROVIDER =
            "'type', p.type, 'settings', p.settings, 'calls', t.max_calls";

    private static final String FIRST =
            """
            SELECT e.mint_id FROM work.ending AS e
             WHERE e.tenant = :tenant AND e.provider = :provider AND e.tries %%s 0
               AND e.next_try <= now() AND %s
             ORDER BY e.next_try LIMIT 1
               FOR UPDATE SKIP LOCKED
            """
                    .formatted(IS_FREE);

    /** Claims due mints. Those that may be stuck come last. */
    private static final String CLAIM =
            """
            UPDATE work.ending AS c
               SET claimed_by = :replica, claimed_until = now() + cast(:lease AS interval)
              FROM broker.access_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant
             WHERE c.mint_id = coalesce((%s), (%s))
               AND p.tenant = c.tenant AND p.name = c.provider
            RETURNING cast(jsonb_build_object(
                %s,
                'mint', c.mint_id, 'key', c.key, 'credential', c.credential_id, 'tries', c.tries,
                'how', CASE WHEN c.swept THEN 'SWEPT' WHEN c.early THEN 'ASKED_FOR'
                            WHEN c.outcome = 'issued' THEN 'OVER' ELSE 'UNDONE' END,
                'call', NOT c.by_itself OR c.early OR c.outcome <> 'issued') AS text) AS document
            """
                    .formatted(FIRST.formatted("="), FIRST.formatted(">"), AT_PROVIDER);

    private static final String CLAIMED =
            " WHERE mint_id = cast(:mint AS uuid) AND claimed_by = :replica";

    private static final String RELEASE =
            "UPDATE work.ending SET claimed_by = NULL, claimed_until = NULL" + CLAIMED;

    /**
     * A mint that was issued meanwhile isn't due before its credential expires. If another replica
     * recorded the end meanwhile, this one has nothing to record.
     */
    private static final String POSTPONE =
            """
            UPDATE work.ending AS e
               SET claimed_by = NULL, claimed_until = NULL, tries = tries + 1,
                   next_try = greatest(due, now() + cast(:pause AS interval)),
                   last_reason = :reason, last_detail = :detail,
                   key = CASE WHEN EXISTS (SELECT FROM log.event AS d
                                            WHERE d.mint_id = e.mint_id AND d.step = 3)
                              THEN NULL ELSE key END
             WHERE mint_id = cast(:mint AS uuid) AND claimed_by = :replica
            """;

    private static final String FORGET = "DELETE FROM work.ending" + CLAIMED;

    private static final String CLAIM_SWEEP =
            """
            WITH claimed AS (
                INSERT INTO work.sweep AS s (tenant, provider, next_sweep)
                VALUES (:tenant, :provider, now() + cast(:pause AS interval))
                    ON CONFLICT (tenant, provider)
                    DO UPDATE SET next_sweep = excluded.next_sweep WHERE s.next_sweep <= now()
                RETURNING s.tenant, s.provider
            )
            SELECT cast(jsonb_build_object(%s) AS text) AS document
              FROM claimed AS c
              JOIN broker.access_provider AS p ON p.tenant = c.tenant AND p.name = c.provider
              JOIN broker.tenant AS t ON t.name = p.tenant
            """
                    .formatted(AT_PROVIDER);

    private static final String NOTE =
            """
            SELECT internal.note_left_behind(
                :tenant, :provider,
                cast(:over AS uuid[]) || ARRAY(
                    SELECT d.mint_id FROM log.event AS d
                     WHERE d.mint_id = ANY (cast(:others AS uuid[])) AND d.step = 3)) AS noted
            """;

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
        var _ = asked(() -> queries.change(NOTE_REQUESTS, Map.of()));
    }

    @Override
    public void noteProviders() {
        var _ = asked(() -> queries.change(NOTE_PROVIDERS, Map.of()));
    }

    @Override
    public List<Due> due(Set<String> types) {
        return documents(
                DUE,
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
        return documents(CLAIM, parameters, row -> open(provider, row)).stream().findFirst();
    }

    @Override
    public void release(MintId mint) {
        change(RELEASE, mint, Map.of());
    }

    @Override
    public void postpone(MintId mint, String reason, String detail, Duration pause) {
        change(
                POSTPONE,
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
        change(FORGET, mint, Map.of());
    }

    @Override
    public Optional<AtProvider> claimSweep(ProviderId provider, Duration pause) {
        Map<String, Object> parameters = of(provider);
        parameters.put("pause", pause.toString());
        return documents(CLAIM_SWEEP, parameters, row -> at(provider, row)).stream().findFirst();
    }

    @Override
    public long noteLeftBehind(
            ProviderId provider, Collection<MintId> over, Collection<MintId> others) {
        Map<String, Object> parameters = of(provider);
        parameters.put("over", ids(over));
        parameters.put("others", ids(others));
        return asked(() ->
                queries.query(NOTE, parameters, row -> row.column("noted").get(Long.class))
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
