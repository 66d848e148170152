-- a misspelt setting is told with the nearest known one
UPDATE broker.access_provider SET settings = settings || '{"session_tag": true}' WHERE name = 'aws';
--> Access provider "aws" of tenant "acme" has the setting "session_tag", which an access provider of type aws-sts does not have.
--? Did you mean "session_tags"? It has: auth, endpoint, region, session_tags.

-- a type without settings has none
UPDATE broker.access_provider SET settings = '{"region": "eu-central-1"}' WHERE name = 'own' AND tenant = 'acme';
--> Access provider "own" of tenant "acme" has the setting "region", which an access provider of type jwt does not have.
--? It has none.

-- a required setting is missing
UPDATE broker.access_provider SET settings = '{}' WHERE name = 'minio';
--> Access provider "minio" of tenant "acme" lacks the setting "endpoint".
--? For example "endpoint": "https://minio.example.com".

-- a flag is a text
UPDATE broker.access_provider SET settings = settings || '{"session_tags": "yes"}' WHERE name = 'aws';
--> Access provider "aws" of tenant "acme": the setting "session_tags" must be true or false, not a string.
--? The default is true.

-- one of two
UPDATE broker.access_provider SET settings = settings || '{"auth": "web_identity"}' WHERE name = 'aws';
--> Access provider "aws" of tenant "acme": the setting "auth" is "web_identity"; it must be one of web-identity, ambient (did you mean "web-identity"?).
--? The default is "web-identity".

-- an address is none
UPDATE broker.access_provider SET settings = '{"endpoint": "minio.example.com"}' WHERE name = 'minio';
--> Access provider "minio" of tenant "acme": the setting "endpoint" is "minio.example.com", which is not a URL of the form https://host/path (no user, query or fragment).
--? For example "endpoint": "https://minio.example.com".

-- an address has a password in it
UPDATE broker.access_provider SET settings = '{"endpoint": "https://me:secret@minio.example.com"}' WHERE name = 'minio';
--> Access provider "minio" of tenant "acme": the setting "endpoint" is "https://me:secret@minio.example.com", which is not a URL of the form https://host/path (no user, query or fragment).
--?

-- an address has a port that there isn't
UPDATE broker.access_provider SET settings = '{"endpoint": "https://minio.example.com:65536"}' WHERE name = 'minio';
--> Access provider "minio" of tenant "acme": the setting "endpoint" is "https://minio.example.com:65536", which is not a URL of the form https://host/path (no user, query or fragment).
--?

-- a claim lacks its value
UPDATE broker.access_provider SET settings = settings || '{"policy_claim": {"name": "policy"}}' WHERE name = 'minio';
--> Access provider "minio" of tenant "acme": the setting "policy_claim" must be an object with exactly "name" and "value".
--? {"name": "policy", "value": "readonly"}

-- a claim that only the broker sets
UPDATE broker.access_provider SET settings = settings || '{"policy_claim": {"name": "aud", "value": "sts.amazonaws.com"}}' WHERE name = 'minio';
--> Access provider "minio" of tenant "acme": the setting "policy_claim" names the claim "aud", which only the broker sets.
--?

-- a secret is written out
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_id": "x", "client_secret": "hunter2"}');
--> Access provider "auth" of tenant "acme": the setting "client_secret" must name the file with the secret; secrets are never stored in the database.
--? Write the secret to a file in the tenant's secrets directory, and "client_secret": {"file": "its-name"} here.

-- a reference to a secret leads out of the tenant's directory
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_id": "x", "client_secret": {"file": "../other/secret"}}');
--> Access provider "auth" of tenant "acme": the setting "client_secret" must name a file in the tenant's secrets directory, without . or .. in its path.
--? {"file": "its-name"}

-- a key in the token that is another tenant's
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"pkcs11": "object=globex/ssh-ca"}}');
--> Access provider "hosts" of tenant "acme": the setting "ca_key" names the key "globex/ssh-ca", which is not a key of tenant "acme".
--? Write a label that begins with "acme/". Have an operator create the key in the PKCS#11 token under such a label, for example "acme/ca".

