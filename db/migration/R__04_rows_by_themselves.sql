-- What is wrong with a row by itself is refused when it is written: in a sentence, with what to write instead, under the
-- code that the constraint would have given. The constraints stay, and are the guard.

-- ---------------------------------------------------------------- what is missing

CREATE OR REPLACE FUNCTION internal.say_what_is_missing() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    written constant jsonb := to_jsonb(NEW);
    needed text;
BEGIN
    FOREACH needed IN ARRAY TG_ARGV LOOP
        IF written -> needed = 'null' THEN
            PERFORM internal.refuse_in(TG_RELID, '',
                format('A row of broker.%s needs "%s", which is missing or null.', TG_TABLE_NAME, needed),
                (SELECT format('"%s": %s', needed, col_description(a.attrelid, a.attnum))
                        || CASE WHEN a.atthasdef THEN ' Omit the column to use its default.' ELSE '' END
                   FROM pg_attribute AS a WHERE a.attrelid = TG_RELID AND a.attname = needed),
                'not_null_violation', needed, written);
        END IF;
    END LOOP;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_missing() IS
    'Trigger: rejects null in required columns, with the column''s meaning. Arguments: the columns.';

-- ---------------------------------------------------------------- secrets

CREATE OR REPLACE FUNCTION internal.refuse_secrets() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
DECLARE
    name text;
    value text;
    found text;
BEGIN
    FOREACH name IN ARRAY TG_ARGV LOOP
        value := to_jsonb(NEW) ->> name;
        -- To search for a part of each form is cheap. To compile all of them would cost each session 5 ms of CPU.
        found := (SELECT substring(value FROM s.form) FROM (VALUES
                 ('AKIA', 'AKIA[A-Z0-9]{16}'), ('ASIA', 'ASIA[A-Z0-9]{16}'), ('gh', 'gh[opsru]_[A-Za-z0-9]{36}'),
                 ('github_pat_', 'github_pat_[A-Za-z0-9_]{22}'), ('glpat-', 'glpat-[A-Za-z0-9_-]{20}'), ('xox', 'xox[abeoprs]-[A-Za-z0-9-]{10}'),
                 ('eyJ', 'eyJ[A-Za-z0-9_-]{10,}[.]eyJ[A-Za-z0-9_-]{10,}[.]'), ('AIza', 'AIza[A-Za-z0-9_-]{35}'),
                 ('ya29.', 'ya29[.][A-Za-z0-9_-]{20}'), ('k_live_', '[rs]k_live_[A-Za-z0-9]{20}'), ('npm_', 'npm_[A-Za-z0-9]{36}'),
                 ('hv', 'hv[sb][.][A-Za-z0-9_-]{24}'), ('PRIVATE KEY', '-----BEGIN [A-Z ]*PRIVATE KEY'),
                 ('sk-', '\msk-(?:ant-|proj-)?[A-Za-z0-9_-]{20}'), ('dckr_pat_', 'dckr_pat_[A-Za-z0-9_-]{20}'),
                 ('pypi-AgE', 'pypi-AgE[A-Za-z0-9_-]{20}'), ('SG.', 'SG[.][A-Za-z0-9_-]{16,}[.]'),
                 ('AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-1[A-Z0-9]{20}'), ('AccountKey=', 'AccountKey=[A-Za-z0-9+/=]{20}'),
                 ('://', '[a-z]://[^[:space:]/:@]+:[^[:space:]/@]+@')) AS s (part, form)
                   -- URLs in settings have a check of their own
                   WHERE strpos(value, s.part) > 0 AND value ~ s.form AND NOT (name = 'settings' AND s.part = '://') LIMIT 1);
        IF found IS NOT NULL THEN
            PERFORM internal.refuse_in(TG_RELID, 'secret_in_text',
                format('%s in broker.%s contains what looks like a token or a key ("%s…").', name, TG_TABLE_NAME, left(found, 5)),
                'Secrets are not stored in the database. Remove it, and revoke it if it is real.', 'check_violation',
                refused => to_jsonb(NEW) - TG_ARGV);
        END IF;
    END LOOP;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.refuse_secrets() IS
    'Trigger: rejects known forms of tokens and keys in columns. Arguments: the columns.';

-- ---------------------------------------------------------------- the form of values

