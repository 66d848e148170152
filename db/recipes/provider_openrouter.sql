-- OpenRouter: an access token that acts as one of your API keys, by workload identity federation (RFC 8693).
--
-- At OpenRouter, an organization admin creates (Settings, Workload identity):
--   issuer: https://BROKER, JWKS URL empty (discovery)
--   policy: subject tenant:acme:key:openrouter, audience https://openrouter.ai, and the API key that it acts as
-- Tokens of OpenRouter are valid for at most 15 minutes, and no longer than the exchanged token.
-- Source: https://openrouter.ai/docs/guides/overview/auth/workload-identity-federation
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'openrouter', 'oauth2',
        '{"token_endpoint": "https://openrouter.ai/api/v1/oauth/token", "subject_lifetime": 900,
          "target_parameters": ["federation_policy_id"]}',
        '{federation_policy_id:4b2f7d1e-8c3a-4e5f-9a6b-1c2d3e4f5a6b}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings, outputs)
VALUES ('acme', 'openrouter', 'openrouter', 'The OpenRouter API', 900,
        '{"parameters": {"federation_policy_id": "4b2f7d1e-8c3a-4e5f-9a6b-1c2d3e4f5a6b"}}',
        '{"OPENROUTER_API_KEY": "AccessToken"}');
