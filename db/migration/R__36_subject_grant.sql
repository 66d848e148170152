-- Who may have which key: broker.subject_grant. Read it from top to bottom to see what happens when a grant is written: what the
-- row must be by itself, what it refers to, what it must fit with, its record in the history, and what concerns all rows of a
-- statement (bounds, lint, large edits). Its triggers are at the end.

-- ---------------------------------------------------------------- the row by itself

CREATE OR REPLACE FUNCTION internal.actor_fault(checked broker.subject_grant) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF checked.actor IS NULL AND checked.actor_idp IS NULL AND checked.actor_match = 'exact' AND checked.actor_claims = '{}' THEN
        RETURN NULL;
    ELSIF checked.actor IS NULL OR checked.actor_idp IS NULL THEN
        RETURN format('it has %s, but no %s.',
                      CASE WHEN checked.actor IS NOT NULL THEN 'an actor' WHEN checked.actor_idp IS NOT NULL THEN 'an actor_idp'
                           WHEN checked.actor_match <> 'exact' THEN 'an actor_match' ELSE 'actor_claims' END,
                      CASE WHEN checked.actor IS NULL THEN 'actor' ELSE 'actor_idp' END);
    ELSIF internal.line_fault(checked.actor, 1024) IS NOT NULL THEN
        RETURN format('its actor %s.', internal.line_fault(checked.actor, 1024));
    ELSIF checked.actor_match NOT IN ('exact', 'glob') THEN
        RETURN format('actor_match is "%s"; it must be exact or glob.', checked.actor_match);
    ELSIF checked.actor_match = 'glob' AND NOT internal.is_anchored(checked.actor) THEN
        RETURN 'its actor is a glob that does not start with a literal segment.';
    ELSIF checked.actor_match = 'glob' AND internal.glob_fault(checked.actor) IS NOT NULL THEN
        RETURN format('its actor %s.', internal.glob_fault(checked.actor));
    END IF;
    RETURN 'in its actor_claims, ' || internal.claims_fault(checked.actor_claims) || '.';
END
$$;
COMMENT ON FUNCTION internal.actor_fault(broker.subject_grant) IS
    'What is wrong with the actor of a grant, as the end of a sentence; null if nothing is.';

CREATE OR REPLACE FUNCTION internal.actor_hint() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'Set actor_idp and actor to the party that must act for the subject, for example "acme-agents" and "agent:release-bot"; actor_match and actor_claims work like match and claims. For a grant without an actor, leave out all four.';
COMMENT ON FUNCTION internal.actor_hint() IS 'A hint: what the actor of a grant looks like.';

