-- an access without a claim
INSERT INTO broker.console_access (tenant, value) VALUES ('acme', '"lead"');
--> A row of broker.console_access needs "claim", which is missing or null.
--! 23502

-- an access to a tenant that there isn't
INSERT INTO broker.console_access (tenant, claim, value) VALUES ('nobody', 'groups', '"leads"');
--> There is no tenant "nobody".
--! 23503 the_tenant_exists

-- an access by a claim that is empty
INSERT INTO broker.console_access (all_tenants, claim, value) VALUES (true, '', '"leads"');
--> A row of broker.console_access has a claim that is empty.
--! 23514

-- an access by a value that nothing could be
INSERT INTO broker.console_access (all_tenants, claim, value) VALUES (true, 'groups', '[]');
--> The value of the console access by claim "groups" is invalid: the list for "groups" is empty, so no token can match.
--? Write a value such as
--! 23514

-- an access by a pointer that is none
INSERT INTO broker.console_access (all_tenants, claim, value) VALUES (true, '/groups/~2', '"x"');
--> The value of the console access by claim "/groups/~2" is invalid: "/groups/~2" starts with /, so it is a JSON pointer, in which ~ must be written as ~0 and / as ~1.
--! 23514

-- an access that is widened to all tenants
INSERT INTO broker.console_access (tenant, claim, value) VALUES ('acme', 'groups', '"leads"');
UPDATE broker.console_access SET tenant = NULL, all_tenants = true;
--> A row of broker.console_access cannot be moved from tenant "acme" to all tenants.
--? Insert a new row, and delete the old row.

-- an access to all tenants that is given twice
INSERT INTO broker.console_access (all_tenants, claim, value) VALUES (true, 'groups', '"auditors"'), (true, 'groups', '"auditors"');
--> duplicate key value violates unique constraint "an_access_is_written_once"
--! 23505 an_access_is_written_once

-- an access that is written again is as it was
INSERT INTO broker.console_access (all_tenants, claim, value) VALUES (true, 'groups', '"auditors"');
INSERT INTO broker.console_access (all_tenants, claim, value) VALUES (true, 'groups', '"auditors"') ON CONFLICT DO NOTHING;
SELECT count(*) FROM broker.console_access;
--> 1

-- an access is on record, for all tenants among the changes without tenant
INSERT INTO broker.console_access (tenant, all_tenants, claim, value) VALUES ('acme', false, 'groups', '"leads"'), (NULL, true, 'sub', '"alice"');
SELECT coalesce(c.tenant, 'none') || '/' || (c.after ->> 'claim') FROM audit.config_change AS c
 WHERE c.table_name = 'console_access' ORDER BY 1;
--> acme/groups,none/sub

-- an access that names no tenant
INSERT INTO broker.console_access (claim, value, reason) VALUES ('groups', '"staff"', 'OPS-1');
--> The row of broker.console_access has no tenant.
--? Set tenant. For access to every tenant and to the page Proof, set all_tenants = true instead.
--! 23514

-- an access to a tenant and to all
INSERT INTO broker.console_access (tenant, all_tenants, claim, value) VALUES ('acme', true, 'groups', '"staff"');
--> A row of broker.console_access names both tenant "acme" and all tenants.
--? Leave tenant null, or set all_tenants to false.
--! 23514

-- an access whose all_tenants is null
INSERT INTO broker.console_access (tenant, all_tenants, claim, value) VALUES ('acme', NULL, 'groups', '"staff"');
--> A row of broker.console_access needs "all_tenants", which is missing or null.
--! 23502
