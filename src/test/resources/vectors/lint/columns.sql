-- Writes into public.column_read the columns of other tables that the rules of grants read, if admins may
-- change: PostgreSQL refuses the rules to a role that may read all columns but that one. A row that a grant refers to
-- keeps its tenant and its name.

CREATE TABLE public.column_read (name text);
GRANT SELECT ON public.column_read TO PUBLIC;

DO $$
DECLARE
    reader text := 'lint_reader_' || current_database();
    ids bigint[] := ARRAY(SELECT g.id FROM broker.subject_grant AS g);
    one record;
BEGIN
    EXECUTE format('CREATE ROLE %I BYPASSRLS', reader);
    EXECUTE format('GRANT USAGE ON SCHEMA broker, internal, audit TO %I', reader);
    EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA internal, audit TO %I', reader);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA broker, audit TO %I', reader);
    FOR one IN
        SELECT c.oid::regclass AS target, c.relname, a.attname,
               (SELECT string_agg(quote_ident(o.attname), ', ') FROM pg_attribute AS o
                 WHERE o.attrelid = c.oid AND o.attnum > 0 AND o.attnum <> a.attnum AND NOT o.attisdropped) AS others
          FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
         WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r' AND c.relname <> 'subject_grant'
           AND a.attname NOT IN ('tenant', 'name')
           AND has_column_privilege('mintmark_admin', c.oid, a.attnum, 'UPDATE')
    LOOP
        EXECUTE format('REVOKE SELECT ON %s FROM %I', one.target, reader);
        EXECUTE format('GRANT SELECT (%s) ON %s TO %I', one.others, one.target, reader);
        BEGIN
            EXECUTE format('SET LOCAL ROLE %I', reader);
            PERFORM internal.lint_grants(ids);
            RESET ROLE;
        EXCEPTION WHEN insufficient_privilege THEN
            INSERT INTO public.column_read VALUES (one.relname || '.' || one.attname);
        END;
        EXECUTE format('GRANT SELECT ON %s TO %I', one.target, reader);
    END LOOP;
    EXECUTE format('DROP OWNED BY %I', reader);
    EXECUTE format('DROP ROLE %I', reader);
END
$$;
