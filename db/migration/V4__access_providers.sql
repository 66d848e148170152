-- Where credentials come from: the types of access providers, whose rules are data, and those of each tenant.

CREATE FUNCTION internal.is_glob_list(list text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN internal.is_list(list, 512)
       AND (SELECT bool_and(item = '**' OR item ~ '^[^*:/]+([:/]|$)' AND internal.glob_fault(item) IS NULL)
              FROM unnest(list) AS item);
COMMENT ON FUNCTION internal.is_glob_list(text[]) IS
    'Whether each element is ** or a glob of allowed size that starts with a literal segment (up to the first : or /).';

CREATE FUNCTION internal.is_outputs(outputs jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN jsonb_typeof(outputs) = 'object' THEN
        (SELECT coalesce(bool_and(member.key ~ '^[A-Za-z_][A-Za-z0-9_]*$' AND jsonb_typeof(member.value) = 'string'), true)
           FROM jsonb_each(outputs) AS member)
        ELSE false END;
COMMENT ON FUNCTION internal.is_outputs(jsonb) IS
    'Whether it is an object of strings whose names are letters, digits and _, no digit first.';


-- ---------------------------------------------------------------- provider types: the rules as data

CREATE TABLE broker.provider_type (
    type text COLLATE "C" NOT NULL,
    description text NOT NULL,
    target_setting text NOT NULL,
    further_targets text[] NOT NULL DEFAULT '{}',
    provider_settings jsonb NOT NULL,
    key_settings jsonb NOT NULL,
    fields text[] NOT NULL,
    default_outputs jsonb NOT NULL,
    min_duration int NOT NULL,
    max_duration int,
    may_share_identity boolean NOT NULL,
    CONSTRAINT a_provider_type_is_described_once PRIMARY KEY (type),
    CONSTRAINT a_provider_type_is_lower_case CHECK (type ~ '^[a-z][a-z0-9-]*$'),
    CONSTRAINT the_target_is_one_of_the_key_settings CHECK (key_settings ? target_setting),
    CONSTRAINT further_targets_are_key_settings CHECK (key_settings ?& further_targets),
    CONSTRAINT provider_settings_are_an_object CHECK (jsonb_typeof(provider_settings) = 'object'),
    CONSTRAINT key_settings_are_an_object CHECK (jsonb_typeof(key_settings) = 'object'),
    CONSTRAINT fields_are_a_list_without_blanks_and_repeats CHECK (internal.is_list(fields, 64)),
    CONSTRAINT default_outputs_name_members_and_their_fields CHECK (internal.is_outputs(default_outputs)),
    CONSTRAINT durations_are_positive_and_in_order CHECK (min_duration > 0 AND max_duration >= min_duration)
);
COMMENT ON TABLE broker.provider_type IS
    'What the settings, targets, outputs and durations of each type of access provider must look like. Filled by migrations, together with the code; read by the triggers that check rows.';
COMMENT ON COLUMN broker.provider_type.type IS 'As in broker.access_provider.type.';
COMMENT ON COLUMN broker.provider_type.description IS 'What credentials it gives, in a sentence.';
COMMENT ON COLUMN broker.provider_type.target_setting IS
    'The key setting that says whose power the credential has; an access provider''s allowed_targets limit it.';
COMMENT ON COLUMN broker.provider_type.further_targets IS
    'Other key settings that say whose power the credential has, beside target_setting or in its place: allowed_targets limit them likewise.';
COMMENT ON COLUMN broker.provider_type.provider_settings IS
    'Rules for broker.access_provider.settings, {"setting": rule}. A rule has "is" (text, url, flag, list, object, policy: an object or its text, secret: {"file": name}, claim: {"name": …, "value": …}, claims: an object of them) and may have "required", "default", "one_of", "needs" (for a value, or for * which is any, the settings that it cannot do without), "refuses" (for a value, the settings that it has no use for), "pattern" (of the text or of each element), "not_for_vendors" (true for an audience that must mean no cloud vendor), "max_length", "max_items", "must_contain", "example".';
COMMENT ON COLUMN broker.provider_type.key_settings IS 'Rules for broker.key.settings, in the same form.';
COMMENT ON COLUMN broker.provider_type.fields IS 'What a credential consists of: the values that broker.key.outputs may name.';
COMMENT ON COLUMN broker.provider_type.default_outputs IS 'The outputs of a key that names none: member of the answer to field.';
COMMENT ON COLUMN broker.provider_type.min_duration IS 'The shortest life of a credential that can be asked for, in seconds.';
COMMENT ON COLUMN broker.provider_type.max_duration IS 'The longest, in seconds; null: no limit of the type''s own.';
COMMENT ON COLUMN broker.provider_type.may_share_identity IS
    'Whether shared_identity means anything to it: false where the provider never sees an identity of the broker''s.';

CALL internal.keep_history('broker.provider_type', NULL);

INSERT INTO broker.provider_type
       (type, description, target_setting, further_targets, min_duration, max_duration, may_share_identity,
        provider_settings, key_settings, fields, default_outputs) VALUES
('aws-sts', 'Credentials of an AWS role, from AWS STS.', 'role_arn', '{}', 900, 43200, true,
 '{"region": {"is": "text", "required": true, "pattern": "^[a-z]{2,}(-[a-z]+)+-[0-9]+$", "example": "eu-central-1"},
    "endpoint": {"is": "url", "example": "https://sts.eu-central-1.amazonaws.com"},
    "auth": {"is": "text", "one_of": ["web-identity", "ambient"], "default": "web-identity"},
    "session_tags": {"is": "flag", "default": true}}',
 '{"role_arn": {"is": "text", "required": true, "max_length": 2048,
        "pattern": "^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$",
        "example": "arn:aws:iam::123456789012:role/deploy"},
    "session_name": {"is": "text", "must_contain": "{mint_id}", "default": "{mint_id}",
        "pattern": "^([A-Za-z0-9_+=,.@-]|[{](mint_id|tenant|key)[}])+$", "example": "ci-{mint_id}"},
    "policy": {"is": "policy", "max_length": 2048},
    "policy_arns": {"is": "list", "max_items": 10, "max_length": 2048,
        "pattern": "^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/-]+$",
        "example": "arn:aws:iam::aws:policy/ReadOnlyAccess"}}',
 '{AccessKeyId,SecretAccessKey,SessionToken,Region,Expiration}',
 '{"AWS_ACCESS_KEY_ID": "AccessKeyId", "AWS_SECRET_ACCESS_KEY": "SecretAccessKey",
    "AWS_SESSION_TOKEN": "SessionToken", "AWS_REGION": "Region"}'),

