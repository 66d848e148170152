-- Revoke a subject's grants. From the commit on, no replica mints for them, whatever it has cached.
-- Issued credentials are valid until they expire; audit.active_credential lists them.
\set SHOW_CONTEXT never

BEGIN;

UPDATE broker.subject_grant SET enabled = false, reason = concat_ws('; ', reason, 'INC-78: revoked')
 WHERE tenant = 'acme' AND idp = 'acme-github' AND match = 'exact' AND subject = 'repo:acme/shop:ref:refs/heads/main';

-- Globs that also match it serve other subjects too: check them, and narrow them by hand.
SELECT grant_id, key, subject, claims FROM broker.what_can_mint('acme-github', 'repo:acme/shop:ref:refs/heads/main');

COMMIT;

-- What it holds still.
SELECT key, outcome, credential_id, expires_at FROM audit.active_credential
 WHERE tenant = 'acme' AND subject = 'repo:acme/shop:ref:refs/heads/main'
 ORDER BY expires_at;
