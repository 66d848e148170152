-- Decisions on requests for access, lists of requests, giving access back, lapsing, and notices of all that.

-- ---------------------------------------------------------------- who decides

CREATE OR REPLACE FUNCTION internal.may_decide(asked broker.access_request, login text, idp text, subject text, claims jsonb) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.access_approver AS a
                    WHERE a.tenant = asked.tenant AND a.rule = asked.rule
                      AND (a.role_name = login
                           OR a.idp = may_decide.idp
                              AND CASE a.match WHEN 'exact' THEN a.subject = may_decide.subject ELSE internal.glob_matches(a.subject, may_decide.subject) END
                              AND internal.claims_steps(a.claims, may_decide.claims) <= 250000 AND internal.claims_met(a.claims, may_decide.claims)));
END
$$;
COMMENT ON FUNCTION internal.may_decide(broker.access_request, text, text, text, jsonb) IS
    'Whether a row of broker.access_approver lets a login, or the subject of a token, decide a request.';

CREATE OR REPLACE FUNCTION internal.is_party_of(asked broker.access_request, login text, issuer text, subject text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM internal.names_of_person(asked.tenant, login, issuer, subject) AS n
                    WHERE (n.of_issuer, n.subject_name) IN ((asked.issuer, asked.subject), (asked.actor_issuer, asked.actor)));
END
$$;
COMMENT ON FUNCTION internal.is_party_of(broker.access_request, text, text, text) IS
    'Whether a login, or the subject of an issuer, is the person that made a request, or its actor.';

CREATE OR REPLACE FUNCTION internal.verdict_of(asked broker.access_request, login text, issuer text, subject text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT d.verdict
              FROM broker.access_decision AS d
              JOIN internal.names_of_person(asked.tenant, verdict_of.login, verdict_of.issuer, verdict_of.subject) AS n
                ON d.decided_by = n.login_name OR d.issuer = n.of_issuer AND d.subject = n.subject_name
             WHERE d.request = asked.id LIMIT 1);
END
$$;
COMMENT ON FUNCTION internal.verdict_of(broker.access_request, text, text, text) IS
    'What a person has decided on a request, by whichever of its names; null: nothing.';

