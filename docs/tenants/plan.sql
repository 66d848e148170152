-- Prints each grant that grants_in_git.sql adds, removes or changes, and changes nothing.
BEGIN;
\i grants_in_git.sql
SELECT operation, g ->> 'key' AS key, g ->> 'match' AS match, g ->> 'subject' AS subject,
       concat_ws(' ', g ->> 'claims', 'from ' || nullif(translate(g ->> 'networks', '[]"', ''), '')) AS claims,
       concat_ws(' ', g ->> 'actor_idp', CASE WHEN g ->> 'actor_match' = 'glob' THEN 'glob' END, g ->> 'actor', nullif(g ->> 'actor_claims', '{}')) AS actor,
       concat_ws(' ', 'from ' || (g ->> 'valid_from'), 'until ' || (g ->> 'valid_until')) AS valid,
       (SELECT string_agg(format('%s: %s -> %s', a.key, coalesce(before ->> a.key, 'none'), coalesce(a.value #>> '{}', 'none')), ', ' ORDER BY a.key)
          FROM jsonb_each(after) AS a
         WHERE operation = 'UPDATE' AND before -> a.key <> a.value AND a.key NOT LIKE 'updated%') AS changes
  FROM broker.pending_change CROSS JOIN LATERAL coalesce(after, before) AS g
 WHERE table_name = 'subject_grant' ORDER BY operation, 2, 4, 6;
ROLLBACK;
