-- The tenants, to whom all the rest belongs, who administers them, and how much they have.

CREATE TABLE broker.tenant (
    name text COLLATE "C" NOT NULL,
    display_name text,
    external_id uuid NOT NULL DEFAULT gen_random_uuid(),
    max_keys int NOT NULL DEFAULT 1000,
    max_grants int NOT NULL DEFAULT 1000000,
    max_globs int NOT NULL DEFAULT 1000,
    max_calls int NOT NULL DEFAULT 256,
    max_requests int,
    max_duration int,
    max_changes int NOT NULL DEFAULT 10000,
    require_owner boolean NOT NULL DEFAULT false,
    require_second_admin boolean NOT NULL DEFAULT false,
    review_days int NOT NULL DEFAULT 90,
    notice_url text,
    notice_secret jsonb,
    issuer text,
    moved_to text,
    moved_from jsonb,
    enabled boolean NOT NULL DEFAULT true,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_tenant_name_is_taken_once PRIMARY KEY (name),
    CONSTRAINT no_two_tenants_share_an_external_id UNIQUE (external_id),
    CONSTRAINT a_tenant_name_has_1_to_40_of_a_to_z_0_to_9_and_hyphen CHECK (name ~ '^[a-z][a-z0-9-]{0,39}$'),
    CONSTRAINT a_display_name_is_one_line_of_up_to_1000 CHECK (internal.is_line(display_name, 1000)),
    CONSTRAINT bounds_are_not_negative CHECK (least(max_keys, max_grants, max_globs) >= 0),
    CONSTRAINT max_calls_is_positive CHECK (max_calls > 0),
    CONSTRAINT max_requests_is_positive CHECK (max_requests > 0),
    CONSTRAINT max_duration_is_positive_in_seconds CHECK (max_duration > 0),
    CONSTRAINT max_changes_is_not_negative CHECK (max_changes >= 0),
    CONSTRAINT a_review_is_due_after_1_to_3650_days CHECK (review_days BETWEEN 1 AND 3650),
    CONSTRAINT notice_url_is_an_https_address_or_http_on_loopback
        CHECK (internal.is_url(notice_url) AND length(notice_url) <= 2048),
    CONSTRAINT notice_secret_names_a_file
        CHECK (jsonb_typeof(notice_secret) = 'object' AND notice_secret ? 'file' AND notice_secret - 'file' = '{}'
               AND notice_secret ->> 'file' ~ '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}(/[A-Za-z0-9_][A-Za-z0-9._-]{0,127}){0,7}$'),
    CONSTRAINT notices_are_signed CHECK (notice_url IS NULL OR notice_secret IS NOT NULL),
    CONSTRAINT an_issuer_is_an_https_address_or_http_on_loopback CHECK (internal.is_url(issuer) AND length(issuer) <= 255),
    CONSTRAINT moved_to_is_an_https_address_or_http_on_loopback CHECK (internal.is_url(moved_to) AND length(moved_to) <= 2048),
    CONSTRAINT moved_from_has_an_address_and_a_statement
        CHECK (jsonb_typeof(moved_from) = 'object' AND jsonb_typeof(moved_from -> 'url') = 'string'
               AND jsonb_typeof(moved_from -> 'statement') = 'string')
);
ALTER TABLE broker.tenant ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.tenant IS
    'The tenants of this broker: each has its own identity providers, access providers, keys and grants. A tenant can be disabled, but never renamed or deleted.';
COMMENT ON COLUMN broker.tenant.name IS
    'Up to 40 lower-case letters, digits and hyphens, beginning with a letter. The name never changes, because it is in the broker''s own tokens, and clouds trust it.';
COMMENT ON COLUMN broker.tenant.display_name IS 'For people; optional.';
COMMENT ON COLUMN broker.tenant.external_id IS
    'Generated. The ExternalId that the broker sends to AWS in ambient mode, so that one tenant''s roles can''t be assumed for another tenant.';
COMMENT ON COLUMN broker.tenant.max_keys IS 'The maximum number of keys. If it is below the present number, existing keys stay, and new ones are rejected.';
COMMENT ON COLUMN broker.tenant.max_grants IS 'The maximum number of grants, and also of blocked subjects, which are counted separately.';
COMMENT ON COLUMN broker.tenant.max_globs IS
    'The maximum number of grants that are globs over subjects, and also of such blocked subjects, which are counted separately. The broker tries each glob for each token.';
COMMENT ON COLUMN broker.tenant.max_calls IS 'The maximum number of concurrent calls to providers that each replica makes for the tenant.';
COMMENT ON COLUMN broker.tenant.max_requests IS
    'The maximum number of requests with a valid token that each replica answers for the tenant in a minute; null: no limit.';
COMMENT ON COLUMN broker.tenant.max_duration IS
    'The maximum lifetime of its credentials, in seconds; null: the maximum of the access provider''s type.';
COMMENT ON COLUMN broker.tenant.max_changes IS
    'The number of changes that its tenant admins may make in a day (UTC). A change counts once for each 4 KiB of the row before and after it, and at least once. Disabling and deleting keys and grants, and blocking subjects, continue up to twice that number. Changes by platform admins do not count.';
