-- The history of every change of the configuration, which also numbers the states of a tenant (its revision).

-- ---------------------------------------------------------------- append-only

CREATE OR REPLACE FUNCTION internal.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.refuse(
        -- by the name under which people read it
        format('%s.%s is append-only: %s is not allowed.',
               CASE TG_TABLE_SCHEMA WHEN 'log' THEN 'audit' ELSE TG_TABLE_SCHEMA END, TG_TABLE_NAME, TG_OP),
        CASE WHEN TG_TABLE_NAME LIKE 'event%'
             THEN 'Records are permanent. To remove whole old months, run mintmark audit retire.'
             WHEN TG_TABLE_NAME = 'verification' THEN 'The result of a verification is never changed. It can be deleted 400 days after it was recorded.'
             ELSE 'Records are permanent: later entries are chained to them.' END,
        'insufficient_privilege');
END
$$;
COMMENT ON FUNCTION internal.refuse_change() IS 'Trigger: refuses UPDATE, DELETE and TRUNCATE for every role.';

CREATE OR REPLACE FUNCTION internal.refuse_change_after_move() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Only changes made here: an imported one keeps the number of a transaction of the other cell.
    IF NEW.transaction_id <> pg_current_xact_id()::text::bigint
       OR NEW.table_name = 'tenant' AND (NEW.before ->> 'moved_to' IS NULL OR NEW.after ->> 'moved_to' IS NULL)
       OR NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = NEW.tenant AND t.moved_to IS NOT NULL) THEN
        RETURN NEW;
    END IF;
    PERFORM internal.refuse(
        format('Tenant "%s" moved to another cell, so its configuration cannot be changed here.', NEW.tenant),
        format('Make the change at %s. To move the tenant back, run mintmark tenant export there and mintmark tenant import here.',
               (SELECT t.moved_to FROM broker.tenant AS t WHERE t.name = NEW.tenant)),
        'restrict_violation');
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.refuse_change_after_move() IS
    'Trigger: rejects changes of a tenant that moved to another cell, because its copy there would not get them.';

CREATE OR REPLACE PROCEDURE internal.make_append_only(target regclass)
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
    'Makes a table append-only, even for its owner. If the owner drops the triggers, the hash chain reveals changes.';

-- ---------------------------------------------------------------- the chain

-- plpgsql, since the canonical fields are then inlined, and SQL would start an executor for each of them.
CREATE OR REPLACE FUNCTION internal.change_hash(prev_hash bytea, tenant text, revision bigint, table_name text, operation text,
    before jsonb, after jsonb, changed_by text, changed_at timestamptz, transaction_id bigint) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    before_text constant text := before;
    after_text constant text := after;
    micros constant text := internal.micros(changed_at);
BEGIN
    RETURN sha256(prev_hash || convert_to(
        internal.canonical_field('mintmark change 1')
        || internal.canonical_field(tenant)
        || internal.canonical_field(revision::text)
        || internal.canonical_field(table_name)
        || internal.canonical_field(operation)
        || internal.canonical_field(before_text)
        || internal.canonical_field(after_text)
        || internal.canonical_field(changed_by)
        || internal.canonical_field(micros)
        || internal.canonical_field(transaction_id::text), 'UTF8'));
END
$$;
COMMENT ON FUNCTION internal.change_hash(bytea, text, bigint, text, text, jsonb, jsonb, text, timestamptz, bigint) IS
    'The hash of a row of audit.config_change with these values: SHA-256 over prev_hash and the canonical form.';

-- plpgsql, since no expression that is stored may hold a table's row type: PostgreSQL would not alter the table any more.
CREATE OR REPLACE FUNCTION audit.change_hash(change audit.config_change) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN internal.change_hash(change.prev_hash, change.tenant, change.revision, change.table_name, change.operation,
                                change.before, change.after, change.changed_by, change.changed_at, change.transaction_id);
END
$$;
COMMENT ON FUNCTION audit.change_hash(audit.config_change) IS
    'The hash of a row of audit.config_change: SHA-256 over prev_hash and the canonical form.';

