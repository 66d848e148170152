-- A mint is proven from the history alone: its requested row names the state of everything that its decision rests on.

ALTER TABLE audit.event
    ADD COLUMN shared_revision bigint,
    ADD COLUMN config_hash bytea,
    ADD CONSTRAINT a_request_names_the_shared_state_and_its_configuration
        CHECK ((shared_revision IS NULL) = (config_hash IS NULL) AND (kind = 'requested' OR shared_revision IS NULL)),
    ADD CONSTRAINT a_config_hash_has_32_bytes CHECK (octet_length(config_hash) = 32);
COMMENT ON COLUMN audit.event.shared_revision IS
    'For requested: the revision of the tables without tenant that the decision was made on. Null in chains of form 1.';
COMMENT ON COLUMN audit.event.config_hash IS
    'For requested: SHA-256 of the configuration that the decision used: tenant, identity provider, access provider, key and grant (docs/audit.md). Null in chains of form 1.';
