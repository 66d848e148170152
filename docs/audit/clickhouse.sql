-- The table for the ClickHouse sink of vector.yaml.
CREATE TABLE mintmark_audit (
    id String, mint_id Nullable(UUID), step Nullable(UInt8), kind LowCardinality(Nullable(String)),
    occurred_at Nullable(DateTime64(6, 'UTC')), tenant LowCardinality(Nullable(String)),
    subject Nullable(String), key Nullable(String), credential_id Nullable(String),
    expires_at Nullable(DateTime64(6, 'UTC')), row String
) ENGINE = ReplacingMergeTree ORDER BY id;
