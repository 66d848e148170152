-- Who gets nothing: broker.blocked_subject.

-- ---------------------------------------------------------------- the row by itself

-- An ended block does not count as an existing one. Ended before this transaction began: updated_at says no later time.
CREATE OR REPLACE FUNCTION internal.lift_ended_block(written broker.blocked_subject) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    ended bigint;
BEGIN
    SELECT b.id INTO ended FROM broker.blocked_subject AS b
     WHERE b.enabled AND b.until <= now()
       AND internal.block_digest(b.tenant, b.idp, b.match, b.subject, b.claims)
         = internal.block_digest(written.tenant, written.idp, written.match, written.subject, written.claims);
    -- Only then: an UPDATE of no row costs its triggers too, for each row of a bulk edit.
    IF FOUND THEN
        UPDATE broker.blocked_subject AS b SET enabled = false WHERE b.id = ended AND b.until <= now();
    END IF;
END
$$;
COMMENT ON FUNCTION internal.lift_ended_block(broker.blocked_subject) IS
    'Disables an ended block when the same subject is blocked again.';

-- A change needs a second admin if the block then stops less. now(): whoever verifies the history has no later time than updated_at.
CREATE OR REPLACE FUNCTION internal.stops_less(former broker.blocked_subject, written broker.blocked_subject) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN former.enabled
       AND (written.id IS NULL
            OR coalesce(former.until > now(), true)
               AND (written.enabled AND coalesce(written.until, 'infinity') >= coalesce(former.until, 'infinity')
                    AND (written.idp, written.subject, written.match, written.claims::text)
                        IS NOT DISTINCT FROM (former.idp, former.subject, former.match, former.claims::text)) IS NOT TRUE);
END
$$;
COMMENT ON FUNCTION internal.stops_less(broker.blocked_subject, broker.blocked_subject) IS
    'Whether a block that is in force is lifted, shortened or narrowed by a change. written: the row after it; null: it is deleted.';

-- ---------------------------------------------------------------- bounds

-- The service reads and tries all of these for every token, of whichever tenant. So they must be fewer, and less work
-- together, than it would refuse to do: a block of all tenants never ends anybody else's service.
CREATE OR REPLACE FUNCTION internal.check_globs_of_all_tenants() RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    globs bigint;
    steps bigint;
BEGIN
    SELECT count(*), sum(length(b.subject) + 1024 * regexp_count(b.subject, '[*][*]?')) INTO globs, steps
      FROM broker.blocked_subject AS b WHERE b.tenant IS NULL AND b.match = 'glob' AND b.enabled;
    IF globs > 1000 OR steps > 250000 THEN
        PERFORM internal.refuse_in('broker.blocked_subject', 'globs_of_all_tenants_are_few',
            CASE WHEN globs > 1000 THEN format('There would be %s glob blocks for all tenants; the maximum is 1000.', globs)
                 ELSE format('The glob blocks for all tenants would cost up to %s matching steps for each token; the maximum is 250000.', steps) END,
            'Each star costs 1024 steps. Delete or disable blocks that are not needed, block exact subjects (whose number is not limited), or block in single tenants.',
            'check_violation');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_globs_of_all_tenants() IS
    'Rejects more globs of blocks in all tenants than the broker can match with each token.';

CREATE OR REPLACE FUNCTION internal.count_blocks() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM internal.count_further(r.tenant, 0, 0, 0, -count(*), -count(*) FILTER (WHERE r.match = 'glob'))
           FROM removed AS r WHERE r.tenant IS NOT NULL GROUP BY r.tenant ORDER BY r.tenant;
        RETURN NULL;
    ELSIF TG_OP = 'INSERT' THEN
        PERFORM internal.count_further(w.tenant, 0, 0, 0, count(*), count(*) FILTER (WHERE w.match = 'glob'))
           FROM written AS w WHERE w.tenant IS NOT NULL GROUP BY w.tenant ORDER BY w.tenant;
    ELSE
        PERFORM internal.count_further(c.tenant, 0, 0, 0, 0, sum(c.globs)::bigint)
           FROM (SELECT w.tenant, count(*) AS globs FROM written AS w WHERE w.match = 'glob' GROUP BY w.tenant
                 UNION ALL
                 SELECT r.tenant, -count(*) FROM removed AS r WHERE r.match = 'glob' GROUP BY r.tenant) AS c
          WHERE c.tenant IS NOT NULL GROUP BY c.tenant HAVING sum(c.globs) <> 0 ORDER BY c.tenant;
    END IF;
    IF EXISTS (SELECT FROM written AS w WHERE w.tenant IS NULL AND w.match = 'glob' AND w.enabled) THEN
        PERFORM internal.check_globs_of_all_tenants();
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_blocks() IS
    'Trigger: counts the blocks and their globs of a tenant, and rejects blocks beyond its limits.';

-- ---------------------------------------------------------------- lint

