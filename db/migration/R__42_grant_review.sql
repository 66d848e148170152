-- Reviews of grants: broker.grant_review.

-- ---------------------------------------------------------------- what follows from it

DROP FUNCTION IF EXISTS internal.refuse_own_sign_off(bigint, uuid);

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

CREATE OR REPLACE FUNCTION internal.refuse_own_review(of_grant bigint, of_request uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF of_request IS NOT NULL AND internal.made_request(of_request, session_user) THEN
        PERFORM internal.refuse_in('broker.grant_review', 'another_person_signs_off',
            format('Grant %s comes from a request that login "%s" made, so another person must review it.', of_grant, session_user),
            'Ask another admin of the tenant.', 'insufficient_privilege', 'grant_id');
    ELSIF internal.awaits_sign_off(of_request) AND internal.shaped_rule_of(of_request, session_user) THEN
        PERFORM internal.refuse_in('broker.grant_review', 'another_person_signs_off',
            format('Grant %s was made by break glass, under an access rule that the person with login "%s" wrote, changed or approved, so another person must sign it off.',
                   of_grant, session_user),
            format('Ask another admin of the tenant. To end the access now: UPDATE broker.subject_grant SET enabled = false WHERE id = %s;', of_grant),
            'insufficient_privilege', 'grant_id');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.refuse_own_review(bigint, uuid) IS
    'Rejects the review of the grant of a request by a person who made the request, and the sign-off of a break glass by a person who wrote, changed or approved its access rule.';

CREATE OR REPLACE FUNCTION internal.sign_off_request() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    of_request constant uuid := (SELECT g.request_id FROM broker.subject_grant AS g WHERE g.id = NEW.grant_id);
BEGIN
    -- What the same statement has changed is on record by now.
    PERFORM internal.refuse_own_review(NEW.grant_id, of_request);
    IF NOT EXISTS (SELECT FROM broker.subject_grant AS g WHERE g.id = NEW.grant_id AND (g.enabled OR NEW.verdict = 'remove' OR internal.awaits_sign_off(of_request))) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_grant_is_there_to_be_reviewed', format('The statement that reviews grant %s also disables or deletes it.', NEW.grant_id),
            'Insert the review in a statement of its own. The verdict remove also disables the grant.', 'object_not_in_prerequisite_state', 'grant_id');
    END IF;
    UPDATE broker.access_request AS q SET signed_off_by = NEW.created_by, signed_off_at = clock_timestamp()
     WHERE q.id = of_request AND q.break_glass AND q.signed_off_by IS NULL;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.sign_off_request() IS 'Trigger: signs off the break glass whose grant is reviewed.';

-- ---------------------------------------------------------------- when a grant is due

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
    'Whether the grant is older than the tenant''s review_days. This is true for every grant that is due, and uses an index: add it to conditions on due_at.';

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
COMMENT ON COLUMN audit.grant_review.days_overdue IS 'Whole days since the review was due; 0 before, null for a disabled grant.';
COMMENT ON COLUMN audit.grant_review.claims IS 'Further conditions on the token''s claims, {} for none. The verdict keep keeps them, too.';
COMMENT ON COLUMN audit.grant_review.actor_claims IS 'Further conditions on the actor''s claims.';
COMMENT ON COLUMN audit.grant_review.due IS 'Whether the grant is enabled, and was neither created nor reviewed within the tenant''s review_days.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_grant_review() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    reviewed record;
    called_in text;
