-- What viewers of the console see: broker.console_access.

-- ---------------------------------------------------------------- lint

CREATE OR REPLACE VIEW internal.lint_of_console_access (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT a.tenant, 'console_access', a.id::text, r.rule, internal.lint_advice(r.rule, r.detail) FROM broker.console_access AS a LEFT JOIN broker.known_issuer AS no_issuer ON false CROSS JOIN LATERAL (
       SELECT 'access_for_everybody', CASE
              WHEN a.claim IN ('iss', 'aud', 'azp', 'email_verified', 'typ', 'acr', 'auth_time', 'at_hash') THEN 'everyone who can log in'
              WHEN jsonb_path_exists(a.value, '$.** ? (@.type() == "string" && @ like_regex "^(default-roles-.*|offline_access|uma_authorization|Everyone|Domain Users)$")') THEN 'all users, who have this role or group by default'
              WHEN a.claim IN ('scope', 'scp') THEN 'everyone who can log in'
              WHEN jsonb_path_exists(a.value, '$.**.glob ? (@ like_regex "^[*]+$")') THEN 'everyone whose ID token has the claim'
              WHEN jsonb_path_exists(a.value, '$.**.glob ? (@ like_regex "^[*]+@(gmail|googlemail|outlook|hotmail|live|yahoo|icloud|proton|protonmail|gmx)[.]")')
                  THEN 'everyone with an account at a public mail service' END
       UNION ALL SELECT 'claim_of_the_users_choice' AS rule, a.claim WHERE ltrim(a.claim, '/') IN ('name', 'nickname', 'preferred_username', 'given_name', 'family_name')
       UNION ALL SELECT n.rule, n.detail FROM internal.lint_claims(jsonb_build_object(a.claim, a.value), no_issuer) AS n) AS r (rule, detail)
 WHERE a.enabled AND r.detail IS NOT NULL;
COMMENT ON VIEW internal.lint_of_console_access IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_console_access() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fault constant text := internal.line_fault(NEW.claim, 512);
    value_fault constant text := CASE WHEN NEW.claim IS NOT NULL THEN internal.claims_fault(jsonb_build_object(NEW.claim, NEW.value)) END;
    message text;
    hint text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.id := internal.new_id(TG_RELID, NEW.id);
    END IF;
    PERFORM internal.refuse_kept_id(TG_RELID, OLD.id, NEW.id);
    IF internal.may_hold_secret(NEW.reason) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'reason', NEW.reason, to_jsonb(NEW) - 'reason');
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{all_tenants,claim,value,enabled}');
    IF TG_OP = 'UPDATE' AND OLD.tenant IS DISTINCT FROM NEW.tenant THEN
        message := format('A row of broker.console_access cannot be moved from %s to %s.',
                          coalesce('tenant "' || OLD.tenant || '"', 'all tenants'),
                          coalesce('tenant "' || NEW.tenant || '"', 'all tenants'));
        hint := 'Insert a new row, and delete the old row.';
    ELSIF NEW.all_tenants AND NEW.tenant IS NOT NULL THEN
        message := format('A row of broker.console_access names both tenant "%s" and all tenants.', NEW.tenant);
        hint := 'Leave tenant null, or set all_tenants to false.';
    ELSIF NOT NEW.all_tenants AND NEW.tenant IS NULL THEN
        message := 'The row of broker.console_access has no tenant.';
        hint := 'Set tenant. For access to every tenant and to the page Proof, set all_tenants = true instead.';
    ELSIF fault IS NOT NULL THEN
        message := format('A row of broker.console_access has a claim that %s.', fault);
        hint := 'Write the name of a claim in the ID tokens, for example "groups".';
    ELSIF length(NEW.reason) > 1000 THEN
        message := format('The reason of the console access by claim "%s" has %s characters; the maximum is 1000.',
                          NEW.claim, length(NEW.reason));
        hint := 'Shorten it.';
    ELSIF value_fault IS NOT NULL THEN
        message := format('The value of the console access by claim "%s" is invalid: %s.', NEW.claim, value_fault);
        hint := 'Write a value such as ''"alice@example.com"'', ''["ops", "audit"]'' or ''{"glob": "team:*"}''.';
    END IF;
    IF message IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', message, hint, 'check_violation', refused => to_jsonb(NEW));
    END IF;
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_console_access() IS
    'Trigger: rejects an invalid row of console_access with a message.';

-- With the writer's rights, so it reveals no rows that the writer may not see.
CREATE OR REPLACE FUNCTION internal.check_references_of_console_access() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NEW.tenant IS NOT NULL THEN
        PERFORM internal.check_tenant_exists(TG_RELID, to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_references_of_console_access() IS
    'Trigger: rejects unknown references of a row.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.console_access', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_console_access', 'always', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_console_access()'],
    ['FK_check_references', 'origin', 'AFTER INSERT OR UPDATE OF tenant', 'FOR EACH ROW', 'check_references_of_console_access()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_change(''tenant'')'],
    ['lint_inserted', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['lint_updated', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['lint_deleted', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['warn_large_update', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'warn_large_edit(''tenant'')']
]);
