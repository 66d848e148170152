-- Grants in a file. A tenant admin or platform admin runs the file again after each change.
--
--   BEGIN; \i grants.sql; COMMIT;
\set SHOW_CONTEXT never

-- Inserts the grants that don't exist yet, and leaves existing grants unchanged.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason)
VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/next', 'exact', 'read', '{}', 'OPS-10: nightly builds'),
       ('acme', 'acme-github', 'repo:acme@1234567/docs-*:ref:refs/heads/main', 'glob', 'read', '{"repository_owner_id": "1234567", "event_name": "push"}', 'OPS-10: the manuals')
    ON CONFLICT DO NOTHING;

-- Inserts missing grants, and updates max_duration, reason and enabled of existing grants.
MERGE INTO broker.subject_grant AS g
USING (VALUES ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/next', 'exact', 'read', 900, 'OPS-11: a quarter of an hour will do'),
              ('acme', 'acme-github', 'repo:acme@1234567/shop@7654321:ref:refs/heads/docs', 'exact', 'read', 900, 'OPS-12: the manual'))
   AS wanted (tenant, idp, subject, match, key, max_duration, reason)
   ON g.tenant = wanted.tenant AND g.idp = wanted.idp AND g.subject = wanted.subject AND g.match = wanted.match
  AND g.key = wanted.key AND g.claims = '{}' AND g.actor IS NULL AND g.valid_from IS NULL AND g.valid_until IS NULL
 WHEN MATCHED AND (g.max_duration, g.reason, g.enabled) IS DISTINCT FROM (wanted.max_duration, wanted.reason, true)
      THEN UPDATE SET max_duration = wanted.max_duration, reason = wanted.reason, enabled = true
 WHEN NOT MATCHED
      THEN INSERT (tenant, idp, subject, match, key, max_duration, reason)
           VALUES (wanted.tenant, wanted.idp, wanted.subject, wanted.match, wanted.key, wanted.max_duration, wanted.reason);
