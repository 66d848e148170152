-- All grants of one identity provider, in a file that is reviewed in Git. The file inserts and updates its grants, and deletes
-- all other grants of the identity provider. docs/tenants/grants-in-git.md describes the pipeline. Apply the file with psql:
--
--   psql -1 -v ON_ERROR_STOP=1 -f grants_in_git.sql

-- The table rejects an invalid or duplicate line. Errors of \copy include the line number.
CREATE TEMPORARY TABLE wanted (
    tenant text NOT NULL DEFAULT 'acme',
    idp text NOT NULL DEFAULT 'acme-github' CHECK (idp = 'acme-github'),
    subject text NOT NULL,
    match text NOT NULL DEFAULT 'exact',
    key text NOT NULL,
    claims jsonb NOT NULL DEFAULT '{}',
    actor_idp text,
    actor text,
    actor_match text NOT NULL DEFAULT 'exact',
    actor_claims jsonb NOT NULL DEFAULT '{}',
    networks cidr[],
    valid_from timestamptz,
    valid_until timestamptz,
    max_duration int,
    owner text,
    reason text NOT NULL,
    UNIQUE NULLS NOT DISTINCT (subject, match, key, claims, actor_idp, actor, actor_match, actor_claims, networks, valid_from, valid_until)
) ON COMMIT DROP;

-- Instead of this INSERT, you can read a CSV file: \copy wanted (subject, match, key, max_duration, reason) FROM 'grants.csv' CSV HEADER
INSERT INTO wanted (subject, match, key, claims, max_duration, reason)
VALUES ('repo:acme@1234567/shop@7654321:ref:refs/heads/main', 'exact', 'deploy', '{"event_name": "push"}', NULL, 'OPS-1: main deploys'),
       ('repo:acme@1234567/shop@7654321:ref:refs/heads/next', 'exact', 'read', '{}', 900, 'OPS-10: nightly builds'),
       ('repo:acme@1234567/docs-*:ref:refs/heads/main', 'glob', 'read', '{"repository_owner_id": "1234567", "event_name": "push"}', NULL, 'OPS-10: the manuals');
\set SHOW_CONTEXT never

MERGE INTO broker.subject_grant AS g
USING wanted AS w
   ON g.tenant = w.tenant AND g.idp = w.idp AND g.subject = w.subject AND g.match = w.match AND g.key = w.key
  AND g.claims = w.claims AND g.actor_idp IS NOT DISTINCT FROM w.actor_idp AND g.actor IS NOT DISTINCT FROM w.actor
  AND g.actor_match = w.actor_match AND g.actor_claims = w.actor_claims AND g.networks IS NOT DISTINCT FROM w.networks
  AND g.valid_from IS NOT DISTINCT FROM w.valid_from AND g.valid_until IS NOT DISTINCT FROM w.valid_until
 WHEN MATCHED AND (g.max_duration, g.owner, g.reason, g.enabled) IS DISTINCT FROM (w.max_duration, coalesce(w.owner, g.owner), w.reason, true)
      THEN UPDATE SET max_duration = w.max_duration, owner = coalesce(w.owner, g.owner), reason = w.reason, enabled = true
 WHEN NOT MATCHED
      THEN INSERT (tenant, idp, subject, match, key, claims, actor_idp, actor, actor_match, actor_claims, networks, valid_from, valid_until,
                   max_duration, owner, reason)
           VALUES (w.tenant, w.idp, w.subject, w.match, w.key, w.claims, w.actor_idp, w.actor, w.actor_match, w.actor_claims, w.networks, w.valid_from, w.valid_until, w.max_duration, w.owner, w.reason);

-- Delete grants that are not in the file. Grants of other identity providers remain. Grants of requests for access remain too,
-- because approvers decided on them.
DELETE FROM broker.subject_grant AS g
 WHERE g.tenant = 'acme' AND g.idp = 'acme-github' AND g.request_id IS NULL
   AND NOT EXISTS (SELECT FROM wanted AS w
                    WHERE w.subject = g.subject AND w.match = g.match AND w.key = g.key AND w.claims = g.claims
                      AND w.actor_idp IS NOT DISTINCT FROM g.actor_idp AND w.actor IS NOT DISTINCT FROM g.actor
                      AND w.actor_match = g.actor_match AND w.actor_claims = g.actor_claims
                      AND w.networks IS NOT DISTINCT FROM g.networks
                      AND w.valid_from IS NOT DISTINCT FROM g.valid_from AND w.valid_until IS NOT DISTINCT FROM g.valid_until);
