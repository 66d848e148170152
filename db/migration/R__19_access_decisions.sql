-- Decisions on requests for access.

DROP FUNCTION IF EXISTS internal.names_subject(broker.access_approver, text, text);

-- A row names whom its issuer gave the subject, whichever identity provider accepts the token.
CREATE OR REPLACE FUNCTION internal.names_subject(approver broker.access_approver, idp text, issuers text[], subject text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (approver.idp = names_subject.idp OR approver.issuer = ANY (issuers))
       AND CASE approver.match WHEN 'exact' THEN approver.subject = names_subject.subject
                               ELSE internal.glob_matches(approver.subject, names_subject.subject) END;
$$;
COMMENT ON FUNCTION internal.names_subject(broker.access_approver, text, text[], text) IS
    'Whether a row of broker.access_approver matches a subject, through its identity provider or another one of these issuers.';

CREATE OR REPLACE FUNCTION internal.is_short_enough(asked broker.access_request, approver broker.access_approver) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(asked.access <= approver.max_access, true);
$$;
COMMENT ON FUNCTION internal.is_short_enough(broker.access_request, broker.access_approver) IS
    'Whether a request is for no longer than an approver may decide.';

-- By all names of a person, so that another row of the same program does not make it a person, nor a token without some claim. A
-- glob with claims is about the tokens that have them alone.
CREATE OR REPLACE FUNCTION internal.is_program(asked broker.access_request, login text, issuer text, subject text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.access_approver AS a
                     JOIN internal.names_of_person(asked.tenant, is_program.login, is_program.issuer, is_program.subject) AS n
                       ON a.role_name = n.login_name OR internal.names_subject(a, NULL, ARRAY[n.of_issuer], n.subject_name)
                    WHERE a.tenant = asked.tenant AND a.rule = asked.rule AND a.program AND (a.claims = '{}' OR a.match = 'exact'));
END
$$;
COMMENT ON FUNCTION internal.is_program(broker.access_request, text, text, text) IS
    'Whether a row of broker.access_approver marks any login or subject of a person as a program.';

CREATE OR REPLACE FUNCTION internal.standing_in(asked broker.access_request, login text, idp text, subject text, claims jsonb,
                                                OUT steps int[], OUT program boolean, OUT approvers bigint[])
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    own_issuer constant text := (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = asked.tenant AND p.name = standing_in.idp);
    issuers constant text[] := internal.issuers_like(asked.tenant, own_issuer);
BEGIN
    -- Who is a program is one also by a row that awaits approval, or else an edit of the row would make it a person; and through
    -- each identity provider of its issuer. If the claims of all rows together cost too much to evaluate, those with claims let
    -- nobody decide, and mark programs all the same.
    SELECT coalesce(array_agg(DISTINCT n.step ORDER BY n.step) FILTER (WHERE n.may_decide), '{}'), coalesce(bool_or(n.program), false),
           coalesce(array_agg(n.id ORDER BY n.id) FILTER (WHERE n.may_decide), '{}')
      INTO steps, program, approvers
      FROM (SELECT a.id, a.step, a.program, a.claims, coalesce(a.role_name = login, false) AS by_login,
                   internal.is_in_force(a.tenant, a.approved_at) AND internal.is_short_enough(asked, a)
                   AND (a.role_name = login OR a.idp = standing_in.idp)
                   AND (a.claims = '{}' OR sum(internal.claims_steps(a.claims, standing_in.claims)) OVER () <= 250000) AS may_decide,
                   sum(internal.claims_steps(a.claims, standing_in.claims)) OVER () > 250000 AS costly
              FROM broker.access_approver AS a
             WHERE a.tenant = asked.tenant AND a.rule = asked.rule AND (a.program OR internal.is_in_force(a.tenant, a.approved_at))
               AND (a.role_name = login OR internal.names_subject(a, standing_in.idp, issuers, standing_in.subject))) AS n
     WHERE CASE WHEN n.by_login OR n.claims = '{}' THEN true WHEN n.costly THEN n.program ELSE internal.claims_met(n.claims, standing_in.claims) END;
    program := program OR internal.is_program(asked, login, own_issuer, subject);
END
$$;
COMMENT ON FUNCTION internal.standing_in(broker.access_request, text, text, text, jsonb) IS
    'The steps in which rows of broker.access_approver let a login, or the subject of a token, decide a request (empty: none does), whether a row marks the login or subject as a program, and the ids of the rows.';

CREATE OR REPLACE FUNCTION internal.person_is_blocked(of_tenant text, login text, issuer text, subject text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM internal.names_of_person(of_tenant, login, issuer, subject) AS n
                     JOIN broker.identity_provider AS p ON p.tenant = of_tenant AND p.issuer = n.of_issuer
                    WHERE internal.blocking(of_tenant, p.name, n.subject_name, clock_timestamp()) IS NOT NULL);
END
$$;
COMMENT ON FUNCTION internal.person_is_blocked(text, text, text, text) IS
    'Whether a person is blocked. The person is given by a login, or by an issuer and a subject; a block of any subject of the person counts.';

CREATE OR REPLACE FUNCTION internal.may_decide(asked broker.access_request, login text, idp text, subject text, claims jsonb) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF asked.consent THEN
        RETURN EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = asked.tenant AND p.name = may_decide.idp
                          AND (p.issuer, may_decide.subject) = (asked.issuer, asked.subject));
    END IF;
    RETURN (SELECT s.steps <> '{}' FROM internal.standing_in(asked, login, idp, subject, claims) AS s);
