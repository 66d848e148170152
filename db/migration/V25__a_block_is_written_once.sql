-- Of one subject, blocked in one way, one row is enabled: who lifts it has lifted it. Rows that were lifted stay beside it.

CREATE FUNCTION internal.block_digest(tenant text, idp text, match text, subject text) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sha256(convert_to(internal.canonical_field(tenant) || internal.canonical_field(idp)
                             || internal.canonical_field(match) || internal.canonical_field(subject), 'UTF8'));
END
$$;
COMMENT ON FUNCTION internal.block_digest(text, text, text, text) IS
    'What makes a block another one than those that are there: SHA-256 of whom it blocks where. What else it says (reason, until) changes it.';
GRANT EXECUTE ON FUNCTION internal.block_digest(text, text, text, text) TO "${admin_role}", "${tenant_admin_role}";

-- Of those that were written twice the one that lasts longest goes on; the others block nothing beside it, and are lifted.
UPDATE broker.blocked_subject AS b SET enabled = false
  FROM (SELECT e.id, row_number() OVER (PARTITION BY e.tenant, e.idp, e.match, e.subject ORDER BY e.until DESC NULLS FIRST, e.id) AS place
          FROM broker.blocked_subject AS e WHERE e.enabled) AS twin
 WHERE twin.id = b.id AND twin.place > 1;

CREATE UNIQUE INDEX a_block_is_written_once ON broker.blocked_subject
    (internal.block_digest(tenant, idp, match, subject)) WHERE enabled;

-- Who blocks a subject whose block has ended is not to be told that it is blocked already.
CREATE FUNCTION internal.lift_block_that_ended() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
DECLARE
    ended bigint;
BEGIN
    SELECT b.id INTO ended FROM broker.blocked_subject AS b
     WHERE b.enabled AND b.until <= clock_timestamp()
       AND internal.block_digest(b.tenant, b.idp, b.match, b.subject)
         = internal.block_digest(NEW.tenant, NEW.idp, NEW.match, NEW.subject);
    -- Only then: an UPDATE of no row costs its triggers too, for each row of a bulk edit.
    IF FOUND THEN
        UPDATE broker.blocked_subject AS b SET enabled = false WHERE b.id = ended AND b.until <= clock_timestamp();
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.lift_block_that_ended() IS
    'Trigger: a block that has ended gives way to a new one of the same subject.';
CREATE TRIGGER takes_the_place_of_one_that_ended BEFORE INSERT ON broker.blocked_subject
    FOR EACH ROW WHEN (NEW.enabled) EXECUTE FUNCTION internal.lift_block_that_ended();

UPDATE runtime.schema_version SET version = greatest(version, 25);
