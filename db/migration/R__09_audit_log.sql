-- What keeps the audit log: its partitions, the list of open mints, and what may be written as a checkpoint.

-- ---------------------------------------------------------------- partitions

CREATE OR REPLACE FUNCTION audit.first_mint_id(at timestamptz) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
COMMENT ON FUNCTION audit.first_mint_id(timestamptz) IS
    'The smallest mint_id of a time: WHERE mint_id >= audit.first_mint_id(''2026-01-01'') reads only the partitions since then.';

CREATE OR REPLACE FUNCTION audit.create_partition(month date) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
AS $$
DECLARE
    first_day constant timestamptz := date_trunc('month', month::timestamptz);
    next_month constant timestamptz := first_day + interval '1 month';
    partition constant text := 'event_' || to_char(first_day, 'YYYY_MM');
BEGIN
    IF EXISTS (SELECT FROM pg_inherits AS i
                WHERE i.inhparent = 'log.event'::regclass AND i.inhrelid = to_regclass(format('log.%I', partition))) THEN
        RETURN false;
    END IF;
    -- Made apart and attached: CREATE TABLE … PARTITION OF would wait for every reader of audit.event
    -- and make every writer wait behind it. A partition that was detached by hand is attached again with its rows.
    IF to_regclass(format('log.%I', partition)) IS NULL THEN
        EXECUTE format('CREATE TABLE log.%I (LIKE log.event INCLUDING ALL EXCLUDING INDEXES)', partition);
        EXECUTE format('ALTER TABLE log.%I ADD CONSTRAINT %I PRIMARY KEY (mint_id, step)',
                       partition, partition || '_holds_each_step_of_a_mint_once');
        EXECUTE format('COMMENT ON TABLE log.%I IS %L', partition,
                       format('The events of %s (UTC). Read audit.event instead.', to_char(first_day, 'YYYY-MM')));
        CALL internal.make_append_only(format('log.%I', partition)::regclass);
    END IF;
    EXECUTE format('ALTER TABLE log.event ATTACH PARTITION log.%I FOR VALUES FROM (%L) TO (%L)',
                   partition, audit.first_mint_id(first_day), audit.first_mint_id(next_month));
    RETURN true;
END
$$;
COMMENT ON FUNCTION audit.create_partition(date) IS
    'Creates the partition of audit.event for the month of a day, append-only, or attaches a detached one. False if the partition exists.';

CREATE OR REPLACE FUNCTION audit.create_partitions(months_ahead int) RETURNS int
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
AS $$
DECLARE
    this_month constant timestamptz := date_trunc('month', clock_timestamp());
    ahead int;
    created int := 0;
BEGIN
    IF months_ahead IS NULL OR months_ahead NOT BETWEEN 0 AND 24 THEN
        PERFORM internal.refuse(format('Partitions can be created for 0 to 24 months ahead, not for %s.', coalesce(months_ahead::text, 'null')),
                                'Write a number from 0 to 24. The service uses 3.', 'invalid_parameter_value');
    END IF;
    -- Replicas call this at the same time; the second finds the partitions there.
    PERFORM FROM work.mutex AS m WHERE m.name = 'partitions of audit.event' FOR UPDATE;
    FOR ahead IN 0 .. months_ahead LOOP
        created := created + audit.create_partition((this_month + ahead * interval '1 month')::date)::int;
    END LOOP;
    RETURN created;
END
$$;
COMMENT ON FUNCTION audit.create_partitions(int) IS
    'Creates the missing partitions of audit.event for this month (UTC) and the given number of months after it; returns how many it created. The broker calls it.';

SELECT audit.create_partitions(3);

-- ---------------------------------------------------------------- mints without outcome

