-- a misspelt setting is told with the nearest known one
UPDATE broker.key SET settings = '{"rolearn": "arn:aws:iam::123456789012:role/ci-deploy"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme" has the setting "rolearn", which a key of type aws-sts does not have.
--? Did you mean "role_arn"? It has: policy, policy_arns, role_arn, session_name.

-- an unknown setting is told with those that there are
UPDATE broker.key SET settings = settings || '{"colour": "blue"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme" has the setting "colour", which a key of type aws-sts does not have.
--? It has: policy, policy_arns, role_arn, session_name.

-- a required setting is missing
UPDATE broker.key SET settings = '{}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme" lacks the setting "role_arn".
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".

-- a text is a number
UPDATE broker.key SET settings = '{"role_arn": 7}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "role_arn" must be a text, not a number.
--? For example

-- a text is blank
UPDATE broker.key SET settings = '{"audience": " "}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "audience" must not be empty.
--? For example

-- null is no setting
UPDATE broker.key SET settings = settings || '{"policy": null}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy" is null: leave it out instead.
--?

-- a role's name has a form
UPDATE broker.key SET settings = '{"role_arn": "ci-deploy"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "role_arn" is "ci-deploy", which does not have the form ^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$.
--? For example "role_arn": "arn:aws:iam::123456789012:role/deploy".

-- a session's name carries the mint id
UPDATE broker.key SET settings = settings || '{"session_name": "ci-{tenant}"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "session_name" is "ci-{tenant}", and must contain {mint_id}.
--? For example "session_name": "ci-{mint_id}".

-- a session's name has no other placeholders
UPDATE broker.key SET settings = settings || '{"session_name": "{mint_id}-{subject}"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "session_name" is "{mint_id}-{subject}", which does not have the form ^([A-Za-z0-9_+=,.@-]|[{](mint_id|tenant|key)[}])+$.
--?

-- a list is a text
UPDATE broker.key SET settings = settings || '{"policy_arns": "arn:aws:iam::aws:policy/ReadOnlyAccess"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy_arns" must be a list of texts, not a text.
--? For example "policy_arns": ["arn:aws:iam::aws:policy/ReadOnlyAccess"].

-- a list has too many elements
UPDATE broker.key SET settings = settings || jsonb_build_object('policy_arns', (SELECT jsonb_agg('arn:aws:iam::aws:policy/P' || n) FROM generate_series(1, 11) AS n)) WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy_arns" has 11 elements, more than 10.
--?

-- an element of a list has the wrong form
UPDATE broker.key SET settings = settings || '{"policy_arns": ["arn:aws:iam::aws:policy/ReadOnlyAccess", "x"]}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy_arns" has an element that is "x", which does not have the form ^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/-]+$.
--?

-- a policy is not JSON
UPDATE broker.key SET settings = settings || '{"policy": "{Version"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy" must be a policy: a JSON object, or its text.
--? Write a JSON object of at most 2048 characters, blanks between its parts not counted.

-- a policy is too long
UPDATE broker.key SET settings = settings || jsonb_build_object('policy', jsonb_build_object('Statement', repeat('x', 2050))) WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "policy" is a policy of more than 2048 characters.
--? Write a JSON object of at most 2048 characters, blanks between its parts not counted.

-- a policy just fits, blanks not counted
UPDATE broker.key SET settings = settings || jsonb_build_object('policy', jsonb_build_object('Statement', repeat('x', 2048 - 16))) WHERE name = 'deploy';
--> nothing

-- a target is not among those that are allowed
UPDATE broker.key SET settings = '{"role_arn": "arn:aws:iam::123456789012:role/admin"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the setting "role_arn" is "arn:aws:iam::123456789012:role/admin", which access provider "aws" does not allow.
--? Its allowed_targets: arn:aws:iam::123456789012:role/ci-*. A platform admin can change them.

-- no target is none of those that are allowed
INSERT INTO broker.key (tenant, name, provider, max_duration) VALUES ('acme', 'files', 'few', 900);
--> Key "files" of tenant "acme" names no "role_arn", and access provider "few" allows only some.
--? Its allowed_targets: arn:minio:iam:::role/ci. A platform admin can change them.

-- no target is fine where all are allowed
INSERT INTO broker.key (tenant, name, provider, max_duration) VALUES ('acme', 'files', 'minio', 900);
--> nothing

