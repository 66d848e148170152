-- What could not work is refused when it is written, in a sentence, with what to write instead.

-- ---------------------------------------------------------------- misspelt names

CREATE FUNCTION broker.edit_distance(one text, other text) RETURNS int
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    above int[];
    line int[];
BEGIN
    above := ARRAY(SELECT generate_series(0, length(other)));
    FOR i IN 1 .. length(one) LOOP
        line := ARRAY[i];
        FOR j IN 1 .. length(other) LOOP
            line := line || least(above[j] + (substr(one, i, 1) <> substr(other, j, 1))::int,
                                  above[j + 1] + 1, line[j] + 1);
        END LOOP;
        above := line;
    END LOOP;
    RETURN above[length(other) + 1];
END
$$;
COMMENT ON FUNCTION broker.edit_distance(text, text) IS
    'How many characters to add, remove or change to get from one text to the other (Levenshtein).';

CREATE FUNCTION broker.nearest(written text, known text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT name
      FROM (SELECT name, broker.edit_distance(lower(left(written, 64)), lower(name)) AS distance
              FROM unnest(known) AS name) AS candidate
     WHERE distance <= greatest(2, length(name) / 3)
     ORDER BY distance, name COLLATE "C" LIMIT 1;
$$;
COMMENT ON FUNCTION broker.nearest(text, text[]) IS
    'The known name that is spelt most like what was written; null if none is near.';

CREATE FUNCTION broker.did_you_mean(written text, known text[], otherwise text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce('Did you mean "' || broker.nearest(written, known) || '"? ', '')
        || CASE WHEN cardinality(known) = 0 THEN format('%s: none.', otherwise)
                ELSE format('%s: %s.', otherwise, (SELECT string_agg(name, ', ' ORDER BY name COLLATE "C")
                                                     FROM unnest(known) AS name)) END;
$$;
COMMENT ON FUNCTION broker.did_you_mean(text, text[], text) IS
    'A hint: the nearest known name, if one is near, and all of them.';

CREATE FUNCTION broker.refuse(message text, hint text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '%', message USING ERRCODE = 'check_violation', HINT = coalesce(hint, '');
END
$$;
COMMENT ON FUNCTION broker.refuse(text, text) IS 'Ends the statement with a message and a hint.';

CREATE FUNCTION broker.refuse_move(what text, old_tenant text, new_tenant text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF old_tenant <> new_tenant THEN
        PERFORM broker.refuse(format('A row of broker.%s stays with its tenant: it cannot move from "%s" to "%s".',
                                     what, old_tenant, new_tenant),
                              'Insert it anew for the other tenant, and delete it here.');
    END IF;
END
$$;
COMMENT ON FUNCTION broker.refuse_move(text, text, text) IS 'Refuses to give a row to another tenant, before references to it do.';


-- ---------------------------------------------------------------- claims and conditions on them

CREATE FUNCTION broker.is_reserved_claim(name text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN name = ANY ('{iss,sub,aud,exp,nbf,iat,jti,azp,client_id,act,may_act,cnf,nonce,auth_time,acr,amr}'::text[])
        OR starts_with(lower(name), 'https://aws.amazon.com');
COMMENT ON FUNCTION broker.is_reserved_claim(text) IS
    'Whether a claim says who a token is about or who acts for whom, so that no configuration may set it.';

CREATE FUNCTION broker.is_condition(condition jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE jsonb_typeof(condition)
               WHEN 'string' THEN true
               WHEN 'boolean' THEN true
               -- what a double can hold
               WHEN 'number' THEN abs(condition::numeric) <= 1.7976931348623157e308
               WHEN 'object' THEN jsonb_typeof(condition -> 'glob') IS NOT DISTINCT FROM 'string'
                                  AND condition - 'glob' = '{}'
               ELSE false END;
COMMENT ON FUNCTION broker.is_condition(jsonb) IS
    'Whether a claim can be held against it: a text, a number, true, false or {"glob": "…"}.';

CREATE FUNCTION broker.claims_fault(conditions jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    claim text;
    condition jsonb;
BEGIN
    IF conditions = '{}' THEN
        RETURN NULL;
    ELSIF jsonb_typeof(conditions) <> 'object' THEN
        RETURN format('they are an object, {"claim": value}, not %s', broker.a_kind(conditions));
    END IF;
    FOR claim, condition IN SELECT key, value FROM jsonb_each(conditions) ORDER BY key COLLATE "C" LOOP
        IF starts_with(claim, '/') AND claim ~ '~(?![01])' THEN
            RETURN format('"%s" begins like a JSON pointer, where ~ is written ~0 and / is written ~1', claim);
        ELSIF jsonb_typeof(condition) = 'array' THEN
            IF condition = '[]' THEN
                RETURN format('the list for "%s" is empty, so no token could ever meet it', claim);
            ELSIF NOT (SELECT bool_and(broker.is_condition(one)) FROM jsonb_array_elements(condition) AS one) THEN
                RETURN format('the list for "%s" may hold texts, numbers, true, false and {"glob": "…"} only', claim);
            END IF;
        ELSIF NOT broker.is_condition(condition) THEN
            RETURN CASE WHEN jsonb_typeof(condition) = 'object'
                        THEN format('the condition on "%s" is an object, which can only be {"glob": "…"}', claim)
                        WHEN jsonb_typeof(condition) = 'number'
                        THEN format('the number for "%s" is too large', claim)
                        ELSE format('the condition on "%s" is null, and an absent claim never matches', claim) END;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.claims_fault(jsonb) IS
    'What is wrong with conditions on claims, as the end of a sentence; null if nothing is.';

CREATE FUNCTION broker.a_kind(value jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE jsonb_typeof(value) WHEN 'string' THEN 'a text' WHEN 'number' THEN 'a number'
               WHEN 'boolean' THEN 'true or false' WHEN 'array' THEN 'a list'
               WHEN 'object' THEN 'an object' ELSE 'null' END;
COMMENT ON FUNCTION broker.a_kind(jsonb) IS 'What a JSON value is, with its article.';


-- ---------------------------------------------------------------- matching

CREATE FUNCTION broker.glob_matches(pattern text, value text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    literal constant text := split_part(pattern, '*', 1);
    rest text := substr(pattern, length(literal) + 1);
    subject constant text := substr(value, length(literal) + 1);
    parts text[];
    size int;
    nowhere bit varying;
    stars bit varying;
    deep bit varying;
    reached bit varying;
    at_letter bit varying;
    places jsonb := '{}';
    letter text;
    place text;
BEGIN
    IF NOT starts_with(value, literal) THEN
        RETURN false;
    ELSIF rest = '' THEN
        RETURN subject = '';
    END IF;
    rest := regexp_replace(rest, '[*]{3,}', '**', 'g');
    IF rest = '**' THEN
        RETURN true;
    ELSIF rest = '*' THEN
        RETURN subject !~ '[:/]';
    END IF;

    -- All places in the pattern that the text could be at are bits of one word, so that each letter is
    -- one step, whatever the pattern: nothing is tried and taken back. Bit p: p letters of it are behind.
    parts := ARRAY(SELECT part[1] FROM regexp_matches(rest, '([*][*]|.)', 'g') AS part);
    size := cardinality(parts);
    nowhere := repeat('0', size + 1)::bit varying;
    SELECT (string_agg((part IN ('*', '**'))::int::text, '' ORDER BY number) || '0')::bit varying,
           (string_agg((part = '**')::int::text, '' ORDER BY number) || '0')::bit varying
      INTO stars, deep FROM unnest(parts) WITH ORDINALITY AS t (part, number);
    reached := ('1' || repeat('0', size))::bit varying;
    reached := reached | ((reached & stars) >> 1);
    FOREACH letter IN ARRAY regexp_split_to_array(subject, '') LOOP
        EXIT WHEN subject = '';
        place := places ->> letter;
        IF place IS NULL THEN
            SELECT string_agg((part = letter AND part <> '*')::int::text, '' ORDER BY number)
              INTO place FROM unnest(parts) WITH ORDINALITY AS t (part, number);
            places := places || jsonb_build_object(letter, place);
        END IF;
        at_letter := (place || '0')::bit varying;
        reached := ((reached & at_letter) >> 1)
                 | (reached & CASE WHEN letter IN (':', '/') THEN deep ELSE stars END);
        reached := reached | ((reached & stars) >> 1);
        IF reached = nowhere THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN get_bit(reached, size) = 1;
END
$$;
COMMENT ON FUNCTION broker.glob_matches(text, text) IS
    'Whether the whole of a text fits a glob: * stands for anything without : and /, ** for anything, all else for itself. One step a letter, whatever the pattern.';


-- ---------------------------------------------------------------- settings

CREATE FUNCTION broker.compact_length(value jsonb) RETURNS int
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE jsonb_typeof(value)
        WHEN 'object' THEN (SELECT 1 + greatest(1, sum(length(to_json(key)::text) + 2 + broker.compact_length(member.value)))
                              FROM jsonb_each(value) AS member)
        WHEN 'array' THEN (SELECT 1 + greatest(1, sum(1 + broker.compact_length(element)))
                             FROM jsonb_array_elements(value) AS element)
        ELSE length(value::text) END;
END
$$;
COMMENT ON FUNCTION broker.compact_length(jsonb) IS 'How long the JSON text of a value is without blanks.';

CREATE FUNCTION broker.is_json_object(written text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN jsonb_typeof(written::jsonb) = 'object';
EXCEPTION WHEN data_exception THEN
    RETURN false;
END
$$;
COMMENT ON FUNCTION broker.is_json_object(text) IS 'Whether a text is the JSON of an object.';

CREATE FUNCTION broker.text_fault(rule jsonb, value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    written constant text := value #>> '{}';
    longest constant int := coalesce((rule ->> 'max_length')::int, 2048);
BEGIN
    IF jsonb_typeof(value) <> 'string' THEN
        RETURN format('must be a text, not %s', broker.a_kind(value));
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
    ELSIF written !~ (rule ->> 'pattern') THEN
        RETURN format('is "%s", which does not have the form %s', written, rule ->> 'pattern');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.text_fault(jsonb, jsonb) IS
    'What is wrong with a text by a rule of broker.provider_type, as the end of a sentence; null if nothing is.';

CREATE FUNCTION broker.claim_fault(value jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN jsonb_typeof(value) <> 'object' OR NOT value ?& '{name,value}' OR value - '{name,value}'::text[] <> '{}'
            THEN 'must be an object of name and value'
        WHEN broker.text_fault('{"max_length": 255}', value -> 'name') IS NOT NULL
            THEN 'has a name that ' || broker.text_fault('{"max_length": 255}', value -> 'name')
        WHEN broker.is_reserved_claim(value ->> 'name')
            THEN format('names the claim "%s", which only the broker sets', value ->> 'name')
        WHEN jsonb_typeof(value -> 'value') = 'array' AND value -> 'value' <> '[]'
            THEN (SELECT 'has a value that ' || min(broker.text_fault('{}', one)) FROM jsonb_array_elements(value -> 'value') AS one)
        WHEN broker.text_fault('{}', value -> 'value') IS NOT NULL
            THEN 'has a value that ' || broker.text_fault('{}', value -> 'value') END;
$$;
COMMENT ON FUNCTION broker.claim_fault(jsonb) IS
    'What is wrong with {"name": …, "value": …}, as the end of a sentence; null if nothing is.';

CREATE FUNCTION broker.setting_fault(rule jsonb, value jsonb) RETURNS text
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
        RETURN broker.text_fault(rule, value);
    WHEN 'flag' THEN
        RETURN CASE WHEN kind <> 'boolean' THEN format('must be true or false, not %s', broker.a_kind(value)) END;
    WHEN 'list' THEN
        RETURN CASE WHEN kind <> 'array' THEN format('must be a list of texts, not %s', broker.a_kind(value))
                    WHEN value = '[]' THEN 'is an empty list: leave it out instead'
                    WHEN jsonb_array_length(value) > (rule ->> 'max_items')::int
                        THEN format('has %s elements, more than %s', jsonb_array_length(value), rule ->> 'max_items')
                    ELSE (SELECT 'has an element that ' || min(broker.text_fault(rule, one))
                            FROM jsonb_array_elements(value) AS one) END;
    WHEN 'object' THEN
        RETURN CASE WHEN kind <> 'object' THEN format('must be an object, not %s', broker.a_kind(value)) END;
    WHEN 'policy' THEN
        RETURN CASE WHEN kind NOT IN ('object', 'string') OR kind = 'string' AND NOT broker.is_json_object(value #>> '{}')
                        THEN 'must be a policy: a JSON object, or its text'
                    WHEN CASE kind WHEN 'object' THEN broker.compact_length(value) ELSE length(value #>> '{}') END > longest
                        THEN format('is a policy of more than %s characters', longest) END;
    WHEN 'secret' THEN
        RETURN CASE WHEN kind <> 'object' OR NOT value ? 'file' OR value - 'file' <> '{}'
                        THEN 'must not hold the secret itself, which never stands in the database'
                    WHEN jsonb_typeof(value -> 'file') <> 'string'
                         OR value ->> 'file' !~ '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,127}){0,7}$'
                        THEN 'must name a file in the tenant''s secrets directory, without . or .. as a folder' END;
    WHEN 'claim' THEN
        RETURN broker.claim_fault(value);
    WHEN 'claims' THEN
        RETURN CASE WHEN kind <> 'object' THEN format('must be an object of claims, not %s', broker.a_kind(value))
                    ELSE (SELECT format(CASE WHEN broker.is_reserved_claim(name) THEN 'names the claim "%s", which only the broker sets'
                                             ELSE 'has null for the claim "%s"' END, name)
                            FROM jsonb_each(value) AS claim (name, given)
                           WHERE broker.is_reserved_claim(name) OR given = 'null'
                           ORDER BY name COLLATE "C" LIMIT 1) END;
    ELSE
        RETURN format('has a rule of an unknown kind, "%s"', rule ->> 'is');
    END CASE;
END
$$;
COMMENT ON FUNCTION broker.setting_fault(jsonb, jsonb) IS
    'What is wrong with a setting by its rule in broker.provider_type, as the end of a sentence; null if nothing is.';

CREATE FUNCTION broker.check_settings(owner text, kind text, rules jsonb, settings jsonb) RETURNS void
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
            PERFORM broker.refuse(format('%s has the setting "%s", which %s does not have.', owner, name, kind),
                                  broker.did_you_mean(name, known, 'It has'));
        END IF;
    END LOOP;
    FOR name, rule IN SELECT r.key, r.value FROM jsonb_each(rules) AS r ORDER BY r.key COLLATE "C" LOOP
        IF settings -> name IS NULL THEN
            IF (rule ->> 'required')::boolean THEN
                PERFORM broker.refuse(format('%s lacks the setting "%s".', owner, name), broker.write_instead(name, rule));
            END IF;
            CONTINUE;
        END IF;
        fault := broker.setting_fault(rule, settings -> name);
        IF fault IS NOT NULL THEN
            PERFORM broker.refuse(format('%s: the setting "%s" %s.', owner, name, fault), broker.write_instead(name, rule));
        END IF;
        SELECT needed INTO lacking FROM jsonb_array_elements_text(rule -> 'needs' -> (settings ->> name)) AS needed
         WHERE NOT settings ? needed LIMIT 1;
        IF FOUND THEN
            PERFORM broker.refuse(format('%s: the setting "%s" is "%s", which needs the setting "%s" too.',
                                         owner, name, settings ->> name, lacking),
                                  broker.write_instead(lacking, rules -> lacking));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION broker.check_settings(text, text, jsonb, jsonb) IS
    'Refuses settings that the rules of a type don''t allow.';

CREATE FUNCTION broker.write_instead(name text, rule jsonb) RETURNS text
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
        ELSE '' END;
$$;
COMMENT ON FUNCTION broker.write_instead(text, jsonb) IS 'A hint: what a setting looks like.';


-- ---------------------------------------------------------------- a key and its access provider

-- Called after the row is written and its change recorded. Recording locks the tenant's row, so
-- nobody changes a provider while its key is being checked, or the other way round.
CREATE FUNCTION broker.check_key(checked broker.key) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', checked.name, checked.tenant);
    provider broker.access_provider;
    kind broker.provider_type;
    target text;
    output record;
BEGIN
    SELECT p.* INTO provider FROM broker.access_provider AS p
     WHERE p.tenant = checked.tenant AND p.name = checked.provider;
    SELECT t.* INTO kind FROM broker.provider_type AS t WHERE t.type = provider.type;
    PERFORM broker.check_settings(owner, format('a key of type %s', kind.type), kind.key_settings, checked.settings);

    FOR output IN SELECT key AS member, value AS field FROM jsonb_each_text(checked.outputs) ORDER BY key COLLATE "C" LOOP
        IF output.field <> ALL (kind.fields) THEN
            PERFORM broker.refuse(
                format('%s: the output "%s" names "%s", which is no field of type %s.', owner, output.member, output.field, kind.type),
                broker.did_you_mean(output.field, kind.fields, 'Its fields'));
        END IF;
    END LOOP;

    IF checked.max_duration < kind.min_duration OR checked.max_duration > kind.max_duration THEN
        PERFORM broker.refuse(
            format('%s: max_duration is %s seconds, and type %s gives credentials for %s.',
                   owner, checked.max_duration, kind.type, broker.span_of(kind)),
            format('Write %s.', least(greatest(checked.max_duration, kind.min_duration), kind.max_duration)));
    END IF;

    target := checked.settings ->> kind.target_setting;
    IF NOT (SELECT bool_or(broker.glob_matches(allowed, coalesce(target, ''))) FROM unnest(provider.allowed_targets) AS allowed) THEN
        PERFORM broker.refuse(
            CASE WHEN target IS NULL
                THEN format('%s names no "%s", and access provider "%s" allows only some.', owner, kind.target_setting, provider.name)
                ELSE format('%s: the setting "%s" is "%s", which access provider "%s" does not allow.',
                            owner, kind.target_setting, target, provider.name) END,
            format('Its allowed_targets: %s. A platform admin can change them.', array_to_string(provider.allowed_targets, ', ')));
    END IF;
END
$$;
COMMENT ON FUNCTION broker.check_key(broker.key) IS
    'Refuses a key that does not fit its access provider: settings, outputs, duration, target.';

CREATE FUNCTION broker.span_of(kind broker.provider_type) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN kind.max_duration IS NULL THEN format('%s seconds and more', kind.min_duration)
                ELSE format('%s to %s seconds', kind.min_duration, kind.max_duration) END;
COMMENT ON FUNCTION broker.span_of(broker.provider_type) IS 'How long credentials of a type may live, in words.';

CREATE FUNCTION broker.check_grant_duration(checked broker.subject_grant) RETURNS void
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
        PERFORM broker.refuse(
            format('%s has a max_duration of %s seconds, and type %s gives credentials for %s.',
                   owner, checked.max_duration, kind.type, broker.span_of(kind)),
            format('Write %s or more, or null to leave it to the key.', kind.min_duration));
    ELSIF checked.valid_until - checked.valid_from < kind.min_duration * interval '1 second' THEN
        PERFORM broker.refuse(
            format('%s is valid for less than the %s seconds that a credential of type %s lives at least.',
                   owner, kind.min_duration, kind.type),
            'No credential outlives its grant, so this one could never be used. Let valid_until be later.');
    END IF;
END
$$;
COMMENT ON FUNCTION broker.check_grant_duration(broker.subject_grant) IS
    'Refuses a grant that lasts shorter than the shortest credential of its key.';

CREATE FUNCTION broker.check_written_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM broker.check_key(NEW);
    IF TG_OP = 'UPDATE' AND OLD.provider <> NEW.provider THEN
        PERFORM broker.check_grant_duration(g) FROM broker.subject_grant AS g
          WHERE g.tenant = NEW.tenant AND g.key = NEW.name AND (g.max_duration IS NOT NULL OR g.valid_until IS NOT NULL);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.check_written_key() IS 'Trigger: refuses a key that could not work.';

CREATE TRIGGER may_be_minted_with_its_provider AFTER INSERT OR UPDATE ON broker.key
    FOR EACH ROW EXECUTE FUNCTION broker.check_written_key();
ALTER TABLE broker.key ENABLE ALWAYS TRIGGER may_be_minted_with_its_provider;

CREATE FUNCTION broker.check_written_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Access provider "%s" of tenant "%s"', NEW.name, NEW.tenant);
    kind broker.provider_type;
BEGIN
    SELECT t.* INTO kind FROM broker.provider_type AS t WHERE t.type = NEW.type;
    PERFORM broker.check_settings(owner, format('an access provider of type %s', kind.type), kind.provider_settings, NEW.settings);
    IF NEW.shared_identity AND NOT kind.may_share_identity THEN
        PERFORM broker.refuse(format('%s has shared_identity, and type %s shows nobody an identity of the broker''s.', owner, kind.type),
                              'Leave shared_identity false.');
    END IF;
    IF TG_OP = 'UPDATE' AND (OLD.type, OLD.allowed_targets) IS DISTINCT FROM (NEW.type, NEW.allowed_targets) THEN
        PERFORM broker.check_key(k) FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.provider = NEW.name;
        PERFORM broker.check_grant_duration(g)
           FROM broker.key AS k
           JOIN broker.subject_grant AS g ON g.tenant = k.tenant AND g.key = k.name
          WHERE OLD.type <> NEW.type AND k.tenant = NEW.tenant AND k.provider = NEW.name
            AND (g.max_duration IS NOT NULL OR g.valid_until IS NOT NULL);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.check_written_provider() IS
    'Trigger: refuses an access provider that could not work, or with which one of its keys could not.';

CREATE TRIGGER may_work_with_its_keys AFTER INSERT OR UPDATE ON broker.access_provider
    FOR EACH ROW EXECUTE FUNCTION broker.check_written_provider();
ALTER TABLE broker.access_provider ENABLE ALWAYS TRIGGER may_work_with_its_keys;

CREATE FUNCTION broker.say_what_is_wrong_with_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Access provider "%s" of tenant "%s"', NEW.name, NEW.tenant);
    wrong text;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM broker.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    SELECT item INTO wrong FROM unnest(NEW.allowed_targets) AS item
     WHERE NOT coalesce(broker.is_glob_list(ARRAY[item]), false) LIMIT 1;
    IF FOUND THEN
        PERFORM broker.refuse(format('%s: "%s" in allowed_targets does not start with a literal segment.', owner, wrong),
            'The text up to the first : or / must be without *, for example "arn:aws:iam::123456789012:role/ci-*". ** alone allows everything.');
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
COMMENT ON FUNCTION broker.say_what_is_wrong_with_provider() IS
    'Trigger: says in a sentence what the constraints would refuse with their name.';

CREATE TRIGGER says_what_is_wrong BEFORE INSERT OR UPDATE ON broker.access_provider
    FOR EACH ROW EXECUTE FUNCTION broker.say_what_is_wrong_with_provider();
ALTER TABLE broker.access_provider ENABLE ALWAYS TRIGGER says_what_is_wrong;


-- ---------------------------------------------------------------- grants

CREATE FUNCTION broker.say_what_is_wrong_with_grant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('The grant of key "%s" to "%s"', NEW.key, NEW.subject);
    fault text;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM broker.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.match NOT IN ('exact', 'glob') THEN
        PERFORM broker.refuse(format('%s has match "%s", and there are exact and glob.', owner, NEW.match), '');
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
COMMENT ON FUNCTION broker.say_what_is_wrong_with_grant() IS
    'Trigger: says in a sentence what is wrong with a grant by itself.';

CREATE FUNCTION broker.claims_hint() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups": ["ops", "dev"], "/namespace/id": 7}: a text, number, true or false equals, a list means any of, a name with / first is a JSON pointer.';
COMMENT ON FUNCTION broker.claims_hint() IS 'A hint: what conditions on claims look like.';

CREATE TRIGGER says_what_is_wrong BEFORE INSERT OR UPDATE ON broker.subject_grant
    FOR EACH ROW EXECUTE FUNCTION broker.say_what_is_wrong_with_grant();

CREATE FUNCTION broker.check_written_grant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM broker.check_grant_duration(NEW);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.check_written_grant() IS 'Trigger: refuses a grant that is too short for its key.';

CREATE TRIGGER lasts_long_enough AFTER INSERT OR UPDATE ON broker.subject_grant
    FOR EACH ROW WHEN (NEW.max_duration IS NOT NULL OR NEW.valid_until IS NOT NULL)
    EXECUTE FUNCTION broker.check_written_grant();
ALTER TABLE broker.subject_grant
    ENABLE ALWAYS TRIGGER says_what_is_wrong,
    ENABLE ALWAYS TRIGGER lasts_long_enough;


-- ---------------------------------------------------------------- identity providers

CREATE FUNCTION broker.say_what_is_wrong_with_identity_provider() RETURNS trigger
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
    IF NOT broker.is_url(NEW.issuer) THEN
        PERFORM broker.refuse(format('%s: the issuer "%s" is no https address.', owner, NEW.issuer),
            'Write the iss claim of its tokens as it is, for example "https://token.actions.githubusercontent.com". Plain http is for localhost only.');
    ELSIF NOT broker.is_url(NEW.jwks_uri) THEN
        PERFORM broker.refuse(format('%s: the jwks_uri "%s" is no https address.', owner, NEW.jwks_uri),
            'Plain http is for localhost only. For an issuer that cannot be reached write its key set into jwks.');
    END IF;
    SELECT algorithm INTO wrong FROM unnest(NEW.algorithms) AS algorithm WHERE algorithm <> ALL (known) LIMIT 1;
    IF FOUND THEN
        PERFORM broker.refuse(format('%s: the algorithm "%s" is not accepted.', owner, wrong),
                              broker.did_you_mean(wrong, known, 'There are'));
    END IF;
    wrong := broker.claims_fault(NEW.required_claims);
    IF wrong IS NOT NULL THEN
        PERFORM broker.refuse(format('%s: in its required_claims, %s.', owner, wrong), broker.claims_hint());
    ELSIF NEW.one_time_tokens AND NEW.max_token_age IS NULL THEN
        PERFORM broker.refuse(format('%s has one_time_tokens without a max_token_age.', owner),
                              'Say how old a token may be, in seconds: used ones are remembered for so long. For example max_token_age = 600.');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION broker.say_what_is_wrong_with_identity_provider() IS
    'Trigger: says in a sentence what is wrong with an identity provider by itself.';

CREATE TRIGGER says_what_is_wrong BEFORE INSERT OR UPDATE ON broker.identity_provider
    FOR EACH ROW EXECUTE FUNCTION broker.say_what_is_wrong_with_identity_provider();

CREATE FUNCTION broker.requires_an_owner(required_claims jsonb, owner_claims text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN EXISTS (
        SELECT FROM jsonb_each(required_claims) AS required (claim, value)
         WHERE claim = ANY (owner_claims)
           AND jsonb_typeof(value) <> 'object'
           AND NOT (jsonb_typeof(value) = 'array' AND jsonb_path_exists(value, '$[*] ? (@.type() == "object")')));
COMMENT ON FUNCTION broker.requires_an_owner(jsonb, text[]) IS
    'Whether at least one of the owner claims must have an exact value, or one of several.';

CREATE FUNCTION broker.check_owner_claims(idp text, issuer text, required_claims jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner_claims text[];
BEGIN
    SELECT s.owner_claims INTO owner_claims FROM broker.shared_issuer AS s WHERE s.issuer = check_owner_claims.issuer;
    IF FOUND AND NOT broker.requires_an_owner(required_claims, owner_claims) THEN
        PERFORM broker.refuse(
            format('Identity provider "%s": the issuer "%s" gives tokens to anybody, and required_claims names no owner by an exact value.', idp, issuer),
            format('Require at least one of %s, for example {"%s": "…"}; a glob does not do.', array_to_string(owner_claims, ', '), owner_claims[1]));
    END IF;
END
$$;
COMMENT ON FUNCTION broker.check_owner_claims(text, text, jsonb) IS
    'Refuses an identity provider that would believe every customer of a shared issuer.';

CREATE FUNCTION broker.check_written_identity_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Who lists a shared issuer has this lock alone (audit.record_change), and waits for us or we for them.
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('mintmark: changes without tenant', 0));
    PERFORM broker.check_owner_claims(NEW.name, NEW.issuer, NEW.required_claims);
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.check_written_identity_provider() IS
    'Trigger: an identity provider of a shared issuer says whose tokens it means.';

CREATE TRIGGER names_the_owner AFTER INSERT OR UPDATE ON broker.identity_provider
    FOR EACH ROW EXECUTE FUNCTION broker.check_written_identity_provider();
ALTER TABLE broker.identity_provider
    ENABLE ALWAYS TRIGGER says_what_is_wrong,
    ENABLE ALWAYS TRIGGER names_the_owner;

CREATE FUNCTION broker.check_written_shared_issuer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM broker.check_owner_claims(p.name, p.issuer, p.required_claims)
       FROM broker.identity_provider AS p WHERE p.issuer = NEW.issuer;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION broker.check_written_shared_issuer() IS
    'Trigger: the identity providers that are there must fit a shared issuer too.';

CREATE TRIGGER leaves_no_stranger AFTER INSERT OR UPDATE ON broker.shared_issuer
    FOR EACH ROW EXECUTE FUNCTION broker.check_written_shared_issuer();
ALTER TABLE broker.shared_issuer ENABLE ALWAYS TRIGGER leaves_no_stranger;


-- ---------------------------------------------------------------- keys

CREATE FUNCTION broker.say_what_is_wrong_with_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', NEW.name, NEW.tenant);
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
    ELSIF jsonb_typeof(NEW.outputs) = 'object' THEN
        FOR wrong IN SELECT key AS member, value AS field FROM jsonb_each(NEW.outputs) LOOP
            IF wrong.member !~ '^[A-Za-z_][A-Za-z0-9_]*$' THEN
                PERFORM broker.refuse(format('%s: "%s" is no name for an output.', owner, wrong.member),
                                      'Letters, digits and _, no digit first, for example {"AWS_ACCESS_KEY_ID": "AccessKeyId"}.');
            ELSIF jsonb_typeof(wrong.field) <> 'string' THEN
                PERFORM broker.refuse(format('%s: the output "%s" must name a field, not hold %s.', owner, wrong.member, broker.a_kind(wrong.field)),
                                      'Member name first, then the field, for example {"AWS_ACCESS_KEY_ID": "AccessKeyId"}.');
            END IF;
        END LOOP;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION broker.say_what_is_wrong_with_key() IS
    'Trigger: says in a sentence what is wrong with a key by itself.';

CREATE TRIGGER says_what_is_wrong BEFORE INSERT OR UPDATE ON broker.key
    FOR EACH ROW EXECUTE FUNCTION broker.say_what_is_wrong_with_key();
ALTER TABLE broker.key ENABLE ALWAYS TRIGGER says_what_is_wrong;
