-- A key must work with its access provider, a grant with its key, an identity provider with its issuer.

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
                THEN format('which has bits after its prefix: write %s, or %s for the one address', network(written::inet), host(written::inet)) END;
EXCEPTION WHEN data_exception THEN
    RETURN 'which is not an IP address or a network';
END
$$;
COMMENT ON FUNCTION internal.network_fault(text) IS
    'The fault of an address or a network in CIDR notation, as the end of a sentence; null if there is none.';

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
        RETURN format('has %s characters, more than %s', length(written), longest);
    ELSIF written ~ '[\u0001-\u001f\u007f-\u009f]' THEN
        RETURN 'must be one line, without control characters';
    ELSIF NOT coalesce(rule -> 'one_of' ? written, true) THEN
        RETURN format('is "%s", and must be one of %s', written,
                      (SELECT string_agg(one, ', ') FROM jsonb_array_elements_text(rule -> 'one_of') AS one)
                      || coalesce(' (did you mean "' || internal.nearest(written, ARRAY(SELECT jsonb_array_elements_text(rule -> 'one_of'))) || '"?)', ''));
    ELSIF rule ->> 'is' = 'url' AND (written !~ ('^https?://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*[.]?'
                                         || '|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&''()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?$')
                                     OR coalesce(substring(written FROM '^https?://[^/]*:([0-9]+)(?:/|$)')::int, 1) NOT BETWEEN 1 AND 65535) THEN
        RETURN format('is "%s", which is not a URL of the form https://host/path (no user, query or fragment)', written);
    ELSIF position(rule ->> 'must_contain' IN written) = 0 THEN
        RETURN format('is "%s", and must contain %s', written, rule ->> 'must_contain');
    ELSIF (rule ->> 'not_for_vendors')::boolean AND internal.is_vendor_audience(written) THEN
        RETURN format('is "%s", which is an audience of a cloud vendor, and the token goes to a client', written);
    ELSIF rule ->> 'is' <> 'map' AND rule -> 'reserved' ? written THEN
        RETURN format('is "%s", which the broker sets', written);
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
    'The fault of a string by a rule of broker.provider_type, as the end of a sentence; null if there is none.';

