-- Who can mint a key, and what can a subject mint?
\set SHOW_CONTEXT never

SELECT idp, match, subject, claims, actor_idp, actor_match, actor, actor_claims, max_duration, valid_until, granted_by, reason
  FROM broker.who_can_mint WHERE tenant = 'acme' AND key = 'deploy' ORDER BY subject;

SELECT key, target, claims, actor_idp, actor, max_duration FROM broker.what_can_mint('acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main');

-- Why does this token not get the key? One row for each key, with the first condition that failed.
SELECT key, granted, grant_id, condition, expected, seen
  FROM broker.explain('acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/dev',
                      '{"repository_owner_id": "1234567", "repository_id": "7654321", "ref": "refs/heads/dev"}');
