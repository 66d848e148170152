-- What well-known issuers put into their tokens, from their documentation. It belongs to the code and is read-only.

INSERT INTO broker.known_issuer (issuer_pattern, name, project_wildcard, subject_forms, project_claims, claims, claim_forms,
                                 jwks_uri, algorithms, subject_claims)
SELECT pattern.pattern, i.name, i.project_wildcard, i.subject_forms, i.project_claims,
       (SELECT jsonb_object_agg(c.name, t.key) FROM jsonb_each_text(i.claims) AS t CROSS JOIN unnest(string_to_array(t.value, ' ')) AS c (name)),
       i.claim_forms::jsonb, k.jwks_uri, k.algorithms, coalesce(k.subject_claims, '[]')
  FROM (VALUES
    -- docs.github.com/actions/reference/openid-connect-reference; also with an enterprise's slug, and GitHub Enterprise Server
    ('{https://token.actions.githubusercontent.com,https://token.actions.githubusercontent.com/*,https://*/_services/token}'::text[],
     'GitHub Actions', 2,
     '{repo:*/*:ref:refs/heads/**,repo:*/*:ref:refs/tags/**,repo:*/*:environment:**,repo:*/*:pull_request,repo:*/*:job_workflow_ref:**}'::text[],
     '{repository_id,repository}'::text[],
     '{"string": "actor actor_id base_ref check_run_id enterprise enterprise_id environment environment_node_id event_name head_ref job_workflow_ref job_workflow_sha ref ref_protected ref_type repository repository_id repository_owner repository_owner_id repository_visibility run_attempt run_id run_number runner_environment sha workflow workflow_ref workflow_sha"}'::jsonb,
     '{"ref": ["refs/heads/**", "refs/tags/**", "refs/pull/**"], "ref_type": ["branch", "tag"], "ref_protected": ["true", "false"], "repository": ["*/*"], "repository_owner": ["*"],
       "repository_id": ["#"], "repository_owner_id": ["#"], "enterprise_id": ["#"], "actor_id": ["#"], "repository_visibility": ["public", "private", "internal"],
       "job_workflow_ref": ["*/**@**"], "workflow_ref": ["*/**@**"], "runner_environment": ["github-hosted", "self-hosted"]}'),
    -- docs.gitlab.com/ci/secrets/id_token_authentication; people who sign in have a number as subject
    ('{https://gitlab.com,https://gitlab.*}', 'GitLab', 2,
     '{project_path:*/**:ref_type:*:ref:**,*}', '{project_id,project_path}',
     '{"string": "namespace_id namespace_path project_id project_path project_visibility user_id user_login user_email user_access_level user_identities job_id job_project_id job_project_path job_namespace_id job_namespace_path job_source pipeline_id pipeline_source ref ref_type ref_path ref_protected environment environment_protected environment_action deployment_tier deployment_action runner_environment sha ci_config_ref_uri ci_config_sha groups groups_direct name nickname preferred_username email website profile picture sub_legacy https://gitlab.org/claims/groups/*",
       "number": "runner_id", "boolean": "email_verified"}',
     '{"ref_type": ["branch", "tag"], "ref_path": ["refs/**"], "ref_protected": ["true", "false"], "environment_protected": ["true", "false"], "project_path": ["*/**"], "project_id": ["#"],
       "namespace_id": ["#"], "user_id": ["#"], "project_visibility": ["public", "private", "internal"], "ci_config_ref_uri": ["**@**"], "runner_environment": ["gitlab-hosted", "self-hosted"]}'),
    -- buildkite.com/docs/agent/v3/cli-oidc
    ('{https://agent.buildkite.com}', 'Buildkite', 2,
     '{organization:*:pipeline:*:ref:**:commit:*:step:**}', '{pipeline_id,pipeline_slug}',
     '{"string": "organization_slug organization_id pipeline_slug pipeline_id build_branch build_tag build_commit build_id build_source step_key job_id agent_id cluster_id cluster_name queue_id queue_key runner_environment agent_tag:**",
       "number": "build_number"}',
     '{"organization_slug": ["*"], "pipeline_slug": ["*"], "runner_environment": ["buildkite-hosted", "self-hosted"]}'),
    -- developer.hashicorp.com/terraform/cloud-docs/workspaces/dynamic-provider-credentials/workload-identity-tokens
    ('{https://app.terraform.io,https://app.eu.terraform.io}', 'HCP Terraform', 2,
     '{organization:*:project:*:workspace:*:run_phase:*,organization:*:project:*:stack:*:deployment:*:operation:*}',
     '{terraform_project_id,terraform_project_name,terraform_workspace_id,terraform_workspace_name}',
     '{"string": "terraform_run_phase terraform_run_id terraform_workspace_id terraform_workspace_name terraform_full_workspace terraform_organization_id terraform_organization_name terraform_project_id terraform_project_name terraform_stack_id terraform_stack_name terraform_stack_deployment_name terraform_operation terraform_plan_id"}',
     '{"terraform_run_phase": ["plan", "apply"], "terraform_organization_id": ["org-*"], "terraform_project_id": ["prj-*"], "terraform_workspace_id": ["ws-*"]}'),
    -- circleci.com/docs/openid-connect-tokens
    ('{https://oidc.circleci.com/org/*}', 'CircleCI', 2,
     '{org/*/project/*/user/*,org/*/project/*/user/*/vcs-origin/**}', '{oidc.circleci.com/project-id}',
     '{"string": "oidc.circleci.com/project-id oidc.circleci.com/context-ids oidc.circleci.com/job-id oidc.circleci.com/org-id oidc.circleci.com/pipeline-id oidc.circleci.com/pipeline-definition-id oidc.circleci.com/vcs-origin oidc.circleci.com/vcs-ref oidc.circleci.com/workflow-id",
       "boolean": "oidc.circleci.com/ssh-rerun"}',
     '{"oidc.circleci.com/project-id": ["*-*-*-*-*"], "oidc.circleci.com/org-id": ["*-*-*-*-*"]}'),
    -- vercel.com/docs/oidc/reference
    ('{https://oidc.vercel.com,https://oidc.vercel.com/*}', 'Vercel', 2,
     '{owner:*:project:*:environment:*}', '{project_id,project}',
     '{"string": "owner owner_id project project_id environment scope plan user_id"}',
     '{"project_id": ["prj_*"]}'),
    -- developers.google.com/identity/openid-connect, cloud.google.com/compute/docs/instances/verifying-instance-identity
    ('{https://accounts.google.com}', 'Google', 0, '{#}', '{}',
     '{"string": "hd email name given_name family_name picture profile locale nonce at_hash /google/compute_engine/instance_id /google/compute_engine/instance_name /google/compute_engine/project_id /google/compute_engine/zone",
       "number": "/google/compute_engine/project_number /google/compute_engine/instance_creation_timestamp", "boolean": "email_verified"}',
     '{"email": ["*@*"], "hd": ["*.*"]}'),
    -- learn.microsoft.com/entra/identity-platform/access-token-claims-reference, …/id-token-claims-reference
    ('{https://login.microsoftonline.com/*/v2.0,https://sts.windows.net/*/}', 'Microsoft Entra ID', 0, '{**}', '{}',
     '{"string": "tid oid appid appidacr azpacr idp idtyp roles groups wids scp ver uti rh name email preferred_username unique_name upn given_name family_name nonce acr amr aio at_hash c_hash sid ipaddr app_displayname acct acrs login_hint verified_primary_email verified_secondary_email xms_*",
       "boolean": "hasgroups email_verified"}',
     '{"tid": ["*-*-*-*-*"], "oid": ["*-*-*-*-*"]}'),
    -- kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin; clusters of AWS, Google, Azure, and its default
    ('{https://oidc.eks.*.amazonaws.com/id/*,https://container.googleapis.com/v1/projects/*/locations/*/clusters/*,https://*.oic.prod-aks.azure.com/*/*/,https://kubernetes.default.svc,https://kubernetes.default.svc.cluster.local}',
     'Kubernetes', 1, '{system:serviceaccount:*:*}', '{/kubernetes.io/namespace}',
     '{"string": "/kubernetes.io/namespace /kubernetes.io/serviceaccount/name /kubernetes.io/serviceaccount/uid /kubernetes.io/pod/name /kubernetes.io/pod/uid /kubernetes.io/node/name /kubernetes.io/node/uid",
       "number": "/kubernetes.io/warnafter"}',
     '{"/kubernetes.io/namespace": ["*"], "/kubernetes.io/serviceaccount/name": ["*"], "/kubernetes.io/serviceaccount/uid": ["*-*-*-*-*"]}')
  ) AS i (patterns, name, project_wildcard, subject_forms, project_claims, claims, claim_forms)
 CROSS JOIN unnest(i.patterns) AS pattern (pattern)
  -- From the discovery documents of 2026-11.
  LEFT JOIN (VALUES
    ('https://token.actions.githubusercontent.com', 'https://token.actions.githubusercontent.com/.well-known/jwks', '{RS256}'::text[],
     '[{"form": "^repo:([^:@]+/[^:@]+):environment:([^:]+)$", "claims": ["repository", "environment"]},
       {"form": "^repo:([^:@]+/[^:@]+):ref:([^:]+)$", "claims": ["repository", "ref"]},
       {"form": "^repo:([^:@]+/[^:@]+):(pull_request)$", "claims": ["repository", "event_name"]}]'::jsonb),
    ('https://gitlab.com', 'https://gitlab.com/oauth/discovery/keys', '{RS256}',
     '[{"form": "^project_path:([^:]+):ref_type:([^:]+):ref:(.+)$", "claims": ["project_path", "ref_type", "ref"]}]'),
    ('https://agent.buildkite.com', 'https://agent.buildkite.com/.well-known/jwks', '{RS256}',
     '[{"form": "^organization:([^:]+):pipeline:([^:]+):ref:", "claims": ["organization_slug", "pipeline_slug"]}]'),
    ('https://app.terraform.io', 'https://app.terraform.io/.well-known/jwks', '{RS256}',
     '[{"form": "^organization:([^:]+):project:([^:]+):workspace:([^:]+):run_phase:([^:]+)$",
        "claims": ["terraform_organization_name", "terraform_project_name", "terraform_workspace_name", "terraform_run_phase"]}]'),
    ('https://accounts.google.com', 'https://www.googleapis.com/oauth2/v3/certs', '{RS256}', NULL),
    ('https://login.microsoftonline.com/*/v2.0', NULL, '{RS256}', NULL),
    ('https://kubernetes.default.svc.cluster.local', NULL, NULL,
     '[{"form": "^system:serviceaccount:([^:]+):([^:]+)$", "claims": ["/kubernetes.io/namespace", "/kubernetes.io/serviceaccount/name"]}]')
  ) AS k (pattern, jwks_uri, algorithms, subject_claims) ON k.pattern = pattern.pattern
ON CONFLICT (issuer_pattern) DO UPDATE
   SET name = excluded.name, project_wildcard = excluded.project_wildcard, subject_forms = excluded.subject_forms,
       project_claims = excluded.project_claims, claims = excluded.claims, claim_forms = excluded.claim_forms,
       jwks_uri = excluded.jwks_uri, algorithms = excluded.algorithms, subject_claims = excluded.subject_claims;
