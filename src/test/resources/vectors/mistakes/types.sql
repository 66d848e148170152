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

-- aws-sts: the endpoint of another region, for which auth ambient does not sign
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets, shared_identity) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "auth": "ambient", "endpoint": "https://sts.us-east-1.amazonaws.com"}', '{arn:aws:iam::123456789012:role/ci-*}', true);
--> Access provider "p2" of tenant "acme" has an STS endpoint of another region; the region of the access provider is eu-central-1.
--? Only with auth web-identity may the endpoint be https://sts.REGION.amazonaws.com of another region.
--! 23514

-- aws-sts: the endpoint of S3
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "endpoint": "https://s3.eu-central-1.amazonaws.com"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme" has an endpoint that is not an endpoint of STS.
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
--? The policy has no valid Resource. AWS rejects statements without Effect, Action and Resource, and reads a policy without Version as one of version 2008-10-17. Set Version to 2012-10-17, and Effect to Allow or Deny.
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
--> Access provider "p2" of tenant "acme": the setting "policy_claim" must be an object with exactly "name" and "value".
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
--? The text up to the first : or / must not contain *, for example "arn:aws:iam::123456789012:role/ci-*". ** alone allows every target.
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
--> Key "k" of tenant "acme" has delegates, but no service_account for them to impersonate.
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
--> Access provider "p2" of tenant "acme" has the tenant_id "common", which is not a directory.
--? Write the directory's id: az account show --query tenantId.
--! 23514

-- azure: an authority with the directory in its path
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47", "authority": "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');
--> Access provider "p2" of tenant "acme" has an authority with a path.
--? Write the host only, for example "https://login.microsoftonline.com".
--! 23514

-- azure: a scope without .default
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.azure.com/user_impersonation"}');
--> Key "k" of tenant "acme": the setting "scope" is "https://management.azure.com/user_impersonation", which is not a resource followed by /.default.
--? For example "scope": "https://management.azure.com/.default".
--! 23514

-- azure: a scope of the public cloud at Azure Government
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47", "authority": "https://login.microsoftonline.us"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.azure.com/.default"}');
--> Key "k" of tenant "acme" has a scope of the public cloud, but its authority is Azure Government.
--? Write a scope such as "https://management.usgovcloudapi.net/.default".
--! 23514

-- azure: a scope of Azure China in the public cloud
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'azure', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.chinacloudapi.cn/.default"}');
--> Key "k" of tenant "acme" has a scope of one cloud and an authority of another.
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
--> Access provider "p2" of tenant "acme" has a token_endpoint whose path is that of another endpoint.
--? Write the token_endpoint of the server's discovery document; it usually ends with /token.
--! 23514

-- oauth2: the introspection endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/introspect"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has a token_endpoint whose path is that of another endpoint.
--? Write the token_endpoint of the server's discovery document; it usually ends with /token.
--! 23514

-- oauth2: the discovery document
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/.well-known/openid-configuration"}', '{https://x.acme.example}');
--> Access provider "p2": endpoint_is_discovery
--? The setting "token_endpoint" is the URL of a discovery document. Set it to the token_endpoint from that document.
--! 01000

-- oauth2: a JWT grant whose parameter is subject_token
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "grant": "jwt-bearer", "subject_parameter": "subject_token"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has the grant jwt-bearer, whose parameter is assertion, but sends the token as subject_token.
--? Leave out subject_parameter, or choose the grant token-exchange.
--! 23514

-- oauth2: a token exchange whose parameter is assertion
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "subject_parameter": "assertion"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" uses the grant token-exchange with subject_parameter assertion, which only jwt-bearer has.
--? Leave out subject_parameter, or choose the grant jwt-bearer.
--! 23514

-- oauth2: a client secret written into the row
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "client_id": "x", "client_secret": "s3cr3t"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme": the setting "client_secret" must name the file with the secret; secrets are never stored in the database.
--? Write the secret to a file in the tenant's secrets directory, and "client_secret": {"file": "its-name"} here.
--! 23514

-- oauth2: client_auth without a secret
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "client_id": "x", "client_auth": "client_secret_basic"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme": the setting "client_auth" is "client_secret_basic", which also needs the setting "client_secret".
--? Write the secret to a file in the tenant's secrets directory, and "client_secret": {"file": "its-name"} here.
--! 23514

-- oauth2: client_secret_post
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "client_id": "x", "client_auth": "client_secret_post", "client_secret": {"file": "s"}}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme": the setting "client_auth" is "client_secret_post"; it must be one of none, client_secret_basic, private_key_jwt (did you mean "client_secret_basic"?).
--? Write "client_auth": "…", or leave it out.
--! 23514

-- oauth2: scopes with commas
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token"}', '{https://x.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"audience": "https://x.acme.example", "scope": "read,write"}');
--> Key "k" of tenant "acme" has a scope with a comma.
--? Separate scopes by spaces (RFC 6749 section 3.3).
--! 23514

-- oauth2: a pattern as audience
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token"}', '{https://*.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"audience": "https://*.acme.example"}');
--> Key "k" of tenant "acme": the setting "audience" has a *, but a key names one target, not a pattern.
--? Write "audience": "…", or leave it out. Only allowed_targets may have patterns.
--! 23514

-- oauth2: one URL for tokens and revocation
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "revocation_endpoint": "https://as2.acme.example/oauth2/token"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has one URL for both token_endpoint and revocation_endpoint.
--? Write the revocation_endpoint of the server's discovery document, or leave it out.
--! 23514

-- oauth2: requested_token_type with a JWT grant
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "grant": "jwt-bearer"}', '{https://x.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"audience": "https://x.acme.example", "requested_token_type": "urn:ietf:params:oauth:token-type:jwt"}');
--> Key "k" of tenant "acme" has a requested_token_type, which the grant jwt-bearer does not have.
--? Leave out requested_token_type, or use an access provider with the grant token-exchange.
--! 23514

-- oauth2: a resource with a fragment
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"resource": "https://x.acme.example/#a"}');
--> Key "k" of tenant "acme": the setting "resource" is "https://x.acme.example/#a", which is not an absolute URI without fragment.
--? For example "resource": "https://api.example.com".
--! 23514

-- github-app: an api_url without /api/v3
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678", "api_url": "https://github.acme.example"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');
--> Access provider "p2" of tenant "acme" has an api_url without /api/v3.
--? Write https://HOST/api/v3 for GitHub Enterprise Server, https://api.NAME.ghe.com for GHE.com, or https://api.github.com for github.com.
--! 23514

-- github-app: github.com as api_url
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678", "api_url": "https://github.com"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');
--> Access provider "p2" of tenant "acme" has an api_url without /api/v3.
--? Write https://HOST/api/v3 for GitHub Enterprise Server, https://api.NAME.ghe.com for GHE.com, or https://api.github.com for github.com.
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
--? The permission workflows can only be write.
--! 23514

-- github-app: contents as admin
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "permissions": {"contents": "admin"}}');
--> Key "k" of tenant "acme" asks for the level admin of a permission that has only the levels read and write.
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
--> Key "k" of tenant "acme": the setting "permissions" also needs one of the settings "repositories", "repository_ids", "all_repositories".
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
--? Write the URL as in a kubeconfig, for example "https://kubernetes.example.com:6443".
--! 23514

-- kubernetes: the name of the server inside its cluster
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://kubernetes.default.svc"}', '{shop/*}');
--> Access provider "p2" of tenant "acme" has a server name that works only inside the cluster.
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
--> Access provider "p2": unlikely_settings
--? The access provider has a target that looks like a service account, but has a : between its parts. Write NAMESPACE/NAME, for example shop/deployer, or an audience.
--! 01000

-- kubernetes: a token without auth
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443", "token": {"file": "t"}}', '{shop/*}');
--> Access provider "p2" of tenant "acme": the setting "token" also needs the setting "auth".
--? The default is "broker".
--! 23514

-- kubernetes: auth token without a token
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443", "auth": "token"}', '{shop/*}');
--> Access provider "p2" of tenant "acme": the setting "auth" is "token", which also needs the setting "token".
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
--? Access provider "servers" signs with the same ca_key, so servers that trust one provider's certificates also trust the other's. Give each access provider a CA of its own.
--! 01000

-- ssh: the CA key written into the row
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 's2', 'ssh', '{"ca_key": "-----BEGIN OPENSSH PRIVATE KEY-----"}', '{deploy}');
--> settings in broker.access_provider contains what looks like a token or a key ("-----…").
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- ssh: bits after the prefix
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "source_address": ["10.1.2.3/8"]}');
--> Key "k" of tenant "acme": the setting "source_address" has an element that is "10.1.2.3/8", which has bits set after its prefix: write 10.0.0.0/8 for the network, or 10.1.2.3 for the single address.
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
--? The text up to the first : or / must not contain *, for example "arn:aws:iam::123456789012:role/ci-*". ** alone allows every target.
--! 23514

-- ssh: an extension without permit-
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "extensions": ["pty"]}');
--> Key "k" of tenant "acme": the setting "extensions" has an element that is "pty"; it must be one of no-touch-required, permit-X11-forwarding, permit-agent-forwarding, permit-port-forwarding, permit-pty, permit-user-rc.
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
--> Key "k" of tenant "acme" has dns_names, but its usage lacks "server".
--? Write "usage": ["server"], or leave out dns_names: clients are identified by subject and uri.
--! 23514

-- x509: a server without dns_names
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 't2', 900, '{"subject": "/O=acme/CN=api", "usage": ["server"]}');
--> Key "k" of tenant "acme" has the usage "server", but no dns_names.
--? Write the names that clients connect to, for example ["api.acme.example"]; clients compare these.
--! 23514

-- x509: a URI of another trust domain
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 't2', 900, '{"subject": "/O=acme/CN=api", "uri": "spiffe://other.example/api"}');
--> Key "k" of tenant "acme" has a uri outside the trust domain acme.example.
--? Write a uri that begins with spiffe://acme.example/.
--! 23514

-- x509: a certificate that is no authority's
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBnzCCAUSgAwIBAgIULAtKb/Ruvev2phAsV6kLTp4SU1UwCgYIKoZIzj0EAwIw\nHjENMAsGA1UECgwEYWNtZTENMAsGA1UEAwwEbGVhZjAeFw0yNjExMjYxNDQzNDRa\nFw0zNjExMjMxNDQzNDRaMB4xDTALBgNVBAoMBGFjbWUxDTALBgNVBAMMBGxlYWYw\nWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEYq8Zj+q9g\nPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOCo2AwXjAd\nBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU57Vsz4vX\np+iAryBrFuflL3CfEhQwDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwCgYI\nKoZIzj0EAwIDSQAwRgIhAOyzv3y7++NX9qJuzk77A19RBKo9cMevgZbcHm7bnC1A\nAiEAhT6FhkUVSOGvbd0etG7caYsrOfOypHugHT/6fIucf0w=\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');
--> Access provider "t2" of tenant "acme": the setting "ca_certificate" is not a CA certificate (its basicConstraints lack CA:TRUE).
--? For example "ca_certificate": "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----".
--! 23514

-- x509: a certificate that has expired
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBNTCB3KADAgECAgEHMAoGCCqGSM49BAMCMBIxEDAOBgNVBAMMB2FjbWUtY2Ew\nHhcNMjAwMTAxMDAwMDAwWhcNMjEwMTAxMDAwMDAwWjASMRAwDgYDVQQDDAdhY21l\nLWNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE79jnxbeJRnnOzzUGb/6RGKvG\nY/qvYD81EcpGNy6ni2OarHoUslEGydBpQHDpHPK5uLfjoG9hqZL+ky2uEukDgqMj\nMCEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZIzj0EAwID\nSAAwRQIgbabKeuKTL37KSONQpgLlG3eSl6qAwyH6H69ptmrRHwACIQD/V6d2d4dq\nYmTN17AFqR2f8PJjAdfqwbRaLcXRySXRcQ==\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');
--> Access provider "t2" of tenant "acme": the setting "ca_certificate" is a certificate that expired at 2021-01-01T00:00Z.
--? For example "ca_certificate": "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----".
--! 23514

-- x509: a certificate that may not sign lists
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBpzCCAU2gAwIBAgIUR/WEB7YlYDO9BRE/oyJKrQ0vMvkwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAgQwCgYIKoZIzj0EAwIDSAAwRQIhALIs0snmXU4R0ZTsDTH7Lm3soDySjr4N\nReNU2SSmN45HAiA76HuHe2fp8kx6pV3OLGlQKyFNaxoMCW2k5DHkUPgdYA==\n-----END CERTIFICATE-----\n"}', '{subject:/O=acme/**,spiffe://acme.example/**,spiffe://other.example/**,dns:*.acme.example}');
--> Access provider "t2" of tenant "acme": the setting "ca_certificate" is a CA certificate whose key usage lacks keyCertSign or cRLSign.
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
--? Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.
--! 23514

