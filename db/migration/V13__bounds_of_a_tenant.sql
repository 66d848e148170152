-- Bounds on what a tenant can make the broker and its database hold or wait for.

ALTER TABLE broker.tenant
    ADD COLUMN max_duration int,
    ADD COLUMN max_changes int NOT NULL DEFAULT 10000,
    ADD CONSTRAINT max_duration_is_positive_in_seconds CHECK (max_duration > 0),
    ADD CONSTRAINT max_changes_is_not_negative CHECK (max_changes >= 0);
COMMENT ON COLUMN broker.tenant.max_duration IS
    'The longest life of its credentials, in seconds. If null, the types of its access providers set the maximum.';
COMMENT ON COLUMN broker.tenant.max_changes IS
    'The number of changes that its tenant admins may make in a day (UTC). A change counts once for each 4 KiB of the row before and after it, and at least once. Disabling and deleting keys and grants, and blocking subjects, may go on to twice as many. Changes by platform admins do not count.';

-- The rows of an empty database come from a repeatable file.
UPDATE broker.provider_type SET max_duration = CASE type WHEN 'azure' THEN 86400 ELSE 43200 END WHERE max_duration IS NULL;
ALTER TABLE broker.provider_type ADD CONSTRAINT credentials_of_a_type_have_a_longest_life CHECK (max_duration IS NOT NULL);
COMMENT ON COLUMN broker.provider_type.max_duration IS 'The longest life of a credential, in seconds.';
COMMENT ON COLUMN broker.key.max_duration IS
    'The longest life of a credential, in seconds, within the limits of the provider''s type and broker.tenant.max_duration.';

-- Counted as runtime.tenant_size is: each count is a row of a new number, so that the last one is found at the end of the
-- index, past those that a long transaction leaves behind.
CREATE TABLE runtime.changes_of_day (
    tenant text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    day date NOT NULL,
    changes bigint NOT NULL,
    CONSTRAINT changes_are_counted_in_order PRIMARY KEY (tenant, number)
);
COMMENT ON TABLE runtime.changes_of_day IS
    'The number of changes by the admins of each tenant on the last day with any, for broker.tenant.max_changes. A trigger keeps it.';
COMMENT ON COLUMN runtime.changes_of_day.tenant IS 'The tenant.';
COMMENT ON COLUMN runtime.changes_of_day.number IS 'Counts the counts.';
COMMENT ON COLUMN runtime.changes_of_day.day IS 'The day, in UTC.';
COMMENT ON COLUMN runtime.changes_of_day.changes IS
    'The changes of that day, each counted once for each 4 KiB of the row before and after it, and at least once.';

-- Any login can take any advisory lock. A row can be locked only by roles that may change its table.
CREATE TABLE runtime.mutex (
    name text COLLATE "C" NOT NULL,
    CONSTRAINT a_mutex_is_listed_once PRIMARY KEY (name)
);
COMMENT ON TABLE runtime.mutex IS
    'Rows that functions of the owner lock, so that one transaction at a time does what the name says. No other role may lock them.';
COMMENT ON COLUMN runtime.mutex.name IS 'The work that one transaction does at a time.';
INSERT INTO runtime.mutex (name) VALUES ('changes without tenant'), ('partitions of audit.event');

CREATE FUNCTION internal.values_fault(value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found bigint;
BEGIN
    IF value IS NULL OR value = '{}' THEN
        RETURN NULL;
    ELSIF jsonb_path_exists(value, 'strict $.**{8 to last}') THEN
        RETURN 'are nested more than 8 levels deep';
    END IF;
    SELECT count(*) - 1 INTO found FROM jsonb_path_query(value, 'strict $.**');
    RETURN CASE WHEN found > 256 THEN format('have %s members and elements; the maximum is 256', found) END;
END
$$;
COMMENT ON FUNCTION internal.values_fault(jsonb) IS
    'Why a JSON value takes too much memory for its length (over 256 members of objects and elements of lists in all, over 8 levels), as the end of a sentence; null if it does not.';

ALTER TABLE broker.identity_provider
    ADD CONSTRAINT required_claims_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(required_claims) IS NULL);
ALTER TABLE broker.access_provider
    ADD CONSTRAINT settings_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(settings) IS NULL);
ALTER TABLE broker.key
    ADD CONSTRAINT settings_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(settings) IS NULL),
    ADD CONSTRAINT outputs_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(outputs) IS NULL);
ALTER TABLE broker.subject_grant
    ADD CONSTRAINT claims_have_up_to_256_values_in_8_levels CHECK (internal.values_fault(claims) IS NULL);