CREATE OR REPLACE FUNCTION internal.grant_title(key text, subject text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN format('The grant of key "%s" to "%s"', key, subject);
COMMENT ON FUNCTION internal.grant_title(text, text) IS 'A grant at the beginning of a message.';

CREATE OR REPLACE FUNCTION internal.refuse_subject(target regclass, written jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    key constant text := written ->> 'key';
    subject constant text := written ->> 'subject';
    match constant text := written ->> 'match';
    fault constant text := internal.line_fault(subject, 1024);
BEGIN
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse_in(target, '', format('The grant of key "%s" has a subject that %s.', key, fault),
            'Write the sub claim of the tokens as it is, for example "repo:acme/app:ref:refs/heads/main".', 'check_violation',
            refused => written);
    ELSIF match NOT IN ('exact', 'glob') THEN
        PERFORM internal.refuse(format('%s has the unknown match "%s"; use exact or glob.', internal.grant_title(key, subject), match),
                                'exact compares the whole subject. In a glob, * matches within a segment, and ** across segments.');
    ELSIF match = 'glob' AND NOT internal.is_anchored(subject) THEN
        PERFORM internal.refuse(format('%s has a glob that does not start with a literal segment.', internal.grant_title(key, subject)),
            'The text up to the first : or / must not contain * (in a URI: the text up to the end of its host), for example "repo:acme/app:ref:refs/heads/**" or "spiffe://acme.example/ci/**".');
    ELSIF match = 'glob' AND internal.glob_fault(subject) IS NOT NULL THEN
        PERFORM internal.refuse(internal.grant_title(key, left(subject, 40) || CASE WHEN length(subject) > 40 THEN '…' ELSE '' END)
                                || format(' has a glob that %s.', internal.glob_fault(subject)),
            'Write several grants with shorter globs, or move part of the condition to claims.');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_subject(regclass, jsonb) IS 'Rejects a grant whose subject or match is invalid, and says why.';

CREATE OR REPLACE FUNCTION internal.check_subject_grant() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fault text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.id := internal.new_id(TG_RELID, NEW.id);
    END IF;
    PERFORM internal.refuse_kept_id(TG_RELID, OLD.id, NEW.id);
    IF NEW.request_id IS DISTINCT FROM OLD.request_id THEN
        PERFORM internal.refuse_kept_column('request_id', 'Leave out request_id: only an access request that was approved leads to a grant that has one.');
    END IF;
    -- its approval: what comes from a request was approved there
    IF TG_OP = 'INSERT' AND NEW.request_id IS NULL
       OR TG_OP = 'UPDATE' AND num_nonnulls(OLD.approved_at, NEW.approved_at, NEW.approved_by) > 0 THEN
        NEW := internal.approved(NEW, OLD);
    END IF;

    -- who writes it, and who answers for it
    IF row_security_active(TG_RELID) AND NOT internal.login_is('a platform admin') THEN
        PERFORM internal.check_writer(TG_RELID, to_jsonb(NEW));
    END IF;
    IF NEW.owner IS NOT NULL OR NEW.enabled AND (SELECT t.require_owner FROM broker.tenant AS t WHERE t.name = NEW.tenant) THEN
        PERFORM internal.refuse_owner(TG_RELID, internal.grant_title(NEW.key, NEW.subject), NEW.owner, NEW.tenant, NEW.enabled);
    END IF;

    -- what it must not have, and what it needs
    IF internal.may_hold_secret(NEW.reason) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'reason', NEW.reason, to_jsonb(NEW) - 'reason');
    END IF;
    IF num_nulls(NEW.tenant, NEW.idp, NEW.subject, NEW.match, NEW.key, NEW.claims, NEW.actor_match, NEW.actor_claims, NEW.enabled) > 0 THEN
        PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{tenant,idp,subject,match,key,claims,actor_match,actor_claims,enabled}');
    END IF;

    -- as it was approved in its request
    IF TG_OP = 'UPDATE' AND OLD.request_id IS NOT NULL
       AND ((internal.what_it_allows(to_jsonb(OLD)) - 'enabled')::text <> (internal.what_it_allows(to_jsonb(NEW)) - 'enabled')::text
            OR NEW.enabled AND NOT OLD.enabled) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_requested_grant_is_only_disabled_or_deleted',
            format('Grant %s came from request %s, so it can only be disabled or deleted, or get another reason or owner.', OLD.id, OLD.request_id),
            'Write another grant, or ask the requester to request the access again.', 'restrict_violation');
    END IF;

    -- its values
    IF TG_OP = 'UPDATE' AND OLD.tenant <> NEW.tenant THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.match <> 'exact' OR NOT internal.is_line(NEW.subject, 1024) THEN
        PERFORM internal.refuse_subject(TG_RELID, to_jsonb(NEW));
    END IF;
    IF length(NEW.reason) > 1000 THEN
        PERFORM internal.refuse(format('%s: its reason has %s characters; the maximum is 1000.', internal.grant_title(NEW.key, NEW.subject), length(NEW.reason)), 'Shorten it.');
    ELSIF NEW.valid_until <= NEW.valid_from THEN
        PERFORM internal.refuse(format('%s ends (valid_until %s) before it starts (valid_from %s).', internal.grant_title(NEW.key, NEW.subject), NEW.valid_until, NEW.valid_from),
                                'Set a later valid_until, or null for no end.');
    ELSIF NOT isfinite(NEW.valid_until) OR NOT isfinite(NEW.valid_from) THEN
        PERFORM internal.refuse(format('%s: valid_from and valid_until must be finite.', internal.grant_title(NEW.key, NEW.subject)), 'For no start or no end, write null, not infinity.');
    ELSIF NEW.valid_from < '0001-01-01Z' OR NEW.valid_from >= '10000-01-01Z' OR NEW.valid_until < '0001-01-01Z' OR NEW.valid_until >= '10000-01-01Z' THEN
        PERFORM internal.refuse(format('%s: valid_from and valid_until must be in the years 1 to 9999.', internal.grant_title(NEW.key, NEW.subject)), 'For no start or no end, use null.');
    ELSIF NEW.max_duration <= 0 THEN
        PERFORM internal.refuse(format('%s has a max_duration of %s seconds.', internal.grant_title(NEW.key, NEW.subject), NEW.max_duration),
                                'Write a positive number, or null to leave it to the key.');
    END IF;
    IF NEW.claims <> '{}' THEN
        fault := internal.claims_fault(NEW.claims);
        IF fault IS NOT NULL THEN
            PERFORM internal.refuse(format('%s: in its claims, %s.', internal.grant_title(NEW.key, NEW.subject), fault), internal.claims_hint());
        END IF;
    END IF;
    IF num_nonnulls(NEW.actor, NEW.actor_idp) > 0 OR NEW.actor_match <> 'exact' OR NEW.actor_claims <> '{}' THEN
        fault := internal.actor_fault(NEW);
        IF fault IS NOT NULL THEN
            PERFORM internal.refuse(format('%s: %s', internal.grant_title(NEW.key, NEW.subject), fault), internal.actor_hint());
        END IF;
    END IF;
    IF NEW.networks IS NOT NULL THEN
        fault := internal.networks_fault(NEW.networks);
        IF fault IS NOT NULL THEN
            PERFORM internal.refuse(format('%s: its networks %s.', internal.grant_title(NEW.key, NEW.subject), fault),
                'Write 1 to 64 networks, for example ''{203.0.113.0/24,2001:db8::/32}''; write an IPv4 network without ::ffff: in front. For any address, use null.');
        END IF;
    END IF;
    IF NEW.claims <> '{}' OR NEW.actor_claims <> '{}' THEN
        PERFORM internal.refuse_values(TG_RELID, internal.grant_title(NEW.key, NEW.subject), 'claims', NEW.claims),
                internal.refuse_values(TG_RELID, internal.grant_title(NEW.key, NEW.subject), 'actor_claims', NEW.actor_claims);
    END IF;

    -- who wrote it and when: last, since it asks whether the row differs
    NEW := internal.signed(NEW, OLD);
    -- not now(): the transaction may have begun before the request
    IF TG_OP = 'INSERT' AND NEW.request_id IS NOT NULL THEN
        NEW.created_at := clock_timestamp();
        NEW.updated_at := NEW.created_at;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_subject_grant() IS
    'Trigger: rejects an invalid grant with a message, keeps its approval, and signs it.';