CREATE OR REPLACE FUNCTION internal.line_fault(value text, longest int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN value IS NULL OR internal.is_line(value, longest) THEN NULL
                WHEN value = '' THEN 'is empty'
                WHEN length(value) > longest THEN format('has %s characters, more than %s', length(value), longest)
                ELSE 'has control characters' END;
$$;
COMMENT ON FUNCTION internal.line_fault(text, int) IS
    'The fault of a line of text, as the end of a sentence; null if there is none.';

CREATE OR REPLACE FUNCTION internal.list_fault(list text[], longest int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN list IS NULL OR internal.is_list(list, longest) THEN NULL
                WHEN cardinality(list) = 0 THEN 'is empty'
                WHEN cardinality(list) > 1000 THEN format('has %s elements, more than 1000', cardinality(list))
                WHEN array_ndims(list) > 1 THEN 'is a list of lists'
                WHEN array_position(list, NULL) IS NOT NULL THEN 'has an element that is null'
                ELSE coalesce((SELECT format('has an element that %s', internal.line_fault(item, longest))
                                 FROM unnest(list) AS item WHERE internal.line_fault(item, longest) IS NOT NULL LIMIT 1),
                              (SELECT format('has "%s" twice', item) FROM unnest(list) AS item
                                GROUP BY item HAVING count(*) > 1 ORDER BY item COLLATE "C" LIMIT 1)) END;
$$;
COMMENT ON FUNCTION internal.list_fault(text[], int) IS
    'The fault of a list of strings, as the end of a sentence; null if there is none.';

CREATE OR REPLACE FUNCTION internal.refuse_move(what text, old_tenant text, new_tenant text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF old_tenant <> new_tenant THEN
        PERFORM internal.refuse(format('A row of broker.%s cannot be moved from "%s" to "%s".',
                                     what, old_tenant, new_tenant),
                              'Insert a new row for the other tenant, and delete this one.');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_move(text, text, text) IS 'Rejects moving a row to another tenant, before foreign keys do.';

CREATE OR REPLACE FUNCTION internal.say_what_has_too_many_values() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    written constant jsonb := to_jsonb(NEW);
    json text;
    fault text;
BEGIN
    FOREACH json IN ARRAY TG_ARGV LOOP
        fault := internal.values_fault(written -> json);
        IF fault IS NOT NULL THEN
            PERFORM internal.refuse_in(TG_RELID, json || '_have_up_to_256_values_in_8_levels',
                CASE TG_TABLE_NAME
                    WHEN 'subject_grant' THEN format('The grant of key "%s" to "%s": its %s %s.', written ->> 'key', written ->> 'subject', json, fault)
                    WHEN 'identity_provider' THEN format('Identity provider "%s": its %s %s.', written ->> 'name', json, fault)
                    WHEN 'access_provider' THEN format('Access provider "%s" of tenant "%s": its %s %s.', written ->> 'name', written ->> 'tenant', json, fault)
                    ELSE format('Key "%s" of tenant "%s": its %s %s.', written ->> 'name', written ->> 'tenant', json, fault) END,
                CASE json WHEN 'settings' THEN 'Shorten them, or divide them between two rows. A policy written as one string counts once.'
                          WHEN 'outputs' THEN 'Name only the outputs that clients read.'
                          ELSE 'Divide the values between two rows, or let a glob match several.' END,
                'check_violation');
        END IF;
    END LOOP;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_has_too_many_values() IS
    'Trigger: rejects JSON with too many values or levels. Arguments: the columns.';

-- ---------------------------------------------------------------- conditions on claims

CREATE OR REPLACE FUNCTION internal.is_condition(condition jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE jsonb_typeof(condition)
               WHEN 'string' THEN true
               WHEN 'boolean' THEN true
               -- what a double can hold
               WHEN 'number' THEN abs(condition::numeric) <= 1.7976931348623157e308
               WHEN 'object' THEN jsonb_typeof(condition -> 'glob') IS NOT DISTINCT FROM 'string'
                                  AND condition - 'glob' = '{}'
               ELSE false END;
COMMENT ON FUNCTION internal.is_condition(jsonb) IS
    'Whether a JSON value is a valid condition: a string, a number, true, false or {"glob": "…"}.';

CREATE OR REPLACE FUNCTION internal.claims_fault(conditions jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    claim text;
    condition jsonb;
    glob text;
BEGIN
    IF conditions = '{}' THEN
        RETURN NULL;
    ELSIF octet_length(conditions::text) > 4096 THEN
        RETURN format('they have %s bytes, more than 4096', octet_length(conditions::text));
    ELSIF jsonb_typeof(conditions) <> 'object' THEN
        RETURN format('they are an object, {"claim": value}, not %s', internal.a_kind(conditions));
    END IF;
    FOR claim, condition IN SELECT key, value FROM jsonb_each(conditions) ORDER BY key COLLATE "C" LOOP
        IF starts_with(claim, '/') AND claim ~ '~(?![01])' THEN
            RETURN format('"%s" begins like a JSON pointer, where ~ is written ~0 and / is written ~1', claim);
        ELSIF jsonb_typeof(condition) = 'array' THEN
            IF condition = '[]' THEN
                RETURN format('the list for "%s" is empty, so no token can match', claim);
            ELSIF NOT (SELECT bool_and(internal.is_condition(one)) FROM jsonb_array_elements(condition) AS one) THEN
                RETURN format('the list for "%s" may contain strings, numbers, true, false and {"glob": "…"} only', claim);
            END IF;
        ELSIF NOT internal.is_condition(condition) THEN
            RETURN CASE WHEN jsonb_typeof(condition) = 'object'
                        THEN format('the condition on "%s" is an object, which can only be {"glob": "…"}', claim)
                        WHEN jsonb_typeof(condition) = 'number'
                        THEN format('the number for "%s" is too large', claim)
                        ELSE format('the condition on "%s" is null, and an absent claim never matches', claim) END;
        END IF;
        glob := (SELECT min(internal.glob_fault(one ->> 'glob'))
                   FROM jsonb_array_elements(CASE jsonb_typeof(condition) WHEN 'array' THEN condition
                                             ELSE jsonb_build_array(condition) END) AS one
                  WHERE jsonb_typeof(one) = 'object');
        IF glob IS NOT NULL THEN
            RETURN format('the glob for "%s" %s', claim, glob);
        END IF;
    END LOOP;
    RETURN 'one ' || internal.json_fault(conditions, 4096);
END
$$;
COMMENT ON FUNCTION internal.claims_fault(jsonb) IS
    'The fault of conditions on claims, as the end of a sentence; null if there is none.';

CREATE OR REPLACE FUNCTION internal.claims_hint() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups": ["ops", "dev"], "/namespace/id": 7}: a string, number or boolean must be equal, a list means any of its values, and a name that starts with / is a JSON pointer.';
COMMENT ON FUNCTION internal.claims_hint() IS 'A hint: what conditions on claims look like.';

-- ---------------------------------------------------------------- tenants and their admins

CREATE OR REPLACE FUNCTION internal.keep_tenant() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM internal.refuse(
            format('Tenant "%s" cannot be deleted: a new tenant with its name would inherit its trust in the clouds.', OLD.name),
            format('UPDATE broker.tenant SET enabled = false WHERE name = %L;', OLD.name), 'restrict_violation');
    ELSIF NEW.name <> OLD.name THEN
        PERFORM internal.refuse(
            format('Tenant "%s" cannot be renamed: clouds and the audit log know it by this name.', OLD.name),
            'Change its display_name, or create a new tenant and disable this one.', 'restrict_violation');
    ELSIF NEW.external_id <> OLD.external_id THEN
        PERFORM internal.refuse(
            format('The external_id of tenant "%s" cannot be changed: trust policies in AWS name it.', OLD.name),
            'Create a new tenant and disable this one.', 'restrict_violation');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.keep_tenant() IS 'Trigger: tenants are neither deleted nor renamed, and keep their external_id.';

CREATE OR REPLACE FUNCTION internal.secret_in_url(url text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
    SELECT CASE
        WHEN url ~ '[?]' THEN 'a query, where tokens are passed'
        WHEN url ~* '^https://([^/]+[.])?(hooks[.]slack[.]com|slack[.]com/api|discord(app)?[.]com/api/webhooks|webhook[.]office(365)?[.]com|logic[.]azure[.]com|powerplatform[.]com|chat[.]googleapis[.]com|api[.]telegram[.]org|webexapis[.]com|hooks[.]zapier[.]com|maker[.]ifttt[.]com|hook([.][a-z0-9]+)?[.]make[.]com|events[.]pagerduty[.]com/integration|alert[.]victorops[.]com|hooks[.]chime[.]aws|oapi[.]dingtalk[.]com|open[.](feishu|larksuite)[.]com|qyapi[.]weixin[.]qq[.]com)'
            THEN 'the address of a chat''s or service''s incoming hook, which is a secret'
        WHEN url ~* '^https://[^/]+/(.*/)?(hooks|webhooks?|incoming|integrations)/(.*/)?[A-Za-z0-9_-]{16,}(/|$)' THEN 'an incoming hook''s token in its path'
        WHEN url ~ '/[^/]*(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]*[A-Z])(?=[A-Za-z0-9_-]*[a-z])(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{24,}(?![A-Za-z0-9_-])'
          OR url ~* '/[0-9a-f]{32,}(/|$)' THEN 'a part of its path that looks like a token'
        WHEN url ~* '/bot[0-9]+:' OR url ~ '(gh[opsru]_|glpat-|xox[abeoprs]-|sk-|eyJ)[A-Za-z0-9_-]{10}' THEN 'a token' END;
$$;
COMMENT ON FUNCTION internal.secret_in_url(text) IS
    'The secret that a URL seems to have, as the object of a sentence: a query, an incoming hook, a long random part; null if none.';

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NEW.name !~ '^[a-z][a-z0-9-]{0,39}$' THEN
        PERFORM internal.refuse(format('"%s" is not a valid tenant name.', NEW.name),
            'Use a lower-case letter, then up to 39 lower-case letters, digits and hyphens, for example "acme". Set display_name for a readable name.');
    ELSIF internal.line_fault(NEW.display_name, 1000) IS NOT NULL THEN
        PERFORM internal.refuse(format('Tenant "%s": its display_name %s.', NEW.name, internal.line_fault(NEW.display_name, 1000)),
                              'Write one line, or null.');
    ELSIF least(NEW.max_keys, NEW.max_grants, NEW.max_globs, NEW.max_changes) < 0 OR NEW.max_calls < 1 THEN
        PERFORM internal.refuse(format('Tenant "%s" has a limit below %s.', NEW.name, CASE WHEN NEW.max_calls < 1 THEN 'one call' ELSE 'zero' END),
                              'max_keys, max_grants, max_globs and max_changes must be 0 or more, max_calls 1 or more.');
    ELSIF NEW.max_duration < 1 THEN
        PERFORM internal.refuse(format('Tenant "%s" has a max_duration of %s seconds.', NEW.name, NEW.max_duration),
                              'Write a positive number, or null to leave it to the types of access providers.');
    ELSIF NOT internal.is_url(NEW.notice_url) OR length(NEW.notice_url) > 2048 THEN
        PERFORM internal.refuse(format('Tenant "%s" has the notice_url "%s".', NEW.name, left(NEW.notice_url, 100)),
                              'Write a URL of the form https://host/path without user and fragment, of at most 2048 characters, or null for no notices.');
    ELSIF internal.secret_in_url(NEW.notice_url) IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'secret_in_text',
            format('Tenant "%s": its notice_url has %s, and the history keeps it.', NEW.name, internal.secret_in_url(NEW.notice_url)),
            'Write a URL without secrets, and the secret to a file that notice_secret names. Chats do not accept CloudEvents: docs/tenants/notices.md has a relay that knows their URL.',
            'check_violation', 'notice_url');
    ELSIF NEW.notice_secret IS NOT NULL AND internal.setting_fault('{"is": "secret"}', NEW.notice_secret) IS NOT NULL THEN
        PERFORM internal.refuse(format('Tenant "%s": its notice_secret %s.', NEW.name, internal.setting_fault('{"is": "secret"}', NEW.notice_secret)),
                              'Write the secret to a file in the tenant''s secrets directory, and {"file": "its-name"} here.');
    ELSIF NEW.notice_url IS NOT NULL AND NEW.notice_secret IS NULL THEN
        PERFORM internal.refuse(format('Tenant "%s" has a notice_url but no notice_secret, and notices are signed.', NEW.name),
                              'Write a secret to a file in the tenant''s secrets directory, and {"file": "its-name"} into notice_secret.');
    ELSIF NEW.review_days NOT BETWEEN 1 AND 3650 THEN
        PERFORM internal.refuse(format('Tenant "%s" has review_days of %s.', NEW.name, NEW.review_days), 'Write 1 to 3650.');
    ELSIF TG_OP = 'INSERT' AND EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = NEW.name AND NOT t.enabled) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_tenant_name_is_taken_once', format('Tenant "%s" already exists and is disabled.', NEW.name),
            format('Choose another name, because clouds may still trust this one. To enable it again: UPDATE broker.tenant SET enabled = true WHERE name = %L;',
                   NEW.name), 'unique_violation');
    ELSIF NEW.max_requests < 1 THEN
        PERFORM internal.refuse(format('Tenant "%s" has a max_requests of %s.', NEW.name, NEW.max_requests),
                              'Write a positive number, or null for no limit. To stop a tenant, disable it.');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_tenant() IS
    'Trigger: rejects an invalid tenant with a message.';

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_tenant_admin() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF octet_length(NEW.role_name) NOT BETWEEN 1 AND 63 THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('role_name must be 1 to 63 bytes long, not %s.', octet_length(NEW.role_name)),
            'Use the exact role name: SELECT rolname FROM pg_roles.', 'check_violation', refused => to_jsonb(NEW));
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_tenant_admin() IS
    'Trigger: rejects an invalid login of a tenant admin with a message.';

-- ---------------------------------------------------------------- identity providers

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_shared_issuer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT internal.is_url(NEW.issuer) OR NEW.issuer ~ '[?]' THEN
        PERFORM internal.refuse(format('The shared issuer "%s" must be an https URL without a query.', NEW.issuer),
                              'Write the iss claim of its tokens as it is, for example "https://token.actions.githubusercontent.com".');
    ELSIF internal.list_fault(NEW.owner_claims, 255) IS NOT NULL THEN
        PERFORM internal.refuse(format('Shared issuer "%s": owner_claims %s.', NEW.issuer, internal.list_fault(NEW.owner_claims, 255)),
                              'List the claims that say whose token it is, for example ''{repository_owner_id,repository_id}''.');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_shared_issuer() IS
    'Trigger: rejects an invalid shared issuer with a message.';

CREATE OR REPLACE FUNCTION internal.jwks_fault(jwks jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN jwks IS NULL THEN NULL
        WHEN NOT coalesce(jsonb_path_exists(jwks, 'strict $.keys[0].kty', silent => true), false)
            THEN 'is not a key set, {"keys": [{"kty": …}]}'
        WHEN jsonb_path_exists(jwks, '$.keys[*] ? (exists (@.d) || exists (@.k))')
            THEN 'contains a private or secret key'
        WHEN NOT jsonb_path_exists(jwks, '$.keys[*] ? ((@.kty == "RSA" && exists (@.n) && exists (@.e)
                                          || @.kty == "EC" && exists (@.crv) && exists (@.x) && exists (@.y)
                                          || @.kty == "OKP" && exists (@.crv) && exists (@.x))
                                         && (!exists (@.use) || @.use == "sig" || @.use == "jwt-svid"))')
            THEN 'has no key for verifying signatures' END;
$$;
COMMENT ON FUNCTION internal.jwks_fault(jsonb) IS
    'The fault of an identity provider''s own key set, as the end of a sentence; null if there is none.';

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_identity_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    known constant text[] := '{RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA}';
    owner constant text := format('Identity provider "%s"', NEW.name);
    wrong text;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.name !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        PERFORM internal.refuse(format('"%s" is not a valid identity provider name.', NEW.name),
                              'A letter, then up to 63 letters, digits, _, . and -.');
    ELSIF EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.name = NEW.name AND p.tenant <> NEW.tenant) THEN
        PERFORM internal.refuse_in(TG_RELID, 'an_identity_provider_name_is_taken_once',
            format('Another tenant has an identity provider "%s"; names are unique across tenants.', NEW.name),
            format('Start the name with the tenant, for example "%s-%s".', NEW.tenant, NEW.name), 'unique_violation');
    ELSIF NOT internal.is_url(NEW.issuer) THEN
        PERFORM internal.refuse(format('%s: the issuer "%s" is not an https URL.', owner, NEW.issuer),
            'Write the iss claim of its tokens as it is, for example "https://token.actions.githubusercontent.com". Plain http is for localhost only.');
    ELSIF NEW.issuer ~ '[?]' OR length(NEW.issuer) > 255 THEN
        PERFORM internal.refuse(format('%s: the issuer "%s" has a query or more than 255 characters.', owner, NEW.issuer),
                              'Write the iss claim of its tokens as it is. An issuer has no query (OpenID Connect Discovery).');
    ELSIF NOT internal.is_url(NEW.jwks_uri) THEN
        PERFORM internal.refuse(format('%s: the jwks_uri "%s" is not an https URL.', owner, NEW.jwks_uri),
            'Plain http is for localhost only. For an issuer that cannot be reached write its key set into jwks.');
    END IF;

    wrong := internal.list_fault(NEW.audiences, 512);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: audiences %s.', owner, wrong),
                              'List what its tokens have in aud for this broker, for example ''{mintmark-acme}''.');
    END IF;
    wrong := internal.jwks_fault(NEW.jwks);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: jwks %s.', owner, wrong),
                              'Write the key set as the issuer publishes it, public keys only: kty, kid and n, e (RSA) or crv, x, y (EC).');
    ELSIF internal.json_fault(NEW.jwks, 65536) IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: jwks %s.', owner, internal.json_fault(NEW.jwks, 65536)),
                              'Write the keys alone, without their certificates (x5c).');
    ELSIF octet_length(NEW.ca_certificate) > 65536 THEN
        PERFORM internal.refuse(format('%s: ca_certificate has %s bytes, more than 65536.', owner, octet_length(NEW.ca_certificate)),
                              'Include only the authorities that issued its server''s certificate.');
    ELSIF NEW.ca_certificate !~ '^\s*-----BEGIN CERTIFICATE-----' OR NEW.ca_certificate ~ 'PRIVATE KEY' THEN
        PERFORM internal.refuse(format('%s: ca_certificate is not PEM that contains only certificates.', owner),
                              'Write the certificates of the authorities to trust when fetching keys, without a private key.');
    END IF;

    SELECT algorithm INTO wrong FROM unnest(NEW.algorithms) AS algorithm WHERE algorithm <> ALL (known) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse(format('%s: the algorithm "%s" is not accepted.', owner, wrong),
                              internal.did_you_mean(wrong, known, 'There are'));
    END IF;
    wrong := internal.list_fault(NEW.algorithms, 5);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: algorithms %s.', owner, wrong), 'For example ''{RS256,ES256}'', the default.');
    END IF;

    wrong := CASE WHEN NEW.token_types = '{}' THEN NULL
                  ELSE coalesce(internal.list_fault(NEW.token_types, 127),
                                (SELECT format('has "%s", which is not a media type', type) FROM unnest(NEW.token_types) AS type
                                  WHERE type !~ '^[A-Za-z0-9!#$&^_.+-]+(/[A-Za-z0-9!#$&^_.+-]+)?$' LIMIT 1),
                                CASE WHEN cardinality(NEW.token_types) > 20
                                     THEN format('has %s elements; the maximum is 20', cardinality(NEW.token_types)) END) END;
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: token_types %s.', owner, wrong),
                              'List what its tokens have in typ of their header, for example ''{vnd.example.identity+jwt}''. JWT, JOSE, at+jwt and id_token+jwt are always accepted: ''{}''.');
    END IF;
    wrong := internal.claims_fault(NEW.required_claims);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: in its required_claims, %s.', owner, wrong), internal.claims_hint());
    ELSIF NEW.clock_skew NOT BETWEEN 0 AND 3600 THEN
        PERFORM internal.refuse(format('%s has a clock_skew of %s seconds.', owner, NEW.clock_skew), 'Write 0 to 3600.');
    ELSIF NEW.max_token_age <= 0 THEN
        PERFORM internal.refuse(format('%s has a max_token_age of %s seconds.', owner, NEW.max_token_age),
                              'Write a positive number, or null to check only exp.');
    ELSIF internal.list_fault(NEW.accepts, 8) IS NOT NULL OR NOT NEW.accepts <@ '{subject,actor,approver}' THEN
        PERFORM internal.refuse(format('%s: accepts %s.', owner,
                                       coalesce(internal.list_fault(NEW.accepts, 8), format('has "%s"', (SELECT a FROM unnest(NEW.accepts) AS a
                                           WHERE a <> ALL ('{subject,actor,approver}') LIMIT 1)))),
                              'List what its tokens may identify: subject (who gets credentials), actor (who acts for a subject), approver. The default is ''{subject}''.');
    ELSIF NEW.login_client_id !~ '^[!-~]{1,255}$' THEN
        PERFORM internal.refuse(format('%s: the login_client_id "%s" is not the id of a client.', owner, left(NEW.login_client_id, 100)),
                              'Write the id of the public client that your identity provider has for mintmark-client, 1 to 255 visible ASCII characters; or null.');
    ELSIF NEW.one_time_tokens AND NEW.max_token_age IS NULL THEN
        PERFORM internal.refuse(format('%s has one_time_tokens without a max_token_age.', owner),
                              'Set the maximum age of a token in seconds; used tokens are remembered that long. For example max_token_age = 600.');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_identity_provider() IS
    'Trigger: rejects an invalid identity provider with a message.';

