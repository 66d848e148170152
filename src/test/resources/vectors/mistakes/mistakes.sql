-- match is forgotten
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:*', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:*": glob_sign_in_exact_subject
--? With match exact, "*" in subject is literal. Set match to glob, where * matches within one segment and
--! 01000

-- a regular expression as a glob
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:.*', 'glob', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:.*": glob_matches_less_than_it_seems
--? The glob matches only values with ".*". Correct it: * matches within one segment (no : and no /), ** across
--! 01000

-- match regex
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:.*', 'regex', 'deploy', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:.*" has the unknown match "regex"; use exact or glob.
--? exact compares the whole subject. In a glob, * matches within a segment, and ** across
--! 23514

-- match in capitals
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:*', 'GLOB', 'deploy', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:*" has the unknown match "GLOB"; use exact or glob.
--? exact compares the whole subject. In a glob, * matches within a segment, and ** across
--! 23514

-- a blank behind the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:main ', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:main ": white_space
--? The subject has a space at its start or end, and values are compared exactly. Correct it.
--! 01000

-- a line end behind the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', E'repo:acme/shop:main\n', 'deploy', 'OPS-1');
--> The grant of key "deploy" has a subject that has control characters.
--? Write the sub claim of the tokens as it is, for example
--! 23514

-- a star in a claim
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"ref": "refs/heads/*"}', 'OPS-1');
--> Grant of key "deploy" to "x": star_in_plain_claim
--? The value "refs/heads/*" is compared as plain text, not as a pattern. To match a pattern, write {"glob": …}; for a choice,
--! 01000

-- dots for a pointer
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"realm_access.roles": "ops"}', 'OPS-1');
--> Grant of key "deploy" to "x": pointer_without_slash
--? "realm_access.roles" names a top-level claim. To name a claim inside another one, write a JSON pointer
--! 01000

-- an object for a pointer
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"realm_access": {"roles": "ops"}}', 'OPS-1');
--> The grant of key "deploy" to "x": in its claims, the condition on "realm_access" is an object; the only allowed object is {"glob": "…"}.
--? For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups":
--! 23514

-- an id of GitHub as a number
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'github', 'x', 'deploy', '{"repository_id": 99}', 'OPS-1');
--> Grant of key "deploy" to "x": claim_of_other_type
--? The issuer sends "repository_id" as a string, so this condition never matches. Write the value with that type.
--! 01000

-- claims as a list
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '[{"ref": "main"}]', 'OPS-1');
--> The grant of key "deploy" to "x": in its claims, the JSON must be an object such as {"environment": "production"}, not a list.
--? For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups":
--! 23514

-- claims that are no JSON
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{ref: main}', 'OPS-1');
--> invalid input syntax for type json
--! 22P02

-- a claim that is null
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"ref": null}', 'OPS-1');
--> The grant of key "deploy" to "x": in its claims, the condition on "ref" is null, which matches no token.
--? For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups":
--! 23514

-- an end of last year
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, reason) VALUES ('acme', 'ci', 'x', 'deploy', '2025-12-31', 'OPS-1');
--> Grant of key "deploy" to "x": ended_already
--? The row ended before it was written, so it has no effect. Set a later end, or null for no end.
--! 01000

-- an end before its start
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from, valid_until, reason) VALUES ('acme', 'ci', 'x', 'deploy', '2031-01-01', '2030-01-01', 'OPS-1');
--> The grant of key "deploy" to "x" ends (valid_until 2030-01-01 00:00:00+00) before it starts (valid_from 2031-01-01 00:00:00+00).
--? Set a later valid_until, or null for no end.
--! 23514

-- an end at infinity
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'infinity', 'OPS-1');
--> The grant of key "deploy" to "x": valid_from and valid_until must be finite.
--? For no start or no end, write null, not infinity.
--! 23514

-- a grant longer than its key
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason) VALUES ('acme', 'ci', 'x', 'deploy', 7200, 'OPS-1');
--> Grant of key "deploy" to "x": longer_than_its_key
--? Key "deploy" issues credentials for at most 3600 seconds, and the shorter duration applies. Raise
--! 01000

-- a duration in minutes
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason) VALUES ('acme', 'ci', 'x', 'deploy', 15, 'OPS-1');
--> The grant of key "deploy" to "x" has a max_duration of 15 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--? Write 900 or more, or null to leave it to the key.
--! 23514

-- a duration in words
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason) VALUES ('acme', 'ci', 'x', 'deploy', '1h', 'OPS-1');
--> invalid input syntax for type integer: "1h"
--! 22P02

-- no reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'x', 'deploy');
--> Grant of key "deploy" to "x": no_reason
--? The grant has no reason, and auditors ask for one. Write a reason, for example a ticket.
--! 01000

