package io.mintmark.audit.log;

import io.mintmark.audit.Event;
import io.mintmark.audit.chain.Chain;
import io.mintmark.base.sql.CommitThenQuery;
import io.mintmark.base.sql.CommitThenQuery.Result;
import io.mintmark.base.sql.Queries;
import io.mintmark.base.sql.QueryFailed;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.StateId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.tenant.TenantState;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Inserts rows into {@code audit.event}, commits them, and reads the states that tenants are in
 * after that. Methods throw {@link QueryFailed}.
 */
final class EventInsert {
    /** Beside the columns in the JSON of a row: {@link Event.Credential#endsByItself}. */
    static final String ENDS_BY_ITSELF = "ends_by_itself";

    private static final String COLUMNS =
            """
            mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key,
            provider, provider_type, grant_id, grant_revision, shared_revision, config_hash,
            reason, detail, credential_id,
            issued_at, expires_at, token_id, token_hash, claims, actor_idp, actor_issuer, actor,
            actor_claims, actor_token_id, actor_token_hash, client_address, user_agent,
            broker, chain, seq, prev_hash, hash
            """;

    private static final String GIVEN =
            """
              FROM jsonb_to_recordset(cast(? AS jsonb)) AS event (
                mint_id uuid, step bigint, kind text, occurred_at timestamptz, request_id text,
                tenant text, idp text, issuer text, subject text, key text, provider text,
                provider_type text, grant_id bigint, grant_revision bigint, shared_revision bigint,
                config_hash bytea, reason text,
                detail text, credential_id text, issued_at timestamptz, expires_at timestamptz,
                token_id text, token_hash bytea, claims jsonb, actor_idp text, actor_issuer text,
                actor text, actor_claims jsonb, actor_token_id text, actor_token_hash bytea,
                client_address inet,
                user_agent text, broker text, chain text, seq bigint, prev_hash bytea,
                hash bytea, ends_by_itself boolean)
            """;

    /**
     * A condition on the insert: nothing is written unless the preceding row of the chain is there.
     */
    private static final String AFTER =
            """
             WHERE EXISTS (
                SELECT FROM log.event AS before
                 WHERE before.mint_id = cast(? AS uuid) AND before.chain = ?
                   AND before.seq = cast(? AS bigint) AND before.hash = decode(?, 'hex'))
            """;

    private static final String IS_THERE =
            """
            SELECT count(*) AS found FROM log.event
             WHERE mint_id = cast(? AS uuid) AND chain = ? AND seq = cast(? AS bigint)
               AND hash = decode(?, 'hex')
            """;

    private static final String INSERT =
            "INSERT INTO log.event (%s) SELECT %s".formatted(COLUMNS, COLUMNS);

    private static final String STATES =
            """
            SELECT tenant, own.revision AS revision, encode(own.hash, 'hex') AS hash,
                   shared.revision AS shared_revision, encode(shared.hash, 'hex') AS shared_hash,
                   left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline,
                   (SELECT coalesce(max(number), 0) FROM log.checkpoint) AS checkpoint
              FROM unnest(cast(? AS text[])) AS tenant
             CROSS JOIN LATERAL audit.last_change(tenant) AS own
             CROSS JOIN audit.last_change(NULL) AS shared
            """;

    /** The row that was confirmed last; it must still be there when the next is written. */
    record Confirmed(MintId mint, Chain.Head head) {}

    /**
     * The result of an insert that is on disk.
     *
     * @param rows how many
     * @param states that were asked for, read after the commit
     * @param timeline on which they were read, if any was
     * @param checkpoint the number of the newest one then; 0 without any
     */
    record Inserted(
            long rows,
            Map<TenantName, TenantState> states,
            Optional<String> timeline,
            Optional<Long> checkpoint) {}

    private record Found(TenantName tenant, TenantState state, String timeline, long checkpoint) {}

    /** The statements that insert rows, either without a condition or only after a given row. */
    private record Statements(
            String append,
            String appendAfter,
            CommitThenQuery appendThenAsk,
            CommitThenQuery appendAfterThenAsk) {

        Statements(String append, String appendAfter) {
            this(
                    append,
                    appendAfter,
                    new CommitThenQuery(append, STATES),
                    new CommitThenQuery(appendAfter, STATES));
        }
    }

    private final Queries queries;
    private final Statements plain = new Statements(INSERT + GIVEN, INSERT + GIVEN + AFTER);
    private final RevocationPolicy leftBehind;
    private final Statements withEndings;

    /**
     * @param leftBehind by mints of which types; only batches with such mints pay for it
     */
    EventInsert(Queries queries, RevocationPolicy leftBehind) {
        this.queries = queries;
        this.leftBehind = leftBehind;
        this.withEndings = new Statements(withEndings(GIVEN), withEndings(GIVEN + AFTER));
    }

    /**
     * The statement that also keeps the endings. Its condition is on the given rows, because rows
     * that aren't written must not change an ending.
     */
    private String withEndings(String given) {
        return "WITH event AS MATERIALIZED (SELECT "
                + COLUMNS
                + ", ends_by_itself"
                + given
                + "), "
                + leftBehind.kept()
                + INSERT
                + " FROM event";
    }

    /**
     * Inserts them.
     *
     * @param json the same, of {@link EventRows}
     * @param before without which none is written
     * @param tenants whose states are asked for
     */
    Inserted run(
            List<Event> events, String json, Optional<Confirmed> before, Set<TenantName> tenants) {
        Statements statements = leftBehind.byAny(events) ? withEndings : plain;
        List<String> parameters =
                before.map(row ->
                                List.of(
                                        json,
                                        row.mint().toString(),
                                        row.head().chain(),
                                        String.valueOf(row.head().seq()),
                                        row.head().hash()))
                        .orElseGet(() -> List.of(json));
        if (tenants.isEmpty()) {
            return new Inserted(
                    queries.change(
                            before.isPresent() ? statements.appendAfter() : statements.append(),
                            parameters),
                    Map.of(),
                    Optional.empty(),
                    Optional.empty());
        }
        String[] names = tenants.stream().map(TenantName::value).toArray(String[]::new);
        Result<Found> result =
                queries.commitThenQuery(
                        before.isPresent()
                                ? statements.appendAfterThenAsk()
                                : statements.appendThenAsk(),
                        parameters,
                        names,
                        EventInsert::found);
        return new Inserted(
                result.changed(),
                result.rows().stream().collect(Collectors.toMap(Found::tenant, Found::state)),
                result.rows().stream().map(Found::timeline).findFirst(),
                result.rows().stream().map(Found::checkpoint).findFirst());
    }

    /** Whether the table has this row. */
    boolean isThere(Confirmed row) {
        return queries.query(
                                IS_THERE,
                                List.of(
                                        row.mint().toString(),
                                        row.head().chain(),
                                        String.valueOf(row.head().seq()),
                                        row.head().hash()),
                                found -> found.column("found").get(Long.class))
                        .getFirst()
                > 0;
    }

    /** Inserts rows with the longest statement and rolls back. */
    void rehearse(String json) {
        queries.rehearse(
                leftBehind.isEmpty() ? plain.append() : withEndings.append(), List.of(json));
    }

    private static Found found(ResultSet row) throws SQLException {
        return new Found(
                new TenantName(row.getString("tenant")),
                new TenantState(
                        new StateId(row.getLong("revision"), row.getString("hash")),
                        new StateId(row.getLong("shared_revision"), row.getString("shared_hash"))),
                row.getString("timeline"),
                row.getLong("checkpoint"));
    }
}
