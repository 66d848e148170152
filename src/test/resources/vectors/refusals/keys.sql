-- a misspelt setting is told with the nearest known one
UPDATE broker.key SET settings = '{"rolearn": "arn:aws:iam::123456789012:role/ci-deploy"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme" has the setting "rolearn", which a key of type aws-sts does not have.
--? Did you mean "role_arn"? It has: policy, policy_arns, role_arn, session_name.

-- an unknown setting is told with those that there are
UPDATE broker.key SET settings = settings || '{"colour": "blue"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme" has the setting "colour", which a key of type aws-sts does not have.
--? It has: policy, policy_arns, role_arn, session_name.

-- a required setting is missing
UPDATE broker.key SET settings = '{}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme" lacks the setting "role_arn".
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".

-- a text is a number
UPDATE broker.key SET settings = '{"role_arn": 7}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "role_arn" must be a string, not a number.
--? For example

-- a text is blank
UPDATE broker.key SET settings = '{"audience": " "}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "audience" must not be empty.
--? For example

-- null is no setting
UPDATE broker.key SET settings = settings || '{"policy": null}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy" is null: leave it out instead.
--?

-- a role's name has a form
UPDATE broker.key SET settings = '{"role_arn": "ci-deploy"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "role_arn" is "ci-deploy", which is not the ARN of a role.
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".

-- a session's name carries the mint id
UPDATE broker.key SET settings = settings || '{"session_name": "ci-{tenant}"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "session_name" is "ci-{tenant}"; it must contain {mint_id}.
--? For example "session_name": "ci-{mint_id}".

-- a session's name has no other placeholders
UPDATE broker.key SET settings = settings || '{"session_name": "{mint_id}-{subject}"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "session_name" is "{mint_id}-{subject}", which is not a name of letters, digits and any of _+=,.@-, with {mint_id}, {tenant} or {key}.
--?

-- a list is a text
UPDATE broker.key SET settings = settings || '{"policy_arns": "arn:aws:iam::aws:policy/ReadOnlyAccess"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy_arns" must be a list of strings, not a string.
--? For example "policy_arns": ["arn:aws:iam::aws:policy/ReadOnlyAccess"].

-- a list has too many elements
UPDATE broker.key SET settings = settings || jsonb_build_object('policy_arns', (SELECT jsonb_agg('arn:aws:iam::aws:policy/P' || n) FROM generate_series(1, 11) AS n)) WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy_arns" has 11 elements; the maximum is 10.
--?

-- an element of a list has the wrong form
UPDATE broker.key SET settings = settings || '{"policy_arns": ["arn:aws:iam::aws:policy/ReadOnlyAccess", "x"]}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy_arns" has an element that is "x", which is not the ARN of a managed policy.
--?

-- a policy is not JSON
UPDATE broker.key SET settings = settings || '{"policy": "{Version"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy" must be a policy: a JSON object, or a string that contains one.
--? Write a JSON object of at most 2048 characters, not counting whitespace.

-- a policy is too long
UPDATE broker.key SET settings = settings || jsonb_build_object('policy', jsonb_build_object('Statement', repeat('x', 2050))) WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy" is a policy that is too long; the maximum is 2048 characters.
--? Write a JSON object of at most 2048 characters, not counting whitespace.

-- a policy just fits, blanks not counted
UPDATE broker.key SET settings = settings || jsonb_build_object('policy', jsonb_build_object('Statement', repeat('x', 2048 - 16))) WHERE name = 'deploy';
--> nothing

-- a target is not among those that are allowed
UPDATE broker.key SET settings = '{"role_arn": "arn:aws:iam::123456789012:role/admin"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "role_arn" is "arn:aws:iam::123456789012:role/admin", which access provider "aws" does not allow.
--? The access provider's allowed_targets: arn:aws:iam::123456789012:role/ci-*. A platform admin can change them.

-- no target is none of those that are allowed
INSERT INTO broker.key (tenant, name, provider, max_duration) VALUES ('acme', 'files', 'few', 900);
--> Key "files" of tenant "acme" has no "role_arn", but access provider "few" requires one, because its allowed_targets restricts targets.
--? The access provider's allowed_targets: arn:minio:iam:::role/ci. A platform admin can change them.

-- no target is fine where all are allowed
INSERT INTO broker.key (tenant, name, provider, max_duration) VALUES ('acme', 'files', 'minio', 900);
--> nothing

