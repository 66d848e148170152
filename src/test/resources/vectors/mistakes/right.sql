-- aws-sts: STS of another region, while that of the region is down (docs/providers/aws-sts.md)
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "endpoint": "https://sts.eu-west-1.amazonaws.com"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> nothing

-- aws-sts: a session name of types.sql, shortened by 6 as its hint says
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "session_name": "release-of-the-shop-to-prod-{mint_id}"}');
--> nothing

-- aws-sts: a session name with {tenant}, shortened by 7 as its hint says: {key} counts as 1
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "session_name": "release-of-{tenant}-for-the-web-{mint_id}"}');
--> nothing

-- webhook: credentials of tools, by the names that pipelines give them
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://c.acme.example/credentials", "fields": ["NPM_USER", "NPM_PASSWORD", "GIT_USERNAME", "GIT_PASSWORD", "RUBYGEMS_API_KEY", "PIP_TOKEN", "HELM_PASSWORD", "LD_SDK_KEY"]}', '{x/*}');
--> nothing

-- console: auditors see all tenants (docs/reference/console.md)
INSERT INTO broker.console_access (all_tenants, claim, value, reason) VALUES (true, 'groups', '"auditors"', 'AUD-7');
--> nothing

-- google: people of a Workspace, who log in by an OAuth client of one's own
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, required_claims, login_client_id) VALUES ('people', 'acme', 'https://accounts.google.com', '{1234567890-abc123.apps.googleusercontent.com}', 'https://www.googleapis.com/oauth2/v3/certs', '{"hd": "acme.example"}', '1234567890-abc123.apps.googleusercontent.com');
--> nothing

-- jwt: the claim by which PostgREST chooses a role
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'rest', 'own-tokens', 300, '{"audience": "https://rest.acme.example", "claims": {"role": "web_user"}}');
--> nothing

-- console: everybody of one domain and of its subdomains
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '[{"glob": "*@acme.example"}, {"glob": "*.acme.example"}]', 'OPS-1');
--> nothing

-- key: variables of one's own for Terraform
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'k2', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}', '{"TF_VAR_id": "AccessKeyId", "TF_VAR_secret": "SecretAccessKey", "TF_VAR_token": "SessionToken"}');
--> nothing

-- key: one URL
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'k2', 'orders', 3600, '{"role": "app_rw"}', '{"DATABASE_URL": "Uri"}');
--> nothing

-- provider: a file with a long name
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'auth2', 'oauth2', '{"token_endpoint": "https://auth.acme.example/oauth2/token", "client_id": "mintmark", "client_secret": {"file": "acmeProd2026ClientSecretOfOrders"}}', '{https://stock.acme.example}');
--> nothing

-- issuer: Auth0 with its slash
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i3', 'acme', 'https://acme.eu.auth0.com/', '{mintmark-i3}');
--> nothing

-- grant: a private network and the end of a project
INSERT INTO broker.subject_grant (tenant, idp, subject, key, networks, valid_until, reason) VALUES ('acme', 'acme-keycloak', 'user:zoe', 'read', '{10.0.0.0/8,fd00::/16}', now() + interval '2 years', 'OPS-1');
--> nothing

-- grant: a value with an exclamation mark within
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'acme-keycloak', 'user:zoe', 'read', '{"team": "yahoo!"}', 'OPS-1');
--> nothing

-- tenant: enough for every type
UPDATE broker.tenant SET max_duration = 7200 WHERE name = 'acme';
--> nothing

-- grant: an environment beside another one, that is no misspelling of it
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "5", "environment": "prod-eu-1"}', 'OPS-1'), ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "6", "environment": "prod-us-2"}', 'OPS-1'), ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "5", "environment": "staging"}', 'OPS-1');
--> nothing

-- grant: branches that differ by a number or a letter
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "5", "event_name": "push", "ref": "refs/heads/release-1"}', 'OPS-1'), ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "5", "event_name": "push", "ref": "refs/heads/release-2"}', 'OPS-1'), ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "5", "event_name": "push", "ref": "refs/heads/team-a"}', 'OPS-1'), ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "5", "event_name": "push", "ref": "refs/heads/team-b"}', 'OPS-1');
--> nothing

-- grant: a workflow file of the same repository, and a shared one of another
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository": "acme/shop", "workflow_ref": {"glob": "acme/shop/.github/workflows/deploy.yml@**"}, "job_workflow_ref": "acme/workflows/.github/workflows/deploy.yml@refs/heads/main", "event_name": "push"}', 'OPS-1');
--> nothing

