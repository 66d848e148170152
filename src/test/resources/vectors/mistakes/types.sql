-- aws-sts: a role of the commercial partition, a region of GovCloud
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "us-gov-west-1"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme" names roles of the partition aws, but the region us-gov-west-1 is in another partition.
--? Roles in AWS GovCloud begin with arn:aws-us-gov:, in AWS China with arn:aws-cn:. Correct the role or the region.
--! 23514

-- aws-sts: a role of GovCloud, a commercial region
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws-us-gov:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme" names roles of AWS GovCloud, but the region is eu-central-1.
--? Write a region such as us-gov-west-1.
--! 23514

-- aws-sts: a role of China, a commercial region
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws-cn:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme" names roles of AWS China, but the region is eu-central-1.
--? Write cn-north-1 or cn-northwest-1.
--! 23514

-- aws-sts: an availability zone as region
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1a"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme": the setting "region" is "eu-central-1a", which is not an AWS region.
--? For example "region": "eu-central-1".
--! 23514

-- aws-sts: the endpoint of another region
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "endpoint": "https://sts.us-east-1.amazonaws.com"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme" has the endpoint of another region than eu-central-1.
--? Leave out endpoint: the regional one is the default.
--! 23514

-- aws-sts: the endpoint of S3
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "endpoint": "https://s3.eu-central-1.amazonaws.com"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme" has an endpoint that is not STS's.
--? Leave out endpoint, or write the URL of STS.
--! 23514

-- aws-sts: a user's ARN as role
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:user/ci"}');
--> Key "k" of tenant "acme": the setting "role_arn" is "arn:aws:iam::123456789012:user/ci", which is not the ARN of a role.
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".
--! 23514

-- aws-sts: the ARN of an assumed role
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:sts::123456789012:assumed-role/ci-deploy/x"}');
--> Key "k" of tenant "acme": the setting "role_arn" is "arn:aws:sts::123456789012:assumed-role/ci-deploy/x", which is not the ARN of a role.
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".
--! 23514

