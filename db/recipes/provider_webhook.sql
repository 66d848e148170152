-- Webhook: credentials that a service of your own makes. docs/providers/webhook.md says what the service must do.
--
-- First the service: run docs/webhook-service.py or write one to docs/webhook.yaml, and check it with mintmark check-webhook.
-- "fields" are the values that the service gives; clients get them under these names.
-- A service in a private network must be in OUTBOUND_ALLOWED_HOSTS. With a private authority add "ca_certificate".
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'registry', 'webhook',
        '{"endpoint": "https://credentials.acme.example/mintmark", "fields": ["REGISTRY_USER", "REGISTRY_PASSWORD"]}',
        '{registry/*}');

-- The service decides by the target what the credential can do.
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'push-images', 'registry', 'Push images to the registry', 900, '{"target": "registry/push"}');