-- grant: with conditions, beside a rule for the same person and key
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400);
INSERT INTO broker.access_approver (rule, idp, subject) VALUES ((SELECT max(id) FROM broker.access_rule), 'acme-keycloak', '9b0e3f52-6a52-4c1e-8c3b-0a1b2c3d4e5f');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'deploy', '{"/realm_access/roles": "on-call"}', 'OPS-1');
--> nothing

-- grant: jobs on one's own machines, from private networks
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, networks, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "5", "event_name": "push", "runner_environment": "self-hosted"}', '{10.0.0.0/8}', 'OPS-1');
--> nothing

-- grant: branches that begin with a word
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:acme/shop:ref_type:branch:ref:release**', 'glob', 'read', '{"ref_protected": "true"}', 'OPS-1');
--> nothing

-- kubernetes: an audience beside service accounts in allowed_targets
UPDATE broker.access_provider SET allowed_targets = '{shop/*,https://vault.acme.example}' WHERE name = 'kubernetes';
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'vault-login', 'kubernetes', 600, '{"service_account": "shop/deployer", "audiences": ["https://vault.acme.example"]}');
--> nothing

-- azure: the scope of Azure SQL, with the two slashes that Microsoft documents
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'sql', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://database.windows.net//.default"}');
--> nothing

-- aws-sts: a managed policy of AWS, and one of the role's account
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'aws', 900, '{"role_arn": "arn:aws:iam::123456789012:role/ci-read", "policy_arns": ["arn:aws:iam::aws:policy/ReadOnlyAccess", "arn:aws:iam::123456789012:policy/ReadLogs"]}');
--> nothing

-- provider: an account that several tenants have
INSERT INTO broker.tenant (name) VALUES ('t1'), ('t2');
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) SELECT t, 'aws', 'aws-sts', '{"region": "eu-central-1"}'::jsonb, '{arn:aws:iam::210987654321:role/ci-*}'::text[] FROM unnest('{t1,t2,acme}'::text[]) AS t WHERE t <> 'acme' UNION ALL SELECT 'acme', 'aws2', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws:iam::210987654321:role/ci-*}';
--> nothing

-- issuer: AKS, whose issuers end with a slash
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('aks', 'acme', 'https://westeurope.oic.prod-aks.azure.com/72f988bf-86f1-41af-91ab-2d7cd011db47/8c5a1b2c-1111-4222-8333-0123456789ab/', '{mintmark-aks}');
--> nothing

-- grant: until a far year, on purpose
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, reason) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', '2099-12-31', 'OPS-1');
--> nothing

-- rule: agents ask a person who may use the key without them
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'deploy', 'OPS-1');
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 3600, true);
--> nothing

-- grant: an agent that reads without asking, beside a rule for another key
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 3600, true);
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, reason) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', 'acme-agents', 'agent:release-bot', 'OPS-1');
--> nothing

-- rule: a person consents to short access, and others approve longer access
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 1800, true);
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'deploy', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 3600);
--> nothing

-- tenant: a second admin required of one, beside whom platform admins approve
UPDATE broker.tenant SET require_second_admin = true WHERE name = 'acme';
--> nothing

-- approvers are a group of the people who may request
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, claims, max_access) VALUES ('acme', 'orders-login', 'acme-keycloak', 'user:**', 'glob', '{"groups": "developers"}', 14400); INSERT INTO broker.access_approver (rule, idp, subject, match, claims) SELECT max(id), 'acme-keycloak', 'user:**', 'glob', '{"groups": "leads"}' FROM broker.access_rule;
--> nothing

-- a job approves as a program, beside people
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, claims, max_access) VALUES ('acme', 'orders-login', 'acme-keycloak', 'user:**', 'glob', '{"groups": "developers"}', 14400); INSERT INTO broker.access_approver (rule, idp, subject, match, claims) SELECT max(id), 'acme-keycloak', 'user:**', 'glob', '{"groups": "leads"}' FROM broker.access_rule; INSERT INTO broker.access_approver (rule, idp, subject, step, program) SELECT max(id), 'acme-github', 'repo:acme@1234567/shop@7654321:environment:production', 2, true FROM broker.access_rule;
--> nothing

-- sixty requests a minute
UPDATE broker.tenant SET max_requests = 60 WHERE name = 'acme';
--> nothing

-- keys for two paths of one host
INSERT INTO broker.access_provider (tenant, name, type, allowed_targets) VALUES ('acme', 'own2', 'jwt', '{https://k2.acme.example/*}'); INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'own2', 300, '{"audience": "https://k2.acme.example/a"}'); INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k3', 'own2', 300, '{"audience": "https://k2.acme.example/A"}');
--> nothing

