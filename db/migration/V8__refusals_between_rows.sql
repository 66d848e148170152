-- What does not fit the other rows is refused too: whose rows one may write, what a row refers to, and settings that
-- would not work with the access provider of a key or the key of a grant.

-- ---------------------------------------------------------------- whose rows one may write

CREATE FUNCTION internal.say_whose_rows_are_yours() RETURNS trigger
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
                'insufficient_privilege');
        END IF;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_whose_rows_are_yours() IS
    'Trigger: says in a sentence what row-level security would refuse.';

CREATE TRIGGER belongs_to_its_writer BEFORE INSERT OR UPDATE ON broker.key
    FOR EACH ROW EXECUTE FUNCTION internal.say_whose_rows_are_yours();
CREATE TRIGGER belongs_to_its_writer BEFORE INSERT OR UPDATE ON broker.subject_grant
    FOR EACH ROW EXECUTE FUNCTION internal.say_whose_rows_are_yours();


-- ---------------------------------------------------------------- references

-- These triggers run after the statement, as the checks of foreign keys do, so that one statement may write
-- both rows; and before those checks, because triggers run in the order of their names and those of foreign
-- keys are called RI_…. They look as the writer, so they tell nobody of rows that she may not see: to her
-- they aren't there. What they miss, the foreign key refuses.

CREATE FUNCTION internal.say_which_tenants_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = NEW.tenant) THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_tenant_exists',
            format('There is no tenant "%s".', NEW.tenant),
            internal.there_are(NEW.tenant, ARRAY(SELECT t.name FROM broker.tenant AS t), 'There are'), 'foreign_key_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_tenants_there_are() IS 'Trigger: says which tenants a row could belong to.';

CREATE TRIGGER "FK_names_a_tenant" AFTER INSERT OR UPDATE OF tenant ON broker.tenant_admin
    FOR EACH ROW EXECUTE FUNCTION internal.say_which_tenants_there_are();
CREATE TRIGGER "FK_names_a_tenant" AFTER INSERT OR UPDATE OF tenant ON broker.identity_provider
    FOR EACH ROW EXECUTE FUNCTION internal.say_which_tenants_there_are();
CREATE TRIGGER "FK_names_a_tenant" AFTER INSERT OR UPDATE OF tenant ON broker.access_provider
    FOR EACH ROW EXECUTE FUNCTION internal.say_which_tenants_there_are();

CREATE FUNCTION internal.say_which_types_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.provider_type AS t WHERE t.type = NEW.type) THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_provider_type_exists',
            format('Access provider "%s" of tenant "%s" has the type "%s", which there is not.', NEW.name, NEW.tenant, NEW.type),
            internal.there_are(NEW.type, ARRAY(SELECT t.type FROM broker.provider_type AS t), 'There are'), 'foreign_key_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_types_there_are() IS 'Trigger: says which types of access providers there are.';

CREATE TRIGGER "FK_names_a_type" AFTER INSERT OR UPDATE OF type ON broker.access_provider
    FOR EACH ROW EXECUTE FUNCTION internal.say_which_types_there_are();

CREATE FUNCTION internal.refuse_stranger(target regclass, rule text, tenant text, what text, name text, known text[], elsewhere text)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = refuse_stranger.tenant) THEN
        PERFORM internal.refuse_in(target, rule, format('There is no tenant "%s".', tenant),
            internal.there_are(tenant, ARRAY(SELECT t.name FROM broker.tenant AS t), 'There are'), 'foreign_key_violation');
    END IF;
    PERFORM internal.refuse_in(target, rule, format('Tenant "%s" has no %s "%s".', tenant, what, name),
        internal.there_are(name, known, 'It has')
        || CASE WHEN cardinality(known) > 0 THEN ''
                ELSE format(' To make one: db/recipes/%s.', CASE what WHEN 'identity provider' THEN 'issuer_*.sql' ELSE 'provider_*.sql' END) END
        || CASE WHEN elsewhere IS NULL THEN ''
                ELSE format(' Tenant "%s" has one of that name, but a row names only what its own tenant has.', elsewhere) END,
        'foreign_key_violation');
END
$$;
COMMENT ON FUNCTION internal.refuse_stranger(regclass, text, text, text, text, text[], text) IS
    'Refuses a reference to what the tenant does not have; elsewhere: another tenant that has one of that name, if the writer may see it.';

CREATE FUNCTION internal.say_which_access_providers_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.access_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.provider) THEN
        PERFORM internal.refuse_stranger(TG_RELID, 'the_access_provider_exists_in_the_same_tenant',
            NEW.tenant, 'access provider', NEW.provider,
            ARRAY(SELECT p.name FROM broker.access_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT min(p.tenant) FROM broker.access_provider AS p WHERE p.name = NEW.provider));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_access_providers_there_are() IS
    'Trigger: says which access providers a key could name.';

CREATE TRIGGER "FK_names_an_access_provider" AFTER INSERT OR UPDATE OF tenant, provider ON broker.key
    FOR EACH ROW EXECUTE FUNCTION internal.say_which_access_providers_there_are();

