-- A realm of Keycloak as an issuer, for people and for services (client credentials). Add an audience mapper for
-- "mintmark-acme" to the client. Otherwise the broker would have to accept every token of the realm.
\set SHOW_CONTEXT never

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, max_token_age, listed)
VALUES ('acme-keycloak', 'acme', 'https://sso.acme.example/realms/acme', '{mintmark-acme}',
        'https://sso.acme.example/realms/acme/protocol/openid-connect/certs', 900, true);

-- If a private CA signed the realm's certificate, set ca_certificate. If the realm has a private address, list its host in
-- OUTBOUND_ALLOWED_HOSTS.
-- UPDATE broker.identity_provider SET ca_certificate = '-----BEGIN CERTIFICATE-----…' WHERE name = 'acme-keycloak';

-- A person with a role. realm_access.roles is a list, and one element of the list is enough to match the condition.
-- A glob must start with a literal segment, and Keycloak's subjects are UUIDs. So write a grant for each person.
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason)
VALUES ('acme', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'deploy', '{"/realm_access/roles": "ops"}',
        'OPS-8: Lea, while in ops');
