-- Whose rows one may write, what a row refers to, and what refers to it.

-- ---------------------------------------------------------------- whose rows one may write

CREATE OR REPLACE FUNCTION internal.tenants_of_login() RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
    -- session_user: the login, which neither SET ROLE nor a SECURITY DEFINER function changes.
    SELECT coalesce(array_agg(a.tenant), '{}') FROM broker.tenant_admin AS a WHERE a.role_name = session_user;
$$;
COMMENT ON FUNCTION internal.tenants_of_login() IS 'The tenants in broker.tenant_admin for the login.';

CREATE OR REPLACE FUNCTION internal.say_whose_rows_are_yours() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mine text[];
BEGIN
    IF row_security_active(TG_RELID) AND NOT internal.login_is('a platform admin') THEN
        mine := internal.tenants_of_login();
        IF NEW.tenant <> ALL (mine) THEN
            PERFORM internal.refuse_in(TG_RELID, '',
                format('Login "%s" administers %s, and cannot write rows of tenant "%s".', session_user,
                       CASE cardinality(mine) WHEN 0 THEN 'no tenant'
                            WHEN 1 THEN format('tenant "%s"', mine[1])
                            ELSE format('tenants "%s"', array_to_string(mine, '", "')) END,
                       NEW.tenant),
                'broker.tenant_admin lists the tenant admins; platform admins maintain it.',
                'insufficient_privilege', refused => to_jsonb(NEW));
        END IF;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_whose_rows_are_yours() IS
    'Trigger: rejects a row of another tenant with a message, before row-level security does.';

CREATE OR REPLACE FUNCTION internal.say_who_writes_for_all_tenants() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF row_security_active(TG_RELID) AND NOT internal.login_is('a platform admin') THEN
        PERFORM internal.refuse_in(TG_RELID, '',
            format('Login "%s" cannot write a row without a tenant, which applies to all tenants.', session_user),
            'Set tenant. Only platform admins write rows for all tenants.', 'insufficient_privilege',
            refused => to_jsonb(NEW));
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_who_writes_for_all_tenants() IS
    'Trigger: rejects a row for all tenants with a message, before row-level security does.';

-- ---------------------------------------------------------------- references

-- These triggers run after the statement, as the checks of foreign keys do, so that one statement may write
-- both rows; and before those checks, because triggers run in the order of their names and those of foreign
-- keys are called RI_…. They run with the permissions of the writer, so they reveal no rows that the writer may
-- not see. What they miss, the foreign key refuses.

CREATE OR REPLACE FUNCTION internal.say_which_tenants_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = NEW.tenant) THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_tenant_exists',
            format('There is no tenant "%s".', NEW.tenant),
            internal.there_are(NEW.tenant, ARRAY(SELECT t.name FROM broker.tenant AS t), 'There are'), 'foreign_key_violation',
            refused => to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_tenants_there_are() IS 'Trigger: rejects an unknown tenant, and lists the tenants.';

CREATE OR REPLACE FUNCTION internal.say_which_types_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.provider_type AS t WHERE t.type = NEW.type) THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_provider_type_exists',
            format('Access provider "%s" of tenant "%s" has the unknown type "%s".', NEW.name, NEW.tenant, NEW.type),
            internal.there_are(NEW.type, ARRAY(SELECT t.type FROM broker.provider_type AS t), 'There are'), 'foreign_key_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_types_there_are() IS 'Trigger: rejects an unknown type of access provider, and lists the types.';

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

