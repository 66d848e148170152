INSERT INTO broker.tenant (name) VALUES ('acme'), ('other');
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'test_tenant_admin'), ('other', 'somebody_else');
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
VALUES ('ci', 'acme', 'https://ci.example.com', '{acme}'), ('elsewhere', 'other', 'https://ci.example.com', '{other}');
INSERT INTO broker.access_provider (tenant, name, type, allowed_targets)
VALUES ('acme', 'own', 'jwt', '{https://api.example.com/*,https://api.example.com}'),
       ('other', 'own', 'jwt', '{**}'), ('other', 'secret', 'jwt', '{**}');
INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
VALUES ('acme', 'api', 'own', 600, '{"audience": "https://api.example.com"}'),
       ('other', 'hidden', 'own', 600, '{"audience": "https://hidden.example.com"}');
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until)
VALUES ('acme', 'ci', 'main', 'api', now() + interval '1 day'), ('other', 'elsewhere', 'main', 'hidden', now() + interval '1 day');
INSERT INTO broker.console_access (tenant, all_tenants, claim, value)
VALUES ('acme', false, 'groups', '["acme-leads"]'), ('other', false, 'groups', '"other-leads"'), (NULL, true, 'role', '"auditor"'),
       ('acme', false, 'email', '"lead@acme.example.com"');
INSERT INTO broker.console_access (tenant, claim, value, enabled) VALUES ('other', 'sub', '"gone"', false);
INSERT INTO broker.blocked_subject (tenant, subject, match, reason)
VALUES ('acme', 'own', 'exact', 'ours'), ('other', 'foreign', 'exact', 'theirs'), (NULL, 'everywhere:**', 'glob', 'the platform''s');
