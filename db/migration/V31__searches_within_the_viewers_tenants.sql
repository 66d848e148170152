-- Whoever sees some tenants finds along indexes that name the tenant, and looks at no row of others: neither what is
-- found, nor where a search stops, nor how long it takes tells of them.

-- ---------------------------------------------------------------- indexes

-- A mint is found by the row that begins it, and its outcome's pays nothing.
CREATE INDEX mints_of_a_subject_by_tenant ON audit.event (hashtextextended(subject, 0), tenant, mint_id)
 WHERE subject IS NOT NULL AND (step = 1 OR kind = 'denied');
CREATE INDEX mints_of_a_key_by_tenant ON audit.event (key, tenant, mint_id)
 WHERE key IS NOT NULL AND (step = 1 OR kind = 'denied');
-- Only refusals pay for it.
CREATE INDEX refusals_by_tenant ON audit.event (tenant, mint_id) WHERE kind IN ('denied', 'rejected');
CREATE INDEX credentials_by_tenant ON audit.event (tenant, expires_at) WHERE kind IN ('issued', 'withheld');
CREATE INDEX open_mints_by_tenant ON audit.open_mint (tenant, mint_id);

-- Clients choose the ids of requests, and tenants' providers those of credentials: any tenant may have any, and often.
DROP INDEX audit.events_of_a_credential;
CREATE INDEX events_of_a_credential ON audit.event (credential_id, tenant, mint_id) WHERE credential_id IS NOT NULL;
DROP INDEX audit.events_of_a_request;
CREATE INDEX events_of_a_request ON audit.event (request_id, tenant, mint_id) WHERE request_id IS NOT NULL;

-- A subject in any tenant, or in one.
DROP INDEX broker.grants_of_a_subject_anywhere;
CREATE INDEX grants_of_a_subject_anywhere ON broker.subject_grant (hashtextextended(subject, 0), tenant) WHERE match = 'exact';


-- ---------------------------------------------------------------- mints

-- Everywhere, an id of a few rows is looked up first and then sorted; all else comes along an index in the order of mints.
-- In tenants, one after the other: the bounds hold the tenant and the mint as one, and so does the order. An index that
-- doesn't name the tenant has neither, so that no plan goes along one and leaves rows of others out.
CREATE OR REPLACE FUNCTION internal.where_to_look(by text, everywhere boolean) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format(CASE
        WHEN NOT everywhere
        THEN $q$SELECT t.name AS part, e.*
                  FROM unnest($2) AS t (name) CROSS JOIN LATERAL (
                       SELECT %1$s FROM %2$s AS n
                        WHERE %3$s AND %4$s AND n.mint_id < $4 AND n.mint_id >= $5
                          AND ROW(n.tenant, n.mint_id) < ROW(t.name COLLATE "C", $4)
                          AND ROW(n.tenant, n.mint_id) >= ROW(t.name COLLATE "C", $5)
                        ORDER BY n.tenant DESC, n.mint_id DESC LIMIT $6) AS e$q$
        WHEN by IN ('credential', 'request')
        THEN $q$SELECT '' AS part, e.* FROM (
                       SELECT %1$s FROM %2$s AS n WHERE %3$s AND n.mint_id < $4 AND n.mint_id >= $5 OFFSET 0) AS e
                 ORDER BY e.mint_id DESC LIMIT $6$q$
        ELSE $q$SELECT '' AS part, %1$s FROM %2$s AS n
                 WHERE %3$s AND n.mint_id < $4 AND n.mint_id >= $5 ORDER BY n.mint_id DESC LIMIT $6$q$ END,
        CASE by WHEN 'open' THEN 'n.mint_id, NULL::text AS key, NULL::bytea AS token_hash'
                ELSE 'n.mint_id, n.key, n.token_hash' END,
        CASE by WHEN 'open' THEN 'audit.open_mint' ELSE 'audit.event' END,
        CASE by WHEN 'subject' THEN 'hashtextextended(n.subject, 0) = hashtextextended($1, 0) AND n.subject = $1'
                WHEN 'key' THEN 'n.key = $1'
                WHEN 'credential' THEN 'n.credential_id = $1'
                WHEN 'request' THEN 'n.request_id = $1'
                WHEN 'refusal' THEN 'n.kind IN (''denied'', ''rejected'')'
                ELSE 'true' END,
        CASE WHEN by IN ('subject', 'key') THEN '(n.step = 1 OR n.kind = ''denied'')' ELSE 'true' END);
$$;
COMMENT ON FUNCTION internal.where_to_look(text, boolean) IS
    'The query along one index that internal.find_mints looks for candidates with: of all tenants, or of some, each by itself.';

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

-- A search stops at no row any more that its viewer may not see.
DROP FUNCTION internal.next_millisecond(uuid);


-- ---------------------------------------------------------------- numbers

