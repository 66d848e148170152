-- match is forgotten
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:*', 'deploy', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:*" is doubtful: glob_sign_in_exact_subject.
--? With match exact "*" stands for itself. For any subject of this form: match = 'glob',
--! 01000

-- a regular expression as a glob
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:.*', 'glob', 'deploy', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:.*" is doubtful: pattern_is_a_regular_expression.
--? ".*" stands for itself. In a glob * stands for anything within a segment (no : and no /)
--! 01000

-- match regex
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:.*', 'regex', 'deploy', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:.*" has match "regex", and there are exact and glob.
--? exact compares the subject to the character; in a glob * stays within a segment, ** does
--! 23514

-- match in capitals
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:*', 'GLOB', 'deploy', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:*" has match "GLOB", and there are exact and glob.
--? exact compares the subject to the character; in a glob * stays within a segment, ** does
--! 23514

-- a blank behind the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'repo:acme/shop:main ', 'deploy', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:main " is doubtful: white_space_around_subject.
--? The subject begins or ends with a blank, and is compared to the character. Write it
--! 01000

-- a line end behind the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', E'repo:acme/shop:main\n', 'deploy', 'OPS-1');
--> The grant of key "deploy" has a subject that has control characters.
--? Write the sub claim of the tokens as it is, for example
--! 23514

-- a star in a claim
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"ref": "refs/heads/*"}', 'OPS-1');
--> The grant of key "deploy" to "x" is doubtful: star_in_plain_claim.
--? In "refs/heads/*" the star stands for itself. For a pattern write {"ref": {"glob":
--! 01000

-- dots for a pointer
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"realm_access.roles": "ops"}', 'OPS-1');
--> The grant of key "deploy" to "x" is doubtful: dots_instead_of_pointer.
--? "realm_access.roles" is the name of one claim, dots included. What stands within another
--! 01000

-- an object for a pointer
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"realm_access": {"roles": "ops"}}', 'OPS-1');
--> The grant of key "deploy" to "x": in its claims, the condition on "realm_access" is an object, which can only be {"glob": "…"}.
--? For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups":
--! 23514

-- an id of GitHub as a number
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'github', 'x', 'deploy', '{"repository_id": 99}', 'OPS-1');
--> The grant of key "deploy" to "x" is doubtful: number_where_issuer_sends_text.
--? The issuer sends "repository_id" as text, which 99 never equals. Write {"repository_id":
--! 01000

-- claims as a list
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '[{"ref": "main"}]', 'OPS-1');
--> The grant of key "deploy" to "x": in its claims, they are an object, {"claim": value}, not a list.
--? For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups":
--! 23514

-- claims that are no JSON
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{ref: main}', 'OPS-1');
--> invalid input syntax for type json
--! 22P02

-- a claim that is null
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason) VALUES ('acme', 'ci', 'x', 'deploy', '{"ref": null}', 'OPS-1');
--> The grant of key "deploy" to "x": in its claims, the condition on "ref" is null, and an absent claim never matches.
--? For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups":
--! 23514

-- an end of last year
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, reason) VALUES ('acme', 'ci', 'x', 'deploy', '2025-12-31', 'OPS-1');
--> The grant of key "deploy" to "x" is doubtful: ended_already.
--? It had ended (valid_until 2025-12-31 00:00:00+00)
--! 01000

-- an end before its start
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from, valid_until, reason) VALUES ('acme', 'ci', 'x', 'deploy', '2031-01-01', '2030-01-01', 'OPS-1');
--> The grant of key "deploy" to "x" ends (valid_until 2030-01-01 00:00:00+00) before it starts (valid_from 2031-01-01 00:00:00+00).
--? Let valid_until be later; null is without end.
--! 23514

-- an end at infinity
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'infinity', 'OPS-1');
--> The grant of key "deploy" to "x" has a window to infinity.
--? A grant without an end has null in valid_until.
--! 23514

-- a grant longer than its key
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason) VALUES ('acme', 'ci', 'x', 'deploy', 7200, 'OPS-1');
--> The grant of key "deploy" to "x" is doubtful: longer_than_its_key.
--? Its max_duration is 7200 seconds, and key "deploy" gives credentials for 3600 at most,
--! 01000

-- a duration in minutes
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason) VALUES ('acme', 'ci', 'x', 'deploy', 15, 'OPS-1');
--> The grant of key "deploy" to "x" has a max_duration of 15 seconds, and type aws-sts gives credentials for 900 to 43200 seconds.
--? Write 900 or more, or null to leave it to the key.
--! 23514