-- x509: no allowed_targets
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 't2', 'x509', '{"ca_key": {"file": "tls2.key"}, "trust_domain": "acme.example", "ca_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}');
--> Access provider "t2": any_target
--? allowed_targets is **, so a tenant admin can write a key for any user, role or name that type x509 can give. List the targets that this tenant may have.
--! 01000

-- webhook: a pattern as target
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'registry', 900, '{"target": "registry/*"}');
--> Key "k" of tenant "acme": the setting "target" has a *, but a key names one target, not a pattern.
--? For example "target": "registry/push". Only allowed_targets may have patterns.
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
--> Access provider "w2" of tenant "acme": the setting "fields" has an element that is "Expiration", which only the broker may set.
--? For example "fields": ["REGISTRY_PASSWORD"].
--! 23514

-- webhook: a field with a hyphen
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://c.acme.example", "fields": ["registry-password"]}', '{registry/*}');
--> Access provider "w2" of tenant "acme": the setting "fields" has an element that is "registry-password", which is not the name of a variable: letters, digits and _.
--? For example "fields": ["REGISTRY_PASSWORD"].
--! 23514

-- webhook: a client certificate without its key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'w2', 'webhook', '{"endpoint": "https://c.acme.example", "fields": ["X"], "client_certificate": "-----BEGIN CERTIFICATE-----\nMIIBqDCCAU2gAwIBAgIUMpXXfrd0kzkxBlPcdRhxeDTMYPQwCgYIKoZIzj0EAwIw\nITENMAsGA1UECgwEYWNtZTEQMA4GA1UEAwwHYWNtZS1jYTAeFw0yNjExMjYxNDQz\nNDRaFw0zNjExMjMxNDQzNDRaMCExDTALBgNVBAoMBGFjbWUxEDAOBgNVBAMMB2Fj\nbWUtY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATv2OfFt4lGec7PNQZv/pEY\nq8Zj+q9gPzURykY3LqeLY5qsehSyUQbJ0GlAcOkc8rm4t+Ogb2Gpkv6TLa4S6QOC\no2MwYTAdBgNVHQ4EFgQU57Vsz4vXp+iAryBrFuflL3CfEhQwHwYDVR0jBBgwFoAU\n57Vsz4vXp+iAryBrFuflL3CfEhQwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E\nBAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAIJcRRD0ZyyJYkiFqUaxf/a0QePZkUtc\nv42abOzwXdvCAiEAyxtRkechaLuX06pXrbPC8/dSmB8AmpyE6kYz7+VKaqA=\n-----END CERTIFICATE-----\n"}', '{registry/*}');
--> Access provider "w2" of tenant "acme": the setting "client_certificate" also needs the setting "client_key".
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
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "mintmark"}');
--> Key "k" of tenant "acme" names the broker's own login as role.
--? Create a role without LOGIN that has the rights of clients, and name it: see docs/providers/postgresql.md.
--! 23514

-- postgresql: the superuser
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{postgres,app_rw}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "postgres"}');
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
--? Use one of the units us, ms, s, min, h and d, for example "30s".
--! 23514

-- postgresql: a parameter that is not allowed
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "app_rw", "parameters": {"work_mem": "1GB"}}');
--> Key "k" of tenant "acme": the setting "parameters" has the name "work_mem"; it must be one of application_name, default_transaction_read_only, idle_in_transaction_session_timeout, lock_timeout, search_path, statement_timeout.
--? For example "parameters": {"statement_timeout": "30s"}.
--! 23514

-- postgresql: one role as owner and as member
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "app_rw", "as": "owner"}');
--> Key "k": one_role_as_owner_and_member
--? Key "orders-login" gives the same role with another value of its setting "as" (owner or member). A member can run ALTER DEFAULT PRIVILEGES for the role, which applies to every object that owners create later. Use two roles.
--! 01000

-- postgresql: a URL as host
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "postgresql://db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');
--> Access provider "p2" of tenant "acme": the setting "host" is "postgresql://db2.acme.example", which is not a host, or host:port, without a scheme.
--? For example "host": "db.example.com:5432".
--! 23514

-- postgresql: no allowed_targets
INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}');
--> Access provider "p2": any_target
--? allowed_targets is **, so a tenant admin can write a key for any user, role or name that type postgresql can give. List the targets that this tenant may have.
--! 01000

-- postgresql: a password in the row
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": "s3cret"}', '{app_rw}');
--> Access provider "p2" of tenant "acme": the setting "password" must name the file with the secret; secrets are never stored in the database.
--? Write the secret to a file in the tenant's secrets directory, and "password": {"file": "its-name"} here.
--! 23514

-- postgresql: neither password nor certificate
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark"}', '{app_rw}');
--> Access provider "p2" of tenant "acme": the setting "login" also needs one of the settings "client_certificate", "password".
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
--> Key "k" of tenant "acme": the setting "leftovers" is "dropped"; it must be one of keep, drop, give.
--? The default is "keep".
--! 23514

-- jwt: scope as a list
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api.acme.example", "claims": {"scope": ["read", "write"]}}');
--> Key "k" of tenant "acme" has the claim scope as a list.
--? Write one string with spaces (RFC 9068), for example "read write". The claim scp may be a list.
--! 23514

-- jwt: the subject as a claim
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api.acme.example", "claims": {"sub": "x"}}');
--> Key "k" of tenant "acme": the setting "claims" names the claim "sub", which only the broker sets.
--? For example "claims": {"scope": "read"}.
--! 23514

-- jwt: the audience of AWS
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "sts.amazonaws.com"}');
--> Key "k" of tenant "acme": the setting "audience" is "sts.amazonaws.com", an audience that a cloud vendor accepts, so clients could use the token there.
--? For example "audience": "https://api.example.com".
--! 23514

-- jwt: a pattern as audience
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'j2', 'jwt', '{}', '{https://*.acme.example}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'j2', 600, '{"audience": "https://*.acme.example"}');
--> Key "k" of tenant "acme": the setting "audience" has a *, but a key names one target, not a pattern.
--? For example "audience": "https://api.example.com". Only allowed_targets may have patterns.
--! 23514

-- jwt: an algorithm that is not offered
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api.acme.example", "algorithm": "HS256"}');
--> Key "k" of tenant "acme": the setting "algorithm" is "HS256"; it must be one of ES256, RS256 (did you mean "ES256"?).
--? Write "algorithm": "…", or leave it out.
--! 23514

-- jwt: a type in another form
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api.acme.example", "type": "jwt"}');
--> Key "k" of tenant "acme": the setting "type" is "jwt"; it must be one of at+jwt, JWT (did you mean "JWT"?).
--? The default is "at+jwt".
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
--? max_duration is in seconds: a credential of 10 seconds expires before most clients can use it. Set 60 or more.
--! 01000

-- jwt: settings of a provider that has none
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'j2', 'jwt', '{"issuer": "https://acme.example"}', '{https://api.acme.example}');
--> Access provider "j2" of tenant "acme" has the setting "issuer", which an access provider of type jwt does not have.
--? It has none.
--! 23514

-- jwt: a day
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 86400, '{"audience": "https://api.acme.example"}');
--> Key "k" of tenant "acme": max_duration is 86400 seconds, but type jwt issues credentials for 1 to 43200 seconds.
--? max_duration is in seconds. Write 1 to 43200, for example 43200.
--! 23514

-- issuer: the keys of another issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, required_claims, listed) VALUES ('i2', 'acme', 'https://token.actions.githubusercontent.com', '{mintmark-acme2}', 'https://gitlab.com/oauth/discovery/keys', '{"repository_owner_id": "1234567"}', true);
--> Identity provider "i2": jwks_uri_of_another_issuer
--? The jwks_uri is that of GitLab, so the signature of every token is rejected. Set jwks_uri to https://token.actions.githubusercontent.com/.well-known/jwks instead.
--! 01000

-- issuer: Entra's common
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences,  listed) VALUES ('i2', 'acme', 'https://login.microsoftonline.com/common/v2.0', '{mintmark-acme2}',  true);
--> Identity provider "i2": no token has the issuer "https://login.microsoftonline.com/common/v2.0". In Entra's URLs, "common" means any directory; tokens name one directory.
--? Write the directory's id instead: az account show --query tenantId.
--! 23514

-- issuer: Entra's organizations
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences,  listed) VALUES ('i2', 'acme', 'https://login.microsoftonline.com/organizations/v2.0', '{mintmark-acme2}',  true);
--> Identity provider "i2": no token has the issuer "https://login.microsoftonline.com/organizations/v2.0". In Entra's URLs, "organizations" means any directory; tokens name one directory.
--? Write the directory's id instead: az account show --query tenantId.
--! 23514

-- issuer: the audience of AWS
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims, listed) VALUES ('i2', 'acme', 'https://token.actions.githubusercontent.com', '{sts.amazonaws.com}', '{"repository_owner_id": "1234567"}', true);
--> Identity provider "i2": audience_of_another_service
--? The audience "sts.amazonaws.com" belongs to another service, so tokens for that service would be accepted here too. Have clients request an audience of this broker, for example one with the name of the tenant.
--! 01000

-- issuer: an algorithm that GitHub does not use
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, algorithms, required_claims, listed) VALUES ('i2', 'acme', 'https://token.actions.githubusercontent.com', '{mintmark-acme2}', '{ES256}', '{"repository_owner_id": "1234567"}', true);
--> Identity provider "i2": algorithm_not_sent
--? GitHub Actions signs with RS256, but the column algorithms does not list it, so every token is rejected. Add it to algorithms.
--! 01000

-- issuer: no owner of a shared issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences,  listed) VALUES ('i2', 'acme', 'https://gitlab.com', '{mintmark-acme2}',  true);
--> Identity provider "i2": the issuer "https://gitlab.com" issues tokens to anyone, and required_claims names no owner by an exact value.
--? In required_claims, require at least one of namespace_id, project_id, namespace_path, project_path, for example {"namespace_id": "…"}; a glob is not enough.
--! 23514

-- issuer: a slash at the end of a known issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims, listed) VALUES ('i2', 'acme', 'https://token.actions.githubusercontent.com/', '{mintmark-acme2}', '{"repository_owner_id": "1234567"}', true);
--> Identity provider "i2": issuer_nearly_known
--? The issuer is almost the same as "https://token.actions.githubusercontent.com", a known issuer or that of another identity provider
--! 01000

-- issuer: the discovery document as issuer
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences,  listed) VALUES ('i2', 'acme', 'https://sso.acme.example/realms/acme/.well-known/openid-configuration', '{mintmark-acme2}',  true);
--> Identity provider "i2": issuer_is_discovery
--? The issuer is the URL of a discovery document. Set it to the "issuer" from that document, which is the iss claim of the tokens.
--! 01000

-- issuer: the discovery document as jwks_uri
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, listed) VALUES ('i2', 'acme', 'https://sso2.acme.example/realms/acme', '{mintmark-acme2}', 'https://sso2.acme.example/realms/acme/.well-known/openid-configuration', true);
--> Identity provider "i2": jwks_uri_is_discovery
--? The jwks_uri is the issuer, or the URL of a discovery document or of another endpoint. Set it to the jwks_uri from the discovery document, or to null: the broker then finds it.
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
--? In the subject, "environment" is production, so the condition never matches. Write that value in the condition, or leave the condition out.
--! 01000

-- grant: a grant that another one makes useless
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'exact', 'deploy', '{"workflow": "release", "event_name": "push"}', 'OPS-1: test');
--> Grant of key "deploy" to "repo:acme/shop:ref:refs/heads/main": covered_by_another_grant
--? Grant 1 already allows all that this grant does, so the narrower conditions of this grant have no effect. Disable one of the two.
--! 01000

-- grant: the namespace of another service account
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-cluster-inside', 'system:serviceaccount:shop:deployer', 'exact', 'read', '{"/kubernetes.io/namespace": "billing"}', 'OPS-1: test');
--> Grant of key "read" to "system:serviceaccount:shop:deployer": contradicts_its_subject
--? In the subject, "/kubernetes.io/namespace" is shop, so the condition never matches. Write that value in the condition, or leave the condition out.
--! 01000

-- grant: a branch without its prefix
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:main', 'exact', 'deploy', '{}', 'OPS-1: test');
--> Grant of key "deploy" to "repo:acme/shop:ref:main": subject_fits_no_form
--? By default, the subjects of GitHub Actions have only these forms: repo:*/*:ref:refs/heads/**, repo:*/*:ref:refs/tags/**, repo:*/*:environment:**, repo:*/*:pull_request, repo:*/*:job_workflow_ref:**. Correct the subject, unless the issuer is configured differently.
--! 01000

