-- Decisions on requests for access.

CREATE OR REPLACE FUNCTION internal.standing_in(asked broker.access_request, login text, idp text, subject text, claims jsonb,
                                                OUT steps int[], OUT program boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Who is a program is one also by a row that awaits approval, or else an edit of the row would make it a person.
    SELECT coalesce(array_agg(DISTINCT a.step ORDER BY a.step) FILTER (WHERE internal.is_in_force(a.tenant, a.approved_at)), '{}'),
           coalesce(bool_or(a.program), false)
      INTO steps, program
      FROM broker.access_approver AS a
     WHERE a.tenant = asked.tenant AND a.rule = asked.rule
       AND (a.role_name = login
            OR a.idp = standing_in.idp
               AND CASE a.match WHEN 'exact' THEN a.subject = standing_in.subject ELSE internal.glob_matches(a.subject, standing_in.subject) END
               AND internal.claims_steps(a.claims, standing_in.claims) <= 250000 AND internal.claims_met(a.claims, standing_in.claims));
END
$$;
COMMENT ON FUNCTION internal.standing_in(broker.access_request, text, text, text, jsonb) IS
    'The steps in which rows of broker.access_approver let a login, or the subject of a token, decide a request (empty: none does), and whether one says that it is a program.';

CREATE OR REPLACE FUNCTION internal.may_decide(asked broker.access_request, login text, idp text, subject text, claims jsonb) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF asked.consent THEN
        RETURN EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = asked.tenant AND p.name = may_decide.idp
                          AND (p.issuer, may_decide.subject) = (asked.issuer, asked.subject));
    END IF;
    RETURN EXISTS (SELECT FROM broker.access_approver AS a
                    WHERE a.tenant = asked.tenant AND a.rule = asked.rule AND internal.is_in_force(a.tenant, a.approved_at)
                      AND (a.role_name = login
                           OR a.idp = may_decide.idp
                              AND CASE a.match WHEN 'exact' THEN a.subject = may_decide.subject ELSE internal.glob_matches(a.subject, may_decide.subject) END
                              AND internal.claims_steps(a.claims, may_decide.claims) <= 250000 AND internal.claims_met(a.claims, may_decide.claims)));
END
$$;
COMMENT ON FUNCTION internal.may_decide(broker.access_request, text, text, text, jsonb) IS
    'Whether a row of broker.access_approver lets a login, or the subject of a token, decide a request; by consent, whether it is the subject of the request.';

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
    'Whether somebody made a request, or acted in it, and so does not decide it; the subject of a request by consent does.';

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
COMMENT ON FUNCTION internal.token_age(jsonb) IS 'The seconds since a token was issued; null: it does not say when.';

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

CREATE OR REPLACE FUNCTION internal.allowed_before(of_table text, of_tenant text, of_name text, before_revision bigint) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
AS $$
BEGIN
    RETURN (SELECT internal.what_it_allows(c.after) FROM audit.config_change AS c
             WHERE coalesce(c.tenant, '') = of_tenant AND c.table_name = of_table AND c.table_name <> 'subject_grant'
               AND coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '') = of_name
               AND c.revision < before_revision
             ORDER BY coalesce(c.tenant, '') DESC, c.table_name DESC,
                      coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '') DESC, c.revision DESC
             LIMIT 1);
END
$$;
COMMENT ON FUNCTION internal.allowed_before(text, text, text, bigint) IS
    'What a row allowed before a revision of its tenant, by its id or name; null: it was not there.';

-- Without a record of the request, all three count as changed.
CREATE OR REPLACE FUNCTION internal.changed_since_asked(asked broker.access_request) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
AS $$
DECLARE
    asked_at constant bigint := (
        SELECT min(c.revision) FROM audit.config_change AS c
         WHERE coalesce(c.tenant, '') = asked.tenant AND c.table_name = 'access_request' AND c.table_name <> 'subject_grant'
           AND coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '') = asked.id::text);
BEGIN
    RETURN (SELECT string_agg(r.shown, ', ' ORDER BY r.of_table DESC)
              FROM (VALUES ('key', 'key', asked.key), ('rule', 'access_rule', asked.rule::text),
                           ('access provider', 'access_provider',
                            (SELECT k.provider FROM broker.key AS k WHERE k.tenant = asked.tenant AND k.name = asked.key))
                   ) AS r (shown, of_table, of_name)
             WHERE internal.allowed_before(r.of_table, asked.tenant, r.of_name, asked_at)
                   IS DISTINCT FROM internal.allowed_before(r.of_table, asked.tenant, r.of_name, 9223372036854775807));
