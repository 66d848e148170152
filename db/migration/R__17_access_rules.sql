-- Rules for requests of access, their approvers, and who is one person.

-- ---------------------------------------------------------------- texts of people

-- Removed, not refused: people paste from anywhere.
CREATE OR REPLACE FUNCTION internal.plain_text(written text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
    SELECT btrim(regexp_replace(regexp_replace(written,
        '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]', '', 'g'),
        '[[:space:]\u0001-\u001f\u007f-\u009f\u2028\u2029]+', ' ', 'g'));
$$;
COMMENT ON FUNCTION internal.plain_text(text) IS
    'A text as one line that terminals and pages show as it is: without control characters, marks of writing direction and invisible characters.';

-- ---------------------------------------------------------------- rules and approvers

CREATE OR REPLACE FUNCTION internal.requester_fault(subject text, match text, claims jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN internal.line_fault(subject, 1024) IS NOT NULL THEN 'has a subject that ' || internal.line_fault(subject, 1024)
                WHEN match NOT IN ('exact', 'glob') THEN format('has the unknown match "%s"; use exact or glob', match)
                WHEN match = 'glob' AND NOT internal.is_anchored(subject) THEN 'has a glob that does not start with a literal segment'
                WHEN match = 'glob' AND internal.glob_fault(subject) IS NOT NULL THEN 'has a glob that ' || internal.glob_fault(subject)
                WHEN internal.values_fault(claims) IS NOT NULL THEN 'has claims that ' || internal.values_fault(claims)
                WHEN internal.claims_fault(claims) IS NOT NULL THEN 'has claims in which ' || internal.claims_fault(claims) END;
$$;
COMMENT ON FUNCTION internal.requester_fault(text, text, jsonb) IS
    'What is wrong with the subject, match and claims of a rule or an approver, as the end of a sentence; null if nothing is.';

-- ---------------------------------------------------------------- people

-- By issuer, not by identity provider: two of those may accept the tokens of one issuer for different audiences.
CREATE OR REPLACE FUNCTION internal.names_of_person(tenant text, login text, issuer text, subject text)
    RETURNS TABLE (login_name text, of_issuer text, subject_name text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    WITH RECURSIVE joined (role_name, issuer, subject) AS MATERIALIZED (
        SELECT (row.was ->> 'role_name') COLLATE "C", p.issuer, (row.was ->> 'subject') COLLATE "C"
          FROM audit.config_change AS c
         CROSS JOIN LATERAL (VALUES (c.before), (c.after)) AS row (was)
          JOIN broker.identity_provider AS p ON p.tenant = names_of_person.tenant AND p.name = row.was ->> 'idp'
         WHERE c.tenant = names_of_person.tenant AND c.table_name = 'access_approver' AND c.table_name <> 'subject_grant'
           AND row.was ->> 'role_name' IS NOT NULL AND row.was ->> 'subject' IS NOT NULL),
    name (login_name, of_issuer, subject_name) AS (
        SELECT names_of_person.login COLLATE "C", names_of_person.issuer COLLATE "C", names_of_person.subject COLLATE "C"
         UNION
        SELECT other.login_name, other.of_issuer, other.subject_name
          FROM name AS n
          JOIN joined AS a ON n.login_name = a.role_name OR n.of_issuer = a.issuer AND n.subject_name = a.subject
         CROSS JOIN LATERAL (VALUES (a.role_name, NULL, NULL), (NULL, a.issuer, a.subject)) AS other (login_name, of_issuer, subject_name)
    )
    SELECT n.login_name, n.of_issuer, n.subject_name FROM name AS n;
$$;
COMMENT ON FUNCTION internal.names_of_person(text, text, text, text) IS
    'The logins, and the issuers with subjects, of one person: a login or a subject, and what a row of broker.access_approver says or ever said is the same person.';
