-- Who may request access to which key: broker.access_rule.

-- ---------------------------------------------------------------- bounds

-- The service tries the rules of a key for each request, and the approvers of a rule for each decision.
CREATE OR REPLACE FUNCTION internal.count_access_rules() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    crowded record;
BEGIN
    SELECT w.tenant, w.key INTO crowded FROM (SELECT DISTINCT w.tenant, w.key FROM written AS w) AS w
     WHERE (SELECT count(*) > 20 FROM (SELECT FROM broker.access_rule AS r WHERE r.tenant = w.tenant AND r.key = w.key LIMIT 21) AS r) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_key_has_no_more_than_20_access_rules',
            format('Key "%s" of tenant "%s" would have more than 20 access rules; 20 is the maximum.', crowded.key, crowded.tenant),
            'Delete rules that are not used, or let one rule match several requesters: match glob, or a list in claims.', 'check_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_access_rules() IS 'Trigger: rejects more than 20 access rules of a key.';

-- ---------------------------------------------------------------- lint

-- 900 seconds are the shortest life that AWS allows.
CREATE OR REPLACE FUNCTION internal.outliving(key text, kind broker.provider_type, max_duration int) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN NOT (kind.leaves_behind OR kind.ends_early) AND max_duration > 900 THEN concat_ws(chr(10), key, kind.type, max_duration) END;
$$;
COMMENT ON FUNCTION internal.outliving(text, broker.provider_type, int) IS
    'The detail of credentials_outlive_access for a key of this name, type and max_duration; null if its credentials can be ended, or end soon.';