-- ---------------------------------------------------------------- what it refers to

-- With the writer's rights, so it reveals no rows that the writer may not see. What it misses, the foreign key refuses.
CREATE OR REPLACE FUNCTION internal.check_references_of_grant() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- asked here, since a call for each row of a bulk edit would cost more than the query
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.idp) THEN
        PERFORM internal.check_identity_provider_exists(TG_RELID, to_jsonb(NEW));
    END IF;
    IF NEW.actor_idp <> NEW.idp THEN
        PERFORM internal.check_identity_provider_exists(TG_RELID, to_jsonb(NEW), 'actor_idp', 'the_actors_identity_provider_exists_in_the_same_tenant');
    END IF;
    IF NOT EXISTS (SELECT FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.name = NEW.key) THEN
        PERFORM internal.check_key_exists(TG_RELID, to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_references_of_grant() IS
    'Trigger: rejects an unknown identity provider (of the subject or the actor) or key of a grant, and lists the known ones.';

-- ---------------------------------------------------------------- its key, and other grants

CREATE OR REPLACE FUNCTION internal.check_grant_duration(checked broker.subject_grant) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('The grant of key "%s" to "%s"', checked.key, checked.subject);
    kind broker.provider_type;
BEGIN
    SELECT t.* INTO kind
      FROM broker.key AS k
      JOIN broker.access_provider AS p ON p.tenant = k.tenant AND p.name = k.provider
      JOIN broker.provider_type AS t ON t.type = p.type
     WHERE k.tenant = checked.tenant AND k.name = checked.key;
    IF checked.max_duration < kind.min_duration THEN
        PERFORM internal.refuse(
            format('%s has a max_duration of %s seconds, but type %s issues credentials for %s.',
                   owner, checked.max_duration, kind.type, internal.span_of(kind.min_duration, kind.max_duration)),
            format('Write %s or more, or null to leave it to the key.', kind.min_duration));
    ELSIF checked.valid_until - checked.valid_from < kind.min_duration * interval '1 second' THEN
        PERFORM internal.refuse(
            format('%s is valid for less than %s seconds, the minimum for a credential of type %s.',
                   owner, kind.min_duration, kind.type),
            'A credential never outlives its grant, so this grant could never be used. Set a later valid_until.');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_grant_duration(broker.subject_grant) IS
    'Refuses a grant that lasts shorter than the shortest credential of its key.';

-- The issuer of a jwt token is the tenant's, whatever identity provider its client comes from, so
-- the same subject from two of them would be the same identity for services that read iss and sub.
CREATE OR REPLACE FUNCTION internal.may_be_one(one broker.subject_grant, other broker.subject_grant) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN one.match = 'exact' AND other.match = 'exact' THEN one.subject = other.subject
                WHEN other.match = 'exact' THEN internal.glob_matches(one.subject, other.subject)
                WHEN one.match = 'exact' THEN internal.glob_matches(other.subject, one.subject)
                ELSE internal.globs_overlap(one.subject, other.subject) END;
END
$$;
COMMENT ON FUNCTION internal.may_be_one(broker.subject_grant, broker.subject_grant) IS
    'Whether a subject could match both grants.';

CREATE OR REPLACE FUNCTION internal.gives_tokens_of_the_tenant(tenant text, key text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.key AS k
                     JOIN broker.access_provider AS p ON p.tenant = k.tenant AND p.name = k.provider
                    WHERE k.tenant = gives_tokens_of_the_tenant.tenant AND k.name = gives_tokens_of_the_tenant.key
                      AND p.type = 'jwt');
END
$$;
COMMENT ON FUNCTION internal.gives_tokens_of_the_tenant(text, text) IS 'Whether a key is of type jwt.';

-- Always along the indexes: a plan made while there were few grants would read all of them for each row of a bulk edit.
CREATE OR REPLACE FUNCTION internal.other_that_may_be_one(checked broker.subject_grant, other_idp text) RETURNS broker.subject_grant
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
AS $$
DECLARE
    other broker.subject_grant;
BEGIN
    IF checked.match = 'exact' THEN
        SELECT g.* INTO other FROM broker.subject_grant AS g
         WHERE g.tenant = checked.tenant AND g.idp = other_idp AND g.match = 'exact'
           AND hashtextextended(g.subject, 0) = hashtextextended(checked.subject, 0) AND g.subject = checked.subject
           AND internal.gives_tokens_of_the_tenant(g.tenant, g.key) LIMIT 1;
    ELSE
        SELECT g.* INTO other FROM broker.subject_grant AS g
         WHERE g.tenant = checked.tenant AND g.idp = other_idp AND g.match = 'exact'
           AND internal.may_be_one(checked, g) AND internal.gives_tokens_of_the_tenant(g.tenant, g.key) LIMIT 1;
    END IF;
    IF NOT FOUND THEN
        SELECT g.* INTO other FROM broker.subject_grant AS g
         WHERE g.tenant = checked.tenant AND g.idp = other_idp AND g.match = 'glob'
           AND internal.may_be_one(checked, g) AND internal.gives_tokens_of_the_tenant(g.tenant, g.key) LIMIT 1;
    END IF;
    RETURN other;
END
$$;
COMMENT ON FUNCTION internal.other_that_may_be_one(broker.subject_grant, text) IS
    'A grant of another identity provider that a subject could match too, for a token of type jwt; null if there is none.';

CREATE OR REPLACE FUNCTION internal.check_grant_issuer(checked broker.subject_grant) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    other_idp text;
    other broker.subject_grant;
BEGIN
    IF NOT internal.gives_tokens_of_the_tenant(checked.tenant, checked.key) THEN
        RETURN;
    END IF;
    FOR other_idp IN SELECT i.name FROM broker.identity_provider AS i
                      WHERE i.tenant = checked.tenant AND i.name <> checked.idp ORDER BY i.name LOOP
        other := internal.other_that_may_be_one(checked, other_idp);
        IF other.id IS NOT NULL THEN
            PERFORM internal.refuse(
                format('Two subjects could get tokens with the same iss and sub, by the grant of key "%s" to "%s" of identity provider "%s" and the grant of key "%s" to "%s" of identity provider "%s".',
                       checked.key, checked.subject, checked.idp, other.key, other.subject, other.idp),
                'A token of type jwt has the tenant as issuer and the client''s subject as sub. Grant keys of this type to subjects that differ, or to subjects of one identity provider only, or create another tenant for the other identity provider.');
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_grant_issuer(broker.subject_grant) IS
    'Rejects a grant that would give subjects of two identity providers tokens with the same iss and sub.';

-- ---------------------------------------------------------------- its record, and what follows from it

CREATE OR REPLACE FUNCTION internal.record_subject_grant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    -- of requested access
    ends constant boolean := OLD.request_id IS NOT NULL AND (TG_OP = 'DELETE' OR OLD.enabled AND NOT NEW.enabled);
BEGIN
    IF TG_OP = 'UPDATE' AND OLD *= NEW THEN
        RETURN NULL;
    END IF;
    IF ends AND TG_OP = 'DELETE'
       AND EXISTS (SELECT FROM broker.access_request AS q WHERE q.id = OLD.request_id AND q.break_glass AND q.signed_off_by IS NULL) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_break_glass_is_signed_off_first',
            format('Grant %s was made by break glass, so it cannot be deleted before another person has signed it off.', OLD.id),
            format('INSERT INTO broker.grant_review (grant_id, verdict, note) VALUES (%s, ''remove'', ''…''); disables it and signs it off.', OLD.id),
            'restrict_violation');
    END IF;
    IF ends AND OLD.enabled AND OLD.valid_until > clock_timestamp() THEN
        PERFORM internal.end_requested_credentials(OLD.request_id);
    END IF;

    PERFORM internal.record_row(TG_TABLE_NAME, 'tenant', TG_OP, to_jsonb(OLD), to_jsonb(NEW),
                                (SELECT to_jsonb(g) FROM broker.subject_grant AS g WHERE g.id = coalesce(NEW.id, OLD.id)),
                                OLD.updated_at >= transaction_timestamp());

    -- Recording has locked the tenant, so its key can't change meanwhile.
    IF TG_OP <> 'DELETE' THEN
        IF (NEW.max_duration IS NOT NULL OR NEW.valid_until IS NOT NULL)
           AND (TG_OP = 'INSERT' OR (OLD.key, OLD.max_duration, OLD.valid_from, OLD.valid_until)
                                    IS DISTINCT FROM (NEW.key, NEW.max_duration, NEW.valid_from, NEW.valid_until)) THEN
            PERFORM internal.check_grant_duration(NEW);
        END IF;
        IF TG_OP = 'INSERT' OR (OLD.key, OLD.idp, OLD.subject, OLD.match) <> (NEW.key, NEW.idp, NEW.subject, NEW.match) THEN
            PERFORM internal.check_grant_issuer(NEW);
        END IF;
    END IF;
    IF ends THEN
        PERFORM internal.note_early_end(OLD.request_id);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_subject_grant() IS
    'Trigger: records a change of a grant, checks that it fits its key and other grants, and ends what was minted by requested access.';

