-- Rows that only the broker writes, and times that only the clock does.
SET session_replication_role = replica;
INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals, expires_at, requested_at,
                                   status, grant_id)
SELECT 'acme', r.id, 'job-7', 'acme-k8s', 'https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B716D3041E',
       'system:serviceaccount:jobs:runner-' || n, 'INC-' || n || ': the nightly job has to be run again', 3600, n > 60, 1,
       now() + interval '1 day', now() - n * interval '3 minutes', CASE WHEN n > 60 THEN 'granted' ELSE 'pending' END,
       CASE WHEN n > 60 THEN n END
  FROM broker.access_rule AS r CROSS JOIN generate_series(1, 120) AS n;
UPDATE broker.subject_grant SET created_at = now() - interval '400 days' WHERE key LIKE 'job-%' AND id % 2 = 0;
INSERT INTO audit.checkpoint (number, sealed_at, jws)
SELECT n, now() - (61 - n) * interval '1 minute',
       translate(encode(convert_to('{"alg":"ES256","kid":"Q3sQ9yKzV1m0T7cJr5wXo2bNf8hLd4gPu6eAi1tYkZc"}', 'UTF8'), 'base64'), E'+/=\n', '-_') || '.e30.' || md5('s' || n)
  FROM generate_series(1, 60) AS n;
INSERT INTO audit.verification (began_at, recorded_at, verdict, checkpoint, rows_read, wrong, unaccepted, findings, login, program, program_version)
SELECT now() - n * interval '1 day', now() - n * interval '1 day' + interval '1 minute', 'intact', 60, 1000, 0, 0, '{}', 'test_auditor', 'command line', '1.0'
  FROM generate_series(1, 60) AS n;
