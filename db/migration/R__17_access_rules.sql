-- Rules for requests of access, their approvers, and who is one person.

-- ---------------------------------------------------------------- texts of people

-- Removed, not refused: people paste from anywhere.
CREATE OR REPLACE FUNCTION internal.plain_text(written text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $$
    SELECT btrim(regexp_replace(regexp_replace(written,
        '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]', '', 'g'),
        '[[:space:]\u0001-\u001f\u007f-\u009f\u2028\u2029]+', ' ', 'g'));
$$;
COMMENT ON FUNCTION internal.plain_text(text) IS
    'A text as one line that terminals and pages show as it is: without control characters, marks of writing direction and invisible characters.';

-- ---------------------------------------------------------------- rules and approvers

CREATE OR REPLACE FUNCTION internal.requester_fault(subject text, match text, claims jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN internal.line_fault(subject, 1024) IS NOT NULL THEN 'has a subject that ' || internal.line_fault(subject, 1024)
                WHEN match NOT IN ('exact', 'glob') THEN format('has the unknown match "%s"; use exact or glob', match)
                WHEN match = 'glob' AND NOT internal.is_anchored(subject) THEN 'has a glob that does not start with a literal segment'
                WHEN match = 'glob' AND internal.glob_fault(subject) IS NOT NULL THEN 'has a glob that ' || internal.glob_fault(subject)
                WHEN internal.values_fault(claims) IS NOT NULL THEN 'has claims that ' || internal.values_fault(claims)
                WHEN internal.claims_fault(claims) IS NOT NULL THEN 'has claims in which ' || internal.claims_fault(claims) END;
$$;
COMMENT ON FUNCTION internal.requester_fault(text, text, jsonb) IS
    'What is wrong with the subject, match and claims of a rule or an approver, as the end of a sentence; null if nothing is.';

-- Before has_what_it_needs.
CREATE OR REPLACE FUNCTION internal.fill_access_rule() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    NEW.end_credentials := coalesce(NEW.end_credentials, NEW.break_glass);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.fill_access_rule() IS 'Trigger: gives end_credentials of an access rule the value of break_glass if it has none.';

CREATE OR REPLACE FUNCTION internal.say_what_is_wrong_with_access_rule() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('The access rule for key "%s"', NEW.key);
    fault constant text := internal.requester_fault(NEW.subject, NEW.match, NEW.claims);
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('%s %s.', owner, fault),
            'idp, subject, match and claims say who may ask, as in broker.subject_grant, for example "acme-sso", "team:payments/**", "glob".',
            'check_violation', refused => to_jsonb(NEW));
    ELSIF NEW.approvals NOT BETWEEN 0 AND 5 OR NEW.approvals = 0 AND NOT NEW.break_glass THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_needs_1_to_5_approvals_or_breaks_the_glass',
            format('%s needs %s approvals.', owner, NEW.approvals),
            'Write 1 to 5. 0 is for break_glass only, where access is granted at once.', 'check_violation', 'approvals');
    ELSIF NEW.max_access NOT BETWEEN 300 AND 2592000 THEN
        PERFORM internal.refuse_in(TG_RELID, 'max_access_is_300_to_2592000_seconds', format('%s has a max_access of %s seconds.', owner, NEW.max_access),
            'Write 300 (5 minutes) to 2592000 (30 days).', 'check_violation', 'max_access');
    ELSIF NEW.expires_after NOT BETWEEN 300 AND 2592000 THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_request_expires_after_300_to_2592000_seconds',
            format('%s has an expires_after of %s seconds.', owner, NEW.expires_after),
            'Write 300 (5 minutes) to 2592000 (30 days).', 'check_violation', 'expires_after');
    ELSIF NEW.people NOT BETWEEN 0 AND 25 THEN
        PERFORM internal.refuse_in(TG_RELID, 'people_are_0_to_25', format('%s has people = %s.', owner, NEW.people),
            'Write how many of the approvals must be of people: 1, or 0 if programs alone may approve.', 'check_violation', 'people');
    ELSIF NEW.consent AND (NEW.approvals <> 1 OR NEW.people > 1 OR NEW.break_glass) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_of_consent_needs_the_subject_alone',
            format('%s is of consent, and also has %s.', owner,
                   CASE WHEN NEW.break_glass THEN 'break_glass' WHEN NEW.approvals <> 1 THEN format('approvals = %s', NEW.approvals)
                        ELSE format('people = %s', NEW.people) END),
            'By consent the subject alone decides, once: write approvals = 1, people = 1 and no break_glass, or another rule.', 'check_violation', 'consent');
    ELSIF NEW.consent AND EXISTS (SELECT FROM broker.access_approver AS a WHERE a.rule = NEW.id) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_of_consent_has_no_approvers', format('%s has approvers, and by consent the subject alone decides.', owner),
            format('DELETE FROM broker.access_approver WHERE rule = %s; first, or write another rule.', NEW.id), 'check_violation', 'consent');
    ELSIF internal.line_fault(NEW.reason_pattern, 512) IS NOT NULL OR internal.glob_fault(NEW.reason_pattern) IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_reason_pattern_is_one_line_of_up_to_512_characters_and_8_stars',
            format('%s has a reason_pattern that %s.', owner, coalesce(internal.line_fault(NEW.reason_pattern, 512), internal.glob_fault(NEW.reason_pattern))),
            'Write a glob, for example INC-**, which every reason matches that starts with INC-.', 'check_violation', 'reason_pattern');
    ELSIF internal.line_fault(NEW.reason_hint, 200) IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_reason_hint_is_one_line_of_up_to_200_characters',
            format('%s has a reason_hint that %s.', owner, internal.line_fault(NEW.reason_hint, 200)),
            'Write a sentence for the requester, for example "Start with the ticket, for example INC-4711".', 'check_violation', 'reason_hint');
    ELSIF NEW.reason_hint IS NOT NULL AND NEW.reason_pattern IS NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_reason_hint_explains_a_pattern', format('%s has a reason_hint, but no reason_pattern.', owner),
            'Write both, for example "INC-**" and "Start with the ticket".', 'check_violation', 'reason_hint');
    ELSIF internal.line_fault(NEW.owner, 200) IS NOT NULL THEN
        PERFORM internal.refuse(format('%s has an owner that %s.', owner, internal.line_fault(NEW.owner, 200)),
            'Write a person or a team in one line, or null.');
    ELSIF length(NEW.reason) > 1000 THEN
        PERFORM internal.refuse(format('%s: its reason has %s characters; the maximum is 1000.', owner, length(NEW.reason)), 'Shorten it.');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_access_rule() IS 'Trigger: rejects an invalid access rule with a message.';

