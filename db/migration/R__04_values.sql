-- What is wrong with a value is refused when it is written: in a sentence, with what to write instead, under the code that the
-- constraint would have given. The constraints stay, and are the guard. What several tables share; the rest is in the tables' files.

-- ---------------------------------------------------------------- what is missing

-- ---------------------------------------------------------------- secrets

-- Each form has a run of 13 such characters, an address or the name of a key. Most texts have none, and are not searched.
CREATE OR REPLACE FUNCTION internal.may_hold_secret(value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN value ~ '[A-Za-z0-9_+/=-]{13}|://|PRIVATE KEY';
COMMENT ON FUNCTION internal.may_hold_secret(text) IS 'Whether a text is worth a search for secrets (internal.refuse_secret).';

CREATE OR REPLACE FUNCTION internal.refuse_secret(target regclass, named_column text, value text, refused jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
DECLARE
    found text;
BEGIN
    -- To search for a part of each form is cheap. To compile all of them would cost each session 5 ms of CPU.
    found := (SELECT substring(value FROM s.form) FROM (VALUES
             ('AKIA', 'AKIA[A-Z0-9]{16}'), ('ASIA', 'ASIA[A-Z0-9]{16}'), ('gh', 'gh[opsru]_[A-Za-z0-9]{36}'),
             ('github_pat_', 'github_pat_[A-Za-z0-9_]{22}'), ('glpat-', 'glpat-[A-Za-z0-9_-]{20}'), ('xox', 'xox[abeoprs]-[A-Za-z0-9-]{10}'),
             ('eyJ', 'eyJ[A-Za-z0-9_-]{10,}[.]eyJ[A-Za-z0-9_-]{10,}[.]'), ('AIza', 'AIza[A-Za-z0-9_-]{35}'),
             ('ya29.', 'ya29[.][A-Za-z0-9_-]{20}'), ('k_live_', '[rs]k_live_[A-Za-z0-9]{20}'), ('npm_', 'npm_[A-Za-z0-9]{36}'),
             ('hv', 'hv[sb][.][A-Za-z0-9_-]{24}'), ('PRIVATE KEY', '-----BEGIN [A-Z ]*PRIVATE KEY'),
             ('sk-', '\msk-(?:ant-|proj-)?[A-Za-z0-9_-]{20}'), ('dckr_pat_', 'dckr_pat_[A-Za-z0-9_-]{20}'),
             ('pypi-AgE', 'pypi-AgE[A-Za-z0-9_-]{20}'), ('SG.', 'SG[.][A-Za-z0-9_-]{16,}[.]'),
             ('AGE-SECRET-KEY-1', 'AGE-SECRET-KEY-1[A-Z0-9]{20}'), ('AccountKey=', 'AccountKey=[A-Za-z0-9+/=]{20}'),
             ('://', '[a-z]://[^[:space:]/:@]+:[^[:space:]/@]+@')) AS s (part, form)
               -- URLs in settings have a check of their own
               WHERE strpos(value, s.part) > 0 AND value ~ s.form AND NOT (named_column = 'settings' AND s.part = '://') LIMIT 1);
    IF found IS NOT NULL THEN
        PERFORM internal.refuse_in(target, 'secret_in_text',
            format('%s in %s contains what looks like a token or a key ("%s…").', named_column, internal.name_of_table(target), left(found, 5)),
            'Secrets are not stored in the database. Remove the secret from the row, and revoke it if it is real.', 'check_violation', refused => refused);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_secret(regclass, text, text, jsonb) IS
    'Rejects known forms of tokens and keys in a column. refused: the row without the columns that may have one.';

-- ---------------------------------------------------------------- the form of values

CREATE OR REPLACE FUNCTION internal.line_fault(value text, longest int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN value IS NULL OR internal.is_line(value, longest) THEN NULL
                WHEN value = '' THEN 'is empty'
                WHEN length(value) > longest THEN format('has %s characters; the maximum is %s', length(value), longest)
                ELSE 'has control characters' END;
$$;
COMMENT ON FUNCTION internal.line_fault(text, int) IS
    'The fault of a line of text, as the end of a sentence; null if there is none.';

CREATE OR REPLACE FUNCTION internal.list_fault(list text[], longest int) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN list IS NULL OR internal.is_list(list, longest) THEN NULL
                WHEN cardinality(list) = 0 THEN 'is empty'
                WHEN cardinality(list) > 1000 THEN format('has %s elements; the maximum is 1000', cardinality(list))
                WHEN array_ndims(list) > 1 THEN 'is a list of lists'
                WHEN array_position(list, NULL) IS NOT NULL THEN 'has an element that is null'
                ELSE coalesce((SELECT format('has an element that %s', internal.line_fault(item, longest))
                                 FROM unnest(list) AS item WHERE internal.line_fault(item, longest) IS NOT NULL LIMIT 1),
                              (SELECT format('has "%s" twice', item) FROM unnest(list) AS item
                                GROUP BY item HAVING count(*) > 1 ORDER BY item COLLATE "C" LIMIT 1)) END;
$$;
COMMENT ON FUNCTION internal.list_fault(text[], int) IS
    'The fault of a list of strings, as the end of a sentence; null if there is none.';

CREATE OR REPLACE FUNCTION internal.refuse_move(what text, old_tenant text, new_tenant text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF old_tenant <> new_tenant THEN
        PERFORM internal.refuse(format('A row of broker.%s cannot be moved from "%s" to "%s".',
                                     what, old_tenant, new_tenant),
                              'Insert a new row for the other tenant, and delete the old row.');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_move(text, text, text) IS 'Rejects moving a row to another tenant, before foreign keys do.';

CREATE OR REPLACE FUNCTION internal.refuse_values(target regclass, row_name text, named_column text, value jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fault constant text := internal.values_fault(value);
BEGIN
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse_in(target, named_column || '_have_up_to_256_values_in_8_levels', format('%s: its %s %s.', row_name, named_column, fault),
            CASE named_column WHEN 'settings' THEN 'Use fewer values, or divide them between two rows. A policy written as one string is one value.'
                              WHEN 'outputs' THEN 'Name only the outputs that clients read.'
                              ELSE 'Divide the values between two rows, or let a glob match several.' END,
            'check_violation');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_values(regclass, text, text, jsonb) IS 'Rejects a column of a row whose JSON has too many values or levels.';

-- ---------------------------------------------------------------- conditions on claims

CREATE OR REPLACE FUNCTION internal.is_condition(condition jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE jsonb_typeof(condition)
               WHEN 'string' THEN true
               WHEN 'boolean' THEN true
               -- what a double can hold
               WHEN 'number' THEN abs(condition::numeric) <= 1.7976931348623157e308
               WHEN 'object' THEN jsonb_typeof(condition -> 'glob') IS NOT DISTINCT FROM 'string'
                                  AND condition - 'glob' = '{}'
               ELSE false END;
COMMENT ON FUNCTION internal.is_condition(jsonb) IS
    'Whether a JSON value is a valid condition: a string, a number, true, false or {"glob": "…"}.';

CREATE OR REPLACE FUNCTION internal.claims_fault(conditions jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    claim text;
    condition jsonb;
    glob text;
BEGIN
    IF conditions = '{}' THEN
        RETURN NULL;
    ELSIF octet_length(conditions::text) > 4096 THEN
        RETURN format('the JSON has %s bytes; the maximum is 4096', octet_length(conditions::text));
    ELSIF jsonb_typeof(conditions) <> 'object' THEN
        RETURN format('the JSON must be an object such as {"environment": "production"}, not %s', internal.a_kind(conditions));
    END IF;
    FOR claim, condition IN SELECT key, value FROM jsonb_each(conditions) ORDER BY key COLLATE "C" LOOP
        IF starts_with(claim, '/') AND claim ~ '~(?![01])' THEN
            RETURN format('"%s" starts with /, so it is a JSON pointer, in which ~ must be written as ~0 and / as ~1', claim);
        ELSIF jsonb_typeof(condition) = 'array' THEN
            IF condition = '[]' THEN
                RETURN format('the list for "%s" is empty, so no token can match', claim);
            ELSIF NOT (SELECT bool_and(internal.is_condition(one)) FROM jsonb_array_elements(condition) AS one) THEN
                RETURN format('the list for "%s" may contain only strings, numbers, true, false and {"glob": "…"}', claim);
            END IF;
        ELSIF NOT internal.is_condition(condition) THEN
            RETURN CASE WHEN jsonb_typeof(condition) = 'object'
                        THEN format('the condition on "%s" is an object; the only allowed object is {"glob": "…"}', claim)
                        WHEN jsonb_typeof(condition) = 'number'
                        THEN format('the number for "%s" is too large', claim)
                        ELSE format('the condition on "%s" is null, which matches no token', claim) END;
        END IF;
        glob := (SELECT min(internal.glob_fault(one ->> 'glob'))
                   FROM jsonb_array_elements(CASE jsonb_typeof(condition) WHEN 'array' THEN condition
                                             ELSE jsonb_build_array(condition) END) AS one
                  WHERE jsonb_typeof(one) = 'object');
        IF glob IS NOT NULL THEN
            RETURN format('the glob for "%s" %s', claim, glob);
        END IF;
    END LOOP;
    RETURN 'one ' || internal.json_fault(conditions, 4096);
END
$$;
COMMENT ON FUNCTION internal.claims_fault(jsonb) IS
    'The fault of conditions on claims, as the end of a sentence; null if there is none.';

CREATE OR REPLACE FUNCTION internal.claims_hint() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN 'For example {"environment": "production", "ref": {"glob": "refs/heads/*"}, "groups": ["ops", "dev"], "/namespace/id": 7}: a string, number or boolean must be equal, a list means any of its values, and a name that starts with / is a JSON pointer.';
COMMENT ON FUNCTION internal.claims_hint() IS 'A hint: what conditions on claims look like.';
