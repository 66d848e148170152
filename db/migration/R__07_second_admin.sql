-- The second admin: in tenants that require one, a row that gives access counts as disabled until another login has approved
-- it: a key, a grant, an access rule, an approver. A block that is lifted, shortened or narrowed stays as it is until then.

CREATE OR REPLACE FUNCTION internal.what_it_allows(written jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN internal.without_bookkeeping(written) - '{description,reason,owner,approved_by,approved_at}'::text[];
COMMENT ON FUNCTION internal.what_it_allows(jsonb) IS
    'The columns of a row that a second admin approves.';

-- Whoever has no privilege on the two columns can only lose an approval.
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
    RETURN old_row IS DISTINCT FROM new_row;
END
$$;
COMMENT ON FUNCTION internal.loses_approval(jsonb, jsonb) IS
    'Whether a change of a row changes what it allows, so that its approval is lost. To disable it does not.';

CREATE OR REPLACE FUNCTION internal.approved(written record, former record) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF former IS NULL OR internal.loses_approval(to_jsonb(former), to_jsonb(written)) THEN
        written.approved_by := NULL;
        written.approved_at := NULL;
    ELSIF written.approved_by IS DISTINCT FROM former.approved_by AND written.approved_by IS DISTINCT FROM session_user THEN
        written.approved_by := former.approved_by;
        written.approved_at := former.approved_at;
    END IF;
    RETURN written;
END
$$;
COMMENT ON FUNCTION internal.approved(record, record) IS
    'A row with the approval that it keeps: one that is written, or changed in what it allows, has none. former: the row before, or null.';

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

-- The history says who changed a row, also where the last change is of its description.
CREATE OR REPLACE FUNCTION internal.wrote_what_awaits_approval(of_table text, of_tenant text, of_name text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
AS $$
DECLARE
    looked_for text := of_name;
    before_revision bigint := 9223372036854775807;
    change record;
BEGIN
    LOOP
        -- Along an index of the row's own changes, from the last one on.
        IF of_table = 'subject_grant' THEN
            SELECT c.* INTO change FROM audit.config_change AS c
             WHERE c.table_name = 'subject_grant' AND coalesce(c.after, c.before) ->> 'id' = looked_for AND c.revision < before_revision
             ORDER BY coalesce(c.after, c.before) ->> 'id' DESC, c.revision DESC LIMIT 1;
        ELSE
            SELECT c.* INTO change FROM audit.config_change AS c
             WHERE coalesce(c.tenant, '') = of_tenant AND c.table_name = of_table AND c.table_name <> 'subject_grant'
               AND coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '') = looked_for
               AND c.revision < before_revision
             ORDER BY coalesce(c.tenant, '') DESC, c.table_name DESC,
                      coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '') DESC, c.revision DESC
             LIMIT 1;
        END IF;
        IF NOT FOUND OR change.after IS NULL
           OR (CASE of_table WHEN 'blocked_subject' THEN change.after ->> 'proposed' IS NULL ELSE change.after ->> 'approved_at' IS NOT NULL END) THEN
            RETURN false;
        ELSIF change.changed_by = session_user THEN
            RETURN true;
        ELSIF change.operation = 'INSERT' THEN
            RETURN false;
        END IF;
        before_revision := change.revision;
        looked_for := internal.name_in(of_table, change.before);
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.wrote_what_awaits_approval(text, text, text) IS
    'Whether the login made one of the changes of a row since it was last in force.';

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
BEGIN
    -- One sentence for rows that are missing and for rows of others.
    IF written IS NULL OR NOT internal.may_write_rows_of(written ->> 'tenant') THEN
        PERFORM internal.refuse(format('There is no %s that you may write.', shown), 'TABLE broker.pending_approval lists what awaits approval.',
                                'no_data_found');
    ELSIF NOT (SELECT t.require_second_admin FROM broker.tenant AS t WHERE t.name = written ->> 'tenant') THEN
        PERFORM internal.refuse(format('Tenant "%s" requires no second admin, so %s needs no approval.', written ->> 'tenant', shown),
            format('UPDATE broker.tenant SET require_second_admin = true WHERE name = %L;', written ->> 'tenant'),
            'object_not_in_prerequisite_state');
    ELSIF what = 'blocked_subject' AND written ->> 'proposed' IS NULL THEN
        PERFORM internal.refuse(format('No change of %s awaits approval.', shown), 'TABLE broker.pending_approval lists what awaits approval.',
                                'object_not_in_prerequisite_state');
    ELSIF written ->> 'approved_at' IS NOT NULL THEN
        PERFORM internal.refuse(format('%s is in force already%s.', upper(left(shown, 1)) || substr(shown, 2),
                                       coalesce(', approved by "' || (written ->> 'approved_by') || '"', '')),
            'TABLE broker.pending_approval lists what awaits approval.', 'object_not_in_prerequisite_state');
    ELSIF internal.wrote_what_awaits_approval(what, written ->> 'tenant', internal.name_in(what, written)) THEN
        PERFORM internal.refuse_in(('broker.' || what)::regclass, 'another_login_approves',
            format('Login "%s" wrote or changed %s, and cannot approve it.', session_user, shown),
            'Another admin who may write it approves it.', 'insufficient_privilege');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_approval(text, text, jsonb) IS
    'Rejects the approval of a row that is missing, in force, or written by the login. shown: the row in a message.';

