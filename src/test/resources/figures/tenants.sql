-- TENANTS with 5 keys each and 50 grants: a glob for each key, and 45 subjects. Tenant 3, the busiest, has 41 keys, and
-- tenant "wide" 51 keys and as many as GRANTS, half of them of one key; a hundredth are globs. Written past the triggers, which
-- would take minutes; they are as before at the end. The history's hashes are not true.
CREATE TABLE figure_trigger AS
SELECT t.tgrelid::regclass::text AS target, t.tgname AS name, t.tgenabled AS mode
  FROM pg_trigger AS t
 WHERE NOT t.tgisinternal
   AND t.tgrelid IN ('broker.tenant'::regclass, 'broker.identity_provider'::regclass, 'broker.access_provider'::regclass, 'broker.key'::regclass,
                     'broker.subject_grant'::regclass, 'log.config_change'::regclass, 'work.tenant_size'::regclass,
                     'work.trusted_audience'::regclass);
DO $$
DECLARE
    off record;
BEGIN
    FOR off IN SELECT * FROM figure_trigger LOOP
        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', off.target, off.name);
    END LOOP;
END $$;

INSERT INTO broker.tenant (name, created_at)
SELECT 'tenant-' || t, now() - interval '400 days' FROM generate_series(0, {tenants} - 1) AS t
UNION ALL SELECT 'wide', now() - interval '400 days';
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, created_at)
SELECT replace(t.name, 'tenant', 'idp'), t.name, 'https://issuer.example.com', ARRAY['mintmark-' || t.name], t.created_at FROM broker.tenant AS t;
UPDATE broker.identity_provider SET name = 'idp-wide' WHERE tenant = 'wide';
INSERT INTO work.trusted_audience (issuer, audience, idp)
SELECT p.issuer, p.audiences[1], p.name FROM broker.identity_provider AS p;
INSERT INTO broker.access_provider (tenant, name, type, settings, created_at)
SELECT t.name, 'aws', 'aws-sts', '{"region": "eu-central-1"}', t.created_at FROM broker.tenant AS t;
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, created_at)
SELECT t.name, k.name, 'aws', 43200, '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}', t.created_at
  FROM broker.tenant AS t
 CROSS JOIN LATERAL (SELECT 'key-' || n FROM generate_series(0, CASE t.name WHEN 'tenant-3' THEN 39 WHEN 'wide' THEN 50 ELSE 4 END) AS n
                     UNION ALL SELECT 'rare' WHERE t.name = 'tenant-3') AS k (name);
INSERT INTO broker.subject_grant (id, tenant, idp, subject, match, key, created_at)
SELECT nextval('broker.subject_grant_id_seq'), k.tenant, replace(k.tenant, 'tenant', 'idp'), 'job:**', 'glob', k.name, now() - k.place % 400 * interval '1 day'
  FROM (SELECT k.*, row_number() OVER (ORDER BY k.tenant, k.name) AS place FROM broker.key AS k WHERE k.tenant <> 'wide') AS k;
INSERT INTO broker.subject_grant (id, tenant, idp, subject, key, created_at)
SELECT nextval('broker.subject_grant_id_seq'), 'tenant-' || t, 'idp-' || t, 'job:' || (20000 + 90 * t + g), 'key-' || g % 5, now() - (7 * t + g) % 400 * interval '1 day'
  FROM generate_series(0, {tenants} - 1) AS t, generate_series(0, 44) AS g;
INSERT INTO broker.subject_grant (id, tenant, idp, subject, match, key, claims, created_at)
SELECT nextval('broker.subject_grant_id_seq'), 'wide', 'idp-wide', CASE WHEN n % 100 = 0 THEN 'job:' || n || ':**' ELSE 'job:' || n END,
       CASE WHEN n % 100 = 0 THEN 'glob' ELSE 'exact' END, 'key-' || CASE WHEN n % 2 = 0 THEN 0 ELSE 1 + n / 2 % 50 END,
       CASE WHEN n % 3 = 0 THEN '{"ref": "refs/heads/main"}' ELSE '{}' END::jsonb, now() - n % 400 * interval '1 day'
  FROM generate_series(1, {grants}) AS n;
INSERT INTO work.tenant_size (tenant, number, keys, grants, globs)
SELECT t.name, 1, (SELECT count(*) FROM broker.key AS k WHERE k.tenant = t.name), g.all, g.globs
  FROM broker.tenant AS t
 CROSS JOIN LATERAL (SELECT count(*) AS all, count(*) FILTER (WHERE g.match = 'glob') AS globs
                       FROM broker.subject_grant AS g WHERE g.tenant = t.name) AS g;

-- Seven logins wrote them, and 5,000 were disabled and enabled again.
INSERT INTO log.config_change (tenant, revision, table_name, operation, after, changed_by, changed_at, transaction_id, prev_hash, hash)
SELECT w.tenant, row_number() OVER (PARTITION BY w.tenant ORDER BY w.place, w.at, w.id), w.table_name, 'INSERT', w.row,
       'admin-' || coalesce(w.id, 0) % 7, w.at, pg_current_xact_id()::text::bigint, sha256('before'), sha256('now')
  FROM (SELECT t.name AS tenant, 1 AS place, NULL::bigint AS id, t.created_at AS at, 'tenant' AS table_name, to_jsonb(t) AS row FROM broker.tenant AS t
        UNION ALL SELECT p.tenant, 2, NULL, p.created_at, 'identity_provider', to_jsonb(p) FROM broker.identity_provider AS p
        UNION ALL SELECT a.tenant, 3, NULL, a.created_at, 'access_provider', to_jsonb(a) FROM broker.access_provider AS a
        UNION ALL SELECT k.tenant, 4, NULL, k.created_at, 'key', to_jsonb(k) FROM broker.key AS k
        UNION ALL SELECT g.tenant, 5, g.id, g.created_at, 'subject_grant', to_jsonb(g) FROM broker.subject_grant AS g) AS w;
INSERT INTO log.config_change (tenant, revision, table_name, operation, before, after, changed_by, changed_at, transaction_id, prev_hash, hash)
SELECT c.tenant, c.last + row_number() OVER (ORDER BY c.revision), 'subject_grant', 'UPDATE',
       c.after || jsonb_build_object('enabled', c.revision % 2 = 0), c.after || jsonb_build_object('enabled', c.revision % 2 = 1),
       'admin-' || c.revision % 7, now() - (5000 - row_number() OVER (ORDER BY c.revision)) * interval '10 minutes',
       pg_current_xact_id()::text::bigint, sha256('before'), sha256('now')
  FROM (SELECT c.*, max(c.revision) OVER () AS last FROM audit.config_change AS c WHERE c.tenant = 'wide') AS c
 WHERE c.table_name = 'subject_grant' AND c.revision > c.last - 5000;

DO $$
DECLARE
    was record;
BEGIN
    FOR was IN SELECT * FROM figure_trigger LOOP
        EXECUTE format('ALTER TABLE %s ENABLE %s TRIGGER %I', was.target, CASE was.mode WHEN 'A' THEN 'ALWAYS' ELSE '' END, was.name);
    END LOOP;
END $$;
DROP TABLE figure_trigger;
ANALYZE;
