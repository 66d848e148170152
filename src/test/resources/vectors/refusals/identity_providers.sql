-- an issuer in plain http
UPDATE broker.identity_provider SET issuer = 'http://ci.example.com' WHERE name = 'ci';
--> Identity provider "ci": the issuer "http://ci.example.com" is no https address.
--? Plain http is for localhost only.

-- an issuer in plain http that only begins like loopback
UPDATE broker.identity_provider SET issuer = 'http://localhost.example.com' WHERE name = 'ci';
--> Identity provider "ci": the issuer "http://localhost.example.com" is no https address.
--?

-- an issuer in plain http on loopback
UPDATE broker.identity_provider SET issuer = 'http://localhost:8080/realms/dev' WHERE name = 'ci';
--> nothing

-- keys at an address that is none
UPDATE broker.identity_provider SET jwks_uri = '/keys' WHERE name = 'ci';
--> Identity provider "ci": the jwks_uri "/keys" is no https address.
--? write its key set into jwks

-- the same issuer and audience twice
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('ci2', 'other', 'https://ci.example.com', '{new,acme}');
--> Issuer "https://ci.example.com" with audience "acme" already leads to another identity provider.
--? A token's issuer and audience must lead to exactly one tenant.

-- an algorithm with a shared secret
UPDATE broker.identity_provider SET algorithms = '{RS256,HS256}' WHERE name = 'ci';
--> Identity provider "ci": the algorithm "HS256" is not accepted.
--? There are: ES256, ES384, ES512, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512.

-- one-time tokens for ever
UPDATE broker.identity_provider SET one_time_tokens = true WHERE name = 'ci';
--> Identity provider "ci" has one_time_tokens without a max_token_age.
--? For example max_token_age = 600.

-- a shared issuer without an owner
UPDATE broker.identity_provider SET issuer = 'https://token.actions.githubusercontent.com' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://token.actions.githubusercontent.com" gives tokens to anybody, and required_claims names no owner by an exact value.
--? Require at least one of repository_owner_id, repository_id,

-- a shared issuer whose owner is a glob
UPDATE broker.identity_provider SET issuer = 'https://token.actions.githubusercontent.com', required_claims = '{"repository": {"glob": "acme/*"}}' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://token.actions.githubusercontent.com" gives tokens to anybody, and required_claims names no owner by an exact value.
--? a glob does not do

-- a shared issuer whose owner may be a glob
UPDATE broker.identity_provider SET issuer = 'https://token.actions.githubusercontent.com', required_claims = '{"repository": ["acme/app", {"glob": "acme/*"}]}' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://token.actions.githubusercontent.com" gives tokens to anybody, and required_claims names no owner by an exact value.
--?

-- a shared issuer with a claim that everybody has
UPDATE broker.identity_provider SET issuer = 'https://token.actions.githubusercontent.com', required_claims = '{"ref": "refs/heads/main"}' WHERE name = 'ci';
--> Identity provider "ci": the issuer "https://token.actions.githubusercontent.com" gives tokens to anybody, and required_claims names no owner by an exact value.
--?

-- a shared issuer with its owner
UPDATE broker.identity_provider SET issuer = 'https://token.actions.githubusercontent.com', required_claims = '{"repository_owner_id": ["1234", "5678"]}' WHERE name = 'ci';
--> nothing

-- an issuer becomes a shared one under a provider that names no owner
INSERT INTO broker.shared_issuer (issuer, owner_claims) VALUES ('https://ci.example.com', '{org}');
--> Identity provider "ci": the issuer "https://ci.example.com" gives tokens to anybody, and required_claims names no owner by an exact value.
--? {"org": "…"}

-- a condition that is null
UPDATE broker.identity_provider SET required_claims = '{"org": null}' WHERE name = 'ci';
--> Identity provider "ci": in its required_claims, the condition on "org" is null, and an absent claim never matches.
--? For example {"environment": "production"

-- an identity provider is in use
DELETE FROM broker.identity_provider WHERE name = 'ci';
--> update or delete on table "identity_provider" violates…
--?

-- an audience twice in one list
UPDATE broker.identity_provider SET audiences = '{acme,acme}' WHERE name = 'ci';
--> new row for relation "identity_provider" violates check constraint "audiences_are_a_list_without_blanks_and_repeats"
--?

-- the audience of another tenant's provider is taken over
UPDATE broker.identity_provider SET audiences = '{acme,other}' WHERE name = 'ci';
--> Issuer "https://ci.example.com" with audience "other" already leads to another identity provider.
--? Let the clients ask their issuer for an audience of their own

-- an issuer with a query
UPDATE broker.identity_provider SET issuer = 'https://ci.example.com/?tenant=acme' WHERE name = 'ci';
--> new row for relation "identity_provider" violates check constraint "an_issuer_has_no_query_and_up_to_255_characters"
--?

-- a private key among the keys
UPDATE broker.identity_provider SET jwks = '{"keys": [{"kty": "EC", "d": "x"}]}' WHERE name = 'ci';
--> new row for relation "identity_provider" violates check constraint "jwks_holds_public_keys_only"
--?