-- a whole organisation
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'github', 'repo:acme/*:ref:refs/heads/main', 'glob', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/*:ref:refs/heads/main": whole_organisation
--? The row matches every repository, project, pipeline or namespace of the owner. Name one in the subject or, better, by its
--! 01000

-- everybody
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'github', '**', 'glob', 'deploy', 'OPS-1');
--> The grant of key "deploy" to "**" has a glob that does not start with a literal segment.
--? The text up to the first : or / must not contain * (in a URI: the text up to the end of its host), for example "repo:acme/app:ref:refs/heads/**" or
--! 23514

-- the same grant again
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'OPS-1'), ('acme', 'ci', 'x', 'deploy', 'OPS-2');
--> duplicate key value violates unique constraint "a_grant_is_written_once"
--! 23505

-- a key that is misspelt
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'depoly', 'OPS-1');
--> Tenant "acme" has no key "depoly".
--? Did you mean "deploy"? It has: api, deploy, exchanged.
--! 23503

-- a subject that is missing in one row of many
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) SELECT 'acme', 'ci', CASE WHEN n <> 7 THEN 'x' || n END, 'deploy', 'OPS-' || n FROM generate_series(1, 9) AS n;
--> A row of broker.subject_grant needs "subject", which is missing or null.
--? "subject": The sub claim, or a glob over it (see match).
--! 23502

-- a column of another name
INSERT INTO broker.subject_grant (tenant, idp, sub, key) VALUES ('acme', 'ci', 'x', 'deploy');
--> column "sub" of relation "subject_grant" does not exist
--! 42703

-- columns without their names
INSERT INTO broker.subject_grant VALUES ('acme', 'ci', 'x', 'exact', 'deploy');
--> invalid input syntax for type bigint: "acme"
--! 22P02

-- an id of the writer
INSERT INTO broker.subject_grant (id, tenant, idp, subject, key, reason) VALUES (7, 'acme', 'ci', 'x', 'deploy', 'OPS-1');
--> The statement sets the id 7, but the database assigns the ids of broker.subject_grant.
--! 428C9

-- an issuer with a slash too much
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://ci.example.com/', '{new}');
--> Identity provider "new": issuer_nearly_known
--? The issuer is almost the same as "https://ci.example.com", a known issuer or that of another identity provider
--! 01000

-- a shared issuer with a slash too much
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://token.actions.githubusercontent.com/', '{new}');
--> Identity provider "new": the issuer "https://token.actions.githubusercontent.com/" differs only by case or a slash from "https://token.actions.githubusercontent.com", which issues tokens to anyone, and required_claims names no owner by an exact value.
--? Write the issuer exactly as "https://token.actions.githubusercontent.com". In required_claims, require
--! 23514

-- a shared issuer without an owner
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://token.actions.githubusercontent.com', '{new}');
--> Identity provider "new": the issuer "https://token.actions.githubusercontent.com" issues tokens to anyone, and required_claims names no owner by an exact value.
--? In required_claims, require at least one of repository_owner_id, repository_id, enterprise_id,
--! 23514

-- a shared issuer whose owner is a number
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('new', 'other', 'https://token.actions.githubusercontent.com', '{new}', '{"repository_owner_id": 7}');
--> Identity provider "new": claim_of_other_type
--? The issuer sends "repository_owner_id" as a string, so this condition never matches. Write the
--! 01000

-- a discovery document for the keys
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri) VALUES ('new', 'other', 'https://new.example.com', '{new}', 'https://new.example.com/.well-known/openid-configuration');
--> Identity provider "new": jwks_uri_is_discovery
--? The jwks_uri is the issuer, or the URL of a discovery document or of another endpoint. Set it to the jwks_uri from the discovery document
--! 01000

-- an issuer without a scheme
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'new.example.com', '{new}');
--> Identity provider "new": the issuer "new.example.com" is not an https URL.
--? Write the iss claim of its tokens as it is, for example
--! 23514

-- an audience as text
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://new.example.com', 'new');
--> malformed array literal: "new"
--! 22P02

-- an audience that another tenant has
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://ci.example.com', '{acme}');
--> Issuer "https://ci.example.com" with audience "acme" already belongs to another identity provider.
--? A token's issuer and audience must identify exactly one tenant. Have the clients request a
--! 23505

-- an algorithm that is none
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, algorithms) VALUES ('new', 'other', 'https://new.example.com', '{new}', '{RS257}');
--> Identity provider "new": the algorithm "RS257" is not accepted.
--? Did you mean "RS256"? The broker accepts: ES256, ES384, ES512, EdDSA, PS256, PS384, PS512, RS256,
--! 23514

-- one-time tokens without an age
UPDATE broker.identity_provider SET one_time_tokens = true WHERE name = 'ci';
--> Identity provider "ci" has one_time_tokens without a max_token_age.
--? Set max_token_age to the maximum age of a token in seconds, for example
--! 23514

-- a private key among the keys
UPDATE broker.identity_provider SET jwks = '{"keys": [{"kty": "EC", "crv": "P-256", "x": "x", "y": "y", "d": "d"}]}' WHERE name = 'ci';
--> Identity provider "ci": jwks contains a private or secret key.
--? Write the key set as the issuer publishes it, public keys only: kty, kid and n, e (RSA)
--! 23514

-- a regular expression as an allowed target
UPDATE broker.access_provider SET allowed_targets = '{arn:aws:iam::123456789012:role/ci-.*}' WHERE tenant = 'acme' AND name = 'aws';
--> Key "deploy" of tenant "acme": the setting "role_arn" is "arn:aws:iam::123456789012:role/ci-deploy", which access provider "aws" does not allow.
--? The access provider's allowed_targets: arn:aws:iam::123456789012:role/ci-.*. A platform admin can change
--! 23514

-- a regular expression as a further allowed target
UPDATE broker.access_provider SET allowed_targets = '{arn:aws:iam::123456789012:role/ci-*,arn:aws:iam::123456789012:role/(a|b)}' WHERE tenant = 'acme' AND name = 'aws';
--> Access provider "aws": glob_matches_less_than_it_seems
--? The glob matches only targets with "(a|b)". Correct it: * matches within one segment (no : and no /), ** across
--! 01000

-- a setting that is misspelt
UPDATE broker.key SET settings = '{"rolearn": "arn:aws:iam::123456789012:role/ci-deploy"}' WHERE tenant = 'acme' AND name = 'deploy';
--> Key "deploy" of tenant "acme" has the setting "rolearn", which a key of type aws-sts does not have.
--? Did you mean "role_arn"? It has: policy, policy_arns, role_arn, session_name.
--! 23514

-- a secret in the settings
UPDATE broker.access_provider SET settings = '{"token_endpoint": "https://auth.example.com/token", "client_id": "a", "client_secret": "hunter2"}' WHERE tenant = 'acme' AND name = 'auth-any';
--> Access provider "auth-any" of tenant "acme": the setting "client_secret" must name the file with the secret; secrets are never stored in the database.
--? Write the secret to a file in the tenant's secrets directory, and "client_secret":
--! 23514

-- an output the wrong way round
UPDATE broker.key SET outputs = '{"AccessKeyId": "AWS_ACCESS_KEY_ID"}' WHERE tenant = 'acme' AND name = 'deploy';
--> Key "deploy" of tenant "acme": the output "AccessKeyId" names "AWS_ACCESS_KEY_ID", which is not a field of type aws-sts.
--? Its fields: AccessKeyId, Expiration, Region, SecretAccessKey, SessionToken.
--! 23514

-- a key that is shorter than AWS allows
UPDATE broker.key SET max_duration = 60 WHERE tenant = 'acme' AND name = 'deploy';
--> Key "deploy" of tenant "acme": max_duration is 60 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--? max_duration is in seconds. Write 900 to 43200, for example 900.
--! 23514

-- a key that is still granted
DELETE FROM broker.key WHERE tenant = 'acme' AND name = 'deploy';
--> Key "deploy" of tenant "acme" is referenced by 1 grant and cannot be deleted.
--? To stop its use: UPDATE broker.key SET enabled = false WHERE tenant = 'acme' AND
--! 23001

-- WHERE was forgotten: all tenants are disabled
UPDATE broker.tenant SET enabled = false;
--> This UPDATE affected 2 rows of broker.tenant: rows of 2 tenants.
--? TABLE broker.pending_change lists the changes. If this was a mistake, run ROLLBACK. After the
--! 01000

-- the tenant was forgotten: keys of that name, whoever has them
UPDATE broker.key SET enabled = false WHERE name = 'api';
--> This UPDATE affected 2 rows of broker.key: rows of 2 tenants.
--? TABLE broker.pending_change lists the changes. If this was a mistake, run ROLLBACK. After the
--! 01000

-- a tenant that is deleted
DELETE FROM broker.tenant WHERE name = 'acme';
--> Tenant "acme" cannot be deleted: a new tenant with its name would inherit the trust that clouds have in this one.
--? UPDATE broker.tenant SET enabled = false WHERE name = 'acme';
--! 23001

-- a table that is emptied
TRUNCATE broker.subject_grant;
--> permission denied for table subject_grant
--! 42501

-- a grant that moves to another tenant
UPDATE broker.subject_grant SET tenant = 'other' WHERE key = 'deploy';
--> A row of broker.subject_grant cannot be moved from "acme" to "other".
--? Insert a new row for the other tenant, and delete the old row.
--! 23514

-- a block with a star
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'repo:acme/shop:*', 'INC-1');
--> Block of "repo:acme/shop:*": block_matches_nothing
--? The block matched no subject of a grant, and none in audit.event in the 90 days before the block was written. This is normal if the subject never had access. Otherwise compare the block's subject
--! 01000

-- a block that has ended
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'x', 'INC-1', '2020-01-01');
--> Block of "x": ended_already
--? The row ended before it was written, so it has no effect. Set a later end, or null
--! 01000

-- an admin without a login
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'alcie');
--> Tenant admin "alcie": unknown_login
--? Login "alcie" does not exist yet. Until a DBA creates it (CREATE ROLE … LOGIN IN ROLE mintmark_tenant_admin), the row has no effect.
--! 01000

-- an audience with a blank at its end
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://new.example.com', '{"mintmark "}');
--> Identity provider "new": white_space
--? has a space at its start or end, and values are compared exactly. Correct it.
--! 01000

-- a discovery address as the issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://new.example.com/.well-known/openid-configuration', '{new}');
--> Identity provider "new": issuer_is_discovery
--? The issuer is the URL of a discovery document. Set it to the "issuer" from that document
--! 01000

-- an authorization server's metadata as the keys
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri) VALUES ('new', 'other', 'https://new.example.com', '{new}', 'https://new.example.com/.well-known/oauth-authorization-server');
--> Identity provider "new": jwks_uri_is_discovery
--? The jwks_uri is the issuer, or the URL of a discovery document or of another endpoint. Set it to the jwks_uri from the discovery document
--! 01000

-- a pointer without its first slash
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"realm_access/roles": "ops"}', 'OPS-1');
--> Grant of key "deploy" to "x": pointer_without_slash
--? "realm_access/roles" names a top-level claim. To name a claim inside another one, write a JSON pointer
--! 01000

-- a claim of GitHub that is misspelt
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', '{"enviroment": "production"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": unknown_claim
--? GitHub Actions is not known to send the claim "enviroment". Check its name, because a condition on an absent claim never
--! 01000

-- a subject of GitHub without repo:
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'acme/shop:ref:refs/heads/main', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "acme/shop:ref:refs/heads/main": subject_fits_no_form
--? By default, the subjects of GitHub Actions have only these forms:
--! 01000

-- a subject of GitHub without refs/heads/
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:acme/shop:ref:main', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:main": subject_fits_no_form
--? By default, the subjects of GitHub Actions have only these forms:
--! 01000

-- a branch of GitHub without ref:
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:acme/shop:refs/heads/main', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:refs/heads/main": subject_fits_no_form
--? By default, the subjects of GitHub Actions have only these forms:
--! 01000

-- only the repository of GitHub
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:acme/shop', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop": subject_fits_no_form
--? By default, the subjects of GitHub Actions have only these forms:
--! 01000

-- the address of a repository
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'https://github.com/acme/shop', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "https://github.com/acme/shop": subject_fits_no_form
--? By default, the subjects of GitHub Actions have only these forms:
--! 01000

-- an environment in capitals
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:acme/shop:Environment:production', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:Environment:production": subject_fits_no_form
--? By default, the subjects of GitHub Actions have only these forms:
--! 01000

-- a glob that matches pull requests and no branch
INSERT INTO broker.subject_grant (tenant, idp, subject, key, match, reason) VALUES ('acme', 'github', 'repo:acme/shop:*', 'deploy', 'glob', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:*": glob_matches_less_than_it_seems
--? The glob matches only these subjects of the issuer: repo:*/*:pull_request. Correct it: * matches within one
--! 01000

