-- sees its tenant
SELECT name FROM broker.tenant;
--> acme

-- sees its tenant's identity providers
SELECT name FROM broker.identity_provider;
--> ci

-- sees its tenant's access providers
SELECT tenant || '/' || name FROM broker.access_provider;
--> acme/own

-- sees its tenant's keys
SELECT name FROM broker.key;
--> api

-- sees its tenant's grants
SELECT key FROM broker.subject_grant;
--> api

-- sees its tenant's admins
SELECT role_name FROM broker.tenant_admin;
--> test_tenant_admin

-- sees its tenant's changes, and none without tenant
SELECT DISTINCT coalesce(tenant, 'none') FROM audit.config_change;
--> acme

-- sees its tenant's mints
SELECT tenant FROM audit.event;
--> acme

-- sees its tenant alone in the views
SELECT key FROM broker.who_can_mint UNION ALL SELECT key FROM broker.grant_ending_soon;
--> api,api

-- is explained its tenant alone
SELECT key FROM broker.explain('ci', 'main');
--> api

-- learns nothing of another tenant's identity provider
SELECT key FROM broker.explain('elsewhere', 'main');
--> There is no identity provider "elsewhere" that you may see.

-- knows no revision of another tenant
SELECT broker.revision('acme') > 0, broker.revision('other');
--> t

-- knows no revision of another tenant, indeed
SELECT broker.revision('other');
--> 0

-- may not look into the working data
SELECT idp FROM runtime.trusted_audience;
--> permission denied for schema runtime

-- writes keys
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'v2', 'own', 60, '{"audience": "https://api.example.com/v2"}') RETURNING created_by;
--> test_tenant_admin

-- writes grants
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'x', 'api') RETURNING created_by;
--> test_tenant_admin

-- revokes grants
WITH gone AS (DELETE FROM broker.subject_grant RETURNING tenant) SELECT tenant FROM gone;
--> acme

-- names no target that the platform's admins did not allow
UPDATE broker.key SET settings = '{"audience": "https://admin.example.com"}';
--> Key "api" of tenant "acme": the setting "audience" is "https://admin.example.com", which access provider "own" does not allow.

-- may not widen the targets
UPDATE broker.access_provider SET allowed_targets = '{**}';
--> permission denied for table access_provider

-- may not make an access provider
INSERT INTO broker.access_provider (tenant, name, type) VALUES ('acme', 'new', 'jwt');
--> permission denied for table access_provider

-- may not change whom the broker believes
UPDATE broker.identity_provider SET issuer = 'https://evil.example.com';
--> permission denied for table identity_provider

-- may not make an identity provider
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('mine', 'acme', 'https://evil.example.com', '{x}');
--> permission denied for table identity_provider

-- may not change its tenant
UPDATE broker.tenant SET enabled = true;
--> permission denied for table tenant

-- may not make itself admin of another tenant
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('other', 'test_tenant_admin');
--> permission denied for table tenant_admin

-- may not list a shared issuer
DELETE FROM broker.shared_issuer;
--> permission denied for table shared_issuer

-- may not write another tenant's key
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('other', 'x', 'own', 60, '{"audience": "x"}');
--> Login "test_tenant_admin" is an admin of tenant "acme", so it cannot write rows of tenant "other".

-- learns nothing of another tenant's providers by writing a key for them
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('other', 'x', 'secret', 60, '{"nonsense": "x"}');
--> Login "test_tenant_admin" is an admin of tenant "acme", so it cannot write rows of tenant "other".

-- learns nothing of another tenant's providers by writing a key for one that isn't there
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('other', 'x', 'nothing', 60, '{"nonsense": "x"}');
--> Login "test_tenant_admin" is an admin of tenant "acme", so it cannot write rows of tenant "other".

-- learns nothing of another tenant's keys by a name that is taken
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('other', 'hidden', 'own', 60, '{"audience": "x"}');
--> Login "test_tenant_admin" is an admin of tenant "acme", so it cannot write rows of tenant "other".

-- learns nothing of another tenant's keys by a name that is taken and asking for no error
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('other', 'hidden', 'own', 60, '{"audience": "x"}') ON CONFLICT DO NOTHING;
--> Login "test_tenant_admin" is an admin of tenant "acme", so it cannot write rows of tenant "other".

-- may not write another tenant's grant
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('other', 'elsewhere', 'me', 'hidden');
--> Login "test_tenant_admin" is an admin of tenant "acme", so it cannot write rows of tenant "other".
--? broker.tenant_admin
--! 42501

