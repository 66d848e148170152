-- a block without a reason
INSERT INTO broker.blocked_subject (tenant, subject) VALUES ('acme', 'x');
--> A row of broker.blocked_subject needs "reason", which is missing or null.
--? Why the subject is blocked
--! 23502

-- a reason of blanks
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'x', '  ');
--> The block of "x" has an empty reason.
--! 23514

-- a reason that is too long
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'x', repeat('x', 1001));
--> The block of "x": its reason has 1001 characters; the maximum is 1000.
--! 23514

-- nobody
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', '', 'x');
--> A block has a subject that is empty.
--! 23514

-- a subject of two lines
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', E'a\nb', 'x');
--> A block has a subject that has control characters.
--! 23514

-- an unknown way to match
INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES ('acme', 'x', 'regex', 'x');
--> The block of "x" has the unknown match "regex"; use exact or glob.
--! 23514

-- a glob over everybody
INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES ('acme', '**', 'glob', 'x');
--> The block of "**" has a glob that does not start with a literal segment.
--? UPDATE broker.identity_provider SET enabled = false WHERE name
--! 23514

-- a glob with too many stars
INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES ('acme', 'a:*b*c*d*e*f*g*h*i*', 'glob', 'x');
--> The block of "a:*b*c*d*e*f*g*h*i*" has a glob that has 9 stars; the maximum for a glob is 8.
--! 23514

-- a glob that is too long
INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES ('acme', repeat('x', 513), 'glob', 'x');
--> The block of "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" has a glob that has 513 characters; the maximum for a glob is 512.
--! 23514

-- the longest subject, of characters that a B-tree could not hold
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', repeat('界', 1024), 'x');
--> nothing

-- an end that is none
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'x', 'x', 'infinity');
--> The block of "x": until must be finite.
--? set until to null
--! 23514

-- an end that no program can write
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'x', 'x', '10000-01-01Z');
--> The block of "x": until must be in the years 1 to 9999.
--! 23514

-- an identity provider without its tenant
INSERT INTO broker.blocked_subject (idp, subject, reason) VALUES ('ci', 'x', 'x');
--> The block of "x" sets idp "ci" but no tenant.
--? Set tenant too
--! 23514

-- a tenant that there isn't
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acne', 'x', 'x');
--> There is no tenant "acne".
--? Did you mean "acme"?
--! 23503 the_tenant_exists

-- another tenant's identity provider
INSERT INTO broker.blocked_subject (tenant, idp, subject, reason) VALUES ('acme', 'elsewhere', 'x', 'x');
--> Tenant "acme" has no identity provider "elsewhere".
--? Tenant "other" has one with that name
--! 23503 the_identity_provider_exists_in_the_same_tenant

-- a block that moves to another tenant
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'x', 'x'); UPDATE broker.blocked_subject SET tenant = 'other';
--> The block of "x" cannot be moved from "acme" to "other".
--! 23514

-- a block that is to count in all tenants from now on
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'x', 'x'); UPDATE broker.blocked_subject SET tenant = NULL;
--> The block of "x" cannot be moved from "acme" to all tenants.
--! 23514

-- a block of all tenants that is to count in one
INSERT INTO broker.blocked_subject (subject, reason) VALUES ('x', 'x'); UPDATE broker.blocked_subject SET tenant = 'acme';
--> The block of "x" cannot be moved from all tenants to "acme".
--! 23514

-- more blocks than the tenant may have, which has its grants beside them
UPDATE broker.tenant SET max_grants = 2 WHERE name = 'acme'; INSERT INTO broker.blocked_subject (tenant, subject, reason) SELECT 'acme', 'x' || n, 'x' FROM generate_series(1, 3) AS n;
--> Tenant "acme" would have 3 blocked subjects; the maximum is 2.
--! 23514 a_tenant_has_no_more_than_max_grants

-- as many blocks as the tenant may have, which has as many grants
UPDATE broker.tenant SET max_grants = 2 WHERE name = 'acme'; INSERT INTO broker.blocked_subject (tenant, subject, reason) SELECT 'acme', 'x' || n, 'x' FROM generate_series(1, 2) AS n;
--> nothing

-- more blocks by globs than the tenant may have
UPDATE broker.tenant SET max_globs = 1 WHERE name = 'acme'; INSERT INTO broker.blocked_subject (tenant, subject, match, reason) SELECT 'acme', format('x%s:*', n), 'glob', 'x' FROM generate_series(1, 2) AS n;
--> Tenant "acme" would have 2 glob blocks; the maximum is 1.
--! 23514 a_tenant_has_no_more_than_max_globs

-- a block that becomes a glob counts as one
UPDATE broker.tenant SET max_globs = 0 WHERE name = 'acme'; INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'x', 'x'); UPDATE broker.blocked_subject SET match = 'glob';
--> Tenant "acme" would have 1 glob block; the maximum is 0.
--! 23514 a_tenant_has_no_more_than_max_globs

