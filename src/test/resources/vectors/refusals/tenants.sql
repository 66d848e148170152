-- a tenant is renamed
UPDATE broker.tenant SET name = 'acme2' WHERE name = 'acme';
--> Tenant "acme" cannot be renamed: clouds and the audit log know it by this name.
--? Change its display_name

-- a tenant is deleted
DELETE FROM broker.tenant WHERE name = 'other';
--> Tenant "other" cannot be deleted: a new tenant with its name would inherit the trust that clouds have in this one.
--? UPDATE broker.tenant SET enabled = false WHERE name = 'other';

-- a tenant's name has a form
INSERT INTO broker.tenant (name) VALUES ('Acme Inc.');
--> "Acme Inc." is not a valid tenant name.
--? Set display_name for a readable name.
--! 23514

-- an admin of a tenant that there isn't
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('nobody', 'alice');
--> There is no tenant "nobody".
--? There are: acme, other.
--! 23503 the_tenant_exists

-- an admin of a tenant that is misspelt
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('amce', 'alice');
--> There is no tenant "amce".
--? Did you mean "acme"?

-- an admin without a name
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', '');
--> role_name must be 1 to 63 bytes long, not 0.
--? SELECT rolname FROM pg_roles

-- an admin without a tenant
INSERT INTO broker.tenant_admin (role_name) VALUES ('alice');
--> A row of broker.tenant_admin needs "tenant", which is missing or null.
--? "tenant": The tenant.
--! 23502

-- a name for people that is none
UPDATE broker.tenant SET display_name = E'Acme\nInc.' WHERE name = 'acme';
--> Tenant "acme": its display_name has control characters.
--? Write one line, or null.

-- a name for people that is empty
UPDATE broker.tenant SET display_name = '' WHERE name = 'acme';
--> Tenant "acme": its display_name is empty.
--?

-- a tenant is neither enabled nor disabled
UPDATE broker.tenant SET enabled = NULL WHERE name = 'acme';
--> A row of broker.tenant needs "enabled", which is missing or null.
--? Omit the column to use its default.
--! 23502

-- a tenant that is disabled
UPDATE broker.tenant SET enabled = false WHERE name = 'acme';
INSERT INTO broker.tenant (name) VALUES ('acme');
--> Tenant "acme" already exists and is disabled.
--? To enable it again: UPDATE broker.tenant SET enabled = true WHERE name = 'acme';
--! 23505 a_tenant_name_is_taken_once

-- a tenant that is there already
INSERT INTO broker.tenant (name) VALUES ('acme');
--> duplicate key value violates unique constraint "a_tenant_name_is_taken_once"
--?
--! 23505 a_tenant_name_is_taken_once

-- a tenant that is there already, if that is fine
INSERT INTO broker.tenant (name) VALUES ('acme') ON CONFLICT DO NOTHING;
--> nothing

-- an ExternalId is chosen
INSERT INTO broker.tenant (name, external_id) VALUES ('third', gen_random_uuid());
--> permission denied for table tenant
--?

-- a table is emptied behind the history's back
TRUNCATE broker.key;
--> permission denied for table key
--?

-- a provider type is made up
INSERT INTO broker.provider_type (type) VALUES ('mine');
--> permission denied for table provider_type
--?

-- the longest display name
UPDATE broker.tenant SET display_name = repeat('x', 1000) WHERE name = 'acme';
--> nothing

-- a longer one
UPDATE broker.tenant SET display_name = repeat('x', 1001) WHERE name = 'acme';
--> Tenant "acme": its display_name has 1001 characters; the maximum is 1000.
--! 23514

-- platform admins raise and lower what a tenant may have, below what it has too
UPDATE broker.tenant SET max_keys = 0, max_grants = 0, max_globs = 2000000000, max_calls = 1 WHERE name = 'acme';
--> nothing

-- a negative bound
UPDATE broker.tenant SET max_grants = -1 WHERE name = 'acme';
--> Tenant "acme" has a limit below zero.
--? max_keys, max_grants, max_globs and max_changes must be 0 or more, max_calls 1 or more.
--! 23514

-- another negative bound
UPDATE broker.tenant SET max_changes = -1 WHERE name = 'acme';
--> Tenant "acme" has a limit below zero.
--! 23514

-- a tenant that could never call
UPDATE broker.tenant SET max_calls = 0 WHERE name = 'acme';
--> Tenant "acme" has a limit below one call.
--! 23514

-- a bound that is null
UPDATE broker.tenant SET max_keys = NULL WHERE name = 'acme';
--> A row of broker.tenant needs "max_keys", which is missing or null.
--? Omit the column to use its default.
--! 23502

-- a longest life that no credential has
UPDATE broker.tenant SET max_duration = 0 WHERE name = 'acme';
--> Tenant "acme": max_duration is 0 seconds.
--? Write a positive number, or null to leave it to the types of access providers.
--! 23514

-- a limit that lets nobody ask
UPDATE broker.tenant SET max_requests = 0 WHERE name = 'acme';
--> Tenant "acme": max_requests is 0.
--? Write a positive number, or null for no limit. To stop a tenant, disable it.
--! 23514
