-- Decisions on requests: broker.access_decision. Who may decide is in R__19_access_decisions.

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_access_decision() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked broker.access_request;
    shown constant jsonb := NEW.revisions;
    fault record;
    called_in text;
BEGIN
    NEW.id := internal.new_id(TG_RELID, NEW.id);
    -- With the owner's rights, so the login tells whose values these are; the service gives none.
    IF NEW.decided_by IS NOT NULL THEN
        PERFORM internal.refuse_kept_column('decided_by', 'Leave out decided_by: a decision is that of the login that inserts it.', session_user);
    END IF;
    PERFORM internal.refuse_kept_column(internal.signature_given(NEW, OLD), internal.signature_hint(), session_user);
    GET DIAGNOSTICS called_in = PG_CONTEXT;
    IF NEW.subject IS NULL THEN
        PERFORM internal.refuse_nested(TG_RELID, 'an_approval_is_a_statement_of_its_own', 'decide an access request', called_in);
    END IF;
    -- For logins; internal.decide_access has asked before it inserts.
    NEW.note := nullif(internal.plain_text(NEW.note), '');
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{request}');
    IF NEW.subject IS NOT NULL AND NOT internal.session_is_the_service() THEN
        PERFORM internal.refuse_in(TG_RELID, 'decisions_by_token_are_written_by_the_broker',
            format('Login "%s" cannot decide in the name of a subject.', session_user),
            'To decide as the login, leave out idp, issuer and subject. To decide with a token, run mintmark-client approve.', 'insufficient_privilege');
    -- Asked before anything is locked, since nobody locks rows of other tenants.
    ELSIF NOT EXISTS (SELECT FROM broker.access_request AS q
                       WHERE q.id = NEW.request AND (NEW.subject IS NOT NULL OR internal.may_write_rows_of(q.tenant))) THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_request_exists', format('There is no access request %s that you may see.', NEW.request),
            'SELECT * FROM audit.access_request WHERE status = ''pending'' lists what can be decided.', 'foreign_key_violation', 'request');
    END IF;
    IF jsonb_typeof(shown) <> 'object' OR shown - '{rule,key,accessProvider}'::text[] <> '{}' OR NOT shown ?& '{rule,key,accessProvider}' THEN
        PERFORM internal.refuse_in(TG_RELID, 'revisions_are_three', 'The revisions of a decision must be an object with exactly the fields rule, key and accessProvider.',
            'Leave out revisions, or copy them from the notice or the console.', 'check_violation', 'revisions');
    END IF;
    asked := internal.locked_request(NEW.request);
    NEW.tenant := internal.tenant_of(TG_RELID, NEW.tenant, asked.tenant, 'request');
    NEW.revisions := internal.revisions_of(asked);
    IF NEW.subject IS NOT NULL THEN
        NEW.decided_by := NULL;
    ELSE
        NEW.decided_by := session_user;
        SELECT f.* INTO fault FROM internal.decision_fault(asked, NEW.verdict, session_user, NULL, NULL, NULL, NULL, shown) AS f;
        SELECT s.steps, s.program, s.approvers INTO NEW.steps, NEW.program, NEW.approvers FROM internal.standing_in(asked, session_user, NULL, NULL, NULL) AS s;
        IF fault.refusal IS NULL AND NEW.program AND NEW.note IS NULL THEN
            SELECT 'a_program_sends_a_note' AS refusal, 'Your row of broker.access_approver says that you are a program, so the decision needs a note: the ticket, schedule or rule that it follows.' AS detail INTO fault;
        END IF;
        IF fault.refusal IS NOT NULL THEN
            PERFORM internal.refuse_in(TG_RELID, fault.refusal, format('Access request %s: %s', NEW.request, fault.detail),
                CASE fault.refusal
                     WHEN 'not_an_approver' THEN format('SELECT * FROM broker.access_approver WHERE rule = %s; lists who decides.', asked.rule)
                     WHEN 'own_request' THEN 'Another approver of the rule must decide.'
                     WHEN 'a_program_sends_a_note' THEN 'Set note, for example to the number of the ticket.'
                     WHEN 'bad_verdict' THEN 'Set verdict to approve or refuse, or to withdraw for access that was granted. One refusal ends the request.'
                     WHEN 'not_granted' THEN 'SELECT * FROM audit.access_request WHERE in_force lists access that can be withdrawn.'
                     WHEN 'requester_blocked' THEN 'Lift the block first, or refuse the request.'
                     ELSE 'SELECT * FROM audit.access_request WHERE status = ''pending'' lists what can be decided.' END,
                CASE WHEN fault.refusal IN ('not_an_approver', 'own_request') THEN 'insufficient_privilege' ELSE 'check_violation' END);
        END IF;
    END IF;
    IF internal.may_hold_secret(NEW.note) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'note', NEW.note, to_jsonb(NEW) - 'note');
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{request,verdict,tenant,steps,approvers,program,all_tenants_revision}');
    NEW := internal.signed(NEW, OLD);
    -- not now(): the transaction may have begun before the request
    NEW.created_at := clock_timestamp();
    NEW.updated_at := NEW.created_at;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_access_decision() IS
    'Trigger: locks the request of a decision, fills its tenant and login, and rejects a login that cannot decide it.';