CREATE OR REPLACE FUNCTION internal.claim_fault(value jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN jsonb_typeof(value) <> 'object' OR NOT value ?& '{name,value}' OR value - '{name,value}'::text[] <> '{}'
            THEN 'must be an object of names and values'
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
    'The fault of {"name": …, "value": …}, as the end of a sentence; null if there is none.';

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
        RETURN format('has %s characters as JSON, more than %s', internal.compact_length(value), rule ->> 'max_total');
    END IF;
    FOR given IN SELECT m.key, m.value FROM jsonb_each(value) AS m ORDER BY m.key COLLATE "C" LOOP
        IF NOT coalesce(rule -> 'names' ? given.key, true) THEN
            RETURN format('has the name "%s", which is none of %s', given.key,
                          (SELECT string_agg(one, ', ') FROM jsonb_array_elements_text(rule -> 'names') AS one));
        ELSIF given.key !~ (rule ->> 'name_pattern') THEN
            RETURN format('has the name "%s", which is not %s', given.key, coalesce(rule ->> 'name_form', 'a valid name'));
        ELSIF NOT coalesce(rule -> 'likely_names' ? given.key, true) AND internal.nearest(given.key, likely) IS NOT NULL THEN
            RETURN format('has the name "%s", which is unknown (did you mean "%s"?)', given.key, internal.nearest(given.key, likely));
        ELSIF rule -> 'reserved' ? given.key THEN
            RETURN format('names "%s", which the broker sets', given.key);
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
    'The fault of an object of strings by a rule of broker.provider_type, as the end of a sentence; null if there is none.';

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
                        THEN format('has %s elements, more than %s', jsonb_array_length(value), rule ->> 'max_items')
                    ELSE coalesce((SELECT 'has an element that ' || min(internal.text_fault(rule, one)) FROM jsonb_array_elements(value) AS one),
                                  (SELECT format('has %s twice', one) FROM jsonb_array_elements(value) AS one GROUP BY one HAVING count(*) > 1 LIMIT 1)) END;
    WHEN 'object' THEN
        RETURN CASE WHEN kind <> 'object' THEN format('must be an object, not %s', internal.a_kind(value)) END;
    WHEN 'number' THEN
        RETURN CASE WHEN kind <> 'number' THEN format('must be a number, not %s', internal.a_kind(value))
                    WHEN value::numeric NOT BETWEEN (rule ->> 'min')::int AND (rule ->> 'max')::int OR value::numeric % 1 <> 0
                        THEN format('is %s, and must be a whole number from %s to %s', value, rule ->> 'min', rule ->> 'max') END;
    WHEN 'map' THEN
        RETURN internal.map_fault(rule, value);
    WHEN 'pem' THEN
        RETURN CASE WHEN kind <> 'string' THEN format('must be a string, not %s', internal.a_kind(value))
                    WHEN length(value #>> '{}') > longest THEN format('has %s characters, more than %s', length(value #>> '{}'), longest)
                    WHEN value #>> '{}' !~ '^[[:space:]]*(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=[:space:]]+-----END CERTIFICATE-----[[:space:]]*)+$'
                        THEN 'is not a certificate in PEM'
                    ELSE internal.certificate_fault(rule, value #>> '{}') END;
    WHEN 'policy' THEN
        RETURN CASE WHEN kind NOT IN ('object', 'string') OR kind = 'string' AND NOT internal.is_json_object(value #>> '{}')
                        THEN 'must be a policy: a JSON object, or a string with one'
                    WHEN CASE kind WHEN 'object' THEN internal.compact_length(value) ELSE length(value #>> '{}') END > longest
                        THEN format('is a policy of more than %s characters', longest) END;
    WHEN 'secret' THEN
        RETURN CASE WHEN kind = 'object' AND value ? 'pkcs11'
                        THEN CASE WHEN rule -> 'in_token' IS DISTINCT FROM 'true'
                                      THEN 'must be in a file: a token holds keys that sign, and no secret that is sent'
                                  WHEN value - 'pkcs11' <> '{}'
                                      THEN 'must name either a file or a key in the token'
                                  WHEN jsonb_typeof(value -> 'pkcs11') <> 'string'
                                       OR internal.token_label(value) !~ '^[A-Za-z0-9._-]{1,128}(/[A-Za-z0-9._-]{1,128}){1,7}$'
                                      THEN 'must name a key in the token by its label, which is the tenant''s name, a / and letters, digits and any of ._-/' END
                    WHEN kind <> 'object' OR NOT value ? 'file' OR value - 'file' <> '{}'
                        THEN 'must not contain the secret itself; secrets are never stored in the database'
                    WHEN jsonb_typeof(value -> 'file') <> 'string'
                         OR value ->> 'file' !~ '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,127}){0,7}$'
                        THEN 'must name a file in the tenant''s secrets directory, without . or .. as a folder'
                    WHEN value ->> 'file' ~* '[.](pub|crt|cer|csr)$'
                        THEN format('names the file "%s", which by its name is a public key, a certificate or a request for one', value ->> 'file') END;
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
    'The fault of a setting by its rule in broker.provider_type, as the end of a sentence; null if there is none.';

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
        WHEN rule ? 'default' THEN format('Left out, it is %s.', rule -> 'default')
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
            PERFORM internal.refuse(format('%s: the setting "%s"%s needs the setting "%s" too.', owner, name,
                                         CASE WHEN rule -> 'needs' ? (settings ->> name)
                                              THEN format(' is "%s", which', settings ->> name) ELSE '' END, lacking),
                                  internal.write_instead(lacking, rules -> lacking));
        END IF;
        IF rule ? 'needs_one_of' AND NOT settings ?| ARRAY(SELECT jsonb_array_elements_text(rule -> 'needs_one_of')) THEN
            PERFORM internal.refuse(format('%s: the setting "%s" needs one of the settings %s too.', owner, name,
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
                                  format('Labels in the token begin with "%s/": an operator makes the key as "%1$s/NAME".', tenant));
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
    SELECT r.rule ? 'lint', internal.filled_in(r.rule ->> 'fault', provider_settings), internal.filled_in(r.rule ->> 'do', provider_settings)
      FROM jsonb_array_elements(rules) WITH ORDINALITY AS r (rule, place)
     -- A rule that names a key is about keys. Advice about an access provider alone is not repeated for each of its keys.
     WHERE CASE WHEN r.rule ->> 'when' ~ '[$][.](key|duration)' THEN key_settings IS NOT NULL OR strpos(r.rule ->> 'when', '$.targets') > 0
                ELSE key_settings IS NULL OR NOT r.rule ? 'lint' END
       AND jsonb_path_match(
               jsonb_strip_nulls(jsonb_build_object(
                   'provider', provider_settings, 'targets', to_jsonb(targets), 'duration', duration,
                   'key', CASE WHEN jsonb_typeof(key_settings -> 'policy') = 'string' AND internal.is_json_object(key_settings ->> 'policy')
                               THEN jsonb_set(key_settings, '{policy}', (key_settings ->> 'policy')::jsonb) ELSE key_settings END)),
               internal.filled_in(r.rule ->> 'when', provider_settings)::jsonpath, silent => true)
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

CREATE OR REPLACE FUNCTION internal.check_filled_lengths(owner text, rules jsonb, checked broker.key) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name text;
    longest int;
    filled int;
BEGIN
    FOR name, longest IN SELECT r.key, (r.value ->> 'longest_filled')::int FROM jsonb_each(rules) AS r
                          WHERE r.value ? 'longest_filled' AND checked.settings ? r.key LOOP
        filled := length(replace(replace(replace(checked.settings ->> name, '{mint_id}', repeat('0', 36)),
                                         '{tenant}', checked.tenant), '{key}', checked.name));
        IF filled > longest THEN
            PERFORM internal.refuse(format('%s: the setting "%s" gives %s characters once {mint_id}, {tenant} and {key} are filled in; the maximum is %s.',
                                           owner, name, filled, longest),
                                    format('{mint_id} has 36 characters. Shorten the rest to %s.', longest - 36));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_filled_lengths(text, jsonb, broker.key) IS
    'Rejects a key with a template that is too long once it is filled in: "longest_filled" in the rules of its type.';

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

CREATE OR REPLACE FUNCTION internal.check_listed_names(owner text, rules jsonb, settings jsonb, provider broker.access_provider)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name text;
    listing text;
    listed text[];
BEGIN
    FOR name, listing IN SELECT r.key, r.value ->> 'names_in' FROM jsonb_each(rules) AS r WHERE r.value ? 'names_in' LOOP
        listed := ARRAY(SELECT DISTINCT one FROM jsonb_array_elements_text(coalesce(provider.settings -> listing, '[]')) AS one ORDER BY one);
        IF listed <> ARRAY(SELECT one FROM jsonb_object_keys(coalesce(settings -> name, '{}')) AS one ORDER BY one) THEN
            PERFORM internal.refuse(
                CASE WHEN listed = '{}' THEN format('%s has the setting "%s", and access provider "%s" lists none in its setting "%s".',
                                                    owner, name, provider.name, listing)
                     ELSE format('%s: the setting "%s" must give %s, which access provider "%s" lists in its setting "%s".',
                                 owner, name, array_to_string(listed, ', '), provider.name, listing) END,
                CASE WHEN listed = '{}' THEN format('Leave out "%s".', name)
                     ELSE format('Write "%s": {%s}.', name,
                                 (SELECT string_agg(format('"%s": "…"', one), ', ') FROM unnest(listed) AS one)) END);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_listed_names(text, jsonb, jsonb, broker.access_provider) IS
    'Refuses a key whose object does not have exactly the names that its access provider lists.';

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

-- Called after the row is written and its change recorded. Recording locks the tenant's row, so
-- a provider can't change while its key is being checked, or the other way round.
CREATE OR REPLACE FUNCTION internal.check_key(checked broker.key) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', checked.name, checked.tenant);
    provider broker.access_provider;
    kind broker.provider_type;
    fields text[];
    aim text;
    named text;
    output record;
BEGIN
    SELECT p.* INTO provider FROM broker.access_provider AS p
     WHERE p.tenant = checked.tenant AND p.name = checked.provider;
    SELECT t.* INTO kind FROM broker.provider_type AS t WHERE t.type = provider.type;
    PERFORM internal.check_settings(owner, format('a key of type %s', kind.type), kind.key_settings, checked.settings);
    PERFORM internal.check_listed_names(owner, kind.key_settings, checked.settings, provider);
    PERFORM internal.check_contradictions(owner, kind, provider, checked.settings);
    PERFORM internal.check_filled_lengths(owner, kind.key_settings, checked);
    IF checked.resource IS NOT NULL AND NOT kind.fields @> '{AccessToken,Expiration}' THEN
        PERFORM internal.refuse(format('%s has a resource, but type %s gives no token that a client can show there.', owner, kind.type),
                                format('Set resource to null. Clients of POST /oauth2/token find keys by it, of the types %s.',
                                       (SELECT string_agg(t.type, ', ' ORDER BY t.type) FROM broker.provider_type AS t WHERE t.fields @> '{AccessToken,Expiration}')));
    END IF;
    fields := internal.fields_at(kind, provider.settings);

    FOR output IN SELECT key AS member, value AS field FROM jsonb_each_text(checked.outputs) ORDER BY key COLLATE "C" LOOP
        IF output.field <> ALL (fields) THEN
            PERFORM internal.refuse(
                format('%s: the output "%s" names "%s", which is not a field of %s.', owner, output.member, output.field,
                       CASE WHEN fields = kind.fields THEN 'type ' || kind.type ELSE format('access provider "%s"', provider.name) END),
                internal.did_you_mean(output.field, fields, 'Its fields'));
        END IF;
    END LOOP;

    IF NOT checked.settings ?| (kind.target_setting || kind.further_targets)
       AND NOT internal.allows_target(provider.allowed_targets, '') THEN
        PERFORM internal.refuse(
            format('%s has no %s, but access provider "%s" restricts it.', owner,
                   (SELECT string_agg(format('"%s"', name), ' and no ') FROM unnest(kind.target_setting || kind.further_targets) AS name
                     WHERE NOT kind.key_settings -> name ? 'names_in'),
                   provider.name),
            format('Its allowed_targets: %s. A platform admin can change them.', array_to_string(provider.allowed_targets, ', ')));
    END IF;
    SELECT setting, target INTO aim, named
      FROM unnest(kind.target_setting || kind.further_targets) AS setting,
           internal.targets(kind.key_settings -> setting, checked.settings -> setting) AS target
     WHERE strpos(target, '*') > 0 AND target NOT LIKE 'dns:*.%' ORDER BY target COLLATE "C" LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse(format('%s: the setting "%s" has a *: a key names one target, not a pattern.', owner, aim),
                                internal.write_instead(aim, kind.key_settings -> aim) || ' Patterns are for allowed_targets.');
    END IF;
    FOR aim, named IN
        SELECT setting, target
          FROM unnest(kind.target_setting || kind.further_targets) WITH ORDINALITY AS s (setting, place),
               internal.targets(kind.key_settings -> setting, checked.settings -> setting) AS target
         WHERE NOT internal.allows_target(provider.allowed_targets, target)
            OR target ~ (kind.key_settings -> setting ->> 'named_literally') AND target <> ALL (provider.allowed_targets)
         ORDER BY place, target COLLATE "C" LIMIT 1 LOOP
        PERFORM internal.refuse(
            format(CASE WHEN named = checked.settings ->> aim THEN '%s: the setting "%s" is "%s", which access provider "%s" does not allow.'
                        ELSE '%s: the setting "%s" has the target "%s", which access provider "%s" does not allow.' END,
                   owner, aim, named, provider.name),
            format('Its allowed_targets: %s. A platform admin can change them.', array_to_string(provider.allowed_targets, ', ')));
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_key(broker.key) IS
    'Refuses a key that does not fit its access provider: settings, outputs, target.';

CREATE OR REPLACE FUNCTION internal.check_key_duration(checked broker.key) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', checked.name, checked.tenant);
    kind broker.provider_type;
    of_tenant int;
BEGIN
    SELECT y.* INTO kind
      FROM broker.access_provider AS p JOIN broker.provider_type AS y ON y.type = p.type
     WHERE p.tenant = checked.tenant AND p.name = checked.provider;
    SELECT t.max_duration INTO of_tenant FROM broker.tenant AS t WHERE t.name = checked.tenant;
    IF checked.max_duration < kind.min_duration OR checked.max_duration > kind.max_duration THEN
        PERFORM internal.refuse(
            format('%s: max_duration is %s seconds, but type %s issues credentials for %s.',
                   owner, checked.max_duration, kind.type, internal.span_of(kind.min_duration, kind.max_duration)),
            format('max_duration is in seconds%s. Write %s to %s, for example %s.',
                   CASE WHEN checked.max_duration <= 48 THEN format(': %s hours are %s', checked.max_duration, checked.max_duration * 3600) ELSE '' END,
                   kind.min_duration, kind.max_duration,
                   CASE WHEN checked.max_duration <= 48 AND checked.max_duration * 3600 BETWEEN kind.min_duration AND kind.max_duration THEN checked.max_duration * 3600
                        ELSE least(greatest(checked.max_duration, kind.min_duration), kind.max_duration) END));
    ELSIF checked.max_duration > of_tenant THEN
        PERFORM internal.refuse(
            format('%s: max_duration is %s seconds; the tenant''s maximum is %s.', owner, checked.max_duration, of_tenant),
            CASE WHEN of_tenant < kind.min_duration
                 THEN format('Type %s issues credentials for %s seconds or more. ', kind.type, kind.min_duration)
                 ELSE format('Write %s. ', of_tenant) END
            || 'Platform admins can raise broker.tenant.max_duration.');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_key_duration(broker.key) IS
    'Rejects a key whose credentials would be valid for a shorter or longer time than its type and tenant allow.';

-- ---------------------------------------------------------------- a grant and its key

CREATE OR REPLACE FUNCTION internal.check_grant_duration(checked broker.subject_grant) RETURNS void
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
            format('%s has a max_duration of %s seconds, but type %s issues credentials for %s.',
                   owner, checked.max_duration, kind.type, internal.span_of(kind.min_duration, kind.max_duration)),
            format('Write %s or more, or null to leave it to the key.', kind.min_duration));
    ELSIF checked.valid_until - checked.valid_from < kind.min_duration * interval '1 second' THEN
        PERFORM internal.refuse(
            format('%s is valid for less than %s seconds, the minimum for a credential of type %s.',
                   owner, kind.min_duration, kind.type),
            'A credential never outlives its grant, so this grant could never be used. Set a later valid_until.');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_grant_duration(broker.subject_grant) IS
    'Refuses a grant that lasts shorter than the shortest credential of its key.';

-- The issuer of a jwt token is the tenant's, whatever identity provider its client comes from, so
-- the same subject from two of them would be the same identity for services that read iss and sub.
CREATE OR REPLACE FUNCTION internal.may_be_one(one broker.subject_grant, other broker.subject_grant) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN one.match = 'exact' AND other.match = 'exact' THEN one.subject = other.subject
                WHEN other.match = 'exact' THEN internal.glob_matches(one.subject, other.subject)
                WHEN one.match = 'exact' THEN internal.glob_matches(other.subject, one.subject)
                ELSE internal.globs_overlap(one.subject, other.subject) END;
END
$$;
COMMENT ON FUNCTION internal.may_be_one(broker.subject_grant, broker.subject_grant) IS
    'Whether a subject could match both grants.';

CREATE OR REPLACE FUNCTION internal.gives_tokens_of_the_tenant(tenant text, key text) RETURNS boolean
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

-- Always along the indexes: a plan made while there were few grants would read all of them for each row of a bulk edit.
CREATE OR REPLACE FUNCTION internal.other_that_may_be_one(checked broker.subject_grant, other_idp text) RETURNS broker.subject_grant
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
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

CREATE OR REPLACE FUNCTION internal.check_grant_issuer(checked broker.subject_grant) RETURNS void
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
    'Rejects a grant that would give subjects of two identity providers tokens with the same iss and sub.';

-- ---------------------------------------------------------------- triggers

CREATE OR REPLACE FUNCTION internal.check_written_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.check_key(NEW);
    -- A key from before the tenant's maximum was lowered can be disabled.
    IF TG_OP = 'INSERT' OR NEW.enabled THEN
        PERFORM internal.check_key_duration(NEW);
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.provider <> NEW.provider THEN
        PERFORM internal.check_grant_duration(g) FROM broker.subject_grant AS g
          WHERE g.tenant = NEW.tenant AND g.key = NEW.name AND (g.max_duration IS NOT NULL OR g.valid_until IS NOT NULL);
        PERFORM internal.check_grant_issuer(g) FROM broker.subject_grant AS g
          WHERE g.tenant = NEW.tenant AND g.key = NEW.name;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_written_key() IS 'Trigger: rejects a key that cannot work.';

CREATE OR REPLACE FUNCTION internal.check_written_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Access provider "%s" of tenant "%s"', NEW.name, NEW.tenant);
    kind broker.provider_type;
BEGIN
    SELECT t.* INTO kind FROM broker.provider_type AS t WHERE t.type = NEW.type;
    PERFORM internal.check_settings(owner, format('an access provider of type %s', kind.type), kind.provider_settings, NEW.settings);
    PERFORM internal.check_token_labels(owner, NEW.tenant, NEW.settings);
    PERFORM internal.check_contradictions(owner, kind, NEW, NULL);
    IF NEW.shared_identity AND NOT kind.may_share_identity THEN
        PERFORM internal.refuse(format('%s has shared_identity, but type %s does not use the broker''s identity.', owner, kind.type),
                              'Leave shared_identity false.');
    END IF;
    IF TG_OP = 'UPDATE' AND (OLD.type, OLD.allowed_targets, internal.fields_at(kind, OLD.settings))
                            IS DISTINCT FROM (NEW.type, NEW.allowed_targets, internal.fields_at(kind, NEW.settings)) THEN
        PERFORM internal.check_key(k) FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.provider = NEW.name;
        PERFORM internal.check_key_duration(k) FROM broker.key AS k
          WHERE OLD.type <> NEW.type AND k.tenant = NEW.tenant AND k.provider = NEW.name;
        PERFORM internal.check_grant_duration(g)
           FROM broker.key AS k
           JOIN broker.subject_grant AS g ON g.tenant = k.tenant AND g.key = k.name
          WHERE OLD.type <> NEW.type AND k.tenant = NEW.tenant AND k.provider = NEW.name
            AND (g.max_duration IS NOT NULL OR g.valid_until IS NOT NULL);
        PERFORM internal.check_grant_issuer(g)
           FROM broker.key AS k
           JOIN broker.subject_grant AS g ON g.tenant = k.tenant AND g.key = k.name
          WHERE OLD.type <> NEW.type AND k.tenant = NEW.tenant AND k.provider = NEW.name;
    ELSIF TG_OP = 'UPDATE' AND OLD.settings <> NEW.settings THEN
        PERFORM internal.check_contradictions(format('Key "%s" of tenant "%s"', k.name, k.tenant), kind, NEW, k.settings)
           FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.provider = NEW.name;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_written_provider() IS
    'Trigger: rejects an access provider that cannot work, or whose keys could not.';

CREATE OR REPLACE FUNCTION internal.check_written_grant() RETURNS trigger
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

-- ---------------------------------------------------------------- an identity provider and its issuer

CREATE OR REPLACE FUNCTION internal.keep_trusted_audiences() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    taken text;
BEGIN
    DELETE FROM work.trusted_audience
     WHERE idp = NEW.name AND (issuer <> NEW.issuer OR audience <> ALL (NEW.audiences));
    -- Waits for a concurrent transaction that has the pair, then leaves the pair to it.
    INSERT INTO work.trusted_audience (issuer, audience, idp)
    SELECT NEW.issuer, audience, NEW.name FROM unnest(NEW.audiences) AS audience ORDER BY audience
        ON CONFLICT (issuer, audience) DO NOTHING;
    -- The owner of the pair may belong to a tenant that the writer cannot see: don't name it.
    SELECT audience INTO taken
      FROM unnest(NEW.audiences) AS audience
     WHERE NOT EXISTS (SELECT FROM work.trusted_audience AS t
                        WHERE t.issuer = NEW.issuer AND t.audience = audience.audience AND t.idp = NEW.name)
     ORDER BY audience LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'an_issuer_and_audience_lead_to_one_identity_provider',
            format('Issuer "%s" with audience "%s" already belongs to another identity provider.', NEW.issuer, taken),
            'A token''s issuer and audience must identify exactly one tenant. Have the clients request a separate audience, for example one that contains the tenant name, and add it to audiences.',
            'unique_violation', refused => to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.keep_trusted_audiences() IS
    'Trigger: maintains runtime.trusted_audience, and rejects a pair of issuer and audience that any tenant already uses.';

CREATE OR REPLACE FUNCTION internal.requires_an_owner(required_claims jsonb, owner_claims text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN EXISTS (
        SELECT FROM jsonb_each(required_claims) AS required (claim, value)
         WHERE claim = ANY (owner_claims)
           AND jsonb_typeof(value) <> 'object'
           AND NOT (jsonb_typeof(value) = 'array' AND jsonb_path_exists(value, '$[*] ? (@.type() == "object")')));
COMMENT ON FUNCTION internal.requires_an_owner(jsonb, text[]) IS
    'Whether at least one of the owner claims must have an exact value, or one of several.';

CREATE OR REPLACE FUNCTION internal.check_owner_claims(idp text, issuer text, required_claims jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    shared broker.shared_issuer;
BEGIN
    SELECT s.* INTO shared FROM broker.shared_issuer AS s
     WHERE internal.nearly(s.issuer) = internal.nearly(check_owner_claims.issuer)
     ORDER BY s.issuer <> check_owner_claims.issuer, s.issuer LIMIT 1;
    IF NOT FOUND OR internal.requires_an_owner(required_claims, shared.owner_claims) THEN
        RETURN;
    END IF;
    PERFORM internal.refuse(
        format(CASE WHEN shared.issuer = issuer
                    THEN 'Identity provider "%s": the issuer "%s" issues tokens to anyone, and required_claims names no owner by an exact value.'
                    ELSE 'Identity provider "%s": the issuer "%s" differs only by case or a slash from "%s", which issues tokens to anyone, and required_claims names no owner by an exact value.' END,
               idp, issuer, shared.issuer),
        CASE WHEN shared.issuer = issuer THEN '' ELSE format('Write the issuer exactly as "%s". ', shared.issuer) END
        || format('Require at least one of %s, for example {"%s": "…"}; a glob is not enough.', array_to_string(shared.owner_claims, ', '), shared.owner_claims[1]));
END
$$;
COMMENT ON FUNCTION internal.check_owner_claims(text, text, jsonb) IS
    'Rejects an identity provider that would accept tokens of every customer of a shared issuer, in any spelling of its URL.';

CREATE OR REPLACE FUNCTION internal.check_written_identity_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- A change of broker.shared_issuer locks this row FOR UPDATE (internal.record_change), so one waits for the other.
    PERFORM FROM work.mutex AS m WHERE m.name = 'changes without tenant' FOR SHARE;
    PERFORM internal.check_owner_claims(NEW.name, NEW.issuer, NEW.required_claims);
    IF NEW.issuer ~* '^https://(login[.]microsoftonline[.](com|us)|login[.]partner[.]microsoftonline[.]cn|sts[.]windows[.]net)/(common|organizations|consumers)(/|$)' THEN
        PERFORM internal.refuse(format('Identity provider "%s": no token has the issuer "%s". "%s" stands for any directory in Entra''s URLs only.', NEW.name, NEW.issuer,
                                       substring(NEW.issuer FROM '(?i)(common|organizations|consumers)')),
                                'Write the id of the directory in its place: az account show --query tenantId.');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_written_identity_provider() IS
    'Trigger: requires the owner''s claims in an identity provider of a shared issuer.';

CREATE OR REPLACE FUNCTION internal.check_written_shared_issuer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.check_owner_claims(p.name, p.issuer, p.required_claims)
       FROM broker.identity_provider AS p WHERE internal.nearly(p.issuer) = internal.nearly(NEW.issuer);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_written_shared_issuer() IS
    'Trigger: checks existing identity providers when an issuer becomes shared.';
