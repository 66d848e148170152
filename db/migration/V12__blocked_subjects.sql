-- Subjects that get nothing, whatever is granted to them: in one tenant, or, where tenant is null, in all.

CREATE TABLE broker.blocked_subject (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant text COLLATE "C",
    idp text COLLATE "C",
    subject text COLLATE "C" NOT NULL,
    match text NOT NULL DEFAULT 'exact',
    reason text NOT NULL,
    until timestamptz,
    enabled boolean NOT NULL DEFAULT true,
    CONSTRAINT a_block_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT the_identity_provider_exists_in_the_same_tenant FOREIGN KEY (tenant, idp)
        REFERENCES broker.identity_provider (tenant, name) ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT an_identity_provider_is_named_with_its_tenant CHECK (idp IS NULL OR tenant IS NOT NULL),
    CONSTRAINT a_subject_is_one_line_of_up_to_1024_characters CHECK (internal.is_line(subject, 1024)),
    CONSTRAINT match_is_exact_or_glob CHECK (match IN ('exact', 'glob')),
    CONSTRAINT a_glob_starts_with_a_literal_segment CHECK (match <> 'glob' OR subject ~ '^[^*:/]+([:/]|$)'),
    CONSTRAINT a_glob_has_up_to_512_characters_and_8_stars
        CHECK (match <> 'glob' OR internal.glob_fault(subject) IS NULL),
    CONSTRAINT a_reason_has_1_to_1000_characters CHECK (reason ~ '\S' AND length(reason) <= 1000),
    CONSTRAINT a_block_without_an_end_has_null_and_not_infinity CHECK (isfinite(until)),
    -- what every program can write as a time
    CONSTRAINT until_is_within_the_years_1_to_9999 CHECK (until >= '0001-01-01Z' AND until < '10000-01-01Z')
);
COMMENT ON TABLE broker.blocked_subject IS
    'Subjects that get no credentials, whatever is granted to them. It wins over every grant from its commit on, on every replica. Credentials that live already are not ended by it: see mintmark block-subject.';
COMMENT ON COLUMN broker.blocked_subject.id IS 'Given by the database, never used again.';
COMMENT ON COLUMN broker.blocked_subject.tenant IS
    'The tenant in which the subject is blocked; null: in all tenants, which platform admins write. A row never moves to another.';
COMMENT ON COLUMN broker.blocked_subject.idp IS
    'The identity provider whose subject is meant, of the same tenant; null: whichever of them its token comes from.';
COMMENT ON COLUMN broker.blocked_subject.subject IS 'The sub claim, or a glob over it (see match).';
COMMENT ON COLUMN broker.blocked_subject.match IS
    'exact: subject equals the sub claim. glob: * stands for anything within a segment (no : and no /), ** for anything; it starts with a literal segment.';
COMMENT ON COLUMN broker.blocked_subject.reason IS 'Why it is blocked, for whoever asks; for example an incident.';
COMMENT ON COLUMN broker.blocked_subject.until IS
    'Until then by this database''s clock, exclusive; null: until the row is disabled or deleted.';
COMMENT ON COLUMN broker.blocked_subject.enabled IS 'False: as if it were not there.';
-- By its hash: a long subject does not fit a B-tree.
CREATE INDEX blocks_of_a_subject ON broker.blocked_subject (tenant, hashtextextended(subject, 0)) WHERE match = 'exact';
CREATE INDEX blocks_by_globs ON broker.blocked_subject (tenant) WHERE match = 'glob';
CREATE INDEX blocks_of_an_identity_provider ON broker.blocked_subject (tenant, idp) WHERE idp IS NOT NULL;

CALL internal.keep_history('broker.blocked_subject', 'tenant');


-- ---------------------------------------------------------------- rows of all tenants

-- As it was, and for tables whose tenant may be null, which means all tenants: such a row belongs to the history of the
-- tables without tenant, and stays there.

CREATE OR REPLACE FUNCTION internal.record_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
AS $$
DECLARE
    tenant_column constant text := TG_ARGV[0];
    old_row constant jsonb := to_jsonb(OLD);
    new_row constant jsonb := to_jsonb(NEW);
    owning_tenant constant text := coalesce(new_row, old_row) ->> tenant_column;
    change audit.config_change;