-- an output names no field
UPDATE broker.key SET outputs = '{"ID": "AccesKeyId"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the output "ID" names "AccesKeyId", which is not a field of type aws-sts.
--? Did you mean "AccessKeyId"? Its fields: AccessKeyId, Expiration, Region, SecretAccessKey, SessionToken.

-- an output's name begins with a digit
UPDATE broker.key SET outputs = '{"1ID": "AccessKeyId"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": "1ID" is not a valid output name.
--? Use letters, digits and _

-- an output names nothing
UPDATE broker.key SET outputs = '{"ID": null}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the output "ID" must name a field, not null.
--? Write the variable, then the field

-- too short for the type
UPDATE broker.key SET max_duration = 899 WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": max_duration is 899 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--? max_duration is in seconds. Write 900 to 43200, for example 900.

-- too long for the type
UPDATE broker.key SET max_duration = 43201 WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": max_duration is 43201 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--? max_duration is in seconds. Write 900 to 43200, for example 43200.

-- no duration at all
UPDATE broker.key SET max_duration = 0 WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme" has a max_duration of 0 seconds.
--? Write a positive number.

-- a key's name has a form
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', '1st', 'own', 60, '{"audience": "x"}');
--> "1st" is not a valid key name.
--? Use a letter, then up to 63 letters, digits, _, . and -.

-- a claim that only the broker sets
UPDATE broker.key SET settings = settings || '{"claims": {"scope": "read", "sub": "somebody"}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "sub", which only the broker sets.
--? For example "claims": {"scope": "read"}.

-- a claim that AWS acts on
UPDATE broker.key SET settings = settings || '{"claims": {"https://aws.amazon.com/tags": {}}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "https://aws.amazon.com/tags", which only the broker sets.
--?

-- a claim that is null
UPDATE broker.key SET settings = settings || '{"claims": {"scope": null}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" has null for the claim "scope".
--?

-- the provider is another tenant's
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('other', 'x', 'aws', 900, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> Tenant "other" has no access provider "aws".
--? It has: own. Tenant "acme" has one with that name, but a row can only reference objects of its own tenant.
--! 23503 the_access_provider_exists_in_the_same_tenant

-- the provider is misspelt
UPDATE broker.key SET provider = 'minoi' WHERE name = 'deploy';
--> Tenant "acme" has no access provider "minoi".
--? Did you mean "minio"? It has: any, auth-any, auth-few, aws, few, minio, own.
--! 23503 the_access_provider_exists_in_the_same_tenant

-- the tenant is not there
INSERT INTO broker.key (tenant, name, provider, max_duration) VALUES ('nobody', 'x', 'aws', 900);
--> There is no tenant "nobody".
--? There are: acme, other.
--! 23503 the_access_provider_exists_in_the_same_tenant

-- the duration is missing
INSERT INTO broker.key (tenant, name, provider) VALUES ('acme', 'x', 'own');
--> A row of broker.key needs "max_duration", which is missing or null.
--? The maximum lifetime of a credential, in seconds
--! 23502

-- settings are a list
UPDATE broker.key SET settings = '[]' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": settings must be an object, not a list.
--? SELECT key_settings FROM broker.provider_type

-- outputs are a list
UPDATE broker.key SET outputs = '["AccessKeyId"]' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": outputs must be an object, not a list.
--? Write the variable, then the field

-- a key is in use
DELETE FROM broker.key WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme" is referenced by 1 grant and cannot be deleted.
--? UPDATE broker.key SET enabled = false WHERE tenant = 'acme' AND name = 'api'; or delete its grants first.
--! 23001

-- a key in use is renamed
UPDATE broker.key SET name = 'api2' WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme" is referenced by 1 grant and cannot be renamed.
--? Insert a row with the new name

-- a key that is there already, changed instead
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'api', 'own', 300, '{"audience": "x"}') ON CONFLICT (tenant, name) DO UPDATE SET max_duration = EXCLUDED.max_duration;
--> nothing

-- a key moves to another provider whose shortest credential outlives its grants
UPDATE broker.key SET provider = 'any', max_duration = 900, settings = '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}' WHERE tenant = 'acme' AND name = 'api';
--> The grant of key "api" to "repo:acme/app:main" has a max_duration of 60 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--? Write 900 or more, or null to leave it to the key.

-- a token exchange may aim by audience, by resource, or by both
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"audience": "https://api.example.com/a"}');
--> nothing

-- likewise
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"resource": "https://api.example.com/a"}');
--> nothing

