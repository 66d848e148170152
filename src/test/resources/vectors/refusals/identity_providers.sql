-- an issuer in plain http
UPDATE broker.identity_provider SET issuer = 'http://ci.example.com' WHERE name = 'ci';
--> Identity provider "ci": the issuer "http://ci.example.com" is not an https URL.
--? Plain http is for localhost only

-- an issuer in plain http that only begins like loopback
UPDATE broker.identity_provider SET issuer = 'http://localhost.example.com' WHERE name = 'ci';
--> Identity provider "ci": the issuer "http://localhost.example.com" is not an https URL.
--?

-- an issuer in plain http on loopback
UPDATE broker.identity_provider SET issuer = 'http://localhost:8080/realms/dev' WHERE name = 'ci';
--> nothing

-- keys at an address that is none
UPDATE broker.identity_provider SET jwks_uri = '/keys' WHERE name = 'ci';
--> Identity provider "ci": the jwks_uri "/keys" is not an https URL.
--? write the issuer's key set into jwks

-- the same issuer and audience twice
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('ci2', 'other', 'https://ci.example.com', '{new,acme}');
--> Issuer "https://ci.example.com" with audience "acme" already belongs to another identity provider.
--? A token's issuer and audience must identify exactly one tenant
--! 23505 an_issuer_and_audience_lead_to_one_identity_provider

-- an algorithm with a shared secret
UPDATE broker.identity_provider SET algorithms = '{RS256,HS256}' WHERE name = 'ci';
--> Identity provider "ci": the algorithm "HS256" is not accepted.
--? The broker accepts: ES256, ES384, ES512, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512.

-- a client for logins with a blank in its id
UPDATE broker.identity_provider SET login_client_id = 'mint mark' WHERE name = 'ci';
--> Identity provider "ci": the login_client_id "mint mark" is not a client id.
--? 1 to 255 visible ASCII characters

-- a client for logins
UPDATE broker.identity_provider SET login_client_id = 'mintmark-cli' WHERE name = 'ci';
--> nothing

-- one-time tokens for ever
UPDATE broker.identity_provider SET one_time_tokens = true WHERE name = 'ci';
--> Identity provider "ci" has one_time_tokens without a max_token_age.
--? Set max_token_age to the maximum age of a token in seconds

-- a shared issuer without an owner
UPDATE broker.identity_provider SET issuer = 'https://token.actions.githubusercontent.com' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://token.actions.githubusercontent.com" issues tokens to anyone, and required_claims names no owner by an exact value.
--? In required_claims, require at least one of repository_owner_id, repository_id,

-- a shared issuer whose owner is a glob
UPDATE broker.identity_provider SET issuer = 'https://token.actions.githubusercontent.com', required_claims = '{"repository": {"glob": "acme/*"}}' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://token.actions.githubusercontent.com" issues tokens to anyone, and required_claims names no owner by an exact value.
--? a glob is not enough

-- a shared issuer whose owner may be a glob
UPDATE broker.identity_provider SET issuer = 'https://token.actions.githubusercontent.com', required_claims = '{"repository": ["acme/app", {"glob": "acme/*"}]}' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://token.actions.githubusercontent.com" issues tokens to anyone, and required_claims names no owner by an exact value.
--?

-- a shared issuer with a claim that everybody has
UPDATE broker.identity_provider SET issuer = 'https://token.actions.githubusercontent.com', required_claims = '{"ref": "refs/heads/main"}' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://token.actions.githubusercontent.com" issues tokens to anyone, and required_claims names no owner by an exact value.
--?

-- a shared issuer with its owner
UPDATE broker.identity_provider SET issuer = 'https://token.actions.githubusercontent.com', required_claims = '{"repository_owner_id": ["1234", "5678"]}' WHERE name = 'ci';
--> nothing

-- an issuer becomes a shared one under a provider that names no owner
INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://ci.example.com', '{org}');
--> Identity provider "ci": the issuer "https://ci.example.com" issues tokens to anyone, and required_claims names no owner by an exact value.
--? {"org": "…"}

