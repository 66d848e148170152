-- X.509: TLS certificates, signed with a CA key of the tenant. docs/providers/x509.md explains how to set the servers up.
--
--   openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /O=acme/CN=acme-ca -days 3650 \
--       -addext keyUsage=critical,keyCertSign,cRLSign -keyout tls-ca.key -out tls-ca.crt
--                                                        write tls-ca.key to SECRETS_DIR/acme/tls-ca.key, mode 0400
--   jq -Rs . tls-ca.crt                                  prints the certificate in the form below
-- allowed_targets lists subjects and SPIFFE ids that keys may have.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'tls', 'x509',
        '{"ca_key": {"file": "tls-ca.key"}, "trust_domain": "acme.example",
          "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBmDCCAT2gAwIBAgIUUckBLTJQDsVYFMI7F5Kyk9RHocswCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjMyMjE3\nMzVaFw0zNjExMjAyMjE3MzVaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARIULKABIbT4jNDWAKhHbOU\ncNeKwM/EQOUaPOFatVpbddX1V/WWe3bgR1g+2WaHKm8pNkwjrRHLaa6HVRMiAKBQ\no1MwUTAdBgNVHQ4EFgQUilg3txF4ewogVFbR1EXFYYi4GXowHwYDVR0jBBgwFoAU\nilg3txF4ewogVFbR1EXFYYi4GXowDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQD\nAgNJADBGAiEA6krXYglc/uiCi+1QlioO0q39HIWD4gCIKQPSaB5QtQMCIQDBdxDF\nTW431d9Fbhd5VUzRVnBK2ToJ2kMs43xZ77WT0g==\n-----END CERTIFICATE-----"}',
        '{subject:/O=acme/CN=app.*,spiffe://acme.example/ci/*}');

-- PostgreSQL's pg_ident.conf maps the subject to a role; the serial number of the certificate is the mint id.
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'orders-db', 'tls', 'Read the orders', 900,
        '{"subject": "/O=acme/CN=app.{mint_id}", "uri": "spiffe://acme.example/ci/orders"}');