-- likewise
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"audience": "https://api.example.com/a", "resource": "https://api.example.com/b", "scope": "read"}');
--> nothing

-- it aims elsewhere by its resource
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"audience": "https://api.example.com/a", "resource": "https://other.example.com/"}');
--> Key "x" of tenant "acme": the setting "resource" is "https://other.example.com/", which access provider "auth-few" does not allow.
--? The access provider's allowed_targets: https://api.example.com/**. A platform admin can change them.

-- it aims elsewhere by its audience
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"audience": "other", "resource": "https://api.example.com/a"}');
--> Key "x" of tenant "acme": the setting "audience" is "other", which access provider "auth-few" does not allow.
--? The access provider's allowed_targets: https://api.example.com/**. A platform admin can change them.

-- it aims at whatever the server gives by default
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"scope": "everything"}');
--> Key "x" of tenant "acme" has no "audience" and no "resource", but access provider "auth-few" requires one, because its allowed_targets restricts targets.
--? The access provider's allowed_targets: https://api.example.com/**. A platform admin can change them.

-- which is fine where all are allowed
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-any', 600, '{"scope": "everything"}');
--> nothing

-- an access provider whose targets no longer match a resource
UPDATE broker.access_provider SET allowed_targets = '{https://api.example.com/**}' WHERE name = 'auth-any';
--> Key "exchanged" of tenant "acme": the setting "resource" is "https://other.example.com", which access provider "auth-any" does not allow.
--? The access provider's allowed_targets: https://api.example.com/**. A platform admin can change them.

-- a parameter that the access provider does not list
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-any', 600, '{"audience": "a", "parameters": {"account": "1"}}');
--> Key "x" of tenant "acme" has the setting "parameters", but access provider "auth-any" allows no such names, because its setting "target_parameters" is missing.
--? Leave out "parameters".

-- a parameter that the access provider lists is missing
UPDATE broker.access_provider SET settings = settings || '{"target_parameters": ["rule", "account"]}' WHERE name = 'auth-any';
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-any', 600, '{"parameters": {"account": "1"}}');
--> Key "x" of tenant "acme": the setting "parameters" must have exactly the names account, rule, which access provider "auth-any" lists in its setting "target_parameters".
--? Write "parameters": {"account": "…", "rule": "…"}.

-- a parameter whose value is not among the targets
UPDATE broker.access_provider SET settings = settings || '{"target_parameters": ["account"]}', allowed_targets = '{account:1}' WHERE name = 'auth-few';
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"parameters": {"account": "2"}}');
--> Key "x" of tenant "acme": the setting "parameters" has the target "account:2", which access provider "auth-few" does not allow.
--? The access provider's allowed_targets: account:1. A platform admin can change them.

-- a parameter whose value is among the targets
UPDATE broker.access_provider SET settings = settings || '{"target_parameters": ["account"]}', allowed_targets = '{account:1}' WHERE name = 'auth-few';
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"parameters": {"account": "1"}}');
--> nothing

-- a key of GitHub without repositories
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'gh', 'github-app', '{"client_id": "Iv1", "private_key": {"file": "app.pem"}, "installation_id": "1"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'gh', 3600, '{"permissions": {"contents": "read"}}');
--> Key "x" of tenant "acme": the setting "permissions" also needs one of the settings "repositories", "repository_ids", "all_repositories".
--? For example "repositories": ["shop"].

-- a key of GitHub for some repositories and all
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'gh', 'github-app', '{"client_id": "Iv1", "private_key": {"file": "app.pem"}, "installation_id": "1"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'gh', 3600, '{"repositories": ["shop"], "all_repositories": true, "permissions": {"contents": "read"}}');
--> Key "x" of tenant "acme": the setting "repositories" can't be combined with the setting "all_repositories".
--? Leave out one of them.

-- a key of GitHub without permissions
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'gh', 'github-app', '{"client_id": "Iv1", "private_key": {"file": "app.pem"}, "installation_id": "1"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'gh', 3600, '{"repositories": ["shop"]}');
--> Key "x" of tenant "acme" lacks the setting "permissions".
--? For example "permissions": {"contents": "read"}.

-- a key of GitHub with a level that there isn't
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'gh', 'github-app', '{"client_id": "Iv1", "private_key": {"file": "app.pem"}, "installation_id": "1"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'gh', 3600, '{"repositories": ["shop"], "permissions": {"contents": "all"}}');
--> Key "x" of tenant "acme": the setting "permissions" has a value for "contents" that is "all"; it must be one of read, write, admin.
--?

