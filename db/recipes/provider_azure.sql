-- Azure by workload identity federation.
--
-- In Entra ID, create a federated credential on the application (or user-assigned identity) that the key uses:
--   az ad app federated-credential create --id 11111111-2222-3333-4444-555555555555 --parameters '{
--     "name": "mintmark", "issuer": "https://BROKER", "subject": "tenant:acme:key:azure-deploy",
--     "audiences": ["api://AzureADTokenExchange"]}'
-- Entra ID accepts only RS256, so the broker needs an RSA key among its signing keys. Tokens of Entra ID are valid for 60 to 90
-- minutes, so max_duration must be 5400 or more.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'azure', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}',
        '{11111111-2222-3333-4444-555555555555}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'azure-deploy', 'azure', 'Deploys to Azure', 5400,
        '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.azure.com/.default"}');