-- an account through the same delegates in another order
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) SELECT tenant, 'google2', type, settings, '{**}' FROM broker.access_provider WHERE tenant = 'acme' AND type = 'gcp'; INSERT INTO broker.key (tenant, name, provider, max_duration, settings) SELECT 'acme', 'k' || n, 'google2', 3600, jsonb_build_object('service_account', 'deploy@acme-prod.iam.gserviceaccount.com', 'delegates', CASE n WHEN 2 THEN '["a@acme-prod.iam.gserviceaccount.com", "b@acme-prod.iam.gserviceaccount.com"]'::jsonb ELSE '["b@acme-prod.iam.gserviceaccount.com", "a@acme-prod.iam.gserviceaccount.com"]' END) FROM generate_series(2, 3) AS n;
--> nothing

-- a subject of Keycloak by its id
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-keycloak', '3f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', 'OPS-9: Grace reads');
--> nothing

-- a user whom Keycloak has from a user storage provider
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-keycloak', 'f:5b3f6a1e-8c2d-4b57-9d11-0a1b2c3d4e5f:ada@acme.example', 'read', 'OPS-9: Ada reads');
--> nothing

-- two audiences that their readers tell apart by a slash
INSERT INTO broker.access_provider (tenant, name, type, allowed_targets) VALUES ('acme', 'own2', 'jwt', '{https://k2.acme.example**}'); INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'own2', 300, '{"audience": "https://k2.acme.example"}'); INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k3', 'own2', 300, '{"audience": "https://k2.acme.example/"}');
--> nothing

-- identity provider: the same issuer again, for tokens with another audience
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://i2.acme.example', '{i2}'); INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i3', 'acme', 'https://i2.acme.example', '{i3}');
--> nothing

-- tenant: a week, as much as any type gives
UPDATE broker.tenant SET max_duration = 604800 WHERE name = 'acme';
--> nothing

-- tenant: a bound of two days, which its only type does not reach
INSERT INTO broker.tenant (name) VALUES ('shop'); INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('shop', 'aws', 'aws-sts', '{"region": "eu-central-1"}'); UPDATE broker.tenant SET max_duration = 172800 WHERE name = 'shop';
--> nothing

-- tenant: no further keys
UPDATE broker.tenant SET max_keys = 0 WHERE name = 'acme';
--> nothing

-- tenant: notices to a service
UPDATE broker.tenant SET notice_url = 'https://localhost.acme.example/hook', notice_secret = '{"file": "n"}' WHERE name = 'acme';
--> nothing

-- tenants: a second one by number, and one for tests
INSERT INTO broker.tenant (name) VALUES ('acme-2'), ('acme-test'), ('team-1-11'), ('team-11-1'), ('team-a'), ('team-b');
--> nothing

-- key: deploy-2 beside deploy and orders-login
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'deploy-2', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> nothing

-- key: deploy-eu beside deploy and orders-login
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'deploy-eu', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> nothing

-- key: redeploy beside deploy and orders-login
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'redeploy', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> nothing

-- key: employ beside deploy and orders-login
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'employ', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> nothing

-- key: orders-read beside deploy and orders-login
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'orders-read', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> nothing

-- key: another duration of one whose name was warned of
INSERT INTO broker.key (tenant, name, provider, enabled, max_duration, settings) VALUES ('acme', 'deploys', 'aws', false, 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}'); UPDATE broker.key SET enabled = true WHERE tenant = 'acme' AND name = 'deploys';
--> nothing

