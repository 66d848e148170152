-- The only way into audit.verification: what a verification found, with what the database knows better than its caller.

CREATE OR REPLACE FUNCTION internal.record_verification(seconds bigint, checkpoint bigint, kept_checkpoint bigint, rows_read bigint, wrong bigint,
                                                        unaccepted bigint, findings text[], program_version text, viewer text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    most_a_day constant int := 100;
    at constant timestamptz := clock_timestamp();
    by_console constant boolean := internal.login_is('the console');
BEGIN
    IF record_verification.seconds IS NULL OR record_verification.seconds NOT BETWEEN 0 AND 604800 THEN
        PERFORM internal.refuse(format('The duration of a verification must be 0 to 604800 seconds, not %s.', coalesce(record_verification.seconds::text, 'null')),
                                'Pass the duration of the verification in seconds.', 'invalid_parameter_value');
    END IF;
    -- Transactions that are open at the same time don't see each other's rows, so they take turns by the oldest row of their
    -- login, which no other login can lock. Only those before the first row can add more than they may, once. A snapshot from
    -- before the wait would hide what was added meanwhile.
    IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
        RETURN format('the isolation level of the transaction is %s; it must be read committed', current_setting('transaction_isolation'));
    END IF;
    PERFORM FROM audit.verification AS v WHERE v.login = session_user ORDER BY v.recorded_at, v.id LIMIT 1 FOR UPDATE;
    IF (SELECT count(*) FROM (SELECT FROM audit.verification AS v
                               WHERE v.login = session_user AND v.recorded_at > at - interval '1 day' LIMIT most_a_day) AS today) >= most_a_day THEN
        RETURN format('login %s has recorded %s results in the last 24 hours, which is the maximum', session_user, most_a_day);
    END IF;
    INSERT INTO audit.verification AS v (began_at, recorded_at, verdict, checkpoint, kept_checkpoint, rows_read, wrong, unaccepted,
                                         findings, login, program, program_version, viewer)
    VALUES (at - record_verification.seconds * interval '1 second', at,
            CASE WHEN record_verification.wrong > 0 THEN 'wrong' WHEN record_verification.unaccepted > 0 THEN 'unaccepted' ELSE 'intact' END,
            record_verification.checkpoint, record_verification.kept_checkpoint, record_verification.rows_read,
            record_verification.wrong, record_verification.unaccepted, record_verification.findings,
            session_user, CASE WHEN by_console THEN 'console' ELSE 'command line' END, record_verification.program_version,
            CASE WHEN by_console THEN coalesce(record_verification.viewer, '') END);
    -- What others hold is left to the next call, so that nobody waits for them.
    DELETE FROM audit.verification AS v
     USING (SELECT o.id FROM audit.verification AS o WHERE o.recorded_at < at - interval '401 days'
             ORDER BY o.recorded_at LIMIT 1000 FOR UPDATE SKIP LOCKED) AS old
     WHERE v.id = old.id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_verification(bigint, bigint, bigint, bigint, bigint, bigint, text[], text, text) IS
    'Records the result of a verification of the log, and removes results that are over 400 days old. seconds: how long the verification took. Returns why the result was not recorded, or null.';