-- a reference to another tenant's identity provider looks like one to nothing
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'elsewhere', 'me', 'api');
--> Tenant "acme" has no identity provider "elsewhere".
--? It has: ci.
--! 23503 the_identity_provider_exists_in_the_same_tenant

-- a reference to nothing
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'nowhere', 'me', 'api');
--> Tenant "acme" has no identity provider "nowhere".
--? It has: ci.
--! 23503 the_identity_provider_exists_in_the_same_tenant

-- a reference to another tenant's key looks like one to nothing
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'me', 'hidden');
--> Tenant "acme" has no key "hidden".
--? It has: api.
--! 23503 the_key_exists_in_the_same_tenant

-- a reference to another tenant's access provider looks like one to nothing
UPDATE broker.key SET provider = 'secret';
--> Tenant "acme" has no access provider "secret".
--? It has: own.
--! 23503 the_access_provider_exists_in_the_same_tenant

-- a row of a tenant that there isn't looks like one of another tenant
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('nobody', 'ci', 'me', 'api');
--> Login "test_tenant_admin" is an admin of tenant "acme", so it cannot write rows of tenant "nobody".
--! 42501

-- a row of no tenant
INSERT INTO broker.subject_grant (idp, subject, key) VALUES ('ci', 'me', 'api');
--> A row of broker.subject_grant needs "tenant", which is missing or null.
--! 23502

-- deletes no key that is in use
DELETE FROM broker.key;
--> Key "api" of tenant "acme" is referenced by 1 grant and cannot be deleted.
--? or delete its grants first

-- may not move a row
UPDATE broker.subject_grant SET tenant = 'other';
--> permission denied for table subject_grant

-- may not move a key
UPDATE broker.key SET tenant = 'other';
--> permission denied for table key

-- does not reach another tenant's rows by UPDATE
WITH hit AS (UPDATE broker.subject_grant SET enabled = false RETURNING tenant) SELECT tenant FROM hit;
--> acme

-- does not reach another tenant's rows by DELETE
WITH hit AS (DELETE FROM broker.subject_grant WHERE tenant = 'other' RETURNING id) SELECT count(*) FROM hit;
--> 0

-- may not choose a number
INSERT INTO broker.subject_grant (id, tenant, idp, subject, key) OVERRIDING SYSTEM VALUE VALUES (1000, 'acme', 'ci', 'x', 'api');
--> The statement sets the id 1000, but the database assigns the ids of broker.subject_grant.

-- may not sign as somebody else
INSERT INTO broker.subject_grant (tenant, idp, subject, key, created_by) VALUES ('acme', 'ci', 'x', 'api', 'alice');
--> The statement sets the column created_by, but only the database may set it.

-- may not write a row that counts as approved
INSERT INTO broker.subject_grant (tenant, idp, subject, key, approved_at, approved_by) VALUES ('acme', 'ci', 'x', 'api', now(), 'alice');
--> The statement sets the column approved_at, but only the database may set it.

-- may not approve a grant by writing so
UPDATE broker.subject_grant SET approved_by = session_user;
--> The statement sets the column approved_by, but only the database may set it.

-- may not sign as somebody else afterwards
UPDATE broker.subject_grant SET updated_by = 'alice';
--> The statement sets the column updated_by, but only the database may set it.

-- may not switch triggers off for the session
SET session_replication_role = replica;
--> permission denied to set parameter "session_replication_role"

-- may not switch triggers off at the table
ALTER TABLE broker.key DISABLE TRIGGER ALL;
--> must be owner of table key

-- may not switch row security off
SET row_security = off; SELECT name FROM broker.key;
--> query would be affected by row-level security policy for table "key"

-- may not drop a policy
DROP POLICY tenant_admins_see_their_tenants ON broker.key;
--> must be owner of relation key

-- may not become the owner
SET ROLE mintmark_owner;
--> permission denied to set role…

-- may not become a platform admin
SET SESSION AUTHORIZATION test_admin;
--> permission denied to set session authorization…

-- may not put a function in the broker's way
CREATE FUNCTION broker.evil() RETURNS int LANGUAGE sql RETURN 1;
--> permission denied for schema broker

-- a search path with functions of one's own changes nothing
CREATE FUNCTION pg_temp.tenants_of_login() RETURNS text[] LANGUAGE sql AS $$ SELECT '{acme,other}'::text[] $$; SET LOCAL search_path = pg_temp, broker, pg_catalog; SELECT name FROM key;
--> api

-- a table of one's own in front of the broker's changes nothing
CREATE TEMP TABLE tenant_admin (tenant text, role_name text); INSERT INTO pg_temp.tenant_admin VALUES ('other', session_user); SET LOCAL search_path = pg_temp, broker; SELECT name FROM broker.key;
--> api

