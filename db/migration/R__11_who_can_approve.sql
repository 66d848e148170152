-- Whether what a rule allows to ask for can come to anything: who can approve it, and whether a credential fits into it.

DROP FUNCTION IF EXISTS internal.all_approvals(broker.access_rule);
CREATE OR REPLACE FUNCTION internal.all_approvals(approvals int, steps int[]) RETURNS int
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN approvals * cardinality(steps);
COMMENT ON FUNCTION internal.all_approvals(int, int[]) IS
    'The number of approvals that a request needs in all steps together, of a rule that requires so many in each.';

-- Its grant is shorter by the time until the client mints, for which there is a minute.
CREATE OR REPLACE FUNCTION internal.least_access(shortest_credential int) RETURNS int
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN shortest_credential + 60;
COMMENT ON FUNCTION internal.least_access(int) IS
    'The shortest access, in seconds, into which a credential fits whose type has this minimum lifetime in seconds.';

CREATE OR REPLACE FUNCTION internal.least_access_to(of_tenant text, of_key text) RETURNS int
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT internal.least_access(y.min_duration) FROM broker.key AS k
              JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider JOIN broker.provider_type AS y ON y.type = a.type
             WHERE k.tenant = of_tenant AND k.name = of_key);
END
$$;
COMMENT ON FUNCTION internal.least_access_to(text, text) IS 'The shortest access to a key, in seconds, into which a credential fits.';

CREATE OR REPLACE FUNCTION internal.longest_unfit_for(of_tenant text, of_key text) RETURNS int
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT t.max_duration FROM broker.key AS k
              JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider JOIN broker.provider_type AS y ON y.type = a.type
              JOIN broker.tenant AS t ON t.name = k.tenant AND t.max_duration < y.min_duration
             WHERE k.tenant = of_tenant AND k.name = of_key);
END
$$;
COMMENT ON FUNCTION internal.longest_unfit_for(text, text) IS
    'The max_duration of a tenant, in seconds, if it is shorter than every credential of the key, so that the key cannot be minted; otherwise null.';

CREATE OR REPLACE FUNCTION internal.login_fault(login text, of_tenant text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = login AND r.rolcanlogin) THEN
        RETURN format('login "%s" does not exist', login);
    ELSIF pg_has_role(login, '${admin_role}', 'MEMBER') OR pg_has_role(login, '${owner_role}', 'MEMBER')
       OR pg_has_role(login, '${tenant_admin_role}', 'MEMBER')
          AND EXISTS (SELECT FROM broker.tenant_admin AS a WHERE a.tenant = of_tenant AND a.role_name = login) THEN
        RETURN NULL;
    END IF;
    RETURN format('login "%s" is not an admin of the tenant', login);
END
$$;
COMMENT ON FUNCTION internal.login_fault(text, text) IS
    'Why a login cannot decide requests of a tenant (internal.may_write_rows_of asks the same of the current one); null if it can.';