-- Always the end of the index, for the reason given at broker.revision.
CREATE OR REPLACE FUNCTION audit.last_change(tenant text, OUT revision bigint, OUT hash bytea)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
BEGIN
    IF tenant IS NULL THEN
        SELECT c.revision, c.hash INTO last_change.revision, last_change.hash FROM log.config_change AS c
         WHERE c.tenant IS NULL ORDER BY c.tenant DESC, c.revision DESC LIMIT 1;
    ELSE
        SELECT c.revision, c.hash INTO last_change.revision, last_change.hash FROM log.config_change AS c
         WHERE c.tenant = last_change.tenant ORDER BY c.tenant DESC, c.revision DESC LIMIT 1;
    END IF;
    revision := coalesce(revision, 0);
    hash := coalesce(hash, decode(repeat('00', 32), 'hex'));
END
$$;
COMMENT ON FUNCTION audit.last_change(text) IS
    'The last row of a tenant''s chain of changes (null: of the tables without tenant). Before the first change: revision 0 and 32 zero bytes.';

CREATE OR REPLACE FUNCTION audit.changed_tenants(tenants text[], states text[]) RETURNS SETOF text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
BEGIN
    RETURN QUERY
    SELECT known.tenant
      FROM unnest(tenants, states) AS known (tenant, state)
      LEFT JOIN LATERAL (
           SELECT c.revision, c.hash FROM log.config_change AS c
            WHERE c.tenant = known.tenant COLLATE "C" ORDER BY c.tenant DESC, c.revision DESC LIMIT 1) AS head ON true
     WHERE known.state IS DISTINCT FROM
           coalesce(head.revision, 0) || ':' || coalesce(encode(head.hash, 'hex'), repeat('0', 64));
END
$$;
COMMENT ON FUNCTION audit.changed_tenants(text[], text[]) IS
    'The tenants whose last change differs from the state at the same position of the second array ("revision:hash", hexadecimal).';

-- Always the end of the index: a plan that was made while the table was small, and that the session
-- keeps, would read all of the tenant's history for each row of a bulk edit.
CREATE OR REPLACE FUNCTION broker.revision(tenant text) RETURNS bigint
    -- Not SQL: up to PostgreSQL 17 an expression of PL/pgSQL keeps the plan of an SQL function for another role, with its policies.
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
DECLARE
    latest bigint;
BEGIN
    IF tenant IS NULL THEN
        SELECT c.revision INTO latest FROM internal.change_place AS c
         WHERE c.tenant IS NULL ORDER BY c.tenant DESC, c.revision DESC LIMIT 1;
    ELSE
        SELECT c.revision INTO latest FROM internal.change_place AS c
         WHERE c.tenant = revision.tenant ORDER BY c.tenant DESC, c.revision DESC LIMIT 1;
    END IF;
    RETURN coalesce(latest, 0);
END
$$;
COMMENT ON FUNCTION broker.revision(text) IS
    'The latest revision of a tenant, which each change of its rows raises; 0 for an unknown tenant; null: of the tables without tenant.';

-- ---------------------------------------------------------------- triggers of every table in schema broker

-- No privilege keeps members from naming these columns, since PostgreSQL's refusal would name neither the column nor who sets it.
DROP FUNCTION IF EXISTS internal.refuse_kept_column(text, text);

CREATE OR REPLACE FUNCTION internal.refuse_kept_column(given text, hint text, writer name DEFAULT current_user) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF given IS NOT NULL AND NOT pg_has_role(writer, '${owner_role}', 'MEMBER') THEN
        PERFORM internal.refuse(format('The statement sets the column %s, but only the database may set it.', given), hint, 'insufficient_privilege');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_kept_column(text, text, name) IS
    'For triggers: rejects a value that a statement gives to a column which triggers or functions of the owner set. given: the column; null: none. writer: the role that gives it.';

-- Members may write the column, so that this refusal, and not PostgreSQL's, tells them what to do.
CREATE OR REPLACE FUNCTION internal.refuse_kept_id(target regclass, former bigint, written bigint) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF former IS NOT NULL AND written IS DISTINCT FROM former THEN
        PERFORM internal.refuse_kept_column('id', format('Leave out id: a row of %s keeps the id that the database gave it. To write another row, insert one without an id.',
                                                         internal.name_of_table(target)));
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_kept_id(regclass, bigint, bigint) IS 'For triggers: rejects another id of a row. former: the id before the statement; null: the row is new.';

