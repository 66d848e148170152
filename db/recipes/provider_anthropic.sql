-- Anthropic: an access token of a service account, by workload identity federation (RFC 7523).
--
-- Create at Anthropic (Claude Console):
--   issuer: https://BROKER, keys by discovery
--   federation rule: audience https://api.anthropic.com, sub = tenant:acme:key:claude, token lifetime at most the key's max_duration
-- Anthropic accepts each jti once; the jti of the broker's token is the mint id. If the rule covers several workspaces, add
-- "workspace_id" to "target_parameters" and to the key's "parameters".
-- Source: https://platform.claude.com/docs/en/manage-claude/wif-reference
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'anthropic', 'oauth2',
        '{"token_endpoint": "https://api.anthropic.com/v1/oauth/token", "grant": "jwt-bearer", "body": "json",
          "parameters": {"organization_id": "00000000-0000-0000-0000-000000000000"},
          "target_parameters": ["federation_rule_id", "service_account_id"]}',
        '{federation_rule_id:fdrl_123,service_account_id:svac_123}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings, outputs)
VALUES ('acme', 'claude', 'anthropic', 'The Claude API', 3600,
        '{"parameters": {"federation_rule_id": "fdrl_123", "service_account_id": "svac_123"}}',
        '{"ANTHROPIC_AUTH_TOKEN": "AccessToken"}');
