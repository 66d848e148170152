-- immutable subject, ids before the names
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-github', 'repo:1234567@acme/7654321@shop:ref:refs/heads/main', 'read', 'OPS-1: test');
--> Grant of key "read" to "repo:1234567@acme/7654321@shop:ref:refs/heads/main": unlike_its_issuer
--? The subject does not have the form that GitHub Actions uses. Names come first
--! 01000

-- claim repository with the ids: acme@1234567/shop@7654321 (the claim stays acme/shop)
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository": "acme@1234567/shop@7654321"}');
--> Grant of key "read" to "repo:**": unlike_its_issuer
--? The claim "repository" does not have the form that GitHub Actions uses. The claim repository is OWNER
--! 01000

-- emergency block of the old form, though a grant of the same repository has the new one
INSERT INTO broker.blocked_subject (tenant, subject, reason, match) VALUES ('acme', 'repo:acme/shop:**', 'INC-1: leak', 'glob');
--> Block of "repo:acme/shop:**": block_leaves_others
--? "repo:acme@1234567/shop@7654321:ref:refs/heads/main" of identity provider "acme-github" is not blocked
--! 01000

-- v1 issuer without its slash at the end
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('e2', 'acme', 'https://sts.windows.net/72f988bf-86f1-41af-91ab-2d7cd011db47', ARRAY['mintmark-acme2']::text[]);
--> Identity provider "e2": issuer_sends_no_tokens
--? https://sts.windows.net/DIRECTORY_ID/ with the slash at its end
--! 01000

-- EKS: region of issuer and jwks_uri differ
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri) VALUES ('eks', 'acme', 'https://oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF', ARRAY['mintmark-acme2']::text[], 'https://oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF/keys');
--> Identity provider "eks": jwks_uri_of_another_place
--? The jwks_uri has ".us-east-1", but the issuer has ".eu-central-1"
--! 01000

-- CircleCI issuer without /org/ID
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('cci', 'acme', 'https://oidc.circleci.com', ARRAY['mintmark-acme2']::text[], '{"oidc.circleci.com/org-id": "5f3c2a10-1111-2222-3333-444455556666"}');
--> Identity provider "cci": issuer_sends_no_tokens
--? https://oidc.circleci.com/org/ORGANIZATION_ID
--! 01000

-- Buildkite: exact subject copied from a token, with its commit
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-buildkite', 'organization:acme:pipeline:shop:ref:refs/heads/main:commit:9f3e4a7c1b2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f:step:deploy', 'read', 'OPS-1: test');
--> Grant of key "read" to "organization:acme:pipeline:shop:ref:refs/heads/main:commit:9f3e4a7c1b2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f:step:deploy": unlike_its_issuer
--? The subject contains the commit of one build, so builds of the next commit are denied
--! 01000

-- rule: star with match exact
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:*', 14400);
INSERT INTO broker.access_approver (rule, role_name) VALUES ((SELECT max(id) FROM broker.access_rule), 'test_admin');
--> Access rule …
--? With match exact, "*" in subject is literal
--! 01000

-- stricter second rule for production that the first one undoes (fewest approvals count)
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match, approvals) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:**', 14400, 'glob', 1);
INSERT INTO broker.access_approver (rule, role_name) VALUES ((SELECT max(id) FROM broker.access_rule), 'test_admin');
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match, approvals) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:**', 14400, 'glob', 2);
INSERT INTO broker.access_approver (rule, role_name) VALUES ((SELECT max(id) FROM broker.access_rule), 'test_admin');
INSERT INTO broker.access_approver (rule, role_name) VALUES ((SELECT max(id) FROM broker.access_rule), 'test_owner');
--> Access rule …
--? lets the same subjects request as much with fewer approvals
--! 01000

-- approver login misspelt
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:**', 14400, 'glob');
INSERT INTO broker.access_approver (rule, role_name) VALUES ((SELECT max(id) FROM broker.access_rule), 'alcie');
--> Approver …
--? login "alcie" does not exist
--! 01000

-- approvals 2, but both approvers are one person
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match, approvals) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:**', 14400, 'glob', 2);
INSERT INTO broker.access_approver (rule, role_name, idp, subject) VALUES ((SELECT max(id) FROM broker.access_rule), 'test_admin', 'acme-keycloak', 'user:alice');
INSERT INTO broker.access_approver (rule, idp, subject) VALUES ((SELECT max(id) FROM broker.access_rule), 'acme-keycloak', 'user:alice');
--> Access rule …
--? needs 2 approvals, but only one person can give one
--! 01000

-- break glass with 2 approvals
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match, approvals, break_glass) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:**', 14400, 'glob', 2, true);
--> Access rule …
--? break_glass gives access at once and ignores the 2 approvals
--! 01000

-- block of the agent at the people's identity provider
INSERT INTO broker.blocked_subject (tenant, subject, reason, idp) VALUES ('acme', 'agent:release-bot', 'INC-1: leak', 'acme-keycloak');
--> Block of "agent:release-bot": block_leaves_others
--? "agent:release-bot" of identity provider "acme-agents" is not blocked
--! 01000

-- narrow exact grant under a glob that allows all of it
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match) VALUES ('acme', 'acme-github', 'repo:acme@1234567/docs-*:ref:refs/heads/**', 'read', 'OPS-1: test', 'glob');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, claims) VALUES ('acme', 'acme-github', 'repo:acme@1234567/docs-api@77:ref:refs/heads/main', 'read', 'OPS-1: test', '{"environment": "production"}');
--> Grant of key "read" to "repo:acme@1234567/docs-api@77:ref:refs/heads/main": covered_by_another_grant
--? already allows all that this grant does
--! 01000

-- notice_url is a Slack webhook (does not take CloudEvents, and is a secret itself)
UPDATE broker.tenant SET notice_url='https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnopqrstuvwx', notice_secret='{"file":"notices"}' WHERE name='acme';
--> Tenant "acme": its notice_url is the URL of an incoming webhook, which is a secret, and the change history would keep it permanently.
--? Write a URL without a query or a token
--! 23514

-- edit of a grant in force under the rule of two: it is off until approved
UPDATE broker.tenant SET require_second_admin=true WHERE name='acme';
UPDATE broker.subject_grant SET max_duration=1800 WHERE id=3;
--> Subject grant …
--? has no effect until another admin approves it
--! 01000

-- rule with claims list in one string
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match, claims) VALUES ('acme','deploy','acme-keycloak','user:**',14400,'glob','{"groups": "ops,dev"}');
--> Access rule …
--? "ops,dev" is one value with a comma or semicolon, and is compared as a whole. Write
--! 01000

-- rule "true"
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, claims) VALUES ('acme','deploy','acme-google','112233445566778899000',14400,'{"email_verified": "true"}');
--> Access rule …
--? The issuer sends "email_verified" as a boolean, so this condition neve
--! 01000

-- rule for actors' idp
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme','deploy','acme-agents','agent:release-bot',14400);
--> Access rule …
--? Identity provider "acme-agents" does not accept subjects, so no token
--! 01000

-- max_access too short
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme','deploy','acme-keycloak','user:alice',600);
--> Access rule …
--? max_access is too short for any credential of key "deploy", so requests by the
--! 01000

-- same rule twice
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme','deploy','acme-keycloak','user:alice',14400);
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme','deploy','acme-keycloak','user:alice',14400);
--> Access rule …
--? already lets these subjects request at least this access with the same number of approvals, so
--! 01000

-- approver with star exact
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme','deploy','acme-keycloak','user:alice',14400);
INSERT INTO broker.access_approver (rule, idp, subject) VALUES ((SELECT max(id) FROM broker.access_rule), 'acme-keycloak', 'lead:*');
--> Approver …
--? With match exact, "*" in subject is literal. Set match to glob, where * matches w
--! 01000

-- approver with trailing space
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme','deploy','acme-keycloak','user:alice',14400);
INSERT INTO broker.access_approver (rule, role_name) VALUES ((SELECT max(id) FROM broker.access_rule), 'alice ');
--> Approver …
--? The approver's login "alice " does not exist (did you mean "alice"?),
--! 01000

-- block case
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'Agent:Release-Bot', 'INC-1');
--> Block of "Agent:Release-Bot": block_leaves_others
--? "agent:release-bot" of identity provider "acme-agents" is not blocked
--! 01000

-- block at wrong idp with glob
INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason) VALUES ('acme', 'acme-gitlab', 'repo:acme@1234567/shop@7654321:**', 'glob', 'INC-1');
--> Block of "repo:acme@1234567/shop@7654321:**": block_leaves_others
--? "repo:acme/shop:ref:refs/heads/main" of identity provider "acme-github
--! 01000

-- block that ended
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'agent:release-bot', 'INC-1', now() - interval '1 day');
--> Block of "agent:release-bot": ended_already
--? The row ended before it was written, so it has no effect. Set a later e
--! 01000

-- other owner id
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme','acme-github','repo:acme@999/shop@7654321:ref:refs/heads/main','read','OPS-1');
--> Grant of key "read" to "repo:acme@999/shop@7654321:ref:refs/heads/main": subject_of_another_owner
--? Every token of the identity provider has "repository_owner_id" = "1234567", but
--! 01000

