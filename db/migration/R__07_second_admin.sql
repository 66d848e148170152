-- The second admin: in tenants that require one, a row that gives access counts as disabled until another login has approved
-- it: a key, a grant, an access rule, an approver. A block that is lifted, shortened or narrowed stays as it is until then.

CREATE OR REPLACE FUNCTION internal.what_it_allows(written jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN internal.without_bookkeeping(written) - '{description,reason,owner,end_access,approved_by,approved_at,steps}'::text[];
COMMENT ON FUNCTION internal.what_it_allows(jsonb) IS
    'The columns of a row that a second admin approves. The steps and end_access of a rule are not among them, because only fewer steps, or turning end_access off, makes a rule laxer.';

-- Not those within a column: a setting that is null may say more than one that is missing.
CREATE OR REPLACE FUNCTION internal.without_nulls(written jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_object_agg(c.key, c.value), '{}') FROM jsonb_each(written) AS c WHERE c.value <> 'null';
$$;
COMMENT ON FUNCTION internal.without_nulls(jsonb) IS 'The columns of a row that are not null.';

-- Whoever may not set the two columns can only lose an approval.
CREATE OR REPLACE FUNCTION internal.loses_approval(before jsonb, after jsonb) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    old_row jsonb := internal.what_it_allows(before);
    new_row jsonb := internal.what_it_allows(after);
BEGIN
    -- an approver has no such column
    IF (old_row ->> 'enabled')::boolean AND NOT (new_row ->> 'enabled')::boolean THEN
        old_row := old_row - 'enabled';
        new_row := new_row - 'enabled';
    END IF;
    -- By their text: as jsonb, 100 and 100.0 are equal, and the history and its readers keep them apart.
    RETURN old_row::text IS DISTINCT FROM new_row::text OR NOT coalesce(after -> 'steps' @> (before -> 'steps'), true)
        OR coalesce((before ->> 'end_access')::boolean AND NOT (after ->> 'end_access')::boolean, false);
END
$$;
COMMENT ON FUNCTION internal.loses_approval(jsonb, jsonb) IS
    'Whether a change of a row changes what the row allows, so that the row loses its approval. Disabling the row, adding a step to a rule and turning end_access on keep the approval.';

CREATE OR REPLACE FUNCTION internal.approved(written record, former record) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    given constant text := CASE WHEN former IS NULL THEN CASE WHEN written.approved_at IS NOT NULL THEN 'approved_at' WHEN written.approved_by IS NOT NULL THEN 'approved_by' END
                                WHEN written.approved_at IS DISTINCT FROM former.approved_at THEN 'approved_at' WHEN written.approved_by IS DISTINCT FROM former.approved_by THEN 'approved_by' END;
BEGIN
    IF given IS NOT NULL THEN
        PERFORM internal.refuse_kept_column(given, 'Leave out approved_at and approved_by. To approve a row, another admin runs its statement: SELECT name, statement FROM broker.pending_approval;');
    END IF;
    IF former IS NULL OR internal.loses_approval(to_jsonb(former), to_jsonb(written)) THEN
        written.approved_by := NULL;
        written.approved_at := NULL;
    ELSIF written.approved_at IS NOT NULL AND written.approved_by IS DISTINCT FROM former.approved_by
          AND written.approved_by IS DISTINCT FROM session_user THEN
        written.approved_by := former.approved_by;
        written.approved_at := former.approved_at;
    END IF;
    RETURN written;
END
$$;
COMMENT ON FUNCTION internal.approved(record, record) IS
    'The row with its approval, or without one if the row is new or now allows something else. former: the row before the change, or null.';

CREATE OR REPLACE FUNCTION internal.is_in_force(tenant text, approved_at timestamptz) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN approved_at IS NOT NULL OR NOT (SELECT t.require_second_admin FROM broker.tenant AS t WHERE t.name = is_in_force.tenant);
END
$$;
COMMENT ON FUNCTION internal.is_in_force(text, timestamptz) IS
    'Whether a row of a tenant needs no approval of a second admin, or has one.';

-- ---------------------------------------------------------------- approve

-- Whoever removes or changes approvers of a rule, one after the other, changes what the rule needs.
CREATE OR REPLACE FUNCTION internal.changes_of_approvers(of_tenant text, of_rule text) RETURNS TABLE (revision bigint, changed_by text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT c.revision, c.changed_by FROM audit.config_change AS c
     WHERE c.tenant = of_tenant AND c.table_name = 'access_approver' AND c.table_name <> 'subject_grant' AND c.before ->> 'rule' = of_rule
       AND internal.what_it_allows(c.after)::text IS DISTINCT FROM internal.what_it_allows(c.before)::text;
$$;
COMMENT ON FUNCTION internal.changes_of_approvers(text, text) IS
    'The changes that removed approvers of a rule, or changed what they may decide.';

-- The history says who changed a row, also where the last change is of its description.
CREATE OR REPLACE FUNCTION internal.writers_of(of_table text, of_tenant text, of_name text) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    looked_for text := of_name;
    writers text[] := '{}';
    change audit.config_change := internal.last_change_of(of_table, of_tenant, of_name);
BEGIN
    -- back to the change that left it in force
    WHILE change.after IS NOT NULL
          AND CASE of_table WHEN 'blocked_subject' THEN change.after ->> 'proposed' IS NOT NULL ELSE change.after ->> 'approved_at' IS NULL END LOOP
        writers := writers || change.changed_by;
        EXIT WHEN change.operation = 'INSERT';
        looked_for := internal.name_in(of_table, change.before);
        change := internal.change_before(of_table, of_tenant, looked_for, change.revision);
    END LOOP;
    IF of_table = 'access_rule' THEN
        -- back to its approval: who changed its approvers since then changed what it needs
        WHILE change.after ->> 'approved_at' = change.before ->> 'approved_at' LOOP
            change := internal.change_before(of_table, of_tenant, looked_for, change.revision);
        END LOOP;
        writers := writers || ARRAY(SELECT c.changed_by FROM internal.changes_of_approvers(of_tenant, of_name) AS c
                                     WHERE change.after ->> 'approved_at' IS NULL OR c.revision > change.revision);
    END IF;
    RETURN ARRAY(SELECT DISTINCT w.login COLLATE "C" FROM unnest(writers) AS w (login) ORDER BY 1);
END
$$;
COMMENT ON FUNCTION internal.writers_of(text, text, text) IS
    'The logins that changed a row since it was last in force, and those that changed the approvers of a rule since its last approval. Neither these logins nor other logins of the same people can approve the row.';

CREATE OR REPLACE FUNCTION internal.own_writer_of(of_table text, of_tenant text, of_name text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT w.login FROM unnest(internal.writers_of(of_table, of_tenant, of_name)) AS w (login)
             WHERE w.login IN (SELECT n.login_name FROM internal.names_of_person(of_tenant, session_user, NULL, NULL) AS n)
             ORDER BY w.login <> session_user, w.login LIMIT 1);
END
$$;
COMMENT ON FUNCTION internal.own_writer_of(text, text, text) IS
    'The login of the current person that is in internal.writers_of for the row; null: none.';

CREATE OR REPLACE FUNCTION internal.may_write_rows_of(tenant text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN internal.login_is('a platform admin') OR pg_has_role(session_user, '${owner_role}', 'MEMBER')
        OR internal.login_is('a tenant admin')
           AND EXISTS (SELECT FROM broker.tenant_admin AS a WHERE a.role_name = session_user AND a.tenant = may_write_rows_of.tenant);
END
$$;
COMMENT ON FUNCTION internal.may_write_rows_of(text) IS 'Whether the login may write the keys, grants, rules and approvers of a tenant.';

CREATE OR REPLACE FUNCTION internal.check_approval(what text, shown text, written jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrote text;
BEGIN
    PERFORM internal.refuse_old_snapshot('An approval');
    -- An edit of the tenant that is not committed yet is waited for, and seen: an approver of the rule that goes, for example.
    PERFORM FROM broker.tenant AS t WHERE t.name = written ->> 'tenant' FOR NO KEY UPDATE;
    -- One sentence for rows that are missing and for rows of others.
    IF written IS NULL THEN
        PERFORM internal.refuse(format('%s does not exist, or you may not write rows of its tenant.', upper(left(shown, 1)) || substr(shown, 2)), 'TABLE broker.pending_approval lists what awaits approval.',
                                'no_data_found');
    ELSIF NOT (SELECT t.require_second_admin FROM broker.tenant AS t WHERE t.name = written ->> 'tenant') THEN
        PERFORM internal.refuse(format('Tenant "%s" requires no second admin, so %s needs no approval.', written ->> 'tenant', shown),
            format('To require one: UPDATE broker.tenant SET require_second_admin = true WHERE name = %L;', written ->> 'tenant'),
            'object_not_in_prerequisite_state');
    ELSIF what = 'subject_grant' AND written ->> 'request_id' IS NOT NULL THEN
        PERFORM internal.refuse(format('%s came from request %s, so it needs no approval by a second admin.', upper(left(shown, 1)) || substr(shown, 2), written ->> 'request_id'),
            'If the access has ended, ask the requester to request it again.', 'object_not_in_prerequisite_state');
    ELSIF what = 'blocked_subject' AND written ->> 'proposed' IS NULL THEN
        PERFORM internal.refuse(format('No change of %s awaits approval.', shown), 'TABLE broker.pending_approval lists what awaits approval.',
                                'object_not_in_prerequisite_state');
    ELSIF written ->> 'approved_at' IS NOT NULL THEN
        PERFORM internal.refuse(format('%s is already in force%s.', upper(left(shown, 1)) || substr(shown, 2),
                                       coalesce(', approved by "' || (written ->> 'approved_by') || '"', '')),
            'TABLE broker.pending_approval lists what awaits approval.', 'object_not_in_prerequisite_state');
    END IF;
    wrote := internal.own_writer_of(what, written ->> 'tenant', internal.name_in(what, written));
    IF wrote IS NOT NULL THEN
        PERFORM internal.refuse_in(('broker.' || what)::regclass, 'another_login_approves',
            format('The person with login "%s" wrote or changed %s%s, and cannot approve it.', session_user, shown,
                   CASE WHEN wrote <> session_user THEN format(' as "%s"', wrote) ELSE '' END),
            CASE WHEN wrote = session_user THEN 'Have another admin of the tenant, or a platform admin, approve this row.'
                 ELSE format('Rows of broker.access_approver say that "%s" and "%s" are one person. Have another person who is an admin approve this row.',
                             session_user, wrote) END, 'insufficient_privilege');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_approval(text, text, jsonb) IS
    'Locks the tenant of a row, and rejects the approval of a row that is in force or written by the login. written: null for a row that is missing or of a tenant whose rows the login may not write. shown: the row in a message.';

-- The revision says which row its reader saw: the statement of broker.pending_approval carries it.
CREATE OR REPLACE FUNCTION internal.row_revision(of_table text, of_tenant text, of_name text) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (internal.last_change_of(of_table, of_tenant, of_name)).revision;
END
$$;
COMMENT ON FUNCTION internal.row_revision(text, text, text) IS 'The revision of the last change of a row, by its id or name.';

-- Who approves a rule was shown its approvers too.
CREATE OR REPLACE FUNCTION internal.approval_revision(of_table text, of_tenant text, of_name text) RETURNS bigint
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT greatest(internal.row_revision(of_table, of_tenant, of_name),
                    (SELECT max(c.revision) FROM internal.changes_of_approvers(of_tenant, of_name) AS c WHERE of_table = 'access_rule'));
$$;
COMMENT ON FUNCTION internal.approval_revision(text, text, text) IS
    'The revision that the approval of a row names: that of its last change, or of a later one of the approvers of a rule.';

CREATE OR REPLACE FUNCTION internal.check_revision(what text, shown text, written jsonb, revision bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    latest constant bigint := internal.approval_revision(what, written ->> 'tenant', internal.name_in(what, written));
    seen jsonb;
    changed text;
BEGIN
    IF revision IS NOT DISTINCT FROM latest THEN
        RETURN;
    END IF;
    SELECT c.after INTO seen FROM audit.config_change AS c
     WHERE c.tenant = written ->> 'tenant' AND c.revision = check_revision.revision AND c.table_name = what
       AND internal.name_in(what, c.after) = internal.name_in(what, written);
    -- or the revision of one of its approvers
    IF what = 'access_rule' AND EXISTS (SELECT FROM internal.changes_of_approvers(written ->> 'tenant', written ->> 'id') AS c WHERE c.revision = check_revision.revision) THEN
        seen := (internal.change_before(what, written ->> 'tenant', written ->> 'id', revision)).after;
    END IF;
    SELECT string_agg(n.key, ', ' ORDER BY n.key) INTO changed
      FROM jsonb_each(internal.what_it_allows(written)) AS n WHERE n.value::text IS DISTINCT FROM (seen -> n.key)::text;
    changed := nullif(concat_ws(', ', changed, CASE WHEN what = 'access_rule' AND latest > internal.row_revision(what, written ->> 'tenant', internal.name_in(what, written))
                                                      OR seen -> 'steps' <> written -> 'steps' THEN 'approvers' END), '');
    PERFORM internal.refuse(
        format(CASE WHEN seen IS NULL THEN '%s has no revision %s.' ELSE '%s was changed after revision %s: %s.' END,
               upper(left(shown, 1)) || substr(shown, 2), coalesce(revision::text, 'null'), coalesce(changed, 'its description')),
        'Read the row again. TABLE broker.pending_approval shows its present version, and the statement that approves that version.', 'object_not_in_prerequisite_state');
END
$$;
COMMENT ON FUNCTION internal.check_revision(text, text, jsonb, bigint) IS
    'Rejects the approval of a row that changed since the revision that its reader saw.';

DROP FUNCTION IF EXISTS broker.approve(text, bigint);
DROP FUNCTION IF EXISTS broker.approve(text, text, text);

CREATE OR REPLACE FUNCTION broker.approve(what text, id bigint, revision bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
AS $$
DECLARE
    shown text := CASE what WHEN 'subject_grant' THEN 'grant ' WHEN 'access_rule' THEN 'access rule ' WHEN 'access_approver' THEN 'access approver '
                          WHEN 'blocked_subject' THEN 'block ' END || id;
    written jsonb;
BEGIN
    IF shown IS NULL THEN
        PERFORM internal.refuse(format('broker.approve with an id approves rows of subject_grant, access_rule, access_approver and blocked_subject, not of "%s".', what),
            'For example SELECT broker.approve(''subject_grant'', 42, 17); for the grant with id 42, or SELECT broker.approve(''key'', ''acme'', ''deploy'', 17); for a key. 17 is the revision: TABLE broker.pending_approval lists the complete statements.',
            'invalid_parameter_value');
    END IF;
    -- The lock of the row comes before that of its tenant (internal.record_change). Nobody locks rows of other tenants.
    CASE what
        WHEN 'subject_grant' THEN SELECT to_jsonb(g) INTO written FROM broker.subject_grant AS g WHERE g.id = approve.id AND internal.may_write_rows_of(g.tenant) FOR NO KEY UPDATE;
        WHEN 'access_rule' THEN SELECT to_jsonb(r) INTO written FROM broker.access_rule AS r WHERE r.id = approve.id AND internal.may_write_rows_of(r.tenant) FOR NO KEY UPDATE;
        WHEN 'access_approver' THEN SELECT to_jsonb(a) INTO written FROM broker.access_approver AS a WHERE a.id = approve.id AND internal.may_write_rows_of(a.tenant) FOR NO KEY UPDATE;
        WHEN 'blocked_subject' THEN SELECT to_jsonb(b) INTO written FROM broker.blocked_subject AS b WHERE b.id = approve.id AND internal.may_write_rows_of(b.tenant) FOR NO KEY UPDATE;
    END CASE;
    PERFORM internal.check_approval(what, shown, written), internal.check_revision(what, shown, written, revision);
    CASE what
        WHEN 'subject_grant' THEN UPDATE broker.subject_grant AS g SET approved_by = session_user, approved_at = clock_timestamp() WHERE g.id = approve.id;
        WHEN 'access_rule' THEN UPDATE broker.access_rule AS r SET approved_by = session_user, approved_at = clock_timestamp() WHERE r.id = approve.id;
        WHEN 'access_approver' THEN UPDATE broker.access_approver AS a SET approved_by = session_user, approved_at = clock_timestamp() WHERE a.id = approve.id;
        WHEN 'blocked_subject' THEN
            UPDATE broker.blocked_subject AS b
               SET idp = p.idp, subject = p.subject, match = p.match, claims = p.claims, until = p.until, enabled = p.enabled,
                   reason = p.reason
              FROM broker.blocked_subject AS kept
             CROSS JOIN LATERAL jsonb_populate_record(kept, kept.proposed) AS p
             WHERE kept.id = approve.id AND b.id = kept.id;
    END CASE;
    RETURN format('%s of tenant "%s" is approved by "%s".', upper(left(shown, 1)) || substr(shown, 2), written ->> 'tenant', session_user);
END
$$;
COMMENT ON FUNCTION broker.approve(text, bigint, bigint) IS
    'Approves a grant, an access rule, an approver or the change of a block, in its version at a revision, in a tenant that requires a second admin: broker.approve(''subject_grant'', id, revision). People who wrote or changed the row cannot approve it.';

CREATE OR REPLACE FUNCTION broker.approve(what text, tenant text, name text, revision bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
AS $$
DECLARE
    shown constant text := format('key "%s" of tenant "%s"', name, tenant);
    written jsonb;
BEGIN
    IF what IS DISTINCT FROM 'key' THEN
        PERFORM internal.refuse(format('broker.approve with a name approves keys, not rows of "%s".', what),
            'For example SELECT broker.approve(''subject_grant'', 42, 17); for the grant with id 42, or SELECT broker.approve(''key'', ''acme'', ''deploy'', 17); for a key. 17 is the revision: TABLE broker.pending_approval lists the complete statements.',
            'invalid_parameter_value');
    END IF;
    SELECT to_jsonb(k) INTO written FROM broker.key AS k
     WHERE k.tenant = approve.tenant AND k.name = approve.name AND internal.may_write_rows_of(k.tenant) FOR NO KEY UPDATE;
    PERFORM internal.check_approval(what, shown, written), internal.check_revision(what, shown, written, revision);
    UPDATE broker.key AS k SET approved_by = session_user, approved_at = clock_timestamp() WHERE k.tenant = approve.tenant AND k.name = approve.name;
    RETURN format('Key "%s" of tenant "%s" is approved by "%s".', name, tenant, session_user);
END
$$;
COMMENT ON FUNCTION broker.approve(text, text, text, bigint) IS
    'Approves a key, in its version at a revision, in a tenant that requires a second admin: broker.approve(''key'', tenant, name, revision). People who wrote or changed the key cannot approve it.';

-- ---------------------------------------------------------------- what awaits approval

CREATE OR REPLACE FUNCTION internal.approvers_of_rule(of_rule bigint) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_agg(internal.without_nulls(internal.what_it_allows(to_jsonb(a)) - '{id,tenant,rule}'::text[])
                              || CASE WHEN internal.is_in_force(a.tenant, a.approved_at) THEN '{}' ELSE '{"awaits_approval": true}'::jsonb END
                              ORDER BY a.step, a.id), '[]')
      FROM broker.access_approver AS a WHERE a.rule = of_rule;
$$;
COMMENT ON FUNCTION internal.approvers_of_rule(bigint) IS 'The approvers of a rule, for a second admin who approves the rule.';

CREATE OR REPLACE VIEW broker.pending_approval WITH (security_invoker = true) AS
SELECT t.name AS tenant, row.table_name, row.name, row.key, internal.text_in_ascii(row.subject) AS subject, internal.text_in_ascii(internal.plain_text(row.reason)) AS reason, row.created_by,
       array_to_string(internal.writers_of(row.table_name, t.name, row.name), ', ') AS changed_by, row.changed_at,
       format('SELECT broker.approve(%L, %s, %s);', row.table_name,
              CASE row.table_name WHEN 'key' THEN format('%L, %L', t.name, row.name) ELSE row.name END,
              internal.approval_revision(row.table_name, t.name, row.name)) AS statement,
       internal.in_ascii((CASE row.table_name WHEN 'blocked_subject' THEN (row.written -> 'proposed') || jsonb_build_object('now', internal.without_nulls(
                                internal.what_it_allows(row.written) - '{id,tenant,proposed}'::text[]))
            ELSE internal.without_nulls(internal.what_it_allows(row.written) - '{id,tenant,enabled}'::text[]) || row.further END)::text)::json AS allows
  FROM broker.tenant AS t
 CROSS JOIN LATERAL (
       SELECT 'subject_grant' AS table_name, g.id::text AS name, g.key, g.subject, g.reason, g.created_by, g.updated_at AS changed_at, to_jsonb(g) AS written, '{}'::jsonb AS further
         FROM broker.subject_grant AS g WHERE g.tenant = t.name AND g.approved_at IS NULL AND g.enabled AND g.request_id IS NULL
        UNION ALL
       SELECT 'key' AS table_name, k.name, k.name AS key, NULL::text AS subject, k.description AS reason, k.created_by, k.updated_at AS changed_at, to_jsonb(k) AS written, '{}'::jsonb AS further
         FROM broker.key AS k WHERE k.tenant = t.name AND k.approved_at IS NULL AND k.enabled
        UNION ALL
       SELECT 'access_rule' AS table_name, r.id::text, r.key, r.subject, r.reason, r.created_by, r.updated_at AS changed_at, to_jsonb(r) AS written,
              jsonb_build_object('steps', r.steps, 'end_access', r.end_access, 'approvers', internal.approvers_of_rule(r.id)) AS further
         FROM broker.access_rule AS r WHERE r.tenant = t.name AND r.approved_at IS NULL AND r.enabled
        UNION ALL
       SELECT 'access_approver' AS table_name, a.id::text, r.key, coalesce(a.subject, a.role_name), NULL::text AS reason, a.created_by,
              a.updated_at AS changed_at, to_jsonb(a) AS written, '{}'::jsonb AS further
         FROM broker.access_approver AS a JOIN broker.access_rule AS r ON r.id = a.rule
        WHERE a.tenant = t.name AND a.approved_at IS NULL
        UNION ALL
       SELECT 'blocked_subject' AS table_name, b.id::text, NULL::text AS key, b.subject, format('%s; proposed: %s', b.reason, b.proposed),
              b.created_by, b.updated_at AS changed_at, to_jsonb(b) AS written, '{}'::jsonb AS further
         FROM broker.blocked_subject AS b WHERE b.tenant = t.name AND b.proposed IS NOT NULL) AS row
 WHERE t.require_second_admin;
COMMENT ON VIEW broker.pending_approval IS
    'Rows that await the approval of a second admin. Until then, keys, grants, access rules and approvers count as disabled, and a change of a block has no effect. Query it WHERE tenant = ….';
COMMENT ON COLUMN broker.pending_approval.tenant IS 'The tenant.';
COMMENT ON COLUMN broker.pending_approval.table_name IS 'key, subject_grant, access_rule, access_approver or blocked_subject.';
COMMENT ON COLUMN broker.pending_approval.name IS 'The name of the key, or the id of the row.';
COMMENT ON COLUMN broker.pending_approval.key IS 'The key; null for a block.';
COMMENT ON COLUMN broker.pending_approval.subject IS 'The subject of the grant, the rule or the block, or the approver; null for a key.';
COMMENT ON COLUMN broker.pending_approval.reason IS 'The reason of the grant, the rule or the block (with the proposed change), or the description of the key.';
COMMENT ON COLUMN broker.pending_approval.created_by IS 'The login that wrote the row. This login cannot approve the row, unless the row has been in force since.';
COMMENT ON COLUMN broker.pending_approval.changed_by IS 'The logins that changed the row since it was last in force. For a rule, also the logins that removed or changed its approvers since its last approval. Neither these logins nor other logins of the same people can approve the row.';
COMMENT ON COLUMN broker.pending_approval.changed_at IS 'When the row was last changed.';
COMMENT ON COLUMN broker.pending_approval.allows IS
    'What is approved: the columns of the row without its description, or the proposed change of a block, with what the block is now. Columns that are null are left out. A rule also shows its steps, end_access and approvers. Here and in subject and reason, each character that is not printable ASCII is shown as its code, for example \u200b; in subject and reason, a backslash is shown as two.';
COMMENT ON COLUMN broker.pending_approval.statement IS 'The statement with which another admin approves the row as it is now, after reading it. It fails once the row has changed.';