CREATE OR REPLACE FUNCTION internal.say_which_keys_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.name = NEW.key) THEN
        PERFORM internal.refuse_unknown_reference(TG_RELID, 'the_key_exists_in_the_same_tenant', NEW.tenant, 'key', NEW.key,
            ARRAY(SELECT k.name FROM broker.key AS k WHERE k.tenant = NEW.tenant),
            (SELECT min(k.tenant) FROM broker.key AS k WHERE k.name = NEW.key), to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_keys_there_are() IS 'Trigger: rejects an unknown key of an access rule, and lists the known ones.';

-- The service tries the rules of a key for each request, and the approvers of a rule for each decision.
CREATE OR REPLACE FUNCTION internal.count_access_rules() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    crowded record;
BEGIN
    SELECT w.tenant, w.key INTO crowded FROM (SELECT DISTINCT w.tenant, w.key FROM written AS w) AS w
     WHERE (SELECT count(*) > 20 FROM (SELECT FROM broker.access_rule AS r WHERE r.tenant = w.tenant AND r.key = w.key LIMIT 21) AS r) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_key_has_no_more_than_20_access_rules',
            format('Key "%s" of tenant "%s" would have more than 20 access rules, the maximum.', crowded.key, crowded.tenant),
            'Delete rules that are not used, or let one rule match several requesters: match glob, or a list in claims.', 'check_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_access_rules() IS 'Trigger: rejects more than 20 access rules of a key.';

CREATE OR REPLACE FUNCTION internal.count_access_approvers() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    crowded bigint;
BEGIN
    SELECT w.rule INTO crowded FROM (SELECT DISTINCT w.tenant, w.rule FROM written AS w) AS w
     WHERE (SELECT count(*) > 100 FROM (SELECT FROM broker.access_approver AS a WHERE a.rule = w.rule LIMIT 101) AS a) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_has_no_more_than_100_approvers',
            format('Access rule %s would have more than 100 approvers, the maximum.', crowded),
            'Let one row match several people: a group in claims.', 'check_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_access_approvers() IS 'Trigger: rejects more than 100 approvers of a rule.';

-- With the writer's permissions: they name approvers of rules that they may see.
CREATE OR REPLACE FUNCTION internal.find_rule_of_approver() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('An approver of access rule %s', NEW.rule);
    fault text;
BEGIN
    IF NEW.rule IS NULL THEN
        RETURN NEW;  -- has_what_it_needs says so
    ELSIF TG_OP = 'UPDATE' AND NEW.rule <> OLD.rule THEN
        PERFORM internal.refuse(format('An approver cannot be moved from access rule %s to %s.', OLD.rule, NEW.rule),
                                'Insert a row for the other rule, and delete this one.', 'restrict_violation');
    END IF;
    SELECT r.tenant INTO NEW.tenant FROM broker.access_rule AS r WHERE r.id = NEW.rule;
    IF NOT FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_rule_exists_in_the_same_tenant', format('There is no access rule %s that you may see.', NEW.rule),
            'SELECT id, tenant, key, subject FROM broker.access_rule lists the rules.', 'foreign_key_violation', 'rule');
    ELSIF (SELECT r.consent FROM broker.access_rule AS r WHERE r.id = NEW.rule) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_rule_of_consent_has_no_approvers', format('Access rule %s is of consent: its subject alone decides.', NEW.rule),
            'Write another rule for requests that other people decide.', 'check_violation', 'rule');
    ELSIF NEW.step NOT BETWEEN 1 AND 5 THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_step_is_1_to_5', format('%s is in step %s.', owner, NEW.step), 'Write 1 to 5.', 'check_violation', 'step');
    ELSIF NEW.role_name IS NULL AND NEW.subject IS NULL THEN
        PERFORM internal.refuse_in(TG_RELID, 'an_approver_is_a_login_or_a_subject', format('%s has neither a role_name nor a subject.', owner),
            'Set role_name to a login, or idp and subject to people who decide with a token. Both together say that they are one person.',
            'check_violation');
    ELSIF (NEW.subject IS NULL) <> (NEW.idp IS NULL) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_subject_is_named_with_its_identity_provider',
            format('%s has %s.', owner, CASE WHEN NEW.idp IS NULL THEN 'a subject, but no idp' ELSE 'an idp, but no subject' END),
            'Set both, for example "acme-sso" and "alice".', 'check_violation');
    ELSIF NEW.role_name IS NOT NULL AND (NEW.match <> 'exact' OR NEW.claims <> '{}') THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_login_is_mapped_to_an_exact_subject_without_claims',
            format('%s has login "%s" together with a %s.', owner, NEW.role_name, CASE WHEN NEW.claims <> '{}' THEN 'condition on claims' ELSE 'glob' END),
            'A login is one person. Name its exact subject, and write other people in other rows.', 'check_violation');
    END IF;
    fault := CASE WHEN NEW.subject IS NOT NULL THEN internal.requester_fault(NEW.subject, NEW.match, NEW.claims) END;
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('%s %s.', owner, fault),
            'idp, subject, match and claims are written as in broker.subject_grant.', 'check_violation', refused => to_jsonb(NEW));
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.find_rule_of_approver() IS
    'Trigger: fills the tenant of an approver from its rule, and rejects an invalid one with a message.';