CREATE OR REPLACE FUNCTION internal.glob_is_blocked(of_tenant text, issuer text, glob text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN internal.is_blocked_in_all_tenants('glob', glob, clock_timestamp())
        OR EXISTS (SELECT FROM broker.blocked_subject AS b JOIN broker.identity_provider AS p ON p.tenant = b.tenant AND p.issuer = glob_is_blocked.issuer
                    WHERE b.tenant = of_tenant AND b.match = 'glob'
                      -- first, because it is cheap
                      AND internal.glob_covers(b.subject, 'glob', glob) AND internal.covers(b, p.name, 'glob', glob, clock_timestamp(), NULL));
END
$$;
COMMENT ON FUNCTION internal.glob_is_blocked(text, text, text) IS
    'Whether a block stops every subject of an issuer that a glob matches. A block by claims does not count.';

DROP FUNCTION IF EXISTS internal.approver_fault(broker.access_approver), internal.names_programs(broker.access_approver);

CREATE OR REPLACE FUNCTION internal.approver_fault(approver broker.access_approver, is_blocked boolean) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    of_login constant text := internal.login_fault(approver.role_name, approver.tenant);
    of_token text;
BEGIN
    IF NOT internal.is_in_force(approver.tenant, approver.approved_at) THEN
        RETURN 'an approver awaits the approval of a second admin';
    ELSIF is_blocked THEN
        RETURN format('approver "%s" is blocked', coalesce(approver.subject, approver.role_name));
    END IF;
    SELECT CASE WHEN NOT p.enabled THEN format('identity provider "%s" is disabled', p.name)
                WHEN NOT p.accepts && '{subject,approver}' THEN format('identity provider "%s" accepts no tokens of approvers', p.name) END
      INTO of_token FROM broker.identity_provider AS p WHERE p.tenant = approver.tenant AND p.name = approver.idp;
    RETURN CASE WHEN approver.subject IS NULL THEN of_login
                WHEN approver.role_name IS NULL THEN of_token
                WHEN of_login IS NOT NULL AND of_token IS NOT NULL THEN of_login || ' and ' || of_token END;
END
$$;
COMMENT ON FUNCTION internal.approver_fault(broker.access_approver, boolean) IS
    'Why a row of broker.access_approver lets no one decide, neither by its login nor with a token; null if it may let a person decide.';

-- The theorem of König and Hall: as many places can be filled as for the set of steps that is shortest of approvers.
CREATE OR REPLACE FUNCTION internal.filled_places(places int, steps int[], of_approvers int[]) RETURNS int
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT min(places * (SELECT count(*) FROM unnest(steps) AS s (step) WHERE (chosen.set >> s.step) & 1 = 0)
               + (SELECT count(*) FROM unnest(of_approvers) AS a (set) WHERE a.set & chosen.set <> 0))::int
      FROM (SELECT DISTINCT n.bits & (SELECT bit_or(1 << s.step) FROM unnest(steps) AS s (step)) AS set FROM generate_series(0, 62, 2) AS n (bits)) AS chosen;
$$;
COMMENT ON FUNCTION internal.filled_places(int, int[], int[]) IS
    'How many of the required approvals the approvers can give, if each approver counts in one step only. places: the approvals that each step requires. of_approvers: for each approver its steps as bits, the first step as 2.';

DROP FUNCTION IF EXISTS internal.steps_of_rule(bigint);

-- As in internal.standing_in, a row that awaits approval or is for shorter access marks programs too. An approver of a row
-- with claims has a token with these claims.
CREATE OR REPLACE FUNCTION internal.names_programs(approver broker.access_approver, person_is_program boolean) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN approver.program OR person_is_program
        OR EXISTS (SELECT FROM broker.access_approver AS a
                    WHERE a.tenant = approver.tenant AND a.rule = approver.rule AND a.program AND a.match = 'glob'
                      AND (a.idp = approver.idp OR a.issuer = ANY (internal.issuers_like(approver.tenant, approver.issuer)))
                      AND internal.glob_covers(a.subject, approver.match, approver.subject) AND internal.claims_cover(a.claims, approver.claims));
END
$$;
COMMENT ON FUNCTION internal.names_programs(broker.access_approver, boolean) IS
    'Whether a row of broker.access_approver lets only programs decide, by itself or because another row of its rule marks its people as programs.';

-- Once for each person: what a hundred names of one person cost must not be multiplied by the rows that have them.
CREATE OR REPLACE FUNCTION internal.people_of_rule(rule broker.access_rule, asked broker.access_request)
    RETURNS TABLE (approver bigint, person text, is_blocked boolean, is_party boolean, is_program boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    of_rule broker.access_request;
    found broker.access_approver;
    names text[];
    known jsonb := '{}';
    told jsonb;
BEGIN
    of_rule.tenant := rule.tenant;
    of_rule.rule := rule.id;
    FOR found IN SELECT a.* FROM broker.access_approver AS a WHERE a.tenant = rule.tenant AND a.rule = rule.id
                    -- another one joins nobody
                    AND internal.is_in_force(a.tenant, a.approved_at)
                    -- a glob without a star names one subject
                    AND (a.match = 'exact' OR position('*' IN a.subject) = 0) ORDER BY a.id LOOP
        told := known -> coalesce(found.role_name, concat_ws(' ', found.issuer, found.subject));
        IF told IS NULL THEN
            names := ARRAY(SELECT concat_ws(' ', n.login_name, n.of_issuer, n.subject_name)
                             FROM internal.names_of_person(rule.tenant, found.role_name, found.issuer, found.subject) AS n);
            told := jsonb_build_array((SELECT min(n.name COLLATE "C") FROM unnest(names) AS n (name)),
                internal.person_is_blocked(rule.tenant, found.role_name, found.issuer, found.subject),
                internal.is_party_of(asked, found.role_name, found.issuer, found.subject),
                internal.is_program(of_rule, found.role_name, found.issuer, found.subject));
            known := known || (SELECT jsonb_object_agg(n.name, told) FROM unnest(names) AS n (name));
        END IF;
        RETURN QUERY SELECT found.id, told ->> 0, (told ->> 1)::boolean, (told ->> 2)::boolean, (told ->> 3)::boolean;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.people_of_rule(broker.access_rule, broker.access_request) IS
    'The person of each approver in force of a rule that names one, whether the person is blocked, made the request or acts in it, and is a program. asked: the requester and its actor; null for any.';

-- Who meets a glob isn't known, so one is as many people as the rule needs.
CREATE OR REPLACE FUNCTION internal.nobody_can_approve(rule broker.access_rule, asked broker.access_request) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    approver broker.access_approver;
    of_person record;
    cause text;
    causes text[] := '{}';
    sets jsonb := '{}';
    people jsonb := '{}';
    needed constant int := internal.all_approvals(rule.approvals, rule.steps);
    globs int[] := '{}';
    program_globs int[] := '{}';
    of_people int[];
    of_all int[];
    given int;
    by_people int;
BEGIN
    IF rule.break_glass THEN
        RETURN NULL;
    ELSIF rule.consent THEN
        RETURN CASE WHEN internal.person_is_blocked(rule.tenant, NULL, asked.issuer, asked.subject)
                    THEN format('Nobody can approve access to key "%s": access rule %s needs the consent of its subject, who is blocked.', rule.key, rule.id) END;
    END IF;
    FOR of_person IN
        SELECT a AS row, p.* FROM broker.access_approver AS a LEFT JOIN internal.people_of_rule(nobody_can_approve.rule, asked) AS p ON p.approver = a.id
         WHERE a.tenant = rule.tenant AND a.rule = rule.id ORDER BY a.id
    LOOP
        approver := of_person.row;
        cause := coalesce(internal.approver_fault(approver, coalesce(of_person.is_blocked, internal.glob_is_blocked(approver.tenant, approver.issuer, approver.subject))),
                          CASE WHEN of_person.is_party THEN 'nobody can approve their own request' END,
                          CASE WHEN NOT internal.is_short_enough(asked, approver)
                               THEN format('a program may only decide access of at most %s seconds', approver.max_access) END);
        IF cause IS NOT NULL THEN
            causes := causes || cause;
        ELSIF of_person.person IS NULL THEN
            globs := globs || array_fill(1 << approver.step, ARRAY[needed]);
            IF internal.names_programs(approver, false) THEN
                program_globs := program_globs || array_fill(1 << approver.step, ARRAY[needed]);
            END IF;
        ELSE
            sets := sets || jsonb_build_object(of_person.person, coalesce((sets ->> of_person.person)::int, 0) | (1 << approver.step));
            IF NOT internal.names_programs(approver, of_person.is_program) THEN
                people := people || jsonb_build_object(of_person.person, coalesce((people ->> of_person.person)::int, 0) | (1 << approver.step));
            END IF;
        END IF;
    END LOOP;
    of_all := globs || ARRAY(SELECT e.value::int FROM jsonb_each_text(sets) AS e);
    of_people := ARRAY(SELECT unnest(globs) EXCEPT ALL SELECT unnest(program_globs)) || ARRAY(SELECT e.value::int FROM jsonb_each_text(people) AS e);
    given := internal.filled_places(rule.approvals, rule.steps, of_all);
    by_people := internal.filled_places(rule.approvals, rule.steps, of_people);
    IF given >= needed AND by_people >= rule.people THEN
        RETURN NULL;
    ELSIF given >= needed THEN
        RETURN format('Nobody can approve access to key "%s": access rule %s needs %s approval%s by people, but %s%s.',
            rule.key, rule.id, rule.people, CASE WHEN rule.people > 1 THEN 's' ELSE '' END,
            CASE WHEN by_people = 0 THEN 'its approvers are programs or cannot decide'
                 WHEN needed < rule.people THEN format('the rule asks for %s in all, fewer than its column people', needed)
                 ELSE format('people can give only %s', by_people) END,
            (SELECT ' (' || string_agg(c.cause, '; ') || ')' FROM (SELECT DISTINCT u.cause FROM unnest(causes) AS u (cause) LIMIT 5) AS c));
    END IF;
    RETURN format('Nobody can approve access to key "%s": access rule %s %s%s.', rule.key, rule.id,
        CASE WHEN of_all = '{}' AND causes = '{}' THEN 'has no approver'
             ELSE format('needs %s approval%s%s, but %s can give one', needed, CASE WHEN needed > 1 THEN 's' ELSE '' END,
                         CASE WHEN cardinality(rule.steps) > 1 THEN format(' in %s steps, each by a different person', cardinality(rule.steps)) ELSE '' END,
                         CASE given WHEN 0 THEN 'nobody' WHEN 1 THEN 'only one person' ELSE 'only ' || given || ' people' END) END,
        (SELECT ' (' || string_agg(c.cause, '; ') || ')' FROM (SELECT DISTINCT u.cause FROM unnest(causes) AS u (cause) LIMIT 5) AS c));
END
$$;
COMMENT ON FUNCTION internal.nobody_can_approve(broker.access_rule, broker.access_request) IS
    'Why a request by a rule cannot get its approvals, in a sentence; null if it may. asked: the requester and its actor; null for any.';

-- A reason is one line as internal.plain_text leaves it, of at least ten characters.
CREATE OR REPLACE FUNCTION internal.pattern_fits_no_reason(pattern text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    example constant text := regexp_replace(pattern, '[*]+', 'x', 'g');
BEGIN
    RETURN position('*' IN pattern) = 0 AND length(pattern) < 10 OR internal.plain_text(example) <> example;
END
$$;
COMMENT ON FUNCTION internal.pattern_fits_no_reason(text) IS 'Whether no reason of a request can match a reason_pattern; null if there is none.';

CREATE OR REPLACE FUNCTION internal.rule_covers(one broker.access_rule, other broker.access_rule) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT one.id <> other.id AND one.enabled AND other.enabled AND one.idp = other.idp AND one.break_glass = other.break_glass AND (one.consent OR NOT other.consent)
           AND one.max_access >= other.max_access AND internal.claims_cover(one.claims, other.claims)
           AND CASE one.match WHEN 'glob' THEN internal.glob_covers(one.subject, other.match, other.subject)
                              ELSE other.match = 'exact' AND one.subject = other.subject END;
$$;
COMMENT ON FUNCTION internal.rule_covers(broker.access_rule, broker.access_rule) IS
    'Whether everyone who may request by the other rule of a key may request as much by the first, alone or, if that is a rule of consent, through an actor.';