BEGIN
    IF TG_OP = 'UPDATE' AND old_row ->> tenant_column IS DISTINCT FROM new_row ->> tenant_column THEN
        PERFORM internal.refuse(
            format('A row of broker.%s stays with its tenant: it cannot move from %s to %s.', TG_TABLE_NAME,
                   coalesce('"' || (old_row ->> tenant_column) || '"', 'all tenants'),
                   coalesce('"' || (new_row ->> tenant_column) || '"', 'all tenants')),
            'Insert it anew for the other tenant, and delete it here.', 'restrict_violation');
    END IF;

    -- One editor of a tenant at a time, so that revisions are committed in their order. References to
    -- the tenant only take KEY SHARE, which this lock lets pass.
    IF owning_tenant IS NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('mintmark: changes without tenant', 0));
    ELSE
        PERFORM FROM broker.tenant WHERE name = owning_tenant FOR NO KEY UPDATE;
    END IF;

    SELECT owning_tenant, last.revision + 1, TG_TABLE_NAME, TG_OP, old_row, new_row,
           session_user, clock_timestamp(), pg_current_xact_id()::text::bigint, last.hash
      INTO change.tenant, change.revision, change.table_name, change.operation, change.before, change.after,
           change.changed_by, change.changed_at, change.transaction_id, change.prev_hash
      FROM audit.last_change(owning_tenant) AS last;
    change.hash := audit.change_hash(change);

    -- ON CONFLICT: a transaction with an old snapshot (REPEATABLE READ and stricter) gets a
    -- serialization failure here, which clients know how to repeat, and not a duplicate key.
    INSERT INTO audit.config_change
           (tenant, revision, table_name, operation, before, after, changed_by, changed_at, transaction_id,
            prev_hash, hash)
    VALUES (change.tenant, change.revision, change.table_name, change.operation, change.before, change.after,
            change.changed_by, change.changed_at, change.transaction_id, change.prev_hash, change.hash)
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM internal.refuse('Another session changed ' || coalesce('tenant "' || owning_tenant || '"', 'a table without tenant')
                                || ' meanwhile.', 'Run the transaction again.', 'serialization_failure');
    END IF;
    RETURN NULL;
END
$$;


-- ---------------------------------------------------------------- refusals

CALL internal.say_what_is_missing_in('broker.blocked_subject');

CREATE TRIGGER belongs_to_its_writer BEFORE INSERT OR UPDATE ON broker.blocked_subject
    FOR EACH ROW EXECUTE FUNCTION internal.say_whose_rows_are_yours();

CREATE FUNCTION internal.say_who_writes_for_all_tenants() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF row_security_active(TG_RELID) AND NOT pg_has_role('${admin_role}', 'USAGE') THEN
        PERFORM internal.refuse_in(TG_RELID, '',
            format('Login "%s" cannot write a row without a tenant, which counts for all tenants.', session_user),
            'Name your tenant. What counts for all of them, platform admins write.', 'insufficient_privilege');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_who_writes_for_all_tenants() IS
    'Trigger: says in a sentence that row-level security would refuse a row of all tenants.';

CREATE TRIGGER belongs_to_the_platform BEFORE INSERT OR UPDATE ON broker.blocked_subject
    FOR EACH ROW WHEN (NEW.tenant IS NULL) EXECUTE FUNCTION internal.say_who_writes_for_all_tenants();