CREATE OR REPLACE FUNCTION internal.say_which_access_providers_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.access_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.provider) THEN
        PERFORM internal.refuse_unknown_reference(TG_RELID, 'the_access_provider_exists_in_the_same_tenant',
            NEW.tenant, 'access provider', NEW.provider,
            ARRAY(SELECT p.name FROM broker.access_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT min(p.tenant) FROM broker.access_provider AS p WHERE p.name = NEW.provider), to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_access_providers_there_are() IS
    'Trigger: rejects an unknown access provider of a key, and lists the known ones.';

CREATE OR REPLACE FUNCTION internal.say_which_subjects_and_keys_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.idp) THEN
        PERFORM internal.refuse_unknown_reference(TG_RELID, 'the_identity_provider_exists_in_the_same_tenant',
            NEW.tenant, 'identity provider', NEW.idp,
            ARRAY(SELECT p.name FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT p.tenant FROM broker.identity_provider AS p WHERE p.name = NEW.idp), to_jsonb(NEW));
    ELSIF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = coalesce(NEW.actor_idp, NEW.idp)) THEN
        PERFORM internal.refuse_unknown_reference(TG_RELID, 'the_actors_identity_provider_exists_in_the_same_tenant',
            NEW.tenant, 'identity provider', NEW.actor_idp,
            ARRAY(SELECT p.name FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT p.tenant FROM broker.identity_provider AS p WHERE p.name = NEW.actor_idp), to_jsonb(NEW));
    ELSIF NOT EXISTS (SELECT FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.name = NEW.key) THEN
        PERFORM internal.refuse_unknown_reference(TG_RELID, 'the_key_exists_in_the_same_tenant',
            NEW.tenant, 'key', NEW.key,
            ARRAY(SELECT k.name FROM broker.key AS k WHERE k.tenant = NEW.tenant),
            (SELECT min(k.tenant) FROM broker.key AS k WHERE k.name = NEW.key), to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_subjects_and_keys_there_are() IS
    'Trigger: rejects an unknown identity provider (of the subject or the actor) or key of a grant, and lists the known ones.';

CREATE OR REPLACE FUNCTION internal.say_which_identity_providers_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.idp) THEN
        PERFORM internal.refuse_unknown_reference(TG_RELID, 'the_identity_provider_exists_in_the_same_tenant',
            NEW.tenant, 'identity provider', NEW.idp,
            ARRAY(SELECT p.name FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT p.tenant FROM broker.identity_provider AS p WHERE p.name = NEW.idp), to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_identity_providers_there_are() IS
    'Trigger: rejects an unknown identity provider of a block, and lists the known ones.';

CREATE OR REPLACE FUNCTION internal.say_what_names_it() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner text;
    what constant text := replace(TG_TABLE_NAME, '_', ' ');
    count bigint;
    named_by text;
BEGIN
    -- restrict_violation, as PostgreSQL says from 18 on; before, foreign keys said foreign_key_violation.
    CASE TG_TABLE_NAME
    WHEN 'identity_provider' THEN
        SELECT count(*), 'grant' INTO count, named_by FROM broker.subject_grant AS g
         WHERE g.tenant = OLD.tenant AND (g.idp = OLD.name OR g.actor_idp = OLD.name);
        IF count = 0 THEN
            SELECT count(*), 'blocked subject' INTO count, named_by FROM broker.blocked_subject AS b
             WHERE b.tenant = OLD.tenant AND b.idp = OLD.name;
        END IF;
        IF count = 0 THEN
            SELECT count(*), 'access rule' INTO count, named_by FROM broker.access_rule AS r
             WHERE r.tenant = OLD.tenant AND r.idp = OLD.name;
        END IF;
        IF count = 0 THEN
            SELECT count(*), 'access approver' INTO count, named_by FROM broker.access_approver AS a
             WHERE a.tenant = OLD.tenant AND a.idp = OLD.name;
        END IF;
    WHEN 'key' THEN
        SELECT count(*), 'grant' INTO count, named_by FROM broker.subject_grant AS g WHERE g.tenant = OLD.tenant AND g.key = OLD.name;
        IF count = 0 THEN
            SELECT count(*), 'access rule' INTO count, named_by FROM broker.access_rule AS r WHERE r.tenant = OLD.tenant AND r.key = OLD.name;
        END IF;
    WHEN 'access_provider' THEN
        SELECT count(*), 'key' INTO count, named_by FROM broker.key AS k WHERE k.tenant = OLD.tenant AND k.provider = OLD.name;
    END CASE;
    IF count > 0 THEN
        owner := format('%s "%s" of tenant "%s"', upper(left(what, 1)) || substr(what, 2), OLD.name, OLD.tenant);
        PERFORM internal.refuse_in(TG_RELID, '',
            format('%s is referenced by %s %s%s and cannot be %s.', owner, count, named_by, CASE WHEN count > 1 THEN 's' ELSE '' END,
                   CASE TG_OP WHEN 'DELETE' THEN 'deleted' ELSE 'renamed' END),
            CASE TG_OP WHEN 'DELETE'
                 THEN format('To stop its use: UPDATE broker.%I SET enabled = false WHERE tenant = %L AND name = %L; or delete its %ss first.',
                             TG_TABLE_NAME, OLD.tenant, OLD.name, named_by)
                 ELSE format('Insert a row with the new name, point its %ss to it, and delete this one.', named_by) END,
            'restrict_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_what_names_it() IS 'Trigger: rejects deleting a row that is still referenced, and lists the references.';
