-- Which login administers which tenant: broker.tenant_admin.

-- ---------------------------------------------------------------- lint

CREATE OR REPLACE VIEW internal.lint_of_tenant_admin (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT t.tenant, 'tenant_admin', t.role_name, r.rule, internal.lint_advice(r.rule, r.detail)
  FROM broker.tenant_admin AS t LEFT JOIN pg_roles AS l ON l.rolname = t.role_name CROSS JOIN LATERAL (
       SELECT 'unknown_login', t.role_name WHERE l.oid IS NULL
       UNION ALL SELECT 'role_cannot_log_in' AS rule, t.role_name WHERE NOT l.rolcanlogin
       UNION ALL SELECT 'no_member_of_its_role' AS rule, concat_ws(chr(10), t.role_name, '${tenant_admin_role}')
        WHERE l.rolcanlogin AND NOT pg_has_role(l.oid, '${tenant_admin_role}', 'MEMBER')) AS r (rule, detail);
COMMENT ON VIEW internal.lint_of_tenant_admin IS 'The rows of broker.lint about broker.tenant_admin. Its trigger reads them here, because planning the whole of broker.lint would be slow.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_tenant_admin() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{tenant,role_name}');
    IF octet_length(NEW.role_name) NOT BETWEEN 1 AND 63 THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('role_name must be 1 to 63 bytes long, not %s.', octet_length(NEW.role_name)),
            'Use the exact role name: SELECT rolname FROM pg_roles.', 'check_violation', refused => to_jsonb(NEW));
    END IF;
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_tenant_admin() IS
    'Trigger: rejects an invalid login of a tenant admin with a message.';

-- With the writer's rights, so it reveals no rows that the writer may not see.
CREATE OR REPLACE FUNCTION internal.check_references_of_tenant_admin() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.check_tenant_exists(TG_RELID, to_jsonb(NEW));
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_references_of_tenant_admin() IS
    'Trigger: rejects unknown references of a row.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.tenant_admin', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_tenant_admin', 'always', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_tenant_admin()'],
    ['FK_check_references', 'origin', 'AFTER INSERT OR UPDATE OF tenant', 'FOR EACH ROW', 'check_references_of_tenant_admin()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_change(''tenant'')'],
    ['lint_inserted', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''role_name'')'],
    ['lint_updated', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''role_name'')'],
    ['lint_deleted', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'lint_written(''role_name'')'],
    ['warn_large_update', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'warn_large_edit(''tenant'')'],
    ['warn_large_delete', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'warn_large_edit(''tenant'')']
]);
