-- The history of every change of the configuration.

-- Names are COLLATE "C" everywhere: compared by byte, so that new sorting rules of an operating system cannot break an
-- index or a sequence that a proof rests on.
CREATE TABLE log.config_change (
    tenant text COLLATE "C",
    revision bigint NOT NULL,
    table_name text NOT NULL,
    operation text NOT NULL,
    before jsonb,
    after jsonb,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    transaction_id bigint NOT NULL,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT a_revision_is_given_once UNIQUE NULLS NOT DISTINCT (tenant, revision) INCLUDE (hash),
    CONSTRAINT revisions_count_from_one CHECK (revision >= 1),
    CONSTRAINT a_change_is_an_insert_an_update_or_a_delete CHECK (operation IN ('INSERT', 'UPDATE', 'DELETE')),
    CONSTRAINT only_an_insert_has_nothing_before CHECK ((before IS NULL) = (operation = 'INSERT')),
    CONSTRAINT only_a_delete_leaves_nothing_after CHECK ((after IS NULL) = (operation = 'DELETE')),
    CONSTRAINT a_hash_has_32_bytes CHECK (octet_length(hash) = 32 AND octet_length(prev_hash) = 32)
);
ALTER TABLE log.config_change ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE log.config_change IS
    'Every change of a row in schema broker, written by triggers in the transaction of the change. Append-only.';
COMMENT ON COLUMN log.config_change.tenant IS
    'The tenant that the row belongs to; null for tables that belong to no tenant.';
COMMENT ON COLUMN log.config_change.revision IS
    'The number of the change within its tenant (or within all tables without tenant), from 1, without gaps, in the order of commits. The highest number is the tenant''s revision.';
COMMENT ON COLUMN log.config_change.table_name IS 'The table in schema broker, for example subject_grant.';
COMMENT ON COLUMN log.config_change.operation IS 'INSERT, UPDATE or DELETE. An UPDATE that leaves the row as it was is not recorded.';
COMMENT ON COLUMN log.config_change.before IS 'The whole row before the change; null for an INSERT. Times are in UTC.';
COMMENT ON COLUMN log.config_change.after IS 'The whole row after the change; null for a DELETE. Times are in UTC.';
COMMENT ON COLUMN log.config_change.changed_by IS 'The login (session_user), which SET ROLE does not change.';
COMMENT ON COLUMN log.config_change.changed_at IS 'When the row was changed by the server''s clock; it was committed later.';
COMMENT ON COLUMN log.config_change.transaction_id IS 'The transaction: changes with the same number were committed together.';
COMMENT ON COLUMN log.config_change.prev_hash IS 'The hash of the previous revision of the same tenant; 32 zero bytes for revision 1.';
COMMENT ON COLUMN log.config_change.hash IS 'SHA-256 over prev_hash and this row in its canonical form.';

CREATE INDEX changes_of_a_grant ON log.config_change (((coalesce(after, before)) ->> 'id'), revision)
 WHERE table_name = 'subject_grant';
CREATE INDEX changes_by_time ON log.config_change (changed_at);
CREATE INDEX changes_of_a_login ON log.config_change (changed_by, changed_at);
CREATE INDEX changes_of_a_transaction ON log.config_change (transaction_id);
-- Replicas ask twice a second whether one of these changed, also beside an import of a million grants.
CREATE INDEX changes_of_issuers ON log.config_change (transaction_id) WHERE table_name IN ('identity_provider', 'tenant');
-- A grant is looked for under each key that it ever gave; all else that is asked of the history is little beside grants.
CREATE INDEX grants_of_a_key_in_the_history ON log.config_change (tenant, (after ->> 'key')) WHERE table_name = 'subject_grant';
CREATE INDEX changes_beside_grants ON log.config_change (tenant, table_name, revision) WHERE table_name <> 'subject_grant';
-- Whether a row has another name by now, for internal.last_record. Few rows are ever renamed.
CREATE INDEX renamed_rows ON log.config_change
       ((coalesce(tenant, '')), table_name, (coalesce(before ->> 'name', before ->> 'role_name', before ->> 'issuer', '')), revision)
 WHERE table_name <> 'subject_grant' AND operation = 'UPDATE'
   AND coalesce(before ->> 'name', before ->> 'role_name', before ->> 'issuer', '')
       <> coalesce(after ->> 'name', after ->> 'role_name', after ->> 'issuer', '');
-- The last change of a row, for internal.last_record.
CREATE INDEX changes_of_a_row ON log.config_change
       ((coalesce(tenant, '')), table_name, (coalesce(coalesce(after, before) ->> 'id', coalesce(after, before) ->> 'name', '')), revision)
 WHERE table_name <> 'subject_grant';
-- The grants of a subject, and the globs of a tenant, for log.subject_grant.
CREATE INDEX grants_of_a_subject_in_the_history ON log.config_change (tenant, hashtextextended(after ->> 'subject', 0))
 WHERE table_name = 'subject_grant' AND after ->> 'match' = 'exact';
CREATE INDEX globs_in_the_history ON log.config_change (tenant) WHERE table_name = 'subject_grant' AND after ->> 'match' = 'glob';