-- the broker's own key
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"pkcs11": "object=broker-2026"}}');
--> Access provider "hosts" of tenant "acme": the setting "ca_key" must name a key in the PKCS#11 token by its label: the tenant's name, a / and letters, digits or any of ._-/.
--? {"pkcs11": "object=TENANT/NAME"}

-- a token that the tenant chooses
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"pkcs11": "token=other;object=acme/ssh-ca"}}');
--> Access provider "hosts" of tenant "acme": the setting "ca_key" must name a key in the PKCS#11 token by its label: the tenant's name, a / and letters, digits or any of ._-/.
--? {"pkcs11": "object=TENANT/NAME"}

-- a file and a key in the token
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'hosts', 'ssh', '{"ca_key": {"pkcs11": "object=acme/ssh-ca", "file": "ssh-ca"}}');
--> Access provider "hosts" of tenant "acme": the setting "ca_key" must name either a file or a key in the PKCS#11 token.
--? {"pkcs11": "object=TENANT/NAME"}

-- a secret that is sent, in the token
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_id": "x", "client_secret": {"pkcs11": "object=acme/secret"}}');
--> Access provider "auth" of tenant "acme": the setting "client_secret" must be in a file: the broker sends this secret, and an HSM holds only signing keys.
--? {"file": "its-name"}

-- a setting that needs another
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_id": "x", "client_auth": "client_secret_basic"}');
--> Access provider "auth" of tenant "acme": the setting "client_auth" is "client_secret_basic", which also needs the setting "client_secret".
--? Write the secret to a file

-- a secret without the client that it is of
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_secret": {"file": "client-secret"}}');
--> Access provider "auth" of tenant "acme": the setting "client_secret" also needs the setting "client_id".
--?

-- a key of the broker's without the client that it proves
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_auth": "private_key_jwt"}');
--> Access provider "auth" of tenant "acme": the setting "client_auth" is "private_key_jwt", which also needs the setting "client_id".
--?

-- a secret that would not be used
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_auth": "private_key_jwt", "client_id": "x", "client_secret": {"file": "client-secret"}}');
--> Access provider "auth" of tenant "acme": the setting "client_auth" is "private_key_jwt", which does not use the setting "client_secret".
--? Leave out "client_secret", or choose another "client_auth".

-- a client that is merely told
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_id": "x"}');
--> nothing

-- a secret by reference, and what follows from it
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_id": "x", "client_secret": {"file": "client-secret"}}');
--> nothing

-- a secret by reference
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_id": "x", "client_secret": {"file": "client-secret"}, "client_auth": "client_secret_basic"}');
--> nothing

-- a type that there isn't
INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'x', 'aws');
--> Access provider "x" of tenant "acme" has the unknown type "aws".
--? Did you mean "aws-sts"? There are: aws-sts, azure, gcp, github-app, jwt, kubernetes, oauth2, postgresql, s3-sts, ssh, webhook, x509.
--! 23503 the_provider_type_exists

-- a type that is misspelt
INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'x', 'oauth');
--> Access provider "x" of tenant "acme" has the unknown type "oauth".
--? Did you mean "oauth2"?

-- no type
INSERT INTO broker.access_provider (tenant, name) VALUES ('acme', 'x');
--> A row of broker.access_provider needs "type", which is missing or null.
--? "type": The type, one of those in broker.provider_type.
--! 23502

-- a tenant that there isn't
INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acmee', 'x', 'jwt');
--> There is no tenant "acmee".
--? Did you mean "acme"?
--! 23503 the_tenant_exists

-- a name that begins with a digit
INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', '1st', 'jwt');
--> "1st" is not a valid access provider name.
--? Use a letter, then up to 63

-- settings that are a text
UPDATE broker.access_provider SET settings = '"eu-central-1"' WHERE name = 'aws';
--> Access provider "aws" of tenant "acme": settings must be an object, not a string.
--? For example {"region": "eu-central-1"}

-- no targets
UPDATE broker.access_provider SET allowed_targets = '{}' WHERE name = 'any';
--> Access provider "any" of tenant "acme": allowed_targets is empty.
--? ** alone allows every target.

