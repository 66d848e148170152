-- Services that trust the broker itself: an access token of its own, for the client's own subject.
--
-- In the service or the gateway before it: accept tokens of the issuer
--   https://BROKER/tenants/acme                  (/.well-known/openid-configuration leads to the keys)
-- with the audience that the key names, and look at sub: the client's subject, as its identity provider has it.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, allowed_targets)
VALUES ('acme', 'own-tokens', 'jwt', '{https://*.acme.example}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'invoices', 'own-tokens', 'The invoices API', 300,
        '{"audience": "https://invoices.acme.example", "claims": {"scope": "invoices:read"}}');
