-- GitLab as an issuer. Anyone can use gitlab.com, so require the id of your group. For a self-hosted GitLab, the issuer is its
-- URL, and you need no required claim.
-- In the pipeline: id_tokens: MINTMARK_TOKEN: aud: mintmark-acme
\set SHOW_CONTEXT never

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, required_claims, listed)
VALUES ('acme-gitlab', 'acme', 'https://gitlab.com', '{mintmark-acme}', 'https://gitlab.com/oauth/discovery/keys',
        '{"namespace_id": "4242"}', true);

-- Protected branches of one project. The grant names the project by its id: when somebody renames or moves the project, the
-- path in the subject changes, and another group can register the old path.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason)
VALUES ('acme', 'acme-gitlab', 'project_path:**', 'glob', 'deploy',
        '{"project_id": "99", "ref_type": "branch", "ref_protected": "true"}', 'OPS-4: protected branches of the shop deploy');
