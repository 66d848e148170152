-- What may need somebody, for the console's overview. Tenant by tenant where the viewer doesn't see all, so that neither the
-- work nor the bounds depend on what others have.

DROP FUNCTION IF EXISTS internal.reviews_due(int);
CREATE OR REPLACE FUNCTION internal.reviews_due(looked int, OUT due bigint, OUT counted boolean, OUT first_due timestamptz, OUT first_grant bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
    share constant int := greatest(looked / greatest(cardinality(tenants), 1), 100);
BEGIN
    EXECUTE format($q$
        SELECT count(*) FILTER (WHERE g.due_at < now()), count(*) < $2, min(g.due_at) FILTER (WHERE g.due_at < now()),
               (array_agg(g.grant_id ORDER BY g.due_at, g.grant_id) FILTER (WHERE g.due_at < now()))[1]
          FROM (%s) AS g$q$,
        CASE WHEN tenants IS NULL
             THEN $q$SELECT n.due_at, n.grant_id FROM internal.next_review AS n WHERE n.enabled AND n.is_old_enough LIMIT $2$q$
             ELSE $q$SELECT e.due_at, e.grant_id FROM unnest($1) AS t (name) CROSS JOIN LATERAL (
                            SELECT n.due_at, n.grant_id FROM internal.next_review AS n
                             WHERE n.tenant = t.name COLLATE "C" AND n.enabled AND n.is_old_enough LIMIT $2) AS e$q$ END)
    INTO due, counted, first_due, first_grant USING tenants, share;
END
$$;
COMMENT ON FUNCTION internal.reviews_due(int) IS
    'The number of enabled grants that are due for review, among a limited number that the console''s viewer may see; counted: whether these are all; first_due and first_grant: the one that has been due for longest.';

CREATE OR REPLACE FUNCTION internal.ends_soon(of_grants interval, of_certificates interval, most int)
    RETURNS TABLE (tenant text, table_name text, name text, what text, ends_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
BEGIN
    RETURN QUERY EXECUTE CASE WHEN tenants IS NULL
        THEN $q$SELECT g.tenant, 'subject_grant', g.id::text, g.key || ' for ' || g.subject, g.valid_until
                  FROM broker.subject_grant AS g
                 WHERE g.enabled AND g.request_id IS NULL AND g.valid_until > now() AND g.valid_until <= now() + $2
                 ORDER BY g.valid_until LIMIT $3$q$
        ELSE $q$SELECT e.* FROM unnest($1) AS t (name) CROSS JOIN LATERAL (
                       SELECT g.tenant, 'subject_grant', g.id::text, g.key || ' for ' || g.subject, g.valid_until
                         FROM broker.subject_grant AS g
                        WHERE g.tenant = t.name COLLATE "C" AND g.enabled AND g.request_id IS NULL AND g.valid_until > now() AND g.valid_until <= now() + $2
                        ORDER BY g.valid_until LIMIT $3) AS e$q$ END
    USING tenants, of_grants, most;
    RETURN QUERY
    SELECT c.tenant, c.table_name, c.name, c.what, f.not_after
      FROM (SELECT a.tenant, 'access_provider' AS table_name, a.name, 'certificate of ' || a.type || ' authority ' || a.name AS what,
                   a.settings ->> 'ca_certificate' AS pem
              FROM broker.access_provider AS a WHERE a.enabled AND a.settings ? 'ca_certificate'
            UNION ALL
            SELECT p.tenant, 'identity_provider', p.name, 'certificate of identity provider ' || p.name, p.ca_certificate
              FROM broker.identity_provider AS p WHERE p.enabled AND p.ca_certificate IS NOT NULL) AS c
     CROSS JOIN LATERAL internal.certificate_facts(c.pem) AS f
     WHERE (tenants IS NULL OR c.tenant = ANY (tenants)) AND f.not_after <= now() + of_certificates
     ORDER BY f.not_after LIMIT most;
END
$$;
COMMENT ON FUNCTION internal.ends_soon(interval, interval, int) IS
    'Enabled grants and certificates of authorities that end within these times and that the console''s viewer may see. Grants of requests are left out: they end soon by design.';

CREATE OR REPLACE FUNCTION internal.overdue_ends(most int) RETURNS SETOF work.ending
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
BEGIN
    RETURN QUERY EXECUTE CASE WHEN tenants IS NULL
        THEN $q$SELECT e.* FROM work.ending AS e WHERE e.due < now() - interval '1 minute' ORDER BY e.due LIMIT $2$q$
        ELSE $q$SELECT e.* FROM unnest($1) AS t (name) CROSS JOIN LATERAL (
                       SELECT n.* FROM work.ending AS n
                        WHERE n.tenant = t.name COLLATE "C" AND n.due < now() - interval '1 minute' LIMIT $2) AS e
                 ORDER BY e.due LIMIT $2$q$ END
    USING tenants, most;
END
$$;
COMMENT ON FUNCTION internal.overdue_ends(int) IS
    'Mints, among those that the console''s viewer may see, whose credential should have been revoked over a minute ago; the oldest first.';

-- The view looks at each key anew, which takes 2 ms; what was found in grants and blocks is kept.
CREATE OR REPLACE FUNCTION internal.lints_keys(most int) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
BEGIN
    RETURN CASE WHEN tenants IS NULL
        THEN (SELECT count(*) <= most FROM (SELECT FROM broker.key LIMIT most + 1) AS k)
        ELSE (SELECT count(*) <= most FROM (SELECT FROM broker.key AS k WHERE k.tenant = ANY (tenants) LIMIT most + 1) AS n) END;
END
$$;
COMMENT ON FUNCTION internal.lints_keys(int) IS
    'Whether the console''s viewer sees at most the given number of keys, so that their lint warnings are counted, too.';

CREATE OR REPLACE FUNCTION internal.lint_by_tenant(keys int, most int) RETURNS TABLE (tenant text, warnings bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
    findings constant text := CASE WHEN internal.lints_keys(keys) THEN 'broker.lint' ELSE 'internal.lint_finding' END;
BEGIN
    RETURN QUERY EXECUTE format(CASE WHEN tenants IS NULL
        THEN $q$SELECT l.tenant, count(*) FROM (SELECT f.tenant FROM %s AS f LIMIT $2) AS l GROUP BY l.tenant$q$
        ELSE $q$SELECT t.name, n.warnings FROM unnest($1) AS t (name) CROSS JOIN LATERAL (
                       SELECT count(*) AS warnings
                         FROM (SELECT FROM %s AS f WHERE f.tenant = t.name COLLATE "C" LIMIT $2) AS l) AS n
                 WHERE n.warnings > 0$q$ END, findings)
    USING tenants, most;
END
$$;
COMMENT ON FUNCTION internal.lint_by_tenant(int, int) IS
    'The number of lint warnings in each tenant that the console''s viewer may see, up to a limit; with more keys than internal.lints_keys allows, only those in grants and blocks.';

-- One tenant after the other: among the first findings of all, most tenants have none.
CREATE OR REPLACE FUNCTION internal.lint_of_tenants(names text[], keys int, most int)
    RETURNS TABLE (tenant text, warnings bigint, looked_at_keys boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    everything constant boolean := internal.viewer_sees_all();
    seen constant text[] := internal.tenants_of_viewer();
    few constant boolean := (SELECT count(*) <= keys FROM (SELECT FROM broker.key AS k WHERE k.tenant = ANY (names) LIMIT keys + 1) AS n);
BEGIN
    -- The view looks at each key anew, which takes 2 ms; what was found in grants and blocks is kept.
    RETURN QUERY EXECUTE format($q$
        SELECT t.name, n.warnings, $4
          FROM unnest($1) AS t (name)
         CROSS JOIN LATERAL (
               SELECT count(*) AS warnings FROM (SELECT FROM %s AS f WHERE f.tenant = t.name COLLATE "C" LIMIT $5) AS l) AS n
         WHERE $2 OR t.name = ANY ($3)$q$,
        CASE WHEN few THEN 'broker.lint' ELSE 'internal.lint_finding' END)
    USING names, everything, seen, few, most;
END
$$;
COMMENT ON FUNCTION internal.lint_of_tenants(text[], int, int) IS
    'The number of lint warnings in each of these tenants that the console''s viewer may see, up to a limit for each; if they have more keys than that together, only those in grants and blocks (looked_at_keys is false).';

CREATE OR REPLACE FUNCTION internal.changes_by(login text, since timestamptz, until timestamptz, most int) RETURNS SETOF audit.config_change
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
BEGIN
    RETURN QUERY EXECUTE CASE WHEN tenants IS NULL
        THEN format($q$SELECT c.* FROM audit.config_change AS c
                        WHERE %s AND c.changed_at >= $3 AND c.changed_at <= $4 ORDER BY c.changed_at DESC LIMIT $5$q$,
                    CASE WHEN login IS NULL THEN 'true' ELSE 'c.changed_by = $2' END)
        ELSE $q$SELECT e.* FROM unnest($1) AS t (name) CROSS JOIN LATERAL (
                       SELECT n.* FROM (SELECT c.* FROM audit.config_change AS c WHERE c.tenant = t.name COLLATE "C"
                                         ORDER BY c.tenant DESC, c.revision DESC LIMIT 5000) AS n
                        WHERE ($2 IS NULL OR n.changed_by = $2) AND n.changed_at >= $3 AND n.changed_at <= $4
                        LIMIT $5) AS e
                 ORDER BY e.changed_at DESC LIMIT $5$q$ END
    USING tenants, login, since, until, most;
END
$$;
COMMENT ON FUNCTION internal.changes_by(text, timestamptz, timestamptz, int) IS
    'The last changes by a login (null: by any login) that the console''s viewer may see, among the last 5,000 changes of each tenant.';

CREATE OR REPLACE FUNCTION internal.verifications_not_clean()
    RETURNS TABLE (id bigint, began_at timestamptz, recorded_at timestamptz, wrong bigint, findings text[], own boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    everything constant boolean := internal.viewer_sees_all();
BEGIN
    IF NOT everything AND cardinality(internal.tenants_of_viewer()) = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH failing AS MATERIALIZED (
        -- once a login is gone, nobody can take back what it found
        SELECT n.login, min(n.id) AS first FROM audit.verification AS n JOIN pg_roles AS r ON r.rolname = n.login
         WHERE n.verdict = 'wrong' GROUP BY n.login
    ), since AS (
        SELECT n.id, n.login, n.verdict, coalesce(n.checkpoint, 0) AS checkpoint, coalesce(n.kept_checkpoint, -1) AS kept_checkpoint,
               coalesce(max(n.checkpoint) FILTER (WHERE n.verdict <> 'wrong') OVER later, -1) AS passed,
               coalesce(max(n.kept_checkpoint) FILTER (WHERE n.verdict <> 'wrong') OVER later, -1) AS kept_passed
          FROM failing AS f JOIN audit.verification AS n ON n.login = f.login AND n.id >= f.first
        WINDOW later AS (PARTITION BY n.login ORDER BY n.id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    )
    SELECT v.id, v.began_at, v.recorded_at, v.wrong, CASE WHEN everything THEN v.findings ELSE '{}' END, v.login = session_user
      FROM audit.verification AS v
     WHERE v.verdict <> 'intact' AND v.id IN (
           (SELECT n.id FROM audit.verification AS n ORDER BY n.id DESC LIMIT 1)
            UNION ALL
           (SELECT n.id FROM audit.verification AS n WHERE n.login = session_user ORDER BY n.recorded_at DESC, n.id DESC LIMIT 1)
            UNION ALL
           (SELECT DISTINCT ON (s.login = session_user) s.id FROM since AS s
             WHERE s.verdict = 'wrong' AND (s.passed < s.checkpoint OR s.kept_passed < s.kept_checkpoint)
             ORDER BY s.login = session_user, s.id DESC));
END
$$;
COMMENT ON FUNCTION internal.verifications_not_clean() IS
    'The results of verifications that every page of the console shows: the newest result and the newest result of the console''s login (own), if they are not clean; and of this and of other logins the newest wrong result, unless the same login has a later clean result that covers as much. Only viewers of all tenants get the findings.';