-- ---------------------------------------------------------------- access providers and keys

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Access provider "%s" of tenant "%s"', NEW.name, NEW.tenant);
    example constant text := '"arn:aws:iam::123456789012:role/ci-*"';
    wrong text;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.name !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        PERFORM internal.refuse(format('"%s" is not a valid access provider name.', NEW.name),
                              'A letter, then up to 63 letters, digits, _, . and -.');
    ELSIF jsonb_typeof(NEW.settings) <> 'object' THEN
        PERFORM internal.refuse(format('%s: settings must be an object, not %s.', owner, internal.a_kind(NEW.settings)),
                              'For example {"region": "eu-central-1"}. The settings of each type: SELECT provider_settings FROM broker.provider_type.');
    END IF;

    wrong := internal.json_fault(NEW.settings, 16384);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: the whole of its settings %s.', owner, wrong), 'Shorten them.');
    END IF;
    wrong := internal.list_fault(NEW.allowed_targets, 512);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: allowed_targets %s.', owner, wrong),
                              format('List what keys may name, for example %s. ** alone allows everything.', example));
    END IF;
    SELECT format('"%s" %s', item, internal.glob_fault(item)) INTO wrong FROM unnest(NEW.allowed_targets) AS item
     WHERE internal.glob_fault(item) IS NOT NULL LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse(format('%s: in allowed_targets, %s.', owner, wrong), 'Use several shorter ones.');
    END IF;
    SELECT item INTO wrong FROM unnest(NEW.allowed_targets) AS item
     WHERE NOT coalesce(internal.is_glob_list(ARRAY[item]), false) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse(format('%s: "%s" in allowed_targets does not start with a literal segment.', owner, wrong),
            format('The text up to the first : or / must not contain *, for example %s. ** alone allows everything.', example));
    ELSIF NEW.settings ->> 'auth' = 'ambient' AND NEW.type = 'aws-sts' AND NOT NEW.shared_identity THEN
        PERFORM internal.refuse(format('%s uses auth "ambient" without shared_identity: all tenants then look alike to AWS.', owner),
            'Set shared_identity = true and list this tenant''s roles in allowed_targets.');
    ELSIF NEW.shared_identity AND '**' = ANY (NEW.allowed_targets) THEN
        PERFORM internal.refuse(format('%s has shared_identity and allows all targets (**): all tenants look alike to the provider.', owner),
            'List this tenant''s targets in allowed_targets: nothing else separates tenants here.');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_provider() IS
    'Trigger: rejects an invalid access provider with a message, before a constraint does.';

