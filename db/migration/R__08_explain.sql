-- Who can mint what, and why not: for admins, as the service decides.

-- ---------------------------------------------------------------- blocked subjects

-- By asking for one time after the other a tenant's admin would find the end of a block that the platform keeps to itself.
CREATE OR REPLACE FUNCTION internal.not_to_come(at timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN at > now() AND NOT pg_has_role(session_user, current_user, 'MEMBER')
                     AND NOT pg_has_role(session_user, '${admin_role}', 'MEMBER')
                     AND NOT pg_has_role(session_user, '${auditor_role}', 'MEMBER')
                THEN now() ELSE at END;
END
$$;
COMMENT ON FUNCTION internal.not_to_come(timestamptz) IS
    'A time, or now for a future time, unless the login may read the blocks of all tenants: current blocks then apply to the future.';

-- Yes or no, and nothing else: tenants' admins may know that a subject of theirs is blocked in all tenants, but not why
-- or by which pattern.
CREATE OR REPLACE FUNCTION internal.is_blocked_in_all_tenants(match text, subject text, at timestamptz, claims jsonb DEFAULT NULL) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    -- along the indexes, also with a plan from when there were few
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    asked_for constant timestamptz := internal.not_to_come(at);
BEGIN
    RETURN EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE b.tenant IS NULL AND b.match = 'exact'
                      AND hashtextextended(b.subject, 0) = hashtextextended(is_blocked_in_all_tenants.subject, 0)
                      AND internal.covers(b, NULL, is_blocked_in_all_tenants.match, is_blocked_in_all_tenants.subject, asked_for,
                                          is_blocked_in_all_tenants.claims))
        OR EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE b.tenant IS NULL AND b.match = 'glob'
                      AND internal.covers(b, NULL, is_blocked_in_all_tenants.match, is_blocked_in_all_tenants.subject, asked_for,
                                          is_blocked_in_all_tenants.claims));
END
$$;
COMMENT ON FUNCTION internal.is_blocked_in_all_tenants(text, text, timestamptz, jsonb) IS
    'Whether blocks in all tenants, at a given time, stop every subject that a grant matches (an exact subject or a glob). claims: the token''s; null: any.';

CREATE OR REPLACE FUNCTION internal.blocking(tenant text, idp text, about text, at timestamptz, claims jsonb DEFAULT NULL) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    block record;
BEGIN
    SELECT b.id, b.reason INTO block FROM broker.blocked_subject AS b
     WHERE b.tenant = blocking.tenant
       AND (b.match = 'exact' AND hashtextextended(b.subject, 0) = hashtextextended(about, 0) OR b.match = 'glob')
       AND internal.covers(b, blocking.idp, 'exact', about, at, blocking.claims)
     ORDER BY b.id LIMIT 1;
    RETURN CASE WHEN FOUND THEN format('blocked subject %s: %s', block.id, block.reason)
                WHEN internal.is_blocked_in_all_tenants('exact', about, at, claims) THEN 'blocked in all tenants' END;
END
$$;
COMMENT ON FUNCTION internal.blocking(text, text, text, timestamptz, jsonb) IS
    'The block that covers a subject of an identity provider at a given time, with these claims of its token (null: any), if the caller may see the block; otherwise null.';

-- ---------------------------------------------------------------- explain

CREATE OR REPLACE FUNCTION internal.require_idp(asked text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.name = asked) THEN
        PERFORM internal.refuse(format('There is no identity provider "%s" that you may see.', asked),
            internal.did_you_mean(asked, ARRAY(SELECT p.name FROM broker.identity_provider AS p ORDER BY p.name LIMIT 100), 'There are'),
            'no_data_found');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.require_idp(text) IS
    'Rejects an identity provider that is unknown or not visible to the login.';

