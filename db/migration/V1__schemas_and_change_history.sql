-- What every table of the broker rests on: the schemas, how something is refused, who wrote a row, and the
-- history of every change. The history also numbers the states of a tenant (its revision).

DO $$
DECLARE
    missing text;
BEGIN
    SELECT string_agg(name, ', ') INTO missing
      FROM unnest(ARRAY['${owner_role}', '${app_role}', '${admin_role}', '${tenant_admin_role}', '${auditor_role}']) AS name
     WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name);
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'These database roles do not exist: %.', missing
            USING ERRCODE = 'undefined_object',
                  HINT = 'Run db/roles.sql first, in this database, as a role that may create roles.';
    END IF;
    IF current_setting('server_encoding') <> 'UTF8' THEN
        RAISE EXCEPTION 'This database is encoded in %, but names and claims come in UTF-8.',
                        current_setting('server_encoding')
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Create the database with ENCODING ''UTF8''.';
    END IF;
END
$$;

-- What may be called is granted by name (V11); nothing is by default.
ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON ROUTINES FROM PUBLIC;

CREATE SCHEMA broker;
COMMENT ON SCHEMA broker IS 'Configuration, edited in SQL: tenants, whom they trust, what they hand out, and to whom.';
CREATE SCHEMA audit;
COMMENT ON SCHEMA audit IS 'Append-only: what was minted, and what was changed in the configuration.';
CREATE SCHEMA IF NOT EXISTS runtime;
COMMENT ON SCHEMA runtime IS 'Working data of the service and the history of migrations. Nothing here is edited by hand.';
CREATE SCHEMA internal;
COMMENT ON SCHEMA internal IS 'What the triggers, checks and views of the other schemas are made of. Nothing here is called by hand, and any release may change it.';

-- Before it does anything else, a program looks here. Each migration says in its last line which version it makes.
CREATE TABLE runtime.schema_version (
    version int NOT NULL,
    oldest_program text NOT NULL,
    CONSTRAINT a_schema_version_is_told_once PRIMARY KEY (version),
    CONSTRAINT oldest_program_is_a_number_with_dots CHECK (oldest_program ~ '^[0-9]+([.][0-9]+)*$')
);
COMMENT ON TABLE runtime.schema_version IS 'What schema this is, and which programs can work with it. Written by migrations.';
COMMENT ON COLUMN runtime.schema_version.version IS 'The number of the last migration.';
COMMENT ON COLUMN runtime.schema_version.oldest_program IS
    'The oldest Mintmark that can work with this schema. Older ones do not start.';
INSERT INTO runtime.schema_version (version, oldest_program) VALUES (1, '0.1.0');


-- ---------------------------------------------------------------- refusals

CREATE FUNCTION internal.refuse(message text, hint text, code text DEFAULT 'check_violation') RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '%', message USING ERRCODE = code, HINT = coalesce(hint, '');
END
$$;
COMMENT ON FUNCTION internal.refuse(text, text, text) IS
    'Ends the statement with a message, a hint and an error code. Whatever is refused in a sentence is refused here or below.';

CREATE FUNCTION internal.refuse_in(target regclass, rule text, message text, hint text, code text, named_column text DEFAULT '') RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '%', message
        USING ERRCODE = code, HINT = hint, CONSTRAINT = rule, COLUMN = named_column,
              SCHEMA = (SELECT c.relnamespace::regnamespace FROM pg_class AS c WHERE c.oid = target),
              TABLE = (SELECT c.relname FROM pg_class AS c WHERE c.oid = target);
END
$$;
COMMENT ON FUNCTION internal.refuse_in(regclass, text, text, text, text, text) IS
    'Ends the statement as the constraint of that name (or of that column) would, with a sentence and a hint.';


-- ---------------------------------------------------------------- append-only

CREATE FUNCTION internal.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.refuse(
        format('%s.%s is append-only: %s is refused.', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP),
        CASE WHEN TG_TABLE_NAME LIKE 'event%'
             THEN 'What is recorded stays. Old months are retired whole, with: mintmark audit retire'
             ELSE 'What is recorded stays. Old entries are part of the proof for the later ones.' END,
        'insufficient_privilege');
END
$$;
COMMENT ON FUNCTION internal.refuse_change() IS 'Trigger: stops UPDATE, DELETE and TRUNCATE, whoever tries.';