CREATE FUNCTION internal.say_what_is_wrong_with_block() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    owner constant text := format('The block of "%s"', NEW.subject);
    fault constant text := internal.line_fault(NEW.subject, 1024);
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.tenant IS DISTINCT FROM NEW.tenant THEN
        PERFORM internal.refuse(format('%s stays with its tenant: it cannot move from %s to %s.', owner,
                                       coalesce('"' || OLD.tenant || '"', 'all tenants'),
                                       coalesce('"' || NEW.tenant || '"', 'all tenants')),
                                'Insert it anew, and delete it here.');
    ELSIF fault IS NOT NULL THEN
        PERFORM internal.refuse(format('A block has a subject that %s.', fault),
                                'Write the sub claim of the tokens as it is, for example "repo:acme/app:ref:refs/heads/main".');
    ELSIF NEW.match NOT IN ('exact', 'glob') THEN
        PERFORM internal.refuse(format('%s has match "%s", and there are exact and glob.', owner, NEW.match),
                                'exact compares the subject to the character; in a glob * stays within a segment, ** does not.');
    ELSIF NEW.match = 'glob' AND NEW.subject !~ '^[^*:/]+([:/]|$)' THEN
        PERFORM internal.refuse(format('%s is a glob that does not start with a literal segment.', owner),
            'The text up to the first : or / must be without *, for example "repo:acme/app:**". To block all of a tenant''s: UPDATE broker.identity_provider SET enabled = false.');
    ELSIF NEW.match = 'glob' AND internal.glob_fault(NEW.subject) IS NOT NULL THEN
        PERFORM internal.refuse(format('The block of "%s" %s.',
                                       left(NEW.subject, 40) || CASE WHEN length(NEW.subject) > 40 THEN '…' ELSE '' END,
                                       internal.glob_fault(NEW.subject)),
                                'Write several shorter ones.');
    ELSIF NEW.reason !~ '\S' THEN
        PERFORM internal.refuse(format('%s has an empty reason.', owner), 'Say why, for example the incident''s number.');
    ELSIF length(NEW.reason) > 1000 THEN
        PERFORM internal.refuse(format('%s: its reason has %s characters, more than 1000.', owner, length(NEW.reason)), 'Write it shorter.');
    ELSIF NOT isfinite(NEW.until) THEN
        PERFORM internal.refuse(format('%s ends at infinity.', owner), 'A block without an end has null in until.');
    ELSIF NEW.until < '0001-01-01Z' OR NEW.until >= '10000-01-01Z' THEN
        PERFORM internal.refuse(format('%s ends outside of the years 1 to 9999.', owner),
                                'Write a time of these years, or null for a block without an end.');
    ELSIF NEW.idp IS NOT NULL AND NEW.tenant IS NULL THEN
        PERFORM internal.refuse(format('%s names identity provider "%s", and no tenant.', owner, NEW.idp),
                                'Name its tenant too. A block of all tenants is of the subject, whichever identity provider its token comes from.');
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_block() IS
    'Trigger: says in a sentence what is wrong with a blocked subject by itself.';

CREATE TRIGGER says_what_is_wrong BEFORE INSERT OR UPDATE ON broker.blocked_subject
    FOR EACH ROW EXECUTE FUNCTION internal.say_what_is_wrong_with_block();
ALTER TABLE broker.blocked_subject ENABLE ALWAYS TRIGGER says_what_is_wrong;

CREATE FUNCTION internal.say_which_identity_providers_there_are() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.idp) THEN
        PERFORM internal.refuse_stranger(TG_RELID, 'the_identity_provider_exists_in_the_same_tenant',
            NEW.tenant, 'identity provider', NEW.idp,
            ARRAY(SELECT p.name FROM broker.identity_provider AS p WHERE p.tenant = NEW.tenant),
            (SELECT p.tenant FROM broker.identity_provider AS p WHERE p.name = NEW.idp));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.say_which_identity_providers_there_are() IS
    'Trigger: says which identity providers a blocked subject could be of.';

CREATE TRIGGER "FK_names_a_tenant" AFTER INSERT OR UPDATE OF tenant ON broker.blocked_subject
    FOR EACH ROW WHEN (NEW.tenant IS NOT NULL) EXECUTE FUNCTION internal.say_which_tenants_there_are();
CREATE TRIGGER "FK_names_an_identity_provider" AFTER INSERT OR UPDATE OF tenant, idp ON broker.blocked_subject
    FOR EACH ROW WHEN (NEW.idp IS NOT NULL) EXECUTE FUNCTION internal.say_which_identity_providers_there_are();

-- As it was, and counts blocked subjects too.
CREATE OR REPLACE FUNCTION internal.say_what_names_it() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner text;
    what constant text := replace(TG_TABLE_NAME, '_', ' ');
    count bigint;
    named_by text;