-- an output names no field
UPDATE broker.key SET outputs = '{"ID": "AccesKeyId"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the output "ID" names "AccesKeyId", which is no field of type aws-sts.
--? Did you mean "AccessKeyId"? Its fields: AccessKeyId, Expiration, Region, SecretAccessKey, SessionToken.

-- an output's name begins with a digit
UPDATE broker.key SET outputs = '{"1ID": "AccessKeyId"}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": "1ID" is no name for an output.
--? Letters, digits and _

-- an output names nothing
UPDATE broker.key SET outputs = '{"ID": null}' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": the output "ID" must name a field, not hold null.
--? Member name first, then the field

-- too short for the type
UPDATE broker.key SET max_duration = 899 WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": max_duration is 899 seconds, and type aws-sts gives credentials for 900 to 43200 seconds.
--? Write 900.

-- too long for the type
UPDATE broker.key SET max_duration = 43201 WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": max_duration is 43201 seconds, and type aws-sts gives credentials for 900 to 43200 seconds.
--? Write 43200.

-- no duration at all
UPDATE broker.key SET max_duration = 0 WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme" has a max_duration of 0 seconds.
--? Write a positive number.

-- a key's name has a form
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', '1st', 'own', 60, '{"audience": "x"}');
--> "1st" is no name for a key.
--? A letter, then up to 63 letters, digits, _, . and -.

-- a claim that only the broker sets
UPDATE broker.key SET settings = settings || '{"claims": {"scope": "read", "sub": "somebody"}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "sub", which only the broker sets.
--? For example "claims": {"scope": "read"}.

-- a claim that AWS acts on
UPDATE broker.key SET settings = settings || '{"claims": {"https://aws.amazon.com/tags": {}}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "https://aws.amazon.com/tags", which only the broker sets.
--?

-- a claim that is null
UPDATE broker.key SET settings = settings || '{"claims": {"scope": null}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" has null for the claim "scope".
--?

-- the provider is another tenant's
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('other', 'x', 'aws', 900, '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}');
--> Tenant "other" has no access provider "aws".
--? It has: own. Tenant "acme" has one of that name, but a row names only what its own tenant has.
--! 23503 the_access_provider_exists_in_the_same_tenant

-- the provider is misspelt
UPDATE broker.key SET provider = 'minoi' WHERE name = 'deploy';
--> Tenant "acme" has no access provider "minoi".
--? Did you mean "minio"? It has: any, auth-any, auth-few, aws, few, minio, own.
--! 23503 the_access_provider_exists_in_the_same_tenant

-- the tenant is not there
INSERT INTO broker.key (tenant, name, provider, max_duration) VALUES ('nobody', 'x', 'aws', 900);
--> There is no tenant "nobody".
--? There are: acme, other.
--! 23503 the_access_provider_exists_in_the_same_tenant

-- the duration is missing
INSERT INTO broker.key (tenant, name, provider) VALUES ('acme', 'x', 'own');
--> A row of broker.key needs "max_duration", which is missing or null.
--? The longest life of a credential, in seconds
--! 23502

-- settings are a list
UPDATE broker.key SET settings = '[]' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": settings are a list, and must be an object.
--? SELECT key_settings FROM broker.provider_type

-- outputs are a list
UPDATE broker.key SET outputs = '["AccessKeyId"]' WHERE name = 'deploy';
--> Key "deploy" of tenant "acme": outputs are a list, and must be an object.
--? Member name first, then the field

-- a key is in use
DELETE FROM broker.key WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme" is named by 1 grant and cannot be deleted.
--? UPDATE broker.key SET enabled = false WHERE tenant = 'acme' AND name = 'api'; or delete its grants first.
--! 23001

-- a key in use is renamed
UPDATE broker.key SET name = 'api2' WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme" is named by 1 grant and cannot be renamed.
--? Insert a row of the new name

-- a key that is there already, changed instead
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'api', 'own', 300, '{"audience": "x"}') ON CONFLICT (tenant, name) DO UPDATE SET max_duration = EXCLUDED.max_duration;
--> nothing

-- a key moves to another provider whose shortest credential outlives its grants
UPDATE broker.key SET provider = 'any', max_duration = 900, settings = '{"role_arn": "arn:aws:iam::123456789012:role/ci-x"}' WHERE tenant = 'acme' AND name = 'api';
--> The grant of key "api" to "repo:acme/app:main" has a max_duration of 60 seconds, and type aws-sts gives credentials for 900 to 43200 seconds.
--? Write 900 or more, or null to leave it to the key.