CREATE OR REPLACE FUNCTION internal.signature_given(written record, former record) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE
        WHEN former IS NULL THEN CASE WHEN written.created_at IS DISTINCT FROM now() THEN 'created_at' WHEN written.created_by IS DISTINCT FROM session_user THEN 'created_by'
                                      WHEN written.updated_at IS DISTINCT FROM now() THEN 'updated_at' WHEN written.updated_by IS DISTINCT FROM session_user THEN 'updated_by' END
        WHEN written.created_at IS DISTINCT FROM former.created_at THEN 'created_at' WHEN written.created_by IS DISTINCT FROM former.created_by THEN 'created_by'
        WHEN written.updated_at IS DISTINCT FROM former.updated_at THEN 'updated_at' WHEN written.updated_by IS DISTINCT FROM former.updated_by THEN 'updated_by' END;
END
$$;
COMMENT ON FUNCTION internal.signature_given(record, record) IS
    'The first of created_at, created_by, updated_at and updated_by for which a statement has another value than triggers set. former: the row before, or null.';

CREATE OR REPLACE FUNCTION internal.signature_hint() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'Leave out created_at, created_by, updated_at and updated_by, which say when a row was written, and by which login.';
COMMENT ON FUNCTION internal.signature_hint() IS 'What to do about a column that internal.signature_given returns.';

CREATE OR REPLACE FUNCTION internal.signed(written record, former record) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given constant text := internal.signature_given(written, former);
BEGIN
    IF given IS NOT NULL THEN
        PERFORM internal.refuse_kept_column(given, internal.signature_hint());
    END IF;
    IF former IS NULL THEN
        written.created_at := now();
        written.created_by := session_user;
    ELSE
        written.created_at := former.created_at;
        written.created_by := former.created_by;
        written.updated_at := former.updated_at;
        written.updated_by := former.updated_by;
    END IF;
    IF former IS NULL OR written *<> former THEN
        -- some rows have the time at which their transaction wrote them
        written.updated_at := greatest(now(), former.updated_at);
        written.updated_by := session_user;
    END IF;
    RETURN written;
END
$$;
COMMENT ON FUNCTION internal.signed(record, record) IS
    'A row with created_at, created_by, updated_at and updated_by. Rejects other values of a statement, unless the owner runs it. An UPDATE without effect leaves them unchanged. former: the row before, or null.';

-- For tables that have nothing else to check.
CREATE OR REPLACE FUNCTION internal.sign_row() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN internal.signed(NEW, OLD);
END
$$;
COMMENT ON FUNCTION internal.sign_row() IS 'Trigger: signs a row (internal.signed).';

