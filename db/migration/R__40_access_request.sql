-- Requests for access: broker.access_request. The functions that the service calls are in R__18 and R__19.

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_access_request() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF internal.may_hold_secret(NEW.reason) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'reason', NEW.reason, to_jsonb(NEW) - 'reason');
    END IF;
    IF TG_OP = 'INSERT' AND NOT internal.session_is_the_service() THEN
        PERFORM internal.refuse_in(TG_RELID, 'requests_are_written_by_the_broker',
            format('Login "%s" cannot write a request for access.', session_user),
            'Request access with a token (mintmark-client request), or write a grant.', 'insufficient_privilege');
    END IF;
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_access_request() IS
    'Trigger: rejects a request unless the broker wrote it after verifying a token, and signs the request.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.access_request', ARRAY[
    ['refuse_delete', 'always', 'BEFORE DELETE', 'FOR EACH STATEMENT', 'refuse_change()'],
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_access_request', 'always', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_access_request()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_change(''tenant'')'],
    ['add_changes_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_updated', 'always', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'count_changes()']
]);
