-- A search along an index of all tenants says where it stopped: where that is a row which its viewer may not see, it
-- gives no longer the mint's id but the next millisecond. It is the time alone that a page says and goes on from.

CREATE FUNCTION internal.next_millisecond(mint_id uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (lpad(to_hex(('x' || lpad(left(replace(mint_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint + 1), 12, '0')
            || repeat('0', 20))::uuid;
$$;
COMMENT ON FUNCTION internal.next_millisecond(uuid) IS
    'The least mint id of the millisecond after that of a mint.';

CREATE OR REPLACE FUNCTION internal.find_mints(by text, value text, of_tenant text, of_key text, outcome text, before uuid, since uuid, most int)
    RETURNS TABLE (mint_id uuid, stopped_at uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    -- along the indexes, in their order: a plan that reads all and sorts it looks cheaper where rows are underestimated
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(of_tenant);
    -- two rows a mint; more only where rows that were looked at may not be wanted
    look constant int := CASE WHEN outcome IS NULL AND by <> 'token' AND (of_key IS NULL OR by = 'key' AND tenants IS NULL)
                                AND (tenants IS NULL OR by = 'all') THEN 2 * most + 2 ELSE 10000 END;
    share constant int := greatest(look / greatest(cardinality(tenants), 1), 2 * most + 2);
BEGIN
    -- Planned for these very values: only then are partitions left out that can't hold any.
    RETURN QUERY EXECUTE format($q$
        WITH looked AS MATERIALIZED (%s),
             reached AS (SELECT max(p.reached)::uuid AS at
                           FROM (SELECT min(l.mint_id::text) AS reached FROM looked AS l
                                  GROUP BY l.part HAVING count(*) >= $6) AS p),
             stop AS (SELECT CASE WHEN $2 IS NULL OR EXISTS (SELECT FROM looked AS l WHERE l.mint_id = r.at AND l.tenant = ANY ($2))
                                  THEN r.at ELSE internal.next_millisecond(r.at) END AS at
                        FROM reached AS r)
        (SELECT DISTINCT l.mint_id, NULL::uuid FROM looked AS l CROSS JOIN stop
          WHERE ($2 IS NULL OR l.tenant = ANY ($2)) AND ($3 IS NULL OR l.key = $3)
            AND (stop.at IS NULL OR l.mint_id >= stop.at)
            AND ($8 <> 'token' OR l.token_hash = decode($1, 'hex'))
            AND CASE $7 WHEN '' THEN true
                        WHEN 'unresolved' THEN EXISTS (SELECT FROM audit.open_mint AS u WHERE u.mint_id = l.mint_id OFFSET 0)
                        ELSE EXISTS (SELECT FROM audit.event AS o
                                      WHERE o.mint_id = l.mint_id AND o.step = 2 AND o.kind = $7 OFFSET 0) END
          ORDER BY l.mint_id DESC LIMIT $9)
        UNION ALL
        SELECT NULL, stop.at FROM stop$q$,
        internal.where_to_look(by, tenants IS NULL))
    USING value, tenants, of_key, coalesce(before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
          coalesce(since, '00000000-0000-0000-0000-000000000000'), share, coalesce(outcome, ''), by, most;
END
$$;
UPDATE runtime.schema_version SET version = greatest(version, 23);
