-- a key of another tenant
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('other', 'elsewhere', 'x', 'deploy');
--> Tenant "other" has no key "deploy".
--? It has: api. Tenant "acme" has one with that name, but a row can only reference objects of its own tenant.
--! 23503 the_key_exists_in_the_same_tenant

-- a key that is misspelt
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'x', 'depoly');
--> Tenant "acme" has no key "depoly".
--? Did you mean "deploy"? It has: api, deploy, exchanged.
--! 23503 the_key_exists_in_the_same_tenant

-- an identity provider that is misspelt
UPDATE broker.subject_grant SET idp = 'cj' WHERE key = 'api';
--> Tenant "acme" has no identity provider "cj".
--? Did you mean "ci"? It has: ci.
--! 23503 the_identity_provider_exists_in_the_same_tenant

-- a tenant that there isn't
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acmee', 'ci', 'x', 'api');
--> There is no tenant "acmee".
--? Did you mean "acme"?
--! 23503

-- no subject
INSERT INTO broker.subject_grant (tenant, idp, key) VALUES ('acme', 'ci', 'api');
--> A row of broker.subject_grant needs "subject", which is missing or null.
--? "subject": The sub claim, or a glob over it (see match).
--! 23502

-- a key and its grant in one statement, the grant first
WITH later AS (INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'new', 'own', 600, '{"audience": "https://api.example.com"}')) INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'x', 'new');
--> nothing

-- an identity provider of another tenant
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'elsewhere', 'x', 'deploy');
--> Tenant "acme" has no identity provider "elsewhere".
--? It has: ci. Tenant "other" has one with that name, but a row can only reference objects of its own tenant.
--! 23503 the_identity_provider_exists_in_the_same_tenant

-- a glob that matches everybody
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', '**', 'glob', 'deploy');
--> The grant of key "deploy" to "**" has a glob that does not start with a literal segment.
--? for example "repo:acme/app:ref:refs/heads/**"

-- a glob whose first segment is open
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', 'rep*:acme/app', 'glob', 'deploy');
--> The grant of key "deploy" to "rep*:acme/app" has a glob that does not start with a literal segment.
--?

-- another way to match
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', 'x', 'regex', 'deploy');
--> The grant of key "deploy" to "x" has the unknown match "regex"; use exact or glob.
--? In a glob, * matches within a segment
--! 23514

-- an empty subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', '', 'deploy');
--> The grant of key "deploy" has a subject that is empty.
--? Write the sub claim of the tokens as it is
--! 23514

-- a subject that no token can have
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', repeat('x', 1025), 'deploy');
--> The grant of key "deploy" has a subject that has 1025 characters; the maximum is 1024.
--?

-- a subject with a line's end, as pasted
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', E'repo:acme/app:main\n', 'deploy');
--> The grant of key "deploy" has a subject that has control characters.
--?

-- a window that ends before it starts
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from, valid_until) VALUES ('acme', 'ci', 'x', 'deploy', '2030-01-02Z', '2030-01-01Z');
--> The grant of key "deploy" to "x" ends (valid_until 2030-01-01 00:00:00+00) before it starts (valid_from 2030-01-02 00:00:00+00).
--? Set a later valid_until, or null for no end.

-- a window to infinity
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until) VALUES ('acme', 'ci', 'x', 'deploy', 'infinity');
--> The grant of key "deploy" to "x": valid_from and valid_until must be finite.
--? For no start or no end, write null, not infinity.

-- an end that only PostgreSQL can write
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until) VALUES ('acme', 'ci', 'x', 'deploy', '10000-01-01Z');
--> The grant of key "deploy" to "x": valid_from and valid_until must be in the years 1 to 9999.
--? For no start or no end, use null.

-- a start before there were years
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from, valid_until) VALUES ('acme', 'ci', 'x', 'deploy', '4713-01-01Z BC', '294276-12-31Z');
--> The grant of key "deploy" to "x": valid_from and valid_until must be in the years 1 to 9999.
--? For no start or no end, use null.

