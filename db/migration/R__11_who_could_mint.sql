-- Who could mint a key at any moment of the past, from the history of the configuration.

-- ---------------------------------------------------------------- the state at a moment

CREATE OR REPLACE FUNCTION internal.changed_at(tenant text, revision bigint) RETURNS timestamptz
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    IF tenant IS NULL THEN
        RETURN (SELECT c.changed_at FROM audit.config_change AS c WHERE c.tenant IS NULL AND c.revision = changed_at.revision);
    END IF;
    RETURN (SELECT c.changed_at FROM audit.config_change AS c
             WHERE c.tenant = changed_at.tenant AND c.revision = changed_at.revision);
END
$$;
COMMENT ON FUNCTION internal.changed_at(text, bigint) IS
    'The time of a tenant''s revision (null: of the tables without tenant); null if it is not visible to the caller.';

-- Revisions have no gaps, and their times don't fall, so that of a time is found by halves.
CREATE OR REPLACE FUNCTION internal.revision_at(tenant text, at timestamptz) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found bigint := 0;
    beyond bigint := broker.revision(tenant) + 1;
    half bigint;
BEGIN
    WHILE beyond - found > 1 LOOP
        half := (found + beyond) / 2;
        IF internal.changed_at(tenant, half) <= at THEN
            found := half;
        ELSE
            beyond := half;
        END IF;
    END LOOP;
    RETURN found;
END
$$;
COMMENT ON FUNCTION internal.revision_at(text, timestamptz) IS
    'A tenant''s last revision (null: of the tables without tenant) that was recorded by a time; 0 for none.';

-- A change is recorded when it is made and takes effect with its commit. verify reports one whose commit took longer than
-- two minutes. What is seen when it is asked is committed, so nothing is uncertain at the time of asking.
CREATE OR REPLACE FUNCTION internal.sure_by(at timestamptz) RETURNS timestamptz
    LANGUAGE sql STABLE
    RETURN CASE WHEN at >= transaction_timestamp() THEN at ELSE at - interval '2 minutes' END;
COMMENT ON FUNCTION internal.sure_by(timestamptz) IS
    'The time by which a change must be recorded to be certainly committed at the given time.';

CREATE OR REPLACE FUNCTION internal.row_at(tenant text, table_name text, name text, revision bigint) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    RETURN (SELECT CASE WHEN c.after ->> 'name' = row_at.name THEN c.after END
              FROM audit.config_change AS c
             WHERE c.tenant = row_at.tenant AND c.table_name = row_at.table_name AND c.table_name <> 'subject_grant'
               AND c.revision <= row_at.revision AND row_at.name IN (c.before ->> 'name', c.after ->> 'name')
             ORDER BY c.revision DESC LIMIT 1);
END
$$;
COMMENT ON FUNCTION internal.row_at(text, text, text, bigint) IS
    'The row of this name in a tenant''s table at a revision; null if there was none.';

-- ---------------------------------------------------------------- who could

CREATE OR REPLACE FUNCTION internal.blocks_at(tenant text, revision bigint) RETURNS SETOF broker.blocked_subject
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
    RETURN QUERY
    SELECT (jsonb_populate_record(NULL::broker.blocked_subject, b.after)).*
      FROM (SELECT DISTINCT ON (coalesce(c.after, c.before) ->> 'id') c.after
              FROM audit.config_change AS c
             WHERE (c.tenant = blocks_at.tenant OR blocks_at.tenant IS NULL AND c.tenant IS NULL)
               AND c.table_name = 'blocked_subject' AND c.table_name <> 'subject_grant' AND c.revision <= blocks_at.revision
             ORDER BY coalesce(c.after, c.before) ->> 'id', c.revision DESC) AS b
     WHERE (b.after ->> 'enabled')::boolean;
END
$$;
COMMENT ON FUNCTION internal.blocks_at(text, bigint) IS
    'The enabled blocks of a tenant (null: of all tenants) at a revision.';