CREATE OR REPLACE FUNCTION internal.shown_enabled(of_grant bigint) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT CASE WHEN g.enabled THEN 'true'
                        WHEN q.status = 'withdrawn' AND q.withdrawn_by IS NULL THEN format('false: %s gave back the access of request %s', q.subject, q.id)
                        WHEN q.status = 'withdrawn' THEN format('false: %s withdrew the access of request %s', w.approver, q.id)
                        ELSE 'false' END
              FROM broker.subject_grant AS g
              LEFT JOIN broker.access_request AS q ON q.id = g.request_id
              LEFT JOIN LATERAL (SELECT internal.named_approver(d) FROM broker.access_decision AS d
                                  WHERE d.request = q.id AND d.verdict = 'withdraw' ORDER BY d.id DESC LIMIT 1) AS w (approver) ON true
             WHERE g.id = of_grant);
END
$$;
COMMENT ON FUNCTION internal.shown_enabled(bigint) IS
    'Whether a grant is enabled, in words; for requested access that was withdrawn, also who withdrew it.';

-- Which steps lack approvals without doubt: an approver of two steps fills one of them, which the last vote settles.
CREATE OR REPLACE FUNCTION internal.lacking_approvals(asked broker.access_request) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given record;
    steps text;
BEGIN
    SELECT count(*) AS number, count(*) FILTER (WHERE NOT d.program) AS of_people
      INTO given FROM broker.access_decision AS d WHERE d.request = asked.id AND d.verdict = 'approve';
    SELECT string_agg(s::text, ', ' ORDER BY s) INTO steps FROM unnest(asked.steps) AS s
     WHERE cardinality(asked.steps) > 1
       AND (SELECT count(*) FROM broker.access_decision AS d WHERE d.request = asked.id AND d.verdict = 'approve' AND s = ANY (d.steps)) < asked.approvals;
    RETURN nullif(concat_ws('; ', 'approvals are missing in step ' || steps,
                            CASE WHEN given.of_people < asked.people AND (asked.people > 1 OR given.number > given.of_people)
                                 THEN format('people must still give %s', asked.people - given.of_people) END), '');
END
$$;
COMMENT ON FUNCTION internal.lacking_approvals(broker.access_request) IS
    'In words, the steps of a pending request that lack approvals, and how many people must still approve, if that is more than one or programs approved; null: neither.';

