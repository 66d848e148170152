-- Where credentials come from: the types of access providers, whose rules are data, and those of each tenant.

CREATE TABLE broker.provider_type (
    type text COLLATE "C" NOT NULL,
    description text NOT NULL,
    target_setting text NOT NULL,
    further_targets text[] NOT NULL DEFAULT '{}',
    provider_settings jsonb NOT NULL,
    key_settings jsonb NOT NULL,
    fields text[] NOT NULL,
    default_outputs jsonb NOT NULL,
    contradictions jsonb NOT NULL DEFAULT '[]',
    min_duration int NOT NULL,
    max_duration int,
    may_share_identity boolean NOT NULL,
    ends_early boolean NOT NULL DEFAULT false,
    leaves_behind boolean NOT NULL DEFAULT false,
    target_forms text[],
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_provider_type_is_described_once PRIMARY KEY (type),
    CONSTRAINT a_provider_type_is_lower_case CHECK (type ~ '^[a-z][a-z0-9-]*$'),
    CONSTRAINT the_target_is_one_of_the_key_settings CHECK (key_settings ? target_setting),
    CONSTRAINT further_targets_are_key_settings CHECK (key_settings ?& further_targets),
    CONSTRAINT provider_settings_are_an_object CHECK (jsonb_typeof(provider_settings) = 'object'),
    CONSTRAINT key_settings_are_an_object CHECK (jsonb_typeof(key_settings) = 'object'),
    CONSTRAINT fields_are_a_list_without_blanks_and_repeats CHECK (internal.is_list(fields, 64)),
    CONSTRAINT contradictions_are_a_list CHECK (jsonb_typeof(contradictions) = 'array'),
    CONSTRAINT default_outputs_name_members_and_their_fields CHECK (internal.is_outputs(default_outputs)),
    CONSTRAINT durations_are_positive_and_in_order CHECK (min_duration > 0 AND max_duration >= min_duration),
    CONSTRAINT credentials_of_a_type_have_a_longest_life CHECK (max_duration IS NOT NULL),
    CONSTRAINT target_forms_are_a_list_of_globs CHECK (target_forms IS NULL OR internal.is_list(target_forms, 512))
);
ALTER TABLE broker.provider_type ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.provider_type IS
    'What the settings, targets, outputs and durations of each type of access provider must look like. Filled by migrations, together with the code; read by the triggers that check rows.';
COMMENT ON COLUMN broker.provider_type.type IS 'The name of the type, as in broker.access_provider.type.';
COMMENT ON COLUMN broker.provider_type.description IS 'The credentials of this type, in a sentence.';
COMMENT ON COLUMN broker.provider_type.target_setting IS
    'The key setting that names the credential''s target, such as a role; an access provider''s allowed_targets limit it.';
COMMENT ON COLUMN broker.provider_type.further_targets IS
    'Other key settings with targets: allowed_targets limit them like target_setting.';
COMMENT ON COLUMN broker.provider_type.provider_settings IS
    'Rules for broker.access_provider.settings, {"setting": rule}. A rule has "is" (text, url, flag, number, list, object, map: an object of texts, pem: certificates, policy: an object or its text, secret: {"file": name}, claim: {"name": …, "value": …}, claims: an object of them) and may have "required", "default", "one_of", "needs" (for a value, or for * which is any, the settings that are required with it), "needs_one_of" (settings of which one is required with it), "refuses" (for a value, or for * which is any, the settings that must be absent), "pattern" (of the text or of each element), "name_pattern" (of the names in a map), "reserved" (names that the broker sets), "not_for_vendors" (true for an audience that must not be a cloud vendor''s), "min", "max", "max_length", "longest_filled" (once {mint_id}, {tenant} and {key} are filled in), "max_items", "must_contain", "in_token" (of a secret: true for a private key that may also be {"pkcs11": "object=LABEL"}, in the broker''s PKCS#11 token), "example".';
COMMENT ON COLUMN broker.provider_type.key_settings IS
    'Rules for broker.key.settings, in the same form. "names_in" of a map is the provider setting that lists its names. "target" is the form of what a target setting adds to the targets of a key, with %s for the text, the element, or the name and the value.';
COMMENT ON COLUMN broker.provider_type.fields IS 'What a credential consists of: the values that broker.key.outputs may name.';
COMMENT ON COLUMN broker.provider_type.contradictions IS
    'Settings that each are valid and can''t work together, as a list of {"when": a jsonpath predicate over {"provider": settings, "targets": allowed_targets, "key": settings, "duration": the key''s max_duration}, "fault": the end of the error''s sentence, "do": its hint}. With "lint": true they can work, but are probably mistakes: broker.lint shows them. {provider.setting} in them stands for the value of that setting.';
