-- How many keys, grants and blocked subjects a tenant may have.

CREATE OR REPLACE FUNCTION internal.refuse_more(tenant text, what text, bound text, target regclass, would_have bigint, may_have int) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.refuse_in(target, 'a_tenant_has_no_more_than_' || bound,
        format('Tenant "%s" would have %s %s%s, and may have %s.', tenant, would_have, what, CASE would_have WHEN 1 THEN '' ELSE 's' END, may_have),
        format('Delete what is not used any more, or let a platform admin raise %1$s: UPDATE broker.tenant SET %1$s = … WHERE name = %2$L;', bound, tenant),
        'check_violation');
END
$$;
COMMENT ON FUNCTION internal.refuse_more(text, text, text, regclass, bigint, int) IS 'Refuses rows beyond a bound of the tenant.';

CREATE OR REPLACE FUNCTION internal.count_further(tenant text, further_keys bigint, further_grants bigint, further_globs bigint,
                                       further_blocks bigint DEFAULT 0, further_block_globs bigint DEFAULT 0) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
DECLARE
    may broker.tenant;
    has runtime.tenant_size;
BEGIN
    SELECT t.* INTO may FROM broker.tenant AS t WHERE t.name = count_further.tenant FOR NO KEY UPDATE;
    SELECT s.* INTO has FROM runtime.tenant_size AS s WHERE s.tenant = count_further.tenant
     ORDER BY s.tenant DESC, s.number DESC LIMIT 1;
    IF FOUND THEN
        UPDATE runtime.tenant_size AS s
           SET number = s.number + 1, keys = s.keys + further_keys, grants = s.grants + further_grants,
               globs = s.globs + further_globs, blocks = s.blocks + further_blocks,
               block_globs = s.block_globs + further_block_globs
         WHERE s.tenant = has.tenant AND s.number = has.number
        RETURNING s.* INTO has;
    ELSE
        INSERT INTO runtime.tenant_size (tenant, number, keys, grants, globs, blocks, block_globs)
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
    'Adds to what a tenant has, and refuses what is more than it may have. What it had already may stay.';

CREATE OR REPLACE FUNCTION internal.count_keys() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM internal.count_further(w.tenant, count(*), 0, 0) FROM written AS w GROUP BY w.tenant ORDER BY w.tenant;
    ELSE
        PERFORM internal.count_further(r.tenant, -count(*), 0, 0) FROM removed AS r GROUP BY r.tenant ORDER BY r.tenant;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_keys() IS 'Trigger: counts the keys of a tenant, and refuses those beyond its bound.';

CREATE OR REPLACE FUNCTION internal.count_grants() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM internal.count_further(w.tenant, 0, count(*), count(*) FILTER (WHERE w.match = 'glob'))
           FROM written AS w GROUP BY w.tenant ORDER BY w.tenant;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM internal.count_further(r.tenant, 0, -count(*), -count(*) FILTER (WHERE r.match = 'glob'))
           FROM removed AS r GROUP BY r.tenant ORDER BY r.tenant;
    ELSE
        PERFORM internal.count_further(c.tenant, 0, 0, sum(c.globs)::bigint)
           FROM (SELECT w.tenant, count(*) AS globs FROM written AS w WHERE w.match = 'glob' GROUP BY w.tenant
                 UNION ALL
                 SELECT r.tenant, -count(*) FROM removed AS r WHERE r.match = 'glob' GROUP BY r.tenant) AS c
          GROUP BY c.tenant HAVING sum(c.globs) <> 0 ORDER BY c.tenant;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_grants() IS
    'Trigger: counts the grants and the globs of a tenant, and refuses those beyond its bounds.';

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
            CASE WHEN globs > 1000 THEN format('There would be %s blocks by globs for all tenants, and there may be 1000.', globs)
                 ELSE format('The blocks by globs for all tenants would be up to %s steps of work for each token, and 250000 are allowed.', steps) END,
            'Each star costs 1024 steps. Delete or disable those that are not needed any more, block exact subjects (of which there may be any number), or block in the tenants that are concerned.',
            'check_violation');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_globs_of_all_tenants() IS
    'Refuses more globs over subjects that are blocked in all tenants than each token can be held against.';

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
    'Trigger: counts the blocked subjects of a tenant and the globs among them, and refuses those beyond its bounds.';
