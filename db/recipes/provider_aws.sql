-- AWS: roles that trust the broker as an OIDC provider.
--
-- In AWS, once for each account (BROKER is BROKER_ISSUER without https://):
--   aws iam create-open-id-connect-provider --url https://BROKER --client-id-list sts.amazonaws.com
-- Then write this trust policy for each role. Its sub names the tenant and the key:
--   {"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
--     "Principal": {"Federated": "arn:aws:iam::123456789012:oidc-provider/BROKER"},
--     "Action": ["sts:AssumeRoleWithWebIdentity", "sts:TagSession", "sts:SetSourceIdentity"],
--     "Condition": {"StringEquals": {"BROKER:aud": "sts.amazonaws.com", "BROKER:sub": "tenant:acme:key:deploy"}}}]}
-- The mint id is the session's name and source identity. With it, you find the mint of a CloudTrail event in audit.event.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws:iam::123456789012:role/ci-*}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'deploy', 'aws', 'Deploys the shop', 3600,
        '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "session_name": "shop-{mint_id}"}'),
       -- the same account, with fewer permissions: a session policy restricts the role
       ('acme', 'read', 'aws', 'Reads the artifacts', 900,
        '{"role_arn": "arn:aws:iam::123456789012:role/ci-read",
          "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject",
                     "Resource": "arn:aws:s3:::acme-artifacts/*"}]}}');
