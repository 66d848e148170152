-- Owners, reviews of grants, and members of the group roles.

CREATE OR REPLACE FUNCTION internal.check_owner() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    row_name constant text := CASE TG_TABLE_NAME WHEN 'key' THEN format('Key "%s"', to_jsonb(NEW) ->> 'name')
                                   ELSE format('The grant of key "%s" to "%s"', to_jsonb(NEW) ->> 'key', to_jsonb(NEW) ->> 'subject') END;
    fault constant text := internal.line_fault(NEW.owner, 200);
BEGIN
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse(format('%s has an owner that %s.', row_name, fault), 'Write a person or a team in one line, or null.');
    ELSIF coalesce(NEW.owner, '') !~ '[^[:space:]]' AND NEW.enabled AND EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = NEW.tenant AND t.require_owner) THEN
        PERFORM internal.refuse_in(TG_RELID, 'an_owner_is_required', format('%s has no owner, and tenant "%s" requires one.', row_name, NEW.tenant),
            'Set owner, for example to a team.', 'check_violation', 'owner');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_owner() IS 'Trigger: checks the owner of a key or grant, and requires one if the tenant does.';

-- ---------------------------------------------------------------- reviews

-- With the reviewer's permissions: they review grants that they may see and disable grants that they may write.
CREATE OR REPLACE FUNCTION internal.find_reviewed_grant() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    reviewed record;
BEGIN
    -- The lock of the row comes before that of the tenant (internal.record_change), as in every edit of the grant.
    SELECT g.tenant, g.enabled, g.created_by, g.request_id INTO reviewed FROM broker.subject_grant AS g WHERE g.id = NEW.grant_id FOR NO KEY UPDATE;
    NEW.tenant := reviewed.tenant;
    IF NOT FOUND AND NEW.grant_id IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_grant_exists', format('There is no grant %s that you may see.', NEW.grant_id),
            'SELECT * FROM audit.grant_review lists the grants.', 'foreign_key_violation', 'grant_id');
    ELSIF NEW.verdict NOT IN ('keep', 'remove') THEN
        PERFORM internal.refuse(format('The review of grant %s has the verdict "%s".', NEW.grant_id, NEW.verdict),
            'Write keep, or remove, which disables the grant.');
    ELSIF length(NEW.note) > 1000 THEN
        PERFORM internal.refuse(format('The review of grant %s: its note has %s characters; the maximum is 1000.', NEW.grant_id, length(NEW.note)),
            'Shorten it.');
    ELSIF reviewed.request_id IS NOT NULL AND internal.made_request(reviewed.request_id, session_user) THEN
        PERFORM internal.refuse_in(TG_RELID, 'another_person_signs_off',
            format('Grant %s comes from a request that login "%s" made, and another person reviews it.', NEW.grant_id, session_user),
            'Ask another admin of the tenant.', 'insufficient_privilege', 'grant_id');
    ELSIF internal.awaits_sign_off(reviewed.request_id) AND internal.shaped_rule_of(reviewed.request_id, session_user) THEN
        PERFORM internal.refuse_in(TG_RELID, 'another_person_signs_off',
            format('Grant %s comes from a break glass by an access rule that login "%s" wrote, changed or approved, and another person signs it off.',
                   NEW.grant_id, session_user),
            format('Ask another admin of the tenant. To end the access now: UPDATE broker.subject_grant SET enabled = false WHERE id = %s;', NEW.grant_id),
            'insufficient_privilege', 'grant_id');
    ELSIF NEW.verdict = 'keep' AND NOT reviewed.enabled AND NOT internal.awaits_sign_off(reviewed.request_id) THEN
        PERFORM internal.refuse(format('Grant %s is disabled, so there is nothing to keep.', NEW.grant_id),
            'Enable the grant first, or review another one: SELECT * FROM audit.grant_review WHERE enabled.');
    ELSIF NEW.verdict = 'keep' AND reviewed.created_by = session_user THEN
        RAISE WARNING 'Grant % is reviewed by the login that made it. Auditors expect another person. [reviewed_by_its_maker]', NEW.grant_id;
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.find_reviewed_grant() IS 'Trigger: locks the grant of a review, fills the tenant, and refuses an unknown grant.';

CREATE OR REPLACE FUNCTION internal.remove_reviewed_grant() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE broker.subject_grant SET enabled = false WHERE id = NEW.grant_id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.remove_reviewed_grant() IS 'Trigger: disables the grant that a review removes.';

