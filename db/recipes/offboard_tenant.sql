-- Offboard a tenant. Disable it, never delete it: a new tenant of that name would inherit its trust at the providers.
-- Its tokens are refused from the commit on. Then remove the trust at the providers; then, if you like, its rows.
\set SHOW_CONTEXT never

UPDATE broker.tenant SET enabled = false WHERE name = 'acme';

-- Its last credential expires at:
SELECT max(expires_at) FROM audit.active_credential WHERE tenant = 'acme';

-- In this order, since each is referred to by the one before. The history keeps what was there, and the requests,
-- decisions and reviews stay. A grant by break glass is deleted only after somebody has signed it off.
UPDATE broker.access_rule SET enabled = false WHERE tenant = 'acme';
DELETE FROM broker.access_approver WHERE tenant = 'acme';
DELETE FROM broker.access_rule WHERE tenant = 'acme';
DELETE FROM broker.subject_grant WHERE tenant = 'acme';
DELETE FROM broker.key WHERE tenant = 'acme';
-- An access provider stays until the broker has ended all that its mints left behind (docs/run/endings.md).
DELETE FROM broker.access_provider WHERE tenant = 'acme';
DELETE FROM broker.blocked_subject WHERE tenant = 'acme';
DELETE FROM broker.identity_provider WHERE tenant = 'acme';
DELETE FROM broker.tenant_admin WHERE tenant = 'acme';
DELETE FROM broker.console_access WHERE tenant = 'acme';
