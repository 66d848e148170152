-- Buildkite as an issuer. The subject contains the commit, so write grants with claims. Anyone can create an organization at
-- Buildkite, so require the id of yours. The job requests its token with:
-- buildkite-agent oidc request-token --audience mintmark-acme --claim organization_id --claim pipeline_id
-- For a grant that requires cluster_id (docs/ci/buildkite.md), add --claim cluster_id.
\set SHOW_CONTEXT never

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, required_claims, max_token_age,
                                      listed)
VALUES ('acme-buildkite', 'acme', 'https://agent.buildkite.com', '{mintmark-acme}',
        'https://agent.buildkite.com/.well-known/jwks', '{"organization_id": "0184990a-477b-4fa8-9968-496074483cee"}', 300,
        true);

-- The grant names the pipeline by its id, because the slugs in the subject change when somebody renames the pipeline.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason)
VALUES ('acme', 'acme-buildkite', 'organization:**', 'glob', 'deploy',
        '{"pipeline_id": "0184990a-477b-4fa8-9968-496074483ca1", "build_branch": "main"}', 'OPS-9: main of the shop deploys');
