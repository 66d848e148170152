-- Who could mint a key at any moment of the past, from the history of the configuration.

-- A grant is looked for under each key that it ever gave; all else that is asked of the history is little beside grants.
CREATE INDEX grants_of_a_key_in_the_history ON audit.config_change (tenant, (after ->> 'key')) WHERE table_name = 'subject_grant';
CREATE INDEX changes_beside_grants ON audit.config_change (tenant, table_name, revision) WHERE table_name <> 'subject_grant';


-- ---------------------------------------------------------------- the state at a moment

CREATE FUNCTION internal.change_of(tenant text, revision bigint, OUT changed_at timestamptz, OUT transaction_id bigint)
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
    'When a revision of a tenant (of null: of the tables without tenant) was made, and by which transaction; nulls if the caller sees none.';

-- When a change was made is known, when its transaction ended is not: nothing that a transaction writes can tell. So
-- others note, at each change and at each checkpoint, which transactions they find ended. One before its commit at the
-- time asked for is in no snapshot of before.
CREATE TABLE runtime.noted_snapshot (
    noted_at timestamptz NOT NULL,
    snapshot pg_snapshot NOT NULL
);
COMMENT ON TABLE runtime.noted_snapshot IS
    'Which transactions had ended at times of the past, so that audit.who_could_mint can tell which changes were committed by then. Written by triggers.';
COMMENT ON COLUMN runtime.noted_snapshot.noted_at IS 'When, by the clock of the server.';
COMMENT ON COLUMN runtime.noted_snapshot.snapshot IS
    'What pg_current_snapshot() was just before, with the transaction that notes it among the running ones.';
CREATE INDEX snapshots_by_time ON runtime.noted_snapshot (noted_at);

-- PostgreSQL leaves the transaction that asks out of its own snapshot, as if it had ended.
CREATE FUNCTION internal.snapshot_with(snapshot pg_snapshot, running xid8) RETURNS pg_snapshot
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN running >= pg_snapshot_xmax(snapshot) THEN snapshot
           ELSE format('%s:%s:%s', least(pg_snapshot_xmin(snapshot), running), pg_snapshot_xmax(snapshot),
                       (SELECT string_agg(r.xid::text, ',' ORDER BY r.xid)
                          FROM (SELECT pg_snapshot_xip(snapshot) UNION SELECT running) AS r(xid)))::pg_snapshot
           END
$$;
COMMENT ON FUNCTION internal.snapshot_with(pg_snapshot, xid8) IS 'The snapshot with one more transaction that had not ended.';

