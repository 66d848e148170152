-- A provider that is shown an identity in which all tenants look alike: the broker's own token comes from elsewhere
-- (BROKER_IDP_TYPE client-credentials or token-file), so its sub is the broker's and not the tenant's. What keeps tenants
-- apart is then allowed_targets alone: list what is this tenant's and no more, since a bare ** is refused.
--
-- Provider: trust that identity for exactly these targets.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, shared_identity, allowed_targets)
VALUES ('acme', 'aws-shared', 'aws-sts', '{"region": "eu-central-1"}', true,
        '{arn:aws:iam::123456789012:role/acme-*,arn:aws:iam::123456789012:role/shared-reader}');

INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
VALUES ('acme', 'shared-deploy', 'aws-shared', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/acme-deploy"}');
