-- What was minted, refused and why: one row for each step of each mint, chained and sealed.

CREATE TABLE log.event (
    mint_id uuid NOT NULL,
    step bigint NOT NULL,
    kind text NOT NULL,
    occurred_at timestamptz NOT NULL,
    request_id text COLLATE "C",
    tenant text COLLATE "C",
    idp text COLLATE "C",
    issuer text COLLATE "C",
    subject text COLLATE "C",
    key text COLLATE "C",
    provider text COLLATE "C",
    provider_type text COLLATE "C",
    grant_id bigint,
    grant_revision bigint,
    shared_revision bigint,
    config_hash bytea,
    reason text,
    detail text,
    credential_id text COLLATE "C",
    issued_at timestamptz,
    expires_at timestamptz,
    token_id text COLLATE "C",
    token_hash bytea,
    claims jsonb,
    actor_idp text COLLATE "C",
    actor_issuer text COLLATE "C",
    actor text COLLATE "C",
    actor_claims jsonb,
    actor_token_id text COLLATE "C",
    actor_token_hash bytea,
    client_address inet,
    user_agent text,
    broker text NOT NULL,
    chain text COLLATE "C",
    seq bigint,
    prev_hash bytea,
    hash bytea,
    CONSTRAINT event_holds_each_step_of_a_mint_once PRIMARY KEY (mint_id, step),
    CONSTRAINT a_mint_id_is_a_uuid_of_version_7 CHECK (substr(mint_id::text, 15, 1) = '7'),
    CONSTRAINT requested_is_step_1_the_outcome_step_2_and_ended_step_3
        CHECK (step = CASE WHEN kind = 'requested' THEN 1
                           WHEN kind IN ('issued', 'failed', 'withheld', 'denied', 'rejected') THEN 2
                           WHEN kind = 'ended' THEN 3
                           ELSE 0 END),
    CONSTRAINT all_but_rejected_and_ended_tell_who_asked_for_what
        CHECK (kind IN ('rejected', 'ended')
               OR request_id IS NOT NULL AND tenant IS NOT NULL AND idp IS NOT NULL
              AND issuer IS NOT NULL AND subject IS NOT NULL AND key IS NOT NULL),
    CONSTRAINT all_but_refusals_and_ends_tell_their_provider_and_grant
        CHECK (kind IN ('denied', 'rejected', 'ended')
               OR provider IS NOT NULL AND provider_type IS NOT NULL
              AND grant_id IS NOT NULL AND grant_revision IS NOT NULL),
    CONSTRAINT a_request_names_the_shared_state_and_its_configuration
        CHECK ((shared_revision IS NULL) = (config_hash IS NULL) AND (kind = 'requested' OR shared_revision IS NULL)),
    CONSTRAINT a_config_hash_has_32_bytes CHECK (octet_length(config_hash) = 32),
    CONSTRAINT a_request_tells_its_token_and_how_long_a_credential_could_live
        CHECK (kind <> 'requested' OR token_hash IS NOT NULL AND expires_at IS NOT NULL),
    CONSTRAINT a_credential_has_a_public_id_a_start_and_an_end
        CHECK (kind NOT IN ('issued', 'withheld')
               OR credential_id IS NOT NULL AND issued_at IS NOT NULL AND expires_at IS NOT NULL),
    CONSTRAINT what_is_requested_denied_or_rejected_has_no_credential
        CHECK (kind NOT IN ('requested', 'denied', 'rejected') OR credential_id IS NULL AND issued_at IS NULL),
    CONSTRAINT what_goes_wrong_or_ends_has_a_reason
        CHECK ((reason IS NOT NULL) = (kind IN ('failed', 'withheld', 'denied', 'rejected', 'ended'))),
    CONSTRAINT an_end_tells_how_and_of_what_and_repeats_nothing_else
        CHECK (kind <> 'ended'
               OR reason IN ('over', 'asked_for', 'undone', 'swept', 'disarmed')
              AND tenant IS NOT NULL AND key IS NOT NULL AND provider IS NOT NULL AND provider_type IS NOT NULL
              AND num_nonnulls(request_id, idp, issuer, subject, grant_id, grant_revision, issued_at, expires_at,
                               token_id, token_hash, claims, actor_idp, actor_issuer, actor, actor_claims, actor_token_id,
                               actor_token_hash, client_address, user_agent) = 0),
    CONSTRAINT a_rejected_token_has_an_issuer_but_no_subject
        CHECK (kind <> 'rejected'
               OR subject IS NULL AND actor IS NULL AND actor_claims IS NULL AND key IS NULL AND provider IS NULL AND provider_type IS NULL
              AND grant_id IS NULL AND grant_revision IS NULL AND expires_at IS NULL
              AND (reason = 'overflow' OR issuer IS NOT NULL AND request_id IS NOT NULL)),
    CONSTRAINT an_overflow_is_a_number_and_nothing_else
        CHECK (kind <> 'rejected' OR reason <> 'overflow'
               OR detail IS NOT NULL AND detail ~ '^[0-9]+$'
              AND num_nonnulls(request_id, tenant, idp, issuer, token_id, token_hash, claims, actor_idp, actor_issuer,
                               actor_token_id, actor_token_hash, client_address, user_agent) = 0),
    CONSTRAINT an_actor_has_an_issuer_and_an_identity_provider
        CHECK (kind = 'rejected' OR num_nonnulls(actor, actor_idp, actor_issuer) IN (0, 3)),
    CONSTRAINT only_an_actor_has_claims_and_a_token
        CHECK (actor_issuer IS NOT NULL OR num_nonnulls(actor_claims, actor_token_id, actor_token_hash) = 0),
    CONSTRAINT actor_claims_are_an_object CHECK (jsonb_typeof(actor_claims) = 'object'),
    CONSTRAINT claims_are_an_object CHECK (jsonb_typeof(claims) = 'object'),
    CONSTRAINT a_hash_has_32_bytes
        CHECK (octet_length(token_hash) = 32 AND octet_length(actor_token_hash) = 32 AND octet_length(hash) = 32 AND octet_length(prev_hash) = 32),
    CONSTRAINT chain_and_seq_go_together CHECK ((chain IS NULL) = (seq IS NULL)),
    -- what every program can read as a time
    CONSTRAINT times_are_within_the_years_1_to_9999
        CHECK (occurred_at >= '0001-01-01Z' AND occurred_at < '10000-01-01Z'
               AND issued_at >= '0001-01-01Z' AND issued_at < '10000-01-01Z'
               AND expires_at >= '0001-01-01Z' AND expires_at < '10000-01-01Z')
) PARTITION BY RANGE (mint_id);
ALTER TABLE log.event ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE log.event IS
    'One row for each step of each mint, committed before the step takes effect. Append-only, in monthly partitions event_YYYY_MM.';
