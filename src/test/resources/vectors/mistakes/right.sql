-- aws-sts: STS of another region, while that of the region is down (docs/providers/aws-sts.md)
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "endpoint": "https://sts.eu-west-1.amazonaws.com"}', '{arn:aws:iam::123456789012:role/ci-*}');
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
