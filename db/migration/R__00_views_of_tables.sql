-- The tables that mints write, as everybody but the service sees them: for each table of schema log a view of the same name
-- in schema audit, and for each of schema work one in schema runtime, with the rights of its reader (schema version
-- ${schema_version}).
--
-- PostgreSQL waits for a table's lock before it asks whose table it is (VACUUM FULL, CREATE RULE, ALTER TABLE, COMMENT), and
-- all later statements wait behind it. Without USAGE on the table's schema a statement fails at the name, before it waits.
-- A view needs no USAGE of its reader: its names were looked up when it was created.

DO $$
DECLARE
    shown record;
    told record;
BEGIN
    FOR shown IN
        SELECT c.oid, c.relname, c.oid::regclass AS source, s.views,
               string_agg(format('t.%I', a.attname), ', ' ORDER BY a.attnum) AS columns
          FROM (VALUES ('log', 'audit'), ('work', 'runtime')) AS s (tables, views)
          JOIN pg_catalog.pg_class AS c ON c.relnamespace = s.tables::regnamespace
          JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
           AND c.relname !~ '^event_[0-9]'
         GROUP BY c.oid, c.relname, s.views
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW %I.%I WITH (security_invoker = true) AS SELECT %s FROM %s AS t',
                       shown.views, shown.relname, shown.columns, shown.source);
        FOR told IN
            SELECT CASE d.objsubid WHEN 0 THEN format('VIEW %I.%I', shown.views, shown.relname)
                                   ELSE format('COLUMN %I.%I.%I', shown.views, shown.relname, a.attname) END AS target,
                   d.description
              FROM pg_catalog.pg_description AS d
              LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.objoid AND a.attnum = d.objsubid
             WHERE d.classoid = 'pg_class'::regclass AND d.objoid = shown.oid
        LOOP
            EXECUTE format('COMMENT ON %s IS %L', told.target, told.description);
        END LOOP;
    END LOOP;
END
$$;

-- The service may read these columns alone, and a view needs all of its columns. Commands read them with its login or an
-- auditor's.
CREATE OR REPLACE VIEW internal.event_place WITH (security_invoker = true) AS
SELECT e.mint_id, e.step, e.chain, e.seq, e.hash FROM log.event AS e;
COMMENT ON VIEW internal.event_place IS 'The chain, position and hash of each row of audit.event.';

CREATE OR REPLACE VIEW internal.change_place WITH (security_invoker = true) AS
SELECT c.tenant, c.revision, c.hash FROM log.config_change AS c;
COMMENT ON VIEW internal.change_place IS 'The chain, position and hash of each row of audit.config_change.';
