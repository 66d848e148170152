-- Tenants: broker.tenant.

-- ---------------------------------------------------------------- the row by itself

CREATE OR REPLACE FUNCTION internal.secret_in_url(url text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
    SELECT CASE
        WHEN url ~ '[?]' THEN 'has a query, which often contains a token'
        WHEN url ~* '^https://([^/]+[.])?(hooks[.]slack[.]com|slack[.]com/api|discord(app)?[.]com/api/webhooks|webhook[.]office(365)?[.]com|logic[.]azure[.]com|powerplatform[.]com|chat[.]googleapis[.]com|api[.]telegram[.]org|webexapis[.]com|hooks[.]zapier[.]com|maker[.]ifttt[.]com|hook([.][a-z0-9]+)?[.]make[.]com|events[.]pagerduty[.]com/integration|alert[.]victorops[.]com|hooks[.]chime[.]aws|oapi[.]dingtalk[.]com|open[.](feishu|larksuite)[.]com|qyapi[.]weixin[.]qq[.]com)'
            THEN 'is the URL of an incoming webhook, which is a secret'
        WHEN url ~* '^https://[^/]+/(.*/)?(hooks|webhooks?|incoming|integrations)/(.*/)?[A-Za-z0-9_-]{16,}(/|$)' THEN 'has the token of an incoming webhook in its path'
        WHEN url ~ '/[^/]*(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]*[A-Z])(?=[A-Za-z0-9_-]*[a-z])(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{24,}(?![A-Za-z0-9_-])'
          OR url ~* '/[0-9a-f]{32,}(/|$)' THEN 'has what looks like a token in its path'
        WHEN url ~* '/bot[0-9]+:' OR url ~ '(gh[opsru]_|glpat-|xox[abeoprs]-|sk-|eyJ)[A-Za-z0-9_-]{10}' THEN 'contains a token' END;
$$;
COMMENT ON FUNCTION internal.secret_in_url(text) IS
    'Which secret a URL seems to have (a query, an incoming webhook, a long random part), as the end of a sentence; null if none.';

-- ---------------------------------------------------------------- lint

CREATE OR REPLACE VIEW internal.lint_of_tenant (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT t.name, 'tenant', t.name, 'duration_too_short', internal.lint_advice('duration_too_short', t.max_duration::text) FROM broker.tenant AS t
 WHERE t.enabled AND t.max_duration < 60
 UNION ALL
SELECT t.name, 'tenant', t.name, 'few_requests', internal.lint_advice('few_requests', t.max_requests::text) FROM broker.tenant AS t WHERE t.enabled AND t.max_requests < 10
 UNION ALL
-- Whole days are meant as they are, if credentials of some type can live that long.
SELECT t.name, 'tenant', t.name, 'longer_than_any_type', internal.lint_advice('longer_than_any_type', concat_ws(chr(10), t.max_duration, round(t.max_duration / 86400.0, 1), s.longest))
  FROM broker.tenant AS t CROSS JOIN LATERAL (
       SELECT coalesce(max(y.max_duration) FILTER (WHERE EXISTS (SELECT FROM broker.access_provider AS a WHERE a.tenant = t.name AND a.enabled AND a.type = y.type)), max(y.max_duration)) AS longest,
              max(y.max_duration) AS of_all
         FROM broker.provider_type AS y) AS s
 WHERE t.enabled AND t.max_duration > 86400 AND (t.max_duration > s.of_all OR t.max_duration > s.longest AND t.max_duration % 86400 <> 0)
 UNION ALL
SELECT t.name, 'tenant', t.name, 'reviews_too_rare', internal.lint_advice('reviews_too_rare', concat_ws(chr(10), t.review_days, round(t.review_days / 365.0, 1)))
  FROM broker.tenant AS t WHERE t.enabled AND t.review_days > 732
 UNION ALL
SELECT t.name, 'tenant', t.name, 'notices_to_the_broker', internal.lint_advice('notices_to_the_broker', h.host)
  FROM broker.tenant AS t CROSS JOIN LATERAL substring(t.notice_url FROM '(?i)^https?://(localhost|127[.][0-9.]+|\[::1\])([:/]|$)') AS h (host) WHERE t.enabled AND h.host IS NOT NULL
 UNION ALL
SELECT t.name, 'tenant', t.name, 'shorter_than_its_types', internal.lint_advice('shorter_than_its_types', concat_ws(chr(10), t.max_duration, s.type, s.name, s.min_duration))
  FROM broker.tenant AS t CROSS JOIN LATERAL (
       SELECT y.type, a.name, y.min_duration FROM broker.access_provider AS a JOIN broker.provider_type AS y ON y.type = a.type
        WHERE a.tenant = t.name AND a.enabled AND y.min_duration > t.max_duration
          AND EXISTS (SELECT FROM broker.key AS k WHERE k.tenant = a.tenant AND k.provider = a.name AND k.enabled)
        ORDER BY a.name LIMIT 1) AS s
 WHERE t.enabled AND t.max_duration IS NOT NULL;
COMMENT ON VIEW internal.lint_of_tenant IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_tenant() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM internal.refuse(
            format('Tenant "%s" cannot be deleted: a new tenant with its name would inherit the trust that clouds have in this one.', OLD.name),
            format('To disable it instead: UPDATE broker.tenant SET enabled = false WHERE name = %L;', OLD.name), 'restrict_violation');
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{name,max_keys,max_grants,max_globs,max_calls,max_changes,require_owner,require_second_admin,review_days,enabled}');
    IF NEW.name <> OLD.name THEN
        PERFORM internal.refuse(
            format('Tenant "%s" cannot be renamed: clouds and the audit log know it by this name.', OLD.name),
            'Change its display_name, or create a new tenant and disable this one.', 'restrict_violation');
    ELSIF NEW.external_id <> OLD.external_id THEN
        PERFORM internal.refuse(
            format('The external_id of tenant "%s" cannot be changed: trust policies in AWS name it.', OLD.name),
            'Create a new tenant and disable this one.', 'restrict_violation');
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.require_second_admin AND NOT NEW.require_second_admin
       AND row_security_active(TG_RELID) AND NOT internal.login_is('a platform admin') THEN
        PERFORM internal.refuse_in(TG_RELID, 'only_platform_admins_end_the_second_admin',
            format('Tenant "%s" requires a second admin, and login "%s" cannot turn that off.', NEW.name, session_user),
            'Ask a platform admin. To put a key or grant in force, have another admin approve it: TABLE broker.pending_approval.',
            'insufficient_privilege', 'require_second_admin');
    END IF;
    IF NEW.name !~ '^[a-z][a-z0-9-]{0,39}$' THEN
        PERFORM internal.refuse(format('"%s" is not a valid tenant name.', NEW.name),
            'Use a lower-case letter, then up to 39 lower-case letters, digits and hyphens, for example "acme". Set display_name for a readable name.');
    ELSIF internal.line_fault(NEW.display_name, 1000) IS NOT NULL THEN
        PERFORM internal.refuse(format('Tenant "%s": its display_name %s.', NEW.name, internal.line_fault(NEW.display_name, 1000)),
                              'Write one line, or null.');
    ELSIF least(NEW.max_keys, NEW.max_grants, NEW.max_globs, NEW.max_changes) < 0 OR NEW.max_calls < 1 THEN
        PERFORM internal.refuse(format('Tenant "%s" has a limit below %s.', NEW.name, CASE WHEN NEW.max_calls < 1 THEN 'one call' ELSE 'zero' END),
                              'max_keys, max_grants, max_globs and max_changes must be 0 or more, max_calls 1 or more.');
    ELSIF NEW.max_duration < 1 THEN
        PERFORM internal.refuse(format('Tenant "%s": max_duration is %s seconds.', NEW.name, NEW.max_duration),
                              'Write a positive number, or null to leave it to the types of access providers.');
    ELSIF NOT internal.is_url(NEW.notice_url) OR length(NEW.notice_url) > 2048 THEN
        PERFORM internal.refuse(format('Tenant "%s" has the invalid notice_url "%s".', NEW.name, left(NEW.notice_url, 100)),
                              'Write a URL of the form https://host/path without user and fragment, of at most 2048 characters, or null for no notices.');
    ELSIF internal.secret_in_url(NEW.notice_url) IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'secret_in_text',
            format('Tenant "%s": its notice_url %s, and the change history would keep it permanently.', NEW.name, internal.secret_in_url(NEW.notice_url)),
            'Write a URL without a query or a token. The receiver verifies notices by their signature instead: write a new secret to a file in the tenant''s secrets directory, and {"file": "its-name"} into notice_secret. Chat services do not accept CloudEvents; for them, docs/tenants/notices.md has a relay that keeps the chat''s URL.',
            'check_violation', 'notice_url');
    ELSIF NEW.notice_secret IS NOT NULL AND internal.setting_fault('{"is": "secret"}', NEW.notice_secret) IS NOT NULL THEN
        PERFORM internal.refuse(format('Tenant "%s": its notice_secret %s.', NEW.name, internal.setting_fault('{"is": "secret"}', NEW.notice_secret)),
                              'Write the secret to a file in the tenant''s secrets directory, and {"file": "its-name"} into notice_secret.');
    ELSIF NEW.notice_url IS NOT NULL AND NEW.notice_secret IS NULL THEN
        PERFORM internal.refuse(format('Tenant "%s" has a notice_url but no notice_secret to sign notices with.', NEW.name),
                              'Write a secret to a file in the tenant''s secrets directory, and {"file": "its-name"} into notice_secret.');
    ELSIF NEW.review_days NOT BETWEEN 1 AND 3650 THEN
        PERFORM internal.refuse(format('Tenant "%s": review_days is %s.', NEW.name, NEW.review_days), 'Write 1 to 3650.');
    ELSIF TG_OP = 'INSERT' AND EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = NEW.name AND NOT t.enabled) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_tenant_name_is_taken_once', format('Tenant "%s" already exists and is disabled.', NEW.name),
            format('Choose another name, because clouds may still trust this one. To enable it again: UPDATE broker.tenant SET enabled = true WHERE name = %L;',
                   NEW.name), 'unique_violation');
    ELSIF NEW.max_requests < 1 THEN
        PERFORM internal.refuse(format('Tenant "%s": max_requests is %s.', NEW.name, NEW.max_requests),
                              'Write a positive number, or null for no limit. To stop a tenant, disable it.');
    END IF;
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_tenant() IS
    'Trigger: rejects an invalid tenant with a message. Tenants are neither deleted nor renamed, and keep their external_id; only platform admins end require_second_admin.';

