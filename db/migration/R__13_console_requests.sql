-- Requests for access, for the console's viewer: what waits for them, what they asked.

-- As the broker verifies the same token: one that leads to several identity providers is rejected.
CREATE OR REPLACE FUNCTION internal.names_of_viewer() RETURNS TABLE (of_tenant text, of_idp text, of_issuer text, of_subject text, of_claims jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    said constant jsonb := nullif(current_setting('mintmark.console_claims', true), '')::jsonb;
    aimed_at constant text[] := ARRAY(SELECT a.name FROM jsonb_array_elements_text(
        CASE jsonb_typeof(said -> 'aud') WHEN 'array' THEN said -> 'aud' ELSE jsonb_build_array(said -> 'aud') END) AS a (name));
BEGIN
    RETURN QUERY
    SELECT min(p.tenant)::text, min(p.name)::text, min(p.issuer)::text, said ->> 'sub', said
      FROM broker.identity_provider AS p
      JOIN broker.tenant AS t ON t.name = p.tenant AND t.enabled
     WHERE p.enabled AND p.issuer = (said ->> 'iss') COLLATE "C" AND p.audiences && aimed_at
    HAVING count(*) = 1 AND bool_and(p.accepts && '{subject,approver}' AND internal.claims_met(p.required_claims, said));
END
$$;
COMMENT ON FUNCTION internal.names_of_viewer() IS
    'The identity provider whose tokens decide requests and that accepts the token of the console''s viewer, with what the token says; no row if none does.';

DROP FUNCTION IF EXISTS internal.waiting_for_viewer();
CREATE OR REPLACE FUNCTION internal.waiting_for_viewer(most int) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT q.id FROM internal.names_of_viewer() AS n
      JOIN broker.access_request AS q ON q.tenant = n.of_tenant AND q.status = 'pending'
     WHERE (internal.viewer_sees_all() OR n.of_tenant = ANY (internal.tenants_of_viewer()))
       AND internal.waits_for(q, n.of_idp, n.of_issuer, n.of_subject, n.of_claims, false)
     ORDER BY q.requested_at, q.id LIMIT most;
END
$$;
COMMENT ON FUNCTION internal.waiting_for_viewer(int) IS
    'Pending requests that the console''s viewer may decide with the token of the session, and has not, the oldest first.';

CREATE OR REPLACE FUNCTION internal.viewer_may_withdraw(of_request uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM internal.names_of_viewer() AS n
          JOIN broker.access_request AS q ON q.tenant = n.of_tenant AND q.id = of_request
         WHERE (internal.viewer_sees_all() OR n.of_tenant = ANY (internal.tenants_of_viewer()))
           AND internal.may_withdraw(q, n.of_idp, n.of_issuer, n.of_subject, n.of_claims, false));
END
$$;
COMMENT ON FUNCTION internal.viewer_may_withdraw(uuid) IS
    'Whether the console''s viewer may withdraw the access of a request as its approver, with the token of the session.';

CREATE OR REPLACE FUNCTION internal.withdrawable_by_viewer() RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT w.id FROM internal.names_of_viewer() AS n
     CROSS JOIN LATERAL internal.withdrawable_access(n.of_tenant, n.of_idp, n.of_issuer, n.of_subject, n.of_claims) AS w (id)
     WHERE internal.viewer_sees_all() OR n.of_tenant = ANY (internal.tenants_of_viewer());
END
$$;
COMMENT ON FUNCTION internal.withdrawable_by_viewer() IS
    'Requests whose access the console''s viewer may withdraw as an approver, with the token of the session, the access that ends last first.';

-- By the rules that the broker applies. The form breaks no glass, and acts for nobody.
CREATE OR REPLACE FUNCTION internal.requestable_by_viewer(wanted_key text, most int)
    RETURNS TABLE (key text, description text, shortest int, longest int, approvals int, hints text[])
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT k.name::text, k.description, internal.least_access_to(k.tenant, k.name), r.longest, r.approvals, r.hints
      FROM internal.names_of_viewer() AS n
     CROSS JOIN LATERAL (SELECT internal.requesting_as(n.of_tenant, n.of_idp, n.of_subject, n.of_claims, false)) AS w (idps)
     CROSS JOIN LATERAL (SELECT DISTINCT a.key FROM broker.access_rule AS a
                          WHERE a.tenant = n.of_tenant AND a.idp = ANY (w.idps) AND a.enabled AND (wanted_key IS NULL OR a.key = wanted_key)) AS named
      JOIN broker.key AS k ON k.tenant = n.of_tenant AND k.name = named.key
     CROSS JOIN LATERAL (
           SELECT max(f.max_access) AS longest, min(internal.all_approvals(f.approvals, f.steps)) AS approvals,
                  array_agg(DISTINCT coalesce(f.reason_hint, 'It must match ' || f.reason_pattern)) FILTER (WHERE f.reason_pattern IS NOT NULL) AS hints
             FROM internal.rules_for(k.tenant, w.idps, n.of_subject, n.of_claims, k.name, false) AS f WHERE NOT f.break_glass) AS r
     WHERE (internal.viewer_sees_all() OR n.of_tenant = ANY (internal.tenants_of_viewer()))
       AND r.longest >= internal.least_access_to(k.tenant, k.name)
       AND internal.block_of_parties(n.of_tenant, n.of_idp, n.of_subject, NULL, NULL, n.of_claims) IS NULL
     ORDER BY k.name LIMIT most;
END
$$;
COMMENT ON FUNCTION internal.requestable_by_viewer(text, int) IS
    'The keys (or only the wanted key) to which the console''s viewer may request access with the token of the session: the shortest and the longest access in seconds, the fewest approvals, and the rules'' conditions on reasons.';

CREATE OR REPLACE FUNCTION internal.asked_by_viewer(most int) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    said constant jsonb := nullif(current_setting('mintmark.console_claims', true), '')::jsonb;
    tenants constant text[] := internal.tenants_looked_at(NULL);
BEGIN
    -- A person is issuer and subject, whichever identity provider accepted the token.
    RETURN QUERY
    SELECT a.id
      FROM (SELECT DISTINCT p.tenant FROM broker.identity_provider AS p WHERE p.issuer = (said ->> 'iss') COLLATE "C") AS t
     CROSS JOIN LATERAL (
           SELECT q.id, q.requested_at FROM broker.access_request AS q
            WHERE q.tenant = t.tenant AND q.issuer = said ->> 'iss' AND q.subject = said ->> 'sub'
              AND hashtextextended(q.issuer || ' ' || q.subject, 0) = hashtextextended((said ->> 'iss') || ' ' || (said ->> 'sub'), 0)
            ORDER BY q.requested_at DESC LIMIT most) AS a
     WHERE tenants IS NULL OR t.tenant = ANY (tenants)
     ORDER BY a.requested_at DESC LIMIT most;
END
$$;
COMMENT ON FUNCTION internal.asked_by_viewer(int) IS
    'The last requests that the console''s viewer made, in tenants that the viewer may see.';

CREATE OR REPLACE FUNCTION internal.requests_of_names(names text[], most int) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    tenants constant text[] := internal.tenants_looked_at(NULL);
    of_name constant text := $q$SELECT e.id, e.requested_at FROM unnest($1) AS n (name) CROSS JOIN LATERAL (
                                       SELECT q.id, q.requested_at FROM broker.access_request AS q
                                        WHERE hashtextextended(q.%1$I, 0) = hashtextextended(n.name, 0) AND q.%1$I = n.name AND %2$s
                                        ORDER BY q.requested_at DESC LIMIT $3) AS e$q$;
    seen constant text := CASE WHEN tenants IS NULL THEN 'true' ELSE 'q.tenant = ANY ($2)' END;
BEGIN
    RETURN QUERY EXECUTE format('SELECT r.id FROM (%s UNION %s) AS r ORDER BY r.requested_at DESC, r.id LIMIT $3',
                                format(of_name, 'subject', seen), format(of_name, 'actor', seen))
    USING names, tenants, most;
END
$$;
COMMENT ON FUNCTION internal.requests_of_names(text[], int) IS
    'The last requests that any of these subjects made, alone or as an actor, that the console''s viewer may see, the newest first.';
