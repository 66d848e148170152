-- Credentials that are to end early: broker.ended_credential.

-- ---------------------------------------------------------------- bounds

CREATE OR REPLACE FUNCTION internal.count_ended_credentials() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    crowded text;
BEGIN
    SELECT t.tenant INTO crowded FROM (SELECT DISTINCT w.tenant FROM written AS w) AS t
     WHERE (SELECT count(*) > 20000
              FROM (SELECT FROM broker.ended_credential AS e WHERE e.tenant = t.tenant AND e.expires_at > now() LIMIT 20001) AS living)
     LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_tenant_has_no_more_than_20000_ended_credentials',
            format('Tenant "%s" would have more than 20000 ended credentials that have not expired yet; 20000 is the maximum.', crowded),
            'To stop all certificates of an authority at once, remove the authority from the servers that trust it.', 'check_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_ended_credentials() IS
    'Trigger: rejects more ended credentials of a tenant than a revocation list can contain.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_ended_credential() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mint record;
BEGIN
    -- With the writer's rights: they end the credentials of mints that they may see.
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{mint_id,reason}');
    IF NEW.reason !~ '[^[:space:]]' THEN
        PERFORM internal.refuse(format('The row that ends mint %s has no reason.', NEW.mint_id), 'Write a reason, for example the incident.');
    ELSIF length(NEW.reason) > 1000 THEN
        PERFORM internal.refuse(format('The row that ends mint %s has a reason of %s characters; the maximum is 1000.',
                                       NEW.mint_id, length(NEW.reason)), 'Shorten it.');
    END IF;
    SELECT r.tenant, r.provider_type, coalesce(o.expires_at, r.expires_at) AS expires_at, o.kind, o.reason,
           y.ends_early, y.leaves_behind
      INTO mint
      FROM audit.event AS r
      LEFT JOIN audit.event AS o ON o.mint_id = r.mint_id AND o.step = 2
      JOIN broker.provider_type AS y ON y.type = r.provider_type
     WHERE r.mint_id = NEW.mint_id AND r.step = 1;
    IF NOT FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_mint_exists', format('There is no mint %s that you may see.', NEW.mint_id),
            'SELECT mint_id, subject, key, expires_at FROM audit.active_credential lists the credentials that can be ended.',
            'foreign_key_violation', 'mint_id');
    ELSIF NOT (mint.ends_early OR mint.leaves_behind) THEN
        PERFORM internal.refuse(format('The broker cannot end the credential of mint %s early: it is of type "%s".',
                                       NEW.mint_id, mint.provider_type),
            'Run mintmark block-subject, which prints how to end such credentials by hand.');
    ELSIF mint.kind = 'failed' AND NOT (mint.leaves_behind AND mint.reason IN ('provider_timeout', 'provider_unreachable')) THEN
        PERFORM internal.refuse(format('Mint %s failed (%s), so there is no credential to end.', NEW.mint_id, mint.reason),
            'SELECT mint_id, subject, key, expires_at FROM audit.active_credential lists the credentials that can be ended.');
    ELSIF NEW.tenant <> mint.tenant THEN
        PERFORM internal.refuse(format('Mint %s belongs to tenant "%s", not to tenant "%s".', NEW.mint_id, mint.tenant, NEW.tenant),
            'Omit tenant: the row gets the tenant of the mint.');
    ELSIF mint.expires_at <= now() THEN
        RAISE WARNING 'The credential of mint % expired at %: there is nothing left to end.', NEW.mint_id, mint.expires_at
            USING HINT = 'Compare the mint id with audit.active_credential.';
    END IF;
    NEW.tenant := mint.tenant;
    NEW.provider_type := mint.provider_type;
    NEW.expires_at := mint.expires_at;
    IF internal.may_hold_secret(NEW.reason) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'reason', NEW.reason, to_jsonb(NEW) - 'reason');
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{mint_id,reason,tenant,provider_type,expires_at}');
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_ended_credential() IS
    'Trigger: finds the mint of an ended credential, fills its columns from the log, and rejects a mint without such a credential.';

CREATE OR REPLACE FUNCTION internal.record_ended_credential() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    -- A replica ends the credential now, if the broker can.
    IF TG_OP = 'INSERT' THEN
        INSERT INTO work.early_end (mint_id, tenant, asked_by)
        SELECT NEW.mint_id, NEW.tenant, NEW.created_by
          FROM broker.provider_type AS t WHERE t.type = NEW.provider_type AND t.leaves_behind
            ON CONFLICT DO NOTHING;
    END IF;
    PERFORM internal.record_row(TG_TABLE_NAME, 'tenant', TG_OP, to_jsonb(OLD), to_jsonb(NEW),
                                (SELECT to_jsonb(e) FROM broker.ended_credential AS e WHERE e.mint_id = coalesce(NEW.mint_id, OLD.mint_id)), OLD.updated_at >= transaction_timestamp());
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_ended_credential() IS
    'Trigger: has a replica end the credential, and records the row.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.ended_credential', ARRAY[
    ['refuse_change', 'always', 'BEFORE UPDATE OR DELETE', 'FOR EACH STATEMENT', 'refuse_change()'],
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_ended_credential', 'always', 'BEFORE INSERT', 'FOR EACH ROW', 'check_ended_credential()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_ended_credential()'],
    -- not credentials that end with requested access (internal.end_credentials_of): the end of the access counts
    ['add_changes_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT WHEN (NOT internal.is_run_by_the_owner())', 'count_changes()'],
    ['add_changes_updated', 'always', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'count_changes()'],
    ['check_bounds_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_ended_credentials()']
]);
