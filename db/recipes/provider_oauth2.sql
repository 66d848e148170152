-- Any authorization server that exchanges tokens (RFC 8693): the broker's token for an access token of the server.
--
-- At the provider, let the server trust the broker as an OpenID provider. The broker's token, sent as subject_token, has
--   iss = https://BROKER, sub = tenant:acme:key:orders-api, jti = the mint id
--   aud = the token endpoint's origin, or subject_audience of the settings
-- Also create a client that may exchange such tokens for the audience of the key. Write the client's secret to
-- SECRETS_DIR/acme/orders-client, because the database stores no secrets. If the server has a private address, list its host in
-- OUTBOUND_ALLOWED_HOSTS.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'auth-server', 'oauth2',
        '{"token_endpoint": "https://auth.acme.example/oauth2/token", "client_auth": "client_secret_basic",
          "client_id": "mintmark", "client_secret": {"file": "orders-client"}}',
        '{https://orders.acme.example}');

-- The server sets the lifetime of its tokens. The broker withholds one that is valid for over a minute longer than max_duration.
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings, outputs)
VALUES ('acme', 'orders-api', 'auth-server', 'The orders API', 600,
        '{"audience": "https://orders.acme.example", "scope": "orders:read"}', '{"ORDERS_TOKEN": "AccessToken"}');