-- grant: an email at an issuer with opaque subjects
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason) VALUES ('acme', 'acme-google', 'ada@acme.example', 'exact', 'deploy', '{}', 'OPS-1: test');
--> Grant of key "deploy" to "ada@acme.example": subject_fits_no_form
--? By default, the subjects of Google have only these forms: digits. Correct the subject, unless the issuer is configured differently.
--! 01000

-- grant: keep for a disabled grant
UPDATE broker.subject_grant SET enabled = false WHERE subject = 'repo:acme/shop:ref:refs/heads/main' AND key = 'deploy'; INSERT INTO broker.grant_review (grant_id, verdict) SELECT id, 'keep' FROM broker.subject_grant WHERE subject = 'repo:acme/shop:ref:refs/heads/main' AND key = 'deploy';
--> Grant 1 is disabled, so there is nothing to keep.
--? Enable the grant first, or review another one: SELECT * FROM audit.grant_review WHERE enabled.
--! 23514

-- grant: a review by the grant's own maker
INSERT INTO broker.grant_review (grant_id, verdict) SELECT id, 'keep' FROM broker.subject_grant WHERE subject = 'repo:acme/shop:ref:refs/heads/main' AND key = 'deploy';
--> Grant 1 is reviewed by the person who made it. Auditors expect that another person reviews it. [reviewed_by_its_maker]
--! 01000

-- grant: a block of a subject that nothing knows
INSERT INTO broker.blocked_subject (tenant, subject, reason) VALUES ('acme', 'job:relaese', 'INC-1: leaked');
--> Block of "job:relaese": block_matches_nothing
--? The block matched no subject of a grant, and none in audit.event in the 90 days before the block was written. This is normal if the subject never had access. Otherwise compare the block's subject with the sub claim of the tokens.
--! 01000

-- grant: a tenant admin without a login
INSERT INTO broker.tenant_admin (tenant, role_name) VALUES ('acme', 'nobody-yet');
--> Tenant admin "nobody-yet": unknown_login
--? Login "nobody-yet" does not exist yet. Until a DBA creates it (CREATE ROLE … LOGIN IN ROLE mintmark_tenant_admin), the row has no effect.
--! 01000

-- grant: a console access by a name
INSERT INTO broker.console_access (tenant, claim, value) VALUES ('acme', 'preferred_username', '"ada"');
--> Access to the console by "preferred_username": claim_of_the_users_choice
--? Users can often set the claim "preferred_username" themselves, and could grant themselves access that way. Prefer sub, or groups that only admins assign.
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
--> Key "k" of tenant "acme": the setting "policy_arns" has 11 elements; the maximum is 10.
--! 23514

-- aws-sts: a policy as JSON in a text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy": "{\"Version\": \"2012-10-17\"}"}');
--> Key "k": incomplete_policy
--! 01000

