-- What the console's weekly page of a tenant shows. Every count reads a limited number of rows.

CREATE OR REPLACE FUNCTION internal.revisions_in_time(of_tenant text, since timestamptz, until timestamptz, OUT first bigint, OUT beyond bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(of_tenant);
BEGIN
    IF cardinality(tenants) IS NOT DISTINCT FROM 1 THEN
        first := internal.revision_at(tenants[1], since - interval '1 microsecond') + 1;
        beyond := internal.revision_at(tenants[1], until - interval '1 microsecond') + 1;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.revisions_in_time(text, timestamptz, timestamptz) IS
    'The first revision of a tenant in a time, and the first after it; null: the console''s viewer may not see the tenant.';

-- Grants that were deleted since may have been used before, so they are found in the history.
CREATE OR REPLACE FUNCTION internal.uses_in_time(of_tenant text, since timestamptz, until timestamptz, looked int, most int)
    RETURNS TABLE (used boolean, grant_id bigint, subject text, actor text, key text, granted_by text, granted_at timestamptz, request uuid,
                   uses bigint, last_use timestamptz, counted_uses boolean, grants bigint, counted_grants boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
AS $$
DECLARE
    -- each grant's uses are counted up to the first, those of the grants that are returned up to the second
    briefly constant int := 200;
    further constant int := 20000;
    tenants constant text[] := internal.tenants_looked_at(of_tenant);
BEGIN
    IF cardinality(tenants) IS DISTINCT FROM 1 THEN
        RETURN;
    END IF;
    -- Planned for these very values: only then are partitions left out that can't hold any.
    RETURN QUERY EXECUTE $q$
        WITH present AS MATERIALIZED (
             SELECT g.id, g.subject, g.actor, g.key, g.created_by, g.created_at, g.request_id,
                    g.created_at < $2 AND g.enabled AND coalesce(g.valid_from <= $2, true) AND coalesce(g.valid_until > now(), true)
                    AND (g.approved_at IS NOT NULL OR NOT (SELECT t.require_second_admin FROM broker.tenant AS t WHERE t.name = $1)) AS lasts
               FROM broker.subject_grant AS g WHERE g.tenant = $1 AND g.created_at < $3 LIMIT $4 + 1),
             change AS MATERIALIZED (
             SELECT c.table_name, c.operation, c.before FROM log.config_change AS c
              WHERE c.tenant = $1 AND c.revision >= $10 ORDER BY c.tenant, c.revision LIMIT $4 + 1),
             was AS MATERIALIZED (
             SELECT p.* FROM present AS p
             UNION ALL
             SELECT (c.before ->> 'id')::bigint, c.before ->> 'subject', c.before ->> 'actor', c.before ->> 'key', c.before ->> 'created_by',
                    (c.before ->> 'created_at')::timestamptz, (c.before ->> 'request_id')::uuid, false
               FROM change AS c
              WHERE c.table_name = 'subject_grant' AND c.operation = 'DELETE' AND (c.before ->> 'created_at')::timestamptz < $3),
             ranked AS MATERIALIZED (
             SELECT w.*, u.uses > 0 AS used, count(*) OVER (PARTITION BY u.uses > 0) AS grants,
                    row_number() OVER (PARTITION BY u.uses > 0 ORDER BY u.uses DESC, w.created_at, w.id) AS place
               FROM was AS w
              CROSS JOIN LATERAL (
                    SELECT count(*) AS uses
                      FROM (SELECT FROM audit.event AS e
                             WHERE e.grant_id = w.id AND e.step = 1 AND e.mint_id >= $6 AND e.mint_id < $7 LIMIT $8) AS e) AS u
              WHERE u.uses > 0 OR w.lasts)
        SELECT r.used, r.id, r.subject::text, r.actor::text, r.key::text, r.created_by::text, r.created_at, r.request_id,
               least(n.uses, $9), l.occurred_at, n.uses <= $9, r.grants,
               (SELECT count(*) <= $4 FROM present) AND (SELECT count(*) <= $4 FROM change)
          FROM ranked AS r
         CROSS JOIN LATERAL (
               SELECT count(*) AS uses
                 FROM (SELECT FROM audit.event AS e
                        WHERE r.used AND e.grant_id = r.id AND e.step = 1 AND e.mint_id >= $6 AND e.mint_id < $7 LIMIT $9 + 1) AS e) AS n
          LEFT JOIN LATERAL (
               SELECT e.occurred_at FROM audit.event AS e
                WHERE r.used AND e.grant_id = r.id AND e.step = 1 AND e.mint_id >= $6 AND e.mint_id < $7
                ORDER BY e.mint_id DESC LIMIT 1) AS l ON true
         WHERE r.place <= $5
         ORDER BY r.used DESC, n.uses DESC, r.created_at, r.id$q$
    USING tenants[1], since, until, looked, most, audit.first_mint_id(since), audit.first_mint_id(until), briefly, further,
          internal.revision_at(tenants[1], since - interval '1 microsecond') + 1;
END
$$;
COMMENT ON FUNCTION internal.uses_in_time(text, timestamptz, timestamptz, int, int) IS
    'The grants of a tenant that were used in a time, and those that were not although they were in force before it and still are: some of each, with the number of all. Looks at a limited number of grants and changes; counted_grants: whether these are all; counted_uses: whether uses is exact, not a lower bound.';

CREATE OR REPLACE FUNCTION internal.denials_in_time(of_tenant text, since timestamptz, until timestamptz, looked int, most int)
    RETURNS TABLE (subject text, actor text, key text, reason text, denials bigint, last uuid, last_at timestamptz, parties bigint, all_denials bigint, counted boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
    SET enable_sort = off
    SET enable_incremental_sort = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(of_tenant);
BEGIN
    IF cardinality(tenants) IS DISTINCT FROM 1 THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE $q$
        WITH refusal AS MATERIALIZED (
             SELECT n.mint_id, n.kind, n.subject, n.actor, n.key, n.reason, n.occurred_at FROM audit.event AS n
              WHERE n.kind IN ('denied', 'rejected') AND n.mint_id >= $2 AND n.mint_id < $3
                AND ROW(n.tenant, n.mint_id) >= ROW($1 COLLATE "C", $2)
                AND ROW(n.tenant, n.mint_id) < ROW($1 COLLATE "C", $3)
              ORDER BY n.tenant DESC, n.mint_id DESC LIMIT $4 + 1)
        SELECT d.subject::text, d.actor::text, d.key::text, (array_agg(d.reason::text ORDER BY d.mint_id DESC))[1], count(*), max(d.mint_id::text)::uuid,
               max(d.occurred_at), count(*) OVER (), (sum(count(*)) OVER ())::bigint, (SELECT count(*) <= $4 FROM refusal)
          FROM refusal AS d WHERE d.kind = 'denied'
         GROUP BY d.subject, d.actor, d.key ORDER BY count(*) DESC, max(d.mint_id::text) DESC LIMIT $5$q$
    USING tenants[1], audit.first_mint_id(since), audit.first_mint_id(until), looked, most;
END
$$;
COMMENT ON FUNCTION internal.denials_in_time(text, timestamptz, timestamptz, int, int) IS
    'Who was denied which key of a tenant in a time, the most often denied first, with the number of parties and of denials, among a limited number of the latest refusals; counted: whether these are all.';
