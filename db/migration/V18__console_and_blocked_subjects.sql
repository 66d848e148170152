-- The console asks who can mint and why not, and both ask whether a subject is blocked in all tenants: yes or no.

GRANT EXECUTE ON FUNCTION internal.is_blocked_in_all_tenants(text, text, timestamptz) TO "${console_role}";

UPDATE runtime.schema_version SET version = greatest(version, 18);
