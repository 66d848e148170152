-- Two tenants as they are met, and a day of what their clients did. Run by a platform admin; the rows of the log by the
-- service's login.
INSERT INTO broker.tenant (name, display_name) VALUES
    ('acme', 'ACME Retail, platform team'), ('globex', 'Globex Logistics');
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES
    ('acme-github', 'acme', 'https://token.actions.githubusercontent.com', '{mintmark-acme}', '{"repository_owner_id": "1234567"}'),
    ('acme-k8s', 'acme', 'https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B716D3041E', '{mintmark}', '{}'),
    ('globex-gitlab', 'globex', 'https://gitlab.globex.example', '{mintmark-globex}', '{"namespace_id": "42"}');
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES
    ('acme', 'aws-prod', 'aws-sts', '{"region": "eu-central-1"}'),
    ('acme', 'services', 'jwt', '{}'),
    ('globex', 'aws', 'aws-sts', '{"region": "us-east-1"}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, description) VALUES
    ('acme', 'deploy', 'aws-prod', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/shop-deploy"}', 'Deploys the shop'),
    ('acme', 'read-only', 'aws-prod', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/shop-read"}', NULL),
    ('acme', 'inventory', 'services', 900, '{"audience": "https://inventory.acme.example"}', 'The inventory''s own API'),
    ('globex', 'deploy', 'aws', 3600, '{"role_arn": "arn:aws:iam::999988887777:role/tracking"}', NULL);
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES
    ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'exact', 'deploy', '{"environment": "production"}', 'OPS-12: the shop deploys itself'),
    ('acme', 'acme-github', 'repo:acme/*:pull_request', 'glob', 'read-only', '{}', 'OPS-14: previews'),
    ('acme', 'acme-k8s', 'system:serviceaccount:shop:checkout', 'exact', 'inventory', '{}', 'OPS-31'),
    ('globex', 'globex-gitlab', 'project_path:globex/tracking:ref_type:branch:ref:main', 'exact', 'deploy', '{}', 'GLX-7');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, max_duration, reason) VALUES
    ('acme', 'acme-github', 'repo:acme/shop:environment:hotfix', 'deploy', now() + interval '9 hours', 900, 'INC-77: Grace mends the checkout until tonight');
UPDATE broker.key SET max_duration = 1800 WHERE tenant = 'acme' AND name = 'deploy';
UPDATE broker.subject_grant SET reason = 'OPS-12: the shop deploys itself, reviewed in March', max_duration = 1200
 WHERE tenant = 'acme' AND subject = 'repo:acme/shop:ref:refs/heads/main';
INSERT INTO broker.console_access (tenant, all_tenants, claim, value, reason) VALUES
    (NULL, true, 'role', '"auditor"', 'the auditors'), ('acme', false, 'groups', '"acme-leads"', 'leads of acme'),
    ('globex', false, 'groups', '"globex-leads"', 'leads of globex');
