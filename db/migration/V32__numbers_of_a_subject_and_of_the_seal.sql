-- Numbers of the console's pages: what a subject did lately and what it holds, and how many rows no checkpoint covers yet.

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
