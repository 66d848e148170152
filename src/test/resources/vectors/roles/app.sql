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

-- numbers cosignatures
INSERT INTO audit.cosignature (tree, size, witness, line)
VALUES (1, 7, 'w.example/1', U&'\2014 w.example/1 ' || repeat('A', 104)), (1, 7, 'w.example/2', U&'\2014 w.example/2 ' || repeat('A', 104))
RETURNING number;
--> 1,2

-- writes no cosignature of another witness
INSERT INTO audit.cosignature (tree, size, witness, line) VALUES (1, 7, 'w.example/1', U&'\2014 w.example/2 ' || repeat('A', 104));
--> new row for relation "cosignature" violates check constraint "a_cosignature_is_a_line_of_a_note"

-- writes no line without a bound
INSERT INTO audit.cosignature (tree, size, witness, line) VALUES (1, 7, 'w.example/1', U&'\2014 w.example/1 ' || repeat('A', 204));
--> new row for relation "cosignature" violates check constraint "a_cosignature_is_a_line_of_a_note"

-- names no witness that no note could
INSERT INTO audit.cosignature (tree, size, witness, line) VALUES (1, 7, 'w example', U&'\2014 w example ' || repeat('A', 104));
--> new row for relation "cosignature" violates check constraint "a_witness_is_named_by_its_key"

-- changes no cosignature
UPDATE audit.cosignature SET line = 'x';
--> permission denied for view cosignature

-- removes no cosignature
DELETE FROM audit.cosignature;
--> permission denied for view cosignature

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
