-- The schemas, and what every later file expects: the roles, UTF-8, and the columns that every table of the
-- configuration has.

DO $$
DECLARE
    missing text;
BEGIN
    SELECT string_agg(name, ', ') INTO missing
      FROM unnest(ARRAY['${owner_role}', '${app_role}', '${admin_role}', '${tenant_admin_role}', '${auditor_role}',
                        '${console_role}']) AS name
     WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name);
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'These database roles do not exist: %.', missing
            USING ERRCODE = 'undefined_object',
                  HINT = 'Run db/roles.sql first, in this database, as a role that may create roles.';
    END IF;
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'This database is encoded in %, but names and claims are UTF-8.',
                        current_setting('server_encoding')
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Create the database with ENCODING ''UTF8''.';
    END IF;
END
$$;

-- R__90_privileges grants what may be called. Nothing is granted by default.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON ROUTINES FROM PUBLIC;

CREATE SCHEMA broker;
COMMENT ON SCHEMA broker IS 'Configuration, edited in SQL: tenants, the identity providers that they trust, access providers, keys, and grants.';
CREATE SCHEMA audit;
COMMENT ON SCHEMA audit IS 'Append-only: mints, and changes of the configuration. Views of the tables in schema log.';
CREATE SCHEMA log;
COMMENT ON SCHEMA log IS 'The tables of the audit log, which only the service and the owner can access. Everyone else reads the views in schema audit.';
CREATE SCHEMA IF NOT EXISTS runtime;
COMMENT ON SCHEMA runtime IS 'The history of migrations, and views of the tables in schema work. Do not edit anything here by hand.';
CREATE SCHEMA work;
COMMENT ON SCHEMA work IS 'Working data of the service, which only the service and the owner can access. Auditors read the views in schema runtime.';
CREATE SCHEMA internal;
COMMENT ON SCHEMA internal IS 'Functions and views that the triggers, checks and views of the other schemas use. Do not call anything here by hand; any release may change it.';

CREATE TABLE runtime.schema_version (
    version int NOT NULL,
    oldest_program text NOT NULL,
    CONSTRAINT a_schema_version_is_told_once PRIMARY KEY (version),
    CONSTRAINT oldest_program_is_a_number_with_dots CHECK (oldest_program ~ '^[0-9]+([.][0-9]+)*$')
);
COMMENT ON TABLE runtime.schema_version IS 'The version of the schema, and the releases that can work with it. Written by migrations.';
COMMENT ON COLUMN runtime.schema_version.version IS 'Raised by every release that changes the schema; 0 until the first migration is complete.';
COMMENT ON COLUMN runtime.schema_version.oldest_program IS
    'The oldest Mintmark that can work with this schema. Older ones do not start.';
INSERT INTO runtime.schema_version (version, oldest_program) VALUES (0, '0.1.0');

-- Only copied from: CREATE TABLE … (LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS).
CREATE TABLE internal.bookkeeping (
    created_at timestamptz NOT NULL DEFAULT now(),
    created_by text NOT NULL DEFAULT session_user,
    updated_at timestamptz NOT NULL DEFAULT now(),
    updated_by text NOT NULL DEFAULT session_user
);
COMMENT ON TABLE internal.bookkeeping IS 'The columns that every table in schema broker has. Has no rows.';
COMMENT ON COLUMN internal.bookkeeping.created_at IS 'When the row was inserted. Set by a trigger.';
COMMENT ON COLUMN internal.bookkeeping.created_by IS 'The login that inserted the row. Set by a trigger.';
COMMENT ON COLUMN internal.bookkeeping.updated_at IS 'When the row was last changed. Set by a trigger.';
COMMENT ON COLUMN internal.bookkeeping.updated_by IS 'The login that last changed the row. Set by a trigger.';

-- Any login can take any advisory lock. A row can be locked only by roles that may change its table.
CREATE TABLE work.mutex (
    name text COLLATE "C" NOT NULL,
    CONSTRAINT a_mutex_is_listed_once PRIMARY KEY (name)
);
COMMENT ON TABLE work.mutex IS
    'Rows that functions of the owner lock, so that one transaction at a time does what the name says. No other role may lock them.';
COMMENT ON COLUMN work.mutex.name IS 'The work that one transaction does at a time.';
INSERT INTO work.mutex (name) VALUES ('changes without tenant'), ('partitions of audit.event'), ('notices');
