-- Who mistypes a year is told: the answer for a time to come is what the configuration of now would give then.

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
            USING HINT = coalesce('It had been deleted or renamed at ' || went, 'It was first made at ' || came) || '.';
    ELSIF at > clock_timestamp() THEN
        RAISE NOTICE '% is to come: this is who could if nothing were changed until then.', at;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.tell_what_there_was_not(text, text, timestamptz) IS
    'Tells that a key was not there at a time at which nobody could mint it therefore, and that a time is to come.';

UPDATE runtime.schema_version SET version = greatest(version, 29);
