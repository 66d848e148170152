-- Who decides requests: broker.access_approver.

-- ---------------------------------------------------------------- bounds

CREATE OR REPLACE FUNCTION internal.count_access_approvers() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    crowded bigint;
BEGIN
    SELECT w.rule INTO crowded FROM (SELECT DISTINCT w.tenant, w.rule FROM written AS w) AS w
     WHERE (SELECT count(*) > 100 FROM (SELECT FROM broker.access_approver AS a WHERE a.rule = w.rule LIMIT 101) AS a) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_has_no_more_than_100_approvers',
            format('Access rule %s would have more than 100 approvers, the maximum.', crowded),
            'Let one row match several people: a group in claims.', 'check_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_access_approvers() IS 'Trigger: rejects more than 100 approvers of a rule.';

-- ---------------------------------------------------------------- lint

CREATE OR REPLACE FUNCTION internal.lint_access_approver(of_approver bigint) RETURNS TABLE (rule text, detail text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    checked broker.access_approver;
    of_rule broker.access_rule;
BEGIN
    SELECT a.* INTO checked FROM broker.access_approver AS a WHERE a.id = of_approver;
    SELECT r.* INTO of_rule FROM broker.access_rule AS r WHERE r.id = checked.rule;
    RETURN QUERY
    SELECT n.rule, n.detail FROM internal.lint_parties('access_approver', ARRAY[internal.as_grant(to_jsonb(checked))]) AS n WHERE checked.subject IS NOT NULL
    UNION ALL SELECT n.rule, concat_ws(chr(10), 'role_name', n.detail) FROM internal.lint_text(checked.role_name) AS n
    UNION ALL SELECT f.rule, f.detail FROM (VALUES
        ('login_cannot_decide', CASE WHEN checked.role_name IS NOT NULL THEN internal.login_fault(checked.role_name, checked.tenant)
                                          || coalesce(' (did you mean "' || internal.nearest(checked.role_name, ARRAY(SELECT t.role_name FROM broker.tenant_admin AS t
                                                            WHERE t.tenant = checked.tenant)) || '"?)', '') END),
        ('approver_is_the_requester', CASE WHEN NOT of_rule.break_glass AND of_rule.match = 'exact' AND checked.match = 'exact'
                                                AND (of_rule.idp, of_rule.subject) = (checked.idp, checked.subject) THEN checked.subject END)) AS f (rule, detail)
     WHERE f.detail IS NOT NULL;
END
$$;
COMMENT ON FUNCTION internal.lint_access_approver(bigint) IS 'Findings in an approver by itself.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_access_approver() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('An approver of access rule %s', NEW.rule);
    fault text;
BEGIN
    NEW := internal.approved(NEW, OLD);
    -- With the writer's rights: they name approvers of rules that they may see.
    IF NEW.rule IS NULL THEN
        PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{rule}');
    ELSIF TG_OP = 'UPDATE' AND NEW.rule <> OLD.rule THEN
        PERFORM internal.refuse(format('An approver cannot be moved from access rule %s to %s.', OLD.rule, NEW.rule),
                                'Insert a row for the other rule, and delete this one.', 'restrict_violation');
    END IF;
    SELECT r.tenant INTO NEW.tenant FROM broker.access_rule AS r WHERE r.id = NEW.rule;
    IF NOT FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_rule_exists_in_the_same_tenant', format('There is no access rule %s that you may see.', NEW.rule),
            'SELECT id, tenant, key, subject FROM broker.access_rule lists the rules.', 'foreign_key_violation', 'rule');
    ELSIF (SELECT r.consent FROM broker.access_rule AS r WHERE r.id = NEW.rule) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_of_consent_has_no_approvers', format('Access rule %s is of consent: its subject alone decides.', NEW.rule),
            'Write another rule for requests that other people decide.', 'check_violation', 'rule');
    ELSIF NEW.step NOT BETWEEN 1 AND 5 THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_step_is_1_to_5', format('%s is in step %s.', owner, NEW.step), 'Write 1 to 5.', 'check_violation', 'step');
    ELSIF NEW.role_name IS NULL AND NEW.subject IS NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'an_approver_is_a_login_or_a_subject', format('%s has neither a role_name nor a subject.', owner),
            'Set role_name to a login, or idp and subject to people who decide with a token. Both together say that they are one person.',
            'check_violation');
    ELSIF (NEW.subject IS NULL) <> (NEW.idp IS NULL) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_subject_is_named_with_its_identity_provider',
            format('%s has %s.', owner, CASE WHEN NEW.idp IS NULL THEN 'a subject, but no idp' ELSE 'an idp, but no subject' END),
            'Set both, for example "acme-sso" and "alice".', 'check_violation');
    ELSIF NEW.role_name IS NOT NULL AND (NEW.match <> 'exact' OR NEW.claims <> '{}') THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_login_is_mapped_to_an_exact_subject_without_claims',
            format('%s has login "%s" together with a %s.', owner, NEW.role_name, CASE WHEN NEW.claims <> '{}' THEN 'condition on claims' ELSE 'glob' END),
            'A login is one person. Name its exact subject, and write other people in other rows.', 'check_violation');
    END IF;
    fault := CASE WHEN NEW.subject IS NOT NULL THEN internal.requester_fault(NEW.subject, NEW.match, NEW.claims) END;
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('%s %s.', owner, fault),
            'idp, subject, match and claims are written as in broker.subject_grant.', 'check_violation', refused => to_jsonb(NEW));
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{rule,match,claims,step,program,tenant}');
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_access_approver() IS
    'Trigger: fills the tenant of an approver from its rule, rejects an invalid one with a message, keeps its approval, and signs it.';