-- aws-sts: a policy longer than 2048 characters
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/*"}]}}');
--> Key "k" of tenant "acme": the setting "policy" is a policy that is too long; the maximum is 2048 characters.
--! 23514

-- aws-sts: thirteen hours
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 46800, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy"}');
--> Key "k" of tenant "acme": max_duration is 46800 seconds, but type aws-sts issues credentials for 900 to 43200 seconds.
--! 23514

-- aws-sts: a session name with a blank
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-deploy", "session_name": "ci deploy {mint_id}"}');
--> Key "k" of tenant "acme": the setting "session_name" is "ci deploy {mint_id}", which is not a name of letters, digits and any of _+=,.@-, with {mint_id}, {tenant} or {key}.
--! 23514

-- aws-sts: session_tags as a text
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "session_tags": "true"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme": the setting "session_tags" must be true or false, not a string.
--! 23514

-- aws-sts: auth by an access key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "auth": "access-key"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme": the setting "auth" is "access-key"; it must be one of web-identity, ambient.
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
--> Key "k" of tenant "acme": the setting "permissions" has a value for "contents" that is "none"; it must be one of read, write, admin.
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
--> Access provider "p2" of tenant "acme": the setting "ca_key" must name a file in the tenant's secrets directory, without . or .. in its path.
--! 23514

-- ssh: a force-command as extension
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 3600, '{"principals": ["deploy"], "extensions": ["force-command"]}');
--> Key "k" of tenant "acme": the setting "extensions" has an element that is "force-command"; it must be one of no-touch-required, permit-X11-forwarding, permit-agent-forwarding, permit-port-forwarding, permit-pty, permit-user-rc.
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
--> Key "k" of tenant "acme": the setting "usage" has an element that is "serverAuth"; it must be one of client, server.
--! 23514

-- x509: usage as a text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 3600, '{"subject": "/O=acme/CN={key}", "usage": "server"}');
--> Key "k" of tenant "acme": the setting "usage" must be a list of strings, not a string.
--! 23514

-- x509: an RSA key type
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 3600, '{"subject": "/O=acme/CN={key}", "key_type": "rsa-2048"}');
--> Key "k" of tenant "acme": the setting "key_type" is "rsa-2048"; it must be one of ec-p256, ed25519.
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
--> Key "k" of tenant "acme": the setting "parameters" has the name "log_statement"; it must be one of application_name, default_transaction_read_only, idle_in_transaction_session_timeout, lock_timeout, search_path, statement_timeout.
--! 23514

-- postgresql: connection_limit of zero
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'orders', 3600, '{"role": "orders_read", "connection_limit": 0}');
--> Key "k" of tenant "acme": the setting "connection_limit" is 0; it must be a whole number from 1 to 1000.
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
--> Identity provider "i2": the column accepts is empty.
--! 23514

-- issuer: actors in the plural
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts) VALUES ('i2', 'acme', 'https://i.acme.example', '{mintmark-i2}', '{actors}');
--> Identity provider "i2": the column accepts has "actors".
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
--> Grant of key "deploy" to "agent:bot": actor_is_its_subject
--? The actor "agent:bot" is also the subject
--! 01000

-- issuer: Keycloak's issuer without its realm
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://sso.acme.example/realms', '{mintmark-acme}');
--> Identity provider "i2": issuer_is_endpoint
--? Write the iss claim of the tokens, such as "https://sso.example.com/realms/acme".
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
--? /v2.0
--! 01000

-- issuer: GitHub's website
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('i2', 'acme', 'https://github.com', '{mintmark-acme}', '{"repository_owner_id": "1"}');
--> Identity provider "i2": issuer_sends_no_tokens
--? Set it to the iss claim of that service's tokens: https://token.actions.githubusercontent.com
--! 01000

-- issuer: a group of GitLab
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://gitlab.com/acme', '{mintmark-acme}');
--> Identity provider "i2": issuer_sends_no_tokens
--? Set it to the iss claim of that service's tokens: https://gitlab.com
--! 01000

-- aws-sts: a policy with a Principal
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme/*", "Principal": "*"}]}}');
--> Key "k" of tenant "acme" has a policy with a Principal, which session policies do not have.
--? Leave out Principal: the session is the principal.
--! 23514

-- aws-sts: a policy with NotPrincipal, as text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": "{\"Version\": \"2012-10-17\", \"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"s3:GetObject\", \"Resource\": \"arn:aws:s3:::acme/*\", \"NotPrincipal\": {\"AWS\": \"arn:aws:iam::123456789012:role/ci-x\"}}]}"}');
--> Key "k" of tenant "acme" has a policy with a Principal, which session policies do not have.
--? Leave out Principal: the session is the principal.
--! 23514

-- aws-sts: a policy that only denies
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme/*"}]}}');
--> Key "k": unlikely_settings
--? The key has a policy that allows nothing: a session may do only what its policy allows. Add a statement with "Effect": "Allow".
--! 01000

-- aws-sts: an Action without its service
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "GetObject", "Resource": "arn:aws:s3:::acme/*"}]}}');
--> Key "k" of tenant "acme" has a policy with an Action without its service.
--? Write the service, a colon and the action, for example "s3:GetObject".
--! 23514

-- aws-sts: a list of actions, one without its service
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "ListBucket"], "Resource": "arn:aws:s3:::acme/*"}]}}');
--> Key "k" of tenant "acme" has a policy with an Action without its service.
--? Write the service, a colon and the action, for example "s3:GetObject".
--! 23514

-- aws-sts: an Action with a dot for the colon
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3.GetObject", "Resource": "arn:aws:s3:::acme/*"}]}}');
--> Key "k" of tenant "acme" has a policy with an Action without its service.
--? Write the service, a colon and the action, for example "s3:GetObject".
--! 23514

-- aws-sts: the name of a bucket as Resource
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "acme-artifacts"}]}}');
--> Key "k" of tenant "acme" has a policy with a Resource that is not an ARN.
--? Write the ARN, for example "arn:aws:s3:::acme-artifacts/*" for the objects of a bucket, or "*".
--! 23514

-- aws-sts: an s3 URL as Resource
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "s3://acme-artifacts/*"}]}}');
--> Key "k" of tenant "acme" has a policy with a Resource that is not an ARN.
--? Write the ARN, for example "arn:aws:s3:::acme-artifacts/*" for the objects of a bucket, or "*".
--! 23514

-- aws-sts: an action on objects for a bucket
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme-artifacts"}]}}');
--> Key "k": unlikely_settings
--? The key has a policy that allows actions on objects, but whose Resource is a bucket. Write "arn:aws:s3:::BUCKET/*" for the objects of a bucket.
--! 01000

-- aws-sts: ListBucket for objects
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::acme-artifacts/*"}]}}');
--> Key "k": unlikely_settings
--? The key has a policy that allows actions on buckets, but whose Resource names objects. Write "arn:aws:s3:::BUCKET" for the bucket, without a slash.
--! 01000

-- aws-sts: a misspelt element of a statement
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme/*", "Conditions": {"Bool": {"aws:SecureTransport": "true"}}}]}}');
--> Key "k" of tenant "acme" has a policy with a statement that has an unknown element.
--? Use only Sid, Effect, Action or NotAction, Resource or NotResource, and Condition, spelled exactly like that.
--! 23514

-- aws-sts: Statements for Statement
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statements": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme/*"}]}}');
--> Key "k" of tenant "acme" has a policy with an unknown element.
--? Use only Version, Id and Statement. AWS and MinIO reject any other element, such as a misspelt one.
--! 23514

-- aws-sts: a policy of a date that is none
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-16", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme/*"}]}}');
--> Key "k": incomplete_policy
--? The policy has no valid Version. AWS rejects statements without Effect, Action and Resource, and reads a policy without Version as one of version 2008-10-17. Set Version to 2012-10-17, and Effect to Allow or Deny.
--! 01000

-- aws-sts: Effect in lower case
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy": {"Version": "2012-10-17", "Statement": [{"Effect": "allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme/*"}]}}');
--> Key "k": incomplete_policy
--? The policy has no valid Effect. AWS rejects statements without Effect, Action and Resource, and reads a policy without Version as one of version 2008-10-17. Set Version to 2012-10-17, and Effect to Allow or Deny.
--! 01000

-- aws-sts: a session name over 64 characters
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "session_name": "release-of-the-shop-to-production-{mint_id}"}');
--> Key "k" of tenant "acme": the setting "session_name" gives 70 characters once {mint_id}, {tenant} and {key} are filled in; the maximum is 64.
--? Shorten it by 6: {mint_id} counts as 36 characters, {tenant} as 4 and {key} as 1.
--! 23514

-- aws-sts: a session name that its tenant and key make too long
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "session_name": "release-of-{tenant}-{key}-for-the-web-shop-{mint_id}"}');
--> Key "k" of tenant "acme": the setting "session_name" gives 71 characters once {mint_id}, {tenant} and {key} are filled in; the maximum is 64.
--? Shorten it by 7: {mint_id} counts as 36 characters, {tenant} as 4 and {key} as 1.
--! 23514

-- aws-sts: the same, shortened by one character less than the hint counts
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "session_name": "release-of-{tenant}-for-the-webs-{mint_id}"}');
--> Key "k" of tenant "acme": the setting "session_name" gives 65 characters once {mint_id}, {tenant} and {key} are filled in; the maximum is 64.
--? Shorten it by 1: {mint_id} counts as 36 characters, {tenant} as 4 and {key} as 1.
--! 23514

-- aws-sts: the global endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "endpoint": "https://sts.amazonaws.com"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2": unlikely_settings
--? The access provider has the global endpoint of STS, which AWS advises against. Leave out endpoint: the default is the endpoint of the region. Sessions from the global endpoint work in opt-in regions only if the account allows it.
--! 01000

-- aws-sts: the FIPS endpoint of another partition
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "us-west-2", "endpoint": "https://sts-fips.us-gov-west-1.amazonaws.com"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme" has an STS endpoint outside the partition of us-west-2.
--? Leave out endpoint: the default is the endpoint of the region.
--! 23514

-- aws-sts: a VPC endpoint of another region
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "us-west-2", "endpoint": "https://vpce-0a1b.sts.us-east-1.vpce.amazonaws.com"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme" has an STS endpoint of another region; the region of the access provider is us-west-2.
--? Leave out endpoint: the default is the endpoint of the region
--! 23514

-- aws-sts: the endpoint of China without .cn
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "cn-north-1", "endpoint": "https://sts.cn-north-1.amazonaws.com"}', '{arn:aws-cn:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme" has an endpoint outside AWS China, but its region is in AWS China.
--? Leave out endpoint, or write a host that ends with amazonaws.com.cn.
--! 23514

-- aws-sts: a path after the endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "endpoint": "https://sts.eu-central-1.amazonaws.com/assume"}', '{arn:aws:iam::123456789012:role/ci-*}');
--> Access provider "p2" of tenant "acme" has an endpoint with a path.
--? Write the host only, or leave out endpoint.
--! 23514

-- aws-sts: a session policy of another partition
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy_arns": ["arn:aws-cn:iam::aws:policy/ReadOnlyAccess"]}');
--> Key "k" of tenant "acme" has a policy in policy_arns that belongs to a different partition than its role.
--? Write ARNs of the partition of role_arn.
--! 23514

-- aws-sts: AdministratorAccess as restriction
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "policy_arns": ["arn:aws:iam::aws:policy/AdministratorAccess"]}');
--> Key "k": unlikely_settings
--? The key has AdministratorAccess in policy_arns, which does not restrict the role. Leave out policy_arns, or name the policies that the session needs.
--! 01000

-- aws-sts: a placeholder in the session name
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x", "session_name": "${USER}-{mint_id}"}');
--> Key "k" of tenant "acme": the setting "session_name" is "${USER}-{mint_id}", which is not a name of letters, digits and any of _+=,.@-, with {mint_id}, {tenant} or {key}.
--? For example "session_name": "ci-{mint_id}".
--! 23514

-- aws-sts: an account in angle brackets
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::<account>:role/ci-x"}');
--> Key "k" of tenant "acme": the setting "role_arn" is "arn:aws:iam::<account>:role/ci-x", which is not the ARN of a role.
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".
--! 23514

-- aws-sts: twelve hours with auth ambient
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets, shared_identity) VALUES ('acme', 'p2', 'aws-sts', '{"region": "eu-central-1", "auth": "ambient"}', '{arn:aws:iam::123456789012:role/ci-*}', true);INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 43200, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> Key "k": unlikely_settings
--? The key has a max_duration above 3600 seconds with auth ambient. If the broker itself runs under an AWS role, AWS limits sessions of the next role to 3600 seconds. Set max_duration to 3600, or use auth web-identity.
--! 01000

-- aws-sts: a resource, which no token is for
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, resource) VALUES ('acme', 'k', 'aws', 3600, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}', 'https://mcp.acme.example/orders');
--> Key "k" of tenant "acme" has a resource, but type aws-sts issues no token that a client can present at a resource.
--? Set resource to null. Only keys of the types azure, gcp, github-app, jwt, oauth2 can have a resource, by which clients of POST /oauth2/token name the key.
--! 23514

-- s3-sts: a bucket in the path of the endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://minio2.acme.example/build-cache"}', '{**}');
--> Access provider "p2": unlikely_settings
--? The access provider has an endpoint with a path, such as that of a bucket. Write only the scheme and the host; the policy and the clients name buckets. Ignore this warning if a proxy serves STS at that path.
--! 01000

-- s3-sts: the port of the operator's console
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://minio2.acme.example:9443"}', '{**}');
--> Access provider "p2": unlikely_settings
--? The access provider has a port that is often that of MinIO's console. Write the port of the S3 API, usually 9000, or 443 behind a proxy.
--! 01000

-- s3-sts: the console by its name
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://console.minio.acme.example"}', '{**}');
--> Access provider "p2": unlikely_settings
--? The access provider has an endpoint whose host looks like that of a console. Write the URL of the S3 API.
--! 01000

-- s3-sts: Cloudflare R2
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://0123abc.r2.cloudflarestorage.com"}', '{**}');
--> Access provider "p2" of tenant "acme" has an endpoint of a service without AssumeRoleWithWebIdentity.
--? The service accepts only long-lived keys, so the broker cannot use it. For Google Cloud Storage, use the type gcp; for Azure Storage, use the type azure.
--! 23514

-- s3-sts: Google Cloud Storage
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://storage.googleapis.com"}', '{**}');
--> Access provider "p2" of tenant "acme" has an endpoint of a service without AssumeRoleWithWebIdentity.
--? The service accepts only long-lived keys, so the broker cannot use it. For Google Cloud Storage, use the type gcp; for Azure Storage, use the type azure.
--! 23514

-- s3-sts: the public test server
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://play.min.io"}', '{**}');
--> Access provider "p2": unlikely_settings
--? The access provider has the endpoint of MinIO's public test server. Write the URL of your own server.
--! 01000

-- s3-sts: the policy of administrators
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "https://minio2.acme.example", "policy_claim": {"name": "policy", "value": "consoleAdmin"}}', '{**}');
--> Access provider "p2": unlikely_settings
--? The access provider gives clients a policy of MinIO's administrators. Write a policy for buckets, such as readwrite, or one of your own.
--! 01000

-- s3-sts: ftp
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 's3-sts', '{"endpoint": "ftp://minio.acme.example"}', '{**}');
--> Access provider "p2" of tenant "acme": the setting "endpoint" is "ftp://minio.acme.example", which is not a URL of the form https://host/path (no user, query or fragment).
--? For example "endpoint": "https://minio.example.com".
--! 23514

-- s3-sts: a policy with a Principal
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 3600, '{"policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme/*", "Principal": {"AWS": "*"}}]}}');
--> Key "k": unlikely_settings
--? The key has a policy with a Principal, which session policies do not have. Leave out Principal: the session is the principal.
--! 01000

-- s3-sts: a policy that only denies
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 3600, '{"policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme/*"}]}}');
--> Key "k": unlikely_settings
--? The key has a policy that allows nothing: a session may do only what its policy allows. Add a statement with "Effect": "Allow".
--! 01000

-- s3-sts: an Action without its service
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 3600, '{"policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "PutObject", "Resource": "arn:aws:s3:::acme/*"}]}}');
--> Key "k" of tenant "acme" has a policy with an Action without its service.
--? Write the service, a colon and the action, for example "s3:GetObject".
--! 23514

-- s3-sts: the name of a bucket as Resource
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 3600, '{"policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "build-cache/*"}]}}');
--> Key "k" of tenant "acme" has a policy with a Resource that is not an ARN.
--? Write the ARN, for example "arn:aws:s3:::acme-artifacts/*" for the objects of a bucket, or "*".
--! 23514

-- s3-sts: MinIO's name in a Resource
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 3600, '{"policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:minio:s3:::build-cache/*"}]}}');
--> Key "k": unlikely_settings
--? The key has a policy with a Resource that S3 servers do not know. Write arn:aws:s3:::BUCKET, on MinIO and Ceph too.
--! 01000

-- s3-sts: an action of EC2
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 3600, '{"policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "ec2:DescribeInstances", "Resource": "*"}]}}');
--> Key "k" of tenant "acme" has a policy with an action that S3 storage does not have.
--? Write an action that begins with s3:, for example s3:GetObject.
--! 23514

-- s3-sts: the object action for a bucket
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 3600, '{"policy": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": "arn:aws:s3:::build-cache"}]}}');
--> Key "k": unlikely_settings
--? The key has a policy that allows actions on objects, but whose Resource is a bucket. Write "arn:aws:s3:::BUCKET/*" for the objects of a bucket.
--! 01000

-- s3-sts: a statement element in lower case
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'minio', 3600, '{"policy": {"Version": "2012-10-17", "Statement": [{"effect": "Allow", "action": "s3:GetObject", "resource": "*"}]}}');
--> Key "k" of tenant "acme" has a policy with a statement that has an unknown element.
--? Use only Sid, Effect, Action or NotAction, Resource or NotResource, and Condition, spelled exactly like that.
--! 23514

-- gcp: STS's path in its endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark", "sts_endpoint": "https://sts.googleapis.com/v1/token"}', '{deploy@acme-prod.iam.gserviceaccount.com}');
--> Access provider "p2" of tenant "acme" has an endpoint with a path, but the broker appends the path itself.
--? Write the host only, for example "https://sts.googleapis.com".
--! 23514

-- gcp: the endpoints exchanged
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark", "sts_endpoint": "https://iamcredentials.googleapis.com"}', '{deploy@acme-prod.iam.gserviceaccount.com}');
--> Access provider "p2" of tenant "acme" has a sts_endpoint that is not an endpoint of STS.
--? Leave out sts_endpoint, or write "https://sts.googleapis.com".
--! 23514

-- gcp: the IAM API for credentials
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark", "iam_endpoint": "https://iam.googleapis.com"}', '{deploy@acme-prod.iam.gserviceaccount.com}');
--> Access provider "p2" of tenant "acme" has an iam_endpoint that is not that of the IAM Service Account Credentials API.
--? Leave out iam_endpoint, or write "https://iamcredentials.googleapis.com".
--! 23514

-- gcp: oauth2.googleapis.com as STS
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark", "sts_endpoint": "https://oauth2.googleapis.com"}', '{deploy@acme-prod.iam.gserviceaccount.com}');
--> Access provider "p2" of tenant "acme" has a sts_endpoint that is not an endpoint of STS.
--? Leave out sts_endpoint, or write "https://sts.googleapis.com".
--! 23514

-- gcp: a pool of workforces
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/locations/global/workforcePools/mintmark/providers/mintmark"}', '{deploy@acme-prod.iam.gserviceaccount.com}');
--> Access provider "p2" of tenant "acme": the setting "workload_identity_provider" is "//iam.googleapis.com/locations/global/workforcePools/mintmark/providers/mintmark", which is not the full name of a workload identity provider, with the number of the project.
--? For example "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark".
--! 23514

-- gcp: the default service account of Compute Engine
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "123456789-compute@developer.gserviceaccount.com"}');
--> Key "k": unlikely_settings
--? The key names a default service account, which all workloads of its project share and which often has the role Editor. Create a service account with the roles that this key needs, and name it.
--! 01000

-- gcp: a service agent of Google
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "service-123456789@gcp-sa-pubsub.iam.gserviceaccount.com"}');
--> Key "k" of tenant "acme" names an account that only Google itself uses.
--? Create a service account for this key, and name it.
--! 23514

-- gcp: a person of the organisation
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "grace@acme.example"}');
--> Key "k": unlikely_settings
--? The key names an account that is not a Google service account. Write the email of a service account, which ends with gserviceaccount.com, for example deploy@acme-prod.iam.gserviceaccount.com.
--! 01000

-- gcp: a delegate that is the account itself
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "delegates": ["deploy@acme-prod.iam.gserviceaccount.com"]}');
--> Key "k" of tenant "acme" names its service_account also in delegates.
--? Remove service_account from delegates.
--! 23514

-- gcp: a scope of another host
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "scopes": ["https://acme.example/auth/read"]}');
--> Key "k": unlikely_settings
--? The key has a scope that isn't a Google scope. Scopes begin with https://www.googleapis.com/auth/, for example "https://www.googleapis.com/auth/devstorage.read_only".
--! 01000

-- gcp: an access boundary without its rules
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "access_boundary": {"rules": []}}');
--> Key "k" of tenant "acme" has an access_boundary without accessBoundary.accessBoundaryRules.
--? Write {"accessBoundary": {"accessBoundaryRules": [{"availableResource": "…", "availablePermissions": ["inRole:…"]}]}}.
--! 23514

-- gcp: a role without inRole in an access boundary
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "access_boundary": {"accessBoundary": {"accessBoundaryRules": [{"availableResource": "//storage.googleapis.com/projects/_/buckets/b", "availablePermissions": ["roles/storage.objectViewer"]}]}}}');
--> Key "k" of tenant "acme" has an access_boundary with a permission that is not a role.
--? Write the role after inRole:, for example "inRole:roles/storage.objectViewer".
--! 23514

-- gcp: a bucket's URL in an access boundary
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 3600, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com", "access_boundary": {"accessBoundary": {"accessBoundaryRules": [{"availableResource": "gs://b", "availablePermissions": ["inRole:roles/storage.objectViewer"]}]}}}');
--> Key "k" of tenant "acme" has an access_boundary with a resource that is not a bucket.
--? Write //storage.googleapis.com/projects/_/buckets/BUCKET.
--! 23514

-- gcp: twelve hours
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 43200, '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com"}');
--> Key "k": unlikely_settings
--? The key has a max_duration above 3600 seconds, which Google allows only if the organisation policy lists the account. Set max_duration to 3600, or list the account in constraints/iam.allowServiceAccountCredentialLifetimeExtension and ignore this warning.
--! 01000

-- gcp: the whole resource name of a service account
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'google', 3600, '{"service_account": "projects/-/serviceAccounts/deploy@acme-prod.iam.gserviceaccount.com"}');
--> Key "k" of tenant "acme": the setting "service_account" is "projects/-/serviceAccounts/deploy@acme-prod.iam.gserviceaccount.com", which is not the email of a service account.
--? For example "service_account": "deploy@acme-prod.iam.gserviceaccount.com".
--! 23514

-- azure: the directory's name
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "acme"}', '{**}');
--> Access provider "p2": unlikely_settings
--? The access provider has a tenant_id that is neither an id nor a domain. Write the directory's id: az account show --query tenantId.
--! 01000

-- azure: a directory of zeros
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "00000000-0000-0000-0000-000000000000"}', '{**}');
--> Access provider "p2": unlikely_settings
--? The access provider has a tenant_id of zeros. Write the directory's id: az account show --query tenantId.
--! 01000

-- azure: a resource as authority
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47", "authority": "https://management.azure.com"}', '{**}');
--> Access provider "p2" of tenant "acme" has an authority that is not a token issuer.
--? Leave out authority, or write "https://login.microsoftonline.com".
--! 23514

-- azure: sts.windows.net as authority
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47", "authority": "https://sts.windows.net"}', '{**}');
--> Access provider "p2" of tenant "acme" has an authority that is not a token issuer.
--? Leave out authority, or write "https://login.microsoftonline.com".
--! 23514

-- azure: the name of an application
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "shop-deployer", "scope": "https://management.azure.com/.default"}');
--> Key "k": unlikely_settings
--? The key has a client_id that is not the id of an application. Write the application (client) id of the app registration or managed identity, not its name.
--! 01000

-- azure: the URI of an application
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "api://11111111-2222-3333-4444-555555555555", "scope": "https://management.azure.com/.default"}');
--> Key "k" of tenant "acme": the setting "client_id" is "api://11111111-2222-3333-4444-555555555555", which is not the client id of an application.
--? For example "client_id": "11111111-2222-3333-4444-555555555555".
--! 23514

-- azure: a scope with the name of a vault
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://acme.vault.azure.net/.default"}');
--> Key "k" of tenant "acme" has a single resource as scope, but Entra knows only scopes of services.
--? Write the scope of the service, for example "https://vault.azure.net/.default" or "https://database.windows.net/.default".
--! 23514

-- azure: a scope with the name of a database server
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://acme.database.windows.net/.default"}');
--> Key "k" of tenant "acme" has a single resource as scope, but Entra knows only scopes of services.
--? Write the scope of the service, for example "https://vault.azure.net/.default" or "https://database.windows.net/.default".
--! 23514

-- azure: a scope of the retired graph
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://graph.windows.net/.default"}');
--> Key "k": unlikely_settings
--? The key has a scope of Azure AD Graph, which was retired. Write "https://graph.microsoft.com/.default".
--! 01000

-- azure: a subscription in the scope
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://management.azure.com/subscriptions/x/.default"}');
--> Key "k" of tenant "acme" has a scope with the path of a resource.
--? Write https://management.azure.com/.default, and assign roles at the resource.
--! 23514

-- azure: the sign-in server as scope
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "11111111-2222-3333-4444-555555555555", "scope": "https://login.microsoftonline.com/.default"}');
--> Key "k" of tenant "acme" has a scope for a server that is not a resource in Entra.
--? Write the resource that the token is for, for example "https://management.azure.com/.default".
--! 23514

-- azure: a client id of zeros
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "00000000-0000-0000-0000-000000000000", "scope": "https://management.azure.com/.default"}');
--> Key "k": unlikely_settings
--? The key has a client_id of zeros. Write the application (client) id of the app registration or managed identity.
--! 01000

-- azure: a placeholder as client id
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'azure', '{"tenant_id": "72f988bf-86f1-41af-91ab-2d7cd011db47"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 5400, '{"client_id": "<client-id>", "scope": "https://management.azure.com/.default"}');
--> Key "k" of tenant "acme": the setting "client_id" is "<client-id>", which is not the client id of an application.
--? For example "client_id": "11111111-2222-3333-4444-555555555555".
--! 23514

-- oauth2: GitHub's token endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://github.com/login/oauth/access_token"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has the token endpoint of GitHub, which does not support token exchange.
--? Use the type github-app.
--! 23514

-- oauth2: Google's STS
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://sts.googleapis.com/v1/token"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has a token endpoint of Google.
--? Use the type gcp.
--! 23514

-- oauth2: Entra's token endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/oauth2/v2.0/token"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has a token endpoint of Entra.
--? Use the type azure.
--! 23514

-- oauth2: AWS's STS
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://sts.eu-central-1.amazonaws.com/"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has the endpoint of AWS STS.
--? Use the type aws-sts.
--! 23514

-- oauth2: a realm of Keycloak
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://sso.acme.example/realms/acme"}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme" has a URL of Keycloak that is not a token endpoint.
--? Write "https://HOST/realms/REALM/protocol/openid-connect/token".
--! 23514

-- oauth2: the issuer for the token endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example"}', '{https://x.acme.example}');
--> Access provider "p2": unlikely_settings
--? The access provider has a token_endpoint without a path. Write the token_endpoint of the server's discovery document; it usually ends with /token. Ignore this warning if the server has its token endpoint at the root.
--! 01000

-- oauth2: the folder of the endpoints
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2"}', '{https://x.acme.example}');
--> Access provider "p2": unlikely_settings
--? The access provider has a token_endpoint whose path is unusual for a token endpoint. Write the token_endpoint of the server's discovery document; it usually ends with /token.
--! 01000

-- oauth2: the audience is the client itself
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "client_id": "mintmark", "subject_audience": "mintmark"}', '{https://x.acme.example}');
--> Access provider "p2": unlikely_settings
--? The access provider has its own client_id as subject_audience. subject_audience is the server that reads the broker's token. Leave it out, or write that server's issuer.
--! 01000

-- oauth2: a secret among the parameters
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "parameters": {"api_key": "x"}}', '{https://x.acme.example}');
--> Access provider "p2": unlikely_settings
--? The access provider has a parameter that looks like a secret, and secrets are not stored in the database. Write the secret to a file. If the server accepts a client secret, name the file as client_secret.
--! 01000

-- oauth2: a placeholder as client id
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "client_id": "${CLIENT_ID}"}', '{https://x.acme.example}');
--> Access provider "p2": placeholder
--? has "${CLIENT_ID}", a placeholder that was not filled in. Write the real value.
--! 01000

-- oauth2: a certificate as client secret
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token", "client_id": "m", "client_secret": {"file": "client.crt"}}', '{https://x.acme.example}');
--> Access provider "p2" of tenant "acme": the setting "client_secret" names the file "client.crt", whose extension is that of a public key, a certificate or a certificate request.
--? Write the secret to a file in the tenant's secrets directory, and "client_secret": {"file": "its-name"} here.
--! 23514

-- oauth2: a refresh token is asked for
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"audience": "https://x.acme.example", "scope": "read offline_access"}');
--> Key "k": unlikely_settings
--? The key asks for a refresh token, which the broker drops. Leave out offline_access.
--! 01000

-- oauth2: an ID token is asked for
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"audience": "https://x.acme.example", "scope": "openid read"}');
--> Key "k": unlikely_settings
--? The key asks for an ID token, which the broker drops. Leave out openid.
--! 01000

-- oauth2: the token endpoint as audience
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'oauth2', '{"token_endpoint": "https://as2.acme.example/oauth2/token"}', '{**}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 600, '{"audience": "https://as2.acme.example/oauth2/token"}');
--> Key "k": unlikely_settings
--? The key has the access provider's token_endpoint as its audience. Write the service that the client calls. The audience of the broker's own token is subject_audience.
--! 01000

-- github-app: the client id of an OAuth app
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Ov23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*}');
--> Access provider "p2" of tenant "acme" has the client id of an OAuth app.
--? Write the client id from the app's settings; client ids of GitHub Apps begin with Iv.
--! 23514

-- github-app: a client secret as client id
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "0123456789abcdef0123456789abcdef01234567", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*}');
--> Access provider "p2" of tenant "acme" has what looks like a client secret as client_id.
--? Write the client id of the app, such as Iv23liABCDEF, and revoke the secret if it is real.
--! 23514

-- github-app: the app's URL as client id
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "https://github.com/apps/acme-bot", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*}');
--> Access provider "p2" of tenant "acme" has a URL as client_id.
--? Write the client id from the app's settings, such as Iv23liABCDEF.
--! 23514

-- github-app: the app's name as client id
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "acme-bot", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*}');
--> Access provider "p2": unlikely_settings
--? The access provider has what looks like the app's name as client_id. Write the client id from the app's settings, such as Iv23liABCDEF, or its numeric id.
--! 01000

-- github-app: plain http
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678", "api_url": "http://github.acme.example/api/v3"}', '{repository:*,permission:*:*}');
--> Access provider "p2": unlikely_settings
--? The access provider has an api_url without TLS. Write an https URL.
--! 01000

-- github-app: the GraphQL endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678", "api_url": "https://api.github.com/graphql"}', '{repository:*,permission:*:*}');
--> Access provider "p2" of tenant "acme" has an api_url without /api/v3.
--? Write https://HOST/api/v3 for GitHub Enterprise Server, https://api.NAME.ghe.com for GHE.com, or https://api.github.com for github.com.
--! 23514

-- github-app: GHE.com without api
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678", "api_url": "https://acme.ghe.com"}', '{repository:*,permission:*:*}');
--> Access provider "p2" of tenant "acme" has an api_url without /api/v3.
--? Write https://HOST/api/v3 for GitHub Enterprise Server, https://api.NAME.ghe.com for GHE.com, or https://api.github.com for github.com.
--! 23514

-- github-app: a public key as private key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pub"}, "installation_id": "12345678"}', '{repository:*,permission:*:*}');
--> Access provider "p2" of tenant "acme": the setting "private_key" names the file "github-app.pub", whose extension is that of a public key, a certificate or a certificate request.
--? Write the secret to a file in the tenant's secrets directory, and "private_key": {"file": "its-name"} here; or name a key of the broker's PKCS#11 token, "private_key": {"pkcs11": "object=TENANT/NAME"}.
--! 23514

-- github-app: all_repositories false
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"all_repositories": false, "permissions": {"contents": "read"}}');
--> Key "k" of tenant "acme" has all_repositories false and names no repositories.
--? Write "all_repositories": true, or name the repositories in repositories or repository_ids.
--! 23514

-- github-app: metadata to write
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "permissions": {"metadata": "write"}}');
--> Key "k" of tenant "acme" asks for the permission metadata with the level write, which GitHub does not have.
--? Write "metadata": "read", or leave it out: each token can read metadata.
--! 23514

-- github-app: metadata alone
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "permissions": {"metadata": "read"}}');
--> Key "k": unlikely_settings
--? The key asks only for metadata, which every token can read anyway. Name what the clients need, for example {"contents": "read"}.
--! 01000

-- github-app: a clone URL's name
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop.git"], "permissions": {"contents": "read"}}');
--> Key "k" of tenant "acme" has a repository name that ends in .git.
--? Write the name only, for example "shop".
--! 23514

-- github-app: names and all repositories
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "all_repositories": true, "permissions": {"contents": "read"}}');
--> Key "k" of tenant "acme": the setting "repositories" can't be combined with the setting "all_repositories".
--? Leave out one of them.
--! 23514

-- github-app: a permission as a list of levels
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "permissions": {"contents": ["read", "write"]}}');
--> Key "k" of tenant "acme": the setting "permissions" has a value for "contents" that must be a string, not a list.
--? For example "permissions": {"contents": "read"}.
--! 23514

-- github-app: Contents with a capital
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'github-app', '{"client_id": "Iv23liABCDEF", "private_key": {"file": "github-app.pem"}, "installation_id": "12345678"}', '{repository:*,permission:*:*,all_repositories,repository_id:*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"repositories": ["shop"], "permissions": {"Contents": "read"}}');
--> Key "k" of tenant "acme": the setting "permissions" has the name "Contents", which is not the name of a permission of GitHub.
--? For example "permissions": {"contents": "read"}.
--! 23514

-- kubernetes: the address of kubectl proxy
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "http://127.0.0.1:8001"}', '{shop/*}');
--> Access provider "p2": unlikely_settings
--? The access provider has the URL of kubectl proxy, which gives every caller the rights of the user who started it. Write the URL as in a kubeconfig, for example "https://kubernetes.example.com:6443".
--! 01000

-- kubernetes: the address of kubectl proxy in a container
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "http://proxy.acme.example:8001"}', '{shop/*}');
--> Access provider "p2": unlikely_settings
--? The access provider has the URL of kubectl proxy, which gives every caller the rights of the user who started it. Write the URL as in a kubeconfig, for example "https://kubernetes.example.com:6443".
--! 01000

-- kubernetes: a cluster on the own machine
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://localhost:6443"}', '{shop/*}');
--> Access provider "p2": unlikely_settings
--? The access provider has a server on the broker's own machine. Write the URL by which the broker reaches the API server. Ignore this warning if the API server runs on the broker's machine.
--! 01000

-- kubernetes: kind's address
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://127.0.0.1:39411"}', '{shop/*}');
--> Access provider "p2": unlikely_settings
--? The access provider has a server on the broker's own machine. Write the URL by which the broker reaches the API server. Ignore this warning if the API server runs on the broker's machine.
--! 01000

-- kubernetes: the dashboard
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://kubernetes-dashboard.acme.example"}', '{shop/*}');
--> Access provider "p2": unlikely_settings
--? The access provider has the URL of a dashboard or console instead of an API server. Write the URL as in a kubeconfig: kubectl config view --minify --output "jsonpath={.clusters[0].cluster.server}".
--! 01000

-- kubernetes: Rancher's dashboard
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://rancher.acme.example/dashboard/c/local"}', '{shop/*}');
--> Access provider "p2": unlikely_settings
--? The access provider has the URL of a dashboard or console instead of an API server. Write the URL as in a kubeconfig: kubectl config view --minify --output "jsonpath={.clusters[0].cluster.server}".
--! 01000

-- kubernetes: the dashboard through the API server
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443/api/v1/namespaces/kubernetes-dashboard/services/https:kubernetes-dashboard:/proxy/"}', '{shop/*}');
--> Access provider "p2" of tenant "acme" has a server with the path of an API.
--? Write the URL as in a kubeconfig, for example "https://kubernetes.example.com:6443".
--! 23514

-- kubernetes: the console of AWS
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://eu-central-1.console.aws.amazon.com/eks/home"}', '{shop/*}');
--> Access provider "p2": unlikely_settings
--? The access provider has the URL of a dashboard or console instead of an API server. Write the URL as in a kubeconfig: kubectl config view --minify --output "jsonpath={.clusters[0].cluster.server}".
--! 01000

-- kubernetes: the port of the kubelet
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:10250"}', '{shop/*}');
--> Access provider "p2" of tenant "acme" has the port of a component other than the API server.
--? Write the port of the API server, usually 6443 or 443.
--! 23514

-- kubernetes: the port of etcd
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:2379"}', '{shop/*}');
--> Access provider "p2" of tenant "acme" has the port of a component other than the API server.
--? Write the port of the API server, usually 6443 or 443.
--! 23514

-- kubernetes: plain http
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "http://k2.acme.example:8080"}', '{shop/*}');
--> Access provider "p2": unlikely_settings
--? The access provider has a server URL with http. Write an https URL, for example "https://kubernetes.example.com:6443".
--! 01000

-- kubernetes: the short name inside the cluster
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://kubernetes"}', '{shop/*}');
--> Access provider "p2" of tenant "acme" has a server name that works only inside the cluster.
--? Write the URL by which the broker reaches the API server.
--! 23514

-- kubernetes: a certificate as token
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443", "auth": "token", "token": {"file": "client.crt"}}', '{shop/*}');
--> Access provider "p2" of tenant "acme": the setting "token" names the file "client.crt", whose extension is that of a public key, a certificate or a certificate request.
--? Write the secret to a file in the tenant's secrets directory, and "token": {"file": "its-name"} here.
--! 23514

-- kubernetes: an audience that is a placeholder
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443", "audience": "<audience>"}', '{shop/*}');
--> Access provider "p2": placeholder
--? has "<audience>", a placeholder that was not filled in. Write the real value.
--! 01000

-- kubernetes: the service account default
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{shop/*,kube-system/*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "shop/default"}');
--> Key "k": unlikely_settings
--? The key names the service account default, which every pod of the namespace uses by default. Create a service account for this key, and name it.
--! 01000

-- kubernetes: a service account of the cluster
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{shop/*,kube-system/*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "kube-system/clusterrole-aggregation-controller"}');
--> Key "k": unlikely_settings
--? The key names a service account of the cluster's own components. Create a service account in a namespace of your own, and name it.
--! 01000

-- kubernetes: a star as audience
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'kubernetes', '{"server": "https://k2.acme.example:6443"}', '{shop/*,kube-system/*}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"service_account": "shop/deployer", "audiences": ["*"]}');
--> Key "k" of tenant "acme" has an audience that no server accepts.
--? Write the audience that the server expects, or leave out audiences to use the audience of the API server.
--! 23514

-- kubernetes: a resource, although no token is for it
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, resource) VALUES ('acme', 'k', 'kubernetes', 3600, '{"service_account": "shop/deployer"}', 'https://mcp.acme.example/orders');
--> Key "k" of tenant "acme" has a resource, but type kubernetes issues no token that a client can present at a resource.
--? Set resource to null. Only keys of the types azure, gcp, github-app, jwt, oauth2 can have a resource, by which clients of POST /oauth2/token name the key.
--! 23514

-- ssh: the public half as CA key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "ssh-ca.pub"}}', '{deploy,backup}');
--> Access provider "p2" of tenant "acme": the setting "ca_key" names the file "ssh-ca.pub", whose extension is that of a public key, a certificate or a certificate request.
--? Write the secret to a file in the tenant's secrets directory, and "ca_key": {"file": "its-name"} here; or name a key of the broker's PKCS#11 token, "ca_key": {"pkcs11": "object=TENANT/NAME"}.
--! 23514

-- ssh: a line of a public key as CA key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA ca@acme"}}', '{deploy,backup}');
--> Access provider "p2" of tenant "acme": the setting "ca_key" must name a file in the tenant's secrets directory, without . or .. in its path.
--? Write the secret to a file in the tenant's secrets directory, and "ca_key": {"file": "its-name"} here; or name a key of the broker's PKCS#11 token, "ca_key": {"pkcs11": "object=TENANT/NAME"}.
--! 23514

-- ssh: a path of a public key as CA key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "keys/ssh-ca.pub"}}', '{deploy,backup}');
--> Access provider "p2" of tenant "acme": the setting "ca_key" names the file "keys/ssh-ca.pub", whose extension is that of a public key, a certificate or a certificate request.
--? Write the secret to a file in the tenant's secrets directory, and "ca_key": {"file": "its-name"} here; or name a key of the broker's PKCS#11 token, "ca_key": {"pkcs11": "object=TENANT/NAME"}.
--! 23514

-- ssh: a person's key as CA key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "id_ed25519"}}', '{deploy,backup}');
--> Access provider "p2": unlikely_settings
--? The access provider has a person's or a server's key as ca_key. Make a key for the CA alone: ssh-keygen -t ed25519 -f ssh-ca.
--! 01000

-- ssh: a server's key as CA key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "ssh_host_ed25519_key"}}', '{deploy,backup}');
--> Access provider "p2": unlikely_settings
--? The access provider has a person's or a server's key as ca_key. Make a key for the CA alone: ssh-keygen -t ed25519 -f ssh-ca.
--! 01000

-- ssh: a CA for every server
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "ssh-ca2"}, "known_hosts": ["@cert-authority * ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHQ"]}', '{deploy,backup}');
--> Access provider "p2": unlikely_settings
--? The access provider has a known_hosts line by which the CA vouches for every server. Write the servers, for example @cert-authority *.acme.example.
--! 01000

-- ssh: a key of another type in known_hosts
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "ssh-ca2"}, "known_hosts": ["web1.acme.example ssh-ed25519 AAAAB3NzaC1yc2EAAAADAQABAAABgQ"]}', '{deploy,backup}');
--> Access provider "p2" of tenant "acme" has a known_hosts line whose key is truncated or of another type.
--? Copy the line as ssh-keyscan HOST prints it, or the CA's .pub file after @cert-authority.
--! 23514

-- ssh: the file known_hosts as one text
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "ssh-ca2"}, "known_hosts": "web1.acme.example ssh-ed25519 AAAA"}', '{deploy,backup}');
--> Access provider "p2" of tenant "acme": the setting "known_hosts" must be a list of strings, not a string.
--? For example "known_hosts": ["@cert-authority *.acme.example ssh-ed25519 AAAA"].
--! 23514

-- ssh: every address
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "source_address": ["0.0.0.0/0"]}');
--> Key "k" of tenant "acme" has a source_address that contains every address.
--? Leave out source_address, or write the networks that clients connect from.
--! 23514

-- ssh: every address of IPv6
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "source_address": ["::/0"]}');
--> Key "k" of tenant "acme" has a source_address that contains every address.
--? Leave out source_address, or write the networks that clients connect from.
--! 23514

-- ssh: the address of no client
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "source_address": ["0.0.0.0"]}');
--> Key "k" of tenant "acme" has a source_address that no client can have.
--? Leave out source_address, or write the networks that clients connect from.
--! 23514

-- ssh: the own machine as source
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "source_address": ["127.0.0.1"]}');
--> Key "k": unlikely_settings
--? The key has a source_address that is local to one machine, so servers never see it. Write the networks that clients connect from.
--! 01000

-- ssh: certificates of two minutes
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 120, '{"principals": ["deploy"]}');
--> Key "k": unlikely_settings
--? The key has a max_duration of a few minutes, so certificates can expire before a slow client connects, or fail if clocks differ. Set max_duration to 300 or more. A session continues after its certificate expires.
--! 01000

-- ssh: a script without its path
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "force_command": "deploy.sh --now"}');
--> Key "k": unlikely_settings
--? The key has a force_command that is a script without its path. Write the full path, for example /usr/local/bin/deploy.sh; without it, the login shell searches PATH.
--! 01000

-- ssh: sftp with forwarding
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"], "force_command": "internal-sftp", "extensions": ["permit-port-forwarding"]}');
--> Key "k": unlikely_settings
--? The key has the force_command internal-sftp, but permits forwarding. Leave out the extensions that permit forwarding.
--! 01000

-- ssh: a resource, although no token is for it
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, resource) VALUES ('acme', 'k', 'servers', 900, '{"principals": ["deploy"]}', 'https://mcp.acme.example/orders');
--> Key "k" of tenant "acme" has a resource, but type ssh issues no token that a client can present at a resource.
--? Set resource to null. Only keys of the types azure, gcp, github-app, jwt, oauth2 can have a resource, by which clients of POST /oauth2/token name the key.
--! 23514

-- ssh: all as principal
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'ssh', '{"ca_key": {"file": "ssh-ca2"}}', '{all}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 900, '{"principals": ["all"]}');
--> Key "k": unlikely_settings
--? The key has a principal that looks as if it meant all users. A principal is the name of one user. List each user.
--! 01000

-- x509: certificates of two minutes
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 120, '{"subject": "/O=acme/CN=app.{mint_id}"}');
--> Key "k": unlikely_settings
--? The key has a max_duration of a few minutes, so certificates can expire before a slow client connects, or fail if clocks differ. Write a max_duration of 300 or more.
--! 01000

-- x509: an IP address as DNS name
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 900, '{"subject": "/O=acme/CN=app.{mint_id}", "usage": ["server"], "dns_names": ["10.1.2.3"]}');
--> Key "k" of tenant "acme" has an IP address among the dns_names, which clients do not compare with the addresses that they connect to.
--? Write the name of the server.
--! 23514

-- x509: a star below a top-level domain
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 900, '{"subject": "/O=acme/CN=app.{mint_id}", "usage": ["server"], "dns_names": ["*.example"]}');
--> Key "k" of tenant "acme" has a dns_name with a * directly below a top-level domain, which clients reject.
--? Write at least two labels after the *, for example *.acme.example.
--! 23514

-- x509: localhost
UPDATE broker.access_provider SET allowed_targets = '{subject:**,dns:**,spiffe://acme.example/**}' WHERE name = 'tls';INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 900, '{"subject": "/O=acme/CN=app.{mint_id}", "usage": ["server"], "dns_names": ["localhost"]}');
--> Key "k": unlikely_settings
--? The key has the dns_name localhost, which is every machine's name for itself. Write the name of the server.
--! 01000

-- x509: a hyphen at the end of a label
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 900, '{"subject": "/O=acme/CN=app.{mint_id}", "usage": ["server"], "dns_names": ["api-.acme.example"]}');
--> Key "k" of tenant "acme" has a dns_name with a hyphen at the start or end of a label.
--? Correct the name.
--! 23514

-- x509: a country in words
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 900, '{"subject": "/C=Germany/O=acme/CN=app"}');
--> Key "k" of tenant "acme" has a country that is not a two-letter code.
--? Write the code of ISO 3166, for example C=DE.
--! 23514

-- x509: a country in lower case
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 900, '{"subject": "/C=de/O=acme/CN=app"}');
--> Key "k" of tenant "acme" has a country that is not a two-letter code.
--? Write the code of ISO 3166, for example C=DE.
--! 23514

-- x509: no common name
UPDATE broker.access_provider SET allowed_targets = '{subject:**,dns:**,spiffe://acme.example/**}' WHERE name = 'tls';INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 900, '{"subject": "/O=acme/OU=shop"}');
--> Key "k": unlikely_settings
--? The key has a subject without CN or UID, by which servers tell clients apart. Add CN, for example /O=acme/CN={key}.
--! 01000

-- x509: an Ed25519 key for a server
UPDATE broker.access_provider SET allowed_targets = '{subject:**,dns:**,spiffe://acme.example/**}' WHERE name = 'tls';INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 900, '{"subject": "/O=acme/CN=app.{mint_id}", "usage": ["server"], "dns_names": ["api.acme.example"], "key_type": "ed25519"}');
--> Key "k": unlikely_settings
--? The key has the usage "server" with key_type ed25519, which browsers do not accept. Leave out key_type, unless all clients are known to accept Ed25519.
--! 01000

-- x509: an underscore in a DNS name
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 900, '{"subject": "/O=acme/CN=app.{mint_id}", "usage": ["server"], "dns_names": ["api_1.acme.example"]}');
--> Key "k" of tenant "acme": the setting "dns_names" has an element that is "api_1.acme.example", which is not a DNS name in lower case.
--? For example "dns_names": ["api.acme.example"].
--! 23514

-- x509: a placeholder in the subject
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'tls', 900, '{"subject": "/O=acme/CN=${HOST}"}');
--> Key "k" of tenant "acme": the setting "subject" is "/O=acme/CN=${HOST}", which is not attributes such as /O=acme/CN=shop, of CN, OU, O, L, ST, C, DC and UID.
--? For example "subject": "/O=acme/CN={key}".
--! 23514

-- x509: a certificate as CA key
UPDATE broker.access_provider SET settings = jsonb_set(settings, '{ca_key}', '{"file": "tls-ca.crt"}') WHERE name = 'tls';
--> Access provider "tls" of tenant "acme": the setting "ca_key" names the file "tls-ca.crt", whose extension is that of a public key, a certificate or a certificate request.
--? Write the secret to a file in the tenant's secrets directory, and "ca_key": {"file": "its-name"} here; or name a key of the broker's PKCS#11 token, "ca_key": {"pkcs11": "object=TENANT/NAME"}.
--! 23514

-- x509: a request as CA key
UPDATE broker.access_provider SET settings = jsonb_set(settings, '{ca_key}', '{"file": "tls-ca.csr"}') WHERE name = 'tls';
--> Access provider "tls" of tenant "acme": the setting "ca_key" names the file "tls-ca.csr", whose extension is that of a public key, a certificate or a certificate request.
--? Write the secret to a file in the tenant's secrets directory, and "ca_key": {"file": "its-name"} here; or name a key of the broker's PKCS#11 token, "ca_key": {"pkcs11": "object=TENANT/NAME"}.
--! 23514

-- x509: the key of a server as CA key
UPDATE broker.access_provider SET settings = jsonb_set(settings, '{ca_key}', '{"file": "live/privkey.pem"}') WHERE name = 'tls';
--> Access provider "tls": unlikely_settings
--? The access provider has the file privkey.pem as ca_key, the usual name of a server's key from Let's Encrypt. A server's key cannot sign certificates. Create a CA for the tenant: see docs/providers/x509.md.
--! 01000

-- x509: a trust domain of an example
UPDATE broker.access_provider SET settings = jsonb_set(settings, '{trust_domain}', '"example.org"') WHERE name = 'tls';
--> Key "orders-db" of tenant "acme" has a uri outside the trust domain example.org.
--? Write a uri that begins with spiffe://example.org/.
--! 23514

-- webhook: a hook of Zapier
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://hooks.zapier.com/hooks/catch/1/x", "fields": ["REGISTRY_PASSWORD"]}', '{registry/**}');
--> Access provider "p2" of tenant "acme" has the endpoint of a messaging service, which makes no credentials.
--? The endpoint is a service of your own: see docs/providers/webhook.md.
--! 23514

-- webhook: a hook of Telegram
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://api.telegram.org/bot/sendMessage", "fields": ["REGISTRY_PASSWORD"]}', '{registry/**}');
--> Access provider "p2" of tenant "acme" has the endpoint of a messaging service, which makes no credentials.
--? The endpoint is a service of your own: see docs/providers/webhook.md.
--! 23514

-- webhook: a public service for tests
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://webhook.site/0a1b2c3d", "fields": ["REGISTRY_PASSWORD"]}', '{registry/**}');
--> Access provider "p2": unlikely_settings
--? The access provider has the endpoint of a public test service, where others can read the broker's requests. Write the endpoint of a service of your own.
--! 01000

-- webhook: a tunnel
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://abc.ngrok-free.app/mintmark", "fields": ["REGISTRY_PASSWORD"]}', '{registry/**}');
--> Access provider "p2": unlikely_settings
--? The access provider has the endpoint of a public test service, where others can read the broker's requests. Write the endpoint of a service of your own.
--! 01000

-- webhook: no path
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://credentials2.acme.example", "fields": ["REGISTRY_PASSWORD"]}', '{registry/**}');
--> Access provider "p2": unlikely_settings
--? The access provider has an endpoint without a path, so that requests go to /MINT_ID at the root of the server. Write the path of the service. Ignore this warning if the service is at the root.
--! 01000

-- webhook: the mint id in the endpoint
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://credentials2.acme.example/mintmark/MINT_ID", "fields": ["REGISTRY_PASSWORD"]}', '{registry/**}');
--> Access provider "p2" of tenant "acme" has the mint id in its endpoint.
--? Write the endpoint without the mint id, which the broker appends.
--! 23514

-- webhook: a member of the answer as field
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://credentials2.acme.example/mintmark", "fields": ["credentialId"]}', '{registry/**}');
--> Access provider "p2": unlikely_settings
--? The access provider has a field whose name the response already uses for something else. Choose another name, for example REGISTRY_PASSWORD.
--! 01000

-- webhook: the end as field
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://credentials2.acme.example/mintmark", "fields": ["REGISTRY_PASSWORD", "EXPIRATION"]}', '{registry/**}');
--> Access provider "p2": unlikely_settings
--? The access provider has a field for the expiry, which the broker adds itself. Leave it out. To give clients the expiry under a name of your own, map that name to Expiration in the key's outputs.
--! 01000

-- webhook: a certificate as client key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'webhook', '{"endpoint": "https://credentials2.acme.example/mintmark", "fields": ["REGISTRY_PASSWORD"], "client_certificate": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "client_key": {"file": "webhook.crt"}}', '{registry/**}');
--> Access provider "p2" of tenant "acme": the setting "client_certificate" is a certificate that can't be read.
--? For example "client_certificate": "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----".
--! 23514

-- webhook: a password among the parameters
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'registry', 600, '{"target": "registry/push", "parameters": {"password": "x"}}');
--> Key "k": unlikely_settings
--? The key has a parameter that looks like a secret, and secrets are not stored in the database. Leave it out: the service keeps its own secrets. Send a name by which the service finds the secret.
--! 01000

-- webhook: the right among the parameters
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'registry', 600, '{"target": "registry/push", "parameters": {"role": "admin"}}');
--> Key "k": unlikely_settings
--? The key has a parameter that looks like a permission, and allowed_targets does not limit parameters. Write the permission into target: the service must derive rights from target alone.
--! 01000

-- webhook: a placeholder as parameter
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'registry', 600, '{"target": "registry/push", "parameters": {"repository": "<repository>"}}');
--> Key "k": placeholder
--? has "<repository>", a placeholder that was not filled in. Write the real value.
--! 01000

-- webhook: send_subject as a text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'registry', 600, '{"target": "registry/push", "send_subject": "true"}');
--> Key "k" of tenant "acme": the setting "send_subject" must be true or false, not a string.
--? The default is false.
--! 23514

-- webhook: a resource, although no token is for it
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, resource) VALUES ('acme', 'k', 'registry', 600, '{"target": "registry/push"}', 'https://mcp.acme.example/orders');
--> Key "k" of tenant "acme" has a resource, but type webhook issues no token that a client can present at a resource.
--? Set resource to null. Only keys of the types azure, gcp, github-app, jwt, oauth2 can have a resource, by which clients of POST /oauth2/token name the key.
--! 23514

-- postgresql: the superuser as the broker's login
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "postgres", "password": {"file": "postgresql-password"}}', '{app_rw}');
--> Access provider "p2": unlikely_settings
--? The access provider has a superuser as the broker's login. Create a login with CREATEROLE that is not a superuser: see docs/providers/postgresql.md.
--! 01000

-- postgresql: a template as database
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "template1", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');
--> Access provider "p2" of tenant "acme" names a template database.
--? Write another database, for example postgres.
--! 23514

-- postgresql: the reader endpoint of Aurora
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "acme.cluster-ro-abc123.eu-central-1.rds.amazonaws.com", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');
--> Access provider "p2": unlikely_settings
--? The access provider has a host that looks like a standby, where no logins can be made. Write the primary's host. To send clients to the standby, set client_host.
--! 01000

-- postgresql: a pooler as host
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example:6432", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');
--> Access provider "p2": unlikely_settings
--? The access provider has a host that looks like a pooler. Write the server itself as host, because the broker creates logins there, and the pooler as client_host.
--! 01000

-- postgresql: Neon's pooler
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "ep-x-123-pooler.eu-central-1.aws.neon.tech", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');
--> Access provider "p2": unlikely_settings
--? The access provider has a host that looks like a pooler. Write the server itself as host, because the broker creates logins there, and the pooler as client_host.
--! 01000

-- postgresql: MySQL's port
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example:3306", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');
--> Access provider "p2": unlikely_settings
--? The access provider has the port of another database system. Write the port of PostgreSQL, 5432 by default.
--! 01000

-- postgresql: the own machine
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "localhost", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');
--> Access provider "p2": unlikely_settings
--? The access provider has a host on the broker's own machine, and clients get the same host. Write a name that clients can reach too, or set client_host.
--! 01000

-- postgresql: a public key as client key
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}, "client_key": {"file": "postgresql.crt"}}', '{app_rw}');
--> Access provider "p2" of tenant "acme": the setting "client_key" names the file "postgresql.crt", whose extension is that of a public key, a certificate or a certificate request.
--? Write the secret to a file in the tenant's secrets directory, and "client_key": {"file": "its-name"} here.
--! 23514

-- postgresql: a placeholder as host
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "<host>", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');
--> Access provider "p2" of tenant "acme": the setting "host" is "<host>", which is not a host, or host:port, without a scheme.
--? For example "host": "db.example.com:5432".
--! 23514

-- postgresql: PUBLIC as role
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw,public,pg_database_owner}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "public"}');
--> Key "k" of tenant "acme" names a role that PostgreSQL reserves.
--? Create a role without LOGIN that has the rights of clients, and name it.
--! 23514

-- postgresql: pg_database_owner as role
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw,public,pg_database_owner}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "pg_database_owner"}');
--> Key "k" of tenant "acme" names pg_database_owner, which can have no members.
--? Create a role with the rights on data that clients need, and name it.
--! 23514

-- postgresql: a role for the server's operation
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{pg_signal_backend}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "pg_signal_backend"}');
--> Key "k": unlikely_settings
--? The key names a role for operating the server, not for access to data. Create a role with the rights on data that clients need, and name it.
--! 01000

-- postgresql: drop for an owner
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "app_rw", "as": "owner", "leftovers": "drop"}');
--> Key "k": unlikely_settings
--? The key sets leftovers, but with as = owner, objects that logins create belong to the role anyway. Leave out leftovers.
--! 01000

-- postgresql: the database among the further ones
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "app_rw", "leftovers": "drop", "databases": ["postgres"]}');
--> Key "k": unlikely_settings
--? The key lists in databases a database that is always included. Remove it from databases: database and client_database need no entry.
--! 01000

-- postgresql: a timeout of zero
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "app_rw", "parameters": {"statement_timeout": "0"}}');
--> Key "k": unlikely_settings
--? The key has a timeout of zero, which disables the timeout. Write a time such as "30s", or leave it out.
--! 01000

-- postgresql: schemas with a semicolon
INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets) VALUES ('acme', 'p2', 'postgresql', '{"host": "db2.acme.example", "database": "postgres", "client_database": "stock", "login": "mintmark", "password": {"file": "postgresql-password"}}', '{app_rw}');INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'p2', 3600, '{"role": "app_rw", "parameters": {"search_path": "app;public"}}');
--> Key "k": unlikely_settings
--? The key has a search_path with a semicolon. Separate schemas by commas, for example "app, public".
--! 01000

-- postgresql: a resource, although no token is for it
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, resource) VALUES ('acme', 'k', 'orders', 600, '{"role": "app_rw"}', 'https://mcp.acme.example/orders');
--> Key "k" of tenant "acme" has a resource, but type postgresql issues no token that a client can present at a resource.
--? Set resource to null. Only keys of the types azure, gcp, github-app, jwt, oauth2 can have a resource, by which clients of POST /oauth2/token name the key.
--! 23514

-- jwt: a template of another program
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example", "claims": {"user": "{{sub}}"}}');
--> Key "k": placeholder
--? has "{{sub}}", a placeholder that was not filled in. Write the real value.
--! 01000

-- jwt: a template in braces
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example", "claims": {"user": "{subject}"}}');
--> Key "k": unlikely_settings
--? The key has a placeholder in a claim, which type jwt doesn't fill in. Write a fixed value. Tokens always have the client's subject as sub.
--! 01000

-- jwt: a template of a shell
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example", "claims": {"user": "${SUB}"}}');
--> Key "k": placeholder
--? has "${SUB}", a placeholder that was not filled in. Write the real value.
--! 01000

-- jwt: a template within a list
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example", "claims": {"groups": ["ops", "{{group}}"]}}');
--> Key "k": placeholder
--? has "{{group}}", a placeholder that was not filled in. Write the real value.
--! 01000

-- jwt: a placeholder as audience
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "<audience>"}');
--> Key "k" of tenant "acme": the setting "audience" is "<audience>", which access provider "own-tokens" does not allow.
--? The access provider's allowed_targets: https://*.acme.example. A platform admin can change them.
--! 23514

-- jwt: scopes with commas
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example", "claims": {"scope": "read,write"}}');
--> Key "k" of tenant "acme" has a claim scope with a comma.
--? Separate scopes by spaces (RFC 9068), for example "read write".
--! 23514

-- jwt: a secret as claim
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example", "claims": {"api_key": "x"}}');
--> Key "k": unlikely_settings
--? The key has a claim that looks like a secret, and clients can read claims. Leave it out.
--! 01000

-- jwt: an audience by http
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "http://api2.acme.example"}');
--> Key "k" of tenant "acme": the setting "audience" is "http://api2.acme.example", which access provider "own-tokens" does not allow.
--? The access provider's allowed_targets: https://*.acme.example. A platform admin can change them.
--! 23514

-- jwt: every service as audience
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "any"}');
--> Key "k" of tenant "acme": the setting "audience" is "any", which access provider "own-tokens" does not allow.
--? The access provider's allowed_targets: https://*.acme.example. A platform admin can change them.
--! 23514

-- jwt: a boolean as a text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example", "claims": {"admin": "true"}}');
--> Key "k": unlikely_settings
--? The key has a boolean claim as a string. Write true or false without quotes.
--! 01000

-- jwt: groups in one text
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example", "claims": {"groups": "ops,dev"}}');
--> Key "k": unlikely_settings
--? The key has one string with a comma where services read a list. Write a list, for example ["ops", "dev"].
--! 01000

-- jwt: twelve hours
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 43200, '{"audience": "https://api2.acme.example"}');
--> Key "k": unlikely_settings
--? The key has a max_duration above 3600 seconds, and nothing can revoke its tokens. Set a shorter max_duration; clients can mint again.
--! 01000

-- jwt: scopes in the plural
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example", "claims": {"scopes": ["read"]}}');
--> Key "k": unlikely_settings
--? The key has the claim "scopes", which few services read. Use scope (RFC 9068).
--! 01000

-- jwt: a resource by http
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, resource) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example"}', 'http://mcp.acme.example/orders');
--> Key "k": resource_by_http
--? The resource "http://mcp.acme.example/orders" is a URL without TLS, and clients would send tokens to it in the clear. Write the https URL that clients use.
--! 01000

-- jwt: a resource with a fragment
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, resource) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example"}', 'https://mcp.acme.example/orders#x');
--> Key "k" of tenant "acme": the resource "https://mcp.acme.example/orders#x" must be an absolute URI of at most 512 characters, without a fragment.
--? Write the URI that clients send in the parameter resource, for example "https://mcp.example.com/orders"; null for none.
--! 23514

-- jwt: a resource that is a name
INSERT INTO broker.key (tenant, name, provider, max_duration, settings, resource) VALUES ('acme', 'k', 'own-tokens', 600, '{"audience": "https://api2.acme.example"}', 'orders');
--> Key "k" of tenant "acme": the resource "orders" must be an absolute URI of at most 512 characters, without a fragment.
--? Write the URI that clients send in the parameter resource, for example "https://mcp.example.com/orders"; null for none.
--! 23514

-- issuer: a name inside a cluster
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://kubernetes.default.svc', '{mintmark-i2}');
--> Identity provider "i2": issuer_inside_cluster
--? "https://kubernetes.default.svc" is a name inside a cluster, so only a broker in that cluster can fetch keys from it. If the broker runs elsewhere, write the key set into jwks: kubectl get --raw /openid/v1/jwks.
--! 01000

-- issuer: a name inside a cluster, with its domain
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://oidc.shop.svc.cluster.local', '{mintmark-i2}');
--> Identity provider "i2": issuer_inside_cluster
--? "https://oidc.shop.svc.cluster.local" is a name inside a cluster, so only a broker in that cluster can fetch keys from it. If the broker runs elsewhere, write the key set into jwks: kubectl get --raw /openid/v1/jwks.
--! 01000

-- issuer: keys inside a cluster
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri) VALUES ('i2', 'acme', 'https://k8s2.acme.example', '{mintmark-i2}', 'https://kubernetes.default.svc/openid/v1/jwks');
--> Identity provider "i2": issuer_inside_cluster
--? "https://kubernetes.default.svc/openid/v1/jwks" is a name inside a cluster, so only a broker in that cluster can fetch keys from it. If the broker runs elsewhere, write the key set into jwks: kubectl get --raw /openid/v1/jwks.
--! 01000

-- issuer: subject and approver
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, accepts) VALUES ('i2', 'acme', 'https://i.acme.example', '{mintmark-i2}', '{subject,approver}');
--> Identity provider "i2": approver_beside_subject
--? accepts contains both subject and approver, but subjects may decide anyway, so approver has no effect. If these tokens must only decide and never mint, such as those of the console's login, set accepts to {approver}.
--! 01000

-- issuer: GitHub's default audience
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('i2', 'acme', 'https://token.actions.githubusercontent.com', '{https://github.com/acme}', '{"repository_owner_id": "1234567"}');
--> Identity provider "i2": audience_of_another_service
--? The audience "https://github.com/acme" belongs to another service, so tokens for that service would be accepted here too. Have clients request an audience of this broker, for example one with the name of the tenant.
--! 01000

-- issuer: Okta's default audience
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://acme.okta.com/oauth2/default', '{api://default}');
--> Identity provider "i2": audience_of_another_service
--? The audience "api://default" belongs to another service, so tokens for that service would be accepted here too. Have clients request an audience of this broker, for example one with the name of the tenant.
--! 01000

-- issuer: gcloud's client id as audience
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims) VALUES ('i2', 'acme', 'https://accounts.google.com', '{32555940559.apps.googleusercontent.com}', '{"sub": "112233445566778899000"}');
--> Identity provider "i2": audience_of_another_service
--? The audience "32555940559.apps.googleusercontent.com" belongs to another service, so tokens for that service would be accepted here too. Have clients request an audience of this broker, for example one with the name of the tenant.
--! 01000

-- issuer: Microsoft Graph as audience
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences) VALUES ('i2', 'acme', 'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0', '{https://graph.microsoft.com}');
--> Identity provider "i2": audience_of_another_service
--? The audience "https://graph.microsoft.com" belongs to another service, so tokens for that service would be accepted here too. Have clients request an audience of this broker, for example one with the name of the tenant.
--! 01000

-- issuer: tokens that work once, of Google
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, required_claims, one_time_tokens, max_token_age) VALUES ('i2', 'acme', 'https://accounts.google.com', '{mintmark-i2}', '{"sub": "112233445566778899000"}', true, 600);
--> Identity provider "i2": one_time_without_id
--? Google sends tokens without jti, so one_time_tokens rejects all of them. Set one_time_tokens to false.
--! 01000

-- issuer: tokens that work once, without an age
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, one_time_tokens) VALUES ('i2', 'acme', 'https://i.acme.example', '{mintmark-i2}', true);
--> Identity provider "i2" has one_time_tokens without a max_token_age.
--? Set max_token_age to the maximum age of a token in seconds, for example 600. The broker remembers used tokens for that long.
--! 23514

-- issuer: a private key in the key set
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks) VALUES ('i2', 'acme', 'https://i.acme.example', '{mintmark-i2}', '{"keys": [{"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", "d": "x"}]}');
--> Identity provider "i2": jwks contains a private or secret key.
--? Write the key set as the issuer publishes it, public keys only: kty, kid and n, e (RSA) or crv, x, y (EC).
--! 23514

-- issuer: an empty key set
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks) VALUES ('i2', 'acme', 'https://i.acme.example', '{mintmark-i2}', '{"keys": []}');
--> Identity provider "i2": jwks is not a key set of the form {"keys": [{"kty": …}]}.
--? Write the key set as the issuer publishes it, public keys only: kty, kid and n, e (RSA) or crv, x, y (EC).
--! 23514

-- issuer: a certificate as key set
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks) VALUES ('i2', 'acme', 'https://i.acme.example', '{mintmark-i2}', '"-----BEGIN CERTIFICATE-----"');
--> Identity provider "i2": jwks is not a key set of the form {"keys": [{"kty": …}]}.
--? Write the key set as the issuer publishes it, public keys only: kty, kid and n, e (RSA) or crv, x, y (EC).
--! 23514

-- issuer: HS256
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, algorithms) VALUES ('i2', 'acme', 'https://i.acme.example', '{mintmark-i2}', '{HS256}');
--> Identity provider "i2": the algorithm "HS256" is not accepted.
--? Did you mean "ES256"? The broker accepts: ES256, ES384, ES512, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512.
--! 23514

-- grant: an actor of an identity provider without actors
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, actor_idp, actor) VALUES ('acme', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', 'OPS-1: test', 'acme-ci', 'job:agent');
--> Grant of key "read" to "2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e": party_not_accepted
--? Identity provider "acme-ci" does not accept actors, so no token matches the row. Add actor to broker.identity_provider.accepts, or name another identity provider.
--! 01000

-- grant: an actor of GitHub, which sends no act claim
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, actor_idp, actor) VALUES ('acme', 'acme-github', 'repo:acme/shop:ref:refs/heads/main', 'read', 'OPS-1: test', 'acme-github', 'repo:acme/agent:ref:refs/heads/main');
--> Grant of key "read" to "repo:acme/shop:ref:refs/heads/main": party_not_accepted
--? Identity provider "acme-github" does not accept actors, so no token matches the row. Add actor to broker.identity_provider.accepts, or name another identity provider.
--! 01000

-- grant: all agents by a glob
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, actor_idp, actor, actor_match) VALUES ('acme', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', 'OPS-1: test', 'acme-agents', 'agent:**', 'glob');
--> Grant of key "read" to "2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e": actor_matches_every_agent
--? Any agent of identity provider "acme-agents" may act for the subject. If some of them must not, name the agent, or match only agents of one team.
--! 01000

-- grant: a placeholder as subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason) VALUES ('acme', 'acme-github', 'repo:acme/<repo>:ref:refs/heads/main', 'read', 'OPS-1: test');
--> Grant of key "read" to "repo:acme/<repo>:ref:refs/heads/main": placeholder
--? has "<repo>", a placeholder that was not filled in. Write the real value.
--! 01000

-- grant: an actor of another tenant
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason, actor_idp, actor) VALUES ('acme', 'acme-keycloak', '2f1c9f4e-0d5b-4d0e-9d57-2f3a2b1c0d9e', 'read', 'OPS-1: test', 'nobody', 'agent:x');
--> Tenant "acme" has no identity provider "nobody".
--? It has: acme-agents, acme-buildkite, acme-ci, acme-cluster, acme-cluster-inside, acme-entra, acme-github, acme-gitlab, acme-google, acme-keycloak.
--! 23503
