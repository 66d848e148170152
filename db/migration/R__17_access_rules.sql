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
    RETURN coalesce(((internal.change_before('tenant', of_tenant, of_tenant, at_revision + 1)).after ->> 'require_second_admin')::boolean, false);
END
$$;
COMMENT ON FUNCTION internal.required_second_admin(text, bigint) IS 'Whether a tenant required a second admin at a revision of its history.';

DROP FUNCTION IF EXISTS internal.linked_issuers(text);

CREATE OR REPLACE VIEW internal.issuer_by_name WITH (security_invoker = true) AS
SELECT n.tenant, n.idp, n.issuer FROM work.named_issuer AS n;
COMMENT ON VIEW internal.issuer_by_name IS 'runtime.named_issuer for those without USAGE on schema runtime.';

-- A row comes into force without a change of its own when its tenant no longer requires a second admin, so the present rows too.
CREATE OR REPLACE VIEW internal.one_person WITH (security_invoker = true) AS
SELECT j.tenant, j.role_name, j.issuer, j.subject FROM work.joined_subject AS j
 UNION ALL
SELECT a.tenant, a.role_name, a.issuer, a.subject FROM broker.access_approver AS a
 WHERE a.role_name IS NOT NULL AND a.subject IS NOT NULL AND internal.is_in_force(a.tenant, a.approved_at);
COMMENT ON VIEW internal.one_person IS
    'Logins and subjects of which rows of broker.access_approver that are or were in force say that they are one person.';

CREATE OR REPLACE FUNCTION internal.issuers_like(of_tenant text, of_issuer text) RETURNS text[]
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    WITH RECURSIVE alike (issuer) AS (
        SELECT of_issuer COLLATE "C"
         UNION
        SELECT other.issuer FROM alike AS a
          JOIN internal.issuer_by_name AS named ON named.tenant = of_tenant AND named.issuer = a.issuer
          JOIN internal.issuer_by_name AS other ON other.tenant = of_tenant AND other.idp = named.idp
    )
    SELECT array_agg(a.issuer) FROM alike AS a;
$$;
COMMENT ON FUNCTION internal.issuers_like(text, text) IS
    'An issuer, and those that identity providers of the tenant had before or after it, or under the same name. A person stays the same when the issuer gets a new URL.';

-- By issuer, not by identity provider: two of those may accept the tokens of one issuer for different audiences.
CREATE OR REPLACE FUNCTION internal.names_of_person(tenant text, login text, issuer text, subject text)
    RETURNS TABLE (login_name text, of_issuer text, subject_name text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    WITH RECURSIVE name (login_name, of_issuer, subject_name) AS (
        SELECT names_of_person.login COLLATE "C", names_of_person.issuer COLLATE "C", names_of_person.subject COLLATE "C"
         UNION
        SELECT other.login_name, other.of_issuer, other.subject_name
          FROM name AS n
         CROSS JOIN LATERAL (
               SELECT NULL AS login_name, o.issuer AS of_issuer, o.subject AS subject_name FROM internal.one_person AS o
                WHERE o.tenant = names_of_person.tenant AND o.role_name = n.login_name
                UNION ALL
               SELECT o.role_name, NULL, NULL FROM internal.one_person AS o
                WHERE o.tenant = names_of_person.tenant AND o.issuer = n.of_issuer AND o.subject = n.subject_name
                UNION ALL
               SELECT NULL, alike.issuer, n.subject_name FROM unnest(internal.issuers_like(names_of_person.tenant, n.of_issuer)) AS alike (issuer)
                WHERE n.of_issuer IS NOT NULL) AS other
    )
    SELECT n.login_name, n.of_issuer, n.subject_name FROM name AS n;
$$;
COMMENT ON FUNCTION internal.names_of_person(text, text, text, text) IS
    'The logins, and the issuers with subjects, of one person who is given by a login or a subject: rows of broker.access_approver that are or were in force say which belong to the same person.';
