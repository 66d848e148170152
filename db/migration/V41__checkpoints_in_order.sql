-- A checkpoint is the next one, and a signature. Who takes the service over can stop the sealing, but not for good.

CREATE FUNCTION audit.check_checkpoint() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    next constant bigint := coalesce((SELECT max(c.number) FROM audit.checkpoint AS c), 0) + 1;
BEGIN
    IF NEW.number IS DISTINCT FROM next THEN
        RAISE EXCEPTION 'Checkpoint % is not the next one.', NEW.number
            USING ERRCODE = 'check_violation', CONSTRAINT = 'checkpoints_are_numbered_without_gaps',
                  TABLE = 'checkpoint', SCHEMA = 'audit', HINT = format('The next one is %s.', next);
    END IF;
    IF NEW.jws !~ '^[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]+$' THEN
        RAISE EXCEPTION 'Checkpoint % has no signature in compact form (RFC 7515 section 7.1).', NEW.number
            USING ERRCODE = 'check_violation', CONSTRAINT = 'a_checkpoint_is_a_signature',
                  TABLE = 'checkpoint', SCHEMA = 'audit', HINT = 'Only a broker with the signing key can make one.';
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION audit.check_checkpoint() IS
    'Trigger: refuses checkpoints out of order, and what is no signature by its form.';

CREATE TRIGGER comes_next BEFORE INSERT ON audit.checkpoint
    FOR EACH ROW EXECUTE FUNCTION audit.check_checkpoint();
ALTER TABLE audit.checkpoint ENABLE ALWAYS TRIGGER comes_next;
