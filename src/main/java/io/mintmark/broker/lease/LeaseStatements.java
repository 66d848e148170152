package io.mintmark.broker.lease;

/**
 * The SQL of {@link PostgresLeases}. The statement that writes the audit log writes {@code
 * runtime.ending} too, so no lock on its rows outlives a statement.
 */
final class LeaseStatements {
    /** The oldest of each tenant, up to a thousand in all, so that no tenant waits for another. */
    static final String NOTE_REQUESTS =
            """
            WITH RECURSIVE tenant AS (
                SELECT min(r.tenant) AS name FROM work.early_end AS r
                 UNION ALL
                SELECT (SELECT min(r.tenant) FROM work.early_end AS r WHERE r.tenant > t.name)
                  FROM tenant AS t WHERE t.name IS NOT NULL
            ), chosen AS (
                SELECT name FROM tenant WHERE name IS NOT NULL ORDER BY random() LIMIT 1000
            ), turn AS MATERIALIZED (
                SELECT r.mint_id, r.asked_by
                  FROM chosen AS c
                 CROSS JOIN LATERAL (SELECT e.mint_id, e.asked_by FROM work.early_end AS e
                                      WHERE e.tenant = c.name ORDER BY e.mint_id
                                      LIMIT 1000 / (SELECT count(*) FROM chosen)) AS r
            ), asked AS (
                SELECT e.mint_id, t.asked_by
                  FROM turn AS t JOIN work.ending AS e ON e.mint_id = t.mint_id
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
             WHERE r.mint_id IN (SELECT mint_id FROM moved
                                  UNION ALL
                                 SELECT t.mint_id FROM turn AS t
                                  WHERE NOT EXISTS (SELECT FROM work.ending AS e WHERE e.mint_id = t.mint_id))
            """;

    private static final String IS_FREE = "(e.claimed_until IS NULL OR e.claimed_until < now())";

    /** An access provider that is gone, or has another type, isn't swept any more. */
    static final String NOTE_PROVIDERS =
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
    static final String DUE =
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
    static final String CLAIM =
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

    static final String RELEASE =
            "UPDATE work.ending SET claimed_by = NULL, claimed_until = NULL" + CLAIMED;

    /**
     * A mint that was issued meanwhile isn't due before its credential expires. If another replica
     * recorded the end meanwhile, this one has nothing to record.
     */
    static final String POSTPONE =
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

    static final String FORGET = "DELETE FROM work.ending" + CLAIMED;

    static final String CLAIM_SWEEP =
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

    static final String NOTE =
            """
            SELECT internal.note_left_behind(
                :tenant, :provider,
                cast(:over AS uuid[]) || ARRAY(
                    SELECT d.mint_id FROM log.event AS d
                     WHERE d.mint_id = ANY (cast(:others AS uuid[])) AND d.step = 3)) AS noted
            """;

    private LeaseStatements() {}
}
