-- The issuers that are known to give tokens to anybody. Admins may add others, and change these: a row that is there is
-- left alone.
--
-- Not here, because each customer has an issuer of its own: Bitbucket Pipelines, CircleCI, Fly.io, Entra directories,
-- GitHub Enterprise with its own slug, Kubernetes clusters, Vercel in team mode.

INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES
    -- GitHub Actions
    ('https://token.actions.githubusercontent.com',
     '{repository_owner_id,repository_id,enterprise_id,repository_owner,repository,enterprise}'),
    -- GitLab.com, pipelines and sign-in
    ('https://gitlab.com', '{namespace_id,project_id,namespace_path,project_path}'),
    -- Google accounts and service accounts: hd is the Workspace domain, sub the account's number
    ('https://accounts.google.com', '{hd,sub,email}'),
    ('https://agent.buildkite.com', '{organization_id,pipeline_id,organization_slug}'),
    -- HCP Terraform (Terraform Cloud), also in Europe; workspace and project names repeat, their ids don't
    ('https://app.terraform.io',
     '{terraform_organization_id,terraform_project_id,terraform_workspace_id,terraform_organization_name}'),
    ('https://app.eu.terraform.io',
     '{terraform_organization_id,terraform_project_id,terraform_workspace_id,terraform_organization_name}'),
    -- Vercel in global mode
    ('https://oidc.vercel.com', '{owner_id,project_id,owner}'),
    ('https://oidc.codefresh.io', '{account_id,pipeline_id,account_name}'),
    -- env0: the audience is the same for all customers, and sub is the organization's
    ('https://login.app.env0.com/', '{sub,https://env0.com/organization}'),
    -- Microsoft's personal accounts, the one Entra directory that anybody can join
    ('https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0', '{oid,sub}'),
    ('https://appleid.apple.com', '{sub}')
ON CONFLICT (issuer) DO NOTHING;
