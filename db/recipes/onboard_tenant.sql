-- Onboard a tenant: the tenant itself, and who administers its keys and grants.
-- Run as a platform admin. Then give it issuers (issuer_*.sql) and providers (provider_*.sql).

INSERT INTO broker.tenant (name, display_name) VALUES ('acme', 'Acme Inc.');

-- Her login (made by a DBA: CREATE ROLE alice LOGIN … IN ROLE mintmark_tenant_admin) may write acme's
-- keys and grants, and see the rest of acme.
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'alice');

-- What AWS is to be shown as ExternalId, if acme uses ambient credentials.
SELECT name, external_id FROM broker.tenant WHERE name = 'acme';
