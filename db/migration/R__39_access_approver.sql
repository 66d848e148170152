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
            format('Access rule %s would have more than 100 approvers; 100 is the maximum.', crowded),
            'Let one row match several people, for example by a group in claims.', 'check_violation');
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
        ('max_access_has_no_effect', CASE WHEN checked.max_access >= of_rule.max_access THEN concat_ws(chr(10), of_rule.id, of_rule.max_access) END),
        ('program_never_decides', CASE WHEN checked.max_access < internal.least_access_to(of_rule.tenant, of_rule.key)
                                       THEN concat_ws(chr(10), of_rule.key, internal.least_access_to(of_rule.tenant, of_rule.key)) END),
        ('login_without_subject', CASE WHEN checked.role_name IS NOT NULL AND (SELECT t.require_second_admin FROM broker.tenant AS t WHERE t.name = checked.tenant)
                                            AND NOT EXISTS (SELECT FROM internal.names_of_person(checked.tenant, checked.role_name, NULL, NULL) AS n
                                                             WHERE n.subject_name IS NOT NULL) THEN checked.role_name END),
        ('login_cannot_decide', CASE WHEN checked.role_name IS NOT NULL THEN internal.login_fault(checked.role_name, checked.tenant)
                                          || coalesce(' (did you mean "' || internal.nearest(checked.role_name, ARRAY(SELECT t.role_name FROM broker.tenant_admin AS t
                                                            WHERE t.tenant = checked.tenant)) || '"?)', '') END),
        ('approver_is_a_job', CASE WHEN NOT checked.program AND checked.role_name IS NULL THEN internal.issuer_of_jobs(checked.idp, checked.subject) END),
        ('everyone_approves', CASE WHEN NOT (checked.program OR of_rule.break_glass) AND checked.match = 'glob' AND checked.claims = '{}' AND checked.idp = of_rule.idp
                                        AND internal.glob_covers(checked.subject, of_rule.match, of_rule.subject)
                                        AND NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.name = checked.idp AND p.required_claims <> '{}') THEN of_rule.id::text END),
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
    of_rule text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.id := internal.new_id(TG_RELID, NEW.id);
    END IF;
    PERFORM internal.refuse_kept_id(TG_RELID, OLD.id, NEW.id);
    IF NEW.issuer IS DISTINCT FROM OLD.issuer THEN
        PERFORM internal.refuse_kept_column('issuer', 'Leave out issuer, which is that of the identity provider in idp.');
    END IF;
    NEW := internal.approved(NEW, OLD);
    -- With the writer's rights: they name approvers of rules that they may see.
    IF NEW.rule IS NULL THEN
        PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{rule}');
    ELSIF TG_OP = 'UPDATE' AND NEW.rule <> OLD.rule THEN
        PERFORM internal.refuse(format('An approver cannot be moved from access rule %s to %s.', OLD.rule, NEW.rule),
                                'Insert a row for the other rule, and delete the old row.', 'restrict_violation');
    END IF;
    -- Locked, since its steps may change: a row before its tenant, as everywhere.
    IF TG_OP = 'UPDATE' AND OLD.role_name IS NOT NULL AND OLD.subject IS NOT NULL
       AND (OLD.role_name, OLD.idp, OLD.subject) IS DISTINCT FROM (NEW.role_name, NEW.idp, NEW.subject) THEN
        PERFORM internal.refuse_in(TG_RELID, 'who_is_one_person_stays_so',
            format('The row of approver %s says that login "%s" and subject "%s" are one person, which an UPDATE can''t change.', OLD.id, OLD.role_name, OLD.subject),
            'Insert a row for the other person, and delete the old row.', 'restrict_violation');
    END IF;
    SELECT r.tenant INTO of_rule FROM broker.access_rule AS r WHERE r.id = NEW.rule FOR NO KEY UPDATE;
    NEW.tenant := internal.tenant_of(TG_RELID, NEW.tenant, of_rule, 'rule');
    IF NOT FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_rule_exists_in_the_same_tenant', format('There is no access rule %s that you may see.', NEW.rule),
            'To list the rules: SELECT id, tenant, key, subject FROM broker.access_rule;', 'foreign_key_violation', 'rule');
    ELSIF (SELECT r.consent FROM broker.access_rule AS r WHERE r.id = NEW.rule) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_of_consent_has_no_approvers', format('Access rule %s is a rule of consent, so the subject of a request alone decides it.', NEW.rule),
            'Write another rule for requests that other people decide.', 'check_violation', 'rule');
    ELSIF NEW.step NOT BETWEEN 1 AND 5 THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_step_is_1_to_5', format('%s: step is %s.', owner, NEW.step), 'Write 1 to 5.', 'check_violation', 'step');
    ELSIF NEW.max_access IS NOT NULL AND NOT NEW.program THEN
        PERFORM internal.refuse_in(TG_RELID, 'only_a_program_has_a_max_access', format('%s has a max_access, but is not a program.', owner),
            'Set program to true too, or omit max_access: people decide any access that the rule allows.', 'check_violation', 'max_access');
    ELSIF NEW.max_access NOT BETWEEN 300 AND 2592000 THEN
        PERFORM internal.refuse_in(TG_RELID, 'max_access_is_300_to_2592000_seconds', format('%s has a max_access of %s seconds.', owner, NEW.max_access),
            'Write 300 (5 minutes) to 2592000 (30 days), or null.', 'check_violation', 'max_access');
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
            'A login is one person. Write the exact subject of this person, and name other people in other rows.', 'check_violation');
    END IF;
    fault := CASE WHEN NEW.subject IS NOT NULL THEN internal.requester_fault(NEW.subject, NEW.match, NEW.claims) END;
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('%s %s.', owner, fault),
            'Write subject, match and claims as in broker.subject_grant.', 'check_violation', refused => to_jsonb(NEW));
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{rule,match,claims,step,program,tenant}');
    NEW.issuer := CASE WHEN NEW.idp = OLD.idp THEN OLD.issuer
                       ELSE (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.idp) END;
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
    'Trigger: rejects unknown references of a row.';

