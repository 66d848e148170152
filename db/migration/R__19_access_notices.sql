-- Notices of requests for access: an outbox, from which each notice goes when its receiver has confirmed it.

CREATE OR REPLACE FUNCTION internal.note_access(about broker.access_request, what text, due timestamptz) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = about.tenant AND t.notice_url IS NOT NULL) THEN
        INSERT INTO runtime.access_notice (tenant, type, request, due, wanted_at, data)
        SELECT about.tenant, 'io.mintmark.access.' || what, about.id, coalesce(note_access.due, clock_timestamp()),
               coalesce(note_access.due, clock_timestamp()), jsonb_build_object(
                   'id', about.id, 'key', about.key, 'idp', about.idp, 'subject', about.subject, 'actorIdp', about.actor_idp, 'actor', about.actor,
                   'reason', about.reason,
                   'seconds', about.access, 'status', about.status, 'requestedAt', about.requested_at, 'expiresAt', about.expires_at,
                   'approvalsNeeded', CASE WHEN about.break_glass THEN 0 ELSE about.approvals END, 'approvals', internal.shown_decisions(about.id),
                   'approvers', (SELECT coalesce(jsonb_agg(coalesce(a.role_name, a.subject)), '[]')
                                   FROM (SELECT p.role_name, p.subject FROM broker.access_approver AS p WHERE p.rule = about.rule AND p.tenant = about.tenant
                                          ORDER BY p.id LIMIT 20) AS a),
                   'grantId', about.grant_id, 'validUntil', (SELECT g.valid_until FROM broker.subject_grant AS g WHERE g.id = about.grant_id),
                   'breakGlass', about.break_glass);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.note_access(broker.access_request, text, timestamptz) IS
    'Writes a notice of a request, if its tenant wants any. due: when it is sent; null: at once.';

CREATE OR REPLACE FUNCTION internal.note_early_end() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    UPDATE runtime.access_notice AS n SET due = clock_timestamp(), wanted_at = clock_timestamp()
     WHERE n.request = OLD.request_id AND n.type = 'io.mintmark.access.ended' AND n.due > clock_timestamp();
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.note_early_end() IS 'Trigger: has the end of a requested grant reported when it is disabled or deleted.';

CREATE OR REPLACE FUNCTION internal.take_notices(replica text, most int, seconds int)
    RETURNS TABLE (id bigint, tenant text, type text, request uuid, data jsonb, created_at timestamptz, tries int, notice_url text, notice_secret jsonb)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
#variable_conflict use_column
BEGIN
    -- A tenant that wants no notices any more gets none.
    DELETE FROM runtime.access_notice AS n
     WHERE n.due <= clock_timestamp() AND EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = n.tenant AND t.notice_url IS NULL);
    RETURN QUERY
    WITH due AS (
        SELECT n.id, row_number() OVER (PARTITION BY n.tenant ORDER BY n.id) AS place
          FROM (SELECT a.id, a.tenant FROM runtime.access_notice AS a
                 WHERE a.due <= clock_timestamp() AND (a.claimed_until IS NULL OR a.claimed_until <= clock_timestamp())
                 ORDER BY a.due LIMIT 10000) AS n
    ), free AS (
        SELECT n.id FROM runtime.access_notice AS n JOIN due AS d ON d.id = n.id AND d.place <= 10
         WHERE n.claimed_until IS NULL OR n.claimed_until <= clock_timestamp()
         ORDER BY d.place, n.id LIMIT most FOR UPDATE OF n SKIP LOCKED
    ), taken AS (
        UPDATE runtime.access_notice AS n SET claimed_by = replica, claimed_until = clock_timestamp() + seconds * interval '1 second'
          FROM free AS f WHERE n.id = f.id
        RETURNING n.*
    )
    SELECT n.id, n.tenant::text, n.type, n.request, n.data, n.wanted_at, n.tries, t.notice_url, t.notice_secret
      FROM taken AS n JOIN broker.tenant AS t ON t.name = n.tenant ORDER BY n.id;
END
$$;
COMMENT ON FUNCTION internal.take_notices(text, int, int) IS
    'Claims due notices for a replica for so many seconds, up to 10 of a tenant; drops those of tenants without notice_url. created_at: when it was due first, which is when it happened.';

CREATE OR REPLACE FUNCTION internal.confirm_notice(id bigint, replica text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM runtime.access_notice AS n WHERE n.id = confirm_notice.id AND n.claimed_by = replica;
    RETURN FOUND;
END
$$;
COMMENT ON FUNCTION internal.confirm_notice(bigint, text) IS 'Removes a notice that a replica delivered; false if another replica has it.';

CREATE OR REPLACE FUNCTION internal.postpone_notice(id bigint, replica text, seconds int, failure text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM runtime.access_notice AS n
     WHERE n.id = postpone_notice.id AND n.claimed_by = replica AND n.wanted_at < clock_timestamp() - interval '3 days';
    IF FOUND THEN
        RETURN false;
    END IF;
    UPDATE runtime.access_notice AS n
       SET tries = n.tries + 1, due = clock_timestamp() + seconds * interval '1 second', last_failure = left(failure, 1000),
           claimed_by = NULL, claimed_until = NULL
     WHERE n.id = postpone_notice.id AND n.claimed_by = replica;
    RETURN true;
END
$$;
COMMENT ON FUNCTION internal.postpone_notice(bigint, text, int, text) IS
    'Has a notice tried again in so many seconds; false if it was dropped because it could not be delivered for long.';