BEGIN
    -- restrict_violation, as PostgreSQL says from 18 on; before, foreign keys said foreign_key_violation.
    CASE TG_TABLE_NAME
    WHEN 'identity_provider' THEN
        SELECT count(*), 'grant' INTO count, named_by FROM broker.subject_grant AS g WHERE g.tenant = OLD.tenant AND g.idp = OLD.name;
        IF count = 0 THEN
            SELECT count(*), 'blocked subject' INTO count, named_by FROM broker.blocked_subject AS b
             WHERE b.tenant = OLD.tenant AND b.idp = OLD.name;
        END IF;
    WHEN 'key' THEN
        SELECT count(*), 'grant' INTO count, named_by FROM broker.subject_grant AS g WHERE g.tenant = OLD.tenant AND g.key = OLD.name;
    WHEN 'access_provider' THEN
        SELECT count(*), 'key' INTO count, named_by FROM broker.key AS k WHERE k.tenant = OLD.tenant AND k.provider = OLD.name;
    END CASE;
    IF count > 0 THEN
        owner := format('%s "%s" of tenant "%s"', upper(left(what, 1)) || substr(what, 2), OLD.name, OLD.tenant);
        PERFORM internal.refuse_in(TG_RELID, '',
            format('%s is named by %s %s%s and cannot be %s.', owner, count, named_by, CASE WHEN count > 1 THEN 's' ELSE '' END,
                   CASE TG_OP WHEN 'DELETE' THEN 'deleted' ELSE 'renamed' END),
            CASE TG_OP WHEN 'DELETE'
                 THEN format('To put an end to its use: UPDATE broker.%I SET enabled = false WHERE tenant = %L AND name = %L; or delete its %ss first.',
                             TG_TABLE_NAME, OLD.tenant, OLD.name, named_by)
                 ELSE format('Insert a row of the new name, let its %ss name that, and delete this one.', named_by) END,
            'restrict_violation');
    END IF;
    RETURN NULL;
END
$$;


-- ---------------------------------------------------------------- how many there may be

-- A tenant's bounds hold for its blocks as they do for its grants, but beside them: nobody has to delete grants first to
-- block somebody.
ALTER TABLE runtime.tenant_size
    ADD COLUMN blocks bigint NOT NULL DEFAULT 0,
    ADD COLUMN block_globs bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN runtime.tenant_size.blocks IS 'Rows in broker.blocked_subject.';
COMMENT ON COLUMN runtime.tenant_size.block_globs IS 'Those of them whose match is glob.';
COMMENT ON COLUMN broker.tenant.max_grants IS 'How many grants it may have, and how many blocked subjects beside them.';
COMMENT ON COLUMN broker.tenant.max_globs IS
    'How many of its grants, and how many of its blocked subjects, may be globs over subjects: each is tried when a token comes.';

DROP FUNCTION internal.count_further(text, bigint, bigint, bigint);
CREATE FUNCTION internal.count_further(tenant text, further_keys bigint, further_grants bigint, further_globs bigint,
                                       further_blocks bigint DEFAULT 0, further_block_globs bigint DEFAULT 0) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_bitmapscan = off
    SET enable_sort = off
AS $$
DECLARE
    may broker.tenant;
    has runtime.tenant_size;
BEGIN
    SELECT t.* INTO may FROM broker.tenant AS t WHERE t.name = count_further.tenant FOR NO KEY UPDATE;
    SELECT s.* INTO has FROM runtime.tenant_size AS s WHERE s.tenant = count_further.tenant
     ORDER BY s.tenant DESC, s.number DESC LIMIT 1;
    IF FOUND THEN
        UPDATE runtime.tenant_size AS s
           SET number = s.number + 1, keys = s.keys + further_keys, grants = s.grants + further_grants,
               globs = s.globs + further_globs, blocks = s.blocks + further_blocks,
               block_globs = s.block_globs + further_block_globs
         WHERE s.tenant = has.tenant AND s.number = has.number
        RETURNING s.* INTO has;
    ELSE
        INSERT INTO runtime.tenant_size (tenant, number, keys, grants, globs, blocks, block_globs)
        VALUES (tenant, 1, further_keys, further_grants, further_globs, further_blocks, further_block_globs)
        RETURNING * INTO has;
    END IF;
    IF further_keys > 0 AND has.keys > may.max_keys THEN
        PERFORM internal.refuse_more(tenant, 'key', 'max_keys', 'broker.key', has.keys, may.max_keys);
    ELSIF further_grants > 0 AND has.grants > may.max_grants THEN
        PERFORM internal.refuse_more(tenant, 'grant', 'max_grants', 'broker.subject_grant', has.grants, may.max_grants);
    ELSIF further_globs > 0 AND has.globs > may.max_globs THEN
        PERFORM internal.refuse_more(tenant, 'glob grant', 'max_globs', 'broker.subject_grant', has.globs, may.max_globs);
    ELSIF further_blocks > 0 AND has.blocks > may.max_grants THEN
        PERFORM internal.refuse_more(tenant, 'blocked subject', 'max_grants', 'broker.blocked_subject', has.blocks, may.max_grants);
    ELSIF further_block_globs > 0 AND has.block_globs > may.max_globs THEN
        PERFORM internal.refuse_more(tenant, 'glob block', 'max_globs', 'broker.blocked_subject', has.block_globs, may.max_globs);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.count_further(text, bigint, bigint, bigint, bigint, bigint) IS
    'Adds to what a tenant has, and refuses what is more than it may have. What it had already may stay.';

