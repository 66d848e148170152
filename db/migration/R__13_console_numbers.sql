-- What the console's charts and lists of the most frequent show. Every count reads a limited number of rows.

CREATE OR REPLACE FUNCTION internal.stretched(cut boolean, last text, since timestamptz, width interval) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN cut THEN greatest(1, extract(epoch FROM width) / greatest(0.001,
        ('x' || lpad(left(replace(last, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0 - extract(epoch FROM since)))
        ELSE 1 END;
$$;
COMMENT ON FUNCTION internal.stretched(boolean, text, timestamptz, interval) IS
    'The factor to extrapolate a count that stopped at a mint id within a time range.';

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

-- A burst in one part and few rows elsewhere would look like few rows everywhere, if each part were read equally far. So parts
-- that have more rows than that are read again, further: all of them together some thousand rows. If most parts are that full,
-- it isn't worth it: their shares would be little more than what was read.
-- The console may not call these two, which ask no viewer.
CREATE OR REPLACE FUNCTION internal.counted_in_parts(what text, since timestamptz, width interval, parts int, most int, further int)
    RETURNS TABLE (part int, number bigint, estimated boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    is_it constant text := CASE what WHEN 'mints' THEN 'n.step = 1' WHEN 'refusals' THEN $q$n.kind IN ('denied', 'rejected')$q$
                                     WHEN 'failures' THEN $q$n.kind = 'failed'$q$ END;
    read constant text := format('SELECT count(*) AS number, max(e.mint_id::text) AS last FROM (SELECT n.mint_id FROM audit.event AS n'
                                 || ' WHERE n.mint_id >= p.first AND n.mint_id < p.beyond AND %s ORDER BY n.mint_id LIMIT ', is_it);
BEGIN
    RETURN QUERY EXECUTE format($q$
        WITH once AS MATERIALIZED (
             SELECT p.n, p.begins, p.first, p.beyond, c.number, c.last
               FROM internal.parts_of($1, $2, $3) AS p CROSS JOIN LATERAL (%1$s $4) AS e) AS c),
             share AS MATERIALIZED (
             SELECT ($5 / greatest(count(*), 1))::int AS most FROM once AS o WHERE o.number >= $4)
        SELECT p.n, round(r.number * r.stretch)::bigint, r.stretch > 1
          FROM once AS p CROSS JOIN share AS s
         CROSS JOIN LATERAL (%1$s CASE WHEN p.number >= $4 AND s.most > 4 * $4 THEN s.most ELSE 0 END) AS e) AS c
         CROSS JOIN LATERAL (
               SELECT greatest(c.number, p.number) AS number,
                      internal.stretched(CASE WHEN c.number > 0 THEN c.number >= s.most ELSE p.number >= $4 END,
                                         coalesce(c.last, p.last), p.begins, $2) AS stretch) AS r$q$, read)
    USING since, width, parts, most, further;
END
$$;
COMMENT ON FUNCTION internal.counted_in_parts(text, timestamptz, interval, int, int, int) IS
    'The number of mints, refusals or failures in each part of a time range. Counted up to a number of rows for each part and, where there are more, up to a share of a further number; estimated beyond.';

-- Everything comes along the index of what is asked for: of all, of a subject or of a key. Failures of all have an index of
-- their own; those of a subject or a key are looked up for each of its mints, since most failures are others'.
DROP FUNCTION IF EXISTS internal.activity_in(text[], text, text, timestamptz, interval, int, int);
CREATE OR REPLACE FUNCTION internal.activity_in(tenants text[], by text, value text, since timestamptz, width interval, parts int, most int,
                                                further int)
    RETURNS TABLE (tenant text, part int, mints bigint, refusals bigint, failures bigint, estimated boolean)
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
        || $q$ count(*) FILTER (WHERE e.kind IN ('denied', 'rejected')) AS refusals, max(e.mint_id::text) AS last,$q$
        || ' count(*) FILTER (WHERE e.failed) AS failures FROM (SELECT n.mint_id, n.step, n.kind, %%s AS failed FROM audit.event AS n'
        || ' WHERE %s AND %s AND %s ORDER BY %s LIMIT ', is_it, begins, place, along);
    has_failed constant text := $q$n.step = 1 AND EXISTS (
        SELECT FROM audit.event AS o WHERE o.mint_id = n.mint_id AND o.step = 2 AND o.kind = 'failed' OFFSET 0)$q$;
    failures constant text := CASE WHEN by = 'all'
        THEN format('SELECT count(*) AS failures, count(*) >= $6 AS estimated FROM (SELECT FROM audit.event AS n'
                    || $q$ WHERE n.kind = 'failed' AND %s ORDER BY %s LIMIT $6) AS n$q$, place, along)
        ELSE 'SELECT round(greatest(c.failures, p.failures) * r.stretch)::bigint AS failures, false AS estimated' END;
BEGIN
    RETURN QUERY EXECUTE format($q$
        WITH once AS MATERIALIZED (
             SELECT p.*, c.*
               FROM (SELECT s.name, t.* FROM internal.parts_of($3, $4, $5) AS t CROSS JOIN unnest($2) AS s (name)) AS p
              CROSS JOIN LATERAL (%1$s $6) AS e) AS c),
             share AS MATERIALIZED (
             SELECT ($7 / greatest(count(*), 1))::int AS most FROM once AS o WHERE o.rows >= $6)
        SELECT p.name, p.n, round(r.mints * r.stretch)::bigint, round(r.refusals * r.stretch)::bigint, f.failures,
               r.stretch > 1 OR f.estimated
          FROM once AS p CROSS JOIN share AS s
         CROSS JOIN LATERAL (%1$s CASE WHEN p.rows >= $6 AND s.most > 4 * $6 THEN s.most ELSE 0 END) AS e) AS c
         CROSS JOIN LATERAL (
               SELECT greatest(c.mints, p.mints) AS mints, greatest(c.refusals, p.refusals) AS refusals,
                      internal.stretched(CASE WHEN c.rows > 0 THEN c.rows >= s.most ELSE p.rows >= $6 END,
                                         coalesce(c.last, p.last), p.begins, $4) AS stretch) AS r
         CROSS JOIN LATERAL (%2$s) AS f$q$,
        format(read, CASE WHEN by = 'all' THEN 'false' ELSE has_failed END), failures)
    USING value, coalesce(tenants, ARRAY['']), since, width, parts, most, further;
