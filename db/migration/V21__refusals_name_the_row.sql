-- In a statement of a thousand rows, which one was refused? Most sentences name the key and the subject. Those that can't,
-- because the subject is what is wrong, show the row.

DROP FUNCTION internal.refuse_in(regclass, text, text, text, text, text);
CREATE FUNCTION internal.refuse_in(target regclass, rule text, message text, hint text, code text, named_column text DEFAULT '',
                                   refused jsonb DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '%', message
        USING ERRCODE = code, HINT = hint, CONSTRAINT = rule, COLUMN = named_column,
              DETAIL = coalesce('The row: ' || left(jsonb_strip_nulls(internal.without_bookkeeping(refused))::text, 500), ''),
              SCHEMA = (SELECT c.relnamespace::regnamespace FROM pg_class AS c WHERE c.oid = target),
              TABLE = (SELECT c.relname FROM pg_class AS c WHERE c.oid = target);
END
$$;
COMMENT ON FUNCTION internal.refuse_in(regclass, text, text, text, text, text, jsonb) IS
    'Ends the statement as the constraint of that name (or of that column) would, with a sentence and a hint; refused: the row, where the sentence can''t name it.';
GRANT EXECUTE ON FUNCTION internal.refuse_in(regclass, text, text, text, text, text, jsonb)
    TO "${app_role}", "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";
GRANT EXECUTE ON FUNCTION internal.without_bookkeeping(jsonb) TO "${app_role}";

CREATE OR REPLACE FUNCTION internal.say_what_is_missing() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    written constant jsonb := to_jsonb(NEW);
    needed text;
BEGIN
    FOREACH needed IN ARRAY TG_ARGV LOOP
        IF written -> needed = 'null' THEN
            PERFORM internal.refuse_in(TG_RELID, '',
                format('A row of broker.%s needs "%s", which is missing or null.', TG_TABLE_NAME, needed),
                (SELECT format('"%s": %s', needed, col_description(a.attrelid, a.attnum))
                        || CASE WHEN a.atthasdef THEN ' It has a default: leave it out.' ELSE '' END
                   FROM pg_attribute AS a WHERE a.attrelid = TG_RELID AND a.attname = needed),
                'not_null_violation', needed, written);
        END IF;
    END LOOP;
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_grant() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('The grant of key "%s" to "%s"', NEW.key, NEW.subject);
    fault text := internal.line_fault(NEW.subject, 1024);
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('The grant of key "%s" has a subject that %s.', NEW.key, fault),
            'Write the sub claim of the tokens as it is, for example "repo:acme/app:ref:refs/heads/main".', 'check_violation',
            refused => to_jsonb(NEW));
    ELSIF NEW.match NOT IN ('exact', 'glob') THEN
        PERFORM internal.refuse(format('%s has match "%s", and there are exact and glob.', owner, NEW.match),
                              'exact compares the subject to the character; in a glob * stays within a segment, ** does not.');
    ELSIF NEW.match = 'glob' AND NEW.subject !~ '^[^*:/]+([:/]|$)' THEN
        PERFORM internal.refuse(format('%s is a glob that does not start with a literal segment.', owner),
            'The text up to the first : or / must be without *, for example "repo:acme/app:*".');
    ELSIF NEW.match = 'glob' AND internal.glob_fault(NEW.subject) IS NOT NULL THEN
        PERFORM internal.refuse(format('The grant of key "%s" to "%s" %s.', NEW.key,
                                       left(NEW.subject, 40) || CASE WHEN length(NEW.subject) > 40 THEN '…' ELSE '' END,
                                       internal.glob_fault(NEW.subject)),
            'Write several shorter ones, or let claims say the rest.');
    ELSIF length(NEW.reason) > 1000 THEN
        PERFORM internal.refuse(format('%s: its reason has %s characters, more than 1000.', owner, length(NEW.reason)), 'Write it shorter.');
    ELSIF NEW.valid_until <= NEW.valid_from THEN
        PERFORM internal.refuse(format('%s ends (valid_until %s) before it starts (valid_from %s).', owner, NEW.valid_until, NEW.valid_from),
                              'Let valid_until be later; null is without end.');
    ELSIF NOT isfinite(NEW.valid_until) OR NOT isfinite(NEW.valid_from) THEN
        PERFORM internal.refuse(format('%s has a window to infinity.', owner), 'A grant without an end has null in valid_until.');
    ELSIF NEW.valid_from < '0001-01-01Z' OR NEW.valid_from >= '10000-01-01Z'
          OR NEW.valid_until < '0001-01-01Z' OR NEW.valid_until >= '10000-01-01Z' THEN
        PERFORM internal.refuse(format('%s has a window outside of the years 1 to 9999.', owner),
                              'Write times of these years. A grant without a start or an end has null there.');
    ELSIF NEW.max_duration <= 0 THEN
        PERFORM internal.refuse(format('%s has a max_duration of %s seconds.', owner, NEW.max_duration),
                              'Write a positive number, or null to leave it to the key.');
    END IF;
    fault := internal.claims_fault(NEW.claims);
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: in its claims, %s.', owner, fault), internal.claims_hint());
    END IF;
    RETURN NEW;
END
$$;

UPDATE runtime.schema_version SET version = greatest(version, 21);