END
$$;
COMMENT ON FUNCTION internal.may_decide(broker.access_request, text, text, text, jsonb) IS
    'Whether a row of broker.access_approver lets a login, or the subject of a token, decide a request; for a request by consent, whether it is the subject of the request.';

CREATE OR REPLACE FUNCTION internal.is_excluded_from(asked broker.access_request, login text, issuer text, subject text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN internal.is_party_of(asked, login, issuer, subject)
       AND NOT (asked.consent AND login IS NULL AND (issuer, subject) = (asked.issuer, asked.subject));
END
$$;
COMMENT ON FUNCTION internal.is_excluded_from(broker.access_request, text, text, text) IS
    'Whether a person made a request or acted in it, and so may not decide it. The subject of a request by consent may.';

CREATE OR REPLACE FUNCTION internal.token_age(claims jsonb) RETURNS int
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF jsonb_typeof(claims -> 'iat') = 'number' THEN
        RETURN CASE WHEN (claims ->> 'iat')::numeric BETWEEN 0 AND 1e10
                    THEN least(2147483647, greatest(0, ceil(extract(epoch FROM clock_timestamp()) - (claims ->> 'iat')::numeric)))::int END;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.token_age(jsonb) IS 'The seconds since a token was issued; null: the token does not say when.';

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
             WHERE d.request = asked.id ORDER BY d.id DESC LIMIT 1);
END
$$;
COMMENT ON FUNCTION internal.verdict_of(broker.access_request, text, text, text) IS
    'The last verdict of a person on a request, by any login or subject of the person; null: none.';

CREATE OR REPLACE FUNCTION internal.allowed_before(of_table text, of_tenant text, of_name text, before_revision bigint) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN internal.what_it_allows((internal.change_before(of_table, of_tenant, of_name, before_revision)).after);
END
$$;
COMMENT ON FUNCTION internal.allowed_before(text, text, text, bigint) IS
    'What a row, given by its id or name, allowed just before a revision of its tenant; null: the row did not exist.';

DROP FUNCTION IF EXISTS internal.may_be_blocked_since(text, text, text, bigint, timestamptz);

CREATE OR REPLACE FUNCTION internal.moved_here_since(of_tenant text, since_revision bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = of_tenant AND t.moved_from IS NOT NULL)
       AND EXISTS (SELECT FROM internal.changes_of_row('tenant', of_tenant, of_tenant) AS c
                    WHERE c.revision > since_revision AND c.before -> 'moved_from' IS DISTINCT FROM c.after -> 'moved_from');
END
$$;
COMMENT ON FUNCTION internal.moved_here_since(text, bigint) IS 'Whether a tenant moved to this cell after a revision of its history.';

-- The claims of a token are not kept. Revisions are in the order of commits, and times are not. A token that another cell
-- accepted was compared with none of the blocks in all tenants of this one.
CREATE OR REPLACE FUNCTION internal.may_be_blocked_since(of_tenant text, idp text, subject text, since_revision bigint, since_in_all_tenants bigint)
    RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    known_in_all_tenants constant bigint := CASE WHEN internal.moved_here_since(of_tenant, since_revision) THEN 0 ELSE since_in_all_tenants END;
