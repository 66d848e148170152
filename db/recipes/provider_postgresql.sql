-- PostgreSQL: a login to a server of your own for each mint. docs/providers/postgresql.md sets the server up:
--
--   CREATE ROLE app_rw NOLOGIN;                                              what keys name; GRANT it the tables' rights
--   CREATE ROLE mintmark LOGIN CREATEROLE NOINHERIT;                         the broker's login, by certificate
--   GRANT app_rw TO mintmark WITH ADMIN TRUE, INHERIT FALSE, SET FALSE;      it may give the role away
--   REVOKE CONNECT, TEMPORARY ON DATABASE postgres FROM PUBLIC;              in the broker's database nobody else has anything to do
--   GRANT CONNECT ON DATABASE postgres TO mintmark;
--   GRANT pg_use_reserved_connections TO mintmark WITH INHERIT TRUE, SET FALSE;   with reserved_connections = 3
--   hostssl all mintmark 192.0.2.0/24 cert                                   pg_hba.conf: the certificate's CN is mintmark
--   hostssl all all      0.0.0.0/0    scram-sha-256                          pg_hba.conf: the minted logins
--
-- Write the certificate's key to SECRETS_DIR/acme/postgresql.key, mode 0400; jq -Rs . mintmark.crt prints the certificate as
-- it is written below. Without a CA, the broker logs in with a password (scram-sha-256 in pg_hba.conf): write it to
-- SECRETS_DIR/acme/postgresql-password, ALTER ROLE mintmark PASSWORD '…', and use these settings instead of those below:
--
--   {"host": "db.acme.example", "database": "postgres", "client_database": "orders", "login": "mintmark",
--    "password": {"file": "postgresql-password"}}
--
-- A server in a private network must be in OUTBOUND_ALLOWED_HOSTS. With a private authority add "ca_certificate".
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'orders', 'postgresql',
        '{"host": "db.acme.example", "database": "postgres", "client_database": "orders", "login": "mintmark", "client_key": {"file": "postgresql.key"},
          "client_certificate": "-----BEGIN CERTIFICATE-----\nMIIBmDCCAT2gAwIBAgIUUckBLTJQDsVYFMI7F5Kyk9RHocswCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjMyMjE3\nMzVaFw0zNjExMjAyMjE3MzVaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARIULKABIbT4jNDWAKhHbOU\ncNeKwM/EQOUaPOFatVpbddX1V/WWe3bgR1g+2WaHKm8pNkwjrRHLaa6HVRMiAKBQ\no1MwUTAdBgNVHQ4EFgQUilg3txF4ewogVFbR1EXFYYi4GXowHwYDVR0jBBgwFoAU\nilg3txF4ewogVFbR1EXFYYi4GXowDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQD\nAgNJADBGAiEA6krXYglc/uiCi+1QlioO0q39HIWD4gCIKQPSaB5QtQMCIQDBdxDF\nTW431d9Fbhd5VUzRVnBK2ToJ2kMs43xZ77WT0g==\n-----END CERTIFICATE-----"}',
        '{app_rw}');

-- A key's role may be no superuser and may not grant others. The server's own pg_ roles must be listed by name.
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'orders-login', 'orders', 'Read and write orders', 3600,
        '{"role": "app_rw", "parameters": {"statement_timeout": "30s"}}');
