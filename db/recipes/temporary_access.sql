-- Temporary access, for example for an incident, a migration or a guest. Credentials expire at valid_until at the latest.
\set SHOW_CONTEXT never

INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until, max_duration, reason)
VALUES ('acme', 'acme-keycloak', '9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60', 'deploy', now() + interval '8 hours', 900,
        'INC-77: Grace helps with the shop until tonight');

-- List grants that end soon, and extend one of them.
SELECT key, subject, ends_in, reason FROM broker.grant_ending_soon WHERE tenant = 'acme' ORDER BY valid_until;

UPDATE broker.subject_grant SET valid_until = valid_until + interval '2 hours'
 WHERE tenant = 'acme' AND key = 'deploy' AND (idp, subject) = ('acme-keycloak', '9c1f4a63-7b63-4d2f-8d4c-1b2c3d4e5f60')
   AND valid_until > now();