-- Once for each statement, which is many rows. As the owner, so that the service can only read the list, and
-- always along the index: the table is small, but no plan made while it was empty may read all that died in it.
CREATE OR REPLACE FUNCTION internal.keep_open_mints() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
AS $$
BEGIN
    INSERT INTO log.open_mint (mint_id, tenant)
    SELECT written.mint_id, written.tenant FROM written WHERE written.step = 1
        ON CONFLICT DO NOTHING;
    DELETE FROM log.open_mint AS done
     USING written
     WHERE written.step = 2 AND done.mint_id = written.mint_id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.keep_open_mints() IS
    'Adds requested mints to audit.open_mint, and removes them when their outcome is recorded.';

-- ---------------------------------------------------------------- checkpoints

-- A checkpoint is the next one, and a signature. Who takes the service over can stop the sealing, but not for good.
CREATE OR REPLACE FUNCTION internal.check_checkpoint() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    next constant bigint := coalesce((SELECT max(c.number) FROM log.checkpoint AS c), 0) + 1;
BEGIN
    IF NEW.number IS DISTINCT FROM next THEN
        PERFORM internal.refuse_in(TG_RELID, 'checkpoints_are_numbered_without_gaps',
            format('Checkpoint %s is out of order.', coalesce(NEW.number::text, 'null')), format('The next checkpoint must have number %s.', next), 'check_violation');
    END IF;
    IF NEW.jws !~ '^[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]+$' THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_checkpoint_is_a_signature',
            format('Checkpoint %s has no signature in compact form (RFC 7515 section 7.1).', NEW.number),
            'Only a broker with the audit log''s signing key can write a checkpoint.', 'check_violation');
    END IF;
    NEW.inserted_by := session_user;
    NEW.inserted_at := clock_timestamp();
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_checkpoint() IS
    'Trigger: rejects checkpoints out of order or without a well-formed signature, and records the login.';

-- Whoever inserts has the lock on sealing until the transaction ends, so an export that read a number finds no lower one later.
CREATE OR REPLACE FUNCTION internal.check_cosignature() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM work.sealing FOR UPDATE;
    NEW.number := coalesce((SELECT max(c.number) FROM log.cosignature AS c), 0) + 1;
    NEW.received_at := clock_timestamp();
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_cosignature() IS
    'Trigger: numbers cosignatures in the order in which they are committed, and records the time.';

-- The payload names what it seals as {"events": [{"chain", "seq"}], "changes": [{"tenant", "revision"}]}.
CREATE OR REPLACE FUNCTION internal.sealed_by_last_checkpoint() RETURNS TABLE (kind text, chain text, "position" bigint)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    part constant text := (SELECT split_part(c.jws, '.', 2) FROM log.checkpoint AS c ORDER BY c.number DESC LIMIT 1);
    payload jsonb;
BEGIN
    -- base64url to base64, with the padding that RFC 7515 leaves out
    payload := convert_from(decode(rpad(translate(part, '-_', '+/'), (length(part) + 3) / 4 * 4, '='), 'base64'), 'UTF8');
    RETURN QUERY
    SELECT 'event', head ->> 'chain', (head ->> 'seq')::bigint
      FROM jsonb_array_elements(payload -> 'events') AS head
    UNION ALL
    SELECT 'change', coalesce(head ->> 'tenant', ''), (head ->> 'revision')::bigint
      FROM jsonb_array_elements(payload -> 'changes') AS head;
EXCEPTION WHEN data_exception THEN
    -- a checkpoint that no broker made seals nothing
    RETURN;
END
$$;
COMMENT ON FUNCTION internal.sealed_by_last_checkpoint() IS
    'The ends of chains that the last checkpoint names. `mintmark audit verify` checks its signature.';