-- aws-sts: a service-linked role
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws:iam::123456789012:role/**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/aws-service-role/ecs.amazonaws.com/AWSServiceRoleForECS"}');
--> Key "k" of tenant "acme" names a role that only AWS itself can use.
--? Create a role with a trust policy for the broker: see docs/providers/aws-sts.md.
--! 23514

-- aws-sts: eight hours written as 8
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 8, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> Key "k" of tenant "acme": max_duration is 8 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--? max_duration is in seconds: 8 hours are 28800. Write 900 to 43200, for example 28800.
--! 23514

-- aws-sts: an account with eleven digits
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::12345678901:role/ci-x"}');
--> Key "k" of tenant "acme": the setting "role_arn" is "arn:aws:iam::12345678901:role/ci-x", which is not the ARN of a role.
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".
--! 23514

-- aws-sts: a pattern as role
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-*"}');
--> Key "k" of tenant "acme": the setting "role_arn" is "arn:aws:iam::123456789012:role/ci-*", which is not the ARN of a role.
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".
--! 23514

-- aws-sts: a policy without Resource
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject"}]}}');
--> Key "k": incomplete_policy
--? The policy has no valid Resource. AWS rejects statements without Effect, Action and Resource, and applies the rules of 2008 to a policy without Version. Version is 2012-10-17, Effect is Allow or Deny.
--! 01000

-- s3-sts: role_arn where the provider has policy_claim
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 3600, '{"role_arn": "arn:minio:iam:::role/nOybJqMNzNmroqEKq5D0EUsRZw0"}');
--> Key "k" of tenant "acme" names a role_arn, but its access provider chooses the policy by policy_claim.
--? MinIO uses one or the other. Leave out role_arn, or use an access provider without policy_claim.
--! 23514

-- s3-sts: an endpoint of AWS
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://s3.eu-central-1.amazonaws.com"}', '{**}');
--> Access provider "p2" of tenant "acme" has an endpoint of AWS.
--? Use the type aws-sts for AWS.
--! 23514

-- s3-sts: the port of the console
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://minio.acme.example:9001"}', '{**}');
--> Access provider "p2" of tenant "acme" has the port of MinIO's console, 9001.
--? Write the port of the S3 API, usually 9000.
--! 23514

-- s3-sts: an endpoint without scheme
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "minio.acme.example"}', '{**}');
--> Access provider "p2" of tenant "acme": the setting "endpoint" is "minio.acme.example", which is not a URL of the form https://host/path (no user, query or fragment).
--? For example "endpoint": "https://minio.example.com".
--! 23514

-- s3-sts: a bucket in the endpoint, with a query
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://minio.acme.example/bucket?x=1"}', '{**}');
--> Access provider "p2" of tenant "acme": the setting "endpoint" is "https://minio.acme.example/bucket?x=1", which is not a URL of the form https://host/path (no user, query or fragment).
--? For example "endpoint": "https://minio.example.com".
--! 23514

-- s3-sts: a policy_claim that is the subject
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://minio.acme.example", "policy_claim": {"name": "sub", "value": "readonly"}}', '{**}');
--> Access provider "p2" of tenant "acme": the setting "policy_claim" names the claim "sub", which only the broker sets.
--? For example "policy_claim": {"name": "policy", "value": "readonly"}.
--! 23514

-- s3-sts: a policy_claim as text
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://minio.acme.example", "policy_claim": "policy"}', '{**}');
--> Access provider "p2" of tenant "acme": the setting "policy_claim" must be an object of names and values.
--? For example "policy_claim": {"name": "policy", "value": "readonly"}.
--! 23514

-- s3-sts: a quarter of an hour written as 15
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 15, '{}');
--> Key "k" of tenant "acme": max_duration is 15 seconds, but type s3-sts issues credentials for 900 to 604800 seconds.
--? max_duration is in seconds: 15 hours are 54000. Write 900 to 604800, for example 54000.
--! 23514

-- s3-sts: more than a week
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 1000000, '{}');
--> Key "k" of tenant "acme": max_duration is 1000000 seconds, but type s3-sts issues credentials for 900 to 604800 seconds.
--? max_duration is in seconds. Write 900 to 604800, for example 604800.
--! 23514

-- s3-sts: an IAM role of AWS as target form
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://minio.acme.example"}', '{ci-*}');
--> Access provider "p2" of tenant "acme": "ci-*" in allowed_targets does not start with a literal segment.
--? The text up to the first : or / must not contain *, for example "arn:aws:iam::123456789012:role/ci-*". ** alone allows everything.
--! 23514

-- s3-sts: a misspelt setting
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://minio.acme.example", "audiance": "x"}', '{**}');
--> Access provider "p2" of tenant "acme" has the setting "audiance", which an access provider of type s3-sts does not have.
--? Did you mean "audience"? It has: audience, endpoint, policy_claim, region.
--! 23514

-- gcp: a scope without its URL
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["cloud-platform"]}');
--> Key "k" of tenant "acme": the setting "scopes" has an element that is "cloud-platform", which is not the URL of a scope.
--? For example "scopes": ["https://www.googleapis.com/auth/devstorage.read_only"].
--! 23514

-- gcp: two scopes in one string
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/drive"]}');
--> Key "k" of tenant "acme": the setting "scopes" has an element that is "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/drive", which is not the URL of a scope.
--? For example "scopes": ["https://www.googleapis.com/auth/devstorage.read_only"].
--! 23514

-- gcp: a personal account
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "ada@gmail.com"}');
--> Key "k" of tenant "acme" names a personal account.
--? Write the email of a service account, for example deploy@acme-prod.iam.gserviceaccount.com.
--! 23514

-- gcp: the project's number as id
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "123456789", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}', '{**}');
--> Access provider "p2" of tenant "acme": the setting "project_id" is "123456789", which is not the id of a project, in lower case.
--? For example "project_id": "acme-prod".
--! 23514

-- gcp: the project's id in the provider's name
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/acme-prod/locations/global/workloadIdentityPools/m/providers/m"}', '{**}');
--> Access provider "p2" of tenant "acme": the setting "workload_identity_provider" is "//iam.googleapis.com/projects/acme-prod/locations/global/workloadIdentityPools/m/providers/m", which is not the full name of a workload identity provider, with the number of the project.
--? For example "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark".
--! 23514

-- gcp: the provider's name without its host
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "projects/1/locations/global/workloadIdentityPools/m/providers/m"}', '{**}');
--> Access provider "p2" of tenant "acme": the setting "workload_identity_provider" is "projects/1/locations/global/workloadIdentityPools/m/providers/m", which is not the full name of a workload identity provider, with the number of the project.
--? For example "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark".
--! 23514

-- gcp: a principal as service account
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 3600, '{"service_account": "serviceAccount:deploy@acme-prod.iam.gserviceaccount.com"}');
--> Key "k" of tenant "acme": the setting "service_account" is "serviceAccount:deploy@acme-prod.iam.gserviceaccount.com", which is not the email of a service account.
--? For example "service_account": "deploy@acme-prod.iam.gserviceaccount.com".
--! 23514

-- gcp: delegates without a service account
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"delegates": ["hop@acme-prod.iam.gserviceaccount.com"]}');
--> Key "k" of tenant "acme" has delegates, but no service_account that they lead to.
--? Write service_account, or leave out delegates.
--! 23514

-- gcp: more than twelve hours
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 86400, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com"}');
--> Key "k" of tenant "acme": max_duration is 86400 seconds, but type gcp issues credentials for 60 to 43200 seconds.
--? max_duration is in seconds. Write 60 to 43200, for example 43200.
--! 23514

-- gcp: the unique id of a service account
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 3600, '{"service_account": "112233445566778899000"}');
--> Key "k" of tenant "acme": the setting "service_account" is "112233445566778899000", which is not the email of a service account.
--? For example "service_account": "deploy@acme-prod.iam.gserviceaccount.com".
--! 23514

-- azure: the directory common
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "common"}', '{**}');
--> Access provider "p2" of tenant "acme" has the tenant_id "common", which is no directory.
--? Write the directory's id: az account show --query tenantId.
--! 23514

-- azure: an authority with the directory in its path
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47", "authority": "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');
--> Access provider "p2" of tenant "acme" has an authority with a path.
--? Write the host only, for example https://login.microsoftonline.com.
--! 23514

-- azure: a scope without .default
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.azure.com/user_impersonation"}');
--> Key "k" of tenant "acme": the setting "scope" is "https://management.azure.com/user_impersonation", which is not a resource followed by /.default.
--? For example "scope": "https://management.azure.com/.default".
--! 23514

-- azure: a scope of the public cloud at Azure Government
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47", "authority": "https://login.microsoftonline.us"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.azure.com/.default"}');
--> Key "k" of tenant "acme" has a scope of the public cloud, but its authority is Azure Government.
--? Write a scope such as https://management.usgovcloudapi.net/.default.
--! 23514

-- azure: a scope of Azure China in the public cloud
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.chinacloudapi.cn/.default"}');
--> Key "k" of tenant "acme" has a scope of another cloud than its authority.
--? Set authority to https://login.microsoftonline.us or https://login.chinacloudapi.cn, or correct the scope.
--! 23514

-- azure: the directory's id as client id
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "72f988bf-86f1-41af-91ab-2d7cd011db47", "scope": "https://management.azure.com/.default"}');
--> Key "k" of tenant "acme" has the directory's id as client_id.
--? Write the application (client) id of the app registration or managed identity.
--! 23514

-- azure: an hour, which Entra may exceed
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'azure', 3600, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.azure.com/.default"}');
--> Key "k" of tenant "acme": max_duration is 3600 seconds, but type azure issues credentials for 5400 to 86400 seconds.
--? max_duration is in seconds. Write 5400 to 86400, for example 5400.
--! 23514

-- azure: two scopes
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.azure.com/.default https://graph.microsoft.com/.default"}');
--> Key "k" of tenant "acme": the setting "scope" is "https://management.azure.com/.default https://graph.microsoft.com/.default", which is not a resource followed by /.default.
--? For example "scope": "https://management.azure.com/.default".
--! 23514

-- azure: a client secret
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47", "client_secret": {"file": "x"}}', '{**}');
--> Access provider "p2" of tenant "acme" has the setting "client_secret", which an access provider of type azure does not have.
--? It has: authority, tenant_id.
--! 23514

-- azure: the scope is missing
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555"}');
--> Key "k" of tenant "acme" lacks the setting "scope".
--? For example "scope": "https://management.azure.com/.default".
--! 23514

-- oauth2: the authorization endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/authorize"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has a token_endpoint that ends like another endpoint.
--? Write the token_endpoint of the server's discovery document; it usually ends with /token.
--! 23514

-- oauth2: the introspection endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/introspect"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has a token_endpoint that ends like another endpoint.
--? Write the token_endpoint of the server's discovery document; it usually ends with /token.
--! 23514

-- oauth2: the discovery document
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/.well-known/openid-configuration"}', '{https://x.acme.example}');
--> Access provider "p2": endpoint_is_discovery
--? The setting "token_endpoint" is the URL of a discovery document. Write the token_endpoint in that document.
--! 01000

-- oauth2: a JWT grant whose parameter is subject_token
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "grant": "jwt-bearer", "subject_parameter": "subject_token"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has the grant jwt-bearer, whose parameter is assertion, and sends the token as subject_token.
--? Leave out subject_parameter, or choose the grant token-exchange.
--! 23514

-- oauth2: a token exchange whose parameter is assertion
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "subject_parameter": "assertion"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" exchanges tokens, whose parameter is subject_token, and sends the token as assertion.
--? Leave out subject_parameter, or choose the grant jwt-bearer.
--! 23514

-- oauth2: a client secret written into the row
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "client_id": "x", "client_secret": "s3cr3t"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme": the setting "client_secret" must not contain the secret itself; secrets are never stored in the database.
--? Write the secret to a file in the tenant's secrets directory, and "client_secret": {"file": "its-name"} here.
--! 23514

-- oauth2: client_auth without a secret
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "client_id": "x", "client_auth": "client_secret_basic"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme": the setting "client_auth" is "client_secret_basic", which needs the setting "client_secret" too.
--? Write the secret to a file in the tenant's secrets directory, and "client_secret": {"file": "its-name"} here.
--! 23514

-- oauth2: client_secret_post
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "client_id": "x", "client_auth": "client_secret_post", "client_secret": {"file": "s"}}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme": the setting "client_auth" is "client_secret_post", and must be one of none, client_secret_basic, private_key_jwt (did you mean "client_secret_basic"?).
--? Write "client_auth": "…", or leave it out.
--! 23514

-- oauth2: scopes with commas
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token"}', '{https://x.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"audience": "https://x.acme.example", "scope": "read,write"}');
--> Key "k" of tenant "acme" has a scope with a comma.
--? Separate scopes by spaces (RFC 6749 section 3.3).
--! 23514

-- oauth2: a pattern as audience
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token"}', '{https://*.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"audience": "https://*.acme.example"}');
--> Key "k" of tenant "acme": the setting "audience" has a *: a key names one target, not a pattern.
--? Write "audience": "…", or leave it out. Patterns are for allowed_targets.
--! 23514

-- oauth2: one URL for tokens and revocation
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "revocation_endpoint": "https://as2.acme.example/oauth2/token"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has one URL as token_endpoint and revocation_endpoint.
--? Write the revocation_endpoint of the server's discovery document, or leave it out.
--! 23514

-- oauth2: requested_token_type with a JWT grant
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "grant": "jwt-bearer"}', '{https://x.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"audience": "https://x.acme.example", "requested_token_type": "urn:ietf:params:oauth:token-type:jwt"}');
--> Key "k" of tenant "acme" has a requested_token_type, which the grant jwt-bearer does not have.
--? Leave it out, or use an access provider with the grant token-exchange.
--! 23514

-- oauth2: a resource with a fragment
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"resource": "https://x.acme.example/#a"}');
--> Key "k" of tenant "acme": the setting "resource" is "https://x.acme.example/#a", which is not an absolute URI without fragment.
--? For example "resource": "https://api.example.com".
--! 23514

-- github-app: an api_url without /api/v3
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678", "api_url": "https://github.acme.example"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');
--> Access provider "p2" of tenant "acme" has an api_url without /api/v3.
--? GitHub Enterprise Server has https://HOST/api/v3, GHE.com https://api.NAME.ghe.com, github.com https://api.github.com.
--! 23514

-- github-app: github.com as api_url
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678", "api_url": "https://github.com"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');
--> Access provider "p2" of tenant "acme" has an api_url without /api/v3.
--? GitHub Enterprise Server has https://HOST/api/v3, GHE.com https://api.NAME.ghe.com, github.com https://api.github.com.
--! 23514

-- github-app: a misspelt permission
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "permissions": {"content": "read"}}');
--> Key "k" of tenant "acme": the setting "permissions" has the name "content", which is unknown (did you mean "contents"?).
--? For example "permissions": {"contents": "read"}.
--! 23514

-- github-app: a permission that is not in the list
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "permissions": {"telepathy": "read"}}');
--> Key "k": unlikely_name
--? The setting "permissions" has the name "telepathy", which is not in the vendor's published list of 2026-11. Check its spelling.
--! 01000

-- github-app: workflows to read
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "permissions": {"workflows": "read"}}');
--> Key "k" of tenant "acme" asks for a level of the permission workflows that GitHub does not have.
--? workflows has the level write only.
--! 23514

-- github-app: contents as admin
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "permissions": {"contents": "admin"}}');
--> Key "k" of tenant "acme" asks for the level admin of a permission that GitHub has for read and write only.
--? Only repository_projects, organization_projects and custom properties have the level admin. Write read or write.
--! 23514

-- github-app: a repository with its owner
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["acme/shop"], "permissions": {"contents": "read"}}');
--> Key "k" of tenant "acme": the setting "repositories" has an element that is "acme/shop", which is not the name of a repository without its owner.
--? For example "repositories": ["shop"].
--! 23514

-- github-app: an installation's id as a URL
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "https://github.com/organizations/acme/settings/installations/1"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');
--> Access provider "p2" of tenant "acme": the setting "installation_id" is "https://github.com/organizations/acme/settings/installations/1", which is not a whole number.
--? For example "installation_id": "12345678".
--! 23514

-- github-app: permissions as a list
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "permissions": ["contents"]}');
--> Key "k" of tenant "acme": the setting "permissions" must be an object of strings, not a list.
--? For example "permissions": {"contents": "read"}.
--! 23514

-- github-app: no repositories
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"permissions": {"contents": "read"}}');
--> Key "k" of tenant "acme": the setting "permissions" needs one of the settings "repositories", "repository_ids", "all_repositories" too.
--? For example "repositories": ["shop"].
--! 23514

-- github-app: half an hour
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 1800, '{"repositories": ["shop"], "permissions": {"contents": "read"}}');
--> Key "k" of tenant "acme": max_duration is 1800 seconds, but type github-app issues credentials for 3600 to 3600 seconds.
--? max_duration is in seconds. Write 3600 to 3600, for example 3600.
--! 23514

-- kubernetes: a server with the path of the API
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443/api/v1"}', '{shop/*}');
--> Access provider "p2" of tenant "acme" has a server with the path of an API.
--? Write the URL as in a kubeconfig, for example https://kubernetes.example.com:6443.
--! 23514

-- kubernetes: the name of the server inside its cluster
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://kubernetes.default.svc"}', '{shop/*}');
--> Access provider "p2" of tenant "acme" has the server's name inside the cluster.
--? Write the URL by which the broker reaches the API server.
--! 23514

-- kubernetes: a server without scheme
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "k2.acme.example:6443"}', '{shop/*}');
--> Access provider "p2" of tenant "acme": the setting "server" is "k2.acme.example:6443", which is not a URL of the form https://host/path (no user, query or fragment).
--? For example "server": "https://kubernetes.example.com:6443".
--! 23514

-- kubernetes: a service account with the prefix of its subject
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "system:serviceaccount:shop:deployer"}');
--> Key "k" of tenant "acme": the setting "service_account" is "system:serviceaccount:shop:deployer", which is not a namespace and the name of a service account, with a / between them.
--? For example "service_account": "shop/deployer".
--! 23514

-- kubernetes: a service account without namespace
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "deployer"}');
--> Key "k" of tenant "acme": the setting "service_account" is "deployer", which is not a namespace and the name of a service account, with a / between them.
--? For example "service_account": "shop/deployer".
--! 23514

-- kubernetes: a colon for the slash in targets
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{shop:*}');
--> Access provider "p2": target_fits_no_form
--? No target of type kubernetes matches "shop:*". Targets have the form */*.
--! 01000