-- a window that no credential fits into
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from, valid_until) VALUES ('acme', 'ci', 'x', 'deploy', '2030-01-01 00:00Z', '2030-01-01 00:10Z');
--> The grant of key "deploy" to "x" is valid for less than 900 seconds, the minimum for a credential of type aws-sts.
--? Set a later valid_until.

-- shorter than the type allows
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration) VALUES ('acme', 'ci', 'x', 'deploy', 600);
--> The grant of key "deploy" to "x" has a max_duration of 600 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--? Write 900 or more, or null to leave it to the key.

-- no time at all
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration) VALUES ('acme', 'ci', 'x', 'api', 0);
--> The grant of key "api" to "x" has a max_duration of 0 seconds.
--? Write a positive number

-- claims that are a list
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '["ref"]');
--> The grant of key "api" to "x": in its claims, the JSON must be an object such as {"environment": "production"}, not a list.
--? For example {"environment": "production"

-- a condition that is an object
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"ref": {"globb": "refs/*"}}');
--> The grant of key "api" to "x": in its claims, the condition on "ref" is an object; the only allowed object is {"glob": "…"}.
--?

-- a condition with something beside its glob
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"ref": {"glob": "refs/*", "or": "x"}}');
--> The grant of key "api" to "x": in its claims, the condition on "ref" is an object; the only allowed object is {"glob": "…"}.
--?

-- a glob that is a number
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"ref": {"glob": 1}}');
--> The grant of key "api" to "x": in its claims, the condition on "ref" is an object; the only allowed object is {"glob": "…"}.
--?

-- an empty list
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"groups": []}');
--> The grant of key "api" to "x": in its claims, the list for "groups" is empty, so no token can match.
--?

-- a list within a list
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"groups": ["a", ["b"]]}');
--> The grant of key "api" to "x": in its claims, the list for "groups" may contain only strings, numbers, true, false and {"glob": "…"}.
--?

-- a number that no token can hold
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"n": 1e400}');
--> The grant of key "api" to "x": in its claims, the number for "n" is too large.
--?

-- a pointer that is none
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"/a~2b": "x"}');
--> The grant of key "api" to "x": in its claims, "/a~2b" starts with /, so it is a JSON pointer, in which ~ must be written as ~0 and / as ~1.
--?

-- all that conditions can be
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"a": "x", "b": 1.5, "c": true, "d": {"glob": "*"}, "e": ["x", 1, false, {"glob": "y:**"}], "/f/~0~1/0": "z", "": "x", "/": "y"}');
--> nothing

-- a grant moves to another tenant
UPDATE broker.subject_grant SET tenant = 'other', idp = 'elsewhere' WHERE key = 'api';
--> A row of broker.subject_grant cannot be moved from "acme" to "other".
--? Insert a new row for the other tenant

-- a number that an admin chose
INSERT INTO broker.subject_grant (id, tenant, idp, subject, key) OVERRIDING SYSTEM VALUE VALUES (7, 'acme', 'ci', 'x', 'api');
--> The statement sets the id 7, but the database assigns the ids of broker.subject_grant.
--? Leave out the column id

-- the same without the clause
INSERT INTO broker.subject_grant (id, tenant, idp, subject, key) VALUES (7, 'acme', 'ci', 'x', 'api');
--> The statement sets the id 7, but the database assigns the ids of broker.subject_grant.
--? With RETURNING id, the statement returns the id of the new row

-- a number that the database draws
INSERT INTO broker.subject_grant (id, tenant, idp, subject, key) VALUES (DEFAULT, 'acme', 'ci', 'x', 'api');
--> nothing

-- the same subject of another identity provider gets no token of the same issuer
WITH people AS (INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('people', 'acme', 'https://people.example.com', '{acme}')) INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'people', 'repo:acme/app:main', 'api');
--> Two subjects could get tokens with the same iss and sub, by the grant of key "api" to "repo:acme/app:main" of identity provider "people" and the grant of key "api" to "repo:acme/app:main" of identity provider "ci".
--? Grant keys of this type to subjects that differ, or to subjects of one identity provider only