-- Only text that begins with a ticket counts as an example, because other words may describe what to write. An example may be only the beginning of a reason.
CREATE OR REPLACE FUNCTION internal.refused_example(pattern text, hint text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT e.example
      FROM (SELECT btrim(substring(hint FROM '(?:for example|for instance|such as|e[.]g[.],?|like):? +(.+)$'), ' "''`.') AS example) AS e
     WHERE e.example ~ '^[A-Za-z]{1,15}[-_ #]?[0-9]+|^#?[0-9]{2,}'
       AND NOT EXISTS (SELECT FROM regexp_split_to_table(e.example, ', ?| or ') AS one CROSS JOIN unnest('{""," shop is down",": shop is down"}'::text[]) AS further
                        WHERE internal.glob_matches(pattern, btrim(one, ' "''`') || further));
$$;
COMMENT ON FUNCTION internal.refused_example(text, text) IS 'The example of a reason in a rule''s reason_hint, if its reason_pattern does not match it; otherwise null.';

CREATE OR REPLACE FUNCTION internal.lint_access_rule(of_rule bigint) RETURNS TABLE (rule text, detail text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    checked broker.access_rule;
    least int;
    approvers bigint;
    some_are_many boolean;
    cause text;
    outliving text;
    refused text;
    foreign_sign text;
BEGIN
    SELECT r.* INTO checked FROM broker.access_rule AS r WHERE r.id = of_rule;
    SELECT internal.outliving(k.name, y, k.max_duration) INTO outliving
      FROM broker.key AS k
      JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
      JOIN broker.provider_type AS y ON y.type = a.type
     WHERE k.tenant = checked.tenant AND k.name = checked.key;
    SELECT count(*), coalesce(bool_or(p.match = 'glob' OR p.claims <> '{}'), false) INTO approvers, some_are_many
      FROM broker.access_approver AS p WHERE p.rule = of_rule;
    least := internal.least_access_to(checked.tenant, checked.key);
    -- beside the signs of other patterns: # for a digit, and slashes around a regular expression
    foreign_sign := coalesce(internal.sign_in(checked.reason_pattern, true), substring(checked.reason_pattern FROM '##+|^/.*/[gimsu]*$'));
    refused := internal.refused_example(checked.reason_pattern, checked.reason_hint);
    cause := internal.nobody_can_approve(checked, NULL);
    RETURN QUERY
    SELECT f.rule, f.detail FROM (VALUES
        (NOT (checked.break_glass OR checked.consent) AND approvers < checked.approvals AND NOT some_are_many, 'too_few_approvers',
         concat_ws(chr(10), checked.approvals, approvers)),
        (approvers >= checked.approvals AND cause IS NOT NULL, 'nobody_can_approve', cause),
        (internal.pattern_fits_no_reason(checked.reason_pattern), 'reason_pattern_fits_nothing', checked.reason_pattern),
        (foreign_sign <> '' AND NOT internal.pattern_fits_no_reason(checked.reason_pattern), 'glob_matches_less_than_it_seems',
         format('reasons with "%s"', foreign_sign)),
        (refused IS NOT NULL, 'reason_hint_is_refused', concat_ws(chr(10), checked.reason_pattern, refused)),
        (refused IS NULL AND checked.reason_pattern ~ '(^|[^*])[*]$' AND foreign_sign IS NULL AND NOT internal.pattern_fits_no_reason(checked.reason_pattern),
         'glob_matches_less_than_it_seems', 'reasons without : and /' || coalesce(' after "' || substring(checked.reason_pattern FROM '([^*]+)[*]$') || '"', '')),
        (refused IS NULL AND strpos(checked.reason_pattern, '*') = 0 AND foreign_sign IS NULL AND NOT internal.pattern_fits_no_reason(checked.reason_pattern),
         'glob_matches_less_than_it_seems', format('the reason "%s" itself', checked.reason_pattern)),
        (checked.consent AND internal.issuer_of_jobs(checked.idp, checked.subject) IS NOT NULL, 'consent_of_a_job', internal.issuer_of_jobs(checked.idp, checked.subject)),
        (checked.break_glass AND checked.approvals > 1, 'approvals_ignored', checked.approvals::text),
        (checked.break_glass AND checked.max_access > 86400, 'long_break_glass', round(checked.max_access / 3600.0)::text),
        (checked.break_glass AND checked.match = 'glob' AND checked.claims = '{}' AND checked.subject ~ '^[^:/*]+[:/][*]+$'
             AND (SELECT p.required_claims = '{}' FROM broker.identity_provider AS p WHERE p.name = checked.idp), 'break_glass_for_everybody', checked.subject),
        (checked.end_credentials AND outliving IS NOT NULL, 'credentials_outlive_access', outliving),
        (checked.max_access < least, 'access_never_long_enough', concat_ws(chr(10), checked.key, least))) AS f (applies, rule, detail)
     WHERE f.applies
    UNION ALL
    SELECT n.rule, n.detail FROM internal.lint_parties('access_rule', ARRAY[internal.as_grant(to_jsonb(checked))]) AS n
    UNION ALL
    (SELECT 'undone_by_another_rule', concat_ws(chr(10), o.id, internal.all_approvals(o.approvals, o.steps)) FROM broker.access_rule AS o
      WHERE o.tenant = checked.tenant AND o.key = checked.key AND internal.rule_covers(o, checked) AND o.consent = checked.consent
        AND internal.all_approvals(o.approvals, o.steps) < internal.all_approvals(checked.approvals, checked.steps)
      ORDER BY internal.all_approvals(o.approvals, o.steps), o.id LIMIT 1)
    UNION ALL
    (SELECT 'covered_by_another_rule', o.id::text FROM broker.access_rule AS o
      WHERE o.tenant = checked.tenant AND o.key = checked.key AND internal.rule_covers(o, checked) AND o.consent = checked.consent
        AND internal.all_approvals(o.approvals, o.steps) = internal.all_approvals(checked.approvals, checked.steps) AND (o.id < checked.id OR NOT internal.rule_covers(checked, o)) ORDER BY o.id LIMIT 1)
    UNION ALL
    (SELECT 'consent_replaces_approvers', o.id::text FROM broker.access_rule AS o
      WHERE o.tenant = checked.tenant AND o.key = checked.key AND internal.rule_covers(o, checked) AND o.consent AND NOT checked.consent ORDER BY o.id LIMIT 1)
    UNION ALL
    SELECT 'approver_not_accepted', i.name::text FROM broker.access_approver AS p JOIN broker.identity_provider AS i ON i.name = p.idp
     WHERE NOT checked.break_glass AND p.rule = of_rule AND p.role_name IS NULL AND NOT i.accepts && '{subject,approver}';
END
$$;
COMMENT ON FUNCTION internal.lint_access_rule(bigint) IS 'Findings in an access rule and its approvers.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.voids_requests(former broker.access_rule, written broker.access_rule) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT NOT written.enabled OR internal.what_it_allows(to_jsonb(former))::text <> internal.what_it_allows(to_jsonb(written))::text;
$$;
COMMENT ON FUNCTION internal.voids_requests(broker.access_rule, broker.access_rule) IS
    'Whether a change disables an access rule, or changes what it allows, so that its pending requests become void.';

CREATE OR REPLACE FUNCTION internal.check_access_rule() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('The access rule for key "%s"', NEW.key);
    fault constant text := internal.requester_fault(NEW.subject, NEW.match, NEW.claims);
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.id := internal.new_id(TG_RELID, NEW.id);
    END IF;
    -- Grants are locked before their tenant, as in every edit of a grant: internal.record_access_rule disables these.
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND (OLD.end_access OR NEW.end_access) AND internal.voids_requests(OLD, NEW) THEN
        PERFORM FROM broker.subject_grant AS g WHERE g.id IN (SELECT internal.grants_of_rule(OLD.tenant, OLD.id)) ORDER BY g.id FOR NO KEY UPDATE;
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    PERFORM internal.refuse_kept_id(TG_RELID, OLD.id, NEW.id);
    IF NEW.steps IS DISTINCT FROM coalesce(OLD.steps, '{1}') THEN
        PERFORM internal.refuse_kept_column('steps', 'Leave out steps: the database takes them from the column step of the rule''s rows in broker.access_approver.');
    END IF;
    NEW := internal.approved(NEW, OLD);
    IF row_security_active(TG_RELID) AND NOT internal.login_is('a platform admin') THEN
        PERFORM internal.check_writer(TG_RELID, to_jsonb(NEW));
    END IF;
    NEW.end_credentials := coalesce(NEW.end_credentials, NEW.break_glass);
    IF internal.may_hold_secret(NEW.reason) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'reason', NEW.reason, to_jsonb(NEW) - 'reason');
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{tenant,key,idp,subject,match,claims,approvals,max_access,expires_after,break_glass,end_credentials,end_access,people,consent,enabled}');
    IF TG_OP = 'UPDATE' THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('%s %s.', owner, fault),
            'The columns subject, match and claims select who may request access, as in broker.subject_grant: for example subject ''team:payments/**'', match ''glob'' and claims ''{"groups": "oncall"}''.',
            'check_violation', refused => to_jsonb(NEW));
    ELSIF NEW.approvals NOT BETWEEN 0 AND 5 OR NEW.approvals = 0 AND NOT NEW.break_glass THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_needs_1_to_5_approvals_or_breaks_the_glass',
            format('%s: approvals is %s.', owner, NEW.approvals),
            'Write 1 to 5. 0 is for break_glass only, where access is granted at once.', 'check_violation', 'approvals');
    ELSIF NEW.max_access NOT BETWEEN 300 AND 2592000 THEN
        PERFORM internal.refuse_in(TG_RELID, 'max_access_is_300_to_2592000_seconds', format('%s has a max_access of %s seconds.', owner, NEW.max_access),
            'Write 300 (5 minutes) to 2592000 (30 days).', 'check_violation', 'max_access');
    ELSIF NEW.expires_after NOT BETWEEN 300 AND 2592000 THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_request_expires_after_300_to_2592000_seconds',
            format('%s has an expires_after of %s seconds.', owner, NEW.expires_after),
            'Write 300 (5 minutes) to 2592000 (30 days).', 'check_violation', 'expires_after');
    ELSIF NEW.people NOT BETWEEN 0 AND 25 THEN
        PERFORM internal.refuse_in(TG_RELID, 'people_are_0_to_25', format('%s: people is %s; it must be 0 to 25.', owner, NEW.people),
            'Write how many of the approvals must come from people. 0 lets programs alone approve.', 'check_violation', 'people');
    ELSIF NEW.consent AND (NEW.approvals <> 1 OR NEW.people > 1 OR NEW.break_glass) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_of_consent_needs_the_subject_alone',
            format('%s has consent, which cannot be combined with %s.', owner,
                   CASE WHEN NEW.break_glass THEN 'break_glass' WHEN NEW.approvals <> 1 THEN format('approvals = %s', NEW.approvals)
                        ELSE format('people = %s', NEW.people) END),
            'With consent, one approval by the subject decides. Set approvals to 1, people to 1 and break_glass to false, or write another rule.', 'check_violation', 'consent');
    ELSIF NEW.consent AND EXISTS (SELECT FROM broker.access_approver AS a WHERE a.rule = NEW.id) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_of_consent_has_no_approvers', format('%s has approvers, but with consent the subject alone decides.', owner),
            format('DELETE FROM broker.access_approver WHERE rule = %s; first, or write another rule.', NEW.id), 'check_violation', 'consent');
    ELSIF internal.line_fault(NEW.reason_pattern, 512) IS NOT NULL OR internal.glob_fault(NEW.reason_pattern) IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_reason_pattern_is_one_line_of_up_to_512_characters_and_8_stars',
            format('%s has a reason_pattern that %s.', owner, coalesce(internal.line_fault(NEW.reason_pattern, 512), internal.glob_fault(NEW.reason_pattern))),
            'Write a glob, for example INC-**, which matches every reason that starts with INC-.', 'check_violation', 'reason_pattern');
    ELSIF internal.line_fault(NEW.reason_hint, 200) IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_reason_hint_is_one_line_of_up_to_200_characters',
            format('%s has a reason_hint that %s.', owner, internal.line_fault(NEW.reason_hint, 200)),
            'Write a sentence for the requester, for example "Start with the ticket, for example INC-4711".', 'check_violation', 'reason_hint');
    ELSIF NEW.reason_hint IS NOT NULL AND NEW.reason_pattern IS NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_reason_hint_explains_a_pattern', format('%s has a reason_hint, but no reason_pattern.', owner),
            'Write both, for example "INC-**" and "Start with the ticket".', 'check_violation', 'reason_hint');
    ELSIF internal.line_fault(NEW.owner, 200) IS NOT NULL THEN
        PERFORM internal.refuse(format('%s has an owner that %s.', owner, internal.line_fault(NEW.owner, 200)),
            'Write a person or a team in one line, or null.');
    ELSIF length(NEW.reason) > 1000 THEN
        PERFORM internal.refuse(format('%s: its reason has %s characters; the maximum is 1000.', owner, length(NEW.reason)), 'Shorten it.');
    END IF;
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_access_rule() IS
    'Trigger: rejects an invalid access rule with a message, keeps its approval, and signs it. Locks the grants that its change or deletion ends.';

