-- Tenants that move to the database of another broker (a cell), with their rows, ids and history. How, and why so:
-- docs/internals/decisions/cells.md.

-- ---------------------------------------------------------------- what moves

CREATE OR REPLACE FUNCTION internal.moving_tables() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY['tenant', 'tenant_admin', 'identity_provider', 'access_provider', 'key', 'access_rule', 'access_approver',
                 'access_request', 'subject_grant', 'access_decision', 'grant_review', 'blocked_subject', 'ended_credential',
                 'console_access'];
COMMENT ON FUNCTION internal.moving_tables() IS
    'The tables of schema broker whose rows move with their tenant, each after those that it refers to.';

CREATE OR REPLACE FUNCTION broker.export_tenant(tenant text, url text, issuer text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
AS $$
DECLARE
    moving broker.tenant;
    head record;
    moved jsonb;
    content jsonb;
    rows jsonb := '{}';
    size bigint;
    target text;
BEGIN
    SELECT t.* INTO moving FROM broker.tenant AS t WHERE t.name = export_tenant.tenant FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM internal.refuse(format('Tenant "%s" does not exist.', tenant), 'TABLE broker.tenant lists the tenants.', 'no_data_found');
    ELSIF moving.moved_to <> url THEN
        PERFORM internal.refuse(format('Tenant "%s" has already moved to %s.', tenant, moving.moved_to),
            format('To write the same file again: mintmark tenant export %s --to %s', tenant, moving.moved_to),
            'object_not_in_prerequisite_state');
    ELSIF EXISTS (SELECT FROM work.early_access_end AS e WHERE e.tenant = export_tenant.tenant) THEN
        PERFORM internal.refuse(format('The broker is still ending credentials of tenant "%s" whose access ended early.', tenant),
            'Run the command again in two minutes.', 'object_in_use');
    ELSIF moving.moved_to IS NULL THEN
        UPDATE broker.tenant AS t SET moved_to = url WHERE t.name = export_tenant.tenant;
    END IF;

    SELECT * INTO head FROM audit.last_change(tenant);
    content := jsonb_build_object(
        'format', 1, 'tenant', tenant, 'to', url, 'issuer', coalesce(moving.issuer, issuer),
        'schema_version', (SELECT v.version FROM runtime.schema_version AS v),
        'revision', head.revision, 'hash', encode(head.hash, 'hex'),
        'checkpoint', (SELECT jsonb_build_object('number', c.number, 'jws', c.jws) FROM log.checkpoint AS c ORDER BY c.number DESC LIMIT 1),
        'used_token', (SELECT coalesce(jsonb_agg(to_jsonb(u)), '[]') FROM work.used_token AS u
                         JOIN broker.identity_provider AS p ON p.name = u.idp
                        WHERE p.tenant = export_tenant.tenant AND u.usable_until > now()),
        'config_change', (SELECT jsonb_agg(to_jsonb(c) ORDER BY c.revision) FROM log.config_change AS c WHERE c.tenant = export_tenant.tenant));
    FOREACH target IN ARRAY internal.moving_tables() LOOP
        EXECUTE format('SELECT coalesce(jsonb_agg(to_jsonb(t)), ''[]'') FROM broker.%I AS t WHERE t.%I = $1', target,
                       CASE target WHEN 'tenant' THEN 'name' ELSE 'tenant' END) INTO moved USING tenant;
        rows := rows || jsonb_build_object(target, moved);
    END LOOP;
    content := content || jsonb_build_object('rows', rows);
    size := octet_length(content::text);
    IF size > 128 << 20 THEN
        PERFORM internal.refuse(format('Tenant "%s" and its history have %s MiB; the maximum for a file is 128 MiB.', tenant, size >> 20),
            'This release cannot move a larger tenant. Nothing was changed: the tenant stays at this cell.', 'program_limit_exceeded');
    END IF;
    RETURN content::text;
END
$$;
COMMENT ON FUNCTION broker.export_tenant(text, text, text) IS
    'Closes a tenant that moves to another cell, and returns all its rows as JSON. A repeated call returns the same. Called by mintmark tenant export, which signs the result.';

-- ---------------------------------------------------------------- taking a tenant in

CREATE OR REPLACE FUNCTION internal.check_moved_history(content jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    broken bigint;
BEGIN
    SELECT min(c.at) INTO broken
      FROM (SELECT row_number() OVER (ORDER BY n.revision) AS at, n.*,
                   lag(n.hash, 1, decode(repeat('00', 32), 'hex')) OVER (ORDER BY n.revision) AS before_it
              FROM jsonb_populate_recordset(NULL::log.config_change, content -> 'config_change') AS n) AS c
     WHERE c.revision <> c.at OR c.tenant IS DISTINCT FROM content ->> 'tenant' OR c.prev_hash <> c.before_it
        OR c.hash IS DISTINCT FROM internal.change_hash(c.prev_hash, c.tenant, c.revision, c.table_name, c.operation, c.before, c.after,
                                                        c.changed_by, c.changed_at, c.transaction_id);
    IF broken IS NOT NULL OR NOT EXISTS (
            SELECT FROM jsonb_populate_recordset(NULL::log.config_change, content -> 'config_change') AS c
             WHERE c.revision = (content ->> 'revision')::bigint AND encode(c.hash, 'hex') = content ->> 'hash'
               AND c.revision = jsonb_array_length(content -> 'config_change')) THEN
        PERFORM internal.refuse(
            CASE WHEN broken IS NULL THEN 'The history in the file does not end with the revision and the hash that the file names.'
                 ELSE format('The history in the file is broken at revision %s.', broken) END,
            'Run mintmark audit verify at the other cell.', 'data_corrupted');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_moved_history(jsonb) IS 'Rejects a file whose history is not a hash chain, or does not end where the file says.';

CREATE OR REPLACE FUNCTION internal.check_moved_tenant(content jsonb, statement text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    here broker.tenant;
    head record;
    target text;
    taken text;
BEGIN
    IF (content ->> 'schema_version')::int <> (SELECT v.version FROM runtime.schema_version AS v) THEN
        PERFORM internal.refuse(
            format('The file has schema version %s, but this database has version %s.', content ->> 'schema_version',
                   (SELECT v.version FROM runtime.schema_version AS v)),
            'Bring both cells to the same release, and export the tenant again.', 'object_not_in_prerequisite_state');
    END IF;
    FOREACH target IN ARRAY internal.moving_tables() LOOP
        SELECT min(coalesce(n.row ->> CASE target WHEN 'tenant' THEN 'name' ELSE 'tenant' END, 'null')) INTO taken
          FROM jsonb_array_elements(content -> 'rows' -> target) AS n (row)
         WHERE n.row ->> CASE target WHEN 'tenant' THEN 'name' ELSE 'tenant' END IS DISTINCT FROM content ->> 'tenant';
        IF taken IS NOT NULL THEN
            PERFORM internal.refuse(format('The file is for tenant "%s", but contains a row of broker.%s that belongs to tenant "%s".', content ->> 'tenant', target, taken),
                'mintmark tenant export never writes such a file. Find out who made it.', 'data_corrupted');
        END IF;
    END LOOP;
    -- ids are never given twice, in no tenant
    FOREACH target IN ARRAY ARRAY['access_request', 'subject_grant', 'blocked_subject', 'grant_review', 'access_rule', 'access_approver', 'access_decision',
                                  'console_access'] LOOP
        EXECUTE format($q$SELECT min(t.id::text) FROM broker.%1$I AS t
                           WHERE t.id IN (SELECT (n.row ->> 'id')::%2$s FROM jsonb_array_elements($1) AS n (row))
                             AND t.tenant IS DISTINCT FROM $2$q$, target, CASE target WHEN 'access_request' THEN 'uuid' ELSE 'bigint' END)
           INTO taken USING content -> 'rows' -> target, content ->> 'tenant';
        IF taken IS NOT NULL THEN
            PERFORM internal.refuse(format('The file has a row of broker.%s with id %s, but another tenant at this cell has a row with that id.', target, taken),
                'Give each cell its own range of ids, as docs/run/cells.md says. Until then, import the tenant only into a cell that has no rows with these ids.',
                'unique_violation');
        END IF;
    END LOOP;
    SELECT min(c.after ->> 'id') INTO taken
      FROM jsonb_array_elements(content -> 'rows' -> 'subject_grant') AS n (row)
      JOIN log.config_change AS c ON c.table_name = 'subject_grant' AND (coalesce(c.after, c.before)) ->> 'id' = n.row ->> 'id'
     WHERE c.tenant <> content ->> 'tenant' AND c.after IS NOT NULL;
    IF taken IS NOT NULL THEN
        PERFORM internal.refuse(format('The file has grant %s, but another tenant in the history of this cell has a grant with that id.', taken),
            'Give each cell its own range of ids, as docs/run/cells.md says.', 'unique_violation');
    END IF;
    SELECT string_agg(quote_ident(p.name), ', ' ORDER BY p.name) INTO taken
      FROM broker.identity_provider AS p
     WHERE p.name IN (SELECT n.row ->> 'name' FROM jsonb_array_elements(content -> 'rows' -> 'identity_provider') AS n (row))
       AND p.tenant <> content ->> 'tenant';
    IF taken IS NOT NULL THEN
        PERFORM internal.refuse(format('Other tenants here have identity providers with these names: %s.', taken),
            'Rename these identity providers here, or rename them at the other cell before the export.', 'unique_violation');
    END IF;

    SELECT t.* INTO here FROM broker.tenant AS t WHERE t.name = content ->> 'tenant' FOR UPDATE;
    IF NOT FOUND THEN
        -- a history without its tenant would be continued by the wrong one
        SELECT * INTO head FROM audit.last_change(content ->> 'tenant');
        IF head.revision > 0 THEN
            PERFORM internal.refuse(format('This cell has the history of a deleted tenant "%s", so the file''s tenant of the same name cannot be imported here.', content ->> 'tenant'), 'Import the tenant into another cell.', 'unique_violation');
        END IF;
        RETURN false;
    ELSIF here.moved_from ->> 'statement' = statement THEN
        PERFORM internal.refuse(format('Tenant "%s" was imported from this file already.', here.name), 'There is nothing left to do.',
                                'unique_violation');
    ELSIF here.moved_to IS NULL THEN
        PERFORM internal.refuse(format('Tenant "%s" already exists here.', here.name),
            'Only a tenant that does not exist here, or that moved away from here, can be imported. Names of tenants are unique across all cells.',
            'unique_violation');
    END IF;
    SELECT * INTO head FROM audit.last_change(here.name);
    IF NOT EXISTS (SELECT FROM jsonb_populate_recordset(NULL::log.config_change, content -> 'config_change') AS c
                    WHERE c.revision = head.revision AND c.hash = head.hash) OR (content ->> 'revision')::bigint = head.revision THEN
        PERFORM internal.refuse(
            format('The history in the file does not continue that of tenant "%s" here, which ends with revision %s.', here.name, head.revision),
            'Export the tenant again at the cell where it is now, and import that file.', 'object_not_in_prerequisite_state');
    END IF;
    RETURN true;
END
$$;
COMMENT ON FUNCTION internal.check_moved_tenant(jsonb, text) IS
    'Rejects a tenant that cannot be imported, with a hint. Returns whether the tenant was here before.';

-- Rows are written as they were: the triggers that sign, record, check and count them worked at the other cell. Those stay that
-- keep what is derived from rows.
CREATE OR REPLACE FUNCTION internal.kept_in_moves() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY['count_keys', 'count_blocks', 'check_subject_grants', 'lint_written', 'refuse_change'];
COMMENT ON FUNCTION internal.kept_in_moves() IS 'The functions of triggers that also run for the rows of an imported tenant.';

CREATE OR REPLACE FUNCTION internal.write_moved_rows(content jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text;
    keys text;
    columns text;
    changed text;
    never_deleted constant text[] := ARRAY['access_request', 'access_decision', 'grant_review', 'ended_credential', 'tenant'];
BEGIN
    -- Rows that were deleted at the other cell, before those that they refer to.
    FOR target, keys IN
        SELECT t.name, (SELECT string_agg(format('t.%1$I = n.%1$I', a.attname), ' AND ')
                          FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
                         WHERE i.indrelid = ('broker.' || t.name)::regclass AND i.indisprimary)
          FROM unnest(internal.moving_tables()) WITH ORDINALITY AS t (name, at)
         WHERE t.name <> ALL (never_deleted) ORDER BY t.at DESC
    LOOP
        EXECUTE format('DELETE FROM broker.%1$I AS t WHERE t.tenant = $2
                           AND NOT EXISTS (SELECT FROM jsonb_populate_recordset(NULL::broker.%1$I, $1) AS n WHERE %2$s)', target, keys)
          USING content -> 'rows' -> target, content ->> 'tenant';
    END LOOP;
    FOREACH target IN ARRAY internal.moving_tables() LOOP
        SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
               string_agg(format('%1$I = excluded.%1$I', a.attname), ', ' ORDER BY a.attnum)
          INTO columns, changed
          FROM pg_attribute AS a WHERE a.attrelid = ('broker.' || target)::regclass AND a.attnum > 0 AND NOT a.attisdropped;
        SELECT string_agg(quote_ident(a.attname), ', ') INTO keys
          FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
         WHERE i.indrelid = ('broker.' || target)::regclass AND i.indisprimary;
        EXECUTE format('INSERT INTO broker.%1$I (%2$s)
                        SELECT %2$s FROM jsonb_populate_recordset(NULL::broker.%1$I, $1) ON CONFLICT (%3$s) DO %4$s', target, columns, keys,
                       CASE WHEN target IN ('access_decision', 'grant_review', 'ended_credential') THEN 'NOTHING' ELSE 'UPDATE SET ' || changed END)
          USING content -> 'rows' -> target;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.write_moved_rows(jsonb) IS 'Makes the rows of a tenant what they are in the file, with ids and bookkeeping.';

CREATE OR REPLACE FUNCTION internal.trust_moved_audiences(of_tenant text) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    taken record;
BEGIN
    DELETE FROM work.trusted_audience AS t USING broker.identity_provider AS p WHERE p.name = t.idp AND p.tenant = of_tenant;
    INSERT INTO work.trusted_audience (issuer, audience, idp)
    SELECT p.issuer, audience, p.name FROM broker.identity_provider AS p CROSS JOIN unnest(p.audiences) AS audience
     WHERE p.tenant = of_tenant ORDER BY audience
        ON CONFLICT (issuer, audience) DO NOTHING;
    SELECT p.issuer, audience INTO taken FROM broker.identity_provider AS p CROSS JOIN unnest(p.audiences) AS audience
     WHERE p.tenant = of_tenant
       AND NOT EXISTS (SELECT FROM work.trusted_audience AS t WHERE t.issuer = p.issuer AND t.audience = audience.audience AND t.idp = p.name)
     LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse(format('Issuer "%s" with audience "%s" belongs to an identity provider of another tenant here.', taken.issuer, taken.audience),
            'A token''s issuer and audience must identify exactly one tenant. Give one of the two identity providers another audience.', 'unique_violation');
    END IF;
    PERFORM internal.check_owner_claims(p.name, p.issuer, p.required_claims) FROM broker.identity_provider AS p WHERE p.tenant = of_tenant;
END
$$;
COMMENT ON FUNCTION internal.trust_moved_audiences(text) IS
    'Makes tokens with the issuers and audiences of an imported tenant belong to it. Rejects an issuer and audience of another tenant, and a shared issuer without a claim of the owner.';

CREATE OR REPLACE FUNCTION internal.move_sequences_past(content jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target text;
    greatest_id bigint;
    last bigint;
BEGIN
    FOREACH target IN ARRAY internal.moving_tables() LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = ('broker.' || target)::regclass AND a.attname = 'id' AND a.atttypid = 'bigint'::regtype);
        SELECT max((n.row ->> 'id')::bigint) INTO greatest_id FROM jsonb_array_elements(content -> 'rows' -> target) AS n (row);
        EXECUTE format('SELECT last_value FROM %s', pg_get_serial_sequence('broker.' || target, 'id')) INTO last;
        -- ids of another cell's range are never reached
        IF greatest_id >= last AND greatest_id - last < 1000000000 THEN
            PERFORM setval(pg_get_serial_sequence('broker.' || target, 'id')::regclass, greatest_id);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.move_sequences_past(jsonb) IS
    'Moves the sequences past the ids of an imported tenant, unless these ids are in the range of another cell.';

CREATE OR REPLACE FUNCTION broker.import_tenant(content jsonb, source text, statement text, dry_run boolean) RETURNS TABLE (table_name text, row_count bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
AS $$
DECLARE
    silenced record;
    restore text[] := '{}';
BEGIN
    PERFORM internal.check_moved_history(content), internal.check_moved_tenant(content, statement);
    FOR silenced IN
        SELECT t.tgrelid::regclass AS target, t.tgname AS name, t.tgenabled AS state
          FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid
         WHERE t.tgrelid IN (SELECT ('broker.' || name)::regclass FROM unnest(internal.moving_tables()) AS name)
           AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND p.proname <> ALL (internal.kept_in_moves())
         ORDER BY 1, 2
    LOOP
        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER %I', silenced.target, silenced.name);
        restore := restore || format('ALTER TABLE %s ENABLE %sTRIGGER %I', silenced.target,
                                     CASE silenced.state WHEN 'A' THEN 'ALWAYS ' WHEN 'R' THEN 'REPLICA ' ELSE '' END, silenced.name);
    END LOOP;
    INSERT INTO log.config_change (tenant, revision, table_name, operation, before, after, changed_by, changed_at, transaction_id, prev_hash, hash)
    SELECT c.tenant, c.revision, c.table_name, c.operation, c.before, c.after, c.changed_by, c.changed_at, c.transaction_id, c.prev_hash, c.hash
      FROM jsonb_populate_recordset(NULL::log.config_change, content -> 'config_change') AS c
     WHERE c.revision > broker.revision(content ->> 'tenant')
     ORDER BY c.revision;
    PERFORM internal.write_moved_rows(content), internal.trust_moved_audiences(content ->> 'tenant');
    FOR silenced IN SELECT unnest(restore) AS statement LOOP
        EXECUTE silenced.statement;
    END LOOP;
    INSERT INTO work.used_token (idp, token_id, usable_until)
    SELECT u.idp, u.token_id, u.usable_until FROM jsonb_populate_recordset(NULL::work.used_token, content -> 'used_token') AS u
      JOIN broker.identity_provider AS p ON p.name = u.idp AND p.tenant = content ->> 'tenant'
        ON CONFLICT DO NOTHING;
    IF NOT dry_run THEN
        PERFORM internal.move_sequences_past(content);
    END IF;
    UPDATE broker.tenant AS t
       SET moved_to = NULL, moved_from = jsonb_build_object('url', source, 'statement', statement), issuer = coalesce(t.issuer, content ->> 'issuer')
     WHERE t.name = content ->> 'tenant';
    RETURN QUERY
    SELECT n.name, jsonb_array_length(coalesce(content -> 'rows' -> n.name, content -> n.name))::bigint
      FROM unnest(internal.moving_tables() || ARRAY['config_change']) WITH ORDINALITY AS n (name, at) ORDER BY n.at;
END
$$;
COMMENT ON FUNCTION broker.import_tenant(jsonb, text, text, boolean) IS
    'Writes a tenant of another cell as it was there, and records that it moved. statement: the signature of the other cell''s audit key, which mintmark tenant import has checked. dry_run: the caller rolls back.';
