-- A subject's page says until when what it holds lives: the end that a provider set where that is on record, and the latest
-- possible one only where nobody knows whether there is a credential.

-- Another column is another function. A console of the version before reads its columns by their names.
DROP FUNCTION internal.activity_of_subject(text, timestamptz, int);

-- Finds as internal.find_mints does, and counts instead of listing.
CREATE FUNCTION internal.activity_of_subject(subject text, since timestamptz, most int, OUT mints bigint, OUT refusals bigint,
                                             OUT counted boolean, OUT living bigint, OUT last_ends_at timestamptz,
                                             OUT may_live_until timestamptz, OUT living_types text[], OUT looked_at_all boolean)
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
                      CROSS JOIN LATERAL (SELECT n.mint_id, n.step, n.kind, n.reason, n.provider_type, n.expires_at
                                            FROM audit.event AS n
                                           WHERE n.mint_id = m.mint_id OFFSET 0) AS e),
             mint AS (SELECT o.mint_id, bool_or(o.step = 1) AS begun, bool_or(o.kind = 'denied') AS denied,
                             max(o.provider_type) AS type,
                             max(o.expires_at) FILTER (WHERE o.kind IN ('issued', 'withheld')) AS real_end,
                             max(o.expires_at) FILTER (WHERE o.step = 1) AS latest_end,
                             -- as audit.active_credential has it: a provider that didn't answer may have made one
                             bool_or(o.step = 2 AND (o.kind <> 'failed'
                                                     OR o.reason NOT IN ('provider_timeout', 'provider_unreachable'))) AS known
                        FROM own AS o GROUP BY o.mint_id),
             ends AS (SELECT m.*, CASE WHEN m.known THEN m.real_end ELSE m.latest_end END AS may_end FROM mint AS m)
        SELECT count(*) FILTER (WHERE e.begun AND e.mint_id >= $3),
               count(*) FILTER (WHERE e.denied AND e.mint_id >= $3),
               coalesce((SELECT bool_and(p.whole OR p.reached < $3) FROM part AS p), true),
               count(*) FILTER (WHERE e.real_end > now()),
               max(e.real_end) FILTER (WHERE e.real_end > now()),
               max(e.may_end) FILTER (WHERE e.may_end > now()),
               coalesce(array_agg(DISTINCT e.type) FILTER (WHERE e.may_end > now()), '{}'),
               coalesce((SELECT bool_and(p.whole) FROM part AS p), true)
          FROM ends AS e$q$,
        internal.where_to_look('subject', tenants IS NULL))
    USING subject, tenants, audit.first_mint_id(since), uuid 'ffffffff-ffff-ffff-ffff-ffffffffffff',
          uuid '00000000-0000-0000-0000-000000000000', share
     INTO mints, refusals, counted, living, last_ends_at, may_live_until, living_types, looked_at_all;
END
$$;
COMMENT ON FUNCTION internal.activity_of_subject(text, timestamptz, int) IS
    'How many mints and refusals of a subject began since a time and how many of its credentials live now, of those that the console''s viewer may see: among about so many of its latest. counted: whether the first two are all; may_live_until: when the last of its credentials ends, or could end of which nobody knows whether there is one; living_types: the types of their providers; looked_at_all: whether it has no more.';

GRANT EXECUTE ON FUNCTION internal.activity_of_subject(text, timestamptz, int) TO "${console_role}";

UPDATE runtime.schema_version SET version = greatest(version, 33);