COMMENT ON COLUMN log.event.mint_id IS
    'The mint (UUIDv7, ordered by time): one for each key of a request. Credentials show it to the provider where they can.';
COMMENT ON COLUMN log.event.step IS '1: requested. 2: the one outcome. 3: ended.';
COMMENT ON COLUMN log.event.kind IS
    'requested (before the provider is called), then issued (before the response is sent), failed or withheld (obtained, not handed out); or denied (no grant, no key); or rejected (token not accepted). A mint can later be ended: the credential no longer works, and nothing is left at its provider, except what detail names.';
COMMENT ON COLUMN log.event.occurred_at IS 'When the step happened, by the broker''s clock.';
COMMENT ON COLUMN log.event.request_id IS 'The X-Request-ID of the response; rows of one request share it.';
COMMENT ON COLUMN log.event.tenant IS 'The tenant whose identity provider has the token''s issuer and audience; null if there is none.';
COMMENT ON COLUMN log.event.idp IS 'The identity provider of the token.';
COMMENT ON COLUMN log.event.issuer IS 'The iss claim.';
COMMENT ON COLUMN log.event.subject IS 'The sub claim; null for rejected, because an unverified claim proves nothing.';
COMMENT ON COLUMN log.event.key IS 'The key that the client requested; for denied, this key may not exist.';
COMMENT ON COLUMN log.event.provider IS 'The access provider of the key.';
COMMENT ON COLUMN log.event.provider_type IS 'The type of the access provider.';
COMMENT ON COLUMN log.event.grant_id IS 'The grant that allowed it: broker.subject_grant.id.';
COMMENT ON COLUMN log.event.grant_revision IS
    'The revision of the tenant that the decision was made on: audit.config_change shows what the grant was then.';
