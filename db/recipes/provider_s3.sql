-- S3-compatible storage (MinIO, Ceph, …) that trusts the broker as an OIDC provider.
--
-- In MinIO (policies are read from a claim of the token; roles: docs/providers/s3-sts.md):
--   MINIO_IDENTITY_OPENID_CONFIG_URL=https://BROKER/.well-known/openid-configuration
--   MINIO_IDENTITY_OPENID_CLIENT_ID=https://minio.acme.example      (the audience)
--   MINIO_IDENTITY_OPENID_CLAIM_NAME=policy
-- A private address must be listed in OUTBOUND_ALLOWED_HOSTS.

INSERT INTO broker.access_provider (tenant, name, type, settings)
VALUES ('acme', 'minio', 's3-sts',
        '{"endpoint": "https://minio.acme.example", "policy_claim": {"name": "policy", "value": "readwrite"}}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'storage', 'minio', 'The build cache', 3600,
        '{"policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"],
                     "Resource": "arn:aws:s3:::build-cache/*"}]}}');
