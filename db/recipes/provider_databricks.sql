-- Databricks: an OAuth token of a service principal, by workload identity federation (RFC 8693).
--
-- At Databricks, create a federation policy of the service principal (databricks account service-principal-federation-policy create):
--   issuer https://BROKER, audiences ["https://dbc-a1b2345c-d6e7.cloud.databricks.com"], subject tenant:acme:key:databricks
-- Tokens of Databricks are valid as long as the exchanged token, so subject_lifetime extends the broker's token.
-- Source: https://docs.databricks.com/aws/dev-tools/auth/oauth-federation-exchange
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'databricks', 'oauth2',
        '{"token_endpoint": "https://dbc-a1b2345c-d6e7.cloud.databricks.com/oidc/v1/token", "subject_lifetime": 3600,
          "target_parameters": ["client_id"]}',
        '{client_id:5f3c2a10-1111-2222-3333-444455556666}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings, outputs)
VALUES ('acme', 'databricks', 'databricks', 'The Databricks workspace', 3600,
        '{"scope": "all-apis", "parameters": {"client_id": "5f3c2a10-1111-2222-3333-444455556666"}}',
        '{"DATABRICKS_TOKEN": "AccessToken"}');
