-- TENANTS with an identity provider, an access provider, and 2 × KEYS keys and one more, each with a grant, as they were written
-- AGE ago. The history has all of it, with true hashes. Written past the triggers, which would take minutes; they are as before at
-- the end.
SET TimeZone = 'UTC';
CREATE TABLE figure_trigger AS
SELECT t.tgrelid::regclass::text AS target, t.tgname AS name, t.tgenabled AS mode
  FROM pg_trigger AS t
 WHERE NOT t.tgisinternal
   AND t.tgrelid IN ('broker.tenant'::regclass, 'broker.identity_provider'::regclass, 'broker.access_provider'::regclass, 'broker.key'::regclass,
                     'broker.subject_grant'::regclass, 'broker.tenant_admin'::regclass);
DO $$
DECLARE
    off record;
BEGIN
    FOR off IN SELECT * FROM figure_trigger LOOP
        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', off.target, off.name);
    END LOOP;
END $$;

CREATE TABLE figure_time AS SELECT now() - interval '{age}' AS at;
INSERT INTO broker.tenant (name, created_at, updated_at)
SELECT 'tenant-' || t, f.at, f.at FROM generate_series(0, {tenants} - 1) AS t CROSS JOIN figure_time AS f;
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, created_at, updated_at)
SELECT replace(t.name, 'tenant', 'idp'), t.name, 'https://issuer.example.com', ARRAY[replace(t.name, 'tenant', 'mintmark')], f.at, f.at
  FROM broker.tenant AS t CROSS JOIN figure_time AS f;
INSERT INTO work.trusted_audience (issuer, audience, idp)
SELECT p.issuer, p.audiences[1], p.name FROM broker.identity_provider AS p;
INSERT INTO broker.access_provider (tenant, name, type, settings, created_at, updated_at)
SELECT t.name, 'aws', 'aws-sts', '{"region": "eu-central-1"}', f.at, f.at FROM broker.tenant AS t CROSS JOIN figure_time AS f;
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, created_at, updated_at)
SELECT t.name, k.name, 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/deploy"}', f.at, f.at
  FROM broker.tenant AS t CROSS JOIN figure_time AS f
 CROSS JOIN (SELECT 'key-' || n FROM generate_series(0, 2 * {keys} - 1) AS n UNION ALL SELECT '{rare}') AS k (name);
INSERT INTO broker.subject_grant (id, tenant, idp, subject, match, key, created_at, updated_at)
SELECT nextval('broker.subject_grant_id_seq'), k.tenant, replace(k.tenant, 'tenant', 'idp'), 'job:**', 'glob', k.name, f.at, f.at
  FROM broker.key AS k CROSS JOIN figure_time AS f ORDER BY k.tenant, k.name;
INSERT INTO broker.tenant_admin (tenant, role_name, created_at, updated_at) SELECT 'tenant-3', '{admin}', f.at, f.at FROM figure_time AS f;
INSERT INTO work.tenant_size (tenant, number, keys, grants, globs)
SELECT t.name, 1, 2 * {keys} + 1, 2 * {keys} + 1, 2 * {keys} + 1 FROM broker.tenant AS t;

DO $$
DECLARE
    written record;
    of_tenant text := '';
    number bigint;
    previous bytea;
    own bytea;
    transaction constant bigint := pg_current_xact_id()::text;
BEGIN
    FOR written IN
        SELECT w.*, f.at
          FROM (SELECT t.name AS tenant, 1 AS place, NULL::bigint AS id, 'tenant' AS table_name, to_jsonb(t) AS content FROM broker.tenant AS t
                UNION ALL SELECT p.tenant, 2, NULL, 'identity_provider', to_jsonb(p) FROM broker.identity_provider AS p
                UNION ALL SELECT a.tenant, 3, NULL, 'access_provider', to_jsonb(a) FROM broker.access_provider AS a
                UNION ALL SELECT k.tenant, 4, NULL, 'key', to_jsonb(k) FROM broker.key AS k
                UNION ALL SELECT g.tenant, 5, g.id, 'subject_grant', to_jsonb(g) FROM broker.subject_grant AS g
                UNION ALL SELECT d.tenant, 6, NULL, 'tenant_admin', to_jsonb(d) FROM broker.tenant_admin AS d) AS w
         CROSS JOIN figure_time AS f
         ORDER BY w.tenant, w.place, w.id
    LOOP
        IF of_tenant <> written.tenant THEN
            of_tenant := written.tenant;
            number := 0;
            previous := decode(repeat('00', 32), 'hex');
        END IF;
        number := number + 1;
        own := internal.change_hash(previous, written.tenant, number, written.table_name, 'INSERT', NULL, written.content,
                                    session_user::text, written.at, transaction);
        INSERT INTO log.config_change (tenant, revision, table_name, operation, after, changed_by, changed_at, transaction_id, prev_hash, hash)
        VALUES (written.tenant, number, written.table_name, 'INSERT', written.content, session_user, written.at, transaction, previous, own);
        previous := own;
    END LOOP;
END $$;

DO $$
DECLARE
    was record;
BEGIN
    FOR was IN SELECT * FROM figure_trigger LOOP
        EXECUTE format('ALTER TABLE %s ENABLE %s TRIGGER %I', was.target, CASE was.mode WHEN 'A' THEN 'ALWAYS' ELSE '' END, was.name);
    END LOOP;
END $$;
DROP TABLE figure_trigger, figure_time;
ANALYZE;