-- Once for each statement: a broker notes all heads of a checkpoint with one.
CREATE OR REPLACE FUNCTION internal.check_sealed_chain() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moved record;
BEGIN
    SELECT m.kind, m.chain, m."position" INTO moved
      FROM marked AS m
     WHERE NOT EXISTS (SELECT FROM internal.sealed_by_last_checkpoint() AS s
                        WHERE s.kind = m.kind AND s.chain = m.chain AND s."position" = m."position")
     LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_chain_is_sealed_as_far_as_the_last_checkpoint_says',
            format('The last checkpoint doesn''t seal the %s chain ''%s'' up to row %s.', moved.kind, moved.chain, moved."position"),
            'Rows of this table may only record what the last checkpoint seals. The broker writes both in one transaction.', 'check_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_sealed_chain() IS
    'Trigger: rejects rows of runtime.sealed_chain that differ from the last checkpoint.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

-- The log last: mints wait for this file no longer than for their own table.
CALL internal.set_triggers('work.sealed_chain', ARRAY[
    ['begins_as_a_checkpoint_says', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS marked FOR EACH STATEMENT', 'check_sealed_chain()'],
    ['moves_as_a_checkpoint_says', 'always', 'AFTER UPDATE', 'REFERENCING NEW TABLE AS marked FOR EACH STATEMENT', 'check_sealed_chain()']
]);

CALL internal.set_triggers('log.checkpoint', ARRAY[
    ['is_append_only', 'always', 'BEFORE UPDATE OR DELETE OR TRUNCATE', 'FOR EACH STATEMENT', 'refuse_change()'],
    ['comes_next', 'always', 'BEFORE INSERT', 'FOR EACH ROW', 'check_checkpoint()']
]);

CALL internal.set_triggers('log.cosignature', ARRAY[
    ['is_append_only', 'always', 'BEFORE UPDATE OR DELETE OR TRUNCATE', 'FOR EACH STATEMENT', 'refuse_change()'],
    ['comes_next', 'always', 'BEFORE INSERT', 'FOR EACH ROW', 'check_cosignature()']
]);

CALL internal.set_triggers('log.verification', ARRAY[
    ['is_not_changed', 'always', 'BEFORE UPDATE OR TRUNCATE', 'FOR EACH STATEMENT', 'refuse_change()'],
    ['is_kept_for_400_days', 'always', 'BEFORE DELETE', 'FOR EACH ROW WHEN (OLD.recorded_at > clock_timestamp() - interval ''400 days'')', 'refuse_change()']
]);

CALL internal.set_triggers('log.config_change', ARRAY[
    ['is_append_only', 'always', 'BEFORE UPDATE OR DELETE OR TRUNCATE', 'FOR EACH STATEMENT', 'refuse_change()'],
    ['is_of_a_tenant_that_is_here', 'always', 'BEFORE INSERT', 'FOR EACH ROW WHEN (NEW.tenant IS NOT NULL)', 'refuse_change_after_move()'],
    ['keeps_names', 'always', 'AFTER INSERT', 'FOR EACH ROW WHEN (NEW.table_name IN (''identity_provider'', ''access_approver''))', 'keep_names()']
]);

CALL internal.set_triggers('log.event', ARRAY[
    ['is_append_only', 'always', 'BEFORE UPDATE OR DELETE OR TRUNCATE', 'FOR EACH STATEMENT', 'refuse_change()'],
    ['keeps_open_mints', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'keep_open_mints()']
]);

-- The broker's URL is a setting of its process. The notes of checkpoints begin with it: <issuer without scheme>/audit/<number>.
CREATE OR REPLACE FUNCTION internal.is_the_broker(issuer text) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    own constant text := (SELECT regexp_replace(split_part(c.note, chr(10), 1), '/audit/[0-9]+$', '')
                            FROM log.checkpoint AS c ORDER BY c.number DESC LIMIT 1);
    other constant text := rtrim(regexp_replace(issuer, '^https?://', ''), '/');
BEGIN
    RETURN coalesce(other = own OR starts_with(other, own || '/tenants/'), false);
END
$$;
COMMENT ON FUNCTION internal.is_the_broker(text) IS
    'Whether an issuer is the broker that signed the last checkpoint, or one of its tenants. False without a note of that checkpoint.';
