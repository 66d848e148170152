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
COMMENT ON COLUMN work.ending.provider IS 'Its access provider. The row of the access provider as it is now says how to end the mint.';
COMMENT ON COLUMN work.ending.provider_type IS 'The type of the access provider.';
COMMENT ON COLUMN work.ending.key IS
    'Its key; null where the audit log gets no row of the end: it does not have the mint, or has its end already.';
COMMENT ON COLUMN work.ending.outcome IS
    'issued, withheld, or failed where the provider may have made something all the same; null while there is none.';
COMMENT ON COLUMN work.ending.credential_id IS 'As in audit.event.';
COMMENT ON COLUMN work.ending.by_itself IS
    'Whether nothing is left after expires_at, so that the provider need not be called.';
COMMENT ON COLUMN work.ending.swept IS 'Whether the provider listed it, and the broker had no row.';
COMMENT ON COLUMN work.ending.early IS 'Whether an admin asked to end it before its time.';
COMMENT ON COLUMN work.ending.asked_by IS 'The login that asked.';
COMMENT ON COLUMN work.ending.due IS
    'From when on it is to be ended. Without outcome: when no mint is in flight any more.';
COMMENT ON COLUMN work.ending.next_try IS 'When it is tried next.';
COMMENT ON COLUMN work.ending.tries IS 'How often it was tried in vain. It is never given up.';
COMMENT ON COLUMN work.ending.last_reason IS 'Why the last try failed, in the words of audit.event.reason.';
COMMENT ON COLUMN work.ending.last_detail IS 'The same with the provider''s own words.';
COMMENT ON COLUMN work.ending.claimed_by IS 'The replica that tries it.';
COMMENT ON COLUMN work.ending.claimed_until IS 'When others may try it, because that replica has died.';
CREATE INDEX endings_of_an_access_provider ON work.ending (tenant, provider, next_try);
CREATE INDEX endings_by_time ON work.ending (due);
CREATE INDEX endings_by_next_try ON work.ending (next_try);

-- Admins don't write work.ending: the audit log's writer would wait for their transactions.
CREATE TABLE work.early_end (
    mint_id uuid NOT NULL,
    asked_by text NOT NULL,
    CONSTRAINT an_early_end_is_asked_for_once PRIMARY KEY (mint_id)
);
COMMENT ON TABLE work.early_end IS
    'Rows of broker.ended_credential that no replica has seen yet, of types with leaves_behind. A replica moves them to runtime.ending within a second.';
COMMENT ON COLUMN work.early_end.mint_id IS 'The mint.';
COMMENT ON COLUMN work.early_end.asked_by IS 'The login that asked.';

CREATE TABLE work.sweep (
    tenant text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    next_sweep timestamptz NOT NULL,
    CONSTRAINT an_access_provider_is_swept_by_one_replica PRIMARY KEY (tenant, provider)
);
COMMENT ON TABLE work.sweep IS
    'When a replica next asks an access provider for what mints left behind there.';
COMMENT ON COLUMN work.sweep.tenant IS 'The tenant of the access provider.';
COMMENT ON COLUMN work.sweep.provider IS 'Its name.';
COMMENT ON COLUMN work.sweep.next_sweep IS 'The replica that moves this ahead does it.';
CREATE INDEX sweeps_by_time ON work.sweep (next_sweep);
