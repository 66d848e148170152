-- Lists of requests for access, giving access back, lapsing.

-- ---------------------------------------------------------------- lists

DROP FUNCTION IF EXISTS internal.access_requests(text, text, text, jsonb, text, uuid);
DROP FUNCTION IF EXISTS internal.access_requests(text, text, text, jsonb, text, uuid, text, text);
CREATE OR REPLACE FUNCTION internal.waits_for(asked broker.access_request, idp text, issuer text, subject text, claims jsonb, through_actor boolean) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN asked.status = 'pending' AND asked.expires_at > clock_timestamp() AND NOT (asked.consent AND through_actor)
       AND NOT internal.is_excluded_from(asked, NULL, issuer, subject) AND internal.may_decide(asked, NULL, idp, subject, claims)
       AND internal.verdict_of(asked, NULL, issuer, subject) IS NULL;
END
$$;
COMMENT ON FUNCTION internal.waits_for(broker.access_request, text, text, text, jsonb, boolean) IS
    'Whether a request waits for the decision of a token''s subject. through_actor: an actor acts for the subject, which is no consent.';

CREATE OR REPLACE FUNCTION internal.may_withdraw(asked broker.access_request, idp text, issuer text, subject text, claims jsonb, through_actor boolean) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN NOT through_actor AND internal.access_lasts(asked)
       AND NOT internal.is_party_of(asked, NULL, issuer, subject) AND internal.may_decide(asked, NULL, idp, subject, claims);
END
$$;
COMMENT ON FUNCTION internal.may_withdraw(broker.access_request, text, text, text, jsonb, boolean) IS
    'Whether a token''s subject, as an approver, may withdraw the access of a request. The requester gives the access back instead.';

-- What ends last of a tenant's access, and of that only the rules that name the subject: so a list costs the same whatever the
-- tenant has granted.
CREATE OR REPLACE FUNCTION internal.withdrawable_access(of_tenant text, idp text, issuer text, subject text, claims jsonb) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
AS $$
DECLARE
    rules constant bigint[] := ARRAY(
        SELECT DISTINCT a.rule FROM broker.access_approver AS a
         WHERE a.tenant = of_tenant AND a.idp = withdrawable_access.idp AND internal.names_subject(a, withdrawable_access.idp, '{}', withdrawable_access.subject));
BEGIN
    RETURN QUERY
    SELECT q.id
      FROM (SELECT g.request_id, g.valid_until FROM broker.subject_grant AS g
             WHERE g.tenant = of_tenant AND g.request_id IS NOT NULL AND g.enabled AND g.valid_until > now()
             ORDER BY g.valid_until DESC LIMIT 1000) AS g
      JOIN broker.access_request AS q ON q.id = g.request_id
     WHERE q.rule = ANY (rules)
       AND internal.may_withdraw(q, withdrawable_access.idp, withdrawable_access.issuer, withdrawable_access.subject, withdrawable_access.claims, false)
     ORDER BY g.valid_until DESC, q.id LIMIT 200;
END
$$;
COMMENT ON FUNCTION internal.withdrawable_access(text, text, text, text, jsonb) IS
    'Up to 200 requests, among the 1,000 of a tenant whose access ends last, whose access a token''s subject may withdraw as an approver.';