BEGIN
    RETURN EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE (b.tenant = of_tenant OR b.tenant IS NULL) AND b.enabled AND coalesce(b.until > clock_timestamp(), true) AND b.claims <> '{}'
                      AND coalesce(b.idp = may_be_blocked_since.idp, true)
                      AND CASE b.match WHEN 'exact' THEN b.subject = may_be_blocked_since.subject
                                       ELSE internal.glob_matches(b.subject, may_be_blocked_since.subject) END
                      AND CASE WHEN b.tenant IS NULL
                               THEN EXISTS (SELECT FROM log.config_change AS c
                                             WHERE c.tenant IS NULL AND c.revision > known_in_all_tenants AND c.table_name = 'blocked_subject'
                                               AND coalesce(c.after, c.before) ->> 'id' = b.id::text)
                               ELSE coalesce((internal.last_change_of('blocked_subject', b.tenant, b.id::text)).revision > since_revision, true) END);
END
$$;
COMMENT ON FUNCTION internal.may_be_blocked_since(text, text, text, bigint, bigint) IS
    'Whether a block by claims was written or changed after a revision of a tenant (in all tenants: of the tables without tenant), and may cover a token of a subject that was accepted then.';

CREATE OR REPLACE FUNCTION internal.asked_at(asked broker.access_request) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT min(c.revision) FROM internal.changes_of_row('access_request', asked.tenant, asked.id::text) AS c);
END
$$;
COMMENT ON FUNCTION internal.asked_at(broker.access_request) IS 'The revision at which a request was made.';

CREATE OR REPLACE FUNCTION internal.parties_may_be_blocked(asked broker.access_request) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked_at constant bigint := internal.asked_at(asked);
BEGIN
    RETURN internal.may_be_blocked_since(asked.tenant, asked.idp, asked.subject, asked_at, asked.all_tenants_revision)
        OR asked.actor IS NOT NULL AND internal.may_be_blocked_since(asked.tenant, asked.actor_idp, asked.actor, asked_at, asked.all_tenants_revision);
END
$$;
COMMENT ON FUNCTION internal.parties_may_be_blocked(broker.access_request) IS
    'Whether a block by claims that was written after a request may cover its requester or actor.';

-- Without a record of the request, all three count as changed.
CREATE OR REPLACE FUNCTION internal.changed_since_asked(asked broker.access_request) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked_at constant bigint := internal.asked_at(asked);
BEGIN
    RETURN (SELECT string_agg(r.shown, ', ' ORDER BY r.of_table DESC)
              FROM (VALUES ('key', 'key', asked.key), ('rule', 'access_rule', asked.rule::text),
                           ('access provider', 'access_provider',
                            (SELECT k.provider FROM broker.key AS k WHERE k.tenant = asked.tenant AND k.name = asked.key))
                   ) AS r (shown, of_table, of_name)
             WHERE internal.allowed_before(r.of_table, asked.tenant, r.of_name, asked_at)::text
                   IS DISTINCT FROM internal.allowed_before(r.of_table, asked.tenant, r.of_name, 9223372036854775807)::text);
END
$$;
COMMENT ON FUNCTION internal.changed_since_asked(broker.access_request) IS
    'Which of the rule, key and access provider of a request do not allow the same as when the request was made; null: none.';

-- The grant would be for whomever the other issuer gives the subject to.
CREATE OR REPLACE FUNCTION internal.issuer_changed(asked broker.access_request) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT min(w.idp) FROM (VALUES (asked.idp, asked.issuer), (asked.actor_idp, asked.actor_issuer)) AS w (idp, issuer)
             WHERE w.idp IS NOT NULL
               AND NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = asked.tenant AND p.name = w.idp AND p.issuer = w.issuer));
END
$$;
COMMENT ON FUNCTION internal.issuer_changed(broker.access_request) IS
    'The identity provider of a requester or its actor that has another issuer than when the request was made; null: none.';

CREATE OR REPLACE FUNCTION internal.revisions_of(asked broker.access_request) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN jsonb_build_object(
        'rule', internal.row_revision('access_rule', asked.tenant, asked.rule::text),
        'key', internal.row_revision('key', asked.tenant, asked.key),
        'accessProvider', (SELECT internal.row_revision('access_provider', k.tenant, k.provider)
                             FROM broker.key AS k WHERE k.tenant = asked.tenant AND k.name = asked.key));
