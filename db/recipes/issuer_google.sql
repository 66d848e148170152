-- Google as an issuer of identity tokens for service accounts and people. Anyone can have a Google account, so require an owner:
-- the account's number (sub), its email address, or the domain of your Workspace (hd). A service account gets a token with:
-- gcloud auth print-identity-token --impersonate-service-account=… --audiences=mintmark-acme --include-email
\set SHOW_CONTEXT never

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, required_claims, listed)
VALUES ('acme-google', 'acme', 'https://accounts.google.com', '{mintmark-acme}', 'https://www.googleapis.com/oauth2/v3/certs',
        '{"sub": ["112233445566778899000"]}',        -- gcloud iam service-accounts describe … --format='value(uniqueId)'
        true);

INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason)
VALUES ('acme', 'acme-google', '112233445566778899000', 'deploy', '{"email_verified": true}', 'OPS-6: the build account');