-- a glob of branches that stops at the first slash
INSERT INTO broker.subject_grant (tenant, idp, subject, key, match, reason) VALUES ('acme', 'github', 'repo:acme/shop:ref:refs/heads/feature*', 'deploy', 'glob', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/feature*": github_subject_by_name
--? The subject has no ids, so it does not match repositories that were created, renamed or moved since 2026-07-15
--! 01000

-- a whole organisation by two stars
INSERT INTO broker.subject_grant (tenant, idp, subject, key, match, reason) VALUES ('acme', 'github', 'repo:acme/**', 'deploy', 'glob', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/**": whole_organisation
--? The row matches every repository, project, pipeline or namespace of the owner. Name one in the subject or, better, by its
--! 01000

-- an owner that ends in a star
INSERT INTO broker.subject_grant (tenant, idp, subject, key, match, reason) VALUES ('acme', 'github', 'repo:acme*/shop:ref:refs/heads/next', 'deploy', 'glob', 'OPS-1');
--> nothing

-- a class of letters in a glob
INSERT INTO broker.subject_grant (tenant, idp, subject, key, match, reason) VALUES ('acme', 'github', 'repo:acme/shop:ref:refs/heads/release-[0-9]', 'deploy', 'glob', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/release-[0-9]": glob_matches_less_than_it_seems
--? The glob matches only values with "[0-9]". Correct it: * matches within one segment (no : and no /), ** across
--! 01000

-- braces of a shell in a glob
INSERT INTO broker.subject_grant (tenant, idp, subject, key, match, reason) VALUES ('acme', 'github', 'repo:acme/shop:ref:refs/heads/{main,next}', 'deploy', 'glob', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/{main,next}": glob_matches_less_than_it_seems
--? The glob matches only values with "{main,next}". Correct it: * matches within one segment (no : and no /), **
--! 01000

-- a question mark in a glob
INSERT INTO broker.subject_grant (tenant, idp, subject, key, match, reason) VALUES ('acme', 'github', 'repo:acme/shop:ref:refs/tags/v?', 'deploy', 'glob', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/tags/v?": glob_matches_less_than_it_seems
--? The glob matches only values with "v?". Correct it: * matches within one segment (no : and no /), ** across
--! 01000

-- the sign of LIKE
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:acme/shop:%', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:%": glob_sign_in_exact_subject
--? With match exact, "%" in subject is literal. Set match to glob, where * matches within one segment and
--! 01000

-- the sign of LIKE in a glob
INSERT INTO broker.subject_grant (tenant, idp, subject, key, match, reason) VALUES ('acme', 'github', 'repo:acme/shop:%', 'deploy', 'glob', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:%": glob_matches_less_than_it_seems
--? The glob matches only values with "%". Correct it: * matches within one segment (no : and no /), ** across
--! 01000

-- a tag where a branch is meant
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:acme/shop:ref:refs/tag/v1', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/tag/v1": subject_fits_no_form
--? By default, the subjects of GitHub Actions have only these forms:
--! 01000

-- a zero-width space in the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:acme/​shop:ref:refs/heads/main', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/​shop:ref:refs/heads/main": white_space
--? has an invisible character, and values are compared exactly. Correct it.
--! 01000

-- a Cyrillic letter in the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:аcme/shop:ref:refs/heads/main', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:аcme/shop:ref:refs/heads/main": white_space
--? has letters of another script that look like Latin ones, and values are compared exactly
--! 01000

-- a space that does not break at the end
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:acme/shop:ref:refs/heads/main ', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main ": white_space
--? has an invisible character, and values are compared exactly. Correct it.
--! 01000

-- quotes in the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', '"repo:acme/shop:ref:refs/heads/main"', 'deploy', 'OPS-1');
--> Grant of key "deploy" to ""repo:acme/shop:ref:refs/heads/main"": stray_punctuation
--? The subject has a stray " at its start or end, and values are compared exactly. Correct it.
--! 01000

-- an owner of another case
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:Acme/shop:ref:refs/heads/main', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:Acme/shop:ref:refs/heads/main": github_subject_by_name
--? The subject has no ids, so it does not match repositories that were created, renamed or moved since 2026-07-15
--! 01000

-- a repository that does not exist
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:acme/shpo:ref:refs/heads/main', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shpo:ref:refs/heads/main": github_subject_by_name
--? The subject has no ids, so it does not match repositories that were created, renamed or moved since 2026-07-15
--! 01000

-- a boolean that GitHub sends as a string
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', '{"ref_protected": true}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": claim_of_other_type
--? The issuer sends "ref_protected" as a string, so this condition never matches. Write the value with
--! 01000

-- a star in a list of a claim
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:environment:production', 'deploy', '{"actor": ["alice", "b*"]}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:environment:production": star_in_plain_claim
--? The value "b*" is compared as plain text, not as a pattern. To match a pattern, write {"glob": …}; for a choice, write a
--! 01000

-- a regular expression in a claim
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:environment:production', 'deploy', '{"ref": "^refs/heads/main$"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:environment:production": star_in_plain_claim
--? The value "^refs/heads/main$" is compared as plain text, not as a pattern. To match a pattern, write {"glob": …}; for a
--! 01000

-- a claim of another issuer
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:environment:production', 'deploy', '{"project_path": "acme/shop"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:environment:production": unknown_claim
--? GitHub Actions is not known to send the claim "project_path". Check its name, because a condition on an absent claim never
--! 01000

-- a pointer for a claim that is not nested
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:environment:production', 'deploy', '{"/environment": "production"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:environment:production": unknown_claim
--? GitHub Actions is not known to send the claim "/environment". Check its name, because a condition on an absent claim never
--! 01000

-- a pattern for a claim by another word
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"ref": {"like": "refs/heads/*"}}', 'OPS-1');
--> The grant of key "deploy" to "x": in its claims, the condition on "ref" is an object; the only allowed object is {"glob": "…"}.
--? For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups": ["ops",
--! 23514

-- an empty list of values
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"ref": []}', 'OPS-1');
--> The grant of key "deploy" to "x": in its claims, the list for "ref" is empty, so no token can match.
--? For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups": ["ops",
--! 23514

-- a window that is shorter than a credential
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, reason) VALUES ('acme', 'ci', 'x', 'deploy', now() + interval '5 minutes', 'OPS-1');
--> Grant of key "deploy" to "x": never_long_enough
--? The time from valid_from to valid_until is shorter than the shortest credential (900 seconds), so nothing can be minted. Set a later valid_until.
--! 01000

-- a window that begins after it ended
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from, valid_until, reason) VALUES ('acme', 'ci', 'x', 'deploy', '2099-01-02', '2099-01-01', 'OPS-1');
--> The grant of key "deploy" to "x" ends (valid_until 2099-01-01 00:00:00+00) before it starts (valid_from 2099-01-02 00:00:00+00).
--? Set a later valid_until, or null for no end.
--! 23514

-- a grant that begins in a hundred years
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from, reason) VALUES ('acme', 'ci', 'x', 'deploy', '2126-01-01', 'OPS-1');
--> Grant of key "deploy" to "x": far_away
--? The grant has no effect before 2126-01-01. Check the year of valid_from; for a grant from now on,
--! 01000

-- an end in ten thousand years
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, reason) VALUES ('acme', 'ci', 'x', 'deploy', '12026-01-01', 'OPS-1');
--> The grant of key "deploy" to "x": valid_from and valid_until must be in the years 1 to 9999.
--? For no start or no end, use null.
--! 23514

-- a duration below the least of the type
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason) VALUES ('acme', 'ci', 'x', 'deploy', 60, 'OPS-1');
--> The grant of key "deploy" to "x" has a max_duration of 60 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--? Write 900 or more, or null to leave it to the key.
--! 23514

-- a negative duration
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason) VALUES ('acme', 'ci', 'x', 'deploy', -3600, 'OPS-1');
--> The grant of key "deploy" to "x" has a max_duration of -3600 seconds.
--? Write a positive number, or null to leave it to the key.
--! 23514

-- a reason of one blank
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', ' ');
--> Grant of key "deploy" to "x": no_reason
--? The grant has no reason, and auditors ask for one. Write a reason, for example a ticket.
--! 01000

-- a token in the reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'used ghp_abcdefghijklmnopqrstuvwxyz0123456789 to test');
--> reason in broker.subject_grant contains what looks like a token or a key ("ghp_a…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- a key of AWS in the reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'AKIAIOSFODNN7EXAMPLE');
--> reason in broker.subject_grant contains what looks like a token or a key ("AKIAI…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- an identity token in the reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl');
--> reason in broker.subject_grant contains what looks like a token or a key ("eyJhb…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- an identity provider of another tenant
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'elsewhere', 'x', 'deploy', 'OPS-1');
--> Tenant "acme" has no identity provider "elsewhere".
--? It has: ci, github. Tenant "other" has one with that name, but a row can only reference objects
--! 23503

-- an identity provider that is misspelt
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'gitub', 'x', 'deploy', 'OPS-1');
--> Tenant "acme" has no identity provider "gitub".
--? Did you mean "github"? It has: ci, github.
--! 23503

-- a disabled grant is thought to be active
INSERT INTO broker.subject_grant (tenant, idp, subject, key, enabled, reason) VALUES ('acme', 'ci', 'x', 'deploy', false, 'OPS-1');
--> nothing

-- a tenant in capitals
INSERT INTO broker.tenant (name) VALUES ('Acme');
--> "Acme" is not a valid tenant name.
--? Use a lower-case letter, then up to 39 lower-case letters, digits and hyphens, for example "acme"
--! 23514

-- a tenant with an underscore
INSERT INTO broker.tenant (name) VALUES ('acme_shop');
--> "acme_shop" is not a valid tenant name.
--? Use a lower-case letter, then up to 39 lower-case letters, digits and hyphens, for example "acme"
--! 23514

-- a tenant that exists
INSERT INTO broker.tenant (name) VALUES ('acme');
--> duplicate key value violates unique constraint "a_tenant_name_is_taken_once"
--! 23505

-- a tenant is renamed
UPDATE broker.tenant SET name = 'acme-inc' WHERE name = 'acme';
--> Tenant "acme" cannot be renamed: clouds and the audit log know it by this name.
--? Change its display_name, or create a new tenant and disable this one.
--! 23001

-- a maximum age in minutes
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, max_token_age) VALUES ('new', 'other', 'https://new.example.com', '{new}', 15);
--> Identity provider "new": token_age_too_short
--? A max_token_age of 15 seconds rejects the tokens of slow clients. Use 60 or more.
--! 01000

