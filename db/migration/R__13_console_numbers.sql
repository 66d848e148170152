-- What the console's charts and lists of the most frequent show. Every count reads a limited number of rows.

CREATE OR REPLACE FUNCTION internal.parts_of(since timestamptz, width interval, parts int)
    RETURNS TABLE (n int, begins timestamptz, first uuid, beyond uuid)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT n, $1 + n * $2, audit.first_mint_id($1 + n * $2), audit.first_mint_id($1 + (n + 1) * $2)
      FROM generate_series(0, $3 - 1) AS n;
$$;
COMMENT ON FUNCTION internal.parts_of(timestamptz, interval, int) IS
    'A time range in this number of parts, each with its first mint id and the first after it.';

-- A number is exact, or a bound that is exceeded: "more". Each part is counted up to a limit first. Parts that have more are
-- counted further, and those that have still more share what the others leave, so that a burst in few parts is counted whole.
-- The console may not call these two, which ask no viewer.
DROP FUNCTION IF EXISTS internal.stretched(boolean, text, timestamptz, interval);
DROP FUNCTION IF EXISTS internal.counted_in_parts(text, timestamptz, interval, int, int, int);
CREATE OR REPLACE FUNCTION internal.counted_in_parts(what text, since timestamptz, width interval, parts int, most int, further int)
    RETURNS TABLE (part int, number bigint, more boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    is_it constant text := CASE what WHEN 'mints' THEN 'n.step = 1' WHEN 'refusals' THEN $q$n.kind IN ('denied', 'rejected')$q$
                                     WHEN 'failures' THEN $q$n.kind = 'failed'$q$ END;
    read constant text := format('SELECT count(*) AS number FROM (SELECT FROM audit.event AS n'
                                 || ' WHERE n.mint_id >= p.first AND n.mint_id < p.beyond AND %s ORDER BY n.mint_id LIMIT ', is_it);
BEGIN
    RETURN QUERY EXECUTE format($q$
        WITH once AS MATERIALIZED (
             SELECT p.n, p.first, p.beyond, c.number
               FROM internal.parts_of($1, $2, $3) AS p CROSS JOIN LATERAL (%1$s $4) AS e) AS c),
             share AS MATERIALIZED (
             SELECT greatest($5 / greatest(count(*), 1), $4)::int AS most FROM once AS p WHERE p.number >= $4),
             twice AS MATERIALIZED (
             SELECT p.n, p.first, p.beyond, greatest(c.number, p.number) AS number
               FROM once AS p CROSS JOIN share AS s
              CROSS JOIN LATERAL (%1$s CASE WHEN p.number >= $4 THEN s.most ELSE 0 END) AS e) AS c),
             rest AS MATERIALIZED (
             SELECT greatest($5 / greatest(count(*), 1), max(s.most))::int AS most
               FROM twice AS p CROSS JOIN share AS s WHERE p.number >= s.most)
        SELECT p.n, r.number - r.more::int, r.more
          FROM twice AS p CROSS JOIN share AS s CROSS JOIN rest AS t
         CROSS JOIN LATERAL (%1$s CASE WHEN p.number >= s.most AND t.most > s.most THEN t.most ELSE 0 END) AS e) AS c
         CROSS JOIN LATERAL (
               SELECT greatest(c.number, p.number) AS number,
                      p.number >= s.most AND greatest(c.number, p.number) >= t.most AS more) AS r$q$, read)
    USING since, width, parts, most, further;
END
$$;
COMMENT ON FUNCTION internal.counted_in_parts(text, timestamptz, interval, int, int, int) IS
    'The number of mints, refusals or failures in each part of a time range; more: there are more than that number. Each part is counted up to a number of rows, and parts that have more up to a share of a further number.';