CREATE OR REPLACE FUNCTION internal.each_token_has(idp broker.identity_provider, conditions jsonb) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT internal.claims_cover(conditions, idp.required_claims || jsonb_build_object('iss', idp.issuer)
               || coalesce((SELECT jsonb_object_agg(c.claim, c.value) FROM internal.known_issuer(idp.issuer) AS k CROSS JOIN internal.claims_in_subject(k.subject_claims, idp.issuer) AS c), '{}'));
$$;
COMMENT ON FUNCTION internal.each_token_has(broker.identity_provider, jsonb) IS 'Whether every token that an identity provider accepts meets these conditions.';

-- Up to a thousand each of grants, rules, and rows of the last 30 days of the log: if there are more, only what they show is said.
-- A token has one project, so it can't have that of both; of other claims it may have a list.
CREATE OR REPLACE FUNCTION internal.projects_differ(one jsonb, other jsonb, project_claims jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM jsonb_array_elements_text(project_claims) AS p (claim)
                    WHERE one ? p.claim AND other ? p.claim
                      AND NOT EXISTS (SELECT FROM internal.alternatives(one -> p.claim) AS a CROSS JOIN internal.alternatives(other -> p.claim) AS b
                                       WHERE CASE jsonb_typeof(b) WHEN 'object' THEN internal.text_may_fit(a, b ->> 'glob', 'glob') ELSE internal.value_fits(a, b) END));
$$;
COMMENT ON FUNCTION internal.projects_differ(jsonb, jsonb, jsonb) IS 'Whether the conditions of two rows name different projects, by the claims in which the issuer names the single project of a token.';

