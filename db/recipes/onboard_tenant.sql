-- Onboard a tenant: the tenant itself, and who administers its keys and grants. Run as a platform admin.
--
-- Then, in this order, since each refers to rows of the file before:
--   1. provider_*.sql   its access providers, and its keys
--   2. issuer_*.sql     its identity providers, and its first grants
--   3. grants.sql       further grants, from a file that can be run again
-- Each of those files is an example: leave out the rows that you don't want.
\set SHOW_CONTEXT never

INSERT INTO broker.tenant (name, display_name) VALUES ('acme', 'Acme Inc.');

-- Her login (made by a DBA: CREATE ROLE alice LOGIN … IN ROLE mintmark_tenant_admin) may write acme's
-- keys and grants, and see the rest of acme.
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'alice');

-- The ExternalId for AWS, if acme uses ambient credentials.
SELECT name, external_id FROM broker.tenant WHERE name = 'acme';
