-- Subjects that blocks may match.
INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
VALUES ('acme', 'blocked', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}');
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, reason)
VALUES ('acme', 'ci', 'x', 'exact', 'blocked', 'OPS-1'),
       ('acme', 'ci', 'repo:acme/shop:ref:refs/heads/main', 'exact', 'blocked', 'OPS-1'),
       ('acme', 'ci', 'team:*', 'glob', 'blocked', 'OPS-1');
