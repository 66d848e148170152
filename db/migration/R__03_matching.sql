-- Whether a token meets what a grant says: the decision of the service in SQL.

-- ---------------------------------------------------------------- globs

CREATE OR REPLACE FUNCTION internal.glob_matches(pattern text, value text) RETURNS boolean
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
    'Whether a glob matches the whole string: * matches any characters except : and /, ** any characters, all others are literal. Takes one step per character and star.';

-- As glob_matches walks, but along another glob: its star reaches all places before the next separator, ** all that follow.
CREATE OR REPLACE FUNCTION internal.globs_overlap(one text, other text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parts constant text[] := ARRAY(SELECT p[1] FROM regexp_matches(one, '([*][*]+|.)', 'g') AS p);
    size constant int := cardinality(parts);
    nowhere constant bit varying := repeat('0', size + 1)::bit varying;
    stars bit varying;
    deep bit varying;
    within bit varying;
    places jsonb;
    reached bit varying := ('1' || repeat('0', size))::bit varying;
    before bit varying;
    part text;
BEGIN
    IF one = '' OR other = '' THEN
        RETURN one ~ '^[*]*$' AND other ~ '^[*]*$';
    ELSIF NOT starts_with(split_part(one, '*', 1), split_part(other, '*', 1))
          AND NOT starts_with(split_part(other, '*', 1), split_part(one, '*', 1))
          OR NOT starts_with(reverse(split_part(one, '*', -1)), reverse(split_part(other, '*', -1)))
          AND NOT starts_with(reverse(split_part(other, '*', -1)), reverse(split_part(one, '*', -1))) THEN
        RETURN false;
    END IF;
    SELECT (string_agg(CASE WHEN t.part LIKE '*%' THEN '1' ELSE '0' END, '' ORDER BY t.n) || '0')::bit varying,
           (string_agg(CASE WHEN t.part LIKE '**%' THEN '1' ELSE '0' END, '' ORDER BY t.n) || '0')::bit varying,
           (string_agg(CASE WHEN t.part IN (':', '/') THEN '0' ELSE '1' END, '' ORDER BY t.n) || '0')::bit varying
      INTO stars, deep, within FROM unnest(parts) WITH ORDINALITY AS t (part, n);
    SELECT jsonb_object_agg(l.letter, (SELECT string_agg((t.part = l.letter)::int::text, '' ORDER BY t.n) || '0'
                                         FROM unnest(parts) WITH ORDINALITY AS t (part, n)))
      INTO places FROM (SELECT DISTINCT t.part AS letter FROM unnest(parts) AS t (part) WHERE t.part NOT LIKE '*%') AS l;
    reached := reached | ((reached & stars) >> 1);
    FOR part IN SELECT p[1] FROM regexp_matches(other, '([*][*]+|.)', 'g') AS p LOOP
        IF part LIKE '**%' THEN
            reached := overlay(nowhere::text PLACING repeat('1', size + 2 - strpos(reached::text, '1'))
                               FROM strpos(reached::text, '1'))::bit varying;
        ELSIF part = '*' THEN
            LOOP
                before := reached;
                reached := reached | ((reached & within) >> 1);
                reached := reached | ((reached & stars) >> 1);
                EXIT WHEN reached = before;
            END LOOP;
        ELSE
            reached := ((reached & coalesce((places ->> part)::bit varying, nowhere)) >> 1)
                     | (reached & CASE WHEN part IN (':', '/') THEN deep ELSE stars END);
            reached := reached | ((reached & stars) >> 1);
        END IF;
        IF reached = nowhere THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN get_bit(reached, size) = 1;
END
$$;
COMMENT ON FUNCTION internal.globs_overlap(text, text) IS 'Whether a string can match both globs.';

-- The service counts the same (Glob.steps, ClaimConditions.steps) and refuses what is more than its budget.
CREATE OR REPLACE FUNCTION internal.glob_steps(pattern text, value text) RETURNS bigint
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
    'The maximum number of steps to match a string with a glob: its length for each star, if its ends fit the glob.';

-- Without settings of its own and cheap tests first, so that the planner puts it into the statement: lists are compared with lists.
CREATE OR REPLACE FUNCTION internal.glob_covers(pattern text, match text, subject text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN starts_with(subject, split_part(pattern, '*', 1))
           AND CASE WHEN match = 'exact' OR strpos(subject, '*') = 0 THEN internal.glob_matches(pattern, subject)
                    WHEN pattern = subject THEN true
                    ELSE starts_with(split_part(subject, '*', 1), rtrim(pattern, '*')) AND pattern ~ '^[^*]+[*][*]+$' END;
COMMENT ON FUNCTION internal.glob_covers(text, text, text) IS
    'Whether a glob matches all subjects of a grant. For a grant with a glob: true only for the same glob, or for a prefix followed by ** that the grant''s glob begins with.';

-- ---------------------------------------------------------------- conditions on claims

CREATE OR REPLACE FUNCTION internal.claim_at(claims jsonb, name text) RETURNS jsonb
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

CREATE OR REPLACE FUNCTION internal.value_fits(condition jsonb, value jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE jsonb_typeof(condition)
        WHEN 'object' THEN jsonb_typeof(value) = 'string'
                           AND internal.glob_matches(condition ->> 'glob', value #>> '{}')
        ELSE condition = value END;
$$;
COMMENT ON FUNCTION internal.value_fits(jsonb, jsonb) IS
    'Whether a value meets a condition: equal in type and value, or a string that the glob matches.';

CREATE OR REPLACE FUNCTION internal.claim_met(condition jsonb, value jsonb) RETURNS boolean
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

CREATE OR REPLACE FUNCTION internal.first_unmet(conditions jsonb, claims jsonb, OUT claim text, OUT expected jsonb, OUT seen jsonb)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT key, value, internal.claim_at(claims, key) FROM jsonb_each(conditions)
     WHERE NOT internal.claim_met(value, internal.claim_at(claims, key))
     ORDER BY key COLLATE "C" LIMIT 1;
$$;
COMMENT ON FUNCTION internal.first_unmet(jsonb, jsonb) IS
    'The first condition, in the order of the claims'' names, that these claims do not meet; nulls if they meet all.';

CREATE OR REPLACE FUNCTION internal.left_out(claims jsonb, name text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN claims -> '_claim_names' ? name OR name = 'groups' AND claims -> 'hasgroups' = 'true'
                THEN format('Nothing, because the issuer left the claim %s out of the token.', name)
                     || CASE name WHEN 'groups' THEN ' Entra ID does so for people in over 200 groups. Configure the application so that its tokens have only the groups that are assigned to the application, or grant by an app role (claim roles).'
                                  ELSE '' END END;
COMMENT ON FUNCTION internal.left_out(jsonb, text) IS
    'Why a claim is missing, if the token says that it is elsewhere (_claim_names, OpenID Connect Core 5.6.2; hasgroups of Entra ID); otherwise null.';

CREATE OR REPLACE FUNCTION internal.claims_met(conditions jsonb, claims jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT conditions = '{}' OR (internal.first_unmet(conditions, claims)).claim IS NULL;
$$;
COMMENT ON FUNCTION internal.claims_met(jsonb, jsonb) IS
    'Whether claims meet all conditions of a grant (claims) or an identity provider (required_claims).';

CREATE OR REPLACE FUNCTION internal.claims_steps(conditions jsonb, claims jsonb) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    -- Beyond the budget, globs are not looked at one by one.
    SELECT coalesce(sum(p.pairs + CASE WHEN p.so_far <= 250000
                                       THEN (SELECT coalesce(sum(internal.glob_steps(one.item ->> 'glob', element.item #>> '{}')), 0)
                                               FROM jsonb_array_elements(p.any_of) AS one (item), jsonb_array_elements(p.seen) AS element (item)
                                              WHERE jsonb_typeof(one.item) = 'object' AND jsonb_typeof(element.item) = 'string')
                                       ELSE 0 END), 0)::bigint
      FROM (SELECT l.any_of, l.seen, n.pairs, sum(n.pairs) OVER (ORDER BY l.name) AS so_far
              FROM (SELECT c.name,
                           CASE jsonb_typeof(c.condition) WHEN 'array' THEN c.condition ELSE jsonb_build_array(c.condition) END,
                           CASE jsonb_typeof(c.claim) WHEN 'array' THEN c.claim ELSE jsonb_build_array(c.claim) END
                      FROM (SELECT key, value, internal.claim_at(claims, key) FROM jsonb_each(conditions)) AS c (name, condition, claim)
                   ) AS l (name, any_of, seen)
             CROSS JOIN LATERAL (SELECT 2 * (16 + length(l.name)) + 8::bigint * jsonb_array_length(l.any_of) * jsonb_array_length(l.seen)) AS n (pairs)
           ) AS p;
$$;
COMMENT ON FUNCTION internal.claims_steps(jsonb, jsonb) IS
    'An upper bound of the steps (internal.glob_steps) to match claims with conditions. Above the budget of 250000 it is not exact: lower than the true bound, but still above the budget.';

CREATE OR REPLACE FUNCTION internal.refuse_too_much_work(tenant text, steps bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF steps > 250000 THEN
        PERFORM internal.refuse(
            format('The globs and conditions of tenant "%s" cost %s matching steps for this token; the maximum is 250000. The broker answers such a request with 503.',
                   tenant, steps),
            'Write fewer globs or fewer stars: each star costs the length of the compared text. Text before the first star and after the last one costs nothing.',
            'program_limit_exceeded');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_too_much_work(text, bigint) IS
    'Rejects work beyond the broker''s budget for a request.';

-- ---------------------------------------------------------------- one decision

-- broker.explain, broker.who_can_mint and audit.who_could_mint decide with these; the last with rows of the history.

CREATE OR REPLACE FUNCTION internal.switched_off(tenant boolean, idp boolean, provider boolean, key boolean) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN tenant AND idp AND provider AND key THEN NULL
                WHEN tenant IS NOT TRUE THEN 'the tenant is enabled'
                WHEN idp IS NOT TRUE THEN 'the identity provider is enabled'
                WHEN provider IS NOT TRUE THEN 'the access provider is enabled'
                ELSE 'the key is enabled' END;
COMMENT ON FUNCTION internal.switched_off(boolean, boolean, boolean, boolean) IS
    'Which of a tenant, its identity provider, access provider and key is not enabled, as a condition of broker.explain; null if all are.';

CREATE OR REPLACE FUNCTION internal.may_be_parties(accepts text[], has_actor boolean, is_the_same boolean, actor_enabled boolean,
                                                   actor_accepts text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'subject' = ANY (accepts)
       AND (NOT has_actor OR coalesce(actor_enabled, false) AND (is_the_same OR 'actor' = ANY (actor_accepts)));
COMMENT ON FUNCTION internal.may_be_parties(text[], boolean, boolean, boolean, text[]) IS
    'Whether the identity providers of a grant can identify its subject and its actor, by what they accept. An act claim in the subject''s token names an actor of the same identity provider, whatever that accepts.';

CREATE OR REPLACE FUNCTION internal.longest_life(key bigint, type bigint, tenant bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN least(key, type, tenant);
COMMENT ON FUNCTION internal.longest_life(bigint, bigint, bigint) IS
    'The maximum lifetime of a credential, in seconds, from the max_duration of its key, its provider''s type and its tenant.';

CREATE OR REPLACE FUNCTION internal.covers(block broker.blocked_subject, idp text, match text, subject text, at timestamptz,
                                           claims jsonb) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT block.enabled OR block.until <= at OR block.idp <> covers.idp THEN
        RETURN false;
    ELSIF block.claims <> '{}' AND (claims IS NULL OR NOT internal.claims_met(block.claims, claims)) THEN
        RETURN false;
    ELSIF block.match = 'exact' THEN
        RETURN block.subject = covers.subject AND (covers.match = 'exact' OR strpos(covers.subject, '*') = 0);
    END IF;
    RETURN internal.glob_covers(block.subject, covers.match, covers.subject);
END
$$;
COMMENT ON FUNCTION internal.covers(broker.blocked_subject, text, text, text, timestamptz, jsonb) IS
    'Whether a block, at a given time, stops every subject that match and subject of a grant match, or one subject with match exact, of an identity provider. claims: the token''s; null: any.';

CREATE OR REPLACE FUNCTION internal.is_for_actor(checked broker.subject_grant, actor_idp text, actor text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF checked.actor IS NULL OR is_for_actor.actor IS NULL THEN
        RETURN checked.actor IS NULL AND is_for_actor.actor IS NULL;
    ELSIF checked.actor_idp IS DISTINCT FROM is_for_actor.actor_idp THEN
        RETURN false;
    ELSIF checked.actor_match = 'exact' THEN
        RETURN checked.actor = is_for_actor.actor;
    END IF;
    RETURN internal.glob_matches(checked.actor, is_for_actor.actor);
END
$$;
COMMENT ON FUNCTION internal.is_for_actor(broker.subject_grant, text, text) IS
    'Whether a grant is for requests with this actor (null: without one). A grant without an actor is for the subject alone.';

CREATE OR REPLACE FUNCTION internal.is_in_networks(networks cidr[], address inet) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN networks IS NULL OR coalesce(
        CASE WHEN address <<= inet '::ffff:0:0/96' THEN inet '0.0.0.0' + (address - inet '::ffff:0:0') ELSE address END <<= ANY (networks::inet[]),
        false);
COMMENT ON FUNCTION internal.is_in_networks(cidr[], inet) IS
    'Whether a client of this address may use a grant of these networks (null: any). An IPv4 address in IPv6 form is an IPv4 address; a null address is in none.';

CREATE OR REPLACE FUNCTION internal.try_grant(checked broker.subject_grant, second_admin boolean, longest bigint, shortest bigint, claims jsonb,
                                 actor_idp text, actor text, actor_claims jsonb, at timestamptz, address inet,
                                 OUT rank int, OUT condition text, OUT expected text, OUT seen text, OUT duration bigint)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unmet record;
BEGIN
    duration := least(longest, checked.max_duration, floor(extract(epoch FROM checked.valid_until - at))::bigint);
    IF NOT checked.enabled THEN
        rank := 1; condition := 'the grant is enabled'; expected := 'true'; seen := 'false';
        RETURN;
    ELSIF at < checked.valid_from THEN
        rank := 2; condition := 'valid_from'; expected := checked.valid_from; seen := at;
        RETURN;
    ELSIF at >= checked.valid_until THEN
        rank := 2; condition := 'valid_until'; expected := checked.valid_until; seen := at;
        RETURN;
    END IF;
    IF claims IS NOT NULL AND NOT internal.is_for_actor(checked, actor_idp, actor) THEN
        rank := 3; condition := 'actor';
        expected := CASE WHEN checked.actor IS NULL THEN 'no actor' ELSE format('%s of "%s"', checked.actor, checked.actor_idp) END;
        seen := CASE WHEN actor IS NULL THEN 'no actor' ELSE format('%s of "%s"', actor, actor_idp) END;
        RETURN;
    END IF;
    IF claims IS NOT NULL AND checked.claims <> '{}' THEN
        SELECT u.* INTO unmet FROM internal.first_unmet(checked.claims, claims) AS u;
        IF unmet.claim IS NOT NULL THEN
            rank := 4; condition := 'claim ' || unmet.claim; expected := unmet.expected;
            seen := coalesce(unmet.seen::text, internal.left_out(claims, unmet.claim));
            RETURN;
        END IF;
    END IF;
    IF claims IS NOT NULL AND checked.actor_claims <> '{}' THEN
        SELECT u.* INTO unmet FROM internal.first_unmet(checked.actor_claims, actor_claims) AS u;
        IF unmet.claim IS NOT NULL THEN
            rank := 5; condition := 'actor_claims'; expected := jsonb_build_object(unmet.claim, unmet.expected);
            seen := CASE WHEN unmet.seen IS NULL THEN '{}' ELSE jsonb_build_object(unmet.claim, unmet.seen) END;
            RETURN;
        END IF;
    END IF;
    IF claims IS NOT NULL AND NOT internal.is_in_networks(checked.networks, address) THEN
        rank := 6; condition := 'networks'; expected := array_to_string(checked.networks, ', '); seen := host(address);
    ELSIF second_admin AND checked.approved_at IS NULL THEN
        rank := 7; condition := 'approval'; expected := 'approved by a second admin';
        seen := format('written by "%s", last changed by "%s"', checked.created_by, checked.updated_by);
    ELSIF duration < shortest THEN
        rank := 8; condition := 'duration'; expected := format('at least %s seconds', shortest);
        seen := format('%s seconds', duration);
    ELSE
        rank := 9;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.try_grant(broker.subject_grant, boolean, bigint, bigint, jsonb, text, text, jsonb, timestamptz, inet) IS
    'The result for a grant whose subject matches: rank 9 is granted, otherwise the first condition that failed. second_admin: whether the tenant requires one. claims: the token''s; null: neither claims nor actor nor address are checked. actor: null for none. duration: the maximum lifetime of a credential requested at that time, in seconds.';