-- kubernetes: a token without auth
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443", "token": {"file": "t"}}', '{shop/*}');
--> Access provider "p2" of tenant "acme": the setting "token" needs the setting "auth" too.
--? Left out, it is "broker".
--! 23514

-- kubernetes: auth token without a token
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443", "auth": "token"}', '{shop/*}');
--> Access provider "p2" of tenant "acme": the setting "auth" is "token", which needs the setting "token" too.
--? Write the secret to a file in the tenant's secrets directory, and "token": {"file": "its-name"} here.
--! 23514

-- kubernetes: five minutes
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{shop/*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 300, '{"service_account": "shop/deployer"}');
--> Key "k" of tenant "acme": max_duration is 300 seconds, but type kubernetes issues credentials for 600 to 86400 seconds.
--? max_duration is in seconds. Write 600 to 86400, for example 600.
--! 23514

-- kubernetes: a certificate in base64, as in a kubeconfig
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443", "ca_certificate": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"}', '{shop/*}');
--> Access provider "p2" of tenant "acme": the setting "ca_certificate" is not a certificate in PEM.
--? For example "ca_certificate": "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----".
--! 23514

-- kubernetes: capitals in a namespace
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "Shop/deployer"}');
--> Key "k" of tenant "acme": the setting "service_account" is "Shop/deployer", which is not a namespace and the name of a service account, with a / between them.
--? For example "service_account": "shop/deployer".
--! 23514

-- ssh: no allowed_targets
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 's2', 'ssh', '{"ca_key": {"file": "ssh-ca2"}}');
--> Access provider "s2": any_target
--? allowed_targets is **, so a tenant admin can write a key for any user, role or name that type ssh can give. List the targets that this tenant may have.
--! 01000

-- ssh: a line of known_hosts without a key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 's2', 'ssh', '{"ca_key": {"file": "ssh-ca2"}, "known_hosts": ["@cert-authority *.acme.example"]}', '{deploy}');
--> Access provider "s2" of tenant "acme": the setting "known_hosts" has an element that is "@cert-authority *.acme.example", which is not a line of known_hosts: hosts, type of key, key.
--? For example "known_hosts": ["@cert-authority *.acme.example ssh-ed25519 AAAA"].
--! 23514

-- ssh: a CA key that another provider has
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 's2', 'ssh', '{"ca_key": {"file": "ssh-ca"}}', '{deploy}');
--> Access provider "s2": one_authority_twice
--? Access provider "servers" signs with the same ca_key, so servers that trust one trust the other. Give each a CA of its own.
--! 01000

-- ssh: the CA key written into the row
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 's2', 'ssh', '{"ca_key": "-----BEGIN OPENSSH PRIVATE KEY-----"}', '{deploy}');
--> settings in broker.access_provider contains what looks like a token or a key ("-----…").
--? Secrets are not stored in the database. Remove it, and revoke it if it is real.
--! 23514

-- ssh: bits after the prefix
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "source_address": ["10.1.2.3/8"]}');
--> Key "k" of tenant "acme": the setting "source_address" has an element that is "10.1.2.3/8", which has bits after its prefix: write 10.0.0.0/8, or 10.1.2.3 for the one address.
--? For example "source_address": ["192.0.2.0/24"].
--! 23514

-- ssh: a host name as source address
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "source_address": ["bastion.acme.example"]}');
--> Key "k" of tenant "acme": the setting "source_address" has an element that is "bastion.acme.example", which is not an IP address or a network.
--? For example "source_address": ["192.0.2.0/24"].
--! 23514

-- ssh: two principals in one string
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy,root"]}');
--> Key "k" of tenant "acme": the setting "principals" has an element that is "deploy,root", which is not the name of one user: letters, digits and any of _.@:/+-.
--? For example "principals": ["deploy"].
--! 23514

-- ssh: a pattern as principal
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 's2', 'ssh', '{"ca_key": {"file": "ssh-ca2"}}', '{deploy-*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 's2', 900, '{"principals": ["deploy-*"]}');
--> Access provider "s2" of tenant "acme": "deploy-*" in allowed_targets does not start with a literal segment.
--? The text up to the first : or / must not contain *, for example "arn:aws:iam::123456789012:role/ci-*". ** alone allows everything.
--! 23514

-- ssh: an extension without permit-
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "extensions": ["pty"]}');
--> Key "k" of tenant "acme": the setting "extensions" has an element that is "pty", and must be one of no-touch-required, permit-X11-forwarding, permit-agent-forwarding, permit-port-forwarding, permit-pty, permit-user-rc.
--? For example "extensions": ["permit-pty"].
--! 23514

-- ssh: two days
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 172800, '{"principals": ["deploy"]}');
--> Key "k" of tenant "acme": max_duration is 172800 seconds, but type ssh issues credentials for 60 to 86400 seconds.
--? max_duration is in seconds. Write 60 to 86400, for example 86400.
--! 23514

-- ssh: a prefix that is too long
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "source_address": ["10.0.0.0/33"]}');
--> Key "k" of tenant "acme": the setting "source_address" has an element that is "10.0.0.0/33", which is not an IP address or a network.
--? For example "source_address": ["192.0.2.0/24"].
--! 23514

-- ssh: principals as a string
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": "deploy"}');
--> Key "k" of tenant "acme": the setting "principals" must be a list of strings, not a string.
--? For example "principals": ["deploy"].
--! 23514

-- x509: dns_names for a client
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 't2', 900, '{"subject": "/O=acme/CN=api", "dns_names": ["api.acme.example"]}');
--> Key "k" of tenant "acme" has dns_names, but no usage "server".
--? Write "usage": ["server"], or leave out dns_names: clients are identified by subject and uri.
--! 23514

-- x509: a server without dns_names
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 't2', 900, '{"subject": "/O=acme/CN=api", "usage": ["server"]}');
--> Key "k" of tenant "acme" is for servers, but has no dns_names.
--? Clients compare the name that they connect to with dns_names, for example ["api.acme.example"].
--! 23514

-- x509: a URI of another trust domain
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 't2', 900, '{"subject": "/O=acme/CN=api", "uri": "spiffe://other.example/api"}');
--> Key "k" of tenant "acme" has a uri of another trust domain than acme.example.
--? Write a uri that begins with spiffe://acme.example/.
--! 23514

-- x509: a certificate that is no authority's
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBnzCCAUSgAwIBAgIULAtKb/Ruvev2phAsV6kLTp4SU1UwCgYIKoZIzj0EAwIw\nHjENMAsGA1UECgwEYWNtZTENMAsGA1UEAwwEbGVhZjAeFw0yNjExMjYxNDQzNDRa\nFw0zNjExMjMxNDQzNDRaMB4xDTALBgNVBAoMBGFjbWUxDTALBgNVBAMMBGxlYWYw\nWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEYq8Zj+q9g\nPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOCo2AwXjAd\nBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU57Vsz4vX\np+iAryBrFuflL3CfEhQwDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwCgYI\nKoZIzj0EAwIDSQAwRgIhAOyzv3y7++NX9qJuzk77A19RBKo9cMevgZbcHm7bnC1A\nAiEAhT6FhkUVSOGvbd0etG7caYsrOfOypHugHT/6fIucf0w=\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');
--> Access provider "t2" of tenant "acme": the setting "ca_certificate" is not the certificate of an authority (basicConstraints without CA:TRUE).
--? For example "ca_certificate": "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----".
--! 23514

-- x509: a certificate that has expired
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBNTCB3KADAgECAgEHMAoGCCqGSM49BAMCMBIxEDAOBgNVBAMMB2FjbWUtY2Ew\nHhcNMjAwMTAxMDAwMDAwWhcNMjEwMTAxMDAwMDAwWjASMRAwDgYDVQQDDAdhY21l\nLWNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE79jnxbeJRnnOzzUGb/6RGKvG\nY/qvYD81EcpGNy6ni2OarHoUslEGydBpQHDpHPK5uLfjoG9hqZL+ky2uEukDgqMj\nMCEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZIzj0EAwID\nSAAwRQIgbabKeuKTL37KSONQpgLlG3eSl6qAwyH6H69ptmrRHwACIQD/V6d2d4dq\nYmTN17AFqR2f8PJjAdfqwbRaLcXRySXRcQ==\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');
--> Access provider "t2" of tenant "acme": the setting "ca_certificate" is a certificate that expired at 2021-01-01T00:00Z.
--? For example "ca_certificate": "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----".
--! 23514

-- x509: a certificate that may not sign lists
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBpzCCAU2gAwIBAgIUR/WEB7YlYDO9BRE/oyJKrQ0vMvkwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAgQwCgYIKoZIzj0EAwIDSAAwRQIhALIs0snmXU4R0ZTsDTH7Lm3soDySjr4N\nReNU2SSmN45HAiA76HuHe2fp8kx6pV3OLGlQKyFNaxoMCW2k5DHkUPgdYA==\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');
--> Access provider "t2" of tenant "acme": the setting "ca_certificate" is a certificate whose key usage lacks keyCertSign or cRLSign.
--? For example "ca_certificate": "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----".
--! 23514

-- x509: an RFC 4514 subject
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 't2', 900, '{"subject": "CN=api,O=acme"}');
--> Key "k" of tenant "acme": the setting "subject" is "CN=api,O=acme", which is not attributes such as /O=acme/CN=shop, of CN, OU, O, L, ST, C, DC and UID.
--? For example "subject": "/O=acme/CN={key}".
--! 23514

-- x509: a URL as URI
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 't2', 900, '{"subject": "/O=acme/CN=api", "uri": "https://acme.example/api"}');
--> Key "k" of tenant "acme": the setting "uri" is "https://acme.example/api", which is not a SPIFFE id: a trust domain and a path.
--? For example "uri": "spiffe://acme.example/deploy".
--! 23514

-- x509: a trust domain with its scheme
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "spiffe://acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');
--> Access provider "t2" of tenant "acme": the setting "trust_domain" is "spiffe://acme.example", which is not a domain in lower case.
--? For example "trust_domain": "acme.example".
--! 23514

-- x509: a private key as certificate
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN EC PRIVATE KEY-----"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');
--> settings in broker.access_provider contains what looks like a token or a key ("-----…").
--? Secrets are not stored in the database. Remove it, and revoke it if it is real.
--! 23514

-- x509: no allowed_targets
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}');
--> Access provider "t2": any_target
--? allowed_targets is **, so a tenant admin can write a key for any user, role or name that type x509 can give. List the targets that this tenant may have.
--! 01000

-- webhook: a pattern as target
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'registry', 900, '{"target": "registry/*"}');
--> Key "k" of tenant "acme": the setting "target" has a *: a key names one target, not a pattern.
--? For example "target": "registry/push". Patterns are for allowed_targets.
--! 23514

-- webhook: a hook of Slack
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://hooks.slack.com/services/T/B/x", "fields": ["REGISTRY_PASSWORD"]}', '{registry/*}');
--> Access provider "w2" of tenant "acme" has the endpoint of a chat service, which makes no credentials.
--? The endpoint is a service of your own: see docs/providers/webhook.md.
--! 23514

-- webhook: plain http
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "ftp://c.acme.example", "fields": ["REGISTRY_PASSWORD"]}', '{registry/*}');
--> Access provider "w2" of tenant "acme": the setting "endpoint" is "ftp://c.acme.example", which is not a URL of the form https://host/path (no user, query or fragment).
--? For example "endpoint": "https://credentials.example.com/mintmark".
--! 23514

-- webhook: a field that steers programs
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://c.acme.example", "fields": ["LD_PRELOAD"]}', '{registry/*}');
--> Access provider "w2" of tenant "acme": the setting "fields" has an element that is "LD_PRELOAD", a variable that changes what programs run, load, trust or connect to.
--? For example "fields": ["REGISTRY_PASSWORD"].
--! 23514

-- webhook: no fields
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://c.acme.example"}', '{registry/*}');
--> Access provider "w2" of tenant "acme" lacks the setting "fields".
--? For example "fields": ["REGISTRY_PASSWORD"].
--! 23514

-- webhook: the field Expiration
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://c.acme.example", "fields": ["Expiration"]}', '{registry/*}');
--> Access provider "w2" of tenant "acme": the setting "fields" has an element that is "Expiration", which the broker sets.
--? For example "fields": ["REGISTRY_PASSWORD"].
--! 23514

-- webhook: a field with a hyphen
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://c.acme.example", "fields": ["registry-password"]}', '{registry/*}');
--> Access provider "w2" of tenant "acme": the setting "fields" has an element that is "registry-password", which is not the name of a variable: letters, digits and _.
--? For example "fields": ["REGISTRY_PASSWORD"].
--! 23514

-- webhook: a client certificate without its key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://c.acme.example", "fields": ["X"], "client_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}', '{registry/*}');
--> Access provider "w2" of tenant "acme": the setting "client_certificate" needs the setting "client_key" too.
--? Write the secret to a file in the tenant's secrets directory, and "client_key": {"file": "its-name"} here.
--! 23514

-- webhook: a token in the endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://c.acme.example/?token=x", "fields": ["REGISTRY_PASSWORD"]}', '{registry/*}');
--> Access provider "w2" of tenant "acme": the setting "endpoint" is "https://c.acme.example/?token=x", which is not a URL of the form https://host/path (no user, query or fragment).
--? For example "endpoint": "https://credentials.example.com/mintmark".
--! 23514

-- webhook: thirty seconds
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'registry', 30, '{"target": "registry/push"}');
--> Key "k" of tenant "acme": max_duration is 30 seconds, but type webhook issues credentials for 60 to 86400 seconds.
--? max_duration is in seconds: 30 hours are 108000. Write 60 to 86400, for example 60.
--! 23514

-- webhook: the same field twice
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://c.acme.example", "fields": ["X", "X"]}', '{registry/*}');
--> Access provider "w2" of tenant "acme": the setting "fields" has "X" twice.
--? For example "fields": ["REGISTRY_PASSWORD"].
--! 23514

-- postgresql: the broker's own login as role
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "mintmark"}');
--> Key "k" of tenant "acme" names the broker's own login as role.
--? Create a role without LOGIN that has the rights of clients, and name it: see docs/providers/postgresql.md.
--! 23514

-- postgresql: the superuser
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{postgres,app_rw}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "postgres"}');
--> Key "k" of tenant "acme" names a role that can take over the server.
--? Create a role with the rights on data that clients need, and name it.
--! 23514

-- postgresql: a timeout without a unit
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "app_rw", "parameters": {"statement_timeout": "30"}}');
--> Key "k" of tenant "acme" has a timeout without a unit, which PostgreSQL reads as milliseconds.
--? Write the unit, for example "30s" or "500ms".
--! 23514

-- postgresql: a timeout in words
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "app_rw", "parameters": {"statement_timeout": "30 seconds"}}');
--> Key "k" of tenant "acme" has a timeout that PostgreSQL does not understand.
--? Its units are us, ms, s, min, h and d, for example "30s".
--! 23514

-- postgresql: a parameter that is not allowed
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "app_rw", "parameters": {"work_mem": "1GB"}}');
--> Key "k" of tenant "acme": the setting "parameters" has the name "work_mem", which is none of application_name, default_transaction_read_only, idle_in_transaction_session_timeout, lock_timeout, search_path, statement_timeout.
--? For example "parameters": {"statement_timeout": "30s"}.
--! 23514

-- postgresql: one role as owner and as member
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "app_rw", "as": "owner"}');
--> Key "k": one_role_as_owner_and_member
--? Key "orders-login" gives the same role in the other way. A member can run ALTER DEFAULT PRIVILEGES for it, which applies to all that owners create later. Use two roles.
--! 01000

-- postgresql: a URL as host
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "postgresql://db2.acme.example", "database": "postgres", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');
--> Access provider "p2" of tenant "acme": the setting "host" is "postgresql://db2.acme.example", which is not a host, or host:port, without a scheme.
--? For example "host": "db.example.com:5432".
--! 23514

-- postgresql: no allowed_targets
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "login": "mintmark", "password": {"file": "postgresql-password"}}');
--> Access provider "p2": any_target
--? allowed_targets is **, so a tenant admin can write a key for any user, role or name that type postgresql can give. List the targets that this tenant may have.
--! 01000

-- postgresql: a password in the row
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "login": "mintmark", "password": "s3cret"}', '{app_rw}');
--> Access provider "p2" of tenant "acme": the setting "password" must not contain the secret itself; secrets are never stored in the database.
--? Write the secret to a file in the tenant's secrets directory, and "password": {"file": "its-name"} here.
--! 23514

-- postgresql: neither password nor certificate
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "login": "mintmark"}', '{app_rw}');
--> Access provider "p2" of tenant "acme": the setting "login" needs one of the settings "client_certificate", "password" too.
--? For example "client_certificate": "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----".
--! 23514

-- postgresql: databases although leftovers are kept
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "app_rw", "leftovers": "keep", "databases": ["reports"]}');
--> Key "k" of tenant "acme": the setting "leftovers" is "keep", which does not use the setting "databases".
--? Leave out "databases", or choose another "leftovers".
--! 23514

-- postgresql: read only as a word
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "app_rw", "parameters": {"default_transaction_read_only": "readonly"}}');
--> Key "k" of tenant "acme" has a default_transaction_read_only that is neither on nor off.
--? Write "on" or "off".
--! 23514

-- postgresql: a misspelt leftovers
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "app_rw", "leftovers": "dropped"}');
--> Key "k" of tenant "acme": the setting "leftovers" is "dropped", and must be one of keep, drop, give.
--? Left out, it is "keep".
--! 23514

-- jwt: scope as a list
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api.acme.example", "claims": {"scope": ["read", "write"]}}');
--> Key "k" of tenant "acme" has the claim scope as a list.
--? RFC 9068 wants one string with spaces, for example "read write". The claim scp may be a list.
--! 23514

-- jwt: the subject as a claim
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api.acme.example", "claims": {"sub": "x"}}');
--> Key "k" of tenant "acme": the setting "claims" names the claim "sub", which only the broker sets.
--? For example "claims": {"scope": "read"}.
--! 23514

-- jwt: the audience of AWS
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "sts.amazonaws.com"}');
--> Key "k" of tenant "acme": the setting "audience" is "sts.amazonaws.com", which is an audience of a cloud vendor, and the token goes to a client.
--? For example "audience": "https://api.example.com".
--! 23514

-- jwt: a pattern as audience
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'j2', 'jwt', '{}', '{https://*.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'j2', 600, '{"audience": "https://*.acme.example"}');
--> Key "k" of tenant "acme": the setting "audience" has a *: a key names one target, not a pattern.
--? For example "audience": "https://api.example.com". Patterns are for allowed_targets.
--! 23514

-- jwt: an algorithm that is not offered
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api.acme.example", "algorithm": "HS256"}');
--> Key "k" of tenant "acme": the setting "algorithm" is "HS256", and must be one of ES256, RS256 (did you mean "ES256"?).
--? Write "algorithm": "…", or leave it out.
--! 23514

-- jwt: a type in another form
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api.acme.example", "type": "jwt"}');
--> Key "k" of tenant "acme": the setting "type" is "jwt", and must be one of at+jwt, JWT (did you mean "JWT"?).
--? Left out, it is "at+jwt".
--! 23514

-- jwt: several audiences in a list
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": ["https://a.acme.example", "https://b.acme.example"]}');
--> Key "k" of tenant "acme": the setting "audience" must be a string, not a list.
--? For example "audience": "https://api.example.com".
--! 23514

-- jwt: claims as a list
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api.acme.example", "claims": ["scope"]}');
--> Key "k" of tenant "acme": the setting "claims" must be an object of claims, not a list.
--? For example "claims": {"scope": "read"}.
--! 23514

-- jwt: ten seconds
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 10, '{"audience": "https://api.acme.example"}');
--> Key "k": duration_too_short
--? The unit of max_duration is seconds, and 10 seconds end before most clients use the credential. Use 60 or more.
--! 01000

-- jwt: settings of a provider that has none
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'j2', 'jwt', '{"issuer": "https://acme.example"}', '{https://api.acme.example}');
--> Access provider "j2" of tenant "acme" has the setting "issuer", which an access provider of type jwt does not have.
--? It has: none.
--! 23514

-- jwt: a day
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 86400, '{"audience": "https://api.acme.example"}');
--> Key "k" of tenant "acme": max_duration is 86400 seconds, but type jwt issues credentials for 1 to 43200 seconds.
--? max_duration is in seconds. Write 1 to 43200, for example 43200.
--! 23514

-- issuer: the keys of another issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, required_claims, listed) VALUES ('i2', 'acme', 'https://token.actions.githubusercontent.com', '{mintmark-acme2}', 'https://gitlab.com/oauth/discovery/keys', '{"repository_owner_id": "1234567"}', true);
--> Identity provider "i2": jwks_uri_of_another_issuer
--? The jwks_uri is that of GitLab, so the signature of every token is rejected. Write https://token.actions.githubusercontent.com/.well-known/jwks.
--! 01000

-- issuer: Entra's common
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences,  listed) VALUES ('i2', 'acme', 'https://login.microsoftonline.com/common/v2.0', '{mintmark-acme2}',  true);
--> Identity provider "i2": no token has the issuer "https://login.microsoftonline.com/common/v2.0". "common" stands for any directory in Entra's URLs only.
--? Write the id of the directory in its place: az account show --query tenantId.
--! 23514

-- issuer: Entra's organizations
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences,  listed) VALUES ('i2', 'acme', 'https://login.microsoftonline.com/organizations/v2.0', '{mintmark-acme2}',  true);
--> Identity provider "i2": no token has the issuer "https://login.microsoftonline.com/organizations/v2.0". "organizations" stands for any directory in Entra's URLs only.
--? Write the id of the directory in its place: az account show --query tenantId.
--! 23514

-- issuer: the audience of AWS
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims, listed) VALUES ('i2', 'acme', 'https://token.actions.githubusercontent.com', '{sts.amazonaws.com}', '{"repository_owner_id": "1234567"}', true);
--> Identity provider "i2": audience_of_another_service
--? The audience "sts.amazonaws.com" belongs to another service, whose tokens would mint here too. Have clients request an audience of this broker, for example one with the name of the tenant.
--! 01000

-- issuer: an algorithm that GitHub does not use
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, algorithms, required_claims, listed) VALUES ('i2', 'acme', 'https://token.actions.githubusercontent.com', '{mintmark-acme2}', '{ES256}', '{"repository_owner_id": "1234567"}', true);
--> Identity provider "i2": algorithm_not_sent
--? GitHub Actions signs with RS256, which algorithms does not list, so every token is rejected. Add it.
--! 01000

-- issuer: no owner of a shared issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences,  listed) VALUES ('i2', 'acme', 'https://gitlab.com', '{mintmark-acme2}',  true);
--> Identity provider "i2": the issuer "https://gitlab.com" issues tokens to anyone, and required_claims names no owner by an exact value.
--? Require at least one of namespace_id, project_id, namespace_path, project_path, for example {"namespace_id": "…"}; a glob is not enough.
--! 23514

-- issuer: a slash at the end of a known issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims, listed) VALUES ('i2', 'acme', 'https://token.actions.githubusercontent.com/', '{mintmark-acme2}', '{"repository_owner_id": "1234567"}', true);
--> Identity provider "i2": issuer_nearly_known
--? Another identity provider or a known issuer is spelled "https://token.actions.githubusercontent.com". Tokens must have the issuer exactly as it is written here.
--! 01000

-- issuer: the discovery document as issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences,  listed) VALUES ('i2', 'acme', 'https://sso.acme.example/realms/acme/.well-known/openid-configuration', '{mintmark-acme2}',  true);
--> Identity provider "i2": issuer_is_discovery
--? The issuer is the URL of a discovery document. Write the value of "issuer" in that document, which is the iss claim of the tokens.
--! 01000

-- issuer: the discovery document as jwks_uri
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, listed) VALUES ('i2', 'acme', 'https://sso2.acme.example/realms/acme', '{mintmark-acme2}', 'https://sso2.acme.example/realms/acme/.well-known/openid-configuration', true);
--> Identity provider "i2": jwks_uri_is_discovery
--? The jwks_uri is the issuer or the URL of a discovery document. Write the jwks_uri in that document, or null: the broker finds it.
--! 01000

-- issuer: an age of five seconds
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, max_token_age, listed) VALUES ('i2', 'acme', 'https://sso2.acme.example/realms/acme', '{mintmark-acme2}', 5, true);
--> Identity provider "i2": token_age_too_short
--? A max_token_age of 5 seconds rejects the tokens of slow clients. Use 60 or more.
--! 01000

-- issuer: a certificate that has expired
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, ca_certificate, listed) VALUES ('i2', 'acme', 'https://sso2.acme.example/realms/acme', '{mintmark-acme2}', E'-----BEGIN CERTIFICATE-----\nMIIBNTCB3KADAgECAgEHMAoGCCqGSM49BAMCMBIxEDAOBgNVBAMMB2FjbWUtY2Ew\nHhcNMjAwMTAxMDAwMDAwWhcNMjEwMTAxMDAwMDAwWjASMRAwDgYDVQQDDAdhY21l\nLWNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE79jnxbeJRnnOzzUGb/6RGKvG\nY/qvYD81EcpGNy6ni2OarHoUslEGydBpQHDpHPK5uLfjoG9hqZL+ky2uEukDgqMj\nMCEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZIzj0EAwID\nSAAwRQIgbabKeuKTL37KSONQpgLlG3eSl6qAwyH6H69ptmrRHwACIQD/V6d2d4dq\nYmTN17AFqR2f8PJjAdfqwbRaLcXRySXRcQ==\n-----END CERTIFICATE-----\n', true);
--> Identity provider "i2": certificate_expired
--? ca_certificate is a certificate that expired at 2021-01-01T00:00Z. Write the certificate of the authority that signs the server's certificate now.
--! 01000

-- grant: a subject and a claim that contradict each other
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:environment:production', 'exact', 'deploy', '{"environment": "staging"}', 'OPS-1: test');
--> Grant of key "deploy" to "repo:acme/shop:environment:production": contradicts_its_subject
--? The subject says "environment" = production, so the condition never matches. Write that value, or leave the condition out.
--! 01000

-- grant: a grant that another one makes useless
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'exact', 'deploy', '{"workflow": "release"}', 'OPS-1: test');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": covered_by_another_grant
--? Grant 1 already allows all that this grant does, so its narrower conditions have no effect. Disable one of the two.
--! 01000

-- grant: the namespace of another service account
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-cluster-inside', 'system:serviceaccount:shop:deployer', 'exact', 'read', '{"/kubernetes.io/namespace": "billing"}', 'OPS-1: test');
--> Grant of key "read" to "system:serviceaccount:shop:deployer": contradicts_its_subject
--? The subject says "/kubernetes.io/namespace" = shop, so the condition never matches. Write that value, or leave the condition out.
--! 01000

-- grant: a branch without its prefix
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:main', 'exact', 'deploy', '{}', 'OPS-1: test');
--> Grant of key "deploy" to "repo:acme/shop:ref:main": subject_fits_no_form
--? GitHub Actions sends no such subject, unless it was configured to. It sends: repo:*/*:ref:refs/heads/**, repo:*/*:ref:refs/tags/**, repo:*/*:environment:**, repo:*/*:pull_request, repo:*/*:job_workflow_ref:**.
--! 01000

-- grant: an email at an issuer with opaque subjects
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-google', 'ada@acme.example', 'exact', 'deploy', '{}', 'OPS-1: test');
--> Grant of key "deploy" to "ada@acme.example": subject_fits_no_form
--? Google sends no such subject, unless it was configured to. It sends: digits.
--! 01000

-- grant: keep for a disabled grant
UPDATE broker.subject_grant SET enabled = false WHERE subject = 'repo:acme/shop:ref:refs/heads/main' AND key = 'deploy'; INSERT INTO broker.grant_review (grant_id, verdict) SELECT id, 'keep' FROM broker.subject_grant WHERE subject = 'repo:acme/shop:ref:refs/heads/main' AND key = 'deploy';
--> Grant 1 is disabled, so there is nothing to keep.
--? Enable the grant first, or review another one: SELECT * FROM audit.grant_review WHERE enabled.
--! 23514

-- grant: a review by the grant's own maker
INSERT INTO broker.grant_review (grant_id, verdict) SELECT id, 'keep' FROM broker.subject_grant WHERE subject = 'repo:acme/shop:ref:refs/heads/main' AND key = 'deploy';
--> Grant 1 is reviewed by the login that made it. Auditors expect another person. [reviewed_by_its_maker]
--! 01000

-- grant: a block of a subject that nothing knows
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'job:relaese', 'INC-1: leaked');
--> Block of "job:relaese": block_matches_nothing
--? When the block was written, no grant and no row of audit.event in the last 90 days had a subject that it matches. Compare it with the sub claim of the tokens.
--! 01000

