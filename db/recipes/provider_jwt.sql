-- Services that trust the broker directly: access tokens that the broker signs for the client's subject.
--
-- In the service, or in a gateway in front of it, accept tokens of this issuer:
--   https://BROKER/tenants/acme                  (/.well-known/openid-configuration below it leads to the keys)
-- with the audience that the key names. The claim sub is the client's subject at its identity provider.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, allowed_targets)
VALUES ('acme', 'own-tokens', 'jwt', '{https://*.acme.example}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'invoices', 'own-tokens', 'The invoices API', 300,
        '{"audience": "https://invoices.acme.example", "claims": {"scope": "invoices:read"}}');
