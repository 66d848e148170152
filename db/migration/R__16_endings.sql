-- What mints leave behind at their providers: who asks to end them early, what a provider still lists, and access providers
-- that can't go before it is gone.

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