CREATE OR REPLACE FUNCTION internal.may_send(issuer broker.known_issuer, conditions jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT NOT EXISTS (SELECT FROM jsonb_object_keys(conditions) AS c (name)
                        WHERE c.name <> ALL ('{iss,sub,aud,jti,azp,exp,nbf,iat,auth_time}') AND NOT issuer.claims ? c.name
                          AND NOT EXISTS (SELECT FROM jsonb_object_keys(issuer.claims) AS g (name) WHERE strpos(g.name, '*') > 0 AND internal.glob_matches(g.name, c.name)));
$$;
COMMENT ON FUNCTION internal.may_send(broker.known_issuer, jsonb) IS 'Whether the tokens of a known issuer may have all claims of these conditions.';

DROP FUNCTION IF EXISTS internal.parties_near(broker.blocked_subject);

-- Planned once in a session, since planning takes several times as long as the rest.
CREATE OR REPLACE FUNCTION internal.parties_near(checked broker.blocked_subject) RETURNS TABLE (kind text, id bigint, idp text, subject text, match text, is_stopped boolean, is_in_part boolean, has_the_claims boolean)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    -- its tenant, or all of them, in a form that one plan reads along the indexes
    first constant text := coalesce(checked.tenant, '');
    last constant text := coalesce(checked.tenant, '~');
    alike constant text := internal.likeness(checked.subject);
    since constant uuid := audit.first_mint_id(now() - interval '30 days');
    names constant text[] := ARRAY(SELECT jsonb_object_keys(checked.claims));
    -- whose tokens all have the claims of the block
    whole constant text[] := ARRAY(SELECT p.name FROM (SELECT i.* FROM broker.identity_provider AS i WHERE i.tenant BETWEEN first AND last LIMIT 200) AS p
        WHERE p.name = coalesce(checked.idp, p.name) AND checked.claims <> '{}' AND internal.each_token_has(p::broker.identity_provider, checked.claims) LIMIT 100);
    projects constant jsonb := (SELECT coalesce(jsonb_object_agg(p.name, k.project_claims), '{}')
        FROM (SELECT i.name, i.issuer FROM broker.identity_provider AS i WHERE i.tenant BETWEEN first AND last AND checked.claims <> '{}' LIMIT 200) AS p
       CROSS JOIN LATERAL internal.known_issuer(p.issuer) AS k);
    -- Whether the tokens of a known issuer may have these claims. Claims that one for jobs sends, and that tokens of people do not have, are its
    -- own: an issuer that is not known does not send them, unless a row has a condition on them.
    senders constant jsonb := (SELECT coalesce(jsonb_object_agg(p.name, internal.may_send(k, checked.claims) OR p.required_claims ?& names), '{}')
        FROM (SELECT i.* FROM broker.identity_provider AS i WHERE i.tenant BETWEEN first AND last AND checked.claims <> '{}' LIMIT 200) AS p
       CROSS JOIN LATERAL internal.known_issuer(p.issuer) AS k);
    are_of_jobs constant boolean := jsonb_path_exists(senders, '$.* ? (@ == true)')
        AND NOT checked.claims ?| '{iss,sub,aud,jti,azp,exp,nbf,iat,auth_time,acr,amr,scope,name,nickname,preferred_username,profile,email,email_verified,groups,groups_direct,roles,user_id,user_login,user_email}';
BEGIN
    RETURN QUERY WITH party (kind, id, idp, subject, match, claims) AS (
        (SELECT 'grant', g.id, g.idp, g.subject, g.match, g.claims FROM broker.subject_grant AS g
          WHERE checked.match = 'exact' AND g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(checked.subject, 0)
            AND g.subject = checked.subject AND g.tenant BETWEEN first AND last AND g.enabled LIMIT 1000)
        UNION (SELECT 'grant', g.id, g.idp, g.subject, g.match, g.claims FROM broker.subject_grant AS g
                WHERE g.tenant BETWEEN first AND last AND g.enabled LIMIT 1000)
        UNION (SELECT 'grant', g.id, g.idp, g.subject, g.match, g.claims FROM broker.subject_grant AS g
                WHERE g.tenant BETWEEN first AND last AND g.match = 'glob' AND g.enabled LIMIT 1000)
        UNION (SELECT 'grant', g.id, g.actor_idp, g.actor, g.actor_match, g.actor_claims FROM broker.subject_grant AS g
                WHERE g.tenant BETWEEN first AND last AND g.actor IS NOT NULL AND g.enabled LIMIT 1000)
        UNION (SELECT 'rule', r.id, r.idp, r.subject, r.match, r.claims FROM broker.access_rule AS r
                WHERE r.tenant BETWEEN first AND last AND r.enabled LIMIT 1000)
        UNION (SELECT 'approver', a.id, a.idp, a.subject, a.match, a.claims FROM broker.access_approver AS a
                WHERE a.tenant BETWEEN first AND last AND a.idp IS NOT NULL LIMIT 1000)
        UNION (SELECT DISTINCT 'token', NULL::bigint, p.idp, p.subject, 'exact', '{}'::jsonb
                 FROM ((SELECT e.idp, e.subject, e.actor_idp, e.actor FROM audit.event AS e
                         WHERE e.mint_id >= since AND e.tenant = checked.tenant AND e.subject IS NOT NULL ORDER BY e.mint_id DESC LIMIT 1000)
                       UNION ALL
                       (SELECT e.idp, e.subject, e.actor_idp, e.actor FROM audit.event AS e
                         WHERE e.mint_id >= since AND checked.tenant IS NULL AND e.subject IS NOT NULL ORDER BY e.mint_id DESC LIMIT 1000)) AS e
                CROSS JOIN LATERAL (VALUES (e.idp, e.subject), (e.actor_idp, e.actor)) AS p (idp, subject) WHERE p.subject IS NOT NULL)
        UNION (SELECT 'token', NULL::bigint, e.idp, e.subject, 'exact', '{}' FROM audit.event AS e
                WHERE checked.match = 'exact' AND e.mint_id >= since AND hashtextextended(e.subject, 0) = hashtextextended(checked.subject, 0)
                  AND e.subject = checked.subject AND (checked.tenant IS NULL OR e.tenant = checked.tenant) LIMIT 1)
    ), compared AS (
        SELECT p.*, CASE WHEN checked.match = 'exact' AND p.match = 'exact' THEN p.subject = checked.subject
                         WHEN p.match = 'exact' THEN internal.glob_matches(checked.subject, p.subject)
                         WHEN checked.match = 'exact' THEN internal.glob_matches(p.subject, checked.subject)
                         ELSE internal.globs_overlap(checked.subject, p.subject) END AS is_named,
               -- else only some of its tokens may have them, as far as the rows tell
               checked.claims = '{}' OR p.idp = ANY (whole) OR internal.claims_cover(checked.claims, p.claims) AS has_the_claims
          FROM party AS p
         WHERE checked.claims = '{}'
            OR (p.claims = '{}' OR NOT internal.projects_differ(checked.claims, p.claims, projects -> p.idp))
               AND (coalesce((senders ->> p.idp)::boolean, NOT are_of_jobs) OR p.claims ?& names OR p.idp = ANY (whole))
    )
    SELECT c.kind, c.id, c.idp COLLATE "C", c.subject COLLATE "C", c.match, c.is_named AND (checked.idp IS NULL OR c.idp = checked.idp),
           NOT c.has_the_claims
           OR c.match = 'glob' AND checked.subject <> '**' AND NOT (c.is_named AND checked.match = 'glob' AND internal.glob_covers(checked.subject, 'glob', c.subject)), c.has_the_claims
      FROM compared AS c
     WHERE c.is_named
        OR CASE WHEN checked.match = 'exact' AND c.match = 'exact' THEN internal.likeness(c.subject) = alike
                WHEN c.match = 'exact' THEN internal.glob_matches(alike, internal.likeness(c.subject))
                WHEN checked.match = 'exact' THEN internal.glob_matches(internal.likeness(c.subject), alike)
                ELSE internal.globs_overlap(alike, internal.likeness(c.subject)) END;
END
$$;
COMMENT ON FUNCTION internal.parties_near(broker.blocked_subject) IS
    'The subjects and actors of grants, rules, approvers and tokens that a block stops, or that differ from what it stops only by the identity provider, ids of GitHub, case, spaces or look-alike characters.';

CREATE OR REPLACE FUNCTION internal.what_it_stops(checked broker.blocked_subject) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
    whole bigint[]; part bigint[];
    rules bigint[]; approvers bigint[]; used bigint; tokens bigint[];
    today constant uuid := audit.first_mint_id(date_trunc('day', now(), 'UTC'));
BEGIN
    SELECT array_agg(DISTINCT n.id) FILTER (WHERE n.kind = 'grant' AND NOT n.is_in_part), array_agg(DISTINCT n.id) FILTER (WHERE n.kind = 'grant' AND n.is_in_part),
           ARRAY[count(DISTINCT n.id) FILTER (WHERE n.kind = 'rule' AND n.has_the_claims), count(DISTINCT n.id) FILTER (WHERE n.kind = 'rule' AND NOT n.has_the_claims)],
           ARRAY[count(DISTINCT n.id) FILTER (WHERE n.kind = 'approver' AND n.has_the_claims), count(DISTINCT n.id) FILTER (WHERE n.kind = 'approver' AND NOT n.has_the_claims)],
           ARRAY[count(DISTINCT (n.idp, n.subject)) FILTER (WHERE n.kind = 'token' AND n.has_the_claims), count(DISTINCT (n.idp, n.subject)) FILTER (WHERE n.kind = 'token' AND NOT n.has_the_claims)]
      INTO whole, part, rules, approvers, tokens FROM internal.parties_near(checked) AS n WHERE n.is_stopped;
    part := ARRAY(SELECT unnest(part) EXCEPT SELECT unnest(whole));
    SELECT count(*) INTO used FROM unnest(whole || part) AS g (id)
     WHERE EXISTS (SELECT FROM audit.event AS e WHERE e.grant_id = g.id AND e.step = 1 AND e.mint_id >= today);
    RETURN CASE WHEN whole IS NULL AND part = '{}' AND rules || approvers || tokens = '{0,0,0,0,0,0}' THEN 'stops no known grant, access rule, approver or subject'
        ELSE 'stops ' || concat_ws(', ',
            format('%s grant%s', coalesce(cardinality(whole), 0), CASE WHEN cardinality(whole) = 1 THEN '' ELSE 's' END)
            || CASE WHEN part <> '{}' THEN format(' and some subjects of %s more grant%s', cardinality(part), CASE WHEN cardinality(part) = 1 THEN '' ELSE 's' END) ELSE '' END
            || CASE WHEN used > 0 THEN format(' (%s of these %s used today)', used, CASE WHEN used = 1 THEN 'was' ELSE 'were' END) ELSE '' END,
            CASE WHEN rules[1] > 0 THEN format('requests by %s access rule%s', rules[1], CASE WHEN rules[1] = 1 THEN '' ELSE 's' END) END,
            CASE WHEN rules[2] > 0 THEN format('requests by %s access rule%s if the token has these claims', rules[2], CASE WHEN rules[2] = 1 THEN '' ELSE 's' END) END,
            CASE WHEN approvers[1] > 0 THEN format('decisions of %s approver%s of access rules', approvers[1], CASE WHEN approvers[1] = 1 THEN '' ELSE 's' END) END,
            CASE WHEN approvers[2] > 0 THEN format('decisions of %s approver%s whose tokens have these claims', approvers[2], CASE WHEN approvers[2] = 1 THEN '' ELSE 's' END) END,
            CASE WHEN tokens[2] = 0 THEN format('%s subject%s seen in the last 30 days', tokens[1], CASE WHEN tokens[1] = 1 THEN '' ELSE 's' END)
                 ELSE format('tokens with these claims of %s subject%s seen in the last 30 days', tokens[1] + tokens[2], CASE WHEN tokens[1] + tokens[2] = 1 THEN '' ELSE 's' END) END) END;
END
$$;
COMMENT ON FUNCTION internal.what_it_stops(broker.blocked_subject) IS 'Which of the known grants, rules, approvers and tokens a block stops, worded as the end of a sentence.';

CREATE OR REPLACE FUNCTION internal.lint_blocks(ids bigint[]) RETURNS TABLE (id bigint, tenant text, rule text, detail text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET standard_conforming_strings = on
    SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    checked broker.blocked_subject;
    meant broker.subject_grant;
    since constant uuid := audit.first_mint_id(now() - interval '90 days');
BEGIN
    FOR checked IN SELECT b.* FROM broker.blocked_subject AS b WHERE b.id = ANY (ids) AND b.enabled ORDER BY b.id LOOP
        meant := internal.as_grant(to_jsonb(checked));
        -- without an identity provider GitHub's is meant, if the tenant has one
        meant.idp := coalesce(checked.idp, (SELECT min(p.name) FROM broker.identity_provider AS p WHERE checked.subject ~ '^repo:'
            AND p.tenant BETWEEN coalesce(checked.tenant, '') AND coalesce(checked.tenant, '~') AND p.issuer ~ '^https://token[.]actions[.]githubusercontent[.]com(/|$)'));
        RETURN QUERY SELECT checked.id, checked.tenant, n.rule, n.detail FROM internal.lint_parties('blocked_subject', ARRAY[meant]) AS n
                      WHERE checked.idp IS NOT NULL OR n.rule <> 'subject_fits_no_form';
        -- Without an identity provider, each issuer is meant that sends these claims: conditions that fit none of them stop nothing.
        IF meant.idp IS NULL AND checked.claims <> '{}' THEN
            RETURN QUERY WITH sender AS MATERIALIZED (
                SELECT DISTINCT ON (k.name) k AS known FROM broker.known_issuer AS k
                 WHERE k.claims ?& ARRAY(SELECT jsonb_object_keys(checked.claims)) AND (checked.tenant IS NULL OR EXISTS (
                       SELECT FROM (SELECT p.issuer FROM broker.identity_provider AS p WHERE p.tenant = checked.tenant LIMIT 200) AS p WHERE internal.glob_matches(k.issuer_pattern, p.issuer)))
                 ORDER BY k.name, k.issuer_pattern
            ), fault AS MATERIALIZED (
                SELECT (s.known).name AS of_issuer, n.rule, n.detail FROM sender AS s CROSS JOIN internal.lint_claims(checked.claims, s.known) AS n
                 WHERE n.rule IN ('claim_of_other_type', 'claim_fits_no_form', 'unlike_its_issuer')
            )
            SELECT checked.id, checked.tenant, f.rule, f.detail FROM fault AS f
             WHERE f.of_issuer = (SELECT min(o.of_issuer) FROM fault AS o) AND NOT EXISTS (
                   SELECT FROM sender AS s WHERE (s.known).name NOT IN (SELECT o.of_issuer FROM fault AS o));
        END IF;
        -- A token is of one issuer.
        IF checked.claims <> '{}' THEN
            RETURN QUERY SELECT checked.id, checked.tenant, 'claims_of_several_issuers', string_agg('"' || c.name || '" of ' || c.issuers, ', ' ORDER BY c.name)
                  FROM (SELECT n.name, (SELECT string_agg(DISTINCT k.name, ' or ') FROM broker.known_issuer AS k WHERE k.project_wildcard > 0 AND internal.may_send(k, jsonb_build_object(n.name, ''))) AS issuers
                          FROM jsonb_object_keys(checked.claims) AS n (name)) AS c
                HAVING count(*) > 1 AND bool_and(c.issuers IS NOT NULL)
                   AND NOT EXISTS (SELECT FROM broker.known_issuer AS k WHERE internal.may_send(k, checked.claims))
                   AND NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.name = checked.idp);
        END IF;
        RETURN QUERY SELECT checked.id, checked.tenant, 'ended_already', '' WHERE checked.until <= checked.updated_at;
        RETURN QUERY SELECT checked.id, checked.tenant, 'ends_at_once', '' WHERE checked.until > checked.updated_at AND checked.until <= checked.updated_at + interval '1 minute';
        RETURN QUERY SELECT checked.id, checked.tenant, 'ends_far_away', to_char(checked.until, 'FMYYYY') WHERE internal.is_far_end(checked.until, checked.updated_at);
        -- else not even planned
        IF checked.match = 'glob' THEN
            RETURN QUERY SELECT checked.id, checked.tenant, 'block_of_everybody', p.name::text
                  FROM (SELECT i.* FROM broker.identity_provider AS i WHERE i.tenant BETWEEN coalesce(checked.tenant, '') AND coalesce(checked.tenant, '~') LIMIT 200) AS p
                  LEFT JOIN LATERAL internal.known_issuer(p.issuer) AS k ON true
                 WHERE p.name = coalesce(checked.idp, p.name) AND internal.each_token_has(p::broker.identity_provider, checked.claims)
                   AND (checked.subject = '**' OR checked.idp IS NOT NULL AND NOT EXISTS (
                        SELECT FROM unnest(CASE WHEN starts_with(checked.subject, 'system:serviceaccount:') THEN '{system:serviceaccount:*:*}' ELSE coalesce(k.subject_forms, '{**}') END) AS f
                         WHERE NOT internal.glob_covers(checked.subject, 'glob', f))) ORDER BY p.name LIMIT 3;
            -- of one project the subjects of one form, where the issuer has several
            RETURN QUERY SELECT checked.id, checked.tenant, 'block_leaves_other_forms', concat_ws(chr(10), l.project || min(o.tail), l.project || left(min(o.tail), 1) || '**')
                  FROM broker.identity_provider AS p CROSS JOIN internal.known_issuer(p.issuer) AS k
                 CROSS JOIN LATERAL (SELECT substring(f FROM format('^(?:[^*]*[*]+){%s}', k.project_wildcard)) AS project, f FROM unnest(k.subject_forms) AS f) AS f
                 CROSS JOIN LATERAL (SELECT left(checked.subject, length(f.project) - length(f.f)) AS project, substr(f.f, length(f.project) + 1) AS tail) AS l
                 CROSS JOIN LATERAL (SELECT substr(o, length(f.project) + 1) AS tail FROM unnest(k.subject_forms) AS o WHERE starts_with(o, f.project)) AS o
                 WHERE p.name = meant.idp AND checked.claims = '{}' AND k.project_wildcard > 0 AND l.tail ~ '.[*][*]$'
                   AND right(checked.subject, length(l.tail)) = l.tail AND l.project ~ internal.pattern_of(ARRAY[f.project]) AND o.tail <> l.tail
                   AND NOT EXISTS (SELECT FROM ((SELECT b.* FROM broker.blocked_subject AS b WHERE b.tenant = checked.tenant AND b.match = 'glob' LIMIT 200) UNION ALL
                                           (SELECT b.* FROM broker.blocked_subject AS b WHERE b.tenant IS NULL AND b.match = 'glob' LIMIT 200)) AS b
                                    WHERE b.enabled AND b.claims = '{}' AND (b.idp IS NULL OR b.idp = meant.idp) AND internal.glob_covers(b.subject, 'glob', l.project || o.tail))
                 GROUP BY l.project;
        END IF;
        RETURN QUERY WITH near AS MATERIALIZED (SELECT n.* FROM internal.parties_near(checked) AS n)
            -- which tokens have the claims of a block is not known
            (SELECT checked.id, checked.tenant, 'block_leaves_others', concat_ws(chr(10), n.subject, n.idp,
                    CASE n.kind WHEN 'grant' THEN 'grant ' || n.id WHEN 'rule' THEN 'access rule ' || n.id WHEN 'approver' THEN 'approver ' || n.id ELSE 'minted or requested access in the last 30 days' END,
                    format('INSERT INTO broker.blocked_subject (%1$s, subject, match, reason) VALUES (%2$s, %3$L, %4$L, %5$L);',
                           CASE WHEN checked.tenant IS NULL THEN 'tenant' ELSE 'tenant, idp' END,
                           CASE WHEN checked.tenant IS NULL THEN 'NULL' ELSE format('%L, %L', checked.tenant, n.idp) END,
                           CASE WHEN n.is_named_like THEN checked.subject ELSE n.subject END, CASE WHEN n.is_named_like THEN checked.match ELSE n.match END,
                           replace(checked.reason, chr(10), ' ')))
               FROM (SELECT DISTINCT ON (p.idp, p.subject) p.*,
                            CASE WHEN checked.match = 'exact' THEN p.subject = checked.subject ELSE internal.globs_overlap(checked.subject, p.subject) END AS is_named_like
                       FROM near AS p WHERE NOT p.is_stopped ORDER BY p.idp, p.subject, p.kind) AS n
              WHERE checked.claims = '{}' AND (checked.tenant IS NOT NULL OR n.subject <> checked.subject)
              -- what a row beside it blocks
              AND NOT EXISTS (SELECT FROM broker.blocked_subject AS o WHERE o.id <> checked.id AND o.enabled AND (o.until IS NULL OR o.until > now())
                                 AND o.claims = '{}' AND (o.tenant IS NULL OR o.tenant = checked.tenant) AND (o.idp IS NULL OR o.idp = n.idp)
                                 AND CASE o.match WHEN 'glob' THEN internal.glob_covers(o.subject, n.match, n.subject) ELSE o.subject = n.subject END)
              ORDER BY n.kind, n.id, n.subject LIMIT 3)
            UNION ALL
            -- of issuers whose subjects have further segments; GitHub's may be configured to end here
            SELECT checked.id, checked.tenant, 'block_of_part_of_a_subject', concat_ws(chr(10), checked.subject, rtrim(checked.subject, '*') || CASE WHEN checked.subject ~ '/[*]?$' THEN '**' ELSE ':**' END)
             WHERE checked.subject ~ '^(repo:[^:]+|project_path:[^:]+|organization:[^:]+(:(pipeline|project|workspace):[^:]+)*|system:serviceaccount:[^:]+)$'
               AND strpos(checked.subject, '**') = 0 AND (SELECT bool_and(n.match = 'glob') FROM near AS n WHERE n.is_stopped)
            UNION ALL
            SELECT checked.id, checked.tenant, 'block_matches_nothing', ''
             -- of any subject of any issuer, the claims alone decide, and no row tells which tokens have them
             WHERE (checked.subject <> '**' OR checked.idp IS NOT NULL OR checked.claims = '{}') AND NOT EXISTS (SELECT FROM near AS n WHERE n.is_stopped)
               AND NOT EXISTS (SELECT FROM audit.event AS e WHERE checked.match = 'exact' AND e.mint_id >= since
                                  AND hashtextextended(e.subject, 0) = hashtextextended(checked.subject, 0) AND e.subject = checked.subject
                                  AND (checked.tenant IS NULL OR e.tenant = checked.tenant))
               AND (checked.match = 'exact' OR NOT EXISTS (SELECT FROM broker.subject_grant AS g
                                                            WHERE g.tenant BETWEEN coalesce(checked.tenant, '') AND coalesce(checked.tenant, '~') OFFSET 1000));
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.lint_blocks(bigint[]) IS 'Findings in the enabled blocks among these.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_blocked_subject() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET TimeZone = 'UTC'
AS $$
DECLARE
    -- A tenant that the login no longer sees counts as one that requires a second admin.
    held constant boolean := TG_OP <> 'INSERT' AND OLD.tenant IS NOT NULL AND row_security_active(TG_RELID)
        AND coalesce((SELECT t.require_second_admin FROM broker.tenant AS t WHERE t.name = OLD.tenant), true);
    change jsonb;
    owner constant text := format('The block of "%s"', NEW.subject);
    fault constant text := internal.line_fault(NEW.subject, 1024);
    message text;
    hint text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.id := internal.new_id(TG_RELID, NEW.id);
    END IF;
    -- Where a second admin is required, a change that lifts, shortens or narrows a block is proposed, and the block stays. The owner's
    -- rights, which broker.approve has, pass.
    IF TG_OP = 'DELETE' THEN
        IF held AND internal.stops_less(OLD, NULL) THEN
            PERFORM internal.refuse_in(TG_RELID, 'a_block_is_lifted_by_two',
                format('The block of "%s" is enabled, and tenant "%s" requires a second admin to lift it.', OLD.subject, OLD.tenant),
                format('UPDATE broker.blocked_subject SET enabled = false WHERE id = %s; then another admin runs the statement in broker.pending_approval.', OLD.id),
                'insufficient_privilege');
        END IF;
        RETURN OLD;
    END IF;
    PERFORM internal.refuse_kept_id(TG_RELID, OLD.id, NEW.id);
    IF NEW.proposed IS DISTINCT FROM OLD.proposed THEN
        PERFORM internal.refuse_kept_column('proposed', 'Leave out proposed, and change the block itself. Where a second admin must approve the change, the database proposes it.');
    END IF;
    IF TG_OP = 'INSERT' OR NEW *<> OLD THEN
        NEW.proposed := NULL;
    END IF;
    IF row_security_active(TG_RELID) AND NOT internal.login_is('a platform admin') THEN
        PERFORM internal.check_writer(TG_RELID, to_jsonb(NEW));
    END IF;
    IF NEW.tenant IS NULL THEN
        IF row_security_active(TG_RELID) AND NOT internal.login_is('a platform admin') THEN
            PERFORM internal.refuse_in(TG_RELID, '',
                format('Login "%s" cannot write a row without a tenant, which applies to all tenants.', session_user),
                'Set tenant. Only platform admins write rows for all tenants.', 'insufficient_privilege',
                refused => to_jsonb(NEW));
        END IF;
    END IF;
    IF internal.may_hold_secret(NEW.reason) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'reason', NEW.reason, to_jsonb(NEW) - 'reason');
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{subject,match,claims,reason,enabled}');
    IF TG_OP = 'UPDATE' AND OLD.tenant IS DISTINCT FROM NEW.tenant THEN
        message := format('%s cannot be moved from %s to %s.', owner,
                          coalesce('"' || OLD.tenant || '"', 'all tenants'),
                          coalesce('"' || NEW.tenant || '"', 'all tenants'));
        hint := 'Insert a new row, and delete the old row.';
    ELSIF fault IS NOT NULL THEN
        message := format('A block has a subject that %s.', fault);
        hint := 'Write the sub claim of the tokens as it is, for example "repo:acme/app:ref:refs/heads/main".';
    ELSIF NEW.match NOT IN ('exact', 'glob') THEN
        message := format('%s has the unknown match "%s"; use exact or glob.', owner, NEW.match);
        hint := 'exact compares the whole subject. In a glob, * matches within a segment, and ** across segments.';
    ELSIF NEW.subject = '**' AND NEW.match = 'exact' AND NEW.claims <> '{}' THEN
        message := 'The block of "**" has claims, but not match ''glob''.';
        hint := 'For every subject whose tokens have these claims, write match ''glob''.';
    ELSIF NEW.match = 'glob' AND NOT internal.is_anchored(NEW.subject) AND (NEW.subject <> '**' OR NEW.claims = '{}') THEN
        message := format('%s has a glob that does not start with a literal segment.', owner);
        hint := 'The text up to the first : or / must not contain * (in a URI: the text up to the end of its host), for example "repo:acme/app:**". To block every subject of an identity provider: UPDATE broker.identity_provider SET enabled = false WHERE name = ''…'';';
    ELSIF internal.claims_fault(NEW.claims) IS NOT NULL THEN
        message := format('%s: in its claims, %s.', owner, internal.claims_fault(NEW.claims));
        hint := internal.claims_hint();
    ELSIF NEW.match = 'glob' AND internal.glob_fault(NEW.subject) IS NOT NULL THEN
        message := format('The block of "%s" has a glob that %s.',
                          left(NEW.subject, 40) || CASE WHEN length(NEW.subject) > 40 THEN '…' ELSE '' END, internal.glob_fault(NEW.subject));
        hint := 'Write several blocks with shorter globs.';
    ELSIF NEW.reason !~ '\S' THEN
        message := format('%s has an empty reason.', owner);
        hint := 'Enter a reason, for example the incident''s number.';
    ELSIF length(NEW.reason) > 1000 THEN
        message := format('%s: its reason has %s characters; the maximum is 1000.', owner, length(NEW.reason));
        hint := 'Shorten it.';
    ELSIF NOT isfinite(NEW.until) THEN
        message := format('%s: until must be finite.', owner);
        hint := 'For no end, set until to null.';
    ELSIF NEW.until < '0001-01-01Z' OR NEW.until >= '10000-01-01Z' THEN
        message := format('%s: until must be in the years 1 to 9999.', owner);
        hint := 'For no end, set until to null.';
    ELSIF NEW.idp IS NOT NULL AND NEW.tenant IS NULL THEN
        message := format('%s sets idp "%s" but no tenant.', owner, NEW.idp);
        hint := 'Set tenant too. A block in all tenants applies to the subject of any identity provider.';
    END IF;
    IF message IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', message, hint, 'check_violation', refused => to_jsonb(NEW));
    END IF;
    PERFORM internal.refuse_values(TG_RELID, owner, 'claims', NEW.claims);
    -- Only a valid change is proposed, so that its approval does not fail.
    IF TG_OP = 'UPDATE' AND held AND internal.stops_less(OLD, NEW) THEN
        IF NEW.idp IS NOT NULL THEN
            PERFORM internal.check_identity_provider_exists(TG_RELID, to_jsonb(NEW));
        END IF;
        SELECT jsonb_object_agg(n.key, n.value) INTO change
          FROM jsonb_each(to_jsonb(NEW)) AS n
         WHERE n.key IN ('idp', 'subject', 'match', 'claims', 'until', 'enabled', 'reason') AND n.value::text IS DISTINCT FROM (to_jsonb(OLD) -> n.key)::text;
        NEW := OLD;
        NEW.proposed := change;
    END IF;
    IF TG_OP = 'INSERT' AND NEW.enabled AND current_setting('session_replication_role') <> 'replica' THEN
        PERFORM internal.lift_ended_block(NEW);
    END IF;
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_blocked_subject() IS
    'Trigger: rejects an invalid block with a message, and keeps one whose end a second admin has not approved.';