-- Without its last approver a step is gone, and the rule needs fewer approvals.
CREATE OR REPLACE FUNCTION internal.keep_steps_of_rule() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM broker.access_rule AS r JOIN broker.tenant AS t ON t.name = r.tenant
                WHERE r.id = OLD.rule AND r.enabled AND t.require_second_admin)
       AND EXISTS (SELECT FROM broker.access_approver AS a WHERE a.rule = OLD.rule)
       AND NOT EXISTS (SELECT FROM broker.access_approver AS a WHERE a.rule = OLD.rule AND a.step = OLD.step) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_step_goes_only_from_a_disabled_rule',
            format('Step %s of access rule %s would have no approver, so requests would need fewer approvals.', OLD.step, OLD.rule),
            format('Name another approver of the step, or first: UPDATE broker.access_rule SET enabled = false WHERE id = %s; Enabling it again needs a second admin.', OLD.rule),
            'restrict_violation', 'step');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.keep_steps_of_rule() IS
    'Trigger: in tenants that require a second admin, rejects removing the last approver of a step of an enabled rule.';

CREATE OR REPLACE FUNCTION internal.say_who_approves_for_it() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    count bigint;
BEGIN
    SELECT count(*) INTO count FROM broker.access_approver AS a WHERE a.rule = OLD.id;
    IF count > 0 THEN
        PERFORM internal.refuse_in(TG_RELID, '', format('Access rule %s has %s approver%s and cannot be deleted.', OLD.id, count,
                                                        CASE WHEN count > 1 THEN 's' ELSE '' END),
            format('DELETE FROM broker.access_approver WHERE rule = %1$s; first. To stop its use: UPDATE broker.access_rule SET enabled = false WHERE id = %1$s;', OLD.id),
            'restrict_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_who_approves_for_it() IS 'Trigger: rejects deleting an access rule that has approvers.';

-- After is_recorded has locked the tenant: every function that writes requests locks the tenant first, then requests.
CREATE OR REPLACE FUNCTION internal.void_requests_of_rule() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    voided uuid;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.enabled
       AND internal.what_it_allows(to_jsonb(OLD)) = internal.what_it_allows(to_jsonb(NEW)) THEN
        RETURN NULL;
    END IF;
    FOR voided IN SELECT q.id FROM broker.access_request AS q WHERE q.tenant = OLD.tenant AND q.rule = OLD.id AND q.status = 'pending' LOOP
        PERFORM internal.end_request(voided, 'void');
    END LOOP;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.void_requests_of_rule() IS
    'Trigger: makes the pending requests of a rule void when it is deleted, disabled or changed in what it allows.';

-- ---------------------------------------------------------------- people

-- By issuer, not by identity provider: two of those may accept the tokens of one issuer for different audiences.
CREATE OR REPLACE FUNCTION internal.names_of_person(tenant text, login text, issuer text, subject text)
    RETURNS TABLE (login_name text, of_issuer text, subject_name text)
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    WITH RECURSIVE joined (role_name, issuer, subject) AS MATERIALIZED (
        SELECT (row.was ->> 'role_name') COLLATE "C", p.issuer, (row.was ->> 'subject') COLLATE "C"
          FROM audit.config_change AS c
         CROSS JOIN LATERAL (VALUES (c.before), (c.after)) AS row (was)
          JOIN broker.identity_provider AS p ON p.tenant = names_of_person.tenant AND p.name = row.was ->> 'idp'
         WHERE c.tenant = names_of_person.tenant AND c.table_name = 'access_approver' AND c.table_name <> 'subject_grant'
           AND row.was ->> 'role_name' IS NOT NULL AND row.was ->> 'subject' IS NOT NULL),
    name (login_name, of_issuer, subject_name) AS (
        SELECT names_of_person.login COLLATE "C", names_of_person.issuer COLLATE "C", names_of_person.subject COLLATE "C"
         UNION
        SELECT other.login_name, other.of_issuer, other.subject_name
          FROM name AS n
          JOIN joined AS a ON n.login_name = a.role_name OR n.of_issuer = a.issuer AND n.subject_name = a.subject
         CROSS JOIN LATERAL (VALUES (a.role_name, NULL, NULL), (NULL, a.issuer, a.subject)) AS other (login_name, of_issuer, subject_name)
    )
    SELECT n.login_name, n.of_issuer, n.subject_name FROM name AS n;
$$;
COMMENT ON FUNCTION internal.names_of_person(text, text, text, text) IS
    'The logins, and the issuers with subjects, of one person: a login or a subject, and what a row of broker.access_approver says or ever said is the same person.';
