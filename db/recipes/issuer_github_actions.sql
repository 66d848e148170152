-- GitHub Actions as an issuer. Anyone can get tokens from it, so require the owner's id.
-- In the workflow: permissions: id-token: write, and ask for the audience "mintmark-acme".
\set SHOW_CONTEXT never

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, required_claims, listed)
VALUES ('acme-github', 'acme', 'https://token.actions.githubusercontent.com', '{mintmark-acme}',
        'https://token.actions.githubusercontent.com/.well-known/jwks',
        '{"repository_owner_id": "1234567"}',             -- gh api users/acme --jq .id
        true);

-- Prefer grants by claims, further below: a repository's subject changes when it is renamed or moved, its ids don't.
-- gh api repos/acme/shop --jq '.id, .owner.id' prints them. Ask for event_name too, so that a stranger's pull request does
-- not start the job: pull_request_target and workflow_run have the ref and the subject of the default branch. Jobs of a
-- merge queue have "event_name": "merge_group" and a ref below refs/heads/gh-readonly-queue/.

-- By the subject, a row for each form: the classic one, repo:OWNER/REPO:…, and the immutable one of repositories made,
-- renamed or moved since 2026-07-15, repo:OWNER@ID/REPO@ID:…. The ids stay the same when a name is released and
-- registered by another account.
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', 'OPS-1: main deploys'),
       ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main', 'deploy', 'OPS-1: main deploys');

-- Both forms at once, whatever the names: any branch of one repository, by its id among the claims.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason)
VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read',
        '{"repository_id": "7654321", "ref": {"glob": "refs/heads/**"}, "event_name": ["push", "workflow_dispatch"]}',
        'OPS-2: every branch of the shop reads');

-- An environment, with its approvals.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason)
VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id": "7654321", "environment": "production"}',
        'OPS-3: production is approved by people');
