-- Any other OpenID Connect issuer. Decode one of its tokens, and read three claims:
--   iss   the issuer; copy it exactly
--   aud   the audience; let the issuer write one that names the tenant into tokens for this broker
--   sub   the name of the client
-- The broker finds the issuer's keys at <issuer>/.well-known/jwks.json or in its discovery document. Otherwise set jwks_uri.
\set SHOW_CONTEXT never

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, max_token_age, listed)
VALUES ('acme-ci', 'acme', 'https://ci.acme.example', '{mintmark-acme}', 3600, true);

-- If others can get tokens of this issuer too, require a claim that only your tokens have:
-- UPDATE broker.identity_provider SET required_claims = '{"organization": "acme"}' WHERE name = 'acme-ci';

-- An issuer that the broker can't reach: store its key set, and update it at each rotation.
-- UPDATE broker.identity_provider SET jwks = '{"keys": [{"kty": "EC", …}]}' WHERE name = 'acme-ci';

INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason)
VALUES ('acme', 'acme-ci', 'job:release', 'deploy', '{"branch": ["main", "release"]}', 'OPS-9: releases');