-- Types belong to no tenant, and everybody may know what they are.
CREATE OR REPLACE FUNCTION internal.types_at(at timestamptz) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    revision_then constant bigint := internal.revision_at(NULL, at);
BEGIN
    RETURN (SELECT jsonb_object_agg(t.after ->> 'type', t.after)
              FROM (SELECT DISTINCT ON (coalesce(c.after, c.before) ->> 'type') c.after
                      FROM audit.config_change AS c
                     WHERE c.tenant IS NULL AND c.table_name = 'provider_type' AND c.table_name <> 'subject_grant'
                       AND c.revision <= revision_then
                     ORDER BY coalesce(c.after, c.before) ->> 'type', c.revision DESC) AS t
             WHERE t.after IS NOT NULL);
END
$$;
COMMENT ON FUNCTION internal.types_at(timestamptz) IS
    'The rows of broker.provider_type as they were recorded by a time, by type.';

CREATE OR REPLACE FUNCTION internal.usable_keys_at(tenant text, key text, revision bigint, types jsonb) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_object_agg(k.name, jsonb_build_object(
               'second_admin', coalesce((k.tenant ->> 'require_second_admin')::boolean, false),
               'provider', k.row_then -> 'provider', 'type', k.provider -> 'type', 'shortest', (k.type ->> 'min_duration')::bigint,
               'longest', internal.longest_life((k.row_then ->> 'max_duration')::bigint, (k.type ->> 'max_duration')::bigint,
                                                (k.tenant ->> 'max_duration')::bigint)))
      FROM (SELECT n.name, r.row_then, p.provider, types -> (p.provider ->> 'type') AS type,
                   internal.row_at(usable_keys_at.tenant, 'tenant', usable_keys_at.tenant, revision) AS tenant
              FROM (SELECT usable_keys_at.key WHERE usable_keys_at.key IS NOT NULL
                     UNION
                    SELECT c.after ->> 'name' FROM audit.config_change AS c
                     WHERE usable_keys_at.key IS NULL AND c.tenant = usable_keys_at.tenant AND c.table_name = 'key'
                       AND c.table_name <> 'subject_grant' AND c.revision <= usable_keys_at.revision) AS n (name)
             CROSS JOIN LATERAL internal.row_at(usable_keys_at.tenant, 'key', n.name, revision) AS r (row_then)
             CROSS JOIN LATERAL internal.row_at(usable_keys_at.tenant, 'access_provider', r.row_then ->> 'provider', revision)
                                AS p (provider)) AS k
     WHERE k.type IS NOT NULL
       AND internal.switched_off((k.tenant ->> 'enabled')::boolean, true, (k.provider ->> 'enabled')::boolean,
                                 (k.row_then ->> 'enabled')::boolean) IS NULL
       AND (NOT coalesce((k.tenant ->> 'require_second_admin')::boolean, false) OR k.row_then ->> 'approved_at' IS NOT NULL)
$$;
COMMENT ON FUNCTION internal.usable_keys_at(text, text, bigint, jsonb) IS
    'A key of a tenant (null: all its keys) at a revision, if the key, its access provider and the tenant were enabled, and the key was approved if that was required: by name its provider and type, whether grants need approval, and the minimum and maximum lifetime of its credentials; null if there was none. types: internal.types_at.';