-- grant: a tenant admin without a login
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'nobody-yet');
--> Tenant admin "nobody-yet": unknown_login
--? Login "nobody-yet" does not exist yet. Until a DBA creates it (CREATE ROLE … LOGIN IN ROLE mintmark_tenant_admin), the row has no effect.
--! 01000

-- grant: a console access by a name
INSERT INTO broker.console_access (tenant, claim, value) VALUES ('acme', 'preferred_username', '"ada"');
--> Access to the console by "preferred_username": claim_of_the_users_choice
--? Users can often choose the claim "preferred_username" themselves, and so grant themselves access. Prefer sub, or groups that only admins assign.
--! 01000

-- grant: a value of the console access without quotes
INSERT INTO broker.console_access (tenant, claim, value) VALUES ('acme', 'groups', 'ops');
--> invalid input syntax for type json
--! 22P02

-- aws-sts: a role's name without its ARN
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "ci-deploy"}');
--> Key "k" of tenant "acme": the setting "role_arn" is "ci-deploy", which is not the ARN of a role.
--! 23514

-- aws-sts: a policy's ARN as role
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:policy/ci-deploy"}');
--> Key "k" of tenant "acme": the setting "role_arn" is "arn:aws:iam::123456789012:policy/ci-deploy", which is not the ARN of a role.
--! 23514

