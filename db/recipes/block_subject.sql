-- Block a subject: from the commit on, all replicas deny its mint requests, whatever its present and later grants allow.
-- `mintmark block-subject` inserts the first of these rows, lists the subject's active credentials, and how to end them.
\set SHOW_CONTEXT never

-- In one tenant, with tokens of any of its identity providers: GitHub's subject without ids, and with them.
INSERT INTO broker.blocked_subject (tenant, subject, reason)
VALUES ('acme', 'repo:acme/shop:ref:refs/heads/main', 'INC-79: its token was leaked'),
       ('acme', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main', 'INC-79: its token was leaked');

-- All branches and tags of a repository, of one identity provider, for a week by the database's clock: a row for each form
-- of GitHub's subjects, without ids and with them.
INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason, until)
VALUES ('acme', 'acme-github', 'repo:acme/tools:**', 'glob', 'INC-80: its runner was taken over', now() + interval '7 days'),
       ('acme', 'acme-github', 'repo:acme@*/tools@*:**', 'glob', 'INC-80: its runner was taken over', now() + interval '7 days');

-- In all tenants: only for platform admins, and without an identity provider.
INSERT INTO broker.blocked_subject (subject, match, reason)
VALUES ('repo:evil/**', 'glob', 'INC-81: an owner whose workflows were taken over'),
       ('repo:evil@*/**', 'glob', 'INC-81: an owner whose workflows were taken over');

-- Who is blocked?
SELECT id, tenant, idp, match, subject, reason, until, created_by, created_at
  FROM broker.blocked_subject WHERE enabled AND (until IS NULL OR until > now()) ORDER BY id;

-- What did a blocked subject try?
SELECT occurred_at, tenant, key, client_address, request_id
  FROM audit.denial WHERE reason = 'subject_blocked' AND mint_id >= audit.first_mint_id(now() - interval '1 day') ORDER BY mint_id;

-- Extend a block. (`mintmark block-subject` does that too.)
UPDATE broker.blocked_subject SET until = NULL, reason = reason || '; INC-82: again'
 WHERE tenant = 'acme' AND idp = 'acme-github' AND match = 'glob' AND enabled
   AND subject IN ('repo:acme/tools:**', 'repo:acme@*/tools@*:**');

-- Which blocks apply to a subject? Lift each of them.
SELECT id, tenant, idp, match, subject, reason, until
  FROM broker.blocked_subject
 WHERE enabled AND (until IS NULL OR until > now()) AND (tenant = 'acme' OR tenant IS NULL)
   AND (subject = 'repo:acme@1234567/tools@7654322:ref:refs/heads/main'
        OR match = 'glob' AND internal.glob_matches(subject, 'repo:acme@1234567/tools@7654322:ref:refs/heads/main'));

-- Lift a block. The row remains as its record.
UPDATE broker.blocked_subject SET enabled = false, reason = reason || '; INC-80: the runner was rebuilt'
 WHERE tenant = 'acme' AND match = 'glob' AND enabled
   AND subject IN ('repo:acme/tools:**', 'repo:acme@*/tools@*:**');
