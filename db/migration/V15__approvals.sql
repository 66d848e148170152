-- Requests for access: who may ask for which key, who decides, and what was asked and decided.

CREATE TABLE broker.access_rule (
    id bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    idp text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    match text NOT NULL DEFAULT 'exact',
    claims jsonb NOT NULL DEFAULT '{}',
    approvals int NOT NULL DEFAULT 1,
    max_access int NOT NULL,
    expires_after int NOT NULL DEFAULT 86400,
    break_glass boolean NOT NULL DEFAULT false,
    end_credentials boolean NOT NULL,
    end_access boolean NOT NULL DEFAULT false,
    people int NOT NULL DEFAULT 1,
    consent boolean NOT NULL DEFAULT false,
    steps int[] NOT NULL DEFAULT '{1}',
    reason_pattern text,
    reason_hint text,
    owner text,
    reason text,
    enabled boolean NOT NULL DEFAULT true,
    approved_by text,
    approved_at timestamptz,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_rule_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT an_approval_has_a_time CHECK (approved_by IS NULL OR approved_at IS NOT NULL),
    CONSTRAINT a_rule_belongs_to_one_tenant UNIQUE (tenant, id),
    CONSTRAINT the_identity_provider_exists_in_the_same_tenant FOREIGN KEY (tenant, idp)
        REFERENCES broker.identity_provider (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_key_exists_in_the_same_tenant FOREIGN KEY (tenant, key)
        REFERENCES broker.key (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_subject_is_one_line_of_up_to_1024_characters CHECK (internal.is_line(subject, 1024)),
    CONSTRAINT match_is_exact_or_glob CHECK (match IN ('exact', 'glob')),
    CONSTRAINT a_glob_starts_with_a_literal_segment CHECK (match <> 'glob' OR internal.is_anchored(subject)),
    CONSTRAINT a_glob_has_up_to_512_characters_and_8_stars
        CHECK (match <> 'glob' OR internal.glob_fault(subject) IS NULL),
    CONSTRAINT claims_have_up_to_4_kib CHECK (internal.json_fault(claims, 4096) IS NULL),
    CONSTRAINT claims_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(claims) IS NULL),
    CONSTRAINT claims_are_an_object CHECK (jsonb_typeof(claims) = 'object'),
    CONSTRAINT a_rule_needs_1_to_5_approvals_or_breaks_the_glass
        CHECK (approvals >= 0 AND approvals <= 5 AND (approvals > 0 OR break_glass)),
    CONSTRAINT people_are_0_to_25 CHECK (people BETWEEN 0 AND 25),
    CONSTRAINT steps_are_1_to_5 CHECK (cardinality(steps) >= 1 AND cardinality(steps) <= 5 AND steps <@ '{1,2,3,4,5}'),
    CONSTRAINT a_rule_of_consent_needs_the_subject_alone CHECK (NOT consent OR approvals = 1 AND people <= 1 AND NOT break_glass),
    CONSTRAINT a_reason_pattern_is_one_line_of_up_to_512_characters_and_8_stars
        CHECK (internal.is_line(reason_pattern, 512) AND internal.glob_fault(reason_pattern) IS NULL),
    CONSTRAINT a_reason_hint_is_one_line_of_up_to_200_characters CHECK (internal.is_line(reason_hint, 200)),
    CONSTRAINT a_reason_hint_explains_a_pattern CHECK (reason_hint IS NULL OR reason_pattern IS NOT NULL),
    CONSTRAINT max_access_is_300_to_2592000_seconds CHECK (max_access BETWEEN 300 AND 2592000),
    CONSTRAINT a_request_expires_after_300_to_2592000_seconds CHECK (expires_after BETWEEN 300 AND 2592000),
    CONSTRAINT an_owner_is_one_line_of_up_to_200_characters CHECK (internal.is_line(owner, 200)),
    CONSTRAINT a_reason_has_up_to_1000_characters CHECK (length(reason) <= 1000)
);
CREATE SEQUENCE broker.access_rule_id_seq OWNED BY broker.access_rule.id;
ALTER TABLE broker.access_rule ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.access_rule IS
    'Who may request which key, for how long, and how many approvals that needs. Who approves is in broker.access_approver.';
COMMENT ON COLUMN broker.access_rule.id IS 'Assigned by the database, never reused.';
COMMENT ON COLUMN broker.access_rule.tenant IS 'The tenant that it belongs to. A row never moves to another.';
COMMENT ON COLUMN broker.access_rule.key IS 'The key that may be requested, of the same tenant.';
COMMENT ON COLUMN broker.access_rule.idp IS 'The identity provider that the requester''s token comes from, of the same tenant.';
COMMENT ON COLUMN broker.access_rule.subject IS 'The sub claim of the requester, or a glob over it (see match).';
COMMENT ON COLUMN broker.access_rule.match IS 'exact or glob, as in broker.subject_grant.';
COMMENT ON COLUMN broker.access_rule.claims IS
    'Further conditions on the requester''s token, in the form of broker.subject_grant.claims. The values of the token that met the conditions become the claims of the grant.';
COMMENT ON COLUMN broker.access_rule.approvals IS
    'How many different approvers must approve in each step (broker.access_approver.step), 1 to 5. Ignored for break_glass, where it may be 0.';
COMMENT ON COLUMN broker.access_rule.max_access IS 'The longest access that may be requested, in seconds.';
COMMENT ON COLUMN broker.access_rule.expires_after IS 'Seconds after which a request that is not decided lapses.';
COMMENT ON COLUMN broker.access_rule.break_glass IS
    'True: access is granted at once if a reason is given, and another person signs it off afterwards.';
COMMENT ON COLUMN broker.access_rule.end_credentials IS
    'True: when the access ends before its time, the broker also ends the credentials that were minted by it, if their type allows it. The default is the value of break_glass.';
COMMENT ON COLUMN broker.access_rule.end_access IS
    'True: when the rule is disabled, deleted or changed in what it allows, access that it led to ends, too. By default only pending requests become void.';
COMMENT ON COLUMN broker.access_rule.people IS
    'How many of the approvals must come from people, not from programs (broker.access_approver.program).';
COMMENT ON COLUMN broker.access_rule.consent IS
    'True: a rule of consent, for requests through an actor. Only the subject decides them, with a token without act that is at most five minutes old. The rule has no approvers.';
COMMENT ON COLUMN broker.access_rule.steps IS
    'The steps of its approvers, set by a trigger. A rule that loses a step loses its approval.';
COMMENT ON COLUMN broker.access_rule.reason_pattern IS
    'A glob that the reason of a request must match, for example INC-**; null: any reason.';
COMMENT ON COLUMN broker.access_rule.reason_hint IS 'A sentence that is shown to people whose reason does not match.';
COMMENT ON COLUMN broker.access_rule.owner IS 'The person or team who answers for the rule and for the grants that it leads to.';
COMMENT ON COLUMN broker.access_rule.reason IS 'Why the rule exists, for auditors.';
COMMENT ON COLUMN broker.access_rule.enabled IS 'False: the row has no effect. Pending requests become void.';
COMMENT ON COLUMN broker.access_rule.approved_by IS
    'The login that approved the rule as it is, with broker.approve. Needed while the tenant requires a second admin.';
COMMENT ON COLUMN broker.access_rule.approved_at IS
    'When the row was approved; if approved_by is null, when the tenant began to require a second admin. Set by a trigger.';
CREATE INDEX rules_of_a_key ON broker.access_rule (tenant, key);
CREATE INDEX rules_of_an_identity_provider ON broker.access_rule (tenant, idp);

CREATE TABLE broker.access_approver (
    id bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    rule bigint NOT NULL,
    role_name text COLLATE "C",
    idp text COLLATE "C",
    issuer text COLLATE "C",
    subject text COLLATE "C",
    match text NOT NULL DEFAULT 'exact',
    claims jsonb NOT NULL DEFAULT '{}',
    step int NOT NULL DEFAULT 1,
    program boolean NOT NULL DEFAULT false,
    max_access int,
    approved_by text,
    approved_at timestamptz,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT an_approver_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT an_approval_has_a_time CHECK (approved_by IS NULL OR approved_at IS NOT NULL),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_rule_exists_in_the_same_tenant FOREIGN KEY (tenant, rule)
        REFERENCES broker.access_rule (tenant, id) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_identity_provider_exists_in_the_same_tenant FOREIGN KEY (tenant, idp)
        REFERENCES broker.identity_provider (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT an_approver_is_a_login_or_a_subject CHECK (role_name IS NOT NULL OR subject IS NOT NULL),
    CONSTRAINT a_subject_is_named_with_its_identity_provider CHECK (num_nulls(idp, issuer, subject) IN (0, 3)),
    CONSTRAINT a_login_is_mapped_to_an_exact_subject_without_claims
        CHECK (role_name IS NULL OR match = 'exact' AND claims = '{}'),
    CONSTRAINT a_role_name_has_1_to_63_bytes CHECK (octet_length(role_name) BETWEEN 1 AND 63),
    CONSTRAINT a_step_is_1_to_5 CHECK (step BETWEEN 1 AND 5),
    CONSTRAINT only_a_program_has_a_max_access CHECK (max_access IS NULL OR program),
    CONSTRAINT max_access_is_300_to_2592000_seconds CHECK (max_access BETWEEN 300 AND 2592000),
    CONSTRAINT a_subject_is_one_line_of_up_to_1024_characters CHECK (internal.is_line(subject, 1024)),
    CONSTRAINT match_is_exact_or_glob CHECK (match IN ('exact', 'glob')),
    CONSTRAINT a_glob_starts_with_a_literal_segment CHECK (match <> 'glob' OR internal.is_anchored(subject)),
    CONSTRAINT a_glob_has_up_to_512_characters_and_8_stars
        CHECK (match <> 'glob' OR internal.glob_fault(subject) IS NULL),
    CONSTRAINT claims_have_up_to_4_kib CHECK (internal.json_fault(claims, 4096) IS NULL),
    CONSTRAINT claims_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(claims) IS NULL),
    CONSTRAINT claims_are_an_object CHECK (jsonb_typeof(claims) = 'object')
);
CREATE SEQUENCE broker.access_approver_id_seq OWNED BY broker.access_approver.id;
ALTER TABLE broker.access_approver ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.access_approver IS
    'Who may decide the requests of a rule: a login, or subjects of an identity provider. A row with both says that the login and the subject are one person.';
COMMENT ON COLUMN broker.access_approver.id IS 'Assigned by the database, never reused.';
COMMENT ON COLUMN broker.access_approver.tenant IS 'The tenant of the rule, filled by a trigger.';
COMMENT ON COLUMN broker.access_approver.rule IS 'The id in broker.access_rule.';
COMMENT ON COLUMN broker.access_approver.role_name IS
    'A login that decides by INSERT INTO broker.access_decision; null: decisions are made with a token only.';
COMMENT ON COLUMN broker.access_approver.idp IS 'The identity provider that the approver''s token comes from, of the same tenant.';
COMMENT ON COLUMN broker.access_approver.issuer IS
    'The issuer of the identity provider when the row was written, filled by a trigger. With the subject, it identifies the person or program, even if the identity provider changes later.';
COMMENT ON COLUMN broker.access_approver.subject IS
    'The sub claim of the approver, or a glob over it (see match). Together with role_name: the same person as that login.';
COMMENT ON COLUMN broker.access_approver.match IS 'exact or glob, as in broker.subject_grant.';
COMMENT ON COLUMN broker.access_approver.claims IS 'Further conditions on the approver''s token, in the form of broker.subject_grant.claims.';
COMMENT ON COLUMN broker.access_approver.step IS
    'The step that the approver decides in, 1 to 5. Each step of a rule needs its approvals, and a person counts in one step only.';
COMMENT ON COLUMN broker.access_approver.program IS
    'True: a program decides, for example a ticket system. It must send a note, and is shown as a program.';
COMMENT ON COLUMN broker.access_approver.max_access IS
    'The longest access that the program may decide, in seconds; null: as long as the rule allows.';
COMMENT ON COLUMN broker.access_approver.approved_by IS
    'The login that approved the row as it is, with broker.approve. Needed while the tenant requires a second admin.';
COMMENT ON COLUMN broker.access_approver.approved_at IS
    'When the row was approved; if approved_by is null, when the tenant began to require a second admin. Set by a trigger.';
CREATE UNIQUE INDEX an_approver_is_listed_once ON broker.access_approver
    (rule, step, role_name, idp, match, hashtextextended(subject, 0), hashtextextended(claims::text, 0)) NULLS NOT DISTINCT;
CREATE INDEX approvers_of_an_identity_provider ON broker.access_approver (tenant, idp) WHERE idp IS NOT NULL;
CREATE INDEX people_by_login ON broker.access_approver (tenant, role_name) WHERE role_name IS NOT NULL AND subject IS NOT NULL;
CREATE INDEX people_by_subject ON broker.access_approver (tenant, issuer, subject) WHERE role_name IS NOT NULL AND subject IS NOT NULL;

CREATE TABLE broker.access_request (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    tenant text COLLATE "C" NOT NULL,
    rule bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    idp text COLLATE "C" NOT NULL,
    issuer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    claims jsonb NOT NULL DEFAULT '{}',
    actor_idp text COLLATE "C",
    actor_issuer text COLLATE "C",
    actor text COLLATE "C",
    reason text NOT NULL,
    access int NOT NULL,
    break_glass boolean NOT NULL,
    end_credentials boolean NOT NULL DEFAULT false,
    approvals int NOT NULL,
    steps int[] NOT NULL DEFAULT '{1}',
    people int NOT NULL DEFAULT 1,
    consent boolean NOT NULL DEFAULT false,
    requested_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    status text NOT NULL DEFAULT 'pending',
    grant_id bigint,
    withdrawn_by text,
    signed_off_by text,
    signed_off_at timestamptz,
    all_tenants_revision bigint NOT NULL DEFAULT 0,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_request_has_an_id_of_its_own PRIMARY KEY (id),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT an_actor_is_named_with_its_issuer
        CHECK (num_nulls(actor_idp, actor_issuer, actor) IN (0, 3)),
    CONSTRAINT a_reason_has_10_to_1000_characters CHECK (length(reason) BETWEEN 10 AND 1000),
    CONSTRAINT access_is_60_to_2592000_seconds CHECK (access BETWEEN 60 AND 2592000),
    CONSTRAINT a_request_needs_0_to_5_approvals CHECK (approvals BETWEEN 0 AND 5),
    CONSTRAINT steps_are_1_to_5 CHECK (cardinality(steps) >= 1 AND cardinality(steps) <= 5 AND steps <@ '{1,2,3,4,5}'),
    CONSTRAINT consent_is_asked_for_an_actor CHECK (NOT consent OR actor IS NOT NULL),
    CONSTRAINT a_request_is_in_a_known_status
        CHECK (status IN ('pending', 'granted', 'refused', 'lapsed', 'withdrawn', 'void')),
    CONSTRAINT only_a_break_glass_is_signed_off
        CHECK (num_nulls(signed_off_by, signed_off_at) IN (0, 2) AND (signed_off_by IS NULL OR break_glass)),
    CONSTRAINT a_granted_request_has_its_grant CHECK (status <> 'granted' OR grant_id IS NOT NULL)
);
ALTER TABLE broker.access_request ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.access_request IS
    'Requests for access, written by the broker alone. They stay when the rule, the key or the grant is deleted.';
COMMENT ON COLUMN broker.access_request.id IS 'Identifies the request everywhere, for example as request_id of its grant.';
COMMENT ON COLUMN broker.access_request.tenant IS 'The tenant.';
COMMENT ON COLUMN broker.access_request.rule IS 'The id in broker.access_rule of the rule that allowed the request.';
COMMENT ON COLUMN broker.access_request.key IS 'The key.';
COMMENT ON COLUMN broker.access_request.idp IS 'The identity provider of the requester.';
COMMENT ON COLUMN broker.access_request.issuer IS
    'The issuer of the identity provider when the request was made. Issuer and subject identify a person, whichever identity provider accepted the token.';
COMMENT ON COLUMN broker.access_request.subject IS 'The requester.';
COMMENT ON COLUMN broker.access_request.claims IS
    'The values of the requester''s claims that met the rule. The grant requires them again.';
COMMENT ON COLUMN broker.access_request.actor_idp IS 'The identity provider of the actor; null: the requester asked alone.';
COMMENT ON COLUMN broker.access_request.actor_issuer IS 'The issuer of the actor''s identity provider when the request was made.';
COMMENT ON COLUMN broker.access_request.actor IS 'Who acted for the requester. The grant is for both together.';
COMMENT ON COLUMN broker.access_request.reason IS 'Why access is needed, in the requester''s words, without control characters.';
COMMENT ON COLUMN broker.access_request.access IS 'How long the access lasts, in seconds from the last approval.';
COMMENT ON COLUMN broker.access_request.break_glass IS 'Whether the access was granted at once, by break glass.';
COMMENT ON COLUMN broker.access_request.end_credentials IS
    'Whether an early end of the access also ends its credentials, as the rule said when the request was made.';
COMMENT ON COLUMN broker.access_request.approvals IS 'How many approvals the request needs in each step, as the rule said when the request was made.';
COMMENT ON COLUMN broker.access_request.steps IS 'The steps of the request, which were those of the rule''s approvers when the request was made.';
COMMENT ON COLUMN broker.access_request.people IS 'How many of the approvals must come from people, as the rule said when the request was made.';
COMMENT ON COLUMN broker.access_request.consent IS 'Whether the subject alone decides, as the rule said when the request was made.';
COMMENT ON COLUMN broker.access_request.requested_at IS 'When the request was made.';
COMMENT ON COLUMN broker.access_request.expires_at IS 'When the request lapses unless it is decided; for a break glass, when the access ends.';
COMMENT ON COLUMN broker.access_request.status IS
    'pending; granted; refused by an approver; lapsed: not decided in time; withdrawn by the requester, or by an approver after it was granted, which also ends the access; void: its rule, key or access provider was changed or disabled.';
COMMENT ON COLUMN broker.access_request.grant_id IS 'The grant in broker.subject_grant; null: none was made.';
COMMENT ON COLUMN broker.access_request.withdrawn_by IS
    'The approver who withdrew granted access; null: no approver did.';
COMMENT ON COLUMN broker.access_request.signed_off_by IS
    'The login that signed off the break glass by INSERT INTO broker.grant_review; null: not signed off.';
COMMENT ON COLUMN broker.access_request.signed_off_at IS 'When the break glass was signed off.';
COMMENT ON COLUMN broker.access_request.all_tenants_revision IS
    'The revision of the tables without tenant when the claims of the token were compared with the blocks in all tenants.';
CREATE INDEX pending_requests ON broker.access_request (tenant, rule) WHERE status = 'pending';
CREATE INDEX granted_requests ON broker.access_request (tenant, rule, requested_at) WHERE status = 'granted';
CREATE INDEX pending_requests_by_their_end ON broker.access_request (expires_at) WHERE status = 'pending';
-- By its hash: a long subject does not fit a B-tree.
CREATE INDEX requests_of_a_person ON broker.access_request (tenant, hashtextextended(issuer || ' ' || subject, 0), requested_at);
CREATE INDEX requests_of_an_actor ON broker.access_request (tenant, hashtextextended(actor_issuer || ' ' || actor, 0), requested_at)
 WHERE actor IS NOT NULL;
-- For the console, which knows a name without its issuer.
CREATE INDEX requests_of_a_subject ON broker.access_request (hashtextextended(subject, 0), tenant, requested_at);
CREATE INDEX requests_by_an_actor ON broker.access_request (hashtextextended(actor, 0), tenant, requested_at) WHERE actor IS NOT NULL;
CREATE INDEX open_requests_of_a_person ON broker.access_request (tenant, hashtextextended(issuer || ' ' || subject, 0))
 WHERE status = 'pending' OR break_glass AND signed_off_by IS NULL;
CREATE INDEX break_glasses_without_sign_off ON broker.access_request (tenant, rule, requested_at) WHERE break_glass AND signed_off_by IS NULL;
CREATE INDEX break_glasses_by_time ON broker.access_request (tenant, requested_at) WHERE break_glass;
CREATE INDEX requests_by_time ON broker.access_request (tenant, requested_at);

CREATE TABLE broker.access_decision (
    id bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    request uuid NOT NULL,
    verdict text NOT NULL,
    note text,
    decided_by text,
    idp text COLLATE "C",
    issuer text COLLATE "C",
    subject text COLLATE "C",
    steps int[] NOT NULL DEFAULT '{1}',
    approvers bigint[] NOT NULL DEFAULT '{}',
    program boolean NOT NULL DEFAULT false,
    token_age int,
    revisions jsonb,
    all_tenants_revision bigint NOT NULL DEFAULT 0,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_decision_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_request_exists FOREIGN KEY (request) REFERENCES broker.access_request (id)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_verdict_is_approve_refuse_or_withdraw CHECK (verdict IN ('approve', 'refuse', 'withdraw')),
    CONSTRAINT a_note_has_up_to_1000_characters CHECK (length(note) <= 1000),
    CONSTRAINT a_decision_is_of_a_login_or_of_a_subject
        CHECK (num_nulls(idp, issuer, subject) = CASE WHEN decided_by IS NULL THEN 0 ELSE 3 END)
);
CREATE SEQUENCE broker.access_decision_id_seq OWNED BY broker.access_decision.id;
ALTER TABLE broker.access_decision ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.access_decision IS
    'Decisions on requests, append-only: one row for each person, and another one if the person withdraws access. Insert request, verdict, note and revisions; decisions with a token are written by the broker.';
COMMENT ON COLUMN broker.access_decision.id IS 'Assigned by the database, never reused.';
COMMENT ON COLUMN broker.access_decision.tenant IS 'The tenant of the request, filled by a trigger.';
COMMENT ON COLUMN broker.access_decision.request IS 'The id in broker.access_request.';
COMMENT ON COLUMN broker.access_decision.verdict IS
    'approve; refuse, which ends the request; or withdraw, which ends access that was granted.';
COMMENT ON COLUMN broker.access_decision.note IS 'What the approver wants to say; optional.';
COMMENT ON COLUMN broker.access_decision.decided_by IS 'The login that decided, filled by a trigger; null: the decision was made with a token.';
COMMENT ON COLUMN broker.access_decision.idp IS 'The identity provider of the approver''s token; null: a login decided.';
COMMENT ON COLUMN broker.access_decision.issuer IS 'The issuer of that identity provider when the decision was made.';
COMMENT ON COLUMN broker.access_decision.subject IS 'The approver.';
COMMENT ON COLUMN broker.access_decision.steps IS 'The steps in which the approver could decide then, filled by a trigger. The decision counts in one of them.';
COMMENT ON COLUMN broker.access_decision.approvers IS
    'The ids of the rows of broker.access_approver by which the approver could decide then, filled by a trigger; empty for consent.';
COMMENT ON COLUMN broker.access_decision.program IS 'Whether the approver was a program then, filled by a trigger.';
COMMENT ON COLUMN broker.access_decision.token_age IS
    'The age of the token with which the subject consented, in seconds; null: the rule of the request is not a rule of consent.';
COMMENT ON COLUMN broker.access_decision.revisions IS
    'The revisions of the rule, key and access provider that are decided on, {"rule": 17, "key": 4, "accessProvider": 2}. An approval with other revisions than the present ones is rejected. Filled by a trigger if absent.';
COMMENT ON COLUMN broker.access_decision.all_tenants_revision IS
    'The revision of the tables without tenant when the claims of the token were compared with the blocks in all tenants; 0 for a login, which has no claims.';
-- A person may approve access and withdraw it later.
CREATE UNIQUE INDEX a_login_decides_once ON broker.access_decision (request, decided_by, (verdict = 'withdraw')) WHERE decided_by IS NOT NULL;
-- A hash index finds the row and compares the text: the names are too long for a unique index, and anyone can choose a subject
-- that has the 64-bit hash of another.
ALTER TABLE broker.access_decision ADD CONSTRAINT a_subject_decides_once
    EXCLUDE USING hash ((request::text || (verdict = 'withdraw')::text || issuer || ' ' || subject) WITH =) WHERE (subject IS NOT NULL);
-- The others have only the decisions of logins, or only those of tokens.
CREATE INDEX decisions_of_a_request ON broker.access_decision (request);

CREATE TABLE work.joined_subject (
    tenant text COLLATE "C" NOT NULL,
    role_name text COLLATE "C" NOT NULL,
    issuer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    CONSTRAINT a_subject_is_joined_with_a_login_once PRIMARY KEY (tenant, role_name, issuer, subject)
);
COMMENT ON TABLE work.joined_subject IS
    'Logins and subjects that are one person, because a row of broker.access_approver in force said so at any time. Derived from audit.config_change by a trigger.';
COMMENT ON COLUMN work.joined_subject.tenant IS 'The tenant of the row.';
COMMENT ON COLUMN work.joined_subject.role_name IS 'The login.';
COMMENT ON COLUMN work.joined_subject.issuer IS 'The issuer of the subject.';
COMMENT ON COLUMN work.joined_subject.subject IS 'The subject.';
ALTER TABLE work.joined_subject ENABLE ROW LEVEL SECURITY;
CREATE INDEX logins_of_a_subject ON work.joined_subject (tenant, issuer, subject);

CREATE TABLE work.named_issuer (
    tenant text COLLATE "C" NOT NULL,
    idp text COLLATE "C" NOT NULL,
    issuer text COLLATE "C" NOT NULL,
    CONSTRAINT an_issuer_is_named_once PRIMARY KEY (tenant, idp, issuer)
);
COMMENT ON TABLE work.named_issuer IS
    'The issuers that an identity provider had at any time under its name, and the issuers before and after a change of the name. Derived from audit.config_change by a trigger.';
COMMENT ON COLUMN work.named_issuer.tenant IS 'The tenant of the identity provider.';
COMMENT ON COLUMN work.named_issuer.idp IS 'The name of the identity provider.';
COMMENT ON COLUMN work.named_issuer.issuer IS 'The issuer.';
ALTER TABLE work.named_issuer ENABLE ROW LEVEL SECURITY;
CREATE INDEX names_of_an_issuer ON work.named_issuer (tenant, issuer);

CREATE TABLE work.early_access_end (
    request uuid NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    ended_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    next_try timestamptz NOT NULL DEFAULT clock_timestamp(),
    after_mint uuid,
    CONSTRAINT access_ends_early_once PRIMARY KEY (request)
);
COMMENT ON TABLE work.early_access_end IS
    'Requests whose access ended early and whose credentials must end with it. For two minutes, a replica also looks for mints that were in flight at that time. The row stays until no credential is left that the broker can end.';
COMMENT ON COLUMN work.early_access_end.request IS 'The request in broker.access_request.';
COMMENT ON COLUMN work.early_access_end.tenant IS 'The tenant of the request.';
COMMENT ON COLUMN work.early_access_end.ended_at IS 'When its access ended.';
COMMENT ON COLUMN work.early_access_end.next_try IS 'When a replica looks next.';
COMMENT ON COLUMN work.early_access_end.after_mint IS 'The mint after which a replica looks next; null: it looks at all whose credentials may last.';
CREATE INDEX early_access_ends_by_time ON work.early_access_end (next_try) INCLUDE (tenant);
CREATE INDEX early_access_ends_of_a_tenant ON work.early_access_end (tenant, next_try);

CREATE TABLE work.access_notice (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    number bigint GENERATED ALWAYS AS IDENTITY,
    tenant text COLLATE "C" NOT NULL,
    type text NOT NULL,
    request uuid NOT NULL,
    data jsonb,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    due timestamptz NOT NULL DEFAULT clock_timestamp(),
    wanted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    access_lasts boolean NOT NULL DEFAULT false,
    tries int NOT NULL DEFAULT 0,
    last_failure text,
    claimed_by text,
    claimed_until timestamptz,
    CONSTRAINT a_notice_has_an_id_of_its_own PRIMARY KEY (id),
    CONSTRAINT a_notice_is_of_a_known_type
        CHECK (type ~ '^io[.]mintmark[.]access[.](requested|decided|granted|ended|break_glass)$'),
    CONSTRAINT a_notice_to_be_sent_has_data CHECK (data IS NOT NULL OR type = 'io.mintmark.access.ended'),
    CONSTRAINT a_notice_is_claimed_for_a_time CHECK ((claimed_by IS NULL) = (claimed_until IS NULL))
);
COMMENT ON TABLE work.access_notice IS
    'Notices of access requests that are still to be sent, of tenants with a notice_url. Written in the transaction that they report.';
COMMENT ON COLUMN work.access_notice.id IS
    'The id of the CloudEvent. Random, so that a restored database never reuses an id that a receiver has seen.';
COMMENT ON COLUMN work.access_notice.number IS 'The order of notices that became due at the same time.';
COMMENT ON COLUMN work.access_notice.tenant IS 'The tenant, whose notice_url receives the notice.';
COMMENT ON COLUMN work.access_notice.type IS 'The type of the CloudEvent.';
COMMENT ON COLUMN work.access_notice.request IS 'The request in broker.access_request.';
COMMENT ON COLUMN work.access_notice.data IS
    'The data of the CloudEvent. Null for the end of access until the notice is first sent, which is after the end.';
COMMENT ON COLUMN work.access_notice.created_at IS 'When the row was written.';
COMMENT ON COLUMN work.access_notice.due IS 'When the notice is sent, or tried next. The notice of an end is written together with the grant.';
COMMENT ON COLUMN work.access_notice.wanted_at IS
    'When the notice was first due, which is the time of its event. It is dropped three days later.';
COMMENT ON COLUMN work.access_notice.access_lasts IS 'True: the notice of an end that is still to come.';
COMMENT ON COLUMN work.access_notice.tries IS
    'The number of failed attempts. After the eighth, later notices of the tenant no longer wait for this one.';
COMMENT ON COLUMN work.access_notice.last_failure IS 'Why the last try failed.';
COMMENT ON COLUMN work.access_notice.claimed_by IS 'The replica that tries it.';
COMMENT ON COLUMN work.access_notice.claimed_until IS 'The end of the claim. Afterwards another replica may try, because this one has probably stopped.';
CREATE INDEX notices_of_a_tenant ON work.access_notice (tenant, wanted_at, number) WHERE NOT access_lasts;
CREATE INDEX notices_in_order ON work.access_notice (tenant, wanted_at, number) WHERE NOT access_lasts AND tries < 8;
CREATE INDEX notices_that_failed_often ON work.access_notice (tenant, due) WHERE NOT access_lasts AND tries >= 8;
CREATE INDEX notices_by_time ON work.access_notice (due) WHERE NOT access_lasts;
CREATE INDEX claimed_notices ON work.access_notice (tenant, claimed_until) WHERE claimed_until IS NOT NULL;
CREATE INDEX ends_to_come ON work.access_notice (due) WHERE access_lasts;
CREATE INDEX notices_of_a_request ON work.access_notice (request);
