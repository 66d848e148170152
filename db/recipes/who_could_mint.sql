-- Who could mint a key at a past time? The function reads the grants of that time from the history.
\set SHOW_CONTEXT never
SELECT subject, match, idp, claims, actor_idp, actor, actor_match, actor_claims, max_duration, valid_until, granted_by, granted_at, reason, uncertain
  FROM audit.who_could_mint('acme', 'deploy', '2026-03-01 12:00Z');

-- Which of these subjects minted the key, within the hour before?
SELECT w.subject, w.granted_by, m.requested_at, m.outcome, m.credential_id
  FROM audit.who_could_mint('acme', 'deploy', '2026-03-01 12:00Z') AS w
  JOIN audit.mint AS m ON m.grant_id = w.grant_id
   AND m.mint_id >= audit.first_mint_id('2026-03-01 11:00Z') AND m.mint_id < audit.first_mint_id('2026-03-01 12:00Z');

-- Compare the start and the end of a month: who gained the right to mint, and who lost this right?
SELECT 'came' AS what, subject, idp FROM (
       SELECT subject, idp FROM audit.who_could_mint('acme', 'deploy', '2026-04-01Z')
       EXCEPT SELECT subject, idp FROM audit.who_could_mint('acme', 'deploy', '2026-03-01Z')) AS came
UNION ALL
SELECT 'went', subject, idp FROM (
       SELECT subject, idp FROM audit.who_could_mint('acme', 'deploy', '2026-03-01Z')
       EXCEPT SELECT subject, idp FROM audit.who_could_mint('acme', 'deploy', '2026-04-01Z')) AS went;