-- one id only
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme','acme-github','repo:acme@1234567/shop:ref:refs/heads/main','read','OPS-1');
--> Grant of key "read" to "repo:acme@1234567/shop:ref:refs/heads/main": unlike_its_issuer
--? The subject does not have the form that GitHub Actions uses. A subject has either both ids
--! 01000

-- claims contradict glob
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme','acme-github','repo:acme@1234567/shop@7654321:ref:refs/heads/*','glob','read','{"ref": {"glob": "refs/tags/**"}}','OPS-1');
--> Grant of key "read" to "repo:acme@1234567/shop@7654321:ref:refs/heads/*": contradicts_its_subject
--? In the subject, "ref" is refs/heads/*, so the condition never matches
--! 01000

-- k8s contradiction
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme','acme-cluster-inside','system:serviceaccount:shop:deployer','read','{"/kubernetes.io/namespace": "shopping"}','OPS-1');
--> Grant of key "read" to "system:serviceaccount:shop:deployer": contradicts_its_subject
--? In the subject, "/kubernetes.io/namespace" is shop, so the condition n
--! 01000

-- k8s at unknown issuer
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme','acme-cluster','system:serviceaccount:shop','read','OPS-1');
--> Grant of key "read" to "system:serviceaccount:shop": subject_fits_no_form
--? By default, the subjects of Kubernetes have only these forms
--! 01000

-- k8s at unknown issuer slash
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme','acme-cluster','system:serviceaccount:shop/deployer','read','OPS-1');
--> Grant of key "read" to "system:serviceaccount:shop/deployer": subject_fits_no_form
--? By default, the subjects of Kubernetes have only these forms
--! 01000

-- gitlab segments order
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme','acme-gitlab','project_path:acme/shop:ref:main:ref_type:branch','read','OPS-1');
--> Grant of key "read" to "project_path:acme/shop:ref:main:ref_type:branch": subject_fits_no_form
--? By default, the subjects of GitLab have only these forms: p
--! 01000

-- gitlab ref refs/heads
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme','acme-gitlab','project_path:acme/shop:ref_type:branch:ref:refs/heads/main','read','OPS-1');
--> Grant of key "read" to "project_path:acme/shop:ref_type:branch:ref:refs/heads/main": unlike_its_issuer
--? The subject does not have the form that GitLab uses. Write only the name of the branch o
--! 01000

-- ref_protected boolean
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme','acme-gitlab','project_path:acme/shop:ref_type:branch:ref:**','glob','read','{"ref_protected": true}','OPS-1');
--> Grant of key "read" to "project_path:acme/shop:ref_type:branch:ref:**": claim_of_other_type
--? The issuer sends "ref_protected" as a string, so this condition never
--! 01000

-- glob twice once with condition
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme','acme-keycloak','team:ops/**','glob','read','{}','OPS-1'),('acme','acme-keycloak','team:ops/**','glob','read','{"a":"b"}','OPS-1');
--> Grant of key "read" to "team:ops/**": covered_by_another_grant
--? already allows all that this grant does, so the narrower conditions of this grant ha
--! 01000

-- subject is actor
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, reason) VALUES ('acme','acme-keycloak','agent:x','read','acme-keycloak','agent:x','OPS-1');
--> Grant of key "read" to "agent:x": actor_is_its_subject
--? The actor "agent:x" is also the subject
--! 01000

-- tid contradicts
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('e3','acme','https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0','{mintmark-acme9}','{"tid": "11111111-86f1-41af-91ab-2d7cd011db47"}');
--> Identity provider "e3": contradicts_its_issuer
--? Each token of this issuer has "tid" = 72f988bf-86f1-41af-91ab-2d7cd011
--! 01000

-- entra domain
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('e4','acme','https://login.microsoftonline.com/acme.onmicrosoft.com/v2.0','{mintmark-acme9}');
--> Identity provider "e4": issuer_sends_no_tokens
--? No token has the issuer "https://login.microsoftonline.com/acme.onmicr
--! 01000

-- entra jwks of another directory
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri) VALUES ('e5','acme','https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0','{mintmark-acme9}','https://login.microsoftonline.com/11111111-86f1-41af-91ab-2d7cd011db47/discovery/v2.0/keys');
--> Identity provider "e5": jwks_uri_of_another_place
--? The jwks_uri has "11111111-86f1-41af-91ab-2d7cd011db47", but the issuer
--! 01000

-- hd with address
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('g6','acme','https://accounts.google.com','{mintmark-acme9}','{"hd":"@acme.com"}');
--> Identity provider "g6": unlike_its_issuer
--? The claim "hd" does not have the form that Google uses. Write only the domain, for example
--! 01000

-- fly issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('f1','acme','https://oidc.fly.io','{mintmark-acme9}');
--> Identity provider "f1": issuer_sends_no_tokens
--? No token has the issuer "https://oidc.fly.io". Set it to the iss claim
--! 01000

-- bitbucket issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('b1','acme','https://bitbucket.org/acme','{mintmark-acme9}');
--> Identity provider "b1": issuer_sends_no_tokens
--? No token has the issuer "https://bitbucket.org/acme". Set it to the iss
--! 01000

-- devops issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('d1','acme','https://dev.azure.com/acme','{mintmark-acme9}');
--> Identity provider "d1": issuer_sends_no_tokens
--? No token has the issuer "https://dev.azure.com/acme". Set it to the iss
--! 01000

-- keycloak jwks other realm
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri) VALUES ('k3','acme','https://sso.acme.example/realms/acme2','{mintmark-acme9}','https://sso.acme.example/realms/acme/protocol/openid-connect/certs');
--> Identity provider "k3": jwks_uri_of_another_place
--? The jwks_uri has "/realms/acme", but the issuer has "/realms/acme2", so the
--! 01000

-- notice url
UPDATE broker.tenant SET notice_url='https://hooks.acme.example/in?token=abc', notice_secret='{"file":"n"}' WHERE name='acme';
--> Tenant "acme": its notice_url has a query, which often contains a token, and the change history would keep it permanently.
--? Write a URL without a query or a token. The receiver verifies notices by their signature instead: write a new secret to a file
--! 23514

-- notice url mattermost
UPDATE broker.tenant SET notice_url='https://chat.acme.example/hooks/9fj3kd83jd93jd93jd93jd93jd', notice_secret='{"file":"n"}' WHERE name='acme';
--> Tenant "acme": its notice_url has the token of an incoming webhook in its path, and the change history would keep it permanently.
--? Write a URL without a query or a token. The receiver verifies notices by their signature instead: write a new secret to a file
--! 23514

-- agents as subjects after all
UPDATE broker.identity_provider SET accepts='{approver}' WHERE name='acme-gitlab';
--> Grant of key "deploy" to "project_path:**": party_not_accepted
--? Identity provider "acme-gitlab" does not accept subjects, so no token
--! 01000

-- repository_owner with slash
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme','acme-github','repo:**','glob','read','{"repository_owner": "acme/shop"}','OPS-1');
--> Grant of key "read" to "repo:**": unlike_its_issuer
--? The claim "repository_owner" does not have the form that GitHub Actions uses. repository_owner is
--! 01000

-- hcp
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme','acme-entra','99999999-8888-7777-6666-555555555556','read','{"tid": "11111111-8888-7777-6666-555555555556"}','OPS-1');
--> Grant of key "read" to "99999999-8888-7777-6666-555555555556": contradicts_identity_provider
--? Every token of the identity provider has "tid" = "72f988bf-86f1-41af-91ab-2d7cd011
--! 01000

-- console access with list in string
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme','groups','"ops,dev"','x');
--> Access to the console by "groups": list_in_one_value
--? "ops,dev" is one value with a comma or semicolon, and is compared as a whole. Write
--! 01000

-- e-mail verified as text
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme','acme-google','112233445566778899000','read','{"email_verified":"true"}','OPS-1');
--> Grant of key "read" to "112233445566778899000": claim_of_other_type
--? The issuer sends "email_verified" as a boolean, so this condition neve
--! 01000

-- google subject is the address
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme','acme-google','build@acme.iam.gserviceaccount.com','read','OPS-1');
--> Grant of key "read" to "build@acme.iam.gserviceaccount.com": subject_fits_no_form
--? By default, the subjects of Google have only these forms: d
--! 01000

-- buildkite org
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme','acme-buildkite','organization:acme:pipeline:shop:ref:main:**','glob','read','OPS-1');
--> Grant of key "read" to "organization:acme:pipeline:shop:ref:main:**": unlike_its_issuer
--? The subject does not have the form that Buildkite uses. Write the full ref: :ref:r
--! 01000

-- build_branch refs
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme','acme-buildkite','organization:acme:pipeline:shop:**','glob','read','{"build_branch":"refs/heads/main"}','OPS-1');
--> Grant of key "read" to "organization:acme:pipeline:shop:**": unlike_its_issuer
--? The claim "build_branch" does not have the form that Buildkite uses. Write only
--! 01000

-- build_number as text
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme','acme-buildkite','organization:acme:pipeline:shop:**','glob','read','{"build_number":"7"}','OPS-1');
--> Grant of key "read" to "organization:acme:pipeline:shop:**": claim_of_other_type
--? The issuer sends "build_number" as a number, so this condition never m
--! 01000

-- approver is requester
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme','deploy','acme-keycloak','user:alice',14400);
INSERT INTO broker.access_approver (rule, idp, subject) VALUES ((SELECT max(id) FROM broker.access_rule), 'acme-keycloak', 'user:alice');
--> Approver …
--? The rule is for "user:alice" alone, but nobody can approve their own requ
--! 01000

-- delete the only approver
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme','deploy','acme-keycloak','user:alice',14400);
INSERT INTO broker.access_approver (rule, role_name) VALUES ((SELECT max(id) FROM broker.access_rule), 'test_admin');
DELETE FROM broker.access_approver;
--> Access rule …
--? The rule needs
--! 01000

-- insert awaits
UPDATE broker.tenant SET require_second_admin=true WHERE name='acme';
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme','acme-keycloak','user:alice','read','OPS-1');
--> Subject grant …
--? The row was written
--! 01000

-- key edit awaits
UPDATE broker.tenant SET require_second_admin=true WHERE name='acme';
UPDATE broker.key SET max_duration=1000 WHERE tenant='acme' AND name='deploy';
--> Row of key "deploy": awaits_approval
--? The row was written
--! 01000

-- idp disabled on which rules rest
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme','deploy','acme-keycloak','user:alice',14400);
INSERT INTO broker.access_approver (rule, idp, subject) VALUES ((SELECT max(id) FROM broker.access_rule), 'acme-keycloak', 'user:bob');
UPDATE broker.identity_provider SET accepts='{actor}' WHERE name='acme-keycloak';
--> Access rule …
--? Identity provider "acme-keycloak" accepts neither subjects nor approve
--! 01000

-- tenant max 30
UPDATE broker.tenant SET max_duration=30 WHERE name='acme';
--> Tenant "acme": duration_too_short
--? max_duration is in seconds: a credential of
--! 01000

-- a key's maximum below that of its grants
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason) VALUES ('acme','acme-keycloak','user:x','deploy',1800,'OPS-1');
UPDATE broker.key SET max_duration = 1000 WHERE tenant='acme' AND name='deploy';
--> Grant of key "deploy" to "user:x": longer_than_its_key
--? Key "deploy" issues credentials for at most
--! 01000

-- the only approver's login leaves the tenant
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin');
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme','deploy','acme-keycloak','user:alice',14400);
INSERT INTO broker.access_approver (rule, role_name) VALUES ((SELECT max(id) FROM broker.access_rule), 'test_tenant_admin');
DELETE FROM broker.tenant_admin WHERE role_name='test_tenant_admin';
--> Access rule …
--? Nobody can approve access to key "deploy": access rule
--! 01000

-- two keys that give the same
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) SELECT tenant, 'deploy2', provider, max_duration, settings, outputs FROM broker.key WHERE tenant='acme' AND name='deploy';
--> Key "deploy2": same_as_another_row
--? The row has the same effect as "deploy". Disable
--! 01000

-- two access providers that are one
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets, shared_identity) SELECT tenant, name || '2', type, settings, allowed_targets, shared_identity FROM broker.access_provider WHERE tenant = 'acme' AND type = 'gcp' LIMIT 1;
--> Access provider "google2": same_as_another_row
--? The row has the same effect as "google". Disable
--! 01000

-- a wide grant beside a narrow one that it makes pointless
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme','acme-keycloak','team:ops/ada','read','{"a": "b"}','OPS-1');
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme','acme-keycloak','team:ops/**','glob','read','OPS-1');
--> Grant of key "read" to "team:ops/ada": covered_by_another_grant
--? already allows all that this grant does, so the narrower conditions of this grant ha
--! 01000

-- a path with a token
UPDATE broker.tenant SET notice_url='https://relay.acme.example/v1/Zk3x9Qp7Lm2Rt8Vw5Yb1Nc4D', notice_secret='{"file":"n"}' WHERE name='acme';
--> Tenant "acme": its notice_url has what looks like a token in its path, and the change history would keep it permanently.
--? Write a URL without a query or a token. The receiver verifies notices by their signature instead: write a new secret to a file
--! 23514

-- a Teams webhook
UPDATE broker.tenant SET notice_url='https://acme.webhook.office.com/webhookb2/11111111-2222-3333-4444-555555555555', notice_secret='{"file":"n"}' WHERE name='acme';
--> Tenant "acme": its notice_url is the URL of an incoming webhook, which is a secret, and the change history would keep it permanently.
--? Write a URL without a query or a token. The receiver verifies notices by their signature instead: write a new secret to a file
--! 23514

-- grant: the agent as the subject and the person as the actor
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, reason) VALUES ('acme', 'acme-agents', 'agent:release-bot', 'read', 'acme-keycloak', '7b0e3f52-6a52-4c1e-8c3b-0a1b2c3d4e5f', 'OPS-52');
--> Grant of key "read" to "agent:release-bot": parties_swapped
--? Swap idp and subject with actor_idp and actor.
--! 01000

-- ssh: the opposite of an extension is no misspelling of it
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'web2', 'servers', 86400, '{"principals": ["deploy"], "extensions": ["no-port-forwarding"]}');
--> Key "web2" of tenant "acme": the setting "extensions" has an element that is "no-port-forwarding"; it must be one of no-touch-required, permit-X11-forwarding, permit-agent-forwarding, permit-port-forwarding, permit-pty, permit-user-rc.
--! 23514

-- rule: more people than approvals
INSERT INTO broker.access_rule (tenant, key, idp, subject, approvals, people, max_access) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:alice', 1, 3, 14400);
INSERT INTO broker.access_approver (rule, idp, subject) VALUES ((SELECT max(id) FROM broker.access_rule), 'acme-keycloak', 'user:bob');
--> Access rule …
--? needs 3 approvals by people, but the rule asks for 1 in all, fewer than its column people
--! 01000

-- block: a repository without the rest of the subject
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'repo:acme/shop', 'INC-1: leak');
--> Block of "repo:acme/shop": block_of_part_of_a_subject
? To block all subjects that begin with it, set match to glob and subject to "repo:acme/shop:**".
--! 01000

-- tenant: a maximum below what AWS gives
UPDATE broker.tenant SET max_duration = 600 WHERE name = 'acme';
--> Tenant "acme": shorter_than_its_types
--? max_duration is 600 seconds, but credentials of type aws-sts
--! 01000

-- key: its tenant allows less than its type gives
SET LOCAL client_min_messages = error;
UPDATE broker.tenant SET max_duration = 600 WHERE name = 'acme';
SELECT rule FROM broker.lint WHERE tenant = 'acme' AND table_name = 'key' AND name = 'deploy' AND rule LIKE '%tenant%';
--> tenant_allows_too_little

-- block: seven seconds
INSERT INTO broker.blocked_subject (tenant, idp, subject, reason, until) VALUES ('acme', 'acme-keycloak', 'user:zoe', 'INC-1: for a week', now() + interval '7');
--> Block of "user:zoe": block_matches_nothing
--? The block matched no subject
--! 01000

-- block: seven seconds, listed
SET LOCAL client_min_messages = error;
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'user:zoe', 'INC-1: for a week', now() + interval '7');
SELECT rule FROM broker.lint WHERE tenant = 'acme' AND table_name = 'blocked_subject' AND rule = 'ends_at_once';
--> ends_at_once

-- console: two addresses in one string
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '"lea@acme.example, lou@acme.example"', 'OPS-1');
--> Access to the console by "email": list_in_a_string
--? is one string, and is compared as a whole
--! 01000

-- console: a list inside a string
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '"[\"gus@globex.example\", \"gil@globex.example\"]"', 'OPS-1');
--> Access to the console by "email": list_in_a_string
--? Write each value as an element of a JSON list.
--! 01000

-- console: the default role of a realm
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', '/realm_access/roles', '"default-roles-acme"', 'OPS-1');
--> Access to the console by "/realm_access/roles": access_for_everybody
--? gives access to all users, who have this role
--! 01000

-- console: the end of a domain without its @
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '{"glob": "*acme.example"}', 'OPS-1');
--> Access to the console by "email": domain_without_at
--? Write an @ between * and the domain.
--! 01000

-- key: the variables of an AWS id and its secret crossed
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'k2', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}', '{"AWS_ACCESS_KEY_ID": "SecretAccessKey", "AWS_SECRET_ACCESS_KEY": "AccessKeyId", "AWS_SESSION_TOKEN": "SessionToken"}');
--> Key "k2": output_of_another_field
--? "AWS_ACCESS_KEY_ID" has the field SecretAccessKey, but tools expect AccessKeyId
--! 01000

-- key: no session token
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'k2', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}', '{"AWS_ACCESS_KEY_ID": "AccessKeyId", "AWS_SECRET_ACCESS_KEY": "SecretAccessKey"}');
--> Key "k2": output_is_missing
--? lack the field SessionToken
--! 01000

-- key: a login without its password
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'k2', 'orders', 3600, '{"role": "app_rw"}', '{"PGHOST": "Host", "PGUSER": "Username"}');
--> Key "k2": output_is_missing
--? lack the field Password
--! 01000

-- provider: the client secret as the name of its file
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'auth2', 'oauth2', '{"token_endpoint": "https://auth.acme.example/oauth2/token", "client_id": "mintmark", "client_secret": {"file": "q7Xh8vT2pLr0Zk4MnB6yWc9dEfGs1UaJ"}}', '{https://stock.acme.example}');
--> Access provider "auth2": file_looks_like_a_secret
--? The file "q7Xh…" in settings
--! 01000

-- provider: any target beside others
UPDATE broker.access_provider SET allowed_targets = allowed_targets || '{**}' WHERE tenant = 'acme' AND name = 'servers';
--> Access provider "servers": any_target_beside_others
--? Remove **.
--! 01000

-- issuer: a slash behind a realm of Keycloak
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i3', 'acme', 'https://sso.globex.example/realms/globex/', '{mintmark-i3}');
--> Identity provider "i3": issuer_sends_no_tokens
--? https://sso.globex.example/realms/globex
--! 01000

-- issuer: Auth0 without its slash
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i3', 'acme', 'https://acme.eu.auth0.com', '{mintmark-i3}');
--> Identity provider "i3": issuer_sends_no_tokens
--? https://acme.eu.auth0.com/
--! 01000

-- issuer: the host of Okta's admin console
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i3', 'acme', 'https://acme-admin.okta.com', '{mintmark-i3}');
--> Identity provider "i3": issuer_sends_no_tokens
--? https://acme.okta.com
--! 01000

-- grant: a network as wide as /3
INSERT INTO broker.subject_grant (tenant, idp, subject, key, networks, reason) VALUES ('acme', 'acme-keycloak', 'user:zoe', 'read', '{192.0.0.0/3}', 'OPS-1');
--> Grant of key "read" to "user:zoe": unlikely_network
--? contains the networks of many others
--! 01000

-- grant: a condition on the end of a token
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'acme-keycloak', 'user:zoe', 'read', '{"exp": 1795860000}', 'OPS-1');
--> Grant of key "read" to "user:zoe": claim_of_one_token
--? matches one token or none
--! 01000

-- grant: a negation
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'acme-keycloak', 'user:zoe', 'read', '{"branch": "!main"}', 'OPS-1');
--> Grant of key "read" to "user:zoe": no_negation
--? Write the values that are allowed.
--! 01000

-- grant: an end in 2206
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, reason) VALUES ('acme', 'acme-keycloak', 'user:zoe', 'read', '2206-12-04 18:00Z', 'OPS-1');
--> Grant of key "read" to "user:zoe": ends_far_away
--? The row ends in the year 2206
--! 01000

-- claims: the id of the owner as the id of a repository
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": "1234567", "event_name": "push"}');
--> Grant of key "read" to "repo:**": id_of_the_owner
--? has the value "1234567", which is the "repository_owner_id" of the owner
--! 01000

-- claims: GitHub's base_ref has no refs/heads/
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": "7654321", "base_ref": "refs/heads/main", "event_name": "pull_request"}');
--> Grant of key "read" to "repo:**": unlike_its_issuer
--? base_ref is only the name of the branch
--! 01000

-- claims: a push has no base_ref
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": "7654321", "base_ref": "main", "event_name": "push"}');
--> Grant of key "read" to "repo:**": unlike_its_issuer
--? Only runs for pull requests have a base_ref
--! 01000

-- claims: an event that no issuer has
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": "7654321", "event_name": "pushed"}');
--> Grant of key "read" to "repo:**": claim_fits_no_form
--? or another of its values, so the condition "pushed" never matches
--! 01000

-- claims: the workflow's file is in another repository
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository": "acme/shop", "workflow_ref": "acme/docs/.github/workflows/build.yml@refs/heads/main", "event_name": "push"}');
--> Grant of key "read" to "repo:**": contradicts_another_claim
--? The condition on "workflow_ref" requires "repository" = acme/docs
--! 01000

-- claims: the workflow's file is in another repository than the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, claims) VALUES ('acme', 'acme-github', 'repo:acme/shop:environment:eu', 'read', 'OPS-1: test', '{"workflow_ref": "acme/docs/.github/workflows/build.yml@refs/heads/main"}');
--> Grant of key "read" to "repo:acme/shop:environment:eu": contradicts_another_claim
--? requires "repository" = acme/docs
--! 01000

-- claims: CircleCI's origin with a scheme
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('acme-circleci', 'acme', 'https://oidc.circleci.com/org/b2c3d4e5-0001-4a5b-8c6d-000000000001', '{mintmark-acme}');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-circleci', 'org/**', 'read', 'OPS-1: test', 'glob', '{"oidc.circleci.com/project-id": "b2c3d4e5-0002-4a5b-8c6d-000000000002", "oidc.circleci.com/vcs-origin": "https://github.com/acme/shop"}');
--> Grant of key "read" to "org/**": unlike_its_issuer
--? such as github.com/acme/shop, without a scheme
--! 01000

-- claims: a name where Buildkite sends a UUID
UPDATE broker.identity_provider SET required_claims = '{"organization_id": "acme"}' WHERE name = 'acme-buildkite';
--> Identity provider "acme-buildkite": claim_fits_no_form
--? sends "organization_id" as a UUID
--! 01000

-- subject of another organization than the issuer's
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('acme-circleci', 'acme', 'https://oidc.circleci.com/org/b2c3d4e5-0001-4a5b-8c6d-000000000001', '{mintmark-acme}');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-circleci', 'org/b2c3d4e5-0001-4a5b-8c6d-000000000009/project/b2c3d4e5-0002-4a5b-8c6d-000000000002/**', 'read', 'OPS-1: test', 'glob', '{"oidc.circleci.com/ssh-rerun": false}');
--> Grant of key "read" to "org/b2c3d4e5-0001-4a5b-8c6d-000000000009/project/b2c3d4e5-0002-4a5b-8c6d-000000000002/**": subject_of_another_owner
--? Every token of the identity provider has "oidc.circleci.com/org-id" =
--! 01000

-- Kubernetes: a claim by JSON pointer contradicts the subject, whatever the issuer is called
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('rke', 'acme', 'https://rke.acme.example', '{mintmark-rke}');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, claims) VALUES ('acme', 'rke', 'system:serviceaccount:shop:orders', 'read', 'OPS-1: test', '{"/kubernetes.io/serviceaccount/name": "deployer"}');
--> Grant of key "read" to "system:serviceaccount:shop:orders": contradicts_its_subject
--? In the subject, "/kubernetes.io/serviceaccount/name" is orders
--! 01000

-- grant: a glob that ends within the name of the repository
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-gitlab', 'project_path:acme/shop**', 'read', 'OPS-1: test', 'glob', '{"ref_protected": "true"}');
--> Grant of key "read" to "project_path:acme/shop**": glob_matches_more_than_it_seems
--? such as "project_path:acme/shop-2"
--! 01000

-- block: a glob that ends within the name of the repository
INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason) VALUES ('acme', 'acme-github', 'repo:acme/tools**', 'glob', 'INC-1: leak');
--> Block of "repo:acme/tools**": glob_matches_more_than_it_seems
--? such as "repo:acme/tools-2"
--! 01000

-- block of everybody, by a claim that each token has
INSERT INTO broker.blocked_subject (tenant, idp, subject, match, claims, reason) VALUES ('acme', 'acme-github', '**', 'glob', '{"repository_owner_id": "1234567"}', 'INC-1: leak');
--> Block of "**": block_of_everybody
--? Every token of identity provider "acme-github" matches the block
--! 01000

-- block of a whole cluster
INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason) VALUES ('acme', 'acme-cluster', 'system:serviceaccount:**', 'glob', 'INC-1: leak');
--> Block of "system:serviceaccount:**": block_of_everybody
--? Every token of identity provider "acme-cluster" matches the block
--! 01000

-- block of branches, where environments and pull requests have other subjects
INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason) VALUES ('acme', 'acme-github', 'repo:acme/tools:ref:refs/heads/**', 'glob', 'INC-1: leak'), ('acme', 'acme-github', 'repo:acme@*/tools@*:ref:refs/heads/**', 'glob', 'INC-1: leak');
--> Block of "repo:acme/tools:ref:refs/heads/**": block_leaves_other_forms
--? write "repo:acme/tools:**" with match glob
--! 01000

-- grant: until a year with exchanged digits
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, valid_until) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', 'INC-1: helps', make_timestamptz(2000 + (extract(year FROM now())::int % 10) * 10 + extract(year FROM now())::int / 10 % 10, 12, 4, 18, 0, 0));
--> Grant of key "read" to "3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e": ends_far_away
--? Check the year
--! 01000

-- grant: private networks and jobs on the vendor's machines
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims, networks) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": "7654321", "event_name": "push", "runner_environment": "github-hosted"}', '{10.0.0.0/8}');
--> Grant of key "read" to "repo:**": unlikely_network
--? The network 10.0.0.0/8 is private, but jobs with runner_environment "github-hosted" come from public addresses
--! 01000

-- grant: the same conditions as another one, as lists of one
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": "5", "event_name": "push"}'), ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": ["5"], "event_name": ["push"]}');
--> Grant of key "read" to "repo:**": same_as_another_row
--? The row has the same effect as "grant
--! 01000

-- grant: fewer values than another one
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": "5", "event_name": ["push", "schedule"]}'), ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": "5", "event_name": "push"}');
--> Grant of key "read" to "repo:**": covered_by_another_grant
--? already allows all that this grant does
--! 01000

-- grant: an environment that is almost that of another grant
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": "5", "environment": "production"}');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-github', 'repo:**', 'read', 'OPS-1: test', 'glob', '{"repository_id": "6", "environment": "prodcution"}');
--> Grant of key "read" to "repo:**": nearly_another_value
--? The value of "environment" "prodcution" is almost the same as "production" in other rows
--! 01000

-- rule: an environment in other case
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, match, claims) VALUES ('acme', 'acme-gitlab', 'project_path:**', 'read', 'OPS-1: test', 'glob', '{"project_id": "5", "environment": "production"}');
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match, claims) VALUES ('acme', 'read', 'acme-gitlab', 'project_path:**', 3600, 'glob', '{"project_id": "5", "environment": "Production"}');
--> Access rule …
--? The value of "environment" "Production" is almost the same as "production" in other rows
--! 01000

-- grant: an UPDATE to an owner who is almost another one
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, owner) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', 'OPS-1: test', 'team-payments'), ('acme', 'acme-keycloak', '4f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', 'OPS-1: test', 'team-payments');
UPDATE broker.subject_grant SET owner = 'team-paymnets' WHERE subject = '4f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e';
--> Grant of key "read" to "4f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e": nearly_another_value
--? The owner "team-paymnets" is almost the same as "team-payments"
--! 01000

-- key: an owner who is almost that of another key
UPDATE broker.key SET owner = 'team-payments' WHERE name = 'deploy';
UPDATE broker.key SET owner = 'team_payments' WHERE name = 'read';
--> Key "read": nearly_another_value
--? is almost the same as "team-payments"
--! 01000

-- grant: namespace and name of a service account exchanged
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-cluster', 'system:serviceaccount:batch:runner', 'read', 'OPS-1: test');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-cluster', 'system:serviceaccount:runner:batch', 'deploy', 'OPS-1: test');
--> Grant of key "deploy" to "system:serviceaccount:runner:batch": parts_in_another_order
--? has the same parts as "system:serviceaccount:batch:runner" in other rows
--! 01000

-- grant: the application instead of the identity
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) SELECT 'acme', p.name, p.audiences[1], 'read', 'OPS-1: test' FROM broker.identity_provider AS p WHERE p.name = 'acme-entra';
--> Grant of key "read" to "api://mintmark-acme": subject_is_an_audience
--? is an audience of identity provider "acme-entra"
--! 01000

-- approver: the name of a person, where all others are UUIDs
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('sso2', 'acme', 'https://sso.acme.example/realms/two', '{mintmark-two}');
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'deploy', 'sso2', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400), ('acme', 'read', 'sso2', '9b0e3f52-6a52-4c1e-8c3b-0a1b2c3d4e5f', 14400);
INSERT INTO broker.access_approver (rule, idp, subject) VALUES ((SELECT max(id) FROM broker.access_rule), 'sso2', 'mina');
--> Approver …
--? are UUIDs, but "mina" looks like a name
--! 01000

-- grant for somebody who is blocked
SET LOCAL client_min_messages = warning;
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'system:serviceaccount:shop:deployer', 'HR-1: left');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-cluster', 'system:serviceaccount:shop:deployer', 'orders-login', 'OPS-1: test');
--> Grant of key "orders-login" to "system:serviceaccount:shop:deployer": subject_is_blocked
--? stops this subject, so the row has no effect
--! 01000

-- grant for good, beside a rule for the same person and key
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400);
INSERT INTO broker.access_approver (rule, idp, subject) VALUES ((SELECT max(id) FROM broker.access_rule), 'acme-keycloak', '9b0e3f52-6a52-4c1e-8c3b-0a1b2c3d4e5f');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'deploy', 'INC-1: now');
--> Grant of key "deploy" to "3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e": access_without_request
--? lets the same subject request this key, but grant
--! 01000

-- rule for somebody who has a grant for good
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'deploy', 'INC-1: now');
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400);
--> Access rule …
--? allows it at any time without a request
--! 01000

-- grant to a pair, beside a rule by which the person consents
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 3600, true);
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, reason) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'deploy', 'acme-agents', 'agent:release-bot', 'INC-1: now');
--> Grant of key "deploy" to "3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e": access_without_consent
--? allows the key to actor "agent:release-bot" without it
--! 01000

-- rule by which a person consents, who lets an agent act without asking
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, reason) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'deploy', 'acme-agents', 'agent:release-bot', 'INC-1: now');
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 3600, true);
--> Access rule …
--? an actor needs the consent of its subject for this key
--! 01000

-- rule by which everybody consents, beside a grant to one pair
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('sso2', 'acme', 'https://sso.acme.example/realms/two', '{mintmark-two}');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, reason) VALUES ('acme', 'sso2', 'user:zoe', 'deploy', 'acme-agents', 'agent:release-bot', 'INC-1: now');
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, consent) VALUES ('acme', 'deploy', 'sso2', 'user:**', 'glob', 3600, true);
--> Access rule …
--? allows the key to actor "agent:release-bot" without it
--! 01000

-- rule by which a person consents alone, beside one by which others approve
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 3600);
INSERT INTO broker.access_approver (rule, idp, subject) VALUES ((SELECT max(id) FROM broker.access_rule), 'acme-keycloak', '9b0e3f52-6a52-4c1e-8c3b-0a1b2c3d4e5f');
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 3600, true);
--> Access rule …
--? lets an actor get the same access with the consent of the subject alone
--! 01000

-- rule by which others approve, beside one by which everybody consents alone
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('sso2', 'acme', 'https://sso.acme.example/realms/two', '{mintmark-two}');
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access, consent) VALUES ('acme', 'deploy', 'sso2', 'user:**', 'glob', 3600, true);
INSERT INTO broker.access_rule (tenant, key, idp, subject, approvals, max_access) VALUES ('acme', 'deploy', 'sso2', 'user:zoe', 2, 3600);
--> Access rule …
--? without the approvers of this rule
--! 01000

-- rule: a regular expression as reason_pattern
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:zoe', 14400, 'INC-[0-9]+.*');
--> Access rule …
--? The glob matches only reasons with "[0-9]"
--! 01000

-- key: a session policy of another account
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'aws', 900, '{"role_arn": "arn:aws:iam::123456789012:role/ci-read", "policy_arns": ["arn:aws:iam::210987654321:policy/ReadLogs"]}');
--> Key "k2" of tenant "acme" has a policy in policy_arns that belongs to a different account than its role.
--? Write policies of the account of role_arn
--! 23514

-- key: the variables of AWS crossed, at another type
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'k2', 'minio', 3600, '{}', '{"AWS_ACCESS_KEY_ID": "SecretAccessKey", "AWS_SECRET_ACCESS_KEY": "AccessKeyId", "AWS_SESSION_TOKEN": "SessionToken"}');
--> Key "k2": output_of_another_field
--? The output "AWS_ACCESS_KEY_ID" has the field SecretAccessKey
--! 01000

-- key: names of one's own crossed
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'k2', 'orders', 3600, '{"role": "app_rw"}', '{"DB_USER": "Password", "DB_PASSWORD": "Username"}');
--> Key "k2": output_of_another_field
--? Give the output the field Username, or choose another name for it.
--! 01000

-- key: a token for the broker itself
UPDATE broker.access_provider SET allowed_targets = '{shop/*,mintmark-acme}' WHERE name = 'kubernetes';
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'kubernetes', 3600, '{"service_account": "shop/orders", "audiences": ["mintmark-acme"]}');
--> Key "k2": audience_of_an_identity_provider
--? so a client could present a credential of this key to mint further credentials
--! 01000

-- key: a scope with the path of an API
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://graph.microsoft.com/v1.0/.default"}');
--> Key "k2" of tenant "acme" has a scope with a path, but no resource in Entra has such a name.
--? Write only the host before /.default
--! 23514

-- provider: the application's id as the directory's
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'a2', 'azure', '{"tenant_id": "22222222-3333-4444-5555-666666666666"}', '{22222222-3333-4444-5555-666666666666}');
--> Access provider "a2" of tenant "acme" has its tenant_id in allowed_targets, which must list ids of applications.
--? Write the directory's id as tenant_id
--! 23514

-- provider: the subject of a service account as target
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'kube2', 'kubernetes', '{"server": "https://kube2.acme.example:6443"}', '{shop:deployer}');
--> Access provider "kube2": unlikely_settings
--? Write NAMESPACE/NAME
--! 01000

-- provider: clients in the broker's database
UPDATE broker.access_provider SET settings = settings || '{"database": "orders"}' WHERE name = 'orders';
--> Access provider "orders": unlikely_settings
--? has the broker's database as client_database
--! 01000

-- provider: all accounts with a shared identity
UPDATE broker.access_provider SET allowed_targets = '{arn:aws:iam::*:role/*}' WHERE name = 'aws-ambient';
--> Access provider "aws-ambient": any_account
--? allows the roles of every account
--! 01000

-- provider: the role of another tenant
INSERT INTO broker.tenant (name) VALUES ('copy');
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('copy', 'aws', 'aws-sts', '{"region": "us-east-1"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "aws": target_of_another_tenant
--? Access provider "aws" of tenant "acme" has "arn:aws:iam::123456789012:role/ci-*" too
--! 01000

-- provider: the service of another tenant
INSERT INTO broker.tenant (name) VALUES ('copy');
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) SELECT 'copy', 'registry', p.type, p.settings, p.allowed_targets FROM broker.access_provider AS p WHERE p.name = 'registry';
--> Access provider "registry": target_of_another_tenant
--? If the row was copied, write what belongs to this tenant
--! 01000

-- issuer: GitLab of one's own, with a slash
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri) VALUES ('i2', 'acme', 'https://gitlab.acme.example/', '{mintmark-i2}', 'https://gitlab.acme.example/oauth/discovery/keys');
--> Identity provider "i2": issuer_sends_no_tokens
--? Set it to the iss claim of that service's tokens: https://gitlab.acme.example
--! 01000

-- issuer: GitHub Enterprise Server with a slash
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://github.acme.example/_services/token/', '{mintmark-i2}');
--> Identity provider "i2": issuer_sends_no_tokens
--? tokens: https://github.acme.example/_services/token
--! 01000

-- issuer: tokens of pods once
UPDATE broker.identity_provider SET one_time_tokens = true, max_token_age = 3600 WHERE name = 'acme-cluster';
--> Identity provider "acme-cluster": one_time_tokens_are_sent_again
--? the pod can mint only once in that time
--! 01000

-- issuer: a CA of one's own for a server in the cloud
UPDATE broker.identity_provider SET ca_certificate = (SELECT settings ->> 'ca_certificate' FROM broker.access_provider WHERE name = 'tls') WHERE name = 'acme-gitlab';
--> Identity provider "acme-gitlab": certificate_of_a_public_issuer
--? the server of GitLab has a certificate of a public authority
--! 01000

-- console: a claim that is almost that of another row
INSERT INTO broker.console_access (all_tenants, claim, value, reason) VALUES (true, 'groups', '"auditors"', 'AUD-7');
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'group', '"acme-viewers"', 'OPS-1');
--> Access to the console by "group": nearly_another_value
--? The claim "group" is almost the same as "groups"
--! 01000

-- block: lifted in all tenants at once
SET LOCAL client_min_messages = warning;
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'system:serviceaccount:shop:deployer', 'INC-1: leak'), (NULL, 'system:serviceaccount:shop:deployer', 'INC-1: leak');
UPDATE broker.blocked_subject SET enabled = false WHERE reason = 'INC-1: leak';
--> This UPDATE affected 2 rows of broker.blocked_subject: rows of one tenant and rows for all tenants.
--? If this was a mistake, run ROLLBACK
--! 01000

-- admin: the second one removed
SET LOCAL client_min_messages = error;
INSERT INTO broker.tenant (name, require_second_admin) VALUES ('two', true);
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('two', 'test_admin'), ('two', 'test_owner');
SET LOCAL client_min_messages = notice;
DELETE FROM broker.tenant_admin WHERE tenant = 'two' AND role_name = 'test_owner';
--> Tenant "two": no_second_admin
--? its only admin is "test_admin"
--! 01000

-- decision on an unknown request
INSERT INTO broker.access_decision (request, verdict, note) VALUES ('6f1cd1a8-0000-4000-8000-000000000000', 'approve', 'INC-1');
--> There is no access request 6f1cd1a8-0000-4000-8000-000000000000 that you may see.
--? lists what can be decided
--! 23503

-- grant: an actor who is almost that of another grant
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, actor_idp, actor) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', 'OPS-1: test', 'acme-agents', 'agent:release-bot');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, actor_idp, actor) VALUES ('acme', 'acme-keycloak', '4f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', 'OPS-1: test', 'acme-agents', 'agent:relaese-bot');
--> Grant of key "read" to "4f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e": nearly_another_value
--? The actor "agent:relaese-bot" is almost the same as "agent:release-bot"
--! 01000

-- block: a repository of nobody, though grants of others match the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme-labs@1234567/**', 'glob', 'read', '{"repository_id": "7700"}', 'OPS-1: test');
INSERT INTO broker.blocked_subject (tenant, idp, subject, match, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme-labs@1234567/**', 'glob', '{"repository_id": "999"}', 'INC-1: leak');
--> Block of "repo:acme-labs@1234567/**": block_matches_nothing
--? The block matched no subject
--! 01000

-- rules: the laxer one names further groups
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match, claims, approvals) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:**', 14400, 'glob', '{"groups": ["a", "b"]}', 1);
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match, claims, approvals) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:**', 14400, 'glob', '{"groups": "a"}', 2);
--> Access rule …
--? with fewer approvals (1)
--! 01000

-- rules: one approval in each of three steps is more than two in one step
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:**', 14400, 'glob');
INSERT INTO broker.access_approver (rule, idp, subject, step) SELECT (SELECT max(id) FROM broker.access_rule), 'acme-keycloak', 'lead:' || step, step FROM generate_series(1, 3) AS step;
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, match, approvals) VALUES ('acme', 'deploy', 'acme-keycloak', 'user:**', 14400, 'glob', 2);
--> Access rule …
--? with fewer approvals (2)
--! 01000

-- everybody who may request may approve
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, claims, max_access) VALUES ('acme', 'orders-login', 'acme-keycloak', 'user:**', 'glob', '{"groups": "developers"}', 14400); INSERT INTO broker.access_approver (rule, idp, subject, match) SELECT max(id), 'acme-keycloak', 'user:**', 'glob' FROM broker.access_rule;
--> Approver …
--? may also approve the requests of others
--! 01000

-- a job approves as a person
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, claims, max_access) VALUES ('acme', 'orders-login', 'acme-keycloak', 'user:**', 'glob', '{"groups": "developers"}', 14400); INSERT INTO broker.access_approver (rule, idp, subject) SELECT max(id), 'acme-github', 'repo:acme@1234567/shop@7654321:environment:production' FROM broker.access_rule;
--> Approver …
--? Tokens of GitHub Actions identify jobs or workloads
--! 01000

-- one request a minute
UPDATE broker.tenant SET max_requests = 1 WHERE name = 'acme';
--> Tenant "acme": few_requests
--! 01000

-- a grant through an identity provider that is disabled
UPDATE broker.identity_provider SET enabled = false WHERE name = 'acme-ci'; INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-ci', 'job:nightly', 'read', 'OPS-9: nightly');
--> Grant of key "read" to "job:nightly": disabled_reference
--! 01000

-- a key of an access provider that is disabled
UPDATE broker.access_provider SET enabled = false WHERE tenant = 'acme' AND name = 'own-tokens'; INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'own-tokens', 300, '{"audience": "https://k2.acme.example"}');
--> Key "k2": disabled_reference
--! 01000

-- the audience of another key, its host in capitals
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'own-tokens', 300, '{"audience": "https://k2.acme.example"}'); INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k3', 'own-tokens', 300, '{"audience": "https://K2.acme.example"}');
--> Key "k3": nearly_the_same_row
--! 01000

-- an access provider again, with the default port
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://p2.acme.example/token", "target_parameters": ["a", "b"]}', '{a:*,b:*}'); INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p3', 'oauth2', '{"token_endpoint": "https://p2.acme.example:443/token", "target_parameters": ["b", "a"]}', '{b:*,a:*}');
--> Access provider "p3": nearly_the_same_row
--! 01000

-- an e-mail address as a subject of Keycloak
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-keycloak', 'grace@acme.example', 'read', 'OPS-9: Grace reads');
--> Grant of key "read" to "grace@acme.example": unlike_its_issuer
--! 01000

-- a SPIFFE id at the issuer of a cluster
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-cluster', 'spiffe://acme.example/ns/shop/sa/deployer', 'read', 'OPS-9: the deployer reads');
--> Grant of key "read" to "spiffe://acme.example/ns/shop/sa/deployer": subject_fits_no_form
--! 01000

-- tenant: an hour in milliseconds
UPDATE broker.tenant SET max_duration = 3600000 WHERE name = 'acme';
--> Tenant "acme": longer_than_any_type
--? 3600000 seconds are 41.7 days, longer than credentials
--! 01000

-- tenant: ten minutes in milliseconds, longer than its only type
INSERT INTO broker.tenant (name) VALUES ('shop'); INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('shop', 'aws', 'aws-sts', '{"region": "eu-central-1"}'); UPDATE broker.tenant SET max_duration = 600000 WHERE name = 'shop';
--> Tenant "shop": longer_than_any_type
--? (43200 seconds at most)
--! 01000

-- tenant: notices to the developer's own machine
UPDATE broker.tenant SET notice_url = 'http://127.0.0.1:9000/hook', notice_secret = '{"file": "n"}' WHERE name = 'acme';
--> Tenant "acme": notices_to_the_broker
--? notice_url has the host "127.0.0.1"
--! 01000

-- tenant: fewer keys than it has
UPDATE broker.tenant SET max_keys = 5 WHERE name = 'acme';
--> Tenant "acme": below_what_it_has
--? keys and max_keys is 5
--! 01000

-- tenant: two letters exchanged in a name that never changes
INSERT INTO broker.tenant (name) VALUES ('amce');
--> Tenant "amce": nearly_another_name
--? almost the same as "acme"
--! 01000

-- key: a capital I for an l
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'depIoy', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> Key "depIoy": nearly_another_name
--? almost the same as "deploy"
--! 01000

-- key: a plural
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'deploys', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> Key "deploys": nearly_another_name
--? almost the same as "deploy"
--! 01000

-- key: renamed so that it looks like another
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}'); UPDATE broker.key SET name = 'Deploy' WHERE tenant = 'acme' AND name = 'k2';
--> Key "Deploy": nearly_another_name
--? almost the same as "deploy"
--! 01000

-- access provider: _ for - in the name of another
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'own_tokens', 'aws-sts', '{"region": "eu-west-1"}', '{arn:aws:iam::123456789012:role/x-*}');
--> Access provider "own_tokens": nearly_another_name
--? almost the same as "own-tokens"
--! 01000

-- identity provider: a letter of the name of another
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('acme-keycloack', 'acme', 'https://sso2.acme.example/realms/x', '{mintmark-x}');
--> Identity provider "acme-keycloack": nearly_another_name
--? almost the same as "acme-keycloak"
--! 01000

-- aws-sts: an account of ten digits
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws:iam::1234567890:role/ci-*}');
--> Access provider "p2": unlikely_settings
--? not a number of twelve digits
--! 01000

-- aws-sts: an account by its alias
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws:iam::acme-prod:role/ci-*}');
--> Access provider "p2": unlikely_settings
--? not a number of twelve digits
--! 01000

-- aws-sts: a partition that does not exist
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "us-gov-west-1"}', '{arn:aws-gov:iam::123456789012:role/ci-*}');
--> Access provider "p2": unlikely_settings
--? a partition that AWS does not have
--! 01000

-- aws-sts: no role after the slash
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws:iam::123456789012:role/}');
--> Access provider "p2": unlikely_settings
--? ends before the name of a role
--! 01000

-- aws-sts: two roles in one target
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1"}', '{"arn:aws:iam::123456789012:role/ci-a,arn:aws:iam::123456789012:role/ci-b"}');
--> Access provider "p2": list_in_one_value
--? is one value with a comma
--! 01000

-- gcp: an address without .iam
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}', '{ci@acme-prod.gserviceaccount.com}');
--> Access provider "p2": unlikely_settings
--? an address that no service account has
--! 01000

-- gcp: the prefix of an IAM policy
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}', '{serviceAccount:ci@acme-prod.iam.gserviceaccount.com}');
--> Access provider "p2": target_fits_no_form
--? Write targets of the form *@*
--! 01000

-- azure: the name of an application
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "5d2c9f10-44ab-4b1e-9c3d-77aa01f0b6e2"}', '{shop-deploy}');
--> Access provider "p2": unlikely_settings
--? not the id of an application
--! 01000

-- github-app: a repository with its owner
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEG", "private_key": {"file": "app2.pem"}, "installation_id": "22345678"}', '{repository:acme/shop,repository:docs,permission:contents:*}');
--> Access provider "p2": target_fits_no_form
--? can match "repository:acme/shop"
--! 01000

-- github-app: a permission without its prefix
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEG", "private_key": {"file": "app2.pem"}, "installation_id": "22345678"}', '{repository:shop,permission:contents:*,issues:write}');
--> Access provider "p2": target_fits_no_form
--? can match "issues:write"
--! 01000

-- github-app: no permission
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEG", "private_key": {"file": "app2.pem"}, "installation_id": "22345678"}', '{repository:shop}');
--> Access provider "p2": allows_no_key
--? Each key of type github-app has a target of the form permission:NAME:LEVEL
--! 01000

-- github-app: a level that does not exist
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEG", "private_key": {"file": "app2.pem"}, "installation_id": "22345678"}', '{repository:shop,permission:contents:wirte}');
--> Access provider "p2": unlikely_settings
--? a level that GitHub does not have
--! 01000

-- github-app: a permission that does not exist
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEG", "private_key": {"file": "app2.pem"}, "installation_id": "22345678"}', '{repository:shop,permission:content:write}');
--> Access provider "p2": unlikely_name
--? The setting "allowed_targets" has the name "content"
--! 01000

-- kubernetes: a namespace in capitals
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{Shop/*}');
--> Access provider "p2": unlikely_settings
--? not NAMESPACE/NAME in lower case
--! 01000

-- kubernetes: the path of the API
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{namespaces/shop/serviceaccounts/deployer}');
--> Access provider "p2": unlikely_settings
--? not NAMESPACE/NAME in lower case
--! 01000

-- ssh: two users in one target
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "ssh-ca2"}}', '{"deploy,backup"}');
--> Access provider "p2": list_in_one_value
--? is one value with a comma
--! 01000

-- postgresql: clients get the broker's database
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "stock", "login": "mintmark", "password": {"file": "p"}}', '{stock_rw}');
--> Access provider "p2": unlikely_settings
--? has no client_database, so clients get
--! 01000

-- postgresql: a role that takes over the server
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "p"}}', '{stock_rw,rds_superuser}');
--> Access provider "p2": unlikely_settings
--? has a target that no key may name
--! 01000

-- jwt: a target without TLS
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'jwt', '{}', '{http://stock.acme.example}');
--> Access provider "p2": unlikely_settings
--? has an http URL as target
--! 01000

-- gcp: a scope of Storage for reading
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/devstorage.readonly"]}');
--> Key "k2": setting_nearly_known
--? the known "https://www.googleapis.com/auth/devstorage.read_only"
--! 01000

-- gcp: a scope for reading with a hyphen
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/contacts.read-only"]}');
--> Key "k2": unlikely_settings
--? not spelled as Google does
--! 01000

-- gcp: a letter of a scope
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/clod-platform"]}');
--> Key "k2": setting_nearly_known
--? the known "https://www.googleapis.com/auth/cloud-platform"
--! 01000

-- azure: Key Vault in the domain of others
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://vault.azure.com/.default"}');
--> Key "k2": unlikely_settings
--? the name of a service of Azure, but not its resource
--! 01000

-- azure: a letter of a scope
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://managment.azure.com/.default"}');
--> Key "k2": setting_nearly_known
--? the known "https://management.azure.com/.default"
--! 01000

-- azure: a scope without its scheme
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "management.azure.com/.default"}');
--> Key "k2": unlikely_settings
--? has a scope without https://
--! 01000

-- azure: the directory as a resource
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "api://72f988bf-86f1-41af-91ab-2d7cd011db47/.default"}');
--> Key "k2": unlikely_settings
--? the directory's id as the resource
--! 01000

-- postgresql: 60 minutes as 60
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'orders', 60, '{"role": "app_rw"}');
--> Key "k2": unlikely_settings
--? max_duration is in seconds: an hour is 3600
--! 01000

-- block by name in the form that leaves the branches: the statement has **
INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES ('acme', 'repo:acme/docs:*', 'glob', 'INC-1: leak'); SELECT 1 / count(*) FROM broker.lint WHERE rule = 'github_subject_by_name' AND advice LIKE '%repo:acme@*/docs@*:**%';
--> Block of "repo:acme/docs:*": glob_matches_less_than_it_seems
--? repo:*/*:pull_request
--! 01000

-- x509: a name without its kind
UPDATE broker.access_provider SET allowed_targets = allowed_targets || '{api.acme.example}' WHERE tenant = 'acme' AND name = 'tls';
--> Access provider "tls": target_fits_no_form
--? can match "api.acme.example"
--! 01000

-- x509: no subject, which each key has
DELETE FROM broker.key WHERE tenant = 'acme' AND provider = 'tls'; UPDATE broker.access_provider SET allowed_targets = '{dns:*.acme.example}' WHERE tenant = 'acme' AND name = 'tls';
--> Access provider "tls": allows_no_key
--? has a target of the form subject:/CN=NAME
--! 01000

-- tenant: 90 days in hours
UPDATE broker.tenant SET review_days = 2160 WHERE name = 'acme';
--> Tenant "acme": reviews_too_rare
--? 2160 days are 5.9 years
--! 01000

-- aws-sts: a letter of a region twice
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-centrall-1"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2": unlikely_settings
--? has a region that AWS does not have
--! 01000

-- github-app: a client id in lower case
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "iv23liABCDEG", "private_key": {"file": "app2.pem"}, "installation_id": "22345678"}', '{repository:shop2,permission:contents:*}');
--> Access provider "p2": unlikely_settings
--? has a client_id that is almost one
--! 01000

-- oauth2: a token endpoint without TLS
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "http://auth2.acme.example/oauth2/token"}', '{https://stock.acme.example}');
--> Access provider "p2": unlikely_settings
--? has the token_endpoint of a server without TLS
--! 01000

-- webhook: an endpoint without TLS
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "http://c2.acme.example/mintmark", "fields": ["A_TOKEN"]}', '{stock/*}');
--> Access provider "p2": unlikely_settings
--? has the endpoint of a server without TLS
--! 01000

-- gcp: a role as a scope
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/roles/storage.admin"]}');
--> Key "k2": unlikely_settings
--? has a scope that isn't a Google scope

-- GitHub: the subject of a branch, with an environment
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main', 'exact', 'read', '{"environment": "production"}', 'OPS-9: it reads');
--> Grant of key "read" to "repo:acme@1234567/shop@7654321:ref:refs/heads/main": subject_without_this_claim
--? In jobs with an environment, the subject is repo:OWNER/REPOSITORY:environment:NAME
--! 01000

-- GitHub: a glob over branches, with an environment
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/**', 'glob', 'read', '{"environment": "production"}', 'OPS-9: it reads');
--> Grant of key "read" to "repo:acme@1234567/shop@7654321:ref:refs/heads/**": subject_without_this_claim
--! 01000

-- GitHub: pull requests with an environment, in a block
INSERT INTO broker.blocked_subject (tenant, idp, subject, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:pull_request', '{"environment": "staging"}', 'INC-1: leak');
--> Block of "repo:acme@1234567/shop@7654321:pull_request": subject_without_this_claim
--! 01000

-- GitHub: the subject of a branch, and the event of pull requests
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main', 'exact', 'read', '{"event_name": "pull_request"}', 'OPS-9: it reads');
--> Grant of key "read" to "repo:acme@1234567/shop@7654321:ref:refs/heads/main": unlike_its_issuer
--? The subject does not have the form that GitHub Actions uses. In runs for pull_request
--! 01000

-- GitHub: the subject of pull requests, and a branch
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:pull_request', 'exact', 'read', '{"ref": "refs/heads/main"}', 'OPS-9: it reads');
--> Grant of key "read" to "repo:acme@1234567/shop@7654321:pull_request": unlike_its_issuer
--? The claim "ref" does not have the form
--! 01000

-- GitHub: the subject of a tag, and the type branch
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/tags/v1', 'exact', 'read', '{"ref_type": "branch"}', 'OPS-9: it reads');
--> Grant of key "read" to "repo:acme@1234567/shop@7654321:ref:refs/tags/v1": unlike_its_issuer
--! 01000

-- GitHub: a schedule on a tag
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "7654321", "event_name": "schedule", "ref_type": "tag"}', 'OPS-9: it reads');
--> Grant of key "read" to "repo:**": unlike_its_issuer
--? ref_type is branch
--! 01000

-- GitLab: merge requests with a tag
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:**', 'glob', 'read', '{"project_id": "99", "pipeline_source": "merge_request_event", "ref_type": "tag"}', 'OPS-9: it reads');
--> Grant of key "read" to "project_path:**": unlike_its_issuer
--! 01000

-- GitLab: a person, and the claims of a job
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', '4711', 'exact', 'read', '{"project_id": "99"}', 'OPS-9: it reads');
--> Grant of key "read" to "4711": subject_without_this_claim
--? A number is the subject of a person
--! 01000

-- GitLab: a job, and the claim of a person
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:acme/shop:ref_type:branch:ref:main', 'exact', 'read', '{"email": "ann@acme.example"}', 'OPS-9: it reads');
--> Grant of key "read" to "project_path:acme/shop:ref_type:branch:ref:main": subject_without_this_claim
--! 01000

-- Terraform: a workspace, and the claim of a stack
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('tf', 'acme', 'https://app.eu.terraform.io', '{mintmark-tf}', '{"terraform_organization_id": "org-1"}'); INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'tf', 'organization:acme:project:web:workspace:shop:run_phase:apply', 'exact', 'read', '{"terraform_stack_id": "st-1"}', 'OPS-9: it reads');
--> Grant of key "read" to "organization:acme:project:web:workspace:shop:run_phase:apply": subject_without_this_claim
--! 01000

-- CircleCI: a branch in the subject, another as a claim
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('cci', 'acme', 'https://oidc.circleci.com/org/b2c3d4e5-0001-4a5b-8c6d-000000000001', '{mintmark-cci}'); INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'cci', 'org/b2c3d4e5-0001-4a5b-8c6d-000000000001/project/b2c3d4e5-0002-4a5b-8c6d-000000000002/user/*/vcs-origin/github.com/acme/shop/vcs-ref/refs/heads/main', 'glob', 'read', '{"oidc.circleci.com/vcs-ref": "refs/heads/release"}', 'OPS-9: it reads');
--> Grant of key "read" to "org/b2c3d4e5-0001-4a5b-8c6d-000000000001/project/b2c3d4e5-0002-4a5b-8c6d-000000000002/user/*/vcs-origin/github.com/acme/shop/vcs-ref/refs/heads/main": contradicts_its_subject
--! 01000