-- login, or idp, issuer, subject and claims of a token.
CREATE OR REPLACE FUNCTION internal.decision_fault(asked broker.access_request, verdict text, login text, idp text, issuer text, subject text, claims jsonb,
                                                   OUT refusal text, OUT detail text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    before constant text := internal.verdict_of(asked, login, issuer, subject);
    rule broker.access_rule;
BEGIN
    SELECT r.* INTO rule FROM broker.access_rule AS r WHERE r.id = asked.rule AND r.tenant = asked.tenant;
    SELECT f.refusal, f.detail INTO decision_fault.refusal, decision_fault.detail FROM (VALUES
        (verdict IS NULL OR verdict NOT IN ('approve', 'refuse'), 'bad_verdict', 'The verdict must be approve or refuse.'),
        (internal.is_party_of(asked, login, issuer, subject), 'own_request', 'Nobody decides a request that they made, or acted in.'),
        (before IS NOT DISTINCT FROM verdict, 'same', 'You decided so before.'),
        (before IS NOT NULL, 'already_decided', format('You have decided on this request already: %s.', before)),
        (NOT internal.may_decide(asked, login, idp, subject, claims), 'not_an_approver', 'You are not an approver of this request.'),
        (subject IS NOT NULL AND internal.blocking(asked.tenant, idp, subject, clock_timestamp()) IS NOT NULL, 'blocked',
         'You are blocked and cannot decide requests.'),
        (asked.status <> 'pending', CASE asked.status WHEN 'lapsed' THEN 'lapsed' WHEN 'void' THEN 'void' ELSE 'not_pending' END,
         format('The request is not pending any more: it is %s.', asked.status)),
        (asked.expires_at <= clock_timestamp(), 'lapsed', 'The request was not decided in time and has lapsed.'),
        (rule.id IS NULL OR NOT rule.enabled OR (rule.key, rule.approvals) IS DISTINCT FROM (asked.key, asked.approvals),
         'void', 'The rule of the request was changed or disabled, so the request is void.'),
        (verdict = 'approve' AND internal.block_of_parties(asked.tenant, asked.idp, asked.subject, asked.actor_idp, asked.actor) IS NOT NULL,
         'requester_blocked', 'The requester is blocked, so the request cannot be approved.')
        ) AS f (applies, refusal, detail) WHERE f.applies LIMIT 1;
END
$$;
COMMENT ON FUNCTION internal.decision_fault(broker.access_request, text, text, text, text, text, jsonb) IS
    'Why a person cannot decide a request so; nulls if it can.';

-- The tenant before the request, as everywhere: so a decision waits for each other edit of the tenant, and sees it.
CREATE OR REPLACE FUNCTION internal.locked_request(of_request uuid) RETURNS broker.access_request
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found broker.access_request;
BEGIN
    PERFORM FROM broker.tenant AS t
      WHERE t.name = (SELECT q.tenant FROM broker.access_request AS q WHERE q.id = of_request) FOR NO KEY UPDATE;
    SELECT q.* INTO found FROM broker.access_request AS q WHERE q.id = of_request FOR UPDATE;
    RETURN found;
END
$$;
COMMENT ON FUNCTION internal.locked_request(uuid) IS 'A request, locked with its tenant.';

-- For logins; internal.decide_access has asked before it inserts.
CREATE OR REPLACE FUNCTION internal.find_decided_request() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked broker.access_request;
    fault record;
BEGIN
    NEW.note := nullif(internal.plain_text(NEW.note), '');
    IF NEW.request IS NULL THEN
        RETURN NEW;  -- has_what_it_needs says so
    END IF;
    asked := internal.locked_request(NEW.request);
    NEW.tenant := asked.tenant;
    IF NEW.subject IS NOT NULL THEN
        NEW.decided_by := NULL;
        RETURN NEW;
    END IF;
    NEW.decided_by := session_user;
    IF asked.id IS NULL OR NOT internal.may_write_rows_of(asked.tenant) THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_request_exists', format('There is no access request %s that you may see.', NEW.request),
            'SELECT * FROM audit.access_request WHERE status = ''pending'' lists what can be decided.', 'foreign_key_violation', 'request');
    END IF;
    SELECT f.* INTO fault FROM internal.decision_fault(asked, NEW.verdict, session_user, NULL, NULL, NULL, NULL) AS f;
    IF fault.refusal IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, fault.refusal, format('Access request %s: %s', NEW.request, fault.detail),
            CASE fault.refusal
                 WHEN 'not_an_approver' THEN format('SELECT * FROM broker.access_approver WHERE rule = %s; lists who decides.', asked.rule)
                 WHEN 'own_request' THEN 'Another approver of the rule decides.'
                 WHEN 'bad_verdict' THEN 'Write approve, or refuse, which ends the request.'
                 WHEN 'requester_blocked' THEN 'Lift the block first, or refuse the request.'
                 ELSE 'SELECT * FROM audit.access_request WHERE status = ''pending'' lists what can be decided.' END,
            CASE WHEN fault.refusal IN ('not_an_approver', 'own_request') THEN 'insufficient_privilege' ELSE 'check_violation' END);
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.find_decided_request() IS
    'Trigger: locks the request of a decision, fills its tenant and login, and rejects a login that cannot decide it.';

-- After is_recorded: the history has each approval before the grant.
CREATE OR REPLACE FUNCTION internal.settle_request() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked broker.access_request;
BEGIN
    SELECT q.* INTO asked FROM broker.access_request AS q WHERE q.id = NEW.request;
    IF NEW.verdict = 'refuse' THEN
        PERFORM internal.end_request(NEW.request, 'refused');
    ELSIF (SELECT count(*) FROM broker.access_decision AS d WHERE d.request = NEW.request AND d.verdict = 'approve') >= asked.approvals THEN
        PERFORM internal.note_access(asked, 'decided', NULL);
        PERFORM internal.grant_request(asked);
    ELSE
        PERFORM internal.note_access(asked, 'decided', NULL);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.settle_request() IS
    'Trigger: ends a request that was refused, and writes the grant of one with enough approvals.';

CREATE OR REPLACE FUNCTION internal.decide_access(tenant text, idp text, subject text, claims jsonb, has_actor boolean, id uuid, verdict text, note text)
    RETURNS TABLE (refusal text, detail text, status text, approvals_needed int, approvals_given int, grant_id bigint, valid_until timestamptz,
                   retry_after int)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked broker.access_request := internal.locked_request(id);
    own_issuer constant text := (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = decide_access.tenant AND p.name = decide_access.idp);
    fault record;
    constraint_found text;
