-- a tenant is renamed
UPDATE broker.tenant SET name = 'acme2' WHERE name = 'acme';
--> Tenant "acme" cannot be renamed: clouds and the audit log know it by this name.
--? Change its display_name

-- a tenant is deleted
DELETE FROM broker.tenant WHERE name = 'other';
--> Tenant "other" cannot be deleted: another of that name would inherit its trust in the clouds.
--? UPDATE broker.tenant SET enabled = false WHERE name = 'other';

-- a tenant's name has a form
INSERT INTO broker.tenant (name) VALUES ('Acme Inc.');
--> new row for relation "tenant" violates check constraint "a_tenant_name_has_1_to_40_of_a_to_z_0_to_9_and_hyphen"
--?

-- an admin of a tenant that there isn't
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('nobody', 'alice');
--> insert or update on table "tenant_admin" violates foreign key constraint "the_tenant_exists"
--?

-- a table is emptied behind the history's back
TRUNCATE broker.key;
--> permission denied for table key
--?

-- a provider type is made up
INSERT INTO broker.provider_type (type) VALUES ('mine');
--> permission denied for table provider_type
--?
