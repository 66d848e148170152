-- Any other OpenID Connect issuer. Three things to find out, from one of its tokens (its claims are public to its holder):
--   iss   the issuer, to the character
--   aud   the audience that it can be made to put into tokens for this broker; choose one that names the tenant
--   sub   what it calls its clients
-- Its keys are found at <issuer>/.well-known/jwks.json or by its discovery document; jwks_uri names them otherwise.
\set SHOW_CONTEXT never

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, max_token_age, listed)
VALUES ('acme-ci', 'acme', 'https://ci.acme.example', '{mintmark-acme}', 3600, true);

-- If others can get tokens of this issuer too, say whose tokens you mean, by a claim that only yours have:
-- UPDATE broker.identity_provider SET required_claims = '{"organization": "acme"}' WHERE name = 'acme-ci';

-- An issuer that the broker can't reach: store its key set, and update it at each rotation.
-- UPDATE broker.identity_provider SET jwks = '{"keys": [{"kty": "EC", …}]}' WHERE name = 'acme-ci';

INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason)
VALUES ('acme', 'acme-ci', 'job:release', 'deploy', '{"branch": ["main", "release"]}', 'OPS-9: releases');