CREATE OR REPLACE FUNCTION internal.append_change(owning_tenant text, changed_table text, operation text, before jsonb, after jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    change log.config_change;
BEGIN
    -- One editor of a tenant at a time, so that revisions are committed in their order. References to
    -- the tenant only take KEY SHARE, which this lock lets pass.
    IF owning_tenant IS NULL THEN
        PERFORM FROM work.mutex AS m WHERE m.name = 'changes without tenant' FOR UPDATE;
    ELSE
        PERFORM FROM broker.tenant WHERE name = owning_tenant FOR NO KEY UPDATE;
    END IF;

    SELECT owning_tenant, last.revision + 1, changed_table, append_change.operation, append_change.before, append_change.after,
           session_user, clock_timestamp(), pg_current_xact_id()::text::bigint, last.hash
      INTO change.tenant, change.revision, change.table_name, change.operation, change.before, change.after,
           change.changed_by, change.changed_at, change.transaction_id, change.prev_hash
      FROM audit.last_change(owning_tenant) AS last;
    change.hash := internal.change_hash(change.prev_hash, change.tenant, change.revision, change.table_name, change.operation,
                                        change.before, change.after, change.changed_by, change.changed_at, change.transaction_id);

    -- ON CONFLICT: a transaction with an old snapshot (REPEATABLE READ and stricter) gets a
    -- serialization failure here, which clients know how to repeat, and not a duplicate key.
    INSERT INTO log.config_change
           (tenant, revision, table_name, operation, before, after, changed_by, changed_at, transaction_id,
            prev_hash, hash)
    VALUES (change.tenant, change.revision, change.table_name, change.operation, change.before, change.after,
            change.changed_by, change.changed_at, change.transaction_id, change.prev_hash, change.hash)
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM internal.refuse('Another session changed ' || coalesce('tenant "' || owning_tenant || '"', 'a table without tenant')
                                || ' at the same time.', 'Run the transaction again.', 'serialization_failure');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.append_change(text, text, text, jsonb, jsonb) IS
    'Appends a row to a tenant''s chain (null: the tables without tenant) in audit.config_change.';

CREATE OR REPLACE FUNCTION internal.refuse_second_change(changed_table text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.refuse(
        format('A statement changed the same row of broker.%s twice.', changed_table),
        'Make the second change in a statement of its own.', 'triggered_data_change_violation');
END
$$;
COMMENT ON FUNCTION internal.refuse_second_change(text) IS
    'Refuses a second change of a row within one statement, which the history could not record in order.';

-- ---------------------------------------------------------------- the changes of one row

-- As the policies say, for functions that read as the owner: under a policy PostgreSQL compares only what can't leak, so an
-- index on an expression (a subject's hash, a field of a JSON row) is not used.
CREATE OR REPLACE FUNCTION internal.may_read_rows_of(of_tenant text) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- session_user is the caller's login
    RETURN internal.login_is('the service') OR internal.login_is('a platform admin') OR internal.login_is('an auditor')
        OR pg_has_role(session_user, '${owner_role}', 'MEMBER')
        OR internal.login_is('a tenant admin') AND EXISTS (SELECT FROM broker.tenant_admin AS a WHERE a.tenant = of_tenant AND a.role_name = session_user)
        OR internal.login_is('the console') AND (internal.viewer_sees_all() OR of_tenant = ANY (internal.tenants_of_viewer()));
END
$$;
COMMENT ON FUNCTION internal.may_read_rows_of(text) IS 'Whether the login, or the viewer of the console, may read the rows of a tenant.';

-- With its owner's rights, since no index on an expression is used under row-level security. Always the end of such an index, for
-- the reason given at broker.revision. COLLATE: arguments have the collation of the columns that they come from, which is that of
-- names, and the index has the default.
CREATE OR REPLACE FUNCTION internal.change_before(of_table text, of_tenant text, of_name text, before_revision bigint)
    RETURNS audit.config_change
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
AS $$
DECLARE
    change audit.config_change;
BEGIN
    IF NOT internal.may_read_rows_of(of_tenant) THEN
        PERFORM internal.refuse(format('There is no tenant "%s" whose history you may read.', of_tenant), 'To list the tenants that you may read: TABLE broker.tenant;',
                                'insufficient_privilege');
    ELSIF of_table = 'subject_grant' THEN
        SELECT c.* INTO change FROM audit.config_change AS c
         WHERE c.table_name = 'subject_grant' AND coalesce(c.after, c.before) ->> 'id' = of_name COLLATE "default" AND c.tenant = of_tenant AND c.revision < before_revision
         ORDER BY coalesce(c.after, c.before) ->> 'id' DESC, c.revision DESC LIMIT 1;
    ELSE
        SELECT c.* INTO change FROM audit.config_change AS c
         WHERE coalesce(c.tenant, '') = of_tenant AND c.table_name = of_table COLLATE "default" AND c.table_name <> 'subject_grant'
           AND coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '') = of_name COLLATE "default" AND c.revision < before_revision
         ORDER BY coalesce(c.tenant, '') DESC, c.table_name DESC,
                  coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '') DESC, c.revision DESC
         LIMIT 1;
    END IF;
    RETURN change;
END
$$;
COMMENT ON FUNCTION internal.change_before(text, text, text, bigint) IS
    'The last change of a row of a tenant before a revision, by the id or name that it had then; nulls: there is none.';

CREATE OR REPLACE FUNCTION internal.last_change_of(of_table text, of_tenant text, of_name text) RETURNS audit.config_change
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN internal.change_before(of_table, of_tenant, of_name, 9223372036854775807);
END
$$;
COMMENT ON FUNCTION internal.last_change_of(text, text, text) IS 'The last change of a row of a tenant, by the id or name that it has; nulls: there is none.';

CREATE OR REPLACE FUNCTION internal.changes_of_row(of_table text, of_tenant text, of_name text) RETURNS SETOF audit.config_change
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    change audit.config_change := internal.last_change_of(of_table, of_tenant, of_name);
BEGIN
    WHILE change.revision IS NOT NULL LOOP
        RETURN NEXT change;
        change := internal.change_before(of_table, of_tenant, of_name, change.revision);
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.changes_of_row(text, text, text) IS 'The changes of a row of a tenant under an id or name, the last one first.';

-- Always the end of an index, for the reason given at broker.revision.
CREATE OR REPLACE FUNCTION internal.last_record(of_tenant text, of_table text, of_row jsonb, OUT recorded jsonb, OUT transaction_id bigint)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
DECLARE
    latest bigint;
    renaming bigint;
BEGIN
    IF of_table = 'subject_grant' THEN
        SELECT c.after, c.transaction_id INTO last_record.recorded, last_record.transaction_id FROM audit.config_change AS c
         WHERE c.table_name = 'subject_grant' AND (coalesce(c.after, c.before)) ->> 'id' = of_row ->> 'id'
         ORDER BY (coalesce(c.after, c.before)) ->> 'id' DESC, c.revision DESC LIMIT 1;
    ELSE
        SELECT c.after, c.transaction_id, c.revision INTO last_record.recorded, last_record.transaction_id, latest
          FROM audit.config_change AS c
         WHERE coalesce(c.tenant, '') = coalesce(of_tenant, '') AND c.table_name = of_table AND c.table_name <> 'subject_grant'
           AND coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '')
               = coalesce(of_row ->> 'id', of_row ->> 'name', '')
           -- for tables without either
           AND internal.name_in(c.table_name, coalesce(c.after, c.before)) = internal.name_in(of_table, of_row)
         ORDER BY coalesce(c.tenant, '') DESC, c.table_name DESC,
                  coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '') DESC, c.revision DESC
         LIMIT 1;
        IF last_record.recorded IS NULL OR of_row ->> 'id' IS NOT NULL THEN
            RETURN;
        END IF;
        -- What was renamed since then is on record under its new name.
        SELECT c.transaction_id INTO renaming FROM audit.config_change AS c
         WHERE coalesce(c.tenant, '') = coalesce(of_tenant, '') AND c.table_name = of_table AND c.table_name <> 'subject_grant'
           AND c.operation = 'UPDATE'
           AND coalesce(c.before ->> 'name', c.before ->> 'role_name', c.before ->> 'issuer', '')
               <> coalesce(c.after ->> 'name', c.after ->> 'role_name', c.after ->> 'issuer', '')
           AND coalesce(c.before ->> 'name', c.before ->> 'role_name', c.before ->> 'issuer', '')
               = coalesce(of_row ->> 'name', of_row ->> 'role_name', of_row ->> 'issuer', '')
           AND c.revision > latest
         ORDER BY coalesce(c.tenant, '') DESC, c.table_name DESC,
                  coalesce(c.before ->> 'name', c.before ->> 'role_name', c.before ->> 'issuer', '') DESC, c.revision DESC
         LIMIT 1;
        IF FOUND THEN
            last_record.recorded := NULL;
            last_record.transaction_id := renaming;
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.last_record(text, text, jsonb) IS
    'The last change on record of the row with this name: the row after it (null: it was deleted or renamed), and its transaction.';

