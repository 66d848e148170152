-- What constraints, row security and missing values refuse is said in a sentence too, with what to write
-- instead, under the code that it had: the constraints stay, and are the guard.

-- ---------------------------------------------------------------- addresses

CREATE OR REPLACE FUNCTION broker.is_url(value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN value ~ ('^(https://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\.?|\[[0-9A-Fa-f:.]+\])'
                 || '|http://(localhost|127(\.(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])){3}|\[::1\]))'
                 || '(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&''()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?(\?([A-Za-z0-9._~!$&''()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$')
       AND coalesce(substring(value FROM '^https?://(?:\[[^]]*\]|[^/:?]*):([0-9]+)')::int, 1) BETWEEN 1 AND 65535;
COMMENT ON FUNCTION broker.is_url(text) IS
    'Whether a text is an https address, or an http address on a loopback host, without user, password and fragment.';


-- ---------------------------------------------------------------- what is missing

CREATE FUNCTION broker.say_what_is_missing() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    written constant jsonb := to_jsonb(NEW);
    needed text;
BEGIN
    FOREACH needed IN ARRAY TG_ARGV LOOP
        IF written -> needed = 'null' THEN
            RAISE EXCEPTION 'A row of broker.% needs "%", which is missing or null.', TG_TABLE_NAME, needed
                USING ERRCODE = 'not_null_violation',
                      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, COLUMN = needed,
                      HINT = (SELECT format('"%s": %s', needed, col_description(a.attrelid, a.attnum))
                              || CASE WHEN a.atthasdef THEN ' It has a default: leave it out.' ELSE '' END
                                FROM pg_attribute AS a WHERE a.attrelid = TG_RELID AND a.attname = needed);
        END IF;
    END LOOP;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION broker.say_what_is_missing() IS
    'Trigger: says what a column is for that is null and must not be. Arguments: those columns.';

DO $$
DECLARE
    target record;
BEGIN
    FOR target IN
        SELECT a.attrelid::regclass AS name, string_agg(quote_literal(a.attname), ', ' ORDER BY a.attnum) AS needed
          FROM pg_attribute AS a
         WHERE a.attrelid IN ('broker.tenant'::regclass, 'broker.tenant_admin'::regclass, 'broker.shared_issuer'::regclass,
                              'broker.identity_provider'::regclass, 'broker.access_provider'::regclass,
                              'broker.key'::regclass, 'broker.subject_grant'::regclass)
           AND a.attnum > 0 AND a.attnotnull AND a.attidentity = ''
           AND a.attname NOT IN ('external_id', 'created_at', 'created_by', 'updated_at', 'updated_by')
         GROUP BY a.attrelid
    LOOP
        EXECUTE format('CREATE TRIGGER has_what_it_needs BEFORE INSERT OR UPDATE ON %s
                        FOR EACH ROW EXECUTE FUNCTION broker.say_what_is_missing(%s)', target.name, target.needed);
    END LOOP;
END
$$;


-- ---------------------------------------------------------------- whose rows one may write

-- Looks at the login and at the row alone, so the answer is the same whether the other tenant exists or not.
CREATE FUNCTION broker.say_whose_rows_are_yours() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mine text[];
BEGIN
    IF row_security_active(TG_RELID) AND NOT pg_has_role('${admin_role}', 'USAGE') THEN
        mine := broker.tenants_of_login();
        IF NEW.tenant <> ALL (mine) THEN
            RAISE EXCEPTION 'Login "%" administers %, and cannot write rows of tenant "%".', session_user,
                            CASE cardinality(mine) WHEN 0 THEN 'no tenant'
                                 WHEN 1 THEN format('tenant "%s"', mine[1])
                                 ELSE format('tenants "%s"', array_to_string(mine, '", "')) END,
                            NEW.tenant
                USING ERRCODE = 'insufficient_privilege', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME,
                      HINT = 'Who administers which tenant is in broker.tenant_admin, which platform admins write.';
        END IF;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION broker.say_whose_rows_are_yours() IS
    'Trigger: says in a sentence what row-level security would refuse.';

CREATE TRIGGER belongs_to_its_writer BEFORE INSERT OR UPDATE ON broker.key
    FOR EACH ROW EXECUTE FUNCTION broker.say_whose_rows_are_yours();
CREATE TRIGGER belongs_to_its_writer BEFORE INSERT OR UPDATE ON broker.subject_grant
    FOR EACH ROW EXECUTE FUNCTION broker.say_whose_rows_are_yours();


-- ---------------------------------------------------------------- references

-- These triggers run after the statement, as the checks of foreign keys do, so that one statement may write
-- both rows; and before those checks, because triggers run in the order of their names and those of foreign
-- keys are called RI_…. They look as the writer, so they tell nobody of rows that she may not see: to her
-- they aren't there. What they miss, the foreign key refuses.

CREATE FUNCTION broker.refuse_reference(target regclass, rule text, message text, hint text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '%', message
        USING ERRCODE = 'foreign_key_violation', HINT = hint, CONSTRAINT = rule,
              SCHEMA = (SELECT c.relnamespace::regnamespace FROM pg_class AS c WHERE c.oid = target),
              TABLE = (SELECT c.relname FROM pg_class AS c WHERE c.oid = target);
END
$$;
COMMENT ON FUNCTION broker.refuse_reference(regclass, text, text, text) IS
    'Ends the statement as the foreign key of that name would, with a sentence and a hint.';

CREATE FUNCTION broker.there_are(written text, known text[], what text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT broker.did_you_mean(written, ARRAY(SELECT name FROM unnest(known) AS name
                                               ORDER BY broker.common_start(name, written) DESC, name COLLATE "C" LIMIT 20),
                               what || CASE WHEN cardinality(known) > 20 THEN ', among others' ELSE '' END);
$$;
COMMENT ON FUNCTION broker.there_are(text, text[], text) IS
    'A hint: the nearest known name, if one is near, and up to twenty of them, those first that begin most like what was written.';

CREATE FUNCTION broker.say_which_tenants_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = NEW.tenant) THEN
        PERFORM broker.refuse_reference(TG_RELID, 'the_tenant_exists',
            format('There is no tenant "%s".', NEW.tenant),
            broker.there_are(NEW.tenant, ARRAY(SELECT t.name FROM broker.tenant AS t), 'There are'));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.say_which_tenants_there_are() IS 'Trigger: says which tenants a row could belong to.';

CREATE TRIGGER "FK_names_a_tenant" AFTER INSERT OR UPDATE OF tenant ON broker.tenant_admin
    FOR EACH ROW EXECUTE FUNCTION broker.say_which_tenants_there_are();
CREATE TRIGGER "FK_names_a_tenant" AFTER INSERT OR UPDATE OF tenant ON broker.identity_provider
    FOR EACH ROW EXECUTE FUNCTION broker.say_which_tenants_there_are();
CREATE TRIGGER "FK_names_a_tenant" AFTER INSERT OR UPDATE OF tenant ON broker.access_provider
    FOR EACH ROW EXECUTE FUNCTION broker.say_which_tenants_there_are();

CREATE FUNCTION broker.say_which_types_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.provider_type AS t WHERE t.type = NEW.type) THEN
        PERFORM broker.refuse_reference(TG_RELID, 'the_provider_type_exists',
            format('Access provider "%s" of tenant "%s" has the type "%s", which there is not.', NEW.name, NEW.tenant, NEW.type),
            broker.there_are(NEW.type, ARRAY(SELECT t.type FROM broker.provider_type AS t), 'There are'));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.say_which_types_there_are() IS 'Trigger: says which types of access providers there are.';

CREATE TRIGGER "FK_names_a_type" AFTER INSERT OR UPDATE OF type ON broker.access_provider
    FOR EACH ROW EXECUTE FUNCTION broker.say_which_types_there_are();

CREATE FUNCTION broker.refuse_stranger(target regclass, rule text, tenant text, what text, name text, known text[], elsewhere text)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = refuse_stranger.tenant) THEN
        PERFORM broker.refuse_reference(target, rule, format('There is no tenant "%s".', tenant),
            broker.there_are(tenant, ARRAY(SELECT t.name FROM broker.tenant AS t), 'There are'));
    END IF;
    PERFORM broker.refuse_reference(target, rule, format('Tenant "%s" has no %s "%s".', tenant, what, name),
        broker.there_are(name, known, 'It has')
        || coalesce(format(' Tenant "%s" has one of that name, but a row names only what its own tenant has.', elsewhere), ''));
END
$$;
COMMENT ON FUNCTION broker.refuse_stranger(regclass, text, text, text, text, text[], text) IS
    'Refuses a reference to what the tenant does not have; elsewhere: another tenant that has one of that name, if the writer may see it.';

CREATE FUNCTION broker.say_which_access_providers_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.access_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.provider) THEN
        PERFORM broker.refuse_stranger(TG_RELID, 'the_access_provider_exists_in_the_same_tenant',
            NEW.tenant, 'access provider', NEW.provider,
            ARRAY(SELECT p.name FROM broker.access_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT min(p.tenant) FROM broker.access_provider AS p WHERE p.name = NEW.provider));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.say_which_access_providers_there_are() IS
    'Trigger: says which access providers a key could name.';

