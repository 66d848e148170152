-- Requests for access: what one may ask for, asking, giving back, lapsing. The service calls these functions; they return
-- refusals as values, and lock the tenant before they lock a request.

CREATE OR REPLACE FUNCTION internal.frozen_claims(conditions jsonb, claims jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_object_agg(c.key, CASE jsonb_array_length(met.items) WHEN 1 THEN met.items -> 0 ELSE met.items END), '{}')
      FROM jsonb_each(conditions) AS c
     CROSS JOIN LATERAL (SELECT internal.claim_at(claims, c.key) AS claim) AS seen
     CROSS JOIN LATERAL (
           SELECT jsonb_agg(DISTINCT element.item) AS items
             FROM jsonb_array_elements(CASE jsonb_typeof(seen.claim) WHEN 'array' THEN seen.claim
                                       ELSE jsonb_build_array(seen.claim) END) AS element (item)
            WHERE internal.claim_met(c.value, element.item)) AS met;
$$;
COMMENT ON FUNCTION internal.frozen_claims(jsonb, jsonb) IS
    'The values of a token''s claims that meet conditions, as conditions of a grant: of a list, only the elements that meet them.';

-- A person is issuer and subject. So a token that decides and can't mint, as the console's, may request access for the tokens
-- that the same issuer gives the subject for clients that mint. It gets nothing by that, since it never breaks the glass.
CREATE OR REPLACE FUNCTION internal.requesting_as(tenant text, idp text, subject text, claims jsonb, has_actor boolean) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    own broker.identity_provider;
BEGIN
    SELECT p.* INTO own FROM broker.identity_provider AS p WHERE p.tenant = requesting_as.tenant AND p.name = requesting_as.idp;
    RETURN idp || CASE WHEN has_actor OR 'subject' = ANY (own.accepts) THEN '{}'
        ELSE ARRAY(SELECT p.name FROM broker.identity_provider AS p
                    WHERE p.tenant = requesting_as.tenant AND p.issuer = own.issuer AND p.enabled AND 'subject' = ANY (p.accepts)
                      AND internal.claims_steps(p.required_claims, claims) <= 250000 AND internal.claims_met(p.required_claims, claims)
                      AND internal.blocking(p.tenant, p.name, subject, clock_timestamp(), claims) IS NULL ORDER BY p.name) END;
END
$$;
COMMENT ON FUNCTION internal.requesting_as(text, text, text, jsonb, boolean) IS
    'The identity providers for whose tokens a token may request access: its own, and if that accepts no subjects, those of its issuer that do.';

DROP FUNCTION IF EXISTS internal.rules_for(text, text, text, jsonb, text, boolean);
CREATE OR REPLACE FUNCTION internal.rules_for(tenant text, idps text[], subject text, claims jsonb, key text, has_actor boolean) RETURNS SETOF broker.access_rule
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
    SELECT (candidate.rule).* FROM (
    SELECT r AS rule, sum(internal.claims_steps(r.claims, rules_for.claims)) OVER (ORDER BY r.id) AS steps
      FROM broker.access_rule AS r
      JOIN broker.key AS k ON k.tenant = r.tenant AND k.name = r.key AND k.enabled
      JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider AND a.enabled
      JOIN broker.tenant AS t ON t.name = r.tenant AND t.enabled AND (NOT t.require_second_admin OR k.approved_at IS NOT NULL)
      JOIN broker.identity_provider AS p ON p.tenant = r.tenant AND p.name = r.idp AND 'subject' = ANY (p.accepts)
     WHERE r.tenant = rules_for.tenant AND r.key = rules_for.key AND r.enabled AND r.idp = ANY (idps)
       AND (r.idp = idps[1] OR NOT r.break_glass)
       AND (r.approved_at IS NOT NULL OR NOT t.require_second_admin)
       AND (has_actor OR NOT r.consent)
       AND CASE r.match WHEN 'exact' THEN r.subject = rules_for.subject ELSE internal.glob_matches(r.subject, rules_for.subject) END) AS candidate
     WHERE candidate.steps <= 250000 AND internal.claims_met((candidate.rule).claims, rules_for.claims);
