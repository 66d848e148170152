-- Where no grant of a key is for the subject, the nearest one is told: looked for among 1,000 grants of each key, however
-- many keys the tenant had, and sorted before that. Now among 5,000 of all its keys, in no order.

CREATE OR REPLACE FUNCTION broker.explain(idp text, subject text, claims jsonb DEFAULT '{}', at timestamptz DEFAULT now())
    RETURNS TABLE (key text, granted boolean, grant_id bigint, condition text, expected text, seen text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked constant text := idp;
    about constant text := subject;
    given constant jsonb := coalesce(claims, '{}');
    provider record;
    required record;
    steps bigint;
    blocked text;
    looked int;
BEGIN
    PERFORM internal.require_idp(asked);
    IF jsonb_typeof(given) <> 'object' THEN
        PERFORM internal.refuse(format('The claims of a token are an object, not %s.', internal.a_kind(given)),
                                'For example {"ref": "refs/heads/main"}.', 'invalid_parameter_value');
    END IF;
    SELECT p.name, p.tenant, p.enabled, p.required_claims, t.enabled AS tenant_enabled
      INTO provider
      FROM broker.identity_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant
     WHERE p.name = asked;
    PERFORM internal.refuse_too_much_work(provider.tenant, internal.claims_steps(provider.required_claims, given));
    SELECT u.* INTO required FROM internal.first_unmet(provider.required_claims, given) AS u;
    SELECT coalesce(sum(internal.glob_steps(b.subject, about)), 0) INTO steps
      FROM broker.blocked_subject AS b
     WHERE b.tenant = provider.tenant AND (b.idp IS NULL OR b.idp = asked) AND b.match = 'glob' AND b.enabled
       AND (b.until IS NULL OR b.until > at) AND starts_with(about, split_part(b.subject, '*', 1));
    PERFORM internal.refuse_too_much_work(provider.tenant, steps);
    blocked := internal.blocking(provider.tenant, asked, about, at);
    -- what a blocked subject is granted, nobody looks at
    IF blocked IS NULL THEN
        SELECT steps + coalesce(sum(internal.glob_steps(g.subject, about)), 0) INTO steps
          FROM broker.subject_grant AS g
         WHERE g.tenant = provider.tenant AND g.idp = asked AND g.match = 'glob' AND g.enabled
           AND starts_with(about, split_part(g.subject, '*', 1));
        PERFORM internal.refuse_too_much_work(provider.tenant, steps);
        SELECT steps + coalesce(sum(internal.claims_steps(g.claims, given)), 0) INTO steps
          FROM broker.subject_grant AS g
         WHERE g.tenant = provider.tenant AND g.idp = asked AND g.enabled
           AND (g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(about, 0) AND g.subject = about
                OR g.match = 'glob' AND internal.glob_matches(g.subject, about));
        PERFORM internal.refuse_too_much_work(provider.tenant, steps);
    END IF;

    SELECT least(1000, greatest(20, 5000 / greatest(count(*), 1))) INTO looked
      FROM broker.key AS k WHERE k.tenant = provider.tenant;

    RETURN QUERY
    WITH tried AS (
        SELECT g.key AS key_name, g.id, t.rank, t.condition AS failed, t.expected AS wanted, t.seen AS had,
               internal.grant_duration(g, k.max_duration, at) AS duration
          FROM broker.subject_grant AS g
          JOIN broker.key AS k ON k.tenant = g.tenant AND k.name = g.key
          JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
          JOIN broker.provider_type AS y ON y.type = a.type
         CROSS JOIN LATERAL internal.try_grant(g, k.max_duration, y.min_duration, given, at) AS t
         WHERE blocked IS NULL AND g.tenant = provider.tenant AND g.idp = asked
           AND (g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(about, 0)
                    AND g.subject = about
                OR g.match = 'glob' AND internal.glob_matches(g.subject, about))
    ), best AS (
        SELECT DISTINCT ON (t.key_name) t.* FROM tried AS t
         ORDER BY t.key_name, t.rank DESC, t.duration DESC, t.id
    )
    SELECT k.name,
           coalesce(outcome.failed IS NULL, false),
           outcome.id, outcome.failed, outcome.wanted, outcome.had
      FROM broker.key AS k
      JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
      LEFT JOIN best AS b ON b.key_name = k.name
     -- where no grant is for this subject: the one whose text begins most like it, of a share of 5,000 that are looked at
      LEFT JOIN LATERAL (
          SELECT g.id, g.subject
            FROM (SELECT n.id, n.subject FROM broker.subject_grant AS n
                   WHERE b.id IS NULL AND n.tenant = k.tenant AND n.key = k.name AND n.idp = asked
                   LIMIT looked) AS g
           ORDER BY internal.common_start(g.subject, about) DESC, g.id LIMIT 1) AS nearest ON true
     CROSS JOIN LATERAL (
          SELECT * FROM (VALUES
              (NOT provider.tenant_enabled, NULL::bigint, 'the tenant is enabled', 'true', 'false'),
              (NOT provider.enabled, NULL, 'the identity provider is enabled', 'true', 'false'),
              (required.claim IS NOT NULL, NULL, 'required claim ' || required.claim, required.expected::text, required.seen::text),
              (blocked IS NOT NULL, NULL, 'blocked', 'not blocked', blocked),
              (NOT a.enabled, NULL, 'the access provider is enabled', 'true', 'false'),
              (NOT k.enabled, NULL, 'the key is enabled', 'true', 'false'),
              (b.id IS NOT NULL, b.id, b.failed, b.wanted, b.had),
              (nearest.id IS NOT NULL, nearest.id, 'subject', nearest.subject, about),
              (true, NULL, 'a grant', format('a grant of this key to a subject of "%s"', asked), NULL)
          ) AS o (applies, id, failed, wanted, had)
          WHERE o.applies LIMIT 1) AS outcome
     WHERE k.tenant = provider.tenant
     ORDER BY k.name;
END
$$;

UPDATE runtime.schema_version SET version = greatest(version, 30);