BEGIN
    SELECT f.* INTO fault FROM internal.decision_fault(asked, verdict, NULL, idp, own_issuer, subject, claims) AS f;
    IF asked.tenant IS DISTINCT FROM decide_access.tenant OR own_issuer IS NULL OR fault.refusal = 'not_an_approver' THEN
        RETURN QUERY SELECT 'unknown_request', 'There is no such request for you to decide.', NULL, NULL::int, NULL::int, NULL::bigint, NULL::timestamptz,
                            NULL::int;
        RETURN;
    ELSIF has_actor AND fault.refusal IS DISTINCT FROM 'own_request' THEN
        refusal := 'decided_with_actor';
        detail := 'A request is decided with the token of the approver alone, without an actor.';
    ELSIF length(internal.plain_text(note)) > 1000 THEN
        refusal := 'bad_note';
        detail := 'The note must have at most 1000 characters.';
    ELSIF fault.refusal IN ('lapsed', 'void') AND asked.status = 'pending' THEN
        PERFORM internal.end_request(asked.id, fault.refusal);
        refusal := fault.refusal;
        detail := fault.detail;
    ELSIF fault.refusal IS NOT NULL THEN
        refusal := nullif(fault.refusal, 'same');
        detail := CASE WHEN refusal IS NOT NULL THEN fault.detail END;
    ELSE
        BEGIN
            INSERT INTO broker.access_decision (request, verdict, note, idp, issuer, subject)
            VALUES (asked.id, decide_access.verdict, decide_access.note, decide_access.idp, own_issuer, decide_access.subject);
        EXCEPTION WHEN integrity_constraint_violation THEN
            GET STACKED DIAGNOSTICS constraint_found = CONSTRAINT_NAME, detail = MESSAGE_TEXT;
            refusal := internal.refusal_of(constraint_found, 'bad_note');
            retry_after := CASE refusal WHEN 'too_many_changes' THEN internal.seconds_until_tomorrow() END;
        END;
    END IF;
    RETURN QUERY
    SELECT decide_access.refusal, decide_access.detail, q.status, CASE WHEN q.break_glass THEN 0 ELSE q.approvals END,
           (SELECT count(*)::int FROM broker.access_decision AS d WHERE d.request = q.id AND d.verdict = 'approve'), q.grant_id,
           (SELECT g.valid_until FROM broker.subject_grant AS g WHERE g.id = q.grant_id), decide_access.retry_after
      FROM broker.access_request AS q WHERE q.id = asked.id;
END
$$;
COMMENT ON FUNCTION internal.decide_access(text, text, text, jsonb, boolean, uuid, text, text) IS
    'Decides a request with a token: the refusal (null: decided) and the request afterwards.';

-- ---------------------------------------------------------------- lists