COMMENT ON COLUMN log.event.shared_revision IS
    'For requested: the revision of the tables without tenant that the decision was made on. Null in chains of form 1.';
COMMENT ON COLUMN log.event.config_hash IS
    'For requested: SHA-256 of the configuration that the decision used: tenant, identity provider, access provider, key and grant (docs/audit.md). Null in chains of form 1.';
COMMENT ON COLUMN log.event.reason IS
    'Why the mint failed, or was withheld, denied or rejected, as a stable reason code. For ended, how: over (its time was over), asked_for (an admin asked), undone (it was never handed out), swept (the provider still listed it, so the broker removed it), disarmed (it does not work, but something is left).';
COMMENT ON COLUMN log.event.detail IS
    'The reason for people, with the provider''s message. For overflow: the number of rejected tokens. For disarmed: what is left.';
COMMENT ON COLUMN log.event.credential_id IS
    'What identifies the credential without being secret: the AWS access key id, or the SHA-256 of an opaque token.';
COMMENT ON COLUMN log.event.issued_at IS 'When the credential was received from the provider.';
COMMENT ON COLUMN log.event.expires_at IS
    'When the credential ends; for requested, the latest time at which its credential could end.';
COMMENT ON COLUMN log.event.token_id IS 'The jti claim of the token.';
COMMENT ON COLUMN log.event.token_hash IS 'SHA-256 of the token as it was presented.';
COMMENT ON COLUMN log.event.claims IS 'The claims of the token that grants have conditions on.';
COMMENT ON COLUMN log.event.actor_idp IS
    'The identity provider of the actor, who acts for the subject; null without an actor.';
COMMENT ON COLUMN log.event.actor_issuer IS 'The iss claim of the actor''s token; for an act claim, that of the subject''s token.';
COMMENT ON COLUMN log.event.actor IS
    'The actor: the sub claim of its token, or of the act claim in the subject''s token; null for rejected.';
COMMENT ON COLUMN log.event.actor_claims IS 'The claims of the actor that grants have conditions on.';
COMMENT ON COLUMN log.event.actor_token_id IS 'The jti claim of the actor''s token; null if the actor comes from an act claim.';
COMMENT ON COLUMN log.event.actor_token_hash IS
    'SHA-256 of the actor''s token as it was presented; null if the actor comes from an act claim.';
COMMENT ON COLUMN log.event.client_address IS 'The client''s address, as rate limits see it.';
COMMENT ON COLUMN log.event.user_agent IS 'The client''s User-Agent, truncated.';
COMMENT ON COLUMN log.event.broker IS 'The replica that wrote the row.';
COMMENT ON COLUMN log.event.chain IS 'The hash chain: each run of a replica begins one chain for mints and one for rejected tokens, and another one if it can''t know how the last one ended. Begins with the number of the canonical form.';
COMMENT ON COLUMN log.event.seq IS 'The position in the chain, from 1, without gaps.';
COMMENT ON COLUMN log.event.prev_hash IS 'The hash of the previous row in the chain; 32 zero bytes for the first row.';
COMMENT ON COLUMN log.event.hash IS 'SHA-256 over prev_hash and this row in its canonical form.';

-- Few, since every mint pays for them. mint_id is ordered by time, so they also answer "the latest of …";
-- audit.first_mint_id() turns a time into a bound. A subject is found by its hash, since a long one does not fit a B-tree:
-- hashtextextended(subject, 0) = hashtextextended('repo:acme/app:main', 0).
CREATE INDEX events_of_a_tenant_by_time ON log.event (tenant, mint_id);
CREATE INDEX events_of_a_subject_by_time ON log.event (hashtextextended(subject, 0), mint_id) WHERE subject IS NOT NULL;
CREATE INDEX events_of_a_key_by_time ON log.event (key, mint_id) WHERE key IS NOT NULL;
CREATE INDEX events_of_a_grant_by_time ON log.event (grant_id, mint_id) WHERE step = 1;
CREATE INDEX events_of_a_credential ON log.event (credential_id, tenant, mint_id) WHERE credential_id IS NOT NULL;
CREATE INDEX events_of_a_chain ON log.event (chain, seq);
CREATE INDEX events_of_a_request ON log.event (request_id, tenant, mint_id) WHERE request_id IS NOT NULL;
CREATE INDEX credentials_by_expiry ON log.event (expires_at) WHERE kind IN ('issued', 'withheld');
-- Failures after which the provider may have made a credential all the same. Few.
CREATE INDEX failures_in_doubt ON log.event (mint_id)
 WHERE kind = 'failed' AND reason IN ('provider_timeout', 'provider_unreachable');