-- an audience with an invisible character
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://new.example.com', '{mint​mark}');
--> Identity provider "new": white_space
--? has an invisible character, and values are compared exactly. Correct it.
--! 01000

-- an audience in quotes twice
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://new.example.com', '{"\"mintmark\""}');
--> Identity provider "new": stray_punctuation
--? has a stray " at its start or end, and values are compared exactly. Correct it.
--! 01000

-- no audience
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://new.example.com', '{}');
--> Identity provider "new": audiences is empty.
--? List the audiences (aud) of its tokens for this broker, for example '{mintmark-acme}'.
--! 23514

-- a clock skew of a day
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, clock_skew) VALUES ('new', 'other', 'https://new.example.com', '{new}', 86400);
--> Identity provider "new" has a clock_skew of 86400 seconds.
--? Write 0 to 3600.
--! 23514

-- an issuer by plain http
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'http://new.example.com', '{new}');
--> Identity provider "new": the issuer "http://new.example.com" is not an https URL.
--? Write the iss claim of its tokens as it is, for example
--! 23514

-- an issuer with a query
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://new.example.com?tenant=1', '{new}');
--> Identity provider "new": the issuer "https://new.example.com?tenant=1" has a query or more than 255 characters.
--? Write the iss claim of its tokens as it is. An issuer has no query (OpenID Connect Discovery).
--! 23514

-- a required claim that is misspelt
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('new', 'other', 'https://token.actions.githubusercontent.com', '{new}', '{"repository_owner_id": "7", "repo": "acme/shop"}');
--> Identity provider "new": unknown_claim
--? GitHub Actions is not known to send the claim "repo". Check its name, because a condition on an absent claim never matches.
--! 01000

-- a required owner by a glob
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('new', 'other', 'https://token.actions.githubusercontent.com', '{new}', '{"repository_owner": {"glob": "*"}}');
--> Identity provider "new": the issuer "https://token.actions.githubusercontent.com" issues tokens to anyone, and required_claims names no owner by an exact value.
--? In required_claims, require at least one of repository_owner_id, repository_id, enterprise_id, repository_owner,
--! 23514

-- an algorithm in small letters
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, algorithms) VALUES ('new', 'other', 'https://new.example.com', '{new}', '{rs256}');
--> Identity provider "new": the algorithm "rs256" is not accepted.
--? Did you mean "RS256"? The broker accepts: ES256, ES384, ES512, EdDSA, PS256, PS384, PS512, RS256, RS384,
--! 23514

