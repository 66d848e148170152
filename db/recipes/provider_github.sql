-- GitHub: access tokens of an installation of a GitHub App, for named repositories and permissions.
--
-- At GitHub: create a GitHub App in the organization's settings with the permissions that keys need, generate a private key,
-- and install the app. Write the key to SECRETS_DIR/acme/github-app.pem. The installation's id:
--   gh api /orgs/ORGANIZATION/installations --jq '.installations[] | [.app_slug, .id]'
-- GitHub Enterprise Server: add "api_url": "https://HOST/api/v3".
-- A key can name only targets in allowed_targets: here these two repositories, and contents and issues at any level.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'github-app', 'github-app',
        '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}',
        '{repository:shop,repository:docs,permission:contents:*,permission:issues:*}');

-- GitHub's tokens are valid for an hour.
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'docs-repository', 'github-app', 'Push to the documentation', 3600,
        '{"repositories": ["docs"], "permissions": {"contents": "write"}}');