-- aws-sts: a role as session policy
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy_arns": ["arn:aws:iam::123456789012:role/ci-deploy"]}');
--> Key "k" of tenant "acme": the setting "policy_arns" has an element that is "arn:aws:iam::123456789012:role/ci-deploy", which is not the ARN of a managed policy.
--! 23514

-- aws-sts: eleven session policies
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy_arns": ["arn:aws:iam::aws:policy/P0", "arn:aws:iam::aws:policy/P1", "arn:aws:iam::aws:policy/P2", "arn:aws:iam::aws:policy/P3", "arn:aws:iam::aws:policy/P4", "arn:aws:iam::aws:policy/P5", "arn:aws:iam::aws:policy/P6", "arn:aws:iam::aws:policy/P7", "arn:aws:iam::aws:policy/P8", "arn:aws:iam::aws:policy/P9", "arn:aws:iam::aws:policy/P10"]}');
--> Key "k" of tenant "acme": the setting "policy_arns" has 11 elements, more than 10.
--! 23514

-- aws-sts: a policy as JSON in a text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy": "{\"Version\": \"2012-10-17\"}"}');
--> Key "k": incomplete_policy
--! 01000

-- aws-sts: a policy longer than 2048 characters
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/*"}]}}');
--> Key "k" of tenant "acme": the setting "policy" is a policy of more than 2048 characters.
--! 23514

-- aws-sts: thirteen hours
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 46800, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}');
--> Key "k" of tenant "acme": max_duration is 46800 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--! 23514

-- aws-sts: a session name with a blank
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "session_name": "ci deploy {mint_id}"}');
--> Key "k" of tenant "acme": the setting "session_name" is "ci deploy {mint_id}", which is not letters, digits and any of _+=,.@- with {mint_id}, {tenant} or {key}.
--! 23514

-- aws-sts: session_tags as a text
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "session_tags": "true"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme": the setting "session_tags" must be true or false, not a string.
--! 23514

-- aws-sts: auth by an access key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "auth": "access-key"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme": the setting "auth" is "access-key", and must be one of web-identity, ambient.
--! 23514

-- aws-sts: the region global
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "global"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme": the setting "region" is "global", which is not an AWS region.
--! 23514

-- aws-sts: an account id as allowed target
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1"}', '{123456789012}');
--> Access provider "p2": target_fits_no_form
--! 01000

-- aws-sts: a role of another type as target pattern
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1"}', '{arn:aws:sts::123456789012:assumed-role/*}');
--> Access provider "p2": target_fits_no_form
--! 01000

-- azure: a scope of OpenID
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'azure', 5400, '{"client_id": "0f2c8d0a-5a3e-4a5e-9d1c-2f4f1e0a7b11", "scope": "openid profile"}');
--> Key "k" of tenant "acme": the setting "scope" is "openid profile", which is not a resource followed by /.default.
--! 23514

-- github-app: a repository by its URL
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'github-app', 3600, '{"repositories": ["https://github.com/acme/shop"], "permissions": {"contents": "read"}}');
--> Key "k" of tenant "acme": the setting "repositories" has an element that is "https://github.com/acme/shop", which is not the name of a repository without its owner.
--! 23514

-- github-app: a star as repository
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'github-app', 3600, '{"repositories": ["*"], "permissions": {"contents": "read"}}');
--> Key "k" of tenant "acme": the setting "repositories" has an element that is "*", which is not the name of a repository without its owner.
--! 23514

-- github-app: a permission set to none
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'github-app', 3600, '{"repositories": ["shop"], "permissions": {"contents": "none"}}');
--> Key "k" of tenant "acme": the setting "permissions" has a value for "contents" that is "none", and must be one of read, write, admin.
--! 23514

-- github-app: a permission with a hyphen
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'github-app', 3600, '{"repositories": ["shop"], "permissions": {"pull-requests": "read"}}');
--> Key "k" of tenant "acme": the setting "permissions" has the name "pull-requests", which is not the name of a permission of GitHub.
--! 23514

-- github-app: all_repositories as a text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'github-app', 3600, '{"all_repositories": "true", "permissions": {"contents": "read"}}');
--> Key "k" of tenant "acme": the setting "all_repositories" must be true or false, not a string.
--! 23514

-- kubernetes: a namespace that is a pattern
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'kubernetes', 3600, '{"service_account": "shop-*/deployer"}');
--> Key "k" of tenant "acme": the setting "service_account" is "shop-*/deployer", which is not a namespace and the name of a service account, with a / between them.
--! 23514