-- Everything comes along the index of what is asked for: of all, of a subject or of a key. Failures of all have an index of
-- their own; those of a subject or a key are looked up for each of its mints, since most failures are others'.
DROP FUNCTION IF EXISTS internal.activity_in(text[], text, text, timestamptz, interval, int, int, int);
CREATE OR REPLACE FUNCTION internal.activity_in(tenants text[], by text, value text, since timestamptz, width interval, parts int, most int,
                                                further int)
    RETURNS TABLE (tenant text, part int, mints bigint, refusals bigint, failures bigint, more boolean, more_failures boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
    SET enable_sort = off
    SET enable_incremental_sort = off
AS $$
DECLARE
    is_it constant text := CASE by WHEN 'subject' THEN 'hashtextextended(n.subject, 0) = hashtextextended($1, 0) AND n.subject = $1'
                                   WHEN 'key' THEN 'n.key = $1' ELSE 'true' END;
    begins constant text := CASE WHEN by = 'all' THEN 'true' ELSE $q$(n.step = 1 OR n.kind = 'denied')$q$ END;
    within constant text := 'n.mint_id >= p.first AND n.mint_id < p.beyond';
    place constant text := CASE WHEN tenants IS NULL THEN within
        ELSE within || ' AND ROW(n.tenant, n.mint_id) >= ROW(p.name COLLATE "C", p.first)'
                    || ' AND ROW(n.tenant, n.mint_id) < ROW(p.name COLLATE "C", p.beyond)' END;
    along constant text := CASE WHEN tenants IS NULL THEN 'n.mint_id' ELSE 'n.tenant, n.mint_id' END;
    read constant text := format(
        'SELECT count(*) AS rows, count(*) FILTER (WHERE e.step = 1) AS mints,'
        || $q$ count(*) FILTER (WHERE e.kind IN ('denied', 'rejected')) AS refusals,$q$
        || ' count(*) FILTER (WHERE e.failed) AS failures FROM (SELECT n.step, n.kind, %%s AS failed FROM audit.event AS n'
        || ' WHERE %s AND %s AND %s ORDER BY %s LIMIT ', is_it, begins, place, along);
    has_failed constant text := $q$n.step = 1 AND EXISTS (
        SELECT FROM audit.event AS o WHERE o.mint_id = n.mint_id AND o.step = 2 AND o.kind = 'failed' OFFSET 0)$q$;
    failures constant text := CASE WHEN by = 'all'
        THEN format('SELECT count(*) - (count(*) >= $6)::int AS failures, count(*) >= $6 AS more FROM (SELECT FROM audit.event AS n'
                    || $q$ WHERE n.kind = 'failed' AND %s ORDER BY %s LIMIT $6) AS n$q$, place, along)
        ELSE 'SELECT greatest(c.failures, p.failures) AS failures, r.more AS more' END;
BEGIN
    RETURN QUERY EXECUTE format($q$
        WITH once AS MATERIALIZED (
             SELECT p.*, c.*
               FROM (SELECT s.name, t.* FROM internal.parts_of($3, $4, $5) AS t CROSS JOIN unnest($2) AS s (name)) AS p
              CROSS JOIN LATERAL (%1$s $6) AS e) AS c),
             share AS MATERIALIZED (
             SELECT greatest($7 / greatest(count(*), 1), $6)::int AS most FROM once AS p WHERE p.rows >= $6)
        SELECT p.name, p.n, greatest(c.mints, p.mints), greatest(c.refusals, p.refusals), f.failures, r.more, f.more
          FROM once AS p CROSS JOIN share AS s
         CROSS JOIN LATERAL (%1$s CASE WHEN p.rows >= $6 AND s.most > $6 THEN s.most ELSE 0 END) AS e) AS c
         CROSS JOIN LATERAL (SELECT p.rows >= $6 AND greatest(c.rows, p.rows) >= s.most AS more) AS r
         CROSS JOIN LATERAL (%2$s) AS f$q$,
        format(read, CASE WHEN by = 'all' THEN 'false' ELSE has_failed END), failures)
    USING value, coalesce(tenants, ARRAY['']), since, width, parts, most, further;
END
$$;
COMMENT ON FUNCTION internal.activity_in(text[], text, text, timestamptz, interval, int, int, int) IS
    'The number of mints, denials and failures in each part of a time range and each of these tenants (null: in all together), by: all, subject or key; more: there may be more mints and denials than that. Each part is counted up to a number of rows, and parts that have more up to a share of a further number.';

