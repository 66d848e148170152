-- sees every tenant
SELECT name FROM broker.key ORDER BY name;
--> api,hidden

-- sees every mint
SELECT tenant FROM audit.event ORDER BY tenant;
--> acme,other

-- is explained every tenant
SELECT granted FROM broker.explain('elsewhere', 'main');
--> t

-- changes no configuration
UPDATE broker.key SET enabled = false;
--> permission denied for table key

-- cosigns nothing
INSERT INTO audit.cosignature (tree, size, witness, line) VALUES (1, 1, 'w', 'x');
--> permission denied for view cosignature

-- writes no audit row
DELETE FROM audit.event;
--> permission denied for view event

-- revokes nothing
DELETE FROM broker.subject_grant;
--> permission denied for table subject_grant

-- makes no partitions
SELECT audit.create_partitions(3);
--> permission denied for function create_partitions

-- sees every blocked subject
SELECT subject FROM broker.blocked_subject ORDER BY id;
--> own,foreign,everywhere:**

-- blocks nobody
INSERT INTO broker.blocked_subject (subject, reason) VALUES ('x', 'x');
--> permission denied for table blocked_subject

-- is explained why
SELECT DISTINCT seen FROM broker.explain('elsewhere', 'everywhere:x');
--> blocked in all tenants

-- is told who could mint in every tenant
SELECT subject FROM audit.who_could_mint('other', 'hidden', now());
--> main

-- cannot hold the locks of platform-wide changes
SELECT FROM runtime.mutex FOR UPDATE;
--> permission denied for view mutex
