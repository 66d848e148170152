-- How many rows a tenant may have, and how many changes a day.

CREATE OR REPLACE FUNCTION internal.refuse_more(tenant text, what text, bound text, target regclass, would_have bigint, may_have int) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.refuse_in(target, 'a_tenant_has_no_more_than_' || bound,
        format('Tenant "%s" would have %s %s%s; the maximum is %s.', tenant, would_have, what, CASE would_have WHEN 1 THEN '' ELSE 's' END, may_have),
        format('Delete unused rows, or ask a platform admin to raise %1$s: UPDATE broker.tenant SET %1$s = … WHERE name = %2$L;', bound, tenant),
        'check_violation');
END
$$;
COMMENT ON FUNCTION internal.refuse_more(text, text, text, regclass, bigint, int) IS 'Rejects rows beyond a limit of the tenant.';

CREATE OR REPLACE FUNCTION internal.count_further(tenant text, further_keys bigint, further_grants bigint, further_globs bigint,
                                       further_blocks bigint DEFAULT 0, further_block_globs bigint DEFAULT 0) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
DECLARE
    may broker.tenant;
    has work.tenant_size;
BEGIN
    SELECT t.* INTO may FROM broker.tenant AS t WHERE t.name = count_further.tenant FOR NO KEY UPDATE;
    SELECT s.* INTO has FROM work.tenant_size AS s WHERE s.tenant = count_further.tenant
     ORDER BY s.tenant DESC, s.number DESC LIMIT 1;
    IF FOUND THEN
        UPDATE work.tenant_size AS s
           SET number = s.number + 1, keys = s.keys + further_keys, grants = s.grants + further_grants,
               globs = s.globs + further_globs, blocks = s.blocks + further_blocks,
               block_globs = s.block_globs + further_block_globs
         WHERE s.tenant = has.tenant AND s.number = has.number
        RETURNING s.* INTO has;
    ELSE
        INSERT INTO work.tenant_size (tenant, number, keys, grants, globs, blocks, block_globs)
        VALUES (tenant, 1, further_keys, further_grants, further_globs, further_blocks, further_block_globs)
        RETURNING * INTO has;
    END IF;
    IF further_keys > 0 AND has.keys > may.max_keys THEN
        PERFORM internal.refuse_more(tenant, 'key', 'max_keys', 'broker.key', has.keys, may.max_keys);
    ELSIF further_grants > 0 AND has.grants > may.max_grants THEN
        PERFORM internal.refuse_more(tenant, 'grant', 'max_grants', 'broker.subject_grant', has.grants, may.max_grants);
    ELSIF further_globs > 0 AND has.globs > may.max_globs THEN
        PERFORM internal.refuse_more(tenant, 'glob grant', 'max_globs', 'broker.subject_grant', has.globs, may.max_globs);
    ELSIF further_blocks > 0 AND has.blocks > may.max_grants THEN
        PERFORM internal.refuse_more(tenant, 'blocked subject', 'max_grants', 'broker.blocked_subject', has.blocks, may.max_grants);
    ELSIF further_block_globs > 0 AND has.block_globs > may.max_globs THEN
        PERFORM internal.refuse_more(tenant, 'glob block', 'max_globs', 'broker.blocked_subject', has.block_globs, may.max_globs);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.count_further(text, bigint, bigint, bigint, bigint, bigint) IS
    'Adds to the counts of a tenant, and rejects rows beyond its limits. Existing rows stay.';

-- ---------------------------------------------------------------- changes of a day

