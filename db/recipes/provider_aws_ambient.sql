-- AWS with the credentials of the machine that the broker runs on (auth "ambient"): AssumeRole with the tenant's
-- ExternalId. All tenants look alike to AWS but for that, so shared_identity and a list of targets are required.
--
-- In AWS: the trust policy of each role; the ExternalId is acme's own (SELECT external_id FROM broker.tenant):
--   {"Version": "2012-10-17", "Statement": [{"Effect": "Allow",
--     "Principal": {"AWS": "arn:aws:iam::999999999999:role/mintmark"},
--     "Action": ["sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"],
--     "Condition": {"StringEquals": {"sts:ExternalId": "…"}}}]}
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, shared_identity, allowed_targets)
VALUES ('acme', 'aws-ambient', 'aws-sts', '{"region": "eu-central-1", "auth": "ambient"}', true,
        '{arn:aws:iam::123456789012:role/legacy-*}');

INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
VALUES ('acme', 'legacy', 'aws-ambient', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/legacy-deploy"}');