-- a duration in words
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason) VALUES ('acme', 'ci', 'x', 'deploy', '1h', 'OPS-1');
--> invalid input syntax for type integer: "1h"
--! 22P02

-- no reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'x', 'deploy');
--> The grant of key "deploy" to "x" is doubtful: no_reason.
--? Auditors will ask. Write into reason why it was granted, for example a ticket.
--! 01000

-- a whole organisation
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'github', 'repo:acme/*:ref:refs/heads/main', 'glob', 'deploy', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/*:ref:refs/heads/main" is doubtful: whole_organisation.
--? Whoever can make a repository or a project there gets the key. Name the one that is
--! 01000

-- everybody
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'github', '**', 'glob', 'deploy', 'OPS-1');
--> The grant of key "deploy" to "**" is a glob that does not start with a literal segment.
--? The text up to the first : or / must be without *, for example "repo:acme/app:*".
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
--> cannot insert a non-DEFAULT value into column "id"
--! 428C9

-- an issuer with a slash too much
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://ci.example.com/', '{new}');
--> Identity provider "new" is doubtful: issuer_nearly_known.
--? The issuer is "https://ci.example.com/", and that of another identity provider or a
--! 01000

-- a shared issuer with a slash too much
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://token.actions.githubusercontent.com/', '{new}');
--> Identity provider "new": the issuer "https://token.actions.githubusercontent.com/" is, but for case or a slash, "https://token.actions.githubusercontent.com", which gives tokens to anybody, and required_claims names no owner by an exact value.
--? Write the issuer to the character, "https://token.actions.githubusercontent.com". Require
--! 23514

-- a shared issuer without an owner
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://token.actions.githubusercontent.com', '{new}');
--> Identity provider "new": the issuer "https://token.actions.githubusercontent.com" gives tokens to anybody, and required_claims names no owner by an exact value.
--? Require at least one of repository_owner_id, repository_id, enterprise_id,
--! 23514

-- a shared issuer whose owner is a number
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('new', 'other', 'https://token.actions.githubusercontent.com', '{new}', '{"repository_owner_id": 7}');
--> Identity provider "new" is doubtful: number_where_issuer_sends_text.
--? The issuer sends "repository_owner_id" as text, which 7 never equals. Write
--! 01000

-- a discovery document for the keys
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri) VALUES ('new', 'other', 'https://new.example.com', '{new}', 'https://new.example.com/.well-known/openid-configuration');
--> Identity provider "new" is doubtful: jwks_uri_is_discovery.
--? This is the address of a discovery document, and jwks_uri that of the keys, which the
--! 01000

-- an issuer without a scheme
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'new.example.com', '{new}');
--> Identity provider "new": the issuer "new.example.com" is no https address.
--? Write the iss claim of its tokens as it is, for example
--! 23514

-- an audience as text
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://new.example.com', 'new');
--> malformed array literal: "new"
--! 22P02

-- an audience that another tenant has
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new', 'other', 'https://ci.example.com', '{acme}');
--> Issuer "https://ci.example.com" with audience "acme" already leads to another identity provider.
--? A token's issuer and audience must lead to exactly one tenant. Let the clients ask their
--! 23505

-- an algorithm that is none
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, algorithms) VALUES ('new', 'other', 'https://new.example.com', '{new}', '{RS257}');
--> Identity provider "new": the algorithm "RS257" is not accepted.
--? Did you mean "RS256"? There are: ES256, ES384, ES512, EdDSA, PS256, PS384, PS512, RS256,
--! 23514

-- one-time tokens without an age
UPDATE broker.identity_provider SET one_time_tokens = true WHERE name = 'ci';
--> Identity provider "ci" has one_time_tokens without a max_token_age.
--? Say how old a token may be, in seconds: used ones are remembered for so long. For example
--! 23514

-- a private key among the keys
UPDATE broker.identity_provider SET jwks = '{"keys": [{"kty": "EC", "crv": "P-256", "x": "x", "y": "y", "d": "d"}]}' WHERE name = 'ci';
--> Identity provider "ci": jwks holds a private or secret key.
--? Write the key set as the issuer publishes it, public keys only: kty, kid and n, e (RSA)
--! 23514

-- a regular expression as an allowed target
UPDATE broker.access_provider SET allowed_targets = '{arn:aws:iam::123456789012:role/ci-.*}' WHERE tenant = 'acme' AND name = 'aws';
--> Key "deploy" of tenant "acme": the setting "role_arn" is "arn:aws:iam::123456789012:role/ci-deploy", which access provider "aws" does not allow.
--? Its allowed_targets: arn:aws:iam::123456789012:role/ci-.*. A platform admin can change
--! 23514

-- a regular expression as a further allowed target
UPDATE broker.access_provider SET allowed_targets = '{arn:aws:iam::123456789012:role/ci-*,arn:aws:iam::123456789012:role/(a|b)}' WHERE tenant = 'acme' AND name = 'aws';
--> Access provider "aws" is doubtful: pattern_is_a_regular_expression.
--? In the allowed target "arn:aws:iam::123456789012:role/(a|b)", "(a|b)" stands for itself
--! 01000

-- a setting that is misspelt
UPDATE broker.key SET settings = '{"rolearn": "arn:aws:iam::123456789012:role/ci-deploy"}' WHERE tenant = 'acme' AND name = 'deploy';
--> Key "deploy" of tenant "acme" has the setting "rolearn", which a key of type aws-sts does not have.
--? Did you mean "role_arn"? It has: policy, policy_arns, role_arn, session_name.
--! 23514

-- a secret in the settings
UPDATE broker.access_provider SET settings = '{"token_endpoint": "https://auth.example.com/token", "client_id": "a", "client_secret": "hunter2"}' WHERE tenant = 'acme' AND name = 'auth-any';
--> Access provider "auth-any" of tenant "acme": the setting "client_secret" must not hold the secret itself, which never stands in the database.
--? Write the secret to a file in the tenant's secrets directory, and "client_secret":
--! 23514

-- an output the wrong way round
UPDATE broker.key SET outputs = '{"AccessKeyId": "AWS_ACCESS_KEY_ID"}' WHERE tenant = 'acme' AND name = 'deploy';
--> Key "deploy" of tenant "acme": the output "AccessKeyId" names "AWS_ACCESS_KEY_ID", which is no field of type aws-sts.
--? Its fields: AccessKeyId, Expiration, Region, SecretAccessKey, SessionToken.
--! 23514

-- a key that is shorter than AWS allows
UPDATE broker.key SET max_duration = 60 WHERE tenant = 'acme' AND name = 'deploy';
--> Key "deploy" of tenant "acme": max_duration is 60 seconds, and type aws-sts gives credentials for 900 to 43200 seconds.
--? Write 900.
--! 23514

-- a key that is still granted
DELETE FROM broker.key WHERE tenant = 'acme' AND name = 'deploy';
--> Key "deploy" of tenant "acme" is named by 1 grant and cannot be deleted.
--? To put an end to its use: UPDATE broker.key SET enabled = false WHERE tenant = 'acme' AND
--! 23001

-- WHERE was forgotten: all tenants are disabled
UPDATE broker.tenant SET enabled = false;
--> This UPDATE changed 2 rows of broker.tenant, of 2 tenants.
--? If that was not meant: ROLLBACK while it is not committed; TABLE broker.pending_change
--! 01000

-- the tenant was forgotten: keys of that name, whoever has them
UPDATE broker.key SET enabled = false WHERE name = 'api';
--> This UPDATE changed 2 rows of broker.key, of 2 tenants.
--? If that was not meant: ROLLBACK while it is not committed; TABLE broker.pending_change
--! 01000

-- a tenant that is deleted
DELETE FROM broker.tenant WHERE name = 'acme';
--> Tenant "acme" cannot be deleted: another of that name would inherit its trust in the clouds.
--? UPDATE broker.tenant SET enabled = false WHERE name = 'acme';
--! 23001

-- a table that is emptied
TRUNCATE broker.subject_grant;
--> permission denied for table subject_grant
--! 42501

-- a grant that moves to another tenant
UPDATE broker.subject_grant SET tenant = 'other' WHERE key = 'deploy';
--> A row of broker.subject_grant stays with its tenant: it cannot move from "acme" to "other".
--? Insert it anew for the other tenant, and delete it here.
--! 23514

-- a block with a star
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'repo:acme/shop:*', 'INC-1');
--> The block of "repo:acme/shop:*" is doubtful: glob_sign_in_exact_subject.
--? With match exact "*" stands for itself. For any subject of this form: match = 'glob',
--! 01000

-- a block that has ended
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'x', 'INC-1', '2020-01-01');
--> The block of "x" is doubtful: ended_already.
--? It had ended (until 2020-01-01 00:00:00+00)
--! 01000

-- an admin without a login
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'alcie');
--> There is no login "alcie" yet.
--? Until a DBA makes it (CREATE ROLE alcie LOGIN … IN ROLE mintmark_tenant_admin), the row
--! 01000
