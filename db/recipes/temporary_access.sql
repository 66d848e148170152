-- Temporary access, for example for an incident, a migration or a guest. Credentials expire at valid_until at the latest.
\set SHOW_CONTEXT never

INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, max_duration, reason)
VALUES ('acme', 'acme-keycloak', '7b0e3f52-6a52-4c1e-8c3b-0a1b2c3d4e5f', 'deploy', now() + interval '8 hours', 900,
        'INC-77: Bob helps with the shop until tonight');

-- List grants that end soon, and extend one of them.
SELECT key, subject, ends_in, reason FROM broker.grant_ending_soon WHERE tenant = 'acme' ORDER BY valid_until;

UPDATE broker.subject_grant SET valid_until = valid_until + interval '2 hours'
 WHERE tenant = 'acme' AND key = 'deploy' AND (idp, subject) = ('acme-keycloak', '7b0e3f52-6a52-4c1e-8c3b-0a1b2c3d4e5f')
   AND valid_until > now();
