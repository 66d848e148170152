-- Notices of requests for access: an outbox, from which each notice goes when its receiver has confirmed it.

CREATE OR REPLACE FUNCTION internal.described_access(about broker.access_request) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN jsonb_build_object(
        'id', about.id, 'key', about.key, 'idp', about.idp, 'subject', about.subject, 'actorIdp', about.actor_idp, 'actor', about.actor,
        'reason', about.reason,
        'seconds', about.access, 'status', about.status, 'requestedAt', about.requested_at, 'expiresAt', about.expires_at,
        'approvalsNeeded', CASE WHEN about.break_glass THEN 0 ELSE internal.all_approvals(about.approvals, about.steps) END, 'steps', to_jsonb(about.steps),
        'people', about.people, 'consent', about.consent, 'approvals', internal.shown_decisions(about.id),
        'approvers', CASE WHEN about.consent THEN jsonb_build_array(about.subject) ELSE (SELECT coalesce(jsonb_agg(coalesce(a.role_name, a.subject)), '[]')
                        FROM (SELECT p.role_name, p.subject FROM broker.access_approver AS p WHERE p.rule = about.rule AND p.tenant = about.tenant
                               ORDER BY p.id LIMIT 20) AS a) END,
        'grantId', about.grant_id, 'validUntil', (SELECT g.valid_until FROM broker.subject_grant AS g WHERE g.id = about.grant_id),
        'breakGlass', about.break_glass, 'gives', internal.what_it_gives(about), 'revisions', internal.revisions_of(about));
END
$$;
COMMENT ON FUNCTION internal.described_access(broker.access_request) IS 'The content of a notice about a request.';

CREATE OR REPLACE FUNCTION internal.wants_notices(of_tenant text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = of_tenant AND t.notice_url IS NOT NULL);
END
$$;
COMMENT ON FUNCTION internal.wants_notices(text) IS 'Whether a tenant has a receiver of notices.';

