-- sees nothing of the configuration without claims
SELECT name FROM broker.tenant UNION ALL SELECT name FROM broker.identity_provider
 UNION ALL SELECT name FROM broker.access_provider UNION ALL SELECT name FROM broker.key
 UNION ALL SELECT subject FROM broker.subject_grant UNION ALL SELECT role_name FROM broker.tenant_admin
 UNION ALL SELECT issuer FROM broker.shared_issuer UNION ALL SELECT type FROM broker.provider_type
 UNION ALL SELECT claim FROM broker.console_access;
--> 

-- sees nothing of the log without claims
SELECT request_id FROM audit.event UNION ALL SELECT tenant FROM audit.config_change
 UNION ALL SELECT tenant FROM audit.open_mint UNION ALL SELECT jws FROM audit.checkpoint;
--> 

-- sees nothing with claims that give nothing
SET LOCAL mintmark.console_claims = '{"sub": "nobody", "groups": []}';
SELECT name FROM broker.tenant;
--> 

-- sees nothing with claims that are no object
SET LOCAL mintmark.console_claims = '["lead"]';
SELECT name FROM broker.tenant;
--> 

-- sees the tenant that a claim gives
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT name FROM broker.tenant UNION ALL SELECT name FROM broker.identity_provider
 UNION ALL SELECT name FROM broker.key UNION ALL SELECT DISTINCT tenant FROM audit.event;
--> acme,ci,api,acme

-- sees that tenant's changes, and none without tenant
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT DISTINCT coalesce(tenant, 'none') FROM audit.config_change;
--> acme

-- sees that tenant alone in the views
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT key FROM broker.who_can_mint UNION ALL SELECT key FROM broker.grant_ending_soon;
--> api,api

-- is explained that tenant alone
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT key FROM broker.explain('ci', 'main');
--> api

-- is told nothing of another tenant's identity provider
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT key FROM broker.explain('elsewhere', 'main');
--> There is no identity provider "elsewhere" that you may see.

-- finds the mints of that tenant by their subject
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT e.tenant FROM internal.find_mints('subject', 'main', NULL, NULL, NULL, NULL, NULL, 10) AS m JOIN audit.event AS e USING (mint_id);
--> acme

-- finds no mint by its subject without claims
SELECT m.mint_id FROM internal.find_mints('subject', 'main', NULL, NULL, NULL, NULL, NULL, 10) AS m WHERE m.mint_id IS NOT NULL;
--> 

-- counts the mints of that tenant by their subject
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT a.mints + a.refusals > 0 AND a.mints + a.refusals = (SELECT count(DISTINCT e.mint_id) FROM audit.event AS e WHERE e.subject = 'main')
  FROM internal.activity_of_subject('main', '2020-01-01Z', 1000) AS a;
--> t

-- counts no mint by its subject without claims
SELECT a.mints + a.refusals + a.living FROM internal.activity_of_subject('main', '2020-01-01Z', 1000) AS a;
--> 0

-- finds a grant of that tenant as it was
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT c.operation FROM broker.subject_grant AS g, internal.grant_at('acme', g.id, 1000) AS c;
--> INSERT

-- finds no grant of another tenant
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT c.operation FROM generate_series(1, 10) AS id, internal.grant_at('other', id, 1000) AS c;
--> 

-- sees neither shared issuers nor checkpoints and their cosignatures with one tenant
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT issuer FROM broker.shared_issuer UNION ALL SELECT jws FROM audit.checkpoint UNION ALL SELECT line FROM audit.cosignature;
--> 

-- sees who else looks at that tenant, and not who sees them all
SET LOCAL mintmark.console_claims = '{"groups": ["acme-leads"]}';
SELECT claim FROM broker.console_access ORDER BY claim;
--> email,groups

-- sees everything with access to all tenants
SET LOCAL mintmark.console_claims = '{"role": "auditor"}';
SELECT count(DISTINCT coalesce(tenant, 'none')) FROM audit.config_change
 UNION ALL SELECT count(*) FROM broker.tenant UNION ALL SELECT (count(*) > 0)::int FROM broker.shared_issuer;
--> 3,2,1

-- sees nothing by an address that nobody verified
SET LOCAL mintmark.console_claims = '{"email": "lead@acme.example.com"}';
SELECT name FROM broker.tenant;
--> 

-- sees nothing by an address of which verification is told as a text
SET LOCAL mintmark.console_claims = '{"email": "lead@acme.example.com", "email_verified": "true"}';
SELECT name FROM broker.tenant;
--> 

-- sees the tenant by an address that was verified
SET LOCAL mintmark.console_claims = '{"email": "lead@acme.example.com", "email_verified": true}';
SELECT name FROM broker.tenant;
--> acme

-- sees nothing by an access that is disabled
SET LOCAL mintmark.console_claims = '{"sub": "gone"}';
SELECT name FROM broker.tenant;
--> 

-- changes no configuration
UPDATE broker.key SET enabled = false;
--> permission denied for table key

-- gives no access
INSERT INTO broker.console_access (claim, value) VALUES ('sub', '"me"');
--> permission denied for table console_access

-- writes no audit row
INSERT INTO audit.event (step) VALUES (1);
--> permission denied for view event

-- seals nothing
INSERT INTO audit.checkpoint (number, sealed_at, jws) VALUES (1, now(), 'a.b.c');
--> permission denied for view checkpoint

-- cosigns nothing
INSERT INTO audit.cosignature (tree, size, witness, line) VALUES (1, 1, 'w', 'x');
--> permission denied for view cosignature

-- makes no partitions
SELECT audit.create_partitions(3);
--> permission denied for function create_partitions

-- does not ask for the accesses themselves past the policies
SELECT claim FROM internal.accesses_of_viewer();
--> permission denied for function accesses_of_viewer

-- reads no working data of the service
SELECT * FROM runtime.used_token;
--> permission denied for view used_token

-- cannot hold the locks of platform-wide changes
SELECT FROM runtime.mutex FOR UPDATE;
--> permission denied for view mutex
