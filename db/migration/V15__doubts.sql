-- What is possible but hardly meant: a WARNING when it is written, and a row in broker.doubt until it is gone.

-- ---------------------------------------------------------------- what is doubted in a value

CREATE TYPE internal.doubt AS (doubt text, advice text);
COMMENT ON TYPE internal.doubt IS 'The word for what is hardly meant, and what to write instead.';

CREATE FUNCTION internal.without_blanks_around(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN btrim(value, U&' \00A0\00AD\1680\180E\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\200B\200C\200D\2028\2029\202F\205F\2060\3000\FEFF');
COMMENT ON FUNCTION internal.without_blanks_around(text) IS 'A text without the blanks at its ends, those without width included.';

-- Each alternative is a sign that hardly any subject has: a start or an end, a dot that repeats, something escaped, a class
-- of letters, alternatives, a number of times. "v1.*" and "dependabot[bot]" are none.
CREATE FUNCTION internal.regular_expression_in(pattern text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN substring(pattern FROM '(^\^|[])*+}]\$$|(?:^|(?<=[]:/@_)-]))[.][*+]|\\(?:[].*+?(){}|^$/:[-]|[dwsDWS][*+{])|\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|\\[dwsDWS])[^]]*\]|[])][+?{]|\((?:\?[:!=<]|[^()|]*\|)[^()]*\)|(?<=[^:/])\{[0-9]+(?:,[0-9]*)?\})');
COMMENT ON FUNCTION internal.regular_expression_in(text) IS 'The first sign in a text that it is a regular expression; null if there is none.';

CREATE FUNCTION internal.other_pattern_in(pattern text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(internal.regular_expression_in(pattern),
                    substring(pattern FROM '(\$$|\{[^{},:/]+(?:,[^{},:/]+)+\}|[A-Za-z0-9*_-][?](?=[:/]|$)|%(?=[:/]|$))'));
COMMENT ON FUNCTION internal.other_pattern_in(text) IS
    'The first sign in a glob that means something elsewhere (in regular expressions, shells, LIKE) and itself in a glob; null if there is none.';

CREATE FUNCTION internal.star_in_exact(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN strpos(value, '*') > 0 THEN '*' ELSE substring(value FROM '%(?=[:/]|$)') END;
COMMENT ON FUNCTION internal.star_in_exact(text) IS 'The sign in an exact text that was hardly meant as itself, * or the % of LIKE; null if there is none.';

CREATE FUNCTION internal.pointer_meant_by(claim text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN claim ~ '^kubernetes[.]io[./][a-z]' THEN '/kubernetes.io/' || translate(substr(claim, 15), '.', '/')
        WHEN claim ~ '^[$][.][A-Za-z0-9_.-]+$' THEN translate(substr(claim, 2), '.', '/')
        -- domains, either way round, name claims too
        WHEN claim ~ '^[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)+$' AND claim !~* '^(com|org|net|io|dev|eu|de)[.]'
             AND claim !~* '[.](com|org|net|io|dev|app|cloud|local|internal|example|test|gov|edu|eu|de|uk|fr|ch|co|ai)$'
            THEN '/' || translate(claim, '.', '/') END;
COMMENT ON FUNCTION internal.pointer_meant_by(text) IS
    'The JSON pointer that a claim''s name with dots was hardly not meant to be; null if the name is likely one.';

-- Of null: all that any known issuer sends so.
CREATE FUNCTION internal.text_claims(issuer text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{sub}'::text[]
        || CASE WHEN issuer IS NULL OR issuer ~ '^https://token[.]actions[.]githubusercontent[.]com(/|$)' OR issuer ~ '/_services/token$'
                THEN '{repository_id,repository_owner_id,enterprise_id,actor_id,run_id,run_number,run_attempt,check_run_id,ref_protected}'::text[] END
        || CASE WHEN issuer IS NULL OR issuer = 'https://gitlab.com'
                THEN '{namespace_id,project_id,user_id,pipeline_id,job_id,job_project_id,job_namespace_id,ref_protected,environment_protected}'::text[] END;
COMMENT ON FUNCTION internal.text_claims(text) IS
    'Claims that an issuer sends as text although they look like numbers, or like true and false (GitHub''s and GitLab''s documents); of null: all that there are.';

CREATE FUNCTION internal.is_whole_organisation(glob text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN glob ~ ('^(?:(?:repo|project_path):(?:[^:/@]*[*]|[^:/*@]+(?:@[^:/]*)?/(?:[*]+(?:@[^:/]*)?(?::|$)|[*][*]))'    -- GitHub, GitLab
                || '|organization:(?:[^:]*[*]|[^:*]+:(?:[*]|pipeline:[*]+(?::|$)|project:[*]+:(?:[*]|workspace:[*]+(?::|$))))'  -- Buildkite, Terraform
                || '|owner:(?:[^:]*[*]|[^:*]+:(?:[*]|project:[*]+(?::|$)))'                                             -- Vercel
                || '|org/(?:[^/]*[*]|[^/*]+/(?:[*]|project/[*]+(?:/|$)))'                                               -- CircleCI
                || '|system:serviceaccount:[*]|spiffe://[^/]+/[*][*]|sc://[^/]+/[*])');
COMMENT ON FUNCTION internal.is_whole_organisation(text) IS
    'Whether a glob lets any repository, project or pipeline of an organisation pass, by the forms that known issuers give to subjects.';

CREATE FUNCTION internal.names_one_of_many(claims jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN claims ?| '{job_workflow_ref,workflow_ref,ci_config_ref_uri}'
        OR internal.requires_an_owner(claims,
               '{sub,repository_id,repository,project_id,project_path,pipeline_id,pipeline_slug,terraform_project_id,terraform_project_name,terraform_workspace_id,terraform_workspace_name,/kubernetes.io/namespace,oidc.circleci.com/project-id}');
COMMENT ON FUNCTION internal.names_one_of_many(jsonb) IS
    'Whether conditions on claims name which repository, project, pipeline or workflow of an organisation is meant.';


-- ---------------------------------------------------------------- what is doubted in a row, by itself

CREATE FUNCTION internal.has_signs(subject text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN subject ~ '[]*%^$()[{}\\?+]' OR internal.without_blanks_around(subject) <> subject;
COMMENT ON FUNCTION internal.has_signs(text) IS 'Whether a subject has any character that could be doubted: all others need not be looked at.';

CREATE FUNCTION internal.doubts_of_subject(subject text, match text) RETURNS internal.doubt[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    doubts internal.doubt[];
    sign text;
BEGIN
    IF internal.without_blanks_around(subject) <> subject THEN
        doubts := ARRAY[ROW('white_space_around_subject',
            'The subject begins or ends with a blank, and is compared to the character. Write it without.')::internal.doubt];
    END IF;
    sign := CASE match WHEN 'exact' THEN internal.star_in_exact(subject) END;
    IF sign IS NOT NULL THEN
        RETURN doubts || ROW('glob_sign_in_exact_subject',
            format('With match exact "%s" stands for itself. For any subject of this form: match = ''glob'', where * stays within a segment and ** does not.', sign))::internal.doubt;
    END IF;
    sign := CASE match WHEN 'glob' THEN internal.other_pattern_in(subject) ELSE internal.regular_expression_in(subject) END;
    IF sign IS NOT NULL THEN
        doubts := doubts || ROW('pattern_is_a_regular_expression',
            format('"%s" stands for itself. In a glob * stands for anything within a segment (no : and no /) and ** for anything; for a choice write a grant for each, or a list in claims.', sign))::internal.doubt;
    END IF;
    RETURN doubts;
END
$$;
COMMENT ON FUNCTION internal.doubts_of_subject(text, text) IS 'What is hardly meant in a subject; null if nothing is.';

CREATE FUNCTION internal.ended_already(column_name text, ended timestamptz, written timestamptz) RETURNS internal.doubt
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ROW('ended_already'::text,
               format('It had ended (%1$s %2$s) when it was written (%3$s), and is without effect. Let %1$s be later, or null.', column_name, ended, written));
END
$$;
COMMENT ON FUNCTION internal.ended_already(text, timestamptz, timestamptz) IS 'The doubt about a row that had ended before it was written.';

CREATE FUNCTION internal.doubts_of_claim(claim text, condition jsonb, issuer text) RETURNS internal.doubt[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    doubts internal.doubt[];
    one jsonb;
    sign text;
BEGIN
    IF internal.pointer_meant_by(claim) IS NOT NULL THEN
        doubts := ARRAY[ROW('dots_instead_of_pointer',
            format('"%s" is the name of one claim, dots included. What stands within another claim is named by a JSON pointer: "%s".',
                   claim, internal.pointer_meant_by(claim)))::internal.doubt];
    END IF;
    FOR one IN SELECT jsonb_array_elements(CASE jsonb_typeof(condition) WHEN 'array' THEN condition ELSE jsonb_build_array(condition) END) LOOP
        sign := CASE jsonb_typeof(one) WHEN 'object' THEN internal.other_pattern_in(one ->> 'glob')
                                       WHEN 'string' THEN internal.regular_expression_in(one #>> '{}') END;
        IF jsonb_typeof(one) IN ('number', 'boolean') AND claim = ANY (internal.text_claims(issuer)) THEN
            doubts := doubts || ROW('number_where_issuer_sends_text',
                format('The issuer sends "%1$s" as text, which %2$s never equals. Write {"%1$s": "%2$s"}.', claim, one))::internal.doubt;
        ELSIF jsonb_typeof(one) = 'string' AND strpos(one #>> '{}', '*') > 0 THEN
            doubts := doubts || ROW('star_in_plain_claim',
                format('In %s the star stands for itself. For a pattern write {"%s": {"glob": %s}}.', one, claim, one))::internal.doubt;
        ELSIF sign IS NOT NULL THEN
            doubts := doubts || ROW('pattern_is_a_regular_expression',
                format('In the condition on "%s", "%s" stands for itself. In a glob * stands for anything within a segment (no : and no /) and ** for anything; for a choice write a list.', claim, sign))::internal.doubt;
        END IF;
    END LOOP;
    RETURN doubts;
END
$$;
COMMENT ON FUNCTION internal.doubts_of_claim(text, jsonb, text) IS
    'What is hardly meant in the condition on a claim; issuer: whose tokens, null for all known ones. Null if nothing is.';

CREATE FUNCTION internal.doubts_of_claims(claims jsonb, issuer text) RETURNS internal.doubt[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    doubts internal.doubt[];
    claim text;
    condition jsonb;
BEGIN
    FOR claim, condition IN SELECT key, value FROM jsonb_each(claims) ORDER BY key COLLATE "C" LOOP
        doubts := doubts || internal.doubts_of_claim(claim, condition, issuer);
    END LOOP;
    RETURN doubts;
END
$$;
COMMENT ON FUNCTION internal.doubts_of_claims(jsonb, text) IS
    'What is hardly meant in conditions on claims; issuer: whose tokens, null for all known ones. Null if nothing is.';

-- Immutable, and so in an index: a doubt depends on no clock. A grant that ended by itself, in its time, is none.
CREATE FUNCTION internal.doubts_of_grant(subject text, match text, claims jsonb, valid_until timestamptz,
                                         enabled boolean, updated_at timestamptz,
                                         issuer text, required_claims jsonb) RETURNS internal.doubt[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    doubts internal.doubt[];
BEGIN
    IF NOT enabled THEN
        RETURN NULL;
    END IF;
    -- Most subjects have no such character, and are written by the hundred thousand.
    IF internal.has_signs(subject) THEN
        doubts := internal.doubts_of_subject(subject, match);
    END IF;
    IF claims <> '{}' THEN
        doubts := doubts || internal.doubts_of_claims(claims, issuer);
    END IF;
    IF match = 'glob' AND internal.is_whole_organisation(subject)
       AND NOT internal.names_one_of_many(claims) AND internal.names_one_of_many(required_claims) IS NOT TRUE THEN
        doubts := doubts || ROW('whole_organisation',
            'Whoever can make a repository or a project there gets the key. Name the one that is meant, in the subject or, better, by its id in claims.')::internal.doubt;
    END IF;
    IF valid_until <= updated_at THEN
        doubts := doubts || internal.ended_already('valid_until', valid_until, updated_at);
    END IF;
    RETURN doubts;
END
$$;
COMMENT ON FUNCTION internal.doubts_of_grant(text, text, jsonb, timestamptz, boolean, timestamptz, text, jsonb) IS
    'What is hardly meant in an enabled grant, but for its reason and its duration; issuer and required_claims: its identity provider''s, nulls for more than what is doubted with any. Null if nothing is.';

CREATE FUNCTION internal.is_without_reason(reason text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(internal.without_blanks_around(reason), '') = '';
COMMENT ON FUNCTION internal.is_without_reason(text) IS 'Whether a reason is null, empty or blank.';

CREATE FUNCTION internal.advice_on_no_reason() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'Auditors will ask. Write into reason why it was granted, for example a ticket.';
COMMENT ON FUNCTION internal.advice_on_no_reason() IS 'What to do about a grant without reason.';

CREATE FUNCTION internal.advice_on_longer(granted int, key text, longest int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN format('Its max_duration is %s seconds, and key "%s" gives credentials for %s at most, which counts. Raise the key''s, or leave the grant''s null.',
                  granted, key, longest);
COMMENT ON FUNCTION internal.advice_on_longer(int, text, int) IS 'What to do about a grant whose max_duration is above its key''s.';

-- So that the doubts of a tenant are found among a million grants, and those that are more than a missing reason among
-- a million without.
CREATE INDEX grants_in_doubt ON broker.subject_grant (tenant)
    WHERE internal.doubts_of_grant(subject, match, claims, valid_until, enabled, updated_at, NULL, NULL) IS NOT NULL;
CREATE INDEX grants_without_reason ON broker.subject_grant (tenant) WHERE enabled AND internal.is_without_reason(reason);
CREATE INDEX grants_with_a_duration ON broker.subject_grant (tenant, key, max_duration) WHERE enabled AND max_duration IS NOT NULL;
-- The planner would take nearly all grants for doubtful.
CREATE STATISTICS broker.how_many_grants_are_in_doubt ON
    (internal.doubts_of_grant(subject, match, claims, valid_until, enabled, updated_at, NULL, NULL)) FROM broker.subject_grant;

CREATE FUNCTION internal.doubts_of_block(subject text, match text, until timestamptz, enabled boolean, updated_at timestamptz) RETURNS internal.doubt[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN enabled THEN internal.doubts_of_subject(subject, match)
        || CASE WHEN until <= updated_at THEN ARRAY[internal.ended_already('until', until, updated_at)] END END;
END
$$;
COMMENT ON FUNCTION internal.doubts_of_block(text, text, timestamptz, boolean, timestamptz) IS
    'What is hardly meant in an enabled block of a subject; null if nothing is.';


-- ---------------------------------------------------------------- an issuer and those that are nearly the same

CREATE FUNCTION internal.nearly(issuer text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN rtrim(regexp_replace(lower(issuer), ':443(?=/|$)', ''), '/');
COMMENT ON FUNCTION internal.nearly(text) IS
    'What issuers have in common that differ in case, by slashes at the end or by the port that is meant anyway.';

CREATE INDEX identity_providers_of_nearly_an_issuer ON broker.identity_provider (internal.nearly(issuer));

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
                    THEN 'Identity provider "%s": the issuer "%s" gives tokens to anybody, and required_claims names no owner by an exact value.'
                    ELSE 'Identity provider "%s": the issuer "%s" is, but for case or a slash, "%s", which gives tokens to anybody, and required_claims names no owner by an exact value.' END,
               idp, issuer, shared.issuer),
        CASE WHEN shared.issuer = issuer THEN '' ELSE format('Write the issuer to the character, "%s". ', shared.issuer) END
        || format('Require at least one of %s, for example {"%s": "…"}; a glob does not do.', array_to_string(shared.owner_claims, ', '), shared.owner_claims[1]));
END
$$;
COMMENT ON FUNCTION internal.check_owner_claims(text, text, jsonb) IS
    'Refuses an identity provider that would believe every customer of a shared issuer, however its address is written.';

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

CREATE FUNCTION internal.issuer_nearly_known(issuer text) RETURNS internal.doubt[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known text;
    alike bigint;
    nearly bigint;
BEGIN
    SELECT s.issuer INTO known FROM broker.shared_issuer AS s
     WHERE internal.nearly(s.issuer) = internal.nearly(issuer_nearly_known.issuer) ORDER BY s.issuer <> issuer_nearly_known.issuer, s.issuer LIMIT 1;
    IF known = issuer THEN
        RETURN NULL;
    ELSIF known IS NULL THEN
        -- The spelling that most have is likely right.
        SELECT count(*) FILTER (WHERE p.issuer = issuer_nearly_known.issuer),
               count(*) FILTER (WHERE p.issuer <> issuer_nearly_known.issuer),
               min(p.issuer) FILTER (WHERE p.issuer <> issuer_nearly_known.issuer)
          INTO alike, nearly, known
          FROM broker.identity_provider AS p
         WHERE internal.nearly(p.issuer) = internal.nearly(issuer_nearly_known.issuer) AND p.enabled;
    END IF;
    RETURN CASE WHEN known IS NOT NULL AND (nearly < alike) IS NOT TRUE THEN ARRAY[ROW('issuer_nearly_known',
        format('The issuer is "%s", and that of another identity provider or a shared one "%s". Tokens say in iss which it is, to the character.',
               issuer, known))::internal.doubt] END;
END
$$;
COMMENT ON FUNCTION internal.issuer_nearly_known(text) IS
    'The doubt about an issuer that differs only by case or a slash from a shared one, or from one that as many identity providers have; null if there is none. Sees what its caller may see.';

CREATE FUNCTION internal.doubts_of_identity_provider(issuer text, jwks_uri text, required_claims jsonb, enabled boolean) RETURNS internal.doubt[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    doubts internal.doubt[];
BEGIN
    IF NOT enabled THEN
        RETURN NULL;
    END IF;
    doubts := internal.doubts_of_claims(required_claims, issuer) || internal.issuer_nearly_known(issuer);
    IF jwks_uri ~ '/[.]well-known/(openid-configuration|oauth-authorization-server)' THEN
        doubts := doubts || ROW('jwks_uri_is_discovery',
            'This is the address of a discovery document, and jwks_uri that of the keys, which the document names as its own jwks_uri. Where the document is at the issuer, leave it null: the broker looks there.')::internal.doubt;
    END IF;
    RETURN doubts;
END
$$;
COMMENT ON FUNCTION internal.doubts_of_identity_provider(text, text, jsonb, boolean) IS
    'What is hardly meant in an enabled identity provider; null if nothing is.';

CREATE FUNCTION internal.doubts_of_access_provider(allowed_targets text[], enabled boolean) RETURNS internal.doubt[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(ROW('pattern_is_a_regular_expression',
               format('In the allowed target "%s", "%s" stands for itself. * stands for anything within a segment (no : and no /) and ** for anything; for a choice write several.',
                      target, internal.other_pattern_in(target)))::internal.doubt)
      FROM unnest(allowed_targets) AS target
     WHERE enabled AND internal.other_pattern_in(target) IS NOT NULL;
$$;
COMMENT ON FUNCTION internal.doubts_of_access_provider(text[], boolean) IS
    'What is hardly meant in an enabled access provider; null if nothing is.';


-- ---------------------------------------------------------------- where doubts stand

-- Each branch is a walk along an index. OFFSET 0: else all grants with a duration would be held against all keys.
CREATE VIEW broker.doubt WITH (security_invoker = true) AS
SELECT g.tenant, 'subject_grant' AS table_name, g.id::text AS name, d.doubt, d.advice
  FROM broker.subject_grant AS g
  JOIN broker.identity_provider AS p ON p.tenant = g.tenant AND p.name = g.idp
 CROSS JOIN LATERAL unnest(internal.doubts_of_grant(g.subject, g.match, g.claims, g.valid_until, g.enabled, g.updated_at,
                                                    p.issuer, p.required_claims)) AS d
 WHERE internal.doubts_of_grant(g.subject, g.match, g.claims, g.valid_until, g.enabled, g.updated_at, NULL, NULL) IS NOT NULL
 UNION ALL
SELECT g.tenant, 'subject_grant', g.id::text, 'no_reason', internal.advice_on_no_reason()
  FROM broker.subject_grant AS g
 WHERE g.enabled AND internal.is_without_reason(g.reason)
 UNION ALL
SELECT k.tenant, 'subject_grant', g.id::text, 'longer_than_its_key', internal.advice_on_longer(g.max_duration, k.name, k.max_duration)
  FROM broker.key AS k
 CROSS JOIN LATERAL (SELECT l.id, l.max_duration FROM broker.subject_grant AS l
                      WHERE l.tenant = k.tenant AND l.key = k.name AND l.enabled AND l.max_duration > k.max_duration OFFSET 0) AS g
 UNION ALL
SELECT p.tenant, 'identity_provider', p.name, d.doubt, d.advice
  FROM broker.identity_provider AS p
 CROSS JOIN LATERAL unnest(internal.doubts_of_identity_provider(p.issuer, p.jwks_uri, p.required_claims, p.enabled)) AS d
 UNION ALL
SELECT a.tenant, 'access_provider', a.name, d.doubt, d.advice
  FROM broker.access_provider AS a
 CROSS JOIN LATERAL unnest(internal.doubts_of_access_provider(a.allowed_targets, a.enabled)) AS d
 UNION ALL
SELECT b.tenant, 'blocked_subject', b.id::text, d.doubt, d.advice
  FROM broker.blocked_subject AS b
 CROSS JOIN LATERAL unnest(internal.doubts_of_block(b.subject, b.match, b.until, b.enabled, b.updated_at)) AS d;
COMMENT ON VIEW broker.doubt IS
    'What is possible but hardly meant in enabled rows, until it is gone. Ask it WHERE tenant = ….';
COMMENT ON COLUMN broker.doubt.tenant IS 'The tenant; null for a block in all tenants.';
COMMENT ON COLUMN broker.doubt.table_name IS 'The table in schema broker.';
COMMENT ON COLUMN broker.doubt.name IS 'The row: its name, or the id of a grant or a block.';
COMMENT ON COLUMN broker.doubt.doubt IS 'The word for what is doubted; docs/admin.md lists them.';
COMMENT ON COLUMN broker.doubt.advice IS 'Why, and what to write instead.';


-- ---------------------------------------------------------------- what is told when it is written

CREATE TYPE internal.told_doubt AS (tenant text, owner text, doubt text, advice text, number bigint, in_all bigint);
COMMENT ON TYPE internal.told_doubt IS
    'A doubt about a row that was written, numbered among those of its word, and how many of them there are.';

CREATE FUNCTION internal.tell_doubts(told internal.told_doubt[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one internal.told_doubt;
    further text;
BEGIN
    -- The first of each word first, so that none hides behind a thousand of another.
    FOR one IN SELECT t.* FROM unnest(told) AS t ORDER BY t.number, t.doubt LIMIT 10 LOOP
        RAISE WARNING '% is doubtful: %.', one.owner, one.doubt USING HINT = one.advice;
    END LOOP;
    SELECT format('%s doubts about this statement: %s', sum(word.in_all), string_agg(format('%s %s', word.in_all, word.doubt), ', ' ORDER BY word.doubt))
      INTO further FROM (SELECT DISTINCT t.doubt, t.in_all FROM unnest(told) AS t) AS word HAVING sum(word.in_all) > 10;
    IF further IS NOT NULL THEN
        RAISE WARNING 'These were 10 of %.', further
            USING HINT = format('All of them: SELECT * FROM broker.doubt WHERE tenant %s;', coalesce('= ' || quote_literal(one.tenant), 'IS NULL'));
    END IF;
END
$$;
COMMENT ON FUNCTION internal.tell_doubts(internal.told_doubt[]) IS
    'Warns of doubts, of ten at most, and then says how many there are of which. Wants ten of each word.';

-- Along indexes, whatever the plan was made for: a session keeps it, and its next statement may write 100,000 rows.
CREATE FUNCTION internal.tell_doubts_of_grants() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM internal.tell_doubts(array_agg(
                ROW(n.tenant, format('The grant of key "%s" to "%s"', n.key, n.subject), n.doubt, n.advice, n.number, n.in_all)::internal.told_doubt))
       FROM (SELECT w.tenant, w.key, w.subject, d.doubt, d.advice,
                    row_number() OVER (PARTITION BY d.doubt ORDER BY w.id) AS number, count(*) OVER (PARTITION BY d.doubt) AS in_all
               FROM written AS w
               JOIN broker.identity_provider AS p ON p.name = w.idp
               JOIN broker.key AS k ON k.tenant = w.tenant AND k.name = w.key
              CROSS JOIN LATERAL unnest(
                    internal.doubts_of_grant(w.subject, w.match, w.claims, w.valid_until, w.enabled, w.updated_at, p.issuer, p.required_claims)
                    || CASE WHEN w.enabled AND w.max_duration > k.max_duration
                            THEN ARRAY[ROW('longer_than_its_key', internal.advice_on_longer(w.max_duration, k.name, k.max_duration))::internal.doubt] END
                    || CASE WHEN w.enabled AND internal.is_without_reason(w.reason)
                            THEN ARRAY[ROW('no_reason', internal.advice_on_no_reason())::internal.doubt] END) AS d) AS n
      WHERE n.number <= 10;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.tell_doubts_of_grants() IS 'Trigger: warns of what is hardly meant in the grants that a statement wrote.';

CREATE FUNCTION internal.doubts_of_row(table_name text, written jsonb) RETURNS internal.doubt[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE table_name
        WHEN 'identity_provider' THEN internal.doubts_of_identity_provider(
            written ->> 'issuer', written ->> 'jwks_uri', written -> 'required_claims', (written ->> 'enabled')::boolean)
        WHEN 'access_provider' THEN internal.doubts_of_access_provider(
            ARRAY(SELECT jsonb_array_elements_text(written -> 'allowed_targets')), (written ->> 'enabled')::boolean)
        WHEN 'blocked_subject' THEN internal.doubts_of_block(
            written ->> 'subject', written ->> 'match', (written ->> 'until')::timestamptz, (written ->> 'enabled')::boolean,
            (written ->> 'updated_at')::timestamptz) END;
END
$$;
COMMENT ON FUNCTION internal.doubts_of_row(text, jsonb) IS 'What is hardly meant in a row of a table that has few; null if nothing is.';

CREATE FUNCTION internal.tell_doubts_of_rows() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.tell_doubts(array_agg(ROW(n.tenant, n.owner, n.doubt, n.advice, n.number, n.in_all)::internal.told_doubt))
       FROM (SELECT w.content ->> 'tenant' AS tenant, format('%s "%s"', TG_ARGV[0], w.content ->> TG_ARGV[1]) AS owner,
                    d.doubt, d.advice, row_number() OVER (PARTITION BY d.doubt ORDER BY internal.name_in(TG_TABLE_NAME, w.content)) AS number,
                    count(*) OVER (PARTITION BY d.doubt) AS in_all
               FROM (SELECT to_jsonb(r) AS content FROM written AS r) AS w
              CROSS JOIN LATERAL unnest(internal.doubts_of_row(TG_TABLE_NAME, w.content)) AS d) AS n
      WHERE n.number <= 10;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.tell_doubts_of_rows() IS
    'Trigger: warns of what is hardly meant in the rows that a statement wrote. Arguments: what such a row is called, and the column that says which one.';

CREATE TRIGGER is_doubted_when_written AFTER INSERT ON broker.subject_grant
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.tell_doubts_of_grants();
CREATE TRIGGER is_doubted_when_changed AFTER UPDATE ON broker.subject_grant
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.tell_doubts_of_grants();
CREATE TRIGGER is_doubted_when_written AFTER INSERT ON broker.identity_provider
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.tell_doubts_of_rows('Identity provider', 'name');
CREATE TRIGGER is_doubted_when_changed AFTER UPDATE ON broker.identity_provider
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.tell_doubts_of_rows('Identity provider', 'name');
CREATE TRIGGER is_doubted_when_written AFTER INSERT ON broker.access_provider
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.tell_doubts_of_rows('Access provider', 'name');
CREATE TRIGGER is_doubted_when_changed AFTER UPDATE ON broker.access_provider
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.tell_doubts_of_rows('Access provider', 'name');
CREATE TRIGGER is_doubted_when_written AFTER INSERT ON broker.blocked_subject
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.tell_doubts_of_rows('The block of', 'subject');
CREATE TRIGGER is_doubted_when_changed AFTER UPDATE ON broker.blocked_subject
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.tell_doubts_of_rows('The block of', 'subject');


-- ---------------------------------------------------------------- a forgotten WHERE

CREATE FUNCTION internal.tell_a_large_edit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    touched bigint;
    tenants bigint := 1;
BEGIN
    EXECUTE format('SELECT count(*), CASE WHEN min(%1$I) < max(%1$I) THEN count(DISTINCT %1$I) ELSE 1 END FROM removed', TG_ARGV[0])
       INTO touched, tenants;
    IF touched > 100 OR tenants > 1 THEN
        RAISE WARNING 'This % changed % rows of broker.%, of %.', TG_OP, touched, TG_TABLE_NAME,
                      CASE tenants WHEN 1 THEN 'one tenant' ELSE format('%s tenants', tenants) END
            USING HINT = 'If that was not meant: ROLLBACK while it is not committed; TABLE broker.pending_change shows it. Afterwards audit.config_change has the rows as they were.';
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.tell_a_large_edit() IS
    'Trigger: warns of a statement that updated or deleted over a hundred rows, or rows of more than one tenant. Argument: the column that names the tenant.';

DO $$
DECLARE
    held record;
BEGIN
    FOR held IN SELECT * FROM (VALUES ('tenant', 'name'), ('tenant_admin', 'tenant'), ('identity_provider', 'tenant'),
                                      ('access_provider', 'tenant'), ('key', 'tenant'), ('subject_grant', 'tenant'),
                                      ('blocked_subject', 'tenant')) AS t (name, tenant_column)
    LOOP
        EXECUTE format('CREATE TRIGGER is_told_when_large AFTER UPDATE ON broker.%I REFERENCING OLD TABLE AS removed
                        FOR EACH STATEMENT EXECUTE FUNCTION internal.tell_a_large_edit(%L)', held.name, held.tenant_column);
        EXECUTE format('CREATE TRIGGER is_told_when_much_goes AFTER DELETE ON broker.%I REFERENCING OLD TABLE AS removed
                        FOR EACH STATEMENT EXECUTE FUNCTION internal.tell_a_large_edit(%L)', held.name, held.tenant_column);
    END LOOP;
END
$$;


-- ---------------------------------------------------------------- privileges

GRANT SELECT ON broker.doubt TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}";
-- Called by the view as its reader, and by the indexes as the writer.
GRANT EXECUTE ON FUNCTION internal.without_blanks_around(text), internal.regular_expression_in(text), internal.other_pattern_in(text),
    internal.star_in_exact(text), internal.pointer_meant_by(text), internal.text_claims(text), internal.is_whole_organisation(text),
    internal.names_one_of_many(jsonb), internal.requires_an_owner(jsonb, text[]), internal.doubts_of_subject(text, text), internal.has_signs(text),
    internal.doubts_of_claim(text, jsonb, text), internal.doubts_of_claims(jsonb, text),
    internal.doubts_of_grant(text, text, jsonb, timestamptz, boolean, timestamptz, text, jsonb),
    internal.is_without_reason(text), internal.advice_on_no_reason(), internal.advice_on_longer(int, text, int), internal.nearly(text), internal.issuer_nearly_known(text),
    internal.doubts_of_identity_provider(text, text, jsonb, boolean), internal.doubts_of_access_provider(text[], boolean),
    internal.ended_already(text, timestamptz, timestamptz), internal.doubts_of_block(text, text, timestamptz, boolean, timestamptz)
    TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}";

UPDATE runtime.schema_version SET version = greatest(version, 15);