-- a token exchange may aim by audience, by resource, or by both
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"audience": "https://api.example.com/a"}');
--> nothing

-- likewise
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"resource": "https://api.example.com/a"}');
--> nothing

-- likewise
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"audience": "https://api.example.com/a", "resource": "https://api.example.com/b", "scope": "read"}');
--> nothing

-- it aims elsewhere by its resource
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"audience": "https://api.example.com/a", "resource": "https://other.example.com/"}');
--> Key "x" of tenant "acme": the setting "resource" is "https://other.example.com/", which access provider "auth-few" does not allow.
--? Its allowed_targets: https://api.example.com/**. A platform admin can change them.

-- it aims elsewhere by its audience
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"audience": "other", "resource": "https://api.example.com/a"}');
--> Key "x" of tenant "acme": the setting "audience" is "other", which access provider "auth-few" does not allow.
--? Its allowed_targets: https://api.example.com/**. A platform admin can change them.

-- it aims at whatever the server gives by default
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-few', 600, '{"scope": "everything"}');
--> Key "x" of tenant "acme" names no "audience" and no "resource", and access provider "auth-few" allows only some.
--? Its allowed_targets: https://api.example.com/**. A platform admin can change them.

-- which is fine where all are allowed
INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'x', 'auth-any', 600, '{"scope": "everything"}');
--> nothing

-- an access provider whose targets no longer match a resource
UPDATE broker.access_provider SET allowed_targets = '{https://api.example.com/**}' WHERE name = 'auth-any';
--> Key "exchanged" of tenant "acme": the setting "resource" is "https://other.example.com", which access provider "auth-any" does not allow.
--? Its allowed_targets: https://api.example.com/**. A platform admin can change them.

-- a claim that only capitals keep from one that only the broker sets
UPDATE broker.key SET settings = settings || '{"claims": {"ISS": "x"}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "ISS", which only the broker sets.

-- or a blank
UPDATE broker.key SET settings = settings || '{"claims": {"sub ": "x"}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "sub ", which only the broker sets.

-- or a letter that nobody sees, or one of another width
UPDATE broker.key SET settings = settings || '{"claims": {"\u200bａｕｄ": "x"}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "​ａｕｄ", which only the broker sets.

-- a claim that could be mistaken for a well-known one
UPDATE broker.key SET settings = settings || '{"claims": {"Groups": ["admins"]}}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "claims" names the claim "Groups", which only the broker sets.

-- a well-known one as it is written
UPDATE broker.key SET settings = settings || '{"claims": {"groups": ["readers"], "scope": "read"}}' WHERE name = 'api' AND tenant = 'acme';
--> nothing

-- an audience of a cloud vendor
UPDATE broker.key SET settings = '{"audience": "https://STS.amazonaws.com/"}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "audience" is "https://STS.amazonaws.com/", which is worth something to a cloud vendor, and the token goes to a client.

-- or of its exchange
UPDATE broker.key SET settings = '{"audience": "api://AzureADTokenExchangeUSGov"}' WHERE name = 'api' AND tenant = 'acme';
--> Key "api" of tenant "acme": the setting "audience" is "api://AzureADTokenExchangeUSGov", which is worth something to a cloud vendor, and the token goes to a client.

-- a scope with blanks, which would be two
WITH google AS (INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'google', 'gcp', '{"project_id": "acme-prod", "workload_identity_provider": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/m/providers/m"}')) INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'g', 'google', 600, '{"service_account": "a@b.iam.gserviceaccount.com", "scopes": ["https://www.googleapis.com/auth/devstorage.read_only https://www.googleapis.com/auth/cloud-platform"]}');
--> Key "g" of tenant "acme": the setting "scopes" has an element that is "https://www.googleapis.com/auth/devstorage.read_only https://www.googleapis.com/auth/cloud-platform", which does not have the form ^[^ ]+$.

-- an S3 policy that leaves no room for the denial
WITH k AS (SELECT repeat('x', 1977) AS long) INSERT INTO broker.key (tenant, name, provider, max_duration, settings) SELECT 'acme', 'store', 'minio', 900, jsonb_build_object('policy', jsonb_build_object('Statement', long)) FROM k;
--> Key "store" of tenant "acme": the setting "policy" is a policy of more than 1977 characters.

