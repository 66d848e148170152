-- What mints leave behind at their providers: who asks to end them early, what a provider still lists, and access providers
-- that can't go before it is gone.

CREATE OR REPLACE FUNCTION internal.ask_for_early_end() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO work.early_end (mint_id, asked_by)
    SELECT NEW.mint_id, NEW.created_by
      FROM broker.provider_type AS t WHERE t.type = NEW.provider_type AND t.leaves_behind
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.ask_for_early_end() IS
    'Trigger: requests that a replica end the credential now, if the broker can.';

-- A mint that is still to be ended is left to its row. One that the log doesn't have under this access provider, or has the
-- end of, is ended all the same, and its end isn't recorded.
CREATE OR REPLACE FUNCTION internal.note_left_behind(of_tenant text, of_provider text, mints uuid[]) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
    WITH noted AS (
        INSERT INTO work.ending (mint_id, tenant, provider, provider_type, key, outcome, credential_id, swept, due, next_try)
        SELECT listed.mint_id, p.tenant, p.name, p.type, r.key, o.kind, o.credential_id, true, now(), now()
          FROM unnest(mints) AS listed (mint_id)
          JOIN broker.access_provider AS p ON p.tenant = of_tenant AND p.name = of_provider
          LEFT JOIN log.event AS r
               ON r.mint_id = listed.mint_id AND r.step = 1 AND r.tenant = p.tenant AND r.provider = p.name
              AND NOT EXISTS (SELECT FROM log.event AS d WHERE d.mint_id = r.mint_id AND d.step = 3)
          LEFT JOIN log.event AS o ON o.mint_id = r.mint_id AND o.step = 2
            ON CONFLICT (mint_id) DO NOTHING
        RETURNING 1)
    SELECT count(*) FROM noted;
$$;
COMMENT ON FUNCTION internal.note_left_behind(text, text, uuid[]) IS
    'Adds mints that an access provider still lists after their end to runtime.ending; returns the number of new rows.';

CREATE OR REPLACE FUNCTION internal.say_what_is_to_be_ended() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    open constant bigint := (SELECT count(*) FROM work.ending AS e WHERE e.tenant = OLD.tenant AND e.provider = OLD.name);
BEGIN
    IF open > 0 THEN
        PERFORM internal.refuse_in(TG_RELID, '',
            format('%s of access provider "%s" of tenant "%s" %s not yet revoked, so the access provider cannot be %s.',
                   CASE open WHEN 1 THEN 'A credential' ELSE open || ' credentials' END, OLD.name, OLD.tenant,
                   CASE open WHEN 1 THEN 'is' ELSE 'are' END,
                   CASE WHEN TG_OP = 'DELETE' THEN 'deleted' WHEN OLD.name <> NEW.name THEN 'renamed' ELSE 'given another type' END),
            format('Disable it: UPDATE broker.access_provider SET enabled = false WHERE tenant = %L AND name = %L; the broker then removes them as they expire. To remove them now, insert rows into broker.ended_credential.',
                   OLD.tenant, OLD.name),
            'restrict_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_to_be_ended() IS
    'Trigger: rejects deleting an access provider while its mints are to be ended.';
