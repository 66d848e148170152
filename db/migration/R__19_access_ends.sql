-- Access that ends before its time, and the credentials that were minted by it.

CREATE OR REPLACE VIEW audit.access_credential WITH (security_invoker = true) AS
SELECT q.tenant, q.id AS request, q.grant_id, r.mint_id, r.key, r.provider_type, coalesce(o.kind, 'unresolved') AS outcome,
       coalesce(o.expires_at, r.expires_at) AS expires_at, d.occurred_at AS ended_at,
       CASE WHEN d.mint_id IS NOT NULL THEN 'ended'
            WHEN ended.mint_id IS NOT NULL THEN CASE WHEN y.leaves_behind THEN 'ending' ELSE 'revoked' END
            WHEN y.leaves_behind OR y.ends_early THEN 'lasts'
            ELSE 'cannot_end' END AS state
  FROM broker.access_request AS q
  JOIN audit.event AS r ON r.grant_id = q.grant_id AND r.step = 1
  JOIN broker.provider_type AS y ON y.type = r.provider_type
  LEFT JOIN audit.event AS o ON o.mint_id = r.mint_id AND o.step = 2
  LEFT JOIN audit.event AS d ON d.mint_id = r.mint_id AND d.step = 3
  LEFT JOIN broker.ended_credential AS ended ON ended.mint_id = r.mint_id
 WHERE coalesce(o.expires_at, r.expires_at) > now()
   -- as audit.active_credential has it: a provider that did not answer may have made one
   AND (o.kind IS NULL OR o.kind IN ('issued', 'withheld')
        OR o.kind = 'failed' AND y.leaves_behind AND o.reason IN ('provider_timeout', 'provider_unreachable'));
COMMENT ON VIEW audit.access_credential IS
    'The credentials that were minted by requested access and have not expired. Query it WHERE request = ….';
COMMENT ON COLUMN audit.access_credential.request IS 'The id in broker.access_request.';
COMMENT ON COLUMN audit.access_credential.outcome IS 'issued, withheld, failed, or unresolved: there is no outcome yet.';
COMMENT ON COLUMN audit.access_credential.expires_at IS 'When the credential expires by itself.';
COMMENT ON COLUMN audit.access_credential.ended_at IS 'When the broker ended the credential at its provider; null: it has not.';
COMMENT ON COLUMN audit.access_credential.state IS
    'ended: the broker ended it at its provider. ending: a replica is ending it. revoked: it is in the revocation list. lasts: it works until expires_at, unless an admin ends it. cannot_end: it works until expires_at, because the broker cannot end credentials of this type.';

CREATE OR REPLACE FUNCTION internal.access_lasts(asked broker.access_request) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN asked.status = 'granted'
       AND EXISTS (SELECT FROM broker.subject_grant AS g WHERE g.id = asked.grant_id AND g.enabled AND g.valid_until > clock_timestamp());
END
$$;
COMMENT ON FUNCTION internal.access_lasts(broker.access_request) IS 'Whether a request was granted, and its access has not ended.';

