-- Webhook: credentials that a service of yours creates. docs/providers/webhook.md explains what the service must do.
--
-- First run docs/webhook-service.py, or write a service that implements docs/webhook.yaml. Check it with mintmark check-webhook.
-- "fields" names the values that the service returns. Clients get the values under these names.
-- If the service is in a private network, list its host in OUTBOUND_ALLOWED_HOSTS. If a private CA signed its certificate, add
-- "ca_certificate".
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'registry', 'webhook',
        '{"endpoint": "https://credentials.acme.example/mintmark", "fields": ["REGISTRY_USER", "REGISTRY_PASSWORD"]}',
        '{registry/*}');

-- The service reads the target to decide what the credential can do.
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'push-images', 'registry', 'Push images to the registry', 900, '{"target": "registry/push"}');
