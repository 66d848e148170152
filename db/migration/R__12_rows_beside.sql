-- What is said of a row once, when it is written, because it is about other rows: a value that is almost theirs, or a row that has no effect
-- beside them. broker.lint does not list it, since each of those rows may change. Looks at a bounded number of them.

CREATE OR REPLACE FUNCTION internal.is_one_edit(one text, other text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE e.longer - e.shorter
               -- a letter replaced, or two exchanged; short words that differ by a letter are often both words
               WHEN 0 THEN e.equal = e.longer - 1 AND e.longer > 5
                        OR e.equal = e.longer - 2 AND e.longer > 3 AND substr(one, e.start + 1, 2) = reverse(substr(other, e.start + 1, 2))
               WHEN 1 THEN e.equal >= e.shorter AND e.shorter > 3
               ELSE false END
      FROM (SELECT greatest(length(one), length(other)) AS longer, least(length(one), length(other)) AS shorter,
                   s.start, s.start + internal.common_start(reverse(one), reverse(other)) AS equal
              FROM (SELECT internal.common_start(one, other) AS start) AS s) AS e;
$$;
COMMENT ON FUNCTION internal.is_one_edit(text, text) IS 'Whether two words of some length differ by one letter that is added or replaced, or by two that are exchanged.';

CREATE OR REPLACE FUNCTION internal.is_misspelling(one text, other text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    id constant text := '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
    a constant text := lower(one);
    b constant text := lower(other);
    words text[];
    others text[];
    place int;
BEGIN
    IF one = other OR abs(length(a) - length(b)) > 2 OR left(a, 1) <> left(b, 1) OR least(length(a), length(b)) < 4 THEN
        RETURN false;
    ELSIF a = b THEN
        RETURN true;
    ELSIF a ~ id AND b ~ id THEN
        -- of random ids none are alike; those that somebody counts differ in their last part
        RETURN left(a, -12) <> left(b, -12) AND internal.is_one_edit(a, b);
    ELSIF regexp_replace(a, '[^0-9]+', ' ', 'g') <> regexp_replace(b, '[^0-9]+', ' ', 'g') THEN
        RETURN false;
    ELSIF translate(a, '-_.:/', '') = translate(b, '-_.:/', '') THEN
        RETURN true;
    ELSIF regexp_replace(a, '[a-z]+', 'a', 'g') <> regexp_replace(b, '[a-z]+', 'a', 'g') THEN
        RETURN false;
    END IF;
    words := regexp_split_to_array(a, '[^a-z]+');
    others := regexp_split_to_array(b, '[^a-z]+');
    SELECT min(n) INTO place FROM generate_subscripts(words, 1) AS n WHERE words[n] <> others[n] HAVING count(*) = 1;
    RETURN coalesce(internal.is_one_edit(words[place], others[place]), false);
END
$$;
COMMENT ON FUNCTION internal.is_misspelling(text, text) IS
    'Whether two values seem to be meant as one: they differ by case, punctuation, or one edit in one word. Numbers differ on purpose.';

CREATE OR REPLACE FUNCTION internal.as_compared(of_table text, written jsonb) RETURNS broker.subject_grant
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT internal.as_grant(CASE of_table
        WHEN 'key' THEN jsonb_build_object('tenant', written -> 'tenant', 'key', written -> 'name', 'owner', written -> 'owner', 'enabled', written -> 'enabled',
            'claims', written -> 'settings', 'actor', written -> 'provider', 'max_duration', written -> 'max_duration')
        WHEN 'console_access' THEN jsonb_build_object('id', written -> 'id', 'claims', jsonb_build_object(written ->> 'claim', written -> 'value'), 'enabled', written -> 'enabled')
        WHEN 'access_provider' THEN jsonb_build_object('tenant', written -> 'tenant', 'key', written -> 'name', 'claims', written -> 'settings', 'actor_claims', written -> 'allowed_targets', 'enabled', written -> 'enabled')
        ELSE written - '{approved_at,approved_by,created_at,created_by,updated_at,updated_by,reason}'::text[] END);
$$;
COMMENT ON FUNCTION internal.as_compared(text, jsonb) IS 'What is compared of a row with other rows, as a grant.';

CREATE OR REPLACE FUNCTION internal.settings_alike(settings jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    text constant text := settings #>> '{}';
    host constant text := lower(substring(text FROM '(?i)^https?://[^/]*'));
BEGIN
    RETURN CASE jsonb_typeof(settings)
        WHEN 'string' THEN to_jsonb(CASE WHEN host IS NULL THEN text
                                         ELSE regexp_replace(regexp_replace(host, '^(https://.*):443$', '\1'), '^(http://.*):80$', '\1') || rtrim(substr(text, length(host) + 1), '/') END)
        WHEN 'array' THEN (SELECT jsonb_agg(internal.settings_alike(i) ORDER BY internal.settings_alike(i)::text COLLATE "C") FROM jsonb_array_elements(settings) AS i)
        -- Google reaches an account through its delegates in their order
        WHEN 'object' THEN (SELECT jsonb_object_agg(s.key, CASE s.key WHEN 'delegates' THEN s.value ELSE internal.settings_alike(s.value) END) FROM jsonb_each(settings) AS s)
        ELSE settings END;
END
$$;
COMMENT ON FUNCTION internal.settings_alike(jsonb) IS
    'Settings without what does not matter: the case of a host, the default port, a slash at the end of a URL, the order of a list.';

CREATE OR REPLACE FUNCTION internal.disabled_reference(of_table text, checked broker.subject_grant) RETURNS TABLE (rule text, detail text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY SELECT 'disabled_reference', concat_ws(chr(10), d.kind, d.name) FROM (
        SELECT 1 AS place, 'key' AS kind, k.name FROM broker.key AS k
         WHERE of_table IN ('subject_grant', 'access_rule') AND k.tenant = checked.tenant AND k.name = checked.key AND NOT k.enabled
        UNION ALL
        SELECT 2, 'access provider', a.name FROM broker.key AS k JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
         WHERE of_table IN ('subject_grant', 'access_rule', 'key') AND k.tenant = checked.tenant AND k.name = checked.key AND NOT a.enabled
        UNION ALL
        SELECT 3, 'identity provider', p.name FROM broker.identity_provider AS p
         WHERE of_table IN ('subject_grant', 'access_rule', 'access_approver') AND p.name IN (checked.idp, checked.actor_idp) AND NOT p.enabled
           -- a login decides without a token
           AND NOT (of_table = 'access_approver' AND EXISTS (SELECT FROM broker.access_approver AS a WHERE a.id = checked.id AND a.role_name IS NOT NULL))
        ) AS d (place, kind, name) ORDER BY d.place LIMIT 1;
END
$$;
COMMENT ON FUNCTION internal.disabled_reference(text, broker.subject_grant) IS 'The first disabled row that a row just written needs.';

CREATE OR REPLACE FUNCTION internal.values_compared(subject text, match text, claims jsonb, owner text, actor text) RETURNS TABLE (kind text, value text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'subject', subject WHERE match = 'exact' AND subject IS NOT NULL
     UNION ALL SELECT v.kind, v.value FROM (VALUES ('owner', owner), ('actor', actor)) AS v (kind, value) WHERE v.value IS NOT NULL
     UNION ALL SELECT 'claim', c.key FROM jsonb_each(claims) AS c
     UNION ALL SELECT format('value of "%s"', c.key), a #>> '{}' FROM jsonb_each(claims) AS c CROSS JOIN internal.alternatives(c.value) AS a WHERE jsonb_typeof(a) = 'string';
$$;
COMMENT ON FUNCTION internal.values_compared(text, text, jsonb, text, text) IS 'The values of a row in which a misspelling makes the row match nothing, or belong to nobody.';

CREATE OR REPLACE FUNCTION internal.lint_beside(of_table text, checked broker.subject_grant) RETURNS TABLE (rule text, detail text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET standard_conforming_strings = on
    SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    uuid constant text := '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';
    swapped constant text := regexp_replace(checked.subject, '^(.*[:/])?([^:/]+)([:/])([^:/]+)$', '\1\4\3\2');
    provider broker.access_provider;
    reached text[];
    of_key broker.key;
BEGIN
    RETURN QUERY SELECT d.rule, d.detail FROM internal.disabled_reference(of_table, checked) AS d;
    IF of_table = 'key' THEN
        SELECT k.* INTO of_key FROM broker.key AS k WHERE k.tenant = checked.tenant AND k.name = checked.key;
        -- The services that verify a jwt key's tokens compare the audience exactly, so a slash at its end is not a mistake there. Capitals probably are.
        RETURN QUERY SELECT 'nearly_the_same_row', min(o.name)
            FROM (SELECT k.* FROM broker.key AS k WHERE k.tenant = of_key.tenant AND k.provider = of_key.provider LIMIT 200) AS o
           WHERE o.name <> of_key.name AND o.enabled AND o.max_duration = of_key.max_duration AND o.outputs = of_key.outputs AND o.resource IS NULL AND of_key.resource IS NULL
             AND o.settings <> of_key.settings AND internal.settings_alike(o.settings) = internal.settings_alike(of_key.settings)
             AND (lower(o.settings::text) = lower(of_key.settings::text)
                  OR (SELECT p.type <> 'jwt' FROM broker.access_provider AS p WHERE p.tenant = of_key.tenant AND p.name = of_key.provider)) HAVING count(*) > 0;
    END IF;
    IF of_table = 'access_provider' THEN
        SELECT p.* INTO provider FROM broker.access_provider AS p WHERE p.tenant = checked.tenant AND p.name = checked.key;
        reached := internal.places_of(provider.type, provider.settings, provider.allowed_targets);
        -- A place that several other tenants reach is shared on purpose.
        RETURN QUERY SELECT 'target_of_another_tenant', concat_ws(chr(10), min(o.name), min(o.tenant), min((SELECT min(p) FROM unnest(o.places) AS p WHERE p = ANY (reached))))
            FROM (SELECT p.tenant, p.name, internal.places_of(p.type, p.settings, p.allowed_targets) AS places FROM broker.access_provider AS p
                   WHERE internal.places_of(p.type, p.settings, p.allowed_targets) && reached AND p.tenant <> checked.tenant AND p.enabled LIMIT 50) AS o
          HAVING count(DISTINCT o.tenant) = 1;
        RETURN QUERY SELECT 'nearly_the_same_row', min(o.name)
            FROM (SELECT p.* FROM broker.access_provider AS p WHERE p.tenant = provider.tenant LIMIT 200) AS o
           WHERE o.name <> provider.name AND o.enabled AND o.type = provider.type AND o.shared_identity = provider.shared_identity AND o.settings <> provider.settings
             AND internal.settings_alike(o.settings) = internal.settings_alike(provider.settings)
             AND o.allowed_targets @> provider.allowed_targets AND o.allowed_targets <@ provider.allowed_targets HAVING count(*) > 0;
        RETURN;
    ELSIF of_table IN ('key', 'access_approver', 'blocked_subject') AND num_nonnulls(checked.idp, checked.owner) = 0 THEN
        RETURN; -- has nothing to compare, so the query need not be planned
    END IF;
    -- Disabled rows count among those that are read, of which there may be a million.
    RETURN QUERY WITH other AS MATERIALIZED (
        (SELECT g.enabled, g.subject, g.match, g.claims, g.owner, NULL AS actor FROM broker.subject_grant AS g
          WHERE g.match = 'exact' AND g.tenant = checked.tenant AND g.idp = checked.idp AND (of_table <> 'subject_grant' OR g.id <> checked.id) LIMIT 200)
        UNION ALL (SELECT g.enabled, g.subject, g.match, g.claims, g.owner, NULL FROM broker.subject_grant AS g
          WHERE g.match = 'glob' AND g.tenant = checked.tenant AND g.idp = checked.idp AND (of_table <> 'subject_grant' OR g.id <> checked.id) LIMIT 200)
        UNION ALL (SELECT g.enabled, NULL, NULL, '{}', NULL, g.actor FROM broker.subject_grant AS g
          WHERE checked.actor_match = 'exact' AND g.actor_match = 'exact' AND g.actor IS NOT NULL AND g.tenant = checked.tenant AND g.actor_idp = checked.actor_idp AND g.id <> checked.id LIMIT 200)
        UNION ALL (SELECT r.enabled, r.subject, r.match, r.claims, r.owner, NULL FROM broker.access_rule AS r
          WHERE r.tenant = checked.tenant AND r.idp = checked.idp AND (of_table <> 'access_rule' OR r.id <> checked.id) LIMIT 100)
        UNION ALL (SELECT true, a.subject, a.match, a.claims, NULL, NULL FROM broker.access_approver AS a
          WHERE a.tenant = checked.tenant AND a.idp = checked.idp AND (of_table <> 'access_approver' OR a.id <> checked.id) LIMIT 100)
        UNION ALL (SELECT true, NULL, NULL, '{}', g.owner, NULL FROM broker.subject_grant AS g
          WHERE checked.owner IS NOT NULL AND g.tenant = checked.tenant AND g.enabled AND (of_table <> 'subject_grant' OR g.id <> checked.id) LIMIT 200)
        UNION ALL (SELECT k.enabled, NULL, NULL, '{}', k.owner, NULL FROM broker.key AS k
          WHERE checked.owner IS NOT NULL AND k.tenant = checked.tenant AND (of_table <> 'key' OR k.name <> checked.key) LIMIT 200)
        UNION ALL (SELECT c.enabled, NULL, NULL, jsonb_build_object(c.claim, c.value), NULL, NULL FROM broker.console_access AS c
          WHERE of_table = 'console_access' AND c.id <> checked.id ORDER BY c.id LIMIT 1000)
    ), beside AS MATERIALIZED (
        SELECT DISTINCT v.kind, v.value FROM other AS o CROSS JOIN internal.values_compared(o.subject, o.match, o.claims, o.owner, o.actor) AS v WHERE o.enabled
    )
    (SELECT DISTINCT ON (v.kind, v.value) 'nearly_another_value', concat_ws(chr(10), v.kind, v.value, b.value)
       FROM internal.values_compared(checked.subject, checked.match, checked.claims, checked.owner, CASE checked.actor_match WHEN 'exact' THEN checked.actor END) AS v
       JOIN beside AS b ON b.kind = v.kind AND internal.is_misspelling(v.value, b.value)
      WHERE NOT EXISTS (SELECT FROM beside AS e WHERE e.kind = v.kind AND e.value = v.value) ORDER BY v.kind, v.value, b.value)
    UNION ALL
    SELECT 'unlike_other_subjects', concat_ws(chr(10), checked.idp, checked.subject) FROM beside AS b
     WHERE b.kind = 'subject' AND checked.match = 'exact' AND checked.subject ~ '^[A-Za-z][A-Za-z0-9._+-]{0,31}(@[A-Za-z0-9.-]+)?$'
    HAVING count(*) > 1 AND bool_and(b.value ~ uuid)
    UNION ALL
    SELECT 'parts_in_another_order', concat_ws(chr(10), checked.subject, swapped)
     WHERE checked.match = 'exact' AND swapped <> checked.subject AND EXISTS (SELECT FROM beside AS b WHERE b.kind = 'subject' AND b.value = swapped)
       AND NOT EXISTS (SELECT FROM beside AS b WHERE b.kind = 'subject' AND b.value = checked.subject)
    UNION ALL
    SELECT 'subject_is_an_audience', concat_ws(chr(10), checked.subject, p.name) FROM broker.identity_provider AS p
     WHERE p.name = checked.idp AND checked.match = 'exact' AND checked.subject = ANY (p.audiences)
    UNION ALL
    (SELECT 'subject_is_blocked', b.id::text FROM (
            (SELECT o.* FROM broker.blocked_subject AS o WHERE o.tenant = checked.tenant AND o.match = 'exact' AND hashtextextended(o.subject, 0) = hashtextextended(checked.subject, 0) LIMIT 10)
            UNION ALL (SELECT o.* FROM broker.blocked_subject AS o WHERE o.tenant IS NULL AND o.match = 'exact' AND hashtextextended(o.subject, 0) = hashtextextended(checked.subject, 0) LIMIT 10)
            UNION ALL (SELECT o.* FROM broker.blocked_subject AS o WHERE o.tenant = checked.tenant AND o.match = 'glob' LIMIT 200)
            UNION ALL (SELECT o.* FROM broker.blocked_subject AS o WHERE o.tenant IS NULL AND o.match = 'glob' LIMIT 200)) AS b
      WHERE of_table IN ('subject_grant', 'access_rule', 'access_approver') AND checked.match = 'exact' AND b.enabled AND (b.until IS NULL OR b.until > now())
        AND b.claims = '{}' AND (b.idp IS NULL OR b.idp = checked.idp) AND CASE b.match WHEN 'glob' THEN internal.glob_matches(b.subject, checked.subject) ELSE b.subject = checked.subject END
      ORDER BY b.id LIMIT 1)
    UNION ALL
    (SELECT 'access_without_request', concat_ws(chr(10), r.id, g.id)
       FROM broker.access_rule AS r JOIN broker.subject_grant AS g ON g.tenant = r.tenant AND g.idp = r.idp AND g.match = 'exact'
        AND hashtextextended(g.subject, 0) = hashtextextended(r.subject, 0) AND g.subject = r.subject AND g.key || '' = r.key
      WHERE of_table IN ('subject_grant', 'access_rule') AND r.tenant = checked.tenant AND r.key = checked.key AND r.idp = checked.idp AND r.subject = checked.subject
        AND checked.id = CASE of_table WHEN 'access_rule' THEN r.id ELSE g.id END AND r.match = 'exact' AND r.enabled AND g.enabled
        AND g.valid_until IS NULL AND g.actor IS NULL AND NOT r.consent AND g.networks IS NULL AND r.claims @> g.claims ORDER BY r.id LIMIT 1)
    UNION ALL
    -- A rule of consent is about requests with an actor alone, and often for all people.
    (SELECT 'access_without_consent', concat_ws(chr(10), r.id, g.id, g.actor)
       FROM (SELECT o.* FROM broker.access_rule AS o WHERE o.tenant = checked.tenant AND o.key = checked.key LIMIT 100) AS r
      CROSS JOIN LATERAL (
            (SELECT o.* FROM broker.subject_grant AS o WHERE of_table = 'subject_grant' AND o.id = checked.id)
            UNION ALL (SELECT o.* FROM broker.subject_grant AS o WHERE of_table = 'access_rule' AND o.tenant = r.tenant AND o.idp = r.idp AND o.match = 'exact'
                          AND r.match = 'exact' AND hashtextextended(o.subject, 0) = hashtextextended(r.subject, 0) AND o.key || '' = r.key)
            UNION ALL (SELECT o.* FROM broker.subject_grant AS o WHERE of_table = 'access_rule' AND r.match = 'glob' AND o.tenant = r.tenant AND o.key = r.key LIMIT 200)) AS g
      WHERE of_table IN ('subject_grant', 'access_rule') AND r.consent AND r.enabled AND g.enabled AND r.idp = g.idp AND (of_table <> 'access_rule' OR r.id = checked.id)
        AND g.actor IS NOT NULL AND g.valid_until IS NULL AND g.networks IS NULL AND r.claims @> g.claims
        AND CASE WHEN r.match = 'glob' AND g.match = 'exact' THEN internal.glob_matches(r.subject, g.subject) ELSE r.match = g.match AND r.subject = g.subject END
      ORDER BY r.id, g.id LIMIT 1);
END
$$;
COMMENT ON FUNCTION internal.lint_beside(text, broker.subject_grant) IS 'Findings in a row of a table beside other rows, when it is written.';

DROP FUNCTION IF EXISTS internal.warn_of_rows_beside(text, broker.subject_grant[]);

CREATE OR REPLACE FUNCTION internal.found_beside(of_table text, written broker.subject_grant[]) RETURNS TABLE (id bigint, name text, rule text, advice text, title text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
BEGIN
    RETURN QUERY SELECT w.id, w.key::text, f.rule, internal.lint_advice(f.rule, f.detail), CASE of_table
                WHEN 'subject_grant' THEN format('Grant of key "%s" to "%s"', w.key, w.subject)
                WHEN 'access_rule' THEN format('Access rule %s for key "%s"', w.id, w.key)
                WHEN 'access_approver' THEN (SELECT format('Approver %s of access rule %s', a.id, a.rule) FROM broker.access_approver AS a WHERE a.id = w.id)
                WHEN 'blocked_subject' THEN format('Block of "%s"', w.subject)
                WHEN 'console_access' THEN format('Access to the console by "%s"', (SELECT c.claim FROM broker.console_access AS c WHERE c.id = w.id))
                WHEN 'access_provider' THEN format('Access provider "%s"', w.key)
                ELSE format('Key "%s"', w.key) END
      FROM unnest(written) AS w CROSS JOIN LATERAL internal.lint_beside(of_table, w) AS f WHERE coalesce(w.enabled, true);
END
$$;
COMMENT ON FUNCTION internal.found_beside(text, broker.subject_grant[]) IS 'The findings of internal.lint_beside about the rows just written, worded as warnings.';

-- Letters that look alike: l, I and 1; o, O and 0.
CREATE OR REPLACE FUNCTION internal.looks_like(one text, other text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN lower(translate(regexp_replace(one, '[-_.](?![0-9])|(?<![0-9])[-_.]', '', 'g'), 'I1O0', 'lloo'))
         = lower(translate(regexp_replace(other, '[-_.](?![0-9])|(?<![0-9])[-_.]', '', 'g'), 'I1O0', 'lloo'));
COMMENT ON FUNCTION internal.looks_like(text, text) IS 'Whether two names differ only by case, by characters that look alike, or by -, _ and dots, but not those between numbers.';

CREATE OR REPLACE FUNCTION internal.found_nearly_named(of_table text, tenants text[], names text[]) RETURNS TABLE (id bigint, name text, rule text, advice text, title text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT NULL::bigint, w.name, ''nearly_another_name'', internal.lint_advice(''nearly_another_name'', concat_ws(chr(10), w.name, o.name)), format(''%%s "%%s"'', %L, w.name)
           FROM unnest($1, $2) AS w (tenant, name)
          CROSS JOIN LATERAL (SELECT min(s.name) AS name FROM (SELECT r.* FROM broker.%I AS r WHERE %s LIMIT 10000) AS s
                 WHERE s.name <> w.name AND s.enabled
                   AND CASE WHEN translate(s.name, ''0123456789'', '''') = translate(w.name, ''0123456789'', '''') THEN internal.looks_like(s.name, w.name)
                            ELSE internal.looks_like(s.name, w.name) OR internal.is_misspelling(s.name, w.name) END) AS o WHERE o.name IS NOT NULL',
        upper(left(of_table, 1)) || replace(substr(of_table, 2), '_', ' '), of_table, CASE of_table WHEN 'tenant' THEN 'true' ELSE 'r.tenant = w.tenant' END)
        USING tenants, names;
END
$$;
COMMENT ON FUNCTION internal.found_nearly_named(text, text[], text[]) IS 'New names of rows that are almost the same as those of other rows of the tenant, or as those of other tenants.';