-- With the writer's rights, so it reveals no rows that the writer may not see.
CREATE OR REPLACE FUNCTION internal.check_references_of_blocked_subject() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NEW.tenant IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.tenant IS DISTINCT FROM NEW.tenant) THEN
        PERFORM internal.check_tenant_exists(TG_RELID, to_jsonb(NEW));
    END IF;
    IF NEW.idp IS NOT NULL THEN
        PERFORM internal.check_identity_provider_exists(TG_RELID, to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_references_of_blocked_subject() IS
    'Trigger: rejects unknown references of a row.';

CREATE OR REPLACE FUNCTION internal.is_as_proposed(former broker.blocked_subject, written broker.blocked_subject) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN written.id IS NOT NULL AND former.proposed IS NOT NULL
       AND (internal.without_bookkeeping(to_jsonb(former)) - 'proposed' || former.proposed)::text
           = (internal.without_bookkeeping(to_jsonb(written)) - 'proposed')::text;
END
$$;
COMMENT ON FUNCTION internal.is_as_proposed(broker.blocked_subject, broker.blocked_subject) IS
    'Whether a change of a block is the proposed change that another admin has approved.';

CREATE OR REPLACE FUNCTION internal.record_blocked_subject() RETURNS trigger
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
                                (SELECT to_jsonb(b) FROM broker.blocked_subject AS b WHERE b.id = coalesce(NEW.id, OLD.id)), OLD.updated_at >= transaction_timestamp());
    -- Recording has locked the tenant. Another session may have begun to require a second admin since check_blocked_subject asked.
    IF TG_OP <> 'INSERT' AND internal.stops_less(OLD, NEW) AND NOT internal.is_as_proposed(OLD, NEW) AND NOT pg_has_role(session_user, '${owner_role}', 'MEMBER')
       AND (SELECT t.require_second_admin FROM broker.tenant AS t WHERE t.name = OLD.tenant) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_block_is_lifted_by_two',
            format('The block of "%s" is not changed, because tenant "%s" began to require a second admin at the same time.', OLD.subject, OLD.tenant),
            'Run the transaction again. The change then awaits the approval of another admin.', 'serialization_failure');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_blocked_subject() IS
    'Trigger: records a change of a block, and rejects one that needs a second admin since its statement began.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.blocked_subject', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_blocked_subject', 'always', 'BEFORE INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'check_blocked_subject()'],
    ['FK_check_references', 'origin', 'AFTER INSERT OR UPDATE OF tenant, idp', 'FOR EACH ROW', 'check_references_of_blocked_subject()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_blocked_subject()'],
    ['add_changes_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_updated', 'always', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'count_changes()'],
    ['check_bounds_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_blocks()'],
    ['check_bounds_updated', 'always', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_blocks()'],
    ['check_bounds_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'count_blocks()'],
    ['lint_inserted', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['lint_updated', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['lint_deleted', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'lint_written(''id'')'],
    ['warn_large_update', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'warn_large_edit(''tenant'')'],
    ['warn_large_delete', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'warn_large_edit(''tenant'')']
]);
