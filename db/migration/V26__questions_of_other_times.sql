-- Of what never was nobody could mint, but whoever asks for it has hardly meant it. And what questions of other times need,
-- and what they tell, gets bounds.

-- ---------------------------------------------------------------- what there was

CREATE FUNCTION internal.who_could(tenant text, key text, at timestamptz)
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
          FROM internal.grants_at(who_could.tenant, who_could.key, states.shown, at) AS g
    ), sure AS MATERIALIZED (
        SELECT g.row_then, g.type, g.max_duration
          FROM internal.grants_at(who_could.tenant, who_could.key, states.sure, at) AS g
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
COMMENT ON FUNCTION internal.who_could(text, text, timestamptz) IS
    'What audit.who_could_mint answers, and no rows where that refuses.';

CREATE FUNCTION internal.require_what_there_was(tenant text, key text, at timestamptz) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    lacking constant text := CASE WHEN tenant IS NULL THEN 'tenant' WHEN key IS NULL THEN 'key'
                                  WHEN at IS NULL OR NOT isfinite(at) THEN 'time' END;
    keys text[];
BEGIN
    IF lacking IS NOT NULL THEN
        PERFORM internal.refuse(format('Who could mint is asked without a %s.', lacking),
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
                                internal.there_are(key, keys, 'It had, at some time'), 'no_data_found');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.require_what_there_was(text, text, timestamptz) IS
    'Refuses a question about a tenant or a key that the history, as far as the login may see it, has never had, or about no time.';

-- No rows are then the right answer, which "nobody was granted it" would be too.
CREATE FUNCTION internal.tell_what_there_was_not(tenant text, key text, at timestamptz) RETURNS void
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
            USING HINT = coalesce('It had been deleted or renamed at ' || went, 'It was first made at ' || came) || '.';
    END IF;
END
$$;
COMMENT ON FUNCTION internal.tell_what_there_was_not(text, text, timestamptz) IS
    'Tells that a key was not there at a time at which nobody could mint it therefore.';

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
    'Who could mint a key of a tenant at a time, from the history: the grants in force then, everything above them enabled, no blocked ones, none shorter than the type''s least duration. A change counts from changed_at; uncertain: one that this row rests on may have been committed later than the time asked for. A tenant or a key that the history never had is refused.';

GRANT EXECUTE ON FUNCTION internal.who_could(text, text, timestamptz), internal.require_what_there_was(text, text, timestamptz),
    internal.tell_what_there_was_not(text, text, timestamptz)
    TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";
GRANT EXECUTE ON FUNCTION internal.there_are(text, text[], text) TO "${auditor_role}", "${console_role}";


-- ---------------------------------------------------------------- when a block of all tenants ends

-- By asking for one time after the other a tenant's admin would find the end of a block that the platform keeps to itself.
CREATE FUNCTION internal.not_to_come(at timestamptz) RETURNS timestamptz
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN at > now() AND NOT pg_has_role(session_user, current_user, 'MEMBER')
                     AND NOT pg_has_role(session_user, '${admin_role}', 'MEMBER')
                     AND NOT pg_has_role(session_user, '${auditor_role}', 'MEMBER')
                THEN now() ELSE at END;
END
$$;
COMMENT ON FUNCTION internal.not_to_come(timestamptz) IS
    'A time, but now for one that is to come, unless the login may read the blocks of all tenants: what blocks now counts as blocking then.';

CREATE OR REPLACE FUNCTION internal.is_blocked_in_all_tenants(match text, subject text, at timestamptz) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    -- along the indexes, also with a plan from when there were few
    SET enable_seqscan = off
AS $$
DECLARE
    asked_for constant timestamptz := internal.not_to_come(at);
BEGIN
    RETURN EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE b.tenant IS NULL AND b.match = 'exact' AND b.enabled AND (b.until IS NULL OR b.until > asked_for)
                      AND hashtextextended(b.subject, 0) = hashtextextended(is_blocked_in_all_tenants.subject, 0)
                      AND b.subject = is_blocked_in_all_tenants.subject
                      AND (is_blocked_in_all_tenants.match = 'exact' OR strpos(is_blocked_in_all_tenants.subject, '*') = 0))
        OR EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE b.tenant IS NULL AND b.match = 'glob' AND b.enabled AND (b.until IS NULL OR b.until > asked_for)
                      AND internal.glob_covers(b.subject, is_blocked_in_all_tenants.match, is_blocked_in_all_tenants.subject));
END
$$;

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


-- ---------------------------------------------------------------- what had ended

-- One note is enough that found every change ended: later ones tell nothing more until something is changed again. So
-- there are about as many notes as transactions that changed something, however many checkpoints there are.
CREATE FUNCTION internal.all_changes_are_noted() RETURNS boolean
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
    'Whether the last note found every transaction ended whose changes are seen.';

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
    'Trigger: notes which transactions have ended, once for each transaction; at a checkpoint only where that is news of a change.';

-- Of the notes of before those stay that are the first to have found a change ended.
DELETE FROM runtime.noted_snapshot AS n
 USING (SELECT f.ctid, f.noted_at FROM runtime.noted_snapshot AS f
        EXCEPT
        SELECT first.ctid, first.noted_at
          FROM (SELECT c.transaction_id, max(c.changed_at) AS changed_at FROM audit.config_change AS c GROUP BY c.transaction_id) AS made
         CROSS JOIN LATERAL (SELECT f.ctid, f.noted_at FROM runtime.noted_snapshot AS f
                              WHERE f.noted_at > made.changed_at
                                AND pg_visible_in_snapshot(made.transaction_id::text::xid8, f.snapshot)
                              ORDER BY f.noted_at LIMIT 1) AS first) AS idle
 WHERE n.ctid = idle.ctid;

UPDATE runtime.schema_version SET version = greatest(version, 26);
