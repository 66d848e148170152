-- Rules for requests of access, their approvers, and who is one person.

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

CREATE OR REPLACE FUNCTION internal.required_second_admin(of_tenant text, at_revision bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce(((internal.last_change_of('tenant', of_tenant, of_tenant, at_revision + 1)).after ->> 'require_second_admin')::boolean, false);
END
$$;
COMMENT ON FUNCTION internal.required_second_admin(text, bigint) IS 'Whether a tenant required a second admin at a revision of its history.';

CREATE OR REPLACE FUNCTION internal.linked_issuers(of_tenant text) RETURNS TABLE (issuer text, other text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    WITH change AS MATERIALIZED (
        SELECT c.revision, c.before, c.after FROM audit.config_change AS c
         WHERE c.tenant = of_tenant AND c.table_name = 'identity_provider' AND c.table_name <> 'subject_grant'),
    -- by its row, and by its name: a row may be deleted, and another one inserted by its name
    linked (issuer, other) AS (
        SELECT c.before ->> 'issuer', c.after ->> 'issuer' FROM change AS c
         UNION ALL
        SELECT n.issuer, lag(n.issuer) OVER (PARTITION BY n.name ORDER BY n.revision, n.place)
          FROM (SELECT c.revision, w.place, w.row ->> 'name' AS name, w.row ->> 'issuer' AS issuer
                  FROM change AS c CROSS JOIN LATERAL (VALUES (1, c.before), (2, c.after)) AS w (place, row) WHERE w.row IS NOT NULL) AS n)
    SELECT DISTINCT pair.issuer COLLATE "C", pair.other COLLATE "C"
      FROM linked AS l CROSS JOIN LATERAL (VALUES (l.issuer, l.other), (l.other, l.issuer)) AS pair (issuer, other)
     WHERE pair.issuer <> pair.other;
$$;
COMMENT ON FUNCTION internal.linked_issuers(text) IS
    'Pairs of an earlier and a later issuer of an identity provider, or of two with the same name. They show that a person stays the same when the issuer gets a new URL.';

CREATE OR REPLACE FUNCTION internal.issuers_like(of_tenant text, of_issuer text) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    WITH RECURSIVE linked AS MATERIALIZED (SELECT l.issuer, l.other FROM internal.linked_issuers(of_tenant) AS l),
    alike (issuer) AS (
        SELECT of_issuer COLLATE "C"
         UNION
        SELECT l.other FROM alike AS a JOIN linked AS l ON l.issuer = a.issuer
    )
    SELECT array_agg(a.issuer) FROM alike AS a;
$$;
COMMENT ON FUNCTION internal.issuers_like(text, text) IS 'An issuer, and those that identity providers of the tenant had before or after it.';

-- By issuer, not by identity provider: two of those may accept the tokens of one issuer for different audiences. A row that
-- was never in force joins nobody: one admin alone could make others one person, for good.
CREATE OR REPLACE FUNCTION internal.names_of_person(tenant text, login text, issuer text, subject text)
    RETURNS TABLE (login_name text, of_issuer text, subject_name text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    WITH RECURSIVE linked (issuer, other) AS MATERIALIZED (
        SELECT l.issuer, l.other FROM internal.linked_issuers(names_of_person.tenant) AS l),
    joined (role_name, issuer, subject) AS MATERIALIZED (
        SELECT (row.was ->> 'role_name') COLLATE "C", (row.was ->> 'issuer') COLLATE "C", (row.was ->> 'subject') COLLATE "C"
          FROM audit.config_change AS c
         CROSS JOIN LATERAL (VALUES (c.before), (c.after)) AS row (was)
         WHERE c.tenant = names_of_person.tenant AND c.table_name = 'access_approver' AND c.table_name <> 'subject_grant'
           AND row.was ->> 'role_name' IS NOT NULL AND row.was ->> 'subject' IS NOT NULL
           AND CASE WHEN row.was ->> 'approved_at' IS NULL THEN NOT internal.required_second_admin(names_of_person.tenant, c.revision) ELSE true END
         UNION
        -- Without a change of its own, a row comes into force when its tenant no longer requires a second admin.
        SELECT a.role_name, a.issuer, a.subject FROM broker.access_approver AS a
         WHERE a.tenant = names_of_person.tenant AND a.role_name IS NOT NULL AND a.subject IS NOT NULL
           AND internal.is_in_force(a.tenant, a.approved_at)),
    name (login_name, of_issuer, subject_name) AS (
        SELECT names_of_person.login COLLATE "C", names_of_person.issuer COLLATE "C", names_of_person.subject COLLATE "C"
         UNION
        SELECT other.login_name, other.of_issuer, other.subject_name
          FROM name AS n
         CROSS JOIN LATERAL (
               SELECT o.* FROM joined AS a
                CROSS JOIN LATERAL (VALUES (a.role_name, NULL, NULL), (NULL, a.issuer, a.subject)) AS o (login_name, of_issuer, subject_name)
                WHERE n.login_name = a.role_name OR n.of_issuer = a.issuer AND n.subject_name = a.subject
                UNION ALL
               SELECT NULL, l.other, n.subject_name FROM linked AS l WHERE l.issuer = n.of_issuer) AS other
    )
    SELECT n.login_name, n.of_issuer, n.subject_name FROM name AS n;
$$;
COMMENT ON FUNCTION internal.names_of_person(text, text, text, text) IS
    'The logins, and the issuers with subjects, of one person who is given by a login or a subject: rows of broker.access_approver that are or were in force say which belong to the same person.';
