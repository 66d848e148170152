-- To which rows of a table each role gets; what it may do with them at all is in R__90_privileges. To create a policy
-- waits for everybody who reads the table, and other readers wait meanwhile. So a policy's comment is its definition, and
-- one that is defined as before is left alone.
--
-- All policies are TO PUBLIC and ask internal.login_is. PostgreSQL lets every member of a role run DROP OWNED BY on it,
-- which drops the policies that name the role, and locks their tables until the transaction ends.
--
-- A policy that says "true" costs nothing: the planner drops it, and it knows the answer of internal.login_is. Owners are
-- not held by policies, nor are the checks of foreign keys. SELECT around other functions: they are called once for each
-- statement, not for each row.

CREATE OR REPLACE FUNCTION internal.login_is(what text) RETURNS boolean
    -- IMMUTABLE, which is true only within a session: so the planner calls it, and drops what it decides. PostgreSQL plans
    -- again for another current_user. Only a superuser can change session_user and keep the plan.
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- session_user: the login, which neither SET ROLE nor a SECURITY DEFINER function changes.
    RETURN pg_has_role(session_user,
                       CASE what WHEN 'the service' THEN '${app_role}'
                                 WHEN 'a platform admin' THEN '${admin_role}'
                                 WHEN 'a tenant admin' THEN '${tenant_admin_role}'
                                 WHEN 'an auditor' THEN '${auditor_role}'
                                 WHEN 'the console' THEN '${console_role}' END::name, 'MEMBER');
END
$$;
COMMENT ON FUNCTION internal.login_is(text) IS
    'Whether the login is ''the service'', ''a platform admin'', ''a tenant admin'', ''an auditor'' or ''the console'': a member of that group role.';

DO $$
DECLARE
    wanted record;
    definition text;
BEGIN
    FOR wanted IN
        SELECT w.* FROM (
        -- tables with tenants
        SELECT t.target, p.name, p.rule
          FROM (VALUES
                -- the column with the tenant, what platform admins and what tenant admins do with the rows
                ('broker.tenant', 'name', 'ALL', 'SELECT'),
                ('broker.tenant_admin', 'tenant', 'ALL', 'SELECT'),
                ('broker.identity_provider', 'tenant', 'ALL', 'SELECT'),
                ('broker.access_provider', 'tenant', 'ALL', 'SELECT'),
                ('broker.key', 'tenant', 'ALL', 'ALL'),
                ('broker.subject_grant', 'tenant', 'ALL', 'ALL'),
                ('broker.blocked_subject', 'tenant', 'ALL', 'ALL'),
                ('broker.grant_review', 'tenant', 'ALL', 'ALL'),
                ('broker.ended_credential', 'tenant', 'ALL', 'ALL'),
                ('broker.access_rule', 'tenant', 'ALL', 'ALL'),
                ('broker.access_approver', 'tenant', 'ALL', 'ALL'),
                ('broker.access_request', 'tenant', 'SELECT', 'SELECT'),
                ('broker.access_decision', 'tenant', 'ALL', 'ALL'),
                ('broker.console_access', 'tenant', 'ALL', 'SELECT'),
                ('work.ending', 'tenant', 'SELECT', 'SELECT'),
                ('work.joined_subject', 'tenant', 'SELECT', 'SELECT'),
                ('work.named_issuer', 'tenant', 'SELECT', 'SELECT'),
                ('internal.lint_finding', 'tenant', 'SELECT', 'SELECT'),
                ('log.config_change', 'tenant', 'SELECT', 'SELECT'),
                ('log.open_mint', 'tenant', 'SELECT', 'SELECT'),
                ('log.event', 'tenant', 'SELECT', 'SELECT')
               ) AS t (target, tenant_column, by_admins, by_tenant_admins)
         CROSS JOIN LATERAL (VALUES
                ('the_service_reads_every_row', 'FOR SELECT USING (internal.login_is(''the service''))'),
                ('auditors_read_every_row', 'FOR SELECT USING (internal.login_is(''an auditor''))'),
                ('platform_admins_see_every_row', format('FOR %s USING (internal.login_is(''a platform admin''))', t.by_admins)),
                -- a row of all tenants, whose tenant is null, is of none of theirs
                ('tenant_admins_see_their_tenants',
                 format('FOR %s USING (internal.login_is(''a tenant admin'') AND %I = ANY ((SELECT internal.tenants_of_login())::text[]))',
                        t.by_tenant_admins, t.tenant_column)),
                ('viewers_see_what_their_claims_give',
                 format('FOR SELECT USING (internal.login_is(''the console'') AND ((SELECT internal.viewer_sees_all()) OR %I = ANY ((SELECT internal.tenants_of_viewer())::text[])))',
                        t.tenant_column))
               ) AS p (name, rule)
         WHERE t.target NOT IN ('broker.console_access', 'internal.lint_finding') OR p.name <> 'the_service_reads_every_row'
        UNION ALL
        -- their column privilege is for require_second_admin alone
        SELECT 'broker.tenant', 'tenant_admins_require_a_second_one',
               'FOR UPDATE USING (internal.login_is(''a tenant admin'') AND name = ANY ((SELECT internal.tenants_of_login())::text[]))'
        UNION ALL
        SELECT 'log.event', 'the_service_writes_what_happened', 'FOR INSERT WITH CHECK (internal.login_is(''the service''))'
        UNION ALL
        SELECT 'work.ending', p.name, p.rule
          FROM (VALUES ('the_service_notes_what_mints_may_leave_behind', 'FOR INSERT WITH CHECK (internal.login_is(''the service''))'),
                       ('the_service_moves_ends', 'FOR UPDATE USING (internal.login_is(''the service''))'),
                       ('the_service_removes_what_has_ended', 'FOR DELETE USING (internal.login_is(''the service''))')) AS p (name, rule)
        UNION ALL
        -- tables without: privileges say it all, but for the console
        SELECT t.target, p.name, p.rule
          FROM (VALUES
                ('broker.shared_issuer', ''),
                -- what every viewer needs to see who may mint, and what lint says
                ('broker.known_issuer', ' OR cardinality((SELECT internal.tenants_of_viewer())::text[]) > 0'),
                ('broker.provider_type', ' OR cardinality((SELECT internal.tenants_of_viewer())::text[]) > 0'),
                ('log.checkpoint', ''),
                ('log.cosignature', ''),
                ('log.verification', '')
               ) AS t (target, or_else)
         CROSS JOIN LATERAL (VALUES
                ('privileges_decide', 'USING (true) WITH CHECK (true)'),
                ('viewers_see_what_their_claims_give',
                 format('AS RESTRICTIVE FOR SELECT USING (NOT internal.login_is(''the console'') OR (SELECT internal.viewer_sees_all())%s)', t.or_else))
               ) AS p (name, rule)
        ) AS w
         -- The log last: mints wait for this file no longer than for their own table.
         ORDER BY w.target = 'log.event', starts_with(w.target, 'log.'), w.target, w.name
    LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_policy AS p
                               WHERE p.polrelid = wanted.target::regclass AND p.polname = wanted.name
                                 AND obj_description(p.oid, 'pg_policy') = wanted.rule);
        EXECUTE format('DROP POLICY IF EXISTS %I ON %s', wanted.name, wanted.target);
        EXECUTE format('CREATE POLICY %I ON %s %s', wanted.name, wanted.target, wanted.rule);
        EXECUTE format('COMMENT ON POLICY %I ON %s IS %L', wanted.name, wanted.target, wanted.rule);
    END LOOP;
END
$$;