-- Yes or no for each grant, and nothing else of what belongs to no tenant (see internal.is_blocked_in_all_tenants).
CREATE OR REPLACE FUNCTION internal.blocked_in_all_tenants_at(recorded_by timestamptz, at timestamptz, matches text[], subjects text[])
    RETURNS TABLE (place bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET plan_cache_mode = force_custom_plan
    -- whatever the planner takes the numbers of rows for
    SET enable_nestloop = off
    SET jit = off
AS $$
DECLARE
    revision_then constant bigint := internal.revision_at(NULL, recorded_by);
BEGIN
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT a.place, a.match, a.subject FROM unnest(matches, subjects) WITH ORDINALITY AS a (match, subject, place)
    ), block AS MATERIALIZED (
        SELECT b AS row_then, b.match, b.subject FROM internal.blocks_at(NULL, revision_then) AS b
    ), glob AS MATERIALIZED (
        SELECT b.row_then FROM block AS b WHERE b.match = 'glob'
    )
    SELECT a.place FROM asked AS a JOIN block AS b ON b.subject = a.subject
     WHERE b.match = 'exact' AND internal.covers(b.row_then, NULL, a.match, a.subject, internal.not_to_come(at), NULL)
     UNION
    SELECT a.place FROM asked AS a JOIN glob AS b ON internal.covers(b.row_then, NULL, a.match, a.subject, internal.not_to_come(at), NULL);
END
$$;
COMMENT ON FUNCTION internal.blocked_in_all_tenants_at(timestamptz, timestamptz, text[], text[]) IS
    'Which of the given grants (match and subject of each, or of its actor), by their position, were blocked in all tenants at one time, according to the changes recorded by another time.';