CREATE OR REPLACE FUNCTION internal.add_changes(target regclass, tenant text, further bigint, reduces boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
DECLARE
    today constant date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    most constant bigint := (SELECT CASE WHEN reduces THEN 2 * t.max_changes::bigint ELSE t.max_changes END
                               FROM broker.tenant AS t WHERE t.name = add_changes.tenant);
    would_have bigint := further;
    last record;
BEGIN
    SELECT c.number, c.day, c.changes INTO last FROM work.changes_of_day AS c WHERE c.tenant = add_changes.tenant
     ORDER BY c.tenant DESC, c.number DESC LIMIT 1;
    IF last.day = today THEN
        would_have := would_have + last.changes;
    END IF;
    IF would_have > most THEN
        PERFORM internal.refuse_in(target, 'a_tenant_has_no_more_than_max_changes_a_day',
            format('Tenant "%s" would have %s changes today (UTC); the maximum is %s.', tenant, would_have, most),
            CASE WHEN reduces THEN 'Continue tomorrow, or ask a platform admin to make the change, because the changes of platform admins are not limited.'
                 ELSE format('Continue tomorrow. Until then, you can still disable and delete keys and grants, and block subjects. A platform admin can raise the limit: UPDATE broker.tenant SET max_changes = … WHERE name = %L;', tenant) END,
            'check_violation');
    ELSIF last.number IS NULL THEN
        INSERT INTO work.changes_of_day (tenant, number, day, changes) VALUES (tenant, 1, today, would_have);
    ELSE
        UPDATE work.changes_of_day AS c SET number = c.number + 1, day = today, changes = would_have
         WHERE c.tenant = add_changes.tenant AND c.number = last.number;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.add_changes(regclass, text, bigint, boolean) IS
    'Adds to the changes of a tenant today, and refuses more than broker.tenant.max_changes; twice as many if they reduce access. The caller holds the tenant''s lock (internal.record_change).';

CREATE OR REPLACE FUNCTION internal.is_switched_on(written jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce((written ->> 'enabled')::boolean, written ->> 'status' IN ('pending', 'granted'), true);
COMMENT ON FUNCTION internal.is_switched_on(jsonb) IS 'Whether a row has an effect: it is enabled, or it is a request that has not ended.';

CREATE OR REPLACE FUNCTION internal.changes_are_counted() RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN NOT (pg_has_role(session_user, '${admin_role}', 'MEMBER') OR pg_has_role(session_user, '${owner_role}', 'MEMBER'));
END
$$;
COMMENT ON FUNCTION internal.changes_are_counted() IS 'Whether the login''s changes count towards the day''s limit. Changes by platform admins do not.';

-- The depth of triggers doesn't tell this, because members can have triggers on their own tables. This function must run with its
-- caller's rights.
CREATE OR REPLACE FUNCTION internal.is_run_by_the_owner() RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT pg_get_userbyid(n.nspowner) = current_user FROM pg_namespace AS n WHERE n.nspname = 'internal');
END
$$;
COMMENT ON FUNCTION internal.is_run_by_the_owner() IS 'Whether a function with its owner''s rights, such as one of our triggers, runs the statement, and not a login.';

-- Once for each statement, since a bulk import pays for each row. An UPDATE that leaves a row as it was is not recorded, and
-- does not count.
CREATE OR REPLACE FUNCTION internal.count_changes() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    of_blocks constant boolean := TG_TABLE_NAME IN ('blocked_subject', 'ended_credential');
BEGIN
    IF NOT internal.changes_are_counted() THEN
        RETURN NULL;
    ELSIF TG_TABLE_NAME = 'ended_credential' AND internal.session_is_the_service() THEN
        RETURN NULL;
    ELSIF TG_OP = 'INSERT' THEN
        PERFORM internal.add_changes(TG_RELID, w.tenant, sum(1 + pg_column_size(to_jsonb(w)) / 4096),
                   of_blocks OR TG_TABLE_NAME IN ('grant_review', 'access_decision')
                                AND bool_and(coalesce(to_jsonb(w) ->> 'verdict' IN ('remove', 'withdraw'), false)))
           FROM written AS w GROUP BY w.tenant ORDER BY w.tenant;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM internal.add_changes(TG_RELID, r.tenant, sum(1 + pg_column_size(to_jsonb(r)) / 4096), NOT of_blocks)
           FROM removed AS r GROUP BY r.tenant ORDER BY r.tenant;
    -- what nobody asked for: time made a request lapse, or a change of its rule, which counts itself, made it void
    ELSIF TG_TABLE_NAME = 'access_request' AND NOT EXISTS (SELECT FROM written AS w WHERE to_jsonb(w) ->> 'status' NOT IN ('lapsed', 'void')) THEN
        RETURN NULL;
    ELSE
        -- the rows that a tenant has when it begins to require a second admin (internal.record_tenant)
        IF TG_TABLE_NAME = 'key' THEN
            IF NOT EXISTS (SELECT FROM written AS w WHERE (to_jsonb(w) ->> 'approved_at')::timestamptz IS DISTINCT FROM now()
                                                       OR to_jsonb(w) ->> 'approved_by' IS NOT NULL)
               AND NOT EXISTS (SELECT FROM removed AS r WHERE to_jsonb(r) ->> 'approved_at' IS NOT NULL) THEN
                RETURN NULL;
            END IF;
        END IF;
        -- Access is reduced if each row was switched, from one value of enabled to the other. A new block disables the one that
        -- ended (internal.lift_ended_block).
        PERFORM internal.add_changes(TG_RELID, c.tenant, sum(c.counts)::bigint, bool_and(c.reduces) OR bool_and(c.lifts))
           FROM (SELECT w.row ->> 'tenant' AS tenant, 1 + pg_column_size(w.row) / 4096 AS counts, internal.is_switched_on(w.row) = of_blocks AS reduces,
                        NOT internal.is_switched_on(w.row) AND coalesce((w.row ->> 'until')::timestamptz <= now(), false) AS lifts
                   FROM (SELECT n.text::jsonb FROM (SELECT to_jsonb(w)::text FROM written AS w EXCEPT ALL SELECT to_jsonb(r)::text FROM removed AS r) AS n (text)) AS w (row)
                 UNION ALL
                 SELECT r.row ->> 'tenant', pg_column_size(r.row) / 4096, internal.is_switched_on(r.row) <> of_blocks,
                        internal.is_switched_on(r.row) AND coalesce((r.row ->> 'until')::timestamptz <= now(), false)
                   FROM (SELECT n.text::jsonb FROM (SELECT to_jsonb(r)::text FROM removed AS r EXCEPT ALL SELECT to_jsonb(w)::text FROM written AS w) AS n (text)) AS r (row)) AS c
          GROUP BY c.tenant ORDER BY c.tenant;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_changes() IS
    'Trigger: counts changes by tenant admins, and rejects changes beyond the day''s limit. Ignores platform admins'' changes.';
