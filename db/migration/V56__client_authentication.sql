-- A client's secret is given together with the client's id, and only where it is used.

CREATE OR REPLACE FUNCTION broker.check_settings(owner text, kind text, rules jsonb, settings jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known constant text[] := ARRAY(SELECT jsonb_object_keys(rules));
    name text;
    rule jsonb;
    fault text;
    lacking text;
BEGIN
    FOR name IN SELECT given FROM jsonb_object_keys(settings) AS given ORDER BY given COLLATE "C" LOOP
        IF rules -> name IS NULL THEN
            PERFORM broker.refuse(format('%s has the setting "%s", which %s does not have.', owner, name, kind),
                                  broker.did_you_mean(name, known, 'It has'));
        END IF;
    END LOOP;
    FOR name, rule IN SELECT r.key, r.value FROM jsonb_each(rules) AS r ORDER BY r.key COLLATE "C" LOOP
        IF settings -> name IS NULL THEN
            IF (rule ->> 'required')::boolean THEN
                PERFORM broker.refuse(format('%s lacks the setting "%s".', owner, name), broker.write_instead(name, rule));
            END IF;
            CONTINUE;
        END IF;
        fault := broker.setting_fault(rule, settings -> name);
        IF fault IS NOT NULL THEN
            PERFORM broker.refuse(format('%s: the setting "%s" %s.', owner, name, fault), broker.write_instead(name, rule));
        END IF;
        SELECT needed INTO lacking
          FROM jsonb_array_elements_text(coalesce(rule -> 'needs' -> (settings ->> name), rule -> 'needs' -> '*')) AS needed
         WHERE NOT settings ? needed LIMIT 1;
        IF FOUND THEN
            PERFORM broker.refuse(format('%s: the setting "%s"%s needs the setting "%s" too.', owner, name,
                                         CASE WHEN rule -> 'needs' ? (settings ->> name)
                                              THEN format(' is "%s", which', settings ->> name) ELSE '' END, lacking),
                                  broker.write_instead(lacking, rules -> lacking));
        END IF;
        SELECT refused INTO lacking FROM jsonb_array_elements_text(rule -> 'refuses' -> (settings ->> name)) AS refused
         WHERE settings ? refused LIMIT 1;
        IF FOUND THEN
            PERFORM broker.refuse(format('%s: the setting "%s" is "%s", which has no use for the setting "%s".',
                                         owner, name, settings ->> name, lacking),
                                  format('Leave out "%s", or choose another "%s".', lacking, name));
        END IF;
    END LOOP;
END
$$;

COMMENT ON COLUMN broker.provider_type.provider_settings IS
    'Rules for broker.access_provider.settings, {"setting": rule}. A rule has "is" (text, url, flag, list, object, policy: an object or its text, secret: {"file": name}, claim: {"name": …, "value": …}, claims: an object of them) and may have "required", "default", "one_of", "needs" (for a value, or for * which is any, the settings that it cannot do without), "refuses" (for a value, the settings that it has no use for), "pattern" (of the text or of each element), "max_length", "max_items", "must_contain", "example".';

UPDATE broker.provider_type
   SET provider_settings = jsonb_set(jsonb_set(provider_settings,
           '{client_secret,needs}', '{"*": ["client_id"]}'),
           '{client_auth,refuses}', '{"none": ["client_secret"], "private_key_jwt": ["client_secret"]}')
 WHERE type = 'oauth2';