CREATE OR REPLACE FUNCTION internal.access_requests(own_tenant text, own_idp text, own_subject text, own_claims jsonb, wanted text, wanted_id uuid)
    RETURNS TABLE (id uuid, key text, idp text, subject text, actor_idp text, actor text, reason text, access int, requested_at timestamptz,
                   expires_at timestamptz, status text, grant_id bigint, valid_until timestamptz, in_force boolean, approvals_needed int,
                   approvals_given int, break_glass boolean, is_mine boolean, may_decide boolean, decisions jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
    own_issuer constant text := (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = own_tenant AND p.name = own_idp);
    person constant bigint := hashtextextended(own_issuer || ' ' || own_subject, 0);
    found uuid[];
BEGIN
    CASE wanted
    WHEN 'me' THEN
        found := ARRAY(SELECT m.id FROM (
            (SELECT q.id, q.requested_at FROM broker.access_request AS q
              WHERE q.tenant = own_tenant AND hashtextextended(q.issuer || ' ' || q.subject, 0) = person
              ORDER BY q.requested_at DESC LIMIT 100)
             UNION
            (SELECT q.id, q.requested_at FROM broker.access_request AS q
              WHERE q.tenant = own_tenant AND q.actor IS NOT NULL AND hashtextextended(q.actor_issuer || ' ' || q.actor, 0) = person
              ORDER BY q.requested_at DESC LIMIT 100)) AS m ORDER BY m.requested_at DESC LIMIT 100);
    WHEN 'decision' THEN
        found := ARRAY(SELECT q.id FROM broker.access_request AS q
                        WHERE q.tenant = own_tenant AND q.status = 'pending' AND q.expires_at > clock_timestamp()
                          AND internal.may_decide(q, NULL, own_idp, own_subject, own_claims)
                          AND NOT internal.is_party_of(q, NULL, own_issuer, own_subject)
                          AND internal.verdict_of(q, NULL, own_issuer, own_subject) IS NULL
                        ORDER BY q.requested_at, q.id LIMIT 200);
    ELSE
        found := ARRAY(SELECT q.id FROM broker.access_request AS q
                        WHERE q.id = wanted_id AND q.tenant = own_tenant
                          AND (internal.is_party_of(q, NULL, own_issuer, own_subject)
                               OR internal.may_decide(q, NULL, own_idp, own_subject, own_claims)
                               OR internal.verdict_of(q, NULL, own_issuer, own_subject) IS NOT NULL));
    END CASE;
    RETURN QUERY
    SELECT q.id, q.key::text, q.idp::text, q.subject::text, q.actor_idp::text, q.actor::text, q.reason, q.access, q.requested_at, q.expires_at,
           q.status, q.grant_id, g.valid_until, coalesce(g.enabled AND g.valid_until > clock_timestamp(), false),
           CASE WHEN q.break_glass THEN 0 ELSE q.approvals END, given.approvals::int, q.break_glass, mine.is_party,
           q.status = 'pending' AND q.expires_at > clock_timestamp() AND NOT mine.is_party
               AND internal.may_decide(q, NULL, own_idp, own_subject, own_claims)
               AND internal.verdict_of(q, NULL, own_issuer, own_subject) IS NULL,
           given.decisions
      FROM unnest(found) WITH ORDINALITY AS f (id, place)
      JOIN broker.access_request AS q ON q.id = f.id
      LEFT JOIN broker.subject_grant AS g ON g.id = q.grant_id
     CROSS JOIN LATERAL (SELECT internal.is_party_of(q, NULL, own_issuer, own_subject)) AS mine (is_party)
     CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE d.verdict = 'approve') AS approvals, internal.shown_decisions(q.id) AS decisions
                           FROM broker.access_decision AS d WHERE d.request = q.id) AS given
     ORDER BY f.place;
END
$$;
COMMENT ON FUNCTION internal.access_requests(text, text, text, jsonb, text, uuid) IS
    'The requests that a token may see. wanted: me (its own), decision (those that it may decide), one (of an id).';

CREATE OR REPLACE FUNCTION internal.shown_decisions(of_request uuid) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('verdict', d.verdict, 'note', d.note, 'decidedBy', coalesce(d.decided_by, d.subject), 'idp', d.idp,
                                                 'at', d.created_at) ORDER BY d.id), '[]')
      FROM broker.access_decision AS d WHERE d.request = of_request;
$$;
COMMENT ON FUNCTION internal.shown_decisions(uuid) IS 'The decisions on a request, as the service shows them.';

-- ---------------------------------------------------------------- give back, lapse

