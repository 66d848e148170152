-- Who may look at the console.

CREATE TABLE broker.console_access (
    id bigint NOT NULL,
    tenant text COLLATE "C",
    all_tenants boolean NOT NULL DEFAULT false,
    claim text COLLATE "C" NOT NULL,
    value jsonb NOT NULL,
    reason text,
    enabled boolean NOT NULL DEFAULT true,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT an_access_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT an_access_is_to_a_tenant_or_to_all_tenants CHECK (all_tenants = (tenant IS NULL)),
    CONSTRAINT a_claim_is_one_line_of_up_to_512_characters CHECK (internal.is_line(claim, 512)),
    CONSTRAINT a_value_has_up_to_4_kib CHECK (internal.json_fault(value, 4096) IS NULL),
    CONSTRAINT a_reason_has_up_to_1000_characters CHECK (length(reason) <= 1000)
);
CREATE SEQUENCE broker.console_access_id_seq OWNED BY broker.console_access.id;
ALTER TABLE broker.console_access ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.console_access IS
    'Who may use the console: people whose ID token has the claim with this value see the tenant, or all tenants.';
COMMENT ON COLUMN broker.console_access.id IS 'Assigned by the database, never reused.';
COMMENT ON COLUMN broker.console_access.tenant IS
    'The tenant to see; null if all_tenants is true. A row never moves to another tenant.';
COMMENT ON COLUMN broker.console_access.all_tenants IS
    'Whether the row gives access to every tenant, to rows without tenant and to the proof. Then tenant is null.';
COMMENT ON COLUMN broker.console_access.claim IS
    'The claim of the ID token, or a JSON pointer to it if it starts with /. email counts only if email_verified is true.';
COMMENT ON COLUMN broker.console_access.value IS
    'What the claim must be, as in the claims of a grant: a text, a number, true, false, {"glob": "…"}, or a list, which means any of.';
COMMENT ON COLUMN broker.console_access.reason IS 'Why it was given, for auditors; for example a ticket.';
COMMENT ON COLUMN broker.console_access.enabled IS 'False: the row has no effect.';

-- So that a file of them can be run again. By its hash: a long value does not fit a B-tree.
CREATE UNIQUE INDEX an_access_is_written_once ON broker.console_access
    (tenant, claim, hashtextextended(value::text, 0)) NULLS NOT DISTINCT;
