-- What the console's pages find by: each looks at a bounded number of rows along an index, as the owner, since an index
-- over a function isn't used under a policy, and a policy can't bound how many rows of others are passed over. They find
-- and count; what is shown of a row is read under the policies.

-- internal.find_mints finds by subject too, and bounds what it looks at.
DROP FUNCTION internal.mints_of_subject(text, uuid, int);

-- A subject in any tenant. By its hash, since a long one does not fit a B-tree.
CREATE INDEX grants_of_a_subject_anywhere ON broker.subject_grant (hashtextextended(subject, 0)) WHERE match = 'exact';

-- ---------------------------------------------------------------- mints

CREATE FUNCTION internal.tenants_looked_at(of_tenant text) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    everything constant boolean := internal.viewer_sees_all();
    tenants constant text[] := internal.tenants_of_viewer();
BEGIN
    IF of_tenant IS NOT NULL THEN
        RETURN CASE WHEN everything OR of_tenant = ANY (tenants) THEN ARRAY[of_tenant] ELSE '{}' END;
    END IF;
    RETURN CASE WHEN everything THEN NULL ELSE tenants END;
END
$$;
COMMENT ON FUNCTION internal.tenants_looked_at(text) IS
    'The tenants in which something is looked for: the one named, if the console''s viewer sees it; else all that are seen by name; null: everywhere.';

-- An id of a few rows is looked up first and then sorted; all else comes along an index in the order of mints.
CREATE FUNCTION internal.where_to_look(by text, everywhere boolean) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format(CASE
        WHEN by = 'open'
        THEN $q$SELECT '' AS part, u.mint_id, u.tenant, NULL::text AS key, NULL::bytea AS token_hash FROM audit.open_mint AS u
                 WHERE u.mint_id < $4 AND u.mint_id >= $5 ORDER BY u.mint_id DESC LIMIT $6$q$
        WHEN by IN ('credential', 'request')
        THEN $q$SELECT '' AS part, e.* FROM (
                       SELECT n.mint_id, n.tenant, n.key, n.token_hash FROM audit.event AS n
                        WHERE %s AND n.mint_id < $4 AND n.mint_id >= $5 OFFSET 0) AS e
                 ORDER BY e.mint_id DESC LIMIT $6$q$
        WHEN everywhere OR by NOT IN ('all', 'key', 'token')
        THEN $q$SELECT '' AS part, n.mint_id, n.tenant, n.key, n.token_hash FROM audit.event AS n
                 WHERE %s AND n.mint_id < $4 AND n.mint_id >= $5 ORDER BY n.mint_id DESC LIMIT $6$q$
        ELSE $q$SELECT t.name AS part, e.*
                  FROM unnest($2) AS t (name) CROSS JOIN LATERAL (
                       SELECT n.mint_id, n.tenant, n.key, n.token_hash FROM audit.event AS n
                        WHERE n.tenant = t.name COLLATE "C" AND n.mint_id < $4 AND n.mint_id >= $5
                        ORDER BY n.mint_id DESC LIMIT $6) AS e$q$ END,
        CASE by WHEN 'subject' THEN 'hashtextextended(n.subject, 0) = hashtextextended($1, 0) AND n.subject = $1'
                WHEN 'key' THEN 'n.key = $1'
                WHEN 'credential' THEN 'n.credential_id = $1'
                WHEN 'request' THEN 'n.request_id = $1'
                WHEN 'refusal' THEN 'n.kind IN (''denied'', ''rejected'')'
                ELSE 'true' END);
$$;
COMMENT ON FUNCTION internal.where_to_look(text, boolean) IS
    'The query along one index that internal.find_mints looks for candidates with.';

CREATE FUNCTION internal.find_mints(by text, value text, of_tenant text, of_key text, outcome text, before uuid, since uuid, most int)
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
             stop AS (SELECT max(p.reached)::uuid AS at
                        FROM (SELECT min(l.mint_id::text) AS reached FROM looked AS l
                               GROUP BY l.part HAVING count(*) >= $6) AS p)
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
COMMENT ON FUNCTION internal.find_mints(text, text, text, text, text, uuid, uuid, int) IS
    'The latest mints and refusals that the console''s viewer may see, the newest first, by: all, subject, key, credential, request, token (its SHA-256), refusal or open. The last row says down to where all were found, null: to the end.';


-- ---------------------------------------------------------------- numbers