CREATE FUNCTION internal.say_which_subjects_and_keys_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.idp) THEN
        PERFORM internal.refuse_stranger(TG_RELID, 'the_identity_provider_exists_in_the_same_tenant',
            NEW.tenant, 'identity provider', NEW.idp,
            ARRAY(SELECT p.name FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT p.tenant FROM broker.identity_provider AS p WHERE p.name = NEW.idp));
    ELSIF NOT EXISTS (SELECT FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.name = NEW.key) THEN
        PERFORM internal.refuse_stranger(TG_RELID, 'the_key_exists_in_the_same_tenant',
            NEW.tenant, 'key', NEW.key,
            ARRAY(SELECT k.name FROM broker.key AS k WHERE k.tenant = NEW.tenant),
            (SELECT min(k.tenant) FROM broker.key AS k WHERE k.name = NEW.key));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_subjects_and_keys_there_are() IS
    'Trigger: says which identity providers and keys a grant could name.';

CREATE TRIGGER "FK_names_an_identity_provider_and_a_key" AFTER INSERT OR UPDATE OF tenant, idp, key ON broker.subject_grant
    FOR EACH ROW EXECUTE FUNCTION internal.say_which_subjects_and_keys_there_are();

CREATE FUNCTION internal.say_what_names_it() RETURNS trigger
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
        SELECT count(*), 'grant' INTO count, named_by FROM broker.subject_grant AS g WHERE g.tenant = OLD.tenant AND g.idp = OLD.name;
    WHEN 'key' THEN
        SELECT count(*), 'grant' INTO count, named_by FROM broker.subject_grant AS g WHERE g.tenant = OLD.tenant AND g.key = OLD.name;
    WHEN 'access_provider' THEN
        SELECT count(*), 'key' INTO count, named_by FROM broker.key AS k WHERE k.tenant = OLD.tenant AND k.provider = OLD.name;
    END CASE;
    IF count > 0 THEN
        owner := format('%s "%s" of tenant "%s"', upper(left(what, 1)) || substr(what, 2), OLD.name, OLD.tenant);
        PERFORM internal.refuse_in(TG_RELID, '',
            format('%s is named by %s %s%s and cannot be %s.', owner, count, named_by, CASE WHEN count > 1 THEN 's' ELSE '' END,
                   CASE TG_OP WHEN 'DELETE' THEN 'deleted' ELSE 'renamed' END),
            CASE TG_OP WHEN 'DELETE'
                 THEN format('To put an end to its use: UPDATE broker.%I SET enabled = false WHERE tenant = %L AND name = %L; or delete its %ss first.',
                             TG_TABLE_NAME, OLD.tenant, OLD.name, named_by)
                 ELSE format('Insert a row of the new name, let its %ss name that, and delete this one.', named_by) END,
            'restrict_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_what_names_it() IS 'Trigger: says what still refers to a row that is to go.';

CREATE TRIGGER "FK_is_named_by_none_that_goes" AFTER DELETE ON broker.identity_provider
    FOR EACH ROW EXECUTE FUNCTION internal.say_what_names_it();
CREATE TRIGGER "FK_is_named_by_none_when_renamed" AFTER UPDATE OF name ON broker.identity_provider
    FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION internal.say_what_names_it();
CREATE TRIGGER "FK_is_named_by_none_that_goes" AFTER DELETE ON broker.key
    FOR EACH ROW EXECUTE FUNCTION internal.say_what_names_it();
CREATE TRIGGER "FK_is_named_by_none_when_renamed" AFTER UPDATE OF name ON broker.key
    FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION internal.say_what_names_it();
CREATE TRIGGER "FK_is_named_by_none_that_goes" AFTER DELETE ON broker.access_provider
    FOR EACH ROW EXECUTE FUNCTION internal.say_what_names_it();
CREATE TRIGGER "FK_is_named_by_none_when_renamed" AFTER UPDATE OF name ON broker.access_provider
    FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION internal.say_what_names_it();


-- ---------------------------------------------------------------- settings, by the rules of their type

CREATE FUNCTION internal.compact_length(value jsonb) RETURNS int
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE jsonb_typeof(value)
        WHEN 'object' THEN (SELECT 1 + greatest(1, sum(length(to_json(key)::text) + 2 + internal.compact_length(member.value)))
                              FROM jsonb_each(value) AS member)
        WHEN 'array' THEN (SELECT 1 + greatest(1, sum(1 + internal.compact_length(element)))
                             FROM jsonb_array_elements(value) AS element)
        ELSE length(value::text) END;
END
$$;
COMMENT ON FUNCTION internal.compact_length(jsonb) IS 'How long the JSON text of a value is without blanks.';

CREATE FUNCTION internal.is_json_object(written text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN jsonb_typeof(written::jsonb) = 'object';
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION internal.is_json_object(text) IS 'Whether a text is the JSON of an object.';

-- As mint/Vendor has them: a host, a URL or //host/…, and Entra's names for its exchanges.
CREATE FUNCTION internal.is_vendor_audience(written text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN lower(written) ~ ('^(([a-z][a-z0-9+.-]*:)?//)?(azureadtokenexchange.*|([^/]*[.])?('
                             || 'amazonaws[.](com|com[.]cn|eu)|aws[.]amazon[.]com|googleapis[.]com|google[.]com'
                             || '|microsoftonline[.](com|us|cn)|chinacloudapi[.]cn)[.]?(:[0-9]*)?([/?#].*)?)$');
COMMENT ON FUNCTION internal.is_vendor_audience(text) IS
    'Whether an audience means a cloud that trusts the broker, however it is written.';

CREATE FUNCTION internal.text_fault(rule jsonb, value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    written constant text := value #>> '{}';
    longest constant int := coalesce((rule ->> 'max_length')::int, 2048);
BEGIN
    IF jsonb_typeof(value) <> 'string' THEN
        RETURN format('must be a text, not %s', internal.a_kind(value));
    ELSIF written !~ '\S' THEN
        RETURN 'must not be empty';
    ELSIF length(written) > longest THEN
        RETURN format('has %s characters, more than %s', length(written), longest);
    ELSIF written ~ '[\u0001-\u001f\u007f-\u009f]' THEN
        RETURN 'must be one line, without control characters';
    ELSIF NOT coalesce(rule -> 'one_of' ? written, true) THEN
        RETURN format('is "%s", and must be one of %s', written,
                      (SELECT string_agg(one, ', ') FROM jsonb_array_elements_text(rule -> 'one_of') AS one));
    ELSIF rule ->> 'is' = 'url' AND (written !~ ('^https?://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*[.]?'
                                         || '|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&''()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?$')
                                     OR coalesce(substring(written FROM '^https?://[^/]*:([0-9]+)(?:/|$)')::int, 1) NOT BETWEEN 1 AND 65535) THEN
        RETURN format('is "%s", which is no address of the form https://host/path (no user, query or fragment)', written);
    ELSIF position(rule ->> 'must_contain' IN written) = 0 THEN
        RETURN format('is "%s", and must contain %s', written, rule ->> 'must_contain');
    ELSIF (rule ->> 'not_for_vendors')::boolean AND internal.is_vendor_audience(written) THEN
        RETURN format('is "%s", which is worth something to a cloud vendor, and the token goes to a client', written);
    ELSIF written !~ (rule ->> 'pattern') THEN
        RETURN format('is "%s", which does not have the form %s', written, rule ->> 'pattern');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.text_fault(jsonb, jsonb) IS
    'What is wrong with a text by a rule of broker.provider_type, as the end of a sentence; null if nothing is.';

CREATE FUNCTION internal.claim_fault(value jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN jsonb_typeof(value) <> 'object' OR NOT value ?& '{name,value}' OR value - '{name,value}'::text[] <> '{}'
            THEN 'must be an object of name and value'
        WHEN internal.text_fault('{"max_length": 255}', value -> 'name') IS NOT NULL
            THEN 'has a name that ' || internal.text_fault('{"max_length": 255}', value -> 'name')
        WHEN internal.is_reserved_claim(value ->> 'name')
            THEN format('names the claim "%s", which only the broker sets', value ->> 'name')
        WHEN jsonb_typeof(value -> 'value') = 'array' AND value -> 'value' <> '[]'
            THEN (SELECT 'has a value that ' || min(internal.text_fault('{}', one)) FROM jsonb_array_elements(value -> 'value') AS one)
        WHEN internal.text_fault('{}', value -> 'value') IS NOT NULL
            THEN 'has a value that ' || internal.text_fault('{}', value -> 'value') END;
$$;
COMMENT ON FUNCTION internal.claim_fault(jsonb) IS
    'What is wrong with {"name": …, "value": …}, as the end of a sentence; null if nothing is.';

CREATE FUNCTION internal.setting_fault(rule jsonb, value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    kind constant text := jsonb_typeof(value);
    longest constant int := (rule ->> 'max_length')::int;
BEGIN
    IF kind = 'null' THEN
        RETURN 'is null: leave it out instead';
    END IF;
    CASE rule ->> 'is'
    WHEN 'text', 'url' THEN
        RETURN internal.text_fault(rule, value);
    WHEN 'flag' THEN
        RETURN CASE WHEN kind <> 'boolean' THEN format('must be true or false, not %s', internal.a_kind(value)) END;
    WHEN 'list' THEN
        RETURN CASE WHEN kind <> 'array' THEN format('must be a list of texts, not %s', internal.a_kind(value))
                    WHEN value = '[]' THEN 'is an empty list: leave it out instead'
                    WHEN jsonb_array_length(value) > (rule ->> 'max_items')::int
                        THEN format('has %s elements, more than %s', jsonb_array_length(value), rule ->> 'max_items')
                    ELSE (SELECT 'has an element that ' || min(internal.text_fault(rule, one))
                            FROM jsonb_array_elements(value) AS one) END;
    WHEN 'object' THEN
        RETURN CASE WHEN kind <> 'object' THEN format('must be an object, not %s', internal.a_kind(value)) END;
    WHEN 'policy' THEN
        RETURN CASE WHEN kind NOT IN ('object', 'string') OR kind = 'string' AND NOT internal.is_json_object(value #>> '{}')
                        THEN 'must be a policy: a JSON object, or its text'
                    WHEN CASE kind WHEN 'object' THEN internal.compact_length(value) ELSE length(value #>> '{}') END > longest
                        THEN format('is a policy of more than %s characters', longest) END;
    WHEN 'secret' THEN
        RETURN CASE WHEN kind <> 'object' OR NOT value ? 'file' OR value - 'file' <> '{}'
                        THEN 'must not hold the secret itself, which never stands in the database'
                    WHEN jsonb_typeof(value -> 'file') <> 'string'
                         OR value ->> 'file' !~ '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,127}){0,7}$'
                        THEN 'must name a file in the tenant''s secrets directory, without . or .. as a folder' END;
    WHEN 'claim' THEN
        RETURN internal.claim_fault(value);
    WHEN 'claims' THEN
        RETURN CASE WHEN kind <> 'object' THEN format('must be an object of claims, not %s', internal.a_kind(value))
                    ELSE (SELECT format(CASE WHEN internal.is_reserved_claim(name) THEN 'names the claim "%s", which only the broker sets'
                                             ELSE 'has null for the claim "%s"' END, name)
                            FROM jsonb_each(value) AS claim (name, given)
                           WHERE internal.is_reserved_claim(name) OR given = 'null'
                           ORDER BY name COLLATE "C" LIMIT 1) END;
    ELSE
        RETURN format('has a rule of an unknown kind, "%s"', rule ->> 'is');
    END CASE;
END
$$;
COMMENT ON FUNCTION internal.setting_fault(jsonb, jsonb) IS
    'What is wrong with a setting by its rule in broker.provider_type, as the end of a sentence; null if nothing is.';

CREATE FUNCTION internal.write_instead(name text, rule jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN rule ->> 'is' = 'secret'
            THEN format('Write the secret to a file in the tenant''s secrets directory, and "%s": {"file": "its-name"} here.', name)
        WHEN rule ? 'example'
            THEN format('For example "%s": %s.', name,
                        CASE WHEN rule ->> 'is' IN ('text', 'url') THEN to_json(rule ->> 'example')::text
                             WHEN rule ->> 'is' = 'list' THEN format('[%s]', to_json(rule ->> 'example'))
                             ELSE rule ->> 'example' END)
        WHEN rule ? 'default' THEN format('Left out, it is %s.', rule -> 'default')
        WHEN rule ->> 'is' = 'policy'
            THEN format('Write a JSON object of at most %s characters, blanks between its parts not counted.', rule ->> 'max_length')
        WHEN rule ->> 'is' = 'object' THEN format('Write "%s": {…}, or leave it out.', name)
        ELSE format('Write "%s": "…", or leave it out.', name) END;
$$;
COMMENT ON FUNCTION internal.write_instead(text, jsonb) IS 'A hint: what a setting looks like.';

CREATE FUNCTION internal.check_settings(owner text, kind text, rules jsonb, settings jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known constant text[] := ARRAY(SELECT jsonb_object_keys(rules));
    name text;
    rule jsonb;
    fault text;
    lacking text;
BEGIN
    FOR name IN SELECT given FROM jsonb_object_keys(settings) AS given ORDER BY given COLLATE "C" LOOP
        IF rules -> name IS NULL THEN
            PERFORM internal.refuse(format('%s has the setting "%s", which %s does not have.', owner, name, kind),
                                  internal.did_you_mean(name, known, 'It has'));
        END IF;
    END LOOP;
    FOR name, rule IN SELECT r.key, r.value FROM jsonb_each(rules) AS r ORDER BY r.key COLLATE "C" LOOP
        IF settings -> name IS NULL THEN
            IF (rule ->> 'required')::boolean THEN
                PERFORM internal.refuse(format('%s lacks the setting "%s".', owner, name), internal.write_instead(name, rule));
            END IF;
            CONTINUE;
        END IF;
        fault := internal.setting_fault(rule, settings -> name);
        IF fault IS NOT NULL THEN
            PERFORM internal.refuse(format('%s: the setting "%s" %s.', owner, name, fault), internal.write_instead(name, rule));
        END IF;
        SELECT needed INTO lacking
          FROM jsonb_array_elements_text(coalesce(rule -> 'needs' -> (settings ->> name), rule -> 'needs' -> '*')) AS needed
         WHERE NOT settings ? needed LIMIT 1;
        IF FOUND THEN
            PERFORM internal.refuse(format('%s: the setting "%s"%s needs the setting "%s" too.', owner, name,
                                         CASE WHEN rule -> 'needs' ? (settings ->> name)
                                              THEN format(' is "%s", which', settings ->> name) ELSE '' END, lacking),
                                  internal.write_instead(lacking, rules -> lacking));
        END IF;
        SELECT refused INTO lacking FROM jsonb_array_elements_text(rule -> 'refuses' -> (settings ->> name)) AS refused
         WHERE settings ? refused LIMIT 1;
        IF FOUND THEN
            PERFORM internal.refuse(format('%s: the setting "%s" is "%s", which has no use for the setting "%s".',
                                         owner, name, settings ->> name, lacking),
                                  format('Leave out "%s", or choose another "%s".', lacking, name));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_settings(text, text, jsonb, jsonb) IS
    'Refuses settings that the rules of a type don''t allow.';


-- ---------------------------------------------------------------- a key and its access provider

CREATE FUNCTION internal.span_of(shortest int, longest int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN longest IS NULL THEN format('%s seconds and more', shortest)
                ELSE format('%s to %s seconds', shortest, longest) END;
COMMENT ON FUNCTION internal.span_of(int, int) IS 'How long credentials of a type may live, in words.';

CREATE FUNCTION internal.allows_target(allowed_targets text[], target text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT target IS NULL OR EXISTS (SELECT FROM unnest(allowed_targets) AS allowed WHERE internal.glob_matches(allowed, target));
$$;
COMMENT ON FUNCTION internal.allows_target(text[], text) IS
    'Whether one of the globs matches a target; true where there is none. What aims at nothing counts as the empty text.';

-- Called after the row is written and its change recorded. Recording locks the tenant's row, so
-- nobody changes a provider while its key is being checked, or the other way round.
CREATE FUNCTION internal.check_key(checked broker.key) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', checked.name, checked.tenant);
    provider broker.access_provider;
    kind broker.provider_type;
    aim text;
    output record;
BEGIN
    SELECT p.* INTO provider FROM broker.access_provider AS p
     WHERE p.tenant = checked.tenant AND p.name = checked.provider;
    SELECT t.* INTO kind FROM broker.provider_type AS t WHERE t.type = provider.type;
    PERFORM internal.check_settings(owner, format('a key of type %s', kind.type), kind.key_settings, checked.settings);

    FOR output IN SELECT key AS member, value AS field FROM jsonb_each_text(checked.outputs) ORDER BY key COLLATE "C" LOOP
        IF output.field <> ALL (kind.fields) THEN
            PERFORM internal.refuse(
                format('%s: the output "%s" names "%s", which is no field of type %s.', owner, output.member, output.field, kind.type),
                internal.did_you_mean(output.field, kind.fields, 'Its fields'));
        END IF;
    END LOOP;

    IF checked.max_duration < kind.min_duration OR checked.max_duration > kind.max_duration THEN
        PERFORM internal.refuse(
            format('%s: max_duration is %s seconds, and type %s gives credentials for %s.',
                   owner, checked.max_duration, kind.type, internal.span_of(kind.min_duration, kind.max_duration)),
            format('Write %s.', least(greatest(checked.max_duration, kind.min_duration), kind.max_duration)));
    END IF;

    IF NOT checked.settings ?| (kind.target_setting || kind.further_targets)
       AND NOT internal.allows_target(provider.allowed_targets, '') THEN
        PERFORM internal.refuse(
            format('%s names no %s, and access provider "%s" allows only some.', owner,
                   (SELECT string_agg(format('"%s"', name), ' and no ') FROM unnest(kind.target_setting || kind.further_targets) AS name),
                   provider.name),
            format('Its allowed_targets: %s. A platform admin can change them.', array_to_string(provider.allowed_targets, ', ')));
    END IF;
    FOREACH aim IN ARRAY kind.target_setting || kind.further_targets LOOP
        IF NOT internal.allows_target(provider.allowed_targets, checked.settings ->> aim) THEN
            PERFORM internal.refuse(
                format('%s: the setting "%s" is "%s", which access provider "%s" does not allow.',
                       owner, aim, checked.settings ->> aim, provider.name),
                format('Its allowed_targets: %s. A platform admin can change them.', array_to_string(provider.allowed_targets, ', ')));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_key(broker.key) IS
    'Refuses a key that does not fit its access provider: settings, outputs, duration, target.';

CREATE FUNCTION internal.check_grant_duration(checked broker.subject_grant) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('The grant of key "%s" to "%s"', checked.key, checked.subject);
    kind broker.provider_type;
BEGIN
    SELECT t.* INTO kind
      FROM broker.key AS k
      JOIN broker.access_provider AS p ON p.tenant = k.tenant AND p.name = k.provider
      JOIN broker.provider_type AS t ON t.type = p.type
     WHERE k.tenant = checked.tenant AND k.name = checked.key;
    IF checked.max_duration < kind.min_duration THEN
        PERFORM internal.refuse(
            format('%s has a max_duration of %s seconds, and type %s gives credentials for %s.',
                   owner, checked.max_duration, kind.type, internal.span_of(kind.min_duration, kind.max_duration)),
            format('Write %s or more, or null to leave it to the key.', kind.min_duration));
    ELSIF checked.valid_until - checked.valid_from < kind.min_duration * interval '1 second' THEN
        PERFORM internal.refuse(
            format('%s is valid for less than the %s seconds that a credential of type %s lives at least.',
                   owner, kind.min_duration, kind.type),
            'No credential outlives its grant, so this one could never be used. Let valid_until be later.');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_grant_duration(broker.subject_grant) IS
    'Refuses a grant that lasts shorter than the shortest credential of its key.';

-- The issuer of a jwt token is the tenant's, whatever identity provider its client comes from, so
-- the same subject from two of them would be one to whoever reads iss and sub.
CREATE FUNCTION internal.may_be_one(one broker.subject_grant, other broker.subject_grant) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    start constant text := split_part(one.subject, '*', 1);
    other_start constant text := split_part(other.subject, '*', 1);
BEGIN
    RETURN CASE WHEN one.match = 'exact' AND other.match = 'exact' THEN one.subject = other.subject
                WHEN other.match = 'exact' THEN internal.glob_matches(one.subject, other.subject)
                WHEN one.match = 'exact' THEN internal.glob_matches(other.subject, one.subject)
                ELSE starts_with(start, other_start) OR starts_with(other_start, start) END;
END
$$;
COMMENT ON FUNCTION internal.may_be_one(broker.subject_grant, broker.subject_grant) IS
    'Whether a subject could match both grants; of two globs, whether the texts before their first stars could.';

-- Always along the indexes: a plan made while there were few grants would read all of them for each row of a bulk edit.
CREATE FUNCTION internal.other_that_may_be_one(checked broker.subject_grant, other_idp text) RETURNS broker.subject_grant
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
AS $$
DECLARE
    other broker.subject_grant;
BEGIN
    IF checked.match = 'exact' THEN
        SELECT g.* INTO other FROM broker.subject_grant AS g
         WHERE g.tenant = checked.tenant AND g.idp = other_idp AND g.match = 'exact'
           AND hashtextextended(g.subject, 0) = hashtextextended(checked.subject, 0) AND g.subject = checked.subject
           AND internal.gives_tokens_of_the_tenant(g.tenant, g.key) LIMIT 1;
    ELSE
        SELECT g.* INTO other FROM broker.subject_grant AS g
         WHERE g.tenant = checked.tenant AND g.idp = other_idp AND g.match = 'exact'
           AND internal.may_be_one(checked, g) AND internal.gives_tokens_of_the_tenant(g.tenant, g.key) LIMIT 1;
    END IF;
    IF NOT FOUND THEN
        SELECT g.* INTO other FROM broker.subject_grant AS g
         WHERE g.tenant = checked.tenant AND g.idp = other_idp AND g.match = 'glob'
           AND internal.may_be_one(checked, g) AND internal.gives_tokens_of_the_tenant(g.tenant, g.key) LIMIT 1;
    END IF;
    RETURN other;
END
$$;
COMMENT ON FUNCTION internal.other_that_may_be_one(broker.subject_grant, text) IS
    'A grant of another identity provider that a subject could match too, for a token of type jwt; null if there is none.';

CREATE FUNCTION internal.gives_tokens_of_the_tenant(tenant text, key text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.key AS k
                     JOIN broker.access_provider AS p ON p.tenant = k.tenant AND p.name = k.provider
                    WHERE k.tenant = gives_tokens_of_the_tenant.tenant AND k.name = gives_tokens_of_the_tenant.key
                      AND p.type = 'jwt');
END
$$;
COMMENT ON FUNCTION internal.gives_tokens_of_the_tenant(text, text) IS 'Whether a key is of type jwt.';

CREATE FUNCTION internal.check_grant_issuer(checked broker.subject_grant) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    other_idp text;
    other broker.subject_grant;
BEGIN
    IF NOT internal.gives_tokens_of_the_tenant(checked.tenant, checked.key) THEN
        RETURN;
    END IF;
    FOR other_idp IN SELECT i.name FROM broker.identity_provider AS i
                      WHERE i.tenant = checked.tenant AND i.name <> checked.idp ORDER BY i.name LOOP
        other := internal.other_that_may_be_one(checked, other_idp);
        IF other.id IS NOT NULL THEN
            PERFORM internal.refuse(
                format('The grants of key "%s" to "%s" of identity provider "%s" and of key "%s" to "%s" of identity provider "%s" could give two subjects tokens with the same iss and sub.',
                       checked.key, checked.subject, checked.idp, other.key, other.subject, other.idp),
                'Tokens of type jwt have the tenant as issuer and the client''s subject. Grant such keys to subjects that differ, or to one identity provider, or make a tenant for the other.');
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_grant_issuer(broker.subject_grant) IS
    'Refuses a grant with which two identity providers'' subjects would get tokens with the same iss and sub.';

CREATE FUNCTION internal.check_written_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.check_key(NEW);
    IF TG_OP = 'UPDATE' AND OLD.provider <> NEW.provider THEN
        PERFORM internal.check_grant_duration(g) FROM broker.subject_grant AS g
          WHERE g.tenant = NEW.tenant AND g.key = NEW.name AND (g.max_duration IS NOT NULL OR g.valid_until IS NOT NULL);
        PERFORM internal.check_grant_issuer(g) FROM broker.subject_grant AS g
          WHERE g.tenant = NEW.tenant AND g.key = NEW.name;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_written_key() IS 'Trigger: refuses a key that could not work.';

CREATE TRIGGER may_be_minted_with_its_provider AFTER INSERT OR UPDATE ON broker.key
    FOR EACH ROW EXECUTE FUNCTION internal.check_written_key();
ALTER TABLE broker.key ENABLE ALWAYS TRIGGER may_be_minted_with_its_provider;

CREATE FUNCTION internal.check_written_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Access provider "%s" of tenant "%s"', NEW.name, NEW.tenant);
    kind broker.provider_type;
BEGIN
    SELECT t.* INTO kind FROM broker.provider_type AS t WHERE t.type = NEW.type;
    PERFORM internal.check_settings(owner, format('an access provider of type %s', kind.type), kind.provider_settings, NEW.settings);
    IF NEW.shared_identity AND NOT kind.may_share_identity THEN
        PERFORM internal.refuse(format('%s has shared_identity, and type %s shows nobody an identity of the broker''s.', owner, kind.type),
                              'Leave shared_identity false.');
    END IF;
    IF TG_OP = 'UPDATE' AND (OLD.type, OLD.allowed_targets) IS DISTINCT FROM (NEW.type, NEW.allowed_targets) THEN
        PERFORM internal.check_key(k) FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.provider = NEW.name;
        PERFORM internal.check_grant_duration(g)
           FROM broker.key AS k
           JOIN broker.subject_grant AS g ON g.tenant = k.tenant AND g.key = k.name
          WHERE OLD.type <> NEW.type AND k.tenant = NEW.tenant AND k.provider = NEW.name
            AND (g.max_duration IS NOT NULL OR g.valid_until IS NOT NULL);
        PERFORM internal.check_grant_issuer(g)
           FROM broker.key AS k
           JOIN broker.subject_grant AS g ON g.tenant = k.tenant AND g.key = k.name
          WHERE OLD.type <> NEW.type AND k.tenant = NEW.tenant AND k.provider = NEW.name;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_written_provider() IS
    'Trigger: refuses an access provider that could not work, or with which one of its keys could not.';

CREATE TRIGGER may_work_with_its_keys AFTER INSERT OR UPDATE ON broker.access_provider
    FOR EACH ROW EXECUTE FUNCTION internal.check_written_provider();
ALTER TABLE broker.access_provider ENABLE ALWAYS TRIGGER may_work_with_its_keys;

CREATE FUNCTION internal.check_written_grant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NEW.max_duration IS NOT NULL OR NEW.valid_until IS NOT NULL THEN
        PERFORM internal.check_grant_duration(NEW);
    END IF;
    PERFORM internal.check_grant_issuer(NEW);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_written_grant() IS
    'Trigger: refuses a grant that is too short for its key, or whose token could be another''s.';

CREATE TRIGGER may_be_minted_under AFTER INSERT OR UPDATE ON broker.subject_grant
    FOR EACH ROW EXECUTE FUNCTION internal.check_written_grant();
ALTER TABLE broker.subject_grant ENABLE ALWAYS TRIGGER may_be_minted_under;


-- ---------------------------------------------------------------- an identity provider and its issuer

CREATE FUNCTION internal.requires_an_owner(required_claims jsonb, owner_claims text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN EXISTS (
        SELECT FROM jsonb_each(required_claims) AS required (claim, value)
         WHERE claim = ANY (owner_claims)
           AND jsonb_typeof(value) <> 'object'
           AND NOT (jsonb_typeof(value) = 'array' AND jsonb_path_exists(value, '$[*] ? (@.type() == "object")')));
COMMENT ON FUNCTION internal.requires_an_owner(jsonb, text[]) IS
    'Whether at least one of the owner claims must have an exact value, or one of several.';

CREATE FUNCTION internal.check_owner_claims(idp text, issuer text, required_claims jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner_claims text[];
BEGIN
    SELECT s.owner_claims INTO owner_claims FROM broker.shared_issuer AS s WHERE s.issuer = check_owner_claims.issuer;
    IF FOUND AND NOT internal.requires_an_owner(required_claims, owner_claims) THEN
        PERFORM internal.refuse(
            format('Identity provider "%s": the issuer "%s" gives tokens to anybody, and required_claims names no owner by an exact value.', idp, issuer),
            format('Require at least one of %s, for example {"%s": "…"}; a glob does not do.', array_to_string(owner_claims, ', '), owner_claims[1]));
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_owner_claims(text, text, jsonb) IS
    'Refuses an identity provider that would believe every customer of a shared issuer.';

CREATE FUNCTION internal.check_written_identity_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Who lists a shared issuer has this lock alone (internal.record_change), and waits for us or we for them.
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('mintmark: changes without tenant', 0));
    PERFORM internal.check_owner_claims(NEW.name, NEW.issuer, NEW.required_claims);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_written_identity_provider() IS
    'Trigger: an identity provider of a shared issuer says whose tokens it means.';

CREATE TRIGGER names_the_owner AFTER INSERT OR UPDATE ON broker.identity_provider
    FOR EACH ROW EXECUTE FUNCTION internal.check_written_identity_provider();
ALTER TABLE broker.identity_provider ENABLE ALWAYS TRIGGER names_the_owner;

CREATE FUNCTION internal.check_written_shared_issuer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.check_owner_claims(p.name, p.issuer, p.required_claims)
       FROM broker.identity_provider AS p WHERE p.issuer = NEW.issuer;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_written_shared_issuer() IS
    'Trigger: the identity providers that are there must fit a shared issuer too.';

CREATE TRIGGER leaves_no_stranger AFTER INSERT OR UPDATE ON broker.shared_issuer
    FOR EACH ROW EXECUTE FUNCTION internal.check_written_shared_issuer();
ALTER TABLE broker.shared_issuer ENABLE ALWAYS TRIGGER leaves_no_stranger;


-- ---------------------------------------------------------------- how many a tenant may have

-- Counted, since to count anew would read a large tenant's rows at each edit. Each count is a row of a new number and
-- the one before goes: so the last is found at the end of the index, past none of those that one long transaction leaves
-- behind. Whoever changes a tenant's rows holds its lock by then (internal.record_change).
CREATE TABLE runtime.tenant_size (
    tenant text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    keys bigint NOT NULL,
    grants bigint NOT NULL,
    globs bigint NOT NULL,
    CONSTRAINT a_tenant_is_counted_in_turn PRIMARY KEY (tenant, number)
);
COMMENT ON TABLE runtime.tenant_size IS
    'How many keys and grants each tenant has, kept by triggers for the bounds in broker.tenant. Nothing until its first key.';
COMMENT ON COLUMN runtime.tenant_size.tenant IS 'The tenant.';
COMMENT ON COLUMN runtime.tenant_size.number IS 'Counts the counts.';
COMMENT ON COLUMN runtime.tenant_size.keys IS 'Rows in broker.key.';
COMMENT ON COLUMN runtime.tenant_size.grants IS 'Rows in broker.subject_grant.';
COMMENT ON COLUMN runtime.tenant_size.globs IS 'Those of them whose match is glob.';

CREATE FUNCTION internal.refuse_more(tenant text, what text, bound text, target regclass, would_have bigint, may_have int) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.refuse_in(target, 'a_tenant_has_no_more_than_' || bound,
        format('Tenant "%s" would have %s %s%s, and may have %s.', tenant, would_have, what, CASE would_have WHEN 1 THEN '' ELSE 's' END, may_have),
        format('Delete what is not used any more, or let a platform admin raise %1$s: UPDATE broker.tenant SET %1$s = … WHERE name = %2$L;', bound, tenant),
        'check_violation');
END
$$;
COMMENT ON FUNCTION internal.refuse_more(text, text, text, regclass, bigint, int) IS 'Refuses rows beyond a bound of the tenant.';

CREATE FUNCTION internal.count_further(tenant text, further_keys bigint, further_grants bigint, further_globs bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
DECLARE
    may broker.tenant;
    has runtime.tenant_size;
BEGIN
    SELECT t.* INTO may FROM broker.tenant AS t WHERE t.name = count_further.tenant FOR NO KEY UPDATE;
    SELECT s.* INTO has FROM runtime.tenant_size AS s WHERE s.tenant = count_further.tenant
     ORDER BY s.tenant DESC, s.number DESC LIMIT 1;
    IF FOUND THEN
        UPDATE runtime.tenant_size AS s
           SET number = s.number + 1, keys = s.keys + further_keys, grants = s.grants + further_grants, globs = s.globs + further_globs
         WHERE s.tenant = has.tenant AND s.number = has.number
        RETURNING s.* INTO has;
    ELSE
        INSERT INTO runtime.tenant_size (tenant, number, keys, grants, globs)
        VALUES (tenant, 1, further_keys, further_grants, further_globs)
        RETURNING * INTO has;
    END IF;
    IF further_keys > 0 AND has.keys > may.max_keys THEN
        PERFORM internal.refuse_more(tenant, 'key', 'max_keys', 'broker.key', has.keys, may.max_keys);
    ELSIF further_grants > 0 AND has.grants > may.max_grants THEN
        PERFORM internal.refuse_more(tenant, 'grant', 'max_grants', 'broker.subject_grant', has.grants, may.max_grants);
    ELSIF further_globs > 0 AND has.globs > may.max_globs THEN
        PERFORM internal.refuse_more(tenant, 'glob grant', 'max_globs', 'broker.subject_grant', has.globs, may.max_globs);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.count_further(text, bigint, bigint, bigint) IS
    'Adds to what a tenant has, and refuses what is more than it may have. What it had already may stay.';

CREATE FUNCTION internal.count_keys() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM internal.count_further(w.tenant, count(*), 0, 0) FROM written AS w GROUP BY w.tenant ORDER BY w.tenant;
    ELSE
        PERFORM internal.count_further(r.tenant, -count(*), 0, 0) FROM removed AS r GROUP BY r.tenant ORDER BY r.tenant;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_keys() IS 'Trigger: counts the keys of a tenant, and refuses those beyond its bound.';

CREATE FUNCTION internal.count_grants() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM internal.count_further(w.tenant, 0, count(*), count(*) FILTER (WHERE w.match = 'glob'))
           FROM written AS w GROUP BY w.tenant ORDER BY w.tenant;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM internal.count_further(r.tenant, 0, -count(*), -count(*) FILTER (WHERE r.match = 'glob'))
           FROM removed AS r GROUP BY r.tenant ORDER BY r.tenant;
    ELSE
        PERFORM internal.count_further(c.tenant, 0, 0, sum(c.globs)::bigint)
           FROM (SELECT w.tenant, count(*) AS globs FROM written AS w WHERE w.match = 'glob' GROUP BY w.tenant
                 UNION ALL
                 SELECT r.tenant, -count(*) FROM removed AS r WHERE r.match = 'glob' GROUP BY r.tenant) AS c
          GROUP BY c.tenant HAVING sum(c.globs) <> 0 ORDER BY c.tenant;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_grants() IS
    'Trigger: counts the grants and the globs of a tenant, and refuses those beyond its bounds.';

CREATE TRIGGER is_counted AFTER INSERT ON broker.key
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.count_keys();
CREATE TRIGGER is_counted_no_more AFTER DELETE ON broker.key
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION internal.count_keys();
ALTER TABLE broker.key
    ENABLE ALWAYS TRIGGER is_counted,
    ENABLE ALWAYS TRIGGER is_counted_no_more;
CREATE TRIGGER is_counted AFTER INSERT ON broker.subject_grant
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.count_grants();
CREATE TRIGGER is_counted_no_more AFTER DELETE ON broker.subject_grant
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION internal.count_grants();
CREATE TRIGGER is_counted_anew AFTER UPDATE ON broker.subject_grant
    REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.count_grants();
ALTER TABLE broker.subject_grant
    ENABLE ALWAYS TRIGGER is_counted,
    ENABLE ALWAYS TRIGGER is_counted_no_more,
    ENABLE ALWAYS TRIGGER is_counted_anew;

UPDATE runtime.schema_version SET version = 8;
