-- What the console's login sees: nothing by itself, and with a viewer's claims what broker.console_access gives to them.

-- ---------------------------------------------------------------- what a viewer sees

-- The claims are those of the transaction (SET LOCAL mintmark.console_claims). Without them, and with what is no
-- JSON object, there is no viewer.
CREATE OR REPLACE FUNCTION internal.accesses_of_viewer() RETURNS SETOF broker.console_access
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    claims constant jsonb := nullif(current_setting('mintmark.console_claims', true), '')::jsonb;
BEGIN
    IF jsonb_typeof(claims) = 'object' THEN
        RETURN QUERY
        SELECT a.* FROM broker.console_access AS a
         WHERE a.enabled
           AND internal.claim_met(a.value, internal.claim_at(claims, a.claim))
           AND (a.claim NOT IN ('email', '/email') OR claims -> 'email_verified' = 'true');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.accesses_of_viewer() IS
    'The rows of broker.console_access that the claims in mintmark.console_claims meet.';

CREATE OR REPLACE FUNCTION internal.tenants_of_viewer() RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ARRAY(SELECT DISTINCT a.tenant FROM internal.accesses_of_viewer() AS a
                  WHERE a.tenant IS NOT NULL ORDER BY a.tenant);
END
$$;
COMMENT ON FUNCTION internal.tenants_of_viewer() IS
    'The tenants that the console''s viewer may see (and viewer_sees_all).';

CREATE OR REPLACE FUNCTION internal.viewer_sees_all() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM internal.accesses_of_viewer() AS a WHERE a.all_tenants);
END
$$;
COMMENT ON FUNCTION internal.viewer_sees_all() IS
    'Whether the console''s viewer may see all tenants, and rows without a tenant.';

CREATE OR REPLACE FUNCTION internal.tenants_looked_at(of_tenant text) RETURNS text[]
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
    'The tenants to search: the named one, if the console''s viewer may see it; otherwise all that the viewer may see; null: all tenants.';

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
                WHEN 'actor' THEN 'hashtextextended(n.actor, 0) = hashtextextended($1, 0) AND n.actor = $1'
                WHEN 'key' THEN 'n.key = $1'
                WHEN 'credential' THEN 'n.credential_id = $1'
                WHEN 'request' THEN 'n.request_id = $1'
                WHEN 'refusal' THEN 'n.kind IN (''denied'', ''rejected'')'
                WHEN 'failure' THEN 'n.kind = ''failed'''
                ELSE 'true' END,
        CASE WHEN by IN ('subject', 'actor', 'key') THEN '(n.step = 1 OR n.kind = ''denied'')' ELSE 'true' END);
$$;
COMMENT ON FUNCTION internal.where_to_look(text, boolean) IS
    'The query along one index by which internal.find_mints finds candidates, in all tenants or in each of some.';

CREATE OR REPLACE FUNCTION internal.find_mints(by text, value text, of_tenant text, of_key text, outcome text, before uuid, since uuid, most int)
    RETURNS TABLE (mint_id uuid, stopped_at uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    -- along the indexes, in their order: a plan that reads all and sorts it looks cheaper where rows are underestimated
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
    SET enable_sort = off
    SET enable_incremental_sort = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(of_tenant);
    -- three rows a mint; more only where rows that were looked at may not be wanted
    look constant int := CASE WHEN by = 'open' OR outcome IS NULL AND by <> 'token' AND (of_key IS NULL OR by = 'key')
                              THEN 3 * most + 3 ELSE 10000 END;
    kinds constant text[] := CASE outcome WHEN 'live' THEN ARRAY['issued', 'withheld'] WHEN 'refused' THEN ARRAY['denied', 'rejected']
                                          ELSE ARRAY[outcome] END;
    share constant int := greatest(look / greatest(cardinality(tenants), 1), 3 * most + 3);
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
                                        AND ($7 <> 'live' OR o.expires_at > now() AND NOT EXISTS (
                                              SELECT FROM audit.event AS d WHERE d.mint_id = o.mint_id AND d.step = 3 OFFSET 0))
                                        OFFSET 0) END
          ORDER BY l.mint_id DESC LIMIT $9)
        UNION ALL
        SELECT NULL, stop.at FROM stop$q$,
        internal.where_to_look(by, tenants IS NULL))
    USING value, tenants, of_key, coalesce(before, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
          coalesce(since, '00000000-0000-0000-0000-000000000000'), share, coalesce(outcome, ''), by, most, kinds;
END
$$;
COMMENT ON FUNCTION internal.find_mints(text, text, text, text, text, uuid, uuid, int) IS
    'The latest mints and denials that the console''s viewer may see, newest first, by: all, subject, actor, key, credential, request, token (its SHA-256), refusal, failure or open. The last row has the mint id down to which the search is complete; null: complete.';

-- ---------------------------------------------------------------- numbers

CREATE OR REPLACE FUNCTION internal.living_credentials(of_tenant text, most int, OUT credentials bigint, OUT counted_all boolean, OUT last_ends_at timestamptz)
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
    share constant int := greatest(most / greatest(cardinality(tenants), 1), 100);
BEGIN
    IF tenants IS NULL THEN
        SELECT count(*), count(*) < most, max(l.expires_at) INTO credentials, counted_all, last_ends_at
          FROM (SELECT e.expires_at FROM audit.event AS e
                 WHERE e.expires_at > now() AND e.kind IN ('issued', 'withheld')
                   AND NOT EXISTS (SELECT FROM audit.event AS d WHERE d.mint_id = e.mint_id AND d.step = 3 OFFSET 0)
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
                          AND NOT EXISTS (SELECT FROM audit.event AS d WHERE d.mint_id = e.mint_id AND d.step = 3 OFFSET 0)
                        ORDER BY e.tenant DESC, e.expires_at DESC LIMIT share) AS c) AS l;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.living_credentials(text, int) IS
    'The number of active credentials that the console''s viewer may see, and when the last of them expires; reads a limited number of rows.';