-- nor does a glob that would match it
WITH people AS (INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('people', 'acme', 'https://people.example.com', '{acme}')) INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'people', 'repo:acme/**', 'glob', 'api');
--> Two subjects could get tokens with the same iss and sub, by the grant of key "api" to "repo:acme/**" of identity provider "people" and the grant of key "api" to "repo:acme/app:main" of identity provider "ci".

-- two globs that start alike and have no subject in common
WITH people AS (INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('people', 'acme', 'https://people.example.com', '{acme}')) INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'people', 'user:*:admin', 'glob', 'api'), ('acme', 'ci', 'user:*:deploy', 'glob', 'api');
--> nothing

-- nor two globs that could match the same subject
WITH people AS (INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('people', 'acme', 'https://people.example.com', '{acme}')) INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'people', 'user:a/**', 'glob', 'api'), ('acme', 'ci', 'user:*/x', 'glob', 'api');
--> Two subjects could get tokens with the same iss and sub, by the grant of key "api" to "user:a/**" of identity provider "people" and the grant of key "api" to "user:*/x" of identity provider "ci".

-- subjects that differ may
WITH people AS (INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('people', 'acme', 'https://people.example.com', '{acme}')) INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'people', 'alice', 'exact', 'api'), ('acme', 'people', 'user:**', 'glob', 'api'), ('acme', 'ci', 'group:**', 'glob', 'api');
--> nothing

-- so may the same subject where the token isn't the tenant's
WITH people AS (INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('people', 'acme', 'https://people.example.com', '{acme}')) INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'people', 'repo:acme/app:main', 'deploy');

-- a subject of 1,024 characters that take three bytes each, none twice in a row
INSERT INTO broker.subject_grant (tenant, idp, subject, key) SELECT 'acme', 'ci', string_agg(chr(19968 + (n * 7919) % 20000), '' ORDER BY n), 'api' FROM generate_series(1, 1024) AS n;
--> nothing

-- a glob of 512 characters and eight stars
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', rpad('a:**b**b**b**b**b**b**b**', 512, 'x'), 'glob', 'api');
--> nothing

-- a longer glob
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', rpad('a:*', 513, 'x'), 'glob', 'api');
--> The grant of key "api" to "a:*xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" has a glob that has 513 characters; the maximum for a glob is 512.
--! 23514

-- a glob of nine stars
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', 'a:*b*b*b*b*b*b*b*b*', 'glob', 'api');
--> The grant of key "api" to "a:*b*b*b*b*b*b*b*b*" has a glob that has 9 stars; the maximum for a glob is 8.
--! 23514

-- stars in an exact subject are letters
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', repeat('*', 100), 'api');
--> nothing

-- three stars in a row are two
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', 'a:' || repeat('*', 17), 'glob', 'api');
--> The grant of key "api" to "a:*****************" has a glob that has 9 stars; the maximum for a glob is 8.
--! 23514

-- a glob of 513 characters in the claims
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'a', 'api', jsonb_build_object('ref', jsonb_build_object('glob', rpad('a', 513, 'x'))));
--> The grant of key "api" to "a": in its claims, the glob for "ref" has 513 characters; the maximum for a glob is 512.
--! 23514

-- claims of more than 4 KiB
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'a', 'api', jsonb_build_object('ref', repeat('x', 4096)));
--> The grant of key "api" to "a": in its claims, the JSON has 4107 bytes; the maximum is 4096.
--! 23514

-- a claim whose name is long
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'a', 'api', jsonb_build_object(repeat('x', 513), 1));
--> The grant of key "api" to "a": in its claims, one has a field whose name has 513 characters; the maximum is 512: "xxxxxxxxxxxxxxxxxxxx…".
--! 23514

-- the longest reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'a', 'api', repeat('x', 1000));
--> nothing

-- a longer one
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'a', 'api', repeat('x', 1001));
--> The grant of key "api" to "a": its reason has 1001 characters; the maximum is 1000.
--! 23514