END
$$;
COMMENT ON FUNCTION internal.changed_since_asked(broker.access_request) IS
    'Which of the rule, key and access provider of a request allow something else than when it was made; null: none.';

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
                       'maxDuration', least(k.max_duration, y.max_duration, t.max_duration),
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
    'What the key of a request gives now: access provider, type, target, the longest life of a credential in seconds, the names of its outputs; null: there is no such key.';

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
    'Which of the rule, key and access provider of a request have another revision than the ones that somebody was shown; null: none.';

-- login, or idp, issuer, subject and claims of a token. shown: the revisions that the decision names; null: it names none.
CREATE OR REPLACE FUNCTION internal.decision_fault(asked broker.access_request, verdict text, login text, idp text, issuer text, subject text, claims jsonb,
                                                   shown jsonb, OUT refusal text, OUT detail text)
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
        (internal.is_excluded_from(asked, login, issuer, subject), 'own_request', 'Nobody decides a request that they made, or acted in.'),
        (before IS NOT DISTINCT FROM verdict, 'same', 'You decided so before.'),
        (before IS NOT NULL, 'already_decided', format('You have decided on this request already: %s.', before)),
        (NOT internal.may_decide(asked, login, idp, subject, claims), 'not_an_approver', 'You are not an approver of this request.'),
        (asked.consent AND coalesce(internal.token_age(claims), 301) > 300, 'token_not_fresh',
         'Consent needs a token that was issued at most five minutes ago. Log in again, and decide then.'),
        (subject IS NOT NULL AND internal.blocking(asked.tenant, idp, subject, clock_timestamp(), claims) IS NOT NULL, 'blocked',
         'You are blocked and cannot decide requests.'),
        (asked.status <> 'pending', CASE asked.status WHEN 'lapsed' THEN 'lapsed' WHEN 'void' THEN 'void' ELSE 'not_pending' END,
         format('The request is not pending any more: it is %s.', asked.status)),
        (asked.expires_at <= clock_timestamp(), 'lapsed', 'The request was not decided in time and has lapsed.'),
        (rule.id IS NULL OR NOT rule.enabled OR NOT internal.is_in_force(rule.tenant, rule.approved_at) OR (rule.key, rule.approvals) IS DISTINCT FROM (asked.key, asked.approvals),
         'void', 'The rule of the request was changed or disabled, so the request is void.'),
        (asked.status = 'pending' AND verdict = 'approve' AND internal.changed_since_asked(asked) IS NOT NULL, 'void',
         format('Changed since the request was made: %s. So the request is void.', internal.changed_since_asked(asked))),
        (asked.status = 'pending' AND verdict = 'approve' AND shown IS NOT NULL AND internal.changed_since_shown(asked, shown) IS NOT NULL, 'void',
         format('Changed since you were shown the request: %s. So the request is void.', internal.changed_since_shown(asked, shown))),
        (verdict = 'approve' AND internal.block_of_parties(asked.tenant, asked.idp, asked.subject, asked.actor_idp, asked.actor) IS NOT NULL,
         'requester_blocked', 'The requester is blocked, so the request cannot be approved.')
        ) AS f (applies, refusal, detail) WHERE f.applies LIMIT 1;
END
$$;
COMMENT ON FUNCTION internal.decision_fault(broker.access_request, text, text, text, text, text, jsonb, jsonb) IS
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

-- When it is settled, not when it was given: an approver who was removed or blocked since no longer counts, nor one whose row
-- asks for other claims by now, since the claims of the token aren't kept.
CREATE OR REPLACE FUNCTION internal.counted_in(asked broker.access_request, decided broker.access_decision, OUT steps int, OUT program boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF decided.subject IS NOT NULL
       AND (internal.blocking(asked.tenant, decided.idp, decided.subject, clock_timestamp()) IS NOT NULL
            OR NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = asked.tenant AND p.name = decided.idp AND p.enabled)) THEN
        steps := 0;
        program := decided.program;
        RETURN;
    END IF;
    SELECT coalesce(bit_or(1 << a.step), 0), decided.program OR coalesce(bool_and(a.program), false) INTO steps, program
      FROM broker.access_approver AS a
     WHERE a.tenant = asked.tenant AND a.rule = asked.rule AND a.step = ANY (decided.steps) AND internal.is_in_force(a.tenant, a.approved_at)
       AND CASE WHEN decided.decided_by IS NOT NULL THEN a.role_name = decided.decided_by
                ELSE a.idp = decided.idp AND (a.claims = '{}' OR a.updated_at <= decided.created_at)
                 AND CASE a.match WHEN 'exact' THEN a.subject = decided.subject
                                  ELSE internal.glob_matches(a.subject, decided.subject) END END;
END
$$;
COMMENT ON FUNCTION internal.counted_in(broker.access_request, broker.access_decision) IS
    'The steps, as bits, in which the one who decided is an approver of the request then and now and not blocked, and whether it is a program.';

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
    'How many approvals of a request count, of those who are its approvers now, and how many of people alone could. Each counts once and in one step, and not for their own request.';