CREATE FUNCTION internal.note_snapshot() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- once for a transaction; who sets this by hand has fewer notes
    IF current_setting('mintmark.noted_in', true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        INSERT INTO runtime.noted_snapshot (noted_at, snapshot)
        SELECT clock_timestamp(), internal.snapshot_with(pg_current_snapshot(), pg_current_xact_id());
        PERFORM set_config('mintmark.noted_in', pg_current_xact_id()::text, true);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.note_snapshot() IS 'Trigger: notes which transactions have ended, once for each transaction.';

CREATE TRIGGER notes_what_has_ended AFTER INSERT ON audit.config_change
    FOR EACH STATEMENT EXECUTE FUNCTION internal.note_snapshot();
ALTER TABLE audit.config_change ENABLE ALWAYS TRIGGER notes_what_has_ended;
CREATE TRIGGER notes_what_has_ended AFTER INSERT ON audit.checkpoint
    FOR EACH STATEMENT EXECUTE FUNCTION internal.note_snapshot();
ALTER TABLE audit.checkpoint ENABLE ALWAYS TRIGGER notes_what_has_ended;

CREATE FUNCTION internal.had_ended(transaction_id bigint, since timestamptz, at timestamptz) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
BEGIN
    -- Since: a database that was loaded from a dump counts its transactions anew. Ten: some note an old snapshot.
    RETURN coalesce((SELECT bool_or(pg_visible_in_snapshot(had_ended.transaction_id::text::xid8, n.snapshot))
                       FROM (SELECT s.snapshot FROM runtime.noted_snapshot AS s
                              WHERE s.noted_at > since AND s.noted_at <= at ORDER BY s.noted_at DESC LIMIT 10) AS n), false);
END
$$;
COMMENT ON FUNCTION internal.had_ended(bigint, timestamptz, timestamptz) IS
    'Whether a transaction that changed something at one time was found ended by another.';

-- Revisions have no gaps, their times don't fall, and the changes of a transaction to one tenant are neighbours, since it
-- holds the tenant's lock until its commit. So both are found by halves.
CREATE FUNCTION internal.states_at(tenant text, at timestamptz, OUT shown bigint, OUT sure bigint)
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
    'The last revision of a tenant (of null: of the tables without tenant) that was made by a time, and the last that was surely committed by then; 0 for none.';

CREATE FUNCTION internal.row_at(tenant text, table_name text, name text, revision bigint) RETURNS jsonb
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
    'The row of this name in a table of the tenant''s, as of a revision; null if there was none.';


-- ---------------------------------------------------------------- who could

CREATE FUNCTION internal.blocks_at(tenant text, revision bigint, at timestamptz) RETURNS TABLE (idp text, subject text, match text)
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
    'The blocks of subjects in a tenant (of null: in all tenants) as of a revision that were in force at a time.';

CREATE FUNCTION internal.grants_at(tenant text, key text, revision bigint, at timestamptz)
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
    key_then constant jsonb := internal.row_at(tenant, 'key', key, revision);
    provider_then constant jsonb := internal.row_at(tenant, 'access_provider', key_then ->> 'provider', revision);
    candidates text[];
BEGIN
    IF NOT coalesce((key_then ->> 'enabled')::boolean AND (provider_then ->> 'enabled')::boolean
                    AND (internal.row_at(tenant, 'tenant', tenant, revision) ->> 'enabled')::boolean, false) THEN
        RETURN;
    END IF;
    candidates := ARRAY(SELECT DISTINCT c.after ->> 'id' FROM audit.config_change AS c
                         WHERE c.tenant = grants_at.tenant AND c.table_name = 'subject_grant'
                           AND c.after ->> 'key' = grants_at.key AND c.revision <= grants_at.revision);
    RETURN QUERY
    WITH latest AS (
        SELECT DISTINCT ON (coalesce(c.after, c.before) ->> 'id') c.after
          FROM audit.config_change AS c
         WHERE c.tenant = grants_at.tenant AND c.table_name = 'subject_grant'
           AND coalesce(c.after, c.before) ->> 'id' = ANY (candidates) AND c.revision <= grants_at.revision
         ORDER BY coalesce(c.after, c.before) ->> 'id', c.revision DESC
    ), granted AS (
        SELECT g.after, g.after ->> 'idp' AS idp, g.after ->> 'subject' AS subject, g.after ->> 'match' AS match
          FROM latest AS g
         WHERE g.after ->> 'key' = grants_at.key AND (g.after ->> 'enabled')::boolean
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
    SELECT g.after, provider_then ->> 'type',
           least((key_then ->> 'max_duration')::bigint, (g.after ->> 'max_duration')::bigint,
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
    'The grants of a key as of a revision of its tenant that were in force at a time, everything in the tenant that they depend on being enabled and no block in the tenant covering them, with the type that gives the credential and its longest life.';

-- Yes or no for each grant, and nothing else of what belongs to no tenant (see internal.is_blocked_in_all_tenants).
CREATE FUNCTION internal.allowed_in_all_tenants_at(at timestamptz, types text[], durations bigint[], matches text[], subjects text[])
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
          FROM state AS s CROSS JOIN LATERAL internal.blocks_at(NULL, s.revision, at) AS b
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
    'For each grant whether, at a time, its type could give a credential so short-lived and no block in all tenants covered it: as made by then, and as surely committed by then.';

CREATE FUNCTION audit.who_could_mint(tenant text, key text, at timestamptz)
    RETURNS TABLE (subject text, match text, idp text, claims jsonb, grant_id bigint, max_duration bigint,
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
          FROM internal.grants_at(who_could_mint.tenant, who_could_mint.key, states.shown, at) AS g
    ), sure AS MATERIALIZED (
        SELECT g.row_then, g.type, g.max_duration
          FROM internal.grants_at(who_could_mint.tenant, who_could_mint.key, states.sure, at) AS g
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
    SELECT s.row_then ->> 'subject', s.row_then ->> 'match', s.row_then ->> 'idp', s.row_then -> 'claims',
           (s.row_then ->> 'id')::bigint, s.max_duration,
           (s.row_then ->> 'valid_from')::timestamptz, (s.row_then ->> 'valid_until')::timestamptz,
           s.row_then ->> 'created_by', (s.row_then ->> 'created_at')::timestamptz, s.row_then ->> 'reason',
           NOT coalesce(a.sure, false) OR states.sure < states.shown AND u.row_then IS NULL
      FROM shown AS s
      JOIN allowed AS a ON a.place = s.place
      LEFT JOIN sure AS u ON u.row_then = s.row_then AND u.type = s.type AND u.max_duration = s.max_duration
     ORDER BY s.row_then ->> 'subject', (s.row_then ->> 'id')::bigint;
END
$$;
COMMENT ON FUNCTION audit.who_could_mint(text, text, timestamptz) IS
    'Who could mint a key of a tenant at a time, from the history: the grants in force then, everything above them enabled, no blocked ones, none shorter than the type''s least duration. A change counts from changed_at; uncertain: one that this row rests on may have been committed later than the time asked for.';

GRANT EXECUTE ON FUNCTION audit.who_could_mint(text, text, timestamptz), internal.states_at(text, timestamptz),
    internal.change_of(text, bigint), internal.had_ended(bigint, timestamptz, timestamptz),
    internal.row_at(text, text, text, bigint), internal.grants_at(text, text, bigint, timestamptz),
    internal.blocks_at(text, bigint, timestamptz),
    internal.allowed_in_all_tenants_at(timestamptz, text[], bigint[], text[], text[])
    TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}";

GRANT SELECT ON runtime.noted_snapshot TO "${auditor_role}";

UPDATE runtime.schema_version SET version = greatest(version, 13);
