-- Who gets what, and why not: the decision of the service in SQL, for admins.

-- ---------------------------------------------------------------- conditions on claims

CREATE FUNCTION broker.claim_at(claims jsonb, name text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    place jsonb := claims;
    segment text;
BEGIN
    IF NOT starts_with(name, '/') THEN
        RETURN claims -> name;
    END IF;
    FOREACH segment IN ARRAY (string_to_array(name, '/'))[2:] LOOP
        segment := replace(replace(segment, '~1', '/'), '~0', '~');
        place := CASE jsonb_typeof(place)
                     WHEN 'object' THEN place -> segment
                     -- unlike the operator: no sign, no leading zero
                     WHEN 'array' THEN CASE WHEN segment ~ '^(0|[1-9][0-9]{0,8})$' THEN place -> segment::int END
                 END;
    END LOOP;
    RETURN place;
END
$$;
COMMENT ON FUNCTION broker.claim_at(jsonb, text) IS
    'A claim by its name, or by a JSON pointer (RFC 6901) if the name starts with /; null if it is absent.';

CREATE FUNCTION broker.value_fits(condition jsonb, value jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE jsonb_typeof(condition)
        WHEN 'object' THEN jsonb_typeof(value) = 'string'
                           AND broker.glob_matches(condition ->> 'glob', value #>> '{}')
        ELSE condition = value END;
$$;
COMMENT ON FUNCTION broker.value_fits(jsonb, jsonb) IS
    'Whether one value is what one condition says: equal in type and value, or a text that the glob matches.';

CREATE FUNCTION broker.claim_met(condition jsonb, value jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT value IS NOT NULL AND EXISTS (
        SELECT
          FROM jsonb_array_elements(CASE jsonb_typeof(condition) WHEN 'array' THEN condition
                                    ELSE jsonb_build_array(condition) END) AS one_of (item),
               jsonb_array_elements(CASE jsonb_typeof(value) WHEN 'array' THEN value
                                    ELSE jsonb_build_array(value) END) AS element (item)
         WHERE broker.value_fits(one_of.item, element.item));
$$;
COMMENT ON FUNCTION broker.claim_met(jsonb, jsonb) IS
    'Whether a claim meets a condition: a list of conditions means any of, a claim that is a list meets it by one element.';

CREATE FUNCTION broker.first_unmet(conditions jsonb, claims jsonb, OUT claim text, OUT expected jsonb, OUT seen jsonb)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT key, value, broker.claim_at(claims, key) FROM jsonb_each(conditions)
     WHERE NOT broker.claim_met(value, broker.claim_at(claims, key))
     ORDER BY key COLLATE "C" LIMIT 1;
$$;
COMMENT ON FUNCTION broker.first_unmet(jsonb, jsonb) IS
    'The first condition, by the names of the claims, that these claims do not meet; nulls if they meet all.';

CREATE FUNCTION broker.claims_met(conditions jsonb, claims jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT conditions = '{}' OR (broker.first_unmet(conditions, claims)).claim IS NULL;
$$;
COMMENT ON FUNCTION broker.claims_met(jsonb, jsonb) IS
    'Whether claims meet all conditions of a grant (claims) or an identity provider (required_claims).';

CREATE FUNCTION broker.common_start(one text, other text) RETURNS int
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    least_length int := 0;
    most int := least(length(one), length(other));
    half int;
BEGIN
    WHILE least_length < most LOOP
        half := (least_length + most + 1) / 2;
        IF left(one, half) = left(other, half) THEN
            least_length := half;
        ELSE
            most := half - 1;
        END IF;
    END LOOP;
    RETURN least_length;
END
$$;
COMMENT ON FUNCTION broker.common_start(text, text) IS 'How many characters two texts begin with alike.';


-- ---------------------------------------------------------------- one grant

CREATE FUNCTION broker.grant_duration(checked broker.subject_grant, key_duration int, at timestamptz) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT least(key_duration::bigint, checked.max_duration::bigint, floor(extract(epoch FROM checked.valid_until - at))::bigint);
$$;
COMMENT ON FUNCTION broker.grant_duration(broker.subject_grant, int, timestamptz) IS
    'How many seconds a credential may live that is asked for at a time: the least of the key''s, the grant''s and what is left of the grant.';

CREATE FUNCTION broker.try_grant(checked broker.subject_grant, key_duration int, shortest int, claims jsonb, at timestamptz,
                                 OUT rank int, OUT condition text, OUT expected text, OUT seen text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    unmet record;
    duration constant bigint := broker.grant_duration(checked, key_duration, at);
BEGIN
    IF NOT checked.enabled THEN
        rank := 1; condition := 'the grant is enabled'; expected := 'true'; seen := 'false';
    ELSIF at < checked.valid_from THEN
        rank := 2; condition := 'valid_from'; expected := checked.valid_from; seen := at;
    ELSIF at >= checked.valid_until THEN
        rank := 2; condition := 'valid_until'; expected := checked.valid_until; seen := at;
    ELSE
        SELECT u.* INTO unmet FROM broker.first_unmet(checked.claims, claims) AS u;
        IF unmet.claim IS NOT NULL THEN
            rank := 3; condition := 'claim ' || unmet.claim; expected := unmet.expected; seen := unmet.seen;
        ELSIF duration < shortest THEN
            rank := 4; condition := 'duration'; expected := format('at least %s seconds', shortest);
            seen := format('%s seconds', duration);
        ELSE
            rank := 5;
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION broker.try_grant(broker.subject_grant, int, int, jsonb, timestamptz) IS
    'How far a grant whose subject matches gets: rank 5 is granted, else the first condition that failed.';


-- ---------------------------------------------------------------- explain

CREATE FUNCTION broker.explain(idp text, subject text, claims jsonb DEFAULT '{}', at timestamptz DEFAULT now())
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
BEGIN
    SELECT p.name, p.tenant, p.enabled, p.required_claims, t.enabled AS tenant_enabled
      INTO provider
      FROM broker.identity_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant
     WHERE p.name = asked;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'There is no identity provider "%" that you may see.', asked
            USING ERRCODE = 'no_data_found',
                  HINT = broker.did_you_mean(asked, ARRAY(SELECT p.name FROM broker.identity_provider AS p ORDER BY p.name LIMIT 100), 'There are');
    END IF;
    SELECT u.* INTO required FROM broker.first_unmet(provider.required_claims, given) AS u;

    RETURN QUERY
    WITH tried AS (
        SELECT g.key AS key_name, g.id, t.rank, t.condition AS failed, t.expected AS wanted, t.seen AS had,
               broker.grant_duration(g, k.max_duration, at) AS duration
          FROM broker.subject_grant AS g
          JOIN broker.key AS k ON k.tenant = g.tenant AND k.name = g.key
          JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
          JOIN broker.provider_type AS y ON y.type = a.type
         CROSS JOIN LATERAL broker.try_grant(g, k.max_duration, y.min_duration, given, at) AS t
         WHERE g.tenant = provider.tenant AND g.idp = asked
           AND (g.match = 'exact' AND g.subject = about
                OR g.match = 'glob' AND broker.glob_matches(g.subject, about))
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
     -- where no grant is for this subject: the one whose text begins most like it
      LEFT JOIN LATERAL (
          SELECT g.id, g.subject
            FROM (SELECT n.id, n.subject FROM broker.subject_grant AS n
                   WHERE b.id IS NULL AND n.tenant = k.tenant AND n.key = k.name AND n.idp = asked
                   ORDER BY n.id LIMIT 1000) AS g
           ORDER BY broker.common_start(g.subject, about) DESC, g.id LIMIT 1) AS nearest ON true
     CROSS JOIN LATERAL (
          SELECT * FROM (VALUES
              (NOT provider.tenant_enabled, NULL::bigint, 'the tenant is enabled', 'true', 'false'),
              (NOT provider.enabled, NULL, 'the identity provider is enabled', 'true', 'false'),
              (required.claim IS NOT NULL, NULL, 'required claim ' || required.claim, required.expected::text, required.seen::text),
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
COMMENT ON FUNCTION broker.explain(text, text, jsonb, timestamptz) IS
    'For a token of an identity provider with this subject and these claims: each key of the tenant, whether it is granted and by which grant, else the first condition that failed for the grant that came nearest. Decides as the service does.';


-- ---------------------------------------------------------------- what admins ask

CREATE VIEW broker.who_can_mint WITH (security_invoker = true) AS
SELECT g.tenant, g.key, g.idp, g.match, g.subject, g.claims,
       broker.grant_duration(g, k.max_duration, now()) AS max_duration,
       g.valid_until, g.id AS grant_id, g.reason, g.created_by AS granted_by, g.created_at AS granted_at,
       k.provider, a.type AS provider_type, k.settings ->> y.target_setting AS target
  FROM broker.subject_grant AS g
  JOIN broker.tenant AS t ON t.name = g.tenant AND t.enabled
  JOIN broker.identity_provider AS p ON p.name = g.idp AND p.enabled
  JOIN broker.key AS k ON k.tenant = g.tenant AND k.name = g.key AND k.enabled
  JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider AND a.enabled
  JOIN broker.provider_type AS y ON y.type = a.type
 WHERE g.enabled
   AND (g.valid_from IS NULL OR g.valid_from <= now())
   AND (g.valid_until IS NULL OR g.valid_until > now())
   AND broker.grant_duration(g, k.max_duration, now()) >= y.min_duration;
COMMENT ON VIEW broker.who_can_mint IS
    'Who can mint what now: the grants that are in force, everything they depend on being enabled. Ask it WHERE tenant = … AND key = ….';
COMMENT ON COLUMN broker.who_can_mint.tenant IS 'The tenant.';
COMMENT ON COLUMN broker.who_can_mint.key IS 'The key.';
COMMENT ON COLUMN broker.who_can_mint.idp IS 'The identity provider whose tokens count.';
COMMENT ON COLUMN broker.who_can_mint.match IS 'exact or glob.';
COMMENT ON COLUMN broker.who_can_mint.subject IS 'The subject, or the glob over subjects.';
COMMENT ON COLUMN broker.who_can_mint.claims IS 'What the token must hold besides.';
COMMENT ON COLUMN broker.who_can_mint.max_duration IS 'How many seconds a credential may live that is asked for now.';
COMMENT ON COLUMN broker.who_can_mint.valid_until IS 'When the grant ends; null: when it is revoked.';
COMMENT ON COLUMN broker.who_can_mint.grant_id IS 'broker.subject_grant.id';
COMMENT ON COLUMN broker.who_can_mint.reason IS 'Why it was granted.';
COMMENT ON COLUMN broker.who_can_mint.granted_by IS 'The login that made the grant.';
COMMENT ON COLUMN broker.who_can_mint.granted_at IS 'When it was made.';
COMMENT ON COLUMN broker.who_can_mint.provider IS 'The access provider of the key.';
COMMENT ON COLUMN broker.who_can_mint.provider_type IS 'Its type.';
COMMENT ON COLUMN broker.who_can_mint.target IS 'The role, service account, client or audience that the credential is of.';

CREATE FUNCTION broker.what_can_mint(idp text, subject text) RETURNS SETOF broker.who_can_mint
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT w.* FROM broker.who_can_mint AS w
     WHERE w.idp = what_can_mint.idp
       AND (w.match = 'exact' AND w.subject = what_can_mint.subject
            OR w.match = 'glob' AND broker.glob_matches(w.subject, what_can_mint.subject))
     ORDER BY w.key, w.max_duration DESC, w.grant_id;
$$;
COMMENT ON FUNCTION broker.what_can_mint(text, text) IS
    'What a subject can mint now, provided that its token meets the claims in each row.';

CREATE VIEW broker.grant_ending_soon WITH (security_invoker = true) AS
SELECT g.tenant, g.key, g.idp, g.match, g.subject, g.valid_until, g.valid_until - now() AS ends_in,
       g.id AS grant_id, g.reason, g.created_by AS granted_by
  FROM broker.subject_grant AS g
 WHERE g.enabled AND g.valid_until > now() AND g.valid_until <= now() + interval '30 days';
COMMENT ON VIEW broker.grant_ending_soon IS 'Enabled grants that end within 30 days. Ask it ORDER BY valid_until.';
COMMENT ON COLUMN broker.grant_ending_soon.tenant IS 'The tenant.';
COMMENT ON COLUMN broker.grant_ending_soon.key IS 'The key.';
COMMENT ON COLUMN broker.grant_ending_soon.idp IS 'The identity provider.';
COMMENT ON COLUMN broker.grant_ending_soon.match IS 'exact or glob.';
COMMENT ON COLUMN broker.grant_ending_soon.subject IS 'The subject, or the glob over subjects.';
COMMENT ON COLUMN broker.grant_ending_soon.valid_until IS 'When it ends.';
COMMENT ON COLUMN broker.grant_ending_soon.ends_in IS 'How long until then.';
COMMENT ON COLUMN broker.grant_ending_soon.grant_id IS 'broker.subject_grant.id';
COMMENT ON COLUMN broker.grant_ending_soon.reason IS 'Why it was granted.';
COMMENT ON COLUMN broker.grant_ending_soon.granted_by IS 'The login that made the grant.';

-- In the order of their end, for the view.
CREATE INDEX grants_by_their_end ON broker.subject_grant (valid_until) WHERE valid_until IS NOT NULL;
