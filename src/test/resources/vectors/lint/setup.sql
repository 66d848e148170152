INSERT INTO broker.tenant (name) VALUES ('acme'), ('other'), ('third');
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims)
VALUES ('ci', 'acme', 'https://ci.example.com', '{acme}', '{}'),
       ('github', 'acme', 'https://token.actions.githubusercontent.com', '{acme}', '{"repository_owner_id": "1234567"}'),
       ('github-shop', 'acme', 'https://token.actions.githubusercontent.com', '{acme-shop}', '{"repository_id": "99"}'),
       ('github-server', 'acme', 'https://github.acme.example/_services/token', '{acme}', '{}'),
       ('gitlab', 'acme', 'https://gitlab.com', '{acme}', '{"namespace_id": "4242"}'),
       ('cluster', 'acme', 'https://oidc.eks.eu-central-1.amazonaws.com/id/0F0F', '{acme}', '{}'),
       ('elsewhere', 'other', 'https://ci.example.com', '{other}', '{}'),
       ('agents', 'acme', 'https://agents.example.com', '{acme}', '{}'),
       ('third', 'third', 'https://auth.third.example/', '{third}', '{}');
UPDATE broker.identity_provider SET accepts = '{actor}' WHERE name = 'agents';
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'aws', 'aws-sts', '{"region": "eu-central-1"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
VALUES ('acme', 'deploy', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}');
