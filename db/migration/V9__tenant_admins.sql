-- Which tenants a login may look at: what row-level security asks (R__row_security.sql).

CREATE FUNCTION broker.tenants_of_login() RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
    -- session_user: the login, which neither SET ROLE nor a SECURITY DEFINER function changes.
    SELECT coalesce(array_agg(a.tenant), '{}') FROM broker.tenant_admin AS a WHERE a.role_name = session_user;
$$;
COMMENT ON FUNCTION broker.tenants_of_login() IS 'The tenants in broker.tenant_admin for the login.';
