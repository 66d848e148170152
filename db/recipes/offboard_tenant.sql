-- Offboard a tenant. Disable the tenant, and never delete it: the providers would trust a new tenant of the same name.
-- From the commit on, the broker rejects the tenant's tokens. Then remove the trust at the providers. After that, you may delete
-- the tenant's other rows.
\set SHOW_CONTEXT never

UPDATE broker.tenant SET enabled = false WHERE name = 'acme';

-- When does the tenant's last credential expire?
SELECT max(expires_at) FROM audit.active_credential WHERE tenant = 'acme';

-- Delete in this order, because the rows of a table refer to the rows of later tables. The history keeps the deleted rows.
-- Requests, decisions and reviews stay. Before you delete a break-glass grant, another person must sign it off.
UPDATE broker.access_rule SET enabled = false WHERE tenant = 'acme';
DELETE FROM broker.access_approver WHERE tenant = 'acme';
DELETE FROM broker.access_rule WHERE tenant = 'acme';
DELETE FROM broker.subject_grant WHERE tenant = 'acme';
DELETE FROM broker.key WHERE tenant = 'acme';
-- You can delete an access provider only when the broker has removed what its mints left behind (docs/run/endings.md).
DELETE FROM broker.access_provider WHERE tenant = 'acme';
DELETE FROM broker.blocked_subject WHERE tenant = 'acme';
DELETE FROM broker.identity_provider WHERE tenant = 'acme';
DELETE FROM broker.tenant_admin WHERE tenant = 'acme';
DELETE FROM broker.console_access WHERE tenant = 'acme';
