-- The console asks who could mint a key on a day of the past; what these two tell of it is yes or no.

GRANT EXECUTE ON FUNCTION internal.had_ended(bigint, timestamptz, timestamptz),
    internal.allowed_in_all_tenants_at(timestamptz, text[], bigint[], text[], text[]) TO "${console_role}";

-- A dump reads sequences too, and auditors may make one.
GRANT SELECT ON SEQUENCE broker.console_access_id_seq TO "${auditor_role}";

UPDATE runtime.schema_version SET version = greatest(version, 19);
