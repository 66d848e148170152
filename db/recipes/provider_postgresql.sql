-- PostgreSQL: a login to a server of yours for each mint. On this server, run (docs/providers/postgresql.md explains each line):
--
--   CREATE ROLE app_rw NOLOGIN;                                              the role that keys name; GRANT it rights on tables
--   CREATE ROLE mintmark LOGIN CREATEROLE NOINHERIT;                         the broker's login, by certificate
--   GRANT app_rw TO mintmark WITH ADMIN TRUE, INHERIT FALSE, SET FALSE;      mintmark may grant the role
--   REVOKE CONNECT, TEMPORARY ON DATABASE postgres FROM PUBLIC;              only the broker needs its database
--   GRANT CONNECT ON DATABASE postgres TO mintmark;
--   GRANT pg_use_reserved_connections TO mintmark WITH INHERIT TRUE, SET FALSE;   with reserved_connections = 3
--   hostssl all mintmark 192.0.2.0/24 cert                                   pg_hba.conf: the certificate's CN is mintmark
--   hostssl all all      0.0.0.0/0    scram-sha-256                          pg_hba.conf: the minted logins
--
-- Write the certificate's private key to SECRETS_DIR/acme/postgresql.key, mode 0400. jq -Rs . mintmark.crt prints the certificate
-- in the form below. Without a CA, let the broker log in with a password (scram-sha-256 in pg_hba.conf): write the password to
-- SECRETS_DIR/acme/postgresql-password, run ALTER ROLE mintmark PASSWORD '…', and use these settings instead of the settings below:
--
--   {"host": "db.acme.example", "database": "postgres", "client_database": "orders", "login": "mintmark",
--    "password": {"file": "postgresql-password"}}
--
-- If the server is in a private network, list its host in OUTBOUND_ALLOWED_HOSTS. If a private CA signed the server's
-- certificate, add "ca_certificate".
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'orders', 'postgresql',
        '{"host": "db.acme.example", "database": "postgres", "client_database": "orders", "login": "mintmark", "client_key": {"file": "postgresql.key"},
          "client_certificate": "-----BEGIN CERTIFICATE-----\nMIIBmDCCAT2gAwIBAgIUUckBLTJQDsVYFMI7F5Kyk9RHocswCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjMyMjE3\nMzVaFw0zNjExMjAyMjE3MzVaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARIULKABIbT4jNDWAKhHbOU\ncNeKwM/EQOUaPOFatVpbddX1V/WWe3bgR1g+2WaHKm8pNkwjrRHLaa6HVRMiAKBQ\no1MwUTAdBgNVHQ4EFgQUilg3txF4ewogVFbR1EXFYYi4GXowHwYDVR0jBBgwFoAU\nilg3txF4ewogVFbR1EXFYYi4GXowDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQD\nAgNJADBGAiEA6krXYglc/uiCi+1QlioO0q39HIWD4gCIKQPSaB5QtQMCIQDBdxDF\nTW431d9Fbhd5VUzRVnBK2ToJ2kMs43xZ77WT0g==\n-----END CERTIFICATE-----"}',
        '{app_rw}');

-- A key's role must not be a superuser, and must not be able to grant other roles. In allowed_targets, list the server's own pg_
-- roles by name.
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'orders-login', 'orders', 'Read and write orders', 3600,
        '{"role": "app_rw", "parameters": {"statement_timeout": "30s"}}');
