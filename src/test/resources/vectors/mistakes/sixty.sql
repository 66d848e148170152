-- Sixty statements that were written without a look at the rules, beside the rows of the recipes. Five are silent: three are
-- right for somebody, the actor may come from the claim act, and the names of outputs are the tools' own.

-- a glob without a star
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main', 'glob', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "repo:acme@1234567/shop@7654321:ref:refs/heads/main": covered_by_another_grant
--! 01000

-- a branch as a segment
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:branch:main', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "repo:acme@1234567/shop@7654321:branch:main": subject_fits_no_form

-- head instead of heads
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/head/main', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "repo:acme@1234567/shop@7654321:ref:refs/head/main": subject_fits_no_form

-- a ref without refs/heads/
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","ref":"main"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": claim_fits_no_form

-- a branch that is a tag
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","ref":"refs/heads/main","ref_type":"tag"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": unlike_its_issuer

-- a branch of a pull request
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","ref":"refs/heads/main","event_name":"pull_request"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": unlike_its_issuer

-- a space behind an environment
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","environment":"Production "}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": white_space

-- a workflow by its file
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","job_workflow_ref":"deploy.yml"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": claim_fits_no_form

-- a workflow without its ref
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","job_workflow_ref":"acme/workflows/.github/workflows/deploy.yml"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": claim_fits_no_form

-- a bot without [bot]
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","actor":"dependabot"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": unlike_its_issuer

-- yes for true
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","ref_protected":"yes"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": claim_fits_no_form

-- an event in capitals
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","event_name":"Push"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": unlike_its_issuer

-- the owner alone
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_owner_id":"1234567"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": whole_organisation

-- a repository without its owner
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository":"shop"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": claim_fits_no_form