-- a key of GitHub with a permission that its access provider does not allow
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'gh', 'github-app', '{"client_id": "Iv1", "private_key": {"file": "app.pem"}, "installation_id": "1"}', '{repository:*,permission:contents:*}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'gh', 3600, '{"repositories": ["shop"], "permissions": {"administration": "write"}}');
--> Key "x" of tenant "acme": the setting "permissions" has the target "permission:administration:write", which access provider "gh" does not allow.
--? The access provider's allowed_targets: repository:*, permission:contents:*. A platform admin can change them.

-- a key of GitHub for two hours
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'gh', 'github-app', '{"client_id": "Iv1", "private_key": {"file": "app.pem"}, "installation_id": "1"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'gh', 7200, '{"repositories": ["shop"], "permissions": {"contents": "read"}}');
--> Key "x" of tenant "acme": max_duration is 7200 seconds, but type github-app issues credentials for 3600 to 3600 seconds.
--? max_duration is in seconds. Write 3600 to 3600, for example 3600.

-- an SSH certificate for two principals in one
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'hosts', 600, '{"principals": ["a,root"]}');
--> Key "x" of tenant "acme": the setting "principals" has an element that is "a,root", which is not the name of one user: letters, digits and any of _.@:/+-.
--? ["deploy"]

-- an SSH certificate for nobody
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'hosts', 600, '{"principals": []}');
--> Key "x" of tenant "acme": the setting "principals" is an empty list: leave it out instead.

-- an SSH certificate for a principal that is not allowed
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ca"}}', '{deploy}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'hosts', 600, '{"principals": ["deploy", "root"]}');
--> Key "x" of tenant "acme": the setting "principals" has the target "root", which access provider "hosts" does not allow.

-- a subject with an attribute in a value
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'tls', 'x509', '{"ca_key": {"file": "ca"}, "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'tls', 600, '{"subject": "/CN=x,O=y"}');
--> Key "x" of tenant "acme": the setting "subject" is "/CN=x,O=y", which is not attributes such as /O=acme/CN=shop, of CN, OU, O, L, ST, C, DC and UID.

-- a service account without its namespace
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'k8s', 'kubernetes', '{"server": "https://kubernetes.example.com"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'k8s', 3600, '{"service_account": "deployer"}');
--> Key "x" of tenant "acme": the setting "service_account" is "deployer", which is not a namespace and the name of a service account, with a / between them.
--? "shop/deployer"

-- an audience of a service account's token that is not allowed
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'k8s', 'kubernetes', '{"server": "https://kubernetes.example.com"}', '{shop/*,vault}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'k8s', 3600, '{"service_account": "shop/deployer", "audiences": ["vault", "db"]}');
--> Key "x" of tenant "acme": the setting "audiences" has the target "db", which access provider "k8s" does not allow.
--? The access provider's allowed_targets: shop/*, vault. A platform admin can change them.

-- a field that the access provider does not list
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["USER", "PASSWORD"]}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'x', 'apps', 600, '{"target": "a"}', '{"APP_PASSWORD": "Password"}');
--> Key "x" of tenant "acme": the output "APP_PASSWORD" names "Password", which is not a field of access provider "apps".
--? Did you mean "PASSWORD"? Its fields: Expiration, PASSWORD, USER.

-- fields that the access provider lists, and the one that all have
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["USER", "PASSWORD"]}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'x', 'apps', 600, '{"target": "a"}', '{"APP_PASSWORD": "PASSWORD", "APP_EXPIRY": "Expiration"}');
--> nothing

