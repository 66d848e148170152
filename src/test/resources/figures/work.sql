-- What requests for access, endings, notices and one-time tokens leave in TENANTS tenants, in ROWS rows of each kind: nearly
-- all of it is over, or not due yet. Written past the triggers, which are as before at the end.
CREATE TABLE figure_trigger AS
SELECT t.tgrelid::regclass::text AS target, t.tgname AS name, t.tgenabled AS mode
  FROM pg_trigger AS t
 WHERE NOT t.tgisinternal
   AND t.tgrelid IN ('broker.tenant'::regclass, 'broker.identity_provider'::regclass, 'work.trusted_audience'::regclass, 'broker.access_provider'::regclass, 'broker.access_rule'::regclass,
                     'broker.access_approver'::regclass, 'broker.access_request'::regclass, 'broker.access_decision'::regclass,
                     'broker.ended_credential'::regclass);
DO $$
DECLARE
    off record;
BEGIN
    FOR off IN SELECT * FROM figure_trigger LOOP
        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', off.target, off.name);
    END LOOP;
END $$;

-- Each tenant has a second identity provider, as of people.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
SELECT 'people-' || t, 'tenant-' || t, 'https://people.example.com', ARRAY['people-' || t] FROM generate_series(0, {tenants} - 1) AS t;
INSERT INTO work.trusted_audience (issuer, audience, idp)
SELECT p.issuer, p.audiences[1], p.name FROM broker.identity_provider AS p WHERE p.issuer = 'https://people.example.com';

-- Each tenant has a service that credentials are ended at, and an authority that signs lists.
INSERT INTO broker.access_provider (tenant, name, type, settings)
SELECT 'tenant-' || t, p.name, p.type, p.settings::jsonb
  FROM generate_series(0, {tenants} - 1) AS t
 CROSS JOIN (VALUES ('apps', 'webhook', '{"endpoint": "https://apps.example.com", "fields": ["PASSWORD"]}'),
                    ('hosts', 'ssh', '{"ca_key": {"file": "ca"}}')) AS p (name, type, settings);
INSERT INTO work.sweep (tenant, provider, next_sweep)
SELECT 'tenant-' || t, 'apps', now() + interval '10 hours' FROM generate_series(0, {tenants} - 1) AS t;
INSERT INTO work.ending (mint_id, tenant, provider, provider_type, key, outcome, due, next_try)
SELECT (left(audit.first_mint_id(now())::text, 14) || substr(gen_random_uuid()::text, 15))::uuid,
       'tenant-' || n % {tenants}, 'apps', 'webhook', 'key-1', 'issued', now() + interval '10 hours',
       now() + interval '10 hours'
  FROM generate_series(1, {rows}) AS n;
INSERT INTO broker.ended_credential (mint_id, tenant, provider_type, expires_at, reason)
SELECT gen_random_uuid(), 'tenant-' || n % {tenants}, 'ssh', now() - interval '30 days', 'incident ' || n
  FROM generate_series(1, {rows}) AS n;

INSERT INTO work.used_token (idp, token_id, usable_until)
SELECT 'idp-' || n % {tenants}, 'token-' || n, now() + interval '10 hours' FROM generate_series(1, {rows}) AS n;

INSERT INTO broker.access_rule (id, tenant, key, idp, subject, match, max_access, end_credentials)
SELECT nextval('broker.access_rule_id_seq'), 'tenant-' || t, 'key-1', 'idp-' || t, 'job:**', 'glob', 7200, true FROM generate_series(0, {tenants} - 1) AS t;
INSERT INTO broker.access_approver (id, tenant, rule, idp, issuer, subject)
SELECT nextval('broker.access_approver_id_seq'), r.tenant, r.id, r.idp, 'https://issuer.example.com', 'boss' FROM broker.access_rule AS r;
-- One in a hundred is still pending, and has ten hours left.
INSERT INTO broker.access_request (tenant, rule, key, idp, issuer, subject, reason, access, break_glass, approvals, requested_at,
                                   expires_at, status)
SELECT r.tenant, r.id, r.key, r.idp, 'https://issuer.example.com', 'job:' || n % 1000, 'The export is stuck', 900, false, 1,
       now() - n * interval '90 days' / {rows}, now() + CASE WHEN n % 100 = 1 THEN interval '10 hours' ELSE interval '-1 hour' END,
       CASE n % 100 WHEN 1 THEN 'pending' WHEN 2 THEN 'withdrawn' ELSE 'refused' END
  FROM generate_series(1, {rows}) AS n
  JOIN broker.access_rule AS r ON r.tenant = 'tenant-' || n % {tenants};
INSERT INTO broker.access_decision (id, tenant, request, verdict, idp, issuer, subject)
SELECT nextval('broker.access_decision_id_seq'), q.tenant, q.id, 'refuse', q.idp, q.issuer, 'boss' FROM broker.access_request AS q WHERE q.status = 'refused';

-- Ends that are still to come, and a receiver in a tenth of the tenants that doesn't answer.
UPDATE broker.tenant AS t SET notice_url = 'https://hooks.example.com/' || t.name, notice_secret = '{"file": "notices"}'
 WHERE t.name ~ '^tenant-\d*7\d$';
INSERT INTO work.access_notice (tenant, type, request, due, wanted_at, access_lasts)
SELECT q.tenant, 'io.mintmark.access.ended', q.id, now() + interval '10 hours', now() + interval '10 hours', true
  FROM broker.access_request AS q;
INSERT INTO work.access_notice (tenant, type, request, data, due, tries)
SELECT t.name, 'io.mintmark.access.requested', gen_random_uuid(), '{}', now() + interval '10 hours', 3
  FROM broker.tenant AS t WHERE t.notice_url IS NOT NULL;

DO $$
DECLARE
    was record;
BEGIN
    FOR was IN SELECT * FROM figure_trigger LOOP
        EXECUTE format('ALTER TABLE %s ENABLE %s TRIGGER %I', was.target, CASE was.mode WHEN 'A' THEN 'ALWAYS' ELSE '' END, was.name);
    END LOOP;
END $$;
DROP TABLE figure_trigger;
ANALYZE;