-- one segment of branches
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","ref":{"glob":"refs/heads/*"}}', 'OPS-9');
--> nothing

-- a runner by half its name
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'deploy', '{"repository_id":"7654321","runner_environment":"github"}', 'OPS-9');
--> Grant of key "deploy" to "repo:**": claim_fits_no_form

-- a remote branch
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:acme/shop:ref_type:branch:ref:origin/main', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "project_path:acme/shop:ref_type:branch:ref:origin/main": unlike_its_issuer

-- tag and branch
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:acme/shop:ref_type:tag:ref:main', 'exact', 'deploy', '{"ref_type":"branch"}', 'OPS-9');
--> Grant of key "deploy" to "project_path:acme/shop:ref_type:tag:ref:main": contradicts_its_subject

-- a project without its group
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:shop:ref_type:branch:ref:main', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "project_path:shop:ref_type:branch:ref:main": subject_fits_no_form

-- true without quotes
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:acme/**', 'glob', 'deploy', '{"project_id":"99","ref_protected":true}', 'OPS-9');
--> Grant of key "deploy" to "project_path:acme/**": claim_of_other_type

-- a number without quotes
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:acme/**', 'glob', 'deploy', '{"project_id":99}', 'OPS-9');
--> Grant of key "deploy" to "project_path:acme/**": claim_of_other_type

-- a star in a plain value
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:acme/**', 'glob', 'deploy', '{"project_id":"99","environment":"prod/*"}', 'OPS-9');
--> Grant of key "deploy" to "project_path:acme/**": star_in_plain_claim

-- a source of pipelines by half its name
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:acme/**', 'glob', 'deploy', '{"project_id":"99","pipeline_source":"merge_request"}', 'OPS-9');
--> Grant of key "deploy" to "project_path:acme/**": unlike_its_issuer

-- another namespace than the identity provider's
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:acme/**', 'glob', 'deploy', '{"namespace_id":"4243","project_id":"99"}', 'OPS-9');
--> Grant of key "deploy" to "project_path:acme/**": contradicts_identity_provider

-- a slash between namespace and account
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-cluster', 'system:serviceaccount:shop/deployer', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "system:serviceaccount:shop/deployer": subject_fits_no_form

-- an account with one segment more
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-cluster', 'system:serviceaccount:shop:default:deployer', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "system:serviceaccount:shop:default:deployer": subject_fits_no_form

-- a service account without system:
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-cluster', 'serviceaccount:shop:deployer', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "serviceaccount:shop:deployer": subject_fits_no_form

-- the namespace is a star
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-cluster', 'system:serviceaccount:*:deployer', 'glob', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "system:serviceaccount:shop:deployer": covered_by_another_grant

-- system accounts
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-cluster', 'system:serviceaccount:kube-system:*', 'glob', 'deploy', '{}', 'OPS-9');
--> nothing

-- an address as Google's subject
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-google', 'grace@acme.example', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "grace@acme.example": subject_fits_no_form

-- a domain as a URL
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-google', '112233445566778899000', 'exact', 'deploy', '{"hd":"https://acme.example"}', 'OPS-9');
--> Grant of key "deploy" to "112233445566778899000": unlike_its_issuer

-- true in quotes
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-google', '112233445566778899000', 'exact', 'deploy', '{"email_verified":"true"}', 'OPS-9');
--> Grant of key "deploy" to "112233445566778899000": claim_of_other_type

-- a subject that required_claims leaves out
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-google', '998877665544332211000', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "998877665544332211000": subject_of_another_owner

-- an address as Entra's subject
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-entra', 'grace@acme.onmicrosoft.com', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "grace@acme.onmicrosoft.com": unlike_its_issuer

-- another directory
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-entra', '99999999-8888-7777-6666-555555555555', 'exact', 'deploy', '{"tid":"00000000-0000-0000-0000-000000000001"}', 'OPS-9');
--> Grant of key "deploy" to "99999999-8888-7777-6666-555555555555": contradicts_identity_provider

-- a group by its name
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-entra', '99999999-8888-7777-6666-555555555555', 'exact', 'deploy', '{"groups":"shop-team"}', 'OPS-9');
--> Grant of key "deploy" to "99999999-8888-7777-6666-555555555555": unlike_its_issuer

-- dots instead of a pointer
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'exact', 'deploy', '{"realm_access.roles":"ops"}', 'OPS-9');
--> Grant of key "deploy" to "2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e": pointer_without_slash

-- a list in one value
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'exact', 'deploy', '{"/realm_access/roles":["ops,dev"]}', 'OPS-9');
--> Grant of key "deploy" to "2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e": list_in_one_value

-- everybody
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-keycloak', '**', 'glob', 'deploy', '{"email_verified":true}', 'OPS-9');
--> The grant of key "deploy" to "**" has a glob that does not start with a literal segment.

-- a ref without refs/
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-buildkite', 'organization:acme:pipeline:shop:ref:main:**', 'glob', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "organization:acme:pipeline:shop:ref:main:**": unlike_its_issuer

-- another branch than the subject's
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-buildkite', 'organization:acme:pipeline:shop:ref:refs/heads/main:**', 'glob', 'deploy', '{"build_branch":"develop"}', 'OPS-9');
--> Grant of key "deploy" to "organization:acme:pipeline:shop:ref:refs/heads/main:**": contradicts_its_subject

-- it ended last year
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason, valid_until) VALUES ('acme', 'acme-ci', 'job:release', 'exact', 'deploy', '{}', 'OPS-9', '2025-12-31');
--> Grant of key "deploy" to "job:release": ended_already

-- five minutes
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason, valid_from, valid_until) VALUES ('acme', 'acme-ci', 'job:release', 'exact', 'deploy', '{}', 'OPS-9', now()+interval '3 days', now()+interval '3 days 5 minutes');
--> The grant of key "deploy" to "job:release" is valid for less than 900 seconds, the minimum for a credential of type aws-sts.

-- shorter than AWS gives
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason, max_duration) VALUES ('acme', 'acme-ci', 'job:release', 'exact', 'deploy', '{}', 'OPS-9', 60);
--> The grant of key "deploy" to "job:release" has a max_duration of 60 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.

-- longer than its key
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason, max_duration) VALUES ('acme', 'acme-ci', 'job:release2', 'exact', 'deploy', '{}', 'OPS-9', 43200);
--> Grant of key "deploy" to "job:release2": longer_than_its_key

-- every address
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason, networks) VALUES ('acme', 'acme-ci', 'job:release3', 'exact', 'deploy', '{}', 'OPS-9', '{0.0.0.0/0}');
--> Grant of key "deploy" to "job:release3": unlikely_network

-- a network within another
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason, networks) VALUES ('acme', 'acme-ci', 'job:release4', 'exact', 'deploy', '{}', 'OPS-9', '{10.0.0.0/8,10.1.0.0/16}');
--> Grant of key "deploy" to "job:release4": unlikely_network

-- the broker's own machine
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason, networks) VALUES ('acme', 'acme-ci', 'job:release5', 'exact', 'deploy', '{}', 'OPS-9', '{127.0.0.1/32}');
--> Grant of key "deploy" to "job:release5": unlikely_network

-- the same identity provider for both
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason, actor_idp, actor) VALUES ('acme', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'exact', 'deploy', '{}', 'OPS-9', 'acme-keycloak', 'agent:bot');
--> nothing

-- an agent as a subject
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-agents', 'agent:release-bot', 'exact', 'deploy', '{}', 'OPS-9');
--> Grant of key "deploy" to "agent:release-bot": party_not_accepted

-- a minute at AWS
INSERT INTO broker.key (tenant,name,provider,max_duration,settings) VALUES ('acme','k1','aws',60,'{"role_arn":"arn:aws:iam::123456789012:role/ci-x"}');
--> Key "k1" of tenant "acme": max_duration is 60 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.

-- a user as a role
INSERT INTO broker.key (tenant,name,provider,max_duration,settings) VALUES ('acme','k2','aws',3600,'{"role_arn":"arn:aws:iam::123456789012:user/ci-x"}');
--> Key "k2" of tenant "acme": the setting "role_arn" is "arn:aws:iam::123456789012:user/ci-x", which is not the ARN of a role.

-- a role in capitals
INSERT INTO broker.key (tenant,name,provider,max_duration,settings) VALUES ('acme','k3','orders',3600,'{"role":"APP_RW"}');
--> Key "k3" of tenant "acme": the setting "role" is "APP_RW", which access provider "orders" does not allow.

-- outputs that no tool reads
INSERT INTO broker.key (tenant,name,provider,max_duration,settings,outputs) VALUES ('acme','k4','aws',3600,'{"role_arn":"arn:aws:iam::123456789012:role/ci-x"}','{"AWS_ACCESS_KEY":"AccessKeyId","AWS_SECRET_KEY":"SecretAccessKey"}');
--> Key "k4": output_is_missing

-- root
INSERT INTO broker.key (tenant,name,provider,max_duration,settings) VALUES ('acme','k5','servers',900,'{"principals":["root"]}');
--> Key "k5" of tenant "acme": the setting "principals" has the target "root", which access provider "servers" does not allow.

-- everybody may request
INSERT INTO broker.access_rule (tenant,key,idp,subject,match,approvals,max_access,owner) VALUES ('acme','deploy','acme-keycloak','**','glob',1,86400,'team');
--> The access rule for key "deploy" has a glob that does not start with a literal segment.
--? The columns subject, match and claims select who may request access, as in broker.subject_grant: for example subject 'team:payments/**', match 'glob' and claims '{"groups": "oncall"}'.

-- a repository as a subject
INSERT INTO broker.blocked_subject (tenant,idp,subject,reason,until) VALUES ('acme','acme-github','acme/shop','INC-1',now()+interval '1 day');
--> Block of "acme/shop": block_matches_nothing

-- a letter swapped
INSERT INTO broker.blocked_subject (tenant,subject,reason,until) VALUES ('acme','job:relaese','INC-1',now()+interval '1 minute');
--> Block of "job:relaese": block_matches_nothing

-- the token endpoint as issuer
INSERT INTO broker.identity_provider (name,tenant,issuer,audiences,listed) VALUES ('x1','acme','https://sso.acme.example/realms/acme/protocol/openid-connect/token','{mintmark-acme-x}',false);
--> Identity provider "x1": issuer_is_endpoint

-- a claim that everybody has
INSERT INTO broker.console_access (tenant,claim,value,reason) VALUES ('acme','email_verified','true','OPS-1');
--> Access to the console by "email_verified": access_for_everybody