CREATE OR REPLACE FUNCTION internal.is_approved(asked broker.access_request) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Who fills places can be chosen so that these people are among them: they can be completed to as many as fit at all.
    RETURN (SELECT a.given >= asked.approvals * cardinality(asked.steps) AND (asked.consent OR a.of_people >= asked.people)
              FROM internal.approvals_of(asked) AS a);
END
$$;
COMMENT ON FUNCTION internal.is_approved(broker.access_request) IS 'Whether a request has its approvals in each step, and enough of them of people.';

CREATE OR REPLACE FUNCTION internal.decide_access(tenant text, idp text, subject text, claims jsonb, has_actor boolean, id uuid, verdict text, note text,
                                                  shown jsonb DEFAULT NULL)
    RETURNS TABLE (refusal text, detail text, status text, approvals_needed int, approvals_given int, grant_id bigint, valid_until timestamptz,
                   retry_after int, bound int)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked broker.access_request := internal.locked_request(id);
    own_issuer constant text := (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = decide_access.tenant AND p.name = decide_access.idp);
    fault record;
    standing record;
    constraint_found text;
BEGIN
    SELECT s.* INTO standing FROM internal.standing_in(asked, NULL, idp, subject, claims) AS s;
    SELECT f.* INTO fault FROM internal.decision_fault(asked, verdict, NULL, idp, own_issuer, subject, claims, shown) AS f;
    IF asked.tenant IS DISTINCT FROM decide_access.tenant OR own_issuer IS NULL OR fault.refusal = 'not_an_approver' THEN
        RETURN QUERY SELECT 'unknown_request', 'There is no such request for you to decide.', NULL, NULL::int, NULL::int, NULL::bigint, NULL::timestamptz,
                            NULL::int, NULL::int;
        RETURN;
    ELSIF has_actor AND fault.refusal IS DISTINCT FROM 'own_request' THEN
        refusal := 'decided_with_actor';
        detail := 'A request is decided with the token of the approver alone, without an actor.';
    ELSIF length(internal.plain_text(note)) > 1000 THEN
        refusal := 'bad_note';
        detail := 'The note must have at most 1000 characters.';
    ELSIF fault.refusal IS NULL AND standing.program AND coalesce(internal.plain_text(note), '') = '' THEN
        refusal := 'bad_note';
        detail := 'A program must say in note by which ticket, schedule or rule it decides.';
    ELSIF fault.refusal IN ('lapsed', 'void') AND asked.status = 'pending' THEN
        PERFORM internal.end_request(asked.id, fault.refusal);
        refusal := fault.refusal;
        detail := fault.detail;
    ELSIF fault.refusal IS NOT NULL THEN
        refusal := nullif(fault.refusal, 'same');
        detail := CASE WHEN refusal IS NOT NULL THEN fault.detail END;
    ELSE
        BEGIN
            INSERT INTO broker.access_decision (request, verdict, note, idp, issuer, subject, steps, program, token_age)
            VALUES (asked.id, decide_access.verdict, decide_access.note, decide_access.idp, own_issuer, decide_access.subject, coalesce(nullif(standing.steps, '{}'), '{1}'),
                    standing.program, CASE WHEN asked.consent THEN internal.token_age(claims) END);
        EXCEPTION WHEN integrity_constraint_violation THEN
            GET STACKED DIAGNOSTICS constraint_found = CONSTRAINT_NAME, detail = MESSAGE_TEXT;
            refusal := internal.refusal_of(constraint_found, 'bad_note');
            SELECT c.retry_after, c.bound INTO retry_after, bound FROM internal.change_bound(constraint_found, decide_access.tenant, false) AS c;
        END;
    END IF;
    RETURN QUERY
    SELECT decide_access.refusal, decide_access.detail, q.status, CASE WHEN q.break_glass THEN 0 ELSE q.approvals * cardinality(q.steps) END,
           CASE q.status WHEN 'pending' THEN (SELECT a.given FROM internal.approvals_of(q) AS a)
                ELSE (SELECT count(*)::int FROM broker.access_decision AS d WHERE d.request = q.id AND d.verdict = 'approve') END, q.grant_id,
           (SELECT g.valid_until FROM broker.subject_grant AS g WHERE g.id = q.grant_id), decide_access.retry_after, decide_access.bound
      FROM broker.access_request AS q WHERE q.id = asked.id;
END
$$;
COMMENT ON FUNCTION internal.decide_access(text, text, text, jsonb, boolean, uuid, text, text, jsonb) IS
    'Decides a request with a token, as it was at the revisions shown: the refusal (null: decided) and the request afterwards.';
