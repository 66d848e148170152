-- Subjects that get nothing, whatever is granted to them: in one tenant, or, where tenant is null, in all.

CREATE TABLE broker.blocked_subject (
    id bigint NOT NULL,
    tenant text COLLATE "C",
    idp text COLLATE "C",
    subject text COLLATE "C" NOT NULL,
    match text NOT NULL DEFAULT 'exact',
    claims jsonb NOT NULL DEFAULT '{}',
    reason text NOT NULL,
    until timestamptz,
    enabled boolean NOT NULL DEFAULT true,
    proposed jsonb,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_block_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_identity_provider_exists_in_the_same_tenant FOREIGN KEY (tenant, idp)
        REFERENCES broker.identity_provider (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT an_identity_provider_is_named_with_its_tenant CHECK (idp IS NULL OR tenant IS NOT NULL),
    CONSTRAINT a_subject_is_one_line_of_up_to_1024_characters CHECK (internal.is_line(subject, 1024)),
    CONSTRAINT match_is_exact_or_glob CHECK (match IN ('exact', 'glob')),
    CONSTRAINT a_glob_starts_with_a_literal_segment
        CHECK (match <> 'glob' OR internal.is_anchored(subject) OR subject = '**' AND claims <> '{}'),
    CONSTRAINT a_glob_has_up_to_512_characters_and_8_stars
        CHECK (match <> 'glob' OR internal.glob_fault(subject) IS NULL),
    CONSTRAINT claims_have_up_to_4_kib CHECK (internal.json_fault(claims, 4096) IS NULL),
    CONSTRAINT claims_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(claims) IS NULL),
    CONSTRAINT claims_are_an_object CHECK (jsonb_typeof(claims) = 'object'),
    CONSTRAINT a_reason_has_1_to_1000_characters CHECK (reason ~ '\S' AND length(reason) <= 1000),
    CONSTRAINT a_block_without_an_end_has_null_and_not_infinity CHECK (isfinite(until)),
    -- what every program can write as a time
    CONSTRAINT until_is_within_the_years_1_to_9999 CHECK (until >= '0001-01-01Z' AND until < '10000-01-01Z')
);
CREATE SEQUENCE broker.blocked_subject_id_seq OWNED BY broker.blocked_subject.id;
ALTER TABLE broker.blocked_subject ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.blocked_subject IS
    'Subjects that get no credentials, whatever is granted to them. A block overrides every grant on every replica as soon as it is committed. It does not end credentials that are already issued: see mintmark block-subject.';
COMMENT ON COLUMN broker.blocked_subject.id IS 'Assigned by the database, never reused.';
COMMENT ON COLUMN broker.blocked_subject.tenant IS
    'The tenant in which the subject is blocked; null: in all tenants, which platform admins write. A row never moves to another.';
COMMENT ON COLUMN broker.blocked_subject.idp IS
    'The identity provider whose subject is meant, of the same tenant; null: any of them.';
COMMENT ON COLUMN broker.blocked_subject.subject IS 'The sub claim, or a glob over it (see match).';
COMMENT ON COLUMN broker.blocked_subject.match IS
    'exact: subject equals the sub claim. glob: * stands for anything within a segment (no : and no /), ** for anything; it starts with a literal segment, which in a URI includes the host.';
COMMENT ON COLUMN broker.blocked_subject.claims IS
    'Only tokens that meet all of these conditions are stopped, in the form of broker.subject_grant.claims, for example {"repository_id": "7654321"}; {}: every token of the subject. With them, the subject may be the glob **.';
COMMENT ON COLUMN broker.blocked_subject.reason IS 'Why the subject is blocked, for example an incident.';
COMMENT ON COLUMN broker.blocked_subject.until IS
    'The end of the block by this database''s clock, exclusive; null: until the row is disabled or deleted.';
COMMENT ON COLUMN broker.blocked_subject.enabled IS 'False: the row has no effect.';
COMMENT ON COLUMN broker.blocked_subject.proposed IS
    'The columns of a change that lifts, shortens or narrows the block, and that awaits a second admin; null: none. Set by a trigger.';

-- By its hash: a long subject does not fit a B-tree.
CREATE INDEX blocks_of_a_subject ON broker.blocked_subject (tenant, hashtextextended(subject, 0)) WHERE match = 'exact';
CREATE INDEX blocks_by_rules ON broker.blocked_subject (tenant) WHERE match = 'glob' OR claims <> '{}';
CREATE INDEX blocks_by_globs ON broker.blocked_subject (tenant) WHERE match = 'glob';
CREATE INDEX blocks_of_an_identity_provider ON broker.blocked_subject (tenant, idp) WHERE idp IS NOT NULL;
CREATE UNIQUE INDEX a_block_is_written_once ON broker.blocked_subject
    (internal.block_digest(tenant, idp, match, subject, claims)) WHERE enabled;
