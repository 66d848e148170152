-- What a key aims at may stand in several of its settings, and each of them is within allowed_targets.

ALTER TABLE broker.provider_type
    ADD COLUMN further_targets text[] NOT NULL DEFAULT '{}',
    ADD CONSTRAINT further_targets_are_key_settings CHECK (key_settings ?& further_targets);
COMMENT ON COLUMN broker.provider_type.further_targets IS
    'Other key settings that say whose power the credential has, beside target_setting or in its place: allowed_targets limit them likewise.';

-- RFC 8693 section 2.1: audience and resource both say where the token is to be used, and either will do.
UPDATE broker.provider_type SET further_targets = '{resource}' WHERE type = 'oauth2';

CREATE FUNCTION broker.allows_target(allowed_targets text[], target text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT target IS NULL OR EXISTS (SELECT FROM unnest(allowed_targets) AS allowed WHERE broker.glob_matches(allowed, target));
$$;
COMMENT ON FUNCTION broker.allows_target(text[], text) IS
    'Whether one of the globs matches a target; true where there is none. What aims at nothing counts as the empty text.';

CREATE OR REPLACE FUNCTION broker.check_key(checked broker.key) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', checked.name, checked.tenant);
    provider broker.access_provider;
    kind broker.provider_type;
    aim text;
    output record;
BEGIN
    SELECT p.* INTO provider FROM broker.access_provider AS p
     WHERE p.tenant = checked.tenant AND p.name = checked.provider;
    SELECT t.* INTO kind FROM broker.provider_type AS t WHERE t.type = provider.type;
    PERFORM broker.check_settings(owner, format('a key of type %s', kind.type), kind.key_settings, checked.settings);

    FOR output IN SELECT key AS member, value AS field FROM jsonb_each_text(checked.outputs) ORDER BY key COLLATE "C" LOOP
        IF output.field <> ALL (kind.fields) THEN
            PERFORM broker.refuse(
                format('%s: the output "%s" names "%s", which is no field of type %s.', owner, output.member, output.field, kind.type),
                broker.did_you_mean(output.field, kind.fields, 'Its fields'));
        END IF;
    END LOOP;

    IF checked.max_duration < kind.min_duration OR checked.max_duration > kind.max_duration THEN
        PERFORM broker.refuse(
            format('%s: max_duration is %s seconds, and type %s gives credentials for %s.',
                   owner, checked.max_duration, kind.type, broker.span_of(kind)),
            format('Write %s.', least(greatest(checked.max_duration, kind.min_duration), kind.max_duration)));
    END IF;

    IF NOT checked.settings ?| (kind.target_setting || kind.further_targets)
       AND NOT broker.allows_target(provider.allowed_targets, '') THEN
        PERFORM broker.refuse(
            format('%s names no %s, and access provider "%s" allows only some.', owner,
                   (SELECT string_agg(format('"%s"', name), ' and no ') FROM unnest(kind.target_setting || kind.further_targets) AS name),
                   provider.name),
            format('Its allowed_targets: %s. A platform admin can change them.', array_to_string(provider.allowed_targets, ', ')));
    END IF;
    FOREACH aim IN ARRAY kind.target_setting || kind.further_targets LOOP
        IF NOT broker.allows_target(provider.allowed_targets, checked.settings ->> aim) THEN
            PERFORM broker.refuse(
                format('%s: the setting "%s" is "%s", which access provider "%s" does not allow.',
                       owner, aim, checked.settings ->> aim, provider.name),
                format('Its allowed_targets: %s. A platform admin can change them.', array_to_string(provider.allowed_targets, ', ')));
        END IF;
    END LOOP;
END
$$;
