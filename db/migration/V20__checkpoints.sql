-- Signed checkpoints: what the chains of events and changes had come to, sealed with a key that is not here.

CREATE TABLE audit.checkpoint (
    number bigint NOT NULL,
    sealed_at timestamptz NOT NULL,
    jws text COLLATE "C" NOT NULL,
    announced_by text COLLATE "C",
    CONSTRAINT checkpoints_are_numbered_once PRIMARY KEY (number),
    CONSTRAINT checkpoints_count_from_one CHECK (number >= 1)
);
COMMENT ON TABLE audit.checkpoint IS
    'The heads of all chains, signed; each holds the hash of the one before. Append-only. Also printed by the service, to be kept elsewhere.';
COMMENT ON COLUMN audit.checkpoint.number IS 'Counts from 1, without gaps.';
COMMENT ON COLUMN audit.checkpoint.sealed_at IS 'When, by the clock of the replica that sealed.';
COMMENT ON COLUMN audit.checkpoint.jws IS
    'JWS (ES256, compact): the chains that grew since the checkpoint before and where they end. docs/audit.md describes it.';
COMMENT ON COLUMN audit.checkpoint.announced_by IS
    'Where a new key signs for the first time: the same payload, signed by the key before it.';
CALL audit.make_append_only('audit.checkpoint');

CREATE TABLE runtime.sealing (
    only_one boolean NOT NULL DEFAULT true,
    sealed_by text,
    CONSTRAINT one_replica_seals_at_a_time PRIMARY KEY (only_one),
    CONSTRAINT there_is_one_row CHECK (only_one)
);
COMMENT ON TABLE runtime.sealing IS 'One row, which a replica locks while it seals.';
COMMENT ON COLUMN runtime.sealing.only_one IS 'True.';
COMMENT ON COLUMN runtime.sealing.sealed_by IS 'The replica that sealed last.';
INSERT INTO runtime.sealing DEFAULT VALUES;

CREATE TABLE runtime.sealed_chain (
    kind text COLLATE "C" NOT NULL,
    chain text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    CONSTRAINT a_chain_is_sealed_up_to_one_position PRIMARY KEY (kind, chain),
    CONSTRAINT chains_are_of_events_or_of_changes CHECK (kind IN ('event', 'change'))
);
COMMENT ON TABLE runtime.sealed_chain IS
    'How far each chain is sealed, so that a checkpoint lists only what grew. Proves nothing; the checkpoints do.';
COMMENT ON COLUMN runtime.sealed_chain.kind IS 'event or change.';
COMMENT ON COLUMN runtime.sealed_chain.chain IS
    'event.chain; or the tenant of the changes, empty for the tables without tenant.';
COMMENT ON COLUMN runtime.sealed_chain.position IS 'event.seq, or config_change.revision.';