COMMENT ON COLUMN broker.provider_type.default_outputs IS 'The outputs of a key that names none: each name in the response, and its field of the credential.';
COMMENT ON COLUMN broker.provider_type.min_duration IS 'The minimum lifetime of a credential that can be requested, in seconds.';
COMMENT ON COLUMN broker.provider_type.max_duration IS 'The maximum lifetime of a credential, in seconds.';
COMMENT ON COLUMN broker.provider_type.may_share_identity IS
    'Whether shared_identity has an effect: false if the provider never sees an identity of the broker.';
COMMENT ON COLUMN broker.provider_type.ends_early IS
    'Whether broker.ended_credential ends its credentials: the broker publishes a list that servers read.';
COMMENT ON COLUMN broker.provider_type.leaves_behind IS
    'Whether its mints leave something at the provider that the broker removes after their end, such as a login. If so, audit.unended lists them until they are recorded as ended.';
COMMENT ON COLUMN broker.provider_type.target_forms IS 'Globs. Each target that a key of this type can name matches one of them; null if a target may be any text.';

CREATE TABLE broker.access_provider (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    settings jsonb NOT NULL DEFAULT '{}',
    allowed_targets text[] NOT NULL DEFAULT '{**}',
    shared_identity boolean NOT NULL DEFAULT false,
    enabled boolean NOT NULL DEFAULT true,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT an_access_provider_name_is_taken_once_in_a_tenant PRIMARY KEY (tenant, name),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_provider_type_exists FOREIGN KEY (type) REFERENCES broker.provider_type (type)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_name_is_a_letter_and_up_to_63_letters_digits_dots_hyphens_etc
        CHECK (name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'),
    CONSTRAINT settings_are_an_object CHECK (jsonb_typeof(settings) = 'object'),
    CONSTRAINT settings_have_up_to_16_kib CHECK (internal.json_fault(settings, 16384) IS NULL),
    CONSTRAINT settings_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(settings) IS NULL),
    CONSTRAINT allowed_targets_start_with_a_literal_segment_or_are_two_stars
        CHECK (internal.is_glob_list(allowed_targets)),
    CONSTRAINT a_shared_identity_lists_its_allowed_targets
        CHECK (NOT shared_identity OR '**' <> ALL (allowed_targets)),
    CONSTRAINT an_ambient_identity_is_a_shared_identity
        CHECK (shared_identity OR type <> 'aws-sts' OR settings ->> 'auth' IS DISTINCT FROM 'ambient')
);
ALTER TABLE broker.access_provider ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.access_provider IS
    'Where credentials come from: an account or server of a provider, and how to talk to it. Holds no secrets, only references to files, and to keys in a PKCS#11 token.';
COMMENT ON COLUMN broker.access_provider.tenant IS 'The tenant that it belongs to. A row never moves to another.';
COMMENT ON COLUMN broker.access_provider.name IS 'Shown to clients as the provider of a key.';
COMMENT ON COLUMN broker.access_provider.type IS 'The type, one of those in broker.provider_type.';
COMMENT ON COLUMN broker.access_provider.settings IS
    'What the type needs: see provider_settings in broker.provider_type. A secret is {"file": "name"}, a file in the tenant''s secrets directory; a private key may also be {"pkcs11": "object=TENANT/NAME"}, in the broker''s PKCS#11 token.';
COMMENT ON COLUMN broker.access_provider.allowed_targets IS
    'What the tenant''s keys may name as their target (role, service account, client, audience): globs, * within a segment, ** across; ** alone allows everything.';
COMMENT ON COLUMN broker.access_provider.shared_identity IS
    'True: the broker may present an identity to the provider that is the same for all tenants. Then only allowed_targets separates the tenants, so it is required.';
COMMENT ON COLUMN broker.access_provider.enabled IS 'False: its keys can''t be minted.';

CREATE FUNCTION internal.places_of(type text, settings jsonb, allowed_targets text[]) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(p.place) FROM (
        SELECT concat_ws(' ', s.server, t.target) FROM unnest(allowed_targets) AS t (target) CROSS JOIN (VALUES
               ('aws-sts', NULL), ('azure', NULL), ('gcp', NULL), ('github-app', 'installation_id'), ('kubernetes', 'server'), ('postgresql', 'host'),
               ('s3-sts', 'endpoint'), ('webhook', 'endpoint')) AS k (type, setting) CROSS JOIN LATERAL (SELECT settings ->> k.setting) AS s (server)
         WHERE k.type = places_of.type AND t.target <> '**'
         UNION ALL SELECT settings ->> 'workload_identity_provider' WHERE places_of.type = 'gcp') AS p (place);
$$;
COMMENT ON FUNCTION internal.places_of(text, jsonb, text[]) IS
    'The targets that an access provider may reach, each with its server, so that two tenants rarely have the same.';
CREATE INDEX access_providers_by_place ON broker.access_provider USING gin (internal.places_of(type, settings, allowed_targets));