CREATE TRIGGER "FK_names_an_access_provider" AFTER INSERT OR UPDATE OF tenant, provider ON broker.key
    FOR EACH ROW EXECUTE FUNCTION broker.say_which_access_providers_there_are();

CREATE FUNCTION broker.say_which_subjects_and_keys_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.idp) THEN
        PERFORM broker.refuse_stranger(TG_RELID, 'the_identity_provider_exists_in_the_same_tenant',
            NEW.tenant, 'identity provider', NEW.idp,
            ARRAY(SELECT p.name FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT p.tenant FROM broker.identity_provider AS p WHERE p.name = NEW.idp));
    ELSIF NOT EXISTS (SELECT FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.name = NEW.key) THEN
        PERFORM broker.refuse_stranger(TG_RELID, 'the_key_exists_in_the_same_tenant',
            NEW.tenant, 'key', NEW.key,
            ARRAY(SELECT k.name FROM broker.key AS k WHERE k.tenant = NEW.tenant),
            (SELECT min(k.tenant) FROM broker.key AS k WHERE k.name = NEW.key));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.say_which_subjects_and_keys_there_are() IS
    'Trigger: says which identity providers and keys a grant could name.';

CREATE TRIGGER "FK_names_an_identity_provider_and_a_key" AFTER INSERT OR UPDATE OF tenant, idp, key ON broker.subject_grant
    FOR EACH ROW EXECUTE FUNCTION broker.say_which_subjects_and_keys_there_are();