CREATE FUNCTION internal.stretched(cut boolean, last text, since timestamptz, width interval) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN cut THEN greatest(1, extract(epoch FROM width) / greatest(0.001,
        ('x' || lpad(left(replace(last, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0 - extract(epoch FROM since)))
        ELSE 1 END;
$$;
COMMENT ON FUNCTION internal.stretched(boolean, text, timestamptz, interval) IS
    'By how much a count is too small that was cut at a mint id within a stretch of time.';

CREATE FUNCTION internal.parts_of(since timestamptz, width interval, parts int)
    RETURNS TABLE (n int, begins timestamptz, first uuid, beyond uuid)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT n, $1 + n * $2, audit.first_mint_id($1 + n * $2), audit.first_mint_id($1 + (n + 1) * $2)
      FROM generate_series(0, $3 - 1) AS n;
$$;
COMMENT ON FUNCTION internal.parts_of(timestamptz, interval, int) IS
    'So many parts of a time, each with the mint ids that it begins with and ends before.';

CREATE FUNCTION internal.activity(of_tenant text, since timestamptz, width interval, parts int, most int)
    RETURNS TABLE (part int, mints bigint, refusals bigint, estimated boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(of_tenant);
    share constant int := greatest(most / greatest(cardinality(tenants), 1), 20);
BEGIN
    IF tenants IS NULL THEN
        RETURN QUERY
        SELECT p.n, round(m.count * m.stretch)::bigint, r.count, m.stretch > 1 OR r.count >= most
          FROM internal.parts_of(since, width, parts) AS p
         CROSS JOIN LATERAL (
               SELECT count(*), internal.stretched(count(*) >= most, max(e.mint_id::text), p.begins, width) AS stretch
                 FROM (SELECT n.mint_id FROM audit.event AS n
                        WHERE n.mint_id >= p.first AND n.mint_id < p.beyond AND n.step = 1
                        ORDER BY n.mint_id LIMIT most) AS e) AS m
         CROSS JOIN LATERAL (
               SELECT count(*)
                 FROM (SELECT FROM audit.event AS n
                        WHERE n.mint_id >= p.first AND n.mint_id < p.beyond AND n.kind IN ('denied', 'rejected')
                        LIMIT most) AS e) AS r;
    ELSE
        RETURN QUERY
        SELECT p.n, coalesce(sum(t.mints * t.stretch), 0)::bigint, coalesce(sum(t.refusals * t.stretch), 0)::bigint,
               coalesce(bool_or(t.stretch > 1), false)
          FROM internal.parts_of(since, width, parts) AS p
          LEFT JOIN LATERAL (
               SELECT c.* FROM unnest(tenants) AS s (name)
                CROSS JOIN LATERAL (
                      SELECT count(*) FILTER (WHERE e.step = 1) AS mints,
                             count(*) FILTER (WHERE e.kind IN ('denied', 'rejected')) AS refusals,
                             internal.stretched(count(*) >= share, max(e.mint_id::text), p.begins, width) AS stretch
                        FROM (SELECT n.mint_id, n.step, n.kind FROM audit.event AS n
                               WHERE n.tenant = s.name COLLATE "C" AND n.mint_id >= p.first AND n.mint_id < p.beyond
                               ORDER BY n.mint_id LIMIT share) AS e) AS c) AS t ON true
         GROUP BY p.n;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.activity(text, timestamptz, interval, int, int) IS
    'How many mints and refusals began in each part of a time, of those that the console''s viewer may see: counted up to so many rows a part, and beyond that estimated by how far they reached.';

CREATE FUNCTION internal.living_credentials(of_tenant text, most int, OUT credentials bigint, OUT counted_all boolean, OUT last_ends_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(of_tenant);
BEGIN
    IF tenants IS NULL THEN
        SELECT count(*), count(*) < most, max(l.expires_at) INTO credentials, counted_all, last_ends_at
          FROM (SELECT e.expires_at FROM audit.event AS e
                 WHERE e.expires_at > now() AND e.kind IN ('issued', 'withheld')
                 ORDER BY e.expires_at DESC LIMIT most) AS l;
    ELSE
        SELECT count(*) FILTER (WHERE l.tenant = ANY (tenants)), count(*) < most,
               max(l.expires_at) FILTER (WHERE l.tenant = ANY (tenants))
          INTO credentials, counted_all, last_ends_at
          FROM (SELECT e.tenant, e.expires_at FROM audit.event AS e
                 WHERE e.expires_at > now() AND e.kind IN ('issued', 'withheld')
                 ORDER BY e.expires_at DESC LIMIT most) AS l;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.living_credentials(text, int) IS
    'How many credentials live now of those that the console''s viewer may see, and when the last of them ends; of so many rows looked at.';


-- ---------------------------------------------------------------- grants

CREATE FUNCTION internal.grants_for(subject text, most int) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
BEGIN
    RETURN QUERY
    (SELECT g.id FROM broker.subject_grant AS g
      WHERE g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(grants_for.subject, 0)
        AND g.subject = grants_for.subject AND (tenants IS NULL OR g.tenant = ANY (tenants))
      LIMIT most)
    UNION ALL
    (SELECT g.id FROM broker.subject_grant AS g
      WHERE g.match = 'glob' AND starts_with(grants_for.subject, split_part(g.subject, '*', 1))
        AND internal.glob_matches(g.subject, grants_for.subject) AND (tenants IS NULL OR g.tenant = ANY (tenants))
      LIMIT most);
END
$$;
COMMENT ON FUNCTION internal.grants_for(text, int) IS
    'The grants, in force or not, whose subject is or matches this one, of those that the console''s viewer may see.';

CREATE FUNCTION internal.changes_of_grant(tenant text, grant_id bigint, most int) RETURNS SETOF audit.config_change
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT c.* FROM audit.config_change AS c
     WHERE c.table_name = 'subject_grant'
       AND coalesce(c.after, c.before) ->> 'id' = changes_of_grant.grant_id::text
       AND c.tenant = ANY (internal.tenants_looked_at(changes_of_grant.tenant))
     ORDER BY c.revision DESC LIMIT most;
END
$$;
COMMENT ON FUNCTION internal.changes_of_grant(text, bigint, int) IS
    'The last changes of a grant, the newest first, if the console''s viewer may see them.';

GRANT EXECUTE ON FUNCTION
    internal.find_mints(text, text, text, text, text, uuid, uuid, int),
    internal.activity(text, timestamptz, interval, int, int),
    internal.living_credentials(text, int),
    internal.grants_for(text, int),
    internal.changes_of_grant(text, bigint, int)
    TO "${console_role}";

UPDATE runtime.schema_version SET version = greatest(version, 20);