-- a shared secret's algorithm
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, algorithms) VALUES ('new', 'other', 'https://new.example.com', '{new}', '{HS256}');
--> Identity provider "new": the algorithm "HS256" is not accepted.
--? Did you mean "ES256"? The broker accepts: ES256, ES384, ES512, EdDSA, PS256, PS384, PS512, RS256, RS384,
--! 23514

-- a certificate that is none
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, ca_certificate) VALUES ('new', 'other', 'https://new.example.com', '{new}', 'MIIB');
--> Identity provider "new": ca_certificate must be PEM with certificates only.
--? Write the certificates of the authorities to trust when fetching keys, without a private key.
--! 23514

-- an output that names PATH
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}', '{"PATH": "AccessKeyId"}');
--> Key "new" of tenant "acme": the output "PATH" is a variable that changes what programs run, load, trust or connect to.
--? Choose another name, for example one that starts with the name of the service.
--! 23514

-- an output that loads a library
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}', '{"LD_PRELOAD": "SecretAccessKey"}');
--> Key "new" of tenant "acme": the output "LD_PRELOAD" is a variable that changes what programs run, load, trust or connect to.
--? Choose another name, for example one that starts with the name of the service.
--! 23514

-- an output with a dash
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}', '{"AWS-KEY": "AccessKeyId"}');
--> Key "new" of tenant "acme": "AWS-KEY" is not a valid output name.
--? Use letters, digits and _, and no digit first, for example {"AWS_ACCESS_KEY_ID": "AccessKeyId"}.
--! 23514

-- a policy without Version
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy": {"Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}}');
--> Key "new": incomplete_policy
--? The policy has no valid Version. AWS rejects statements without Effect, Action and Resource, and
--! 01000

-- a policy without Resource
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject"}]}}');
--> Key "new": incomplete_policy
--? The policy has no valid Resource. AWS rejects statements without Effect, Action and Resource, and
--! 01000

-- a policy that is no JSON
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy": "Allow s3:*"}');
--> Key "new" of tenant "acme": the setting "policy" must be a policy: a JSON object, or a string that contains one.
--? Write a JSON object of at most 2048 characters, not counting whitespace.
--! 23514

-- a role of another account
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::210987654321:role/ci-deploy"}');
--> Key "new" of tenant "acme": the setting "role_arn" is "arn:aws:iam::210987654321:role/ci-deploy", which access provider "aws" does not allow.
--? The access provider's allowed_targets: arn:aws:iam::123456789012:role/ci-*. A platform admin can change them.
--! 23514

-- a user instead of a role
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:user/ci-deploy"}');
--> Key "new" of tenant "acme": the setting "role_arn" is "arn:aws:iam::123456789012:user/ci-deploy", which is not the ARN of a role.
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".
--! 23514

-- a session name without the mint id
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "session_name": "ci"}');
--> Key "new" of tenant "acme": the setting "session_name" is "ci"; it must contain {mint_id}.
--? For example "session_name": "ci-{mint_id}".
--! 23514

-- a key of a day and more
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 86400, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}');
--> Key "new" of tenant "acme": max_duration is 86400 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--? max_duration is in seconds. Write 900 to 43200, for example 43200.
--! 23514

-- a secret of AWS in a description
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, description) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}', 'AKIAIOSFODNN7EXAMPLE');
--> description in broker.key contains what looks like a token or a key ("AKIAI…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- a private key in the settings
UPDATE broker.access_provider SET settings = settings || '{"region": "-----BEGIN PRIVATE KEY-----"}' WHERE tenant = 'acme' AND name = 'aws';
--> settings in broker.access_provider contains what looks like a token or a key ("-----…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- a region that is misspelt
UPDATE broker.access_provider SET settings = '{"region": "eu-centrl-1"}' WHERE tenant = 'acme' AND name = 'aws';
--> Access provider "aws": unlikely_settings
--? has a region that AWS does not have
--! 01000

-- an endpoint by plain http
UPDATE broker.access_provider SET settings = '{"endpoint": "http://minio.example.com"}' WHERE tenant = 'acme' AND name = 'minio';
--> nothing

-- a shared identity for any target
UPDATE broker.access_provider SET shared_identity = true WHERE tenant = 'acme' AND name = 'any';
--> Access provider "any" of tenant "acme" has shared_identity, so all tenants look alike to the provider, but its allowed_targets is **, which allows every target.
--? List this tenant's targets in allowed_targets, because nothing else separates tenants with shared_identity.
--! 23514

-- a type that is misspelt
INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'new', 'aws_sts');
--> Access provider "new" of tenant "acme" has the unknown type "aws_sts".
--? Did you mean "aws-sts"? There are: aws-sts, azure, gcp, github-app, jwt, kubernetes, oauth2, postgresql, s3-sts, ssh, webhook, x509.
--! 23503

-- a block of a subject that is misspelt
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'repo:acme/ap:main', 'INC-1');
--> Block of "repo:acme/ap:main": block_matches_nothing
--? The block matched no subject of a grant, and none in audit.event in the 90 days before the block was written. This is normal if the subject never had access. Otherwise compare the block's subject
--! 01000

-- a block by a glob that matches nothing
INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES ('acme', 'repo:acme/shpo:**', 'glob', 'INC-1');
--> Block of "repo:acme/shpo:**": block_matches_nothing
--? The block matched no subject of a grant, and none in audit.event in the 90 days before the block was written. This is normal if the subject never had access. Otherwise compare the block's subject
--! 01000

-- a block without a reason
INSERT INTO broker.blocked_subject (tenant, subject) VALUES ('acme', 'repo:acme/app:main');
--> A row of broker.blocked_subject needs "reason", which is missing or null.
--? "reason": Why the subject is blocked, for example an incident.
--! 23502

-- a block of everything
INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES ('acme', '**', 'glob', 'INC-1');
--> The block of "**" has a glob that does not start with a literal segment.
--? The text up to the first : or / must not contain * (in a URI: the text up to the end of its host), for example "repo:acme/app:**"
--! 23514

-- a block in all tenants by an identity provider
INSERT INTO broker.blocked_subject (idp, subject, reason) VALUES ('ci', 'repo:acme/app:main', 'INC-1');
--> The block of "repo:acme/app:main" sets idp "ci" but no tenant.
--? Set tenant too. A block in all tenants applies to the subject of any identity provider
--! 23514

-- an access to the console without a tenant
INSERT INTO broker.console_access (claim, value, reason) VALUES ('groups', '"staff"', 'OPS-1');
--> The row of broker.console_access has no tenant.
--? Set tenant. For access to every tenant and to the page Proof, set all_tenants = true instead.
--! 23514

-- an access to the console of all tenants for everybody
INSERT INTO broker.console_access (all_tenants, claim, value, reason) VALUES (true, 'email_verified', 'true', 'OPS-1');
--> Access to the console by "email_verified": access_for_everybody
--? The row gives access to everyone who can log in. Use a claim and a value that only the right people have.
--! 01000

-- an access to the console for any e-mail address
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '{"glob": "**"}', 'OPS-1');
--> Access to the console by "email": access_for_everybody
--? The row gives access to everyone whose ID token has the claim. Use a claim and a value that only the
--! 01000

-- an access to the console by a name that users choose
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'preferred_username', '"admin"', 'OPS-1');
--> Access to the console by "preferred_username": claim_of_the_users_choice
--? Users can often set the claim "preferred_username" themselves, and could grant themselves access that way. Prefer sub, or groups that only admins assign.
--! 01000

-- an admin of a tenant that does not exist
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acne', 'alice');
--> There is no tenant "acne".
--? Did you mean "acme"?
--! 23503