END
$$;
COMMENT ON FUNCTION internal.revisions_of(broker.access_request) IS
    'The present revisions of the rule, key and access provider of a request, which a decision names.';

CREATE OR REPLACE FUNCTION internal.what_it_gives(asked broker.access_request) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT jsonb_build_object(
                       'provider', k.provider, 'type', a.type,
                       'target', internal.named_targets(y.target_setting || y.further_targets, y.key_settings, k.settings),
                       'settings', k.settings, 'maxDuration', least(k.max_duration, y.max_duration, t.max_duration),
                       'outputs', ARRAY(SELECT o FROM jsonb_object_keys(CASE k.outputs WHEN '{}' THEN y.default_outputs ELSE k.outputs END) AS o
                                         ORDER BY o COLLATE "C"))
              FROM broker.key AS k
              JOIN broker.tenant AS t ON t.name = k.tenant
              JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
              JOIN broker.provider_type AS y ON y.type = a.type
             WHERE k.tenant = asked.tenant AND k.name = asked.key);
END
$$;
COMMENT ON FUNCTION internal.what_it_gives(broker.access_request) IS
    'What the key of a request gives at present: access provider, type, target, its settings (which have up to 16 KiB and no secret), the longest life of a credential in seconds, the names of its outputs; null: there is no such key.';