-- Bitbucket: a step without an environment, and an environment
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('bb', 'acme', 'https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc', '{mintmark-bb}'); INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'bb', '{a1b2c3d4-0000-4000-8000-123456789012}:{0f0f0f0f-0000-4000-8000-123456789012}', 'exact', 'read', '{"deploymentEnvironment": "production"}', 'OPS-9: it reads');
--> Grant of key "read" to "{a1b2c3d4-0000-4000-8000-123456789012}:{0f0f0f0f-0000-4000-8000-123456789012}": subject_without_this_claim
--? Write {REPOSITORY}:** with match glob.
--! 01000

-- rule: consent of a CI job
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, claims, max_access, consent) VALUES ('acme', 'deploy', 'acme-github', 'repo:**', 'glob', '{"repository_id": "7654321"}', 3600, true);
--> Access rule …
--? nobody reads the request
--! 01000

-- rule: consent of a workload in a cluster whose issuer is not known
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent) VALUES ('acme', 'deploy', 'acme-cluster', 'system:serviceaccount:shop:orders', 3600, true);
--> Access rule …
--? Tokens of Kubernetes identify jobs or workloads
--! 01000

-- approver: a workload in a cluster whose issuer is not known, as a person
INSERT INTO broker.access_approver (rule, idp, subject) VALUES ((SELECT min(id) FROM broker.access_rule), 'acme-cluster', 'system:serviceaccount:tickets:gate2');
--> Approver …
--? Tokens of Kubernetes identify jobs or workloads
--! 01000