CREATE PROCEDURE internal.make_append_only(target regclass)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- For each statement, not each row: it also stops one that would hit no row, and it stays when a
    -- partition is detached.
    EXECUTE format('CREATE TRIGGER is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %s
                    FOR EACH STATEMENT EXECUTE FUNCTION internal.refuse_change()', target);
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER is_append_only', target);
END
$$;
COMMENT ON PROCEDURE internal.make_append_only(regclass) IS
    'Makes a table append-only, for its owner too. Triggers that someone drops do not hold: then the hash chain tells.';


-- ---------------------------------------------------------------- the history

-- Names are COLLATE "C" everywhere: compared by byte, so that new sorting rules of an operating system
-- cannot break an index or a sequence that a proof rests on.
CREATE TABLE audit.config_change (
    tenant text COLLATE "C",
    revision bigint NOT NULL,
    table_name text NOT NULL,
    operation text NOT NULL,
    before jsonb,
    after jsonb,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    transaction_id bigint NOT NULL,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT a_revision_is_given_once UNIQUE NULLS NOT DISTINCT (tenant, revision) INCLUDE (hash),
    CONSTRAINT revisions_count_from_one CHECK (revision >= 1),
    CONSTRAINT a_change_is_an_insert_an_update_or_a_delete CHECK (operation IN ('INSERT', 'UPDATE', 'DELETE')),
    CONSTRAINT only_an_insert_has_nothing_before CHECK ((before IS NULL) = (operation = 'INSERT')),
    CONSTRAINT only_a_delete_leaves_nothing_after CHECK ((after IS NULL) = (operation = 'DELETE')),
    CONSTRAINT a_hash_has_32_bytes CHECK (octet_length(hash) = 32 AND octet_length(prev_hash) = 32)
);
COMMENT ON TABLE audit.config_change IS
    'Every change of a row in schema broker, written by triggers in the transaction of the change. Append-only.';
COMMENT ON COLUMN audit.config_change.tenant IS
    'The tenant that the row belongs to; null for tables that belong to no tenant.';
COMMENT ON COLUMN audit.config_change.revision IS
    'Counts the changes of the tenant (or of all tables without one) from 1, without gaps, in the order of commits. The greatest is the tenant''s revision.';
COMMENT ON COLUMN audit.config_change.table_name IS 'The table in schema broker, for example subject_grant.';
COMMENT ON COLUMN audit.config_change.operation IS 'INSERT, UPDATE or DELETE. An UPDATE that leaves the row as it was is not recorded.';
COMMENT ON COLUMN audit.config_change.before IS 'The whole row before the change; null for an INSERT. Times are in UTC.';
COMMENT ON COLUMN audit.config_change.after IS 'The whole row after the change; null for a DELETE. Times are in UTC.';
COMMENT ON COLUMN audit.config_change.changed_by IS 'The login (session_user), which SET ROLE does not change.';
COMMENT ON COLUMN audit.config_change.changed_at IS 'When the row was changed by the server''s clock; it was committed later.';
COMMENT ON COLUMN audit.config_change.transaction_id IS 'The transaction: changes with the same number were committed together.';
COMMENT ON COLUMN audit.config_change.prev_hash IS 'The hash of the revision before it, of the same tenant; 32 zero bytes for revision 1.';
COMMENT ON COLUMN audit.config_change.hash IS 'SHA-256 over prev_hash and this row in its canonical form.';

CALL internal.make_append_only('audit.config_change');

-- The canonical form is described in docs/audit.md. docs/verify.py and the service make the same bytes.
CREATE FUNCTION internal.canonical_field(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN value IS NULL THEN '-,' ELSE octet_length(value) || ':' || value || ',' END;
COMMENT ON FUNCTION internal.canonical_field(text) IS
    'A field of the canonical form: its length in bytes, a colon, the text, a comma; a null is "-,".';

CREATE FUNCTION internal.micros(at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN trunc(extract(epoch FROM at) * 1000000)::text;
COMMENT ON FUNCTION internal.micros(timestamptz) IS
    'A time in the canonical form: microseconds since 1970-01-01 UTC, in decimal digits.';

-- plpgsql, since no expression that is stored may hold a table's row type: PostgreSQL would not alter the table any more.
CREATE FUNCTION audit.change_hash(change audit.config_change) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sha256(change.prev_hash || convert_to(
        internal.canonical_field('mintmark change 1')
        || internal.canonical_field(change.tenant)
        || internal.canonical_field(change.revision::text)
        || internal.canonical_field(change.table_name)
        || internal.canonical_field(change.operation)
        || internal.canonical_field(change.before::text)
        || internal.canonical_field(change.after::text)
        || internal.canonical_field(change.changed_by)
        || internal.canonical_field(internal.micros(change.changed_at))
        || internal.canonical_field(change.transaction_id::text), 'UTF8'));
END
$$;
COMMENT ON FUNCTION audit.change_hash(audit.config_change) IS
    'The hash that a row of audit.config_change must have: SHA-256 over prev_hash and its canonical form.';

-- Always the end of the index, for the reason given at broker.revision.
CREATE FUNCTION audit.last_change(tenant text, OUT revision bigint, OUT hash bytea)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
BEGIN
    IF tenant IS NULL THEN
        SELECT c.revision, c.hash INTO last_change.revision, last_change.hash FROM audit.config_change AS c
         WHERE c.tenant IS NULL ORDER BY c.tenant DESC, c.revision DESC LIMIT 1;
    ELSE
        SELECT c.revision, c.hash INTO last_change.revision, last_change.hash FROM audit.config_change AS c
         WHERE c.tenant = last_change.tenant ORDER BY c.tenant DESC, c.revision DESC LIMIT 1;
    END IF;
    revision := coalesce(revision, 0);
    hash := coalesce(hash, decode(repeat('00', 32), 'hex'));
END
$$;
COMMENT ON FUNCTION audit.last_change(text) IS
    'The head of a tenant''s chain of changes (of null: of the tables without tenant); revision 0 and 32 zero bytes before the first.';

CREATE FUNCTION audit.changed_tenants(tenants text[], states text[]) RETURNS SETOF text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
BEGIN
    RETURN QUERY
    SELECT known.tenant
      FROM unnest(tenants, states) AS known (tenant, state)
      LEFT JOIN LATERAL (
           SELECT c.revision, c.hash FROM audit.config_change AS c
            WHERE c.tenant = known.tenant COLLATE "C" ORDER BY c.tenant DESC, c.revision DESC LIMIT 1) AS head ON true
     WHERE known.state IS DISTINCT FROM
           coalesce(head.revision, 0) || ':' || coalesce(encode(head.hash, 'hex'), repeat('0', 64));
END
$$;
COMMENT ON FUNCTION audit.changed_tenants(text[], text[]) IS
    'Those of the tenants whose last change isn''t the one named at the same place, as "revision:hash" in hexadecimal digits.';

-- Always the end of the index: a plan that was made while the table was small, and that the session
-- keeps, would read all of the tenant's history for each row of a bulk edit.
CREATE FUNCTION broker.revision(tenant text) RETURNS bigint
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
DECLARE
    latest bigint;
BEGIN
    IF tenant IS NULL THEN
        SELECT c.revision INTO latest FROM audit.config_change AS c
         WHERE c.tenant IS NULL ORDER BY c.tenant DESC, c.revision DESC LIMIT 1;
    ELSE
        SELECT c.revision INTO latest FROM audit.config_change AS c
         WHERE c.tenant = revision.tenant ORDER BY c.tenant DESC, c.revision DESC LIMIT 1;
    END IF;
    RETURN coalesce(latest, 0);
END
$$;
COMMENT ON FUNCTION broker.revision(text) IS
    'The revision of a tenant: raised by every change of its rows, 0 if there is no such tenant. Of null: that of the tables without tenant.';


-- ---------------------------------------------------------------- triggers of every table in schema broker

CREATE FUNCTION internal.sign_row() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.created_at := now();
        NEW.created_by := session_user;
        NEW.updated_at := now();
        NEW.updated_by := session_user;
        RETURN NEW;
    END IF;
    NEW.created_at := OLD.created_at;
    NEW.created_by := OLD.created_by;
    NEW.updated_at := OLD.updated_at;
    NEW.updated_by := OLD.updated_by;
    IF NEW *<> OLD THEN
        NEW.updated_at := now();
        NEW.updated_by := session_user;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.sign_row() IS
    'Trigger: fills created_at, created_by, updated_at and updated_by, whatever the statement says. They stay when an UPDATE changes nothing.';

CREATE FUNCTION internal.record_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
AS $$
DECLARE
    tenant_column constant text := TG_ARGV[0];
    old_row constant jsonb := to_jsonb(OLD);
    new_row constant jsonb := to_jsonb(NEW);
    owning_tenant constant text := coalesce(new_row, old_row) ->> tenant_column;
    change audit.config_change;
BEGIN
    IF old_row ->> tenant_column <> new_row ->> tenant_column THEN
        PERFORM internal.refuse(
            format('A row of broker.%s stays with its tenant: it cannot move from "%s" to "%s".',
                   TG_TABLE_NAME, old_row ->> tenant_column, new_row ->> tenant_column),
            'Insert it anew for the other tenant, and delete it here.', 'restrict_violation');
    END IF;

    -- One editor of a tenant at a time, so that revisions are committed in their order. References to
    -- the tenant only take KEY SHARE, which this lock lets pass.
    IF owning_tenant IS NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('mintmark: changes without tenant', 0));
    ELSE
        PERFORM FROM broker.tenant WHERE name = owning_tenant FOR NO KEY UPDATE;
    END IF;

    SELECT owning_tenant, last.revision + 1, TG_TABLE_NAME, TG_OP, old_row, new_row,
           session_user, clock_timestamp(), pg_current_xact_id()::text::bigint, last.hash
      INTO change.tenant, change.revision, change.table_name, change.operation, change.before, change.after,
           change.changed_by, change.changed_at, change.transaction_id, change.prev_hash
      FROM audit.last_change(owning_tenant) AS last;
    change.hash := audit.change_hash(change);

    -- ON CONFLICT: a transaction with an old snapshot (REPEATABLE READ and stricter) gets a
    -- serialization failure here, which clients know how to repeat, and not a duplicate key.
    INSERT INTO audit.config_change
           (tenant, revision, table_name, operation, before, after, changed_by, changed_at, transaction_id,
            prev_hash, hash)
    VALUES (change.tenant, change.revision, change.table_name, change.operation, change.before, change.after,
            change.changed_by, change.changed_at, change.transaction_id, change.prev_hash, change.hash)
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM internal.refuse('Another session changed ' || coalesce('tenant "' || owning_tenant || '"', 'a table without tenant')
                                || ' meanwhile.', 'Run the transaction again.', 'serialization_failure');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_change() IS
    'Trigger: writes a change to audit.config_change, which raises the revision of the tenant. Argument: the column that names the tenant, none for tables without.';

CREATE FUNCTION internal.refuse_truncate() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.refuse(
        format('TRUNCATE broker.%s is refused: the change history could not record what it removes.', TG_TABLE_NAME),
        format('DELETE FROM broker.%I records each row.', TG_TABLE_NAME), 'insufficient_privilege');
END
$$;
COMMENT ON FUNCTION internal.refuse_truncate() IS 'Trigger: stops TRUNCATE of a table whose changes are recorded.';

CREATE PROCEDURE internal.keep_history(target regclass, tenant_column text)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    argument constant text := coalesce(quote_literal(tenant_column), '');
BEGIN
    EXECUTE format('ALTER TABLE %s
        ADD COLUMN created_at timestamptz NOT NULL DEFAULT now(),
        ADD COLUMN created_by text NOT NULL DEFAULT session_user,
        ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now(),
        ADD COLUMN updated_by text NOT NULL DEFAULT session_user', target);
    EXECUTE format('COMMENT ON COLUMN %s.created_at IS ''When the row was inserted. Kept by a trigger.''', target);
    EXECUTE format('COMMENT ON COLUMN %s.created_by IS ''The login that inserted the row. Kept by a trigger.''', target);
    EXECUTE format('COMMENT ON COLUMN %s.updated_at IS ''When the row was last changed. Kept by a trigger.''', target);
    EXECUTE format('COMMENT ON COLUMN %s.updated_by IS ''The login that last changed the row. Kept by a trigger.''', target);

    EXECUTE format('CREATE TRIGGER is_signed BEFORE INSERT OR UPDATE ON %s
                    FOR EACH ROW EXECUTE FUNCTION internal.sign_row()', target);
    EXECUTE format('CREATE TRIGGER is_recorded AFTER INSERT OR DELETE ON %s
                    FOR EACH ROW EXECUTE FUNCTION internal.record_change(%s)', target, argument);
    EXECUTE format('CREATE TRIGGER is_recorded_when_it_differs AFTER UPDATE ON %s
                    FOR EACH ROW WHEN (OLD.* *<> NEW.*) EXECUTE FUNCTION internal.record_change(%s)', target, argument);
    EXECUTE format('CREATE TRIGGER is_not_truncated BEFORE TRUNCATE ON %s
                    FOR EACH STATEMENT EXECUTE FUNCTION internal.refuse_truncate()', target);
    -- ALWAYS: session_replication_role = replica doesn't switch them off.
    EXECUTE format('ALTER TABLE %s
        ENABLE ALWAYS TRIGGER is_signed,
        ENABLE ALWAYS TRIGGER is_recorded,
        ENABLE ALWAYS TRIGGER is_recorded_when_it_differs,
        ENABLE ALWAYS TRIGGER is_not_truncated', target);
END
$$;
COMMENT ON PROCEDURE internal.keep_history(regclass, text) IS
    'Gives a new table of schema broker its columns created_at, created_by, updated_at, updated_by and its change history. Second argument: the column that names the tenant, null if there is none.';