-- Even a change that was taken back since is one: its reader saw other rows.
CREATE OR REPLACE FUNCTION internal.changed_since_shown(asked broker.access_request, shown jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    present constant jsonb := internal.revisions_of(asked);
BEGIN
    RETURN (SELECT string_agg(r.words, ', ' ORDER BY r.place)
              FROM (VALUES (1, 'rule', 'rule'), (2, 'key', 'key'), (3, 'accessProvider', 'access provider')) AS r (place, member, words)
             WHERE shown -> r.member IS DISTINCT FROM present -> r.member);
END
$$;
COMMENT ON FUNCTION internal.changed_since_shown(broker.access_request, jsonb) IS
    'Which of the rule, key and access provider of a request have another revision than the approver saw; null: none.';

-- Each decision makes the next one dearer to count, and each notice contains all of them.
CREATE OR REPLACE FUNCTION internal.has_all_decisions(of_request uuid, of_programs boolean) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    RETURN (SELECT count(*) >= 50 FROM broker.access_decision AS d WHERE d.request = of_request AND d.program = of_programs);
END
$$;
COMMENT ON FUNCTION internal.has_all_decisions(uuid, boolean) IS 'Whether a request has as many decisions of people, or of programs, as it takes: 50.';

CREATE OR REPLACE FUNCTION internal.cannot_be_approved(of_request uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    asked broker.access_request;
BEGIN
    SELECT q.* INTO asked FROM broker.access_request AS q WHERE q.id = of_request;
    RETURN asked.status = 'pending'
       AND (internal.issuer_changed(asked) IS NOT NULL OR internal.changed_since_asked(asked) IS NOT NULL OR internal.parties_may_be_blocked(asked)
            OR internal.has_all_decisions(asked.id, false) OR asked.people = 0 AND internal.has_all_decisions(asked.id, true));
END
$$;
COMMENT ON FUNCTION internal.cannot_be_approved(uuid) IS 'Whether a request is pending, but an approval of it would be rejected because the request is void.';

-- login, or idp, issuer, subject and claims of a token. shown: the revisions that the decision names; null: it names none.
CREATE OR REPLACE FUNCTION internal.decision_fault(asked broker.access_request, verdict text, login text, idp text, issuer text, subject text, claims jsonb,
                                                   shown jsonb, OUT refusal text, OUT detail text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    before constant text := internal.verdict_of(asked, login, issuer, subject);
    rule broker.access_rule;
    by_program boolean;
BEGIN
    IF verdict = 'approve' AND (internal.has_all_decisions(asked.id, false) OR internal.has_all_decisions(asked.id, true)) THEN
        SELECT s.program INTO by_program FROM internal.standing_in(asked, login, idp, subject, claims) AS s;
    END IF;
    SELECT r.* INTO rule FROM broker.access_rule AS r WHERE r.id = asked.rule AND r.tenant = asked.tenant;
    SELECT f.refusal, f.detail INTO decision_fault.refusal, decision_fault.detail FROM (VALUES
        (verdict IS NULL OR verdict NOT IN ('approve', 'refuse', 'withdraw'), 'bad_verdict', 'The verdict must be approve, refuse or withdraw.'),
        (internal.is_excluded_from(asked, login, issuer, subject), 'own_request', 'You are the requester or the actor of this request, so you cannot decide it.'),
        (before IS NOT DISTINCT FROM verdict, 'same', format('You have already made this decision: %s.', before)),
        (before IS NOT NULL AND verdict <> 'withdraw', 'already_decided', format('You have already decided on this request: %s.', before)),
        (NOT internal.may_decide(asked, login, idp, subject, claims), 'not_an_approver', 'You are not an approver of this request.'),
        (asked.consent AND coalesce(internal.token_age(claims), 301) > 300, 'token_not_fresh',
         'Consent needs a token that was issued at most five minutes ago. Log in again, and decide then.'),
        (subject IS NOT NULL AND internal.blocking(asked.tenant, idp, subject, clock_timestamp(), claims) IS NOT NULL
         OR internal.person_is_blocked(asked.tenant, login, issuer, subject), 'blocked',
         'You are blocked, so you cannot decide requests. Ask an admin of the tenant.'),
        -- What follows is about approving: no refusal means that the access is withdrawn.
        (verdict = 'withdraw', CASE WHEN NOT internal.access_lasts(asked) THEN 'not_granted' END,
         CASE asked.status WHEN 'pending' THEN 'The request is pending, so there is no access to withdraw. Refuse it instead.'
              WHEN 'granted' THEN 'The access has ended already.'
              ELSE format('There is no access to withdraw: the request is %s.', asked.status) END),
        (asked.status <> 'pending', CASE asked.status WHEN 'lapsed' THEN 'lapsed' WHEN 'void' THEN 'void' ELSE 'not_pending' END,
         format('The request is not pending any more: it is %s.', asked.status)),
        (asked.expires_at <= clock_timestamp(), 'lapsed', 'The request was not decided in time and has lapsed.'),
        (NOT by_program AND internal.has_all_decisions(asked.id, false),
         'void', 'The request is void, because 50 people, the maximum, have decided on it without enough approvals. The requester can ask again.'),
        (by_program AND internal.has_all_decisions(asked.id, true), 'already_decided',
         '50 programs, the maximum, have decided on this request already. '
         || CASE WHEN asked.people > 0 THEN 'People can still decide on it.' ELSE 'Its requester can ask again.' END),
        (rule.id IS NULL OR NOT rule.enabled OR NOT internal.is_in_force(rule.tenant, rule.approved_at) OR (rule.key, rule.approvals) IS DISTINCT FROM (asked.key, asked.approvals),
         'void', 'The rule of the request was changed or disabled, so the request is void.'),
        (asked.status = 'pending' AND verdict = 'approve' AND internal.issuer_changed(asked) IS NOT NULL, 'void',
         format('The request is void, because the issuer of identity provider "%s" has changed since the request was made.', internal.issuer_changed(asked))),
        (asked.status = 'pending' AND verdict = 'approve' AND internal.changed_since_asked(asked) IS NOT NULL, 'void',
         format('The request is void, because these have changed since it was made: %s.', internal.changed_since_asked(asked))),
        (asked.status = 'pending' AND verdict = 'approve' AND shown IS NOT NULL AND internal.changed_since_shown(asked, shown) IS NOT NULL, 'void',
         format('The request is void, because these have changed since you saw it: %s.', internal.changed_since_shown(asked, shown))),
        (asked.status = 'pending' AND verdict = 'approve' AND internal.parties_may_be_blocked(asked), 'void',
         'The request is void, because a block with claims that may cover the requester was written after the request. The requester can ask again.'),
        (verdict = 'approve' AND internal.block_of_parties(asked.tenant, asked.idp, asked.subject, asked.actor_idp, asked.actor) IS NOT NULL,
         'requester_blocked', 'The requester is blocked, so the request cannot be approved.')
        ) AS f (applies, refusal, detail) WHERE f.applies LIMIT 1;
END
$$;
COMMENT ON FUNCTION internal.decision_fault(broker.access_request, text, text, text, text, text, jsonb, jsonb) IS
    'Why a person cannot make this decision on a request; nulls if the person can.';

-- The tenant before the request, as everywhere: so a decision waits for each other edit of the tenant, and sees it. The grant,
-- which a withdrawal disables, before the tenant, as in every edit of a grant.
CREATE OR REPLACE FUNCTION internal.locked_request(of_request uuid) RETURNS broker.access_request
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found broker.access_request;
BEGIN
    PERFORM internal.refuse_old_snapshot('A decision');
    PERFORM FROM broker.subject_grant AS g WHERE g.request_id = of_request FOR NO KEY UPDATE;
    -- The grant would wait for these, after its request was checked.
    PERFORM FROM broker.access_request AS q JOIN broker.key AS k ON k.tenant = q.tenant AND k.name = q.key WHERE q.id = of_request FOR KEY SHARE OF k;
    PERFORM FROM broker.access_request AS q JOIN broker.identity_provider AS p ON p.tenant = q.tenant AND p.name IN (q.idp, q.actor_idp)
      WHERE q.id = of_request FOR KEY SHARE OF p;
    PERFORM FROM broker.tenant AS t
      WHERE t.name = (SELECT q.tenant FROM broker.access_request AS q WHERE q.id = of_request) FOR NO KEY UPDATE;
    SELECT q.* INTO found FROM broker.access_request AS q WHERE q.id = of_request FOR UPDATE;
    RETURN found;
END
$$;
COMMENT ON FUNCTION internal.locked_request(uuid) IS 'A request, locked with its grant and its tenant.';

-- Without a login of the service's own role (DATABASE_SINGLE_ROLE), the owner's login is the service.
CREATE OR REPLACE FUNCTION internal.session_is_the_service() RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN internal.login_is('the service')
        OR pg_has_role(session_user, '${owner_role}', 'MEMBER')
           AND NOT EXISTS (SELECT FROM pg_auth_members AS m WHERE m.roleid = '${app_role}'::regrole);
END
$$;
COMMENT ON FUNCTION internal.session_is_the_service() IS 'Whether the login is the one that the broker uses.';

-- By revisions: a change has no later time than its commit, and a vote may have waited for it.
CREATE OR REPLACE FUNCTION internal.requires_other_claims(of_tenant text, of_idp text, since_revision bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN internal.allowed_before('identity_provider', of_tenant, of_idp, since_revision) ->> 'required_claims'
           IS DISTINCT FROM (SELECT p.required_claims::text FROM broker.identity_provider AS p WHERE p.tenant = of_tenant AND p.name = of_idp);
END
$$;
COMMENT ON FUNCTION internal.requires_other_claims(text, text, bigint) IS
    'Whether the required_claims of an identity provider differ from those just before a revision of its tenant.';

-- When it is settled, not when it was given: an approver who was removed or blocked since no longer counts, nor a login that is
-- no admin by now. The claims of the token aren't kept, so a row that asks for claims counts only if the token met it and it
-- has not changed since.
CREATE OR REPLACE FUNCTION internal.counted_in(asked broker.access_request, decided broker.access_decision, OUT steps int, OUT program boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    issuers constant text[] := internal.issuers_like(asked.tenant, decided.issuer);
    decided_at constant bigint := (internal.last_change_of('access_decision', asked.tenant, decided.id::text)).revision;
BEGIN
    IF decided.decided_by IS NOT NULL AND internal.login_fault(decided.decided_by, asked.tenant) IS NOT NULL
       OR internal.person_is_blocked(asked.tenant, decided.decided_by, decided.issuer, decided.subject)
       OR decided.subject IS NOT NULL
          AND (internal.blocking(asked.tenant, decided.idp, decided.subject, clock_timestamp()) IS NOT NULL
               OR NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = asked.tenant AND p.name = decided.idp
                                 AND p.issuer = decided.issuer AND p.enabled AND p.accepts && '{subject,approver}')
               OR internal.requires_other_claims(asked.tenant, decided.idp, decided_at)
               OR internal.may_be_blocked_since(asked.tenant, decided.idp, decided.subject, decided_at, decided.all_tenants_revision)) THEN
        steps := 0;
        program := decided.program;
        RETURN;
    END IF;
    SELECT coalesce(bit_or(1 << a.step) FILTER (WHERE a.step = ANY (decided.steps) AND internal.is_in_force(a.tenant, a.approved_at)
                                                   AND internal.is_short_enough(asked, a)
                                                   AND (decided.decided_by IS NOT NULL OR a.idp = decided.idp)), 0),
           decided.program OR coalesce(bool_or(a.program), false) OR internal.is_program(asked, decided.decided_by, decided.issuer, decided.subject)
      INTO steps, program
      FROM broker.access_approver AS a
     WHERE a.tenant = asked.tenant AND a.rule = asked.rule
       AND CASE WHEN decided.decided_by IS NOT NULL THEN a.role_name = decided.decided_by
                ELSE internal.names_subject(a, decided.idp, issuers, decided.subject)
                 AND (a.claims = '{}' OR a.id = ANY (decided.approvers)
                                         AND coalesce((internal.last_change_of('access_approver', a.tenant, a.id::text)).revision < decided_at, false)) END;
    -- Who is a program only by now sent none.
    IF program AND decided.note IS NULL THEN
        steps := 0;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.counted_in(broker.access_request, broker.access_decision) IS
    'The steps, as bits, in which the decider was an approver of the request then, still is, and is not blocked (0: the decision does not count); and whether the decider is a program.';

CREATE OR REPLACE FUNCTION internal.approvals_of(asked broker.access_request, OUT given int, OUT of_people int)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    decided broker.access_decision;
    counted record;
    logins text[] := '{}';
    subjects text[] := '{}';
    own_logins text[];
    own_subjects text[];
    sets int[] := '{}';
    sets_of_people int[] := '{}';
BEGIN
    IF asked.consent THEN
        SELECT count(*)::int INTO given FROM broker.access_decision AS d
         WHERE d.request = asked.id AND d.verdict = 'approve' AND (d.issuer, d.subject) = (asked.issuer, asked.subject) AND d.token_age <= 300;
        of_people := given;
        RETURN;
    END IF;
    FOR decided IN SELECT d.* FROM broker.access_decision AS d WHERE d.request = asked.id AND d.verdict = 'approve' ORDER BY d.id LOOP
        SELECT c.steps, c.program INTO counted FROM internal.counted_in(asked, decided) AS c;
        CONTINUE WHEN counted.steps = 0;
        SELECT coalesce(array_agg(n.login_name) FILTER (WHERE n.login_name IS NOT NULL), '{}'),
               coalesce(array_agg(n.of_issuer || chr(10) || n.subject_name) FILTER (WHERE n.subject_name IS NOT NULL), '{}')
          INTO own_logins, own_subjects
          FROM internal.names_of_person(asked.tenant, decided.decided_by, decided.issuer, decided.subject) AS n;
        CONTINUE WHEN own_logins && logins OR own_subjects && subjects
                      OR asked.issuer || chr(10) || asked.subject = ANY (own_subjects)
                      OR asked.actor IS NOT NULL AND asked.actor_issuer || chr(10) || asked.actor = ANY (own_subjects);
        logins := logins || own_logins;
        subjects := subjects || own_subjects;
        sets := sets || counted.steps;
        IF NOT counted.program THEN
            sets_of_people := sets_of_people || counted.steps;
        END IF;
    END LOOP;
    given := internal.filled_places(asked.approvals, asked.steps, sets);
    of_people := internal.filled_places(asked.approvals, asked.steps, sets_of_people);
END
$$;
COMMENT ON FUNCTION internal.approvals_of(broker.access_request) IS
    'The number of approvals of a request that count, which are those of its present approvers, and how many could count by people alone. An approver counts once, in one step, and not for their own request.';

CREATE OR REPLACE FUNCTION internal.is_approved(asked broker.access_request) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Who fills places can be chosen so that these people are among them: they can be completed to as many as fit at all.
    RETURN (SELECT a.given >= internal.all_approvals(asked.approvals, asked.steps) AND (asked.consent OR a.of_people >= asked.people)
              FROM internal.approvals_of(asked) AS a);
END
$$;
COMMENT ON FUNCTION internal.is_approved(broker.access_request) IS 'Whether a request has its approvals in each step, and enough of them by people.';

CREATE OR REPLACE FUNCTION internal.decide_access(tenant text, idp text, subject text, claims jsonb, has_actor boolean, id uuid, verdict text, note text,
                                                  shown jsonb DEFAULT NULL)
    RETURNS TABLE (refusal text, detail text, status text, approvals_needed int, approvals_given int, grant_id bigint, valid_until timestamptz,
                   retry_after int, bound int)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked broker.access_request := internal.locked_request(id);
    -- before the claims are compared with the blocks
    all_tenants_revision constant bigint := (SELECT c.revision FROM audit.last_change(NULL) AS c);
    own_issuer constant text := (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = decide_access.tenant AND p.name = decide_access.idp);
    fault record;
    standing record;
    constraint_found text;
BEGIN
    SELECT s.* INTO standing FROM internal.standing_in(asked, NULL, idp, subject, claims) AS s;
    SELECT f.* INTO fault FROM internal.decision_fault(asked, verdict, NULL, idp, own_issuer, subject, claims, shown) AS f;
    IF asked.tenant IS DISTINCT FROM decide_access.tenant OR own_issuer IS NULL OR fault.refusal = 'not_an_approver' THEN
        RETURN QUERY SELECT 'unknown_request', 'No request with this id exists, or you may not decide it.', NULL, NULL::int, NULL::int, NULL::bigint, NULL::timestamptz,
                            NULL::int, NULL::int;
        RETURN;
    ELSIF NOT internal.accepts_token(decide_access.tenant, decide_access.idp, decide_access.claims) THEN
        refusal := 'not_an_approver';
        detail := 'The identity provider of your token was changed just now, and no longer accepts the token. Get a new token, or ask an admin of the tenant.';
    ELSIF has_actor AND fault.refusal IS DISTINCT FROM 'own_request' THEN
        refusal := 'decided_with_actor';
        detail := 'Decide the request with the approver''s token alone, without an actor.';
    ELSIF length(internal.plain_text(note)) > 1000 THEN
        refusal := 'bad_note';
        detail := 'The note must have at most 1000 characters.';
    ELSIF fault.refusal IS NULL AND standing.program AND coalesce(internal.plain_text(note), '') = '' THEN
        refusal := 'bad_note';
        detail := 'A program must name the ticket, schedule or rule behind its decision in the field note.';
    ELSIF fault.refusal IN ('lapsed', 'void') AND asked.status = 'pending' THEN
        PERFORM internal.end_request(asked.id, fault.refusal);
        refusal := fault.refusal;
        detail := fault.detail;
    ELSIF fault.refusal IS NOT NULL THEN
        refusal := nullif(fault.refusal, 'same');
        detail := CASE WHEN refusal IS NOT NULL THEN fault.detail END;
    ELSE
        BEGIN
            INSERT INTO broker.access_decision (request, verdict, note, idp, issuer, subject, steps, approvers, program, token_age, all_tenants_revision)
            VALUES (asked.id, decide_access.verdict, decide_access.note, decide_access.idp, own_issuer, decide_access.subject, coalesce(nullif(standing.steps, '{}'), '{1}'),
                    standing.approvers, standing.program, CASE WHEN asked.consent THEN internal.token_age(claims) END, all_tenants_revision);
        EXCEPTION WHEN integrity_constraint_violation THEN
            GET STACKED DIAGNOSTICS constraint_found = CONSTRAINT_NAME, detail = MESSAGE_TEXT;
            refusal := internal.refusal_of(constraint_found, 'bad_note');
            SELECT c.retry_after, c.bound INTO retry_after, bound FROM internal.change_bound(constraint_found, decide_access.tenant, decide_access.verdict = 'withdraw') AS c;
        END;
    END IF;
    RETURN QUERY
    SELECT decide_access.refusal, decide_access.detail, q.status, CASE WHEN q.break_glass THEN 0 ELSE internal.all_approvals(q.approvals, q.steps) END,
           CASE q.status WHEN 'pending' THEN (SELECT a.given FROM internal.approvals_of(q) AS a)
                ELSE (SELECT count(*)::int FROM broker.access_decision AS d WHERE d.request = q.id AND d.verdict = 'approve') END, q.grant_id,
           (SELECT g.valid_until FROM broker.subject_grant AS g WHERE g.id = q.grant_id), decide_access.retry_after, decide_access.bound
      FROM broker.access_request AS q WHERE q.id = asked.id;
END
$$;
COMMENT ON FUNCTION internal.decide_access(text, text, text, jsonb, boolean, uuid, text, text, jsonb) IS
    'Records the decision on a request by a person with a token, who saw the revisions in shown. Returns the refusal (null: decided) and the request afterwards.';
