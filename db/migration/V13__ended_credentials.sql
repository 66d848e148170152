-- Credentials that were ended before their time, for types whose servers read a list of such.

CREATE TABLE broker.ended_credential (
    mint_id uuid NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    provider_type text COLLATE "C" NOT NULL,
    expires_at timestamptz NOT NULL,
    reason text NOT NULL,
    LIKE internal.bookkeeping INCLUDING DEFAULTS INCLUDING COMMENTS,
    CONSTRAINT a_credential_is_ended_once PRIMARY KEY (mint_id),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_reason_has_1_to_1000_characters CHECK (reason ~ '\S' AND length(reason) <= 1000)
);
ALTER TABLE broker.ended_credential ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE broker.ended_credential IS
    'Credentials that servers must reject before they expire, append-only. Insert mint_id and reason. The revocation list of the access provider then lists the credential.';
COMMENT ON COLUMN broker.ended_credential.mint_id IS 'The mint, as in audit.event. ssh: the key id ends in it. x509: the serial number.';
COMMENT ON COLUMN broker.ended_credential.tenant IS 'The tenant of the mint, filled by a trigger.';
COMMENT ON COLUMN broker.ended_credential.provider_type IS 'The type of its access provider, filled by a trigger.';
COMMENT ON COLUMN broker.ended_credential.expires_at IS
    'When the credential expires, filled by a trigger. An hour later, it is no longer in the list.';
COMMENT ON COLUMN broker.ended_credential.reason IS 'Why the credential was ended, for example an incident.';
CREATE INDEX ended_credentials_of_a_tenant ON broker.ended_credential (tenant, provider_type, expires_at);