-- console: a domain without a name before the @
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '"@acme.example"', 'OPS-40');
--> Access to the console by "email": not_an_address
--? write {"glob": "*@acme.example"}
--! 01000

-- console: an address with the name of its person
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '"Ann Lee <ann@acme.example>"', 'OPS-40');
--> Access to the console by "email": not_an_address
--? has < and > around the address
--! 01000

-- console: an @ too many
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '"ann@@acme.example"', 'OPS-40');
--> Access to the console by "email": not_an_address
--? has more than one @
--! 01000

-- console: a dot at the end
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '"ann@acme.example."', 'OPS-40');
--> Access to the console by "email": not_an_address
--? ends in a dot
--! 01000

-- console: a link
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '["bob@acme.example", "mailto:ann@acme.example"]', 'OPS-40');
--> Access to the console by "email": not_an_address
--? begins with mailto:
--! 01000

-- console: a domain as a glob without a star
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '{"glob": "@acme.example"}', 'OPS-40');
--> Access to the console by "email": not_an_address
--? has nothing before the @
--! 01000

-- grant: a domain as a subject
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-ci', '@acme.example', 'exact', 'read', '{}', 'OPS-9: it reads');
--> Grant of key "read" to "@acme.example": not_an_address
--! 01000

-- grant: a domain as a condition
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-google', '10769150350006150715113082367', 'exact', 'read', '{"email": "@acme.example"}', 'OPS-9: it reads');
--> Grant of key "read" to "10769150350006150715113082367": not_an_address
--! 01000

