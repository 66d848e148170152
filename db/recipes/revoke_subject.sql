-- Revoke a subject's grants. From the commit on, no replica mints with them, even if the replica has them in its cache.
-- Credentials that were already issued are valid until they expire; audit.active_credential lists them.
\set SHOW_CONTEXT never

BEGIN;

UPDATE broker.subject_grant SET enabled = false, reason = left(concat_ws('; ', reason, 'INC-78: revoked'), 1000)
 WHERE tenant = 'acme' AND idp = 'acme-github' AND match = 'exact'
   AND subject IN ('repo:acme/shop:ref:refs/heads/main', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main');

-- Globs that match this subject also match other subjects. Check these grants, and narrow them by hand.
SELECT grant_id, key, granted.subject, claims
  FROM unnest(ARRAY['repo:acme/shop:ref:refs/heads/main', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main']) AS revoked (subject),
       broker.what_can_mint('acme-github', revoked.subject) AS granted;

COMMIT;

-- Credentials that are still valid.
SELECT key, outcome, credential_id, expires_at FROM audit.active_credential
 WHERE tenant = 'acme' AND subject IN ('repo:acme/shop:ref:refs/heads/main', 'repo:acme@1234567/shop@7654321:ref:refs/heads/main')
 ORDER BY expires_at;