-- A row that awaits approval adds no step to a rule that is in force, as it adds nothing else. While the rule awaits approval,
-- it does: the rule is approved with all steps that are written, and none is left out because nobody may decide in it yet.
CREATE OR REPLACE FUNCTION internal.keep_steps(of_rule bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE broker.access_rule AS r SET steps = n.steps
      FROM broker.access_rule AS kept
     CROSS JOIN LATERAL (SELECT coalesce(array_agg(DISTINCT a.step ORDER BY a.step), '{1}') AS steps FROM broker.access_approver AS a
                          WHERE a.rule = kept.id
                            AND (a.step = ANY (kept.steps) OR internal.is_in_force(a.tenant, a.approved_at)
                                 OR NOT internal.is_in_force(kept.tenant, kept.approved_at))) AS n
     WHERE kept.id = of_rule AND r.id = kept.id AND r.steps <> n.steps;
END
$$;
COMMENT ON FUNCTION internal.keep_steps(bigint) IS 'Writes into a rule the steps of its approvers.';

-- Directly, or because rows of any rule join a name of the one with a name of the other.
CREATE OR REPLACE FUNCTION internal.may_name_the_same(one broker.access_approver, other broker.access_approver) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN one.role_name = other.role_name
        OR one.issuer = ANY (internal.issuers_like(other.tenant, other.issuer))
           AND internal.may_be_one(internal.as_grant(to_jsonb(one)), internal.as_grant(to_jsonb(other)))
        OR EXISTS (SELECT FROM internal.one_person AS o
                    WHERE o.tenant = one.tenant
                      AND (o.role_name = one.role_name OR internal.names_subject(one, NULL, internal.issuers_like(o.tenant, o.issuer), o.subject))
                      AND EXISTS (SELECT FROM internal.names_of_person(o.tenant, o.role_name, NULL, NULL) AS n
                                   WHERE n.login_name = other.role_name OR internal.names_subject(other, NULL, ARRAY[n.of_issuer], n.subject_name)));
END
$$;
COMMENT ON FUNCTION internal.may_name_the_same(broker.access_approver, broker.access_approver) IS
    'Whether two rows of broker.access_approver could name the same person.';

CREATE OR REPLACE FUNCTION internal.approvers_on_record(of_tenant text, of_rule bigint) RETURNS SETOF jsonb
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT last.row
      FROM (SELECT DISTINCT ON (coalesce(c.after, c.before) ->> 'id') c.after AS row FROM audit.config_change AS c
             WHERE c.tenant = of_tenant AND c.table_name = 'access_approver' AND c.table_name <> 'subject_grant'
               AND coalesce(c.after, c.before) ->> 'rule' = of_rule::text
             ORDER BY coalesce(c.after, c.before) ->> 'id', c.revision DESC) AS last
     WHERE last.row IS NOT NULL;
$$;
COMMENT ON FUNCTION internal.approvers_on_record(text, bigint) IS 'The approvers of a rule as they were last recorded. The current statement may have changed them since.';

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
    -- The record waits for other edits of the tenant.
    IF NEW.idp IS DISTINCT FROM OLD.idp
       AND NEW.issuer IS DISTINCT FROM (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.idp) THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('The issuer of identity provider "%s" changed while the statement waited.', NEW.idp),
            'Run the statement again.', 'serialization_failure', 'issuer');
    END IF;
    PERFORM internal.keep_steps(coalesce(NEW.rule, OLD.rule));
    -- Another row could make a person of this program. The same statement may have changed that row, so its recorded state counts too.
    IF OLD.program
       AND (TG_OP = 'DELETE' OR (OLD.role_name, OLD.issuer, OLD.subject, OLD.match, OLD.claims, OLD.program)
                                IS DISTINCT FROM (NEW.role_name, NEW.issuer, NEW.subject, NEW.match, NEW.claims, NEW.program))
       AND EXISTS (SELECT FROM (SELECT to_jsonb(a) FROM broker.access_approver AS a WHERE a.rule = OLD.rule
                                 UNION ALL SELECT internal.approvers_on_record(OLD.tenant, OLD.rule)) AS n (row)
                    WHERE (n.row ->> 'id')::bigint <> OLD.id AND NOT (n.row ->> 'program')::boolean
                      AND internal.may_name_the_same(jsonb_populate_record(NULL::broker.access_approver, n.row), OLD)) THEN
        UPDATE broker.access_rule AS r SET approved_by = NULL, approved_at = NULL WHERE r.id = OLD.rule AND r.approved_at IS NOT NULL;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_access_approver() IS
    'Trigger: records a change of an approver, and keeps the steps of its rule. A rule that would need fewer approvals, or where a program would become a person, loses its own approval.';

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
    ['lint_deleted', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['warn_large_update', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'warn_large_edit(''tenant'')']
]);