-- rule: a pattern that refuses the example of its hint
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400, 'INC-*', 'Start with the ticket, for example INC-4711: shop is down');
--> Access rule …
--? "INC-4711: shop is down", the example in reason_hint
--! 01000

-- rule: a pattern in other letters than its hint
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400, 'inc-**', 'Start with the ticket, for example "INC-4711".');
--> Access rule …
--? The reason_pattern "inc-**" does not match "INC-4711"
--! 01000

-- rule: a pattern that stops at the first : of a reason
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400, 'INC-*', NULL);
--> Access rule …
--? only reasons without : and / after "INC-"
--! 01000

-- rule: a sentence as a pattern
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400, 'Start with the ticket', 'Start with the ticket');
--> Access rule …
--? only the reason "Start with the ticket" itself
--! 01000

-- shared issuer: a claim that customers of an unknown issuer choose
INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://ci.vendor.example', '{aud}');
--> Shared issuer "https://ci.vendor.example": claim_of_several_owners
--? owner_claims has "aud"
--! 01000

-- block: claims of two issuers
INSERT INTO broker.blocked_subject (tenant, subject, match, claims, reason) VALUES ('acme', '**', 'glob', '{"repository": "acme/shop", "project_path": "acme/shop"}', 'INC-1: leak');
--> Block of "**": claims_of_several_issuers
--? No known issuer sends all of these claims
--! 01000

-- block: an account with @
INSERT INTO broker.blocked_subject (tenant, subject, match, claims, reason) VALUES ('acme', '**', 'glob', '{"repository_id": "7654321", "actor": "@mallory"}', 'INC-1: leak');
--> Block of "**": unlike_its_issuer
--? actor is the name of the account
--! 01000

-- GitHub: a branch as an environment
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:environment:refs/heads/main', 'exact', 'read', '{}', 'OPS-9: it reads');
--> Grant of key "read" to "repo:acme@1234567/shop@7654321:environment:refs/heads/main": unlike_its_issuer
--! 01000

-- GitHub: a workflow without its folder
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "7654321", "job_workflow_ref": "acme/shop/deploy.yml@refs/heads/main"}', 'OPS-9: it reads');
--> Grant of key "read" to "repo:**": unlike_its_issuer
--? OWNER/REPOSITORY/.github/workflows/FILE.yml@REF.
--! 01000

-- rule: # for digits in a pattern
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400, 'INC-#### **', NULL);
--> Access rule …
--? The glob matches only reasons with "####"
--! 01000

-- rule: slashes around a pattern
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400, '/INC-**/i', NULL);
--> Access rule …
--? The glob matches only reasons with "/INC-**/i"
--! 01000
