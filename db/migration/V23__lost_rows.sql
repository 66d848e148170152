-- Rows of the audit log that a promotion lost: what keeps replicas from minting until an operator knows of it.

CREATE TABLE runtime.lost_row (
    chain text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    after_checkpoint bigint NOT NULL,
    found_at timestamptz NOT NULL DEFAULT now(),
    acknowledged_by bigint,
    CONSTRAINT a_lost_row_is_reported_once PRIMARY KEY (chain, seq),
    CONSTRAINT a_later_checkpoint_acknowledges_a_loss CHECK (acknowledged_by > after_checkpoint)
);
COMMENT ON TABLE runtime.lost_row IS
    'Rows of audit.event that replicas with AUDIT_ON_LOSS=stop had written and found missing after a promotion. While one is not acknowledged, these replicas mint nothing.';
COMMENT ON COLUMN runtime.lost_row.chain IS 'As in audit.event.';
COMMENT ON COLUMN runtime.lost_row.seq IS 'As in audit.event: the last row that the replica had written. Earlier ones of the chain may be missing too.';
COMMENT ON COLUMN runtime.lost_row.hash IS 'As in audit.event, in hexadecimal digits.';
COMMENT ON COLUMN runtime.lost_row.after_checkpoint IS 'The newest checkpoint when the row was found missing. Only a later one can acknowledge the loss.';
COMMENT ON COLUMN runtime.lost_row.found_at IS 'When the row was found missing.';
COMMENT ON COLUMN runtime.lost_row.acknowledged_by IS
    'The checkpoint that declares the loss, by audit acknowledge-loss or audit declare-gap; null before.';
