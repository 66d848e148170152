-- The settings of access providers and keys, by the rules of their type, and what keys have to do with their access provider.

-- ---------------------------------------------------------------- settings, by the rules of their type

CREATE OR REPLACE FUNCTION internal.plain_claim(name text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN lower(regexp_replace(normalize(name, NFKC),
        '[\s\u0000-\u0020\u007f-\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb]', '', 'g'));
COMMENT ON FUNCTION internal.plain_claim(text) IS
    'A claim''s name without differences that readers overlook: capitals, spaces, invisible characters and widths.';

CREATE OR REPLACE FUNCTION internal.is_reserved_claim(name text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN internal.plain_claim(name) = ANY
               ('{iss,sub,aud,exp,nbf,iat,jti,azp,client_id,act,may_act,cnf,nonce,auth_time,acr,amr}'::text[])
        OR starts_with(internal.plain_claim(name), 'https://aws.amazon.com')
        OR name <> internal.plain_claim(name)
           AND internal.plain_claim(name) = ANY
               ('{scope,scp,groups,roles,entitlements,name,email,email_verified,preferred_username,upn,oid,tid,sid}'::text[]);
COMMENT ON FUNCTION internal.is_reserved_claim(text) IS
    'Whether configuration must not set a claim, because it names a subject or actor, is registered, or looks like such a claim.';

CREATE OR REPLACE FUNCTION internal.compact_length(value jsonb) RETURNS int
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
COMMENT ON FUNCTION internal.compact_length(jsonb) IS 'The length of a value as JSON without whitespace.';

CREATE OR REPLACE FUNCTION internal.is_json_object(written text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN jsonb_typeof(written::jsonb) = 'object';
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION internal.is_json_object(text) IS 'Whether a string is a JSON object.';

-- As mint/Vendor has them: a host, a URL or //host/…, and Entra's names for its exchanges.
CREATE OR REPLACE FUNCTION internal.is_vendor_audience(written text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN lower(written) ~ ('^(([a-z][a-z0-9+.-]*:)?//)?(azureadtokenexchange.*|([^/]*[.])?('
                             || 'amazonaws[.](com|com[.]cn|eu)|aws[.]amazon[.]com|googleapis[.]com|google[.]com'
                             || '|microsoftonline[.](com|us|cn)|chinacloudapi[.]cn)[.]?(:[0-9]*)?([/?#].*)?)$');
COMMENT ON FUNCTION internal.is_vendor_audience(text) IS
    'Whether an audience is a cloud vendor''s, in any spelling.';

CREATE OR REPLACE FUNCTION internal.network_fault(written text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN written::inet <> network(written::inet)
                THEN format('which has bits set after its prefix: write %s for the network, or %s for the single address', network(written::inet), host(written::inet)) END;
EXCEPTION WHEN data_exception THEN
    RETURN 'which is not an IP address or a network';
END
$$;
COMMENT ON FUNCTION internal.network_fault(text) IS
    'What is wrong with an address or a network in CIDR notation, as the end of a sentence; null if nothing is.';

CREATE OR REPLACE FUNCTION internal.text_fault(rule jsonb, value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    written constant text := value #>> '{}';
    longest constant int := coalesce((rule ->> 'max_length')::int, 2048);
BEGIN
    IF jsonb_typeof(value) <> 'string' THEN
        RETURN format('must be a string, not %s', internal.a_kind(value));
    ELSIF written !~ '\S' THEN
        RETURN 'must not be empty';
    ELSIF length(written) > longest THEN
        RETURN format('has %s characters; the maximum is %s', length(written), longest);
    ELSIF written ~ '[\u0001-\u001f\u007f-\u009f]' THEN
        RETURN 'must be one line, without control characters';
    ELSIF NOT coalesce(rule -> 'one_of' ? written, true) THEN
        RETURN format('is "%s"; it must be one of %s', written,
                      (SELECT string_agg(one, ', ') FROM jsonb_array_elements_text(rule -> 'one_of') AS one)
                      || coalesce(' (did you mean "' || internal.nearest(written, ARRAY(SELECT jsonb_array_elements_text(rule -> 'one_of'))) || '"?)', ''));
    ELSIF rule ->> 'is' = 'url' AND (written !~ ('^https?://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*[.]?'
                                         || '|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&''()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?$')
                                     OR coalesce(substring(written FROM '^https?://[^/]*:([0-9]+)(?:/|$)')::int, 1) NOT BETWEEN 1 AND 65535) THEN
        RETURN format('is "%s", which is not a URL of the form https://host/path (no user, query or fragment)', written);
    ELSIF position(rule ->> 'must_contain' IN written) = 0 THEN
        RETURN format('is "%s"; it must contain %s', written, rule ->> 'must_contain');
    ELSIF (rule ->> 'not_for_vendors')::boolean AND internal.is_vendor_audience(written) THEN
        RETURN format('is "%s", an audience that a cloud vendor accepts, so clients could use the token there', written);
    ELSIF rule ->> 'is' <> 'map' AND rule -> 'reserved' ? written THEN
        RETURN format('is "%s", which only the broker may set', written);
    ELSIF written !~ (rule ->> 'pattern') THEN
        RETURN format('is "%s", which is not %s', written, coalesce(rule ->> 'form', 'a valid value'));
    ELSIF (rule ->> 'network')::boolean AND internal.network_fault(written) IS NOT NULL THEN
        RETURN format('is "%s", %s', written, internal.network_fault(written));
    ELSIF (rule ->> 'names_fields')::boolean AND internal.steers_programs(written) THEN
        RETURN format('is "%s", a variable that changes what programs run, load, trust or connect to', written);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.text_fault(jsonb, jsonb) IS
    'What is wrong with a string by a rule of broker.provider_type, as the end of a sentence; null if nothing is.';

CREATE OR REPLACE FUNCTION internal.claim_fault(value jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN jsonb_typeof(value) <> 'object' OR NOT value ?& '{name,value}' OR value - '{name,value}'::text[] <> '{}'
            THEN 'must be an object with exactly "name" and "value"'
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

CREATE OR REPLACE FUNCTION internal.map_fault(rule jsonb, value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    likely constant text[] := ARRAY(SELECT jsonb_array_elements_text(rule -> 'likely_names'));
    given record;
    fault text;
BEGIN
    IF jsonb_typeof(value) <> 'object' THEN
        RETURN format('must be an object of strings, not %s', internal.a_kind(value));
    ELSIF value = '{}' THEN
        RETURN 'is an empty object: leave it out instead';
    ELSIF internal.compact_length(value) > (rule ->> 'max_total')::int THEN
        RETURN format('has %s characters as JSON; the maximum is %s', internal.compact_length(value), rule ->> 'max_total');
    END IF;
    FOR given IN SELECT m.key, m.value FROM jsonb_each(value) AS m ORDER BY m.key COLLATE "C" LOOP
        IF NOT coalesce(rule -> 'names' ? given.key, true) THEN
            RETURN format('has the name "%s"; it must be one of %s', given.key,
                          (SELECT string_agg(one, ', ') FROM jsonb_array_elements_text(rule -> 'names') AS one));
        ELSIF given.key !~ (rule ->> 'name_pattern') THEN
            RETURN format('has the name "%s", which is not %s', given.key, coalesce(rule ->> 'name_form', 'a valid name'));
        ELSIF NOT coalesce(rule -> 'likely_names' ? given.key, true) AND internal.nearest(given.key, likely) IS NOT NULL THEN
            RETURN format('has the name "%s", which is unknown (did you mean "%s"?)', given.key, internal.nearest(given.key, likely));
        ELSIF rule -> 'reserved' ? given.key THEN
            RETURN format('names "%s", which only the broker may set', given.key);
        END IF;
        fault := internal.text_fault(rule, given.value);
        IF fault IS NOT NULL THEN
            RETURN format('has a value for "%s" that %s', given.key, fault);
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.map_fault(jsonb, jsonb) IS
    'What is wrong with an object of strings by a rule of broker.provider_type, as the end of a sentence; null if nothing is.';

CREATE OR REPLACE FUNCTION internal.token_label(reference jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN reference ->> 'pkcs11' LIKE 'object=%'
                THEN replace(replace(substr(reference ->> 'pkcs11', 8), '%2F', '/'), '%2f', '/') ELSE '' END;
$$;
COMMENT ON FUNCTION internal.token_label(jsonb) IS
    'The label of the key that {"pkcs11": "object=LABEL"} names, where RFC 7512 writes %2F for a slash; empty for any other form.';

CREATE OR REPLACE FUNCTION internal.setting_fault(rule jsonb, value jsonb) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE
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
        RETURN CASE WHEN kind <> 'array' THEN format('must be a list of strings, not %s', internal.a_kind(value))
                    WHEN value = '[]' THEN 'is an empty list: leave it out instead'
                    WHEN jsonb_array_length(value) > (rule ->> 'max_items')::int
                        THEN format('has %s elements; the maximum is %s', jsonb_array_length(value), rule ->> 'max_items')
                    ELSE coalesce((SELECT 'has an element that ' || min(internal.text_fault(rule, one)) FROM jsonb_array_elements(value) AS one),
                                  (SELECT format('has %s twice', one) FROM jsonb_array_elements(value) AS one GROUP BY one HAVING count(*) > 1 LIMIT 1)) END;
    WHEN 'object' THEN
        RETURN CASE WHEN kind <> 'object' THEN format('must be an object, not %s', internal.a_kind(value)) END;
    WHEN 'number' THEN
        RETURN CASE WHEN kind <> 'number' THEN format('must be a number, not %s', internal.a_kind(value))
                    WHEN value::numeric NOT BETWEEN (rule ->> 'min')::int AND (rule ->> 'max')::int OR value::numeric % 1 <> 0
                        THEN format('is %s; it must be a whole number from %s to %s', value, rule ->> 'min', rule ->> 'max') END;
    WHEN 'map' THEN
        RETURN internal.map_fault(rule, value);
    WHEN 'pem' THEN
        RETURN CASE WHEN kind <> 'string' THEN format('must be a string, not %s', internal.a_kind(value))
                    WHEN length(value #>> '{}') > longest THEN format('has %s characters; the maximum is %s', length(value #>> '{}'), longest)
                    WHEN value #>> '{}' !~ '^[[:space:]]*(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=[:space:]]+-----END CERTIFICATE-----[[:space:]]*)+$'
                        THEN 'is not a certificate in PEM'
                    ELSE internal.certificate_fault(rule, value #>> '{}') END;
    WHEN 'policy' THEN
        RETURN CASE WHEN kind NOT IN ('object', 'string') OR kind = 'string' AND NOT internal.is_json_object(value #>> '{}')
                        THEN 'must be a policy: a JSON object, or a string that contains one'
                    WHEN CASE kind WHEN 'object' THEN internal.compact_length(value) ELSE length(value #>> '{}') END > longest
                        THEN format('is a policy that is too long; the maximum is %s characters', longest) END;
    WHEN 'secret' THEN
        RETURN CASE WHEN kind = 'object' AND value ? 'pkcs11'
                        THEN CASE WHEN rule -> 'in_token' IS DISTINCT FROM 'true'
                                      THEN 'must be in a file: the broker sends this secret, and an HSM holds only signing keys'
                                  WHEN value - 'pkcs11' <> '{}'
                                      THEN 'must name either a file or a key in the PKCS#11 token'
                                  WHEN jsonb_typeof(value -> 'pkcs11') <> 'string'
                                       OR internal.token_label(value) !~ '^[A-Za-z0-9._-]{1,128}(/[A-Za-z0-9._-]{1,128}){1,7}$'
                                      THEN 'must name a key in the PKCS#11 token by its label: the tenant''s name, a / and letters, digits or any of ._-/' END
                    WHEN kind <> 'object' OR NOT value ? 'file' OR value - 'file' <> '{}'
                        THEN 'must name the file with the secret; secrets are never stored in the database'
                    WHEN jsonb_typeof(value -> 'file') <> 'string'
                         OR value ->> 'file' !~ '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,127}){0,7}$'
                        THEN 'must name a file in the tenant''s secrets directory, without . or .. in its path'
                    WHEN value ->> 'file' ~* '[.](pub|crt|cer|csr)$'
                        THEN format('names the file "%s", whose extension is that of a public key, a certificate or a certificate request', value ->> 'file') END;
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

CREATE OR REPLACE FUNCTION internal.write_instead(name text, rule jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN rule ->> 'is' = 'secret' AND rule -> 'in_token' = 'true'
            THEN format('Write the secret to a file in the tenant''s secrets directory, and "%1$s": {"file": "its-name"} here; or name a key of the broker''s PKCS#11 token, "%1$s": {"pkcs11": "object=TENANT/NAME"}.', name)
        WHEN rule ->> 'is' = 'secret'
            THEN format('Write the secret to a file in the tenant''s secrets directory, and "%s": {"file": "its-name"} here.', name)
        WHEN rule ? 'example'
            THEN format('For example "%s": %s.', name,
                        CASE WHEN rule ->> 'is' IN ('text', 'url') THEN to_json(rule ->> 'example')::text
                             WHEN rule ->> 'is' = 'list' THEN format('[%s]', to_json(rule ->> 'example'))
                             ELSE rule ->> 'example' END)
        WHEN rule ? 'default' THEN format('The default is %s.', rule -> 'default')
        WHEN rule ->> 'is' = 'policy'
            THEN format('Write a JSON object of at most %s characters, not counting whitespace.', rule ->> 'max_length')
        WHEN rule ->> 'is' = 'object' THEN format('Write "%s": {…}, or leave it out.', name)
        ELSE format('Write "%s": "…", or leave it out.', name) END;
$$;
COMMENT ON FUNCTION internal.write_instead(text, jsonb) IS 'A hint: what a setting looks like.';

CREATE OR REPLACE FUNCTION internal.check_settings(owner text, kind text, rules jsonb, settings jsonb) RETURNS void
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
            PERFORM internal.refuse(format('%s: the setting "%s"%s also needs the setting "%s".', owner, name,
                                         CASE WHEN rule -> 'needs' ? (settings ->> name)
                                              THEN format(' is "%s", which', settings ->> name) ELSE '' END, lacking),
                                  internal.write_instead(lacking, rules -> lacking));
        END IF;
        IF rule ? 'needs_one_of' AND NOT settings ?| ARRAY(SELECT jsonb_array_elements_text(rule -> 'needs_one_of')) THEN
            PERFORM internal.refuse(format('%s: the setting "%s" also needs one of the settings %s.', owner, name,
                                         (SELECT string_agg(format('"%s"', one), ', ') FROM jsonb_array_elements_text(rule -> 'needs_one_of') AS one)),
                                  internal.write_instead(rule -> 'needs_one_of' ->> 0, rules -> (rule -> 'needs_one_of' ->> 0)));
        END IF;
        SELECT refused INTO lacking
          FROM jsonb_array_elements_text(coalesce(rule -> 'refuses' -> (settings ->> name), rule -> 'refuses' -> '*')) AS refused
         WHERE settings ? refused LIMIT 1;
        IF FOUND THEN
            PERFORM internal.refuse(format(CASE WHEN rule -> 'refuses' ? '*' THEN '%s: the setting "%s" can''t be combined with the setting "%s".'
                                              ELSE '%1$s: the setting "%2$s" is "%4$s", which does not use the setting "%3$s".' END,
                                         owner, name, lacking, settings ->> name),
                                  CASE WHEN rule -> 'refuses' ? '*' THEN format('Leave out one of them.')
                                       ELSE format('Leave out "%s", or choose another "%s".', lacking, name) END);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_settings(text, text, jsonb, jsonb) IS
    'Rejects settings that the rules of a type don''t allow.';

CREATE OR REPLACE FUNCTION internal.check_token_labels(owner text, tenant text, settings jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name text;
    label text;
BEGIN
    FOR name, label IN
        SELECT s.key, internal.token_label(s.value) FROM jsonb_each(settings) AS s
         WHERE jsonb_typeof(s.value) = 'object' AND s.value ? 'pkcs11' ORDER BY s.key COLLATE "C" LOOP
        IF NOT starts_with(label, tenant || '/') THEN
            PERFORM internal.refuse(format('%s: the setting "%s" names the key "%s", which is not a key of tenant "%s".', owner, name, label, tenant),
                                  format('Write a label that begins with "%s/". Have an operator create the key in the PKCS#11 token under such a label, for example "%1$s/ca".', tenant));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_token_labels(text, text, jsonb) IS
    'Rejects a key in the PKCS#11 token whose label does not begin with the tenant''s name and a slash.';

-- ---------------------------------------------------------------- settings that contradict each other

CREATE OR REPLACE FUNCTION internal.filled_in(template text, provider jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    filled text := template;
    name text;
BEGIN
    IF strpos(template, '{provider.') = 0 THEN
        RETURN template;
    END IF;
    FOREACH name IN ARRAY ARRAY(SELECT m[1] FROM regexp_matches(template, '[{]provider[.]([a-z_]+)[}]', 'g') AS m) LOOP
        -- no character that means something in a jsonpath or ends its string
        filled := CASE WHEN provider ->> name ~ '^[A-Za-z0-9._-]+$' THEN replace(filled, '{provider.' || name || '}', provider ->> name) END;
    END LOOP;
    RETURN filled;
END
$$;
COMMENT ON FUNCTION internal.filled_in(text, jsonb) IS
    'The template with each {provider.setting} replaced by that setting; null if a setting is missing or is more than a name.';

CREATE OR REPLACE FUNCTION internal.contradictions(rules jsonb, provider_settings jsonb, targets text[], key_settings jsonb, duration int)
    RETURNS TABLE (is_advice boolean, fault text, advice text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.rule ? 'lint', internal.filled_in(r.rule ->> 'fault', p.settings), internal.filled_in(r.rule ->> 'do', p.settings)
      FROM (SELECT provider_settings || coalesce(jsonb_build_object('role_account', substring(key_settings ->> 'role_arn' FROM ':iam::([0-9]{12}):')), '{}')) AS p (settings)
     CROSS JOIN jsonb_array_elements(rules) WITH ORDINALITY AS r (rule, place)
     -- A rule that names a key is about keys. Advice about an access provider alone is not repeated for each of its keys.
     WHERE CASE WHEN r.rule ->> 'when' ~ '[$][.](key|duration)' THEN key_settings IS NOT NULL OR strpos(r.rule ->> 'when', '$.targets') > 0
                ELSE key_settings IS NULL OR NOT r.rule ? 'lint' END
       AND jsonb_path_match(
               jsonb_strip_nulls(jsonb_build_object(
                   'provider', provider_settings, 'targets', to_jsonb(targets), 'duration', duration,
                   'key', CASE WHEN jsonb_typeof(key_settings -> 'policy') = 'string' AND internal.is_json_object(key_settings ->> 'policy')
                               THEN jsonb_set(key_settings, '{policy}', (key_settings ->> 'policy')::jsonb) ELSE key_settings END)),
               internal.filled_in(r.rule ->> 'when', p.settings)::jsonpath, silent => true)
     ORDER BY r.place;
$$;
COMMENT ON FUNCTION internal.contradictions(jsonb, jsonb, text[], jsonb, int) IS
    'The rules of broker.provider_type.contradictions that these settings meet. key_settings and duration: null for an access provider alone.';

CREATE OR REPLACE FUNCTION internal.check_contradictions(owner text, kind broker.provider_type, provider broker.access_provider, key_settings jsonb)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT c.fault, c.advice FROM internal.contradictions(kind.contradictions, provider.settings, provider.allowed_targets, key_settings, NULL) AS c
                  WHERE NOT c.is_advice LOOP
        PERFORM internal.refuse(format('%s %s.', owner, found.fault), found.advice);
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_contradictions(text, broker.provider_type, broker.access_provider, jsonb) IS
    'Rejects settings that contradict each other, by broker.provider_type.contradictions. key_settings: null while only the access provider is checked.';

-- ---------------------------------------------------------------- a key and its access provider

CREATE OR REPLACE FUNCTION internal.span_of(shortest int, longest int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN format('%s to %s seconds', shortest, longest);
COMMENT ON FUNCTION internal.span_of(int, int) IS 'The allowed lifetime of a type''s credentials, in words.';

CREATE OR REPLACE FUNCTION internal.allows_target(allowed_targets text[], target text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT target IS NULL OR EXISTS (SELECT FROM unnest(allowed_targets) AS allowed WHERE internal.glob_matches(allowed, target));
$$;
COMMENT ON FUNCTION internal.allows_target(text[], text) IS
    'Whether a glob matches a target; true for null. A key without a target has the empty string as target.';

CREATE OR REPLACE FUNCTION internal.targets(rule jsonb, value jsonb) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format(coalesce(rule ->> 'target', '%s'), value #>> '{}') WHERE jsonb_typeof(value) = 'string'
     UNION ALL
    SELECT format(coalesce(rule ->> 'target', '%s'), item)
      FROM jsonb_array_elements_text(CASE jsonb_typeof(value) WHEN 'array' THEN value ELSE '[]' END) AS item
     UNION ALL
    SELECT format(coalesce(rule ->> 'target', '%s:%s'), given.key, given.value)
      FROM jsonb_each_text(CASE jsonb_typeof(value) WHEN 'object' THEN value ELSE '{}' END) AS given
     UNION ALL
    SELECT rule ->> 'target' WHERE value = 'true';
$$;
COMMENT ON FUNCTION internal.targets(jsonb, jsonb) IS
    'The targets of a key''s setting: a string, each element of a list, or each name:value of an object, in the form of the rule''s "target".';

CREATE OR REPLACE FUNCTION internal.named_targets(names text[], rules jsonb, settings jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_agg(target, ', ' ORDER BY place, target COLLATE "C")
      FROM unnest(names) WITH ORDINALITY AS s (setting, place),
           internal.targets(rules -> setting, settings -> setting) AS target;
$$;
COMMENT ON FUNCTION internal.named_targets(text[], jsonb, jsonb) IS
    'All targets of a key, for people; null if it names none. The names are those of the type''s target settings.';

CREATE OR REPLACE FUNCTION internal.fields_at(kind broker.provider_type, settings jsonb) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT kind.fields || ARRAY(SELECT DISTINCT field
                                  FROM jsonb_each(kind.provider_settings) AS rule,
                                       jsonb_array_elements_text(settings -> rule.key) AS field
                                 WHERE rule.value -> 'names_fields' = 'true' ORDER BY field);
$$;
COMMENT ON FUNCTION internal.fields_at(broker.provider_type, jsonb) IS
    'The fields of credentials of an access provider with these settings: those of its type, and those that a setting with "names_fields" lists.';

-- ---------------------------------------------------------------- an identity provider and its issuer

CREATE OR REPLACE FUNCTION internal.requires_an_owner(required_claims jsonb, owner_claims text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN EXISTS (
        SELECT FROM jsonb_each(required_claims) AS required (claim, value)
         WHERE claim = ANY (owner_claims)
           AND jsonb_typeof(value) <> 'object'
           AND NOT (jsonb_typeof(value) = 'array' AND jsonb_path_exists(value, '$[*] ? (@.type() == "object")')));
COMMENT ON FUNCTION internal.requires_an_owner(jsonb, text[]) IS
    'Whether at least one of the owner claims must have an exact value, or one of several exact values.';
