-- An authorization server with token exchange (RFC 8693) that trusts the broker's tokens.
--
-- Far side: trust the issuer https://BROKER (keys at https://BROKER/.well-known/jwks.json) for subject tokens with the
-- server's own origin as audience, and register a client. Here it has a secret, in the file SECRETS_DIR/acme/auth-secret;
-- with "client_auth": "private_key_jwt" and no "client_secret" the broker proves itself with its key instead.
-- The server decides how long its tokens live: max_duration must not be less.

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'auth', 'oauth2',
        '{"token_endpoint": "https://auth.acme.example/oauth2/token", "client_id": "mintmark",
          "client_secret": {"file": "auth-secret"}}',
        -- audience and resource of every key
        '{https://api.acme.example/**}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'orders-api', 'auth', 'Reads orders', 3600,
        '{"audience": "https://api.acme.example/orders", "scope": "orders:read"}');