-- a target twice
UPDATE broker.access_provider SET allowed_targets = '{arn:a,arn:a}' WHERE name = 'any';
--> Access provider "any" of tenant "acme": allowed_targets has "arn:a" twice.
--?

-- an access provider is in use
DELETE FROM broker.access_provider WHERE tenant = 'acme' AND name = 'aws';
--> Access provider "aws" of tenant "acme" is referenced by 1 key and cannot be deleted.
--? UPDATE broker.access_provider SET enabled = false WHERE tenant = 'acme' AND name = 'aws'; or delete its keys first.
--! 23001

-- an access provider goes with its keys and grants in one statement
WITH grants AS (DELETE FROM broker.subject_grant WHERE key = 'deploy'), keys AS (DELETE FROM broker.key WHERE name = 'deploy') DELETE FROM broker.access_provider WHERE tenant = 'acme' AND name = 'aws';
--> nothing

-- targets without a literal segment
UPDATE broker.access_provider SET allowed_targets = '{arn*}' WHERE name = 'any';
--> Access provider "any" of tenant "acme": "arn*" in allowed_targets does not start with a literal segment.
--? ** alone allows every target.

-- fewer targets than its keys use
UPDATE broker.access_provider SET allowed_targets = '{arn:aws:iam::123456789012:role/cd-*}' WHERE name = 'aws';
--> Key "deploy" of tenant "acme": the setting "role_arn" is "arn:aws:iam::123456789012:role/ci-deploy", which access provider "aws" does not allow.
--? The access provider's allowed_targets: arn:aws:iam::123456789012:role/cd-*. A platform admin can change them.

-- another type than its keys have settings for
UPDATE broker.access_provider SET type = 'jwt', settings = '{}', allowed_targets = '{**}' WHERE name = 'aws';
--> Key "deploy" of tenant "acme" has the setting "role_arn", which a key of type jwt does not have.
--? It has: algorithm, audience, claims, type.

-- a shared identity allows everything
UPDATE broker.access_provider SET shared_identity = true WHERE name = 'any';
--> Access provider "any" of tenant "acme" has shared_identity, so all tenants look alike to the provider, but its allowed_targets is **, which allows every target.
--? List this tenant's targets in allowed_targets

-- ambient credentials without a shared identity
UPDATE broker.access_provider SET settings = settings || '{"auth": "ambient"}' WHERE name = 'aws';
--> Access provider "aws" of tenant "acme" uses auth "ambient" without shared_identity. With auth "ambient", all tenants look alike to AWS.
--? Set shared_identity = true and list this tenant's roles in allowed_targets

-- a shared identity where none is shown
UPDATE broker.access_provider SET shared_identity = true, allowed_targets = '{https://api.example.com}' WHERE name = 'own' AND tenant = 'acme';
--> Access provider "own" of tenant "acme" has shared_identity, but type jwt does not use the broker's identity.
--? Set shared_identity to false.

-- a provider moves to another tenant
UPDATE broker.access_provider SET tenant = 'other' WHERE name = 'any';
--> A row of broker.access_provider cannot be moved from "acme" to "other".
--? Insert a new row for the other tenant

-- a target of 512 characters and eight stars
UPDATE broker.access_provider SET allowed_targets = ARRAY[rpad('a:**a**a**a**a**a**a**a**', 512, 'x')] WHERE name = 'any';
--> nothing

-- a longer one
UPDATE broker.access_provider SET allowed_targets = ARRAY[rpad('a:', 513, 'x')] WHERE name = 'any';
--> Access provider "any" of tenant "acme": allowed_targets has an element that has 513 characters; the maximum is 512.
--! 23514

-- a target of nine stars
UPDATE broker.access_provider SET allowed_targets = '{a:*b*b*b*b*b*b*b*b*}' WHERE name = 'any';
--> Access provider "any" of tenant "acme": in allowed_targets, "a:*b*b*b*b*b*b*b*b*" has 9 stars; the maximum for a glob is 8.
--! 23514

-- settings of more than 16 KiB
UPDATE broker.access_provider SET settings = jsonb_build_object('region', repeat('x', 16384)) WHERE name = 'any';
--> Access provider "any" of tenant "acme": the JSON of its settings has 16398 bytes; the maximum is 16384.
--! 23514