CREATE OR REPLACE FUNCTION internal.access_requests(own_tenant text, own_idp text, own_subject text, own_claims jsonb, wanted text, wanted_id uuid,
                                                    with_actor_idp text DEFAULT NULL, with_actor text DEFAULT NULL)
    RETURNS TABLE (id uuid, key text, idp text, subject text, actor_idp text, actor text, reason text, access int, requested_at timestamptz,
                   expires_at timestamptz, status text, grant_id bigint, valid_until timestamptz, in_force boolean, approvals_needed int,
                   approvals_given int, break_glass boolean, is_mine boolean, may_decide boolean, may_withdraw boolean, steps int[], people int, consent boolean, decisions jsonb,
                   credentials jsonb, gives jsonb, revisions jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    own_issuer constant text := (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = own_tenant AND p.name = own_idp);
    -- finds rows by an index; anyone can choose a subject that has the hash of another
    person constant bigint := hashtextextended(own_issuer || ' ' || own_subject, 0);
    found uuid[];
BEGIN
    CASE wanted
    WHEN 'me' THEN
        found := ARRAY(SELECT m.id FROM (
            (SELECT q.id, q.requested_at FROM broker.access_request AS q
              WHERE q.tenant = own_tenant AND hashtextextended(q.issuer || ' ' || q.subject, 0) = person AND (q.issuer, q.subject) = (own_issuer, own_subject)
                AND (with_actor IS NULL OR q.actor_idp = with_actor_idp AND q.actor = with_actor)
              ORDER BY q.requested_at DESC LIMIT 100)
             UNION
            (SELECT q.id, q.requested_at FROM broker.access_request AS q
              WHERE with_actor IS NULL AND q.tenant = own_tenant AND q.actor IS NOT NULL AND hashtextextended(q.actor_issuer || ' ' || q.actor, 0) = person
                AND (q.actor_issuer, q.actor) = (own_issuer, own_subject)
              ORDER BY q.requested_at DESC LIMIT 100)) AS m ORDER BY m.requested_at DESC LIMIT 100);
    WHEN 'decision' THEN
        found := ARRAY(SELECT q.id FROM broker.access_request AS q
                        WHERE q.tenant = own_tenant AND q.status = 'pending'
                          AND internal.waits_for(q, own_idp, own_issuer, own_subject, own_claims, with_actor IS NOT NULL)
                        ORDER BY q.requested_at, q.id LIMIT 200);
    WHEN 'withdrawal' THEN
        IF with_actor IS NULL THEN
            found := ARRAY(SELECT internal.withdrawable_access(own_tenant, own_idp, own_issuer, own_subject, own_claims));
        END IF;
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
           CASE WHEN q.break_glass THEN 0 ELSE internal.all_approvals(q.approvals, q.steps) END, CASE q.status WHEN 'pending' THEN (SELECT a.given FROM internal.approvals_of(q) AS a) ELSE given.approvals END::int, q.break_glass, mine.is_party,
           internal.waits_for(q, own_idp, own_issuer, own_subject, own_claims, with_actor IS NOT NULL),
           CASE WHEN mine.is_party THEN false ELSE internal.may_withdraw(q, own_idp, own_issuer, own_subject, own_claims, with_actor IS NOT NULL) END,
           q.steps, q.people, q.consent, given.decisions, CASE WHEN wanted = 'one' THEN internal.shown_credentials(q) ELSE '[]' END,
           CASE q.status WHEN 'pending' THEN internal.what_it_gives(q) END, CASE q.status WHEN 'pending' THEN internal.revisions_of(q) END
      FROM unnest(found) WITH ORDINALITY AS f (id, place)
      JOIN broker.access_request AS q ON q.id = f.id
      LEFT JOIN broker.subject_grant AS g ON g.id = q.grant_id
     CROSS JOIN LATERAL (SELECT internal.is_party_of(q, NULL, own_issuer, own_subject)) AS mine (is_party)
     CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE d.verdict = 'approve') AS approvals, internal.shown_decisions(q.id) AS decisions
                           FROM broker.access_decision AS d WHERE d.request = q.id) AS given
     ORDER BY f.place;
END
$$;
COMMENT ON FUNCTION internal.access_requests(text, text, text, jsonb, text, uuid, text, text) IS
    'The requests that a token may see. wanted: me (its own; with an actor, those that both made together), decision (those that it may decide), withdrawal (those whose access it may withdraw), one (the request with an id).';

CREATE OR REPLACE FUNCTION internal.shown_decisions(of_request uuid) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('verdict', d.verdict, 'note', d.note, 'decidedBy', coalesce(d.decided_by, d.subject), 'idp', d.idp,
                                                 'steps', to_jsonb(d.steps), 'program', d.program,
                                                 'at', d.created_at) ORDER BY d.id), '[]')
      FROM broker.access_decision AS d WHERE d.request = of_request;
$$;
COMMENT ON FUNCTION internal.shown_decisions(uuid) IS 'The decisions on a request, as the service shows them.';

-- ---------------------------------------------------------------- give back, lapse

CREATE OR REPLACE FUNCTION internal.withdraw_access(tenant text, idp text, subject text, id uuid)
    RETURNS TABLE (refusal text, detail text, status text, retry_after int, bound int)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    constraint_found text;
    message text;
    own_issuer constant text := (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = withdraw_access.tenant AND p.name = withdraw_access.idp);
    asked broker.access_request;
