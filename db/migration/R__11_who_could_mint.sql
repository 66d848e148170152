-- Who could mint a key at any moment of the past, from the history of the configuration.

-- ---------------------------------------------------------------- which transactions had ended

-- PostgreSQL leaves the transaction that asks out of its own snapshot, as if it had ended.
CREATE OR REPLACE FUNCTION internal.snapshot_with(snapshot pg_snapshot, running xid8) RETURNS pg_snapshot
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN running >= pg_snapshot_xmax(snapshot) THEN snapshot
           ELSE format('%s:%s:%s', least(pg_snapshot_xmin(snapshot), running), pg_snapshot_xmax(snapshot),
                       (SELECT string_agg(r.xid::text, ',' ORDER BY r.xid)
                          FROM (SELECT pg_snapshot_xip(snapshot) UNION SELECT running) AS r(xid)))::pg_snapshot
           END
$$;
COMMENT ON FUNCTION internal.snapshot_with(pg_snapshot, xid8) IS 'A snapshot with one more open transaction.';

-- One note is enough that found every change ended: later ones tell nothing more until something is changed again. So
-- there are about as many notes as transactions that changed something, however many checkpoints there are.
CREATE OR REPLACE FUNCTION internal.all_changes_are_noted() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
DECLARE
    noted constant pg_snapshot := (SELECT s.snapshot FROM runtime.noted_snapshot AS s ORDER BY s.noted_at DESC LIMIT 1);
BEGIN
    -- Greater numbers than there were yet are from a server that this database was dumped on.
    RETURN noted IS NOT NULL AND NOT EXISTS (
        SELECT FROM audit.config_change AS c
         WHERE c.transaction_id >= pg_snapshot_xmin(noted)::text::bigint
           AND c.transaction_id < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
           AND NOT pg_visible_in_snapshot(c.transaction_id::text::xid8, noted));
END
$$;
COMMENT ON FUNCTION internal.all_changes_are_noted() IS
    'Whether the last note had no open transaction among the visible changes.';