-- The service reads and tries all of these for every token, of whichever tenant. So they must be fewer, and less work
-- together, than it would refuse to do: a block of all tenants never ends anybody else's service.
CREATE FUNCTION internal.check_globs_of_all_tenants() RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    globs bigint;
    steps bigint;
BEGIN
    SELECT count(*), sum(length(b.subject) + 1024 * regexp_count(b.subject, '[*][*]?')) INTO globs, steps
      FROM broker.blocked_subject AS b WHERE b.tenant IS NULL AND b.match = 'glob' AND b.enabled;
    IF globs > 1000 OR steps > 250000 THEN
        PERFORM internal.refuse_in('broker.blocked_subject', 'globs_of_all_tenants_are_few',
            CASE WHEN globs > 1000 THEN format('There would be %s blocks by globs for all tenants, and there may be 1000.', globs)
                 ELSE format('The blocks by globs for all tenants would be up to %s steps of work for each token, and 250000 are allowed.', steps) END,
            'Each star costs 1024 steps. Delete or disable those that are not needed any more, block exact subjects (of which there may be any number), or block in the tenants that are concerned.',
            'check_violation');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_globs_of_all_tenants() IS
    'Refuses more globs over subjects that are blocked in all tenants than each token can be held against.';

CREATE FUNCTION internal.count_blocks() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM internal.count_further(r.tenant, 0, 0, 0, -count(*), -count(*) FILTER (WHERE r.match = 'glob'))
           FROM removed AS r WHERE r.tenant IS NOT NULL GROUP BY r.tenant ORDER BY r.tenant;
        RETURN NULL;
    ELSIF TG_OP = 'INSERT' THEN
        PERFORM internal.count_further(w.tenant, 0, 0, 0, count(*), count(*) FILTER (WHERE w.match = 'glob'))
           FROM written AS w WHERE w.tenant IS NOT NULL GROUP BY w.tenant ORDER BY w.tenant;
    ELSE
        PERFORM internal.count_further(c.tenant, 0, 0, 0, 0, sum(c.globs)::bigint)
           FROM (SELECT w.tenant, count(*) AS globs FROM written AS w WHERE w.match = 'glob' GROUP BY w.tenant
                 UNION ALL
                 SELECT r.tenant, -count(*) FROM removed AS r WHERE r.match = 'glob' GROUP BY r.tenant) AS c
          WHERE c.tenant IS NOT NULL GROUP BY c.tenant HAVING sum(c.globs) <> 0 ORDER BY c.tenant;
    END IF;
    IF EXISTS (SELECT FROM written AS w WHERE w.tenant IS NULL AND w.match = 'glob' AND w.enabled) THEN
        PERFORM internal.check_globs_of_all_tenants();
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_blocks() IS
    'Trigger: counts the blocked subjects of a tenant and the globs among them, and refuses those beyond its bounds.';

CREATE TRIGGER is_counted AFTER INSERT ON broker.blocked_subject
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.count_blocks();
CREATE TRIGGER is_counted_no_more AFTER DELETE ON broker.blocked_subject
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION internal.count_blocks();
CREATE TRIGGER is_counted_anew AFTER UPDATE ON broker.blocked_subject
    REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION internal.count_blocks();
ALTER TABLE broker.blocked_subject
    ENABLE ALWAYS TRIGGER is_counted,
    ENABLE ALWAYS TRIGGER is_counted_no_more,
    ENABLE ALWAYS TRIGGER is_counted_anew;


