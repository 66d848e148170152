-- Two tenants with what the load benchmark asks for.
INSERT INTO broker.tenant (name) VALUES ('acme'), ('other');
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
VALUES ('rsa', 'acme', '{rsa}', '{load}'), ('ec', 'acme', '{ec}', '{load}'),
       ('other', 'other', '{rsa}', '{other}');
INSERT INTO broker.access_provider (tenant, name, type, settings)
VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1", "endpoint": "{sts}"}'),
       ('other', 'aws', 'aws-sts', '{"region": "eu-central-1", "endpoint": "{sts}"}'),
       ('acme', 'own', 'jwt', '{}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
SELECT 'acme', 'aws' || n, 'aws', 3600,
       '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}'::jsonb
  FROM generate_series(1, 5) AS n
UNION ALL
SELECT 'acme', 'jwt' || n, 'own', 600, '{"audience": "https://api.example.com"}'
  FROM generate_series(1, 5) AS n
UNION ALL
SELECT 'other', 'aws1', 'aws', 3600,
       '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}';
INSERT INTO broker.subject_grant (tenant, idp, subject, key)
SELECT 'acme', 'rsa', 'ci:main', type || n
  FROM unnest(ARRAY['aws', 'jwt']) AS type, generate_series(1, 3) AS n
UNION ALL SELECT 'acme', 'ec', 'ci:main', 'aws1'
UNION ALL SELECT 'other', 'other', 'ci:main', 'aws1';
