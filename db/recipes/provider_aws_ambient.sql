-- AWS with the credentials of the machine on which the broker runs (auth "ambient"). The broker calls AssumeRole with the tenant's
-- ExternalId. AWS distinguishes tenants only by this ExternalId, so shared_identity and a list of targets are required.
--
-- In AWS, write this trust policy for each role. SELECT external_id FROM broker.tenant prints acme's ExternalId:
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