-- a target of a webhook that is not allowed
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["A"]}', '{shop/*}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'apps', 600, '{"target": "admin"}');
--> Key "x" of tenant "acme": the setting "target" is "admin", which access provider "apps" does not allow.

-- parameters of a webhook that are too long together
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["A"]}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) SELECT 'acme', 'x', 'apps', 600, jsonb_build_object('target', 'a', 'parameters', jsonb_build_object('a', repeat('x', 2048), 'b', repeat('x', 2048)));
--> Key "x" of tenant "acme": the setting "parameters" has 4111 characters as JSON; the maximum is 4096.

-- a login of PostgreSQL
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark", "password": {"file": "p"}}', '{**}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'db', 600, '{"role": "app_rw", "as": "owner", "connection_limit": 3, "parameters": {"statement_timeout": "30s"}, "leftovers": "give", "databases": ["reports"]}');
--> nothing

-- a role of PostgreSQL's own that a glob allows
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark", "password": {"file": "p"}}', '{**}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'db', 600, '{"role": "pg_read_all_data"}');
--> Key "x" of tenant "acme": the setting "role" is "pg_read_all_data", which access provider "db" does not allow.
--? They must contain "pg_read_all_data" itself, since no pattern matches it. A platform admin can change them.

-- a role of PostgreSQL's own that is allowed literally
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark", "password": {"file": "p"}}', '{pg_read_all_data}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'db', 600, '{"role": "pg_read_all_data"}');
--> nothing

-- a role of PostgreSQL's own that a key still needs
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark", "password": {"file": "p"}}', '{pg_read_all_data}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'db', 600, '{"role": "pg_read_all_data"}');
UPDATE broker.access_provider SET allowed_targets = '{**}' WHERE tenant = 'acme' AND name = 'db';
--> Key "x" of tenant "acme": the setting "role" is "pg_read_all_data", which access provider "db" does not allow.
--?

-- another mint's login as the role of a login
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark", "password": {"file": "p"}}', '{**}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'db', 600, '{"role": "mm_01234567_0123456789abcdef0123456789abcdef"}');
--> Key "x" of tenant "acme": the setting "role" is "mm_01234567_0123456789abcdef0123456789abcdef", which is not the name of a role; logins that the broker made (mm_…) are not allowed.
--? For example "role": "app_rw".

-- a parameter of PostgreSQL that a key can't set
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark", "password": {"file": "p"}}', '{**}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'db', 600, '{"role": "app_rw", "parameters": {"session_preload_libraries": "x"}}');
--> Key "x" of tenant "acme": the setting "parameters" has the name "session_preload_libraries"; it must be one of application_name, default_transaction_read_only, idle_in_transaction_session_timeout, lock_timeout, search_path, statement_timeout.
--?

-- databases whose leftovers are kept
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark", "password": {"file": "p"}}', '{**}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'db', 600, '{"role": "app_rw", "leftovers": "keep", "databases": ["reports"]}');
--> Key "x" of tenant "acme": the setting "leftovers" is "keep", which does not use the setting "databases".
--?

-- a login of PostgreSQL that lives for a day
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark", "password": {"file": "p"}}', '{**}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'db', 86400, '{"role": "app_rw"}');
--> Key "x" of tenant "acme": max_duration is 86400 seconds, but type postgresql issues credentials for 60 to 43200 seconds.
--? max_duration is in seconds. Write 60 to 43200, for example 43200.

-- a token type that is not supported
UPDATE broker.key SET settings = settings || '{"type": "id_token"}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "type" is "id_token"; it must be one of at+jwt, JWT.
--? The default is "at+jwt".

-- a claim that only capitals keep from one that only the broker sets
UPDATE broker.key SET settings = settings || '{"claims": {"ISS": "x"}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "ISS", which only the broker sets.

-- or a blank
UPDATE broker.key SET settings = settings || '{"claims": {"sub ": "x"}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "sub ", which only the broker sets.

-- or a letter that nobody sees, or one of another width
UPDATE broker.key SET settings = settings || '{"claims": {"\u200bａｕｄ": "x"}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "​ａｕｄ", which only the broker sets.

-- a claim that could be mistaken for a well-known one
UPDATE broker.key SET settings = settings || '{"claims": {"Groups": ["admins"]}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "Groups", which only the broker sets.

-- a well-known one as it is written
UPDATE broker.key SET settings = settings || '{"claims": {"groups": ["readers"], "scope": "read"}}' WHERE name = 'api' AND tenant = 'acme';
--> nothing

-- an audience of a cloud vendor
UPDATE broker.key SET settings = '{"audience": "https://STS.amazonaws.com/"}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "audience" is "https://STS.amazonaws.com/", an audience that a cloud vendor accepts, so clients could use the token there.

-- or of its exchange
UPDATE broker.key SET settings = '{"audience": "api://AzureADTokenExchangeUSGov"}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "audience" is "api://AzureADTokenExchangeUSGov", an audience that a cloud vendor accepts, so clients could use the token there.

-- a scope with blanks, which would be two
WITH google AS (INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'google', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/m/providers/m"}')) INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'g', 'google', 600, '{"service_account": "a@b.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/devstorage.read_only https://www.googleapis.com/auth/cloud-platform"]}');
--> Key "g" of tenant "acme": the setting "scopes" has an element that is "https://www.googleapis.com/auth/devstorage.read_only https://www.googleapis.com/auth/cloud-platform", which is not the URL of a scope.

-- an S3 policy that leaves no room for the denial
WITH k AS (SELECT repeat('x', 1977) AS long) INSERT INTO broker.key (tenant, name, provider, max_duration, settings) SELECT 'acme', 'store', 'minio', 900, jsonb_build_object('policy', jsonb_build_object('Statement', long)) FROM k;
--> Key "store" of tenant "acme": the setting "policy" is a policy that is too long; the maximum is 1977 characters.

-- a refresh token would be good for longer than anybody granted
WITH auth AS (INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token"}')) INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'refresh', 'auth', 3600, '{"audience": "api", "requested_token_type": "urn:ietf:params:oauth:token-type:refresh_token"}');
--> Key "refresh" of tenant "acme": the setting "requested_token_type" is "urn:ietf:params:oauth:token-type:refresh_token"; it must be one of urn:ietf:params:oauth:token-type:access_token, urn:ietf:params:oauth:token-type:jwt (did you mean "urn:ietf:params:oauth:token-type:access_token"?).
--? The default is "urn:ietf:params:oauth:token-type:access_token".

-- claims of almost 16 KiB
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object('a', repeat('x', 16300))) WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- settings of more
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object('a', repeat('x', 16384))) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the JSON of its settings has 16444 bytes; the maximum is 16384.
--! 23514

-- the largest double in a claim
UPDATE broker.key SET settings = settings || '{"claims": {"n": 1.7976931348623157e308}}' WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- a number that no double can hold
UPDATE broker.key SET settings = settings || '{"claims": {"n": 1e1001}}' WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the JSON of its settings has a number of 1002 characters, which is outside the range of a double: 10000000000000000000….
--! 23514

-- a number just beyond
UPDATE broker.key SET settings = settings || '{"claims": {"n": [-1.7976931348623158e308]}}' WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the JSON of its settings has a number of 310 characters, which is outside the range of a double: -1797693134862315800….
--! 23514

-- a number of 1,001 digits
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object('n', ('0.' || repeat('1', 1000))::numeric)) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the JSON of its settings has a number of 1002 characters, which is outside the range of a double: 0.111111111111111111….
--! 23514

-- 8 levels
UPDATE broker.key SET settings = settings || ('{"claims": {"n": ' || repeat('[', 5) || 1 || repeat(']', 5) || '}}')::jsonb WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- one level more
UPDATE broker.key SET settings = settings || ('{"claims": {"n": ' || repeat('[', 6) || 1 || repeat(']', 6) || '}}')::jsonb WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": its settings are nested more than 8 levels deep.
--? Use fewer values, or divide them between two rows. A policy written as one string is one value.
--! 23514 settings_have_up_to_256_values_in_8_levels

-- 256 members and elements: audience, claims, c and the elements of c
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object('c', (SELECT jsonb_agg('{}'::jsonb) FROM generate_series(1, 253)))) WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- one element more
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object('c', (SELECT jsonb_agg('{}'::jsonb) FROM generate_series(1, 254)))) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": its settings have 257 fields and elements in all; the maximum is 256.
--! 23514 settings_have_up_to_256_values_in_8_levels

-- elements of several lists count together
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object('c', (SELECT jsonb_agg('[1]'::jsonb) FROM generate_series(1, 127)))) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": its settings have 257 fields and elements in all; the maximum is 256.

-- more outputs than clients read
UPDATE broker.key SET outputs = (SELECT jsonb_object_agg('O' || n, 'x') FROM generate_series(1, 257) AS n) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": its outputs have 257 fields and elements in all; the maximum is 256.
--? Name only the outputs that clients read.
--! 23514 outputs_have_up_to_256_values_in_8_levels

-- more levels than are counted
UPDATE broker.key SET settings = settings || ('{"claims": {"n": ' || repeat('[', 30) || 1 || repeat(']', 30) || '}}')::jsonb WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the JSON of its settings is nested deeper than 32 levels.
--! 23514

-- 1,100 levels
UPDATE broker.key SET settings = settings || ('{"claims": {"n": ' || repeat('[', 1100) || 1 || repeat(']', 1100) || '}}')::jsonb WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the JSON of its settings is nested deeper than 32 levels.
--! 23514

-- the longest name of a member
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object(repeat('x', 512), 1)) WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- a longer one
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object(repeat('x', 513), 1)) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the JSON of its settings has a field whose name has 513 characters; the maximum is 512: "xxxxxxxxxxxxxxxxxxxx…".
--! 23514

-- outputs of more than 4 KiB
UPDATE broker.key SET outputs = (SELECT jsonb_object_agg('OUTPUT_' || n, 'AccessToken') FROM generate_series(1, 200) AS n) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the JSON of its outputs has 5692 bytes; the maximum is 4096.
--! 23514

-- the longest description, lines and all
UPDATE broker.key SET description = repeat(E'x\n', 500) WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- a longer one
UPDATE broker.key SET description = repeat('x', 1001) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": its description has 1001 characters; the maximum is 1000.
--! 23514

-- as many keys as the tenant may have
UPDATE broker.tenant SET max_keys = 4 WHERE name = 'acme'; INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'fourth', 'own', 600, '{"audience": "a"}');
--> nothing

-- one key more
UPDATE broker.tenant SET max_keys = 4 WHERE name = 'acme'; INSERT INTO broker.key (tenant, name, provider, max_duration, settings) SELECT 'acme', 'further' || n, 'own', 600, '{"audience": "a"}' FROM generate_series(1, 2) AS n;
--> Tenant "acme" would have 5 keys; the maximum is 4.
--? Delete unused rows, or ask a platform admin to raise max_keys: UPDATE broker.tenant SET max_keys = … WHERE name = 'acme';
--! 23514 a_tenant_has_no_more_than_max_keys

-- a token that the tenant's services would accept for longer than half a day
UPDATE broker.key SET max_duration = 2000000000 WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": max_duration is 2000000000 seconds, but type jwt issues credentials for 1 to 43200 seconds.
--? max_duration is in seconds. Write 1 to 43200, for example 43200.

-- half a day
UPDATE broker.key SET max_duration = 43200 WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- the same of another authorization server
UPDATE broker.key SET max_duration = 43201 WHERE name = 'exchanged';
--> Key "exchanged" of tenant "acme": max_duration is 43201 seconds, but type oauth2 issues credentials for 1 to 43200 seconds.
--? max_duration is in seconds. Write 1 to 43200, for example 43200.

-- Entra's longest tokens live a day
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'entra', 'azure', '{"tenant_id": "acme.example"}'); INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'graph', 'entra', 86401, '{"client_id": "a", "scope": "https://graph.microsoft.com/.default"}');
--> Key "graph" of tenant "acme": max_duration is 86401 seconds, but type azure issues credentials for 5400 to 86400 seconds.
--? max_duration is in seconds. Write 5400 to 86400, for example 86400.

-- a day
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'entra', 'azure', '{"tenant_id": "acme.example"}'); INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'graph', 'entra', 86400, '{"client_id": "a", "scope": "https://graph.microsoft.com/.default"}');
--> nothing

-- longer than the tenant's maximum
UPDATE broker.key SET max_duration = 3601 WHERE tenant = 'other' AND name = 'api';
--> Key "api" of tenant "other": max_duration is 3601 seconds; the tenant's maximum is 3600.
--? Write 3600. Platform admins can raise broker.tenant.max_duration.

-- as long as the tenant's maximum
UPDATE broker.key SET max_duration = 3600 WHERE tenant = 'other' AND name = 'api';
--> nothing

-- a type whose shortest credential is longer than the tenant's maximum
UPDATE broker.tenant SET max_duration = 600 WHERE name = 'acme'; INSERT INTO broker.key (tenant, name, provider, max_duration) VALUES ('acme', 'files', 'minio', 900);
--> Key "files" of tenant "acme": max_duration is 900 seconds; the tenant's maximum is 600.
--? Type s3-sts issues credentials for 900 seconds or more. Platform admins can raise broker.tenant.max_duration.

-- a key from before the tenant's maximum was lowered can be disabled
UPDATE broker.tenant SET max_duration = 60 WHERE name = 'acme'; UPDATE broker.key SET enabled = false WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- and cannot be changed otherwise
UPDATE broker.tenant SET max_duration = 60 WHERE name = 'acme'; UPDATE broker.key SET description = 'x' WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": max_duration is 600 seconds; the tenant's maximum is 60.

-- an output that steers a shell
UPDATE broker.key SET outputs = '{"BASH_ENV": "AccessKeyId"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the output "BASH_ENV" is a variable that changes what programs run, load, trust or connect to.
--? Choose another name, for example one that starts with the name of the service.

-- an output whose end steers a program
UPDATE broker.key SET outputs = '{"NODE_OPTIONS": "AccessKeyId"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the output "NODE_OPTIONS" is a variable that changes what programs run, load, trust or connect to.

-- a token in a description
UPDATE broker.key SET description = 'uses ghp_abcdefghijklmnopqrstuvwxyz0123456789' WHERE name = 'deploy';
--> description in broker.key contains what looks like a token or a key ("ghp_a…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514 secret_in_text

-- a key in settings
UPDATE broker.key SET settings = settings || '{"session_name": "AKIAIOSFODNN7EXAMPLE-{mint_id}"}' WHERE name = 'deploy';
--> settings in broker.key contains what looks like a token or a key ("AKIAI…").
--! 23514 secret_in_text

-- words that only begin like one
UPDATE broker.key SET description = 'see AKIA, ghp_ and -----BEGIN CERTIFICATE-----' WHERE name = 'deploy';
--> nothing

-- a bound Secret with its namespace
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'k8s', 'kubernetes', '{"server": "https://kubernetes.example.com"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'k8s', 3600, '{"service_account": "shop/deployer", "bound_secret": "shop/switch"}');
--> Key "x" of tenant "acme": the setting "bound_secret" is "shop/switch", which is not the name of a Kubernetes object, in lower case and without its namespace.
--? "deployer-kill-switch"

-- a token of a service account for less than the API server gives
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'k8s', 'kubernetes', '{"server": "https://kubernetes.example.com"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'k8s', 599, '{"service_account": "shop/deployer"}');
--> Key "x" of tenant "acme": max_duration is 599 seconds, but type kubernetes issues credentials for 600 to 86400 seconds.

-- a repository's name where its id belongs
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'gh', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "app.pem"}, "installation_id": "12345678"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'gh', 3600, '{"repository_ids": ["shop"], "permissions": {"contents": "read"}}');
--> Key "x" of tenant "acme": the setting "repository_ids" has an element that is "shop", which is not a whole number.

-- a symmetric algorithm for tokens
UPDATE broker.key SET settings = settings || '{"algorithm": "HS256"}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "algorithm" is "HS256"; it must be one of ES256, RS256 (did you mean "ES256"?).

-- a forced command with a letter outside ASCII
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"file": "ssh-ca"}}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'hosts', 600, '{"principals": ["deploy"], "force_command": "échappe"}');
--> Key "x" of tenant "acme": the setting "force_command" is "échappe", which is not printable ASCII.

-- a resource that is no URI
UPDATE broker.key SET resource = 'orders' WHERE name = 'deploy' AND tenant = 'acme';
--> Key "deploy" of tenant "acme": the resource "orders" must be an absolute URI of at most 512 characters, without a fragment.
--? "https://mcp.example.com/orders"

-- a resource with a fragment
UPDATE broker.key SET resource = 'https://mcp.example.com/orders#a' WHERE name = 'deploy' AND tenant = 'acme';
--> Key "deploy" of tenant "acme": the resource "https://mcp.example.com/orders#a" must be an absolute URI of at most 512 characters, without a fragment.
--?

-- the same resource twice
UPDATE broker.key SET resource = 'https://mcp.example.com/orders' WHERE name = 'exchanged' AND tenant = 'acme';
UPDATE broker.key SET resource = 'https://mcp.example.com/orders' WHERE name = 'api' AND tenant = 'acme';
--> Another key of tenant "acme" has the resource "https://mcp.example.com/orders".
--? A resource identifies one key of a tenant
--! 23505 a_resource_belongs_to_one_key_of_a_tenant

-- the same resource in another spelling (RFC 3986 section 6.2)
UPDATE broker.key SET resource = 'https://mcp.example.com/orders' WHERE name = 'exchanged' AND tenant = 'acme';
UPDATE broker.key SET resource = 'HTTPS://MCP.example.com:443/x/../%6frders' WHERE name = 'api' AND tenant = 'acme';
--> Another key of tenant "acme" has the resource "HTTPS://MCP.example.com:443/x/../%6frders".
--? A resource identifies one key of a tenant
--! 23505 a_resource_belongs_to_one_key_of_a_tenant

-- a resource
UPDATE broker.key SET resource = 'https://mcp.example.com/orders?x=1' WHERE name = 'api' AND tenant = 'acme';
--> nothing
