-- Mints that leave something behind at their provider, until it is gone.

CREATE TABLE work.ending (
    mint_id uuid NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    provider_type text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    outcome text,
    credential_id text COLLATE "C",
    by_itself boolean NOT NULL DEFAULT false,
    swept boolean NOT NULL DEFAULT false,
    early boolean NOT NULL DEFAULT false,
    asked_by text,
    due timestamptz NOT NULL,
    next_try timestamptz NOT NULL,
    tries int NOT NULL DEFAULT 0,
    last_reason text,
    last_detail text,
    claimed_by text,
    claimed_until timestamptz,
    CONSTRAINT a_mint_is_ended_once PRIMARY KEY (mint_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
ALTER TABLE work.ending ENABLE ROW LEVEL SECURITY;
-- Without a foreign key to the access provider: the audit log's writer would wait for every transaction that deletes one.
COMMENT ON TABLE work.ending IS
    'Mints that may have left something at their provider, of types with leaves_behind. Written by the statement that writes the audit log; a row goes when its mint is recorded as ended.';
COMMENT ON COLUMN work.ending.mint_id IS 'The mint.';
COMMENT ON COLUMN work.ending.tenant IS 'Its tenant.';
COMMENT ON COLUMN work.ending.provider IS 'Its access provider. How to end the mint depends on the current row of the access provider.';
COMMENT ON COLUMN work.ending.provider_type IS 'The type of the access provider.';
COMMENT ON COLUMN work.ending.key IS
    'The key of the mint; null if its end is not written to the audit log, because the log lacks the mint or already has its end.';
COMMENT ON COLUMN work.ending.outcome IS
    'issued, withheld, or failed if the provider may still have made something; null while there is no outcome.';
COMMENT ON COLUMN work.ending.credential_id IS 'As in audit.event.';
COMMENT ON COLUMN work.ending.by_itself IS
    'Whether nothing is left at the provider after expires_at, so that the broker need not call it.';
COMMENT ON COLUMN work.ending.swept IS 'Whether the provider listed the mint although the broker had no row for it.';
COMMENT ON COLUMN work.ending.early IS 'Whether an admin asked to end the credential early.';
COMMENT ON COLUMN work.ending.asked_by IS 'The login that asked to end it early.';
COMMENT ON COLUMN work.ending.due IS
    'When the broker may end the mint. Without an outcome: when this mint can no longer be in flight.';
COMMENT ON COLUMN work.ending.next_try IS 'When the broker tries next.';
COMMENT ON COLUMN work.ending.tries IS 'The number of failed tries. The broker never gives up.';
COMMENT ON COLUMN work.ending.last_reason IS 'Why the last try failed, as in audit.event.reason.';
COMMENT ON COLUMN work.ending.last_detail IS 'Why the last try failed, in the provider''s words.';
COMMENT ON COLUMN work.ending.claimed_by IS 'The replica that tries it.';
COMMENT ON COLUMN work.ending.claimed_until IS 'The end of the claim. Afterwards another replica may try, because this one has probably stopped.';
CREATE INDEX endings_of_an_access_provider ON work.ending (tenant, provider, next_try);
CREATE INDEX endings_by_time ON work.ending (due);
CREATE INDEX endings_by_next_try ON work.ending (next_try);

-- Admins don't write work.ending: the audit log's writer would wait for their transactions.
CREATE TABLE work.early_end (
    mint_id uuid NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    asked_by text NOT NULL,
    CONSTRAINT an_early_end_is_asked_for_once PRIMARY KEY (mint_id)
);
COMMENT ON TABLE work.early_end IS
    'Rows of broker.ended_credential that no replica has seen yet, of types with leaves_behind. A replica moves them to runtime.ending within a second.';
COMMENT ON COLUMN work.early_end.mint_id IS 'The mint.';
COMMENT ON COLUMN work.early_end.tenant IS 'The tenant of the mint.';
COMMENT ON COLUMN work.early_end.asked_by IS 'The login that asked to end it early.';
CREATE INDEX early_ends_of_a_tenant ON work.early_end (tenant, mint_id);

CREATE TABLE work.sweep (
    tenant text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    next_sweep timestamptz NOT NULL,
    CONSTRAINT an_access_provider_is_swept_by_one_replica PRIMARY KEY (tenant, provider)
);
COMMENT ON TABLE work.sweep IS
    'When a replica next lists what mints left behind at an access provider.';
COMMENT ON COLUMN work.sweep.tenant IS 'The tenant of the access provider.';
COMMENT ON COLUMN work.sweep.provider IS 'Its name.';
COMMENT ON COLUMN work.sweep.next_sweep IS 'The time of the next listing. The replica that first moves this time ahead makes the listing.';
CREATE INDEX sweeps_by_time ON work.sweep (next_sweep);
