-- Whose rows one may write, what a row refers to, and what refers to it: what several tables share.

-- ---------------------------------------------------------------- whose rows one may write

CREATE OR REPLACE FUNCTION internal.tenants_of_login() RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
    -- session_user: the login, which neither SET ROLE nor a SECURITY DEFINER function changes.
    SELECT coalesce(array_agg(a.tenant), '{}') FROM broker.tenant_admin AS a WHERE a.role_name = session_user;
$$;
COMMENT ON FUNCTION internal.tenants_of_login() IS 'The tenants in broker.tenant_admin for the login.';

CREATE OR REPLACE FUNCTION internal.check_writer(target regclass, written jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mine constant text[] := internal.tenants_of_login();
BEGIN
    IF written ->> 'tenant' <> ALL (mine) THEN
        PERFORM internal.refuse_in(target, '',
            format('Login "%s" is an admin of %s, so it cannot write rows of tenant "%s".', session_user,
                   CASE cardinality(mine) WHEN 0 THEN 'no tenant'
                        WHEN 1 THEN format('tenant "%s"', mine[1])
                        ELSE format('tenants "%s"', array_to_string(mine, '", "')) END,
                   written ->> 'tenant'),
            'Ask a platform admin to add a row for the login to broker.tenant_admin.',
            'insufficient_privilege', refused => written);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_writer(regclass, jsonb) IS
    'Rejects a row of a tenant that the login does not administer with a message, before row-level security does.';

-- ---------------------------------------------------------------- references

-- Checked after the statement, as foreign keys are, so that one statement may write both rows; and before the foreign keys,
-- whose triggers are called RI_…, since PostgreSQL runs triggers in the order of their names. They are checked with the rights of
-- the writer, so they reveal no rows that the writer may not see. What they miss, the foreign key refuses.

CREATE OR REPLACE FUNCTION internal.check_tenant_exists(target regclass, written jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    of_tenant constant text := written ->> 'tenant';
BEGIN
    IF NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = of_tenant) THEN
        PERFORM internal.refuse_in(target, 'the_tenant_exists',
            format('There is no tenant "%s".', of_tenant),
            internal.there_are(of_tenant, ARRAY(SELECT t.name FROM broker.tenant AS t), 'There are'), 'foreign_key_violation',
            refused => written);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_tenant_exists(regclass, jsonb) IS 'Rejects a row of an unknown tenant, and lists the tenants.';

CREATE OR REPLACE FUNCTION internal.refuse_unknown_reference(target regclass, rule text, tenant text, what text, name text, known text[], elsewhere text,
                                         refused jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = refuse_unknown_reference.tenant) THEN
        PERFORM internal.refuse_in(target, rule, format('There is no tenant "%s".', tenant),
            internal.there_are(tenant, ARRAY(SELECT t.name FROM broker.tenant AS t), 'There are'), 'foreign_key_violation',
            refused => refused);
    END IF;
    PERFORM internal.refuse_in(target, rule, format('Tenant "%s" has no %s "%s".', tenant, what, name),
        internal.there_are(name, known, 'It has')
        || CASE WHEN cardinality(known) > 0 THEN ''
                ELSE format(' To create one, see db/recipes/%s.', CASE what WHEN 'identity provider' THEN 'issuer_*.sql' ELSE 'provider_*.sql' END) END
        || CASE WHEN elsewhere IS NULL THEN ''
                ELSE format(' Tenant "%s" has one with that name, but a row can only reference objects of its own tenant.', elsewhere) END,
        'foreign_key_violation', refused => refused);
END
$$;
COMMENT ON FUNCTION internal.refuse_unknown_reference(regclass, text, text, text, text, text[], text, jsonb) IS
    'Rejects a reference to a row that the tenant does not have. elsewhere: another tenant that has such a name, if the writer may see it; refused: the row.';

CREATE OR REPLACE FUNCTION internal.check_identity_provider_exists(target regclass, written jsonb, named_column text DEFAULT 'idp',
                                                                   rule text DEFAULT 'the_identity_provider_exists_in_the_same_tenant') RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    of_tenant constant text := written ->> 'tenant';
    idp constant text := written ->> named_column;
BEGIN
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = of_tenant AND p.name = idp) THEN
        PERFORM internal.refuse_unknown_reference(target, rule, of_tenant, 'identity provider', idp,
            ARRAY(SELECT p.name FROM broker.identity_provider AS p WHERE p.tenant = of_tenant),
            (SELECT p.tenant FROM broker.identity_provider AS p WHERE p.name = idp), written);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_identity_provider_exists(regclass, jsonb, text, text) IS
    'Rejects a row with an unknown identity provider, and lists the known ones. rule: the foreign key.';