-- a setting whose name is long
UPDATE broker.access_provider SET settings = jsonb_build_object(repeat('x', 600), 1) WHERE name = 'any';
--> Access provider "any" of tenant "acme": the JSON of its settings has a field whose name has 600 characters; the maximum is 512: "xxxxxxxxxxxxxxxxxxxx…".
--! 23514

-- settings with too many values for their length
UPDATE broker.access_provider SET settings = settings || jsonb_build_object('x', (SELECT jsonb_agg('{}'::jsonb) FROM generate_series(1, 255))) WHERE tenant = 'acme' AND name = 'aws';
--> Access provider "aws" of tenant "acme": its settings have 257 fields and elements in all; the maximum is 256.
--! 23514 settings_have_up_to_256_values_in_8_levels

-- a lifetime that is no number
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "subject_lifetime": "600"}');
--> Access provider "auth" of tenant "acme": the setting "subject_lifetime" must be a number, not a string.
--? The default is 300.

-- a lifetime that is too long
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "subject_lifetime": 3601}');
--> Access provider "auth" of tenant "acme": the setting "subject_lifetime" is 3601; it must be a whole number from 60 to 3600.
--? The default is 300.

-- a lifetime with a fraction
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "subject_lifetime": 60.5}');
--> Access provider "auth" of tenant "acme": the setting "subject_lifetime" is 60.5; it must be a whole number from 60 to 3600.
--?

-- a fixed parameter that the broker sets
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "parameters": {"scope": "all"}}');
--> Access provider "auth" of tenant "acme": the setting "parameters" names "scope", which only the broker may set.
--? {"organization_id": "org-123"}

-- a fixed parameter that is no text
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "parameters": {"organization": 7}}');
--> Access provider "auth" of tenant "acme": the setting "parameters" has a value for "organization" that must be a string, not a number.
--?

-- a fixed parameter whose name is none
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "parameters": {"a b": "c"}}');
--> Access provider "auth" of tenant "acme": the setting "parameters" has the name "a b", which is not a name of up to 64 letters, digits and any of _.- that begins with a letter.
--?

-- no fixed parameters
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "parameters": {}}');
--> Access provider "auth" of tenant "acme": the setting "parameters" is an empty object: leave it out instead.
--?

-- a target parameter that the broker sets
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "target_parameters": ["subject_token"]}');
--> Access provider "auth" of tenant "acme": the setting "target_parameters" has an element that is "subject_token", which only the broker may set.
--?

-- an unknown grant
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "grant": "client_credentials"}');
--> Access provider "auth" of tenant "acme": the setting "grant" is "client_credentials"; it must be one of token-exchange, jwt-bearer.
--? The default is "token-exchange".

-- a private key in the place of a certificate
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'k8s', 'kubernetes', '{"server": "https://kubernetes.example.com", "ca_certificate": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"}');
--> settings in broker.access_provider contains what looks like a token or a key ("-----…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.

-- a certificate that is none
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'k8s', 'kubernetes', '{"server": "https://kubernetes.example.com", "ca_certificate": "AAAA"}');
--> Access provider "k8s" of tenant "acme": the setting "ca_certificate" is not a certificate in PEM.
--?

-- a certificate in PEM form
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'k8s', 'kubernetes', '{"server": "https://kubernetes.example.com", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}');
--> nothing

-- a token that the broker's own identity has no use for
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'k8s', 'kubernetes', '{"server": "https://kubernetes.example.com", "auth": "broker", "token": {"file": "t"}}');
--> Access provider "k8s" of tenant "acme": the setting "auth" is "broker", which does not use the setting "token".
--?

-- a body that no authorization server reads
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "body": "xml"}');
--> Access provider "auth" of tenant "acme": the setting "body" is "xml"; it must be one of form, json.

-- a revocation endpoint that is no URL
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "revocation_endpoint": "/revoke"}');
--> Access provider "auth" of tenant "acme": the setting "revocation_endpoint" is "/revoke", which is not a URL of the form https://host/path (no user, query or fragment).

-- the broker's token in a parameter that the protocol has
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "subject_parameter": "grant_type"}');
--> Access provider "auth" of tenant "acme": the setting "subject_parameter" is "grant_type", which only the broker may set.

