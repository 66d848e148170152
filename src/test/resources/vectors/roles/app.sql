-- sees every tenant
SELECT name FROM broker.key ORDER BY name;
--> api,hidden

-- sees every grant
SELECT count(*) FROM broker.subject_grant;
--> 2

-- sees revisions
SELECT broker.revision('acme') > 0;
--> t

-- makes partitions
SELECT audit.create_partitions(3);
--> 0

-- does not read what was changed
SELECT after FROM audit.config_change;
--> permission denied for view config_change

-- changes no configuration
UPDATE broker.subject_grant SET enabled = true;
--> permission denied for table subject_grant

-- adds no grant
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', 'x', 'api');
--> permission denied for table subject_grant

-- changes no audit row
UPDATE audit.event SET reason = 'x';
--> permission denied for view event

-- removes no audit row
DELETE FROM audit.event;
--> permission denied for view event

-- switches no trigger off
SET session_replication_role = replica;
--> permission denied to set parameter "session_replication_role"

-- reserves no audience
INSERT INTO runtime.trusted_audience (issuer, audience, idp) VALUES ('https://ci.example.com', 'x', 'ci');
--> permission denied for view trusted_audience

-- counts no tenant
UPDATE runtime.tenant_size SET grants = 0;
--> permission denied for view tenant_size

-- says no other version of the schema
UPDATE runtime.schema_version SET version = 0;
--> permission denied for table schema_version

-- reads who is blocked
SELECT subject FROM broker.blocked_subject ORDER BY id;
--> own,foreign,everywhere:**

-- blocks nobody
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'x', 'x');
--> permission denied for table blocked_subject

-- lifts no block
UPDATE broker.blocked_subject SET enabled = false;
--> permission denied for table blocked_subject

-- is told nothing of who could mint
SELECT subject FROM audit.who_could_mint('acme', 'api', now());
--> permission denied for function who_could_mint

-- cannot hold the locks of platform-wide changes
SELECT FROM runtime.mutex FOR UPDATE;
--> permission denied for view mutex
