-- What an admin writes to set up a tenant: whom it trusts, what it has, and who may have it.
-- Addresses follow the ports of this start.

INSERT INTO broker.tenant (name, display_name)
VALUES ('demo', 'The demo tenant')
    ON CONFLICT (name) DO NOTHING;

-- Her login may write the tenant's keys and grants.
INSERT INTO broker.tenant_admin (tenant, role_name)
VALUES ('demo', 'lea')
    ON CONFLICT DO NOTHING;

INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
VALUES ('demo-idp', 'demo', 'ISSUER', '{mintmark-demo}', '{subject,actor}')
    ON CONFLICT (name) DO UPDATE SET issuer = excluded.issuer;

-- What its people log in to the console with decides requests, and mints nothing.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts)
VALUES ('demo-console', 'demo', 'ISSUER', '{mintmark-console}', '{approver}')
    ON CONFLICT (name) DO UPDATE SET issuer = excluded.issuer;

INSERT INTO broker.access_provider (tenant, name, type, settings)
VALUES ('demo', 'tokens', 'jwt', '{}'),
       ('demo', 'storage', 's3-sts', '{"endpoint": "STORAGE"}')
    ON CONFLICT (tenant, name) DO UPDATE SET settings = excluded.settings;

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('demo', 'demo-api', 'tokens', 'Calls the demo API', 900, '{"audience": "https://demo-api.example"}'),
       ('demo', 'demo-bucket', 'storage', 'Reads the demo bucket', 3600, '{"role_arn": "arn:minio:iam:::role/demo"}'),
       ('demo', 'demo-production', 'tokens', 'Calls the demo API in production', 900, '{"audience": "https://production.example"}')
    ON CONFLICT (tenant, name) DO NOTHING;

-- Any subject that starts with "ci:" may have the keys.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason)
SELECT 'demo', 'demo-idp', 'ci:**', 'glob', name, 'for trying out'
  FROM broker.key
 WHERE tenant = 'demo' AND name IN ('demo-api', 'demo-bucket')
   AND NOT EXISTS (SELECT FROM broker.subject_grant WHERE tenant = 'demo' AND key = name);

-- An agent reads the bucket, but only on behalf of a person.
INSERT INTO broker.subject_grant (tenant, idp, subject, actor_idp, actor, key, reason)
SELECT 'demo', 'demo-idp', 'person:ada', 'demo-idp', 'agent:helper', 'demo-bucket', 'OPS-40: tidies up'
 WHERE NOT EXISTS (SELECT FROM broker.subject_grant WHERE actor = 'agent:helper');

-- Nobody has production all the time: people ask, and the lead approves. Kim is on call.
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access, break_glass)
SELECT 'demo', 'demo-production', 'demo-idp', r.*
  FROM (VALUES ('person:*', 'glob', 1, 7200, false), ('person:kim', 'exact', 0, 3600, true)) AS r
 WHERE NOT EXISTS (SELECT FROM broker.access_rule WHERE tenant = 'demo');

INSERT INTO broker.access_approver (rule, idp, subject)
SELECT r.id, 'demo-console', 'lea' FROM broker.access_rule AS r
 WHERE r.tenant = 'demo' AND r.subject = 'person:*'
   AND NOT EXISTS (SELECT FROM broker.access_approver AS a WHERE a.rule = r.id);

-- A second tenant, which whoever leads the first one doesn't see on the console.
INSERT INTO broker.tenant (name, display_name)
VALUES ('payments', 'Another team')
    ON CONFLICT (name) DO NOTHING;

INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
VALUES ('payments-idp', 'payments', 'ISSUER', '{mintmark-payments}')
    ON CONFLICT (name) DO UPDATE SET issuer = excluded.issuer;

INSERT INTO broker.access_provider (tenant, name, type, settings)
VALUES ('payments', 'tokens', 'jwt', '{}')
    ON CONFLICT (tenant, name) DO NOTHING;

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('payments', 'ledger', 'tokens', 'Writes the ledger', 600, '{"audience": "https://ledger.example"}')
    ON CONFLICT (tenant, name) DO NOTHING;

INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
VALUES ('payments', 'payments-idp', 'job:nightly', 'ledger', 'PAY-7')
    ON CONFLICT DO NOTHING;

-- Who may look at the console: an admin and an auditor see all tenants, a lead sees hers.
INSERT INTO broker.console_access (tenant, all_tenants, claim, value, reason)
VALUES (NULL, true, 'groups', '["platform-admins", "auditors"]', 'for trying out'),
       ('demo', false, 'groups', '"demo-leads"', 'for trying out')
    ON CONFLICT DO NOTHING;
