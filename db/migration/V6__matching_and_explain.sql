-- Whether a token meets what a grant says, and why not: the decision of the service in SQL, for admins.

-- ---------------------------------------------------------------- globs

CREATE FUNCTION internal.glob_matches(pattern text, value text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    literal constant text := split_part(pattern, '*', 1);
    ending constant text := split_part(pattern, '*', -1);
    rest text := substr(pattern, length(literal) + 1);
    subject constant text := substr(value, length(literal) + 1);
    parts text[];
    letters text;
    size int;
    nowhere bit varying;
    stars bit varying;
    deep bit varying;
    reached bit varying;
    at_letter bit varying;
    places jsonb;
    letter text;
BEGIN
    IF NOT starts_with(value, literal) OR right(value, length(ending)) <> ending THEN
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
    letters := regexp_replace(rest, '[*]+', '*', 'g');
    nowhere := repeat('0', size + 1)::bit varying;
    SELECT (string_agg((part IN ('*', '**'))::int::text, '' ORDER BY number) || '0')::bit varying,
           (string_agg((part = '**')::int::text, '' ORDER BY number) || '0')::bit varying
      INTO stars, deep FROM unnest(parts) WITH ORDINALITY AS t (part, number);
    SELECT jsonb_object_agg(part, (SELECT string_agg(repeat('0', length(gap)), '1' ORDER BY number) || '0'
                                     FROM unnest(string_to_array(letters, part))
                                     WITH ORDINALITY AS between (gap, number)))
      INTO places FROM (SELECT DISTINCT part FROM unnest(parts) AS part
                         WHERE part NOT IN ('*', '**') AND strpos(subject, part) > 0) AS distinct_part;
    reached := ('1' || repeat('0', size))::bit varying;
    reached := reached | ((reached & stars) >> 1);
    FOREACH letter IN ARRAY regexp_split_to_array(subject, '') LOOP
        EXIT WHEN subject = '';
        at_letter := coalesce((places ->> letter)::bit varying, nowhere);
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
COMMENT ON FUNCTION internal.glob_matches(text, text) IS
    'Whether the whole of a text fits a glob: * stands for anything without : and /, ** for anything, all else for itself. One step a letter, whatever the pattern.';

-- The service counts the same (Glob.steps, ClaimConditions.steps) and refuses what is more than its budget.
CREATE FUNCTION internal.glob_steps(pattern text, value text) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT length(pattern)
           + CASE WHEN starts_with(value, literal) AND right(value, length(ending)) = ending
                       AND length(value) >= length(literal) + length(ending)
                  THEN length(value)::bigint
                       * (length(regexp_replace(pattern, '[*]+', '*', 'g')) - length(replace(pattern, '*', '')))
                  ELSE 0 END
      FROM (SELECT split_part(pattern, '*', 1), split_part(pattern, '*', -1)) AS part (literal, ending);
$$;
COMMENT ON FUNCTION internal.glob_steps(text, text) IS
    'At most how many characters are looked at to hold a text against a glob: each once for each star, if it begins and ends as the glob does.';


-- ---------------------------------------------------------------- conditions on claims

CREATE FUNCTION internal.claim_at(claims jsonb, name text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place jsonb := claims;
    segment text;
BEGIN
    IF NOT starts_with(name, '/') THEN
        RETURN claims -> name;
    END IF;
    FOREACH segment IN ARRAY (string_to_array(name, '/'))[2:] LOOP
        segment := replace(replace(segment, '~1', '/'), '~0', '~');
        place := CASE jsonb_typeof(place)
                     WHEN 'object' THEN place -> segment
                     -- unlike the operator: no sign, no leading zero
                     WHEN 'array' THEN CASE WHEN segment ~ '^(0|[1-9][0-9]{0,8})$' THEN place -> segment::int END
                 END;
    END LOOP;
    RETURN place;
END
$$;
COMMENT ON FUNCTION internal.claim_at(jsonb, text) IS
    'A claim by its name, or by a JSON pointer (RFC 6901) if the name starts with /; null if it is absent.';

CREATE FUNCTION internal.value_fits(condition jsonb, value jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE jsonb_typeof(condition)
        WHEN 'object' THEN jsonb_typeof(value) = 'string'
                           AND internal.glob_matches(condition ->> 'glob', value #>> '{}')
        ELSE condition = value END;
$$;
COMMENT ON FUNCTION internal.value_fits(jsonb, jsonb) IS
    'Whether one value is what one condition says: equal in type and value, or a text that the glob matches.';

CREATE FUNCTION internal.claim_met(condition jsonb, value jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT value IS NOT NULL AND EXISTS (
        SELECT
          FROM jsonb_array_elements(CASE jsonb_typeof(condition) WHEN 'array' THEN condition
                                    ELSE jsonb_build_array(condition) END) AS one_of (item),
               jsonb_array_elements(CASE jsonb_typeof(value) WHEN 'array' THEN value
                                    ELSE jsonb_build_array(value) END) AS element (item)
         WHERE internal.value_fits(one_of.item, element.item));
$$;
COMMENT ON FUNCTION internal.claim_met(jsonb, jsonb) IS
    'Whether a claim meets a condition: a list of conditions means any of, a claim that is a list meets it by one element.';

CREATE FUNCTION internal.first_unmet(conditions jsonb, claims jsonb, OUT claim text, OUT expected jsonb, OUT seen jsonb)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT key, value, internal.claim_at(claims, key) FROM jsonb_each(conditions)
     WHERE NOT internal.claim_met(value, internal.claim_at(claims, key))
     ORDER BY key COLLATE "C" LIMIT 1;
$$;
COMMENT ON FUNCTION internal.first_unmet(jsonb, jsonb) IS
    'The first condition, by the names of the claims, that these claims do not meet; nulls if they meet all.';

CREATE FUNCTION internal.claims_met(conditions jsonb, claims jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT conditions = '{}' OR (internal.first_unmet(conditions, claims)).claim IS NULL;
$$;
COMMENT ON FUNCTION internal.claims_met(jsonb, jsonb) IS
    'Whether claims meet all conditions of a grant (claims) or an identity provider (required_claims).';

CREATE FUNCTION internal.claims_steps(conditions jsonb, claims jsonb) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(sum(2 * (16 + length(name)) + 8 * jsonb_array_length(any_of) * jsonb_array_length(seen)
                        + (SELECT coalesce(sum(internal.glob_steps(one.item ->> 'glob', element.item #>> '{}')), 0)
                             FROM jsonb_array_elements(any_of) AS one (item), jsonb_array_elements(seen) AS element (item)
                            WHERE jsonb_typeof(one.item) = 'object' AND jsonb_typeof(element.item) = 'string')), 0)::bigint
      FROM (SELECT c.name,
                   CASE jsonb_typeof(c.condition) WHEN 'array' THEN c.condition
                                                  ELSE jsonb_build_array(c.condition) END,
                   CASE jsonb_typeof(c.claim) WHEN 'array' THEN c.claim
                                              ELSE jsonb_build_array(c.claim) END
              FROM (SELECT key, value, internal.claim_at(claims, key) FROM jsonb_each(conditions))
                   AS c (name, condition, claim)) AS condition (name, any_of, seen);
$$;
COMMENT ON FUNCTION internal.claims_steps(jsonb, jsonb) IS
    'How much work it is at most to hold claims against conditions, in the steps of internal.glob_steps.';

CREATE FUNCTION internal.refuse_too_much_work(tenant text, steps bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF steps > 250000 THEN
        PERFORM internal.refuse(
            format('The rules of tenant "%s" are too much work to decide this: %s steps, and 250000 are allowed. The service answers 503.',
                   tenant, steps),
            'Literal text before the first star of a glob and behind its last one costs nothing; each star between costs the text''s length.',
            'program_limit_exceeded');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_too_much_work(text, bigint) IS
    'Refuses what the service refuses because it is more than its budget for a request.';


-- ---------------------------------------------------------------- one grant

CREATE FUNCTION internal.grant_duration(checked broker.subject_grant, key_duration int, at timestamptz) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT least(key_duration::bigint, checked.max_duration::bigint, floor(extract(epoch FROM checked.valid_until - at))::bigint);
$$;
COMMENT ON FUNCTION internal.grant_duration(broker.subject_grant, int, timestamptz) IS
    'How many seconds a credential may live that is asked for at a time: the least of the key''s, the grant''s and what is left of the grant.';

CREATE FUNCTION internal.try_grant(checked broker.subject_grant, key_duration int, shortest int, claims jsonb, at timestamptz,
                                 OUT rank int, OUT condition text, OUT expected text, OUT seen text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unmet record;
    duration constant bigint := internal.grant_duration(checked, key_duration, at);
BEGIN
    IF NOT checked.enabled THEN
        rank := 1; condition := 'the grant is enabled'; expected := 'true'; seen := 'false';
    ELSIF at < checked.valid_from THEN
        rank := 2; condition := 'valid_from'; expected := checked.valid_from; seen := at;
    ELSIF at >= checked.valid_until THEN
        rank := 2; condition := 'valid_until'; expected := checked.valid_until; seen := at;
    ELSE
        SELECT u.* INTO unmet FROM internal.first_unmet(checked.claims, claims) AS u;
        IF unmet.claim IS NOT NULL THEN
            rank := 3; condition := 'claim ' || unmet.claim; expected := unmet.expected; seen := unmet.seen;
        ELSIF duration < shortest THEN
            rank := 4; condition := 'duration'; expected := format('at least %s seconds', shortest);
            seen := format('%s seconds', duration);
        ELSE
            rank := 5;
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.try_grant(broker.subject_grant, int, int, jsonb, timestamptz) IS
    'How far a grant whose subject matches gets: rank 5 is granted, else the first condition that failed.';


-- ---------------------------------------------------------------- names like those that were written

CREATE FUNCTION internal.edit_distance(one text, other text) RETURNS int
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
COMMENT ON FUNCTION internal.edit_distance(text, text) IS
    'How many characters to add, remove or change to get from one text to the other (Levenshtein).';

CREATE FUNCTION internal.nearest(written text, known text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT name
      FROM (SELECT name, internal.edit_distance(lower(left(written, 64)), lower(name)) AS distance
              FROM unnest(known) AS name) AS candidate
     WHERE distance <= greatest(2, length(name) / 3) OR length(written) > 1 AND starts_with(lower(name), lower(written))
     ORDER BY starts_with(lower(name), lower(written)) DESC, distance, name COLLATE "C" LIMIT 1;
$$;
COMMENT ON FUNCTION internal.nearest(text, text[]) IS
    'The known name that is spelt most like what was written; null if none is near.';

CREATE FUNCTION internal.did_you_mean(written text, known text[], otherwise text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce('Did you mean "' || internal.nearest(written, known) || '"? ', '')
        || CASE WHEN cardinality(known) = 0 THEN format('%s: none.', otherwise)
                ELSE format('%s: %s.', otherwise, (SELECT string_agg(name, ', ' ORDER BY name COLLATE "C")
                                                     FROM unnest(known) AS name)) END;
$$;
COMMENT ON FUNCTION internal.did_you_mean(text, text[], text) IS
    'A hint: the nearest known name, if one is near, and all of them.';

CREATE FUNCTION internal.common_start(one text, other text) RETURNS int
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    least_length int := 0;
    most int := least(length(one), length(other));
    half int;
BEGIN
    WHILE least_length < most LOOP
        half := (least_length + most + 1) / 2;
        IF left(one, half) = left(other, half) THEN
            least_length := half;
        ELSE
            most := half - 1;
        END IF;
    END LOOP;
    RETURN least_length;
END
$$;
COMMENT ON FUNCTION internal.common_start(text, text) IS 'How many characters two texts begin with alike.';

CREATE FUNCTION internal.there_are(written text, known text[], what text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT internal.did_you_mean(written, ARRAY(SELECT name FROM unnest(known) AS name
                                               ORDER BY internal.common_start(name, written) DESC, name COLLATE "C" LIMIT 20),
                               what || CASE WHEN cardinality(known) > 20 THEN ', among others' ELSE '' END);
$$;
COMMENT ON FUNCTION internal.there_are(text, text[], text) IS
    'A hint: the nearest known name, if one is near, and up to twenty of them, those first that begin most like what was written.';


-- ---------------------------------------------------------------- explain

CREATE FUNCTION internal.require_idp(asked text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.name = asked) THEN
        PERFORM internal.refuse(format('There is no identity provider "%s" that you may see.', asked),
            internal.did_you_mean(asked, ARRAY(SELECT p.name FROM broker.identity_provider AS p ORDER BY p.name LIMIT 100), 'There are'),
            'no_data_found');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.require_idp(text) IS
    'Refuses a question about an identity provider that there isn''t, or that the login may not see.';

CREATE FUNCTION broker.explain(idp text, subject text, claims jsonb DEFAULT '{}', at timestamptz DEFAULT now())
    RETURNS TABLE (key text, granted boolean, grant_id bigint, condition text, expected text, seen text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked constant text := idp;
    about constant text := subject;
    given constant jsonb := coalesce(claims, '{}');
    provider record;
    required record;
    steps bigint;
BEGIN
    PERFORM internal.require_idp(asked);
    IF jsonb_typeof(given) <> 'object' THEN
        PERFORM internal.refuse(format('The claims of a token are an object, not %s.', internal.a_kind(given)),
                                'For example {"ref": "refs/heads/main"}.', 'invalid_parameter_value');
    END IF;
    SELECT p.name, p.tenant, p.enabled, p.required_claims, t.enabled AS tenant_enabled
      INTO provider
      FROM broker.identity_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant
     WHERE p.name = asked;
    PERFORM internal.refuse_too_much_work(provider.tenant, internal.claims_steps(provider.required_claims, given));
    SELECT u.* INTO required FROM internal.first_unmet(provider.required_claims, given) AS u;
    SELECT sum(internal.glob_steps(g.subject, about)) INTO steps
      FROM broker.subject_grant AS g
     WHERE g.tenant = provider.tenant AND g.idp = asked AND g.match = 'glob' AND g.enabled
       AND starts_with(about, split_part(g.subject, '*', 1));
    PERFORM internal.refuse_too_much_work(provider.tenant, steps);
    SELECT coalesce(steps, 0) + coalesce(sum(internal.claims_steps(g.claims, given)), 0) INTO steps
      FROM broker.subject_grant AS g
     WHERE g.tenant = provider.tenant AND g.idp = asked AND g.enabled
       AND (g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(about, 0) AND g.subject = about
            OR g.match = 'glob' AND internal.glob_matches(g.subject, about));
    PERFORM internal.refuse_too_much_work(provider.tenant, steps);

    RETURN QUERY
    WITH tried AS (
        SELECT g.key AS key_name, g.id, t.rank, t.condition AS failed, t.expected AS wanted, t.seen AS had,
               internal.grant_duration(g, k.max_duration, at) AS duration
          FROM broker.subject_grant AS g
          JOIN broker.key AS k ON k.tenant = g.tenant AND k.name = g.key
          JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
          JOIN broker.provider_type AS y ON y.type = a.type
         CROSS JOIN LATERAL internal.try_grant(g, k.max_duration, y.min_duration, given, at) AS t
         WHERE g.tenant = provider.tenant AND g.idp = asked
           AND (g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(about, 0)
                    AND g.subject = about
                OR g.match = 'glob' AND internal.glob_matches(g.subject, about))
    ), best AS (
        SELECT DISTINCT ON (t.key_name) t.* FROM tried AS t
         ORDER BY t.key_name, t.rank DESC, t.duration DESC, t.id
    )
    SELECT k.name,
           coalesce(outcome.failed IS NULL, false),
           outcome.id, outcome.failed, outcome.wanted, outcome.had
      FROM broker.key AS k
      JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
      LEFT JOIN best AS b ON b.key_name = k.name
     -- where no grant is for this subject: the one whose text begins most like it
      LEFT JOIN LATERAL (
          SELECT g.id, g.subject
            FROM (SELECT n.id, n.subject FROM broker.subject_grant AS n
                   WHERE b.id IS NULL AND n.tenant = k.tenant AND n.key = k.name AND n.idp = asked
                   ORDER BY n.id LIMIT 1000) AS g
           ORDER BY internal.common_start(g.subject, about) DESC, g.id LIMIT 1) AS nearest ON true
     CROSS JOIN LATERAL (
          SELECT * FROM (VALUES
              (NOT provider.tenant_enabled, NULL::bigint, 'the tenant is enabled', 'true', 'false'),
              (NOT provider.enabled, NULL, 'the identity provider is enabled', 'true', 'false'),
              (required.claim IS NOT NULL, NULL, 'required claim ' || required.claim, required.expected::text, required.seen::text),
              (NOT a.enabled, NULL, 'the access provider is enabled', 'true', 'false'),
              (NOT k.enabled, NULL, 'the key is enabled', 'true', 'false'),
              (b.id IS NOT NULL, b.id, b.failed, b.wanted, b.had),
              (nearest.id IS NOT NULL, nearest.id, 'subject', nearest.subject, about),
              (true, NULL, 'a grant', format('a grant of this key to a subject of "%s"', asked), NULL)
          ) AS o (applies, id, failed, wanted, had)
          WHERE o.applies LIMIT 1) AS outcome
     WHERE k.tenant = provider.tenant
     ORDER BY k.name;
END
$$;
COMMENT ON FUNCTION broker.explain(text, text, jsonb, timestamptz) IS
    'For a token of an identity provider with this subject and these claims: each key of the tenant, whether it is granted and by which grant, else the first condition that failed for the grant that came nearest. Decides as the service does.';

UPDATE runtime.schema_version SET version = 6;
