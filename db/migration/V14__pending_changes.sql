-- What a transaction has changed so far, before it is committed: BEGIN; \i grants.sql; TABLE broker.pending_change; ROLLBACK;

CREATE INDEX changes_of_a_transaction ON audit.config_change (transaction_id);

CREATE FUNCTION internal.name_in(table_name text, written jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN written ->> CASE table_name WHEN 'subject_grant' THEN 'id' WHEN 'blocked_subject' THEN 'id'
                                       WHEN 'console_access' THEN 'id' WHEN 'tenant_admin' THEN 'role_name'
                                       WHEN 'shared_issuer' THEN 'issuer' WHEN 'provider_type' THEN 'type' ELSE 'name' END;
COMMENT ON FUNCTION internal.name_in(text, jsonb) IS
    'What tells a row of a table in schema broker from the others of its tenant: its name; where it has none, its number, login, issuer or type.';

CREATE FUNCTION internal.without_bookkeeping(written jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN written - '{created_at,created_by,updated_at,updated_by}'::text[];
COMMENT ON FUNCTION internal.without_bookkeeping(jsonb) IS 'A row without the columns that triggers keep.';

-- A row that gets another name is one that goes and one that comes, so that steps can be told by their name.
-- changed_at: a database that was loaded from a dump counts its transactions anew, and the history kept their numbers. An
-- hour, for clocks that were set back meanwhile.
CREATE VIEW broker.pending_change WITH (security_invoker = true) AS
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
              SELECT named.before, c.before, NULL WHERE named.before IS DISTINCT FROM named.after AND c.before IS NOT NULL
               UNION ALL
              SELECT named.after, NULL, c.after WHERE named.before IS DISTINCT FROM named.after AND c.after IS NOT NULL)
               AS step (name, before, after)
         WHERE c.transaction_id = pg_current_xact_id_if_assigned()::text::bigint
           AND c.changed_at > transaction_timestamp() - interval '1 hour'
         GROUP BY c.tenant, c.table_name, step.name) AS net
 WHERE internal.without_bookkeeping(net.before) IS DISTINCT FROM internal.without_bookkeeping(net.after)
 ORDER BY net.tenant NULLS FIRST, net.first_revision;
COMMENT ON VIEW broker.pending_change IS
    'What the current transaction has changed so far, as its net effect: each row once, as it was before the transaction and as it is now. Rows that are again as they were are not listed. Empty outside of a transaction.';
COMMENT ON COLUMN broker.pending_change.tenant IS 'The tenant; null for tables that belong to no tenant.';
COMMENT ON COLUMN broker.pending_change.table_name IS 'The table in schema broker.';
COMMENT ON COLUMN broker.pending_change.operation IS
    'What the commit does to the row: INSERT, UPDATE or DELETE. A row that gets another name: DELETE of the old one, INSERT of the new one.';
COMMENT ON COLUMN broker.pending_change.name IS
    'The row''s name, or what it has for one: the id of a grant, the login of a tenant admin, the issuer of a shared one.';
COMMENT ON COLUMN broker.pending_change.before IS 'The row before the transaction; null for an INSERT.';
COMMENT ON COLUMN broker.pending_change.after IS 'The row now; null for a DELETE.';

GRANT SELECT ON broker.pending_change TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}";
GRANT EXECUTE ON FUNCTION internal.name_in(text, jsonb), internal.without_bookkeeping(jsonb)
    TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}";

UPDATE runtime.schema_version SET version = greatest(version, 14);