-- A decision or a sign-off is checked when it is recorded, against the tables as they are then. If the same statement also changes
-- these, but records that later, the history would contradict the check. This reads only the end of an index, so that an edit of
-- many rows stays linear.
CREATE OR REPLACE FUNCTION internal.refuse_change_after_decision(of_tenant text, changed_table text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET jit = off
AS $$
DECLARE
    decided record;
BEGIN
    FOR decided IN
        SELECT last.transaction_id, last.changed_at, t.name = 'access_decision' OR last.before ->> 'signed_off_by' IS NULL AND last.after ->> 'signed_off_by' IS NOT NULL AS is_one
          FROM (VALUES ('access_decision'), ('access_request')) AS t (name)
         CROSS JOIN LATERAL (SELECT c.* FROM audit.config_change AS c
                              WHERE c.tenant = of_tenant AND c.table_name = t.name AND c.table_name <> 'subject_grant'
                              ORDER BY c.revision DESC LIMIT 1) AS last
    LOOP
        -- changed_at, as in broker.pending_change
        IF decided.is_one AND decided.transaction_id = pg_current_xact_id()::text::bigint
           AND decided.changed_at > transaction_timestamp() - interval '1 hour' THEN
            PERFORM internal.refuse_in(('broker.' || changed_table)::regclass, 'a_decision_ends_its_transaction',
                format('This transaction has decided an access request of tenant "%s" or signed off a break glass, so it cannot also change broker.%s: the decision may depend on the changed row.',
                       of_tenant, changed_table),
                'Run COMMIT, and then make the change in another transaction.', 'object_not_in_prerequisite_state');
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.refuse_change_after_decision(text, text) IS
    'Rejects a change of rows that decisions on requests depend on, if the current transaction has decided a request of the tenant, or signed off a break glass.';

CREATE OR REPLACE FUNCTION internal.record_row(changed_table text, tenant_column text, operation text, old_row jsonb, new_row jsonb, row_now jsonb,
                                               is_of_now boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    last record;
BEGIN
    IF operation = 'UPDATE' AND old_row ->> tenant_column IS DISTINCT FROM new_row ->> tenant_column THEN
        PERFORM internal.refuse(
            format('A row of broker.%s cannot be moved from %s to %s.', changed_table,
                   coalesce('"' || (old_row ->> tenant_column) || '"', 'all tenants'),
                   coalesce('"' || (new_row ->> tenant_column) || '"', 'all tenants')),
            'Insert a new row for the other tenant, and delete the old row.', 'restrict_violation');
    END IF;
    -- Our triggers disable the grant of a decision or review after its record; their statements are not at depth 1.
    IF pg_trigger_depth() = 1 AND changed_table = 'subject_grant' AND old_row ->> 'request_id' IS NOT NULL
          AND (old_row ->> 'enabled')::boolean AND (old_row ->> 'valid_until')::timestamptz > transaction_timestamp() AND NOT coalesce((new_row ->> 'enabled')::boolean, false)
       OR changed_table IN ('tenant', 'tenant_admin', 'identity_provider', 'access_provider', 'key', 'access_rule', 'access_approver', 'blocked_subject')
          AND (internal.without_bookkeeping(old_row) - '{description,reason,owner}'::text[])::text
              IS DISTINCT FROM (internal.without_bookkeeping(new_row) - '{description,reason,owner}'::text[])::text THEN
        PERFORM internal.refuse_change_after_decision(coalesce(old_row, new_row) ->> tenant_column, changed_table);
    END IF;
    -- Rows are compared by their text: as jsonb, 100 and 100.0 are equal, and the history and its readers keep them apart.
    -- A function that a statement calls, in RETURNING for example, may change a row that the statement has changed already. That
    -- is recorded first, since the statement's own changes are recorded at its end. So each change must begin where the record
    -- of the row ends. Rows that this transaction has not written are on record as they are, but for columns that a later
    -- migration added.
    IF operation <> 'INSERT' THEN
        SELECT * INTO last FROM internal.last_record(old_row ->> tenant_column, changed_table, old_row);
        IF (last.transaction_id = pg_current_xact_id()::text::bigint OR is_of_now) AND last.recorded::text IS DISTINCT FROM old_row::text THEN
            PERFORM internal.refuse_second_change(changed_table);
        END IF;
    END IF;
    -- Nor may a name be taken on record before the row that had it is gone on record. An id is given once.
    IF operation <> 'DELETE' AND new_row ->> 'id' IS NULL
       AND (operation = 'INSERT' OR internal.name_in(changed_table, old_row) <> internal.name_in(changed_table, new_row)) THEN
        SELECT * INTO last FROM internal.last_record(new_row ->> tenant_column, changed_table, new_row);
        IF last.transaction_id = pg_current_xact_id()::text::bigint AND last.recorded IS NOT NULL THEN
            PERFORM internal.refuse_second_change(changed_table);
        END IF;
    END IF;
    PERFORM internal.append_change(coalesce(new_row, old_row) ->> tenant_column, changed_table, operation, old_row, new_row);
    -- And it must end where the row is now.
    IF row_now::text IS DISTINCT FROM new_row::text THEN
        PERFORM internal.refuse_second_change(changed_table);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.record_row(text, text, text, jsonb, jsonb, jsonb, boolean) IS
    'Writes a change of a row to audit.config_change, which raises the revision of the tenant. row_now: the row in its table; is_of_now: whether this transaction wrote that row.';

CREATE OR REPLACE FUNCTION internal.record_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    changed constant record := coalesce(NEW, OLD);
    row_now jsonb;
BEGIN
    IF TG_OP = 'UPDATE' AND OLD *= NEW THEN
        RETURN NULL;
    END IF;
    -- Static statements by index, since a dynamic one, or a plan from when the table was small, doubles the time of a bulk edit.
    CASE TG_TABLE_NAME
        WHEN 'console_access' THEN
            SELECT to_jsonb(t) INTO row_now FROM broker.console_access AS t WHERE t.id = changed.id;
        WHEN 'grant_review' THEN
            SELECT to_jsonb(t) INTO row_now FROM broker.grant_review AS t WHERE t.id = changed.id;
        WHEN 'access_request' THEN
            SELECT to_jsonb(t) INTO row_now FROM broker.access_request AS t WHERE t.id = changed.id;
        WHEN 'tenant_admin' THEN
            SELECT to_jsonb(t) INTO row_now FROM broker.tenant_admin AS t WHERE t.tenant = changed.tenant AND t.role_name = changed.role_name;
        WHEN 'known_issuer' THEN
            SELECT to_jsonb(t) INTO row_now FROM broker.known_issuer AS t WHERE t.issuer_pattern = changed.issuer_pattern;
        WHEN 'provider_type' THEN
            SELECT to_jsonb(t) INTO row_now FROM broker.provider_type AS t WHERE t.type = changed.type;
    END CASE;
    PERFORM internal.record_row(TG_TABLE_NAME, TG_ARGV[0], TG_OP, to_jsonb(OLD), to_jsonb(NEW), row_now, OLD.updated_at >= transaction_timestamp());
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_change() IS
    'Trigger: writes a change to audit.config_change, which raises the revision of the tenant. Argument: the column that names the tenant, none for tables without.';

CREATE OR REPLACE FUNCTION internal.refuse_truncate() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.refuse(
        format('TRUNCATE broker.%s is not allowed, because the change history could not record the removed rows.', TG_TABLE_NAME),
        format('Use DELETE FROM broker.%s, which records each removed row.', TG_TABLE_NAME), 'insufficient_privilege');
END
$$;
COMMENT ON FUNCTION internal.refuse_truncate() IS 'Trigger: stops TRUNCATE of a table whose changes are recorded.';

CREATE OR REPLACE FUNCTION internal.warn_large_edit() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
DECLARE
    touched bigint;
    tenants bigint;
    of_all boolean;
BEGIN
    EXECUTE format('SELECT count(*), CASE WHEN min(%1$I) < max(%1$I) THEN count(DISTINCT %1$I) ELSE least(count(%1$I), 1) END, count(%1$I) < count(*) FROM removed', TG_ARGV[0])
       INTO touched, tenants, of_all;
    IF touched > 100 OR tenants + of_all::int > 1 THEN
        RAISE WARNING 'This % affected % rows of broker.%: %.', TG_OP, touched, TG_TABLE_NAME,
                      concat_ws(' and ', CASE tenants WHEN 0 THEN NULL WHEN 1 THEN 'rows of one tenant' ELSE format('rows of %s tenants', tenants) END, CASE WHEN of_all THEN 'rows for all tenants' END)
            USING HINT = 'TABLE broker.pending_change lists the changes. If this was a mistake, run ROLLBACK. After the commit, audit.config_change shows the rows as they were before.';
    END IF;
    -- What tools write again and again, as a MERGE, is not meant.
    IF TG_OP = 'UPDATE' AND touched BETWEEN 1 AND 100 AND pg_trigger_depth() = 1 AND current_query() ~* '^\s*UPDATE\s' THEN
        IF NOT EXISTS (SELECT to_jsonb(w)::text FROM written AS w EXCEPT SELECT to_jsonb(r)::text FROM removed AS r) THEN
            RAISE NOTICE 'This UPDATE changed nothing: each row already had these values.' USING HINT = 'An expression with a null, such as a null time plus an interval, stays null.';
        END IF;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.warn_large_edit() IS
    'Trigger: warns after a statement that updated or deleted over 100 rows, or rows of several tenants; says when an UPDATE changed nothing. Argument: the column that names the tenant.';

-- ---------------------------------------------------------------- what is not committed yet

CREATE OR REPLACE FUNCTION internal.name_in(table_name text, written jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN written ->> CASE table_name WHEN 'subject_grant' THEN 'id' WHEN 'blocked_subject' THEN 'id'
                                       WHEN 'console_access' THEN 'id' WHEN 'grant_review' THEN 'id'
                                       WHEN 'access_rule' THEN 'id' WHEN 'access_approver' THEN 'id' WHEN 'access_request' THEN 'id' WHEN 'access_decision' THEN 'id' WHEN 'ended_credential' THEN 'mint_id'
                                       WHEN 'tenant_admin' THEN 'role_name' WHEN 'role_member' THEN 'member' WHEN 'known_issuer' THEN 'issuer_pattern'
                                       WHEN 'shared_issuer' THEN 'issuer' WHEN 'provider_type' THEN 'type' ELSE 'name' END;
COMMENT ON FUNCTION internal.name_in(text, jsonb) IS
    'The identifier of a row within its tenant: its name, or its id, login, issuer or type.';

-- Centiseconds since 2026 are more than all ids that were given, unless a hundred were given each second; a million more is
-- for imports shortly before the loss. Both stay within a cell's range of 10^12.
CREATE OR REPLACE FUNCTION internal.skip_lost_ids() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    cell constant bigint := 1000000000000;
    elapsed constant bigint := extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 100;
    ids regclass;
    last bigint;
BEGIN
    FOR ids IN
        SELECT pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)::regclass FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
         WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r' AND a.attname = 'id' AND a.atttypid = 'bigint'::regtype
    LOOP
        last := coalesce(pg_sequence_last_value(ids), 0);
        PERFORM setval(ids, greatest(last + 1000000, last / cell * cell + elapsed));
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.skip_lost_ids() IS
    'Makes ids of new rows in schema broker larger than every id that was given before a restore, also those of lost rows.';

-- A renamed row counts as a deleted one and a new one, so that each change has one name.
-- changed_at: a database that was loaded from a dump counts its transactions anew, and the history kept their numbers. An
-- hour, for clocks that were set back meanwhile.
CREATE OR REPLACE VIEW broker.pending_change WITH (security_invoker = true) AS
SELECT net.tenant, net.table_name,
       CASE WHEN net.before IS NULL THEN 'INSERT' WHEN net.after IS NULL THEN 'DELETE' ELSE 'UPDATE' END AS operation,
       net.name, net.before, net.after
  FROM (SELECT c.tenant, c.table_name, step.name, min(c.revision) AS first_revision,
               (array_agg(step.before ORDER BY c.revision))[1] AS before,
               (array_agg(step.after ORDER BY c.revision DESC))[1] AS after
          FROM audit.config_change AS c
         CROSS JOIN LATERAL (VALUES (internal.name_in(c.table_name, c.before), internal.name_in(c.table_name, c.after)))
               AS named (before, after)
         CROSS JOIN LATERAL (
              SELECT named.after, c.before, c.after WHERE named.before = named.after
               UNION ALL
              SELECT named.before, c.before, NULL AS after WHERE named.before IS DISTINCT FROM named.after AND c.before IS NOT NULL
               UNION ALL
              SELECT named.after, NULL AS before, c.after WHERE named.before IS DISTINCT FROM named.after AND c.after IS NOT NULL)
               AS step (name, before, after)
         WHERE c.transaction_id = pg_current_xact_id_if_assigned()::text::bigint
           AND c.changed_at > transaction_timestamp() - interval '1 hour'
         GROUP BY c.tenant, c.table_name, step.name) AS net
 WHERE internal.without_bookkeeping(net.before) IS DISTINCT FROM internal.without_bookkeeping(net.after)
 ORDER BY net.tenant NULLS FIRST, net.first_revision;
COMMENT ON VIEW broker.pending_change IS
    'The net changes of the current transaction: one row per changed row, before the transaction and now. Rows whose changes were undone are not listed. Empty outside a transaction.';
COMMENT ON COLUMN broker.pending_change.tenant IS 'The tenant; null for tables without tenant.';
COMMENT ON COLUMN broker.pending_change.table_name IS 'The table in schema broker.';
COMMENT ON COLUMN broker.pending_change.operation IS
    'INSERT, UPDATE or DELETE. A renamed row has a DELETE and an INSERT.';
COMMENT ON COLUMN broker.pending_change.name IS
    'The row''s name, or the id of a grant or block, the login of a tenant admin, the issuer of a shared issuer.';
COMMENT ON COLUMN broker.pending_change.before IS 'The row before the transaction; null for an INSERT.';
COMMENT ON COLUMN broker.pending_change.after IS 'The row now; null for a DELETE.';
