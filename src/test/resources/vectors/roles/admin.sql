-- sees every tenant
SELECT name FROM broker.tenant ORDER BY name;
--> acme,other

-- sees every tenant's keys in views
SELECT key FROM broker.who_can_mint ORDER BY key;
--> api,hidden

-- may not sign as somebody else
UPDATE broker.tenant SET created_by = 'alice';
--> The statement sets the column created_by, but only the database may set it.
--? Leave out created_at, created_by, updated_at and updated_by, which say when a row was written, and by which login.

-- may not date a row back
INSERT INTO broker.tenant (name, created_at) VALUES ('dated', now() - interval '1 year');
--> The statement sets the column created_at, but only the database may set it.

-- may not approve a row by writing so
UPDATE broker.key SET approved_by = session_user, approved_at = now();
--> The statement sets the column approved_at, but only the database may set it.
--? SELECT name, statement FROM broker.pending_approval;

-- may not choose an ExternalId
UPDATE broker.tenant SET external_id = gen_random_uuid();
--> permission denied for table tenant

-- may not choose a number
INSERT INTO broker.subject_grant (id, tenant, idp, subject, key) OVERRIDING SYSTEM VALUE VALUES (1000, 'acme', 'ci', 'x', 'api');
--> The statement sets the id 1000, but the database assigns the ids of broker.subject_grant.

-- may not change what belongs to the code
UPDATE broker.provider_type SET max_duration = NULL;
--> permission denied for table provider_type

-- may not rewrite the audit log
UPDATE audit.event SET reason = 'x';
--> permission denied for view event

-- may not rewrite the history
DELETE FROM audit.config_change;
--> permission denied for view config_change

-- may not switch triggers off for the session
SET session_replication_role = replica;
--> permission denied to set parameter "session_replication_role"

-- moves no row to another tenant
UPDATE broker.key SET tenant = 'other' WHERE name = 'api';
--> A row of broker.key cannot be moved from "acme" to "other".

-- may not switch history off
ALTER TABLE broker.key DISABLE TRIGGER ALL;
--> must be owner of table key

-- may not free audiences for another
DELETE FROM runtime.trusted_audience;
--> permission denied for schema runtime

-- is recorded under its login whatever role it takes on
SET LOCAL ROLE mintmark_admin; UPDATE broker.tenant SET display_name = 'A' WHERE name = 'acme'; SELECT changed_by FROM audit.config_change ORDER BY changed_at DESC LIMIT 1;
--> test_admin

-- raises the bounds of a tenant
UPDATE broker.tenant SET max_keys = 5000, max_grants = 2000000, max_globs = 5000, max_calls = 512 WHERE name = 'acme' RETURNING max_keys;
--> 5000

-- counts no tenant itself
UPDATE runtime.tenant_size SET grants = 0;
--> permission denied for schema runtime

-- blocks a subject in all tenants
INSERT INTO broker.blocked_subject (subject, reason) VALUES ('x', 'INC-7') RETURNING coalesce(tenant, 'all') || ' ' || created_by;
--> all test_admin

-- raises the revision of the tables without tenant by that
WITH before AS (SELECT broker.revision(NULL) AS revision), written AS (INSERT INTO broker.blocked_subject (subject, reason) VALUES ('x', 'INC-7')) SELECT revision FROM before; SELECT count(*) FROM audit.config_change WHERE tenant IS NULL AND table_name = 'blocked_subject' AND after ->> 'subject' = 'x';
--> 1

-- cannot hold the locks of platform-wide changes
SELECT FROM runtime.mutex FOR UPDATE;
--> permission denied for schema runtime