CREATE FUNCTION broker.say_what_names_it() RETURNS trigger
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
        RAISE EXCEPTION '% is named by % and cannot be %.', owner,
                        format('%s %s%s', count, named_by, CASE WHEN count > 1 THEN 's' ELSE '' END),
                        CASE TG_OP WHEN 'DELETE' THEN 'deleted' ELSE 'renamed' END
            USING ERRCODE = 'restrict_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME,
                  HINT = CASE TG_OP WHEN 'DELETE'
                         THEN format('To put an end to its use: UPDATE broker.%I SET enabled = false WHERE tenant = %L AND name = %L; or delete its %ss first.',
                                     TG_TABLE_NAME, OLD.tenant, OLD.name, named_by)
                         ELSE format('Insert a row of the new name, let its %ss name that, and delete this one.', named_by) END;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.say_what_names_it() IS 'Trigger: says what still refers to a row that is to go.';

CREATE TRIGGER "FK_is_named_by_none_that_goes" AFTER DELETE ON broker.identity_provider
    FOR EACH ROW EXECUTE FUNCTION broker.say_what_names_it();
CREATE TRIGGER "FK_is_named_by_none_when_renamed" AFTER UPDATE OF name ON broker.identity_provider
    FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION broker.say_what_names_it();
CREATE TRIGGER "FK_is_named_by_none_that_goes" AFTER DELETE ON broker.key
    FOR EACH ROW EXECUTE FUNCTION broker.say_what_names_it();
CREATE TRIGGER "FK_is_named_by_none_when_renamed" AFTER UPDATE OF name ON broker.key
    FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION broker.say_what_names_it();
