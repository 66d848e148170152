-- More rows of each kind than a page shows at once. Run by a platform admin.
INSERT INTO broker.tenant (name, display_name)
SELECT 'team-' || n, 'Team ' || n FROM generate_series(1, 60) AS n;
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims)
SELECT 'cluster-' || n, 'acme', 'https://oidc.eks.eu-central-1.amazonaws.com/id/' || upper(md5('cluster' || n)), '{mintmark}', '{}'
  FROM generate_series(1, 60) AS n;
INSERT INTO broker.access_provider (tenant, name, type, settings)
SELECT 'acme', 'account-' || n, 'aws-sts', '{"region": "eu-central-1"}' FROM generate_series(1, 60) AS n;
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, description, owner)
SELECT 'acme', 'job-' || n, 'services', 900, '{"audience": "https://jobs.acme.example"}', 'Runs the nightly job ' || n, 'team-' || n
  FROM generate_series(1, 60) AS n;
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, owner)
SELECT 'acme', 'acme-k8s', 'system:serviceaccount:jobs:runner-' || n, 'job-' || n, 'OPS-' || n || ': the job runs at night', 'team-' || n
  FROM generate_series(1, 60) AS n;
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
SELECT 'acme', 'acme-k8s', 'system:serviceaccount:jobs:job-' || n, 'job-7', 'OPS-' || n || ': shared until the jobs are split'
  FROM generate_series(1, 60) AS n;
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
SELECT 'acme', 'acme-k8s', 'system:serviceaccount:shop:checkout', 'job-' || n, 'OPS-' || n FROM generate_series(8, 60) AS n;
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, reason)
SELECT 'acme', 'acme-github', 'repo:acme/shop-' || n || ':ref:refs/heads/main', 'job-9', now() + n * interval '1 hour', 'OPS-300'
  FROM generate_series(1, 60) AS n;
INSERT INTO broker.blocked_subject (tenant, subject, reason, until)
SELECT 'acme', 'system:serviceaccount:old:job-' || n, 'INC-' || n || ': its token leaked', now() + interval '30 days' FROM generate_series(1, 60) AS n;
INSERT INTO broker.console_access (tenant, claim, value, reason)
SELECT 'acme', 'groups', to_jsonb('acme-team-' || n), 'team ' || n || ' reads along' FROM generate_series(1, 60) AS n;
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, approvals, max_access)
VALUES ('acme', 'job-7', 'acme-k8s', 'system:serviceaccount:jobs:*', 'glob', 1, 7200);
DO $$
BEGIN
    FOR n IN 1..55 LOOP
        UPDATE broker.key SET description = 'Runs the nightly job for the ' || n || 'th time' WHERE tenant = 'acme' AND name = 'job-1';
    END LOOP;
END
$$;