-- When a grant is due stands here alone. Nothing is counted, so that a reader can choose from many grants before asking for
-- the use of a few.
CREATE OR REPLACE VIEW internal.next_review WITH (security_invoker = true) AS
SELECT g.tenant, g.id AS grant_id,
       coalesce(g.owner, (SELECT k.owner FROM broker.key AS k WHERE k.tenant = g.tenant AND k.name = g.key)) AS owner, g.enabled,
       review.created_at AS last_reviewed_at, review.created_by AS last_reviewed_by,
       g.created_at < now() - t.review_days * interval '1 day' AS is_old_enough,
       coalesce(review.created_at, g.created_at) + t.review_days * interval '1 day' AS due_at
  FROM broker.subject_grant AS g
  JOIN broker.tenant AS t ON t.name = g.tenant
  LEFT JOIN LATERAL (
       SELECT r.created_at, r.created_by FROM broker.grant_review AS r WHERE r.grant_id = g.id ORDER BY r.id DESC LIMIT 1) AS review ON true;
COMMENT ON VIEW internal.next_review IS
    'Each grant with its owner (otherwise its key''s), its last review, and when the next one is due: the tenant''s review_days after the last one, or after the grant was created.';
COMMENT ON COLUMN internal.next_review.is_old_enough IS
    'Whether it would be due without reviews. Every grant that is due is, and an index finds those: ask for it, too.';

CREATE OR REPLACE VIEW audit.grant_review WITH (security_invoker = true) AS
SELECT g.tenant, g.id AS grant_id, g.key, g.subject, g.match, g.idp, g.actor_idp, g.actor, g.actor_match,
       n.owner, g.reason,
       g.created_by, g.created_at, used.last_used_at, used.uses_90d,
       (SELECT string_agg(DISTINCT f.rule, ', ' ORDER BY f.rule) FROM internal.lint_finding AS f
         WHERE f.table_name = 'subject_grant' AND f.id = g.id) AS lint,
       n.last_reviewed_at, n.last_reviewed_by,
       g.enabled AND n.due_at < now() AS due, g.enabled, n.due_at,
       CASE WHEN g.enabled THEN greatest(0, floor(extract(epoch FROM now() - n.due_at) / 86400))::int END AS days_overdue,
       g.claims, g.actor_claims, g.valid_from, g.valid_until
  FROM internal.next_review AS n
  JOIN broker.subject_grant AS g ON g.id = n.grant_id
 CROSS JOIN LATERAL (
       SELECT (SELECT e.occurred_at FROM audit.event AS e WHERE e.grant_id = g.id AND e.step = 1 ORDER BY e.mint_id DESC LIMIT 1) AS last_used_at,
              (SELECT count(*) FROM audit.event AS e WHERE e.grant_id = g.id AND e.step = 1
                  AND e.mint_id >= audit.first_mint_id(now() - interval '90 days')) AS uses_90d) AS used;
COMMENT ON VIEW audit.grant_review IS 'Each grant with its owner, its use and its last review. Query it WHERE tenant = ….';
COMMENT ON COLUMN audit.grant_review.owner IS 'The owner of the grant, otherwise of its key; null: no owner.';
COMMENT ON COLUMN audit.grant_review.last_used_at IS 'The last mint under the grant; null: never, as far as the log goes back.';
COMMENT ON COLUMN audit.grant_review.uses_90d IS 'The number of mints under the grant in the last 90 days.';
COMMENT ON COLUMN audit.grant_review.lint IS 'The rules of broker.lint that the grant breaks; null: none.';
COMMENT ON COLUMN audit.grant_review.due_at IS 'When the next review is due: the tenant''s review_days after the last one, or after the grant was created.';
COMMENT ON COLUMN audit.grant_review.days_overdue IS 'Whole days since then; 0 before, null for a disabled grant.';
COMMENT ON COLUMN audit.grant_review.claims IS 'Further conditions on the token''s claims, {} for none: who keeps the grant keeps it under these.';
COMMENT ON COLUMN audit.grant_review.actor_claims IS 'Further conditions on the actor''s claims.';
COMMENT ON COLUMN audit.grant_review.due IS 'Whether the grant is enabled, and was neither created nor reviewed within the tenant''s review_days.';

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
