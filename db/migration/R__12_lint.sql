-- Lint: advice about rows that are valid and probably not what their author meant. A WARNING shows it when the row is
-- written, and broker.lint until the row changes. What is known about issuers is data (R__24_known_issuers); the texts are in R__11.

CREATE OR REPLACE FUNCTION internal.known_issuer(issuer text) RETURNS SETOF broker.known_issuer
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.* FROM broker.known_issuer AS k WHERE internal.glob_matches(k.issuer_pattern, known_issuer.issuer) ORDER BY length(k.issuer_pattern) DESC LIMIT 1;
$$;
COMMENT ON FUNCTION internal.known_issuer(text) IS 'What is known about the issuer of tokens; no row if nothing is.';

CREATE OR REPLACE FUNCTION internal.lint_claims(conditions jsonb, issuer broker.known_issuer) RETURNS TABLE (rule text, detail text)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH known AS (
        SELECT '{"iss": "string", "sub": "string", "aud": "string", "jti": "string", "azp": "string", "exp": "number",
                 "nbf": "number", "iat": "number", "auth_time": "number"}'::jsonb || coalesce(issuer.claims, '{}') AS claims
    ), claim AS (
        SELECT c.key AS name, internal.likely_pointer(c.key) AS pointer,
               CASE jsonb_typeof(c.value) WHEN 'array' THEN c.value ELSE jsonb_build_array(c.value) END AS any_of,
               coalesce(k.claims ->> c.key, (SELECT n.value FROM jsonb_each_text(k.claims) AS n
                                              WHERE strpos(n.key, '*') > 0 AND internal.glob_matches(n.key, c.key) LIMIT 1)) AS type
          FROM known AS k CROSS JOIN jsonb_each(conditions) AS c
    ), item AS (
        SELECT c.name, c.type, i AS item FROM claim AS c CROSS JOIN jsonb_array_elements(c.any_of) AS i
    )
    SELECT 'pointer_without_slash', concat_ws(chr(10), c.name, c.pointer) FROM claim AS c WHERE c.type IS NULL AND c.pointer IS NOT NULL
    UNION ALL SELECT 'unknown_claim', concat_ws(chr(10), issuer.name, c.name) FROM claim AS c
     WHERE c.type IS NULL AND c.pointer IS NULL AND issuer.name IS NOT NULL
    UNION ALL SELECT DISTINCT 'claim_of_other_type', format('"%s" as a %s', i.name, i.type) FROM item AS i
     WHERE replace(jsonb_typeof(i.item), 'object', 'string') <> i.type
    UNION ALL SELECT 'star_in_plain_claim', i.item::text FROM item AS i
     WHERE jsonb_typeof(i.item) = 'string' AND internal.sign_in(i.item #>> '{}', false) <> ''
    UNION ALL SELECT 'glob_matches_less_than_it_seems', format('values with "%s"', internal.sign_in(i.item ->> 'glob', true)) FROM item AS i
     WHERE internal.sign_in(i.item ->> 'glob', true) <> ''
    UNION ALL SELECT DISTINCT t.rule, t.detail FROM item AS i CROSS JOIN unnest(ARRAY[i.name, coalesce(i.item ->> 'glob', i.item #>> '{}')]) AS v (value)
     CROSS JOIN internal.lint_text(v.value) AS t WHERE v.value ~* internal.unusual_text()
    UNION ALL SELECT 'list_in_one_value', i.item #>> '{}' FROM item AS i WHERE i.item #>> '{}' ~ '^[A-Za-z0-9_-]+(,[A-Za-z0-9_-]+)+$'
    UNION ALL SELECT 'claim_fits_no_form', concat_ws(chr(10), issuer.name, i.name, replace(array_to_string(f.forms, ' or '), '#', 'digits'), i.item)
      FROM item AS i CROSS JOIN LATERAL (SELECT ARRAY(SELECT jsonb_array_elements_text(issuer.claim_forms -> i.name)) WHERE issuer.claim_forms ? i.name) AS f (forms)
     WHERE NOT EXISTS (SELECT FROM jsonb_to_recordset(issuer.mistakes) AS m ("in" text, form text) WHERE m."in" = i.name AND coalesce(i.item ->> 'glob', i.item #>> '{}') ~ m.form)
       AND CASE WHEN jsonb_typeof(i.item) = 'string' THEN i.item #>> '{}' !~ internal.pattern_of(f.forms) AND internal.sign_in(i.item #>> '{}', false) IS NULL
                WHEN i.item ? 'glob' THEN internal.sign_in(i.item ->> 'glob', true) IS NULL AND NOT EXISTS (SELECT FROM unnest(f.forms) AS one
                     WHERE CASE one WHEN '#' THEN i.item ->> 'glob' ~ '^[0-9*]+$' ELSE internal.globs_overlap(i.item ->> 'glob', one) END) END
    UNION ALL SELECT DISTINCT 'unlike_its_issuer', concat_ws(chr(10), 'claim "' || i.name || '"', issuer.name, m.advice)
      FROM item AS i JOIN jsonb_to_recordset(issuer.mistakes) AS m ("in" text, form text, advice text) ON m."in" = i.name AND coalesce(i.item ->> 'glob', i.item #>> '{}') ~ m.form;
$$;
COMMENT ON FUNCTION internal.lint_claims(jsonb, broker.known_issuer) IS 'Findings in conditions on claims. issuer: what is known about the issuer of the tokens, or null.';

CREATE OR REPLACE FUNCTION internal.lint_glob(glob text, claims jsonb, required_claims jsonb, issuer broker.known_issuer)
    RETURNS TABLE (rule text, detail text) LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH form AS (
        SELECT f.form, internal.globs_overlap(glob, f.form) AS matches FROM unnest(issuer.subject_forms) AS f (form)
    ), of_issuer AS (
        SELECT k.* FROM broker.known_issuer AS k WHERE issuer.name IS NULL OR k.issuer_pattern = issuer.issuer_pattern
    )
    SELECT 'subject_fits_no_form', concat_ws(chr(10), issuer.name, internal.shown_forms(issuer.subject_forms))
     WHERE issuer.name IS NOT NULL AND NOT EXISTS (SELECT FROM form AS f WHERE f.matches)
    UNION ALL SELECT 'glob_matches_less_than_it_seems', format('values with "%s"', internal.sign_in(glob, true)) WHERE internal.sign_in(glob, true) <> ''
    UNION ALL SELECT 'glob_matches_less_than_it_seems', 'these subjects of the issuer: ' || string_agg(f.form, ', ') FILTER (WHERE f.matches) FROM form AS f
     WHERE glob ~ '[^*][*]$' HAVING bool_or(f.matches)
       AND bool_or(CASE WHEN NOT f.matches THEN internal.globs_overlap(glob || '*', f.form) END)
    -- A made-up name (and id, as GitHub has them) in place of the project's: a rule that matches it matches every project.
    UNION ALL SELECT 'whole_organisation', NULL
     WHERE EXISTS (SELECT FROM of_issuer AS k CROSS JOIN unnest(k.subject_forms) AS f WHERE k.project_wildcard > 0 AND (issuer.name IS NOT NULL OR f !~ '^[{]?[*]')
                      AND internal.globs_overlap(glob, regexp_replace(f, '[*]+', chr(57344) || '@' || chr(57344), 1, k.project_wildcard)))
       AND NOT EXISTS (SELECT FROM of_issuer AS k CROSS JOIN (VALUES (claims), (required_claims)) AS c (claims)
                        WHERE c.claims ?| '{job_workflow_ref,workflow_ref,ci_config_ref_uri}'
                           OR internal.requires_an_owner(c.claims, '{sub}' || k.project_claims));
$$;
COMMENT ON FUNCTION internal.lint_glob(text, jsonb, jsonb, broker.known_issuer) IS 'Findings in the glob of a grant that has these conditions on claims.';

CREATE OR REPLACE FUNCTION internal.usual_spelling_of(issuer text) RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.spelling
      FROM (SELECT p.issuer, 1 FROM broker.identity_provider AS p WHERE p.enabled
            UNION ALL SELECT l.issuer, 1000000000 FROM broker.shared_issuer AS l
            UNION ALL SELECT k.issuer_pattern, 1000000000 FROM broker.known_issuer AS k WHERE strpos(k.issuer_pattern, '*') = 0)
           AS s (spelling, weight)
     WHERE internal.nearly(s.spelling) = internal.nearly(usual_spelling_of.issuer) GROUP BY s.spelling
     ORDER BY sum(s.weight) DESC, s.spelling = usual_spelling_of.issuer, s.spelling LIMIT 1;
$$;
COMMENT ON FUNCTION internal.usual_spelling_of(text) IS 'How an issuer is spelled, by the lists of issuers or by most identity providers that the caller may see. Spellings differ by case, slashes at the end or the default port.';

CREATE OR REPLACE FUNCTION internal.lint_identity_provider(checked broker.identity_provider) RETURNS TABLE (rule text, detail text)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
    SELECT c.rule, c.detail FROM (VALUES (1)) AS one LEFT JOIN internal.known_issuer(checked.issuer) AS k ON true
     CROSS JOIN LATERAL internal.lint_claims(checked.required_claims, k) AS c
     UNION ALL
    SELECT r.rule, r.detail FROM (VALUES
        ('issuer_nearly_known', nullif(internal.usual_spelling_of(checked.issuer), checked.issuer)),
        ('issuer_is_discovery', substring(checked.issuer FROM '/[.]well-known/')),
        ('issuer_is_endpoint', substring(checked.issuer FROM '/(?:protocol/openid-connect(?:/.*)?|oauth2?(?:/v[0-9.]+)?/(?:authorize|token|keys|certs)|admin/[^/]+/console(?:/.*)?|realms)/?$')),
        ('issuer_sends_no_tokens', (SELECT concat_ws(chr(10), checked.issuer, m.advice) FROM broker.known_issuer AS o, jsonb_to_recordset(o.mistakes) AS m ("in" text, form text, advice text)
            WHERE m."in" = 'issuer' AND checked.issuer ~ m.form ORDER BY o.name, length(m.form) LIMIT 1)),
        ('jwks_uri_is_discovery', coalesce(substring(checked.jwks_uri FROM '/[.]well-known/(?:openid-configuration|oauth-authorization-server)'),
                                           CASE WHEN rtrim(checked.jwks_uri, '/') = rtrim(checked.issuer, '/') THEN '' END)),
        ('audience_of_another_service', (SELECT a FROM unnest(checked.audiences) AS a WHERE internal.is_vendor_audience(a)
             OR a = ANY (internal.audiences_of_others()) OR a ~ '^https://github[.]com/[^/]+$|[.]apps[.]googleusercontent[.]com$' LIMIT 1)),
        ('approver_beside_subject', CASE WHEN checked.accepts @> '{subject,approver}' THEN '' END),
        ('issuer_inside_cluster', CASE WHEN checked.jwks IS NULL AND coalesce(checked.jwks_uri, checked.issuer) ~* '^https?://([^/:]+[.])?(svc|local|kubernetes[.]default)([:/]|$)' THEN coalesce(checked.jwks_uri, checked.issuer) END),
        ('one_time_without_id', (SELECT k.name FROM internal.known_issuer(checked.issuer) AS k WHERE checked.one_time_tokens AND k.name IN ('Google', 'Microsoft Entra ID'))),
        ('jwks_uri_of_another_issuer', (SELECT concat_ws(chr(10), o.name, coalesce(k.jwks_uri, 'null')) FROM broker.known_issuer AS o
             LEFT JOIN internal.known_issuer(checked.issuer) AS k ON true
            WHERE (o.jwks_uri = checked.jwks_uri OR internal.glob_matches(rtrim(o.issuer_pattern, '/') || '/**', checked.jwks_uri) AND o.issuer_pattern !~ '^https://[*]') AND o.name IS DISTINCT FROM k.name LIMIT 1)),
        ('jwks_uri_of_another_place', internal.other_place(checked.issuer, checked.jwks_uri)),
        ('same_as_another_row', (SELECT min(o.name) FROM broker.identity_provider AS o WHERE o.tenant = checked.tenant AND o.name <> checked.name AND o.enabled
             AND internal.nearly(o.issuer) = internal.nearly(checked.issuer)
             AND (o.required_claims, o.jwks, o.token_types, o.clock_skew, o.max_token_age, o.one_time_tokens)
                 IS NOT DISTINCT FROM (checked.required_claims, checked.jwks, checked.token_types, checked.clock_skew, checked.max_token_age, checked.one_time_tokens)
             AND o.accepts @> checked.accepts AND o.accepts <@ checked.accepts)),
        ('algorithm_not_sent', (SELECT concat_ws(chr(10), k.name, array_to_string(k.algorithms, ', ')) FROM internal.known_issuer(checked.issuer) AS k
            WHERE k.algorithms IS NOT NULL AND NOT k.algorithms && checked.algorithms)),
        ('certificate_expired', internal.certificate_fault('{}', checked.ca_certificate)),
        ('clock_skew_exceeds_age', CASE WHEN checked.clock_skew > checked.max_token_age THEN checked.clock_skew::text END),
        ('token_age_too_short', CASE WHEN checked.max_token_age < 60 THEN checked.max_token_age::text END)) AS r (rule, detail)
     WHERE r.detail IS NOT NULL
     UNION ALL
    SELECT 'contradicts_its_issuer', concat_ws(chr(10), c.claim, c.value) FROM internal.known_issuer(checked.issuer) AS k
     CROSS JOIN internal.claims_in_subject(k.subject_claims, checked.issuer) AS c
     WHERE checked.required_claims ? c.claim AND NOT internal.text_may_fit(checked.required_claims -> c.claim, c.value, 'exact')
     UNION ALL
    SELECT t.rule, t.detail FROM unnest(checked.audiences) AS a CROSS JOIN LATERAL (
           SELECT n.rule, n.detail FROM internal.lint_text(a) AS n
           UNION ALL SELECT 'star_in_audience', a WHERE strpos(a, '*') > 0
           UNION ALL SELECT 'list_in_one_value', a WHERE a ~ '^[^,]+(,[^,]+)+$') AS t (rule, detail);
$$;
COMMENT ON FUNCTION internal.lint_identity_provider(broker.identity_provider) IS 'Findings in an identity provider.';

-- Rules, approvers and blocks have a grant's columns, and so its checks.
CREATE OR REPLACE FUNCTION internal.as_grant(written jsonb) RETURNS broker.subject_grant
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_populate_record(NULL::broker.subject_grant, '{"match": "exact", "claims": {}, "actor_match": "exact", "actor_claims": {}}' || written);
$$;
COMMENT ON FUNCTION internal.as_grant(jsonb) IS 'A row with the columns idp, subject, match and claims as a grant, for lint.';

CREATE OR REPLACE FUNCTION internal.lint_parties(of_table text, written broker.subject_grant[]) RETURNS TABLE (id bigint, tenant text, rule text, detail text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET standard_conforming_strings = on AS $$
BEGIN
    RETURN QUERY WITH grants AS MATERIALIZED (
        SELECT w.* FROM unnest(written) AS w
    ), idp AS MATERIALIZED (
        SELECT p.name, p.issuer, p.required_claims, p.accepts, k AS known,
               (SELECT jsonb_object_agg(c.key, c.value) FROM jsonb_each(p.required_claims || jsonb_build_object('iss', p.issuer)) AS c
                 WHERE c.key = ANY ('{iss}' || k.project_claims || s.owner_claims))
               || coalesce((SELECT jsonb_object_agg(i.claim, i.value) FROM internal.claims_in_subject(k.subject_claims, p.issuer) AS i), '{}') AS in_each_token,
               internal.pattern_of(k.subject_forms) AS forms
          FROM (SELECT g.idp FROM grants AS g UNION SELECT g.actor_idp FROM grants AS g) AS d JOIN broker.identity_provider AS p ON p.name = d.idp
          LEFT JOIN LATERAL internal.known_issuer(p.issuer) AS k ON true LEFT JOIN broker.shared_issuer AS s ON s.issuer = p.issuer
    ), by_ids AS MATERIALIZED (
        -- among a thousand of a key
        SELECT d.tenant, d.idp, d.key, ARRAY(SELECT internal.likeness(o.subject) FROM (
                   SELECT c.subject, c.idp, c.enabled FROM broker.subject_grant AS c WHERE c.tenant = d.tenant AND c.key = d.key LIMIT 1000) AS o
                WHERE o.idp = d.idp AND o.enabled AND strpos(o.subject, '@') > 0) AS alike
          FROM (SELECT DISTINCT g.tenant, g.idp, g.key FROM grants AS g WHERE of_table = 'subject_grant' AND internal.is_by_name(g.subject)) AS d
    ), found AS MATERIALIZED (
    SELECT g.id, g.tenant, r.rule, r.detail
      FROM grants AS g LEFT JOIN idp AS i ON i.name = g.idp LEFT JOIN idp AS a ON a.name = g.actor_idp
     CROSS JOIN LATERAL (
           SELECT n.rule, n.detail FROM internal.lint_text(g.subject) AS n WHERE g.subject ~* internal.unusual_text()
           UNION ALL SELECT 'glob_sign_in_exact_subject', internal.sign_in(g.subject, false) WHERE g.match = 'exact' AND g.subject ~ '[]*%^$()[{}\\?+]'
           UNION ALL SELECT 'subject_fits_no_form', concat_ws(chr(10), (i.known).name, internal.shown_forms((i.known).subject_forms))
            WHERE g.match = 'exact' AND g.subject !~ i.forms AND internal.sign_in(g.subject, false) IS NULL
           UNION ALL SELECT 'subject_fits_no_form', concat_ws(chr(10), 'Kubernetes', 'system:serviceaccount:NAMESPACE:NAME')
            WHERE (i.known).name IS NULL AND g.subject ~ '^system:' AND NOT internal.globs_overlap(CASE g.match WHEN 'glob' THEN g.subject ELSE replace(g.subject, '*', '') END, 'system:serviceaccount:*:*')
           UNION ALL SELECT n.rule, coalesce(n.detail, '') FROM internal.lint_glob(g.subject, g.claims, i.required_claims, i.known) AS n
            WHERE g.match = 'glob' AND (of_table <> 'blocked_subject' OR n.rule <> 'whole_organisation') AND (n.rule <> 'subject_fits_no_form' OR i.name IS NOT NULL)
           UNION ALL SELECT 'unlike_its_issuer', concat_ws(chr(10), 'subject', (i.known).name, m.advice)
             FROM jsonb_to_recordset((i.known).mistakes) AS m ("in" text, form text, match text, advice text)
            WHERE m."in" = 'subject' AND coalesce(m.match, g.match) = g.match AND g.subject ~ m.form
           UNION ALL SELECT 'github_subject_by_name', internal.matching_both_forms(of_table, g, (i.known).subject_claims)
            WHERE i.issuer ~ '^https://token[.]actions[.]githubusercontent[.]com(/|$)' AND internal.is_by_name(g.subject)
              AND internal.sign_in(g.subject, g.match = 'glob') IS NULL AND NOT CASE of_table WHEN 'subject_grant' THEN internal.likeness(g.subject) = ANY ((SELECT b.alike FROM by_ids AS b WHERE b.tenant = g.tenant AND b.idp = g.idp AND b.key = g.key)::text[])
                                     ELSE internal.has_row_by_ids(of_table, g) END
           UNION ALL SELECT n.rule, n.detail FROM internal.lint_claims(g.claims, i.known) AS n WHERE g.claims <> '{}'
           UNION ALL SELECT 'contradicts_identity_provider', concat_ws(chr(10), c.key, c.value)
             FROM jsonb_each(CASE g.match WHEN 'exact' THEN i.in_each_token || jsonb_build_object('sub', g.subject) ELSE i.in_each_token END) AS c
            WHERE g.claims ? c.key AND NOT jsonb_path_exists(c.value, '$.**.glob')
              AND NOT EXISTS (SELECT FROM jsonb_path_query(c.value, '$[*]') AS one CROSS JOIN jsonb_path_query(g.claims -> c.key, '$[*]') AS other
                               WHERE CASE WHEN jsonb_typeof(other) = 'object' THEN internal.value_fits(other, one) ELSE one = other OR jsonb_typeof(one) <> jsonb_typeof(other) END)
           UNION ALL SELECT 'contradicts_its_subject', concat_ws(chr(10), c.claim, c.value)
             FROM internal.claims_in_subject((i.known).subject_claims, g.subject) AS c
            WHERE g.claims ? c.claim AND NOT internal.text_may_fit(g.claims -> c.claim, c.value, g.match)
           UNION ALL SELECT 'subject_of_another_owner', concat_ws(chr(10), c.claim, i.required_claims -> c.claim, c.value)
             FROM internal.claims_in_subject((i.known).subject_claims, g.subject) AS c
            WHERE i.required_claims ? c.claim AND NOT internal.text_may_fit(i.required_claims -> c.claim, c.value, g.match)
           UNION ALL SELECT 'party_not_accepted', concat_ws(chr(10), i.name, 'subject') WHERE of_table IN ('subject_grant', 'access_rule') AND NOT 'subject' = ANY (i.accepts)
           -- an act claim in the subject's token names an actor of the same identity provider; no known issuer sends that claim
           UNION ALL SELECT 'party_not_accepted', concat_ws(chr(10), a.name, 'actor')
            WHERE NOT 'actor' = ANY (a.accepts) AND (a.name <> i.name OR (a.known).name IS NOT NULL)
           UNION ALL SELECT 'actor_is_its_subject', g.actor WHERE g.actor_idp = g.idp AND g.actor = g.subject AND g.actor_match = g.match
           UNION ALL SELECT 'actor_matches_every_agent', a.name WHERE g.actor_match = 'glob' AND g.actor ~ '^[^*:/]*[:/]+[*]+$' AND g.actor_claims = '{}'
           UNION ALL SELECT 'glob_sign_in_exact_subject', internal.sign_in(g.actor, false) WHERE g.actor_match = 'exact' AND g.actor ~ '[]*%^$()[{}\\?+]'
           UNION ALL SELECT n.rule, n.detail FROM internal.lint_text(g.actor) AS n WHERE g.actor IS NOT NULL
           UNION ALL SELECT n.rule, n.detail FROM internal.lint_claims(g.actor_claims, a.known) AS n WHERE g.actor_claims <> '{}'
           UNION ALL SELECT n.rule, n.detail FROM internal.lint_text(g.owner) AS n WHERE g.owner IS NOT NULL
           ) AS r (rule, detail)
     WHERE r.detail IS NOT NULL)
    -- a subject that is wrong in both forms is corrected first
    SELECT f.id, f.tenant, f.rule, f.detail FROM found AS f
     WHERE f.rule <> 'github_subject_by_name' OR NOT EXISTS (SELECT FROM found AS o WHERE o.id = f.id AND o.rule IN
           ('white_space', 'stray_punctuation', 'placeholder', 'subject_fits_no_form', 'unlike_its_issuer', 'glob_sign_in_exact_subject'));
END
$$;
COMMENT ON FUNCTION internal.lint_parties(text, broker.subject_grant[]) IS 'Findings in who is meant by rows of subject_grant, access_rule, access_approver or blocked_subject: idp, subject, match, claims, and actors.';

CREATE OR REPLACE FUNCTION internal.lint_grants(ids bigint[]) RETURNS TABLE (id bigint, tenant text, rule text, detail text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET standard_conforming_strings = on AS $$
DECLARE
    written constant broker.subject_grant[] := ARRAY(SELECT g FROM broker.subject_grant AS g WHERE g.id = ANY (ids) AND g.enabled);
BEGIN
    RETURN QUERY WITH key AS MATERIALIZED (
        SELECT k.tenant, k.name, k.max_duration, y.min_duration
          FROM (SELECT DISTINCT g.tenant, g.key FROM unnest(written) AS g) AS d JOIN broker.key AS k ON k.tenant = d.tenant AND k.name = d.key
          JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider JOIN broker.provider_type AS y ON y.type = a.type
    ), glob AS MATERIALIZED (
        -- among fifty of a key, as below
        SELECT o.*, split_part(o.subject, '*', 1) AS literal
          FROM (SELECT DISTINCT g.tenant, g.idp, g.key FROM unnest(written) AS g) AS d CROSS JOIN LATERAL (
               SELECT c.* FROM broker.subject_grant AS c
                WHERE c.match = 'glob' AND c.tenant = d.tenant AND c.idp = d.idp AND c.key = d.key AND c.enabled ORDER BY c.id LIMIT 50) AS o
    )
    SELECT n.* FROM internal.lint_parties('subject_grant', written) AS n
     UNION ALL
    SELECT g.id, g.tenant, r.rule, r.detail
      FROM unnest(written) AS g JOIN key AS k ON k.tenant = g.tenant AND k.name = g.key
     CROSS JOIN LATERAL (
           -- Among fifty others: a subject may have a thousand grants. Not by the index of keys: a key may have a million.
           (SELECT 'covered_by_another_grant' AS rule, o.id::text AS detail FROM (
                  (SELECT c.id, c.claims, c.valid_from, c.valid_until, c.max_duration, c.actor_idp, c.actor, c.actor_match, c.actor_claims, c.networks, true AS is_the_same
                     FROM broker.subject_grant AS c
                    WHERE g.match = 'exact' AND c.match = 'exact' AND c.tenant = g.tenant AND c.idp = g.idp AND c.key || '' = g.key AND c.id <> g.id AND c.enabled
                      AND hashtextextended(c.subject, 0) = hashtextextended(g.subject, 0) AND c.subject = g.subject LIMIT 50)
                  UNION ALL
                  SELECT c.id, c.claims, c.valid_from, c.valid_until, c.max_duration, c.actor_idp, c.actor, c.actor_match, c.actor_claims, c.networks, c.subject = g.subject
                    FROM glob AS c
                   WHERE c.tenant = g.tenant AND c.idp = g.idp AND c.key = g.key AND c.id <> g.id AND starts_with(g.subject, c.literal)
                     AND internal.glob_covers(c.subject, g.match, g.subject)) AS o
            WHERE (o.actor_idp, o.actor, o.actor_match, o.actor_claims) IS NOT DISTINCT FROM (g.actor_idp, g.actor, g.actor_match, g.actor_claims)
               AND coalesce(o.networks @> g.networks, o.networks IS NULL)
               AND g.claims @> o.claims AND (NOT o.is_the_same OR g.claims <> o.claims OR o.networks IS DISTINCT FROM g.networks OR (o.valid_from, o.valid_until) IS DISTINCT FROM (g.valid_from, g.valid_until))
              AND coalesce(o.valid_from <= g.valid_from, o.valid_from IS NULL) AND coalesce(o.valid_until >= g.valid_until, o.valid_until IS NULL)
              AND coalesce(o.max_duration, k.max_duration) >= coalesce(g.max_duration, k.max_duration) ORDER BY o.id LIMIT 1)
           UNION ALL SELECT 'ended_already', '' WHERE g.valid_until <= g.updated_at
           UNION ALL SELECT 'far_away', to_char(g.valid_from, 'YYYY-MM-DD') WHERE g.valid_from > g.updated_at + interval '5 years'
           UNION ALL SELECT 'duration_too_short', g.max_duration::text WHERE g.max_duration < 60
           UNION ALL SELECT 'never_long_enough', k.min_duration::text
            WHERE g.valid_until > g.updated_at AND g.valid_until - greatest(g.valid_from, g.updated_at) <= k.min_duration * interval '1 second'
           UNION ALL SELECT 'longer_than_its_key', concat_ws(chr(10), k.name, k.max_duration) WHERE g.max_duration > k.max_duration
           UNION ALL SELECT 'no_reason', '' WHERE coalesce(g.reason, '') !~ '[[:alnum:]]' OR g.reason ~* '^(<[^>]*>|todo|tbd|null|n/a)$'
           ) AS r (rule, detail)
     WHERE r.detail IS NOT NULL;
END
$$;
COMMENT ON FUNCTION internal.lint_grants(bigint[]) IS 'Findings in the enabled grants among these.';

-- Up to a thousand each of grants, rules, and rows of the last 30 days of the log: if there are more, only what they show is said.
CREATE OR REPLACE FUNCTION internal.parties_near(checked broker.blocked_subject) RETURNS TABLE (kind text, id bigint, idp text, subject text, match text, is_stopped boolean, is_in_part boolean)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    alike constant text := internal.likeness(checked.subject);
    since constant uuid := audit.first_mint_id(now() - interval '30 days');
BEGIN
    RETURN QUERY WITH party (kind, id, idp, subject, match) AS (
        (SELECT 'grant', g.id, g.idp, g.subject, g.match FROM broker.subject_grant AS g
          WHERE checked.match = 'exact' AND g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(checked.subject, 0)
            AND (checked.tenant IS NULL OR g.tenant = checked.tenant) AND g.enabled LIMIT 1000)
        UNION (SELECT 'grant', g.id, g.idp, g.subject, g.match FROM broker.subject_grant AS g
                WHERE (checked.tenant IS NULL OR g.tenant = checked.tenant) AND g.enabled LIMIT 1000)
        UNION (SELECT 'grant', g.id, g.idp, g.subject, g.match FROM broker.subject_grant AS g
                WHERE (checked.tenant IS NULL OR g.tenant = checked.tenant) AND g.match = 'glob' AND g.enabled LIMIT 1000)
        UNION (SELECT 'grant', g.id, g.actor_idp, g.actor, g.actor_match FROM broker.subject_grant AS g
                WHERE (checked.tenant IS NULL OR g.tenant = checked.tenant) AND g.actor IS NOT NULL AND g.enabled LIMIT 1000)
        UNION (SELECT 'rule', r.id, r.idp, r.subject, r.match FROM broker.access_rule AS r
                WHERE (checked.tenant IS NULL OR r.tenant = checked.tenant) AND r.enabled LIMIT 1000)
        UNION (SELECT DISTINCT 'token', NULL::bigint, p.idp, p.subject, 'exact'
                 FROM (SELECT e.idp, e.subject, e.actor_idp, e.actor FROM audit.event AS e
                        WHERE e.mint_id >= since AND (checked.tenant IS NULL OR e.tenant = checked.tenant) AND e.subject IS NOT NULL
                        ORDER BY e.mint_id DESC LIMIT 1000) AS e
                CROSS JOIN LATERAL (VALUES (e.idp, e.subject), (e.actor_idp, e.actor)) AS p (idp, subject) WHERE p.subject IS NOT NULL)
        UNION (SELECT 'token', NULL::bigint, e.idp, e.subject, 'exact' FROM audit.event AS e
                WHERE checked.match = 'exact' AND e.mint_id >= since AND hashtextextended(e.subject, 0) = hashtextextended(checked.subject, 0)
                  AND (checked.tenant IS NULL OR e.tenant = checked.tenant) LIMIT 1)
    ), compared AS (
        SELECT p.*, CASE WHEN checked.match = 'exact' AND p.match = 'exact' THEN p.subject = checked.subject
                         WHEN p.match = 'exact' THEN internal.glob_matches(checked.subject, p.subject)
                         WHEN checked.match = 'exact' THEN internal.glob_matches(p.subject, checked.subject)
                         ELSE internal.globs_overlap(checked.subject, p.subject) END AS is_named
          FROM party AS p
    )
    SELECT c.kind, c.id, c.idp COLLATE "C", c.subject COLLATE "C", c.match, c.is_named AND (checked.idp IS NULL OR c.idp = checked.idp),
           checked.claims <> '{}' OR c.match = 'glob' AND NOT (c.is_named AND checked.match = 'glob' AND internal.glob_covers(checked.subject, 'glob', c.subject))
      FROM compared AS c
     WHERE c.is_named
        OR CASE WHEN checked.match = 'exact' AND c.match = 'exact' THEN internal.likeness(c.subject) = alike
                WHEN c.match = 'exact' THEN internal.glob_matches(alike, internal.likeness(c.subject))
                WHEN checked.match = 'exact' THEN internal.glob_matches(internal.likeness(c.subject), alike)
                ELSE internal.globs_overlap(alike, internal.likeness(c.subject)) END;
END
$$;
COMMENT ON FUNCTION internal.parties_near(broker.blocked_subject) IS
    'The subjects and actors of grants, rules and tokens that a block stops, or that differ from what it stops only by the identity provider, ids of GitHub, case, spaces or look-alike characters.';

CREATE OR REPLACE FUNCTION internal.what_it_stops(checked broker.blocked_subject) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    whole bigint[]; part bigint[];
    rules bigint; used bigint; tokens bigint;
    today constant uuid := audit.first_mint_id(date_trunc('day', now(), 'UTC'));
BEGIN
    SELECT array_agg(DISTINCT n.id) FILTER (WHERE n.kind = 'grant' AND NOT n.is_in_part), array_agg(DISTINCT n.id) FILTER (WHERE n.kind = 'grant' AND n.is_in_part),
           count(DISTINCT n.id) FILTER (WHERE n.kind = 'rule'), count(DISTINCT (n.idp, n.subject)) FILTER (WHERE n.kind = 'token')
      INTO whole, part, rules, tokens FROM internal.parties_near(checked) AS n WHERE n.is_stopped;
    part := ARRAY(SELECT unnest(part) EXCEPT SELECT unnest(whole));
    SELECT count(*) INTO used FROM unnest(whole || part) AS g (id)
     WHERE EXISTS (SELECT FROM audit.event AS e WHERE e.grant_id = g.id AND e.step = 1 AND e.mint_id >= today);
    RETURN CASE WHEN whole IS NULL AND part = '{}' AND rules = 0 AND tokens = 0 THEN 'stops nothing that is known'
        ELSE 'stops ' || concat_ws(', ',
            format('%s grant%s', coalesce(cardinality(whole), 0), CASE WHEN cardinality(whole) = 1 THEN '' ELSE 's' END),
            CASE WHEN part <> '{}' THEN format('some subjects of %s more', cardinality(part)) END,
            CASE WHEN used > 0 THEN format('of these %s used today', used) END,
            CASE WHEN rules > 0 THEN format('requests by %s access rule%s', rules, CASE WHEN rules = 1 THEN '' ELSE 's' END) END,
            format('%s subject%s seen in the last 30 days', tokens, CASE WHEN tokens = 1 THEN '' ELSE 's' END)) END;
END
$$;
COMMENT ON FUNCTION internal.what_it_stops(broker.blocked_subject) IS 'What a block stops of the grants, rules and tokens that are known, as the end of a sentence.';

CREATE OR REPLACE FUNCTION internal.lint_blocks(ids bigint[]) RETURNS TABLE (id bigint, tenant text, rule text, detail text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET standard_conforming_strings = on AS $$
DECLARE
    checked broker.blocked_subject;
    meant broker.subject_grant;
    since constant uuid := audit.first_mint_id(now() - interval '90 days');
BEGIN
    FOR checked IN SELECT b.* FROM broker.blocked_subject AS b WHERE b.id = ANY (ids) AND b.enabled ORDER BY b.id LOOP
        meant := internal.as_grant(to_jsonb(checked));
        -- without an identity provider GitHub's is meant, if the tenant has one
        meant.idp := coalesce(checked.idp, (SELECT min(p.name) FROM broker.identity_provider AS p WHERE checked.subject ~ '^repo:'
            AND (checked.tenant IS NULL OR p.tenant = checked.tenant) AND p.issuer ~ '^https://token[.]actions[.]githubusercontent[.]com(/|$)'));
        RETURN QUERY SELECT checked.id, checked.tenant, n.rule, n.detail FROM internal.lint_parties('blocked_subject', ARRAY[meant]) AS n
                      WHERE checked.idp IS NOT NULL OR n.rule <> 'subject_fits_no_form';
        RETURN QUERY SELECT checked.id, checked.tenant, 'ended_already', '' WHERE checked.until <= checked.updated_at;
        RETURN QUERY WITH near AS MATERIALIZED (SELECT n.* FROM internal.parties_near(checked) AS n)
            -- which tokens have the claims of a block is not known
            (SELECT checked.id, checked.tenant, 'block_leaves_others', concat_ws(chr(10), n.subject, n.idp,
                    CASE n.kind WHEN 'grant' THEN 'grant ' || n.id WHEN 'rule' THEN 'access rule ' || n.id ELSE 'minted or asked in the last 30 days' END,
                    format('INSERT INTO broker.blocked_subject (%1$s, subject, match, reason) VALUES (%2$s, %3$L, %4$L, %5$L);',
                           CASE WHEN checked.tenant IS NULL THEN 'tenant' ELSE 'tenant, idp' END,
                           CASE WHEN checked.tenant IS NULL THEN 'NULL' ELSE format('%L, %L', checked.tenant, n.idp) END,
                           CASE WHEN n.is_named_like THEN checked.subject ELSE n.subject END, CASE WHEN n.is_named_like THEN checked.match ELSE n.match END,
                           replace(checked.reason, chr(10), ' ')))
               FROM (SELECT DISTINCT ON (p.idp, p.subject) p.*,
                            CASE WHEN checked.match = 'exact' THEN p.subject = checked.subject ELSE internal.globs_overlap(checked.subject, p.subject) END AS is_named_like
                       FROM near AS p WHERE NOT p.is_stopped ORDER BY p.idp, p.subject, p.kind) AS n
              WHERE checked.claims = '{}' AND (checked.tenant IS NOT NULL OR n.subject <> checked.subject)
              -- what a row beside it blocks
              AND NOT EXISTS (SELECT FROM broker.blocked_subject AS o WHERE o.id <> checked.id AND o.enabled AND (o.until IS NULL OR o.until > now())
                                 AND o.claims = '{}' AND (o.tenant IS NULL OR o.tenant = checked.tenant) AND (o.idp IS NULL OR o.idp = n.idp)
                                 AND CASE o.match WHEN 'glob' THEN internal.glob_covers(o.subject, n.match, n.subject) ELSE o.subject = n.subject END)
              ORDER BY n.kind, n.id, n.subject LIMIT 3)
            UNION ALL
            SELECT checked.id, checked.tenant, 'block_matches_nothing', ''
             WHERE NOT EXISTS (SELECT FROM near AS n WHERE n.is_stopped)
               AND NOT EXISTS (SELECT FROM audit.event AS e WHERE checked.match = 'exact' AND e.mint_id >= since
                                  AND hashtextextended(e.subject, 0) = hashtextextended(checked.subject, 0) AND (checked.tenant IS NULL OR e.tenant = checked.tenant))
               AND (checked.match = 'exact' OR NOT EXISTS (SELECT FROM broker.subject_grant AS g WHERE checked.tenant IS NULL OR g.tenant = checked.tenant OFFSET 1000));
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.lint_blocks(bigint[]) IS 'Findings in the enabled blocks among these.';

CREATE OR REPLACE FUNCTION internal.keep_findings(of_table text, ids bigint[]) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    slice bigint[];
BEGIN
    -- in slices, since a tenant may have a million grants
    FOR start IN 1 .. coalesce(cardinality(ids), 0) BY 10000 LOOP
        slice := ids[start : start + 9999];
        DELETE FROM internal.lint_finding AS f WHERE f.table_name = of_table AND f.id = ANY (slice);
        INSERT INTO internal.lint_finding (table_name, id, tenant, rule, detail)
        SELECT of_table, n.* FROM internal.lint_grants(slice) AS n WHERE of_table = 'subject_grant'
         UNION ALL SELECT of_table, n.* FROM internal.lint_blocks(slice) AS n WHERE of_table = 'blocked_subject';
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.keep_findings(text, bigint[]) IS 'Lints rows of subject_grant or blocked_subject, and stores what it finds.';

CREATE OR REPLACE FUNCTION internal.tell_what_awaits_approval(of_table text, tenants text[], names text[]) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    one record;
    number int := 0;
BEGIN
    IF of_table NOT IN ('subject_grant', 'key', 'access_rule', 'access_approver')
       OR NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = ANY (tenants) AND t.require_second_admin) THEN
        RETURN;
    END IF;
    FOR one IN SELECT p.name, p.key, p.changed_by, p.statement FROM broker.pending_approval AS p
                WHERE p.tenant = ANY (tenants) AND p.table_name = of_table AND (p.tenant, p.name) IN (SELECT u.* FROM unnest(tenants, names) AS u) LIMIT 11 LOOP
        number := number + 1;
        IF number > 10 THEN
            RAISE WARNING 'Further rows await approval.' USING HINT = 'To list them: TABLE broker.pending_approval;';
        ELSE
            RAISE WARNING '% of key "%": % [awaits_approval]',
                CASE of_table WHEN 'key' THEN 'Row' ELSE upper(left(of_table, 1)) || replace(substr(of_table, 2), '_', ' ') || ' ' || one.name END, one.key,
                internal.lint_advice('awaits_approval', concat_ws(chr(10), one.changed_by, one.statement));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.tell_what_awaits_approval(text, text[], text[]) IS 'Warns of the rows that a statement wrote and that count as disabled until a second admin approves them.';

CREATE OR REPLACE FUNCTION internal.lint_written() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    names text[]; tenants text[];
    ids bigint[]; others bigint[];
    known text[];
    related text; shown text; others_shown text;
    one record;
BEGIN
    -- The grants beside what was written or removed, in which a finding may be about that.
    related := CASE TG_TABLE_NAME
        WHEN 'subject_grant' THEN
            (SELECT string_agg(format('SELECT c.id FROM %1$I AS w CROSS JOIN LATERAL (
                        SELECT g.id FROM broker.subject_grant AS g
                         WHERE g.match = ''exact'' AND g.tenant = w.tenant AND g.idp = w.idp AND g.key || '''' = w.key
                           AND hashtextextended(g.subject, 0) = hashtextextended(w.subject, 0) AND g.subject = w.subject LIMIT 50) AS c
                      WHERE w.match = ''exact''
                      UNION
                     SELECT g.id FROM (SELECT DISTINCT w.tenant, w.idp, w.key FROM %1$I AS w WHERE w.match = ''glob'' OR w.subject LIKE ''repo:%%@%%'') AS d
                      CROSS JOIN LATERAL (SELECT c.id, c.idp, c.subject FROM broker.subject_grant AS c WHERE c.tenant = d.tenant AND c.key = d.key LIMIT 1000) AS g
                       JOIN %1$I AS w ON w.tenant = d.tenant AND w.idp = d.idp AND w.key = d.key AND w.match = ''glob'' AND starts_with(g.subject, split_part(w.subject, ''*'', 1))
                      WHERE g.idp = d.idp
                      UNION
                     SELECT g.id FROM (SELECT DISTINCT w.tenant, w.idp, w.key FROM %1$I AS w WHERE w.subject LIKE ''repo:%%@%%'') AS d
                      CROSS JOIN LATERAL (SELECT c.id, c.idp, c.subject FROM broker.subject_grant AS c WHERE c.tenant = d.tenant AND c.key = d.key LIMIT 1000) AS g
                      WHERE g.idp = d.idp AND internal.is_by_name(g.subject)
                        AND internal.likeness(g.subject) IN (SELECT internal.likeness(w.subject) FROM %1$I AS w WHERE w.subject LIKE ''repo:%%@%%'')', t.name), ' UNION ')
               FROM (VALUES ('removed', 'INSERT'), ('written', 'DELETE')) AS t (name, not_at) WHERE t.not_at <> TG_OP)
        WHEN 'key' THEN
            'SELECT g.id FROM written AS w JOIN removed AS r ON r.tenant = w.tenant AND r.name = w.name AND r.max_duration <> w.max_duration
               JOIN broker.subject_grant AS g ON g.tenant = w.tenant AND g.key = w.name AND g.max_duration > least(r.max_duration, w.max_duration)
              UNION
             SELECT g.id FROM written AS w JOIN removed AS r ON r.tenant = w.tenant AND r.name = w.name AND r.max_duration <> w.max_duration
               JOIN broker.subject_grant AS o ON o.tenant = w.tenant AND o.key = w.name AND o.match = ''exact''
                AND o.max_duration >= least(r.max_duration, w.max_duration) AND o.max_duration < greatest(r.max_duration, w.max_duration)
               JOIN broker.subject_grant AS g ON g.match = ''exact'' AND g.tenant = o.tenant AND g.idp = o.idp AND g.key = o.key
                AND hashtextextended(g.subject, 0) = hashtextextended(o.subject, 0) AND g.subject = o.subject AND g.max_duration IS NULL
              UNION
             SELECT g.id FROM written AS w JOIN removed AS r ON r.tenant = w.tenant AND r.name = w.name AND r.provider <> w.provider
               JOIN broker.subject_grant AS g ON g.tenant = w.tenant AND g.key = w.name AND g.valid_until IS NOT NULL'
        WHEN 'access_provider' THEN
            'SELECT g.id FROM written AS w JOIN removed AS r ON r.tenant = w.tenant AND r.name = w.name AND r.type <> w.type
               JOIN broker.key AS k ON k.tenant = w.tenant AND k.provider = w.name
               JOIN broker.subject_grant AS g ON g.tenant = k.tenant AND g.key = k.name AND g.valid_until IS NOT NULL'
        WHEN 'identity_provider' THEN
            'SELECT g.id FROM written AS w JOIN removed AS r ON r.name = w.name
               JOIN broker.subject_grant AS g ON g.tenant = w.tenant AND w.name IN (g.idp, g.actor_idp)
              WHERE r.issuer <> w.issuer OR r.accepts <> w.accepts
                 OR r.required_claims <> w.required_claims'
        WHEN 'shared_issuer' THEN
            (SELECT string_agg(format('SELECT g.id FROM %I AS w JOIN broker.identity_provider AS p ON p.issuer = w.issuer
                       JOIN broker.subject_grant AS g ON g.idp = p.name AND g.claims ?| w.owner_claims', t.name), ' UNION ')
               FROM (VALUES ('removed', 'INSERT'), ('written', 'DELETE')) AS t (name, not_at) WHERE t.not_at <> TG_OP)
        END;
    IF TG_OP <> 'DELETE' THEN
        EXECUTE format('SELECT array_agg(w.%I::text), array_agg(to_jsonb(w) ->> ''tenant'') FROM written AS w', TG_ARGV[0]) INTO names, tenants;
        ids := CASE TG_ARGV[0] WHEN 'id' THEN names::bigint[] END;
    END IF;
    IF TG_TABLE_NAME IN ('subject_grant', 'blocked_subject') THEN
        IF TG_OP = 'DELETE' THEN
            DELETE FROM internal.lint_finding AS f USING removed AS r WHERE f.table_name = TG_TABLE_NAME AND f.id = r.id;
        ELSE
            PERFORM internal.keep_findings(TG_TABLE_NAME, ids);
        END IF;
    END IF;
    IF related IS NOT NULL AND (TG_OP = 'UPDATE' OR TG_TABLE_NAME IN ('subject_grant', 'shared_issuer')) THEN
        EXECUTE 'SELECT array_agg(d.id) FROM (' || related || ' EXCEPT SELECT unnest($1)) AS d (id)' INTO others USING ids;
        -- of many rows only what is written is said
        others_shown := CASE WHEN cardinality(others) BETWEEN 1 AND 10000 THEN
            ' UNION ALL SELECT l.id, NULL, l.rule, internal.lint_advice(l.rule, l.detail), format(''Grant of key "%s" to "%s"'', g.key, g.subject)
                FROM broker.subject_grant AS g JOIN internal.lint_finding AS l ON l.table_name = ''subject_grant'' AND l.id = g.id
               WHERE g.id = ANY ($4) AND NOT concat_ws('' '', l.id, l.rule) = ANY ($5)' END;
        known := ARRAY(SELECT concat_ws(' ', l.id, l.rule) FROM internal.lint_finding AS l
                        WHERE others_shown IS NOT NULL AND l.table_name = 'subject_grant' AND l.id = ANY (others));
        PERFORM internal.keep_findings('subject_grant', others);
    END IF;
    -- within a trigger nobody reads them
    IF pg_trigger_depth() > 1 OR TG_TABLE_NAME = 'shared_issuer' OR TG_OP = 'DELETE' AND TG_TABLE_NAME NOT IN ('access_approver', 'tenant_admin') THEN
        RETURN NULL;
    END IF;
    -- of grants and blocks what is stored, of other tables what the view of the table says
    shown := CASE TG_TABLE_NAME
        WHEN 'access_rule' THEN
            'SELECT r.id, NULL::text AS name, f.rule, internal.lint_advice(f.rule, f.detail) AS advice, format(''Access rule %s for key "%s"'', r.id, r.key) AS title
               FROM broker.access_rule AS r CROSS JOIN LATERAL internal.lint_access_rule(r.id) AS f
              WHERE r.enabled AND (r.tenant, r.key) IN (SELECT w.tenant, w.key FROM written AS w)
                AND CASE WHEN r.id = ANY ($1) ' || CASE TG_OP WHEN 'INSERT' THEN 'THEN f.rule NOT IN (''too_few_approvers'', ''nobody_can_approve'')' ELSE 'THEN true' END || '
                         ELSE f.rule IN (''undone_by_another_rule'', ''covered_by_another_rule'') AND split_part(f.detail, chr(10), 1)::bigint = ANY ($1) END'
        WHEN 'access_approver' THEN
            'SELECT r.id, NULL::text AS name, f.rule, internal.lint_advice(f.rule, f.detail) AS advice, format(''Access rule %s for key "%s"'', r.id, r.key) AS title
               FROM broker.access_rule AS r CROSS JOIN LATERAL internal.lint_access_rule(r.id) AS f
              WHERE r.enabled AND r.id IN (SELECT w.rule FROM ' || CASE TG_OP WHEN 'DELETE' THEN 'removed' ELSE 'written' END || ' AS w)
                AND f.rule IN (''nobody_can_approve'', ''approver_not_accepted''' || CASE TG_OP WHEN 'INSERT' THEN '' ELSE ', ''too_few_approvers''' END || ')
              UNION ALL
             SELECT a.id, NULL, f.rule, internal.lint_advice(f.rule, f.detail), format(''Approver %s of access rule %s'', a.id, a.rule)
               FROM broker.access_approver AS a CROSS JOIN LATERAL internal.lint_access_approver(a.id) AS f WHERE a.id = ANY ($1)'
        WHEN 'subject_grant' THEN
            'SELECT l.id, NULL::text AS name, l.rule, internal.lint_advice(l.rule, l.detail) AS advice, format(''Grant of key "%s" to "%s"'', g.key, g.subject) AS title
               FROM broker.subject_grant AS g JOIN internal.lint_finding AS l ON l.table_name = ''subject_grant'' AND l.id = g.id WHERE g.id = ANY ($1)'
        WHEN 'blocked_subject' THEN
            'SELECT l.id, NULL::text AS name, l.rule, internal.lint_advice(l.rule, l.detail) AS advice, format(''Block of "%s"'', b.subject) AS title
               FROM broker.blocked_subject AS b JOIN internal.lint_finding AS l ON l.table_name = ''blocked_subject'' AND l.id = b.id WHERE b.id = ANY ($1)'
        ELSE
            format('SELECT NULL::bigint AS id, l.name, l.rule, l.advice, %s AS title FROM internal.lint_of_%I AS l
                     WHERE l.name = ANY ($2) AND %s (coalesce(l.tenant, ''''), l.name) IN (SELECT coalesce(u.tenant, l.tenant, ''''), u.name FROM unnest($3, $2) AS u (tenant, name))',
                CASE TG_TABLE_NAME WHEN 'console_access'
                    THEN '(SELECT format(''Access to the console by "%s"'', a.claim) FROM broker.console_access AS a WHERE a.id::text = l.name)'
                    ELSE format('format(''%%s "%%s"'', %L, l.name)', upper(left(TG_TABLE_NAME, 1)) || replace(substr(TG_TABLE_NAME, 2), '_', ' ')) END,
                TG_TABLE_NAME,
                -- else it would look at the rows of this name of all tenants
                CASE WHEN array_position(tenants, NULL) IS NULL THEN 'l.tenant = ANY ($3) AND' END) END;
    IF TG_TABLE_NAME = 'tenant_admin' AND TG_OP = 'DELETE' THEN
        shown := 'SELECT NULL::bigint AS id, NULL::text AS name, NULL::text AS rule, NULL::text AS advice, NULL::text AS title WHERE false';
    END IF;
    IF TG_TABLE_NAME = 'tenant_admin' AND TG_OP = 'DELETE' OR TG_TABLE_NAME = 'identity_provider' AND TG_OP = 'UPDATE' THEN
        others_shown := concat(others_shown, ' UNION ALL SELECT r.id, NULL, f.rule, internal.lint_advice(f.rule, f.detail), format(''Access rule %s for key "%s"'', r.id, r.key)
              FROM (SELECT a.* FROM broker.access_rule AS a WHERE a.enabled AND a.tenant IN (SELECT w.tenant FROM ',
            CASE TG_OP WHEN 'DELETE' THEN 'removed AS w' ELSE 'written AS w JOIN removed AS o ON o.name = w.name WHERE (o.enabled, o.accepts) <> (w.enabled, w.accepts)' END,
            ') LIMIT 100) AS r CROSS JOIN LATERAL internal.lint_access_rule(r.id) AS f WHERE f.rule IN (''nobody_can_approve'', ''approver_not_accepted'', ''party_not_accepted'')');
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM internal.tell_what_awaits_approval(TG_TABLE_NAME, tenants, names);
    END IF;
    -- The first of each rule first, so that none hides behind a thousand of another.
    FOR one IN EXECUTE
        'SELECT n.* FROM (SELECT f.*, row_number() OVER (PARTITION BY f.rule ORDER BY f.id, f.name) AS number, count(*) OVER () AS in_all
                            FROM (' || concat(shown, others_shown) || ') AS f) AS n WHERE n.number <= 10 ORDER BY n.number, n.rule = ''github_subject_by_name'', n.rule LIMIT 10' USING ids, names, tenants, others, known
    LOOP
        RAISE WARNING '%: % [%]', one.title, one.advice, one.rule;
    END LOOP;
    IF one.in_all > 10 THEN
        RAISE WARNING '10 of % lint warnings are shown.', one.in_all USING HINT = 'To list them: SELECT * FROM broker.lint;';
    END IF;
    IF TG_TABLE_NAME = 'blocked_subject' THEN
        FOR one IN SELECT b.subject, internal.what_it_stops(b) AS effect FROM broker.blocked_subject AS b WHERE b.id = ANY (ids) AND b.enabled ORDER BY b.id LIMIT 10 LOOP
            RAISE NOTICE 'Block of "%": %.', one.subject, one.effect;
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.lint_written() IS 'Trigger: stores the findings in what a statement wrote and in what depends on it, and warns. Argument: the column that identifies a row.';

CREATE OR REPLACE VIEW internal.lint_of_identity_provider (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT p.tenant, 'identity_provider', p.name, r.rule, internal.lint_advice(r.rule, r.detail)
  FROM broker.identity_provider AS p CROSS JOIN LATERAL internal.lint_identity_provider(p) AS r WHERE p.enabled;
COMMENT ON VIEW internal.lint_of_identity_provider IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

CREATE OR REPLACE VIEW internal.lint_of_access_provider (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT a.tenant, 'access_provider', a.name, 'glob_matches_less_than_it_seems',
       internal.lint_advice('glob_matches_less_than_it_seems', format('targets with "%s"', internal.sign_in(t, true)))
  FROM broker.access_provider AS a CROSS JOIN unnest(a.allowed_targets) AS t WHERE a.enabled AND internal.sign_in(t, true) <> ''
 UNION ALL
SELECT a.tenant, 'access_provider', a.name, r.rule, internal.lint_advice(r.rule, r.detail) COLLATE "default"
  FROM broker.access_provider AS a JOIN broker.provider_type AS y ON y.type = a.type CROSS JOIN LATERAL (
       SELECT n.rule, n.detail FROM unnest(a.allowed_targets) AS t CROSS JOIN internal.lint_text(t) AS n
       UNION ALL SELECT 'target_fits_no_form' AS rule, concat_ws(chr(10), a.type, t, array_to_string(y.target_forms, ' or ')) FROM unnest(a.allowed_targets) AS t
        WHERE y.target_forms IS NOT NULL AND NOT EXISTS (SELECT FROM unnest(y.target_forms) AS f WHERE internal.globs_overlap(t, f))
       UNION ALL SELECT 'any_target' AS rule, a.type WHERE a.allowed_targets = '{**}' AND a.type IN ('ssh', 'x509', 'postgresql')
       UNION ALL SELECT 'one_authority_twice' AS rule, o.name FROM broker.access_provider AS o
        WHERE o.tenant = a.tenant AND o.name <> a.name AND o.enabled AND o.type IN ('ssh', 'x509') AND a.type IN ('ssh', 'x509')
          AND o.settings -> 'ca_key' = a.settings -> 'ca_key'
       UNION ALL SELECT 'same_as_another_row' AS rule, min(o.name) FROM broker.access_provider AS o
        WHERE o.tenant = a.tenant AND o.name <> a.name AND o.enabled AND o.type = a.type AND o.shared_identity = a.shared_identity
          AND o.settings = a.settings AND o.allowed_targets @> a.allowed_targets AND o.allowed_targets <@ a.allowed_targets HAVING count(*) > 0
       UNION ALL SELECT 'endpoint_is_discovery' AS rule, s.key FROM jsonb_each_text(a.settings) AS s
        WHERE s.value ~ '/[.]well-known/(openid-configuration|oauth-authorization-server)'
       UNION ALL SELECT 'unlikely_settings' AS rule, concat_ws(chr(10), 'access provider', c.fault, c.advice)
         FROM internal.contradictions(jsonb_path_query_array(y.contradictions, '$[*] ? (@.lint == true)'), a.settings, a.allowed_targets, NULL, NULL) AS c
       UNION ALL SELECT n.rule, n.detail FROM jsonb_path_query(a.settings, '$.** ? (@.type() == "string")') AS s CROSS JOIN internal.lint_text(s #>> '{}') AS n
        WHERE n.rule = 'placeholder') AS r (rule, detail) WHERE a.enabled;
COMMENT ON VIEW internal.lint_of_access_provider IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

CREATE OR REPLACE VIEW internal.lint_of_key (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT k.tenant, 'key', k.name, r.rule, internal.lint_advice(r.rule, r.detail) FROM broker.key AS k CROSS JOIN LATERAL (
       SELECT n.rule, n.detail FROM jsonb_each(k.settings) AS s CROSS JOIN internal.lint_text(CASE jsonb_typeof(s.value) WHEN 'string' THEN s.value #>> '{}' END) AS n
        WHERE s.key <> 'policy' AND n.rule = 'white_space'
       UNION ALL SELECT n.rule, n.detail FROM internal.lint_text(k.owner) AS n
       -- policies, commands and conditions have signs of their own
       UNION ALL SELECT n.rule, n.detail FROM jsonb_path_query(k.settings - '{policy,force_command,access_boundary}'::text[], '$.** ? (@.type() == "string")') AS s
        CROSS JOIN internal.lint_text(s #>> '{}') AS n WHERE n.rule = 'placeholder'
       -- each rule takes a tenth of a millisecond, so the function gets those for lint alone
       UNION ALL SELECT 'unlikely_settings' AS rule, concat_ws(chr(10), 'key', c.fault, c.advice)
         FROM broker.access_provider AS a JOIN broker.provider_type AS y ON y.type = a.type
        CROSS JOIN internal.contradictions(jsonb_path_query_array(y.contradictions, '$[*] ? (@.lint == true)'), a.settings, a.allowed_targets, k.settings, k.max_duration) AS c
        WHERE a.tenant = k.tenant AND a.name = k.provider
       UNION ALL SELECT 'resource_by_http' AS rule, k.resource WHERE k.resource ~* '^http://(?!(localhost|127[.][0-9.]+|\[::1\])([:/]|$))'
       UNION ALL SELECT 'one_role_as_owner_and_member' AS rule, o.name FROM broker.key AS o
        WHERE o.tenant = k.tenant AND o.provider = k.provider AND o.name <> k.name AND o.enabled
          AND o.settings ->> 'role' = k.settings ->> 'role' AND (o.settings ->> 'as' = 'owner') IS DISTINCT FROM (k.settings ->> 'as' = 'owner')
          AND 'owner' IN (o.settings ->> 'as', k.settings ->> 'as')
       UNION ALL SELECT 'same_as_another_row' AS rule, min(o.name) FROM broker.key AS o
        WHERE o.tenant = k.tenant AND o.provider = k.provider AND o.name <> k.name AND o.enabled AND o.max_duration = k.max_duration
          AND o.settings = k.settings AND o.outputs = k.outputs AND o.resource IS NULL AND k.resource IS NULL HAVING count(*) > 0
       UNION ALL SELECT 'unlikely_name' AS rule, concat_ws(chr(10), s.key, n.name)
         FROM broker.access_provider AS a JOIN broker.provider_type AS y ON y.type = a.type
        CROSS JOIN jsonb_each(k.settings) AS s CROSS JOIN jsonb_object_keys(CASE jsonb_typeof(s.value) WHEN 'object' THEN s.value ELSE '{}' END) AS n (name)
        WHERE a.tenant = k.tenant AND a.name = k.provider AND y.key_settings -> s.key ? 'likely_names' AND NOT y.key_settings -> s.key -> 'likely_names' ? n.name
       UNION ALL SELECT 'authority_expires_first' AS rule, concat_ws(chr(10), a.name, to_char(f.not_after AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"'))
         FROM broker.access_provider AS a CROSS JOIN internal.certificate_facts(a.settings ->> 'ca_certificate') AS f
        WHERE a.tenant = k.tenant AND a.name = k.provider AND a.type = 'x509' AND f.not_after < now() + k.max_duration * interval '1 second'
       UNION ALL SELECT 'duration_too_short' AS rule, k.max_duration::text WHERE k.max_duration < 60) AS r (rule, detail) WHERE k.enabled
 UNION ALL
-- what a provider gives is known by the key's last mints alone
SELECT k.tenant, 'key', k.name, 'shorter_than_asked', internal.lint_advice('shorter_than_asked', replace(last.detail, chr(10), ' '))
  FROM broker.key AS k CROSS JOIN audit.first_mint_id(now() - interval '7 days') AS since (mint_id) CROSS JOIN LATERAL (
       SELECT e.detail FROM (SELECT m.mint_id FROM audit.event AS m
                              WHERE m.key = k.name AND m.tenant = k.tenant AND m.step = 1 AND m.kind = 'requested' AND m.mint_id >= since.mint_id
                              ORDER BY m.mint_id DESC LIMIT 10) AS r
         JOIN audit.event AS e ON e.mint_id = r.mint_id AND e.step = 2 AND e.kind = 'issued' ORDER BY e.mint_id DESC LIMIT 1) AS last
 WHERE k.enabled AND last.detail IS NOT NULL
 UNION ALL
SELECT k.tenant, 'key', k.name, 'incomplete_policy', internal.lint_advice('incomplete_policy', m.member)
  FROM broker.key AS k CROSS JOIN (VALUES
       ('Version', '$ ? (!(@.Version == "2012-10-17" || @.Version == "2008-10-17"))'::jsonpath), ('Statement', '$ ? (!exists(@.Statement))'), ('Effect', '$.Statement[*] ? (!(@.Effect == "Allow" || @.Effect == "Deny"))'),
       ('Action', '$.Statement[*] ? (!exists(@.Action) && !exists(@.NotAction))'),
       ('Resource', '$.Statement[*] ? (!exists(@.Resource) && !exists(@.NotResource))')) AS m (member, missing)
 WHERE k.enabled AND jsonb_path_exists(CASE jsonb_typeof(k.settings -> 'policy') WHEN 'string' THEN (k.settings ->> 'policy')::jsonb
                                            ELSE k.settings -> 'policy' END, m.missing);
COMMENT ON VIEW internal.lint_of_key IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

CREATE OR REPLACE VIEW internal.lint_of_console_access (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT a.tenant, 'console_access', a.id::text, r.rule, internal.lint_advice(r.rule, r.detail) FROM broker.console_access AS a LEFT JOIN broker.known_issuer AS no_issuer ON false CROSS JOIN LATERAL (
       SELECT 'access_for_everybody', CASE
              WHEN a.all_tenants THEN 'all tenants'
              WHEN a.claim IN ('iss', 'aud', 'azp', 'email_verified', 'typ', 'acr', 'auth_time', 'at_hash') THEN 'everyone who can log in'
              WHEN jsonb_path_exists(a.value, '$.**.glob ? (@ like_regex "^[*]+$")') THEN 'every ID token that has the claim'
              WHEN jsonb_path_exists(a.value, '$.**.glob ? (@ like_regex "^[*]+@(gmail|googlemail|outlook|hotmail|live|yahoo|icloud|proton|protonmail|gmx)[.]")')
                  THEN 'everyone with an account at a public mail service' END
       UNION ALL SELECT 'claim_of_the_users_choice' AS rule, a.claim WHERE ltrim(a.claim, '/') IN ('name', 'nickname', 'preferred_username', 'given_name', 'family_name')
       UNION ALL SELECT n.rule, n.detail FROM internal.lint_claims(jsonb_build_object(a.claim, a.value), no_issuer) AS n) AS r (rule, detail)
 WHERE a.enabled AND r.detail IS NOT NULL;
COMMENT ON VIEW internal.lint_of_console_access IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

CREATE OR REPLACE VIEW internal.lint_of_tenant_admin (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT t.tenant, 'tenant_admin', t.role_name, r.rule, internal.lint_advice(r.rule, r.detail)
  FROM broker.tenant_admin AS t LEFT JOIN pg_roles AS l ON l.rolname = t.role_name CROSS JOIN LATERAL (
       SELECT 'unknown_login', t.role_name WHERE l.oid IS NULL
       UNION ALL SELECT 'role_cannot_log_in' AS rule, t.role_name WHERE NOT l.rolcanlogin
       UNION ALL SELECT 'no_member_of_its_role' AS rule, concat_ws(chr(10), t.role_name, '${tenant_admin_role}')
        WHERE l.rolcanlogin AND NOT pg_has_role(l.oid, '${tenant_admin_role}', 'MEMBER')) AS r (rule, detail);
COMMENT ON VIEW internal.lint_of_tenant_admin IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

CREATE OR REPLACE VIEW internal.lint_of_tenant (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT t.name, 'tenant', t.name, 'duration_too_short', internal.lint_advice('duration_too_short', t.max_duration::text) FROM broker.tenant AS t
 WHERE t.enabled AND t.max_duration < 60;
COMMENT ON VIEW internal.lint_of_tenant IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

CREATE OR REPLACE VIEW broker.lint WITH (security_invoker = true) AS
SELECT f.tenant, f.table_name::text AS table_name, f.id::text AS name, f.rule, internal.lint_advice(f.rule, f.detail) AS advice FROM internal.lint_finding AS f
 UNION ALL
TABLE internal.lint_of_identity_provider
 UNION ALL
TABLE internal.lint_of_access_provider
 UNION ALL
TABLE internal.lint_of_key
 UNION ALL
TABLE internal.lint_of_console_access
 UNION ALL
TABLE internal.lint_of_tenant_admin
 UNION ALL
TABLE internal.lint_of_tenant
 UNION ALL
SELECT p.tenant, p.table_name, p.name, 'awaits_approval', internal.lint_advice('awaits_approval', concat_ws(chr(10), p.changed_by, p.statement))
  FROM broker.pending_approval AS p
 UNION ALL
SELECT a.tenant, 'access_rule', a.id::text, r.rule, internal.lint_advice(r.rule, r.detail)
  FROM broker.access_rule AS a CROSS JOIN LATERAL internal.lint_access_rule(a.id) AS r WHERE a.enabled
 UNION ALL
SELECT a.tenant, 'access_approver', a.id::text, r.rule, internal.lint_advice(r.rule, r.detail)
  FROM broker.access_approver AS a JOIN broker.access_rule AS w ON w.id = a.rule CROSS JOIN LATERAL internal.lint_access_approver(a.id) AS r WHERE w.enabled;
COMMENT ON VIEW broker.lint IS 'Advice on enabled rows that are valid but probably mistakes. Query it WHERE tenant = ….';
COMMENT ON COLUMN broker.lint.tenant IS 'The tenant; null for a row that applies to all tenants.';
COMMENT ON COLUMN broker.lint.table_name IS 'The table in schema broker.';
COMMENT ON COLUMN broker.lint.name IS 'The row: its name, or its id.';
COMMENT ON COLUMN broker.lint.rule IS 'The name of the rule.';
COMMENT ON COLUMN broker.lint.advice IS 'The problem, and what to write instead.';

-- Of an earlier release.
DROP FUNCTION IF EXISTS internal.odd_character_in(text);