CREATE OR REPLACE FUNCTION internal.note_snapshot() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_TABLE_NAME = 'checkpoint' AND internal.all_changes_are_noted() THEN
        RETURN NULL;
    END IF;
    -- once for a transaction; who sets this by hand has fewer notes
    IF current_setting('mintmark.noted_in', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        INSERT INTO runtime.noted_snapshot (noted_at, snapshot)
        SELECT clock_timestamp(), internal.snapshot_with(pg_current_snapshot(), pg_current_xact_id());
        PERFORM set_config('mintmark.noted_in', pg_current_xact_id()::text, true);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.note_snapshot() IS
    'Trigger: records which transactions have ended, once per transaction; at a checkpoint only if a change''s transaction has ended since.';

CREATE OR REPLACE FUNCTION internal.had_ended(transaction_id bigint, since timestamptz, at timestamptz) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
BEGIN
    -- Whatever ended is found ended by every later note of the same server, so the last ones tell; ten, since some note an
    -- old snapshot. A database that was loaded from a dump counts its transactions anew: notes since then tell nothing of
    -- transactions with greater numbers from before, and the first hundred notes after those do.
    RETURN EXISTS (
        SELECT FROM (
               (SELECT s.snapshot FROM runtime.noted_snapshot AS s
                 WHERE s.noted_at > since AND s.noted_at <= at ORDER BY s.noted_at DESC LIMIT 10)
                UNION ALL
               (SELECT s.snapshot FROM runtime.noted_snapshot AS s
                 WHERE s.noted_at > since AND s.noted_at <= at ORDER BY s.noted_at LIMIT 100)) AS n
         WHERE pg_visible_in_snapshot(had_ended.transaction_id::text::xid8, n.snapshot));
END
$$;
COMMENT ON FUNCTION internal.had_ended(bigint, timestamptz, timestamptz) IS
    'Whether the transaction of a change was known to have ended by a later time.';

-- ---------------------------------------------------------------- the state at a moment

CREATE OR REPLACE FUNCTION internal.change_of(tenant text, revision bigint, OUT changed_at timestamptz, OUT transaction_id bigint)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
BEGIN
    IF tenant IS NULL THEN
        SELECT c.changed_at, c.transaction_id INTO change_of.changed_at, change_of.transaction_id
          FROM audit.config_change AS c WHERE c.tenant IS NULL AND c.revision = change_of.revision;
    ELSE
        SELECT c.changed_at, c.transaction_id INTO change_of.changed_at, change_of.transaction_id
          FROM audit.config_change AS c WHERE c.tenant = change_of.tenant AND c.revision = change_of.revision;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.change_of(text, bigint) IS
    'The time and transaction of a tenant''s revision (null: of the tables without tenant); nulls if it is not visible to the caller.';

-- Revisions have no gaps, their times don't fall, and the changes of a transaction to one tenant are neighbours, since it
-- holds the tenant's lock until its commit. So both are found by halves.
CREATE OR REPLACE FUNCTION internal.states_at(tenant text, at timestamptz, OUT shown bigint, OUT sure bigint)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    beyond bigint := broker.revision(tenant) + 1;
    half bigint;
    last record;
BEGIN
    shown := 0;
    WHILE beyond - shown > 1 LOOP
        half := (shown + beyond) / 2;
        IF (internal.change_of(tenant, half)).changed_at <= at THEN
            shown := half;
        ELSE
            beyond := half;
        END IF;
    END LOOP;
    SELECT c.* INTO last FROM internal.change_of(tenant, shown) AS c;
    -- What is seen when it is asked is committed; that is the answer for now, as the asking transaction counts it. What
    -- came before the last transaction was committed before that one could begin to change anything. Whether that one
    -- was, notes may tell.
    IF shown = 0 OR at >= transaction_timestamp() OR internal.had_ended(last.transaction_id, last.changed_at, at) THEN
        sure := shown;
        RETURN;
    END IF;
    sure := 0;
    beyond := shown;
    WHILE beyond - sure > 1 LOOP
        half := (sure + beyond) / 2;
        IF (internal.change_of(tenant, half)).transaction_id <> last.transaction_id THEN
            sure := half;
        ELSE
            beyond := half;
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.states_at(text, timestamptz) IS
    'A tenant''s last revision (null: of the tables without tenant) that was made by a time, and the last that was certainly committed by then; 0 for none.';

CREATE OR REPLACE FUNCTION internal.row_at(tenant text, table_name text, name text, revision bigint) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
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

CREATE OR REPLACE FUNCTION internal.blocks_at(tenant text, revision bigint, at timestamptz) RETURNS TABLE (idp text, subject text, match text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
    RETURN QUERY
    SELECT b.after ->> 'idp', b.after ->> 'subject', b.after ->> 'match'
      FROM (SELECT DISTINCT ON (coalesce(c.after, c.before) ->> 'id') c.after
              FROM audit.config_change AS c
             WHERE (c.tenant = blocks_at.tenant OR blocks_at.tenant IS NULL AND c.tenant IS NULL)
               AND c.table_name = 'blocked_subject' AND c.table_name <> 'subject_grant' AND c.revision <= blocks_at.revision
             ORDER BY coalesce(c.after, c.before) ->> 'id', c.revision DESC) AS b
     WHERE (b.after ->> 'enabled')::boolean
       AND (b.after ->> 'until' IS NULL OR (b.after ->> 'until')::timestamptz > at);
END
$$;
COMMENT ON FUNCTION internal.blocks_at(text, bigint, timestamptz) IS
    'The blocks of a tenant (null: of all tenants) at a revision that were active at a time.';

CREATE OR REPLACE FUNCTION internal.usable_keys_at(tenant text, key text, revision bigint) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_object_agg(k.name, jsonb_build_object('type', k.provider ->> 'type', 'max_duration', k.row_then -> 'max_duration'))
      FROM (SELECT n.name, r.row_then,
                   internal.row_at(usable_keys_at.tenant, 'access_provider', r.row_then ->> 'provider', revision) AS provider
              FROM (SELECT usable_keys_at.key WHERE usable_keys_at.key IS NOT NULL
                     UNION
                    SELECT c.after ->> 'name' FROM audit.config_change AS c
                     WHERE usable_keys_at.key IS NULL AND c.tenant = usable_keys_at.tenant AND c.table_name = 'key'
                       AND c.table_name <> 'subject_grant' AND c.revision <= usable_keys_at.revision) AS n (name)
             CROSS JOIN LATERAL internal.row_at(usable_keys_at.tenant, 'key', n.name, revision) AS r (row_then)
             WHERE (r.row_then ->> 'enabled')::boolean) AS k
     WHERE (k.provider ->> 'enabled')::boolean
       AND (internal.row_at(usable_keys_at.tenant, 'tenant', usable_keys_at.tenant, revision) ->> 'enabled')::boolean
$$;
COMMENT ON FUNCTION internal.usable_keys_at(text, text, bigint) IS
    'A key of a tenant (null: all its keys) at a revision, if the key, its access provider and the tenant were enabled: name to type and maximum duration; null if none was.';

CREATE OR REPLACE FUNCTION internal.grants_at(tenant text, key text, revision bigint, at timestamptz)
    RETURNS TABLE (row_then jsonb, type text, max_duration bigint)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET plan_cache_mode = force_custom_plan
    -- whatever the planner takes the numbers of rows for
    SET enable_nestloop = off
    SET jit = off
AS $$
DECLARE
    keys constant jsonb := internal.usable_keys_at(tenant, key, revision);
    longest constant bigint := (internal.row_at(tenant, 'tenant', tenant, revision) ->> 'max_duration')::bigint;
    candidates text[];
BEGIN
    IF keys IS NULL THEN
        RETURN;
    END IF;
    IF key IS NOT NULL THEN
        candidates := ARRAY(SELECT DISTINCT c.after ->> 'id' FROM audit.config_change AS c
                             WHERE c.tenant = grants_at.tenant AND c.table_name = 'subject_grant'
                               AND c.after ->> 'key' = grants_at.key AND c.revision <= grants_at.revision);
    END IF;
    RETURN QUERY
    WITH latest AS (
        SELECT DISTINCT ON (coalesce(c.after, c.before) ->> 'id') c.after
          FROM audit.config_change AS c
         WHERE c.tenant = grants_at.tenant AND c.table_name = 'subject_grant'
           AND (grants_at.key IS NULL OR coalesce(c.after, c.before) ->> 'id' = ANY (candidates))
           AND c.revision <= grants_at.revision
         ORDER BY coalesce(c.after, c.before) ->> 'id', c.revision DESC
    ), granted AS (
        SELECT g.after, g.after ->> 'idp' AS idp, g.after ->> 'subject' AS subject, g.after ->> 'match' AS match,
               keys -> (g.after ->> 'key') AS key_then
          FROM latest AS g
         WHERE keys ? (g.after ->> 'key') AND (g.after ->> 'enabled')::boolean
           AND (g.after ->> 'valid_from' IS NULL OR (g.after ->> 'valid_from')::timestamptz <= at)
           AND (g.after ->> 'valid_until' IS NULL OR (g.after ->> 'valid_until')::timestamptz > at)
    ), idp AS (
        -- OFFSET: looked up for each of them, not for each grant
        SELECT i.name FROM (SELECT DISTINCT g.idp FROM granted AS g OFFSET 0) AS i (name)
         WHERE (internal.row_at(grants_at.tenant, 'identity_provider', i.name, grants_at.revision) ->> 'enabled')::boolean
    ), block AS MATERIALIZED (
        SELECT b.idp, b.subject, b.match FROM internal.blocks_at(grants_at.tenant, grants_at.revision, at) AS b
    ), glob AS MATERIALIZED (
        SELECT b.idp, b.subject FROM block AS b WHERE b.match = 'glob'
    )
    SELECT g.after, g.key_then ->> 'type',
           least((g.key_then ->> 'max_duration')::bigint, longest, (g.after ->> 'max_duration')::bigint,
                 floor(extract(epoch FROM (g.after ->> 'valid_until')::timestamptz - at))::bigint)
      FROM granted AS g
     WHERE g.idp IN (SELECT i.name FROM idp AS i)
       AND NOT EXISTS (SELECT FROM block AS b
                        WHERE b.match = 'exact' AND b.subject = g.subject AND (b.idp IS NULL OR b.idp = g.idp)
                          AND (g.match = 'exact' OR strpos(g.subject, '*') = 0))
       AND NOT EXISTS (SELECT FROM glob AS b
                        WHERE (b.idp IS NULL OR b.idp = g.idp)
                          AND internal.glob_covers(b.subject, g.match, g.subject));
END
$$;
COMMENT ON FUNCTION internal.grants_at(text, text, bigint, timestamptz) IS
    'The grants of a key (null: of all keys) at a revision of the tenant that were active at a time, enabled with all that they depend on, and not blocked in the tenant; with the type and maximum duration of the credential.';

-- Yes or no for each grant, and nothing else of what belongs to no tenant (see internal.is_blocked_in_all_tenants).
CREATE OR REPLACE FUNCTION internal.allowed_in_all_tenants_at(at timestamptz, types text[], durations bigint[], matches text[], subjects text[])
    RETURNS TABLE (place bigint, shown boolean, sure boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET plan_cache_mode = force_custom_plan
    -- whatever the planner takes the numbers of rows for
    SET enable_nestloop = off
    SET jit = off
AS $$
DECLARE
    states record;
BEGIN
    SELECT s.* INTO states FROM internal.states_at(NULL, at) AS s;
    RETURN QUERY
    WITH state AS MATERIALIZED (
        SELECT DISTINCT r.revision FROM (VALUES (states.shown), (states.sure)) AS r (revision)
    ), asked AS MATERIALIZED (
        SELECT a.place, a.type, a.duration, a.match, a.subject
          FROM unnest(types, durations, matches, subjects) WITH ORDINALITY AS a (type, duration, match, subject, place)
    ), shortest AS MATERIALIZED (
        SELECT s.revision, t.type,
               (SELECT CASE WHEN c.after ->> 'type' = t.type THEN (c.after ->> 'min_duration')::bigint END
                  FROM audit.config_change AS c
                 WHERE c.tenant IS NULL AND c.table_name = 'provider_type' AND c.table_name <> 'subject_grant'
                   AND c.revision <= s.revision AND t.type IN (c.before ->> 'type', c.after ->> 'type')
                 ORDER BY c.revision DESC LIMIT 1) AS duration
          FROM state AS s CROSS JOIN (SELECT DISTINCT a.type FROM asked AS a) AS t
    ), block AS MATERIALIZED (
        SELECT s.revision, b.subject, b.match
          FROM state AS s CROSS JOIN LATERAL internal.blocks_at(NULL, s.revision, internal.not_to_come(at)) AS b
    ), glob AS MATERIALIZED (
        SELECT b.revision, b.subject FROM block AS b WHERE b.match = 'glob'
    ), blocked AS (
        SELECT a.place, b.revision FROM asked AS a JOIN block AS b ON b.subject = a.subject
         WHERE b.match = 'exact' AND (a.match = 'exact' OR strpos(a.subject, '*') = 0)
         UNION
        SELECT a.place, b.revision FROM asked AS a JOIN glob AS b ON internal.glob_covers(b.subject, a.match, a.subject)
    )
    SELECT a.place,
           bool_and(a.duration >= s.duration AND b.place IS NULL) FILTER (WHERE s.revision = states.shown),
           bool_and(a.duration >= s.duration AND b.place IS NULL) FILTER (WHERE s.revision = states.sure)
      FROM asked AS a
      JOIN shortest AS s ON s.type = a.type
      LEFT JOIN blocked AS b ON b.place = a.place AND b.revision = s.revision
     GROUP BY a.place;
END
$$;
COMMENT ON FUNCTION internal.allowed_in_all_tenants_at(timestamptz, text[], bigint[], text[], text[]) IS
    'For each grant: whether at a time its duration reached the type''s minimum and no block in all tenants covered it, by the changes made by then, and by those certainly committed by then.';

CREATE OR REPLACE FUNCTION internal.who_could_mint_any(tenant text, only_key text, at timestamptz)
    RETURNS TABLE (key text, subject text, match text, idp text, claims jsonb, grant_id bigint, max_duration bigint,
                   valid_from timestamptz, valid_until timestamptz, granted_by text, granted_at timestamptz,
                   reason text, uncertain boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_nestloop = off
    SET jit = off
AS $$
DECLARE
    states record;
BEGIN
    SELECT s.* INTO states FROM internal.states_at(tenant, at) AS s;
    RETURN QUERY
    WITH shown AS MATERIALIZED (
        SELECT row_number() OVER () AS place, g.row_then, g.type, g.max_duration
          FROM internal.grants_at(who_could_mint_any.tenant, only_key, states.shown, at) AS g
    ), sure AS MATERIALIZED (
        SELECT g.row_then, g.type, g.max_duration
          FROM internal.grants_at(who_could_mint_any.tenant, only_key, states.sure, at) AS g
         WHERE states.sure < states.shown
    ), asked AS (
        SELECT array_agg(s.type ORDER BY s.place) AS types, array_agg(s.max_duration ORDER BY s.place) AS durations,
               array_agg(s.row_then ->> 'match' ORDER BY s.place) AS matches,
               array_agg(s.row_then ->> 'subject' ORDER BY s.place) AS subjects
          FROM shown AS s
    ), allowed AS MATERIALIZED (
        SELECT a.place, a.sure
          FROM asked CROSS JOIN LATERAL internal.allowed_in_all_tenants_at(at, types, durations, matches, subjects) AS a
         WHERE a.shown
    )
    SELECT s.row_then ->> 'key', s.row_then ->> 'subject', s.row_then ->> 'match', s.row_then ->> 'idp', s.row_then -> 'claims',
           (s.row_then ->> 'id')::bigint, s.max_duration,
           (s.row_then ->> 'valid_from')::timestamptz, (s.row_then ->> 'valid_until')::timestamptz,
           s.row_then ->> 'created_by', (s.row_then ->> 'created_at')::timestamptz, s.row_then ->> 'reason',
           NOT coalesce(a.sure, false) OR states.sure < states.shown AND u.row_then IS NULL
      FROM shown AS s
      JOIN allowed AS a ON a.place = s.place
      LEFT JOIN sure AS u ON u.row_then = s.row_then AND u.type = s.type AND u.max_duration = s.max_duration
     ORDER BY s.row_then ->> 'key', s.row_then ->> 'subject', (s.row_then ->> 'id')::bigint;
END
$$;
COMMENT ON FUNCTION internal.who_could_mint_any(text, text, timestamptz) IS
    'The rows of audit.who_could_mint for a key (null: for each key of the tenant); no rows instead of its errors.';

CREATE OR REPLACE FUNCTION internal.who_could(tenant text, key text, at timestamptz)
    RETURNS TABLE (subject text, match text, idp text, claims jsonb, grant_id bigint, max_duration bigint,
                   valid_from timestamptz, valid_until timestamptz, granted_by text, granted_at timestamptz,
                   reason text, uncertain boolean)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT w.subject, w.match, w.idp, w.claims, w.grant_id, w.max_duration, w.valid_from, w.valid_until,
           w.granted_by, w.granted_at, w.reason, w.uncertain
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
    IF internal.row_at(tenant, 'key', key, (internal.states_at(tenant, at)).shown) IS NULL THEN
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
    RETURNS TABLE (subject text, match text, idp text, claims jsonb, grant_id bigint, max_duration bigint,
                   valid_from timestamptz, valid_until timestamptz, granted_by text, granted_at timestamptz,
                   reason text, uncertain boolean)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM internal.require_what_there_was(tenant, key, at);
    PERFORM internal.tell_what_there_was_not(tenant, key, at);
    RETURN QUERY
    SELECT w.subject, w.match, w.idp, w.claims, w.grant_id, w.max_duration, w.valid_from, w.valid_until,
           w.granted_by, w.granted_at, w.reason, w.uncertain
      FROM internal.who_could(who_could_mint.tenant, who_could_mint.key, at) AS w;
END
$$;
COMMENT ON FUNCTION audit.who_could_mint(text, text, timestamptz) IS
    'Who could mint a key of a tenant at a past time, from the history: grants that were active, enabled with all that they depend on, not blocked, and not shorter than the type''s minimum duration. uncertain: a change behind this row may have been committed after that time. An unknown tenant or key is an error.';
