-- Every condition of one grant, for a page that shows what is met and what isn't. broker.explain says the first that failed.

-- Asks internal.try_grant again and again, each time without the condition that failed last, so that what a condition means
-- is written nowhere else.
CREATE OR REPLACE FUNCTION internal.unmet_conditions(checked broker.subject_grant, second_admin boolean, longest bigint, shortest bigint,
                                                     claims jsonb, at timestamptz, address inet)
    RETURNS TABLE (condition text, expected text, seen text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    LOOP
        SELECT t.condition, t.expected, t.seen INTO condition, expected, seen
          FROM internal.try_grant(checked, second_admin, longest, shortest, claims, NULL, NULL, '{}', at, address) AS t;
        EXIT WHEN condition IS NULL;
        RETURN NEXT;
        EXIT WHEN condition = 'duration'; -- the last one
        CASE condition
            WHEN 'the grant is enabled' THEN checked.enabled := true;
            WHEN 'valid_from' THEN checked.valid_from := NULL;
            WHEN 'valid_until' THEN checked.valid_until := NULL;
            WHEN 'actor' THEN checked.actor := NULL; checked.actor_claims := '{}';
            WHEN 'networks' THEN checked.networks := NULL;
            WHEN 'approval' THEN checked.approved_at := at;
            ELSE checked.claims := checked.claims - substr(condition, length('claim ') + 1);
        END CASE;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.unmet_conditions(broker.subject_grant, boolean, bigint, bigint, jsonb, timestamptz, inet) IS
    'The conditions of a grant that a request without an actor does not meet, in the order in which internal.try_grant checks them.';

CREATE OR REPLACE FUNCTION internal.explain_grant(grant_id bigint, subject text, claims jsonb, at timestamptz, address inet DEFAULT NULL)
    RETURNS TABLE (condition text, met boolean, expected text, seen text, widened jsonb)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    -- one row by its number, in one statement as in the next: planned once
    SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    of_grant record;
BEGIN
    SELECT g, t.require_second_admin AS second_admin, internal.longest_life(k.max_duration, y.max_duration, t.max_duration) AS longest,
           y.min_duration AS shortest
      INTO of_grant
      FROM broker.subject_grant AS g
      JOIN broker.tenant AS t ON t.name = g.tenant
      JOIN broker.key AS k ON k.tenant = g.tenant AND k.name = g.key
      JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
      JOIN broker.provider_type AS y ON y.type = a.type
     WHERE g.id = explain_grant.grant_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM internal.refuse_too_much_work((of_grant.g).tenant,
        CASE (of_grant.g).match WHEN 'glob' THEN internal.glob_steps((of_grant.g).subject, explain_grant.subject) ELSE 0 END
        + internal.claims_steps((of_grant.g).claims, explain_grant.claims));
    RETURN QUERY
    WITH unmet AS MATERIALIZED (
        SELECT u.* FROM internal.unmet_conditions(of_grant.g, of_grant.second_admin, of_grant.longest, of_grant.shortest,
                                                  explain_grant.claims, at, address) AS u
    ), stated (place, condition, expected, seen) AS (
        SELECT 1, 'the grant is enabled', 'true', internal.shown_enabled((of_grant.g).id)
         UNION ALL
        SELECT 2, 'valid_from', (of_grant.g).valid_from::text, at::text WHERE (of_grant.g).valid_from IS NOT NULL
         UNION ALL
        SELECT 3, 'valid_until', (of_grant.g).valid_until::text, at::text WHERE (of_grant.g).valid_until IS NOT NULL
         UNION ALL
        SELECT 5, 'claim ' || c.key, c.value::text, internal.claim_at(explain_grant.claims, c.key)::text
          FROM jsonb_each((of_grant.g).claims) AS c
         UNION ALL
        SELECT 6, 'networks', array_to_string((of_grant.g).networks, ', '), host(address) WHERE (of_grant.g).networks IS NOT NULL
         UNION ALL
        SELECT 7, 'approval', 'approved by a second admin', 'approved by "' || (of_grant.g).approved_by || '"' WHERE of_grant.second_admin
    )
    SELECT all_of.condition, all_of.met, all_of.expected, all_of.seen,
           CASE WHEN NOT all_of.met AND starts_with(all_of.condition, 'claim ')
                     AND jsonb_typeof(internal.claim_at(explain_grant.claims, claim.name)) IN ('string', 'number', 'boolean')
                THEN jsonb_build_object(claim.name, '[]' || all_of.expected::jsonb || internal.claim_at(explain_grant.claims, claim.name)) END
      FROM (SELECT 0 AS place, 'subject' AS condition,
                   CASE (of_grant.g).match WHEN 'exact' THEN (of_grant.g).subject = explain_grant.subject
                        ELSE internal.glob_matches((of_grant.g).subject, explain_grant.subject) END AS met,
                   (of_grant.g).subject AS expected, explain_grant.subject AS seen
             UNION ALL
            SELECT s.place, s.condition, u.condition IS NULL, s.expected, CASE s.place WHEN 1 THEN s.seen ELSE coalesce(u.seen, s.seen) END
              FROM stated AS s LEFT JOIN unmet AS u ON u.condition = s.condition
             UNION ALL
            SELECT CASE u.condition WHEN 'actor' THEN 4 ELSE 8 END, u.condition, false, u.expected, u.seen
              FROM unmet AS u WHERE u.condition NOT IN (SELECT s.condition FROM stated AS s)) AS all_of
     CROSS JOIN LATERAL (SELECT substr(all_of.condition, length('claim ') + 1)) AS claim (name)
     ORDER BY all_of.place, all_of.condition COLLATE "C";
END
$$;
COMMENT ON FUNCTION internal.explain_grant(bigint, text, jsonb, timestamptz, inet) IS
    'Every condition of a grant for a token of its identity provider, without an actor: whether this subject and these claims meet it. widened: for an unmet condition on a claim that the token has as a single value, the condition that also allows this value.';