$$;
COMMENT ON FUNCTION internal.rules_for(text, text[], text, jsonb, text, boolean) IS
    'The enabled access rules by which a token may ask for a key. idps: internal.requesting_as, its own first, which is the only one for break glass. Those of consent need an actor. A rule for an identity provider that accepts no subjects does not count, since no token of it can mint. Rules are evaluated by id, until those of the key cost too much.';

CREATE OR REPLACE FUNCTION internal.block_of_parties(tenant text, idp text, subject text, actor_idp text, actor text, claims jsonb DEFAULT NULL) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(internal.blocking(tenant, idp, subject, clock_timestamp(), claims),
                    CASE WHEN actor IS NOT NULL THEN internal.blocking(tenant, actor_idp, actor, clock_timestamp()) END);
$$;
COMMENT ON FUNCTION internal.block_of_parties(text, text, text, text, text, jsonb) IS
    'The block that now covers the subject or its actor; null if none does. claims: the claims of the subject''s token; if null, blocks with claims are ignored.';

CREATE OR REPLACE FUNCTION internal.requestable_keys(tenant text, idp text, subject text, claims jsonb, actor_idp text, actor text, keys text[])
    RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN internal.block_of_parties(tenant, idp, subject, actor_idp, actor, claims) IS NOT NULL THEN '{}'
           ELSE ARRAY(SELECT k.name FROM (SELECT DISTINCT w.name FROM unnest(keys[1:20]) AS w (name)) AS k
                       WHERE EXISTS (SELECT FROM internal.rules_for(tenant, internal.requesting_as(tenant, idp, subject, claims, actor IS NOT NULL), subject, claims, k.name, actor IS NOT NULL)) ORDER BY k.name COLLATE "C") END;
$$;
COMMENT ON FUNCTION internal.requestable_keys(text, text, text, jsonb, text, text, text[]) IS
    'The keys, among up to 20 given ones, that a token may ask for now.';

-- The service verified the token by the state of the configuration that it had read. It may have changed since, also while this
-- call waited for its tenant.
CREATE OR REPLACE FUNCTION internal.accepts_token(of_tenant text, of_idp text, claims jsonb) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.identity_provider AS p
                    WHERE p.tenant = of_tenant AND p.name = of_idp AND p.enabled AND p.accepts && '{subject,approver}'
                      AND coalesce(claims ->> 'iss' = p.issuer, true) AND internal.claims_met(p.required_claims, claims));
END
$$;
COMMENT ON FUNCTION internal.accepts_token(text, text, jsonb) IS
    'Whether an identity provider still accepts a token that the service has verified, by the issuer and required_claims that it has now.';

-- ---------------------------------------------------------------- the life of a request

