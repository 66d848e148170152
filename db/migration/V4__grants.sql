-- Who may have which key.

CREATE TABLE broker.subject_grant (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant text COLLATE "C" NOT NULL,
    idp text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    match text NOT NULL DEFAULT 'exact',
    key text COLLATE "C" NOT NULL,
    claims jsonb NOT NULL DEFAULT '{}',
    valid_from timestamptz,
    valid_until timestamptz,
    max_duration int,
    reason text,
    enabled boolean NOT NULL DEFAULT true,
    CONSTRAINT a_grant_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT the_identity_provider_exists_in_the_same_tenant FOREIGN KEY (tenant, idp)
        REFERENCES broker.identity_provider (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_key_exists_in_the_same_tenant FOREIGN KEY (tenant, key)
        REFERENCES broker.key (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_subject_is_one_line_of_up_to_1024_characters CHECK (broker.is_line(subject, 1024)),
    CONSTRAINT match_is_exact_or_glob CHECK (match IN ('exact', 'glob')),
    CONSTRAINT a_glob_starts_with_a_literal_segment CHECK (match <> 'glob' OR subject ~ '^[^*:/]+([:/]|$)'),
    CONSTRAINT claims_are_an_object CHECK (jsonb_typeof(claims) = 'object'),
    CONSTRAINT a_grant_ends_after_it_starts CHECK (valid_until > valid_from),
    CONSTRAINT a_grant_without_an_end_has_null_and_not_infinity
        CHECK (isfinite(valid_from) AND isfinite(valid_until)),
    CONSTRAINT max_duration_is_positive_in_seconds CHECK (max_duration > 0)
);
CREATE INDEX grants_of_a_subject ON broker.subject_grant (tenant, idp, match, subject);
CREATE INDEX grants_of_a_key ON broker.subject_grant (tenant, key);
COMMENT ON TABLE broker.subject_grant IS
    'Who may have which key: a subject of an identity provider, whose token meets the claims, within the window. Grants only allow; to revoke is to delete or disable.';
COMMENT ON COLUMN broker.subject_grant.id IS 'Given by the database, never used again; the audit log names it.';
COMMENT ON COLUMN broker.subject_grant.tenant IS 'The tenant that it belongs to. A row never moves to another.';
COMMENT ON COLUMN broker.subject_grant.idp IS 'The identity provider that the token comes from, of the same tenant.';
COMMENT ON COLUMN broker.subject_grant.subject IS 'The sub claim, or a glob over it (see match).';
COMMENT ON COLUMN broker.subject_grant.match IS
    'exact: subject equals the sub claim. glob: * stands for anything within a segment (no : and no /), ** for anything; it starts with a literal segment.';
COMMENT ON COLUMN broker.subject_grant.key IS 'The key, of the same tenant.';
COMMENT ON COLUMN broker.subject_grant.claims IS
    'Further conditions on the token, all of which must hold, in the form of broker.identity_provider.required_claims.';
COMMENT ON COLUMN broker.subject_grant.valid_from IS 'From then on, inclusive; null: since ever.';
COMMENT ON COLUMN broker.subject_grant.valid_until IS
    'Until then, exclusive, and no credential lives longer; null: until it is revoked.';
COMMENT ON COLUMN broker.subject_grant.max_duration IS 'Lowers the key''s max_duration, in seconds; null: doesn''t.';
COMMENT ON COLUMN broker.subject_grant.reason IS 'Why it was granted, for auditors; for example a ticket.';
COMMENT ON COLUMN broker.subject_grant.enabled IS 'False: as if it were not there.';

CALL audit.keep_history('broker.subject_grant', 'tenant');
