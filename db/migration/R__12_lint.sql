-- Lint: advice about rows that are valid and probably not what their author meant. A WARNING shows it when the row is
-- written, and broker.lint until the row changes. What is known about issuers is data (R__48_known_issuers); the texts are in R__11;
-- what is about one table alone is in the file of the table.

CREATE OR REPLACE FUNCTION internal.known_issuer(issuer text) RETURNS SETOF broker.known_issuer
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.* FROM broker.known_issuer AS k WHERE internal.glob_matches(k.issuer_pattern, known_issuer.issuer) ORDER BY length(k.issuer_pattern) DESC LIMIT 1;
$$;
COMMENT ON FUNCTION internal.known_issuer(text) IS 'What is known about the issuer of tokens; no row if nothing is.';

-- PostgreSQL keeps 32 compiled regular expressions, so comparing each row with each form compiles all of them for each row.
CREATE OR REPLACE FUNCTION internal.mistaken_issuer() RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(DISTINCT '(?:' || m.form || ')', '|') FROM broker.known_issuer AS k, jsonb_to_recordset(k.mistakes) AS m ("in" text, form text)
     WHERE m."in" = 'issuer';
$$;
COMMENT ON FUNCTION internal.mistaken_issuer() IS 'A regular expression that matches every issuer that looks right but sends no tokens.';

CREATE OR REPLACE FUNCTION internal.issuer_of_jobs(of_idp text, subject text) RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE -- people who sign in to GitLab have a number as subject
                WHEN (k.project_wildcard > 0 OR k.name = 'env0') AND subject !~ '^[0-9]+$' THEN k.name
                WHEN k.name IS NULL AND starts_with(subject, 'system:serviceaccount:') THEN 'Kubernetes'
                WHEN k.name IS NULL AND starts_with(subject, 'spiffe://') THEN 'SPIFFE' END
      FROM broker.identity_provider AS p LEFT JOIN LATERAL internal.known_issuer(p.issuer) AS k ON true WHERE p.name = of_idp;
$$;
COMMENT ON FUNCTION internal.issuer_of_jobs(text, text) IS
    'The kind of issuer if tokens of this identity provider with this subject identify a job or a workload, not a person; otherwise null.';