CREATE OR REPLACE FUNCTION internal.end_request(of_request uuid, new_status text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ended broker.access_request;
BEGIN
    UPDATE broker.access_request AS q SET status = new_status WHERE q.id = of_request RETURNING q.* INTO ended;
    PERFORM internal.note_access(ended, 'decided');
END
$$;
COMMENT ON FUNCTION internal.end_request(uuid, text) IS 'Ends a pending request: refused, lapsed, withdrawn or void.';

CREATE OR REPLACE FUNCTION internal.named_approver(decided broker.access_decision) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(decided.decided_by, decided.subject || ' of ' || decided.idp) || CASE WHEN decided.program THEN ' (program)' ELSE '' END;
$$;
COMMENT ON FUNCTION internal.named_approver(broker.access_decision) IS 'Who decided, in words.';

-- The grant is an ordinary one, so that nothing of requests is in the path of mints.
CREATE OR REPLACE FUNCTION internal.grant_request(granted broker.access_request) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    number bigint;
    -- not now(): the transaction may have begun long before
    begins constant timestamptz := clock_timestamp();
    ends constant timestamptz := begins + granted.access * interval '1 second';
BEGIN
    INSERT INTO broker.subject_grant
           (tenant, idp, subject, match, key, claims, actor_idp, actor, valid_from, valid_until, reason, owner, request_id, approved_by, approved_at)
    VALUES (granted.tenant, granted.idp, granted.subject, 'exact', granted.key, granted.claims, granted.actor_idp, granted.actor, begins, ends,
            'request ' || granted.id,
            (SELECT coalesce(r.owner, k.owner) FROM broker.key AS k LEFT JOIN broker.access_rule AS r ON r.id = granted.rule
              WHERE k.tenant = granted.tenant AND k.name = granted.key),
            granted.id,
            (SELECT string_agg(internal.named_approver(d), ', ' ORDER BY d.id) FROM broker.access_decision AS d
              WHERE d.request = granted.id AND d.verdict = 'approve'), begins)
    RETURNING id INTO number;
    UPDATE broker.access_request AS q
       SET status = 'granted', grant_id = number, expires_at = CASE WHEN q.break_glass THEN ends ELSE q.expires_at END
     WHERE q.id = granted.id RETURNING q.* INTO granted;
    PERFORM internal.note_access(granted, 'granted'), internal.note_end_to_come(granted, ends);
    IF granted.break_glass THEN
        PERFORM internal.note_access(granted, 'break_glass');
    END IF;
    RETURN number;
END
$$;
COMMENT ON FUNCTION internal.grant_request(broker.access_request) IS 'Writes the grant of a request, and returns its id.';

-- ---------------------------------------------------------------- ask

CREATE OR REPLACE FUNCTION internal.reason_fits(pattern text, reason text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pattern IS NULL OR internal.glob_matches(pattern, reason);
$$;
COMMENT ON FUNCTION internal.reason_fits(text, text) IS 'Whether a reason matches the reason_pattern of a rule, if it has one.';

CREATE OR REPLACE FUNCTION internal.rule_to_ask_by(tenant text, idp text, subject text, claims jsonb, key text, has_actor boolean, why text, seconds int,
                                                   by_break_glass boolean, OUT rule broker.access_rule, OUT refusal text, OUT detail text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found broker.access_rule[];
    shortest constant int := internal.least_access_to(tenant, key);
    unfit constant int := internal.longest_unfit_for(tenant, key);
BEGIN
    -- An ordinary rule goes before one that breaks the glass, and the one with the fewest approvals among those that suffice.
    found := ARRAY(SELECT r FROM internal.rules_for(tenant, internal.requesting_as(tenant, idp, subject, claims, has_actor), subject, claims, key, has_actor) AS r
                    WHERE r.break_glass OR NOT by_break_glass
                    ORDER BY r.break_glass, r.max_access < seconds, NOT internal.reason_fits(r.reason_pattern, why),
                             internal.all_approvals(r.approvals, r.steps), NOT r.consent, r.id);
    rule := found[1];
    IF rule.id IS NULL THEN
        refusal := 'no_rule';
        detail := format(CASE WHEN by_break_glass THEN 'No break-glass rule allows you to ask for key "%s". Request access without break glass, or ask an admin of the tenant.'
                              ELSE 'No rule allows you to ask for key "%s". Ask an admin of the tenant for an access rule or a grant.' END, key);
    ELSIF unfit IS NOT NULL THEN
        refusal := 'too_short';
        detail := format('No credential of key "%s" is short enough: the tenant allows at most %s seconds, and credentials of its type last longer. A platform admin must raise the tenant''s max_duration.', key, unfit);
    ELSIF seconds < shortest THEN
        refusal := 'too_short';
        detail := format(CASE WHEN rule.max_access < shortest
                              THEN 'Access to key "%s" must last at least %s seconds, because the key''s shortest credential needs that long, but the rule allows only %s seconds. An admin must raise the rule''s max_access.'
                              ELSE 'Access to key "%s" must be requested for at least %s seconds, because the key''s shortest credential needs that long.' END, key, shortest, rule.max_access);
    ELSIF rule.max_access < seconds THEN
        refusal := 'too_long';
        detail := format('Access to key "%s" can be requested for at most %s seconds.', key,
                         (SELECT max(r.max_access) FROM unnest(found) AS r WHERE r.break_glass = rule.break_glass));
    ELSIF NOT internal.reason_fits(rule.reason_pattern, why) THEN
        refusal := 'bad_reason';
        detail := concat_ws(' ', format('The reason for access to key "%s" must match the pattern "%s".', key, rule.reason_pattern), rule.reason_hint);
    ELSIF rule.break_glass AND EXISTS (
              SELECT FROM broker.access_request AS q WHERE q.tenant = rule_to_ask_by.tenant AND q.rule = rule.id AND q.break_glass
                 AND q.signed_off_by IS NULL AND q.requested_at < clock_timestamp() - interval '24 hours') THEN
        refusal := 'break_glass_open';
        detail := format('Break glass for key "%s" was used over 24 hours ago and is not signed off yet. An admin must review that access first.', key);
    ELSIF internal.json_fault(internal.frozen_claims(rule.claims, claims), 4096) IS NOT NULL
          OR internal.values_fault(internal.frozen_claims(rule.claims, claims)) IS NOT NULL THEN
        refusal := 'no_rule';
        detail := format('The rule for key "%s" checks claims of your token that are too large to be copied into a grant. Ask an admin for a rule that checks fewer claims.', key);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.rule_to_ask_by(text, text, text, jsonb, text, boolean, text, int, boolean) IS
    'The rule for a request, or why there is none.';

CREATE OR REPLACE FUNCTION internal.same_request(asking broker.access_request, rule broker.access_rule, claims jsonb) RETURNS uuid
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    RETURN (SELECT q.id FROM broker.access_request AS q
             WHERE q.tenant = asking.tenant AND hashtextextended(q.issuer || ' ' || q.subject, 0) = hashtextextended(asking.issuer || ' ' || asking.subject, 0)
               AND (q.status = 'pending' OR q.break_glass AND q.signed_off_by IS NULL)
               AND (q.key, q.idp, q.issuer, q.subject, q.access, q.reason, q.break_glass)
                   = (rule.key, asking.idp, asking.issuer, asking.subject, asking.access, asking.reason, rule.break_glass)
               AND (q.actor_issuer, q.actor) IS NOT DISTINCT FROM (asking.actor_issuer, asking.actor)
               AND q.claims = internal.frozen_claims(rule.claims, same_request.claims)
               AND CASE q.status WHEN 'pending' THEN q.expires_at > clock_timestamp()
                   ELSE q.status = 'granted' AND EXISTS (SELECT FROM broker.subject_grant AS g
                                                          WHERE g.id = q.grant_id AND g.enabled AND g.valid_until > clock_timestamp()) END
             ORDER BY q.requested_at LIMIT 1);
END
$$;
COMMENT ON FUNCTION internal.same_request(broker.access_request, broker.access_rule, jsonb) IS
    'The earlier request that a request repeats: with the same tenant, key, identity provider, subject, actor, claims, seconds and reason, while it is pending or its break glass is active.';

CREATE OR REPLACE FUNCTION internal.request_access(tenant text, idp text, subject text, claims jsonb, actor_idp text, actor text, keys text[],
                                                   reason text, seconds int, break_glass boolean)
    RETURNS TABLE (key text, id uuid, status text, approvals_needed int, expires_at timestamptz, grant_id bigint, refusal text, detail text,
                   retry_after int, bound int, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- before the claims are compared with the blocks
    all_tenants_revision constant bigint := (SELECT c.revision FROM audit.last_change(NULL) AS c);
    asked constant text[] := ARRAY(SELECT w.name FROM unnest(keys) WITH ORDINALITY AS w (name, place) GROUP BY w.name ORDER BY min(w.place));
    why constant text := internal.plain_text(reason);
    chosen record;
    rules broker.access_rule[] := '{}';
    refused jsonb := '[]';
    own_issuer text;
    their_issuer text;
    reached record;
    made uuid[];
    earlier uuid[];
    former uuid;
    voided uuid[] := '{}';
    asking broker.access_request;
    constraint_found text;
    message text;
BEGIN
    PERFORM FROM broker.tenant AS t WHERE t.name = request_access.tenant FOR NO KEY UPDATE;
    SELECT p.issuer INTO own_issuer FROM broker.identity_provider AS p WHERE p.name = request_access.idp AND p.tenant = request_access.tenant;
    SELECT p.issuer INTO their_issuer FROM broker.identity_provider AS p WHERE p.name = request_access.actor_idp AND p.tenant = request_access.tenant AND p.enabled;

    -- 1. what is wrong with the whole
    SELECT f.refusal, f.detail INTO chosen FROM (VALUES
        (coalesce(length(why), 0) NOT BETWEEN 10 AND 1000, 'bad_reason', format('The reason has %s characters; it must have 10 to 1000.', coalesce(length(why), 0))),
        (coalesce(seconds, 0) NOT BETWEEN 60 AND 2592000, 'bad_seconds', format('Access can be requested for 60 to 2592000 seconds (30 days), not for %s.', coalesce(seconds::text, 'null'))),
        (coalesce(cardinality(asked), 0) NOT BETWEEN 1 AND 20, 'no_rule', format('A request for access can name 1 to 20 keys, not %s.', coalesce(cardinality(asked), 0))),
        (own_issuer IS NULL, 'no_rule', 'The identity provider of your token no longer exists in this tenant. Ask an admin of the tenant.'),
        (actor IS NOT NULL AND their_issuer IS NULL, 'no_rule', 'The identity provider of the actor''s token was deleted or disabled. Ask an admin of the tenant.'),
        (NOT internal.accepts_token(tenant, idp, claims), 'no_rule', 'The identity provider of your token was changed just now, and no longer accepts the token. Get a new token, or ask an admin of the tenant.'),
        (internal.block_of_parties(tenant, idp, subject, actor_idp, actor, claims) IS NOT NULL, 'blocked', 'You, or the agent that acts for you, are blocked, so you cannot request access. Ask an admin of the tenant.')
        ) AS f (applies, refusal, detail) WHERE f.applies LIMIT 1;
    IF FOUND THEN
        RETURN QUERY SELECT w.name, NULL::uuid, NULL, NULL::int, NULL::timestamptz, NULL::bigint, chosen.refusal, chosen.detail, NULL::int, NULL::int, false
                       FROM unnest(asked) AS w (name);
        RETURN;
    END IF;

    -- 2. the rule for each key, and the same request if there is one already
    asking.tenant := tenant;
    asking.issuer := own_issuer;
    asking.subject := subject;
    asking.actor_issuer := their_issuer;
    asking.actor := actor;
    asking.reason := why;
    asking.access := seconds;
    FOR place IN 1 .. cardinality(asked) LOOP
        SELECT c.* INTO chosen FROM internal.rule_to_ask_by(tenant, idp, subject, claims, asked[place], actor IS NOT NULL, why, seconds, coalesce(break_glass, false)) AS c;
        asking.idp := (chosen.rule).idp;
        -- Nobody would have consented to the actor: the rule names the subject alone, and no approver is asked.
        IF chosen.refusal IS NULL AND actor IS NOT NULL AND (chosen.rule).break_glass THEN
            chosen.refusal := 'no_rule';
            chosen.detail := 'Only the subject itself can break glass, with its own token and without an actor.';
        ELSIF chosen.refusal IS NULL AND (chosen.rule).consent AND (own_issuer, subject) = (their_issuer, actor) THEN
            chosen.refusal := 'no_rule';
            chosen.detail := 'The agent has the same identity as the subject, so the subject cannot consent. Use an agent with an identity of its own.';
        ELSIF chosen.refusal IS NULL THEN
            chosen.detail := internal.nobody_can_approve(chosen.rule, asking);
            chosen.refusal := CASE WHEN chosen.detail IS NOT NULL THEN 'nobody_can_approve' END;
        END IF;
        rules := rules || chosen.rule;
        former := internal.same_request(asking, chosen.rule, claims);
        -- Otherwise the requester would get the id of a request that cannot be granted.
        IF internal.cannot_be_approved(former) THEN
            voided := voided || former;
            former := NULL;
        END IF;
        earlier := earlier || former;
        -- The first of two break glasses may be open for long.
        IF chosen.refusal = 'break_glass_open' AND earlier[place] IS NOT NULL THEN
            chosen.refusal := NULL;
        END IF;
        refused := refused || jsonb_build_object('key', asked[place], 'refusal', chosen.refusal, 'detail', chosen.detail);
    END LOOP;

    -- 3. the bounds of further requests
    made := earlier;
    IF NOT jsonb_path_exists(refused, '$[*].refusal ? (@ != null)') THEN
        SELECT b.* INTO reached FROM internal.open_request_bound(tenant, own_issuer, subject,
            ARRAY(SELECT (rules[w.place]).id FROM generate_subscripts(asked, 1) AS w (place) WHERE made[w.place] IS NULL)) AS b;
        IF reached.detail IS NOT NULL THEN
            refused := (SELECT jsonb_agg(jsonb_build_object('key', w.name, 'refusal', 'too_many_requests', 'detail', reached.detail,
                                                            'retry_after', reached.retry_after, 'bound', reached.bound)) FROM unnest(asked) AS w (name));
        END IF;
    END IF;

    -- 4. all or nothing
    IF NOT jsonb_path_exists(refused, '$[*].refusal ? (@ != null)') THEN
        BEGIN
            PERFORM internal.end_request(v.id, 'void') FROM unnest(voided) AS v (id);
            FOR place IN 1 .. cardinality(asked) LOOP
                CONTINUE WHEN made[place] IS NOT NULL;
                made[place] := internal.write_request(rules[place], own_issuer, subject,
                    internal.frozen_claims((rules[place]).claims, claims), actor_idp, their_issuer, actor, why, seconds, all_tenants_revision);
            END LOOP;
        EXCEPTION WHEN integrity_constraint_violation THEN
            GET STACKED DIAGNOSTICS constraint_found = CONSTRAINT_NAME, message = MESSAGE_TEXT;
            refused := (SELECT jsonb_agg(jsonb_build_object('key', w.name, 'refusal', internal.refusal_of(constraint_found, 'bad_reason'),
                                'detail', message, 'retry_after', c.retry_after, 'bound', c.bound))
                          FROM unnest(asked) AS w (name) CROSS JOIN internal.change_bound(constraint_found, request_access.tenant, false) AS c);
        END;
    END IF;
    IF jsonb_path_exists(refused, '$[*].refusal ? (@ != null)') THEN
        RETURN QUERY SELECT f.value ->> 'key', NULL::uuid, NULL, NULL::int, NULL::timestamptz, NULL::bigint, f.value ->> 'refusal',
                            f.value ->> 'detail', (f.value ->> 'retry_after')::int, (f.value ->> 'bound')::int, false
                       FROM jsonb_array_elements(refused) WITH ORDINALITY AS f (value, place) ORDER BY f.place;
    ELSE
        RETURN QUERY SELECT q.key::text, q.id, q.status, CASE WHEN q.break_glass THEN 0 ELSE internal.all_approvals(q.approvals, q.steps) END, q.expires_at, q.grant_id, NULL, NULL, NULL::int, NULL::int,
                            NOT coalesce(q.id = ANY (earlier), false)
                       FROM unnest(made) WITH ORDINALITY AS w (id, place) JOIN broker.access_request AS q ON q.id = w.id ORDER BY w.place;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.request_access(text, text, text, jsonb, text, text, text[], text, int, boolean) IS
    'Requests access to keys with a token. Returns a row for each key, with its request or its refusal. If one key is refused, nothing is written.';

DROP FUNCTION IF EXISTS internal.write_request(broker.access_rule, text, text, jsonb, text, text, text, text, int);
CREATE OR REPLACE FUNCTION internal.write_request(rule broker.access_rule, issuer text, subject text, claims jsonb, actor_idp text,
                                                  actor_issuer text, actor text, reason text, seconds int, all_tenants_revision bigint) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made broker.access_request;
BEGIN
    INSERT INTO broker.access_request
           (tenant, rule, key, idp, issuer, subject, claims, actor_idp, actor_issuer, actor, reason, access, break_glass, end_credentials, approvals,
            steps, people, consent, expires_at, all_tenants_revision)
    VALUES (rule.tenant, rule.id, rule.key, rule.idp, issuer, subject, claims, actor_idp, actor_issuer, actor, reason, seconds, rule.break_glass,
            rule.end_credentials, rule.approvals, rule.steps, rule.people, rule.consent, now() + rule.expires_after * interval '1 second', all_tenants_revision)
    RETURNING * INTO made;
    PERFORM internal.note_access(made, 'requested');
    IF made.break_glass THEN
        PERFORM internal.grant_request(made);
    END IF;
    RETURN made.id;
END
$$;
COMMENT ON FUNCTION internal.write_request(broker.access_rule, text, text, jsonb, text, text, text, text, int, bigint) IS
    'Writes a request by a rule, and for break glass its grant; returns its id.';