-- aws-sts: every account of the tenant, and a partition with a hyphen
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "us-iso-east-1"}', '{arn:aws-iso:iam::012345678901:role/ci/**,arn:aws-iso:iam::*:role/ci-*}');
--> nothing

-- gcp: accounts that Google makes for a project
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}', '{acme-prod@appspot.gserviceaccount.com,ci@acme-prod.acme.com.iam.gserviceaccount.com}');
--> nothing

-- github-app: repositories by id, every permission
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEG", "private_key": {"file": "app2.pem"}, "installation_id": "22345678"}', '{repository_id:7654322,repository:shop*,permission:**}');
--> nothing

-- github-app: all repositories
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEG", "private_key": {"file": "app2.pem"}, "installation_id": "22345678"}', '{all_repositories,permission:contents:read}');
--> nothing

-- kubernetes: accounts, and audiences with slashes and colons
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{shop2/deployer,api://Shop/Orders,https://vault2.acme.example}');
--> nothing

-- ssh: users and addresses
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "ssh-ca2"}}', '{deploy2,grace@acme.example}');
--> nothing

-- postgresql: its own role for reading
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "p"}}', '{stock_ro,pg_read_all_data}');
--> nothing

-- jwt: names and URLs
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'jwt', '{}', '{stock.acme2.example,https://*.acme2.example,urn:acme:stock}');
--> nothing

-- gcp: the scope devstorage.read_only
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/devstorage.read_only"]}');
--> nothing

-- gcp: the scope cloud-platform.read-only
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/cloud-platform.read-only"]}');
--> nothing

-- gcp: the scope contacts.readonly
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/contacts.readonly"]}');
--> nothing

-- gcp: the scope drive.apps.readonly
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/drive.apps.readonly"]}');
--> nothing

-- gcp: the scope chat.messages.create
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/chat.messages.create"]}');
--> nothing

-- azure: the scope of https://vault.azure.net
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://vault.azure.net/.default"}');
--> nothing

-- azure: the scope of https://acmestock.blob.core.windows.net
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://acmestock.blob.core.windows.net/.default"}');
--> nothing

-- azure: the scope of https://acme.documents.azure.com
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://acme.documents.azure.com/.default"}');
--> nothing

-- azure: the scope of https://orders.acme.example
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://orders.acme.example/.default"}');
--> nothing

-- azure: the scope of api://orders
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "api://orders/.default"}');
--> nothing

-- azure: the scope of https://ossrdbms-aad.database.windows.net
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://ossrdbms-aad.database.windows.net/.default"}');
--> nothing

-- azure: the scope of https://management.azure.com/
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.azure.com//.default"}');
--> nothing

-- azure: the scope of api://72f988bf-86f1-41af-91ab-2d7cd011db47/orders
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "api://72f988bf-86f1-41af-91ab-2d7cd011db47/orders/.default"}');
--> nothing

-- azure: the scope of https://management.core.windows.net
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.core.windows.net/.default"}');
--> nothing

-- azure: the scope of https://prometheus.monitor.azure.com
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://prometheus.monitor.azure.com/.default"}');
--> nothing

-- postgresql: two minutes
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k2', 'orders', 120, '{"role": "app_rw"}');
--> nothing

-- x509: names of servers, and every subject
UPDATE broker.access_provider SET allowed_targets = '{subject:/**,spiffe://acme.example/**,dns:*.acme.example}' WHERE tenant = 'acme' AND name = 'tls';
--> nothing

-- aws-sts: the region il-central-1
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "il-central-1"}', '{arn:aws:iam::210987654321:role/ci-*}');
--> nothing

-- aws-sts: the region mx-central-1
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "mx-central-1"}', '{arn:aws:iam::210987654321:role/ci-*}');
--> nothing

-- aws-sts: the region ap-northeast-3
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "ap-northeast-3"}', '{arn:aws:iam::210987654321:role/ci-*}');
--> nothing

-- aws-sts: the region us-gov-west-1
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "us-gov-west-1"}', '{arn:aws-us-gov:iam::210987654321:role/ci-*}');
--> nothing

-- aws-sts: the region cn-northwest-1
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "cn-northwest-1"}', '{arn:aws-cn:iam::210987654321:role/ci-*}');
--> nothing

-- aws-sts: the region eusc-de-east-1
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eusc-de-east-1"}', '{arn:aws-eusc:iam::210987654321:role/ci-*}');
--> nothing

-- aws-sts: the region us-isob-east-1
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "us-isob-east-1"}', '{arn:aws-iso-b:iam::210987654321:role/ci-*}');
--> nothing

-- aws-sts: the region us-isof-south-1
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "us-isof-south-1"}', '{arn:aws-iso-f:iam::210987654321:role/ci-*}');
--> nothing

-- aws-sts: the region eu-isoe-west-1
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-isoe-west-1"}', '{arn:aws-iso-e:iam::210987654321:role/ci-*}');
--> nothing

-- tenant: a review every two years
UPDATE broker.tenant SET review_days = 731 WHERE name = 'acme';
--> nothing

-- webhook: a service on the broker's machine
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "http://127.0.0.1:8080/mintmark", "fields": ["A_TOKEN"]}', '{stock/*}');

-- GitHub: an environment in subject and claims, and the branch that it is for
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:environment:production', 'exact', 'read', '{"environment": "production", "ref": "refs/heads/main", "event_name": "push"}', 'OPS-9: it reads');
--> nothing

-- GitHub: an environment of any subject
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "7654399", "environment": "staging", "ref": "refs/heads/main", "event_name": "push"}', 'OPS-9: it reads');
--> nothing

-- GitHub: an environment of all forms of subjects of a repository
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:**', 'glob', 'read', '{"environment": "production"}', 'OPS-9: it reads');
--> nothing

-- GitHub: subjects that are configured to have ref and environment
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main:environment:production', 'exact', 'read', '{"environment": "production", "event_name": "push"}', 'OPS-9: it reads');
--> nothing

-- GitHub: pull requests
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:pull_request', 'exact', 'read', '{"event_name": "pull_request", "ref": {"glob": "refs/pull/*/merge"}}', 'OPS-9: it reads');
--> nothing

-- GitHub: a tag, and its type
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/tags/v1', 'exact', 'read', '{"ref_type": "tag", "event_name": ["push", "release"]}', 'OPS-9: it reads');
--> nothing

-- GitLab: a branch and its environment
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:acme/shop:ref_type:branch:ref:main', 'exact', 'read', '{"environment": "production", "environment_protected": "true"}', 'OPS-9: it reads');
--> nothing

-- GitLab: merge requests
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-gitlab', 'project_path:**', 'glob', 'read', '{"project_id": "99", "pipeline_source": "merge_request_event", "ref_type": "branch"}', 'OPS-9: it reads');
--> nothing

-- Bitbucket: steps of an environment
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('bb', 'acme', 'https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc', '{mintmark-bb}'); INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'bb', '{a1b2c3d4-0000-4000-8000-123456789012}:**', 'glob', 'read', '{"deploymentEnvironment": "production"}', 'OPS-9: it reads');
--> nothing