-- a refresh token would be good for longer than anybody granted
WITH auth AS (INSERT INTO broker.access_provider (tenant, name, type, settings) VALUES ('acme', 'auth', 'oauth2', '{"token_endpoint": "https://auth.example.com/token"}')) INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'refresh', 'auth', 3600, '{"audience": "api", "requested_token_type": "urn:ietf:params:oauth:token-type:refresh_token"}');
--> Key "refresh" of tenant "acme": the setting "requested_token_type" is "urn:ietf:params:oauth:token-type:refresh_token", and must be one of urn:ietf:params:oauth:token-type:access_token, urn:ietf:params:oauth:token-type:jwt.
--? Left out, it is "urn:ietf:params:oauth:token-type:access_token".

-- claims of almost 16 KiB
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object('a', repeat('x', 16300))) WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- settings of more
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object('a', repeat('x', 16384))) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the whole of its settings has 16444 bytes, more than 16384.
--! 23514

-- the largest double in a claim
UPDATE broker.key SET settings = settings || '{"claims": {"n": 1.7976931348623157e308}}' WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- a number that no double can hold
UPDATE broker.key SET settings = settings || '{"claims": {"n": 1e1001}}' WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the whole of its settings has a number of 1002 characters, which no double can hold: 10000000000000000000….
--! 23514

-- a number just beyond
UPDATE broker.key SET settings = settings || '{"claims": {"n": [-1.7976931348623158e308]}}' WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the whole of its settings has a number of 310 characters, which no double can hold: -1797693134862315800….
--! 23514

-- a number of 1,001 digits
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object('n', ('0.' || repeat('1', 1000))::numeric)) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the whole of its settings has a number of 1002 characters, which no double can hold: 0.111111111111111111….
--! 23514

-- 32 levels
UPDATE broker.key SET settings = settings || ('{"claims": {"n": ' || repeat('[', 29) || 1 || repeat(']', 29) || '}}')::jsonb WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- one level more
UPDATE broker.key SET settings = settings || ('{"claims": {"n": ' || repeat('[', 30) || 1 || repeat(']', 30) || '}}')::jsonb WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the whole of its settings is nested deeper than 32 levels.
--! 23514

-- 1,100 levels
UPDATE broker.key SET settings = settings || ('{"claims": {"n": ' || repeat('[', 1100) || 1 || repeat(']', 1100) || '}}')::jsonb WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the whole of its settings is nested deeper than 32 levels.
--! 23514

-- the longest name of a member
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object(repeat('x', 512), 1)) WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- a longer one
UPDATE broker.key SET settings = settings || jsonb_build_object('claims', jsonb_build_object(repeat('x', 513), 1)) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the whole of its settings has a member whose name has 513 characters, more than 512: "xxxxxxxxxxxxxxxxxxxx…".
--! 23514

-- outputs of more than 4 KiB
UPDATE broker.key SET outputs = (SELECT jsonb_object_agg('OUTPUT_' || n, 'AccessToken') FROM generate_series(1, 200) AS n) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": the whole of its outputs has 5692 bytes, more than 4096.
--! 23514

-- the longest description, lines and all
UPDATE broker.key SET description = repeat(E'x\n', 500) WHERE tenant = 'acme' AND name = 'api';
--> nothing

-- a longer one
UPDATE broker.key SET description = repeat('x', 1001) WHERE tenant = 'acme' AND name = 'api';
--> Key "api" of tenant "acme": its description has 1001 characters, more than 1000.
--! 23514

-- as many keys as the tenant may have
UPDATE broker.tenant SET max_keys = 4 WHERE name = 'acme'; INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES ('acme', 'fourth', 'own', 600, '{"audience": "a"}');
--> nothing

-- one key more
UPDATE broker.tenant SET max_keys = 4 WHERE name = 'acme'; INSERT INTO broker.key (tenant, name, provider, max_duration, settings) SELECT 'acme', 'further' || n, 'own', 600, '{"audience": "a"}' FROM generate_series(1, 2) AS n;
--> Tenant "acme" would have 5 keys, and may have 4.
--? Delete what is not used any more, or let a platform admin raise max_keys: UPDATE broker.tenant SET max_keys = … WHERE name = 'acme';
--! 23514 a_tenant_has_no_more_than_max_keys
