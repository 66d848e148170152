-- Tailscale: an API access token with the scopes and tags of a federated identity.
--
-- At Tailscale (admin console, Settings, Trust credentials), create an OpenID Connect credential with
--   issuer https://BROKER, subject tenant:acme:key:tailnet, audience https://api.tailscale.com
-- and the scopes and tags that the key needs. The credential's client id is a setting of the key. Tokens are valid for an hour.
-- Source: https://tailscale.com/kb/1581/workload-identity-federation
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'tailscale', 'oauth2',
        '{"token_endpoint": "https://api.tailscale.com/api/v2/oauth/token-exchange", "subject_parameter": "jwt",
          "target_parameters": ["client_id"]}',
        '{client_id:TrustCredential1}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings, outputs)
VALUES ('acme', 'tailnet', 'tailscale', 'The Tailscale API', 3600,
        '{"parameters": {"client_id": "TrustCredential1"}}', '{"TAILSCALE_API_KEY": "AccessToken"}');
