-- Numbers of the console's pages, and the lists of what they count: what a subject did lately and what it holds, and mints by
-- more than one outcome, or whose credential still lives.

-- ---------------------------------------------------------------- mints

CREATE OR REPLACE FUNCTION internal.find_mints(by text, value text, of_tenant text, of_key text, outcome text, before uuid, since uuid, most int)
    RETURNS TABLE (mint_id uuid, stopped_at uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    -- along the indexes, in their order: a plan that reads all and sorts it looks cheaper where rows are underestimated
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
    SET enable_incremental_sort = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(of_tenant);
    -- two rows a mint; more only where rows that were looked at may not be wanted
    look constant int := CASE WHEN by = 'open' OR outcome IS NULL AND by <> 'token' AND (of_key IS NULL OR by = 'key')
                              THEN 2 * most + 2 ELSE 10000 END;
    kinds constant text[] := CASE outcome WHEN 'live' THEN ARRAY['issued', 'withheld'] WHEN 'refused' THEN ARRAY['denied', 'rejected']
                                          ELSE ARRAY[outcome] END;
    share constant int := greatest(look / greatest(cardinality(tenants), 1), 2 * most + 2);
BEGIN
    -- Planned for these very values: only then are partitions left out that can't hold any.
    RETURN QUERY EXECUTE format($q$
        WITH looked AS MATERIALIZED (%s),
             stop AS (SELECT max(p.reached)::uuid AS at
                        FROM (SELECT min(l.mint_id::text) AS reached FROM looked AS l
                               GROUP BY l.part HAVING count(*) >= $6) AS p)
        (SELECT DISTINCT l.mint_id, NULL::uuid FROM looked AS l CROSS JOIN stop
          WHERE ($3 IS NULL OR l.key = $3)
            AND (stop.at IS NULL OR l.mint_id >= stop.at)
            AND ($8 <> 'token' OR l.token_hash = decode($1, 'hex'))
            AND CASE $7 WHEN '' THEN true
                        WHEN 'unresolved' THEN EXISTS (SELECT FROM audit.open_mint AS u WHERE u.mint_id = l.mint_id OFFSET 0)
                        WHEN 'minted' THEN EXISTS (SELECT FROM audit.event AS o WHERE o.mint_id = l.mint_id AND o.step = 1 OFFSET 0)
                        ELSE EXISTS (SELECT FROM audit.event AS o
                                      WHERE o.mint_id = l.mint_id AND o.step = 2 AND o.kind = ANY ($10)
                                        AND ($7 <> 'live' OR o.expires_at > now()) OFFSET 0) END
          ORDER BY l.mint_id DESC LIMIT $9)
        UNION ALL
        SELECT NULL, stop.at FROM stop$q$,
        internal.where_to_look(by, tenants IS NULL))
    USING value, tenants, of_key, coalesce(before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
          coalesce(since, '00000000-0000-0000-0000-000000000000'), share, coalesce(outcome, ''), by, most, kinds;
END
$$;


-- ---------------------------------------------------------------- a subject

-- Finds as internal.find_mints does, and counts instead of listing.
CREATE FUNCTION internal.activity_of_subject(subject text, since timestamptz, most int, OUT mints bigint, OUT refusals bigint,
                                             OUT counted boolean, OUT living bigint, OUT last_ends_at timestamptz,
                                             OUT may_live_until timestamptz, OUT looked_at_all boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
    SET enable_incremental_sort = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
    share constant int := greatest(most / greatest(cardinality(tenants), 1), 100);
BEGIN
    EXECUTE format($q$
        WITH looked AS MATERIALIZED (%s),
             part AS (SELECT count(*) < $6 AS whole, min(l.mint_id::text)::uuid AS reached FROM looked AS l GROUP BY l.part),
             own AS (SELECT e.* FROM (SELECT DISTINCT l.mint_id FROM looked AS l) AS m
                      CROSS JOIN LATERAL (SELECT n.mint_id, n.step, n.kind, n.expires_at FROM audit.event AS n
                                           WHERE n.mint_id = m.mint_id OFFSET 0) AS e)
        SELECT count(*) FILTER (WHERE o.step = 1 AND o.mint_id >= $3),
               count(*) FILTER (WHERE o.kind = 'denied' AND o.mint_id >= $3),
               coalesce((SELECT bool_and(p.whole OR p.reached < $3) FROM part AS p), true),
               count(*) FILTER (WHERE o.kind IN ('issued', 'withheld') AND o.expires_at > now()),
               max(o.expires_at) FILTER (WHERE o.kind IN ('issued', 'withheld') AND o.expires_at > now()),
               max(o.expires_at) FILTER (WHERE o.step = 1 AND o.expires_at > now()),
               coalesce((SELECT bool_and(p.whole) FROM part AS p), true)
          FROM own AS o$q$,
        internal.where_to_look('subject', tenants IS NULL))
    USING subject, tenants, audit.first_mint_id(since), uuid 'ffffffff-ffff-ffff-ffff-ffffffffffff',
          uuid '00000000-0000-0000-0000-000000000000', share
     INTO mints, refusals, counted, living, last_ends_at, may_live_until, looked_at_all;
END
$$;
COMMENT ON FUNCTION internal.activity_of_subject(text, timestamptz, int) IS
    'How many mints and refusals of a subject began since a time and how many of its credentials live now, of those that the console''s viewer may see: among about so many of its latest. counted: whether the first two are all; may_live_until: the latest that a credential of any of them could live, whatever is on record of it; looked_at_all: whether it has no more.';


-- ---------------------------------------------------------------- the seal

CREATE FUNCTION internal.unsealed_rows(most int, OUT unsealed bigint, OUT counted boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
AS $$
DECLARE
    sealed_at constant timestamptz := coalesce((SELECT c.sealed_at FROM audit.checkpoint AS c ORDER BY c.number DESC LIMIT 1), 'epoch');
    -- a mint that had begun before may have ended since; none takes longer
    since constant uuid := audit.first_mint_id(greatest(sealed_at - interval '2 minutes', 'epoch'));
BEGIN
    IF internal.viewer_sees_all() THEN
        SELECT count(*) FILTER (WHERE r.seq IS NULL OR r.seq > coalesce(s.position, 0)), count(*) <= most
          INTO unsealed, counted
          FROM (SELECT e.chain, e.seq FROM audit.event AS e WHERE e.mint_id >= since ORDER BY e.mint_id DESC LIMIT most + 1) AS r
          LEFT JOIN runtime.sealed_chain AS s ON s.kind = 'event' AND s.chain = r.chain;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.unsealed_rows(int) IS
    'How many rows of mints and refusals no checkpoint covers yet, among so many of the latest; null for a viewer of the console who doesn''t see all tenants.';

GRANT EXECUTE ON FUNCTION internal.activity_of_subject(text, timestamptz, int), internal.unsealed_rows(int) TO "${console_role}";

UPDATE runtime.schema_version SET version = greatest(version, 32);