CREATE TRIGGER "FK_is_named_by_none_that_goes" AFTER DELETE ON broker.access_provider
    FOR EACH ROW EXECUTE FUNCTION broker.say_what_names_it();
CREATE TRIGGER "FK_is_named_by_none_when_renamed" AFTER UPDATE OF name ON broker.access_provider
    FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION broker.say_what_names_it();


-- ---------------------------------------------------------------- the form of values

CREATE FUNCTION broker.line_fault(value text, longest int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN value IS NULL OR broker.is_line(value, longest) THEN NULL
                WHEN value = '' THEN 'is empty'
                WHEN length(value) > longest THEN format('has %s characters, more than %s', length(value), longest)
                ELSE 'has control characters' END;
$$;
COMMENT ON FUNCTION broker.line_fault(text, int) IS
    'What is wrong with a line of text, as the end of a sentence; null if nothing is.';

CREATE FUNCTION broker.list_fault(list text[], longest int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN list IS NULL OR broker.is_list(list, longest) THEN NULL
                WHEN cardinality(list) = 0 THEN 'is empty'
                WHEN array_ndims(list) > 1 THEN 'is a list of lists'
                WHEN array_position(list, NULL) IS NOT NULL THEN 'has an element that is null'
                ELSE coalesce((SELECT format('has an element that %s', broker.line_fault(item, longest))
                                 FROM unnest(list) AS item WHERE broker.line_fault(item, longest) IS NOT NULL LIMIT 1),
                              (SELECT format('has "%s" twice', item) FROM unnest(list) AS item
                                GROUP BY item HAVING count(*) > 1 ORDER BY item COLLATE "C" LIMIT 1)) END;
$$;
COMMENT ON FUNCTION broker.list_fault(text[], int) IS
    'What is wrong with a list of texts, as the end of a sentence; null if nothing is.';

CREATE FUNCTION broker.say_what_is_wrong_with_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NEW.name !~ '^[a-z][a-z0-9-]{0,39}$' THEN
        PERFORM broker.refuse(format('"%s" is no name for a tenant.', NEW.name),
            'A lower-case letter, then up to 39 lower-case letters, digits and hyphens, for example "acme". What people read goes into display_name.');
    ELSIF broker.line_fault(NEW.display_name, 200) IS NOT NULL THEN
        PERFORM broker.refuse(format('Tenant "%s": its display_name %s.', NEW.name, broker.line_fault(NEW.display_name, 200)),
                              'Write one line, or null.');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION broker.say_what_is_wrong_with_tenant() IS
    'Trigger: says in a sentence what is wrong with a tenant by itself.';

CREATE TRIGGER says_what_is_wrong BEFORE INSERT OR UPDATE ON broker.tenant
    FOR EACH ROW EXECUTE FUNCTION broker.say_what_is_wrong_with_tenant();
ALTER TABLE broker.tenant ENABLE ALWAYS TRIGGER says_what_is_wrong;

CREATE FUNCTION broker.say_what_is_wrong_with_tenant_admin() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF octet_length(NEW.role_name) NOT BETWEEN 1 AND 63 THEN
        PERFORM broker.refuse(format('A login''s name has 1 to 63 bytes, not %s.', octet_length(NEW.role_name)),
                              'Write the login as PostgreSQL spells it: SELECT rolname FROM pg_roles.');
    ELSIF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = NEW.role_name) THEN
        RAISE WARNING 'There is no login "%" yet.', NEW.role_name
            USING HINT = format('Until a DBA makes it (CREATE ROLE %I LOGIN … IN ROLE %I), the row is without effect.',
                                NEW.role_name, '${tenant_admin_role}');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION broker.say_what_is_wrong_with_tenant_admin() IS
    'Trigger: says in a sentence what is wrong with the name of a tenant''s admin.';

CREATE TRIGGER says_what_is_wrong BEFORE INSERT OR UPDATE ON broker.tenant_admin
    FOR EACH ROW EXECUTE FUNCTION broker.say_what_is_wrong_with_tenant_admin();
ALTER TABLE broker.tenant_admin ENABLE ALWAYS TRIGGER says_what_is_wrong;

CREATE FUNCTION broker.say_what_is_wrong_with_shared_issuer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT broker.is_url(NEW.issuer) OR NEW.issuer ~ '[?]' THEN
        PERFORM broker.refuse(format('The shared issuer "%s" is no https address without a query.', NEW.issuer),
                              'Write the iss claim of its tokens as it is, for example "https://token.actions.githubusercontent.com".');
    ELSIF broker.list_fault(NEW.owner_claims, 255) IS NOT NULL THEN
        PERFORM broker.refuse(format('Shared issuer "%s": owner_claims %s.', NEW.issuer, broker.list_fault(NEW.owner_claims, 255)),
                              'List the claims that say whose token it is, for example ''{repository_owner_id,repository_id}''.');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION broker.say_what_is_wrong_with_shared_issuer() IS
    'Trigger: says in a sentence what is wrong with a shared issuer by itself.';

CREATE TRIGGER says_what_is_wrong BEFORE INSERT OR UPDATE ON broker.shared_issuer
    FOR EACH ROW EXECUTE FUNCTION broker.say_what_is_wrong_with_shared_issuer();
ALTER TABLE broker.shared_issuer ENABLE ALWAYS TRIGGER says_what_is_wrong;

CREATE FUNCTION broker.jwks_fault(jwks jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN jwks IS NULL THEN NULL
        WHEN NOT coalesce(jsonb_path_exists(jwks, 'strict $.keys[0].kty', silent => true), false)
            THEN 'is no key set, {"keys": [{"kty": …}]}'
        WHEN jsonb_path_exists(jwks, '$.keys[*] ? (exists (@.d) || exists (@.k))')
            THEN 'holds a private or secret key'
        WHEN NOT jsonb_path_exists(jwks, '$.keys[*] ? (@.kty == "RSA" && exists (@.n) && exists (@.e)
                                         || @.kty == "EC" && exists (@.crv) && exists (@.x) && exists (@.y)
                                         || @.kty == "OKP" && exists (@.crv) && exists (@.x))')
            THEN 'has no key that a signature could be verified with' END;
$$;
COMMENT ON FUNCTION broker.jwks_fault(jsonb) IS
    'What is wrong with an identity provider''s own key set, as the end of a sentence; null if nothing is.';

CREATE OR REPLACE FUNCTION broker.say_what_is_wrong_with_identity_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known constant text[] := '{RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA}';
    owner constant text := format('Identity provider "%s"', NEW.name);
    wrong text;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM broker.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.name !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        PERFORM broker.refuse(format('"%s" is no name for an identity provider.', NEW.name),
                              'A letter, then up to 63 letters, digits, _, . and -.');
    ELSIF NOT broker.is_url(NEW.issuer) THEN
        PERFORM broker.refuse(format('%s: the issuer "%s" is no https address.', owner, NEW.issuer),
            'Write the iss claim of its tokens as it is, for example "https://token.actions.githubusercontent.com". Plain http is for localhost only.');
    ELSIF NEW.issuer ~ '[?]' OR length(NEW.issuer) > 255 THEN
        PERFORM broker.refuse(format('%s: the issuer "%s" has a query or more than 255 characters.', owner, NEW.issuer),
                              'Write the iss claim of its tokens as it is. An issuer has no query (OpenID Connect Discovery).');
    ELSIF NOT broker.is_url(NEW.jwks_uri) THEN
        PERFORM broker.refuse(format('%s: the jwks_uri "%s" is no https address.', owner, NEW.jwks_uri),
            'Plain http is for localhost only. For an issuer that cannot be reached write its key set into jwks.');
    END IF;

    wrong := broker.list_fault(NEW.audiences, 512);
    IF wrong IS NOT NULL THEN
        PERFORM broker.refuse(format('%s: audiences %s.', owner, wrong),
                              'List what its tokens have in aud for this broker, for example ''{mintmark-acme}''.');
    END IF;
    wrong := broker.jwks_fault(NEW.jwks);
    IF wrong IS NOT NULL THEN
        PERFORM broker.refuse(format('%s: jwks %s.', owner, wrong),
                              'Write the key set as the issuer publishes it, public keys only: kty, kid and n, e (RSA) or crv, x, y (EC).');
    ELSIF NEW.ca_certificate !~ '^\s*-----BEGIN CERTIFICATE-----' OR NEW.ca_certificate ~ 'PRIVATE KEY' THEN
        PERFORM broker.refuse(format('%s: ca_certificate is no PEM of certificates alone.', owner),
                              'It begins with -----BEGIN CERTIFICATE----- and holds no private key: the authorities to trust when fetching the keys.');
    END IF;

    SELECT algorithm INTO wrong FROM unnest(NEW.algorithms) AS algorithm WHERE algorithm <> ALL (known) LIMIT 1;
    IF FOUND THEN
        PERFORM broker.refuse(format('%s: the algorithm "%s" is not accepted.', owner, wrong),
                              broker.did_you_mean(wrong, known, 'There are'));
    END IF;
    wrong := broker.list_fault(NEW.algorithms, 5);
    IF wrong IS NOT NULL THEN
        PERFORM broker.refuse(format('%s: algorithms %s.', owner, wrong), 'For example ''{RS256,ES256}'', which it is when left out.');
    END IF;

    wrong := broker.claims_fault(NEW.required_claims);
    IF wrong IS NOT NULL THEN
        PERFORM broker.refuse(format('%s: in its required_claims, %s.', owner, wrong), broker.claims_hint());
    ELSIF NEW.clock_skew NOT BETWEEN 0 AND 3600 THEN
        PERFORM broker.refuse(format('%s has a clock_skew of %s seconds.', owner, NEW.clock_skew), 'Write 0 to 3600.');
    ELSIF NEW.max_token_age <= 0 THEN
        PERFORM broker.refuse(format('%s has a max_token_age of %s seconds.', owner, NEW.max_token_age),
                              'Write a positive number, or null where only exp shall count.');
    ELSIF NEW.one_time_tokens AND NEW.max_token_age IS NULL THEN
        PERFORM broker.refuse(format('%s has one_time_tokens without a max_token_age.', owner),
                              'Say how old a token may be, in seconds: used ones are remembered for so long. For example max_token_age = 600.');
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION broker.say_what_is_wrong_with_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Access provider "%s" of tenant "%s"', NEW.name, NEW.tenant);
    example constant text := '"arn:aws:iam::123456789012:role/ci-*"';
    wrong text;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM broker.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.name !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        PERFORM broker.refuse(format('"%s" is no name for an access provider.', NEW.name),
                              'A letter, then up to 63 letters, digits, _, . and -.');
    ELSIF jsonb_typeof(NEW.settings) <> 'object' THEN
        PERFORM broker.refuse(format('%s: settings are %s, and must be an object.', owner, broker.a_kind(NEW.settings)),
                              'For example {"region": "eu-central-1"}. What a type takes: SELECT provider_settings FROM broker.provider_type.');
    END IF;

    wrong := broker.list_fault(NEW.allowed_targets, 2048);
    IF wrong IS NOT NULL THEN
        PERFORM broker.refuse(format('%s: allowed_targets %s.', owner, wrong),
                              format('List what keys may name, for example %s. ** alone allows everything.', example));
    END IF;
    SELECT item INTO wrong FROM unnest(NEW.allowed_targets) AS item
     WHERE NOT coalesce(broker.is_glob_list(ARRAY[item]), false) LIMIT 1;
    IF FOUND THEN
        PERFORM broker.refuse(format('%s: "%s" in allowed_targets does not start with a literal segment.', owner, wrong),
            format('The text up to the first : or / must be without *, for example %s. ** alone allows everything.', example));
    ELSIF NEW.settings ->> 'auth' = 'ambient' AND NEW.type = 'aws-sts' AND NOT NEW.shared_identity THEN
        PERFORM broker.refuse(format('%s uses auth "ambient", in which all tenants look alike to AWS, without shared_identity.', owner),
            'Set shared_identity = true and list in allowed_targets the roles that are this tenant''s.');
    ELSIF NEW.shared_identity AND '**' = ANY (NEW.allowed_targets) THEN
        PERFORM broker.refuse(format('%s has shared_identity, in which all tenants look alike, and allows all targets (**).', owner),
            'List in allowed_targets what is this tenant''s: nothing else keeps tenants apart here.');
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION broker.say_what_is_wrong_with_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', NEW.name, NEW.tenant);
    example constant text := 'Member name first, then the field, for example {"AWS_ACCESS_KEY_ID": "AccessKeyId"}.';
    wrong record;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM broker.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.name !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        PERFORM broker.refuse(format('"%s" is no name for a key.', NEW.name),
                              'A letter, then up to 63 letters, digits, _, . and -.');
    ELSIF NEW.max_duration <= 0 THEN
        PERFORM broker.refuse(format('%s has a max_duration of %s seconds.', owner, NEW.max_duration), 'Write a positive number.');
    ELSIF jsonb_typeof(NEW.settings) <> 'object' THEN
        PERFORM broker.refuse(format('%s: settings are %s, and must be an object.', owner, broker.a_kind(NEW.settings)),
                              'For example {"audience": "https://api.example.com"}. What a type takes: SELECT key_settings FROM broker.provider_type.');
    ELSIF jsonb_typeof(NEW.outputs) <> 'object' THEN
        PERFORM broker.refuse(format('%s: outputs are %s, and must be an object.', owner, broker.a_kind(NEW.outputs)), example);
    END IF;
    FOR wrong IN SELECT key AS member, value AS field FROM jsonb_each(NEW.outputs) LOOP
        IF wrong.member !~ '^[A-Za-z_][A-Za-z0-9_]*$' THEN
            PERFORM broker.refuse(format('%s: "%s" is no name for an output.', owner, wrong.member),
                                  'Letters, digits and _, no digit first, for example {"AWS_ACCESS_KEY_ID": "AccessKeyId"}.');
        ELSIF jsonb_typeof(wrong.field) <> 'string' THEN
            PERFORM broker.refuse(format('%s: the output "%s" must name a field, not hold %s.', owner, wrong.member, broker.a_kind(wrong.field)),
                                  example);
        END IF;
    END LOOP;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION broker.say_what_is_wrong_with_grant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('The grant of key "%s" to "%s"', NEW.key, NEW.subject);
    fault text := broker.line_fault(NEW.subject, 1024);
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM broker.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF fault IS NOT NULL THEN
        PERFORM broker.refuse(format('The grant of key "%s" has a subject that %s.', NEW.key, fault),
                              'Write the sub claim of the tokens as it is, for example "repo:acme/app:ref:refs/heads/main".');
    ELSIF NEW.match NOT IN ('exact', 'glob') THEN
        PERFORM broker.refuse(format('%s has match "%s", and there are exact and glob.', owner, NEW.match),
                              'exact compares the subject to the character; in a glob * stays within a segment, ** does not.');
    ELSIF NEW.match = 'glob' AND NEW.subject !~ '^[^*:/]+([:/]|$)' THEN
        PERFORM broker.refuse(format('%s is a glob that does not start with a literal segment.', owner),
            'The text up to the first : or / must be without *, for example "repo:acme/app:*".');
    ELSIF NEW.valid_until <= NEW.valid_from THEN
        PERFORM broker.refuse(format('%s ends (valid_until %s) before it starts (valid_from %s).', owner, NEW.valid_until, NEW.valid_from),
                              'Let valid_until be later; null is without end.');
    ELSIF NOT isfinite(NEW.valid_until) OR NOT isfinite(NEW.valid_from) THEN
        PERFORM broker.refuse(format('%s has a window to infinity.', owner), 'A grant without an end has null in valid_until.');
    ELSIF NEW.max_duration <= 0 THEN
        PERFORM broker.refuse(format('%s has a max_duration of %s seconds.', owner, NEW.max_duration),
                              'Write a positive number, or null to leave it to the key.');
    END IF;
    fault := broker.claims_fault(NEW.claims);
    IF fault IS NOT NULL THEN
        PERFORM broker.refuse(format('%s: in its claims, %s.', owner, fault), broker.claims_hint());
    END IF;
    RETURN NEW;
END
$$;
