-- Tenants FROM to TO: each with an identity provider, an access provider, 5 keys and 100 grants, 10 of them globs.
INSERT INTO broker.tenant (name) SELECT 't' || n FROM generate_series({from}, {to}) AS n;
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
SELECT 'ci' || n, 't' || n, '{issuer}', ARRAY['mintmark-t' || n] FROM generate_series({from}, {to}) AS n;
INSERT INTO broker.access_provider (tenant, name, type) SELECT 't' || n, 'own', 'jwt' FROM generate_series({from}, {to}) AS n;
INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
SELECT 't' || n, 'key' || k, 'own', 600, '{"audience": "https://api.example.com"}'
  FROM generate_series({from}, {to}) AS n, generate_series(1, 5) AS k;
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key)
SELECT 't' || n, 'ci' || n,
       CASE WHEN g <= 10 THEN 'repo:t' || n || '/r' || g || ':*' ELSE 'repo:t' || n || '/app' || g || ':ref:refs/heads/main' END,
       CASE WHEN g <= 10 THEN 'glob' ELSE 'exact' END,
       'key' || (g % 5 + 1)
  FROM generate_series({from}, {to}) AS n, generate_series(1, 100) AS g;
