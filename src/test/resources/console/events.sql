-- A day of mints and refusals, busier by day than by night, in rows as brokers write them.
CREATE TEMPORARY TABLE made AS
SELECT n, at, (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7'
               || substr(md5('a' || n), 1, 3) || '8' || substr(md5('b' || n), 1, 15))::uuid AS mint_id,
       who.tenant, who.idp, who.issuer, who.subject, who.key, who.provider, who.type, who.grant_id,
       CASE WHEN n % 23 = 5 THEN 'denied' WHEN n % 61 = 7 THEN 'failed' WHEN n % 97 = 11 THEN 'withheld'
            WHEN n % 149 = 13 THEN 'unresolved' ELSE 'issued' END AS became
  FROM (SELECT n, now() - n * interval '131 seconds' + sin(n) * interval '40 seconds' - interval '10 seconds' AS at
          FROM generate_series(0, 600) AS n
         WHERE n % 5 <> 0 OR n % 149 = 13 OR extract(hour FROM now() - n * interval '131 seconds') BETWEEN 7 AND 18) AS t
 CROSS JOIN LATERAL (
       SELECT (ARRAY['acme', 'acme', 'acme', 'globex'])[1 + n % 4] AS tenant,
              (ARRAY['acme-github', 'acme-k8s', 'acme-github', 'globex-gitlab'])[1 + n % 4] AS idp,
              (ARRAY['https://token.actions.githubusercontent.com', 'https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B716D3041E',
                     'https://token.actions.githubusercontent.com', 'https://gitlab.globex.example'])[1 + n % 4] AS issuer,
              (ARRAY['repo:acme/shop:ref:refs/heads/main', 'system:serviceaccount:shop:checkout', 'repo:acme/web:pull_request',
                     'project_path:globex/tracking:ref_type:branch:ref:main'])[1 + n % 4] AS subject,
              (ARRAY['deploy', 'inventory', 'read-only', 'deploy'])[1 + n % 4] AS key,
              (ARRAY['aws-prod', 'services', 'aws-prod', 'aws'])[1 + n % 4] AS provider,
              (ARRAY['aws-sts', 'jwt', 'aws-sts', 'aws-sts'])[1 + n % 4] AS type,
              (ARRAY[1, 3, 2, 4])[1 + n % 4] AS grant_id) AS who;
INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key, provider, provider_type,
                         grant_id, grant_revision, expires_at, token_id, token_hash, claims, client_address, user_agent, broker)
SELECT mint_id, 1, 'requested', at, 'req-' || n, tenant, idp, issuer, subject, key, provider, type, grant_id, 40,
       at + interval '1 hour', 'jti-' || n, decode(md5('t' || n) || md5('u' || n), 'hex'),
       '{"environment": "production", "repository_owner_id": "1234567"}', '192.0.2.17', 'actions/runner 2.330.0 (linux; x64)', 'mintmark-7d9c/1f2e'
  FROM made WHERE became <> 'denied';
INSERT INTO audit.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key, provider, provider_type,
                         grant_id, grant_revision, reason, detail, credential_id, issued_at, expires_at, token_id, token_hash, claims,
                         client_address, user_agent, broker)
SELECT mint_id, 2, became, at + interval '212 milliseconds', 'req-' || n, tenant, idp, issuer,
       CASE WHEN became = 'denied' THEN replace(subject, 'main', 'feature/new-checkout') ELSE subject END, key,
       CASE WHEN became <> 'denied' THEN provider END, CASE WHEN became <> 'denied' THEN type END,
       CASE WHEN became <> 'denied' THEN grant_id END, CASE WHEN became <> 'denied' THEN 40 END,
       CASE became WHEN 'denied' THEN 'not_granted' WHEN 'failed' THEN 'provider_rejected' WHEN 'withheld' THEN 'other_key_failed' END,
       CASE became WHEN 'failed' THEN 'AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity' END,
       CASE WHEN became IN ('issued', 'withheld') THEN CASE type WHEN 'jwt' THEN md5('j' || n) || md5('k' || n) ELSE 'ASIA' || upper(left(md5('c' || n), 16)) END END,
       CASE WHEN became IN ('issued', 'withheld') THEN at + interval '212 milliseconds' END,
       CASE WHEN became IN ('issued', 'withheld') THEN at + interval '1 hour' END,
       'jti-' || n, decode(md5('t' || n) || md5('u' || n), 'hex'),
       '{"environment": "production", "repository_owner_id": "1234567"}', '192.0.2.17', 'actions/runner 2.330.0 (linux; x64)', 'mintmark-7d9c/1f2e'
  FROM made WHERE became <> 'unresolved';
