-- What lint knows about subjects: which of them look alike, and the two forms that GitHub gives.

CREATE OR REPLACE FUNCTION internal.likeness(subject text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT regexp_replace(
        translate(lower(regexp_replace(normalize(subject, NFKC),
                '[[:space:]\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff]', '', 'g')),
            U&'\0430\0435\043E\0440\0441\0443\0445\0456\0458\0455\043A\043C\0442\0432\043D\03BF\03B1\03B5\03B9\03BA\03BD\03C1\03C4\03C5\03C7',
            'aeopcyxijskmtbhoaeikvptux'),
        '@[0-9*]+(?=[:/]|$)', '', 'g');
$$;
COMMENT ON FUNCTION internal.likeness(text) IS
    'A subject without what readers overlook: case, spaces, invisible and look-alike characters, and the ids that GitHub adds to names.';

CREATE OR REPLACE FUNCTION internal.is_by_name(subject text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN subject ~ '^repo:[^:/@*]+/[^:/@]+(:|$)';
COMMENT ON FUNCTION internal.is_by_name(text) IS
    'Whether a subject or glob of GitHub Actions matches only the subjects without ids, repo:OWNER/REPOSITORY:….';

CREATE OR REPLACE FUNCTION internal.subject_by_ids(subject text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT CASE WHEN subject ~ '^repo:[^:/]+/[^:/]*[*](:|$)' THEN regexp_replace(subject, '^repo:([^:/]+)/', 'repo:\1@*/')
                ELSE regexp_replace(subject, '^repo:([^:/]+)/([^:/]+)', 'repo:\1@*/\2@*') END;
$$;
COMMENT ON FUNCTION internal.subject_by_ids(text) IS
    'A glob for the subjects with ids, repo:OWNER@ID/REPOSITORY@ID:…, of the repositories that a subject or glob without ids names.';

CREATE OR REPLACE FUNCTION internal.claims_in_subject(forms jsonb, subject text) RETURNS TABLE (claim text, value text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT c.claim, part[c.place] FROM (SELECT f FROM jsonb_array_elements(forms) AS f WHERE NOT f ? 'in' AND subject ~ (f ->> 'form') LIMIT 1) AS one,
           regexp_match(subject, one.f ->> 'form') AS part, jsonb_array_elements_text(one.f -> 'claims') WITH ORDINALITY AS c (claim, place)
     WHERE c.claim IS NOT NULL;
$$;
COMMENT ON FUNCTION internal.claims_in_subject(jsonb, text) IS 'The claims whose values a subject or an issuer contains, according to broker.known_issuer.subject_claims.';

CREATE OR REPLACE FUNCTION internal.claims_in_claims(forms jsonb, claims jsonb) RETURNS TABLE (in_claim text, claim text, value text, match text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT f ->> 'in', n.claim, part[n.place], v.match FROM jsonb_array_elements(forms) AS f
     CROSS JOIN LATERAL (SELECT coalesce(c.value ->> 'glob', c.value #>> '{}') AS text, CASE jsonb_typeof(c.value) WHEN 'object' THEN 'glob' ELSE 'exact' END AS match
                           FROM jsonb_path_query(claims -> (f ->> 'in'), '$ ? (@.type() == "string" || @.type() == "object")') AS c (value)) AS v
     CROSS JOIN LATERAL regexp_match(v.text, f ->> 'form') AS part CROSS JOIN jsonb_array_elements_text(f -> 'claims') WITH ORDINALITY AS n (claim, place)
     WHERE f ? 'in' AND n.claim IS NOT NULL;
$$;
COMMENT ON FUNCTION internal.claims_in_claims(jsonb, jsonb) IS
    'The claims whose values conditions on other claims contain, according to broker.known_issuer.subject_claims. Conditions that are lists are ignored.';

CREATE OR REPLACE FUNCTION internal.alternatives(condition jsonb) RETURNS SETOF jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN strpos(o.item ->> 'glob', '*') = 0 THEN o.item -> 'glob' ELSE o.item END
      FROM jsonb_array_elements(CASE jsonb_typeof(condition) WHEN 'array' THEN condition ELSE jsonb_build_array(condition) END) AS o (item);
$$;
COMMENT ON FUNCTION internal.alternatives(jsonb) IS 'What meets a condition on a claim: values and globs.';

CREATE OR REPLACE FUNCTION internal.claims_cover(wide jsonb, narrow jsonb) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one record;
BEGIN
    IF narrow @> wide THEN
        RETURN true;
    END IF;
    FOR one IN SELECT w.value AS wide, narrow -> w.key AS narrow FROM jsonb_each(wide) AS w LOOP
        CONTINUE WHEN one.wide = one.narrow;
        IF one.narrow IS NULL OR jsonb_typeof(one.wide) = 'string' AND jsonb_typeof(one.narrow) = 'string'
           OR EXISTS (SELECT FROM internal.alternatives(one.narrow) AS n WHERE NOT EXISTS (
                  SELECT FROM internal.alternatives(one.wide) AS w
                   WHERE w = n OR CASE WHEN jsonb_typeof(w) = 'object' AND jsonb_typeof(n) = 'object' THEN internal.glob_covers(w ->> 'glob', 'glob', n ->> 'glob')
                                       WHEN jsonb_typeof(n) = 'string' THEN internal.value_fits(w, n) END)) THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$$;
COMMENT ON FUNCTION internal.claims_cover(jsonb, jsonb) IS
    'Whether all tokens that meet the second conditions are known to meet the first; also where "x", ["x"] and {"glob": "x"} say the same.';

CREATE OR REPLACE FUNCTION internal.text_may_fit(condition jsonb, value text, match text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT bool_or(CASE jsonb_typeof(one.item)
               WHEN 'string' THEN CASE match WHEN 'glob' THEN internal.glob_matches(text_may_fit.value, one.item #>> '{}') ELSE text_may_fit.value = one.item #>> '{}' END
               WHEN 'object' THEN CASE match WHEN 'glob' THEN internal.globs_overlap(text_may_fit.value, one.item ->> 'glob')
                                             ELSE internal.glob_matches(one.item ->> 'glob', text_may_fit.value) END
               -- claim_of_other_type says so
               ELSE true END)
      FROM jsonb_array_elements(CASE jsonb_typeof(condition) WHEN 'array' THEN condition ELSE jsonb_build_array(condition) END) AS one (item);
$$;
COMMENT ON FUNCTION internal.text_may_fit(jsonb, text, text) IS
    'Whether a claim with this value, a glob if match is glob, may meet a condition.';

CREATE OR REPLACE FUNCTION internal.has_row_by_ids(of_table text, checked broker.subject_grant) RETURNS boolean
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    alike constant text := internal.likeness(checked.subject);
BEGIN
    RETURN CASE of_table
        WHEN 'access_rule' THEN EXISTS (SELECT FROM broker.access_rule AS o WHERE o.tenant = checked.tenant AND o.key = checked.key AND o.idp = checked.idp
               AND o.enabled AND strpos(o.subject, '@') > 0 AND internal.likeness(o.subject) = alike)
        -- among two hundred
        WHEN 'blocked_subject' THEN EXISTS (SELECT FROM (SELECT b.subject, b.idp, b.until FROM broker.blocked_subject AS b
                 WHERE b.tenant IS NOT DISTINCT FROM checked.tenant AND b.enabled ORDER BY b.id DESC LIMIT 200) AS o
             WHERE strpos(o.subject, '@') > 0 AND (o.until IS NULL OR o.until > now()) AND internal.likeness(o.subject) = alike)
        ELSE false END;
END
$$;
COMMENT ON FUNCTION internal.has_row_by_ids(text, broker.subject_grant) IS
    'Whether an access rule or a block beside this one is for the subjects with ids of the same repository at GitHub.';

CREATE OR REPLACE FUNCTION internal.matching_both_forms(of_table text, checked broker.subject_grant, forms jsonb) RETURNS text
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN of_table = 'blocked_subject'
                THEN format('INSERT INTO broker.blocked_subject (%1$ssubject, match, claims, reason%2$s) SELECT %3$s%4$L, ''glob'', claims, reason%2$s FROM broker.blocked_subject WHERE id = %5$s;',
                            CASE WHEN checked.tenant IS NOT NULL THEN 'tenant, idp, ' ELSE '' END, ', until',
                            CASE WHEN checked.tenant IS NOT NULL THEN 'tenant, idp, ' ELSE '' END,
                            -- * stops at : and /, so that a branch would not be blocked
                            regexp_replace(internal.subject_by_ids(checked.subject), ':[*]$', ':**'), checked.id)
                WHEN s.claims IS NOT NULL
                THEN format('UPDATE broker.%s SET subject = ''repo:**'', match = ''glob'', claims = claims || %L WHERE id = %s;', of_table,
                            -- else its result is started_by_any_event
                            CASE WHEN of_table = 'subject_grant' AND NOT checked.claims ? 'event_name' AND s.claims ->> 'ref' ~ '^refs/heads/(main|master)$'
                                THEN '{"event_name": "push"}' ELSE '{}' END::jsonb || s.claims, checked.id)
                ELSE format('write a second row with the subject %L and match glob.', internal.subject_by_ids(checked.subject)) END
      FROM (SELECT jsonb_object_agg(c.claim, CASE WHEN strpos(c.value, '*') > 0 THEN jsonb_build_object('glob', c.value) ELSE to_jsonb(c.value) END)
              FROM internal.claims_in_subject(forms, checked.subject) AS c) AS s (claims);
$$;
COMMENT ON FUNCTION internal.matching_both_forms(text, broker.subject_grant, jsonb) IS
    'How a row matches the subjects of a repository at GitHub with and without ids: a statement, or the end of a sentence.';

CREATE OR REPLACE FUNCTION internal.other_place(issuer text, jwks_uri text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT concat_ws(chr(10), p.of_keys, p.of_issuer)
      FROM (VALUES (1, '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}'), (2, '/id/[0-9A-F]{16,}'),
                   (3, '[.](?:us|eu|ap|ca|sa|me|af|il|mx|cn)(?:-gov)?-(?:north|south|east|west|central)(?:north|south|east|west)?[a-z]*-[0-9](?=[.])'),
                   (4, '/realms/[^/]+'), (5, '/clusters/[^/]+'), (6, '/oauth2/[^/]+(?=/)'),
                   (7, '^https://[^/]+(?=[.](?:okta|oktapreview|auth0|onelogin|cloudflareaccess|ciamlogin|b2clogin)[.]com)'),
                   (8, '/workspaces/[^/]+')) AS f (number, form),
           LATERAL (SELECT substring(jwks_uri FROM f.form), substring(issuer FROM f.form)) AS p (of_keys, of_issuer)
     WHERE lower(p.of_keys) <> lower(p.of_issuer) ORDER BY f.number LIMIT 1;
$$;
COMMENT ON FUNCTION internal.other_place(text, text) IS
    'The id, region, realm or cluster in a jwks_uri and the other one in the issuer; null if they do not contradict each other.';

CREATE OR REPLACE FUNCTION internal.sender_of_keys(jwks_uri text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN jwks_uri ~ '/_services/token/' THEN 'GitHub Actions' WHEN jwks_uri ~ '/(oauth/discovery/keys|-/jwks)$' THEN 'GitLab'
                WHEN jwks_uri ~ '/protocol/openid-connect/certs$' THEN 'Keycloak' WHEN jwks_uri ~ '/openid/v1/jwks$' THEN 'Kubernetes'
                WHEN jwks_uri ~ '/discovery/(v2[.]0/)?keys$' THEN 'Microsoft Entra ID' WHEN jwks_uri ~ '/api/actions/' THEN 'Gitea or Forgejo Actions' END;
COMMENT ON FUNCTION internal.sender_of_keys(text) IS 'The product that has its keys at this path, whatever its host is called; null if the path does not tell.';

CREATE OR REPLACE FUNCTION internal.shown_forms(forms text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(CASE f.form WHEN '#' THEN 'digits' WHEN '*' THEN 'a word without : and /' WHEN '**' THEN 'any text' ELSE f.form END, ', ' ORDER BY f.place)
      FROM unnest(forms) WITH ORDINALITY AS f (form, place);
$$;
COMMENT ON FUNCTION internal.shown_forms(text[]) IS 'The forms of broker.known_issuer.subject_forms, for people.';