-- An S3 policy leaves room for the statement that the broker adds (mint/s3sts/SessionPolicy): 2048 in all.
('s3-sts', 'Credentials of S3-compatible storage (MinIO, Ceph, …), from its STS.', 'role_arn', '{}', 900, 604800, true,
 '{"endpoint": {"is": "url", "required": true, "example": "https://minio.example.com"},
    "region": {"is": "text", "max_length": 64, "example": "us-east-1"},
    "audience": {"is": "text", "max_length": 255},
    "policy_claim": {"is": "claim", "example": "{\"name\": \"policy\", \"value\": \"readonly\"}"}}',
 '{"role_arn": {"is": "text", "max_length": 2048, "pattern": "^arn:[a-z0-9-]+:iam:[a-z0-9-]*:[A-Za-z0-9_-]*:role/[A-Za-z0-9_+=,.@:/-]+$",
        "example": "arn:minio:iam:::role/idp-deploy"},
    "policy": {"is": "policy", "max_length": 1977}}',
 '{AccessKeyId,SecretAccessKey,SessionToken,Endpoint,Expiration}',
 '{"MINIO_ACCESS_KEY": "AccessKeyId", "MINIO_SECRET_KEY": "SecretAccessKey",
    "MINIO_SESSION_TOKEN": "SessionToken", "MINIO_ENDPOINT": "Endpoint"}'),