-- Only refusals pay for these.
CREATE INDEX refusals_by_time ON log.event (mint_id) WHERE kind IN ('denied', 'rejected');
CREATE INDEX refusals_of_a_subject_by_time ON log.event (hashtextextended(subject, 0), mint_id)
 WHERE kind IN ('denied', 'rejected') AND subject IS NOT NULL;
-- A mint is found by the row that begins it, and its outcome's pays nothing.
CREATE INDEX mints_of_a_subject_by_tenant ON log.event (hashtextextended(subject, 0), tenant, mint_id)
 WHERE subject IS NOT NULL AND (step = 1 OR kind = 'denied');
CREATE INDEX mints_of_a_key_by_tenant ON log.event (key, tenant, mint_id)
 WHERE key IS NOT NULL AND (step = 1 OR kind = 'denied');
-- Only refusals pay for it.
CREATE INDEX refusals_by_tenant ON log.event (tenant, mint_id) WHERE kind IN ('denied', 'rejected');
-- Only failures pay for these.
CREATE INDEX failures_by_time ON log.event (mint_id) WHERE kind = 'failed';
CREATE INDEX failures_by_tenant ON log.event (tenant, mint_id) WHERE kind = 'failed';
CREATE INDEX credentials_by_tenant ON log.event (tenant, expires_at) WHERE kind IN ('issued', 'withheld');
-- Only mints with an actor pay for these.
CREATE INDEX events_of_an_actor_by_time ON log.event (hashtextextended(actor, 0), mint_id) WHERE actor IS NOT NULL;
CREATE INDEX mints_of_an_actor_by_tenant ON log.event (hashtextextended(actor, 0), tenant, mint_id)
 WHERE actor IS NOT NULL AND (step = 1 OR kind = 'denied');

-- Only ends pay for these. An end may come long after its mint, so mint_id does not bound its time.
CREATE INDEX ends_by_time ON log.event (occurred_at) WHERE kind = 'ended';
CREATE INDEX ends_of_mints ON log.event (mint_id) WHERE step = 3;

