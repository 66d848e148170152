-- Owners of keys and grants, and members of the group roles.

CREATE OR REPLACE FUNCTION internal.refuse_owner(target regclass, row_name text, owner text, tenant text, enabled boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fault constant text := internal.line_fault(owner, 200);
BEGIN
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse(format('%s has an owner that %s.', row_name, fault), 'Write a person or a team in one line, or null.');
    ELSIF coalesce(owner, '') !~ '[^[:space:]]' AND enabled
          AND EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = refuse_owner.tenant AND t.require_owner) THEN
        PERFORM internal.refuse_in(target, 'an_owner_is_required', format('%s has no owner, but tenant "%s" requires one.', row_name, tenant),
            'Set owner, for example to a team.', 'check_violation', 'owner');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_owner(regclass, text, text, text, boolean) IS
    'Rejects an invalid owner of a key or grant, and a missing one if the tenant requires one.';

-- ---------------------------------------------------------------- members of the group roles

CREATE OR REPLACE VIEW audit.role_member WITH (security_invoker = true) AS
WITH RECURSIVE membership (role_name, member, via, admin_option) AS (
    SELECT r.oid, m.member, r.oid, m.admin_option FROM pg_catalog.pg_roles AS r JOIN pg_catalog.pg_auth_members AS m ON m.roleid = r.oid
     WHERE r.rolname IN ('${owner_role}', '${app_role}', '${admin_role}', '${tenant_admin_role}', '${auditor_role}', '${console_role}')
     UNION
    SELECT s.role_name, m.member, s.member, m.admin_option FROM membership AS s JOIN pg_catalog.pg_auth_members AS m ON m.roleid = s.member
)
SELECT s.role_name::regrole::text AS role_name, r.rolname::text AS member, s.via::regrole::text AS via, bool_or(s.admin_option) AS admin_option,
       r.rolcanlogin AS can_login,
       (SELECT c.changed_at FROM audit.config_change AS c
         WHERE c.tenant IS NULL AND c.table_name = 'role_member' AND c.operation = 'INSERT' AND c.after ->> 'member' = r.rolname
           AND c.after ->> 'role_name' = s.role_name::regrole::text ORDER BY c.revision DESC LIMIT 1) AS since
  FROM membership AS s JOIN pg_catalog.pg_roles AS r ON r.oid = s.member
 GROUP BY s.role_name, s.via, r.rolname, r.rolcanlogin;
COMMENT ON VIEW audit.role_member IS 'The current members of the group roles, direct or through another role.';
COMMENT ON COLUMN audit.role_member.role_name IS 'The group role.';
COMMENT ON COLUMN audit.role_member.member IS 'The role that has the group role''s privileges.';
COMMENT ON COLUMN audit.role_member.via IS 'The role that the member belongs to directly: the group role, or one of its members.';
COMMENT ON COLUMN audit.role_member.admin_option IS 'Whether the member may add other members.';
COMMENT ON COLUMN audit.role_member.can_login IS 'Whether the member is a login.';
COMMENT ON COLUMN audit.role_member.since IS 'When the broker recorded the membership, within a minute of the change; null: not recorded yet, or not visible to you.';

-- Called by the replica that seals the log, just before and with the same lock. PostgreSQL has no trigger on memberships.
CREATE OR REPLACE FUNCTION internal.record_role_members() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
AS $$
DECLARE
    change record;
BEGIN
    FOR change IN
        SELECT known.content AS before, found.content AS after
          FROM (SELECT DISTINCT ON (1, 2) coalesce(c.after, c.before) ->> 'role_name' AS role_name, coalesce(c.after, c.before) ->> 'member' AS member,
                       c.after AS content
                  FROM audit.config_change AS c WHERE c.tenant IS NULL AND c.table_name = 'role_member' ORDER BY 1, 2, c.revision DESC) AS known
          FULL JOIN (SELECT m.role_name, m.member, jsonb_build_object('role_name', m.role_name, 'member', m.member, 'can_login', m.can_login,
                            'admin_option', bool_or(m.admin_option), 'via', jsonb_agg(m.via ORDER BY m.via)) AS content
                       FROM audit.role_member AS m GROUP BY m.role_name, m.member, m.can_login) AS found USING (role_name, member)
         WHERE known.content IS DISTINCT FROM found.content
         ORDER BY role_name, member
    LOOP
        -- An open edit of the tables without tenant delays this record, not the seal.
        PERFORM FROM work.mutex AS m WHERE m.name = 'changes without tenant' FOR UPDATE SKIP LOCKED;
        EXIT WHEN NOT FOUND;
        PERFORM internal.append_change(NULL, 'role_member',
            CASE WHEN change.before IS NULL THEN 'INSERT' WHEN change.after IS NULL THEN 'DELETE' ELSE 'UPDATE' END, change.before, change.after);
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.record_role_members() IS
    'Records changed members of the group roles in audit.config_change, as table role_member.';