-- The same order for the same reason.
CREATE OR REPLACE FUNCTION internal.activity(of_tenant text, since timestamptz, width interval, parts int, most int)
    RETURNS TABLE (part int, mints bigint, refusals bigint, estimated boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
    SET enable_incremental_sort = off
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
                               WHERE n.mint_id >= p.first AND n.mint_id < p.beyond
                                 AND ROW(n.tenant, n.mint_id) >= ROW(s.name COLLATE "C", p.first)
                                 AND ROW(n.tenant, n.mint_id) < ROW(s.name COLLATE "C", p.beyond)
                               ORDER BY n.tenant, n.mint_id LIMIT share) AS e) AS c) AS t ON true
         GROUP BY p.n;
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION internal.living_credentials(of_tenant text, most int, OUT credentials bigint, OUT counted_all boolean, OUT last_ends_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
    SET enable_incremental_sort = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(of_tenant);
    share constant int := greatest(most / greatest(cardinality(tenants), 1), 100);
BEGIN
    IF tenants IS NULL THEN
        SELECT count(*), count(*) < most, max(l.expires_at) INTO credentials, counted_all, last_ends_at
          FROM (SELECT e.expires_at FROM audit.event AS e
                 WHERE e.expires_at > now() AND e.kind IN ('issued', 'withheld')
                 ORDER BY e.expires_at DESC LIMIT most) AS l;
    ELSE
        SELECT coalesce(sum(l.number), 0), coalesce(bool_and(l.number < share), true), max(l.last)
          INTO credentials, counted_all, last_ends_at
          FROM unnest(tenants) AS t (name)
         CROSS JOIN LATERAL (
               SELECT count(*) AS number, max(c.expires_at) AS last
                 FROM (SELECT e.expires_at FROM audit.event AS e
                        WHERE e.kind IN ('issued', 'withheld')
                          AND ROW(e.tenant, e.expires_at) > ROW(t.name COLLATE "C", now())
                          AND ROW(e.tenant, e.expires_at) <= ROW(t.name COLLATE "C", timestamptz 'infinity')
                        ORDER BY e.tenant DESC, e.expires_at DESC LIMIT share) AS c) AS l;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.living_credentials(text, int) IS
    'How many credentials live now of those that the console''s viewer may see, and when the last of them ends; of about so many rows looked at.';


-- ---------------------------------------------------------------- grants and blocks

-- Tenant by tenant, each with a bound of its own, so that no plan reads them all and leaves rows of others out.
CREATE OR REPLACE FUNCTION internal.grants_for(subject text, most int) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
BEGIN
    IF tenants IS NULL THEN
        RETURN QUERY
        (SELECT g.id FROM broker.subject_grant AS g
          WHERE g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(grants_for.subject, 0)
            AND g.subject = grants_for.subject
          LIMIT most)
        UNION ALL
        (SELECT g.id FROM broker.subject_grant AS g
          WHERE g.match = 'glob' AND starts_with(grants_for.subject, split_part(g.subject, '*', 1))
            AND internal.glob_matches(g.subject, grants_for.subject)
          LIMIT most);
    ELSE
        RETURN QUERY
        (SELECT e.id FROM unnest(tenants) AS t (name) CROSS JOIN LATERAL (
                SELECT g.id FROM broker.subject_grant AS g
                 WHERE g.tenant = t.name COLLATE "C" AND g.match = 'exact'
                   AND hashtextextended(g.subject, 0) = hashtextextended(grants_for.subject, 0)
                   AND g.subject = grants_for.subject
                 LIMIT most) AS e
          LIMIT most)
        UNION ALL
        (SELECT e.id FROM unnest(tenants) AS t (name) CROSS JOIN LATERAL (
                SELECT g.id FROM broker.subject_grant AS g
                 WHERE g.tenant = t.name COLLATE "C" AND g.match = 'glob'
                   AND starts_with(grants_for.subject, split_part(g.subject, '*', 1))
                   AND internal.glob_matches(g.subject, grants_for.subject)
                 LIMIT most) AS e
          LIMIT most);
    END IF;
END
$$;

CREATE FUNCTION internal.blocks_of(subject text, most int) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
BEGIN
    IF tenants IS NULL THEN
        RETURN QUERY
        SELECT b.id FROM broker.blocked_subject AS b
         WHERE b.enabled AND (b.until IS NULL OR b.until > now())
           AND CASE b.match WHEN 'exact' THEN b.subject = blocks_of.subject
                            ELSE starts_with(blocks_of.subject, split_part(b.subject, '*', 1))
                                 AND internal.glob_matches(b.subject, blocks_of.subject) END
         LIMIT most;
    ELSE
        RETURN QUERY
        SELECT e.id FROM unnest(tenants) AS t (name) CROSS JOIN LATERAL (
               SELECT b.id FROM broker.blocked_subject AS b
                WHERE b.tenant = t.name COLLATE "C" AND b.match = 'exact'
                  AND hashtextextended(b.subject, 0) = hashtextextended(blocks_of.subject, 0)
                  AND b.subject = blocks_of.subject
                  AND b.enabled AND (b.until IS NULL OR b.until > now())
               UNION ALL
               SELECT b.id FROM broker.blocked_subject AS b
                WHERE b.tenant = t.name COLLATE "C" AND b.match = 'glob'
                  AND starts_with(blocks_of.subject, split_part(b.subject, '*', 1))
                  AND internal.glob_matches(b.subject, blocks_of.subject)
                  AND b.enabled AND (b.until IS NULL OR b.until > now())) AS e
         LIMIT most;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.blocks_of(text, int) IS
    'The blocks in force that a subject meets, of those that the console''s viewer may see.';

GRANT EXECUTE ON FUNCTION internal.blocks_of(text, int) TO "${console_role}";

UPDATE runtime.schema_version SET version = greatest(version, 31);