CREATE OR REPLACE FUNCTION internal.withdraw_access(tenant text, idp text, subject text, id uuid)
    RETURNS TABLE (refusal text, detail text, status text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    own_issuer constant text := (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = withdraw_access.tenant AND p.name = withdraw_access.idp);
    asked broker.access_request;
BEGIN
    -- The lock of the grant comes before that of its tenant, as in every edit of a grant.
    PERFORM FROM broker.subject_grant AS g WHERE g.request_id = withdraw_access.id FOR NO KEY UPDATE;
    asked := internal.locked_request(withdraw_access.id);
    IF asked.tenant IS DISTINCT FROM withdraw_access.tenant OR own_issuer IS NULL
       OR (asked.issuer, asked.subject) IS DISTINCT FROM (own_issuer, withdraw_access.subject) THEN
        RETURN QUERY SELECT 'unknown_request', 'You made no such request.', NULL;
    ELSIF asked.status = 'withdrawn' THEN
        RETURN QUERY SELECT NULL, NULL, asked.status;
    ELSIF asked.status NOT IN ('pending', 'granted') THEN
        RETURN QUERY SELECT 'not_pending', format('The request has ended already: it is %s.', asked.status), asked.status;
    ELSE
        BEGIN
            UPDATE broker.subject_grant AS g SET enabled = false WHERE g.id = asked.grant_id AND g.enabled;
            IF asked.status = 'pending' THEN
                PERFORM internal.end_request(asked.id, 'withdrawn');
            ELSE
                UPDATE broker.access_request AS q SET status = 'withdrawn' WHERE q.id = asked.id;
            END IF;
            RETURN QUERY SELECT NULL, NULL, 'withdrawn';
        EXCEPTION WHEN integrity_constraint_violation THEN
            RETURN QUERY SELECT 'too_many_changes', 'The tenant has reached its changes of today.', asked.status;
        END;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.withdraw_access(text, text, text, uuid) IS
    'Withdraws the request of a token''s subject, or gives back the access that it led to.';

-- Of one tenant at a time: whoever holds the lock of two may wait for somebody who waits for the first.
CREATE OR REPLACE FUNCTION internal.lapse_access_requests(most int) RETURNS int
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
DECLARE
    of_tenant text;
    lapsed int := 0;
    late uuid;
BEGIN
    SELECT q.tenant INTO of_tenant FROM broker.access_request AS q WHERE q.status = 'pending' AND q.expires_at <= clock_timestamp()
     ORDER BY q.expires_at LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    PERFORM FROM broker.tenant AS t WHERE t.name = of_tenant FOR NO KEY UPDATE;
    FOR late IN SELECT q.id FROM broker.access_request AS q
                 WHERE q.tenant = of_tenant AND q.status = 'pending' AND q.expires_at <= clock_timestamp()
                 ORDER BY q.expires_at LIMIT most FOR UPDATE LOOP
        PERFORM internal.end_request(late, 'lapsed');
        lapsed := lapsed + 1;
    END LOOP;
    RETURN lapsed;
END
$$;
COMMENT ON FUNCTION internal.lapse_access_requests(int) IS
    'Makes up to so many undecided requests of one tenant lapse whose time is over; returns their number.';

-- ---------------------------------------------------------------- notices

CREATE OR REPLACE FUNCTION internal.note_access(about broker.access_request, what text, due timestamptz) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = about.tenant AND t.notice_url IS NOT NULL) THEN
        INSERT INTO runtime.access_notice (tenant, type, request, due, wanted_at, data)
        SELECT about.tenant, 'io.mintmark.access.' || what, about.id, coalesce(note_access.due, clock_timestamp()),
               coalesce(note_access.due, clock_timestamp()), jsonb_build_object(
                   'id', about.id, 'key', about.key, 'idp', about.idp, 'subject', about.subject, 'actor', about.actor, 'reason', about.reason,
                   'seconds', about.access, 'status', about.status, 'requestedAt', about.requested_at, 'expiresAt', about.expires_at,
                   'approvalsNeeded', CASE WHEN about.break_glass THEN 0 ELSE about.approvals END, 'approvals', internal.shown_decisions(about.id),
                   'approvers', (SELECT coalesce(jsonb_agg(coalesce(a.role_name, a.subject)), '[]')
                                   FROM (SELECT p.role_name, p.subject FROM broker.access_approver AS p WHERE p.rule = about.rule AND p.tenant = about.tenant
                                          ORDER BY p.id LIMIT 20) AS a),
                   'grantId', about.grant_id, 'validUntil', (SELECT g.valid_until FROM broker.subject_grant AS g WHERE g.id = about.grant_id),
                   'breakGlass', about.break_glass);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.note_access(broker.access_request, text, timestamptz) IS
    'Writes a notice of a request, if its tenant wants any. due: when it is sent; null: at once.';

CREATE OR REPLACE FUNCTION internal.note_early_end() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
BEGIN
    UPDATE runtime.access_notice AS n SET due = clock_timestamp(), wanted_at = clock_timestamp()
     WHERE n.request = OLD.request_id AND n.type = 'io.mintmark.access.ended' AND n.due > clock_timestamp();
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.note_early_end() IS 'Trigger: has the end of a requested grant reported when it is disabled or deleted.';

