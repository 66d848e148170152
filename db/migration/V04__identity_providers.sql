-- Whom a tenant trusts to say who a client is, and what the service keeps of their tokens.

CREATE TABLE broker.shared_issuer (
    issuer text COLLATE "C" NOT NULL,
    owner_claims text[] NOT NULL,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_shared_issuer_is_listed_once PRIMARY KEY (issuer),
    CONSTRAINT a_shared_issuer_is_an_https_address CHECK (internal.is_url(issuer) AND issuer !~ '[?]'),
    CONSTRAINT owner_claims_are_a_list_without_blanks_and_repeats CHECK (internal.is_list(owner_claims, 255))
);
ALTER TABLE broker.shared_issuer ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.shared_issuer IS
    'Issuers from which anyone can get a token. An identity provider for such an issuer must require, by exact values, at least one claim that says whose token it is.';
COMMENT ON COLUMN broker.shared_issuer.issuer IS 'The iss claim of its tokens.';
COMMENT ON COLUMN broker.shared_issuer.owner_claims IS
    'Claims that tell its customers apart. Prefer the ids: a name can be given up and taken by someone else.';

CREATE TABLE broker.identity_provider (
    name text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    issuer text COLLATE "C" NOT NULL,
    audiences text[] NOT NULL,
    jwks_uri text,
    jwks jsonb,
    ca_certificate text,
    algorithms text[] NOT NULL DEFAULT '{RS256,ES256}',
    token_types text[] NOT NULL DEFAULT '{}',
    required_claims jsonb NOT NULL DEFAULT '{}',
    clock_skew int NOT NULL DEFAULT 0,
    max_token_age int,
    one_time_tokens boolean NOT NULL DEFAULT false,
    accepts text[] NOT NULL DEFAULT '{subject}',
    login_client_id text,
    listed boolean NOT NULL DEFAULT true,
    enabled boolean NOT NULL DEFAULT true,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT an_identity_provider_name_is_taken_once PRIMARY KEY (name),
    CONSTRAINT an_identity_provider_belongs_to_one_tenant UNIQUE (tenant, name),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_name_is_a_letter_and_up_to_63_letters_digits_dots_hyphens_etc
        CHECK (name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'),
    CONSTRAINT an_issuer_is_an_https_address_or_http_on_loopback CHECK (internal.is_url(issuer)),
    CONSTRAINT an_issuer_has_no_query_and_up_to_255_characters CHECK (issuer !~ '[?]' AND length(issuer) <= 255),
    CONSTRAINT audiences_are_a_list_without_blanks_and_repeats CHECK (internal.is_list(audiences, 512)),
    CONSTRAINT jwks_uri_is_an_https_address_or_http_on_loopback CHECK (internal.is_url(jwks_uri)),
    CONSTRAINT jwks_is_an_object_with_a_list_of_keys
        CHECK (jwks IS NULL OR coalesce(jsonb_path_exists(jwks, 'strict $.keys[0].kty', silent => true), false)),
    CONSTRAINT jwks_holds_public_keys_only
        CHECK (NOT jsonb_path_exists(jwks, '$.keys[*] ? (exists (@.d) || exists (@.k))')),
    CONSTRAINT ca_certificate_is_pem_and_no_private_key
        CHECK (ca_certificate ~ '^\s*-----BEGIN CERTIFICATE-----' AND ca_certificate !~ 'PRIVATE KEY'),
    CONSTRAINT algorithms_are_a_list_of_rs_ps_es_256_384_512_and_eddsa
        CHECK (internal.is_list(algorithms, 5) AND algorithms
               <@ '{RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA}'::text[]),
    CONSTRAINT token_types_are_a_list_of_up_to_20_media_types
        CHECK (token_types = '{}'
               OR internal.is_list(token_types, 127) AND cardinality(token_types) <= 20
              AND array_to_string(token_types, ' ') ~ '^([A-Za-z0-9!#$&^_.+-]+(/[A-Za-z0-9!#$&^_.+-]+)?( |$))+$'),
    CONSTRAINT jwks_has_up_to_64_kib CHECK (internal.json_fault(jwks, 65536) IS NULL),
    CONSTRAINT ca_certificate_has_up_to_64_kib CHECK (octet_length(ca_certificate) <= 65536),
    CONSTRAINT required_claims_have_up_to_4_kib CHECK (internal.json_fault(required_claims, 4096) IS NULL),
    CONSTRAINT required_claims_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(required_claims) IS NULL),
    CONSTRAINT required_claims_are_an_object CHECK (jsonb_typeof(required_claims) = 'object'),
    CONSTRAINT clock_skew_is_up_to_an_hour_in_seconds CHECK (clock_skew BETWEEN 0 AND 3600),
    CONSTRAINT max_token_age_is_positive_in_seconds CHECK (max_token_age > 0),
    CONSTRAINT accepts_are_a_list_of_subject_actor_and_approver
        CHECK (internal.is_list(accepts, 8) AND accepts <@ '{subject,actor,approver}'::text[]),
    CONSTRAINT login_client_id_is_up_to_255_visible_characters CHECK (login_client_id ~ '^[!-~]{1,255}$'),
    CONSTRAINT one_time_tokens_need_a_max_token_age CHECK (NOT one_time_tokens OR max_token_age IS NOT NULL)
);
ALTER TABLE broker.identity_provider ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.identity_provider IS
    'The issuers that a tenant trusts to identify its clients. A token''s issuer and audience belong to exactly one row, and so to one tenant.';
