-- What an admin writes to set up a tenant: whom it trusts, what it has, and who may have it.

INSERT INTO broker.tenant (name, display_name)
VALUES ('demo', 'The demo tenant')
    ON CONFLICT (name) DO NOTHING;

INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
VALUES ('demo-idp', 'demo', 'ISSUER', '{mintmark-demo}')
    ON CONFLICT (name) DO NOTHING;

INSERT INTO broker.access_provider (tenant, name, type)
VALUES ('demo', 'tokens', 'jwt')
    ON CONFLICT (tenant, name) DO NOTHING;

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('demo', 'demo-api', 'tokens', 'Calls the demo API', 900, '{"audience": "https://demo-api.example"}')
    ON CONFLICT (tenant, name) DO NOTHING;

-- Any subject that starts with "ci:" may have the key.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason)
SELECT 'demo', 'demo-idp', 'ci:**', 'glob', 'demo-api', 'for trying out'
 WHERE NOT EXISTS (SELECT FROM broker.subject_grant WHERE tenant = 'demo');
