-- The names under which clients ask for credentials, and who may have which.

CREATE TABLE broker.key (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    description text,
    owner text,
    max_duration int NOT NULL,
    settings jsonb NOT NULL DEFAULT '{}',
    outputs jsonb NOT NULL DEFAULT '{}',
    resource text COLLATE "C",
    enabled boolean NOT NULL DEFAULT true,
    approved_by text,
    approved_at timestamptz,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_key_name_is_taken_once_in_a_tenant PRIMARY KEY (tenant, name),
    CONSTRAINT the_access_provider_exists_in_the_same_tenant FOREIGN KEY (tenant, provider)
        REFERENCES broker.access_provider (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_name_is_a_letter_and_up_to_63_letters_digits_dots_hyphens_etc
        CHECK (name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'),
    CONSTRAINT a_resource_is_an_absolute_uri_without_fragment CHECK (internal.is_absolute_uri(resource)),
    CONSTRAINT max_duration_is_positive_in_seconds CHECK (max_duration > 0),
    CONSTRAINT a_description_has_up_to_1000_characters CHECK (length(description) <= 1000),
    CONSTRAINT an_owner_is_one_line_of_up_to_200_characters CHECK (internal.is_line(owner, 200)),
    CONSTRAINT settings_are_an_object CHECK (jsonb_typeof(settings) = 'object'),
    CONSTRAINT settings_have_up_to_16_kib CHECK (internal.json_fault(settings, 16384) IS NULL),
    CONSTRAINT settings_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(settings) IS NULL),
    CONSTRAINT outputs_have_up_to_4_kib CHECK (internal.json_fault(outputs, 4096) IS NULL),
    CONSTRAINT outputs_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(outputs) IS NULL),
    CONSTRAINT outputs_name_members_and_the_fields_they_show CHECK (internal.is_outputs(outputs)),
    CONSTRAINT an_approval_has_a_time CHECK (approved_by IS NULL OR approved_at IS NOT NULL)
);
ALTER TABLE broker.key ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.key IS 'Keys: what clients ask for by name, which is a credential of one access provider with given settings.';
COMMENT ON COLUMN broker.key.tenant IS 'The tenant that it belongs to. A row never moves to another.';
COMMENT ON COLUMN broker.key.name IS 'The name that clients ask for: a letter, then up to 63 letters, digits, _, . and -.';
COMMENT ON COLUMN broker.key.provider IS 'The access provider, of the same tenant.';
COMMENT ON COLUMN broker.key.description IS 'Shown to clients; optional.';
COMMENT ON COLUMN broker.key.owner IS 'The person or team who answers for the key and for its grants without an owner; null unless the tenant requires one.';
COMMENT ON COLUMN broker.key.max_duration IS
    'The maximum lifetime of a credential, in seconds, within the limits of the provider''s type and broker.tenant.max_duration.';
COMMENT ON COLUMN broker.key.settings IS 'What the type needs: see key_settings in broker.provider_type.';
COMMENT ON COLUMN broker.key.outputs IS
    'The names that clients get, and the field of the credential for each, {"AWS_ACCESS_KEY_ID": "AccessKeyId"}. Empty: the type''s default_outputs.';
COMMENT ON COLUMN broker.key.resource IS
    'The URI by which OAuth 2.0 clients ask for the key (RFC 8707), compared after the normalisation of RFC 3986 sections 6.2.2 and 6.2.3; optional.';
COMMENT ON COLUMN broker.key.enabled IS 'False: the key can''t be minted.';
COMMENT ON COLUMN broker.key.approved_by IS
    'The login that approved the row as it is (broker.approve); null: none. Set by a trigger.';
COMMENT ON COLUMN broker.key.approved_at IS
    'When it was approved, or when its tenant began to require a second admin; null: counts as disabled while the tenant requires one.';

CREATE UNIQUE INDEX a_resource_belongs_to_one_key_of_a_tenant ON broker.key (tenant, internal.normal_uri(resource));
CREATE INDEX keys_of_an_access_provider ON broker.key (tenant, provider);

