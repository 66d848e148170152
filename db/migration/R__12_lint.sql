-- What is possible but hardly meant: a WARNING when it is written, and a row in broker.lint until it is gone.

-- ---------------------------------------------------------------- what is doubted in other rows than grants

CREATE OR REPLACE FUNCTION internal.doubts_of_block(subject text, match text, until timestamptz, enabled boolean, updated_at timestamptz) RETURNS internal.doubt[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN enabled THEN internal.doubts_of_subject(subject, match)
        || CASE WHEN until <= updated_at THEN ARRAY[internal.ended_already('until', until, updated_at)] END END;
END
$$;
COMMENT ON FUNCTION internal.doubts_of_block(text, text, timestamptz, boolean, timestamptz) IS
    'What is hardly meant in an enabled block of a subject; null if nothing is.';

CREATE OR REPLACE FUNCTION internal.issuer_nearly_known(issuer text) RETURNS internal.doubt[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known text;
    alike bigint;
    nearly bigint;
BEGIN
    SELECT s.issuer INTO known FROM broker.shared_issuer AS s
     WHERE internal.nearly(s.issuer) = internal.nearly(issuer_nearly_known.issuer) ORDER BY s.issuer <> issuer_nearly_known.issuer, s.issuer LIMIT 1;
    IF known = issuer THEN
        RETURN NULL;
    ELSIF known IS NULL THEN
        -- The spelling that most have is likely right.
        SELECT count(*) FILTER (WHERE p.issuer = issuer_nearly_known.issuer),
               count(*) FILTER (WHERE p.issuer <> issuer_nearly_known.issuer),
               min(p.issuer) FILTER (WHERE p.issuer <> issuer_nearly_known.issuer)
          INTO alike, nearly, known
          FROM broker.identity_provider AS p
         WHERE internal.nearly(p.issuer) = internal.nearly(issuer_nearly_known.issuer) AND p.enabled;
    END IF;
    RETURN CASE WHEN known IS NOT NULL AND (nearly < alike) IS NOT TRUE THEN ARRAY[ROW('issuer_nearly_known',
        format('The issuer is "%s", and that of another identity provider or a shared one "%s". Tokens say in iss which it is, to the character.',
               issuer, known))::internal.doubt] END;
END
$$;
COMMENT ON FUNCTION internal.issuer_nearly_known(text) IS
    'The doubt about an issuer that differs only by case or a slash from a shared one, or from one that as many identity providers have; null if there is none. Sees what its caller may see.';

CREATE OR REPLACE FUNCTION internal.doubts_of_identity_provider(issuer text, jwks_uri text, required_claims jsonb, enabled boolean) RETURNS internal.doubt[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    doubts internal.doubt[];
BEGIN
    IF NOT enabled THEN
        RETURN NULL;
    END IF;
    doubts := internal.doubts_of_claims(required_claims, issuer) || internal.issuer_nearly_known(issuer);
    IF jwks_uri ~ '/[.]well-known/(openid-configuration|oauth-authorization-server)' THEN
        doubts := doubts || ROW('jwks_uri_is_discovery',
            'This is the address of a discovery document, and jwks_uri that of the keys, which the document names as its own jwks_uri. Where the document is at the issuer, leave it null: the broker looks there.')::internal.doubt;
    END IF;
    RETURN doubts;
END
$$;
COMMENT ON FUNCTION internal.doubts_of_identity_provider(text, text, jsonb, boolean) IS
    'What is hardly meant in an enabled identity provider; null if nothing is.';

CREATE OR REPLACE FUNCTION internal.doubts_of_access_provider(allowed_targets text[], enabled boolean) RETURNS internal.doubt[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(ROW('pattern_is_a_regular_expression',
               format('In the allowed target "%s", "%s" stands for itself. * stands for anything within a segment (no : and no /) and ** for anything; for a choice write several.',
                      target, internal.other_pattern_in(target)))::internal.doubt)
      FROM unnest(allowed_targets) AS target
     WHERE enabled AND internal.other_pattern_in(target) IS NOT NULL;
$$;
COMMENT ON FUNCTION internal.doubts_of_access_provider(text[], boolean) IS
    'What is hardly meant in an enabled access provider; null if nothing is.';

CREATE OR REPLACE FUNCTION internal.advice_on_no_reason() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'Auditors will ask. Write into reason why it was granted, for example a ticket.';
COMMENT ON FUNCTION internal.advice_on_no_reason() IS 'What to do about a grant without reason.';

CREATE OR REPLACE FUNCTION internal.advice_on_longer(granted int, key text, longest int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN format('Its max_duration is %s seconds, and key "%s" gives credentials for %s at most, which counts. Raise the key''s, or leave the grant''s null.',
                  granted, key, longest);
COMMENT ON FUNCTION internal.advice_on_longer(int, text, int) IS 'What to do about a grant whose max_duration is above its key''s.';

-- ---------------------------------------------------------------- where doubts stand

-- Each branch is a walk along an index. OFFSET 0: else all grants with a duration would be held against all keys.
CREATE OR REPLACE VIEW broker.lint WITH (security_invoker = true) AS
SELECT g.tenant, 'subject_grant' AS table_name, g.id::text AS name, d.doubt AS rule, d.advice
  FROM broker.subject_grant AS g
  JOIN broker.identity_provider AS p ON p.tenant = g.tenant AND p.name = g.idp
 CROSS JOIN LATERAL unnest(internal.doubts_of_grant(g.subject, g.match, g.claims, g.valid_until, g.enabled, g.updated_at,
                                                    p.issuer, p.required_claims)) AS d
 WHERE internal.doubts_of_grant(g.subject, g.match, g.claims, g.valid_until, g.enabled, g.updated_at, NULL, NULL) IS NOT NULL
 UNION ALL
SELECT g.tenant, 'subject_grant', g.id::text, 'no_reason', internal.advice_on_no_reason()
  FROM broker.subject_grant AS g
 WHERE g.enabled AND internal.is_without_reason(g.reason)
 UNION ALL
SELECT k.tenant, 'subject_grant', g.id::text, 'longer_than_its_key', internal.advice_on_longer(g.max_duration, k.name, k.max_duration)
  FROM broker.key AS k
 CROSS JOIN LATERAL (SELECT l.id, l.max_duration FROM broker.subject_grant AS l
                      WHERE l.tenant = k.tenant AND l.key = k.name AND l.enabled AND l.max_duration > k.max_duration OFFSET 0) AS g
 UNION ALL
SELECT p.tenant, 'identity_provider', p.name, d.doubt, d.advice
  FROM broker.identity_provider AS p
 CROSS JOIN LATERAL unnest(internal.doubts_of_identity_provider(p.issuer, p.jwks_uri, p.required_claims, p.enabled)) AS d
 UNION ALL
SELECT a.tenant, 'access_provider', a.name, d.doubt, d.advice
  FROM broker.access_provider AS a
 CROSS JOIN LATERAL unnest(internal.doubts_of_access_provider(a.allowed_targets, a.enabled)) AS d
 UNION ALL
SELECT b.tenant, 'blocked_subject', b.id::text, d.doubt, d.advice
  FROM broker.blocked_subject AS b
 CROSS JOIN LATERAL unnest(internal.doubts_of_block(b.subject, b.match, b.until, b.enabled, b.updated_at)) AS d;
COMMENT ON VIEW broker.lint IS
    'What is possible but hardly meant in enabled rows, until it is gone. Ask it WHERE tenant = ….';
COMMENT ON COLUMN broker.lint.tenant IS 'The tenant; null for a block in all tenants.';
COMMENT ON COLUMN broker.lint.table_name IS 'The table in schema broker.';
COMMENT ON COLUMN broker.lint.name IS 'The row: its name, or the id of a grant or a block.';
COMMENT ON COLUMN broker.lint.rule IS 'What is doubted; docs/admin.md lists the rules.';
COMMENT ON COLUMN broker.lint.advice IS 'Why, and what to write instead.';

-- ---------------------------------------------------------------- what is told when it is written

CREATE OR REPLACE FUNCTION internal.tell_doubts(told internal.told_doubt[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    one internal.told_doubt;
    further text;
BEGIN
    -- The first of each word first, so that none hides behind a thousand of another.
    FOR one IN SELECT t.* FROM unnest(told) AS t ORDER BY t.number, t.doubt LIMIT 10 LOOP
        RAISE WARNING '% is doubtful: %.', one.owner, one.doubt USING HINT = one.advice;
    END LOOP;
    SELECT format('%s doubts about this statement: %s', sum(word.in_all), string_agg(format('%s %s', word.in_all, word.doubt), ', ' ORDER BY word.doubt))
      INTO further FROM (SELECT DISTINCT t.doubt, t.in_all FROM unnest(told) AS t) AS word HAVING sum(word.in_all) > 10;
    IF further IS NOT NULL THEN
        RAISE WARNING 'These were 10 of %.', further
            USING HINT = format('All of them: SELECT * FROM broker.lint WHERE tenant %s;', coalesce('= ' || quote_literal(one.tenant), 'IS NULL'));
    END IF;
END
$$;
COMMENT ON FUNCTION internal.tell_doubts(internal.told_doubt[]) IS
    'Warns of doubts, of ten at most, and then says how many there are of which. Wants ten of each word.';

-- Along indexes, whatever the plan was made for: a session keeps it, and its next statement may write 100,000 rows.
CREATE OR REPLACE FUNCTION internal.tell_doubts_of_grants() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
AS $$
BEGIN
    PERFORM internal.tell_doubts(array_agg(
                ROW(n.tenant, format('The grant of key "%s" to "%s"', n.key, n.subject), n.doubt, n.advice, n.number, n.in_all)::internal.told_doubt))
       FROM (SELECT w.tenant, w.key, w.subject, d.doubt, d.advice,
                    row_number() OVER (PARTITION BY d.doubt ORDER BY w.id) AS number, count(*) OVER (PARTITION BY d.doubt) AS in_all
               FROM written AS w
               JOIN broker.identity_provider AS p ON p.name = w.idp
               JOIN broker.key AS k ON k.tenant = w.tenant AND k.name = w.key
              CROSS JOIN LATERAL unnest(
                    internal.doubts_of_grant(w.subject, w.match, w.claims, w.valid_until, w.enabled, w.updated_at, p.issuer, p.required_claims)
                    || CASE WHEN w.enabled AND w.max_duration > k.max_duration
                            THEN ARRAY[ROW('longer_than_its_key', internal.advice_on_longer(w.max_duration, k.name, k.max_duration))::internal.doubt] END
                    || CASE WHEN w.enabled AND internal.is_without_reason(w.reason)
                            THEN ARRAY[ROW('no_reason', internal.advice_on_no_reason())::internal.doubt] END) AS d) AS n
      WHERE n.number <= 10;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.tell_doubts_of_grants() IS 'Trigger: warns of what is hardly meant in the grants that a statement wrote.';

CREATE OR REPLACE FUNCTION internal.doubts_of_row(table_name text, written jsonb) RETURNS internal.doubt[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE table_name
        WHEN 'identity_provider' THEN internal.doubts_of_identity_provider(
            written ->> 'issuer', written ->> 'jwks_uri', written -> 'required_claims', (written ->> 'enabled')::boolean)
        WHEN 'access_provider' THEN internal.doubts_of_access_provider(
            ARRAY(SELECT jsonb_array_elements_text(written -> 'allowed_targets')), (written ->> 'enabled')::boolean)
        WHEN 'blocked_subject' THEN internal.doubts_of_block(
            written ->> 'subject', written ->> 'match', (written ->> 'until')::timestamptz, (written ->> 'enabled')::boolean,
            (written ->> 'updated_at')::timestamptz) END;
END
$$;
COMMENT ON FUNCTION internal.doubts_of_row(text, jsonb) IS 'What is hardly meant in a row of a table that has few; null if nothing is.';

CREATE OR REPLACE FUNCTION internal.tell_doubts_of_rows() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.tell_doubts(array_agg(ROW(n.tenant, n.owner, n.doubt, n.advice, n.number, n.in_all)::internal.told_doubt))
       FROM (SELECT w.content ->> 'tenant' AS tenant, format('%s "%s"', TG_ARGV[0], w.content ->> TG_ARGV[1]) AS owner,
                    d.doubt, d.advice, row_number() OVER (PARTITION BY d.doubt ORDER BY internal.name_in(TG_TABLE_NAME, w.content)) AS number,
                    count(*) OVER (PARTITION BY d.doubt) AS in_all
               FROM (SELECT to_jsonb(r) AS content FROM written AS r) AS w
              CROSS JOIN LATERAL unnest(internal.doubts_of_row(TG_TABLE_NAME, w.content)) AS d) AS n
      WHERE n.number <= 10;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.tell_doubts_of_rows() IS
    'Trigger: warns of what is hardly meant in the rows that a statement wrote. Arguments: what such a row is called, and the column that says which one.';