CREATE OR REPLACE FUNCTION internal.check_key_exists(target regclass, written jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    of_tenant constant text := written ->> 'tenant';
    key constant text := written ->> 'key';
BEGIN
    IF NOT EXISTS (SELECT FROM broker.key AS k WHERE k.tenant = of_tenant AND k.name = key) THEN
        PERFORM internal.refuse_unknown_reference(target, 'the_key_exists_in_the_same_tenant', of_tenant, 'key', key,
            ARRAY(SELECT k.name FROM broker.key AS k WHERE k.tenant = of_tenant),
            (SELECT min(k.tenant) FROM broker.key AS k WHERE k.name = key), written);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_key_exists(regclass, jsonb) IS 'Rejects a row with an unknown key, and lists the known ones.';

CREATE OR REPLACE FUNCTION internal.check_not_referenced(target regclass, table_name text, operation text, former jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner text;
    of_tenant constant text := former ->> 'tenant';
    of_name constant text := former ->> 'name';
    what constant text := replace(table_name, '_', ' ');
    count bigint;
    named_by text;
BEGIN
    -- restrict_violation, as PostgreSQL says from 18 on; before, foreign keys said foreign_key_violation.
    CASE table_name
    WHEN 'identity_provider' THEN
        SELECT count(*), 'grant' INTO count, named_by FROM broker.subject_grant AS g
         WHERE g.tenant = of_tenant AND (g.idp = of_name OR g.actor_idp = of_name);
        IF count = 0 THEN
            SELECT count(*), 'blocked subject' INTO count, named_by FROM broker.blocked_subject AS b
             WHERE b.tenant = of_tenant AND b.idp = of_name;
        END IF;
        IF count = 0 THEN
            SELECT count(*), 'access rule' INTO count, named_by FROM broker.access_rule AS r
             WHERE r.tenant = of_tenant AND r.idp = of_name;
        END IF;
        IF count = 0 THEN
            SELECT count(*), 'access approver' INTO count, named_by FROM broker.access_approver AS a
             WHERE a.tenant = of_tenant AND a.idp = of_name;
        END IF;
    WHEN 'key' THEN
        SELECT count(*), 'grant' INTO count, named_by FROM broker.subject_grant AS g WHERE g.tenant = of_tenant AND g.key = of_name;
        IF count = 0 THEN
            SELECT count(*), 'access rule' INTO count, named_by FROM broker.access_rule AS r WHERE r.tenant = of_tenant AND r.key = of_name;
        END IF;
    WHEN 'access_provider' THEN
        SELECT count(*), 'key' INTO count, named_by FROM broker.key AS k WHERE k.tenant = of_tenant AND k.provider = of_name;
    END CASE;
    IF count > 0 THEN
        owner := format('%s "%s" of tenant "%s"', upper(left(what, 1)) || substr(what, 2), of_name, of_tenant);
        PERFORM internal.refuse_in(target, '',
            format('%s is referenced by %s %s%s and cannot be %s.', owner, count, named_by, CASE WHEN count > 1 THEN 's' ELSE '' END,
                   CASE operation WHEN 'DELETE' THEN 'deleted' ELSE 'renamed' END),
            CASE operation WHEN 'DELETE'
                 THEN format('To stop its use: UPDATE broker.%s SET enabled = false WHERE tenant = %L AND name = %L; or delete its %ss first.',
                             table_name, of_tenant, of_name, named_by)
                 ELSE format('Insert a row with the new name, change the %ss to the new name, and delete the old row.', named_by) END,
            'restrict_violation');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_not_referenced(regclass, text, text, jsonb) IS
    'Rejects deleting or renaming an identity provider, an access provider or a key that is still referenced, and counts the references.';
