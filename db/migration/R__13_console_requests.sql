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