-- To find mints without outcome among all rows takes longer the longer the log is, so they are kept as a list. The list
-- is only a way to find them quickly: audit.unresolved looks at the rows again, and `mintmark audit verify` compares them.
CREATE TABLE log.open_mint (
    mint_id uuid NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    CONSTRAINT a_mint_is_open_once PRIMARY KEY (mint_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
ALTER TABLE log.open_mint ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE log.open_mint IS
    'The mints that have no outcome yet, kept by a trigger. Proves nothing; read audit.unresolved instead.';
COMMENT ON COLUMN log.open_mint.mint_id IS 'The mint.';
COMMENT ON COLUMN log.open_mint.tenant IS 'Its tenant.';

CREATE INDEX open_mints_by_tenant ON log.open_mint (tenant, mint_id);

-- What the chains of events and changes had come to, signed with a key that is not in the database.
CREATE TABLE log.checkpoint (
    number bigint NOT NULL,
    sealed_at timestamptz NOT NULL,
    jws text COLLATE "C" NOT NULL,
    announced_by text COLLATE "C",
    note text COLLATE "C",
    inserted_by text COLLATE "C" NOT NULL DEFAULT session_user,
    inserted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT checkpoints_are_numbered_once PRIMARY KEY (number),
    CONSTRAINT checkpoints_count_from_one CHECK (number >= 1)
);
ALTER TABLE log.checkpoint ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE log.checkpoint IS
    'Signed checkpoints: each lists the last hashes of chains, and contains the hash of the checkpoint before it. Append-only. The service also prints each checkpoint, so that a copy can be kept elsewhere.';
COMMENT ON COLUMN log.checkpoint.number IS 'Counts from 1, without gaps.';
COMMENT ON COLUMN log.checkpoint.sealed_at IS 'When the checkpoint was sealed, by the database''s clock. The signed time is in jws.';
COMMENT ON COLUMN log.checkpoint.jws IS
    'A compact JWS (ES256): the chains that grew since the previous checkpoint, and where they end. docs/reference/audit-log-format.md describes it.';
COMMENT ON COLUMN log.checkpoint.announced_by IS
    'For the first checkpoint of a new audit key: the same payload, signed by the previous key. Otherwise null.';
COMMENT ON COLUMN log.checkpoint.note IS
    'Signed note (C2SP tlog-checkpoint): size and root of the tree whose leaves are the SHA-256 of each jws up to this one. Null: the broker had no key for notes.';
COMMENT ON COLUMN log.checkpoint.inserted_by IS
    'The login that wrote the row, so that a checkpoint that no broker made can be traced. Not signed: it proves nothing.';
COMMENT ON COLUMN log.checkpoint.inserted_at IS 'When the row was written. Not signed: it proves nothing.';

-- What witnesses outside signed about the trees of checkpoints.
CREATE TABLE log.cosignature (
    tree bigint NOT NULL,
    size bigint NOT NULL,
    witness text COLLATE "C" NOT NULL,
    line text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT a_witness_cosigns_a_tree_of_one_size_once PRIMARY KEY (tree, size, witness),
    CONSTRAINT cosignatures_are_numbered_once UNIQUE (number),
    CONSTRAINT a_cosignature_is_of_a_tree_with_leaves CHECK (tree >= 1 AND size >= 1),
    CONSTRAINT a_witness_is_named_by_its_key CHECK (witness ~ '^[^[:space:]+]{1,255}$'),
    CONSTRAINT a_cosignature_is_a_line_of_a_note
        CHECK (starts_with(line, chr(8212) || ' ' || witness || ' ')
               AND substr(line, length(witness) + 4) ~ '^[A-Za-z0-9+/]{8,200}={0,2}$')
);
ALTER TABLE log.cosignature ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE log.cosignature IS
    'Signatures of witnesses on the notes of checkpoints. Append-only. The log is valid without them; only audit verify --policy requires them.';
COMMENT ON COLUMN log.cosignature.tree IS 'The number of the tree, which the note''s origin ends with.';
COMMENT ON COLUMN log.cosignature.size IS 'The size of the tree, as in the note.';
COMMENT ON COLUMN log.cosignature.witness IS 'The name of the witness''s key.';
COMMENT ON COLUMN log.cosignature.line IS
    'The witness''s signature line of the note, without the line feed (C2SP tlog-cosignature). It also contains the time of the cosignature.';
COMMENT ON COLUMN log.cosignature.number IS 'The number of the cosignature, from 1, in the order of arrival, so that an export continues where it ended.';
COMMENT ON COLUMN log.cosignature.received_at IS 'When the cosignature arrived, by the database''s clock. Not signed: it proves nothing.';

CREATE TABLE work.sealing (
    only_one boolean NOT NULL DEFAULT true,
    sealed_by text,
    tree_number int NOT NULL DEFAULT 1,
    tree_size bigint NOT NULL DEFAULT 0,
    tree_edge bytea NOT NULL DEFAULT '',
    tree_checkpoint bigint NOT NULL DEFAULT 0,
    witnesses_asked_at timestamptz,
    witnessed_at timestamptz,
    CONSTRAINT one_replica_seals_at_a_time PRIMARY KEY (only_one),
    CONSTRAINT there_is_one_row CHECK (only_one)
);
COMMENT ON TABLE work.sealing IS 'One row, which a replica locks while it seals.';
COMMENT ON COLUMN work.sealing.only_one IS 'True.';
COMMENT ON COLUMN work.sealing.sealed_by IS 'The replica that sealed last.';
COMMENT ON COLUMN work.sealing.tree_number IS 'The number of the tree over the checkpoints: 1 more than there are declarations.';
COMMENT ON COLUMN work.sealing.tree_size IS 'How many checkpoints the tree has.';
COMMENT ON COLUMN work.sealing.tree_edge IS
    'The hashes of its complete subtrees, the rightmost first, 32 bytes each. Proves nothing; the checkpoints do.';
COMMENT ON COLUMN work.sealing.tree_checkpoint IS 'The number of its last checkpoint; 0 without any.';
COMMENT ON COLUMN work.sealing.witnesses_asked_at IS 'When a replica last asked the witnesses to cosign; null before.';
COMMENT ON COLUMN work.sealing.witnessed_at IS
    'When the newest checkpoint was sealed that a quorum of witnesses cosigned; null before. Proves nothing; their signatures do.';

INSERT INTO work.sealing DEFAULT VALUES;

-- From where the next proof for a witness begins, so that it needs only the leaves since then.
CREATE TABLE work.witness (
    witness text COLLATE "C" NOT NULL,
    tree bigint NOT NULL,
    size bigint NOT NULL,
    edge bytea NOT NULL,
    CONSTRAINT a_witness_has_one_row PRIMARY KEY (witness)
);
COMMENT ON TABLE work.witness IS 'The last tree that each witness cosigned. Proves nothing; its signatures in audit.cosignature do.';
COMMENT ON COLUMN work.witness.witness IS 'The name of the witness''s key.';
COMMENT ON COLUMN work.witness.tree IS 'The number of the tree.';
COMMENT ON COLUMN work.witness.size IS 'The size of the tree.';
COMMENT ON COLUMN work.witness.edge IS 'The hashes of its complete subtrees, the rightmost first, 32 bytes each.';

CREATE TABLE work.sealed_chain (
    kind text COLLATE "C" NOT NULL,
    chain text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    CONSTRAINT a_chain_is_sealed_up_to_one_position PRIMARY KEY (kind, chain),
    CONSTRAINT chains_are_of_events_or_of_changes CHECK (kind IN ('event', 'change'))
);
COMMENT ON TABLE work.sealed_chain IS
    'How far each chain is sealed, so that a checkpoint lists only the chains that grew. Proves nothing; the checkpoints do.';
COMMENT ON COLUMN work.sealed_chain.kind IS 'event or change.';
COMMENT ON COLUMN work.sealed_chain.chain IS
    'event.chain; or the tenant of the changes, empty for the tables without tenant.';
COMMENT ON COLUMN work.sealed_chain.position IS 'event.seq, or config_change.revision.';

-- Rows that a promotion or a restore lost: what keeps replicas from minting until an operator knows of it.
CREATE TABLE work.lost_row (
    kind text COLLATE "C" NOT NULL,
    chain text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    after_checkpoint bigint NOT NULL,
    found_at timestamptz NOT NULL DEFAULT now(),
    acknowledged_by bigint,
    CONSTRAINT a_lost_row_is_reported_once PRIMARY KEY (kind, chain, place, hash),
    CONSTRAINT a_lost_row_is_of_the_log_or_of_its_trees CHECK (kind IN ('event', 'change', 'checkpoint', 'tree')),
    CONSTRAINT a_later_checkpoint_acknowledges_a_loss CHECK (acknowledged_by > after_checkpoint)
);
COMMENT ON TABLE work.lost_row IS
    'Rows that replicas with AUDIT_ON_LOSS=stop had written or read and found missing, as after a promotion or a restore. While one is not acknowledged, these replicas mint nothing.';
COMMENT ON COLUMN work.lost_row.kind IS 'event: a row of audit.event. change: of audit.config_change. checkpoint: of audit.checkpoint. tree: leaves of a tree that a witness has cosigned.';
COMMENT ON COLUMN work.lost_row.chain IS 'event: as in audit.event. change: the tenant, empty for the tables without tenant. checkpoint: empty. tree: its origin.';
COMMENT ON COLUMN work.lost_row.place IS 'seq, revision, number or, of a tree, its size: the last row that the replica had written or read. Earlier ones may be missing too.';
COMMENT ON COLUMN work.lost_row.hash IS 'Its hash, in hexadecimal digits; of a checkpoint, the SHA-256 of its JWS; of a tree, empty.';
COMMENT ON COLUMN work.lost_row.after_checkpoint IS 'The newest checkpoint when the row was found missing. Only a later one can acknowledge the loss.';
COMMENT ON COLUMN work.lost_row.found_at IS 'When the row was found missing.';
COMMENT ON COLUMN work.lost_row.acknowledged_by IS
    'The checkpoint that declares the loss, by audit acknowledge-loss or audit declare-gap; null before.';
