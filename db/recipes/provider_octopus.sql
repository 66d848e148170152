-- Octopus Deploy: an access token of a service account.
--
-- Create at Octopus (Configuration, Users, the service account, OpenID Connect, New OIDC Identity, Other Issuer):
--   URL https://BROKER, subject tenant:acme:key:octopus, custom audience https://acme.octopus.app
-- The page also shows the service account's id, which is the key's audience. Tokens are valid for an hour.
-- Source: https://octopus.com/docs/octopus-rest-api/openid-connect/other-issuers
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'octopus', 'oauth2',
        '{"token_endpoint": "https://acme.octopus.app/api/token/v1", "body": "json"}',
        '{863b4b23-61a6-4d2a-8b5c-d1c2a8f6f1c9}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings, outputs)
VALUES ('acme', 'octopus', 'octopus', 'The Octopus API', 3600,
        '{"audience": "863b4b23-61a6-4d2a-8b5c-d1c2a8f6f1c9"}', '{"OCTOPUS_ACCESS_TOKEN": "AccessToken"}');