CREATE OR REPLACE FUNCTION internal.is_one_of(name text, globs text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT name ~ ('^(' || replace(regexp_replace(btrim(globs, ' ' || chr(10)), '[[:space:]]+', '|', 'g'), '*', '.*') || ')$');
$$;
COMMENT ON FUNCTION internal.is_one_of(text, text) IS 'Whether a name matches one of several globs, which spaces separate.';

-- The same two lists as mm_steering and mm_harmless in src/clients/mintmark-client; a test compares them.
-- The second has exceptions to the first: credentials, and the project and storage server that credentials belong to.
CREATE OR REPLACE FUNCTION internal.steers_programs(variable text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT internal.is_one_of(variable, '
        PATH IFS ENV CDPATH FPATH HOME SHELL SHELLOPTS BASHOPTS BASH_* PS0 PS1 PS2 PS4 PROMPT_COMMAND ZDOTDIR UID EUID PPID
        INPUTRC TMPDIR TMP TEMP TERM TERMCAP TERMINFO* XDG_*
        LD_* DYLD_* LIBPATH SHLIB_PATH GCONV_PATH LOCPATH NLSPATH GLIBC_TUNABLES MALLOC_* HOSTALIASES LOCALDOMAIN
        *OPTIONS *OPTS *FLAGS *_PROXY *_proxy *_WRAPPER *_CA_BUNDLE *_CACERT *COMMAND *COMMANDS *_CMD *_RSH *_SSH *_ASKPASS
        *RCPATH *_PLUGIN_PATH *_PLUGINS *_PRELOAD *_MODULES GTK_* GDK_* GIO_* GST_* QT_* QML* VK_* LIBGL_*
        MAKEFILES CC CXX CPP LD CLASSPATH JAVA_HOME JDK_HOME MAVEN_* GRADLE_*
        NODE_* npm_* NPM_* YARN_* PYTHON* PIP_* UV_* PERL* RUBY* GEM_* BUNDLE_* PHP* LUA_* TCL* ERL_* R_* JULIA_*
        CARGO_* RUSTC* GOROOT GOPATH GOENV GOPROXY GOINSECURE GONOSUMDB GOTOOLCHAIN
        DOTNET_* CORECLR_* COMPlus_* MSBUILD*
        *PAGER LESS* *EDITOR VISUAL BROWSER VIMINIT EXINIT GIT_* SSH_ASKPASS* SSH_AUTH_SOCK SSH_SK_* SUDO_*
        OPENSSL_* SSL_* SSLKEYLOGFILE CURL_* WGETRC NETRC RCLONE_CONFIG RCLONE_CONFIG_DIR
        DOCKER_* KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_PROFILE AWS_ENDPOINT_URL*
        AWS_CONTAINER_* BOTO_CONFIG CLOUDSDK_* GOOGLE_APPLICATION_CREDENTIALS AZURE_CONFIG_DIR TF_CLI_* TF_PLUGIN_*
        TF_DATA_DIR TF_REATTACH_PROVIDERS ANSIBLE_* HELM_* PGSERVICE* PGSYSCONFDIR PGPASSFILE PGSSLROOTCERT PGSSLKEY PGSSLCERT
        PGSSLCRL* PGREQUIRE* PSQLRC MYSQL_HOME LIBMYSQL_* ORACLE_HOME TNS_ADMIN ODBC*
        GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT GITHUB_STATE RUNNER_* ACTIONS_* BUILDKITE_* MINTMARK_* mm_*
        ') AND NOT internal.is_one_of(variable, '
        NPM_TOKEN NODE_AUTH_TOKEN YARN_NPM_AUTH_TOKEN CARGO_REGISTRY_TOKEN CARGO_REGISTRIES_*_TOKEN GEM_HOST_API_KEY
        DOCKER_USERNAME DOCKER_PASSWORD DOCKER_AUTH_CONFIG MAVEN_USERNAME MAVEN_PASSWORD
        HELM_REGISTRY_USERNAME HELM_REGISTRY_PASSWORD ANSIBLE_VAULT_PASSWORD GIT_TOKEN
        CLOUDSDK_AUTH_ACCESS_TOKEN CLOUDSDK_CORE_PROJECT AWS_ENDPOINT_URL_S3
        ');
$$;
COMMENT ON FUNCTION internal.steers_programs(text) IS
    'Whether a variable changes what programs run, load, trust or connect to. No output may have such a name.';

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', NEW.name, NEW.tenant);
    example constant text := 'Write the variable, then the field, for example {"AWS_ACCESS_KEY_ID": "AccessKeyId"}.';
    wrong record;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.name !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        PERFORM internal.refuse(format('"%s" is not a valid key name.', NEW.name),
                              'A letter, then up to 63 letters, digits, _, . and -.');
    ELSIF NEW.max_duration <= 0 THEN
        PERFORM internal.refuse(format('%s has a max_duration of %s seconds.', owner, NEW.max_duration), 'Write a positive number.');
    ELSIF jsonb_typeof(NEW.settings) <> 'object' THEN
        PERFORM internal.refuse(format('%s: settings must be an object, not %s.', owner, internal.a_kind(NEW.settings)),
                              'For example {"audience": "https://api.example.com"}. The settings of each type: SELECT key_settings FROM broker.provider_type.');
    ELSIF jsonb_typeof(NEW.outputs) <> 'object' THEN
        PERFORM internal.refuse(format('%s: outputs must be an object, not %s.', owner, internal.a_kind(NEW.outputs)), example);
    END IF;
    IF NOT internal.is_absolute_uri(NEW.resource) THEN
        PERFORM internal.refuse(format('%s: the resource "%s" is not an absolute URI without a fragment, of up to 512 characters.', owner, NEW.resource),
                              'Write the URI that clients send in the parameter resource, for example "https://mcp.example.com/orders"; null for none.');
    ELSIF EXISTS (SELECT FROM broker.key AS k WHERE k.tenant = NEW.tenant
                     AND internal.normal_uri(k.resource) = internal.normal_uri(NEW.resource) AND k.name <> NEW.name
                     AND (TG_OP = 'INSERT' OR k.name <> OLD.name)) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_resource_belongs_to_one_key_of_a_tenant',
            format('Another key of tenant "%s" has the resource "%s".', NEW.tenant, NEW.resource),
            'A resource identifies one key of a tenant. Choose another URI, or set that key''s to null.', 'unique_violation');
    END IF;
    IF length(NEW.description) > 1000 THEN
        PERFORM internal.refuse(format('%s: its description has %s characters; the maximum is 1000.', owner, length(NEW.description)), 'Shorten it.');
    ELSIF internal.json_fault(NEW.settings, 16384) IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: the whole of its settings %s.', owner, internal.json_fault(NEW.settings, 16384)), 'Shorten them.');
    ELSIF internal.json_fault(NEW.outputs, 4096) IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: the whole of its outputs %s.', owner, internal.json_fault(NEW.outputs, 4096)), example);
    END IF;
    FOR wrong IN SELECT key AS member, value AS field FROM jsonb_each(NEW.outputs) LOOP
        IF wrong.member !~ '^[A-Za-z_][A-Za-z0-9_]*$' THEN
            PERFORM internal.refuse(format('%s: "%s" is not a valid output name.', owner, wrong.member),
                                  'Letters, digits and _, no digit first, for example {"AWS_ACCESS_KEY_ID": "AccessKeyId"}.');
        ELSIF internal.steers_programs(wrong.member) THEN
            PERFORM internal.refuse(format('%s: the output "%s" is a variable that changes what programs run, load, trust or connect to.',
                                         owner, wrong.member), 'Choose another name, for example one that starts with the name of the service.');
        ELSIF jsonb_typeof(wrong.field) <> 'string' THEN
            PERFORM internal.refuse(format('%s: the output "%s" must name a field, not %s.', owner, wrong.member, internal.a_kind(wrong.field)),
                                  example);
        END IF;
    END LOOP;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_key() IS
    'Trigger: rejects an invalid key with a message.';

-- ---------------------------------------------------------------- grants and blocked subjects

CREATE OR REPLACE FUNCTION internal.actor_fault(checked broker.subject_grant) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF checked.actor IS NULL AND checked.actor_idp IS NULL AND checked.actor_match = 'exact' AND checked.actor_claims = '{}' THEN
        RETURN NULL;
    ELSIF checked.actor IS NULL OR checked.actor_idp IS NULL THEN
        RETURN format('it has %s, but no %s.',
                      CASE WHEN checked.actor IS NOT NULL THEN 'an actor' WHEN checked.actor_idp IS NOT NULL THEN 'an actor_idp'
                           WHEN checked.actor_match <> 'exact' THEN 'an actor_match' ELSE 'actor_claims' END,
                      CASE WHEN checked.actor IS NULL THEN 'actor' ELSE 'actor_idp' END);
    ELSIF internal.line_fault(checked.actor, 1024) IS NOT NULL THEN
        RETURN format('its actor %s.', internal.line_fault(checked.actor, 1024));
    ELSIF checked.actor_match NOT IN ('exact', 'glob') THEN
        RETURN format('it has the unknown actor_match "%s"; use exact or glob.', checked.actor_match);
    ELSIF checked.actor_match = 'glob' AND NOT internal.is_anchored(checked.actor) THEN
        RETURN 'its actor is a glob that does not start with a literal segment.';
    ELSIF checked.actor_match = 'glob' AND internal.glob_fault(checked.actor) IS NOT NULL THEN
        RETURN format('its actor %s.', internal.glob_fault(checked.actor));
    END IF;
    RETURN 'in its actor_claims, ' || internal.claims_fault(checked.actor_claims) || '.';
END
$$;
COMMENT ON FUNCTION internal.actor_fault(broker.subject_grant) IS
    'What is wrong with the actor of a grant, as the end of a sentence; null if nothing is.';

CREATE OR REPLACE FUNCTION internal.actor_hint() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'actor_idp and actor name who must act for the subject, for example "acme-agents" and "agent:release-bot"; actor_match and actor_claims are written as match and claims. A grant for the subject alone has neither.';
COMMENT ON FUNCTION internal.actor_hint() IS 'A hint: what the actor of a grant looks like.';

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_grant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('The grant of key "%s" to "%s"', NEW.key, NEW.subject);
    fault text := internal.line_fault(NEW.subject, 1024);
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('The grant of key "%s" has a subject that %s.', NEW.key, fault),
            'Write the sub claim of the tokens as it is, for example "repo:acme/app:ref:refs/heads/main".', 'check_violation',
            refused => to_jsonb(NEW));
    ELSIF NEW.match NOT IN ('exact', 'glob') THEN
        PERFORM internal.refuse(format('%s has the unknown match "%s"; use exact or glob.', owner, NEW.match),
                              'exact compares the whole subject; in a glob * stays within a segment, ** does not.');
    ELSIF NEW.match = 'glob' AND NOT internal.is_anchored(NEW.subject) THEN
        PERFORM internal.refuse(format('%s is a glob that does not start with a literal segment.', owner),
            'The text up to the first : or / must not contain * (in a URI: the text up to the end of its host), for example "repo:acme/app:ref:refs/heads/**" or "spiffe://acme.example/ci/**".');
    ELSIF NEW.match = 'glob' AND internal.glob_fault(NEW.subject) IS NOT NULL THEN
        PERFORM internal.refuse(format('The grant of key "%s" to "%s" %s.', NEW.key,
                                       left(NEW.subject, 40) || CASE WHEN length(NEW.subject) > 40 THEN '…' ELSE '' END,
                                       internal.glob_fault(NEW.subject)),
            'Use several shorter patterns, or move part of the condition to claims.');
    ELSIF length(NEW.reason) > 1000 THEN
        PERFORM internal.refuse(format('%s: its reason has %s characters; the maximum is 1000.', owner, length(NEW.reason)), 'Shorten it.');
    ELSIF NEW.valid_until <= NEW.valid_from THEN
        PERFORM internal.refuse(format('%s ends (valid_until %s) before it starts (valid_from %s).', owner, NEW.valid_until, NEW.valid_from),
                              'Set a later valid_until, or null for no end.');
    ELSIF NOT isfinite(NEW.valid_until) OR NOT isfinite(NEW.valid_from) THEN
        PERFORM internal.refuse(format('%s: valid_from and valid_until must be finite.', owner), 'For no end, set valid_until to null.');
    ELSIF NEW.valid_from < '0001-01-01Z' OR NEW.valid_from >= '10000-01-01Z'
          OR NEW.valid_until < '0001-01-01Z' OR NEW.valid_until >= '10000-01-01Z' THEN
        PERFORM internal.refuse(format('%s: valid_from and valid_until must be in the years 1 to 9999.', owner),
                              'For no start or no end, use null.');
    ELSIF NEW.max_duration <= 0 THEN
        PERFORM internal.refuse(format('%s has a max_duration of %s seconds.', owner, NEW.max_duration),
                              'Write a positive number, or null to leave it to the key.');
    END IF;
    fault := internal.claims_fault(NEW.claims);
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: in its claims, %s.', owner, fault), internal.claims_hint());
    END IF;
    fault := internal.actor_fault(NEW);
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: %s', owner, fault), internal.actor_hint());
    END IF;
    fault := internal.networks_fault(NEW.networks);
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: its networks %s.', owner, fault),
            'Write 1 to 64 networks, for example ''{203.0.113.0/24,2001:db8::/32}''; an IPv4 network as one, without ::ffff: in front. For any address, use null.');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_grant() IS
    'Trigger: rejects an invalid grant with a message.';

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
        message := format('%s cannot be moved from %s to %s.', owner,
                          coalesce('"' || OLD.tenant || '"', 'all tenants'),
                          coalesce('"' || NEW.tenant || '"', 'all tenants'));
        hint := 'Insert a new row, and delete this one.';
    ELSIF fault IS NOT NULL THEN
        message := format('A block has a subject that %s.', fault);
        hint := 'Write the sub claim of the tokens as it is, for example "repo:acme/app:ref:refs/heads/main".';
    ELSIF NEW.match NOT IN ('exact', 'glob') THEN
        message := format('%s has the unknown match "%s"; use exact or glob.', owner, NEW.match);
        hint := 'exact compares the whole subject; in a glob * stays within a segment, ** does not.';
    ELSIF NEW.subject = '**' AND NEW.match = 'exact' AND NEW.claims <> '{}' THEN
        message := 'The block of "**" has claims, but not match ''glob''.';
        hint := 'For every subject whose tokens have these claims, write match ''glob''.';
    ELSIF NEW.match = 'glob' AND NOT internal.is_anchored(NEW.subject) AND (NEW.subject <> '**' OR NEW.claims = '{}') THEN
        message := format('%s is a glob that does not start with a literal segment.', owner);
        hint := 'The text up to the first : or / must not contain * (in a URI: the text up to the end of its host), for example "repo:acme/app:**". To block every subject of a tenant: UPDATE broker.identity_provider SET enabled = false.';
    ELSIF internal.claims_fault(NEW.claims) IS NOT NULL THEN
        message := format('%s: in its claims, %s.', owner, internal.claims_fault(NEW.claims));
        hint := internal.claims_hint();
    ELSIF NEW.match = 'glob' AND internal.glob_fault(NEW.subject) IS NOT NULL THEN
        message := format('The block of "%s" %s.',
                          left(NEW.subject, 40) || CASE WHEN length(NEW.subject) > 40 THEN '…' ELSE '' END, internal.glob_fault(NEW.subject));
        hint := 'Use several shorter ones.';
    ELSIF NEW.reason !~ '\S' THEN
        message := format('%s has an empty reason.', owner);
        hint := 'Enter a reason, for example the incident''s number.';
    ELSIF length(NEW.reason) > 1000 THEN
        message := format('%s: its reason has %s characters; the maximum is 1000.', owner, length(NEW.reason));
        hint := 'Shorten it.';
    ELSIF NOT isfinite(NEW.until) THEN
        message := format('%s: until must be finite.', owner);
        hint := 'For no end, set until to null.';
    ELSIF NEW.until < '0001-01-01Z' OR NEW.until >= '10000-01-01Z' THEN
        message := format('%s: until must be in the years 1 to 9999.', owner);
        hint := 'For no end, set until to null.';
    ELSIF NEW.idp IS NOT NULL AND NEW.tenant IS NULL THEN
        message := format('%s sets idp "%s" but no tenant.', owner, NEW.idp);
        hint := 'Set tenant too. A block in all tenants applies to the subject of any identity provider.';
    END IF;
    IF message IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', message, hint, 'check_violation', refused => to_jsonb(NEW));
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_block() IS
    'Trigger: rejects an invalid block with a message.';

