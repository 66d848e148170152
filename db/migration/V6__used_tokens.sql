-- Tokens that work once (broker.identity_provider.one_time_tokens): the ids seen so far, shared by all replicas.

CREATE TABLE runtime.used_token (
    idp text COLLATE "C" NOT NULL,
    token_id text COLLATE "C" NOT NULL,
    usable_until timestamptz NOT NULL,
    CONSTRAINT a_one_time_token_is_used_once PRIMARY KEY (idp, token_id)
);
CREATE INDEX used_tokens_to_forget ON runtime.used_token (usable_until);
COMMENT ON TABLE runtime.used_token IS
    'Ids of one-time tokens that were used. Who inserts the row is the one user; it is kept until the token would be refused anyway.';
COMMENT ON COLUMN runtime.used_token.idp IS 'The identity provider. No reference: a use is remembered past its row.';
COMMENT ON COLUMN runtime.used_token.token_id IS 'The jti claim.';
COMMENT ON COLUMN runtime.used_token.usable_until IS 'When the token is too old or expired; the row can go after that.';