-- ---------------------------------------------------------------- explain, and who can mint

CREATE FUNCTION internal.glob_covers(pattern text, match text, subject text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN match = 'exact' OR strpos(subject, '*') = 0 THEN internal.glob_matches(pattern, subject)
                WHEN pattern = subject THEN true
                ELSE pattern ~ '^[^*]+[*][*]+$' AND starts_with(split_part(subject, '*', 1), rtrim(pattern, '*')) END;
$$;
COMMENT ON FUNCTION internal.glob_covers(text, text, text) IS
    'Whether a glob matches all subjects that a grant is for. Of a grant for a glob that is only said where it is plain: the same glob, or one that is a text and ** with which the grant''s begins.';

-- Yes or no, and nothing else: tenants' admins may know that a subject of theirs is blocked in all tenants, but not why
-- or by which pattern.
CREATE FUNCTION internal.is_blocked_in_all_tenants(match text, subject text, at timestamptz) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    -- along the indexes, also with a plan from when there were few
    SET enable_seqscan = off
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE b.tenant IS NULL AND b.match = 'exact' AND b.enabled AND (b.until IS NULL OR b.until > at)
                      AND hashtextextended(b.subject, 0) = hashtextextended(is_blocked_in_all_tenants.subject, 0)
                      AND b.subject = is_blocked_in_all_tenants.subject
                      AND (is_blocked_in_all_tenants.match = 'exact' OR strpos(is_blocked_in_all_tenants.subject, '*') = 0))
        OR EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE b.tenant IS NULL AND b.match = 'glob' AND b.enabled AND (b.until IS NULL OR b.until > at)
                      AND internal.glob_covers(b.subject, is_blocked_in_all_tenants.match, is_blocked_in_all_tenants.subject));
END
$$;
COMMENT ON FUNCTION internal.is_blocked_in_all_tenants(text, text, timestamptz) IS
    'Whether all that a grant to this subject (or glob) is for is blocked in all tenants at a time.';

CREATE FUNCTION internal.blocking(tenant text, idp text, about text, at timestamptz) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    block record;
BEGIN
    SELECT b.id, b.reason INTO block FROM broker.blocked_subject AS b
     WHERE b.tenant = blocking.tenant AND b.enabled AND (b.until IS NULL OR b.until > at)
       AND (b.idp IS NULL OR b.idp = blocking.idp)
       AND (b.match = 'exact' AND hashtextextended(b.subject, 0) = hashtextextended(about, 0) AND b.subject = about
            OR b.match = 'glob' AND internal.glob_matches(b.subject, about))
     ORDER BY b.id LIMIT 1;
    RETURN CASE WHEN FOUND THEN format('blocked subject %s: %s', block.id, block.reason)
                WHEN internal.is_blocked_in_all_tenants('exact', about, at) THEN 'blocked in all tenants' END;
END
$$;
COMMENT ON FUNCTION internal.blocking(text, text, text, timestamptz) IS
    'What blocks a subject of an identity provider at a time, of what the caller may see; null if nothing does.';

