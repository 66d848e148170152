-- an access without a claim
INSERT INTO broker.console_access (tenant, value) VALUES ('acme', '"lead"');
--> A row of broker.console_access needs "claim", which is missing or null.
--! 23502

-- an access to a tenant that there isn't
INSERT INTO broker.console_access (tenant, claim, value) VALUES ('nobody', 'groups', '"leads"');
--> There is no tenant "nobody".
--! 23503 the_tenant_exists

-- an access by a claim that is empty
INSERT INTO broker.console_access (claim, value) VALUES ('', '"leads"');
--> An access to the console has a claim that is empty.
--! 23514

-- an access by a value that nothing could be
INSERT INTO broker.console_access (claim, value) VALUES ('groups', '[]');
--> The access to the console by "groups": the list for "groups" is empty, so no token could ever meet it.
--? A value is for example
--! 23514

-- an access by a pointer that is none
INSERT INTO broker.console_access (claim, value) VALUES ('/groups/~2', '"x"');
--> The access to the console by "/groups/~2": "/groups/~2" begins like a JSON pointer, where ~ is written ~0 and / is written ~1.
--! 23514

-- an access that is widened to all tenants
INSERT INTO broker.console_access (tenant, claim, value) VALUES ('acme', 'groups', '"leads"');
UPDATE broker.console_access SET tenant = NULL;
--> An access to the console stays with what it shows: it cannot move from tenant "acme" to all tenants.
--? Insert it anew, and delete this one.

-- an access to all tenants that is given twice
INSERT INTO broker.console_access (claim, value) VALUES ('groups', '"auditors"'), ('groups', '"auditors"');
--> duplicate key value violates unique constraint "an_access_is_written_once"
--! 23505 an_access_is_written_once

-- an access that is written again is as it was
INSERT INTO broker.console_access (claim, value) VALUES ('groups', '"auditors"');
INSERT INTO broker.console_access (claim, value) VALUES ('groups', '"auditors"') ON CONFLICT DO NOTHING;
SELECT count(*) FROM broker.console_access;
--> 1

-- an access is on record, for all tenants among the changes without tenant
INSERT INTO broker.console_access (tenant, claim, value) VALUES ('acme', 'groups', '"leads"'), (NULL, 'sub', '"alice"');
SELECT coalesce(c.tenant, 'none') || '/' || (c.after ->> 'claim') FROM audit.config_change AS c
 WHERE c.table_name = 'console_access' ORDER BY 1;
--> acme/groups,none/sub