-- ---------------------------------------------------------------- access to the console

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
        message := format('A console access rule cannot be moved from %s to %s.',
                          coalesce('tenant "' || OLD.tenant || '"', 'all tenants'),
                          coalesce('tenant "' || NEW.tenant || '"', 'all tenants'));
        hint := 'Insert a new row, and delete this one.';
    ELSIF NEW.all_tenants AND NEW.tenant IS NOT NULL THEN
        message := format('An access to the console names both tenant "%s" and all tenants.', NEW.tenant);
        hint := 'Leave tenant null, or set all_tenants to false.';
    ELSIF NOT NEW.all_tenants AND NEW.tenant IS NULL THEN
        message := 'An access to the console names no tenant.';
        hint := 'Write tenant. For access to every tenant and to the proof, write all_tenants = true instead.';
    ELSIF fault IS NOT NULL THEN
        message := format('An access to the console has a claim that %s.', fault);
        hint := 'Write the name of a claim in the ID tokens, for example "groups".';
    ELSIF length(NEW.reason) > 1000 THEN
        message := format('The access to the console by "%s": its reason has %s characters; the maximum is 1000.',
                          NEW.claim, length(NEW.reason));
        hint := 'Shorten it.';
    ELSIF value_fault IS NOT NULL THEN
        message := format('The access to the console by "%s": %s.', NEW.claim, value_fault);
        hint := 'A value is for example ''"alice@example.com"'', ''["ops", "audit"]'' or ''{"glob": "team:*"}''.';
    END IF;
    IF message IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', message, hint, 'check_violation', refused => to_jsonb(NEW));
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_console_access() IS
    'Trigger: rejects an invalid row of console_access with a message.';
