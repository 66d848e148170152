-- Functions that constraints and indexes of the tables depend on. They never change, because PostgreSQL doesn't check
-- stored rows again when a function does: another rule is another function (docs/schema.md).

-- ---------------------------------------------------------------- text, lists, JSON

CREATE FUNCTION internal.is_line(value text, longest int) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN length(value) BETWEEN 1 AND longest AND value !~ '[\u0001-\u001f\u007f-\u009f]';
COMMENT ON FUNCTION internal.is_line(text, int) IS
    'Whether a text is neither empty nor longer than so many characters, without control characters.';

CREATE FUNCTION internal.is_list(list text[], longest int) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_ndims(list) IS NOT DISTINCT FROM 1 AND cardinality(list) <= 1000
       AND (SELECT count(DISTINCT item) = count(*) AND bool_and(coalesce(internal.is_line(item, longest), false))
              FROM unnest(list) AS item);
COMMENT ON FUNCTION internal.is_list(text[], int) IS
    'Whether a list has 1 to 1000 elements, none null, empty, twice, longer than so many characters or with control characters.';

CREATE FUNCTION internal.is_url(value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN value ~ ('^(https://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\.?|\[[0-9A-Fa-f:.]+\])'
                 || '|http://(localhost|127(\.(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])){3}|\[::1\]))'
                 || '(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&''()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?(\?([A-Za-z0-9._~!$&''()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$')
       AND coalesce(substring(value FROM '^https?://(?:\[[^]]*\]|[^/:?]*):([0-9]+)')::int, 1) BETWEEN 1 AND 65535;
COMMENT ON FUNCTION internal.is_url(text) IS
    'Whether a text is an https address, or an http address on a loopback host, without user, password and fragment.';

-- A wildcard is ** or *. The service walks through a text once for each, so their number bounds its work.
CREATE FUNCTION internal.glob_fault(pattern text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN length(pattern) > 512 THEN format('has %s characters, and a glob has up to 512', length(pattern))
                WHEN regexp_count(pattern, '[*][*]?') > 8
                    THEN format('has %s stars, and a glob has up to 8', regexp_count(pattern, '[*][*]?')) END;
COMMENT ON FUNCTION internal.glob_fault(text) IS
    'What is too much of a glob, as the end of a sentence; null if nothing is. ** counts as one star.';

CREATE FUNCTION internal.is_glob_list(list text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN internal.is_list(list, 512)
       AND (SELECT bool_and(item = '**' OR item ~ '^[^*:/]+([:/]|$)' AND internal.glob_fault(item) IS NULL)
              FROM unnest(list) AS item);
COMMENT ON FUNCTION internal.is_glob_list(text[]) IS
    'Whether each element is ** or a glob of allowed size that starts with a literal segment (up to the first : or /).';

-- What is within these bounds can be read by the service, whatever it says.
CREATE FUNCTION internal.json_fault(value jsonb, longest int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fault text;
BEGIN
    IF value IS NULL OR value = '{}' THEN
        RETURN NULL;
    ELSIF octet_length(value::text) > longest THEN
        RETURN format('has %s bytes, more than %s', octet_length(value::text), longest);
    ELSIF jsonb_path_exists(value, 'strict $.**{32 to last}') THEN
        RETURN 'is nested deeper than 32 levels';
    END IF;
    SELECT format('has a number of %s characters, which no double can hold: %s…', length(number::text), left(number::text, 20))
      INTO fault
      FROM jsonb_path_query(value, 'strict $.** ? (@.type() == "number")') AS number
     WHERE abs(number::numeric) > 1.7976931348623157e308 OR length(number::text) > 400 LIMIT 1;
    IF NOT FOUND THEN
        SELECT format('has a member whose name has %s characters, more than 512: "%s…"', length(name), left(name, 20))
          INTO fault
          FROM (SELECT key #>> '{}' AS name
                  FROM jsonb_path_query(value, 'strict $.** ? (@.type() == "object").keyvalue().key') AS key) AS member
         WHERE length(name) > 512 LIMIT 1;
    END IF;
    RETURN fault;
END
$$;
COMMENT ON FUNCTION internal.json_fault(jsonb, int) IS
    'What is too much of a JSON value (bytes of its text, levels, a number, a name), as the end of a sentence; null if nothing is.';

CREATE FUNCTION internal.is_outputs(outputs jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN jsonb_typeof(outputs) = 'object' THEN
        (SELECT coalesce(bool_and(member.key ~ '^[A-Za-z_][A-Za-z0-9_]*$' AND jsonb_typeof(member.value) = 'string'), true)
           FROM jsonb_each(outputs) AS member)
        ELSE false END;
COMMENT ON FUNCTION internal.is_outputs(jsonb) IS
    'Whether it is an object of strings whose names are letters, digits and _, no digit first.';

-- ---------------------------------------------------------------- digests

-- The canonical form is described in docs/audit.md. docs/verify.py and the service make the same bytes.
CREATE FUNCTION internal.canonical_field(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN value IS NULL THEN '-,' ELSE octet_length(value) || ':' || value || ',' END;
COMMENT ON FUNCTION internal.canonical_field(text) IS
    'A field of the canonical form: its length in bytes, a colon, the text, a comma; a null is "-,".';

CREATE FUNCTION internal.micros(at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN trunc(extract(epoch FROM at) * 1000000)::text;
COMMENT ON FUNCTION internal.micros(timestamptz) IS
    'A time in the canonical form: microseconds since 1970-01-01 UTC, in decimal digits.';

CREATE FUNCTION internal.grant_digest(tenant text, idp text, key text, match text, subject text, claims jsonb,
                                      valid_from timestamptz, valid_until timestamptz) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sha256(convert_to(
        internal.canonical_field(tenant) || internal.canonical_field(idp) || internal.canonical_field(key)
        || internal.canonical_field(match) || internal.canonical_field(subject) || internal.canonical_field(claims::text)
        || internal.canonical_field(internal.micros(valid_from)) || internal.canonical_field(internal.micros(valid_until)), 'UTF8'));
END
$$;
COMMENT ON FUNCTION internal.grant_digest(text, text, text, text, text, jsonb, timestamptz, timestamptz) IS
    'What makes a grant another one than those that are there: SHA-256 of whom it gives what, under which conditions and when.';

-- Of one subject, blocked in one way, one row is enabled: who lifts it has lifted it. Rows that were lifted stay beside it.
CREATE FUNCTION internal.block_digest(tenant text, idp text, match text, subject text) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sha256(convert_to(internal.canonical_field(tenant) || internal.canonical_field(idp)
                             || internal.canonical_field(match) || internal.canonical_field(subject), 'UTF8'));
END
$$;
COMMENT ON FUNCTION internal.block_digest(text, text, text, text) IS
    'What makes a block another one than those that are there: SHA-256 of whom it blocks where. What else it says (reason, until) changes it.';

CREATE FUNCTION internal.nearly(issuer text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN rtrim(regexp_replace(lower(issuer), ':443(?=/|$)', ''), '/');
COMMENT ON FUNCTION internal.nearly(text) IS
    'What issuers have in common that differ in case, by slashes at the end or by the port that is meant anyway.';

-- ---------------------------------------------------------------- lint

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

-- A class of letters, [ab] or [!ab], stands for itself in a glob, and there it was hardly meant so. Not in other texts, where
-- brackets are letters; nor is [bot] a class, with which the names of apps end at GitHub.
CREATE FUNCTION internal.other_pattern_in(pattern text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(internal.regular_expression_in(pattern),
                    substring(pattern FROM '(\$$|\{[^{},:/]+(?:,[^{},:/]+)+\}|[A-Za-z0-9*_-][?](?=[:/]|$)|%(?=[:/]|$)|\[(?!bot\])(?:[!^][A-Za-z0-9._-]+|[A-Za-z0-9._-]{2,})\])'));
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

CREATE FUNCTION internal.requires_an_owner(required_claims jsonb, owner_claims text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN EXISTS (
        SELECT FROM jsonb_each(required_claims) AS required (claim, value)
         WHERE claim = ANY (owner_claims)
           AND jsonb_typeof(value) <> 'object'
           AND NOT (jsonb_typeof(value) = 'array' AND jsonb_path_exists(value, '$[*] ? (@.type() == "object")')));
COMMENT ON FUNCTION internal.requires_an_owner(jsonb, text[]) IS
    'Whether at least one of the owner claims must have an exact value, or one of several.';

CREATE FUNCTION internal.names_one_of_many(claims jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN claims ?| '{job_workflow_ref,workflow_ref,ci_config_ref_uri}'
        OR internal.requires_an_owner(claims,
               '{sub,repository_id,repository,project_id,project_path,pipeline_id,pipeline_slug,terraform_project_id,terraform_project_name,terraform_workspace_id,terraform_workspace_name,/kubernetes.io/namespace,oidc.circleci.com/project-id}');
COMMENT ON FUNCTION internal.names_one_of_many(jsonb) IS
    'Whether conditions on claims name which repository, project, pipeline or workflow of an organisation is meant.';

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

CREATE TYPE internal.told_doubt AS (tenant text, owner text, doubt text, advice text, number bigint, in_all bigint);
COMMENT ON TYPE internal.told_doubt IS
    'A doubt about a row that was written, numbered among those of its word, and how many of them there are.';