-- ---------------------------------------------------------------- bounds

CREATE OR REPLACE FUNCTION internal.has_too_many_grants(tenant text, idp text, subject text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    -- along the index, also with a plan from when there were few grants
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
AS $$
BEGIN
    RETURN (SELECT count(*) > 1000
              FROM (SELECT FROM broker.subject_grant AS g
                     WHERE g.tenant = has_too_many_grants.tenant AND g.idp = has_too_many_grants.idp AND g.match = 'exact'
                       AND hashtextextended(g.subject, 0) = hashtextextended(has_too_many_grants.subject, 0)
                       AND g.subject = has_too_many_grants.subject
                     LIMIT 1001) AS found);
END
$$;
COMMENT ON FUNCTION internal.has_too_many_grants(text, text, text) IS
    'Whether a subject has more than 1000 grants of a tenant and an identity provider, the most that the broker reads (SubjectGrants.MOST).';

-- ---------------------------------------------------------------- lint

CREATE OR REPLACE FUNCTION internal.lint_grants(ids bigint[]) RETURNS TABLE (id bigint, tenant text, rule text, detail text)
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET standard_conforming_strings = on AS $$
DECLARE
    written constant broker.subject_grant[] := ARRAY(SELECT g FROM broker.subject_grant AS g WHERE g.id = ANY (ids) AND g.enabled);
BEGIN
    RETURN QUERY WITH key AS MATERIALIZED (
        SELECT k.tenant, k.name, k.max_duration, y.min_duration
          FROM (SELECT DISTINCT g.tenant, g.key FROM unnest(written) AS g) AS d JOIN broker.key AS k ON k.tenant = d.tenant AND k.name = d.key
          JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider JOIN broker.provider_type AS y ON y.type = a.type
    ), glob AS MATERIALIZED (
        -- among fifty of a key, as below
        SELECT o.*, split_part(o.subject, '*', 1) AS literal
          FROM (SELECT DISTINCT g.tenant, g.idp, g.key FROM unnest(written) AS g) AS d CROSS JOIN LATERAL (
               SELECT c.* FROM broker.subject_grant AS c
                WHERE c.match = 'glob' AND c.tenant = d.tenant AND c.idp = d.idp AND c.key = d.key AND c.enabled ORDER BY c.id LIMIT 50) AS o
    )
    SELECT n.* FROM internal.lint_parties('subject_grant', written) AS n
     UNION ALL
    SELECT g.id, g.tenant, r.rule, r.detail
      FROM unnest(written) AS g JOIN key AS k ON k.tenant = g.tenant AND k.name = g.key
     CROSS JOIN LATERAL (
           -- Among fifty others: a subject may have a thousand grants. Not by the index of keys: a key may have a million.
           (SELECT CASE WHEN o.is_the_same AND g.claims <> o.claims AND internal.claims_cover(g.claims, o.claims) THEN 'same_as_another_row' ELSE 'covered_by_another_grant' END AS rule,
                   CASE WHEN o.is_the_same AND g.claims <> o.claims AND internal.claims_cover(g.claims, o.claims) THEN 'grant ' ELSE '' END || o.id AS detail FROM (
                  (SELECT c.id, c.claims, c.valid_from, c.valid_until, c.max_duration, c.actor_idp, c.actor, c.actor_match, c.actor_claims, c.networks, true AS is_the_same
                     FROM broker.subject_grant AS c
                    WHERE g.match = 'exact' AND c.match = 'exact' AND c.tenant = g.tenant AND c.idp = g.idp AND c.key || '' = g.key AND c.id <> g.id AND c.enabled
                      AND hashtextextended(c.subject, 0) = hashtextextended(g.subject, 0) AND c.subject = g.subject LIMIT 50)
                  UNION ALL
                  SELECT c.id, c.claims, c.valid_from, c.valid_until, c.max_duration, c.actor_idp, c.actor, c.actor_match, c.actor_claims, c.networks, c.subject = g.subject
                    FROM glob AS c
                   WHERE c.tenant = g.tenant AND c.idp = g.idp AND c.key = g.key AND c.id <> g.id AND starts_with(g.subject, c.literal)
                     AND internal.glob_covers(c.subject, g.match, g.subject)) AS o
            WHERE (o.actor_idp, o.actor, o.actor_match, o.actor_claims) IS NOT DISTINCT FROM (g.actor_idp, g.actor, g.actor_match, g.actor_claims)
               AND coalesce(o.networks @> g.networks, o.networks IS NULL)
               AND internal.claims_cover(o.claims, g.claims)
               AND (NOT o.is_the_same OR o.id < g.id OR NOT internal.claims_cover(g.claims, o.claims) OR o.networks IS DISTINCT FROM g.networks OR (o.valid_from, o.valid_until) IS DISTINCT FROM (g.valid_from, g.valid_until))
              AND coalesce(o.valid_from <= g.valid_from, o.valid_from IS NULL) AND coalesce(o.valid_until >= g.valid_until, o.valid_until IS NULL)
              AND coalesce(o.max_duration, k.max_duration) >= coalesce(g.max_duration, k.max_duration) ORDER BY o.id LIMIT 1)
           UNION ALL SELECT 'ended_already', '' WHERE g.valid_until <= g.updated_at
           UNION ALL SELECT 'far_away', to_char(g.valid_from, 'YYYY-MM-DD') WHERE g.valid_from > g.updated_at + interval '5 years'
           UNION ALL SELECT 'ends_far_away', to_char(g.valid_until, 'FMYYYY') WHERE internal.is_far_end(g.valid_until, g.updated_at)
           UNION ALL SELECT 'duration_too_short', g.max_duration::text WHERE g.max_duration < 60
           UNION ALL SELECT 'never_long_enough', k.min_duration::text
            WHERE g.valid_until > g.updated_at AND g.valid_until - greatest(g.valid_from, g.updated_at) <= k.min_duration * interval '1 second'
           UNION ALL SELECT 'longer_than_its_key', concat_ws(chr(10), k.name, k.max_duration) WHERE g.max_duration > k.max_duration
           UNION ALL SELECT 'unlikely_network', concat_ws(chr(10), n, CASE WHEN masklen(n) = 0 THEN 'contains every address, so it excludes no client. Remove it, or set networks to null'
                    WHEN masklen(n) < CASE family(n) WHEN 4 THEN 8 ELSE 16 END THEN 'contains the networks of many others. Check the prefix length: /32 is a single IPv4 address, /128 a single IPv6 address'
                    WHEN n <<= '127.0.0.0/8' OR n <<= '::1' THEN 'is loopback, so it matches only clients on the broker''s machine. Write the addresses of the clients'
                    WHEN n <<= ANY ('{169.254.0.0/16,224.0.0.0/4,fe80::/10,ff00::/8}'::cidr[]) THEN 'is link-local or multicast, and no request comes from there. Write the addresses of the clients'
                    WHEN EXISTS (SELECT FROM unnest(g.networks) AS o WHERE n << o) THEN 'is part of another network in the list. Remove one of the two' END)
             FROM unnest(g.networks) AS n WHERE masklen(n) < CASE family(n) WHEN 4 THEN 8 ELSE 16 END OR n <<= ANY ('{127.0.0.0/8,::1/128,169.254.0.0/16,224.0.0.0/4,fe80::/10,ff00::/8}'::cidr[]) OR EXISTS (SELECT FROM unnest(g.networks) AS o WHERE n << o)
           UNION ALL SELECT 'unlikely_network', concat_ws(chr(10), array_to_string(g.networks, ', '), format('is private, but jobs with runner_environment %s come from public addresses. Leave out networks, unless the runners of that vendor are in a network of yours', g.claims -> 'runner_environment'))
            WHERE g.networks IS NOT NULL AND g.claims ->> 'runner_environment' ~ '-hosted$' AND g.claims ->> 'runner_environment' <> 'self-hosted'
              AND NOT EXISTS (SELECT FROM unnest(g.networks) AS n WHERE NOT (n <<= ANY ('{10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7}'::cidr[])))
           UNION ALL SELECT 'no_reason', '' WHERE coalesce(g.reason, '') !~ '[[:alnum:]]' OR g.reason ~* '^(<[^>]*>|todo|tbd|null|n/a)$'
           ) AS r (rule, detail)
     WHERE r.detail IS NOT NULL;
END
$$;
COMMENT ON FUNCTION internal.lint_grants(bigint[]) IS 'Findings in the enabled grants among these.';

DROP FUNCTION IF EXISTS internal.warn_of_grants(bigint[], bigint[], text[]);

CREATE OR REPLACE FUNCTION internal.warn_of_grants(ids bigint[], tenants text[], compared broker.subject_grant[], beside bigint[], known text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    one record;
BEGIN
    -- The first of each rule first, so that none hides behind a thousand of another.
    FOR one IN
        SELECT n.* FROM (
               SELECT f.*, row_number() OVER (PARTITION BY f.rule ORDER BY f.id, f.name) AS number, sum(f.stands_for) OVER () AS in_all FROM (
                      SELECT l.id, NULL AS name, l.rule, l.detail, NULL AS advice, NULL AS title, g.key, g.subject, 1 AS stands_for
                        FROM broker.subject_grant AS g JOIN internal.lint_finding AS l ON l.table_name = 'subject_grant' AND l.id = g.id
                       WHERE g.id = ANY (ids)
                       UNION ALL
                      SELECT l.id, NULL, l.rule, l.detail, NULL, NULL, g.key, g.subject, 1
                        FROM broker.subject_grant AS g JOIN internal.lint_finding AS l ON l.table_name = 'subject_grant' AND l.id = g.id
                       WHERE g.id = ANY (beside) AND NOT concat_ws(' ', l.id, l.rule) = ANY (known)
                       UNION ALL
                      SELECT a.id, a.name, a.rule, NULL, a.advice, a.title, NULL, NULL, a.stands_for
                        FROM internal.what_awaits_approval('subject_grant', tenants, ids::text[]) AS a
                       UNION ALL
                      SELECT b.id, b.name, b.rule, NULL, b.advice, b.title, NULL, NULL, 1
                        FROM internal.found_beside('subject_grant', compared) AS b) AS f) AS n
         WHERE n.number <= 10 ORDER BY n.number, internal.place_of_finding(n.rule), n.rule LIMIT 10
    LOOP
        RAISE WARNING '%: % [%]', coalesce(one.title, format('Grant of key "%s" to "%s"', one.key, one.subject)),
            coalesce(one.advice, internal.lint_advice(one.rule, one.detail)), one.rule;
    END LOOP;
    IF one.in_all > 10 THEN
        RAISE WARNING '10 of % warnings are shown.', one.in_all USING HINT = 'To list them: SELECT * FROM broker.lint WHERE table_name = ''subject_grant'';';
    END IF;
END
$$;
COMMENT ON FUNCTION internal.warn_of_grants(bigint[], text[], broker.subject_grant[], bigint[], text[]) IS
    'Warns of findings in grants that were written, and of new findings in grants beside them. compared: the grants to compare with other rows; known: the earlier findings, as "id rule".';

-- ---------------------------------------------------------------- all rows of a statement

CREATE OR REPLACE FUNCTION internal.check_subject_grants() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    crowded record;
    ids bigint[];
    beside bigint[];
    further bigint[];
    known text[];
    compared broker.subject_grant[];
    source text;
    has_globs boolean;
BEGIN
    -- changes of a day, but for the rows that a tenant has when it begins to require a second admin (internal.record_tenant)
    IF internal.changes_are_counted() THEN
        IF TG_OP = 'INSERT' THEN
            PERFORM internal.add_changes(TG_RELID, w.tenant, sum(1 + pg_column_size(to_jsonb(w)) / 4096), false)
               FROM written AS w GROUP BY w.tenant ORDER BY w.tenant;
        ELSIF TG_OP = 'DELETE' THEN
            PERFORM internal.add_changes(TG_RELID, r.tenant, sum(1 + pg_column_size(to_jsonb(r)) / 4096), true)
               FROM removed AS r GROUP BY r.tenant ORDER BY r.tenant;
        ELSIF EXISTS (SELECT FROM written AS w WHERE w.approved_at IS DISTINCT FROM now() OR w.approved_by IS NOT NULL)
              OR EXISTS (SELECT FROM removed AS r WHERE r.approved_at IS NOT NULL) THEN
            -- Access is reduced if each row was switched off.
            PERFORM internal.add_changes(TG_RELID, c.tenant, sum(c.counts)::bigint, bool_and(c.reduces))
               FROM (SELECT w.tenant, 1 + w.weight AS counts, NOT w.enabled AS reduces
                       FROM (SELECT w.tenant, w.enabled, pg_column_size(to_jsonb(w)) / 4096 AS weight, w::text FROM written AS w
                             EXCEPT ALL SELECT r.tenant, r.enabled, pg_column_size(to_jsonb(r)) / 4096, r::text FROM removed AS r) AS w
                     UNION ALL
                     SELECT r.tenant, r.weight, r.enabled
                       FROM (SELECT r.tenant, r.enabled, pg_column_size(to_jsonb(r)) / 4096 AS weight, r::text FROM removed AS r
                             EXCEPT ALL SELECT w.tenant, w.enabled, pg_column_size(to_jsonb(w)) / 4096, w::text FROM written AS w) AS r) AS c
              GROUP BY c.tenant ORDER BY c.tenant;
        END IF;
    END IF;

    -- bounds of the tenant, and of a subject
    IF TG_OP = 'INSERT' THEN
        PERFORM internal.count_further(w.tenant, 0, count(*), count(*) FILTER (WHERE w.match = 'glob'))
           FROM written AS w GROUP BY w.tenant ORDER BY w.tenant;
        SELECT s.* INTO crowded
          FROM (SELECT DISTINCT w.tenant, w.idp, w.subject FROM written AS w WHERE w.match = 'exact') AS s
         WHERE internal.has_too_many_grants(s.tenant, s.idp, s.subject) LIMIT 1;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM internal.count_further(r.tenant, 0, -count(*), -count(*) FILTER (WHERE r.match = 'glob'))
           FROM removed AS r GROUP BY r.tenant ORDER BY r.tenant;
    ELSE
        PERFORM internal.count_further(c.tenant, 0, 0, sum(c.globs)::bigint)
           FROM (SELECT w.tenant, count(*) AS globs FROM written AS w WHERE w.match = 'glob' GROUP BY w.tenant
                 UNION ALL
                 SELECT r.tenant, -count(*) FROM removed AS r WHERE r.match = 'glob' GROUP BY r.tenant) AS c
          GROUP BY c.tenant HAVING sum(c.globs) <> 0 ORDER BY c.tenant;
        SELECT s.* INTO crowded
          FROM (SELECT w.tenant, w.idp, w.subject FROM written AS w WHERE w.match = 'exact'
                EXCEPT
                SELECT r.tenant, r.idp, r.subject FROM removed AS r WHERE r.match = 'exact') AS s
         WHERE internal.has_too_many_grants(s.tenant, s.idp, s.subject) LIMIT 1;
    END IF;
    IF TG_OP <> 'DELETE' AND FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_subject_has_no_more_than_1000_grants',
            format('Subject "%s" of identity provider "%s" would have more than 1000 grants of tenant "%s"; 1000 is the maximum.',
                   left(crowded.subject, 100), crowded.idp, crowded.tenant),
            'Delete grants of this subject that are no longer used, or list several values of a claim in one grant.', 'check_violation');
    END IF;

    -- What is restored or replicated was linted where it was written.
    IF current_setting('session_replication_role') = 'replica' THEN
        RETURN NULL;
    END IF;

    -- lint: what was written, and the grants beside what was written or removed, in which a finding may be about that
    IF TG_OP = 'DELETE' THEN
        DELETE FROM internal.lint_finding AS f USING removed AS r WHERE f.table_name = 'subject_grant' AND f.id = r.id;
    ELSE
        ids := ARRAY(SELECT w.id FROM written AS w);
        PERFORM internal.keep_findings('subject_grant', ids);
    END IF;
    -- Planned for the number of rows, since the plan for one row is slow for thousands.
    FOREACH source IN ARRAY CASE TG_OP WHEN 'INSERT' THEN '{written}' WHEN 'DELETE' THEN '{removed}' ELSE '{written,removed}' END::text[] LOOP
        EXECUTE format(
            'SELECT array_agg(DISTINCT c.id) FROM %I AS w CROSS JOIN LATERAL (
                    SELECT g.id FROM broker.subject_grant AS g
                     WHERE g.match = ''exact'' AND g.tenant = w.tenant AND g.idp = w.idp AND g.key || '''' = w.key
                       AND hashtextextended(g.subject, 0) = hashtextextended(w.subject, 0) AND g.subject = w.subject LIMIT 50) AS c
              WHERE w.match = ''exact''', source) INTO further;
        beside := beside || further;
        EXECUTE format('SELECT bool_or(w.match = ''glob'') FROM %I AS w WHERE w.match = ''glob'' OR w.subject LIKE ''repo:%%@%%''', source)
           INTO has_globs;
        CONTINUE WHEN has_globs IS NULL;
        EXECUTE format(
            'SELECT array_agg(g.id) FROM (SELECT DISTINCT w.tenant, w.idp, w.key FROM %1$I AS w WHERE w.subject LIKE ''repo:%%@%%'') AS d
              CROSS JOIN LATERAL (SELECT c.id, c.idp, c.subject FROM broker.subject_grant AS c WHERE c.tenant = d.tenant AND c.key = d.key LIMIT 1000) AS g
              WHERE g.idp = d.idp AND internal.is_by_name(g.subject)
                AND internal.likeness(g.subject) IN (SELECT internal.likeness(w.subject) FROM %1$I AS w WHERE w.subject LIKE ''repo:%%@%%'')', source)
           INTO further;
        beside := beside || further;
        CONTINUE WHEN NOT has_globs;
        EXECUTE format(
            'SELECT array_agg(DISTINCT g.id) FROM (SELECT DISTINCT w.tenant, w.idp, w.key FROM %1$I AS w WHERE w.match = ''glob'') AS d
              CROSS JOIN LATERAL (SELECT c.id, c.idp, c.subject FROM broker.subject_grant AS c WHERE c.tenant = d.tenant AND c.key = d.key LIMIT 1000) AS g
               JOIN %1$I AS w ON w.tenant = d.tenant AND w.idp = d.idp AND w.key = d.key AND w.match = ''glob''
                             AND starts_with(g.subject, split_part(w.subject, ''*'', 1))
              WHERE g.idp = d.idp', source) INTO further;
        beside := beside || further;
    END LOOP;
    beside := ARRAY(SELECT unnest(beside) EXCEPT SELECT unnest(ids));
    -- of many rows only what is written is said
    IF cardinality(beside) <= 10000 THEN
        known := ARRAY(SELECT concat_ws(' ', l.id, l.rule) FROM internal.lint_finding AS l WHERE l.table_name = 'subject_grant' AND l.id = ANY (beside));
    END IF;
    PERFORM internal.keep_findings('subject_grant', beside);
    -- within a trigger nobody reads them
    IF pg_trigger_depth() = 1 AND TG_OP = 'DELETE' THEN
        PERFORM internal.warn_of_grants('{}', '{}', '{}', beside, known);
    ELSIF pg_trigger_depth() = 1 THEN
        IF TG_OP = 'INSERT' THEN
            compared := ARRAY(SELECT internal.as_compared('subject_grant', to_jsonb(w)) FROM written AS w ORDER BY w.id LIMIT 10);
        ELSE
            compared := ARRAY(SELECT n.w FROM (
                SELECT internal.as_compared('subject_grant', to_jsonb(w)) AS w, internal.as_compared('subject_grant', to_jsonb(r)) AS r
                  FROM (SELECT o.* FROM written AS o ORDER BY o.id LIMIT 10) AS w JOIN removed AS r ON r.id = w.id) AS n WHERE n.w IS DISTINCT FROM n.r);
        END IF;
        PERFORM internal.warn_of_grants(ids, ARRAY(SELECT w.tenant FROM written AS w), compared, beside, known);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_subject_grants() IS
    'Trigger: counts changes and grants of a tenant, rejects those beyond its limits, and stores and shows lint findings.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

-- The names of the triggers that check foreign keys begin with RI_. FK_check_references is before those, since it has the better
-- sentence; and record_change is after them, since a reference locks its row before the record locks the tenant.
CALL internal.set_triggers('broker.subject_grant', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_subject_grant', 'always', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_subject_grant()'],
    ['FK_check_references', 'origin', 'AFTER INSERT OR UPDATE OF tenant, idp, actor_idp, key', 'FOR EACH ROW', 'check_references_of_grant()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_subject_grant()'],
    ['check_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'check_subject_grants()'],
    ['check_updated', 'always', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'check_subject_grants()'],
    ['check_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'check_subject_grants()'],
    ['warn_large_update', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'warn_large_edit(''tenant'')'],
    ['warn_large_delete', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'warn_large_edit(''tenant'')']
]);