COMMENT ON COLUMN broker.tenant.require_owner IS 'Whether its enabled keys and grants must have an owner.';
COMMENT ON COLUMN broker.tenant.require_second_admin IS
    'True: a key or grant that a login writes, or changes in what it allows, counts as disabled until another login approves it (broker.approve). Tenant admins may turn it on, platform admins may turn it off.';
COMMENT ON COLUMN broker.tenant.review_days IS 'Days after its creation or its last review at which a grant is due for review.';
COMMENT ON COLUMN broker.tenant.notice_url IS
    'Where notices of access requests are sent (CloudEvents over HTTPS); null: nowhere.';
COMMENT ON COLUMN broker.tenant.notice_secret IS
    'The secret that signs notices, {"file": "name"}: a file in the tenant''s secrets directory. Required with notice_url.';
COMMENT ON COLUMN broker.tenant.issuer IS
    'The issuer in the broker''s tokens for a tenant that moved here: that of its former cell, so that relying parties still trust the tokens; null: BROKER_ISSUER.';
COMMENT ON COLUMN broker.tenant.moved_to IS
    'Where the tenant is now: the URL of another cell. Requests for the tenant are answered with 421, and its configuration cannot be changed here. Null: here.';
COMMENT ON COLUMN broker.tenant.moved_from IS
    'The cell from which the tenant moved here, {"url": "…", "statement": "…"}; the statement is signed with that cell''s audit key. Null: the tenant was created here.';
COMMENT ON COLUMN broker.tenant.enabled IS 'False: its tokens are refused as if their issuers were unknown.';

CREATE TABLE broker.tenant_admin (
    tenant text COLLATE "C" NOT NULL,
    role_name text COLLATE "C" NOT NULL,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_tenant_admin_is_listed_once PRIMARY KEY (tenant, role_name),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_role_name_has_1_to_63_bytes CHECK (octet_length(role_name) BETWEEN 1 AND 63)
);
ALTER TABLE broker.tenant_admin ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.tenant_admin IS
    'Which logins may write the keys and grants of a tenant. The login must also be a member of the role for tenant admins (db/roles.sql).';
COMMENT ON COLUMN broker.tenant_admin.tenant IS 'The tenant.';
COMMENT ON COLUMN broker.tenant_admin.role_name IS 'The login (session_user) as PostgreSQL spells it.';

CREATE INDEX tenants_of_a_login ON broker.tenant_admin (role_name);

-- Counted, since to count again would read a large tenant's rows at each edit. Each count is a row with a new number, and
-- the one before goes: so the last is found at the end of the index, past none of the rows that one long transaction
-- leaves behind. Whoever changes a tenant's rows holds its lock by then (internal.record_change).
CREATE TABLE work.tenant_size (
    tenant text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    keys bigint NOT NULL,
    grants bigint NOT NULL,
    globs bigint NOT NULL,
    blocks bigint NOT NULL DEFAULT 0,
    block_globs bigint NOT NULL DEFAULT 0,
    CONSTRAINT a_tenant_is_counted_in_turn PRIMARY KEY (tenant, number)
);
COMMENT ON TABLE work.tenant_size IS
    'The numbers of keys, grants and blocked subjects of each tenant, counted by triggers for the limits in broker.tenant. A tenant has no row here before the first of them.';
COMMENT ON COLUMN work.tenant_size.tenant IS 'The tenant.';
COMMENT ON COLUMN work.tenant_size.number IS 'The number of the count, from 1: the highest is the current one.';
COMMENT ON COLUMN work.tenant_size.keys IS 'Rows in broker.key.';
COMMENT ON COLUMN work.tenant_size.grants IS 'Rows in broker.subject_grant.';
COMMENT ON COLUMN work.tenant_size.globs IS 'The grants whose match is glob.';
COMMENT ON COLUMN work.tenant_size.blocks IS 'Rows in broker.blocked_subject.';
COMMENT ON COLUMN work.tenant_size.block_globs IS 'The blocked subjects whose match is glob.';

-- Counted as work.tenant_size is: each count is a row of a new number, so that the last one is found at the end of the
-- index, past those that a long transaction leaves behind.
CREATE TABLE work.changes_of_day (
    tenant text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    day date NOT NULL,
    changes bigint NOT NULL,
    CONSTRAINT changes_are_counted_in_order PRIMARY KEY (tenant, number)
);
COMMENT ON TABLE work.changes_of_day IS
    'The number of changes by the admins of each tenant on the last day with any, for broker.tenant.max_changes. Counted by a trigger.';
COMMENT ON COLUMN work.changes_of_day.tenant IS 'The tenant.';
COMMENT ON COLUMN work.changes_of_day.number IS 'The number of the count, from 1: the highest is the current one.';
COMMENT ON COLUMN work.changes_of_day.day IS 'The day, in UTC.';
COMMENT ON COLUMN work.changes_of_day.changes IS
    'The changes of that day, each counted once for each 4 KiB of the row before and after it, and at least once.';
