-- Reviews of grants.

CREATE TABLE broker.grant_review (
    id bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    grant_id bigint NOT NULL,
    verdict text NOT NULL,
    note text,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_review_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_verdict_is_keep_or_remove CHECK (verdict IN ('keep', 'remove')),
    CONSTRAINT a_note_has_up_to_1000_characters CHECK (length(note) <= 1000)
);
CREATE SEQUENCE broker.grant_review_id_seq OWNED BY broker.grant_review.id;
ALTER TABLE broker.grant_review ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.grant_review IS 'Reviews of grants, append-only. Insert grant_id, verdict and note; created_by is the reviewer.';
COMMENT ON COLUMN broker.grant_review.id IS 'Assigned by the database, never reused.';
COMMENT ON COLUMN broker.grant_review.tenant IS 'The tenant of the grant, filled by a trigger.';
COMMENT ON COLUMN broker.grant_review.grant_id IS 'The id in broker.subject_grant. The review stays when the grant is deleted.';
COMMENT ON COLUMN broker.grant_review.verdict IS 'keep, or remove, which disables the grant in the same transaction.';
COMMENT ON COLUMN broker.grant_review.note IS 'What the reviewer looked at; optional.';
CREATE INDEX reviews_of_a_grant ON broker.grant_review (grant_id, id);
