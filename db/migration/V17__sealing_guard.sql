-- How far a chain is sealed is what a checkpoint says, and nobody else. Whoever takes the service over could otherwise
-- mark a chain as sealed up to its end, and the broker would leave its last rows unsealed.

-- The payload names what it seals as {"events": [{"chain", "seq"}], "changes": [{"tenant", "revision"}]}.
CREATE FUNCTION internal.sealed_by_last_checkpoint() RETURNS TABLE (kind text, chain text, "position" bigint)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    part constant text := (SELECT split_part(c.jws, '.', 2) FROM audit.checkpoint AS c ORDER BY c.number DESC LIMIT 1);
    payload jsonb;
BEGIN
    -- base64url to base64, with the padding that RFC 7515 leaves out
    payload := convert_from(decode(rpad(translate(part, '-_', '+/'), (length(part) + 3) / 4 * 4, '='), 'base64'), 'UTF8');
    RETURN QUERY
    SELECT 'event', head ->> 'chain', (head ->> 'seq')::bigint
      FROM jsonb_array_elements(payload -> 'events') AS head
    UNION ALL
    SELECT 'change', coalesce(head ->> 'tenant', ''), (head ->> 'revision')::bigint
      FROM jsonb_array_elements(payload -> 'changes') AS head;
EXCEPTION WHEN data_exception THEN
    -- a checkpoint that no broker made seals nothing
    RETURN;
END
$$;
COMMENT ON FUNCTION internal.sealed_by_last_checkpoint() IS
    'The ends of chains that the last checkpoint names. Whether a key signed it is for `mintmark audit verify` to say.';

-- Once for each statement: a broker notes all heads of a checkpoint with one.
CREATE FUNCTION internal.check_sealed_chain() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moved record;
BEGIN
    SELECT m.kind, m.chain, m."position" INTO moved
      FROM marked AS m
     WHERE NOT EXISTS (SELECT FROM internal.sealed_by_last_checkpoint() AS s
                        WHERE s.kind = m.kind AND s.chain = m.chain AND s."position" = m."position")
     LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_chain_is_sealed_as_far_as_the_last_checkpoint_says',
            format('The last checkpoint doesn''t seal the %s chain ''%s'' up to %s.', moved.kind, moved.chain, moved."position"),
            'Only what a checkpoint seals is noted here, in its transaction.', 'check_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_sealed_chain() IS
    'Trigger: lets runtime.sealed_chain say only what the last checkpoint says.';

CREATE TRIGGER begins_as_a_checkpoint_says AFTER INSERT ON runtime.sealed_chain
    REFERENCING NEW TABLE AS marked
    FOR EACH STATEMENT EXECUTE FUNCTION internal.check_sealed_chain();
ALTER TABLE runtime.sealed_chain ENABLE ALWAYS TRIGGER begins_as_a_checkpoint_says;
CREATE TRIGGER moves_as_a_checkpoint_says AFTER UPDATE ON runtime.sealed_chain
    REFERENCING NEW TABLE AS marked
    FOR EACH STATEMENT EXECUTE FUNCTION internal.check_sealed_chain();
ALTER TABLE runtime.sealed_chain ENABLE ALWAYS TRIGGER moves_as_a_checkpoint_says;

GRANT EXECUTE ON FUNCTION internal.sealed_by_last_checkpoint() TO "${app_role}";

UPDATE runtime.schema_version SET version = greatest(version, 17);