-- Finds as internal.find_mints does, and counts instead of listing.
CREATE OR REPLACE FUNCTION internal.activity_of_subject(subject text, since timestamptz, most int, OUT mints bigint, OUT refusals bigint,
                                             OUT counted boolean, OUT living bigint, OUT last_ends_at timestamptz,
                                             OUT may_live_until timestamptz, OUT living_types text[], OUT looked_at_all boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
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
                                                     OR o.reason NOT IN ('provider_timeout', 'provider_unreachable'))) AS known,
                             bool_or(o.step = 3) AS ended
                        FROM own AS o GROUP BY o.mint_id),
             ends AS (SELECT m.mint_id, m.begun, m.denied, m.type,
                             CASE WHEN NOT m.ended THEN m.real_end END AS real_end,
                             CASE WHEN m.ended THEN NULL WHEN m.known THEN m.real_end ELSE m.latest_end END AS may_end
                        FROM mint AS m)
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
    'The number of a subject''s mints and denials since a time, and of its active credentials, that the console''s viewer may see; reads a limited number of the subject''s latest rows. counted: whether the first two numbers are complete; may_live_until: the latest time at which one of its credentials could be valid; living_types: the types of their providers; looked_at_all: whether the subject has no more rows.';

CREATE OR REPLACE FUNCTION internal.unsealed_rows(most int, OUT unsealed bigint, OUT counted boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
AS $$
DECLARE
    sealed_at constant timestamptz := coalesce((SELECT c.sealed_at FROM audit.checkpoint AS c ORDER BY c.number DESC LIMIT 1), 'epoch');
    -- a mint that had begun before may have its outcome since; none takes longer, and ends are found by their time
    since constant uuid := audit.first_mint_id(greatest(sealed_at - interval '2 minutes', 'epoch'));
BEGIN
    IF internal.viewer_sees_all() THEN
        SELECT count(*) FILTER (WHERE r.seq IS NULL OR r.seq > coalesce(s.position, 0)), count(*) <= most
          INTO unsealed, counted
          FROM ((SELECT e.chain, e.seq FROM audit.event AS e WHERE e.mint_id >= since ORDER BY e.mint_id DESC LIMIT most + 1)
                UNION ALL
                (SELECT e.chain, e.seq FROM audit.event AS e
                  WHERE e.kind = 'ended' AND e.occurred_at >= sealed_at - interval '2 minutes' AND e.mint_id < since
                  ORDER BY e.occurred_at DESC LIMIT most + 1)) AS r
          LEFT JOIN work.sealed_chain AS s ON s.kind = 'event' AND s.chain = r.chain;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.unsealed_rows(int) IS
    'How many of the newest rows, up to the given number, no checkpoint has sealed yet; null for a viewer who doesn''t see all tenants.';

-- ---------------------------------------------------------------- grants and blocks

-- Tenant by tenant, each with a bound of its own, so that no plan reads them all and leaves rows of others out.
CREATE OR REPLACE FUNCTION internal.grants_for(subject text, most int) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
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
COMMENT ON FUNCTION internal.grants_for(text, int) IS
    'The grants for a subject, active or not, that the console''s viewer may see.';

CREATE OR REPLACE FUNCTION internal.blocks_of(subject text, most int) RETURNS SETOF bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
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
    'The active blocks of a subject that the console''s viewer may see.';

CREATE OR REPLACE FUNCTION internal.grant_at(tenant text, grant_id bigint, revision bigint) RETURNS SETOF audit.config_change
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT c.* FROM audit.config_change AS c
     WHERE c.table_name = 'subject_grant'
       AND coalesce(c.after, c.before) ->> 'id' = grant_at.grant_id::text
       AND c.revision <= grant_at.revision
       AND c.tenant = grant_at.tenant
       AND (internal.viewer_sees_all() OR c.tenant = ANY (internal.tenants_of_viewer()))
     ORDER BY c.revision DESC LIMIT 1;
END
$$;
COMMENT ON FUNCTION internal.grant_at(text, bigint, bigint) IS
    'The last change of a grant up to a revision of its tenant, if the console''s viewer may see it.';

CREATE OR REPLACE FUNCTION internal.changes_of_grant(tenant text, grant_id bigint, most int) RETURNS SETOF audit.config_change
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

-- The console asks who could mint a key on a day where that is quickly told, and says how to ask where it isn't. As the
-- owner, since the history's index over a row's key isn't used under a policy.
CREATE OR REPLACE FUNCTION internal.grant_changes_of_key(tenant text, key text, most int) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT count(*)
              FROM (SELECT FROM audit.config_change AS c
                     WHERE c.table_name = 'subject_grant'
                       AND c.tenant = ANY (internal.tenants_looked_at(grant_changes_of_key.tenant))
                       AND c.after ->> 'key' = grant_changes_of_key.key
                     LIMIT most) AS n);
END
$$;
COMMENT ON FUNCTION internal.grant_changes_of_key(text, text, int) IS
    'The number of changes of a key''s grants that the console''s viewer may see, up to a limit.';