CREATE OR REPLACE FUNCTION internal.take_notices(replica text, most int, seconds int)
    RETURNS TABLE (id bigint, tenant text, type text, request uuid, data jsonb, created_at timestamptz, tries int, notice_url text, notice_secret jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
    -- A tenant that wants no notices any more gets none.
    DELETE FROM runtime.access_notice AS n
     WHERE n.due <= clock_timestamp() AND EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = n.tenant AND t.notice_url IS NULL);
    RETURN QUERY
    WITH due AS (
        SELECT n.id, row_number() OVER (PARTITION BY n.tenant ORDER BY n.id) AS place
          FROM (SELECT a.id, a.tenant FROM runtime.access_notice AS a
                 WHERE a.due <= clock_timestamp() AND (a.claimed_until IS NULL OR a.claimed_until <= clock_timestamp())
                 ORDER BY a.due LIMIT 10000) AS n
    ), free AS (
        SELECT n.id FROM runtime.access_notice AS n JOIN due AS d ON d.id = n.id AND d.place <= 10
         WHERE n.claimed_until IS NULL OR n.claimed_until <= clock_timestamp()
         ORDER BY d.place, n.id LIMIT most FOR UPDATE OF n SKIP LOCKED
    ), taken AS (
        UPDATE runtime.access_notice AS n SET claimed_by = replica, claimed_until = clock_timestamp() + seconds * interval '1 second'
          FROM free AS f WHERE n.id = f.id
        RETURNING n.*
    )
    SELECT n.id, n.tenant::text, n.type, n.request, n.data, n.wanted_at, n.tries, t.notice_url, t.notice_secret
      FROM taken AS n JOIN broker.tenant AS t ON t.name = n.tenant ORDER BY n.id;
END
$$;
COMMENT ON FUNCTION internal.take_notices(text, int, int) IS
    'Claims due notices for a replica for so many seconds, up to 10 of a tenant; drops those of tenants without notice_url. created_at: when it was due first, which is when it happened.';