CREATE OR REPLACE FUNCTION internal.note_access(about broker.access_request, what text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF internal.wants_notices(about.tenant) THEN
        INSERT INTO work.access_notice (tenant, type, request, data)
        VALUES (about.tenant, 'io.mintmark.access.' || what, about.id, internal.described_access(about));
    END IF;
END
$$;
COMMENT ON FUNCTION internal.note_access(broker.access_request, text) IS 'Writes a notice of a request, if its tenant has a receiver of notices.';

CREATE OR REPLACE FUNCTION internal.note_end_to_come(about broker.access_request, ends timestamptz) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF internal.wants_notices(about.tenant) THEN
        INSERT INTO work.access_notice (tenant, type, request, due, wanted_at, access_lasts)
        VALUES (about.tenant, 'io.mintmark.access.ended', about.id, ends, ends, true);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.note_end_to_come(broker.access_request, timestamptz) IS
    'Writes the notice of the end of granted access, if its tenant has a receiver of notices.';

-- A replica ends credentials within a second, and the notice says so if it waits for that.
CREATE OR REPLACE FUNCTION internal.note_early_end(of_request uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
AS $$
DECLARE
    moment constant timestamptz := clock_timestamp();
BEGIN
    UPDATE work.access_notice AS n
       SET due = moment + CASE WHEN (SELECT jsonb_path_exists(internal.shown_credentials(q), '$[*] ? (@.state == "ending")')
                                       FROM broker.access_request AS q WHERE q.id = of_request)
                               THEN interval '5 seconds' ELSE interval '0' END,
           wanted_at = moment, access_lasts = false
     WHERE n.request = of_request AND n.access_lasts;
END
$$;
COMMENT ON FUNCTION internal.note_early_end(uuid) IS
    'Schedules the notice of the end of a request''s access, after its grant was disabled or deleted: at once, or after five seconds if a replica is ending credentials.';

-- A request says for good that it was granted; its access is withdrawn, or over.
CREATE OR REPLACE FUNCTION internal.described_end(of_request uuid, ended_at timestamptz) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    about broker.access_request;
BEGIN
    SELECT q.* INTO about FROM broker.access_request AS q WHERE q.id = of_request;
    RETURN internal.described_access(about) - '{gives,revisions}'::text[]
        || jsonb_build_object('status', CASE about.status WHEN 'granted' THEN 'ended' ELSE about.status END, 'validUntil', ended_at,
                              'credentials', internal.shown_credentials(about));
END
$$;
COMMENT ON FUNCTION internal.described_end(uuid, timestamptz) IS 'The content of a notice about the end of a request''s access.';

-- Every look is at the rows of one tenant by index, so that what one tenant has waiting costs the others nothing. Tenants
-- are found by their due notices; while more than a thousand are due, which their first one may hold back, each tenant with
-- notices is looked at.
CREATE OR REPLACE FUNCTION internal.tenants_with_due_notices(beside text[], most int, moment timestamptz) RETURNS SETOF text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
    WITH RECURSIVE due_first AS MATERIALIZED (
        SELECT n.tenant FROM work.access_notice AS n WHERE NOT n.access_lasts AND n.due <= moment ORDER BY n.due LIMIT 1001
    ), waiting (tenant) AS (
        (SELECT n.tenant FROM work.access_notice AS n
          WHERE NOT n.access_lasts AND (SELECT count(*) FROM due_first) > 1000 ORDER BY n.tenant LIMIT 1)
        UNION ALL
        SELECT (SELECT n.tenant FROM work.access_notice AS n WHERE NOT n.access_lasts AND n.tenant > w.tenant ORDER BY n.tenant LIMIT 1)
          FROM waiting AS w WHERE w.tenant IS NOT NULL
    )
    SELECT w.tenant
      FROM (SELECT d.tenant FROM due_first AS d WHERE (SELECT count(*) FROM due_first) <= 1000
             UNION
            SELECT o.tenant FROM waiting AS o WHERE o.tenant IS NOT NULL) AS w
     CROSS JOIN LATERAL (
           SELECT least((SELECT n.due FROM work.access_notice AS n WHERE n.tenant = w.tenant AND NOT n.access_lasts AND n.tries < 8
                          ORDER BY n.wanted_at, n.number LIMIT 1),
                        (SELECT n.due FROM work.access_notice AS n WHERE n.tenant = w.tenant AND NOT n.access_lasts AND n.tries >= 8
                          ORDER BY n.due LIMIT 1)) AS due) AS first
     WHERE w.tenant <> ALL (beside) AND first.due <= moment
       AND NOT EXISTS (SELECT FROM work.access_notice AS c WHERE c.tenant = w.tenant AND c.claimed_until > moment)
     ORDER BY first.due LIMIT most;
$$;
COMMENT ON FUNCTION internal.tenants_with_due_notices(text[], int, timestamptz) IS
    'Tenants, other than the given ones, whose next notice is due at a given time and that no replica serves; the longest waiting first.';

CREATE OR REPLACE FUNCTION internal.take_notices(replica text, most int, seconds int, beside text[] DEFAULT '{}')
    RETURNS TABLE (id uuid, tenant text, type text, request uuid, data jsonb, created_at timestamptz, tries int, notice_url text, notice_secret jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    -- A constant, since a function that may change within the statement is no condition of an index.
    moment constant timestamptz := clock_timestamp();
    of_tenant text;
    next_ones uuid[];
BEGIN
    -- One replica at a time, so that a tenant's notices have one sender. It never waits: what is locked is taken in the next round.
    PERFORM FROM work.mutex AS m WHERE m.name = 'notices' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE work.access_notice AS n SET access_lasts = false
     WHERE n.id IN (SELECT e.id FROM work.access_notice AS e WHERE e.access_lasts AND e.due <= moment
                     ORDER BY e.due LIMIT 10000 FOR UPDATE SKIP LOCKED);
    FOR of_tenant IN SELECT d FROM internal.tenants_with_due_notices(beside, most, moment) AS d LOOP
        IF NOT internal.wants_notices(of_tenant) THEN
            DELETE FROM work.access_notice AS n
             WHERE n.id IN (SELECT o.id FROM work.access_notice AS o WHERE o.tenant = of_tenant AND NOT o.access_lasts LIMIT 1000 FOR UPDATE SKIP LOCKED);
            CONTINUE;
        END IF;
        -- The first one, while it is postponed, holds back those after it.
        next_ones := ARRAY(SELECT o.id FROM work.access_notice AS o
                            WHERE o.tenant = of_tenant AND NOT o.access_lasts AND o.tries < 8 AND o.due <= moment
                              AND (SELECT f.due FROM work.access_notice AS f WHERE f.tenant = of_tenant AND NOT f.access_lasts AND f.tries < 8
                                    ORDER BY f.wanted_at, f.number LIMIT 1) <= moment
                            ORDER BY o.wanted_at, o.number LIMIT 8 FOR UPDATE SKIP LOCKED)
                     || ARRAY(SELECT o.id FROM work.access_notice AS o
                               WHERE o.tenant = of_tenant AND NOT o.access_lasts AND o.tries >= 8 AND o.due <= moment
                               ORDER BY o.due LIMIT 2 FOR UPDATE SKIP LOCKED);
        RETURN QUERY
        WITH taken AS (
            UPDATE work.access_notice AS n
               SET claimed_by = replica, claimed_until = clock_timestamp() + seconds * interval '1 second',
                   data = coalesce(n.data, internal.described_end(n.request, n.wanted_at))
             WHERE n.id = ANY (next_ones)
            RETURNING n.*
        )
        SELECT n.id, n.tenant::text, n.type, n.request, n.data, n.wanted_at, n.tries, t.notice_url, t.notice_secret
          FROM taken AS n JOIN broker.tenant AS t ON t.name = n.tenant ORDER BY array_position(next_ones, n.id);
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.take_notices(text, int, int, text[]) IS
    'Claims the next notices of up to so many tenants, 10 of each, for a replica and so many seconds; drops those of tenants without notice_url. beside: tenants that the replica serves already. created_at: when it happened.';

CREATE OR REPLACE FUNCTION internal.confirm_notice(id uuid, replica text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM work.access_notice AS n WHERE n.id = confirm_notice.id AND n.claimed_by = replica;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION internal.confirm_notice(uuid, text) IS 'Removes a notice that a replica delivered; false if another replica has it.';

CREATE OR REPLACE FUNCTION internal.release_notice(id uuid, replica text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE work.access_notice AS n SET claimed_by = NULL, claimed_until = NULL WHERE n.id = release_notice.id AND n.claimed_by = replica;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION internal.release_notice(uuid, text) IS
    'Gives back a notice that was not tried, because an earlier one failed; false if another replica has it.';

CREATE OR REPLACE FUNCTION internal.postpone_notice(id uuid, replica text, seconds int, failure text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM work.access_notice AS n
     WHERE n.id = postpone_notice.id AND n.claimed_by = replica AND n.wanted_at < clock_timestamp() - interval '3 days';
    IF FOUND THEN
        RETURN false;
    END IF;
    UPDATE work.access_notice AS n
       SET tries = n.tries + 1, due = clock_timestamp() + seconds * interval '1 second', last_failure = left(failure, 1000),
           claimed_by = NULL, claimed_until = NULL
     WHERE n.id = postpone_notice.id AND n.claimed_by = replica;
    RETURN true;
END
$$;
COMMENT ON FUNCTION internal.postpone_notice(uuid, text, int, text) IS
    'Schedules the next attempt to deliver a notice in so many seconds; false if the notice was dropped because it could not be delivered for too long.';
