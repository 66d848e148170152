INSERT INTO broker.tenant (name, max_duration) VALUES ('acme', NULL), ('other', 3600);
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
VALUES ('ci', 'acme', 'https://ci.example.com', '{acme}'),
       ('elsewhere', 'other', 'https://ci.example.com', '{other}');
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets, shared_identity)
VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws:iam::123456789012:role/ci-*}', false),
       ('acme', 'any', 'aws-sts', '{"region": "eu-central-1"}', '{**}', false),
       ('acme', 'minio', 's3-sts', '{"endpoint": "https://minio.example.com"}', '{**}', false),
       ('acme', 'few', 's3-sts', '{"endpoint": "https://minio.example.com"}', '{arn:minio:iam:::role/ci}', true),
       ('acme', 'auth-any', 'oauth2', '{"token_endpoint": "https://auth.example.com/token"}', '{**}', false),
       ('acme', 'auth-few', 'oauth2', '{"token_endpoint": "https://auth.example.com/token"}', '{https://api.example.com/**}', false),
       ('acme', 'own', 'jwt', '{}', '{**}', false),
       ('other', 'own', 'jwt', '{}', '{**}', false);
INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
VALUES ('acme', 'deploy', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}'),
       ('acme', 'api', 'own', 600, '{"audience": "https://api.example.com"}'),
       ('acme', 'exchanged', 'auth-any', 600, '{"audience": "https://api.example.com/a", "resource": "https://other.example.com"}'),
       ('other', 'api', 'own', 600, '{"audience": "https://api.example.com"}');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration)
VALUES ('acme', 'ci', 'repo:acme/app:main', 'deploy', 900), ('acme', 'ci', 'repo:acme/app:main', 'api', 60);
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'exchanged', 'ci', 'x', 3600);
INSERT INTO broker.access_approver (rule, role_name) VALUES (1, 'alice');