-- an operator of one's own is not used by triggers
CREATE FUNCTION pg_temp.always(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false'; CREATE OPERATOR pg_temp.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.always); SET LOCAL search_path = pg_temp, pg_catalog, broker; UPDATE broker.key SET outputs = '{"X": "Nothing"}';
--> Key "api" of tenant "acme": the output "X" names "Nothing", which is not a field of type jwt.

-- a function that tells what it sees is shown nothing more
CREATE FUNCTION pg_temp.tell(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN IF $1 = 'hidden' THEN RAISE EXCEPTION 'I saw it'; END IF; RETURN true; END $$; SELECT name FROM broker.key WHERE pg_temp.tell(name);
--> api

-- a division by zero tells nothing of another tenant's rows
SELECT name FROM broker.key WHERE 1 / (CASE name WHEN 'hidden' THEN 0 ELSE 1 END) = 1;
--> api

-- may not call triggers' functions as the owner
SELECT internal.record_key();
--> permission denied for function record_key

-- may not make an audit row
INSERT INTO audit.event (mint_id, step, kind, occurred_at, broker) VALUES ('01900000-0000-7000-8000-000000000000', 2, 'rejected', now(), 'me');
--> permission denied for view event

-- may not rewrite the history
DELETE FROM audit.config_change;
--> permission denied for view config_change

-- may not load rows past the policies
COPY broker.key (tenant, name, provider, max_duration, settings) FROM STDIN;
--> COPY FROM not supported with row-level security

-- may not truncate
TRUNCATE broker.key;
--> permission denied for table key

-- may not run a program of the server
COPY (SELECT 1) TO PROGRAM 'true';
--> …
--! 42501

-- may not read a file of the server into a table of its own
CREATE TEMP TABLE seen (line text); COPY pg_temp.seen FROM '/etc/passwd';
--> …
--! 42501

-- loads many rows by way of a table of its own
CREATE TEMP TABLE wanted (subject text); INSERT INTO wanted VALUES ('a'), ('b'); WITH added AS (INSERT INTO broker.subject_grant (tenant, idp, subject, key) SELECT 'acme', 'ci', subject, 'api' FROM wanted RETURNING id) SELECT count(*) FROM added;
--> 2

-- a function that runs as its owner is its own, and sees no more
CREATE FUNCTION pg_temp.look() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS 'SELECT name FROM broker.key'; SELECT * FROM pg_temp.look();
--> api

-- a role taken on changes nothing, because the login counts
SET LOCAL ROLE mintmark_tenant_admin; SELECT name FROM broker.key;
--> api

-- learns no value from the statistics
SELECT count(*) FROM pg_stats WHERE schemaname IN ('broker', 'audit') AND tablename IN ('tenant', 'identity_provider', 'access_provider', 'key', 'subject_grant', 'tenant_admin', 'event', 'config_change');
--> 0

-- learns not how many grants there are
SELECT last_value FROM broker.subject_grant_id_seq;
--> permission denied for sequence subject_grant_id_seq

-- takes no number away
SELECT nextval('broker.subject_grant_id_seq');
--> permission denied for sequence subject_grant_id_seq

-- nor by the function of the triggers
SELECT internal.new_id('broker.subject_grant', NULL);
--> Only triggers may call internal.new_id.

-- does not merge into another tenant's rows
MERGE INTO broker.key AS k USING (VALUES ('other', 'hidden')) AS v (tenant, name) ON k.tenant = v.tenant AND k.name = v.name WHEN MATCHED THEN UPDATE SET enabled = false WHEN NOT MATCHED THEN INSERT (tenant, name, provider, max_duration, settings) VALUES (v.tenant, v.name, 'own', 60, '{"audience": "x"}');
--> Login "test_tenant_admin" is an admin of tenant "acme", so it cannot write rows of tenant "other".

-- does not take over another tenant's row by an upsert
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('other', 'hidden', 'own', 60, '{"audience": "x"}') ON CONFLICT (tenant, name) DO UPDATE SET enabled = false;
--> Login "test_tenant_admin" is an admin of tenant "acme", so it cannot write rows of tenant "other".

-- is not told of another tenant's identity providers
SELECT count(*) FROM broker.what_can_mint('elsewhere', 'main');
--> There is no identity provider "elsewhere" that you may see.

-- asks about claims, which are an object
SELECT count(*) FROM broker.explain('ci', 'main', '["a"]');
--> The claims must be a JSON object, not a list.

-- nor are they null in JSON
SELECT count(*) FROM broker.explain('ci', 'main', 'null');
--> The claims must be a JSON object, not null.

-- what a subject of its own can mint
SELECT key FROM broker.what_can_mint('ci', 'main');
--> api

-- whoever may look at a table may not hold it against changes
LOCK TABLE broker.identity_provider IN SHARE MODE;
--> permission denied for table identity_provider

-- raises no bound of its tenant
UPDATE broker.tenant SET max_keys = 5000 WHERE name = 'acme';
--> permission denied for table tenant

-- nor counts itself
UPDATE runtime.tenant_size SET grants = 0;
--> permission denied for schema runtime

-- keeps a file of grants that follows it
MERGE INTO broker.subject_grant AS g USING (VALUES ('main', 60), ('next', 90)) AS w (subject, max_duration) ON g.tenant = 'acme' AND g.idp = 'ci' AND g.key = 'api' AND g.subject = w.subject WHEN MATCHED THEN UPDATE SET max_duration = w.max_duration WHEN NOT MATCHED THEN INSERT (tenant, idp, subject, key, max_duration) VALUES ('acme', 'ci', w.subject, 'api', w.max_duration); SELECT string_agg(subject || ' ' || max_duration, ', ' ORDER BY subject) FROM broker.subject_grant;
--> main 60, next 90

-- and one that only adds
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'next', 'api'), ('acme', 'ci', 'next', 'api') ON CONFLICT DO NOTHING; SELECT string_agg(subject, ', ' ORDER BY id) FROM broker.subject_grant;
--> main, next

-- sees who looks at its tenant on the console
SELECT claim FROM broker.console_access ORDER BY claim;
--> email,groups

-- gives nobody access to the console
INSERT INTO broker.console_access (tenant, claim, value) VALUES ('acme', 'sub', '"me"');
--> permission denied for table console_access

-- sees the blocked subjects of its tenant alone
SELECT subject FROM broker.blocked_subject;
--> own

-- is told that a subject is blocked in all tenants, and not why
SELECT DISTINCT condition || ': ' || seen FROM broker.explain('ci', 'everywhere:x');
--> blocked: blocked in all tenants

-- is told why a subject is blocked in its own
SELECT DISTINCT regexp_replace(seen, '[0-9]+', 'N') FROM broker.explain('ci', 'own');
--> blocked subject N: ours

-- is told nothing of another tenant's blocked subjects
SELECT DISTINCT condition FROM broker.explain('ci', 'foreign');
--> subject

-- blocks in its tenant
INSERT INTO broker.blocked_subject (tenant, idp, subject, reason, until) VALUES ('acme', 'ci', 'x', 'lost laptop', now() + interval '1 day') RETURNING created_by;
--> test_tenant_admin

-- and ends it
WITH ended AS (UPDATE broker.blocked_subject SET enabled = false RETURNING subject) SELECT subject FROM ended;
--> own

-- lifts the blocks of its tenant alone
WITH gone AS (DELETE FROM broker.blocked_subject RETURNING subject) SELECT subject FROM gone;
--> own

-- blocks nobody in another tenant
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('other', 'x', 'x');
--> Login "test_tenant_admin" is an admin of tenant "acme", so it cannot write rows of tenant "other".
--! 42501

-- blocks nobody in all tenants
INSERT INTO broker.blocked_subject (subject, reason) VALUES ('x', 'x');
--> Login "test_tenant_admin" cannot write a row without a tenant, which applies to all tenants.
--! 42501

-- makes no block of its tenant one of all
UPDATE broker.blocked_subject SET tenant = NULL;
--> permission denied for table blocked_subject

-- chooses no number for a block
INSERT INTO broker.blocked_subject (id, tenant, subject, reason) OVERRIDING SYSTEM VALUE VALUES (1, 'acme', 'x', 'x');
--> The statement sets the id 1, but the database assigns the ids of broker.blocked_subject.

-- names no other tenant's identity provider in a block
INSERT INTO broker.blocked_subject (tenant, idp, subject, reason) VALUES ('acme', 'elsewhere', 'x', 'x');
--> Tenant "acme" has no identity provider "elsewhere".
--? It has: ci.
--! 23503 the_identity_provider_exists_in_the_same_tenant

-- is told who could mint in its tenant
SELECT subject FROM audit.who_could_mint('acme', 'api', now());
--> main

-- is told nothing of who could mint in another tenant
SELECT count(*) FROM audit.who_could_mint('other', 'hidden', now());
--> The history that you may see has no tenant "other".
--? There are: acme.

-- learns no revision of another tenant
SELECT internal.revision_at('other', now());
--> 0

-- cannot hold the locks of platform-wide changes
SELECT FROM runtime.mutex FOR UPDATE;
--> permission denied for schema runtime
