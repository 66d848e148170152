-- Mints FROM to TO of ALL in the 90 days before END, as brokers write them but for their hashes. A tenth of them fall into
-- one hour, five hours ago, when a third of what is asked is denied. Tenant 3 has three tenths of them, half of these are
-- of its key-7, and three in ten of one subject; the others have the more the lower their number is. 200,000 subjects.
SET jit = off;
SET enable_mergejoin = off;
INSERT INTO log.event (mint_id, step, kind, occurred_at, request_id, tenant, idp, issuer, subject, key, provider, provider_type,
                         grant_id, grant_revision, reason, detail, credential_id, issued_at, expires_at, token_id, token_hash, claims,
                         actor_idp, actor_issuer, actor, client_address, user_agent, broker, chain, seq, prev_hash, hash)
WITH drawn AS MATERIALIZED (
     SELECT n, d.at, d.share, h.a, h.b, h.c
       FROM generate_series({from}, {to}) AS n
      CROSS JOIN LATERAL (
            SELECT n::float8 / {all} AS share, abs(hashint8extended(n, 1) % 1000003) AS a, abs(hashint8extended(n, 2) % 1000003) AS b,
                   abs(hashint8extended(n, 3) % 1000003) AS c) AS h
      CROSS JOIN LATERAL (
            SELECT h.share, timestamptz '{end}' - interval '90 days' + interval '1 second' *
                   CASE WHEN h.share < 0.898 THEN h.share / 0.898 * 7758000
                        WHEN h.share < 0.998 THEN 7758000 + (h.share - 0.898) / 0.1 * 3600
                        ELSE 7761600 + (h.share - 0.998) / 0.002 * 14400 END AS at) AS d),
     mint AS MATERIALIZED (
     SELECT d.n, d.at, d.a, d.c, t.t, 'tenant-' || t.t AS tenant, 'idp-' || t.t AS idp,
            (lpad(to_hex(floor(extract(epoch FROM d.at) * 1000)::bigint), 12, '0') || '7' || substr(r.hex, 1, 3)
             || '8' || substr(r.hex, 4, 15))::uuid AS mint_id, r.hex,
            CASE WHEN d.n % 5000 = 5 AND t.t = 3 THEN 'rare' WHEN t.t <> 3 THEN 'key-' || d.c % 5
                 WHEN d.c % 2 = 0 THEN 'key-7' ELSE 'key-' || d.c % 40 END AS key,
            CASE WHEN t.t <> 3 THEN 'job:' || (20000 + 90 * t.t + d.b % 90)
                 WHEN d.b % 10 < 3 THEN 'job:main' ELSE 'job:' || d.b % 20000 END AS subject,
            CASE WHEN d.n % 20000 = 7 THEN 'unresolved' WHEN d.n % 1000 = 9 THEN 'rejected'
                 WHEN d.a / 100 % 100 < CASE WHEN d.share BETWEEN 0.898 AND 0.998 THEN 33 ELSE 3 END THEN 'denied'
                 WHEN d.c / 100 % 50 = 1 THEN 'failed' ELSE 'issued' END AS outcome
       FROM drawn AS d
      CROSS JOIN LATERAL (SELECT CASE WHEN d.a % 10 < 3 THEN 3 ELSE floor({tenants} * power(d.b::float8 / 1000003, 2))::int END AS t) AS t
      CROSS JOIN LATERAL (SELECT md5(d.n::text) AS hex) AS r)
SELECT m.mint_id, s.step, s.kind, m.at + CASE s.step WHEN 2 THEN interval '40 milliseconds' ELSE interval '0' END,
       m.hex::uuid::text, m.tenant, m.idp, 'https://issuer.example.com',
       CASE WHEN s.kind <> 'rejected' THEN m.subject END, CASE WHEN s.kind <> 'rejected' THEN m.key END,
       CASE WHEN s.granted THEN 'aws' END, CASE WHEN s.granted THEN 'aws-sts' END,
       CASE WHEN s.granted THEN g.id END, CASE WHEN s.granted THEN g.revision END,
       CASE s.kind WHEN 'denied' THEN 'not_granted' WHEN 'rejected' THEN 'expired' WHEN 'failed'
            THEN CASE m.n % 7 WHEN 0 THEN 'provider_timeout' ELSE 'provider_rejected' END END,
       CASE s.kind WHEN 'failed' THEN 'AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity' END,
       CASE s.kind WHEN 'issued' THEN 'ASIA' || upper(left(m.hex, 16)) END,
       CASE s.kind WHEN 'issued' THEN m.at + interval '40 milliseconds' END,
       CASE s.kind WHEN 'issued' THEN m.at + l.life WHEN 'requested' THEN m.at + l.life + interval '70 seconds' END,
       reverse(m.hex), decode(m.hex || reverse(m.hex), 'hex'), '{"ref": "refs/heads/main", "repository": "acme/shop"}',
       CASE WHEN l.acts AND s.kind <> 'rejected' THEN m.idp END, CASE WHEN l.acts AND s.kind <> 'rejected' THEN 'https://issuer.example.com' END,
       CASE WHEN l.acts AND s.kind <> 'rejected' THEN 'agent:' || m.c % 50 END,
       '192.0.2.17', 'actions/runner 2.330.0 (linux; x64)', 'figures/' || m.n % 2, '1.figures-' || m.n % 2, m.n / 2 * 2 + s.step,
       decode(m.hex || m.hex, 'hex'), decode(reverse(m.hex) || m.hex, 'hex')
  FROM mint AS m
  JOIN figure_grant AS g ON g.tenant = m.tenant AND g.key = m.key
 CROSS JOIN LATERAL (SELECT CASE m.n % 10 WHEN 0 THEN interval '12 hours' ELSE interval '1 hour' END AS life, m.a / 10 % 50 = 0 AS acts) AS l
 CROSS JOIN LATERAL (VALUES (1, 'requested', true), (2, m.outcome, m.outcome NOT IN ('denied', 'rejected'))) AS s (step, kind, granted)
 WHERE CASE s.step WHEN 1 THEN m.outcome NOT IN ('denied', 'rejected') ELSE m.outcome <> 'unresolved' END;
