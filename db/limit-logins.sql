-- Keeps logins of people from stopping every mint with what PostgreSQL allows each login. Run it in the
-- broker's database as a superuser, after db/roles.sql and before the logins are given to people. Running
-- it again is harmless, and repairs what was changed.
--
--     psql "$DATABASE" -f db/limit-logins.sql
--
-- Other name of the owner's role: SET mintmark.owner_role = 'broker_owner' in the same session first.
--
-- Afterwards only superusers and members of mintmark_owner can in this database:
--   - change definitions. Everybody can still create temporary tables and views for a script of its own.
--     CREATE RULE, for example, waits for an exclusive lock before PostgreSQL asks who owns the table,
--     which may be one of PostgreSQL's own, such as pg_class; all other sessions then wait for it
--   - take advisory locks, which can fill the lock table of the whole server
--   - create large objects, which can fill the disk
--   - write logical messages, which no program of Mintmark reads. Megabytes of them delay every commit,
--     and fill the disk of the write-ahead log
-- mintmark check shows whether the limits are in force. docs/run/database.md says what remains possible.

DO $$
DECLARE
    owner_role constant text := coalesce(nullif(current_setting('mintmark.owner_role', true), ''), 'mintmark_owner');
    function regprocedure;
    other text;
BEGIN
    CREATE SCHEMA IF NOT EXISTS mintmark_limits;
    COMMENT ON SCHEMA mintmark_limits IS 'Mintmark: limits of logins (db/limit-logins.sql).';

    -- current_user, not session_user: Mintmark's own functions run with their owner's rights, and the
    -- service creates partitions by one of them.
    EXECUTE format(
        $function$
        CREATE OR REPLACE FUNCTION mintmark_limits.refuse_definitions() RETURNS event_trigger LANGUAGE plpgsql
            SET search_path = pg_catalog, pg_temp
            SET standard_conforming_strings = on AS $body$
        BEGIN
            -- PARTITION OF, REFERENCES and INHERITS wait for a lock on another table, a list of columns alone for none.
            -- PostgreSQL ends a comment at a line feed and at a carriage return.
            IF tg_tag NOT IN ('CREATE TABLE AS', 'SELECT INTO', 'CREATE VIEW', 'DROP TABLE', 'DROP VIEW')
               AND NOT (tg_tag = 'CREATE TABLE' AND current_query()
                        ~* '^(\s|--[^\n\r]*[\n\r])*CREATE\s+TEMP(ORARY)?\s+TABLE\s+[a-z0-9_]+\s*\([^;]*;?\s*$'
                    AND current_query() !~* 'references|inherits')
               AND NOT pg_has_role(current_user, %L, 'MEMBER') THEN
                RAISE EXCEPTION 'Login "%%" may not run %%.', session_user, tg_tag
                    USING ERRCODE = 'insufficient_privilege',
                          HINT = 'Only members of the owner''s role may change definitions in this database (db/limit-logins.sql).';
            END IF;
        END $body$
        $function$, owner_role);
    COMMENT ON FUNCTION mintmark_limits.refuse_definitions() IS
        'Rejects statements that change definitions, before they wait for a lock, unless the owner runs them.';
    DROP EVENT TRIGGER IF EXISTS mintmark_limits;
    CREATE EVENT TRIGGER mintmark_limits ON ddl_command_start EXECUTE FUNCTION mintmark_limits.refuse_definitions();
    ALTER EVENT TRIGGER mintmark_limits ENABLE ALWAYS;

    FOR function IN
        SELECT p.oid::regprocedure FROM pg_catalog.pg_proc AS p
         WHERE p.pronamespace = 'pg_catalog'::regnamespace
           AND (p.proname ~ '^pg_(try_)?advisory_(xact_)?lock(_shared)?$' OR p.proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'pg_logical_emit_message'))
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION pg_catalog.%s FROM PUBLIC', function);
        EXECUTE format('GRANT EXECUTE ON FUNCTION pg_catalog.%s TO %I', function, owner_role); -- Flyway takes one
    END LOOP;

    -- PostgreSQL's tables of roles are the same in all databases of a server.
    FOR other IN
        SELECT d.datname FROM pg_catalog.pg_database AS d
         WHERE d.datallowconn AND d.datname <> current_database()
           AND pg_catalog.has_database_privilege('public', d.oid, 'CONNECT')
         ORDER BY d.datname
    LOOP
        RAISE NOTICE 'Every login may connect to database "%", where these limits don''t apply. To prevent that: REVOKE CONNECT ON DATABASE % FROM PUBLIC;',
            other, quote_ident(other);
    END LOOP;
END
$$;