CREATE OR REPLACE FUNCTION internal.mintable_at(tenant text, key text, revision bigint, recorded_by timestamptz, at timestamptz)
    RETURNS TABLE (row_then jsonb, max_duration bigint, provider text, type text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET plan_cache_mode = force_custom_plan
    -- whatever the planner takes the numbers of rows for
    SET enable_nestloop = off
    SET jit = off
AS $$
DECLARE
    keys constant jsonb := internal.usable_keys_at(tenant, key, revision, internal.types_at(recorded_by));
    candidates text[];
BEGIN
    IF keys IS NULL THEN
        RETURN;
    END IF;
    IF key IS NOT NULL THEN
        candidates := ARRAY(SELECT DISTINCT c.after ->> 'id' FROM audit.config_change AS c
                             WHERE c.tenant = mintable_at.tenant AND c.table_name = 'subject_grant'
                               AND c.after ->> 'key' = mintable_at.key AND c.revision <= mintable_at.revision);
    END IF;
    RETURN QUERY
    WITH latest AS (
        SELECT DISTINCT ON (coalesce(c.after, c.before) ->> 'id') c.after
          FROM audit.config_change AS c
         WHERE c.tenant = mintable_at.tenant AND c.table_name = 'subject_grant'
           AND (mintable_at.key IS NULL OR coalesce(c.after, c.before) ->> 'id' = ANY (candidates))
           AND c.revision <= mintable_at.revision
         ORDER BY coalesce(c.after, c.before) ->> 'id', c.revision DESC
    ), tried AS MATERIALIZED (
        SELECT g.after, g.after ->> 'idp' AS idp, g.after ->> 'subject' AS subject, g.after ->> 'match' AS match,
               g.after ->> 'actor_idp' AS actor_idp, g.after ->> 'actor' AS actor, g.after ->> 'actor_match' AS actor_match,
               internal.try_grant(jsonb_populate_record(NULL::broker.subject_grant, g.after),
                                  (keys -> (g.after ->> 'key') ->> 'second_admin')::boolean,
                                  (keys -> (g.after ->> 'key') ->> 'longest')::bigint,
                                  (keys -> (g.after ->> 'key') ->> 'shortest')::bigint, NULL, NULL, NULL, NULL, at, NULL) AS outcome
          FROM latest AS g
         WHERE keys ? (g.after ->> 'key') AND (g.after ->> 'enabled')::boolean
    ), idp AS (
        -- OFFSET: looked up for each of them, not for each grant
        SELECT i.name, jsonb_populate_record(NULL::broker.identity_provider,
                           internal.row_at(mintable_at.tenant, 'identity_provider', i.name, mintable_at.revision)) AS row_then
          FROM (SELECT g.idp FROM tried AS g UNION SELECT g.actor_idp FROM tried AS g WHERE g.actor_idp IS NOT NULL OFFSET 0) AS i (name)
    ), block AS MATERIALIZED (
        SELECT b AS row_then, b.match, b.subject FROM internal.blocks_at(mintable_at.tenant, mintable_at.revision) AS b
    ), glob AS MATERIALIZED (
        SELECT b.row_then FROM block AS b WHERE b.match = 'glob'
    ), granted AS MATERIALIZED (
        SELECT row_number() OVER () AS place, g.*
          FROM tried AS g
          JOIN idp AS i ON i.name = g.idp
          LEFT JOIN idp AS ai ON ai.name = g.actor_idp
         WHERE (g.outcome).condition IS NULL
           AND (i.row_then).enabled
           AND internal.may_be_parties((i.row_then).accepts, g.actor IS NOT NULL, ai.name = i.name, (ai.row_then).enabled,
                                       (ai.row_then).accepts)
           AND (g.actor IS NULL
                OR NOT EXISTS (SELECT FROM block AS b WHERE internal.covers(b.row_then, g.actor_idp, g.actor_match, g.actor, at, NULL)))
           AND NOT EXISTS (SELECT FROM block AS b
                            WHERE b.match = 'exact' AND b.subject = g.subject
                              AND internal.covers(b.row_then, g.idp, g.match, g.subject, at, NULL))
           AND NOT EXISTS (SELECT FROM glob AS b WHERE internal.covers(b.row_then, g.idp, g.match, g.subject, at, NULL))
    ), asked AS (
        SELECT array_agg(p.match ORDER BY p.number) AS matches, array_agg(p.name ORDER BY p.number) AS subjects,
               array_agg(p.place ORDER BY p.number) AS places
          FROM (SELECT row_number() OVER () AS number, g.place, party.*
                  FROM granted AS g
                 CROSS JOIN LATERAL (VALUES (g.match, g.subject), (g.actor_match, g.actor)) AS party (match, name)
                 WHERE party.name IS NOT NULL) AS p
    ), blocked AS MATERIALIZED (
        SELECT asked.places[b.place] AS place FROM asked
         CROSS JOIN LATERAL internal.blocked_in_all_tenants_at(recorded_by, at, asked.matches, asked.subjects) AS b
    )
    SELECT g.after, (g.outcome).duration, keys -> (g.after ->> 'key') ->> 'provider', keys -> (g.after ->> 'key') ->> 'type'
      FROM granted AS g
     WHERE NOT EXISTS (SELECT FROM blocked AS b WHERE b.place = g.place);
END
$$;
COMMENT ON FUNCTION internal.mintable_at(text, text, bigint, timestamptz, timestamptz) IS
    'The grants of a key (null: of all keys) that allowed a mint at a time, according to a revision of the tenant and the changes of the tables without tenant recorded by another time; with the maximum lifetime of a credential, and the provider and type of the key.';

-- ---------------------------------------------------------------- what is uncertain

CREATE OR REPLACE FUNCTION internal.deciding(table_name text, content jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE table_name
        WHEN 'tenant' THEN jsonb_build_array(content -> 'enabled', content -> 'max_duration', content -> 'require_second_admin')
        WHEN 'identity_provider' THEN jsonb_build_array(content -> 'enabled', content -> 'accepts')
        WHEN 'access_provider' THEN jsonb_build_array(content -> 'enabled', content -> 'type')
        WHEN 'key' THEN jsonb_build_array(content -> 'enabled', content -> 'provider', content -> 'max_duration', content -> 'approved_at')
        WHEN 'provider_type' THEN jsonb_build_array(content -> 'min_duration', content -> 'max_duration')
        ELSE content END;
COMMENT ON FUNCTION internal.deciding(text, jsonb) IS 'The values in a row of the configuration that decide on mints.';

CREATE OR REPLACE FUNCTION internal.decided_between(tenant text, since timestamptz, at timestamptz) RETURNS TABLE (table_name text, row_then jsonb)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    first constant bigint := internal.revision_at(tenant, since) + 1;
    last constant bigint := internal.revision_at(tenant, at);
BEGIN
    RETURN QUERY
    SELECT c.table_name, side.row_then
      FROM audit.config_change AS c CROSS JOIN LATERAL (VALUES (c.before), (c.after)) AS side (row_then)
     WHERE (c.tenant = decided_between.tenant OR decided_between.tenant IS NULL AND c.tenant IS NULL)
       AND c.revision BETWEEN first AND last AND side.row_then IS NOT NULL
       AND internal.deciding(c.table_name, c.before) IS DISTINCT FROM internal.deciding(c.table_name, c.after);
END
$$;
COMMENT ON FUNCTION internal.decided_between(text, timestamptz, timestamptz) IS
    'The rows before and after each change that decides on mints, of a tenant (null: of the tables without tenant), recorded after one time and by another.';

-- Yes or no for each grant, and nothing else of what belongs to no tenant.
CREATE OR REPLACE FUNCTION internal.decided_in_all_tenants(since timestamptz, at timestamptz, types text[], matches text[], subjects text[])
    RETURNS TABLE (place bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET jit = off
AS $$
BEGIN
    RETURN QUERY
    WITH decided AS MATERIALIZED (
        SELECT d.table_name, d.row_then ->> 'type' AS type,
               CASE d.table_name WHEN 'blocked_subject' THEN jsonb_populate_record(NULL::broker.blocked_subject, d.row_then) END AS block
          FROM internal.decided_between(NULL, since, at) AS d
         WHERE d.table_name IN ('blocked_subject', 'provider_type')
    )
    SELECT a.place FROM unnest(types, matches, subjects) WITH ORDINALITY AS a (type, match, subject, place)
     WHERE EXISTS (SELECT FROM decided AS d
                    WHERE CASE d.table_name WHEN 'provider_type' THEN d.type = a.type
                               ELSE internal.covers(d.block, NULL, a.match, a.subject, internal.not_to_come(at), NULL) END);
END
$$;
COMMENT ON FUNCTION internal.decided_in_all_tenants(timestamptz, timestamptz, text[], text[], text[]) IS
    'Which of the given grants (type of the key, match and subject of the grant or of its actor), by their position, are affected by a change of the tables without tenant, recorded after one time and by another.';

CREATE OR REPLACE FUNCTION internal.who_could_mint_any(tenant text, only_key text, at timestamptz)
    RETURNS TABLE (key text, subject text, match text, idp text, claims jsonb, actor_idp text, actor text,
                   actor_match text, actor_claims jsonb, networks cidr[], grant_id bigint, max_duration bigint,
                   valid_from timestamptz, valid_until timestamptz, granted_by text, granted_at timestamptz,
                   reason text, uncertain boolean, access_request uuid, approved_by text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_nestloop = off
    SET jit = off
AS $$
DECLARE
    sure_by constant timestamptz := internal.sure_by(at);
BEGIN
    RETURN QUERY
    WITH shown AS MATERIALIZED (
        SELECT row_number() OVER () AS place, g.max_duration, g.row_then, g.provider, g.type,
               jsonb_populate_record(NULL::broker.subject_grant, g.row_then) AS given
          FROM internal.mintable_at(who_could_mint_any.tenant, only_key, internal.revision_at(tenant, at), at, at) AS g
    ), decided AS MATERIALIZED (
        SELECT d.table_name, d.row_then, coalesce(d.row_then ->> 'id', d.row_then ->> 'name') AS name,
               CASE d.table_name WHEN 'blocked_subject' THEN jsonb_populate_record(NULL::broker.blocked_subject, d.row_then) END AS block
          FROM internal.decided_between(who_could_mint_any.tenant, sure_by, at) AS d
    ), party AS (
        SELECT s.place, s.type, p.match, p.name, row_number() OVER () AS number
          FROM shown AS s
         CROSS JOIN LATERAL (VALUES ((s.given).match, (s.given).subject), ((s.given).actor_match, (s.given).actor)) AS p (match, name)
         WHERE sure_by < at AND p.name IS NOT NULL
    ), asked AS (
        SELECT array_agg(p.type ORDER BY p.number) AS types, array_agg(p.match ORDER BY p.number) AS matches,
               array_agg(p.name ORDER BY p.number) AS subjects, array_agg(p.place ORDER BY p.number) AS places
          FROM party AS p
    ), unsure AS MATERIALIZED (
        SELECT asked.places[d.place] AS place
          FROM asked CROSS JOIN LATERAL internal.decided_in_all_tenants(sure_by, at, asked.types, asked.matches, asked.subjects) AS d
         UNION
        SELECT s.place FROM shown AS s JOIN decided AS d ON CASE d.table_name
            WHEN 'subject_grant' THEN d.name = (s.given).id::text
            WHEN 'key' THEN d.name = (s.given).key
            WHEN 'access_provider' THEN d.name = s.provider
            WHEN 'identity_provider' THEN d.name IN ((s.given).idp, (s.given).actor_idp)
            WHEN 'tenant' THEN true
            WHEN 'blocked_subject' THEN
                internal.covers(d.block, (s.given).idp, (s.given).match, (s.given).subject, at, NULL)
                OR (s.given).actor IS NOT NULL
                   AND internal.covers(d.block, (s.given).actor_idp, (s.given).actor_match, (s.given).actor, at, NULL) END
    )
    SELECT (s.given).key, (s.given).subject, (s.given).match, (s.given).idp, (s.given).claims, (s.given).actor_idp, (s.given).actor,
           (s.given).actor_match, (s.given).actor_claims, (s.given).networks, (s.given).id, s.max_duration, (s.given).valid_from, (s.given).valid_until,
           (s.given).created_by, (s.given).created_at, (s.given).reason, u.place IS NOT NULL,
           (s.given).request_id, (s.given).approved_by
      FROM shown AS s
      LEFT JOIN unsure AS u ON u.place = s.place
     ORDER BY (s.given).key, (s.given).subject, (s.given).id;
END
$$;
COMMENT ON FUNCTION internal.who_could_mint_any(text, text, timestamptz) IS
    'The rows of audit.who_could_mint for a key (null: for each key of the tenant); no rows instead of its errors.';

CREATE OR REPLACE FUNCTION internal.who_could(tenant text, key text, at timestamptz)
    RETURNS TABLE (subject text, match text, idp text, claims jsonb, actor_idp text, actor text,
                   actor_match text, actor_claims jsonb, networks cidr[], grant_id bigint, max_duration bigint,
                   valid_from timestamptz, valid_until timestamptz, granted_by text, granted_at timestamptz,
                   reason text, uncertain boolean, access_request uuid, approved_by text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT w.subject, w.match, w.idp, w.claims, w.actor_idp, w.actor, w.actor_match, w.actor_claims, w.networks, w.grant_id, w.max_duration, w.valid_from, w.valid_until,
           w.granted_by, w.granted_at, w.reason, w.uncertain, w.access_request, w.approved_by
      FROM internal.who_could_mint_any(who_could.tenant, who_could.key, at) AS w
     WHERE who_could.key IS NOT NULL
$$;
COMMENT ON FUNCTION internal.who_could(text, text, timestamptz) IS
    'The rows of audit.who_could_mint; no rows instead of its errors.';

CREATE OR REPLACE FUNCTION internal.require_what_there_was(tenant text, key text, at timestamptz) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    lacking constant text := CASE WHEN tenant IS NULL THEN 'tenant' WHEN key IS NULL THEN 'key'
                                  WHEN at IS NULL OR NOT isfinite(at) THEN 'time' END;
    keys text[];
BEGIN
    IF lacking IS NOT NULL THEN
        PERFORM internal.refuse(format('audit.who_could_mint needs a %s.', lacking),
            'For example audit.who_could_mint(''acme'', ''deploy'', ''2026-03-01 12:00Z'').', 'invalid_parameter_value');
    ELSIF NOT EXISTS (SELECT FROM audit.config_change AS c WHERE c.tenant = require_what_there_was.tenant) THEN
        PERFORM internal.refuse(format('The history that you may see has no tenant "%s".', tenant),
            internal.there_are(tenant, ARRAY(SELECT t.name FROM broker.tenant AS t), 'There are'), 'no_data_found');
    END IF;
    keys := ARRAY(SELECT DISTINCT n.name FROM audit.config_change AS c
                   CROSS JOIN LATERAL (VALUES (c.before ->> 'name'), (c.after ->> 'name')) AS n (name)
                   WHERE c.tenant = require_what_there_was.tenant AND c.table_name = 'key' AND c.table_name <> 'subject_grant'
                     AND n.name IS NOT NULL);
    IF key <> ALL (keys) THEN
        PERFORM internal.refuse(format('Tenant "%s" never had a key "%s".', tenant, key),
                                internal.there_are(key, keys, 'It once had'), 'no_data_found');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.require_what_there_was(text, text, timestamptz) IS
    'Rejects a tenant or key that the history visible to the login never had, and a null time.';

-- An empty result would look like "nobody was granted it". A time in the future may be a mistyped year.
CREATE OR REPLACE FUNCTION internal.tell_what_there_was_not(tenant text, key text, at timestamptz) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    went timestamptz;
    came timestamptz;
BEGIN
    IF internal.row_at(tenant, 'key', key, internal.revision_at(tenant, at)) IS NULL THEN
        SELECT max(c.changed_at) FILTER (WHERE c.changed_at <= at), min(c.changed_at) INTO went, came
          FROM audit.config_change AS c
         WHERE c.tenant = tell_what_there_was_not.tenant AND c.table_name = 'key' AND c.table_name <> 'subject_grant'
           AND key IN (c.before ->> 'name', c.after ->> 'name');
        RAISE NOTICE 'Tenant "%" had no key "%" at %.', tenant, key, at
            USING HINT = coalesce('It had been deleted or renamed at ' || went, 'It was created at ' || came) || '.';
    ELSIF at > clock_timestamp() THEN
        RAISE NOTICE '% is in the future: the result assumes no further changes.', at;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.tell_what_there_was_not(text, text, timestamptz) IS
    'Raises a notice if a key did not exist at a time, or if the time is in the future.';

CREATE OR REPLACE FUNCTION audit.who_could_mint(tenant text, key text, at timestamptz)
    RETURNS TABLE (subject text, match text, idp text, claims jsonb, actor_idp text, actor text,
                   actor_match text, actor_claims jsonb, networks cidr[], grant_id bigint, max_duration bigint,
                   valid_from timestamptz, valid_until timestamptz, granted_by text, granted_at timestamptz,
                   reason text, uncertain boolean, access_request uuid, approved_by text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.require_what_there_was(tenant, key, at);
    PERFORM internal.tell_what_there_was_not(tenant, key, at);
    RETURN QUERY
    SELECT w.* FROM internal.who_could(who_could_mint.tenant, who_could_mint.key, at) AS w;
END
$$;
COMMENT ON FUNCTION audit.who_could_mint(text, text, timestamptz) IS
    'Who could mint a key of a tenant at a past time, from the history: grants that were active, enabled with all that they depend on, not blocked, and not shorter than the type''s minimum duration. uncertain: a change behind this row was recorded within two minutes before that time, so it may have been committed after it. An unknown tenant or key is an error.';