END
$$;
COMMENT ON FUNCTION internal.activity_in(text[], text, text, timestamptz, interval, int, int, int) IS
    'The number of mints, denials and failures in each part of a time range and each of these tenants (null: in all together), by: all, subject or key. Counted up to a number of rows for each part and, where there are more, up to a share of a further number; estimated beyond.';

CREATE OR REPLACE FUNCTION internal.activity(by text, value text, of_tenant text, since timestamptz, width interval, parts int, most int)
    RETURNS TABLE (part int, mints bigint, refusals bigint, failures bigint, estimated boolean)
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
        SELECT m.part, m.number, r.number, f.number, m.estimated OR r.estimated OR f.estimated
          FROM internal.counted_in_parts('mints', since, width, parts, most, further) AS m
          JOIN internal.counted_in_parts('refusals', since, width, parts, most, further) AS r ON r.part = m.part
          JOIN internal.counted_in_parts('failures', since, width, parts, most, further) AS f ON f.part = m.part;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT p.n, coalesce(sum(a.mints), 0)::bigint, coalesce(sum(a.refusals), 0)::bigint, coalesce(sum(a.failures), 0)::bigint,
           coalesce(bool_or(a.estimated), false)
      FROM generate_series(0, parts - 1) AS p (n)
      LEFT JOIN internal.activity_in(tenants, by, value, since, width, parts, share, further) AS a ON a.part = p.n
     GROUP BY p.n;
END
$$;
COMMENT ON FUNCTION internal.activity(text, text, text, timestamptz, interval, int, int) IS
    'The number of mints, denials and failures that the console''s viewer may see in each part of a time range, by: all, subject or key. Counted up to a number of rows for each part and, where there are more, up to a share of some thousand; estimated beyond.';

CREATE OR REPLACE FUNCTION internal.activity_of_tenants(names text[], since timestamptz, width interval, parts int, most int)
    RETURNS TABLE (tenant text, part int, mints bigint, refusals bigint, failures bigint, estimated boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    everything constant boolean := internal.viewer_sees_all();
    seen constant text[] := internal.tenants_of_viewer();
BEGIN
    RETURN QUERY
    SELECT a.* FROM internal.activity_in(ARRAY(SELECT n FROM unnest(names) AS n WHERE everything OR n = ANY (seen)),
                                         'all', NULL, since, width, parts, most, 0) AS a;
END
$$;
COMMENT ON FUNCTION internal.activity_of_tenants(text[], timestamptz, interval, int, int) IS
    'As internal.activity, of all mints of each of these tenants that the console''s viewer may see.';

CREATE OR REPLACE FUNCTION internal.most_denied(of_tenant text, since timestamptz, looked int, most int)
    RETURNS TABLE (tenant text, subject text, key text, reason text, denials bigint, last uuid, counted boolean)
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
        SELECT d.tenant, d.subject, d.key, min(d.reason), count(*), max(d.mint_id::text)::uuid,
               (SELECT count(*) FROM denial) < $3
          FROM denial AS d WHERE d.kind = 'denied'
         GROUP BY d.tenant, d.subject, d.key ORDER BY count(*) DESC, max(d.mint_id::text) DESC LIMIT $4$q$,
        CASE WHEN tenants IS NULL
             THEN $q$SELECT n.mint_id, n.kind, n.tenant, n.subject, n.key, n.reason FROM audit.event AS n
                      WHERE n.kind IN ('denied', 'rejected') AND n.mint_id >= $2 ORDER BY n.mint_id DESC LIMIT $3$q$
             ELSE $q$SELECT e.* FROM unnest($1) AS t (name) CROSS JOIN LATERAL (
                            SELECT n.mint_id, n.kind, n.tenant, n.subject, n.key, n.reason FROM audit.event AS n
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