CREATE OR REPLACE FUNCTION internal.confirm_notice(id bigint, replica text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM runtime.access_notice AS n WHERE n.id = confirm_notice.id AND n.claimed_by = replica;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION internal.confirm_notice(bigint, text) IS 'Removes a notice that a replica delivered; false if another replica has it.';

CREATE OR REPLACE FUNCTION internal.postpone_notice(id bigint, replica text, seconds int, failure text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM runtime.access_notice AS n
     WHERE n.id = postpone_notice.id AND n.claimed_by = replica AND n.wanted_at < clock_timestamp() - interval '3 days';
    IF FOUND THEN
        RETURN false;
    END IF;
    UPDATE runtime.access_notice AS n
       SET tries = n.tries + 1, due = clock_timestamp() + seconds * interval '1 second', last_failure = left(failure, 1000),
           claimed_by = NULL, claimed_until = NULL
     WHERE n.id = postpone_notice.id AND n.claimed_by = replica;
    RETURN true;
END
$$;
COMMENT ON FUNCTION internal.postpone_notice(bigint, text, int, text) IS
    'Has a notice tried again in so many seconds; false if it was dropped because it could not be delivered for long.';

-- ---------------------------------------------------------------- sign-off of break glass

CREATE OR REPLACE FUNCTION internal.awaits_sign_off(of_request uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.access_request AS q WHERE q.id = of_request AND q.break_glass AND q.signed_off_by IS NULL);
END
$$;
COMMENT ON FUNCTION internal.awaits_sign_off(uuid) IS 'Whether a request was granted by break glass, and nobody has signed it off.';

CREATE OR REPLACE FUNCTION internal.made_request(of_request uuid, login text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.access_request AS q WHERE q.id = of_request AND internal.is_party_of(q, login, NULL, NULL));
END
$$;
COMMENT ON FUNCTION internal.made_request(uuid, text) IS 'Whether a login is the person that made a request, or its actor.';

CREATE OR REPLACE FUNCTION internal.sign_off_request() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE broker.access_request AS q SET signed_off_by = NEW.created_by, signed_off_at = now()
     WHERE q.id = (SELECT g.request_id FROM broker.subject_grant AS g WHERE g.id = NEW.grant_id)
       AND q.break_glass AND q.signed_off_by IS NULL;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.sign_off_request() IS 'Trigger: signs off the break glass whose grant is reviewed.';

-- ---------------------------------------------------------------- what auditors ask

CREATE OR REPLACE VIEW audit.access_request WITH (security_invoker = true) AS
SELECT q.tenant, q.id AS request, q.key, q.idp, q.subject, q.actor_idp, q.actor, q.claims, q.reason, q.access * interval '1 second' AS access,
       q.break_glass, q.rule, q.status, q.requested_at, q.expires_at, q.approvals AS approvals_needed, decided.approved_by, decided.refused_by,
       decided.notes, decided.last_at AS decided_at,
       CASE WHEN q.grant_id IS NOT NULL AND NOT q.break_glass THEN decided.last_at - q.requested_at END AS time_to_approve,
       q.grant_id, g.valid_until, coalesce(g.enabled AND g.valid_until > now(), false) AS in_force, used.mints, used.last_used_at,
       q.signed_off_by, q.signed_off_at
  FROM broker.access_request AS q
  LEFT JOIN broker.subject_grant AS g ON g.id = q.grant_id
 CROSS JOIN LATERAL (
       SELECT array_agg(coalesce(d.decided_by, d.subject || ' of ' || d.idp) ORDER BY d.id) FILTER (WHERE d.verdict = 'approve') AS approved_by,
              (array_agg(coalesce(d.decided_by, d.subject || ' of ' || d.idp) ORDER BY d.id) FILTER (WHERE d.verdict = 'refuse'))[1] AS refused_by,
              string_agg(d.note, chr(10) ORDER BY d.id) AS notes, max(d.created_at) AS last_at
         FROM broker.access_decision AS d WHERE d.request = q.id) AS decided
 CROSS JOIN LATERAL (
       SELECT count(*) AS mints, max(e.occurred_at) AS last_used_at FROM audit.event AS e WHERE e.grant_id = q.grant_id AND e.step = 1) AS used;
COMMENT ON VIEW audit.access_request IS
    'Each request for access: who asked for what and why, who decided, and how the access was used. Query it WHERE tenant = … AND requested_at > ….';
COMMENT ON COLUMN audit.access_request.request IS 'The id in broker.access_request.';
COMMENT ON COLUMN audit.access_request.approved_by IS 'The people who approved: logins, and subjects with their identity providers.';
COMMENT ON COLUMN audit.access_request.refused_by IS 'The person who refused; null: nobody did.';
COMMENT ON COLUMN audit.access_request.notes IS 'The notes of the decisions, one per line.';
COMMENT ON COLUMN audit.access_request.decided_at IS 'When the last decision was made; null: none was.';
COMMENT ON COLUMN audit.access_request.time_to_approve IS 'From the request to its last approval; null if it was not granted, and for break glass.';
COMMENT ON COLUMN audit.access_request.valid_until IS 'When the access ends; null: there is no grant.';
COMMENT ON COLUMN audit.access_request.in_force IS 'Whether the grant is enabled and has not ended.';
COMMENT ON COLUMN audit.access_request.mints IS 'The number of mints under the grant, as far as the log goes back.';
COMMENT ON COLUMN audit.access_request.last_used_at IS 'When the last of them was requested.';
COMMENT ON COLUMN audit.access_request.signed_off_by IS 'The login that signed a break glass off; null: nobody has.';

CREATE OR REPLACE VIEW audit.break_glass WITH (security_invoker = true) AS
SELECT q.tenant, q.id AS request, q.key, q.idp, q.subject, q.actor_idp, q.actor, q.reason, q.rule, q.requested_at, now() - q.requested_at AS open_for,
       q.grant_id, g.valid_until, coalesce(g.enabled AND g.valid_until > now(), false) AS in_force,
       format('INSERT INTO broker.grant_review (grant_id, verdict, note) VALUES (%s, ''remove'', ''…'');', q.grant_id) AS sign_off
  FROM broker.access_request AS q
  LEFT JOIN broker.subject_grant AS g ON g.id = q.grant_id
 WHERE q.break_glass AND q.signed_off_by IS NULL;
COMMENT ON VIEW audit.break_glass IS 'Break glasses that nobody has signed off. After 24 hours the rule refuses another one.';
COMMENT ON COLUMN audit.break_glass.request IS 'The id in broker.access_request.';
COMMENT ON COLUMN audit.break_glass.open_for IS 'The time since the request.';
COMMENT ON COLUMN audit.break_glass.in_force IS 'Whether the access lasts.';
COMMENT ON COLUMN audit.break_glass.sign_off IS 'What another person runs to sign it off: remove ends the access, keep leaves it until its end.';