-- a cluster's token beside the broker's own
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'k8s', 'kubernetes', '{"server": "https://kubernetes.example.com", "auth": "broker", "token": {"file": "kubernetes-token"}}');
--> Access provider "k8s" of tenant "acme": the setting "auth" is "broker", which does not use the setting "token".
--?

-- a webhook
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["USER", "PASSWORD"]}');
--> nothing

-- a webhook without fields
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark"}');
--> Access provider "apps" of tenant "acme" lacks the setting "fields".
--? For example "fields": ["REGISTRY_PASSWORD"].

-- a field that is no variable
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["pass word"]}');
--> Access provider "apps" of tenant "acme": the setting "fields" has an element that is "pass word", which is not the name of a variable: letters, digits and _.
--?

-- a field that changes what programs do
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["LD_PRELOAD"]}');
--> Access provider "apps" of tenant "acme": the setting "fields" has an element that is "LD_PRELOAD", a variable that changes what programs run, load, trust or connect to.
--?

-- the field that the broker fills
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["Expiration"]}');
--> Access provider "apps" of tenant "acme": the setting "fields" has an element that is "Expiration", which only the broker may set.
--?

-- a client certificate without its key
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["A"], "client_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}');
--> Access provider "apps" of tenant "acme": the setting "client_certificate" also needs the setting "client_key".
--?

-- logins to PostgreSQL with a password
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com:5433", "database": "orders", "login": "mintmark", "password": {"file": "postgresql-password"}}');
--> nothing

-- logins to PostgreSQL with a client certificate
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'db', 'postgresql', '{"host": "[2001:db8::1]:5433", "database": "orders", "login": "mintmark", "client_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n", "client_key": {"file": "postgresql.key"}}');
--> nothing

-- a broker without any proof at PostgreSQL
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark"}');
--> Access provider "db" of tenant "acme": the setting "login" also needs one of the settings "client_certificate", "password".
--?

-- a broker with two proofs at PostgreSQL
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark", "password": {"file": "p"}, "client_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n", "client_key": {"file": "postgresql.key"}}');
--> Access provider "db" of tenant "acme": the setting "client_certificate" can't be combined with the setting "password".
--? Leave out one of them.

-- a URL where PostgreSQL's host belongs
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'db', 'postgresql', '{"host": "postgresql://db.example.com/orders", "database": "orders", "login": "mintmark", "password": {"file": "p"}}');
--> Access provider "db" of tenant "acme": the setting "host" is "postgresql://db.example.com/orders", which is not a host, or host:port, without a scheme.
--? For example "host": "db.example.com:5432".

-- a password of PostgreSQL in the database
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'db', 'postgresql', '{"host": "db.example.com", "database": "orders", "login": "mintmark", "password": "hunter2"}');
--> Access provider "db" of tenant "acme": the setting "password" must name the file with the secret; secrets are never stored in the database.
--?

-- the broker's own identity that tenants would share
INSERT INTO broker.access_provider (tenant, name, type, settings, shared_identity, allowed_targets) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["A"]}', true, '{a}');
--> Access provider "apps" of tenant "acme" has shared_identity, but type webhook does not use the broker's identity.
--?

-- fields that a key needs
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["USER", "PASSWORD"]}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'x', 'apps', 600, '{"target": "a"}', '{"APP_PASSWORD": "PASSWORD"}');
UPDATE broker.access_provider SET settings = settings || '{"fields": ["USER"]}' WHERE tenant = 'acme' AND name = 'apps';
--> Key "x" of tenant "acme": the output "APP_PASSWORD" names "PASSWORD", which is not a field of access provider "apps".
--?

-- fields that no key needs
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'apps', 'webhook', '{"endpoint": "https://apps.example.com/mintmark", "fields": ["USER", "PASSWORD"]}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'x', 'apps', 600, '{"target": "a"}', '{"APP_PASSWORD": "PASSWORD"}');
UPDATE broker.access_provider SET settings = settings || '{"fields": ["PASSWORD"]}' WHERE tenant = 'acme' AND name = 'apps';
--> nothing