('gcp', 'A Google Cloud access token, by workload identity federation.', 'service_account', '{}', 60, 43200, true,
 '{"project_id": {"is": "text", "required": true, "max_length": 255, "pattern": "^([a-z0-9.-]+:)?[a-z][a-z0-9-]*$", "example": "acme-prod"},
    "workload_identity_provider": {"is": "text", "required": true, "max_length": 512,
        "pattern": "^//iam[.]googleapis[.]com/projects/[0-9]+/locations/global/workloadIdentityPools/[a-z0-9-]+/providers/[a-z0-9-]+$",
        "example": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"},
    "sts_endpoint": {"is": "url", "default": "https://sts.googleapis.com"},
    "iam_endpoint": {"is": "url", "default": "https://iamcredentials.googleapis.com"}}',
 '{"service_account": {"is": "text", "max_length": 255, "pattern": "^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+$",
        "example": "deploy@acme-prod.iam.gserviceaccount.com"},
    "scopes": {"is": "list", "max_items": 100, "max_length": 255, "pattern": "^[^ ]+$", "default": ["https://www.googleapis.com/auth/cloud-platform"]},
    "delegates": {"is": "list", "max_items": 10, "max_length": 255, "pattern": "^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+$",
        "example": "hop@acme-prod.iam.gserviceaccount.com"},
    "access_boundary": {"is": "object"}}',
 '{AccessToken,Expiration,ProjectId}',
 '{"GOOGLE_OAUTH_ACCESS_TOKEN": "AccessToken", "GOOGLE_TOKEN_EXPIRY": "Expiration", "GOOGLE_PROJECT_ID": "ProjectId"}'),

-- Entra chooses 60 to 90 minutes itself, so a key must allow for 90.
('azure', 'An access token of Microsoft Entra ID, by workload identity federation.', 'client_id', '{}', 5400, NULL, true,
 '{"tenant_id": {"is": "text", "required": true, "max_length": 255, "pattern": "^[A-Za-z0-9][A-Za-z0-9.-]*$",
        "example": "72f988bf-86f1-41af-91ab-2d7cd011db47"},
    "authority": {"is": "url", "default": "https://login.microsoftonline.com"}}',
 '{"client_id": {"is": "text", "required": true, "max_length": 255, "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*$",
        "example": "11111111-2222-3333-4444-555555555555"},
    "scope": {"is": "text", "required": true, "max_length": 255, "pattern": "^[^ ]+/[.]default$",
        "example": "https://management.azure.com/.default"}}',
 '{AccessToken,Expiration,TenantId}',
 '{"AZURE_ACCESS_TOKEN": "AccessToken", "AZURE_TOKEN_EXPIRY": "Expiration", "AZURE_TENANT_ID": "TenantId"}'),

-- RFC 8693 section 2.1: audience and resource both say where the token is to be used, and either will do.
('oauth2', 'An access token from any authorization server with token exchange (RFC 8693).', 'audience', '{resource}', 1, NULL, true,
 '{"token_endpoint": {"is": "url", "required": true, "example": "https://auth.example.com/oauth2/token"},
    "client_auth": {"is": "text", "one_of": ["none", "client_secret_basic", "private_key_jwt"],
        "needs": {"client_secret_basic": ["client_id", "client_secret"], "private_key_jwt": ["client_id"]},
        "refuses": {"none": ["client_secret"], "private_key_jwt": ["client_secret"]}},
    "client_id": {"is": "text", "max_length": 255},
    "client_secret": {"is": "secret", "needs": {"*": ["client_id"]}, "example": "{\"file\": \"client-secret\"}"},
    "subject_audience": {"is": "text", "max_length": 1024}}',
 '{"audience": {"is": "text", "max_length": 1024},
    "resource": {"is": "text", "max_length": 2048, "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:[^ #]+$", "example": "https://api.example.com"},
    "scope": {"is": "text", "max_length": 2048},
    "requested_token_type": {"is": "text",
        "one_of": ["urn:ietf:params:oauth:token-type:access_token", "urn:ietf:params:oauth:token-type:jwt"],
        "default": "urn:ietf:params:oauth:token-type:access_token"}}',
 '{AccessToken,Expiration}',
 '{"ACCESS_TOKEN": "AccessToken", "TOKEN_EXPIRY": "Expiration"}'),