CREATE OR REPLACE FUNCTION internal.awaited(asked broker.access_request) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    until constant text := to_char(asked.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"');
    given record;
BEGIN
    IF asked.consent THEN
        RETURN format('request %s awaits the consent of %s until %s', asked.id, asked.subject, until);
    END IF;
    SELECT count(*) AS number, string_agg(internal.named_approver(d), ', ' ORDER BY d.id) AS names
      INTO given FROM broker.access_decision AS d WHERE d.request = asked.id AND d.verdict = 'approve';
    RETURN format('request %s awaits approvals until %s: %s of %s given', asked.id, until, given.number, internal.all_approvals(asked.approvals, asked.steps))
        || coalesce(' by ' || given.names, '') || coalesce('; ' || internal.lacking_approvals(asked), '');
END
$$;
COMMENT ON FUNCTION internal.awaited(broker.access_request) IS 'What a pending request awaits, in words.';

CREATE OR REPLACE FUNCTION internal.grants_that_name(of_tenant text, of_idp text, of_subject text) RETURNS bigint[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    RETURN CASE WHEN internal.may_read_rows_of(of_tenant) THEN ARRAY(
        SELECT g.id FROM broker.subject_grant AS g
         WHERE g.tenant = of_tenant AND g.idp = of_idp
           AND (g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(of_subject, 0) AND g.subject = of_subject
                OR g.match = 'glob' AND internal.glob_matches(g.subject, of_subject)))
           ELSE '{}' END;
END
$$;
COMMENT ON FUNCTION internal.grants_that_name(text, text, text) IS
    'The ids of the grants whose subject or glob matches a subject of an identity provider, of a tenant that the login may read.';

CREATE OR REPLACE FUNCTION broker.explain(idp text, subject text, claims jsonb DEFAULT '{}', actor_idp text DEFAULT NULL,
                                          actor text DEFAULT NULL, actor_claims jsonb DEFAULT NULL, at timestamptz DEFAULT now(),
                                          address inet DEFAULT NULL)
    RETURNS TABLE (key text, granted boolean, grant_id bigint, condition text, expected text, seen text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked constant text := idp;
    about constant text := subject;
    given constant jsonb := coalesce(claims, '{}');
    agent constant text := actor;
    agent_idp constant text := actor_idp;
    given_agent constant jsonb := coalesce(actor_claims, '{}');
    provider record;
    required record;
    acting record;
    steps bigint;
    blocked text;
    named bigint[] := '{}';
    looked int;
BEGIN
    PERFORM internal.require_idp(asked);
    IF jsonb_typeof(given) <> 'object' THEN
        PERFORM internal.refuse(format('The claims must be a JSON object, not %s.', internal.a_kind(given)),
                                'For example {"ref": "refs/heads/main"}.', 'invalid_parameter_value');
    END IF;
    IF num_nonnulls(agent, agent_idp) = 1 OR jsonb_typeof(given_agent) <> 'object' OR agent IS NULL AND given_agent <> '{}' THEN
        PERFORM internal.refuse('A request with an actor needs all three: actor_idp, actor, and actor_claims as a JSON object.',
            'For example broker.explain(''acme-sso'', ''alice'', ''{}'', ''acme-agents'', ''agent:release-bot'', ''{}''); without an actor, leave out all three.',
            'invalid_parameter_value');
    END IF;
    IF agent IS NOT NULL THEN
        PERFORM internal.require_idp(agent_idp);
    END IF;
    SELECT p.name, p.issuer, p.tenant, p.enabled, p.accepts, p.required_claims, t.enabled AS tenant_enabled, t.max_duration, t.require_second_admin
      INTO provider
      FROM broker.identity_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant
     WHERE p.name = asked;
    SELECT p.issuer, p.enabled AND p.tenant = provider.tenant AS usable, p.accepts || CASE WHEN p.name = asked THEN '{actor}' ELSE '{}'::text[] END AS accepts
      INTO acting FROM broker.identity_provider AS p WHERE p.name = agent_idp;
    PERFORM internal.refuse_too_much_work(provider.tenant, internal.claims_steps(provider.required_claims, given));
    SELECT u.* INTO required FROM internal.first_unmet(provider.required_claims, given) AS u;
    SELECT coalesce(sum(CASE b.match WHEN 'glob' THEN internal.glob_steps(b.subject, party.name) ELSE length(b.subject) END
                        + internal.claims_steps(b.claims, party.claims)), 0) INTO steps
      FROM (VALUES (asked, about, given), (agent_idp, agent, given_agent)) AS party (idp, name, claims)
      JOIN broker.blocked_subject AS b ON b.tenant = provider.tenant AND (b.idp IS NULL OR b.idp = party.idp)
     WHERE b.enabled AND (b.until IS NULL OR b.until > at)
       AND CASE b.match WHEN 'glob' THEN starts_with(party.name, split_part(b.subject, '*', 1)) ELSE b.claims <> '{}' AND b.subject = party.name END;
    PERFORM internal.refuse_too_much_work(provider.tenant, steps);
    blocked := coalesce(internal.blocking(provider.tenant, asked, about, at, given),
                        'the actor: ' || CASE WHEN agent IS NOT NULL THEN internal.blocking(provider.tenant, agent_idp, agent, at, given_agent) END);
    -- grants of a blocked subject do not matter
    IF blocked IS NULL THEN
        SELECT steps + coalesce(sum(internal.glob_steps(g.subject, about)), 0) INTO steps
          FROM broker.subject_grant AS g
         WHERE g.tenant = provider.tenant AND g.idp = asked AND g.match = 'glob' AND g.enabled
           AND starts_with(about, split_part(g.subject, '*', 1));
        PERFORM internal.refuse_too_much_work(provider.tenant, steps);
        named := internal.grants_that_name(provider.tenant, asked, about);
        SELECT steps + coalesce(sum(
                   CASE WHEN g.actor_match = 'glob' AND g.actor_idp = agent_idp THEN internal.glob_steps(g.actor, agent) ELSE 0 END
                   + CASE WHEN internal.is_for_actor(g, agent_idp, agent)
                          THEN internal.claims_steps(g.claims, given) + internal.claims_steps(g.actor_claims, given_agent) ELSE 0 END), 0)
          INTO steps
          FROM broker.subject_grant AS g
         WHERE g.tenant = provider.tenant AND g.idp = asked AND g.enabled
           AND g.id = ANY (named);
        PERFORM internal.refuse_too_much_work(provider.tenant, steps);
        steps := steps + coalesce((
            SELECT sum(internal.claims_steps(r.claims, given) + CASE r.match WHEN 'glob' THEN internal.glob_steps(r.subject, about) ELSE 0 END)
              FROM broker.access_rule AS r
             WHERE r.tenant = provider.tenant AND r.idp = asked AND r.enabled
               AND CASE r.match WHEN 'glob' THEN starts_with(about, split_part(r.subject, '*', 1)) ELSE r.subject = about END), 0);
        PERFORM internal.refuse_too_much_work(provider.tenant, steps);
    END IF;

    SELECT least(1000, greatest(20, 5000 / greatest(count(*), 1))) INTO looked
      FROM broker.key AS k WHERE k.tenant = provider.tenant;

    RETURN QUERY
    WITH tried AS (
        SELECT g.key AS key_name, g.id, t.rank, t.condition AS failed, t.expected AS wanted, t.seen AS had, t.duration
          FROM broker.subject_grant AS g
          JOIN broker.key AS k ON k.tenant = g.tenant AND k.name = g.key
          JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
          JOIN broker.provider_type AS y ON y.type = a.type
         CROSS JOIN LATERAL internal.try_grant(g, provider.require_second_admin, internal.longest_life(k.max_duration, y.max_duration, provider.max_duration),
                                               y.min_duration, given, agent_idp, agent, given_agent, at, address) AS t
         WHERE g.tenant = provider.tenant AND g.idp = asked AND g.id = ANY (named)
    ), best AS (
        SELECT DISTINCT ON (t.key_name) t.* FROM tried AS t
         ORDER BY t.key_name, t.rank DESC, t.duration DESC, t.id
    ), pending AS MATERIALIZED (
        SELECT DISTINCT ON (q.key) q.key AS key_name, internal.awaited(q) AS words
          FROM broker.access_request AS q
         WHERE blocked IS NULL AND q.tenant = provider.tenant AND (q.status = 'pending' OR q.break_glass AND q.signed_off_by IS NULL)
           AND hashtextextended(q.issuer || ' ' || q.subject, 0) = hashtextextended(provider.issuer || ' ' || about, 0)
           AND q.status = 'pending' AND q.requested_at <= at AND q.expires_at > at AND q.idp = asked AND q.subject = about
           AND (q.actor_idp, q.actor) IS NOT DISTINCT FROM (agent_idp, agent)
         ORDER BY q.key, q.requested_at, q.id
    ), requestable AS MATERIALIZED (
        SELECT DISTINCT ON (r.key) r.key AS key_name,
               format(CASE WHEN r.consent THEN 'access rule %s lets the actor request it with the subject''s consent' ELSE 'access rule %s lets the subject request it' END, r.id)
               || coalesce(', with a reason that matches ' || r.reason_pattern, '') AS words
          FROM broker.access_rule AS r
         WHERE blocked IS NULL AND r.tenant = provider.tenant AND r.idp = asked AND r.enabled AND (r.approved_at IS NOT NULL OR NOT provider.require_second_admin)
           AND CASE WHEN agent IS NULL THEN NOT r.consent ELSE NOT r.break_glass END
           AND CASE r.match WHEN 'glob' THEN internal.glob_matches(r.subject, about) ELSE r.subject = about END
           AND internal.claims_met(r.claims, given)
         ORDER BY r.key, r.break_glass, internal.all_approvals(r.approvals, r.steps), NOT r.consent, r.id
    )
    SELECT k.name,
           coalesce(outcome.failed IS NULL, false),
           outcome.id, outcome.failed, outcome.wanted, outcome.had
      FROM broker.key AS k
      JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
      LEFT JOIN best AS b ON b.key_name = k.name
      LEFT JOIN pending AS p ON p.key_name = k.name
      LEFT JOIN requestable AS w ON w.key_name = k.name
     -- where no grant is for this subject: the one whose text begins most like it, of a share of 5,000 that are looked at
      LEFT JOIN LATERAL (
          SELECT g.id, g.subject
            FROM (SELECT n.id, n.subject FROM broker.subject_grant AS n
                   WHERE b.id IS NULL AND n.tenant = k.tenant AND n.key = k.name AND n.idp = asked
                   LIMIT looked) AS g
           ORDER BY internal.common_start(g.subject, about) DESC, g.id LIMIT 1) AS nearest ON true
     CROSS JOIN LATERAL (SELECT internal.switched_off(provider.tenant_enabled, provider.enabled, a.enabled, k.enabled)) AS off (condition)
     CROSS JOIN LATERAL (
          SELECT * FROM (VALUES
              (off.condition IS NOT NULL, NULL::bigint, off.condition, 'true', 'false'),
              (provider.require_second_admin AND k.approved_at IS NULL, NULL, 'approval', 'a key approved by a second admin',
               format('written by "%s", last changed by "%s"', k.created_by, k.updated_by)),
              (NOT 'subject' = ANY (provider.accepts), NULL, 'subject', 'an identity provider that accepts subjects', asked),
              (agent IS NOT NULL AND NOT (acting.usable AND 'actor' = ANY (acting.accepts)), NULL, 'actor',
               'an enabled identity provider of the tenant that accepts actors', agent_idp),
              (agent = about AND acting.issuer = provider.issuer, NULL, 'actor', 'a party other than the subject', agent),
              (required.claim IS NOT NULL, NULL, 'required claim ' || required.claim, required.expected::text, coalesce(required.seen::text, internal.left_out(given, required.claim))),
              (blocked IS NOT NULL, NULL, 'blocked', 'not blocked', blocked),
              (p.words IS NOT NULL AND (b.id IS NULL OR b.failed IS NOT NULL), NULL, 'a grant', 'a decision on the request', p.words),
              (b.id IS NOT NULL, b.id, b.failed, b.wanted, CASE b.failed WHEN 'the grant is enabled' THEN internal.shown_enabled(b.id) ELSE b.had END),
              (w.words IS NOT NULL, NULL, 'a grant', format('a grant of this key to a subject of identity provider "%s"', asked), w.words),
              (nearest.id IS NOT NULL, nearest.id, 'subject', nearest.subject, about),
              (true, NULL, 'a grant', format('a grant of this key to a subject of identity provider "%s"', asked), NULL)
          ) AS o (applies, id, failed, wanted, had)
          WHERE o.applies LIMIT 1) AS outcome
     WHERE k.tenant = provider.tenant
     ORDER BY k.name;
END
$$;
COMMENT ON FUNCTION broker.explain(text, text, jsonb, text, text, jsonb, timestamptz, inet) IS
    'For each key of the tenant, whether a token with this identity provider, subject and claims (and actor, if any) may mint it: the grant, or the first condition that failed for the closest grant. Decides as the broker does. address: the client''s address; without one, grants with networks don''t count.';

-- ---------------------------------------------------------------- views

-- They run with the reader's rights, so a tenant's admins see their tenant's.

CREATE OR REPLACE VIEW broker.who_can_mint WITH (security_invoker = true) AS
SELECT g.tenant, g.key, g.idp, g.match, g.subject, g.claims, g.actor_idp, g.actor_match, g.actor, g.actor_claims,
       g.networks, tried.duration AS max_duration,
       g.valid_until, g.id AS grant_id, g.reason, g.created_by AS granted_by, g.created_at AS granted_at,
       k.provider, a.type AS provider_type,
       internal.named_targets(y.target_setting || y.further_targets, y.key_settings, k.settings) AS target
  FROM broker.subject_grant AS g
  JOIN broker.tenant AS t ON t.name = g.tenant
  JOIN broker.identity_provider AS p ON p.tenant = g.tenant AND p.name = g.idp
  LEFT JOIN broker.identity_provider AS ap ON ap.tenant = g.tenant AND ap.name = g.actor_idp
  JOIN broker.key AS k ON k.tenant = g.tenant AND k.name = g.key
  JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
  JOIN broker.provider_type AS y ON y.type = a.type
 CROSS JOIN LATERAL internal.try_grant(g, t.require_second_admin, internal.longest_life(k.max_duration, y.max_duration, t.max_duration),
                                       y.min_duration, NULL, NULL, NULL, NULL, now(), NULL) AS tried
 WHERE internal.switched_off(t.enabled, p.enabled, a.enabled, k.enabled) IS NULL
   AND (NOT t.require_second_admin OR k.approved_at IS NOT NULL)
   AND tried.condition IS NULL
   AND internal.may_be_parties(p.accepts, g.actor IS NOT NULL, ap.name = p.name, ap.enabled, ap.accepts)
   -- OFFSET keeps this a look-up for each grant: joined, it would read the blocks of all tenants
   AND NOT EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE b.tenant = g.tenant AND b.match = 'exact'
                      AND hashtextextended(b.subject, 0) = hashtextextended(g.subject, 0)
                      AND internal.covers(b, g.idp, g.match, g.subject, now(), NULL) OFFSET 0)
   AND NOT EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE b.tenant = g.tenant AND b.match = 'glob' AND internal.covers(b, g.idp, g.match, g.subject, now(), NULL))
   AND NOT internal.is_blocked_in_all_tenants(g.match, g.subject, now())
   AND (g.actor IS NULL
        OR NOT EXISTS (SELECT FROM broker.blocked_subject AS b
                        WHERE b.tenant = g.tenant AND b.match = 'exact'
                          AND hashtextextended(b.subject, 0) = hashtextextended(g.actor, 0)
                          AND internal.covers(b, g.actor_idp, g.actor_match, g.actor, now(), NULL))
       AND NOT EXISTS (SELECT FROM broker.blocked_subject AS b
                        WHERE b.tenant = g.tenant AND b.match = 'glob'
                          AND internal.covers(b, g.actor_idp, g.actor_match, g.actor, now(), NULL))
       AND NOT internal.is_blocked_in_all_tenants(g.actor_match, g.actor, now()));
COMMENT ON VIEW broker.who_can_mint IS
    'Who can mint each key now: active grants whose tenant, providers and key are enabled. Query it WHERE tenant = … AND key = ….';
COMMENT ON COLUMN broker.who_can_mint.tenant IS 'The tenant.';
COMMENT ON COLUMN broker.who_can_mint.key IS 'The key.';
COMMENT ON COLUMN broker.who_can_mint.idp IS 'The identity provider of the subject.';
COMMENT ON COLUMN broker.who_can_mint.match IS 'exact or glob.';
COMMENT ON COLUMN broker.who_can_mint.subject IS 'The subject, or the glob over subjects.';
COMMENT ON COLUMN broker.who_can_mint.claims IS 'Further conditions on the token''s claims.';
COMMENT ON COLUMN broker.who_can_mint.actor_idp IS 'The identity provider of the actor; null: the grant is for the subject alone.';
COMMENT ON COLUMN broker.who_can_mint.actor_match IS 'exact or glob.';
COMMENT ON COLUMN broker.who_can_mint.actor IS 'Who must act for the subject, or the glob over such actors; null: the subject alone.';
COMMENT ON COLUMN broker.who_can_mint.actor_claims IS 'Further conditions on the actor''s claims.';
COMMENT ON COLUMN broker.who_can_mint.networks IS 'The networks that the client''s address must be in; null: any.';
COMMENT ON COLUMN broker.who_can_mint.max_duration IS 'The longest lifetime of a credential that is requested now, in seconds.';
COMMENT ON COLUMN broker.who_can_mint.valid_until IS 'When the grant ends; null: no end.';
COMMENT ON COLUMN broker.who_can_mint.grant_id IS 'broker.subject_grant.id';
COMMENT ON COLUMN broker.who_can_mint.reason IS 'The reason of the grant.';
COMMENT ON COLUMN broker.who_can_mint.granted_by IS 'The login that created the grant.';
COMMENT ON COLUMN broker.who_can_mint.granted_at IS 'When the grant was created.';
COMMENT ON COLUMN broker.who_can_mint.provider IS 'The access provider of the key.';
COMMENT ON COLUMN broker.who_can_mint.provider_type IS 'The type of the access provider.';
COMMENT ON COLUMN broker.who_can_mint.target IS 'What the key requests, such as a role or repositories: its targets as allowed_targets names them; null: the provider''s default.';

CREATE OR REPLACE FUNCTION broker.what_can_mint(idp text, subject text) RETURNS SETOF broker.who_can_mint
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    of_tenant constant text := (SELECT p.tenant FROM broker.identity_provider AS p WHERE p.name = what_can_mint.idp);
    named constant bigint[] := internal.grants_that_name(of_tenant, what_can_mint.idp, what_can_mint.subject);
BEGIN
    PERFORM internal.require_idp(idp);
    RETURN QUERY
    SELECT w.* FROM broker.who_can_mint AS w
     WHERE w.tenant = of_tenant AND w.idp = what_can_mint.idp AND w.grant_id = ANY (named)
     ORDER BY w.key, w.max_duration DESC, w.grant_id;
END
$$;
COMMENT ON FUNCTION broker.what_can_mint(text, text) IS
    'The keys that a subject can mint now, if its token meets the claims in the row and the actor of the row acts for it.';

CREATE OR REPLACE VIEW broker.grant_ending_soon WITH (security_invoker = true) AS
SELECT g.tenant, g.key, g.idp, g.match, g.subject, g.actor_idp, g.actor_match, g.actor, g.valid_until,
       g.valid_until - now() AS ends_in, g.id AS grant_id, g.reason, g.created_by AS granted_by
  FROM broker.subject_grant AS g
 WHERE g.enabled AND g.valid_until > now() AND g.valid_until <= now() + interval '30 days';
COMMENT ON VIEW broker.grant_ending_soon IS 'Enabled grants that end within 30 days. Query it ORDER BY valid_until.';
COMMENT ON COLUMN broker.grant_ending_soon.tenant IS 'The tenant.';
COMMENT ON COLUMN broker.grant_ending_soon.key IS 'The key.';
COMMENT ON COLUMN broker.grant_ending_soon.idp IS 'The identity provider.';
COMMENT ON COLUMN broker.grant_ending_soon.match IS 'exact or glob.';
COMMENT ON COLUMN broker.grant_ending_soon.subject IS 'The subject, or the glob over subjects.';
COMMENT ON COLUMN broker.grant_ending_soon.actor_idp IS 'The identity provider of the actor; null: the grant is for the subject alone.';
COMMENT ON COLUMN broker.grant_ending_soon.actor_match IS 'exact or glob.';
COMMENT ON COLUMN broker.grant_ending_soon.actor IS 'Who must act for the subject, or the glob over such actors.';
COMMENT ON COLUMN broker.grant_ending_soon.valid_until IS 'When the grant ends.';
COMMENT ON COLUMN broker.grant_ending_soon.ends_in IS 'The time until the grant ends.';
COMMENT ON COLUMN broker.grant_ending_soon.grant_id IS 'broker.subject_grant.id';
COMMENT ON COLUMN broker.grant_ending_soon.reason IS 'The reason of the grant.';
COMMENT ON COLUMN broker.grant_ending_soon.granted_by IS 'The login that created the grant.';