COMMENT ON COLUMN broker.identity_provider.name IS 'Shown to clients; grants refer to it. Unique among all tenants.';
COMMENT ON COLUMN broker.identity_provider.tenant IS 'The tenant whose clients it identifies. A row never moves to another.';
COMMENT ON COLUMN broker.identity_provider.issuer IS 'The iss claim, compared exactly.';
COMMENT ON COLUMN broker.identity_provider.audiences IS
    'A token must name one of these in aud. With the issuer, each belongs to one identity provider only.';
COMMENT ON COLUMN broker.identity_provider.jwks_uri IS
    'The URL of the signing keys. Null: <issuer>/.well-known/jwks.json, otherwise the URL in the issuer''s discovery document.';
COMMENT ON COLUMN broker.identity_provider.jwks IS
    'The signing keys themselves (a JWK set), for issuers that the broker cannot reach. Takes precedence over jwks_uri.';
COMMENT ON COLUMN broker.identity_provider.ca_certificate IS
    'PEM of the authorities to trust when fetching the keys; null: those of the system.';
COMMENT ON COLUMN broker.identity_provider.algorithms IS 'The signature algorithms that are accepted. EdDSA means Ed25519.';
COMMENT ON COLUMN broker.identity_provider.token_types IS
    'Values of the header typ that are accepted beside JWT, JOSE, at+jwt and id_token+jwt. Tokens of other types do not identify their subject.';
COMMENT ON COLUMN broker.identity_provider.required_claims IS
    'Conditions that every token must meet, {"claim": value}: a string, number or boolean equals, a list means any of, {"glob": "…"} matches; a name with / first is a JSON pointer.';
COMMENT ON COLUMN broker.identity_provider.clock_skew IS 'Seconds by which the issuer''s clock may differ from the broker''s.';
COMMENT ON COLUMN broker.identity_provider.max_token_age IS 'Seconds since iat after which a token is too old; null: only exp counts.';
COMMENT ON COLUMN broker.identity_provider.one_time_tokens IS 'True: each token (jti) is accepted once. Needs max_token_age.';
COMMENT ON COLUMN broker.identity_provider.accepts IS
    'What its tokens may identify: subject (who gets credentials), actor (who acts for the subject), approver (who may only request and decide approvals).';
COMMENT ON COLUMN broker.identity_provider.login_client_id IS
    'The public OAuth client with which people log in at this issuer (mintmark-client login). It and the issuer are shown to anyone who asks for the tenant. Null: no login.';
COMMENT ON COLUMN broker.identity_provider.listed IS
    'Whether /credentials/idp-providers and the error for an unknown issuer show the identity provider.';
COMMENT ON COLUMN broker.identity_provider.enabled IS 'False: its tokens are refused as if the issuer were unknown.';

CREATE INDEX identity_providers_of_an_issuer ON broker.identity_provider (issuer);
CREATE INDEX identity_providers_of_nearly_an_issuer ON broker.identity_provider (internal.nearly(issuer));

CREATE TABLE work.trusted_audience (
    issuer text COLLATE "C" NOT NULL,
    audience text COLLATE "C" NOT NULL,
    idp text COLLATE "C" NOT NULL,
    CONSTRAINT an_issuer_and_audience_lead_to_one_identity_provider PRIMARY KEY (issuer, audience),
    CONSTRAINT the_identity_provider_exists FOREIGN KEY (idp) REFERENCES broker.identity_provider (name)
        ON UPDATE CASCADE ON DELETE CASCADE
);
COMMENT ON TABLE work.trusted_audience IS
    'The identity provider of each (issuer, audience), disabled ones included. A trigger of broker.identity_provider keeps both equal.';
COMMENT ON COLUMN work.trusted_audience.issuer IS 'broker.identity_provider.issuer';
COMMENT ON COLUMN work.trusted_audience.audience IS 'One of broker.identity_provider.audiences';
COMMENT ON COLUMN work.trusted_audience.idp IS 'broker.identity_provider.name';

CREATE INDEX trusted_audiences_of_an_identity_provider ON work.trusted_audience (idp);

CREATE TABLE work.used_token (
    idp text COLLATE "C" NOT NULL,
    token_id text COLLATE "C" NOT NULL,
    usable_until timestamptz NOT NULL,
    CONSTRAINT a_one_time_token_is_used_once PRIMARY KEY (idp, token_id)
);
COMMENT ON TABLE work.used_token IS
    'Ids of one-time tokens that were used. Only the request that inserts the row may use the token. The row is kept until the token is too old anyway.';
COMMENT ON COLUMN work.used_token.idp IS 'The identity provider. Not a foreign key, because a use is remembered after the identity provider is deleted.';
COMMENT ON COLUMN work.used_token.token_id IS 'The jti claim.';
COMMENT ON COLUMN work.used_token.usable_until IS 'When the token is too old or expired; the row can go after that.';

CREATE INDEX used_tokens_to_forget ON work.used_token (usable_until);