('jwt', 'An access token of the broker''s own, for services that trust it.', 'audience', '{}', 1, NULL, false,
 '{}',
 '{"audience": {"is": "text", "required": true, "max_length": 1024, "not_for_vendors": true, "example": "https://api.example.com"},
    "claims": {"is": "claims", "example": "{\"scope\": \"read\"}"}}',
 '{AccessToken,Expiration}',
 '{"ACCESS_TOKEN": "AccessToken", "TOKEN_EXPIRY": "Expiration"}');


-- ---------------------------------------------------------------- access providers

CREATE TABLE broker.access_provider (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    settings jsonb NOT NULL DEFAULT '{}',
    allowed_targets text[] NOT NULL DEFAULT '{**}',
    shared_identity boolean NOT NULL DEFAULT false,
    enabled boolean NOT NULL DEFAULT true,
    CONSTRAINT an_access_provider_name_is_taken_once_in_a_tenant PRIMARY KEY (tenant, name),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_provider_type_exists FOREIGN KEY (type) REFERENCES broker.provider_type (type)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_name_is_a_letter_and_up_to_63_letters_digits_dots_hyphens_etc
        CHECK (name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'),
    CONSTRAINT settings_are_an_object CHECK (jsonb_typeof(settings) = 'object'),
    CONSTRAINT settings_have_up_to_16_kib CHECK (internal.json_fault(settings, 16384) IS NULL),
    CONSTRAINT allowed_targets_start_with_a_literal_segment_or_are_two_stars
        CHECK (internal.is_glob_list(allowed_targets)),
    CONSTRAINT a_shared_identity_lists_its_allowed_targets
        CHECK (NOT shared_identity OR '**' <> ALL (allowed_targets)),
    CONSTRAINT an_ambient_identity_is_a_shared_identity
        CHECK (shared_identity OR type <> 'aws-sts' OR settings ->> 'auth' IS DISTINCT FROM 'ambient')
);
COMMENT ON TABLE broker.access_provider IS
    'Where credentials come from: an account or server of a provider, and how to talk to it. Holds no secrets, only references to files.';
COMMENT ON COLUMN broker.access_provider.tenant IS 'The tenant that it belongs to. A row never moves to another.';
COMMENT ON COLUMN broker.access_provider.name IS 'Shown to clients as the provider of a key.';
COMMENT ON COLUMN broker.access_provider.type IS 'One of broker.provider_type.';
COMMENT ON COLUMN broker.access_provider.settings IS
    'What the type needs: see provider_settings in broker.provider_type. A secret is {"file": "name"}, a file in the tenant''s secrets directory.';
COMMENT ON COLUMN broker.access_provider.allowed_targets IS
    'What the tenant''s keys may name as their target (role, service account, client, audience): globs, * within a segment, ** across; ** alone allows everything.';
COMMENT ON COLUMN broker.access_provider.shared_identity IS
    'True: the provider may be shown an identity in which all tenants look alike. Then allowed_targets is all that keeps tenants apart, so it must be listed.';
COMMENT ON COLUMN broker.access_provider.enabled IS 'False: its keys count as absent.';

CALL internal.keep_history('broker.access_provider', 'tenant');

UPDATE runtime.schema_version SET version = 4;