-- With the writer's rights, so it reveals no rows that the writer may not see.
CREATE OR REPLACE FUNCTION internal.check_references_of_access_approver() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NEW.idp IS NOT NULL THEN
        PERFORM internal.check_identity_provider_exists(TG_RELID, to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_references_of_access_approver() IS
    'Trigger: rejects unknown references of a row, and references to one that goes.';

CREATE OR REPLACE FUNCTION internal.record_access_approver() RETURNS trigger
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
    PERFORM internal.record_row(TG_TABLE_NAME, 'tenant', TG_OP, to_jsonb(OLD), to_jsonb(NEW),
                                (SELECT to_jsonb(a) FROM broker.access_approver AS a WHERE a.id = coalesce(NEW.id, OLD.id)), OLD.updated_at >= transaction_timestamp());
    IF TG_OP = 'INSERT' OR NOT EXISTS (SELECT FROM broker.access_rule AS r JOIN broker.tenant AS t ON t.name = r.tenant
                                        WHERE r.id = OLD.rule AND r.enabled AND t.require_second_admin) THEN
        RETURN NULL;
    END IF;
    -- Without its last approver a step is gone, and the rule needs fewer approvals. A rule that has no other step than the
    -- first needs as many once it has approvers again.
    IF (TG_OP = 'DELETE' OR OLD.step <> NEW.step)
       AND (OLD.step > 1 OR EXISTS (SELECT FROM broker.access_approver AS a WHERE a.rule = OLD.rule))
       AND NOT EXISTS (SELECT FROM broker.access_approver AS a WHERE a.rule = OLD.rule AND a.step = OLD.step) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_step_goes_only_from_a_disabled_rule',
            format('Step %s of access rule %s would have no approver, so requests would need fewer approvals.', OLD.step, OLD.rule),
            format('Name another approver of the step, or first: UPDATE broker.access_rule SET enabled = false WHERE id = %s; Enabling it again needs a second admin.', OLD.rule),
            'restrict_violation', 'step');
    END IF;
    IF OLD.program
       AND (TG_OP = 'DELETE' OR (OLD.role_name, OLD.idp, OLD.subject, OLD.match, OLD.claims, OLD.program)
                                IS DISTINCT FROM (NEW.role_name, NEW.idp, NEW.subject, NEW.match, NEW.claims, NEW.program))
       AND EXISTS (SELECT FROM broker.access_approver AS a
                    WHERE a.rule = OLD.rule AND a.id <> OLD.id AND NOT a.program
                      AND (a.role_name = OLD.role_name
                           OR a.idp = OLD.idp AND internal.may_be_one(internal.as_grant(to_jsonb(a)), internal.as_grant(to_jsonb(OLD))))) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_program_becomes_no_person',
            format('"%s" decides requests by access rule %s as a program, and would decide them as a person by another row.',
                   coalesce(OLD.subject, OLD.role_name), OLD.rule),
            format('Delete the other row first, or: UPDATE broker.access_rule SET enabled = false WHERE id = %s; Enabling it again needs a second admin.', OLD.rule),
            'restrict_violation', 'program');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_access_approver() IS
    'Trigger: records a change of an approver. Where a second admin is required, rejects for an enabled rule the removal of the last approver of a step, and of a program that would be a person by another row.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.access_approver', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_access_approver', 'always', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_access_approver()'],
    ['FK_check_references', 'origin', 'AFTER INSERT OR UPDATE OF idp', 'FOR EACH ROW', 'check_references_of_access_approver()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_access_approver()'],
    ['add_changes_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_updated', 'always', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'count_changes()'],
    ['check_bounds_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_access_approvers()'],
    ['lint_inserted', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['lint_updated', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['lint_deleted', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'lint_written(''id'')']
]);