-- kubernetes: an audience as a text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'kubernetes', 3600, '{"service_account": "shop/deployer", "audiences": "vault"}');
--> Key "k" of tenant "acme": the setting "audiences" must be a list of strings, not a string.
--! 23514

-- kubernetes: the Secret with its namespace
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'kubernetes', 3600, '{"service_account": "shop/deployer", "bound_secret": "shop/mintmark"}');
--> Key "k" of tenant "acme": the setting "bound_secret" is "shop/mintmark", which is not the name of a Kubernetes object, in lower case and without its namespace.
--! 23514

-- kubernetes: a week
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'kubernetes', 604800, '{"service_account": "shop/deployer"}');
--> Key "k" of tenant "acme": max_duration is 604800 seconds, but type kubernetes issues credentials for 600 to 86400 seconds.
--! 23514

-- kubernetes: client certificates
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k.acme.example:6443", "client_certificate": "x"}', '{shop/*}');
--> Access provider "p2" of tenant "acme" has the setting "client_certificate", which an access provider of type kubernetes does not have.
--! 23514

-- ssh: no principals
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 3600, '{}');
--> Key "k" of tenant "acme" lacks the setting "principals".
--! 23514

-- ssh: an empty list of principals
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 3600, '{"principals": []}');
--> Key "k" of tenant "acme": the setting "principals" is an empty list: leave it out instead.
--! 23514