CREATE OR REPLACE FUNCTION internal.end_access(granted broker.access_request, withdrawn_by text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE broker.subject_grant AS g SET enabled = false WHERE g.id = granted.grant_id AND g.enabled;
    UPDATE broker.access_request AS q SET status = 'withdrawn', withdrawn_by = end_access.withdrawn_by WHERE q.id = granted.id;
END
$$;
COMMENT ON FUNCTION internal.end_access(broker.access_request, text) IS
    'Withdraws access that was granted: disables its grant. withdrawn_by: the approver; null for the requester.';

-- A request is granted within expires_after, and its access ends within max_access, each at most 30 days.
CREATE OR REPLACE FUNCTION internal.grants_of_rule(of_tenant text, of_rule bigint) RETURNS SETOF bigint
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
    SELECT g.id FROM broker.access_request AS q JOIN broker.subject_grant AS g ON g.id = q.grant_id
     WHERE q.tenant = of_tenant AND q.rule = of_rule AND q.status = 'granted' AND q.requested_at > now() - interval '60 days'
       AND g.enabled AND g.valid_until > now();
$$;
COMMENT ON FUNCTION internal.grants_of_rule(text, bigint) IS 'The grants that an access rule led to, if their access has not ended.';

CREATE OR REPLACE FUNCTION internal.shown_credentials(of_request broker.access_request) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    IF of_request.grant_id IS NULL
       OR EXISTS (SELECT FROM broker.subject_grant AS g WHERE g.id = of_request.grant_id AND (g.enabled OR g.valid_until <= clock_timestamp())) THEN
        RETURN '[]';
    END IF;
    RETURN (SELECT coalesce(jsonb_agg(jsonb_build_object('mintId', c.mint_id, 'type', c.provider_type, 'state', c.state, 'expiresAt', c.expires_at)
                                      ORDER BY c.expires_at, c.mint_id), '[]')
              FROM (SELECT e.mint_id FROM audit.event AS e WHERE e.grant_id = of_request.grant_id AND e.step = 1 ORDER BY e.mint_id DESC LIMIT 100) AS last
              JOIN audit.access_credential AS c ON c.mint_id = last.mint_id AND c.request = of_request.id);
END
$$;
COMMENT ON FUNCTION internal.shown_credentials(broker.access_request) IS
    'The state of the last 100 credentials of access that ended early, as the service shows it; none while the access is active.';

-- Looked up one after the other: joined otherwise, all credentials that were ever ended may be read. A session that ends one of
-- them itself holds its row, and must not keep other tenants waiting.
DROP FUNCTION IF EXISTS internal.end_credentials_of(uuid);
DROP FUNCTION IF EXISTS internal.end_credentials_of(uuid, int);
CREATE OR REPLACE FUNCTION internal.end_credentials_of(of_request uuid, most int, after_mint uuid, OUT ended int, OUT left_after uuid)
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
    SET enable_bitmapscan = off
    SET lock_timeout = '300ms'
AS $$
DECLARE
    at_once constant int := 10000;
    of_grant constant bigint := (SELECT q.grant_id FROM broker.access_request AS q WHERE q.id = of_request);
    begin_after constant uuid := coalesce(after_mint, audit.first_mint_id(clock_timestamp() - interval '1 hour'
        - (SELECT max(t.max_duration) FROM broker.provider_type AS t WHERE t.ends_early OR t.leaves_behind) * interval '1 second'));
    mints constant uuid[] := ARRAY(SELECT e.mint_id FROM audit.event AS e WHERE e.grant_id = of_grant AND e.step = 1 AND e.mint_id > begin_after
                                    ORDER BY e.mint_id LIMIT at_once);
    chosen uuid[];
BEGIN
    chosen := ARRAY(SELECT m.mint_id FROM unnest(mints) AS m (mint_id)
                     WHERE EXISTS (SELECT FROM audit.access_credential AS c WHERE c.mint_id = m.mint_id AND c.request = of_request AND c.state = 'lasts' OFFSET 0)
                     ORDER BY m.mint_id LIMIT most);
    INSERT INTO broker.ended_credential (mint_id, reason)
    SELECT c.mint_id, format('The access of request %s ended early', of_request) FROM unnest(chosen) AS c (mint_id)
        ON CONFLICT (mint_id) DO NOTHING;
    GET DIAGNOSTICS ended = ROW_COUNT;
    left_after := CASE WHEN cardinality(chosen) = most THEN chosen[most] WHEN cardinality(mints) = at_once THEN mints[at_once] END;
EXCEPTION WHEN integrity_constraint_violation OR lock_not_available THEN
    left_after := after_mint;
END
$$;
COMMENT ON FUNCTION internal.end_credentials_of(uuid, int, uuid) IS
    'Ends up to so many credentials of a request that the broker can end, among the next 10,000 mints after one (null: after those whose credentials have expired by now). ended: their number; null if a limit of the tenant or another session prevented that. left_after: the mint after which the rest is; null: there is none. The access ends in either case.';

CREATE OR REPLACE FUNCTION internal.end_requested_credentials(of_request uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    of_tenant constant text := (SELECT q.tenant FROM broker.access_request AS q WHERE q.id = of_request AND q.end_credentials);
BEGIN
    IF of_tenant IS NOT NULL THEN
        INSERT INTO work.early_access_end (request, tenant) VALUES (of_request, of_tenant) ON CONFLICT DO NOTHING;
        -- Ending a credential takes milliseconds, so the replicas end the others.
        PERFORM internal.end_credentials_of(of_request, 100, NULL);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.end_requested_credentials(uuid) IS
    'Ends the credentials of requested access whose grant is disabled or deleted, if its rule said so.';

-- A mint that was recorded before the end, in a transaction that this one did not see, is decided again before its provider
-- is called, or its row is here by the next look.
CREATE OR REPLACE FUNCTION internal.end_credentials_of_access(most int) RETURNS int
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    -- A constant, since a function that may change within the statement is no condition of an index.
    moment constant timestamptz := clock_timestamp();
    -- What one tenant has must not keep the others waiting.
    share constant int := greatest(most / 10, 1);
    of_tenant text;
    open record;
    looked int := 0;
    left_of_tenant int;
    part record;
    ended_in_all int := 0;
BEGIN
    -- By chance: those with the oldest rows would have every turn if they are many.
    FOR of_tenant IN SELECT e.tenant FROM work.early_access_end AS e WHERE e.next_try <= moment GROUP BY e.tenant ORDER BY random() LOOP
        PERFORM FROM broker.tenant AS t WHERE t.name = of_tenant FOR NO KEY UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        left_of_tenant := 5 * share;
        FOR open IN SELECT e.request, e.ended_at, e.after_mint FROM work.early_access_end AS e
                     WHERE e.tenant = of_tenant AND e.next_try <= moment
                     ORDER BY e.next_try LIMIT share FOR UPDATE SKIP LOCKED LOOP
            looked := looked + 1;
            SELECT c.ended, c.left_after INTO part FROM internal.end_credentials_of(open.request, left_of_tenant, open.after_mint) AS c;
            left_of_tenant := left_of_tenant - coalesce(part.ended, 0);
            ended_in_all := ended_in_all + coalesce(part.ended, 0);
            IF part.ended IS NULL THEN
                UPDATE work.early_access_end AS e SET next_try = clock_timestamp() + interval '1 minute'
                 WHERE e.request IN (SELECT n.request FROM work.early_access_end AS n WHERE n.tenant = of_tenant AND n.next_try <= moment ORDER BY n.next_try LIMIT 1000);
                EXIT;
            ELSIF part.left_after IS NOT NULL THEN
                UPDATE work.early_access_end AS e SET next_try = clock_timestamp(), after_mint = part.left_after WHERE e.request = open.request;
                EXIT WHEN left_of_tenant = 0;
            ELSIF open.ended_at < clock_timestamp() - interval '2 minutes' THEN
                DELETE FROM work.early_access_end AS e WHERE e.request = open.request;
            ELSE
                -- What was in flight when the access ended has an id of that time.
                UPDATE work.early_access_end AS e SET next_try = clock_timestamp() + interval '5 seconds',
                       after_mint = audit.first_mint_id(open.ended_at - interval '2 minutes') WHERE e.request = open.request;
            END IF;
            EXIT WHEN clock_timestamp() > moment + interval '500 milliseconds';
        END LOOP;
        -- The tenants are locked until the end, and a statement that ran into the service's time-out would undo all of it, again and again.
        EXIT WHEN looked >= most OR ended_in_all >= 2 * most OR clock_timestamp() > moment + interval '500 milliseconds';
    END LOOP;
    RETURN looked;
END
$$;
COMMENT ON FUNCTION internal.end_credentials_of_access(int) IS
    'Ends the remaining credentials of requests whose access ended early, for about the given number of requests, a tenth of them of one tenant, and twice as many credentials, half as many of one tenant; returns how many requests it looked at. Waits for no lock.';
