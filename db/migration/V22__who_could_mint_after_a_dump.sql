-- A database that was loaded from a dump counts its transactions anew: what it notes since tells nothing of transactions
-- with greater numbers from before, and the notes that came soon after those do.

CREATE OR REPLACE FUNCTION internal.had_ended(transaction_id bigint, since timestamptz, at timestamptz) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
AS $$
BEGIN
    -- Whatever ended is found ended by every later note of the same server, so the last ones tell; ten, since some note an
    -- old snapshot. The first hundred are for a server of before.
    RETURN EXISTS (
        SELECT FROM (
               (SELECT s.snapshot FROM runtime.noted_snapshot AS s
                 WHERE s.noted_at > since AND s.noted_at <= at ORDER BY s.noted_at DESC LIMIT 10)
                UNION ALL
               (SELECT s.snapshot FROM runtime.noted_snapshot AS s
                 WHERE s.noted_at > since AND s.noted_at <= at ORDER BY s.noted_at LIMIT 100)) AS n
         WHERE pg_visible_in_snapshot(had_ended.transaction_id::text::xid8, n.snapshot));
END
$$;

UPDATE runtime.schema_version SET version = greatest(version, 22);