-- as many globs for all tenants as every token can be held against
INSERT INTO broker.blocked_subject (subject, match, reason) SELECT format('x%s:**', n), 'glob', 'x' FROM generate_series(100, 341) AS n;
--> nothing

-- one more than that
INSERT INTO broker.blocked_subject (subject, match, reason) SELECT format('x%s:**', n), 'glob', 'x' FROM generate_series(100, 342) AS n;
--> The glob blocks for all tenants would cost up to 250533 matching steps for each token; the maximum is 250000.
--? block exact subjects
--! 23514 globs_of_all_tenants_are_few

-- one that is switched on again
INSERT INTO broker.blocked_subject (subject, match, reason, enabled) SELECT format('x%s:**', n), 'glob', 'x', n < 342 FROM generate_series(100, 342) AS n; UPDATE broker.blocked_subject SET enabled = true;
--> The glob blocks for all tenants would cost up to 250533 matching steps for each token; the maximum is 250000.
--! 23514 globs_of_all_tenants_are_few

-- many globs that cost little are too many to read
INSERT INTO broker.blocked_subject (subject, match, reason) SELECT 'x' || n, 'glob', 'x' FROM generate_series(1, 1001) AS n;
--> There would be 1001 glob blocks for all tenants; the maximum is 1000.
--! 23514 globs_of_all_tenants_are_few

-- of exact subjects there may be any number in all tenants
INSERT INTO broker.blocked_subject (subject, reason) SELECT 'x' || n, 'x' FROM generate_series(1, 1500) AS n;
--> nothing

-- an identity provider that a block names
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('second', 'acme', 'https://second.example.com', '{acme}'); INSERT INTO broker.blocked_subject (tenant, idp, subject, reason) VALUES ('acme', 'second', 'x', 'x'); DELETE FROM broker.identity_provider WHERE name = 'second';
--> Identity provider "second" of tenant "acme" is referenced by 1 blocked subject and cannot be deleted.
--? or delete its blocked subjects first.
--! 23001

-- a block that is there, written again
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'x', 'once'), ('acme', 'x', 'twice');
--> duplicate key value violates unique constraint "a_block_is_written_once"
--! 23505 a_block_is_written_once

-- in all tenants too
INSERT INTO broker.blocked_subject (subject, reason) VALUES ('x', 'once'); INSERT INTO broker.blocked_subject (subject, reason, until) VALUES ('x', 'twice', '2100-01-01Z');
--> duplicate key value violates unique constraint "a_block_is_written_once"
--! 23505 a_block_is_written_once

-- another tenant, an identity provider or a glob make it another block
INSERT INTO broker.blocked_subject (tenant, idp, subject, match, reason) VALUES ('acme', NULL, 'x', 'exact', 'x'), ('acme', 'ci', 'x', 'exact', 'x'), ('acme', NULL, 'x', 'glob', 'x'), ('other', NULL, 'x', 'exact', 'x'), (NULL, NULL, 'x', 'exact', 'x'), (NULL, NULL, 'x', 'glob', 'x');
--> nothing

-- a block that was lifted can be written again
INSERT INTO broker.blocked_subject (tenant, subject, reason, enabled) VALUES ('acme', 'x', 'once', false), ('acme', 'x', 'twice', false), ('acme', 'x', 'again', true);
--> nothing

-- but not switched on beside the new one
INSERT INTO broker.blocked_subject (tenant, subject, reason, enabled) VALUES ('acme', 'x', 'once', false), ('acme', 'x', 'again', true); UPDATE broker.blocked_subject SET enabled = true;
--> duplicate key value violates unique constraint "a_block_is_written_once"
--! 23505 a_block_is_written_once

-- a block that has ended gives way to a new one
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'x', 'ended', now() - interval '1 hour'); INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'x', 'again'); SELECT reason || ' ' || enabled FROM broker.blocked_subject ORDER BY id;
--> ended false,again true

-- and not to one of the same statement, whose history would be out of order
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'x', 'ended', now() - interval '1 hour'), ('acme', 'x', 'again', NULL);
--> A statement changed the same row of broker.blocked_subject twice.
--! 27000

-- nor to one of another tenant
INSERT INTO broker.blocked_subject (tenant, subject, reason, until) VALUES ('acme', 'x', 'ended', now() - interval '1 hour'); INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('other', 'x', 'again'); SELECT reason || ' ' || enabled FROM broker.blocked_subject ORDER BY id;
--> ended true,again true

-- none is removed without trace
TRUNCATE broker.blocked_subject;
--> permission denied for table blocked_subject

-- a glob of every trust domain
INSERT INTO broker.blocked_subject (tenant, subject, match, reason) VALUES ('acme', 'spiffe://*/ci', 'glob', 'x');
--> The block of "spiffe://*/ci" has a glob that does not start with a literal segment.
--? (in a URI: the text up to the end of its host)
