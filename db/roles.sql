-- The six roles of Mintmark. Run once in the broker's database, before the first migration, by a
-- role that may create roles and owns the database (no superuser needed); running it again is harmless,
-- and brings the roles that a later release adds.
--
--     psql "$DATABASE" -f db/roles.sql
--
-- Plain SQL: any client will do. None of the roles can log in. Give each login the one that it needs:
--
--     CREATE ROLE mintmark_migrator LOGIN PASSWORD '…' IN ROLE mintmark_owner;   -- runs the migrations
--     CREATE ROLE mintmark_service  LOGIN PASSWORD '…' IN ROLE mintmark_app;     -- the broker itself
--     CREATE ROLE alice             LOGIN PASSWORD '…' IN ROLE mintmark_admin;   -- a platform admin
--     CREATE ROLE mintmark_viewer   LOGIN PASSWORD '…' IN ROLE mintmark_console; -- the console, if it runs
--
-- Other names: set them in the same session before this file, and give the same to the broker.
--
--     SET mintmark.owner_role = 'broker_owner';

DO $$
DECLARE
    owner_role constant text := coalesce(nullif(current_setting('mintmark.owner_role', true), ''), 'mintmark_owner');
    app_role constant text := coalesce(nullif(current_setting('mintmark.app_role', true), ''), 'mintmark_app');
    admin_role constant text := coalesce(nullif(current_setting('mintmark.admin_role', true), ''), 'mintmark_admin');
    tenant_admin_role constant text :=
        coalesce(nullif(current_setting('mintmark.tenant_admin_role', true), ''), 'mintmark_tenant_admin');
    auditor_role constant text := coalesce(nullif(current_setting('mintmark.auditor_role', true), ''), 'mintmark_auditor');
    console_role constant text := coalesce(nullif(current_setting('mintmark.console_role', true), ''), 'mintmark_console');
    wanted record;
BEGIN
    FOR wanted IN
        SELECT * FROM (VALUES
            (owner_role, 'Mintmark: owns the schemas and runs the migrations.'),
            (app_role, 'Mintmark: the service. Reads the configuration, adds to the audit log.'),
            (admin_role, 'Mintmark: platform admins. Write the whole configuration.'),
            (tenant_admin_role, 'Mintmark: tenant admins. Write keys and grants of the tenants in broker.tenant_admin.'),
            (auditor_role, 'Mintmark: auditors. Read everything, record what verifications found.'),
            (console_role, 'Mintmark: the console. Reads what its viewer''s claims allow, records what verifications found.')
        ) AS role (name, purpose)
    LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted.name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted.name);
            EXECUTE format('COMMENT ON ROLE %I IS %L', wanted.name, wanted.purpose);
        END IF;
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), wanted.name);
    END LOOP;

    -- The owner creates the schemas broker, audit and runtime.
    EXECUTE format('GRANT CREATE ON DATABASE %I TO %I', current_database(), owner_role);

    -- Compiling the plan of broker.lint takes seconds, reading it milliseconds.
    EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
END
$$;