-- The revision says which row its reader saw: the statement of broker.pending_approval carries it.
CREATE OR REPLACE FUNCTION internal.row_revision(of_table text, of_tenant text, of_name text) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
    SET enable_bitmapscan = off
AS $$
BEGIN
    IF of_table = 'subject_grant' THEN
        RETURN (SELECT c.revision FROM audit.config_change AS c
                 WHERE c.table_name = 'subject_grant' AND coalesce(c.after, c.before) ->> 'id' = of_name
                 ORDER BY coalesce(c.after, c.before) ->> 'id' DESC, c.revision DESC LIMIT 1);
    END IF;
    RETURN (SELECT c.revision FROM audit.config_change AS c
             WHERE coalesce(c.tenant, '') = of_tenant AND c.table_name = of_table AND c.table_name <> 'subject_grant'
               AND coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '') = of_name
             ORDER BY coalesce(c.tenant, '') DESC, c.table_name DESC,
                      coalesce(coalesce(c.after, c.before) ->> 'id', coalesce(c.after, c.before) ->> 'name', '') DESC, c.revision DESC
             LIMIT 1);
END
$$;
COMMENT ON FUNCTION internal.row_revision(text, text, text) IS 'The revision of the last change of a row, by its id or name.';

CREATE OR REPLACE FUNCTION internal.check_revision(what text, shown text, written jsonb, revision bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    latest constant bigint := internal.row_revision(what, written ->> 'tenant', internal.name_in(what, written));
    seen jsonb;
    changed text;
BEGIN
    IF revision IS NOT DISTINCT FROM latest THEN
        RETURN;
    END IF;
    SELECT c.after INTO seen FROM audit.config_change AS c
     WHERE c.tenant = written ->> 'tenant' AND c.revision = check_revision.revision AND c.table_name = what
       AND internal.name_in(what, c.after) = internal.name_in(what, written);
    SELECT string_agg(n.key, ', ' ORDER BY n.key) INTO changed
      FROM jsonb_each(internal.what_it_allows(written)) AS n WHERE n.value IS DISTINCT FROM seen -> n.key;
    PERFORM internal.refuse(
        format('%s is not as it was at revision %s%s.', upper(left(shown, 1)) || substr(shown, 2), coalesce(revision::text, 'null'),
               CASE WHEN seen IS NOT NULL THEN coalesce('; changed since: ' || changed, '; its description changed since') ELSE '' END),
        'Read it again: TABLE broker.pending_approval has the statement for the row as it is now.', 'object_not_in_prerequisite_state');
END
$$;
COMMENT ON FUNCTION internal.check_revision(text, text, jsonb, bigint) IS
    'Rejects the approval of a row that changed since the revision that its reader saw.';

DROP FUNCTION IF EXISTS broker.approve(text, bigint);
DROP FUNCTION IF EXISTS broker.approve(text, text, text);

CREATE OR REPLACE FUNCTION broker.approve(what text, id bigint, revision bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    shown text := CASE what WHEN 'subject_grant' THEN 'grant ' WHEN 'access_rule' THEN 'access rule ' WHEN 'access_approver' THEN 'access approver '
                          WHEN 'blocked_subject' THEN 'block ' END || id;
    written jsonb;
BEGIN
    IF shown IS NULL THEN
        PERFORM internal.refuse(format('broker.approve cannot approve "%s" by its id.', what),
            'SELECT broker.approve(''subject_grant'', 42, 17); where 17 is the revision in broker.pending_approval. A key has a name: SELECT broker.approve(''key'', ''acme'', ''deploy'', 17);',
            'invalid_parameter_value');
    END IF;
    -- The lock of the row comes before that of its tenant (internal.record_change).
    CASE what
        WHEN 'subject_grant' THEN SELECT to_jsonb(g) INTO written FROM broker.subject_grant AS g WHERE g.id = approve.id FOR NO KEY UPDATE;
        WHEN 'access_rule' THEN SELECT to_jsonb(r) INTO written FROM broker.access_rule AS r WHERE r.id = approve.id FOR NO KEY UPDATE;
        WHEN 'access_approver' THEN SELECT to_jsonb(a) INTO written FROM broker.access_approver AS a WHERE a.id = approve.id FOR NO KEY UPDATE;
        WHEN 'blocked_subject' THEN SELECT to_jsonb(b) INTO written FROM broker.blocked_subject AS b WHERE b.id = approve.id FOR NO KEY UPDATE;
    END CASE;
    PERFORM internal.check_approval(what, shown, written), internal.check_revision(what, shown, written, revision);
    CASE what
        WHEN 'subject_grant' THEN UPDATE broker.subject_grant AS g SET approved_by = session_user, approved_at = now() WHERE g.id = approve.id;
        WHEN 'access_rule' THEN UPDATE broker.access_rule AS r SET approved_by = session_user, approved_at = now() WHERE r.id = approve.id;
        WHEN 'access_approver' THEN UPDATE broker.access_approver AS a SET approved_by = session_user, approved_at = now() WHERE a.id = approve.id;
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
    'Approves a grant, an access rule, an approver or the change of a block, as it was at a revision, in a tenant that requires a second admin: broker.approve(''subject_grant'', id, revision). Refused to logins that wrote or changed it.';

CREATE OR REPLACE FUNCTION broker.approve(what text, tenant text, name text, revision bigint) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    shown constant text := format('key "%s" of tenant "%s"', name, tenant);
    written jsonb;
BEGIN
    IF what IS DISTINCT FROM 'key' THEN
        PERFORM internal.refuse(format('broker.approve cannot approve "%s" by its name.', what),
            'SELECT broker.approve(''subject_grant'', 42, 17); where 17 is the revision in broker.pending_approval. A key has a name: SELECT broker.approve(''key'', ''acme'', ''deploy'', 17);',
            'invalid_parameter_value');
    END IF;
    SELECT to_jsonb(k) INTO written FROM broker.key AS k WHERE k.tenant = approve.tenant AND k.name = approve.name FOR NO KEY UPDATE;
    PERFORM internal.check_approval(what, shown, written), internal.check_revision(what, shown, written, revision);
    UPDATE broker.key AS k SET approved_by = session_user, approved_at = now() WHERE k.tenant = approve.tenant AND k.name = approve.name;
    RETURN format('Key "%s" of tenant "%s" is approved by "%s".', name, tenant, session_user);
END
$$;
COMMENT ON FUNCTION broker.approve(text, text, text, bigint) IS
    'Approves a key, as it was at a revision, of a tenant that requires a second admin: broker.approve(''key'', tenant, name, revision). Refused to logins that wrote or changed it.';

-- ---------------------------------------------------------------- what awaits approval

CREATE OR REPLACE VIEW broker.pending_approval WITH (security_invoker = true) AS
SELECT t.name AS tenant, row.table_name, row.name, row.key, row.subject, row.reason, row.created_by, row.changed_by, row.changed_at,
       format('SELECT broker.approve(%L, %s, %s);', row.table_name,
              CASE row.table_name WHEN 'key' THEN format('%L, %L', t.name, row.name) ELSE row.name END,
              internal.row_revision(row.table_name, t.name, row.name)) AS statement
  FROM broker.tenant AS t
 CROSS JOIN LATERAL (
       SELECT 'subject_grant' AS table_name, g.id::text AS name, g.key, g.subject, g.reason, g.created_by, g.updated_by AS changed_by,
              g.updated_at AS changed_at
         FROM broker.subject_grant AS g WHERE g.tenant = t.name AND g.approved_at IS NULL AND g.enabled
        UNION ALL
       SELECT 'key' AS table_name, k.name, k.name AS key, NULL::text AS subject, k.description AS reason, k.created_by, k.updated_by AS changed_by,
              k.updated_at AS changed_at
         FROM broker.key AS k WHERE k.tenant = t.name AND k.approved_at IS NULL AND k.enabled
        UNION ALL
       SELECT 'access_rule' AS table_name, r.id::text, r.key, r.subject, r.reason, r.created_by, r.updated_by AS changed_by,
              r.updated_at AS changed_at
         FROM broker.access_rule AS r WHERE r.tenant = t.name AND r.approved_at IS NULL AND r.enabled
        UNION ALL
       SELECT 'access_approver' AS table_name, a.id::text, r.key, coalesce(a.subject, a.role_name), NULL::text AS reason, a.created_by,
              a.updated_by AS changed_by, a.updated_at AS changed_at
         FROM broker.access_approver AS a JOIN broker.access_rule AS r ON r.id = a.rule
        WHERE a.tenant = t.name AND a.approved_at IS NULL
        UNION ALL
       SELECT 'blocked_subject' AS table_name, b.id::text, NULL::text AS key, b.subject, format('%s; proposed: %s', b.reason, b.proposed),
              b.created_by, b.updated_by AS changed_by, b.updated_at AS changed_at
         FROM broker.blocked_subject AS b WHERE b.tenant = t.name AND b.proposed IS NOT NULL) AS row
 WHERE t.require_second_admin;
COMMENT ON VIEW broker.pending_approval IS
    'Enabled keys, grants and access rules, and approvers, that count as disabled until a second admin approves them, and changes of blocks, which stay as they are until then. Query it WHERE tenant = ….';
COMMENT ON COLUMN broker.pending_approval.tenant IS 'The tenant.';
COMMENT ON COLUMN broker.pending_approval.table_name IS 'key, subject_grant, access_rule, access_approver or blocked_subject.';
COMMENT ON COLUMN broker.pending_approval.name IS 'The name of the key, or the id of the row.';
COMMENT ON COLUMN broker.pending_approval.key IS 'The key; null for a block.';
COMMENT ON COLUMN broker.pending_approval.subject IS 'The subject of the grant, the rule or the block, or who approves; null for a key.';
COMMENT ON COLUMN broker.pending_approval.reason IS 'The reason of the grant, the rule or the block (with the proposed change), or the description of the key.';
COMMENT ON COLUMN broker.pending_approval.created_by IS 'The login that wrote it. It cannot approve it, unless the row has been in force since.';
COMMENT ON COLUMN broker.pending_approval.changed_by IS 'The login that changed it last, which cannot approve it.';
COMMENT ON COLUMN broker.pending_approval.changed_at IS 'When that was.';
COMMENT ON COLUMN broker.pending_approval.statement IS 'What another admin runs to approve the row as it is now, after reading it. It fails once the row has changed.';