CREATE TABLE broker.subject_grant (
    id bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    idp text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    match text NOT NULL DEFAULT 'exact',
    key text COLLATE "C" NOT NULL,
    claims jsonb NOT NULL DEFAULT '{}',
    actor_idp text COLLATE "C",
    actor text COLLATE "C",
    actor_match text NOT NULL DEFAULT 'exact',
    actor_claims jsonb NOT NULL DEFAULT '{}',
    networks cidr[],
    valid_from timestamptz,
    valid_until timestamptz,
    max_duration int,
    reason text,
    owner text,
    enabled boolean NOT NULL DEFAULT true,
    request_id uuid,
    approved_by text,
    approved_at timestamptz,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_grant_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT the_identity_provider_exists_in_the_same_tenant FOREIGN KEY (tenant, idp)
        REFERENCES broker.identity_provider (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_actors_identity_provider_exists_in_the_same_tenant FOREIGN KEY (tenant, actor_idp)
        REFERENCES broker.identity_provider (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_key_exists_in_the_same_tenant FOREIGN KEY (tenant, key)
        REFERENCES broker.key (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_subject_is_one_line_of_up_to_1024_characters CHECK (internal.is_line(subject, 1024)),
    CONSTRAINT match_is_exact_or_glob CHECK (match IN ('exact', 'glob')),
    CONSTRAINT a_glob_starts_with_a_literal_segment CHECK (match <> 'glob' OR internal.is_anchored(subject)),
    CONSTRAINT a_glob_has_up_to_512_characters_and_8_stars
        CHECK (match <> 'glob' OR internal.glob_fault(subject) IS NULL),
    CONSTRAINT a_reason_has_up_to_1000_characters CHECK (length(reason) <= 1000),
    CONSTRAINT an_owner_is_one_line_of_up_to_200_characters CHECK (internal.is_line(owner, 200)),
    CONSTRAINT claims_have_up_to_4_kib CHECK (internal.json_fault(claims, 4096) IS NULL),
    CONSTRAINT claims_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(claims) IS NULL),
    CONSTRAINT claims_are_an_object CHECK (jsonb_typeof(claims) = 'object'),
    CONSTRAINT an_actor_is_named_with_its_identity_provider CHECK ((actor IS NULL) = (actor_idp IS NULL)),
    CONSTRAINT without_an_actor_there_is_no_condition_on_one
        CHECK (actor IS NOT NULL OR actor_match = 'exact' AND actor_claims = '{}'),
    CONSTRAINT an_actor_is_one_line_of_up_to_1024_characters CHECK (internal.is_line(actor, 1024)),
    CONSTRAINT actor_match_is_exact_or_glob CHECK (actor_match IN ('exact', 'glob')),
    CONSTRAINT a_glob_of_actors_starts_with_a_literal_segment CHECK (actor_match <> 'glob' OR internal.is_anchored(actor)),
    CONSTRAINT a_glob_of_actors_has_up_to_512_characters_and_8_stars
        CHECK (actor_match <> 'glob' OR internal.glob_fault(actor) IS NULL),
    CONSTRAINT actor_claims_have_up_to_4_kib CHECK (internal.json_fault(actor_claims, 4096) IS NULL),
    CONSTRAINT actor_claims_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(actor_claims) IS NULL),
    CONSTRAINT actor_claims_are_an_object CHECK (jsonb_typeof(actor_claims) = 'object'),
    CONSTRAINT networks_are_a_list_of_1_to_64 CHECK (internal.networks_fault(networks) IS NULL),
    CONSTRAINT a_grant_ends_after_it_starts CHECK (valid_until > valid_from),
    CONSTRAINT a_grant_without_an_end_has_null_and_not_infinity
        CHECK (isfinite(valid_from) AND isfinite(valid_until)),
    -- what every program can write as a time
    CONSTRAINT a_window_is_within_the_years_1_to_9999
        CHECK (valid_from >= '0001-01-01Z' AND valid_from < '10000-01-01Z'
               AND valid_until >= '0001-01-01Z' AND valid_until < '10000-01-01Z'),
    CONSTRAINT max_duration_is_positive_in_seconds CHECK (max_duration > 0),
    CONSTRAINT an_approval_has_a_time CHECK (approved_by IS NULL OR approved_at IS NOT NULL)
);
CREATE SEQUENCE broker.subject_grant_id_seq OWNED BY broker.subject_grant.id;
ALTER TABLE broker.subject_grant ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.subject_grant IS
    'Which subjects may mint which key: a subject of an identity provider, whose token meets the claims, within the time window. Grants only allow. To revoke a grant, delete or disable it.';
COMMENT ON COLUMN broker.subject_grant.id IS 'Assigned by the database, never reused; the audit log refers to it.';
COMMENT ON COLUMN broker.subject_grant.tenant IS 'The tenant that it belongs to. A row never moves to another.';
COMMENT ON COLUMN broker.subject_grant.idp IS 'The identity provider that the token comes from, of the same tenant.';
COMMENT ON COLUMN broker.subject_grant.subject IS 'The sub claim, or a glob over it (see match).';
COMMENT ON COLUMN broker.subject_grant.match IS
    'exact: subject equals the sub claim. glob: * stands for anything within a segment (no : and no /), ** for anything; it starts with a literal segment, which in a URI includes the host.';
COMMENT ON COLUMN broker.subject_grant.key IS 'The key, of the same tenant.';
COMMENT ON COLUMN broker.subject_grant.claims IS
    'Further conditions on the token, which must meet all of them, in the form of broker.identity_provider.required_claims.';
COMMENT ON COLUMN broker.subject_grant.actor_idp IS
    'The identity provider of the actor''s token, of the same tenant; null: the grant is for the subject alone.';
COMMENT ON COLUMN broker.subject_grant.actor IS
    'Who must act for the subject: the sub claim of the actor, or a glob over it (see actor_match); null: the grant is for the subject alone, and not for a request with an actor.';
COMMENT ON COLUMN broker.subject_grant.actor_match IS 'exact or glob, as match.';
COMMENT ON COLUMN broker.subject_grant.actor_claims IS 'Further conditions on the actor''s claims, in the form of claims.';
COMMENT ON COLUMN broker.subject_grant.networks IS
    'The client''s address must be in one of these, for example {203.0.113.0/24,2001:db8::/32}; null: any. The address is the one that rate limits see: TRUSTED_PROXIES lists the proxies whose X-Forwarded-For is trusted.';
COMMENT ON COLUMN broker.subject_grant.valid_from IS 'The start of the grant, inclusive; null: no start.';
COMMENT ON COLUMN broker.subject_grant.valid_until IS
    'The end of the grant and of its credentials, exclusive; null: no end.';
COMMENT ON COLUMN broker.subject_grant.max_duration IS 'The maximum lifetime of a credential, in seconds, below the key''s max_duration; null: the key''s.';
COMMENT ON COLUMN broker.subject_grant.reason IS 'Why it was granted, for auditors; for example a ticket.';
COMMENT ON COLUMN broker.subject_grant.owner IS 'The person or team who answers for the grant; null unless the tenant requires one.';
COMMENT ON COLUMN broker.subject_grant.enabled IS 'False: the row has no effect.';
COMMENT ON COLUMN broker.subject_grant.request_id IS
    'The request in broker.access_request that led to the grant; null: a login wrote it. Set by a trigger.';
COMMENT ON COLUMN broker.subject_grant.approved_by IS
    'The login that approved the row as it is (broker.approve), or the approvers of its request; null: none. Set by a trigger.';
COMMENT ON COLUMN broker.subject_grant.approved_at IS
    'When it was approved, or when its tenant began to require a second admin; null: counts as disabled while the tenant requires one.';

-- So that a file of grants can be run again. What else a grant says (max_duration, reason, enabled) changes it.
CREATE UNIQUE INDEX a_grant_is_written_once ON broker.subject_grant
    (internal.grant_digest(tenant, idp, key, match, subject, claims, valid_from, valid_until, actor_idp, actor_match, actor,
                           actor_claims, networks));
-- By its hash: a long subject does not fit a B-tree.
CREATE INDEX grants_of_a_subject ON broker.subject_grant (tenant, idp, hashtextextended(subject, 0)) WHERE match = 'exact';
CREATE INDEX globs_of_an_identity_provider ON broker.subject_grant (tenant, idp) WHERE match = 'glob';
CREATE INDEX grants_of_an_actor ON broker.subject_grant (tenant, actor_idp, hashtextextended(actor, 0)) WHERE actor IS NOT NULL;
CREATE INDEX grants_of_a_key ON broker.subject_grant (tenant, key);
-- In the order of their end, for the view.
CREATE INDEX grants_by_their_end ON broker.subject_grant (valid_until) WHERE valid_until IS NOT NULL;
CREATE INDEX grants_of_a_tenant_by_their_end ON broker.subject_grant (tenant, valid_until) WHERE valid_until IS NOT NULL;
-- For reviews, which are due by age.
CREATE INDEX grants_of_a_tenant_by_age ON broker.subject_grant (tenant, created_at) WHERE enabled;
CREATE INDEX grants_of_a_subject_anywhere ON broker.subject_grant (hashtextextended(subject, 0), tenant) WHERE match = 'exact';
CREATE INDEX grants_with_a_duration ON broker.subject_grant (tenant, key, max_duration) WHERE enabled AND max_duration IS NOT NULL;
CREATE INDEX grants_without_approval ON broker.subject_grant (tenant) WHERE approved_at IS NULL;
CREATE INDEX requested_access_by_its_end ON broker.subject_grant (tenant, valid_until) WHERE request_id IS NOT NULL AND enabled;
CREATE UNIQUE INDEX a_request_leads_to_one_grant ON broker.subject_grant (request_id) WHERE request_id IS NOT NULL;
