-- The sign-off of break glass, and what auditors ask about requests for access.

-- ---------------------------------------------------------------- sign-off of break glass

CREATE OR REPLACE FUNCTION internal.awaits_sign_off(of_request uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.access_request AS q WHERE q.id = of_request AND q.break_glass AND q.signed_off_by IS NULL);
END
$$;
COMMENT ON FUNCTION internal.awaits_sign_off(uuid) IS 'Whether a request was granted by break glass and is not signed off yet.';

CREATE OR REPLACE FUNCTION internal.made_request(of_request uuid, login text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.access_request AS q WHERE q.id = of_request AND internal.is_party_of(q, login, NULL, NULL));
END
$$;
COMMENT ON FUNCTION internal.made_request(uuid, text) IS 'Whether a login is the person that made a request, or its actor.';

CREATE OR REPLACE FUNCTION internal.shaped_rule_of(of_request uuid, login text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.access_request AS q
                    CROSS JOIN LATERAL internal.changes_of_row('access_rule', q.tenant, q.rule::text) AS c
                    WHERE q.id = of_request AND c.changed_by IN (SELECT n.login_name FROM internal.names_of_person(q.tenant, login, NULL, NULL) AS n));
END
$$;
COMMENT ON FUNCTION internal.shaped_rule_of(uuid, text) IS 'Whether a login, or another one of the same person, wrote, changed or approved the access rule of a request.';

-- ---------------------------------------------------------------- what auditors ask

CREATE OR REPLACE VIEW audit.access_request WITH (security_invoker = true) AS
SELECT q.tenant, q.id AS request, q.key, q.idp, q.subject, q.actor_idp, q.actor, q.claims, q.reason, q.access * interval '1 second' AS access,
       q.break_glass, q.rule, q.status, q.requested_at, q.expires_at, internal.all_approvals(q.approvals, q.steps) AS approvals_needed, decided.approved_by, decided.refused_by,
       decided.notes, decided.last_at AS decided_at,
       CASE WHEN q.grant_id IS NOT NULL AND NOT q.break_glass THEN decided.last_at - q.requested_at END AS time_to_approve,
       q.grant_id, g.valid_until, coalesce(g.enabled AND g.valid_until > now(), false) AS in_force, used.mints, used.last_used_at,
       q.signed_off_by, q.signed_off_at, q.steps, q.people, q.consent, q.end_credentials, q.withdrawn_by
  FROM broker.access_request AS q
  LEFT JOIN broker.subject_grant AS g ON g.id = q.grant_id
 CROSS JOIN LATERAL (
       SELECT array_agg(internal.named_approver(d) ORDER BY d.id) FILTER (WHERE d.verdict = 'approve') AS approved_by,
              (array_agg(internal.named_approver(d) ORDER BY d.id) FILTER (WHERE d.verdict = 'refuse'))[1] AS refused_by,
              string_agg(d.note, chr(10) ORDER BY d.id) AS notes, max(d.created_at) FILTER (WHERE d.verdict <> 'withdraw') AS last_at
         FROM broker.access_decision AS d WHERE d.request = q.id) AS decided
 CROSS JOIN LATERAL (
       SELECT count(*) AS mints, max(e.occurred_at) AS last_used_at FROM audit.event AS e WHERE e.grant_id = q.grant_id AND e.step = 1) AS used;
COMMENT ON VIEW audit.access_request IS
    'Each request for access: who asked for what and why, who decided, and how the access was used. Query it WHERE tenant = … AND requested_at > ….';
COMMENT ON COLUMN audit.access_request.request IS 'The id in broker.access_request.';
COMMENT ON COLUMN audit.access_request.approved_by IS 'Who approved: logins, and subjects with their identity providers; programs are marked.';
COMMENT ON COLUMN audit.access_request.approvals_needed IS 'The number of approvals that the request needs, in all steps together.';
COMMENT ON COLUMN audit.access_request.steps IS 'The steps of the request. Each step needs its own approvals.';
COMMENT ON COLUMN audit.access_request.people IS 'How many of the approvals must come from people.';
COMMENT ON COLUMN audit.access_request.consent IS 'Whether the subject alone decides.';
COMMENT ON COLUMN audit.access_request.end_credentials IS 'Whether an early end of the access also ends its credentials.';
COMMENT ON COLUMN audit.access_request.refused_by IS 'The person who refused; null: no one did.';
COMMENT ON COLUMN audit.access_request.withdrawn_by IS 'The approver who withdrew the access; null: no approver did.';
COMMENT ON COLUMN audit.access_request.notes IS 'The notes of the decisions, one per line.';
COMMENT ON COLUMN audit.access_request.decided_at IS 'When the last decision was made; null: no decision yet.';
COMMENT ON COLUMN audit.access_request.time_to_approve IS 'The time from the request to its last approval; null if it was not granted, and for break glass.';
COMMENT ON COLUMN audit.access_request.valid_until IS 'When the access ends; null: there is no grant.';
COMMENT ON COLUMN audit.access_request.in_force IS 'Whether the grant is enabled and has not ended.';
COMMENT ON COLUMN audit.access_request.mints IS 'The number of mints under the grant, as far as the log goes back.';
COMMENT ON COLUMN audit.access_request.last_used_at IS 'When the last of these mints was requested.';
COMMENT ON COLUMN audit.access_request.signed_off_by IS 'The login that signed off the break glass; null: not signed off.';

CREATE OR REPLACE VIEW audit.break_glass WITH (security_invoker = true) AS
SELECT q.tenant, q.id AS request, q.key, q.idp, q.subject, q.actor_idp, q.actor, q.reason, q.rule, q.requested_at, now() - q.requested_at AS open_for,
       q.grant_id, g.valid_until, coalesce(g.enabled AND g.valid_until > now(), false) AS in_force,
       format('INSERT INTO broker.grant_review (grant_id, verdict, note) VALUES (%s, ''remove'', ''…'');', q.grant_id) AS sign_off
  FROM broker.access_request AS q
  LEFT JOIN broker.subject_grant AS g ON g.id = q.grant_id
 WHERE q.break_glass AND q.signed_off_by IS NULL;
COMMENT ON VIEW audit.break_glass IS 'Break glasses that are not signed off yet. After 24 hours without a sign-off, the rule refuses further break glasses.';
COMMENT ON COLUMN audit.break_glass.request IS 'The id in broker.access_request.';
COMMENT ON COLUMN audit.break_glass.open_for IS 'The time since the request.';
COMMENT ON COLUMN audit.break_glass.in_force IS 'Whether the access is still active.';
COMMENT ON COLUMN audit.break_glass.sign_off IS 'What another person runs to sign it off: remove ends the access, keep leaves it until its end.';
