-- Which rows each role sees and writes. Privileges (R__privileges.sql) say what may be done to a table at
-- all; these policies say to which of its rows. Like there, everything is taken away first and given anew.
--
-- The policies of the service, of platform admins and of auditors say "true": the planner drops that, so
-- it costs nothing. Owners are not held by policies, nor are the checks of foreign keys.

DO $$
DECLARE
    held record;
    policy record;
    mine constant text := 'tenant = ANY ((SELECT broker.tenants_of_login())::text[])';
BEGIN
    FOR policy IN SELECT schemaname, tablename, policyname FROM pg_catalog.pg_policies
                   WHERE schemaname IN ('broker', 'audit', 'runtime') LOOP
        EXECUTE format('DROP POLICY %I ON %I.%I', policy.policyname, policy.schemaname, policy.tablename);
    END LOOP;

    FOR held IN SELECT * FROM (VALUES
            ('broker', 'tenant', replace(mine, 'tenant =', 'name ='), false),
            ('broker', 'tenant_admin', mine, false),
            ('broker', 'identity_provider', mine, false),
            ('broker', 'access_provider', mine, false),
            ('broker', 'key', mine, true),
            ('broker', 'subject_grant', mine, true),
            ('audit', 'event', mine, false),
            ('audit', 'open_mint', mine, false),
            ('audit', 'config_change', mine, false)
        ) AS t (area, name, condition, written_by_tenant_admins)
    LOOP
        EXECUTE format('ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY', held.area, held.name);
        EXECUTE format('CREATE POLICY the_service_reads_every_row ON %I.%I FOR SELECT TO "${app_role}" USING (true)',
                       held.area, held.name);
        EXECUTE format('CREATE POLICY auditors_read_every_row ON %I.%I FOR SELECT TO "${auditor_role}" USING (true)',
                       held.area, held.name);
        EXECUTE format('CREATE POLICY platform_admins_see_every_row ON %I.%I FOR %s TO "${admin_role}" USING (true)',
                       held.area, held.name, CASE held.area WHEN 'broker' THEN 'ALL' ELSE 'SELECT' END);
        EXECUTE format('CREATE POLICY tenant_admins_see_their_tenants ON %I.%I FOR %s TO "${tenant_admin_role}" USING (%s)',
                       held.area, held.name, CASE WHEN held.written_by_tenant_admins THEN 'ALL' ELSE 'SELECT' END,
                       held.condition);
    END LOOP;

    CREATE POLICY the_service_writes_what_happened ON audit.event FOR INSERT TO "${app_role}" WITH CHECK (true);
END
$$;