-- As it was, and a blocked subject gets nothing.
CREATE OR REPLACE FUNCTION broker.explain(idp text, subject text, claims jsonb DEFAULT '{}', at timestamptz DEFAULT now())
    RETURNS TABLE (key text, granted boolean, grant_id bigint, condition text, expected text, seen text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked constant text := idp;
    about constant text := subject;
    given constant jsonb := coalesce(claims, '{}');
    provider record;
    required record;
    steps bigint;
    blocked text;
BEGIN
    PERFORM internal.require_idp(asked);
    IF jsonb_typeof(given) <> 'object' THEN
        PERFORM internal.refuse(format('The claims of a token are an object, not %s.', internal.a_kind(given)),
                                'For example {"ref": "refs/heads/main"}.', 'invalid_parameter_value');
    END IF;
    SELECT p.name, p.tenant, p.enabled, p.required_claims, t.enabled AS tenant_enabled
      INTO provider
      FROM broker.identity_provider AS p JOIN broker.tenant AS t ON t.name = p.tenant
     WHERE p.name = asked;
    PERFORM internal.refuse_too_much_work(provider.tenant, internal.claims_steps(provider.required_claims, given));
    SELECT u.* INTO required FROM internal.first_unmet(provider.required_claims, given) AS u;
    SELECT coalesce(sum(internal.glob_steps(b.subject, about)), 0) INTO steps
      FROM broker.blocked_subject AS b
     WHERE b.tenant = provider.tenant AND (b.idp IS NULL OR b.idp = asked) AND b.match = 'glob' AND b.enabled
       AND (b.until IS NULL OR b.until > at) AND starts_with(about, split_part(b.subject, '*', 1));
    PERFORM internal.refuse_too_much_work(provider.tenant, steps);
    blocked := internal.blocking(provider.tenant, asked, about, at);
    -- what a blocked subject is granted, nobody looks at
    IF blocked IS NULL THEN
        SELECT steps + coalesce(sum(internal.glob_steps(g.subject, about)), 0) INTO steps
          FROM broker.subject_grant AS g
         WHERE g.tenant = provider.tenant AND g.idp = asked AND g.match = 'glob' AND g.enabled
           AND starts_with(about, split_part(g.subject, '*', 1));
        PERFORM internal.refuse_too_much_work(provider.tenant, steps);
        SELECT steps + coalesce(sum(internal.claims_steps(g.claims, given)), 0) INTO steps
          FROM broker.subject_grant AS g
         WHERE g.tenant = provider.tenant AND g.idp = asked AND g.enabled
           AND (g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(about, 0) AND g.subject = about
                OR g.match = 'glob' AND internal.glob_matches(g.subject, about));
        PERFORM internal.refuse_too_much_work(provider.tenant, steps);
    END IF;

    RETURN QUERY
    WITH tried AS (
        SELECT g.key AS key_name, g.id, t.rank, t.condition AS failed, t.expected AS wanted, t.seen AS had,
               internal.grant_duration(g, k.max_duration, at) AS duration
          FROM broker.subject_grant AS g
          JOIN broker.key AS k ON k.tenant = g.tenant AND k.name = g.key
          JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
          JOIN broker.provider_type AS y ON y.type = a.type
         CROSS JOIN LATERAL internal.try_grant(g, k.max_duration, y.min_duration, given, at) AS t
         WHERE blocked IS NULL AND g.tenant = provider.tenant AND g.idp = asked
           AND (g.match = 'exact' AND hashtextextended(g.subject, 0) = hashtextextended(about, 0)
                    AND g.subject = about
                OR g.match = 'glob' AND internal.glob_matches(g.subject, about))
    ), best AS (
        SELECT DISTINCT ON (t.key_name) t.* FROM tried AS t
         ORDER BY t.key_name, t.rank DESC, t.duration DESC, t.id
    )
    SELECT k.name,
           coalesce(outcome.failed IS NULL, false),
           outcome.id, outcome.failed, outcome.wanted, outcome.had
      FROM broker.key AS k
      JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider
      LEFT JOIN best AS b ON b.key_name = k.name
     -- where no grant is for this subject: the one whose text begins most like it
      LEFT JOIN LATERAL (
          SELECT g.id, g.subject
            FROM (SELECT n.id, n.subject FROM broker.subject_grant AS n
                   WHERE b.id IS NULL AND n.tenant = k.tenant AND n.key = k.name AND n.idp = asked
                   ORDER BY n.id LIMIT 1000) AS g
           ORDER BY internal.common_start(g.subject, about) DESC, g.id LIMIT 1) AS nearest ON true
     CROSS JOIN LATERAL (
          SELECT * FROM (VALUES
              (NOT provider.tenant_enabled, NULL::bigint, 'the tenant is enabled', 'true', 'false'),
              (NOT provider.enabled, NULL, 'the identity provider is enabled', 'true', 'false'),
              (required.claim IS NOT NULL, NULL, 'required claim ' || required.claim, required.expected::text, required.seen::text),
              (blocked IS NOT NULL, NULL, 'blocked', 'not blocked', blocked),
              (NOT a.enabled, NULL, 'the access provider is enabled', 'true', 'false'),
              (NOT k.enabled, NULL, 'the key is enabled', 'true', 'false'),
              (b.id IS NOT NULL, b.id, b.failed, b.wanted, b.had),
              (nearest.id IS NOT NULL, nearest.id, 'subject', nearest.subject, about),
              (true, NULL, 'a grant', format('a grant of this key to a subject of "%s"', asked), NULL)
          ) AS o (applies, id, failed, wanted, had)
          WHERE o.applies LIMIT 1) AS outcome
     WHERE k.tenant = provider.tenant
     ORDER BY k.name;
END
$$;

-- As it was, without grants whose subjects are blocked.
CREATE OR REPLACE VIEW broker.who_can_mint WITH (security_invoker = true) AS
SELECT g.tenant, g.key, g.idp, g.match, g.subject, g.claims,
       internal.grant_duration(g, k.max_duration, now()) AS max_duration,
       g.valid_until, g.id AS grant_id, g.reason, g.created_by AS granted_by, g.created_at AS granted_at,
       k.provider, a.type AS provider_type, k.settings ->> y.target_setting AS target
  FROM broker.subject_grant AS g
  JOIN broker.tenant AS t ON t.name = g.tenant AND t.enabled
  JOIN broker.identity_provider AS p ON p.name = g.idp AND p.enabled
  JOIN broker.key AS k ON k.tenant = g.tenant AND k.name = g.key AND k.enabled
  JOIN broker.access_provider AS a ON a.tenant = k.tenant AND a.name = k.provider AND a.enabled
  JOIN broker.provider_type AS y ON y.type = a.type
 WHERE g.enabled
   AND (g.valid_from IS NULL OR g.valid_from <= now())
   AND (g.valid_until IS NULL OR g.valid_until > now())
   AND internal.grant_duration(g, k.max_duration, now()) >= y.min_duration
   AND NOT EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE b.tenant = g.tenant AND b.match = 'exact' AND b.enabled AND (b.until IS NULL OR b.until > now())
                      AND (b.idp IS NULL OR b.idp = g.idp)
                      AND hashtextextended(b.subject, 0) = hashtextextended(g.subject, 0) AND b.subject = g.subject
                      AND (g.match = 'exact' OR strpos(g.subject, '*') = 0))
   AND NOT EXISTS (SELECT FROM broker.blocked_subject AS b
                    WHERE b.tenant = g.tenant AND b.match = 'glob' AND b.enabled AND (b.until IS NULL OR b.until > now())
                      AND (b.idp IS NULL OR b.idp = g.idp) AND internal.glob_covers(b.subject, g.match, g.subject))
   AND NOT internal.is_blocked_in_all_tenants(g.match, g.subject, now());