-- CircleCI: a branch in the subject, and the same as a claim
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('cci', 'acme', 'https://oidc.circleci.com/org/b2c3d4e5-0001-4a5b-8c6d-000000000001', '{mintmark-cci}'); INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'cci', 'org/b2c3d4e5-0001-4a5b-8c6d-000000000001/project/b2c3d4e5-0002-4a5b-8c6d-000000000002/user/*/vcs-origin/github.com/acme/shop/vcs-ref/refs/heads/main', 'glob', 'read', '{"oidc.circleci.com/vcs-ref": "refs/heads/main", "oidc.circleci.com/vcs-origin": "github.com/acme/shop"}', 'OPS-9: it reads');
--> nothing

-- Buildkite: a branch, whose build may have a tag
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-buildkite', 'organization:acme:pipeline:shop:ref:refs/heads/main:**', 'glob', 'read', '{"build_tag": "v1.0.0"}', 'OPS-9: it reads');
--> nothing

-- console: addresses of people and of a guest
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '["ann@acme.example", "bob+ops@mail.acme.example", "cy_partner.example#EXT#@acme.onmicrosoft.example", "dee@localhost"]', 'OPS-40');
--> nothing

-- console: all addresses of a domain and its subdomains
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '[{"glob": "*@acme.example"}, {"glob": "*@*.acme.example"}]', 'OPS-40');
--> nothing

-- rule: consent of people
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, claims, max_access, consent) VALUES ('acme', 'deploy', 'acme-gitlab', '4711', 'exact', '{}', 3600, true);
--> nothing

-- rule: a hint that describes the reason
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400, 'INC-**', 'Start with the ticket, for example its number from the board.');
--> nothing

-- rule: a hint with two examples, of which each is for one rule
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400, 'CHG-**', 'Start with the ticket, for example INC-4711 or CHG-12.');
--> nothing

-- rule: a pattern with words after the ticket
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 14400, 'INC-*: **', 'Ticket and what is wrong, for example INC-4711: shop is down.');
--> nothing

-- shared issuer: claims of organizations
INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://ci.vendor.example', '{org_id,team,account}');
--> nothing

-- shared issuer: further claims by which GitHub tells owners apart
UPDATE broker.shared_issuer SET owner_claims = owner_claims || '{environment_node_id,workflow_ref}' WHERE issuer = 'https://token.actions.githubusercontent.com';
--> nothing

-- GitHub: a reusable workflow
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "7654321", "job_workflow_ref": "acme/workflows/.github/workflows/deploy.yml@refs/heads/main", "event_name": "push"}', 'OPS-9: it reads');
--> nothing

-- GitHub: any workflow of a repository
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:**', 'glob', 'read', '{"repository_id": "7654321", "job_workflow_ref": {"glob": "acme/workflows/**@refs/tags/v1"}, "event_name": "push"}', 'OPS-9: it reads');
--> nothing

-- block: a repository and its branch
INSERT INTO broker.blocked_subject (tenant, subject, match, claims, reason) VALUES ('acme', '**', 'glob', '{"repository_id": "7654321", "ref": "refs/heads/main"}', 'INC-1: leak');
--> nothing
