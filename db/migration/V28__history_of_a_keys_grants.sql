-- The console asks who could mint a key on a day where that is quickly told, and says how to ask where it isn't. As the
-- owner, since the history's index over a row's key isn't used under a policy.

CREATE FUNCTION internal.grant_changes_of_key(tenant text, key text, most int) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT count(*)
              FROM (SELECT FROM audit.config_change AS c
                     WHERE c.table_name = 'subject_grant'
                       AND c.tenant = ANY (internal.tenants_looked_at(grant_changes_of_key.tenant))
                       AND c.after ->> 'key' = grant_changes_of_key.key
                     LIMIT most) AS n);
END
$$;
COMMENT ON FUNCTION internal.grant_changes_of_key(text, text, int) IS
    'How often grants of a key were written or changed, counted up to so many, if the console''s viewer may see them.';

GRANT EXECUTE ON FUNCTION internal.grant_changes_of_key(text, text, int) TO "${console_role}";

UPDATE runtime.schema_version SET version = greatest(version, 28);
