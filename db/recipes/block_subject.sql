-- Block a subject. From the commit on, all replicas deny its mint requests, even if a grant allows them.
-- `mintmark block-subject` inserts the same row. It also lists the subject's active credentials, and prints how to end them.
\set SHOW_CONTEXT never

-- In one tenant, with tokens of any of its identity providers. The two rows are the two forms of GitHub's subjects.
INSERT INTO broker.blocked_subject (tenant, subject, reason)
VALUES ('acme', 'repo:acme/shop:ref:refs/heads/main', 'INC-79: its token was leaked'),
       ('acme', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main', 'INC-79: its token was leaked');

-- All branches and tags of a repository, with tokens of one identity provider, for a week by the database's clock. Again a row
-- for each form of GitHub's subjects.
INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason, until)
VALUES ('acme', 'acme-github', 'repo:acme/tools:**', 'glob', 'INC-80: its runner was taken over', now() + interval '7 days'),
       ('acme', 'acme-github', 'repo:acme@*/tools@*:**', 'glob', 'INC-80: its runner was taken over', now() + interval '7 days');

-- In all tenants. Only platform admins can insert such a row, and it names no identity provider.
INSERT INTO broker.blocked_subject (subject, match, reason)
VALUES ('repo:evil/**', 'glob', 'INC-81: an owner whose workflows were taken over'),
       ('repo:evil@*/**', 'glob', 'INC-81: an owner whose workflows were taken over');

-- Who is blocked?
SELECT id, tenant, idp, match, subject, reason, until, created_by, created_at
  FROM broker.blocked_subject WHERE enabled AND (until IS NULL OR until > now()) ORDER BY id;

-- What did a blocked subject try?
SELECT occurred_at, tenant, key, client_address, request_id
  FROM audit.denial WHERE reason = 'subject_blocked' AND mint_id >= audit.first_mint_id(now() - interval '1 day') ORDER BY mint_id;

-- Extend a block, as `mintmark block-subject` with a later --until does.
UPDATE broker.blocked_subject SET until = NULL, reason = left(reason || '; INC-82: again', 1000)
 WHERE tenant = 'acme' AND idp = 'acme-github' AND match = 'glob' AND enabled
   AND subject IN ('repo:acme/tools:**', 'repo:acme@*/tools@*:**');

-- Which blocks apply to a subject? Lift each of them.
SELECT id, tenant, idp, match, subject, reason, until
  FROM broker.blocked_subject
 WHERE enabled AND (until IS NULL OR until > now()) AND (tenant = 'acme' OR tenant IS NULL)
   AND (subject = 'repo:acme@1234567/tools@7654322:ref:refs/heads/main'
        OR match = 'glob' AND internal.glob_matches(subject, 'repo:acme@1234567/tools@7654322:ref:refs/heads/main'));

-- Lift a block. Keep the row as a record.
UPDATE broker.blocked_subject SET enabled = false, reason = left(reason || '; INC-80: the runner was rebuilt', 1000)
 WHERE tenant = 'acme' AND match = 'glob' AND enabled
   AND subject IN ('repo:acme/tools:**', 'repo:acme@*/tools@*:**');
