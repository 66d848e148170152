-- What names may look like, and the tenants, to whom all the rest belongs.

-- ---------------------------------------------------------------- what texts may look like

CREATE FUNCTION internal.is_line(value text, longest int) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN length(value) BETWEEN 1 AND longest AND value !~ '[\u0001-\u001f\u007f-\u009f]';
COMMENT ON FUNCTION internal.is_line(text, int) IS
    'Whether a text is neither empty nor longer than so many characters, without control characters.';

CREATE FUNCTION internal.is_list(list text[], longest int) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_ndims(list) IS NOT DISTINCT FROM 1 AND cardinality(list) <= 1000
       AND (SELECT count(DISTINCT item) = count(*) AND bool_and(coalesce(internal.is_line(item, longest), false))
              FROM unnest(list) AS item);
COMMENT ON FUNCTION internal.is_list(text[], int) IS
    'Whether a list has 1 to 1000 elements, none null, empty, twice, longer than so many characters or with control characters.';

CREATE FUNCTION internal.is_url(value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN value ~ ('^(https://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\.?|\[[0-9A-Fa-f:.]+\])'
                 || '|http://(localhost|127(\.(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])){3}|\[::1\]))'
                 || '(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&''()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?(\?([A-Za-z0-9._~!$&''()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$')
       AND coalesce(substring(value FROM '^https?://(?:\[[^]]*\]|[^/:?]*):([0-9]+)')::int, 1) BETWEEN 1 AND 65535;
COMMENT ON FUNCTION internal.is_url(text) IS
    'Whether a text is an https address, or an http address on a loopback host, without user, password and fragment.';

-- A wildcard is ** or *. The service walks through a text once for each, so their number bounds its work.
CREATE FUNCTION internal.glob_fault(pattern text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN length(pattern) > 512 THEN format('has %s characters, and a glob has up to 512', length(pattern))
                WHEN regexp_count(pattern, '[*][*]?') > 8
                    THEN format('has %s stars, and a glob has up to 8', regexp_count(pattern, '[*][*]?')) END;
COMMENT ON FUNCTION internal.glob_fault(text) IS
    'What is too much of a glob, as the end of a sentence; null if nothing is. ** counts as one star.';

-- What is within these bounds can be read by the service, whatever it says.
CREATE FUNCTION internal.json_fault(value jsonb, longest int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fault text;
BEGIN
    IF value IS NULL OR value = '{}' THEN
        RETURN NULL;
    ELSIF octet_length(value::text) > longest THEN
        RETURN format('has %s bytes, more than %s', octet_length(value::text), longest);
    ELSIF jsonb_path_exists(value, 'strict $.**{32 to last}') THEN
        RETURN 'is nested deeper than 32 levels';
    END IF;
    SELECT format('has a number of %s characters, which no double can hold: %s…', length(number::text), left(number::text, 20))
      INTO fault
      FROM jsonb_path_query(value, 'strict $.** ? (@.type() == "number")') AS number
     WHERE abs(number::numeric) > 1.7976931348623157e308 OR length(number::text) > 400 LIMIT 1;
    IF NOT FOUND THEN
        SELECT format('has a member whose name has %s characters, more than 512: "%s…"', length(name), left(name, 20))
          INTO fault
          FROM (SELECT key #>> '{}' AS name
                  FROM jsonb_path_query(value, 'strict $.** ? (@.type() == "object").keyvalue().key') AS key) AS member
         WHERE length(name) > 512 LIMIT 1;
    END IF;
    RETURN fault;
END
$$;
COMMENT ON FUNCTION internal.json_fault(jsonb, int) IS
    'What is too much of a JSON value (bytes of its text, levels, a number, a name), as the end of a sentence; null if nothing is.';


-- ---------------------------------------------------------------- tenants

CREATE TABLE broker.tenant (
    name text COLLATE "C" NOT NULL,
    display_name text,
    external_id uuid NOT NULL DEFAULT gen_random_uuid(),
    max_keys int NOT NULL DEFAULT 1000,
    max_grants int NOT NULL DEFAULT 1000000,
    max_globs int NOT NULL DEFAULT 1000,
    max_calls int NOT NULL DEFAULT 256,
    enabled boolean NOT NULL DEFAULT true,
    CONSTRAINT a_tenant_name_is_taken_once PRIMARY KEY (name),
    CONSTRAINT no_two_tenants_share_an_external_id UNIQUE (external_id),
    CONSTRAINT a_tenant_name_has_1_to_40_of_a_to_z_0_to_9_and_hyphen CHECK (name ~ '^[a-z][a-z0-9-]{0,39}$'),
    CONSTRAINT a_display_name_is_one_line_of_up_to_1000 CHECK (internal.is_line(display_name, 1000)),
    CONSTRAINT bounds_are_not_negative CHECK (least(max_keys, max_grants, max_globs) >= 0),
    CONSTRAINT max_calls_is_positive CHECK (max_calls > 0)
);
COMMENT ON TABLE broker.tenant IS
    'Who shares this broker: each has identity providers, access providers, keys and grants of its own. Disabled, never renamed or deleted.';
COMMENT ON COLUMN broker.tenant.name IS
    'Lower-case letters, digits and hyphens, a letter first, up to 40. The broker''s own tokens carry it, so clouds trust it: it never changes.';
COMMENT ON COLUMN broker.tenant.display_name IS 'For people; optional.';
COMMENT ON COLUMN broker.tenant.external_id IS
    'Generated. The ExternalId that AWS is shown in ambient mode, so that one tenant''s roles can''t be assumed for another.';
COMMENT ON COLUMN broker.tenant.max_keys IS 'How many keys it may have. Fewer than it has: no further ones.';
COMMENT ON COLUMN broker.tenant.max_grants IS 'How many grants it may have.';
COMMENT ON COLUMN broker.tenant.max_globs IS 'How many of its grants may be globs over subjects: each is tried when a token comes.';
COMMENT ON COLUMN broker.tenant.max_calls IS 'How many calls of providers each replica makes for it at a time.';
COMMENT ON COLUMN broker.tenant.enabled IS 'False: its tokens are refused as if their issuers were unknown.';

CALL internal.keep_history('broker.tenant', 'name');

CREATE FUNCTION internal.keep_tenant() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM internal.refuse(
            format('Tenant "%s" cannot be deleted: another of that name would inherit its trust in the clouds.', OLD.name),
            format('UPDATE broker.tenant SET enabled = false WHERE name = %L;', OLD.name), 'restrict_violation');
    ELSIF NEW.name <> OLD.name THEN
        PERFORM internal.refuse(
            format('Tenant "%s" cannot be renamed: clouds and the audit log know it by this name.', OLD.name),
            'Change its display_name, or make a new tenant and disable this one.', 'restrict_violation');
    ELSIF NEW.external_id <> OLD.external_id THEN
        PERFORM internal.refuse(
            format('The external_id of tenant "%s" cannot be changed: trust policies in AWS name it.', OLD.name),
            'Make a new tenant and disable this one.', 'restrict_violation');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.keep_tenant() IS 'Trigger: tenants are neither deleted nor renamed, and keep their external_id.';

CREATE TRIGGER is_kept BEFORE UPDATE OR DELETE ON broker.tenant
    FOR EACH ROW EXECUTE FUNCTION internal.keep_tenant();
ALTER TABLE broker.tenant ENABLE ALWAYS TRIGGER is_kept;


-- ---------------------------------------------------------------- who administers them

CREATE TABLE broker.tenant_admin (
    tenant text COLLATE "C" NOT NULL,
    role_name text COLLATE "C" NOT NULL,
    CONSTRAINT a_tenant_admin_is_listed_once PRIMARY KEY (tenant, role_name),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_role_name_has_1_to_63_bytes CHECK (octet_length(role_name) BETWEEN 1 AND 63)
);
COMMENT ON TABLE broker.tenant_admin IS
    'Which logins may write the keys and grants of a tenant. The login must also be a member of the role for tenant admins (db/roles.sql).';
COMMENT ON COLUMN broker.tenant_admin.tenant IS 'The tenant.';
COMMENT ON COLUMN broker.tenant_admin.role_name IS 'The login (session_user) as PostgreSQL spells it.';
CREATE INDEX tenants_of_a_login ON broker.tenant_admin (role_name);

CALL internal.keep_history('broker.tenant_admin', 'tenant');

CREATE FUNCTION internal.tenants_of_login() RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
    -- session_user: the login, which neither SET ROLE nor a SECURITY DEFINER function changes.
    SELECT coalesce(array_agg(a.tenant), '{}') FROM broker.tenant_admin AS a WHERE a.role_name = session_user;
$$;
COMMENT ON FUNCTION internal.tenants_of_login() IS 'The tenants in broker.tenant_admin for the login.';

UPDATE runtime.schema_version SET version = 2;
