-- An access provider to which all tenants have the same identity. The broker's token comes from an external identity provider
-- (BROKER_IDP_TYPE client-credentials or token-file), so its sub names the broker and no tenant. Only allowed_targets separates
-- tenants, so list only this tenant's targets. The database rejects a bare **.
--
-- At the provider, let exactly these targets trust the broker's identity.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, shared_identity, allowed_targets)
VALUES ('acme', 'aws-shared', 'aws-sts', '{"region": "eu-central-1"}', true,
        '{arn:aws:iam::123456789012:role/acme-*,arn:aws:iam::123456789012:role/shared-reader}');

INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
VALUES ('acme', 'shared-deploy', 'aws-shared', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/acme-deploy"}');
