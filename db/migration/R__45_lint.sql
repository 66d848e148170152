-- All findings of lint.

CREATE OR REPLACE VIEW broker.lint WITH (security_invoker = true) AS
SELECT f.tenant, f.table_name::text AS table_name, f.id::text AS name, f.rule, internal.lint_advice(f.rule, f.detail) AS advice FROM internal.lint_finding AS f
 UNION ALL
TABLE internal.lint_of_identity_provider
 UNION ALL
TABLE internal.lint_of_access_provider
 UNION ALL
TABLE internal.lint_of_key
 UNION ALL
-- Known by the key's last mints alone. No edit causes it, so the trigger of the key doesn't plan it with each edit.
SELECT k.tenant, 'key', k.name, 'shorter_than_asked', internal.lint_advice('shorter_than_asked', replace(last.detail, chr(10), ' '))
  FROM broker.key AS k CROSS JOIN audit.first_mint_id(now() - interval '7 days') AS since (mint_id) CROSS JOIN LATERAL (
       SELECT e.detail FROM (SELECT m.mint_id FROM audit.event AS m
                              WHERE m.key = k.name AND m.tenant = k.tenant AND m.step = 1 AND m.kind = 'requested' AND m.mint_id >= since.mint_id
                              ORDER BY m.mint_id DESC LIMIT 10) AS r
         JOIN audit.event AS e ON e.mint_id = r.mint_id AND e.step = 2 AND e.kind = 'issued' ORDER BY e.mint_id DESC LIMIT 1) AS last
 WHERE k.enabled AND last.detail IS NOT NULL
 UNION ALL
TABLE internal.lint_of_console_access
 UNION ALL
TABLE internal.lint_of_shared_issuer
 UNION ALL
TABLE internal.lint_of_tenant_admin
 UNION ALL
TABLE internal.lint_of_tenant
 UNION ALL
SELECT p.tenant, p.table_name, p.name, 'awaits_approval', internal.lint_advice(CASE p.table_name WHEN 'blocked_subject' THEN 'block_awaits_approval' ELSE 'awaits_approval' END, concat_ws(chr(10), p.changed_by, p.statement))
  FROM broker.pending_approval AS p
 UNION ALL
SELECT a.tenant, 'access_rule', a.id::text, r.rule, internal.lint_advice(r.rule, r.detail)
  FROM broker.access_rule AS a CROSS JOIN LATERAL internal.lint_access_rule(a.id) AS r WHERE a.enabled
 UNION ALL
SELECT a.tenant, 'access_approver', a.id::text, r.rule, internal.lint_advice(r.rule, r.detail)
  FROM broker.access_approver AS a JOIN broker.access_rule AS w ON w.id = a.rule CROSS JOIN LATERAL internal.lint_access_approver(a.id) AS r WHERE w.enabled;
COMMENT ON VIEW broker.lint IS 'Advice on enabled rows that are valid but probably mistaken. Query it WHERE tenant = ….';
COMMENT ON COLUMN broker.lint.tenant IS 'The tenant; null for a row that applies to all tenants.';
COMMENT ON COLUMN broker.lint.table_name IS 'The table in schema broker.';
COMMENT ON COLUMN broker.lint.name IS 'The row: its name, or its id.';
COMMENT ON COLUMN broker.lint.rule IS 'The name of the rule.';
COMMENT ON COLUMN broker.lint.advice IS 'The problem, and what to write instead.';

-- Of an earlier release.
DROP FUNCTION IF EXISTS internal.odd_character_in(text);
