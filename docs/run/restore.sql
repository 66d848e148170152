-- Lists the changes of the configuration and the mints that are in an export, but that a restored database has lost. Run it
-- in psql before you start a broker, with an auditor's login that may create temporary tables:
--
--     psql "$DATABASE" -v export=log.jsonl -f docs/run/restore.sql
--
-- The file log.jsonl is the output of "mintmark audit export --all --format jsonl" (docs/audit/shipping.md). If you export
-- each day to a separate file, join the files of all days since the restore point:
--     cat log-2026-06-1*.jsonl > log.jsonl

CREATE TEMP TABLE exported (line jsonb);
-- JSON can't contain this quote and this delimiter, so each line is read as one value.
\set load '\\copy exported FROM ' :'export' ' WITH (FORMAT csv, QUOTE E''\\x01'', DELIMITER E''\\x02'')'
:load

CREATE TEMP VIEW lost_change AS
SELECT e.line ->> 'tenant' AS tenant, (e.line ->> 'revision')::bigint AS revision, e.line ->> 'table_name' AS table_name,
       e.line ->> 'operation' AS operation, e.line -> 'before' AS before, e.line -> 'after' AS after,
       e.line ->> 'changed_by' AS changed_by, e.line ->> 'changed_at' AS changed_at
  FROM exported AS e
 WHERE e.line ? 'table_name'
   AND NOT EXISTS (SELECT FROM audit.config_change AS c
                    WHERE c.tenant IS NOT DISTINCT FROM e.line ->> 'tenant' AND c.revision = (e.line ->> 'revision')::bigint
                      AND c.hash = (e.line ->> 'hash')::bytea);

\echo 'Undone: revocations, restrictions and blocks after the restore point. Repeat them before you start a broker.'
SELECT tenant, revision, table_name, operation, changed_by, changed_at, before, after FROM lost_change
 WHERE operation <> 'INSERT' OR table_name = 'blocked_subject' ORDER BY tenant NULLS FIRST, revision;

\echo 'Lost: rows created after the restore point. Run the files that created these rows again.'
SELECT tenant, revision, table_name, changed_by, changed_at, after FROM lost_change
 WHERE operation = 'INSERT' AND table_name <> 'blocked_subject' ORDER BY tenant NULLS FIRST, revision;

\echo 'Credentials that may still work, but of which the database has no rows'
SELECT e.line ->> 'mint_id' AS mint_id, e.line ->> 'tenant' AS tenant, e.line ->> 'subject' AS subject, e.line ->> 'key' AS key,
       e.line ->> 'kind' AS kind, e.line ->> 'credential_id' AS credential_id, e.line ->> 'expires_at' AS until
  FROM exported AS e
 WHERE e.line ->> 'kind' IN ('requested', 'issued', 'withheld') AND (e.line ->> 'expires_at')::timestamptz > now()
   AND NOT EXISTS (SELECT FROM audit.event AS k
                    WHERE k.mint_id = (e.line ->> 'mint_id')::uuid AND k.step = (e.line ->> 'step')::bigint)
   AND NOT EXISTS (SELECT FROM exported AS d WHERE d.line ->> 'mint_id' = e.line ->> 'mint_id' AND d.line ->> 'kind' = 'ended')
 ORDER BY 1;

\echo 'The highest lost id of each table; no sequence may be below it'
SELECT table_name, max((after ->> 'id')::bigint) AS highest_id FROM lost_change
 WHERE jsonb_typeof(after -> 'id') = 'number' GROUP BY table_name ORDER BY table_name;
