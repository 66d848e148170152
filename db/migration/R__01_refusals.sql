-- Errors with a message, a hint and an error code, and the parts of their messages.

CREATE OR REPLACE FUNCTION internal.refuse(message text, hint text, code text DEFAULT 'check_violation') RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '%', message USING ERRCODE = code, HINT = coalesce(hint, '');
END
$$;
COMMENT ON FUNCTION internal.refuse(text, text, text) IS
    'Raises an error with a message, a hint and an error code.';

CREATE OR REPLACE FUNCTION internal.without_bookkeeping(written jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN written - '{created_at,created_by,updated_at,updated_by}'::text[];
COMMENT ON FUNCTION internal.without_bookkeeping(jsonb) IS 'A row without the columns that triggers maintain.';

-- For errors whose message doesn't name the row: a statement may have a thousand rows.
CREATE OR REPLACE FUNCTION internal.shown_row(refused jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT left(jsonb_object_agg(m.key, CASE WHEN length(m.value::text) <= 100 THEN m.value
                                             ELSE to_jsonb(left(m.value #>> '{}', 100) || '…') END)::text, 500)
      FROM jsonb_each(jsonb_strip_nulls(internal.without_bookkeeping(refused) - '{id,external_id,settings,jwks,ca_certificate}'::text[])) AS m;
$$;
COMMENT ON FUNCTION internal.shown_row(jsonb) IS
    'A row for the DETAIL of an error: long values cut, without columns that may contain a secret; null for none.';

CREATE OR REPLACE FUNCTION internal.refuse_in(target regclass, rule text, message text, hint text, code text, named_column text DEFAULT '',
                                              refused jsonb DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    shown constant text := internal.shown_row(refused);
    target_schema text;
    target_table text;
BEGIN
    target_schema := split_part(internal.name_of_table(target), '.', 1);
    target_table := split_part(internal.name_of_table(target), '.', 2);
    -- An empty DETAIL would be shown as one.
    IF shown IS NULL THEN
        RAISE EXCEPTION '%', message
            USING ERRCODE = code, HINT = hint, CONSTRAINT = rule, COLUMN = named_column, SCHEMA = target_schema, TABLE = target_table;
    END IF;
    RAISE EXCEPTION '%', message
        USING ERRCODE = code, DETAIL = 'The row: ' || shown, HINT = hint, CONSTRAINT = rule, COLUMN = named_column,
              SCHEMA = target_schema, TABLE = target_table;
END
$$;
COMMENT ON FUNCTION internal.refuse_in(regclass, text, text, text, text, text, jsonb) IS
    'Raises the error of the constraint of that name (or of that column) with a message and a hint; refused: the row, if the message does not name it.';

-- The text of a regclass depends on the session, by quote_all_identifiers and search_path.
CREATE OR REPLACE FUNCTION internal.name_of_table(target regclass) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT concat_ws('.', n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = target;
$$;
COMMENT ON FUNCTION internal.name_of_table(regclass) IS 'The schema and name of a table, as in "broker.key".';

-- No default draws it, since a trigger could not tell a number of the statement from it; and an identity column refuses with
-- the hint to override it, which no role may. With its owner's rights, since no member may read a sequence.
CREATE OR REPLACE FUNCTION internal.new_id(target regclass, given bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pg_trigger_depth() = 0 AND NOT pg_has_role(session_user, '${owner_role}', 'MEMBER') THEN
        PERFORM internal.refuse('Only triggers may call internal.new_id.', 'Insert a row without an id.', 'insufficient_privilege');
    ELSIF given IS NULL THEN
        RETURN nextval(pg_get_serial_sequence(target::text, 'id')::regclass);
    ELSIF current_setting('session_replication_role') <> 'replica' THEN
        PERFORM internal.refuse_in(target, '', format('The statement sets the id %s, but the database assigns the ids of %s.', given, internal.name_of_table(target)),
            'Leave out the column id. With RETURNING id, the statement returns the id of the new row.', 'generated_always', 'id');
    END IF;
    RETURN given;
END
$$;
COMMENT ON FUNCTION internal.new_id(regclass, bigint) IS
    'For triggers: the id of a new row, from the sequence of its table. Rejects an id that the statement has, unless the row is replicated.';

-- In REPEATABLE READ and SERIALIZABLE, all statements of a transaction see the same state. A decision would miss a block in all
-- tenants, which locks no tenant.
CREATE OR REPLACE FUNCTION internal.refuse_old_snapshot(attempt text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        PERFORM internal.refuse(format('%s must see what others have committed, but the transaction has isolation level %s.', attempt,
                                       upper(current_setting('transaction_isolation'))),
            'Begin the transaction with BEGIN ISOLATION LEVEL READ COMMITTED; and run the statement again.', 'invalid_transaction_state');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_old_snapshot(text) IS
    'Rejects an approval or a decision in a transaction that sees an old state. attempt: what was attempted, for the message.';

-- Within another statement, a decision would see rows as that statement leaves them, and the history would not have them yet.
CREATE OR REPLACE FUNCTION internal.refuse_nested(target regclass, refusal text, attempt text, called_in text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF strpos(called_in, chr(10)) > 0 THEN
        PERFORM internal.refuse_in(target, refusal, format('A function or a DO block cannot %s.', attempt),
            'Run the INSERT as a statement of its own.', 'object_not_in_prerequisite_state');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_nested(regclass, text, text, text) IS
    'Rejects what a function or a DO block attempts. called_in: PG_CONTEXT of a trigger, which has one line if the statement is not within another. attempt: what was attempted, for the message.';

-- For tables whose rows are of the tenant of another row: a statement may name it, as everywhere, and need not.
CREATE OR REPLACE FUNCTION internal.tenant_of(target regclass, given text, of_other text, other text) RETURNS text
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF given <> of_other THEN
        PERFORM internal.refuse_in(target, '', format('The row names tenant "%s", but its %s belongs to tenant "%s".', given, other, of_other), 'Leave out the column tenant.',
            'foreign_key_violation', 'tenant');
    END IF;
    RETURN of_other;
END
$$;
COMMENT ON FUNCTION internal.tenant_of(regclass, text, text, text) IS
    'For triggers: the tenant of a row, which is that of another row. given: what the statement says; null: nothing. of_other: the tenant of the other row; other: that row, in words.';

CREATE OR REPLACE FUNCTION internal.refuse_missing(target regclass, written jsonb, required text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    needed text;
BEGIN
    FOREACH needed IN ARRAY required LOOP
        IF written -> needed = 'null' THEN
            PERFORM internal.refuse_in(target, '',
                format('A row of %s needs "%s", which is missing or null.',
                       internal.name_of_table(target), needed),
                (SELECT format('"%s": %s', needed, col_description(a.attrelid, a.attnum))
                        || CASE WHEN a.atthasdef THEN ' Omit the column to use its default.' ELSE '' END
                   FROM pg_attribute AS a WHERE a.attrelid = target AND a.attname = needed),
                'not_null_violation', needed, written);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.refuse_missing(regclass, jsonb, text[]) IS
    'Rejects null in required columns of a row, with the column''s meaning.';

CREATE OR REPLACE FUNCTION internal.a_kind(value jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE jsonb_typeof(value) WHEN 'string' THEN 'a string' WHEN 'number' THEN 'a number'
               WHEN 'boolean' THEN 'true or false' WHEN 'array' THEN 'a list'
               WHEN 'object' THEN 'an object' ELSE 'null' END;
COMMENT ON FUNCTION internal.a_kind(jsonb) IS 'The type of a JSON value, with its article.';

-- ---------------------------------------------------------------- texts of people

-- Removed, not refused: people paste from anywhere.
CREATE OR REPLACE FUNCTION internal.plain_text(written text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
    SELECT btrim(regexp_replace(regexp_replace(written,
        '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\U00016fe4\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]', '', 'g'),
        '[\u0001-\u0020\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000]+', ' ', 'g'));
$$;
COMMENT ON FUNCTION internal.plain_text(text) IS
    'A text as one line that terminals and pages show as it is: without control characters, marks of writing direction and invisible characters.';

-- What looks like another text, or moves the cursor of a terminal, shows as what it is. Codes as in JSON.
CREATE OR REPLACE FUNCTION internal.in_ascii(written text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
DECLARE
    result text := written;
    other text;
    code int;
BEGIN
    FOR other IN SELECT DISTINCT m[1] FROM regexp_matches(written, '[^ -~]', 'g') AS m LOOP
        code := ascii(other);
        result := replace(result, other, CASE WHEN code < 65536 THEN '\u' || lpad(to_hex(code), 4, '0')
                                              ELSE '\u' || to_hex(55296 + (code - 65536) / 1024) || '\u' || to_hex(56320 + (code - 65536) % 1024) END);
    END LOOP;
    RETURN result;
END
$$;
COMMENT ON FUNCTION internal.in_ascii(text) IS 'JSON in which each character that is not printable ASCII is written as its code, for example \u200b.';

-- Six characters that spell a code would look like the one that they name.
CREATE OR REPLACE FUNCTION internal.text_in_ascii(written text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
    SELECT internal.in_ascii(replace(written, '\', '\\'));
$$;
COMMENT ON FUNCTION internal.text_in_ascii(text) IS
    'A text in which each character that is not printable ASCII is written as its code, for example \u200b, and each backslash is doubled.';

-- ---------------------------------------------------------------- similar names

CREATE OR REPLACE FUNCTION internal.edit_distance(one text, other text) RETURNS int
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    above int[];
    line int[];
BEGIN
    above := ARRAY(SELECT generate_series(0, length(other)));
    FOR i IN 1 .. length(one) LOOP
        line := ARRAY[i];
        FOR j IN 1 .. length(other) LOOP
            line := line || least(above[j] + (substr(one, i, 1) <> substr(other, j, 1))::int,
                                  above[j + 1] + 1, line[j] + 1);
        END LOOP;
        above := line;
    END LOOP;
    RETURN above[length(other) + 1];
END
$$;
COMMENT ON FUNCTION internal.edit_distance(text, text) IS
    'The number of characters to add, remove or change to get from one string to the other (Levenshtein).';

CREATE OR REPLACE FUNCTION internal.nearest(written text, known text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT name
      FROM (SELECT name, internal.edit_distance(lower(left(written, 64)), lower(name)) AS distance
              FROM unnest(known) AS name) AS candidate
     WHERE (distance <= greatest(2, length(name) / 3) OR length(written) > 1 AND starts_with(lower(name), lower(written)))
       -- the opposite is not near: no-port-forwarding and permit-port-forwarding
       AND (written ~* '^no[-_]') = (name ~* '^no[-_]')
     ORDER BY starts_with(lower(name), lower(written)) DESC, distance, name COLLATE "C" LIMIT 1;
$$;
COMMENT ON FUNCTION internal.nearest(text, text[]) IS
    'The known name that is most similar to a given name; null if none is near.';

CREATE OR REPLACE FUNCTION internal.did_you_mean(written text, known text[], otherwise text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce('Did you mean "' || internal.nearest(written, known) || '"? ', '')
        || CASE WHEN cardinality(known) = 0 THEN format('%s none.', otherwise)
                ELSE format('%s: %s.', otherwise, (SELECT string_agg(name, ', ' ORDER BY name COLLATE "C")
                                                     FROM unnest(known) AS name)) END;
$$;
COMMENT ON FUNCTION internal.did_you_mean(text, text[], text) IS
    'A hint: the most similar known name, if there is one, and the list of all known names.';

CREATE OR REPLACE FUNCTION internal.common_start(one text, other text) RETURNS int
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    least_length int := 0;
    most int := least(length(one), length(other));
    half int;
BEGIN
    WHILE least_length < most LOOP
        half := (least_length + most + 1) / 2;
        IF left(one, half) = left(other, half) THEN
            least_length := half;
        ELSE
            most := half - 1;
        END IF;
    END LOOP;
    RETURN least_length;
END
$$;
COMMENT ON FUNCTION internal.common_start(text, text) IS 'The number of equal characters at the start of two strings.';

CREATE OR REPLACE FUNCTION internal.there_are(written text, known text[], what text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT internal.did_you_mean(written, ARRAY(SELECT name FROM unnest(known) AS name
                                               ORDER BY internal.common_start(name, written) DESC, name COLLATE "C" LIMIT 20),
                               what || CASE WHEN cardinality(known) > 20 THEN ', among others' ELSE '' END);
$$;
COMMENT ON FUNCTION internal.there_are(text, text[], text) IS
    'A hint: the most similar known name, if there is one, and a list of up to twenty known names.';
