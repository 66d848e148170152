-- Onboard a tenant: insert the tenant, and name the admins of its keys and grants. Run this file as a platform admin.
--
-- Then run these files, in this order, because each refers to rows of the file before:
--   1. provider_*.sql   the tenant's access providers and keys
--   2. issuer_*.sql     the tenant's identity providers and first grants
--   3. grants.sql       further grants; you can run this file again
-- The files are examples. Leave out the rows that you don't need.
\set SHOW_CONTEXT never

INSERT INTO broker.tenant (name, display_name) VALUES ('acme', 'Acme Inc.');

-- The login alice may write acme's keys and grants, and read acme's other rows. A database administrator created it:
-- CREATE ROLE alice LOGIN … IN ROLE mintmark_tenant_admin
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'alice');

-- The ExternalId for AWS, if acme uses ambient credentials.
SELECT name, external_id FROM broker.tenant WHERE name = 'acme';
