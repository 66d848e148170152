-- Access on request: who may request a key, who approves in which step, and how the access ends.
\set SHOW_CONTEXT never

-- Lea and Grace may request up to 4 hours, with a ticket. If the access ends early, certificates that were minted with it are
-- revoked (end_credentials). If somebody disables or changes the rule, access that it allowed ends (end_access).
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint, end_credentials, end_access, owner, reason)
SELECT 'acme', 'web-servers', 'acme-keycloak', who, 14400, 'INC-**', 'Start with the ticket, for example INC-4711.', true, true,
       'team-shop', 'OPS-30: incidents on the web servers'
  FROM unnest('{2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e,9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60}'::text[]) AS who;

-- Read the rules that the next statement gives approvers: another admin may have written one of them.
SELECT id, idp, subject, match, claims, approvals, max_access, created_by FROM broker.access_rule
 WHERE tenant = 'acme' AND key = 'web-servers' AND idp = 'acme-keycloak' AND NOT (break_glass OR consent)
   AND subject IN ('2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', '9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60');

-- Two steps: in step 1 a lead of the shop, in step 2 security or, for up to an hour, the program of the ticket system.
INSERT INTO broker.access_approver (rule, idp, subject, step, program, max_access)
SELECT r.id, a.idp, a.subject, a.step, a.program, a.max_access
  FROM broker.access_rule AS r
 CROSS JOIN (VALUES ('acme-keycloak', '5d0c2b1a-9e8f-4d7c-b6a5-948372615049', 1, false, NULL),
                    ('acme-keycloak', '0a9b8c7d-6e5f-4a3b-8c2d-1e0f9a8b7c6d', 2, false, NULL),
                    ('acme-cluster', 'system:serviceaccount:tickets:gate', 2, true, 3600)) AS a (idp, subject, step, program, max_access)
 WHERE r.tenant = 'acme' AND r.key = 'web-servers' AND r.idp = 'acme-keycloak' AND NOT (r.break_glass OR r.consent)
   AND r.subject IN ('2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', '9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60');

-- If an agent requests access for Grace, only Grace decides.
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent, owner, reason)
VALUES ('acme', 'invoices', 'acme-keycloak', '9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60', 3600, true, 'team-shop', 'OPS-31: agents of Grace');

-- In an emergency, Lea gets access at once, and another person signs it off within a day.
INSERT INTO broker.access_rule (tenant, key, idp, subject, approvals, max_access, break_glass, owner, reason)
VALUES ('acme', 'web-servers', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 0, 3600, true, 'team-shop', 'OPS-32: the site is down');

-- Which access is active, and who approved it? In which state are the credentials of requested access?
SELECT request, subject, key, reason, approved_by, valid_until FROM audit.access_request WHERE tenant = 'acme' AND in_force;
SELECT request, mint_id, provider_type, state, expires_at FROM audit.access_credential WHERE tenant = 'acme';

-- An approver ends access with mintmark-client withdraw, or with this statement. Replace the id.
INSERT INTO broker.access_decision (request, verdict, note)
SELECT request, 'withdraw', 'INC-4711 is solved' FROM audit.access_request
 WHERE tenant = 'acme' AND in_force AND request = '6f1cd1a8-0000-4000-8000-000000000000';