-- a blank behind the value of a claim
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"environment": "production "}', 'OPS-1');
--> Grant of key "deploy" to "x": white_space
--? has a space at its start or end, and values are compared exactly. Correct it.
--! 01000

-- an invisible character in the value of a claim
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', U&'{"environment": ["staging", "prod\200Buction"]}', 'OPS-1');
--> Grant of key "deploy" to "x": white_space
--? has an invisible character, and values are compared exactly. Correct it.
--! 01000

-- a blank behind the name of a claim
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"environment ": "production"}', 'OPS-1');
--> Grant of key "deploy" to "x": white_space
--? has a space at its start or end, and values are compared exactly. Correct it.
--! 01000

-- a branch of GitHub by its short name
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:**', 'glob', 'deploy', '{"ref": "main"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:**": claim_fits_no_form
--? GitHub Actions sends "ref" as refs/heads/** or refs/tags/** or refs/pull/**, so the condition "main"
--! 01000

-- a ref of GitHub without its s
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:**', 'glob', 'deploy', '{"ref": "refs/head/main"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:**": claim_fits_no_form
--? GitHub Actions sends "ref" as refs/heads/** or refs/tags/** or refs/pull/**, so the condition
--! 01000

-- a repository of GitHub without its owner
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/**', 'glob', 'deploy', '{"repository": "shop"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/**": claim_fits_no_form
--? GitHub Actions sends "repository" as */*, so the condition "shop" never matches. Correct the condition.
--! 01000

-- the name of a repository as its id
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/**', 'glob', 'deploy', '{"repository_id": "acme/shop"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/**": unlike_its_issuer
--? The claim "repository_id" does not have the form that GitHub Actions uses. repository_id is a number; the repository's name is in repository.
--! 01000

-- a visibility in capitals
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:**', 'glob', 'deploy', '{"repository_visibility": "Private"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:**": claim_fits_no_form
--? GitHub Actions sends "repository_visibility" as public or private or internal, so the condition
--! 01000

-- a text that GitHub does not send for yes
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:**', 'glob', 'deploy', '{"ref_protected": "yes"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:**": claim_fits_no_form
--? GitHub Actions sends "ref_protected" as true or false, so the condition "yes" never matches. Correct the condition.
--! 01000

-- a workflow's file without its repository
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:**', 'glob', 'deploy', '{"job_workflow_ref": ".github/workflows/deploy.yml"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:**": claim_fits_no_form
--? GitHub Actions sends "job_workflow_ref" as */**@**, so the condition ".github/workflows/deploy.yml"
--! 01000

-- a workflow without its ref
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:**', 'glob', 'deploy', '{"job_workflow_ref": "acme/shop/.github/workflows/deploy.yml"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:**": claim_fits_no_form
--? GitHub Actions sends "job_workflow_ref" as */**@**, so the condition
--! 01000

-- a ref type of two words
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:**', 'glob', 'deploy', '{"ref_type": "heads"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:**": claim_fits_no_form
--? GitHub Actions sends "ref_type" as branch or tag, so the condition "heads" never matches. Correct the condition.
--! 01000

-- a glob of a claim that matches no ref
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:**', 'glob', 'deploy', '{"ref": {"glob": "release/*"}}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:**": claim_fits_no_form
--? GitHub Actions sends "ref" as refs/heads/** or refs/tags/** or refs/pull/**, so the condition {"glob":
--! 01000

-- two values of a claim in one text
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"environment": "staging,production"}', 'OPS-1');
--> Grant of key "deploy" to "x": list_in_one_value
--? "staging,production" is one value with a comma or semicolon, and is compared as a whole. Write each value as an
--! 01000

-- another owner than the identity provider requires
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'github', 'repo:acme/shop:**', 'glob', 'deploy', '{"repository_owner_id": "7654321"}', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:**": contradicts_identity_provider
--? Every token of the identity provider has "repository_owner_id" = "1234567", so the condition never
--! 01000

-- a claim that says the opposite of the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"sub": "y"}', 'OPS-1');
--> Grant of key "deploy" to "x": contradicts_its_subject
--? In the subject, "sub" is "x", so the condition never matches. Write that value in the condition, or
--! 01000

-- another audience than the identity provider has
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"aud": "acme-prod"}', 'OPS-1');
--> nothing

-- another issuer than the identity provider has
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"iss": "https://ci.example.org"}', 'OPS-1');
--> Grant of key "deploy" to "x": contradicts_identity_provider
--? Every token of the identity provider has "iss" = "https://ci.example.com", so the condition never
--! 01000

-- a subject in upper case of GitHub
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'REPO:acme/shop:ref:refs/heads/main', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "REPO:acme/shop:ref:refs/heads/main": subject_fits_no_form
--? By default, the subjects of GitHub Actions have only these forms:
--! 01000

-- a semicolon of the statement inside the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'github', 'repo:acme/shop:ref:refs/heads/main;', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main;": stray_punctuation
--? has a stray ; at its start or end, and values are compared exactly. Correct it.
--! 01000

-- a comma behind the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:main,', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:main,": stray_punctuation
--? has a stray , at its start or end, and values are compared exactly. Correct it.
--! 01000

-- a template that was not filled in
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'repo:acme/<repository>:main', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/<repository>:main": placeholder
--? The subject has "<repository>", a placeholder that was not filled in. Write the real value.
--! 01000

-- a variable that was not replaced
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'repo:acme/${REPO}:main', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/${REPO}:main": placeholder
--? has "${REPO}", a placeholder that was not filled in. Write the real value.
--! 01000

-- the word null
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'null', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "null": placeholder
--? has "null", a placeholder that was not filled in. Write the real value.
--! 01000

-- a reason that was not filled in
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', '<reason>');
--> Grant of key "deploy" to "x": no_reason
--? The grant has no reason, and auditors ask for one. Write a reason, for example a ticket.
--! 01000

-- an owner of blanks
INSERT INTO broker.subject_grant (tenant, idp, subject, key, owner, reason) VALUES ('acme', 'ci', 'x', 'deploy', '  ', 'OPS-1');
--> Grant of key "deploy" to "x": white_space
--? has a space at its start or end, and values are compared exactly. Correct it.
--! 01000

-- an owner with a blank behind it
INSERT INTO broker.subject_grant (tenant, idp, subject, key, owner, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'team-shop ', 'OPS-1');
--> Grant of key "deploy" to "x": white_space
--? has a space at its start or end, and values are compared exactly. Correct it.
--! 01000

-- a grant of a key that is disabled
UPDATE broker.key SET enabled = false WHERE tenant = 'acme' AND name = 'deploy'; INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "x": disabled_reference
--? The key "deploy" is disabled, so the row has no effect until somebody enables it.
--! 01000

-- two audiences in one text
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://new.example.com', ARRAY['new,other']);
--> Identity provider "new": list_in_one_value
--? "new,other" is one value with a comma or semicolon, and is compared as a whole. Write each value as an element
--! 01000

-- an audience with a star
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://new.example.com', '{mintmark-*}');
--> Identity provider "new": star_in_audience
--? The * in audience "mintmark-*" has no special meaning. List each audience.
--! 01000

-- keys at another host by plain http
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri) VALUES ('new', 'other', 'https://new.example.com', '{new}', 'http://new.example.com/keys');
--> Identity provider "new": the jwks_uri "http://new.example.com/keys" is not an https URL.
--? Write an https URL; plain http is for localhost only. If the broker cannot reach the issuer, write the issuer's key set into jwks instead.
--! 23514

-- the issuer as the keys
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri) VALUES ('new', 'other', 'https://new.example.com', '{new}', 'https://new.example.com');
--> Identity provider "new": jwks_uri_is_discovery
--? The jwks_uri is the issuer, or the URL of a discovery document or of another endpoint. Set it to the jwks_uri from the discovery document
--! 01000

-- a key set without keys
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks) VALUES ('new', 'other', 'https://new.example.com', '{new}', '{"keys": []}');
--> Identity provider "new": jwks is not a key set of the form {"keys": [{"kty": …}]}.
--? Write the key set as the issuer publishes it, public keys only: kty, kid and n, e (RSA) or crv, x,
--! 23514

-- a single key as the key set
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks) VALUES ('new', 'other', 'https://new.example.com', '{new}', '{"kty": "EC", "crv": "P-256", "x": "x", "y": "y"}');
--> Identity provider "new": jwks is not a key set of the form {"keys": [{"kty": …}]}.
--? Write the key set as the issuer publishes it, public keys only: kty, kid and n, e (RSA) or crv, x,
--! 23514

-- a clock skew longer than the maximum age
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, clock_skew, max_token_age) VALUES ('new', 'other', 'https://new.example.com', '{new}', 3600, 60);
--> Identity provider "new": clock_skew_exceeds_age
--? clock_skew is 3600 seconds and is added to max_token_age, so tokens are accepted at more than twice that age. Set a shorter
--! 01000

-- a required claim with a blank
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('new', 'other', 'https://token.actions.githubusercontent.com', '{new}', '{"repository_owner_id": " 7"}');
--> Identity provider "new": claim_fits_no_form
--? GitHub Actions sends "repository_owner_id" as digits, so the condition " 7" never matches. Correct the condition.
--! 01000

-- the name of an owner as its id
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('new', 'other', 'https://token.actions.githubusercontent.com', '{new}', '{"repository_owner_id": "acme"}');
--> Identity provider "new": claim_fits_no_form
--? GitHub Actions sends "repository_owner_id" as digits, so the condition "acme" never matches. Correct the condition.
--! 01000

-- a type by its product
INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'new', 'aws');
--> Access provider "new" of tenant "acme" has the unknown type "aws".
--? Did you mean "aws-sts"? There are: aws-sts, azure, gcp, github-app, jwt, kubernetes, oauth2,
--! 23503

-- no target is allowed
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'new', 'aws-sts', '{"region": "eu-central-1"}', '{}');
--> Access provider "new" of tenant "acme": allowed_targets is empty.
--? List the targets that keys may name, for example "arn:aws:iam::123456789012:role/ci-*". ** alone allows
--! 23514

-- an allowed target with a blank
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'new', 'aws-sts', '{"region": "eu-central-1"}', '{"arn:aws:iam::123456789012:role/ci-* "}');
--> Access provider "new": white_space
--? has a space at its start or end, and values are compared exactly. Correct it.
--! 01000

-- an account instead of its roles
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'new', 'aws-sts', '{"region": "eu-central-1"}', '{123456789012}');
--> Access provider "new": target_fits_no_form
--? No target of type aws-sts can match "123456789012" in allowed_targets. Write targets of the form arn:aws*:iam::*:role/**.
--! 01000

-- allowed targets that stop at the path
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'new', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws:iam::123456789012:*}');
--> Access provider "new": target_fits_no_form
--? No target of type aws-sts can match "arn:aws:iam::123456789012:*" in allowed_targets. Write targets of the form
--! 01000

-- an availability zone as the region
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'new', 'aws-sts', '{"region": "eu-central-1a"}');
--> Access provider "new" of tenant "acme": the setting "region" is "eu-central-1a", which is not an AWS region.
--? For example "region": "eu-central-1".
--! 23514

-- a region in words
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'new', 'aws-sts', '{"region": "Frankfurt"}');
--> Access provider "new" of tenant "acme": the setting "region" is "Frankfurt", which is not an AWS region.
--? For example "region": "eu-central-1".
--! 23514

-- a file that leaves its directory
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'new', 'oauth2', '{"token_endpoint": "https://auth.example.com/token", "client_id": "a", "client_secret": {"file": "../other/secret"}}');
--> Access provider "new" of tenant "acme": the setting "client_secret" must name a file in the tenant's secrets directory, without . or .. in its path.
--? Write the secret to a file in the tenant's secrets directory, and "client_secret": {"file":
--! 23514

-- a token endpoint that is a discovery document
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'new', 'oauth2', '{"token_endpoint": "https://auth.example.com/.well-known/openid-configuration"}');
--> Access provider "new": endpoint_is_discovery
--? The setting "token_endpoint" is the URL of a discovery document. Set it to the token_endpoint from that document.
--! 01000

-- a token endpoint with a password
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'new', 'oauth2', '{"token_endpoint": "https://a:hunter2@auth.example.com/token"}');
--> Access provider "new" of tenant "acme": the setting "token_endpoint" is "https://a:hunter2@auth.example.com/token", which is not a URL of the form https://host/path (no user, query or fragment).
--? For example "token_endpoint": "https://auth.example.com/oauth2/token".
--! 23514

-- a policy with statements in the singular
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy": {"Version": "2012-10-17", "Statements": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}}');
--> Key "new" of tenant "acme" has a policy with an unknown element.
--? Use only Version, Id and Statement. AWS and MinIO reject any other element, such as a misspelt one.
--! 23514

-- a policy of tomorrow
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy": {"Version": "2024-01-01", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}}');
--> Key "new": incomplete_policy
--? The policy has no valid Version. AWS rejects statements without Effect, Action and Resource, and
--! 01000

-- an effect in small letters
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "allow", "Action": "s3:GetObject", "Resource": "*"}]}}');
--> Key "new": incomplete_policy
--? The policy has no valid Effect. AWS rejects statements without Effect, Action and Resource, and
--! 01000

-- an account with a dash
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::1234-5678-9012:role/ci-deploy"}');
--> Key "new" of tenant "acme": the setting "role_arn" is "arn:aws:iam::1234-5678-9012:role/ci-deploy", which is not the ARN of a role.
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".
--! 23514

-- an access key of AWS among the outputs
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}', '{"KEY": "access_key_id"}');
--> Key "new" of tenant "acme": the output "KEY" names "access_key_id", which is not a field of type aws-sts.
--? Did you mean "AccessKeyId"? Its fields: AccessKeyId, Expiration, Region, SecretAccessKey,
--! 23514

-- one output for two fields
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, outputs) VALUES ('acme', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}', '{"KEY": ["AccessKeyId", "SecretAccessKey"]}');
--> Key "new" of tenant "acme": the output "KEY" must name a field, not a list.
--? Write the variable, then the field, for example {"AWS_ACCESS_KEY_ID": "AccessKeyId"}.
--! 23514

-- an audience of a key with a blank
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'own', 900, '{"audience": "https://orders.example "}');
--> Key "new": white_space
--? has a space at its start or end, and values are compared exactly. Correct it.
--! 01000

-- a reserved claim of a token
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'own', 900, '{"audience": "https://orders.example", "claims": {"sub": "root"}}');
--> Key "new" of tenant "acme": the setting "claims" names the claim "sub", which only the broker sets.
--? For example "claims": {"scope": "read"}.
--! 23514

-- a key for a second
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'own', 1, '{"audience": "https://orders.example"}');
--> Key "new": duration_too_short
--? max_duration is in seconds: a credential of 1 second expires before most clients can use it. Set
--! 01000

-- a key in milliseconds
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'own', 900000, '{"audience": "https://orders.example"}');
--> Key "new" of tenant "acme": max_duration is 900000 seconds, but type jwt issues credentials for 1 to 43200 seconds.
--? max_duration is in seconds. Write 1 to 43200, for example 43200.
--! 23514

-- a key's name with a slash
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'aws/deploy', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}');
--> "aws/deploy" is not a valid key name.
--? Use a letter, then up to 63 letters, digits, _, . and -.
--! 23514

-- a provider of another tenant
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('other', 'new', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}');
--> Tenant "other" has no access provider "aws".
--? Did you mean "own"? It has: own. Tenant "acme" has one with that name, but a row can only
--! 23503

-- an owner that only the key has, of blanks
UPDATE broker.key SET owner = '' WHERE tenant = 'acme' AND name = 'deploy';
--> Key "deploy" has an owner that is empty.
--? Write a person or a team in one line, or null.
--! 23514

-- a limit of no requests
UPDATE broker.tenant SET max_requests = 0 WHERE name = 'acme';
--> Tenant "acme": max_requests is 0.
--? Write a positive number, or null for no limit. To stop a tenant, disable it.
--! 23514

-- a review each zero days
UPDATE broker.tenant SET review_days = 0 WHERE name = 'acme';
--> Tenant "acme": review_days is 0.
--? Write 1 to 3650.
--! 23514

-- a tenant with a hyphen first
INSERT INTO broker.tenant (name) VALUES ('-acme');
--> "-acme" is not a valid tenant name.
--? Use a lower-case letter, then up to 39 lower-case letters, digits and hyphens, for example "acme"
--! 23514

-- a tenant with a blank
INSERT INTO broker.tenant (name) VALUES ('acme ');
--> "acme " is not a valid tenant name.
--? Use a lower-case letter, then up to 39 lower-case letters, digits and hyphens, for example "acme"
--! 23514

-- a block until the beginning of time
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'repo:acme/app:main', 'INC-1', '-infinity');
--> The block of "repo:acme/app:main": until must be finite.
--? For no end, set until to null.
--! 23514

-- a block of the wrong tenant
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('other', 'repo:acme/app:main', 'INC-1');
--> Block of "repo:acme/app:main": block_matches_nothing
--? The block matched no subject of a grant, and none in audit.event in the 90 days before the block was written. This is normal if the subject never had access. Otherwise compare the block's subject
--! 01000

-- a block of a subject with quotes
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', '"repo:acme/app:main"', 'INC-1');
--> Block of ""repo:acme/app:main"": block_matches_nothing
--? The block matched no subject of a grant, and none in audit.event in the 90 days before the block was written. This is normal if the subject never had access. Otherwise compare the block's subject
--! 01000

-- a block with the reason of blanks
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'repo:acme/app:main', ' ');
--> The block of "repo:acme/app:main" has an empty reason.
--? Enter a reason, for example the incident's number.
--! 23514

-- a block of a year that has passed
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'repo:acme/app:main', 'INC-1', '2025-12-01');
--> Block of "repo:acme/app:main": ended_already
--? The row ended before it was written, so it has no effect. Set a later end, or null for no end.
--! 01000

-- a console access whose value is not JSON
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'groups', 'staff', 'OPS-1');
--> invalid input syntax for type json
--! 22P02

-- a console access by a glob over any group
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'groups', '{"glob": "*"}', 'OPS-1');
--> Access to the console by "groups": access_for_everybody
--? The row gives access to everyone whose ID token has the claim. Use a claim and a value that only the
--! 01000

-- a console access by a glob over a mail domain of everybody
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '{"glob": "*@gmail.com"}', 'OPS-1');
--> Access to the console by "email": access_for_everybody
--? The row gives access to everyone with an account at a public mail service. Use a claim and a value
--! 01000

-- a console access by a claim that everybody has
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email_verified', 'true', 'OPS-1');
--> Access to the console by "email_verified": access_for_everybody
--? The row gives access to everyone who can log in. Use a claim and a value that only the right people
--! 01000

-- a console access by the issuer
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'iss', '"https://login.example.com"', 'OPS-1');
--> Access to the console by "iss": access_for_everybody
--? The row gives access to everyone who can log in. Use a claim and a value that only the right people
--! 01000

-- a console access by a star in a plain value
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '"*@acme.example.com"', 'OPS-1');
--> Access to the console by "email": star_in_plain_claim
--? The value "*@acme.example.com" is compared as plain text, not as a pattern. To match a pattern, write {"glob": …}; for a
--! 01000

-- a console access with a blank
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'email', '"lea@acme.example.com "', 'OPS-1');
--> Access to the console by "email": white_space
--? has a space at its start or end, and values are compared exactly. Correct it.
--! 01000

-- a console access by dots for a pointer
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'realm_access.roles', '"auditor"', 'OPS-1');
--> Access to the console by "realm_access.roles": pointer_without_slash
--? "realm_access.roles" names a top-level claim. To name a claim inside another one, write a JSON pointer
--! 01000

-- a console access by an empty list
INSERT INTO broker.console_access (tenant, claim, value, reason) VALUES ('acme', 'groups', '[]', 'OPS-1');
--> The value of the console access by claim "groups" is invalid: the list for "groups" is empty, so no token can match.
--? Write a value such as '"alice@example.com"', '["ops", "audit"]' or '{"glob": "team:*"}'.
--! 23514

-- a tenant and all tenants
INSERT INTO broker.console_access (tenant, all_tenants, claim, value, reason) VALUES ('acme', true, 'groups', '"staff"', 'OPS-1');
--> A row of broker.console_access names both tenant "acme" and all tenants.
--? Leave tenant null, or set all_tenants to false.
--! 23514

-- an admin by the group role
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'pg_monitor');
--> Tenant admin "pg_monitor": role_cannot_log_in
--? Role "pg_monitor" cannot log in, and this row gives the members of the role no rights. Write the login of a person.
--! 01000

-- a sign-off of the wrong word
INSERT INTO broker.grant_review (grant_id, verdict, note) SELECT id, 'ok', 'x' FROM broker.subject_grant LIMIT 1;
--> The review of grant 1 has the verdict "ok".
--? Set verdict to keep, or to remove, which disables the grant.
--! 23514

-- an end of a mint that never was
INSERT INTO broker.ended_credential (mint_id, reason) VALUES ('01980f5e-8a00-7000-8000-0123456789ab', 'INC-79');
--> There is no mint 01980f5e-8a00-7000-8000-0123456789ab that you may see.
--? SELECT mint_id, subject, key, expires_at FROM audit.active_credential lists the credentials that
--! 23503

-- an end without a reason
INSERT INTO broker.ended_credential (mint_id, reason) VALUES ('01980f5e-8a00-7000-8000-0123456789ab', '');
--> The row that ends mint 01980f5e-8a00-7000-8000-0123456789ab has no reason.
--? Write a reason, for example the incident.
--! 23514

-- the id of an access key as the mint id
INSERT INTO broker.ended_credential (mint_id, reason) VALUES ('ASIASTANDIN000000001', 'INC-79');
--> invalid input syntax for type uuid: "ASIASTANDIN000000001"
--! 22P02

-- a password in a URL in the reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'see https://bob:hunter2@db.example.com/x');
--> reason in broker.subject_grant contains what looks like a token or a key ("s://b…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- a key of an AI service in the reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz');
--> reason in broker.subject_grant contains what looks like a token or a key ("sk-an…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- a key of age in the reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQ');
--> reason in broker.subject_grant contains what looks like a token or a key ("AGE-S…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- a connection string in the reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'DefaultEndpointsProtocol=https;AccountKey=abcdefghijklmnopqrstuvwxyz0123456789==');
--> reason in broker.subject_grant contains what looks like a token or a key ("Accou…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- a token of a registry in the reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'dckr_pat_abcdefghijklmnopqrstuvwxyz');
--> reason in broker.subject_grant contains what looks like a token or a key ("dckr_…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514
