-- S3-compatible storage (MinIO, Ceph, …) that trusts the broker as an OIDC provider.
--
-- Set in MinIO, so that it reads the policies from a claim of the token (for roles, see docs/providers/s3-sts.md):
--   MINIO_IDENTITY_OPENID_CONFIG_URL=https://BROKER/.well-known/openid-configuration
--   MINIO_IDENTITY_OPENID_CLIENT_ID=https://minio.acme.example      (the audience)
--   MINIO_IDENTITY_OPENID_CLAIM_NAME=policy
-- If the storage has a private address, list its host in OUTBOUND_ALLOWED_HOSTS.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings)
VALUES ('acme', 'minio', 's3-sts',
        '{"endpoint": "https://minio.acme.example", "policy_claim": {"name": "policy", "value": "readwrite"}}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'storage', 'minio', 'The build cache', 3600,
        '{"policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"],
                     "Resource": "arn:aws:s3:::build-cache/*"}]}}');

-- With role policies (MINIO_IDENTITY_OPENID_ROLE_POLICY, see docs/providers/s3-sts.md), a key names the role that MinIO prints
-- when it starts, and the access provider has no policy_claim. In MinIO, each role policy needs an OpenID configuration of its own.
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'minio-roles', 's3-sts', '{"endpoint": "https://minio.acme.example"}', '{arn:minio:iam:::role/*}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'storage-read', 'minio-roles', 'The build cache, to look at', 3600,
        '{"role_arn": "arn:minio:iam:::role/nOybJqMNzNmroqEKq5D0EUsRZw0"}');