-- With the writer's rights, so it reveals no rows that the writer may not see.
CREATE OR REPLACE FUNCTION internal.check_references_of_access_rule() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    count bigint;
BEGIN
    IF TG_OP = 'DELETE' THEN
        SELECT count(*) INTO count FROM broker.access_approver AS a WHERE a.rule = OLD.id;
        IF count > 0 THEN
            PERFORM internal.refuse_in(TG_RELID, '', format('Access rule %s has %s approver%s and cannot be deleted.', OLD.id, count,
                                                            CASE WHEN count > 1 THEN 's' ELSE '' END),
                format('DELETE FROM broker.access_approver WHERE rule = %1$s; first. To stop its use: UPDATE broker.access_rule SET enabled = false WHERE id = %1$s;', OLD.id),
                'restrict_violation');
        END IF;
        RETURN NULL;
    END IF;
    PERFORM internal.check_key_exists(TG_RELID, to_jsonb(NEW)), internal.check_identity_provider_exists(TG_RELID, to_jsonb(NEW));
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_references_of_access_rule() IS
    'Trigger: rejects unknown references of a row, and the removal of a row that others refer to.';

-- One admin alone does not turn it off: until the rule is approved without it, the access ends.
CREATE OR REPLACE FUNCTION internal.ends_access(rule broker.access_rule) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    change audit.config_change;
BEGIN
    IF rule.end_access OR internal.is_in_force(rule.tenant, rule.approved_at) THEN
        RETURN rule.end_access;
    END IF;
    change := internal.last_change_of('access_rule', rule.tenant, rule.id::text);
    WHILE change.after ->> 'approved_at' IS NULL AND change.operation <> 'INSERT' LOOP
        change := internal.change_before('access_rule', rule.tenant, rule.id::text, change.revision);
    END LOOP;
    RETURN coalesce((change.after ->> 'end_access')::boolean, false);
