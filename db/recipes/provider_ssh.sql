-- SSH: user certificates, signed with a CA key of the tenant. docs/providers/ssh.md explains how to set the servers up.
--
--   ssh-keygen -t ed25519 -N '' -C acme-ca -f ssh-ca     write ssh-ca to SECRETS_DIR/acme/ssh-ca, mode 0400
--   sshd_config on each server:                          TrustedUserCAKeys /etc/ssh/acme-ca.pub
-- allowed_targets lists the principals that keys may name. In this example, no key can name root.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'servers', 'ssh', '{"ca_key": {"file": "ssh-ca"}}', '{deploy,backup}');

-- Certificates for 15 minutes that work only from the build network. For a shell, the extension permit-pty is needed.
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'web-servers', 'servers', 'Deployments to the web servers', 900,
        '{"principals": ["deploy"], "extensions": ["permit-pty"], "source_address": ["192.0.2.0/24"]}');