-- ssh: a path as file
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "/etc/mintmark/ssh-ca"}}', '{deploy}');
--> Access provider "p2" of tenant "acme": the setting "ca_key" must name a file in the tenant's secrets directory, without . or .. as a folder.
--! 23514

-- ssh: a force-command as extension
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 3600, '{"principals": ["deploy"], "extensions": ["force-command"]}');
--> Key "k" of tenant "acme": the setting "extensions" has an element that is "force-command", and must be one of no-touch-required, permit-X11-forwarding, permit-agent-forwarding, permit-port-forwarding, permit-pty, permit-user-rc.
--! 23514

-- ssh: permit-pty as a text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 3600, '{"principals": ["deploy"], "extensions": "permit-pty"}');
--> Key "k" of tenant "acme": the setting "extensions" must be a list of strings, not a string.
--! 23514

-- ssh: a private address range, a comma in one text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 3600, '{"principals": ["deploy"], "source_address": ["10.0.0.0/8,192.168.0.0/16"]}');
--> Key "k" of tenant "acme": the setting "source_address" has an element that is "10.0.0.0/8,192.168.0.0/16", which is not an IP address or a network.
--! 23514

-- x509: a wildcard in the middle
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 3600, '{"subject": "/O=acme/CN={key}", "usage": ["server"], "dns_names": ["web.*.acme.example"]}');
--> Key "k" of tenant "acme": the setting "dns_names" has an element that is "web.*.acme.example", which is not a DNS name in lower case.
--! 23514