CREATE OR REPLACE FUNCTION internal.record_access_decision() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    asked broker.access_request;
BEGIN
    SELECT q.* INTO asked FROM broker.access_request AS q WHERE q.id = NEW.request;
    -- A change by the same statement is recorded first, and then the decision names rows that its history no longer has.
    IF TG_OP = 'INSERT' AND NEW.verdict = 'approve' AND NEW.revisions IS DISTINCT FROM internal.revisions_of(asked) THEN
        PERFORM internal.refuse_in(TG_RELID, 'an_approval_is_a_statement_of_its_own',
            format('Access request %s: the statement that approves it also changes its rule, its key or its access provider.', NEW.request),
            'Make the change first. The request is then void; the requester can ask again.', 'object_not_in_prerequisite_state');
    END IF;
    -- The statement may have waited since the decision was checked.
    IF TG_OP = 'INSERT' AND NEW.verdict = 'approve'
       AND (asked.expires_at <= clock_timestamp() OR internal.issuer_changed(asked) IS NOT NULL OR internal.parties_may_be_blocked(asked)
            OR internal.block_of_parties(asked.tenant, asked.idp, asked.subject, asked.actor_idp, asked.actor) IS NOT NULL) THEN
        PERFORM internal.refuse_in(TG_RELID, 'an_approval_is_in_time',
            format('Access request %s lapsed, or its requester was blocked or got another issuer, while the statement that approves it was waiting.', NEW.request),
            'SELECT * FROM audit.access_request WHERE status = ''pending'' lists what can be decided.', 'check_violation');
    END IF;
    IF TG_OP = 'INSERT' AND NOT (CASE NEW.verdict WHEN 'withdraw' THEN internal.access_lasts(asked) ELSE asked.status = 'pending' END) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_decision_comes_before_the_end',
            format('Access request %s, or its access, ended while the statement that decides on it ran.', NEW.request),
            'SELECT * FROM audit.access_request lists what can be decided, and what is in force.', 'check_violation');
    ELSIF TG_OP = 'INSERT' AND NEW.decided_by IS NOT NULL
          AND (internal.is_excluded_from(asked, NEW.decided_by, NULL, NULL) OR internal.person_is_blocked(asked.tenant, NEW.decided_by, NULL, NULL)
               OR (SELECT (s.steps, s.program, s.approvers) IS DISTINCT FROM (NEW.steps, NEW.program, NEW.approvers)
                     FROM internal.standing_in(asked, NEW.decided_by, NULL, NULL, NULL) AS s)) THEN
        PERFORM internal.refuse_in(TG_RELID, 'not_an_approver',
            format('Access request %s: the statement that decides on it also blocks you, or changes a row that makes you its approver.', NEW.request),
            'Decide in a statement of its own, before the other change.', 'insufficient_privilege');
    END IF;
    -- The history has the end of the access before the withdrawal.
    IF TG_OP = 'INSERT' AND NEW.verdict = 'withdraw' THEN
        PERFORM internal.end_access(asked, coalesce(NEW.decided_by, NEW.subject));
    END IF;
    PERFORM internal.record_row(TG_TABLE_NAME, 'tenant', TG_OP, to_jsonb(OLD), to_jsonb(NEW),
                                (SELECT to_jsonb(d) FROM broker.access_decision AS d WHERE d.id = coalesce(NEW.id, OLD.id)), OLD.updated_at >= transaction_timestamp());
    -- The history has each approval before the grant.
    IF TG_OP = 'INSERT' THEN
        IF NEW.verdict = 'refuse' THEN
            PERFORM internal.end_request(NEW.request, 'refused');
        ELSIF NEW.verdict = 'approve' THEN
            PERFORM internal.note_access(asked, 'decided');
            IF internal.is_approved(asked) THEN
                PERFORM internal.grant_request(asked);
            END IF;
        END IF;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_access_decision() IS
    'Trigger: records a decision (not with a change of what it approves in the same statement), ends a request that was refused or access that was withdrawn, and writes the grant of a request with enough approvals.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.access_decision', ARRAY[
    ['refuse_change', 'always', 'BEFORE UPDATE OR DELETE', 'FOR EACH STATEMENT', 'refuse_change()'],
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_access_decision', 'always', 'BEFORE INSERT', 'FOR EACH ROW', 'check_access_decision()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_access_decision()'],
    ['add_changes_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_updated', 'always', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'count_changes()']
]);