CREATE OR REPLACE FUNCTION internal.record_tenant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD *= NEW THEN
        RETURN NULL;
    END IF;
    PERFORM internal.record_row(TG_TABLE_NAME, 'name', TG_OP, to_jsonb(OLD), to_jsonb(NEW),
                                (SELECT to_jsonb(t) FROM broker.tenant AS t WHERE t.name = coalesce(NEW.name, OLD.name)), OLD.updated_at >= transaction_timestamp());
    -- The rows that a tenant has when it begins to require a second admin stay in force. Without the owner's rights a tenant's admin
    -- could not mark them, and a policy could hide some. Disabled rows are not in force: who changed them stays their writer.
    IF TG_OP = 'UPDATE' AND NEW.require_second_admin AND NOT OLD.require_second_admin THEN
        UPDATE broker.key AS k SET approved_at = now() WHERE k.tenant = NEW.name AND k.approved_at IS NULL AND k.enabled;
        UPDATE broker.subject_grant AS g SET approved_at = now() WHERE g.tenant = NEW.name AND g.approved_at IS NULL AND g.enabled;
        UPDATE broker.access_rule AS r SET approved_at = now() WHERE r.tenant = NEW.name AND r.approved_at IS NULL AND r.enabled;
        UPDATE broker.access_approver AS a SET approved_at = now() WHERE a.tenant = NEW.name AND a.approved_at IS NULL;
    ELSIF TG_OP = 'UPDATE' AND OLD.require_second_admin AND NOT NEW.require_second_admin THEN
        PERFORM internal.keep_steps(r.id) FROM broker.access_rule AS r WHERE r.tenant = NEW.name;
        -- Approvers that come into force join the names that they have, for good.
        INSERT INTO work.joined_subject (tenant, role_name, issuer, subject)
        SELECT DISTINCT a.tenant, a.role_name, a.issuer, a.subject FROM broker.access_approver AS a
         WHERE a.tenant = NEW.name AND a.role_name IS NOT NULL AND a.subject IS NOT NULL
            ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_tenant() IS
    'Trigger: records a change of a tenant. If the tenant begins to require a second admin, its rows stay in force. If it stops requiring one, the steps of the approvers that come into force are added, and their names joined.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.tenant', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_tenant', 'always', 'BEFORE INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'check_tenant()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_tenant()'],
    ['lint_inserted', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''name'')'],
    ['lint_updated', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''name'')'],
    ['warn_large_update', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'warn_large_edit(''name'')'],
    ['warn_large_delete', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'warn_large_edit(''name'')']
]);
