-- OpenAI: an access token of a project's service account, by workload identity federation.
--
-- At OpenAI, an organization owner creates (Organization Settings, Security, Workload Identity Provider):
--   provider: issuer https://BROKER, audience https://auth.openai.com, keys from https://BROKER/.well-known/jwks.json
--   mapping to the service account: sub = tenant:acme:key:openai
-- OpenAI's tokens are never valid for longer than the exchanged token, so subject_lifetime extends the broker's token.
-- Source: https://developers.openai.com/api/reference/workload-identity-federation
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'openai', 'oauth2',
        '{"token_endpoint": "https://auth.openai.com/oauth/token", "body": "json", "subject_lifetime": 3600,
          "parameters": {"identity_provider_id": "wip_123"}, "target_parameters": ["service_account_id"]}',
        '{service_account_id:user-123}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings, outputs)
VALUES ('acme', 'openai', 'openai', 'The OpenAI API', 3600,
        '{"parameters": {"service_account_id": "user-123"}}', '{"OPENAI_API_KEY": "AccessToken"}');
