-- Announcements of changes name tenants by their external id: any login may listen, and a tenant's admin has no business
-- with the names of the others.

CREATE OR REPLACE FUNCTION audit.record_change() RETURNS trigger
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
        RAISE EXCEPTION 'A row of broker.% stays with its tenant: it cannot move from "%" to "%".',
                        TG_TABLE_NAME, old_row ->> tenant_column, new_row ->> tenant_column
            USING ERRCODE = 'restrict_violation',
                  HINT = 'Insert it anew for the other tenant, and delete it here.';
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
        RAISE EXCEPTION 'Another session changed tenant "%" meanwhile.', owning_tenant
            USING ERRCODE = 'serialization_failure', HINT = 'Run the transaction again.';
    END IF;

    -- PostgreSQL sends equal notifications of a transaction once: a bulk edit reloads a tenant once. It sends them to
    -- every login that listens, so they don't say the name.
    PERFORM pg_notify('mintmark_catalog',
                      coalesce((SELECT t.external_id::text FROM broker.tenant AS t WHERE t.name = owning_tenant), ''));
    RETURN NULL;
END
$$;