END
$$;
COMMENT ON FUNCTION internal.ends_access(broker.access_rule) IS
    'Whether the end of a rule ends the access that it led to: its end_access, as it was when the rule was last in force.';
DROP FUNCTION IF EXISTS internal.last_change_of(text, text, text, bigint);

-- A statement that disables or deletes a grant, and beside it changes its rule, may record the change of the rule first.
CREATE OR REPLACE FUNCTION internal.refuse_ends_off_the_record(of_tenant text, of_rule bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    ended uuid;
BEGIN
    SELECT q.id INTO ended
      FROM broker.access_request AS q LEFT JOIN broker.subject_grant AS g ON g.id = q.grant_id
     WHERE q.tenant = of_tenant AND q.rule = of_rule AND q.status = 'granted' AND q.requested_at > now() - interval '60 days'
       AND (g.id IS NULL OR NOT g.enabled AND g.updated_at >= transaction_timestamp())
       AND EXISTS (SELECT FROM internal.last_change_of('subject_grant', of_tenant, q.grant_id::text) AS c
                    WHERE (c.after ->> 'enabled')::boolean AND (c.after ->> 'valid_until')::timestamptz > transaction_timestamp()) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in('broker.access_rule', 'a_rule_ends_its_access',
            format('The statement that changes access rule %s also ends the access of request %s. The change of the rule alone would end that access.', of_rule, ended),
            'Change only the rule in this statement.', 'object_not_in_prerequisite_state');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_ends_off_the_record(text, bigint) IS
    'Rejects a change of a rule that ends its access while the statement has ended some of this access itself, if this end is not on record yet.';

CREATE OR REPLACE FUNCTION internal.record_access_rule() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    voids constant boolean := TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND internal.voids_requests(OLD, NEW);
    voided uuid;
BEGIN
    IF TG_OP = 'UPDATE' AND OLD *= NEW THEN
        RETURN NULL;
    END IF;
    -- The history has the end of the access before the change of the rule. Approvals hold the tenant's lock: after it, the
    -- UPDATE also sees the grant of an approval that was under way.
    IF voids AND internal.ends_access(coalesce(NEW, OLD)) THEN
        PERFORM FROM broker.tenant AS t WHERE t.name = OLD.tenant FOR NO KEY UPDATE;
        PERFORM internal.refuse_ends_off_the_record(OLD.tenant, OLD.id);
        UPDATE broker.subject_grant AS g SET enabled = false WHERE g.id IN (SELECT internal.grants_of_rule(OLD.tenant, OLD.id));
    END IF;
    PERFORM internal.record_row(TG_TABLE_NAME, 'tenant', TG_OP, to_jsonb(OLD), to_jsonb(NEW),
                                (SELECT to_jsonb(r) FROM broker.access_rule AS r WHERE r.id = coalesce(NEW.id, OLD.id)), OLD.updated_at >= transaction_timestamp());
    -- Every function that writes requests locks the tenant first, then requests.
    IF NOT voids THEN
        RETURN NULL;
    END IF;
    FOR voided IN SELECT q.id FROM broker.access_request AS q WHERE q.tenant = OLD.tenant AND q.rule = OLD.id AND q.status = 'pending' LOOP
        PERFORM internal.end_request(voided, 'void');
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_access_rule() IS
    'Trigger: records a change of an access rule, and when it is deleted, disabled or changed in what it allows, makes its pending requests void and, with end_access, ends its access.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.access_rule', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_access_rule', 'always', 'BEFORE INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'check_access_rule()'],
    ['FK_check_references', 'origin', 'AFTER INSERT OR DELETE OR UPDATE OF tenant, key, idp', 'FOR EACH ROW', 'check_references_of_access_rule()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_access_rule()'],
    ['add_changes_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_updated', 'always', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'count_changes()'],
    ['check_bounds_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_access_rules()'],
    ['check_bounds_updated', 'always', 'AFTER UPDATE', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_access_rules()'],
    ['lint_inserted', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['lint_updated', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['lint_deleted', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['warn_large_update', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'warn_large_edit(''tenant'')']
]);