-- a condition that is null
UPDATE broker.identity_provider SET required_claims = '{"org": null}' WHERE name = 'ci';
--> Identity provider "ci": in its required_claims, the condition on "org" is null, which matches no token.
--? For example {"environment": "production"

-- an identity provider is in use
DELETE FROM broker.identity_provider WHERE name = 'ci';
--> Identity provider "ci" of tenant "acme" is referenced by 2 grants and cannot be deleted.
--? UPDATE broker.identity_provider SET enabled = false WHERE tenant = 'acme' AND name = 'ci'; or delete its grants first.
--! 23001

-- an identity provider in use is renamed
UPDATE broker.identity_provider SET name = 'ci-2' WHERE name = 'ci';
--> Identity provider "ci" of tenant "acme" is referenced by 2 grants and cannot be renamed.
--? change the grants to the new name, and delete the old row.

-- an identity provider that nothing names is renamed
UPDATE broker.identity_provider SET name = 'elsewhere-2' WHERE name = 'elsewhere';
--> nothing

-- a tenant that there isn't
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('x', 'othr', 'https://x.example.com', '{x}');
--> There is no tenant "othr".
--? Did you mean "other"? There are: acme, other.
--! 23503 the_tenant_exists

-- a name with a blank
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('my ci', 'acme', 'https://x.example.com', '{x}');
--> "my ci" is not a valid identity provider name.
--? Use a letter, then up to 63 letters, digits, _, . and -.

-- no audience at all
INSERT INTO broker.identity_provider (name, tenant, issuer) VALUES ('x', 'acme', 'https://x.example.com');
--> A row of broker.identity_provider needs "audiences", which is missing or null.
--? "audiences": A token must name one of these in aud
--! 23502

-- an empty list of audiences
UPDATE broker.identity_provider SET audiences = '{}' WHERE name = 'ci';
--> Identity provider "ci": audiences is empty.
--? '{mintmark-acme}'

-- an audience that is null
UPDATE broker.identity_provider SET audiences = '{acme,NULL}' WHERE name = 'ci';
--> Identity provider "ci": audiences has an element that is null.
--?

-- an audience that is empty
UPDATE broker.identity_provider SET audiences = '{acme,""}' WHERE name = 'ci';
--> Identity provider "ci": audiences has an element that is empty.
--?

-- audiences in two dimensions
UPDATE broker.identity_provider SET audiences = '{{acme},{x}}' WHERE name = 'ci';
--> Identity provider "ci": audiences is a list of lists.
--?

-- an algorithm twice
UPDATE broker.identity_provider SET algorithms = '{RS256,RS256}' WHERE name = 'ci';
--> Identity provider "ci": algorithms has "RS256" twice.
--?

-- no algorithm
UPDATE broker.identity_provider SET algorithms = '{}' WHERE name = 'ci';
--> Identity provider "ci": algorithms is empty.
--? '{RS256,ES256}'

-- a port that there isn't
UPDATE broker.identity_provider SET issuer = 'https://ci.example.com:65536' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://ci.example.com:65536" is not an https URL.
--?

-- a host that there can't be
UPDATE broker.identity_provider SET issuer = 'https://ci..example.com' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://ci..example.com" is not an https URL.
--?

-- a loopback address that is none
UPDATE broker.identity_provider SET issuer = 'http://127.0.0.256' WHERE name = 'ci';
--> Identity provider "ci": the issuer "http://127.0.0.256" is not an https URL.
--?

-- an issuer with somebody's password
UPDATE broker.identity_provider SET issuer = 'https://me:secret@ci.example.com' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://me:secret@ci.example.com" is not an https URL.
--?

-- keys at an address in plain http
UPDATE broker.identity_provider SET jwks_uri = 'http://ci.example.com/keys' WHERE name = 'ci';
--> Identity provider "ci": the jwks_uri "http://ci.example.com/keys" is not an https URL.
--? plain http is for localhost only

-- a clock that is off for days
UPDATE broker.identity_provider SET clock_skew = 86400 WHERE name = 'ci';
--> Identity provider "ci" has a clock_skew of 86400 seconds.
--? Write 0 to 3600.

-- tokens that are too old at once
UPDATE broker.identity_provider SET max_token_age = 0 WHERE name = 'ci';
--> Identity provider "ci" has a max_token_age of 0 seconds.
--? Write a positive number, or null

-- a private key where certificates belong
UPDATE broker.identity_provider SET ca_certificate = '-----BEGIN PRIVATE KEY-----' WHERE name = 'ci';
--> Identity provider "ci": ca_certificate must be PEM with certificates only.
--? Write the certificates of the authorities to trust

-- required claims that are a text
UPDATE broker.identity_provider SET required_claims = '"org"' WHERE name = 'ci';
--> Identity provider "ci": in its required_claims, the JSON must be an object such as {"environment": "production"}, not a string.
--? For example

-- required claims that are null
UPDATE broker.identity_provider SET required_claims = NULL WHERE name = 'ci';
--> A row of broker.identity_provider needs "required_claims", which is missing or null.
--? Omit the column to use its default.

-- a shared issuer in plain http
INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('http://ci.example.net', '{org}');
--> The shared issuer "http://ci.example.net" must be an https URL without a query.
--? Write the iss claim

-- a shared issuer whose customers can't be told apart
INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://ci.example.net', '{}');
--> Shared issuer "https://ci.example.net": owner_claims is empty.
--? List the claims that identify the token's owner

-- a shared issuer as a glob
INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://oidc.circleci.com/org/*', '{oidc.circleci.com/org-id}');
--> The shared issuer "https://oidc.circleci.com/org/*" has a *, but issuers are compared exactly.
--? Write the iss claim of its tokens as it is

-- a shared issuer with an owner claim of its own
INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://ci.example.net', '{org,project_ref}');
--> nothing

-- a list of keys without a key
UPDATE broker.identity_provider SET jwks = '{"keys": []}' WHERE name = 'ci';
--> Identity provider "ci": jwks is not a key set of the form {"keys": [{"kty": …}]}.
--? as the issuer publishes it

-- a list of keys that nothing could be verified with
UPDATE broker.identity_provider SET jwks = '{"keys": [{"kty": "RSA", "kid": "1"}]}' WHERE name = 'ci';
--> Identity provider "ci": jwks has no key for verifying signatures.
--?

-- a key set for certificates alone, as a SPIFFE bundle has it
UPDATE broker.identity_provider SET jwks = '{"keys": [{"kty": "EC", "use": "x509-svid", "crv": "P-256", "x": "a", "y": "b"}]}' WHERE name = 'ci';
--> Identity provider "ci": jwks has no key for verifying signatures.
--?

-- a SPIFFE bundle with a key for tokens
UPDATE broker.identity_provider SET jwks = '{"keys": [{"kty": "EC", "use": "x509-svid", "crv": "P-256", "x": "a", "y": "b"}, {"kty": "EC", "kid": "1", "use": "jwt-svid", "crv": "P-256", "x": "a", "y": "b"}]}' WHERE name = 'ci';
--> nothing

-- an audience twice in one list
UPDATE broker.identity_provider SET audiences = '{acme,acme}' WHERE name = 'ci';
--> Identity provider "ci": audiences has "acme" twice.
--? '{mintmark-acme}'
--! 23514

-- the audience of another tenant's provider is taken over
UPDATE broker.identity_provider SET audiences = '{acme,other}' WHERE name = 'ci';
--> Issuer "https://ci.example.com" with audience "other" already belongs to another identity provider.
--? Have the clients request a separate audience

-- an issuer with a query
UPDATE broker.identity_provider SET issuer = 'https://ci.example.com/?tenant=acme' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://ci.example.com/?tenant=acme" has a query or more than 255 characters.
--? An issuer has no query

-- a private key among the keys
UPDATE broker.identity_provider SET jwks = '{"keys": [{"kty": "EC", "d": "x"}]}' WHERE name = 'ci';
--> Identity provider "ci": jwks contains a private or secret key.
--? public keys only

-- the largest key set
UPDATE broker.identity_provider SET jwks = jsonb_build_object('keys', jsonb_build_array(jsonb_build_object('kty', 'EC', 'crv', 'P-256', 'x', 'x', 'y', 'y', 'x5c', repeat('x', 65000)))) WHERE name = 'ci';
--> nothing

-- a larger one
UPDATE broker.identity_provider SET jwks = jsonb_build_object('keys', jsonb_build_array(jsonb_build_object('kty', 'EC', 'crv', 'P-256', 'x', 'x', 'y', 'y', 'x5c', repeat('x', 65536)))) WHERE name = 'ci';
--> Identity provider "ci": jwks has 65608 bytes; the maximum is 65536.
--? Write the keys alone, without their certificates (x5c).
--! 23514

-- a key set with a number that no double can hold
UPDATE broker.identity_provider SET jwks = '{"keys": [{"kty": "EC", "crv": "P-256", "x": "x", "y": "y", "n": 1e1001}]}' WHERE name = 'ci';
--> Identity provider "ci": jwks has a number of 1002 characters, which is outside the range of a double: 10000000000000000000….
--! 23514

-- certificates of 64 KiB
UPDATE broker.identity_provider SET ca_certificate = rpad('-----BEGIN CERTIFICATE-----', 65536, 'x') WHERE name = 'ci';
--> nothing

-- more certificates
UPDATE broker.identity_provider SET ca_certificate = rpad('-----BEGIN CERTIFICATE-----', 65537, 'x') WHERE name = 'ci';
--> Identity provider "ci": ca_certificate has 65537 bytes; the maximum is 65536.
--! 23514

-- required claims of 4 KiB
UPDATE broker.identity_provider SET required_claims = jsonb_build_object('a', repeat('x', 4087)) WHERE name = 'ci';
--> nothing

-- longer required claims
UPDATE broker.identity_provider SET required_claims = jsonb_build_object('a', repeat('x', 4088)) WHERE name = 'ci';
--> Identity provider "ci": in its required_claims, the JSON has 4097 bytes; the maximum is 4096.
--! 23514

-- a glob of nine stars in required claims
UPDATE broker.identity_provider SET required_claims = '{"ref": ["main", {"glob": "a*a*a*a*a*a*a*a*a*"}]}' WHERE name = 'ci';
--> Identity provider "ci": in its required_claims, the glob for "ref" has 9 stars; the maximum for a glob is 8.
--! 23514

-- a thousand audiences
UPDATE broker.identity_provider SET audiences = ARRAY(SELECT 'a' || n FROM generate_series(1, 1000) AS n) WHERE name = 'ci';
--> nothing

-- one more
UPDATE broker.identity_provider SET audiences = ARRAY(SELECT 'a' || n FROM generate_series(1, 1001) AS n) WHERE name = 'ci';
--> Identity provider "ci": audiences has 1001 elements; the maximum is 1000.
--! 23514

-- the name of another tenant's
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('ci', 'other', 'https://ci.example.com', '{third}');
--> Another tenant has an identity provider "ci"; names are unique across tenants.
--? Start the name with the tenant, for example "other-ci".
--! 23505 an_identity_provider_name_is_taken_once

-- its own once more, where that is to change nothing
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('ci', 'acme', 'https://ci.example.com', '{acme}') ON CONFLICT DO NOTHING;
--> nothing

-- 256 values in required_claims: c and its elements
UPDATE broker.identity_provider SET required_claims = jsonb_build_object('c', (SELECT jsonb_agg(n) FROM generate_series(1, 255) AS n)) WHERE name = 'ci';
--> nothing

-- one value more
UPDATE broker.identity_provider SET required_claims = jsonb_build_object('c', (SELECT jsonb_agg(n) FROM generate_series(1, 256) AS n)) WHERE name = 'ci';
--> Identity provider "ci": its required_claims have 257 fields and elements in all; the maximum is 256.
--! 23514 required_claims_have_up_to_256_values_in_8_levels

-- a type of tokens that is none
UPDATE broker.identity_provider SET token_types = '{"vnd.example+jwt; v=1"}' WHERE name = 'ci';
--> Identity provider "ci": token_types has "vnd.example+jwt; v=1", which is not a media type.
--? are always accepted

-- a type of tokens twice
UPDATE broker.identity_provider SET token_types = '{a+jwt,a+jwt}' WHERE name = 'ci';
--> Identity provider "ci": token_types has "a+jwt" twice.
--?

-- no types of tokens as null
UPDATE broker.identity_provider SET token_types = NULL WHERE name = 'ci';
--> A row of broker.identity_provider needs "token_types", which is missing or null.
--?

-- types of tokens
UPDATE broker.identity_provider SET token_types = '{vnd.example+jwt,application/other+jwt}' WHERE name = 'ci';
--> nothing

-- a claim that tokens of all of GitHub may have, as that of an owner
UPDATE broker.shared_issuer SET owner_claims = owner_claims || '{repository_visibility}' WHERE issuer = 'https://token.actions.githubusercontent.com';
--> Shared issuer "https://token.actions.githubusercontent.com": owner_claims has "repository_visibility", which does not identify the owner of a token of GitHub Actions.
--? List claims whose values one owner alone has, for example '{repository_owner_id,repository_id}'.
--! 23514

-- the audience, which a job chooses
UPDATE broker.shared_issuer SET owner_claims = '{aud}' WHERE issuer = 'https://gitlab.com';
--> Shared issuer "https://gitlab.com": owner_claims has "aud", which does not identify the owner of a token of GitLab.
--? would accept tokens of strangers
--! 23514

-- a workflow that strangers may call
UPDATE broker.shared_issuer SET owner_claims = '{job_workflow_ref}' WHERE issuer = 'https://token.actions.githubusercontent.com';
--> Shared issuer "https://token.actions.githubusercontent.com": owner_claims has "job_workflow_ref", which does not identify the owner of a token of GitHub Actions.
--? would accept tokens of strangers
--! 23514

-- a slug that is unique in an organization only
UPDATE broker.shared_issuer SET owner_claims = '{pipeline_slug}' WHERE issuer = 'https://agent.buildkite.com';
--> Shared issuer "https://agent.buildkite.com": owner_claims has "pipeline_slug", which does not identify the owner of a token of Buildkite.
--? for example '{organization_id,pipeline_id}'.
--! 23514

-- an issuer that nobody knows, and a claim that all tokens have
INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://ci.example.net', '{org,email_verified}');
--> Shared issuer "https://ci.example.net": owner_claims has "email_verified", which does not identify the owner of a token.
--? for example the id of an organization.
--! 23514

-- each listed claim of the release, written again
UPDATE broker.shared_issuer SET owner_claims = owner_claims || '{}';
--> nothing