-- ---------------------------------------------------------------- roles and row security

GRANT SELECT ON broker.blocked_subject TO "${app_role}", "${admin_role}", "${tenant_admin_role}", "${auditor_role}";
GRANT SELECT ON SEQUENCE broker.blocked_subject_id_seq TO "${auditor_role}";
GRANT INSERT (tenant, idp, subject, match, reason, until, enabled),
      UPDATE (tenant, idp, subject, match, reason, until, enabled), DELETE
    ON broker.blocked_subject TO "${admin_role}";
GRANT INSERT (tenant, idp, subject, match, reason, until, enabled),
      UPDATE (idp, subject, match, reason, until, enabled), DELETE
    ON broker.blocked_subject TO "${tenant_admin_role}";
GRANT EXECUTE ON FUNCTION internal.glob_covers(text, text, text), internal.blocking(text, text, text, timestamptz),
    internal.is_blocked_in_all_tenants(text, text, timestamptz)
    TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}";

ALTER TABLE broker.blocked_subject ENABLE ROW LEVEL SECURITY;
CREATE POLICY the_service_reads_every_row ON broker.blocked_subject FOR SELECT TO "${app_role}" USING (true);
CREATE POLICY auditors_read_every_row ON broker.blocked_subject FOR SELECT TO "${auditor_role}" USING (true);
CREATE POLICY platform_admins_see_every_row ON broker.blocked_subject FOR ALL TO "${admin_role}" USING (true);
-- A row of all tenants is of none of theirs.
CREATE POLICY tenant_admins_see_their_tenants ON broker.blocked_subject FOR ALL TO "${tenant_admin_role}"
    USING (tenant = ANY ((SELECT internal.tenants_of_login())::text[]));

UPDATE runtime.schema_version SET version = greatest(version, 12);
