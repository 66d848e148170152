-- Which triggers a table has, which the file of the table says at its end. To create a trigger waits for the writers of its table,
-- and other writers wait meanwhile. So a trigger's comment is its definition, and one that is defined as before is left alone.

CREATE OR REPLACE PROCEDURE internal.set_triggers(target regclass, triggers text[])
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wanted text[];
    definition text;
    former name;
BEGIN
    FOREACH wanted SLICE 1 IN ARRAY triggers LOOP
        definition := array_to_string(wanted[2:], ' ');
        CONTINUE WHEN EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = target AND t.tgname = wanted[1]
                                 AND obj_description(t.oid, 'pg_trigger') = definition);
        EXECUTE format('CREATE OR REPLACE TRIGGER %I %s ON %s %s EXECUTE FUNCTION internal.%s', wanted[1], wanted[3], target, wanted[4], wanted[5]);
        EXECUTE format('ALTER TABLE %s ENABLE %s TRIGGER %I', target, CASE wanted[2] WHEN 'always' THEN 'ALWAYS' ELSE '' END, wanted[1]);
        EXECUTE format('COMMENT ON TRIGGER %I ON %s IS %L', wanted[1], target, definition);
    END LOOP;
    -- Of an earlier release. An operator's own trigger calls no function of ours.
    FOR former IN SELECT t.tgname FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
                   WHERE t.tgrelid = target AND NOT t.tgisinternal AND p.pronamespace = 'internal'::regnamespace
                     AND t.tgname <> ALL (ARRAY(SELECT triggers[n][1] FROM generate_subscripts(triggers, 1) AS n)) LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', former, target);
    END LOOP;
END
$$;
COMMENT ON PROCEDURE internal.set_triggers(regclass, text[]) IS
    'Creates the triggers of a table, and drops those of an earlier release. Each is {name, always or origin, event, scope, function}; always: also if session_replication_role is replica.';