-- one grant more than the tenant may have
UPDATE broker.tenant SET max_grants = 3 WHERE name = 'acme'; INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'a', 'api'), ('acme', 'ci', 'b', 'api');
--> Tenant "acme" would have 4 grants; the maximum is 3.
--? ask a platform admin to raise max_grants
--! 23514 a_tenant_has_no_more_than_max_grants

-- one glob more than the tenant may have
UPDATE broker.tenant SET max_globs = 1 WHERE name = 'acme'; INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', 'a:*', 'glob', 'api'), ('acme', 'ci', 'b:*', 'glob', 'api');
--> Tenant "acme" would have 2 glob grants; the maximum is 1.
--! 23514 a_tenant_has_no_more_than_max_globs

-- a grant that becomes a glob counts as one
UPDATE broker.tenant SET max_globs = 0 WHERE name = 'acme'; UPDATE broker.subject_grant SET match = 'glob' WHERE tenant = 'acme' AND key = 'api';
--> Tenant "acme" would have 1 glob grant; the maximum is 0.
--! 23514 a_tenant_has_no_more_than_max_globs

-- what is more than the bound already may be changed, and made less
UPDATE broker.tenant SET max_grants = 0, max_keys = 0 WHERE name = 'acme'; UPDATE broker.subject_grant SET reason = 'x' WHERE tenant = 'acme'; DELETE FROM broker.subject_grant WHERE tenant = 'acme' AND key = 'api';
--> nothing

-- a grant that is there, written again
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration, reason) VALUES ('acme', 'ci', 'repo:acme/app:main', 'api', 30, 'again');
--> duplicate key value violates unique constraint "a_grant_is_written_once"
--! 23505 a_grant_is_written_once

-- the same where that is to change nothing
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'repo:acme/app:main', 'api'), ('acme', 'ci', 'repo:acme/app:main', 'deploy') ON CONFLICT DO NOTHING RETURNING key;
-->

-- another window, other claims or a glob make it another grant
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, valid_until) VALUES ('acme', 'ci', 'repo:acme/app:main', 'exact', 'api', '{}', '2100-01-01'), ('acme', 'ci', 'repo:acme/app:main', 'exact', 'api', '{"ref": "main"}', NULL), ('acme', 'ci', 'repo:acme/app:main', 'glob', 'api', '{}', NULL);
--> nothing

-- the same window in another zone is the same window
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until) VALUES ('acme', 'ci', 'repo:acme/app:main', 'api', '2100-01-01 00:00+00'), ('acme', 'ci', 'repo:acme/app:main', 'api', '2100-01-01 02:00+02');
--> duplicate key value violates unique constraint "a_grant_is_written_once"
--! 23505 a_grant_is_written_once

-- the first key of a tenant is to be made by a recipe
INSERT INTO broker.tenant (name) VALUES ('new'); INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('new-ci', 'new', 'https://ci.example.com', '{new}'); INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('new', 'new-ci', 'a', 'first');
--> Tenant "new" has no key "first".
--? It has none. To create one, see db/recipes/provider_*.sql.

-- so is its first identity provider
INSERT INTO broker.tenant (name) VALUES ('new'); INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('new', 'github', 'a', 'deploy');
--> Tenant "new" has no identity provider "github".
--? It has none. To create one, see db/recipes/issuer_*.sql.

-- as many grants as a subject can have
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) SELECT 'acme', 'ci', 'repo:acme/app:main', 'api', jsonb_build_object('run', n) FROM generate_series(1, 998) AS n;
--> nothing

-- one grant more
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) SELECT 'acme', 'ci', 'repo:acme/app:main', 'api', jsonb_build_object('run', n) FROM generate_series(1, 999) AS n;
--> Subject "repo:acme/app:main" of identity provider "ci" would have more than 1000 grants of tenant "acme"; 1000 is the maximum.
--? Delete grants of this subject that are no longer used, or list several values of a claim in one grant.
--! 23514 a_subject_has_no_more_than_1000_grants

