-- The tables of the configuration that a mint reads, as the history has their rows: for each a view of the same name in
-- schema log (schema version ${schema_version}).
--
-- Every member can keep the service from a table of schema broker: who may delete from it by LOCK TABLE, others by a
-- statement that waits for a reader (CREATE RULE). Nobody else can name a table of schema log, so the service reads there
-- while such a lock lasts. The views have their owner's rights, so that it reads nothing else of the history.

DO $$
DECLARE
    made record;
BEGIN
    FOR made IN
        SELECT s.name, s.identifier,
               string_agg(CASE WHEN a.attname = s.tenant THEN 'c.tenant'
                               WHEN a.atthasmissing AND a.attnotnull THEN format('coalesce(%s, %s)', v.value, pg_get_expr(d.adbin, d.adrelid))
                               ELSE v.value END || format(' AS %I', a.attname), ', ' ORDER BY a.attnum) AS columns
          FROM (VALUES ('tenant', 'name', 'name'),
                       ('identity_provider', 'tenant', 'name'),
                       ('access_provider', 'tenant', 'name'),
                       ('key', 'tenant', 'name'),
                       ('subject_grant', 'tenant', 'id'),
                       ('blocked_subject', 'tenant', 'id'),
                       ('access_rule', 'tenant', 'id'),
                       ('provider_type', NULL, 'type')
               ) AS s (name, tenant, identifier)
          JOIN pg_catalog.pg_attribute AS a ON a.attrelid = format('broker.%I', s.name)::regclass AND a.attnum > 0 AND NOT a.attisdropped
          JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
          LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
         CROSS JOIN LATERAL (
               SELECT CASE WHEN t.typcategory = 'A'
                           THEN format('CASE jsonb_typeof(c.after -> %1$L) WHEN ''array'' THEN ARRAY(SELECT e.value FROM jsonb_array_elements_text(c.after -> %1$L) WITH ORDINALITY AS e (value, n) ORDER BY e.n)::%2$s END',
                                       a.attname, format_type(t.oid, NULL))
                           WHEN t.oid = 'jsonb'::regtype THEN format('nullif(c.after -> %L, ''null'')', a.attname)
                           WHEN t.oid = 'text'::regtype THEN format('(c.after ->> %L)', a.attname)
                           ELSE format('(c.after ->> %L)::%s', a.attname, format_type(t.oid, NULL)) END) AS v (value)
         GROUP BY s.name, s.identifier
    LOOP
        -- c.revision is the row's last one: each time the end of an index.
        EXECUTE format('CREATE OR REPLACE VIEW log.%I AS SELECT %s FROM log.config_change AS c WHERE c.table_name = %L AND c.after IS NOT NULL AND %s',
                       made.name, made.columns, made.name,
                       CASE made.identifier
                           WHEN 'id' THEN
                               CASE made.name WHEN 'subject_grant' THEN
                                   'c.revision = (SELECT l.revision FROM log.config_change AS l
                                       WHERE l.table_name = ''subject_grant'' AND (coalesce(l.after, l.before)) ->> ''id'' = c.after ->> ''id''
                                       ORDER BY l.revision DESC LIMIT 1)'
                               ELSE
                                   'c.revision = (SELECT l.revision FROM log.config_change AS l
                                       WHERE coalesce(l.tenant, '''') = coalesce(c.tenant, '''') AND l.table_name = c.table_name AND l.table_name <> ''subject_grant''
                                         AND coalesce(coalesce(l.after, l.before) ->> ''id'', coalesce(l.after, l.before) ->> ''name'', '''') = c.after ->> ''id''
                                       ORDER BY l.revision DESC LIMIT 1)'
                               END
                           WHEN 'name' THEN
                               -- A row that was renamed has its last change under its new name.
                               'c.revision = (SELECT l.revision FROM log.config_change AS l
                                    WHERE coalesce(l.tenant, '''') = coalesce(c.tenant, '''') AND l.table_name = c.table_name AND l.table_name <> ''subject_grant''
                                      AND coalesce(coalesce(l.after, l.before) ->> ''id'', coalesce(l.after, l.before) ->> ''name'', '''') = c.after ->> ''name''
                                    ORDER BY l.revision DESC LIMIT 1)
                                AND NOT EXISTS (SELECT FROM log.config_change AS l
                                    WHERE coalesce(l.tenant, '''') = coalesce(c.tenant, '''') AND l.table_name = c.table_name AND l.table_name <> ''subject_grant''
                                      AND l.operation = ''UPDATE''
                                      AND coalesce(l.before ->> ''name'', l.before ->> ''role_name'', l.before ->> ''issuer'', '''')
                                          <> coalesce(l.after ->> ''name'', l.after ->> ''role_name'', l.after ->> ''issuer'', '''')
                                      AND coalesce(l.before ->> ''name'', l.before ->> ''role_name'', l.before ->> ''issuer'', '''') = c.after ->> ''name''
                                      AND l.revision > c.revision)'
                           ELSE
                               format('NOT EXISTS (SELECT FROM log.config_change AS l
                                    WHERE l.tenant IS NULL AND l.table_name = c.table_name AND coalesce(l.after, l.before) ->> %1$L = c.after ->> %1$L
                                      AND l.revision > c.revision)', made.identifier)
                       END);
        EXECUTE format('COMMENT ON VIEW log.%I IS %L', made.name,
                       format('The rows of broker.%s, each as its last recorded change left it. The service reads this view while another session locks the table.', made.name));
    END LOOP;
END
$$;

CREATE OR REPLACE VIEW log.issuer_change AS
SELECT c.transaction_id, c.table_name, c.before ->> 'name' AS former_name, c.after ->> 'name' AS name
  FROM log.config_change AS c WHERE c.table_name IN ('identity_provider', 'tenant');
COMMENT ON VIEW log.issuer_change IS
    'The old and new name in each change of an identity provider or a tenant. The service reads these identity providers again.';

-- ---------------------------------------------------------------- what it says of people

CREATE OR REPLACE FUNCTION internal.keep_names() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NEW.table_name = 'identity_provider' THEN
        INSERT INTO work.named_issuer (tenant, idp, issuer)
        SELECT DISTINCT NEW.tenant, named.row ->> 'name', issued.row ->> 'issuer'
          FROM (VALUES (NEW.before), (NEW.after)) AS named (row) CROSS JOIN (VALUES (NEW.before), (NEW.after)) AS issued (row)
         WHERE named.row IS NOT NULL AND issued.row IS NOT NULL
            ON CONFLICT DO NOTHING;
    -- A row that was never in force joins nobody: one admin alone could make others one person, for good.
    ELSIF NEW.table_name = 'access_approver' THEN
        INSERT INTO work.joined_subject (tenant, role_name, issuer, subject)
        SELECT DISTINCT NEW.tenant, was.row ->> 'role_name', was.row ->> 'issuer', was.row ->> 'subject'
          FROM (VALUES (NEW.before), (NEW.after)) AS was (row)
         WHERE was.row ->> 'role_name' IS NOT NULL AND was.row ->> 'subject' IS NOT NULL
           AND CASE WHEN was.row ->> 'approved_at' IS NULL THEN NOT internal.required_second_admin(NEW.tenant, NEW.revision) ELSE true END
            ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.keep_names() IS
    'Trigger: records in runtime.joined_subject and runtime.named_issuer which names a change joins to one person.';
