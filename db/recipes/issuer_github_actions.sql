-- GitHub Actions as an issuer. Anyone can get tokens from this issuer, so require the owner's id.
-- The workflow needs the permission id-token: write, and requests a token with the audience "mintmark-acme".
\set SHOW_CONTEXT never

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, required_claims, listed)
VALUES ('acme-github', 'acme', 'https://token.actions.githubusercontent.com', '{mintmark-acme}',
        'https://token.actions.githubusercontent.com/.well-known/jwks',
        '{"repository_owner_id": "1234567"}',             -- gh api users/acme --jq .id
        true);

-- Prefer grants by claims, as in the last two statements: when somebody renames or transfers a repository, its subject changes,
-- but its ids don't. gh api repos/acme/shop --jq '.id, .owner.id' prints the ids. Also require event_name. Otherwise a stranger's
-- pull request can start a job that matches: runs for pull_request_target and workflow_run have the ref and the subject of the
-- default branch. Jobs of a merge queue have "event_name": "merge_group" and a ref below refs/heads/gh-readonly-queue/.

-- Grants by the subject, with a row for each form: repo:OWNER/REPO:… of older repositories, and repo:OWNER@ID/REPO@ID:… of
-- repositories that were created, renamed or transferred since 2026-07-15. The ids stay the same, even if another account
-- registers the old name.
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason)
VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', '{"event_name": "push"}', 'OPS-1: main deploys'),
       ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main', 'deploy', '{"event_name": "push"}', 'OPS-1: main deploys');

-- A grant by claims matches both forms, and every name. Here: any branch of one repository, by the repository's id.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason)
VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read',
        '{"repository_id": "7654321", "ref": {"glob": "refs/heads/**"}, "event_name": ["push", "workflow_dispatch"]}',
        'OPS-2: every branch of the shop reads');

-- A protected environment, for which people approve each run.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason)
VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id": "7654321", "environment": "production"}',
        'OPS-3: production is approved by people');
