-- A directory of Microsoft Entra ID as an issuer of tokens for managed identities and applications. The issuer contains the id
-- of your directory, so no other directory can issue its tokens. Configure tokens of version 2
-- (api.requestedAccessTokenVersion = 2).
\set SHOW_CONTEXT never

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, algorithms, listed)
VALUES ('acme-entra', 'acme', 'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0',
        '{api://mintmark-acme,11111111-2222-3333-4444-555555555555}',
        'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/discovery/v2.0/keys', '{RS256}',
        true);

-- sub and oid are the object id of the managed identity.
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason)
VALUES ('acme', 'acme-entra', '99999999-8888-7777-6666-555555555555', 'deploy',
        '{"oid": "99999999-8888-7777-6666-555555555555"}', 'OPS-7: the identity of the build machine');
