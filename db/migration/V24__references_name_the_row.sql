-- In a statement of a thousand rows, a reference to what there isn't names the wrong value, and shows the row beside it. So
-- does all else that is refused of a row and doesn't name it, and no refusal shows a DETAIL that is empty.

CREATE FUNCTION internal.shown_row(refused jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT left(jsonb_object_agg(m.key, CASE WHEN length(m.value::text) <= 100 THEN m.value
                                             ELSE to_jsonb(left(m.value #>> '{}', 100) || '…') END)::text, 500)
      FROM jsonb_each(jsonb_strip_nulls(internal.without_bookkeeping(refused) - '{id,external_id,settings,jwks,ca_certificate}'::text[])) AS m;
$$;
COMMENT ON FUNCTION internal.shown_row(jsonb) IS
    'A row as a refusal shows it, long values cut, so that the names beside them are seen; null for none. Without what a writer may have put a secret into.';

CREATE OR REPLACE FUNCTION internal.refuse_in(target regclass, rule text, message text, hint text, code text, named_column text DEFAULT '',
                                              refused jsonb DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    shown constant text := internal.shown_row(refused);
    target_schema text;
    target_table text;
BEGIN
    SELECT c.relnamespace::regnamespace, c.relname INTO target_schema, target_table FROM pg_class AS c WHERE c.oid = target;
    -- An empty DETAIL would be shown as one.
    IF shown IS NULL THEN
        RAISE EXCEPTION '%', message
            USING ERRCODE = code, HINT = hint, CONSTRAINT = rule, COLUMN = named_column, SCHEMA = target_schema, TABLE = target_table;
    END IF;
    RAISE EXCEPTION '%', message
        USING ERRCODE = code, DETAIL = 'The row: ' || shown, HINT = hint, CONSTRAINT = rule, COLUMN = named_column,
              SCHEMA = target_schema, TABLE = target_table;
END
$$;
GRANT EXECUTE ON FUNCTION internal.shown_row(jsonb)
    TO "${app_role}", "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";
GRANT EXECUTE ON FUNCTION internal.without_bookkeeping(jsonb) TO "${console_role}";


-- ---------------------------------------------------------------- references

DROP FUNCTION internal.refuse_stranger(regclass, text, text, text, text, text[], text);
CREATE FUNCTION internal.refuse_stranger(target regclass, rule text, tenant text, what text, name text, known text[], elsewhere text,
                                         refused jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = refuse_stranger.tenant) THEN
        PERFORM internal.refuse_in(target, rule, format('There is no tenant "%s".', tenant),
            internal.there_are(tenant, ARRAY(SELECT t.name FROM broker.tenant AS t), 'There are'), 'foreign_key_violation',
            refused => refused);
    END IF;
    PERFORM internal.refuse_in(target, rule, format('Tenant "%s" has no %s "%s".', tenant, what, name),
        internal.there_are(name, known, 'It has')
        || CASE WHEN cardinality(known) > 0 THEN ''
                ELSE format(' To make one: db/recipes/%s.', CASE what WHEN 'identity provider' THEN 'issuer_*.sql' ELSE 'provider_*.sql' END) END
        || CASE WHEN elsewhere IS NULL THEN ''
                ELSE format(' Tenant "%s" has one of that name, but a row names only what its own tenant has.', elsewhere) END,
        'foreign_key_violation', refused => refused);
END
$$;
COMMENT ON FUNCTION internal.refuse_stranger(regclass, text, text, text, text, text[], text, jsonb) IS
    'Refuses a reference to what the tenant does not have; elsewhere: another tenant that has one of that name, if the writer may see it; refused: the row.';
GRANT EXECUTE ON FUNCTION internal.refuse_stranger(regclass, text, text, text, text, text[], text, jsonb)
    TO "${admin_role}", "${tenant_admin_role}";

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

CREATE OR REPLACE FUNCTION internal.say_which_access_providers_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.access_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.provider) THEN
        PERFORM internal.refuse_stranger(TG_RELID, 'the_access_provider_exists_in_the_same_tenant',
            NEW.tenant, 'access provider', NEW.provider,
            ARRAY(SELECT p.name FROM broker.access_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT min(p.tenant) FROM broker.access_provider AS p WHERE p.name = NEW.provider), to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION internal.say_which_subjects_and_keys_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.idp) THEN
        PERFORM internal.refuse_stranger(TG_RELID, 'the_identity_provider_exists_in_the_same_tenant',
            NEW.tenant, 'identity provider', NEW.idp,
            ARRAY(SELECT p.name FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT p.tenant FROM broker.identity_provider AS p WHERE p.name = NEW.idp), to_jsonb(NEW));
    ELSIF NOT EXISTS (SELECT FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.name = NEW.key) THEN
        PERFORM internal.refuse_stranger(TG_RELID, 'the_key_exists_in_the_same_tenant',
            NEW.tenant, 'key', NEW.key,
            ARRAY(SELECT k.name FROM broker.key AS k WHERE k.tenant = NEW.tenant),
            (SELECT min(k.tenant) FROM broker.key AS k WHERE k.name = NEW.key), to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION internal.say_which_identity_providers_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.idp) THEN
        PERFORM internal.refuse_stranger(TG_RELID, 'the_identity_provider_exists_in_the_same_tenant',
            NEW.tenant, 'identity provider', NEW.idp,
            ARRAY(SELECT p.name FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT p.tenant FROM broker.identity_provider AS p WHERE p.name = NEW.idp), to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION internal.keep_trusted_audiences() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    taken text;
BEGIN
    DELETE FROM runtime.trusted_audience
     WHERE idp = NEW.name AND (issuer <> NEW.issuer OR audience <> ALL (NEW.audiences));
    -- Waits for a concurrent transaction that has the pair, then leaves the pair to it.
    INSERT INTO runtime.trusted_audience (issuer, audience, idp)
    SELECT NEW.issuer, audience, NEW.name FROM unnest(NEW.audiences) AS audience ORDER BY audience
        ON CONFLICT (issuer, audience) DO NOTHING;
    -- The owner of the pair may belong to a tenant that the writer cannot see: don't name it.
    SELECT audience INTO taken
      FROM unnest(NEW.audiences) AS audience
     WHERE NOT EXISTS (SELECT FROM runtime.trusted_audience AS t
                        WHERE t.issuer = NEW.issuer AND t.audience = audience.audience AND t.idp = NEW.name)
     ORDER BY audience LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'an_issuer_and_audience_lead_to_one_identity_provider',
            format('Issuer "%s" with audience "%s" already leads to another identity provider.', NEW.issuer, taken),
            'A token''s issuer and audience must lead to exactly one tenant. Let the clients ask their issuer for an audience of their own, for example one that names the tenant, and list that.',
            'unique_violation', refused => to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;


-- ---------------------------------------------------------------- whose rows one may write

CREATE OR REPLACE FUNCTION internal.say_whose_rows_are_yours() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mine text[];
BEGIN
    IF row_security_active(TG_RELID) AND NOT pg_has_role('${admin_role}', 'USAGE') THEN
        mine := internal.tenants_of_login();
        IF NEW.tenant <> ALL (mine) THEN
            PERFORM internal.refuse_in(TG_RELID, '',
                format('Login "%s" administers %s, and cannot write rows of tenant "%s".', session_user,
                       CASE cardinality(mine) WHEN 0 THEN 'no tenant'
                            WHEN 1 THEN format('tenant "%s"', mine[1])
                            ELSE format('tenants "%s"', array_to_string(mine, '", "')) END,
                       NEW.tenant),
                'Who administers which tenant is in broker.tenant_admin, which platform admins write.',
                'insufficient_privilege', refused => to_jsonb(NEW));
        END IF;
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION internal.say_who_writes_for_all_tenants() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF row_security_active(TG_RELID) AND NOT pg_has_role('${admin_role}', 'USAGE') THEN
        PERFORM internal.refuse_in(TG_RELID, '',
            format('Login "%s" cannot write a row without a tenant, which counts for all tenants.', session_user),
            'Name your tenant. What counts for all of them, platform admins write.', 'insufficient_privilege',
            refused => to_jsonb(NEW));
    END IF;
    RETURN NEW;
END
$$;


-- ---------------------------------------------------------------- rows whose sentence doesn't name them

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_tenant_admin() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF octet_length(NEW.role_name) NOT BETWEEN 1 AND 63 THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('A login''s name has 1 to 63 bytes, not %s.', octet_length(NEW.role_name)),
            'Write the login as PostgreSQL spells it: SELECT rolname FROM pg_roles.', 'check_violation', refused => to_jsonb(NEW));
    ELSIF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = NEW.role_name) THEN
        RAISE WARNING 'There is no login "%" yet.', NEW.role_name
            USING HINT = format('Until a DBA makes it (CREATE ROLE %I LOGIN … IN ROLE %I), the row is without effect.',
                                NEW.role_name, '${tenant_admin_role}');
    ELSIF NOT pg_has_role(NEW.role_name, '${tenant_admin_role}', 'MEMBER') THEN
        RAISE WARNING 'Login "%" is no member of %.', NEW.role_name, '${tenant_admin_role}'
            USING HINT = format('Until a DBA makes it one (GRANT %I TO %I), the row is without effect.',
                                '${tenant_admin_role}', NEW.role_name);
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_console_access() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fault constant text := internal.line_fault(NEW.claim, 512);
    value_fault constant text := internal.claims_fault(jsonb_build_object(NEW.claim, NEW.value));
    message text;
    hint text;
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.tenant IS DISTINCT FROM NEW.tenant THEN
        message := format('An access to the console stays with what it shows: it cannot move from %s to %s.',
                          coalesce('tenant "' || OLD.tenant || '"', 'all tenants'),
                          coalesce('tenant "' || NEW.tenant || '"', 'all tenants'));
        hint := 'Insert it anew, and delete this one.';
    ELSIF fault IS NOT NULL THEN
        message := format('An access to the console has a claim that %s.', fault);
        hint := 'Write the name of a claim in the ID tokens, for example "groups".';
    ELSIF length(NEW.reason) > 1000 THEN
        message := format('The access to the console by "%s": its reason has %s characters, more than 1000.',
                          NEW.claim, length(NEW.reason));
        hint := 'Write it shorter.';
    ELSIF value_fault IS NOT NULL THEN
        message := format('The access to the console by "%s": %s.', NEW.claim, value_fault);
        hint := 'A value is for example ''"alice@example.com"'', ''["ops", "audit"]'' or ''{"glob": "team:*"}''.';
    ELSIF ltrim(NEW.claim, '/') IN ('name', 'nickname', 'preferred_username', 'given_name', 'family_name') THEN
        RAISE WARNING 'The claim "%" is often the user''s own to choose.', NEW.claim
            USING HINT = 'Whoever may change it there sees the console. Prefer sub, or groups that only admins assign.';
    END IF;
    IF message IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', message, hint, 'check_violation', refused => to_jsonb(NEW));
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_block() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    owner constant text := format('The block of "%s"', NEW.subject);
    fault constant text := internal.line_fault(NEW.subject, 1024);
    message text;
    hint text;
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.tenant IS DISTINCT FROM NEW.tenant THEN
        message := format('%s stays with its tenant: it cannot move from %s to %s.', owner,
                          coalesce('"' || OLD.tenant || '"', 'all tenants'),
                          coalesce('"' || NEW.tenant || '"', 'all tenants'));
        hint := 'Insert it anew, and delete it here.';
    ELSIF fault IS NOT NULL THEN
        message := format('A block has a subject that %s.', fault);
        hint := 'Write the sub claim of the tokens as it is, for example "repo:acme/app:ref:refs/heads/main".';
    ELSIF NEW.match NOT IN ('exact', 'glob') THEN
        message := format('%s has match "%s", and there are exact and glob.', owner, NEW.match);
        hint := 'exact compares the subject to the character; in a glob * stays within a segment, ** does not.';
    ELSIF NEW.match = 'glob' AND NEW.subject !~ '^[^*:/]+([:/]|$)' THEN
        message := format('%s is a glob that does not start with a literal segment.', owner);
        hint := 'The text up to the first : or / must be without *, for example "repo:acme/app:**". To block all of a tenant''s: UPDATE broker.identity_provider SET enabled = false.';
    ELSIF NEW.match = 'glob' AND internal.glob_fault(NEW.subject) IS NOT NULL THEN
        message := format('The block of "%s" %s.',
                          left(NEW.subject, 40) || CASE WHEN length(NEW.subject) > 40 THEN '…' ELSE '' END, internal.glob_fault(NEW.subject));
        hint := 'Write several shorter ones.';
    ELSIF NEW.reason !~ '\S' THEN
        message := format('%s has an empty reason.', owner);
        hint := 'Say why, for example the incident''s number.';
    ELSIF length(NEW.reason) > 1000 THEN
        message := format('%s: its reason has %s characters, more than 1000.', owner, length(NEW.reason));
        hint := 'Write it shorter.';
    ELSIF NOT isfinite(NEW.until) THEN
        message := format('%s ends at infinity.', owner);
        hint := 'A block without an end has null in until.';
    ELSIF NEW.until < '0001-01-01Z' OR NEW.until >= '10000-01-01Z' THEN
        message := format('%s ends outside of the years 1 to 9999.', owner);
        hint := 'Write a time of these years, or null for a block without an end.';
    ELSIF NEW.idp IS NOT NULL AND NEW.tenant IS NULL THEN
        message := format('%s names identity provider "%s", and no tenant.', owner, NEW.idp);
        hint := 'Name its tenant too. A block of all tenants is of the subject, whichever identity provider its token comes from.';
    END IF;
    IF message IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', message, hint, 'check_violation', refused => to_jsonb(NEW));
    END IF;
    RETURN NEW;
END
$$;

UPDATE runtime.schema_version SET version = greatest(version, 24);