BEGIN
    asked := internal.locked_request(withdraw_access.id);
    IF asked.tenant IS DISTINCT FROM withdraw_access.tenant OR own_issuer IS NULL
       OR (asked.issuer, asked.subject) IS DISTINCT FROM (own_issuer, withdraw_access.subject) THEN
        RETURN QUERY SELECT 'unknown_request', 'You made no request with this id.', NULL, NULL::int, NULL::int;
    ELSIF asked.status = 'withdrawn' THEN
        RETURN QUERY SELECT NULL, NULL, asked.status, NULL::int, NULL::int;
    ELSIF asked.status NOT IN ('pending', 'granted') THEN
        RETURN QUERY SELECT 'not_pending', format('The request has ended already: it is %s.', asked.status), asked.status, NULL::int, NULL::int;
    ELSE
        BEGIN
            IF asked.status = 'pending' THEN
                PERFORM internal.end_request(asked.id, 'withdrawn');
            ELSE
                PERFORM internal.end_access(asked, NULL);
            END IF;
            RETURN QUERY SELECT NULL, NULL, 'withdrawn', NULL::int, NULL::int;
        EXCEPTION WHEN integrity_constraint_violation THEN
            GET STACKED DIAGNOSTICS constraint_found = CONSTRAINT_NAME, message = MESSAGE_TEXT;
            RETURN QUERY SELECT internal.refusal_of(constraint_found, 'grant_refused'), message, asked.status, c.retry_after, c.bound
                           FROM internal.change_bound(constraint_found, withdraw_access.tenant, true) AS c;
        END;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.withdraw_access(text, text, text, uuid) IS
    'Withdraws the request of a token''s subject, or gives back the access that it led to.';

-- Reads no table that members may lock: a refused mint waits for nobody.
CREATE OR REPLACE FUNCTION internal.withdrawn_access(own_tenant text, own_idp text, own_subject text, with_actor_idp text, with_actor text, keys text[])
    RETURNS TABLE (key text, request uuid, withdrawn_by text, withdrawn_at timestamptz)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    own_issuer constant text := (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = own_tenant AND p.name = own_idp);
BEGIN
    RETURN QUERY
    SELECT DISTINCT ON (q.key) q.key::text, q.id, w.approver, coalesce(w.since, q.updated_at)
      FROM (SELECT r.* FROM broker.access_request AS r
             WHERE r.tenant = own_tenant AND hashtextextended(r.issuer || ' ' || r.subject, 0) = hashtextextended(own_issuer || ' ' || own_subject, 0)
               AND (r.issuer, r.subject) = (own_issuer, own_subject)
             ORDER BY r.requested_at DESC LIMIT 100) AS q
      LEFT JOIN LATERAL (SELECT internal.named_approver(d), d.created_at FROM broker.access_decision AS d
                          WHERE d.request = q.id AND d.verdict = 'withdraw' ORDER BY d.id DESC LIMIT 1) AS w (approver, since) ON true
     WHERE q.status = 'withdrawn' AND q.grant_id IS NOT NULL AND q.key = ANY (keys)
       AND (q.actor_idp, q.actor) IS NOT DISTINCT FROM (with_actor_idp, with_actor)
       AND coalesce(w.since, q.updated_at) + q.access * interval '1 second' > now()
     ORDER BY q.key, q.requested_at DESC;
END
$$;
COMMENT ON FUNCTION internal.withdrawn_access(text, text, text, text, text, text[]) IS
    'For each of these keys, the last access that was granted to a token''s subject with this actor, if the access was withdrawn and would otherwise still be active: the request, the approver (null: the requester gave it back), and when.';

-- Of each tenant whose lock is free: neither an open edit of one nor how many of its requests are late delays the others'.
CREATE OR REPLACE FUNCTION internal.lapse_access_requests(most int) RETURNS int
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    -- A constant, since a function that may change within the statement is no condition of an index.
    moment constant timestamptz := clock_timestamp();
    share constant int := greatest(most / 10, 1);
    of_tenant text;
    late uuid;
    lapsed int := 0;
BEGIN
    FOR of_tenant IN SELECT q.tenant FROM broker.access_request AS q WHERE q.status = 'pending' AND q.expires_at <= moment
                      GROUP BY q.tenant ORDER BY random() LOOP -- or those with the oldest would have every turn
        -- Those of a tenant that moved away lapse where it is now.
        PERFORM FROM broker.tenant AS t WHERE t.name = of_tenant AND t.moved_to IS NULL FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        FOR late IN SELECT q.id FROM broker.access_request AS q
                     WHERE q.tenant = of_tenant AND q.status = 'pending' AND q.expires_at <= moment
                     ORDER BY q.expires_at LIMIT share FOR UPDATE SKIP LOCKED LOOP
            PERFORM internal.end_request(late, 'lapsed');
            lapsed := lapsed + 1;
        END LOOP;
        EXIT WHEN lapsed >= most;
    END LOOP;
    RETURN lapsed;
END
$$;
COMMENT ON FUNCTION internal.lapse_access_requests(int) IS
    'Makes about so many undecided requests lapse whose time is over, a tenth of them of one tenant; returns their number. Waits for no lock.';