-- x509: a URL as dns name
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 3600, '{"subject": "/O=acme/CN={key}", "usage": ["server"], "dns_names": ["https://web.acme.example"]}');
--> Key "k" of tenant "acme": the setting "dns_names" has an element that is "https://web.acme.example", which is not a DNS name in lower case.
--! 23514

-- x509: capitals in a dns name
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 3600, '{"subject": "/O=acme/CN={key}", "usage": ["server"], "dns_names": ["Web.acme.example"]}');
--> Key "k" of tenant "acme": the setting "dns_names" has an element that is "Web.acme.example", which is not a DNS name in lower case.
--! 23514

-- x509: a star for everything
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 3600, '{"subject": "/O=acme/CN={key}", "usage": ["server"], "dns_names": ["*"]}');
--> Key "k" of tenant "acme": the setting "dns_names" has an element that is "*", which is not a DNS name in lower case.
--! 23514

-- x509: usage in OpenSSL's words
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 3600, '{"subject": "/O=acme/CN={key}", "usage": ["serverAuth"]}');
--> Key "k" of tenant "acme": the setting "usage" has an element that is "serverAuth", and must be one of client, server.
--! 23514

-- x509: usage as a text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 3600, '{"subject": "/O=acme/CN={key}", "usage": "server"}');
--> Key "k" of tenant "acme": the setting "usage" must be a list of strings, not a string.
--! 23514

-- x509: an RSA key type
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 3600, '{"subject": "/O=acme/CN={key}", "key_type": "rsa-2048"}');
--> Key "k" of tenant "acme": the setting "key_type" is "rsa-2048", and must be one of ec-p256, ed25519.
--! 23514

-- x509: a placeholder that is not known
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 3600, '{"subject": "/O=acme/CN={subject}"}');
--> Key "k" of tenant "acme": the setting "subject" is "/O=acme/CN={subject}", which is not attributes such as /O=acme/CN=shop, of CN, OU, O, L, ST, C, DC and UID.
--! 23514

-- webhook: an endpoint with user and password
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://u:p@hooks.acme.example/mint"}', '{registry}');
--> Access provider "p2" of tenant "acme": the setting "endpoint" is "https://u:p@hooks.acme.example/mint", which is not a URL of the form https://host/path (no user, query or fragment).
--! 23514

-- webhook: a fragment in the endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://hooks.acme.example/mint#x"}', '{registry}');
--> Access provider "p2" of tenant "acme": the setting "endpoint" is "https://hooks.acme.example/mint#x", which is not a URL of the form https://host/path (no user, query or fragment).
--! 23514

-- postgresql: pg_execute_server_program as role
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "pg_execute_server_program"}');
--> Key "k" of tenant "acme" names a role that can take over the server.
--! 23514

-- postgresql: rds_superuser
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "rds_superuser"}');
--> Key "k" of tenant "acme" names a role that can take over the server.
--! 23514

-- postgresql: search_path as a list
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "orders_read", "parameters": {"search_path": ["a", "b"]}}');
--> Key "k" of tenant "acme": the setting "parameters" has a value for "search_path" that must be a string, not a list.
--! 23514

-- postgresql: log_statement as parameter
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "orders_read", "parameters": {"log_statement": "none"}}');
--> Key "k" of tenant "acme": the setting "parameters" has the name "log_statement", which is none of application_name, default_transaction_read_only, idle_in_transaction_session_timeout, lock_timeout, search_path, statement_timeout.
--! 23514

-- postgresql: connection_limit of zero
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "orders_read", "connection_limit": 0}');
--> Key "k" of tenant "acme": the setting "connection_limit" is 0, and must be a whole number from 1 to 1000.
--! 23514

-- jwt: exp as a claim
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 300, '{"audience": "https://api.acme.example", "claims": {"exp": 1}}');
--> Key "k" of tenant "acme": the setting "claims" names the claim "exp", which only the broker sets.
--! 23514

-- jwt: act as a claim
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 300, '{"audience": "https://api.acme.example", "claims": {"act": {"sub": "x"}}}');
--> Key "k" of tenant "acme": the setting "claims" names the claim "act", which only the broker sets.
--! 23514

-- issuer: Google's issuer without https
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('i2', 'acme', 'accounts.google.com', '{mintmark-acme}', '{"hd": "acme.example"}');
--> Identity provider "i2": the issuer "accounts.google.com" is not an https URL.
--! 23514

-- issuer: nothing is accepted
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts) VALUES ('i2', 'acme', 'https://i.acme.example', '{mintmark-i2}', '{}');
--> Identity provider "i2": accepts is empty.
--! 23514

-- issuer: actors in the plural
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts) VALUES ('i2', 'acme', 'https://i.acme.example', '{mintmark-i2}', '{actors}');
--> Identity provider "i2": accepts has "actors".
--! 23514

-- grant: an actor without its identity provider
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', 'agent:bot', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": it has an actor, but no actor_idp.
--! 23514

-- grant: an identity provider of actors without an actor
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', 'acme-agents', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": it has an actor_idp, but no actor.
--! 23514

-- grant: a star in an exact actor
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', 'acme-agents', 'agent:*', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": glob_sign_in_exact_subject
--! 01000

-- grant: an actor with a blank
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', 'acme-agents', 'agent:bot ', 'OPS-1');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": white_space
--! 01000

-- grant: the claims of an actor without an actor
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_claims, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', '{"team": "x"}', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": it has actor_claims, but no actor.
--! 23514

-- grant: a subject of an identity provider for actors
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-agents', 'agent:bot', 'deploy', 'OPS-1');
--> Grant of key "deploy" to "agent:bot": party_not_accepted
--! 01000

-- grant: actor_match without an actor
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_match, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'deploy', 'glob', 'OPS-1');
--> The grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": it has an actor_match, but no actor.
--! 23514

-- grant: the actor is the subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, actor_idp, actor, reason) VALUES ('acme', 'acme-agents', 'agent:bot', 'deploy', 'acme-agents', 'agent:bot', 'OPS-1');
--> Grant of key "deploy" to "agent:bot": party_not_accepted
--! 01000

-- issuer: Keycloak's issuer without its realm
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://sso.acme.example/realms', '{mintmark-acme}');
--> Identity provider "i2": issuer_is_endpoint
--? Write the iss claim of the tokens, such as https://sso.example.com/realms/acme.
--! 01000

-- issuer: the address of Keycloak's console
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://sso.acme.example/admin/acme/console', '{mintmark-acme}');
--> Identity provider "i2": issuer_is_endpoint
--! 01000

-- issuer: Keycloak's token endpoint
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://sso.acme.example/realms/acme/protocol/openid-connect/token', '{mintmark-acme}');
--> Identity provider "i2": issuer_is_endpoint
--! 01000

-- issuer: Keycloak's default audience
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://sso.acme.example/realms/acme2', '{account}');
--> Identity provider "i2": audience_of_another_service
--! 01000

-- issuer: Entra's authorization endpoint
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/oauth2/v2.0/authorize', '{mintmark-acme}');
--> Identity provider "i2": issuer_is_endpoint
--! 01000

-- issuer: Entra without v2.0
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47', '{mintmark-acme}');
--> Identity provider "i2": issuer_sends_no_tokens
--? /v2.0.
--! 01000

-- issuer: GitHub's website
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('i2', 'acme', 'https://github.com', '{mintmark-acme}', '{"repository_owner_id": "1"}');
--> Identity provider "i2": issuer_sends_no_tokens
--? Tokens of that service have the iss claim https://token.actions.githubusercontent.com.
--! 01000

-- issuer: a group of GitLab
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://gitlab.com/acme', '{mintmark-acme}');
--> Identity provider "i2": issuer_sends_no_tokens
--? Tokens of that service have the iss claim https://gitlab.com.
--! 01000