DROP FUNCTION IF EXISTS internal.activity(text, text, text, timestamptz, interval, int, int);
CREATE OR REPLACE FUNCTION internal.activity(by text, value text, of_tenant text, since timestamptz, width interval, parts int, most int)
    RETURNS TABLE (part int, mints bigint, refusals bigint, failures bigint, more_mints boolean, more_refusals boolean,
                   more_failures boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
    SET enable_sort = off
    SET enable_incremental_sort = off
AS $$
DECLARE
    -- a busy subject or key: a tenth of a second or two, since each of its mints is looked up, too
    further constant int := CASE by WHEN 'all' THEN 60000 ELSE 8000 END;
    tenants constant text[] := internal.tenants_looked_at(of_tenant);
    share constant int := greatest(most / greatest(cardinality(tenants), 1), 20);
BEGIN
    IF tenants IS NULL AND by = 'all' THEN
        RETURN QUERY
        SELECT m.part, m.number, r.number, f.number, m.more, r.more, f.more
          FROM internal.counted_in_parts('mints', since, width, parts, most, further) AS m
          JOIN internal.counted_in_parts('refusals', since, width, parts, most, further) AS r ON r.part = m.part
          JOIN internal.counted_in_parts('failures', since, width, parts, most, further) AS f ON f.part = m.part;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT p.n, coalesce(sum(a.mints), 0)::bigint, coalesce(sum(a.refusals), 0)::bigint, coalesce(sum(a.failures), 0)::bigint,
           coalesce(bool_or(a.more), false), coalesce(bool_or(a.more), false), coalesce(bool_or(a.more_failures), false)
      FROM generate_series(0, parts - 1) AS p (n)
      LEFT JOIN internal.activity_in(tenants, by, value, since, width, parts, share, further) AS a ON a.part = p.n
     GROUP BY p.n;
END
$$;
COMMENT ON FUNCTION internal.activity(text, text, text, timestamptz, interval, int, int) IS
    'The number of mints, denials and failures that the console''s viewer may see in each part of a time range, by: all, subject or key. more: there may be more than that number. Counted up to a number of rows for each part and, where there are more, up to a share of some thousand.';

CREATE OR REPLACE FUNCTION internal.log_begins(of_tenant text) RETURNS timestamptz
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
    IF tenants IS NULL THEN
        RETURN (SELECT e.occurred_at FROM audit.event AS e ORDER BY e.mint_id LIMIT 1);
    END IF;
    RETURN (SELECT min(f.occurred_at) FROM unnest(tenants) AS t (name) CROSS JOIN LATERAL (
                   SELECT e.occurred_at FROM audit.event AS e
                    WHERE e.tenant = t.name COLLATE "C" ORDER BY e.tenant, e.mint_id LIMIT 1) AS f);
END
$$;
COMMENT ON FUNCTION internal.log_begins(text) IS
    'The time of the first mint or refusal on record of a tenant (null: of all) that the console''s viewer may see; null: there is none.';

DROP FUNCTION IF EXISTS internal.activity_of_tenants(text[], timestamptz, interval, int, int);
CREATE OR REPLACE FUNCTION internal.activity_of_tenants(names text[], since timestamptz, width interval, parts int, most int)
    RETURNS TABLE (tenant text, part int, mints bigint, refusals bigint, failures bigint, more_mints boolean, more_refusals boolean,
                   more_failures boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    everything constant boolean := internal.viewer_sees_all();
    seen constant text[] := internal.tenants_of_viewer();
BEGIN
    RETURN QUERY
    SELECT a.tenant, a.part, a.mints, a.refusals, a.failures, a.more, a.more, a.more_failures
      FROM internal.activity_in(ARRAY(SELECT n FROM unnest(names) AS n WHERE everything OR n = ANY (seen)),
                                         'all', NULL, since, width, parts, most, 0) AS a;
END
$$;
COMMENT ON FUNCTION internal.activity_of_tenants(text[], timestamptz, interval, int, int) IS
    'Like internal.activity, for all mints of each of these tenants that the console''s viewer may see.';

DROP FUNCTION IF EXISTS internal.most_denied(text, timestamptz, int, int);
CREATE OR REPLACE FUNCTION internal.most_denied(of_tenant text, since timestamptz, looked int, most int)
    RETURNS TABLE (tenant text, subject text, key text, reason text, denials bigint, last uuid, first_at timestamptz, last_at timestamptz, counted boolean)
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
    share constant int := greatest(looked / greatest(cardinality(tenants), 1), 100);
    start constant uuid := audit.first_mint_id(since);
BEGIN
    RETURN QUERY EXECUTE format($q$
        WITH denial AS MATERIALIZED (%s)
        SELECT d.tenant, d.subject, d.key, (array_agg(d.reason ORDER BY d.mint_id DESC))[1], count(*), max(d.mint_id::text)::uuid,
               min(d.occurred_at), max(d.occurred_at),
               (SELECT count(*) FROM denial) < $3
          FROM denial AS d WHERE d.kind = 'denied'
         GROUP BY d.tenant, d.subject, d.key ORDER BY count(*) DESC, max(d.mint_id::text) DESC LIMIT $4$q$,
        CASE WHEN tenants IS NULL
             THEN $q$SELECT n.mint_id, n.kind, n.tenant, n.subject, n.key, n.reason, n.occurred_at FROM audit.event AS n
                      WHERE n.kind IN ('denied', 'rejected') AND n.mint_id >= $2 ORDER BY n.mint_id DESC LIMIT $3$q$
             ELSE $q$SELECT e.* FROM unnest($1) AS t (name) CROSS JOIN LATERAL (
                            SELECT n.mint_id, n.kind, n.tenant, n.subject, n.key, n.reason, n.occurred_at FROM audit.event AS n
                             WHERE n.kind IN ('denied', 'rejected') AND n.mint_id >= $2
                               AND ROW(n.tenant, n.mint_id) >= ROW(t.name COLLATE "C", $2)
                               AND ROW(n.tenant, n.mint_id) <= ROW(t.name COLLATE "C", uuid 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                             ORDER BY n.tenant DESC, n.mint_id DESC LIMIT $3) AS e$q$ END)
    USING tenants, start, share, most;
END
$$;
COMMENT ON FUNCTION internal.most_denied(text, timestamptz, int, int) IS
    'Who was denied which key most often since a time, among a limited number of the latest denials that the console''s viewer may see; counted: whether these are all.';

CREATE OR REPLACE FUNCTION internal.users_of_key(of_tenant text, of_key text, since timestamptz, looked int, most int)
    RETURNS TABLE (subject text, actor text, mints bigint, denials bigint, last timestamptz, counted boolean)
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
    start constant uuid := audit.first_mint_id(since);
BEGIN
    IF cardinality(tenants) IS DISTINCT FROM 1 THEN
        RETURN;
    END IF;
    -- Planned for these very values: only then are partitions left out that can't hold any.
    RETURN QUERY EXECUTE $q$
        WITH asked AS MATERIALIZED (
             SELECT n.subject, n.actor, n.kind, n.occurred_at FROM audit.event AS n
              WHERE n.key = $2 AND (n.step = 1 OR n.kind = 'denied') AND n.mint_id >= $3
                AND ROW(n.tenant, n.mint_id) >= ROW($1 COLLATE "C", $3)
                AND ROW(n.tenant, n.mint_id) <= ROW($1 COLLATE "C", uuid 'ffffffff-ffff-ffff-ffff-ffffffffffff')
              ORDER BY n.tenant DESC, n.mint_id DESC LIMIT $4)
        SELECT a.subject, a.actor, count(*) FILTER (WHERE a.kind <> 'denied'), count(*) FILTER (WHERE a.kind = 'denied'),
               max(a.occurred_at), (SELECT count(*) FROM asked) < $4
          FROM asked AS a GROUP BY a.subject, a.actor ORDER BY 3 DESC, 5 DESC LIMIT $5$q$
    USING tenants[1], of_key, start, looked, most;
END
$$;
COMMENT ON FUNCTION internal.users_of_key(text, text, timestamptz, int, int) IS
    'Who minted a key of a tenant and was denied it since a time, among a limited number of the latest mints and denials that the console''s viewer may see; counted: whether these are all.';

CREATE OR REPLACE FUNCTION internal.uses_of_grants(grants bigint[], since timestamptz, most int)
    RETURNS TABLE (grant_id bigint, uses bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    everything constant boolean := internal.viewer_sees_all();
    seen constant text[] := internal.tenants_of_viewer();
    start constant uuid := audit.first_mint_id(since);
BEGIN
    -- From the index alone: a viewer's own query reads each row to see its tenant, and a file of 5,000 grants took too long.
    RETURN QUERY
    SELECT g.id, u.uses
      FROM broker.subject_grant AS g
     CROSS JOIN LATERAL (
           SELECT count(*) AS uses
             FROM (SELECT FROM audit.event AS e WHERE e.grant_id = g.id AND e.step = 1 AND e.mint_id >= start LIMIT most) AS e) AS u
     WHERE g.id = ANY (grants) AND (everything OR g.tenant = ANY (seen));
END
$$;
COMMENT ON FUNCTION internal.uses_of_grants(bigint[], timestamptz, int) IS
    'The number of mints since a time under each of these grants that the console''s viewer may see, counted up to a limit for each.';