BEGIN
    NEW.id := internal.new_id(TG_RELID, NEW.id);
    -- With the reviewer's rights: they review grants that they may see.
    -- The lock of the row comes before that of the tenant (internal.record_change), as in every edit of the grant.
    SELECT g.tenant, g.enabled, g.request_id INTO reviewed FROM broker.subject_grant AS g WHERE g.id = NEW.grant_id FOR NO KEY UPDATE;
    NEW.tenant := internal.tenant_of(TG_RELID, NEW.tenant, reviewed.tenant, 'grant');
    -- An edit that is not committed yet is waited for, and seen: a row that says that the reviewer made the request, for example.
    IF internal.awaits_sign_off(reviewed.request_id) THEN
        GET DIAGNOSTICS called_in = PG_CONTEXT;
        PERFORM internal.refuse_nested(TG_RELID, 'a_sign_off_is_a_statement_of_its_own', 'sign off a break glass', called_in);
        PERFORM internal.refuse_old_snapshot('A sign-off');
        PERFORM FROM broker.tenant AS t WHERE t.name = reviewed.tenant FOR NO KEY UPDATE;
    END IF;
    IF NOT FOUND AND NEW.grant_id IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_grant_exists', format('There is no grant %s that you may see.', NEW.grant_id),
            'To list the grants: SELECT * FROM audit.grant_review;', 'foreign_key_violation', 'grant_id');
    ELSIF NEW.verdict NOT IN ('keep', 'remove') THEN
        PERFORM internal.refuse(format('The review of grant %s has the verdict "%s".', NEW.grant_id, NEW.verdict),
            'Set verdict to keep, or to remove, which disables the grant.');
    ELSIF length(NEW.note) > 1000 THEN
        PERFORM internal.refuse(format('The review of grant %s: its note has %s characters; the maximum is 1000.', NEW.grant_id, length(NEW.note)),
            'Shorten it.');
    ELSIF NEW.verdict = 'keep' AND NOT reviewed.enabled AND NOT internal.awaits_sign_off(reviewed.request_id) THEN
        PERFORM internal.refuse(format('Grant %s is disabled, so there is nothing to keep.', NEW.grant_id),
            'Enable the grant first, or review another one: SELECT * FROM audit.grant_review WHERE enabled.');
    END IF;
    PERFORM internal.refuse_own_review(NEW.grant_id, reviewed.request_id);
    IF internal.may_hold_secret(NEW.note) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'note', NEW.note, to_jsonb(NEW) - 'note');
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{grant_id,verdict,tenant}');
    NEW := internal.signed(NEW, OLD);
    -- not now(): the transaction may have begun before the access
    NEW.created_at := clock_timestamp();
    NEW.updated_at := NEW.created_at;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_grant_review() IS
    'Trigger: locks the grant of a review, and for a sign-off its tenant, fills the tenant, and rejects an unknown grant, and a person who may not sign off.';

CREATE OR REPLACE FUNCTION internal.warn_of_own_reviews() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT w.grant_id, count(*) OVER () AS in_all
          FROM (SELECT DISTINCT o.tenant FROM written AS o WHERE o.verdict = 'keep') AS t
         CROSS JOIN LATERAL (SELECT array_agg(n.login_name) AS logins FROM internal.names_of_person(t.tenant, session_user, NULL, NULL) AS n) AS own
          JOIN written AS w ON w.tenant = t.tenant AND w.verdict = 'keep'
          JOIN broker.subject_grant AS g ON g.id = w.grant_id AND g.created_by = ANY (own.logins)
         ORDER BY w.grant_id LIMIT 10
    LOOP
        RAISE WARNING 'Grant % is reviewed by the person who made it. Auditors expect that another person reviews it. [reviewed_by_its_maker]', one.grant_id;
    END LOOP;
    IF one.in_all > 10 THEN
        RAISE WARNING '10 of % warnings are shown.', one.in_all USING HINT = 'To list who made and who reviewed the grants: SELECT * FROM audit.grant_review WHERE tenant = …;';
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.warn_of_own_reviews() IS 'Trigger: warns of grants that the person who made them keeps.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.grant_review', ARRAY[
    ['refuse_change', 'always', 'BEFORE UPDATE OR DELETE', 'FOR EACH STATEMENT', 'refuse_change()'],
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_grant_review', 'always', 'BEFORE INSERT', 'FOR EACH ROW', 'check_grant_review()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_change(''tenant'')'],
    ['remove_reviewed_grant', 'origin', 'AFTER INSERT', 'FOR EACH ROW WHEN (NEW.verdict = ''remove'')', 'remove_reviewed_grant()'],
    ['sign_off_request', 'always', 'AFTER INSERT', 'FOR EACH ROW', 'sign_off_request()'],
    ['add_changes_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_updated', 'always', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'count_changes()'],
    ['warn_of_own_reviews', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'warn_of_own_reviews()']
]);