CREATE OR REPLACE FUNCTION internal.lint_claims(conditions jsonb, issuer broker.known_issuer) RETURNS TABLE (rule text, detail text)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    SET plan_cache_mode = force_generic_plan -- from PostgreSQL 18 on it would be planned for each row
    AS $$
    WITH known AS (
        SELECT '{"iss": "string", "sub": "string", "aud": "string", "jti": "string", "azp": "string", "exp": "number",
                 "nbf": "number", "iat": "number", "auth_time": "number"}'::jsonb || coalesce(issuer.claims, '{"email_verified": "boolean"}') AS claims
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
    UNION ALL SELECT DISTINCT t.rule, concat_ws(chr(10), format('condition on "%s"', i.name), t.detail) FROM item AS i CROSS JOIN unnest(ARRAY[i.name, coalesce(i.item ->> 'glob', i.item #>> '{}')]) AS v (value)
     CROSS JOIN internal.lint_text(v.value) AS t WHERE v.value ~* internal.unusual_text()
    UNION ALL SELECT 'started_by_anybody', i.item #>> '{}' FROM item AS i
     WHERE issuer.name = 'GitHub Actions' AND i.name = 'event_name' AND i.item #>> '{}' IN ('pull_request_target', 'workflow_run', 'issue_comment', 'issues')
    -- "Sales, EMEA" may be one group
    UNION ALL SELECT 'list_in_one_value', i.item #>> '{}' FROM item AS i WHERE i.item #>> '{}' ~ '^[A-Za-z0-9_./:-]+([,;][A-Za-z0-9_./:-]+)+$|^[a-z0-9_./:-]+([,;] ?[a-z0-9_./:-]+)+$'
    -- GitHub's base_ref and head_ref are empty outside pull requests
    UNION ALL SELECT 'empty_value', i.name FROM item AS i WHERE coalesce(i.item ->> 'glob', i.item #>> '{}') = '' AND i.name NOT IN ('base_ref', 'head_ref', 'build_tag', 'tag', 'pr')
    UNION ALL SELECT 'address_without_at', concat_ws(chr(10), i.item, i.name) FROM item AS i
     WHERE i.name ~ '(^|[/_])email$' AND jsonb_typeof(i.item) = 'string' AND i.item #>> '{}' ~ '^[^@*]+$' AND NOT coalesce(issuer.claim_forms ? i.name, false)
    UNION ALL SELECT 'not_an_address', concat_ws(chr(10), format('value of "%s"', i.name), i.item, a.fault,
                     CASE WHEN v.value ~ '^@[^@]+$' THEN format('Write the whole address. To match all addresses of the domain, write {"glob": "*%s"}.', v.value) ELSE 'Write only the address, such as ann@example.com.' END)
      FROM item AS i CROSS JOIN LATERAL (SELECT coalesce(i.item ->> 'glob', i.item #>> '{}') AS value) AS v CROSS JOIN LATERAL internal.address_fault(v.value) AS a (fault)
     WHERE i.name ~ '(^|[/_])(email|mail|upn)$' AND jsonb_typeof(i.item) IN ('string', 'object') AND a.fault IS NOT NULL
    UNION ALL SELECT 'list_in_a_string', i.item::text FROM item AS i WHERE jsonb_typeof(i.item) = 'string' AND i.item #>> '{}' ~ '^ *[[] *".*" *[]] *$|@[^@]*[,;][^@]*@'
    UNION ALL SELECT 'no_negation', i.item::text FROM item AS i WHERE coalesce(i.item ->> 'glob', i.item #>> '{}') ~ '^(!=?|<>|(not|NOT) ) *[A-Za-z0-9*]'
    UNION ALL SELECT 'domain_without_at', i.item ->> 'glob' FROM item AS i WHERE i.name ~ '(^|[/_])email$' AND i.item ->> 'glob' ~ '^[*]+[^.@*][^@*]*[.][^@*]+$'
    UNION ALL SELECT 'claim_of_one_token', c.name FROM claim AS c WHERE c.name IN ('exp', 'nbf', 'iat', 'jti')
    UNION ALL SELECT 'claim_fits_no_form', concat_ws(chr(10), issuer.name, i.name, replace(replace(array_to_string(f.forms[:8], ' or '), '#', 'digits'), '*-*-*-*-*', 'a UUID')
                                                      || CASE WHEN cardinality(f.forms) > 8 THEN ' or another of its values' ELSE '' END, i.item)
      FROM item AS i CROSS JOIN LATERAL (SELECT ARRAY(SELECT jsonb_array_elements_text(issuer.claim_forms -> i.name)) WHERE issuer.claim_forms ? i.name) AS f (forms)
     WHERE NOT EXISTS (SELECT FROM jsonb_to_recordset(issuer.mistakes) AS m ("in" text, form text, of_subject text) WHERE m."in" = i.name AND m.of_subject IS NULL AND coalesce(i.item ->> 'glob', i.item #>> '{}') ~ m.form)
       AND CASE WHEN jsonb_typeof(i.item) = 'string' THEN i.item #>> '{}' !~ internal.pattern_of(f.forms) AND internal.sign_in(i.item #>> '{}', false) IS NULL
                WHEN i.item ? 'glob' THEN internal.sign_in(i.item ->> 'glob', true) IS NULL AND NOT EXISTS (SELECT FROM unnest(f.forms) AS one
                     WHERE CASE one WHEN '#' THEN i.item ->> 'glob' ~ '^[0-9*]+$' ELSE internal.globs_overlap(i.item ->> 'glob', one) END) END
    UNION ALL SELECT DISTINCT 'unlike_its_issuer', concat_ws(chr(10), 'claim "' || i.name || '"', issuer.name, m.advice)
      FROM item AS i JOIN jsonb_to_recordset(issuer.mistakes) AS m ("in" text, form text, beside jsonb, of_subject text, advice text) ON m."in" = i.name AND coalesce(i.item ->> 'glob', i.item #>> '{}') ~ m.form
     WHERE m.of_subject IS NULL AND coalesce(conditions @> m.beside, true);
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
    -- "repo:acme/shop**" matches acme/shop-2 too
    UNION ALL SELECT 'glob_matches_more_than_it_seems', l.literal FROM (SELECT split_part(glob, '*', 1)) AS l (literal)
     WHERE glob ~ '^[^*]*[^*:/][*][*]' AND EXISTS (
           SELECT FROM of_issuer AS k CROSS JOIN unnest(k.subject_forms) AS f CROSS JOIN generate_series(1, k.project_wildcard) AS n
            WHERE f !~ '^[{]?[*]' AND l.literal ~ replace(internal.pattern_of(ARRAY[substring(f FROM format('^(?:[^*]*[*]+){%s}', n))]), '.+', '[^:]+'))
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

-- Rules, approvers and blocks have a grant's columns, and so its checks.
CREATE OR REPLACE FUNCTION internal.as_grant(written jsonb) RETURNS broker.subject_grant
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_populate_record(NULL::broker.subject_grant, '{"match": "exact", "claims": {}, "actor_match": "exact", "actor_claims": {}}' || written);
$$;
COMMENT ON FUNCTION internal.as_grant(jsonb) IS 'A row with the columns idp, subject, match and claims as a grant, for lint.';

CREATE OR REPLACE FUNCTION internal.lint_parties(of_table text, written broker.subject_grant[]) RETURNS TABLE (id bigint, tenant text, rule text, detail text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET standard_conforming_strings = on
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY WITH grants AS MATERIALIZED (
        SELECT w.* FROM unnest(written) AS w
    ), idp AS MATERIALIZED (
        SELECT p.name, p.issuer, p.jwks_uri, p.required_claims, p.accepts, k AS known, s.owner_claims,
               p.required_claims || e.claims AS demanded,
               (SELECT jsonb_object_agg(c.key, c.value) FROM jsonb_each(p.required_claims || jsonb_build_object('iss', p.issuer)) AS c
                 WHERE c.key = ANY ('{iss}' || k.project_claims || s.owner_claims))
               || e.claims AS in_each_token,
               internal.pattern_of(k.subject_forms) AS forms
          FROM (SELECT g.idp FROM grants AS g UNION SELECT g.actor_idp FROM grants AS g) AS d JOIN broker.identity_provider AS p ON p.name = d.idp
          LEFT JOIN LATERAL internal.known_issuer(p.issuer) AS k ON true LEFT JOIN broker.shared_issuer AS s ON s.issuer = p.issuer
         CROSS JOIN LATERAL (SELECT coalesce(jsonb_object_agg(i.claim, i.value), '{}') AS claims FROM internal.claims_in_subject(k.subject_claims, p.issuer) AS i) AS e
    ), kubernetes AS MATERIALIZED (
        -- its subjects tell it, whatever the cluster's issuer is called
        SELECT k FROM broker.known_issuer AS k WHERE k.name = 'Kubernetes' ORDER BY k.issuer_pattern LIMIT 1
    ), by_ids AS MATERIALIZED (
        -- among a thousand of a key
        SELECT d.tenant, d.idp, d.key, ARRAY(SELECT internal.likeness(o.subject) FROM (
                   SELECT c.subject, c.idp, c.enabled FROM broker.subject_grant AS c WHERE c.tenant = d.tenant AND c.key = d.key LIMIT 1000) AS o
                WHERE o.idp = d.idp AND o.enabled AND strpos(o.subject, '@') > 0) AS alike
          FROM (SELECT DISTINCT g.tenant, g.idp, g.key FROM grants AS g WHERE of_table = 'subject_grant' AND internal.is_by_name(g.subject)) AS d
    ), found AS MATERIALIZED (
    SELECT g.id, g.tenant, r.rule, r.detail
      FROM grants AS g LEFT JOIN idp AS i ON i.name = g.idp LEFT JOIN idp AS a ON a.name = g.actor_idp
     CROSS JOIN LATERAL (SELECT 'actor' = ANY (i.accepts) AND 'subject' = ANY (a.accepts) AND NOT ('subject' = ANY (i.accepts) OR 'actor' = ANY (a.accepts)) AS swapped) AS s
     CROSS JOIN LATERAL (SELECT CASE WHEN (i.known).name IS NULL AND starts_with(g.subject, 'system:serviceaccount:') THEN (SELECT u.k FROM kubernetes AS u) ELSE i.known END AS known) AS v
     CROSS JOIN LATERAL (
           SELECT n.rule, concat_ws(chr(10), 'subject', n.detail) FROM internal.lint_text(g.subject) AS n WHERE g.subject ~* internal.unusual_text()
           -- a subject may be a URI, or a name beside its address
           UNION ALL SELECT 'not_an_address', concat_ws(chr(10), p.kind, to_jsonb(p.value), internal.address_fault(p.value), 'Write the whole address and nothing else, such as ann@example.com.')
             FROM (VALUES ('subject', g.subject), ('actor', g.actor)) AS p (kind, value)
            WHERE p.value ~ '^[^@:/ ]+@@[^@:/ ]+$|^@[^@:/ ]+[.][A-Za-z]+$|^[^@:/ ]+@[^@:/ ]+[.]$'
           UNION ALL SELECT 'glob_sign_in_exact_subject', 'match' || chr(10) || internal.sign_in(g.subject, false) || chr(10) || 'subject' WHERE g.match = 'exact' AND g.subject ~ '[]*%^$()[{}\\?+]'
           UNION ALL SELECT 'subject_fits_no_form', concat_ws(chr(10), (i.known).name, internal.shown_forms((i.known).subject_forms))
            WHERE g.match = 'exact' AND g.subject !~ i.forms AND internal.sign_in(g.subject, false) IS NULL
           UNION ALL SELECT 'subject_fits_no_form', concat_ws(chr(10), 'Kubernetes', 'system:serviceaccount:NAMESPACE:NAME')
            WHERE (i.known).name IS NULL AND (g.subject ~ '^(system|serviceaccounts?):' OR i.jwks_uri ~ '/openid/v1/jwks$') AND NOT internal.globs_overlap(CASE g.match WHEN 'glob' THEN g.subject ELSE replace(g.subject, '*', '') END, 'system:serviceaccount:*:*')
           UNION ALL SELECT 'subject_fits_no_form', concat_ws(chr(10), 'Jenkins', 'https://HOST/job/NAME/ with the slash at its end')
            WHERE (i.known).name IS NULL AND g.match = 'exact' AND g.subject ~ '^https?://[^/]+/(.+/)?job/[^/]+(/job/[^/]+)*$'
           -- the host of an issuer is all of its jobs or workloads
           UNION ALL SELECT 'whole_organisation', ''
            WHERE of_table <> 'blocked_subject' AND g.match = 'glob' AND g.claims = '{}' AND i.required_claims = '{}' AND g.subject ~ '^[a-z]+://[^/*]+/[*]+$' AND starts_with(i.issuer || '/', rtrim(g.subject, '*'))
           UNION ALL SELECT 'unlike_its_issuer', concat_ws(chr(10), 'subject', 'Keycloak', 'sub is the id of the user, or of the client''s service account. Copy it from a token or from the audit log.')
            -- not of a user storage provider, whose users are f:COMPONENT:NAME, and not ForgeRock's realms
            WHERE i.issuer ~ '^https?://[^/]+(/(?!oauth2/)[^/]+)?/realms/[^/]+$' AND g.subject ~ '@|^service-account-' AND g.subject !~ '^f:'
           UNION ALL SELECT n.rule, coalesce(n.detail, '') FROM internal.lint_glob(g.subject, g.claims, i.required_claims, i.known) AS n
            WHERE g.match = 'glob' AND (of_table <> 'blocked_subject' OR n.rule <> 'whole_organisation') AND (n.rule <> 'subject_fits_no_form' OR i.name IS NOT NULL)
           UNION ALL SELECT 'unlike_its_issuer', concat_ws(chr(10), 'subject', (i.known).name, m.advice)
             FROM jsonb_to_recordset((i.known).mistakes) AS m ("in" text, form text, match text, advice text)
            WHERE m."in" = 'subject' AND coalesce(m.match, g.match) = g.match AND g.subject ~ m.form
           UNION ALL SELECT 'github_subject_by_name', internal.matching_both_forms(of_table, g, (i.known).subject_claims)
            WHERE i.issuer ~ '^https://token[.]actions[.]githubusercontent[.]com(/|$)' AND internal.is_by_name(g.subject)
              AND internal.sign_in(g.subject, g.match = 'glob') IS NULL AND NOT CASE of_table WHEN 'subject_grant' THEN internal.likeness(g.subject) = ANY ((SELECT b.alike FROM by_ids AS b WHERE b.tenant = g.tenant AND b.idp = g.idp AND b.key = g.key)::text[])
                                     ELSE internal.has_row_by_ids(of_table, g) END
           -- in an emergency one token or one run is what must be blocked
           UNION ALL SELECT n.rule, n.detail FROM internal.lint_claims(g.claims, v.known) AS n
            WHERE g.claims <> '{}' AND (of_table <> 'blocked_subject' OR n.rule <> 'claim_of_one_token')
           UNION ALL SELECT 'claim_of_one_run', o FROM unnest(internal.claims_of_one_run()) AS o
            WHERE of_table <> 'blocked_subject' AND g.claims ?| internal.claims_of_one_run() AND g.claims ? o AND (v.known).claims ? o AND o <> ALL ((v.known).project_claims)
           UNION ALL SELECT 'started_by_any_event', ''
            WHERE of_table = 'subject_grant' AND (i.known).name = 'GitHub Actions'
              AND (g.subject = 'repo:**' AND g.claims -> 'ref' IN ('"refs/heads/main"', '"refs/heads/master"') OR g.subject ~ '^repo:.+:ref:refs/heads/(main|master)$')
              AND NOT (i.required_claims || g.claims) ?| '{event_name,environment,workflow,workflow_ref,job_workflow_ref,ref_type,ref_protected}'
           UNION ALL SELECT CASE WHEN c.key = 'sub' AND g.match = 'exact' THEN 'contradicts_its_subject' ELSE 'contradicts_identity_provider' END, concat_ws(chr(10), c.key, c.value)
             FROM jsonb_each(CASE g.match WHEN 'exact' THEN i.in_each_token || jsonb_build_object('sub', g.subject) ELSE i.in_each_token END) AS c
            WHERE g.claims <> '{}' AND g.claims ? c.key AND NOT jsonb_path_exists(c.value, '$.**.glob')
              AND NOT EXISTS (SELECT FROM jsonb_path_query(c.value, '$[*]') AS one CROSS JOIN jsonb_path_query(g.claims -> c.key, '$[*]') AS other
                               WHERE CASE WHEN jsonb_typeof(other) = 'object' THEN internal.value_fits(other, one) ELSE one = other OR jsonb_typeof(one) <> jsonb_typeof(other) END)
           UNION ALL SELECT 'contradicts_its_subject', concat_ws(chr(10), c.claim, c.value)
             FROM internal.claims_in_subject((v.known).subject_claims, g.subject) AS c
            WHERE g.claims <> '{}' AND g.claims ? c.claim AND NOT internal.text_may_fit(g.claims -> c.claim, c.value, g.match)
           UNION ALL SELECT 'subject_without_this_claim', concat_ws(chr(10), (v.known).name, m."in", m.advice)
             FROM jsonb_to_recordset((v.known).mistakes) AS m ("in" text, of_subject text, advice text) WHERE g.claims ? m."in" AND g.subject ~ m.of_subject
           -- one of the two is in the subject; lint_claims compares conditions with each other
           UNION ALL SELECT DISTINCT 'unlike_its_issuer', concat_ws(chr(10), CASE WHEN g.claims ? m."in" THEN 'claim "' || m."in" || '"' ELSE 'subject' END, (v.known).name, m.advice)
             FROM (SELECT jsonb_object_agg(c.claim, CASE WHEN g.match = 'glob' AND strpos(c.value, '*') > 0 THEN jsonb_build_object('glob', c.value) ELSE to_jsonb(c.value) END) AS claims
                     FROM internal.claims_in_subject((v.known).subject_claims, g.subject) AS c) AS s
             JOIN jsonb_to_recordset((v.known).mistakes) AS m ("in" text, form text, beside jsonb, advice text) ON (g.claims ? m."in") <> (g.claims @> m.beside)
            CROSS JOIN jsonb_path_query((s.claims || g.claims) -> m."in", '$[*]') AS one
            WHERE g.claims <> '{}' AND s.claims || g.claims @> m.beside AND coalesce(one ->> 'glob', one #>> '{}') ~ m.form
           UNION ALL SELECT 'contradicts_another_claim', concat_ws(chr(10), c.in_claim, c.claim, c.value)
             FROM internal.claims_in_claims((v.known).subject_claims, g.claims) AS c
             LEFT JOIN LATERAL (SELECT s.value FROM internal.claims_in_subject((v.known).subject_claims, g.subject) AS s WHERE s.claim = c.claim) AS s ON true
            WHERE NOT internal.text_may_fit(coalesce(i.demanded || g.claims, g.claims) -> c.claim, c.value, c.match)
               OR NOT internal.text_may_fit(CASE c.match WHEN 'exact' THEN to_jsonb(c.value) ELSE jsonb_build_object('glob', c.value) END, s.value, g.match)
           -- ids of different things are not equal
           UNION ALL SELECT 'id_of_the_owner', concat_ws(chr(10), p.claim, one, o.key)
             FROM unnest((i.known).project_claims) AS p (claim) CROSS JOIN jsonb_each(i.in_each_token || g.claims) AS o
            CROSS JOIN jsonb_path_query(g.claims -> p.claim, '$[*] ? (@.type() == "string")') AS one
            WHERE g.claims ? p.claim AND p.claim ~* 'id$' AND o.key ~* 'id$' AND o.key <> p.claim AND o.key <> ALL ((i.known).project_claims)
              AND (o.key = ANY (i.owner_claims) OR i.demanded ? o.key) AND one IN (SELECT jsonb_path_query(o.value, '$[*]'))
           UNION ALL SELECT 'subject_of_another_owner', concat_ws(chr(10), c.claim, i.demanded -> c.claim, c.value)
             FROM internal.claims_in_subject((v.known).subject_claims, g.subject) AS c
            WHERE i.demanded ? c.claim AND NOT internal.text_may_fit(i.demanded -> c.claim, c.value, g.match)
           UNION ALL SELECT 'subject_of_another_owner', concat_ws(chr(10), 'sub', i.required_claims -> 'sub', to_jsonb(g.subject))
            WHERE i.required_claims ? 'sub' AND NOT internal.text_may_fit(i.required_claims -> 'sub', g.subject, g.match)
           UNION ALL SELECT 'party_not_accepted', concat_ws(chr(10), i.name, 'subject') WHERE of_table IN ('subject_grant', 'access_rule') AND NOT 'subject' = ANY (i.accepts) AND NOT coalesce(s.swapped, false)
           -- an act claim in the subject's token names an actor of the same identity provider; no known issuer sends that claim
           UNION ALL SELECT 'party_not_accepted', concat_ws(chr(10), a.name, 'actor')
            WHERE NOT 'actor' = ANY (a.accepts) AND NOT coalesce(s.swapped, false) AND (a.name <> i.name OR (a.known).name IS NOT NULL)
           UNION ALL SELECT 'parties_swapped', concat_ws(chr(10), i.name, a.name) WHERE s.swapped
           UNION ALL SELECT 'actor_is_its_subject', g.actor WHERE g.actor_idp = g.idp AND g.actor = g.subject AND g.actor_match = g.match
           UNION ALL SELECT 'actor_matches_every_agent', a.name WHERE g.actor_match = 'glob' AND g.actor ~ '^[^*:/]*[:/]+[*]+$' AND g.actor_claims = '{}'
           UNION ALL SELECT 'glob_sign_in_exact_subject', 'actor_match' || chr(10) || internal.sign_in(g.actor, false) || chr(10) || 'actor' WHERE g.actor_match = 'exact' AND g.actor ~ '[]*%^$()[{}\\?+]'
           UNION ALL SELECT n.rule, concat_ws(chr(10), 'actor', n.detail) FROM internal.lint_text(g.actor) AS n WHERE g.actor IS NOT NULL
           UNION ALL SELECT n.rule, n.detail FROM internal.lint_claims(g.actor_claims, a.known) AS n WHERE g.actor_claims <> '{}'
           UNION ALL SELECT n.rule, concat_ws(chr(10), 'owner', n.detail) FROM internal.lint_text(g.owner) AS n WHERE g.owner IS NOT NULL
           ) AS r (rule, detail)
     WHERE r.detail IS NOT NULL)
    -- a subject that is wrong in both forms is corrected first
    SELECT f.id, f.tenant, f.rule, f.detail FROM found AS f
     WHERE f.rule <> 'github_subject_by_name' OR NOT EXISTS (SELECT FROM found AS o WHERE o.id = f.id AND o.rule IN
           ('white_space', 'stray_punctuation', 'placeholder', 'subject_fits_no_form', 'unlike_its_issuer', 'glob_sign_in_exact_subject', 'glob_matches_more_than_it_seems'));
END
$$;
COMMENT ON FUNCTION internal.lint_parties(text, broker.subject_grant[]) IS 'Findings about the idp, subject, match, claims and actor of rows of subject_grant, access_rule, access_approver or blocked_subject.';

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

DROP FUNCTION IF EXISTS internal.tell_what_awaits_approval(text, text[], text[]);

-- Returns ten rows at most, since each statement of broker.pending_approval reads the history. The tenth stands for the others too.
CREATE OR REPLACE FUNCTION internal.what_awaits_approval(of_table text, tenants text[], names text[])
    RETURNS TABLE (id bigint, name text, rule text, advice text, title text, stands_for bigint)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    in_all bigint;
BEGIN
    IF of_table NOT IN ('subject_grant', 'key', 'access_rule', 'access_approver', 'blocked_subject')
       OR NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = ANY (tenants) AND t.require_second_admin) THEN
        RETURN;
    END IF;
    SELECT count(*) INTO in_all FROM broker.pending_approval AS p
     WHERE p.tenant = ANY (tenants) AND p.table_name = of_table AND (p.tenant, p.name) IN (SELECT u.* FROM unnest(tenants, names) AS u);
    RETURN QUERY
    SELECT NULL::bigint, p.name, 'awaits_approval',
           internal.lint_advice(CASE of_table WHEN 'blocked_subject' THEN 'block_awaits_approval' ELSE 'awaits_approval' END, concat_ws(chr(10), p.changed_by, p.statement)),
           CASE of_table WHEN 'key' THEN format('Row of key "%s"', p.key) WHEN 'blocked_subject' THEN format('Block of "%s"', p.subject)
                ELSE format('%s %s of key "%s"', upper(left(of_table, 1)) || replace(substr(of_table, 2), '_', ' '), p.name, p.key) END,
           CASE WHEN row_number() OVER () = 10 THEN in_all - 9 ELSE 1 END
      FROM (SELECT n.* FROM broker.pending_approval AS n
             WHERE n.tenant = ANY (tenants) AND n.table_name = of_table AND (n.tenant, n.name) IN (SELECT u.* FROM unnest(tenants, names) AS u) LIMIT 10) AS p;
END
$$;
COMMENT ON FUNCTION internal.what_awaits_approval(text, text[], text[]) IS
    'Findings in the rows that a statement wrote and that wait for a second admin. stands_for: the number of rows that the finding stands for.';

CREATE OR REPLACE FUNCTION internal.linted_rows(of_table text, tenants text[], others boolean) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN count(DISTINCT t) = 1 AND count(t) = count(*) THEN format('tenant = %L', min(t))
                ELSE (SELECT format('table_name IN (%s)', string_agg(quote_literal(n.name), ', '))
                        FROM unnest(ARRAY[of_table, CASE WHEN others THEN CASE of_table WHEN 'tenant' THEN 'key' WHEN 'blocked_subject' THEN 'access_rule' ELSE 'subject_grant' END END,
                             CASE WHEN of_table IN ('access_approver', 'tenant_admin', 'identity_provider') OR of_table = 'key' AND others THEN 'access_rule' END]) AS n (name)
                       WHERE n.name IS NOT NULL) END
      FROM unnest(tenants) AS t;
$$;
COMMENT ON FUNCTION internal.linted_rows(text, text[], boolean) IS
    'The condition that selects the findings of a statement from broker.lint, because reading the whole view takes minutes with thousands of tenants. others: whether to include grants other than the written rows.';

-- Not grants of a tenant: a lock on them must not hold up who disables the tenant.
CREATE OR REPLACE FUNCTION internal.lint_of_others(of_table text) RETURNS text
    LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE of_table
        WHEN 'tenant' THEN
            'SELECT NULL, k.name, n.rule, internal.lint_advice(n.rule, concat_ws(chr(10), w.name, w.max_duration, n.further)), format(''Key "%s"'', k.name)
               FROM written AS w JOIN removed AS r ON r.name = w.name AND w.max_duration < coalesce(r.max_duration, 2147483647)
               JOIN broker.key AS k ON k.tenant = w.name AND k.enabled AND k.max_duration > w.max_duration
               JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider JOIN broker.provider_type AS y ON y.type = a.type
              CROSS JOIN LATERAL (SELECT CASE WHEN w.max_duration < y.min_duration THEN ''tenant_allows_too_little'' ELSE ''longer_than_its_tenant'' END AS rule,
                                         CASE WHEN w.max_duration < y.min_duration THEN concat_ws(chr(10), y.type, y.min_duration) END AS further) AS n
              UNION ALL
             SELECT NULL, w.name, ''below_what_it_has'', internal.lint_advice(''below_what_it_has'', concat_ws(chr(10), b.bound, b.has, b.what, b.may)), format(''Tenant "%s"'', w.name)
               FROM written AS w JOIN removed AS r ON r.name = w.name
              CROSS JOIN LATERAL (SELECT z.* FROM work.tenant_size AS z WHERE z.tenant = w.name ORDER BY z.number DESC LIMIT 1) AS s
              CROSS JOIN LATERAL (VALUES (''max_keys'', s.keys, ''key'', w.max_keys, r.max_keys), (''max_grants'', s.grants, ''grant'', w.max_grants, r.max_grants),
                     (''max_globs'', s.globs, ''glob grant'', w.max_globs, r.max_globs)) AS b (bound, has, what, may, had)
              WHERE b.may < b.has AND b.may < b.had AND b.may > 0'
        WHEN 'key' THEN
            'SELECT r.id, NULL, f.rule, internal.lint_advice(f.rule, f.detail), format(''Access rule %s for key "%s"'', r.id, r.key)
               FROM written AS w JOIN removed AS o ON o.tenant = w.tenant AND o.name = w.name
               JOIN broker.access_provider AS a ON a.tenant = w.tenant AND a.name = w.provider JOIN broker.provider_type AS y ON y.type = a.type
               JOIN broker.access_rule AS r ON r.tenant = w.tenant AND r.key = w.name AND r.enabled
              CROSS JOIN LATERAL (VALUES (''credentials_outlive_access'', CASE WHEN r.end_credentials AND (o.max_duration <= 900 OR o.provider <> w.provider)
                                              THEN internal.outliving(w.name, y, w.max_duration) END),
                     (''access_never_long_enough'', CASE WHEN o.provider <> w.provider AND r.max_access < internal.least_access(y.min_duration)
                                              THEN concat_ws(chr(10), w.name, internal.least_access(y.min_duration)) END)) AS f (rule, detail) WHERE f.detail IS NOT NULL'
        -- with the approvers that the block is about
        WHEN 'blocked_subject' THEN
            'SELECT r.id, NULL, ''nobody_can_approve'', internal.lint_advice(''nobody_can_approve'', f.cause), format(''Access rule %s for key "%s"'', r.id, r.key)
               FROM (SELECT DISTINCT a.rule FROM written AS b
                      CROSS JOIN LATERAL (SELECT c.rule, c.match, c.subject FROM broker.access_approver AS c WHERE c.tenant = b.tenant AND c.subject IS NOT NULL LIMIT 1000) AS a
                      WHERE b.enabled AND b.claims = ''{}''
                        AND CASE b.match WHEN ''glob'' THEN internal.glob_covers(b.subject, a.match, a.subject) ELSE a.match = ''exact'' AND a.subject = b.subject END LIMIT 100) AS d
               JOIN broker.access_rule AS r ON r.id = d.rule AND r.enabled CROSS JOIN LATERAL internal.nobody_can_approve(r, NULL) AS f (cause) WHERE f.cause IS NOT NULL'
        END;
$$;
COMMENT ON FUNCTION internal.lint_of_others(text) IS 'The query by which internal.lint_written finds what a statement on a table causes in rows of other tables.';

CREATE OR REPLACE FUNCTION internal.lint_written() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    names text[]; tenants text[];
    ids bigint[]; others bigint[];
    known text[];
    related text; shown text; others_shown text;
    one record;
    beside broker.subject_grant[];
    rule_tenants text[]; rule_names text[];
    new_tenants text[]; new_names text[];
    causes boolean;
BEGIN
    -- The grants beside what was written or removed, in which a finding may be about that.
    related := CASE TG_TABLE_NAME
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
                 OR r.required_claims <> w.required_claims OR r.jwks_uri IS DISTINCT FROM w.jwks_uri'
        WHEN 'shared_issuer' THEN
            (SELECT string_agg(format('SELECT g.id FROM %I AS w JOIN broker.identity_provider AS p ON p.issuer = w.issuer
                       JOIN broker.subject_grant AS g ON g.idp = p.name AND g.claims ?| w.owner_claims', t.name), ' UNION ')
               FROM (VALUES ('removed', 'INSERT'), ('written', 'DELETE')) AS t (name, not_at) WHERE t.not_at <> TG_OP)
        END;
    IF TG_OP <> 'DELETE' THEN
        EXECUTE format('SELECT array_agg(w.%I::text), array_agg(to_jsonb(w) ->> ''tenant'') FROM written AS w', TG_ARGV[0]) INTO names, tenants;
        ids := CASE TG_ARGV[0] WHEN 'id' THEN names::bigint[] END;
    END IF;
    IF TG_TABLE_NAME = 'blocked_subject' THEN
        IF TG_OP = 'DELETE' THEN
            DELETE FROM internal.lint_finding AS f USING removed AS r WHERE f.table_name = 'blocked_subject' AND f.id = r.id;
        ELSE
            PERFORM internal.keep_findings('blocked_subject', ids);
        END IF;
    END IF;
    IF related IS NOT NULL AND (TG_OP = 'UPDATE' OR TG_TABLE_NAME = 'shared_issuer') THEN
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
    IF pg_trigger_depth() > 1 OR TG_OP = 'DELETE' AND TG_TABLE_NAME NOT IN ('access_approver', 'tenant_admin', 'shared_issuer') THEN
        RETURN NULL;
    END IF;
    -- of grants and blocks what is stored, of other tables what the view of the table says
    shown := CASE TG_TABLE_NAME
        WHEN 'access_rule' THEN
            'SELECT r.id, NULL::text AS name, f.rule, internal.lint_advice(f.rule, f.detail) AS advice, format(''Access rule %s for key "%s"'', r.id, r.key) AS title
               FROM broker.access_rule AS r CROSS JOIN LATERAL internal.lint_access_rule(r.id) AS f
              WHERE r.enabled AND (r.tenant, r.key) IN (SELECT w.tenant, w.key FROM written AS w)
                AND CASE WHEN r.id = ANY ($1) ' || CASE TG_OP WHEN 'INSERT' THEN 'THEN f.rule NOT IN (''too_few_approvers'', ''nobody_can_approve'')' ELSE 'THEN true' END || '
                         ELSE f.rule IN (''undone_by_another_rule'', ''covered_by_another_rule'', ''consent_replaces_approvers'') AND split_part(f.detail, chr(10), 1)::bigint = ANY ($1) END'
        WHEN 'access_approver' THEN
            'SELECT r.id, NULL::text AS name, f.rule, internal.lint_advice(f.rule, f.detail) AS advice, format(''Access rule %s for key "%s"'', r.id, r.key) AS title
               FROM broker.access_rule AS r CROSS JOIN LATERAL internal.lint_access_rule(r.id) AS f
              WHERE r.enabled AND r.id IN (SELECT w.rule FROM ' || CASE TG_OP WHEN 'DELETE' THEN 'removed' ELSE 'written' END || ' AS w)
                AND f.rule IN (''nobody_can_approve'', ''approver_not_accepted''' || CASE TG_OP WHEN 'INSERT' THEN '' ELSE ', ''too_few_approvers''' END || ')
              UNION ALL
             SELECT a.id, NULL, f.rule, internal.lint_advice(f.rule, f.detail), format(''Approver %s of access rule %s'', a.id, a.rule)
               FROM broker.access_approver AS a CROSS JOIN LATERAL internal.lint_access_approver(a.id) AS f WHERE a.id = ANY ($1)'
        WHEN 'blocked_subject' THEN
            'SELECT l.id, NULL::text AS name, l.rule, internal.lint_advice(l.rule, l.detail) AS advice, format(''Block of "%s"'', b.subject) AS title
               FROM broker.blocked_subject AS b JOIN internal.lint_finding AS l ON l.table_name = ''blocked_subject'' AND l.id = b.id WHERE b.id = ANY ($1)'
        ELSE
            format('SELECT NULL::bigint AS id, l.name, l.rule, l.advice, %s AS title FROM internal.%I AS l
                     WHERE l.name = ANY ($2) AND %s (coalesce(l.tenant, ''''), l.name) IN (SELECT coalesce(u.tenant, l.tenant, ''''), u.name FROM unnest($3, $2) AS u (tenant, name))',
                CASE TG_TABLE_NAME WHEN 'console_access'
                    THEN '(SELECT format(''Access to the console by "%s"'', a.claim) FROM broker.console_access AS a WHERE a.id::text = l.name)'
                    ELSE format('format(''%%s "%%s"'', %L, l.name)', upper(left(TG_TABLE_NAME, 1)) || replace(substr(TG_TABLE_NAME, 2), '_', ' ')) END,
                CASE WHEN TG_TABLE_NAME = 'identity_provider' AND cardinality(names) <= 100 THEN 'lint_of_few_identity_providers' ELSE 'lint_of_' || TG_TABLE_NAME END,
                -- else it would look at the rows of this name of all tenants
                CASE WHEN array_position(tenants, NULL) IS NULL THEN 'l.tenant = ANY ($3) AND' END) END;
    IF TG_TABLE_NAME = 'tenant_admin' AND TG_OP = 'DELETE' THEN
        -- without any admin, platform admins write its rows
        shown := 'SELECT NULL::bigint AS id, NULL::text AS name, ''no_second_admin'' AS rule, internal.lint_advice(''no_second_admin'', min(a.role_name)) AS advice, format(''Tenant "%s"'', t.name) AS title
                    FROM broker.tenant AS t JOIN broker.tenant_admin AS a ON a.tenant = t.name WHERE t.require_second_admin AND t.name IN (SELECT r.tenant FROM removed AS r) GROUP BY t.name HAVING count(*) = 1';
    END IF;
    IF TG_TABLE_NAME = 'tenant_admin' AND TG_OP = 'DELETE' OR TG_TABLE_NAME = 'identity_provider' AND TG_OP = 'UPDATE' THEN
        others_shown := concat(others_shown, ' UNION ALL SELECT r.id, NULL, f.rule, internal.lint_advice(f.rule, f.detail), format(''Access rule %s for key "%s"'', r.id, r.key)
              FROM (SELECT a.* FROM broker.access_rule AS a WHERE a.enabled AND a.tenant IN (SELECT w.tenant FROM ',
            CASE TG_OP WHEN 'DELETE' THEN 'removed AS w' ELSE 'written AS w JOIN removed AS o ON o.name = w.name WHERE (o.enabled, o.accepts) <> (w.enabled, w.accepts)' END,
            ') LIMIT 100) AS r CROSS JOIN LATERAL internal.lint_access_rule(r.id) AS f WHERE f.rule IN (''nobody_can_approve'', ''approver_not_accepted'', ''party_not_accepted'')');
    END IF;
    IF TG_OP = 'UPDATE' AND TG_TABLE_NAME IN ('tenant', 'key') THEN
        EXECUTE CASE TG_TABLE_NAME
            WHEN 'key' THEN 'SELECT EXISTS (SELECT FROM written AS w JOIN removed AS r ON r.tenant = w.tenant AND r.name = w.name
                                            WHERE r.max_duration <= 900 AND w.max_duration > 900 OR r.provider <> w.provider)'
            ELSE 'SELECT EXISTS (SELECT FROM written AS w JOIN removed AS r ON r.name = w.name
                                    WHERE w.max_duration < coalesce(r.max_duration, 2147483647) OR w.max_keys < r.max_keys OR w.max_grants < r.max_grants OR w.max_globs < r.max_globs)' END INTO causes;
    ELSE
        causes := TG_TABLE_NAME = 'blocked_subject' AND TG_OP <> 'DELETE';
    END IF;
    IF causes THEN
        others_shown := concat(others_shown, ' UNION ALL ' || internal.lint_of_others(TG_TABLE_NAME));
    END IF;
    IF TG_OP <> 'DELETE' AND TG_TABLE_NAME IN ('key', 'access_rule', 'access_approver', 'blocked_subject', 'console_access', 'access_provider') THEN
        EXECUTE format('SELECT array_agg(internal.as_compared($1, to_jsonb(w)) ORDER BY w.%1$I) FROM (SELECT o.* FROM written AS o ORDER BY o.%1$I LIMIT 10) AS w', TG_ARGV[0])
             || CASE TG_OP WHEN 'UPDATE' THEN format(' JOIN removed AS r ON r.%1$I = w.%1$I AND r.tenant IS NOT DISTINCT FROM w.tenant
                    WHERE internal.as_compared($1, to_jsonb(w)) IS DISTINCT FROM internal.as_compared($1, to_jsonb(r))', TG_ARGV[0]) ELSE '' END
           INTO beside USING TG_TABLE_NAME::text;
    END IF;
    -- what a new name is almost the same as
    IF TG_OP <> 'DELETE' AND TG_TABLE_NAME IN ('tenant', 'identity_provider', 'access_provider', 'key') THEN
        EXECUTE 'SELECT array_agg(n.tenant), array_agg(n.name) FROM (SELECT to_jsonb(w) ->> ''tenant'', w.name FROM written AS w WHERE w.enabled'
             || CASE TG_OP WHEN 'UPDATE' THEN ' EXCEPT SELECT to_jsonb(r) ->> ''tenant'', r.name FROM removed AS r' ELSE '' END || ' ORDER BY 2 LIMIT 10) AS n (tenant, name)'
           INTO new_tenants, new_names;
    END IF;
    -- without approvers that it had, a rule may need an approval
    IF TG_TABLE_NAME = 'access_approver' AND TG_OP <> 'INSERT' THEN
        EXECUTE 'SELECT array_agg(r.tenant), array_agg(r.rule::text) FROM removed AS r' INTO rule_tenants, rule_names;
    END IF;
    -- The first of each rule first, so that none hides behind a thousand of another.
    FOR one IN EXECUTE
        'SELECT n.* FROM (SELECT f.*, row_number() OVER (PARTITION BY f.rule ORDER BY f.id, f.name) AS number, sum(f.stands_for) OVER () AS in_all
                            FROM (SELECT l.*, 1 AS stands_for FROM (' || concat(shown, others_shown) || ') AS l
                                  UNION ALL SELECT a.* FROM internal.what_awaits_approval($6, $3, $2) AS a
' || CASE WHEN new_names IS NOT NULL THEN 'UNION ALL SELECT a.*, 1 FROM internal.found_nearly_named($6, $10, $11) AS a' ELSE '' END || '
' || CASE WHEN rule_names IS NOT NULL THEN 'UNION ALL SELECT a.* FROM internal.what_awaits_approval(''access_rule'', $8, $9) AS a' ELSE '' END || '
                                  UNION ALL SELECT b.*, 1 FROM internal.found_beside($6, $7) AS b) AS f) AS n
          WHERE n.number <= 10 ORDER BY n.number, internal.place_of_finding(n.rule), n.rule LIMIT 10'
        USING ids, names, tenants, others, known, TG_TABLE_NAME::text, beside, rule_tenants, rule_names, new_tenants, new_names
    LOOP
        RAISE WARNING '%: % [%]', one.title, one.advice, one.rule;
    END LOOP;
    IF one.in_all > 10 THEN
        RAISE WARNING '10 of % warnings are shown.', one.in_all USING HINT = format('To list them: SELECT * FROM broker.lint WHERE %s;', internal.linted_rows(TG_TABLE_NAME, CASE TG_TABLE_NAME WHEN 'tenant' THEN names ELSE tenants END, others_shown IS NOT NULL));
    END IF;
    IF TG_TABLE_NAME = 'blocked_subject' THEN
        FOR one IN SELECT b.subject, CASE WHEN jsonb_path_exists(b.claims, 'strict $.* ? (@.type() == "array")') OR NOT EXISTS (
                              SELECT FROM internal.lint_finding AS l WHERE l.table_name = 'blocked_subject' AND l.id = b.id AND l.rule IN
                                     ('contradicts_its_subject', 'subject_without_this_claim', 'claims_of_several_issuers', 'claim_fits_no_form', 'claim_of_other_type', 'block_of_part_of_a_subject', 'ended_already'))
                          THEN internal.what_it_stops(b) ELSE 'probably stops nothing, as the warning says' END AS effect FROM broker.blocked_subject AS b WHERE b.id = ANY (ids) AND b.enabled ORDER BY b.id LIMIT 10 LOOP
            RAISE NOTICE 'Block of "%": %.', one.subject, one.effect;
        END LOOP;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.lint_written() IS 'Trigger: stores the findings in what a statement wrote and in what depends on it, and warns. Argument: the column that identifies a row.';