-- disabled grants count
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, enabled) SELECT 'acme', 'ci', 'repo:acme/app:main', 'api', jsonb_build_object('run', n), false FROM generate_series(1, 999) AS n;
--> Subject "repo:acme/app:main" of identity provider "ci" would have more than 1000 grants of tenant "acme"; 1000 is the maximum.

-- grants of other subjects do not count
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) SELECT 'acme', 'ci', 'repo:acme/app:' || n % 2, 'api', jsonb_build_object('run', n) FROM generate_series(1, 2000) AS n;
--> nothing

-- globs have a bound of their own
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims) SELECT 'acme', 'ci', 'repo:acme/app:main', CASE WHEN n <= 998 THEN 'exact' ELSE 'glob' END, 'api', jsonb_build_object('run', n) FROM generate_series(1, 1500) AS n;
--> nothing

-- a glob that becomes the last grant too many
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims) SELECT 'acme', 'ci', 'repo:acme/app:main', CASE WHEN n <= 998 THEN 'exact' ELSE 'glob' END, 'api', jsonb_build_object('run', n) FROM generate_series(1, 999) AS n; UPDATE broker.subject_grant SET match = 'exact' WHERE match = 'glob';
--> Subject "repo:acme/app:main" of identity provider "ci" would have more than 1000 grants of tenant "acme"; 1000 is the maximum.

-- grants that get another subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) SELECT 'acme', 'ci', 'repo:acme/app:' || n % 2, 'api', jsonb_build_object('run', n) FROM generate_series(1, 1001) AS n; UPDATE broker.subject_grant SET subject = 'repo:acme/app:0' WHERE subject = 'repo:acme/app:1';
--> Subject "repo:acme/app:0" of identity provider "ci" would have more than 1000 grants of tenant "acme"; 1000 is the maximum.

-- a subject with all its grants keeps them when they are changed otherwise
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) SELECT 'acme', 'ci', 'repo:acme/app:main', 'api', jsonb_build_object('run', n) FROM generate_series(1, 998) AS n; UPDATE broker.subject_grant SET reason = 'x' WHERE subject = 'repo:acme/app:main';
--> nothing

-- 256 values in claims: c and its elements
UPDATE broker.subject_grant SET claims = jsonb_build_object('c', (SELECT jsonb_agg(n) FROM generate_series(1, 255) AS n)) WHERE tenant = 'acme' AND key = 'api';
--> nothing

-- one value more
UPDATE broker.subject_grant SET claims = jsonb_build_object('c', (SELECT jsonb_agg(n) FROM generate_series(1, 256) AS n)) WHERE tenant = 'acme' AND key = 'api';
--> The grant of key "api" to "repo:acme/app:main": its claims have 257 fields and elements in all; the maximum is 256.
--? Divide the values between two rows, or let a glob match several.
--! 23514 claims_have_up_to_256_values_in_8_levels

-- a token as the reason
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'ci', 'x', 'deploy', 'glpat-abcdefghijklmnopqrst');
--> reason in broker.subject_grant contains what looks like a token or a key ("glpat…").
--! 23514 secret_in_text

-- a glob of every trust domain
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', 'spiffe://**', 'glob', 'deploy');
--> The grant of key "deploy" to "spiffe://**" has a glob that does not start with a literal segment.
--? (in a URI: the text up to the end of its host)

-- a glob within the host of a URI
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', 'spiffe://acme.example*/ci', 'glob', 'deploy');
--> The grant of key "deploy" to "spiffe://acme.example*/ci" has a glob that does not start with a literal segment.
--?

-- a glob that leaves out the slashes of a URI
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', 'spiffe:**', 'glob', 'deploy');
--> The grant of key "deploy" to "spiffe:**" has a glob that does not start with a literal segment.
--?

-- a glob within a trust domain
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason) VALUES ('acme', 'ci', 'spiffe://acme.example/ci/**', 'glob', 'deploy', 'x');
--> nothing
