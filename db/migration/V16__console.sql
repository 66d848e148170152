-- Who may look at the console, and what its login sees: nothing by itself, and with a viewer's claims what
-- broker.console_access gives to them.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '${console_role}') THEN
        RAISE EXCEPTION 'This database role does not exist: ${console_role}.'
            USING ERRCODE = 'undefined_object',
                  HINT = 'Run db/roles.sql again, in this database, as a role that may create roles.';
    END IF;
END
$$;

-- ---------------------------------------------------------------- who may look

CREATE TABLE broker.console_access (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant text COLLATE "C",
    claim text COLLATE "C" NOT NULL,
    value jsonb NOT NULL,
    reason text,
    enabled boolean NOT NULL DEFAULT true,
    CONSTRAINT an_access_has_a_number_of_its_own PRIMARY KEY (id),
    CONSTRAINT the_tenant_exists FOREIGN KEY (tenant) REFERENCES broker.tenant (name)
        ON UPDATE RESTRICT ON DELETE RESTRICT,
    CONSTRAINT a_claim_is_one_line_of_up_to_512_characters CHECK (internal.is_line(claim, 512)),
    CONSTRAINT a_value_has_up_to_4_kib CHECK (internal.json_fault(value, 4096) IS NULL),
    CONSTRAINT a_reason_has_up_to_1000_characters CHECK (length(reason) <= 1000)
);
COMMENT ON TABLE broker.console_access IS
    'Who may look at the console: whoever shows an ID token in which the claim is as it is said here sees the tenant, or all of them.';
COMMENT ON COLUMN broker.console_access.id IS 'Given by the database, never used again.';
COMMENT ON COLUMN broker.console_access.tenant IS
    'The tenant that is seen; null: all of them, with what belongs to none and the proof. A row never moves to another.';
COMMENT ON COLUMN broker.console_access.claim IS
    'The claim of the ID token, or a JSON pointer to it if it starts with /. email counts only where email_verified is true.';
COMMENT ON COLUMN broker.console_access.value IS
    'What the claim must be, as in the claims of a grant: a text, a number, true, false, {"glob": "…"}, or a list, which means any of.';
COMMENT ON COLUMN broker.console_access.reason IS 'Why it was given, for auditors; for example a ticket.';
COMMENT ON COLUMN broker.console_access.enabled IS 'False: as if it were not there.';
-- So that a file of them can be run again. By its hash: a long value does not fit a B-tree.
CREATE UNIQUE INDEX an_access_is_written_once ON broker.console_access
    (tenant, claim, hashtextextended(value::text, 0)) NULLS NOT DISTINCT;

CALL internal.keep_history('broker.console_access', 'tenant');
CALL internal.say_what_is_missing_in('broker.console_access');

CREATE FUNCTION internal.say_what_is_wrong_with_console_access() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fault text := internal.line_fault(NEW.claim, 512);
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.tenant IS DISTINCT FROM NEW.tenant THEN
        PERFORM internal.refuse(
            format('An access to the console stays with what it shows: it cannot move from %s to %s.',
                   coalesce('tenant "' || OLD.tenant || '"', 'all tenants'),
                   coalesce('tenant "' || NEW.tenant || '"', 'all tenants')),
            'Insert it anew, and delete this one.');
    ELSIF fault IS NOT NULL THEN
        PERFORM internal.refuse(format('An access to the console has a claim that %s.', fault),
                                'Write the name of a claim in the ID tokens, for example "groups".');
    ELSIF length(NEW.reason) > 1000 THEN
        PERFORM internal.refuse(format('The access to the console by "%s": its reason has %s characters, more than 1000.',
                                       NEW.claim, length(NEW.reason)), 'Write it shorter.');
    END IF;
    fault := internal.claims_fault(jsonb_build_object(NEW.claim, NEW.value));
    IF fault IS NOT NULL THEN
        PERFORM internal.refuse(format('The access to the console by "%s": %s.', NEW.claim, fault),
                                'A value is for example ''"alice@example.com"'', ''["ops", "audit"]'' or ''{"glob": "team:*"}''.');
    ELSIF ltrim(NEW.claim, '/') IN ('name', 'nickname', 'preferred_username', 'given_name', 'family_name') THEN
        RAISE WARNING 'The claim "%" is often the user''s own to choose.', NEW.claim
            USING HINT = 'Whoever may change it there sees the console. Prefer sub, or groups that only admins assign.';
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.say_what_is_wrong_with_console_access() IS
    'Trigger: says in a sentence what is wrong with an access to the console by itself.';

CREATE TRIGGER says_what_is_wrong BEFORE INSERT OR UPDATE ON broker.console_access
    FOR EACH ROW EXECUTE FUNCTION internal.say_what_is_wrong_with_console_access();
ALTER TABLE broker.console_access ENABLE ALWAYS TRIGGER says_what_is_wrong;
CREATE TRIGGER "FK_names_a_tenant" AFTER INSERT OR UPDATE OF tenant ON broker.console_access
    FOR EACH ROW WHEN (NEW.tenant IS NOT NULL) EXECUTE FUNCTION internal.say_which_tenants_there_are();


-- ---------------------------------------------------------------- what a viewer sees

-- The claims are those of the transaction (SET LOCAL mintmark.console_claims). Without them, and with what is no
-- JSON object, nobody is looking.
CREATE FUNCTION internal.accesses_of_viewer() RETURNS SETOF broker.console_access
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    claims constant jsonb := nullif(current_setting('mintmark.console_claims', true), '')::jsonb;
BEGIN
    IF jsonb_typeof(claims) = 'object' THEN
        RETURN QUERY
        SELECT a.* FROM broker.console_access AS a
         WHERE a.enabled
           AND internal.claim_met(a.value, internal.claim_at(claims, a.claim))
           AND (a.claim NOT IN ('email', '/email') OR claims -> 'email_verified' = 'true');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.accesses_of_viewer() IS
    'The rows of broker.console_access that the claims in mintmark.console_claims meet.';

CREATE FUNCTION internal.tenants_of_viewer() RETURNS text[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ARRAY(SELECT DISTINCT a.tenant FROM internal.accesses_of_viewer() AS a
                  WHERE a.tenant IS NOT NULL ORDER BY a.tenant);
END
$$;
COMMENT ON FUNCTION internal.tenants_of_viewer() IS
    'The tenants that whoever looks at the console sees by name; see viewer_sees_all too.';

CREATE FUNCTION internal.viewer_sees_all() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM internal.accesses_of_viewer() AS a WHERE a.tenant IS NULL);
END
$$;
COMMENT ON FUNCTION internal.viewer_sees_all() IS
    'Whether whoever looks at the console sees all tenants, and what belongs to none.';

-- Every table of the configuration and of the log, and no partition, which policies of its parent do not hold.
-- "SELECT" around the functions: asked once for each statement, not for each row.
DO $$
DECLARE
    everything constant text := '(SELECT internal.viewer_sees_all())';
    tenants constant text := '(SELECT internal.tenants_of_viewer())::text[]';
    held record;
    seen text;
BEGIN
    FOR held IN
        SELECT c.oid::regclass AS name, c.relkind, c.relrowsecurity AS has_policies,
               EXISTS (SELECT FROM pg_catalog.pg_attribute AS a
                        WHERE a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped) AS has_tenant
          FROM pg_catalog.pg_class AS c
         WHERE c.relnamespace IN ('broker'::regnamespace, 'audit'::regnamespace)
           AND (c.relkind IN ('r', 'p') AND NOT c.relispartition
                OR c.relkind = 'v' AND 'security_invoker=true' = ANY (c.reloptions))
    LOOP
        EXECUTE format('GRANT SELECT ON %s TO "${console_role}"', held.name);
        CONTINUE WHEN held.relkind = 'v';
        seen := CASE
            WHEN held.name = 'broker.tenant'::regclass THEN format('%s OR name = ANY (%s)', everything, tenants)
            WHEN held.has_tenant THEN format('%s OR tenant = ANY (%s)', everything, tenants)
            -- who may mint what can't be told without the types' shortest durations
            WHEN held.name = 'broker.provider_type'::regclass
                THEN format('%s OR cardinality(%s) > 0', everything, tenants)
            ELSE everything END;
        IF held.has_tenant OR held.has_policies THEN
            EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', held.name);
            EXECUTE format('CREATE POLICY viewers_see_what_their_claims_give ON %s FOR SELECT TO "${console_role}" USING (%s)',
                           held.name, seen);
        ELSE
            -- For everybody else privileges say it all, as before.
            EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', held.name);
            EXECUTE format('CREATE POLICY privileges_decide ON %s USING (true) WITH CHECK (true)', held.name);
            EXECUTE format('CREATE POLICY viewers_see_what_their_claims_give ON %s AS RESTRICTIVE FOR SELECT
                            TO "${console_role}" USING (%s)', held.name, seen);
        END IF;
    END LOOP;
END
$$;
CREATE POLICY auditors_read_every_row ON broker.console_access FOR SELECT TO "${auditor_role}" USING (true);
CREATE POLICY platform_admins_see_every_row ON broker.console_access FOR ALL TO "${admin_role}" USING (true);
CREATE POLICY tenant_admins_see_their_tenants ON broker.console_access FOR SELECT TO "${tenant_admin_role}"
    USING (tenant = ANY ((SELECT internal.tenants_of_login())::text[]));


-- ---------------------------------------------------------------- what policies would make slow

-- An index over a function that could tell of a row's contents is not used under a policy. So these look past it,
-- and hold the rows against the viewer's tenants themselves. They find; what is shown is read under the policies.

CREATE FUNCTION internal.mints_of_subject(subject text, before uuid, most int) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    everything constant boolean := internal.viewer_sees_all();
    tenants constant text[] := internal.tenants_of_viewer();
BEGIN
    RETURN QUERY
    SELECT e.mint_id FROM audit.event AS e
     WHERE hashtextextended(e.subject, 0) = hashtextextended(mints_of_subject.subject, 0)
       AND e.subject = mints_of_subject.subject
       AND e.mint_id < coalesce(before, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
       AND (e.step = 1 OR e.kind IN ('denied', 'rejected'))
       AND (everything OR e.tenant = ANY (tenants))
     ORDER BY e.mint_id DESC LIMIT most;
END
$$;
COMMENT ON FUNCTION internal.mints_of_subject(text, uuid, int) IS
    'The latest mints and refusals of a subject that the console''s viewer may see, the newest first; before: only those that came before it, null for all.';

CREATE FUNCTION internal.grant_at(tenant text, grant_id bigint, revision bigint) RETURNS SETOF audit.config_change
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
    SELECT c.* FROM audit.config_change AS c
     WHERE c.table_name = 'subject_grant'
       AND coalesce(c.after, c.before) ->> 'id' = grant_at.grant_id::text
       AND c.revision <= grant_at.revision
       AND c.tenant = grant_at.tenant
       AND (internal.viewer_sees_all() OR c.tenant = ANY (internal.tenants_of_viewer()))
     ORDER BY c.revision DESC LIMIT 1;
END
$$;
COMMENT ON FUNCTION internal.grant_at(text, bigint, bigint) IS
    'The last change of a grant up to a revision of its tenant, if the console''s viewer may see it.';


-- ---------------------------------------------------------------- privileges

GRANT SELECT ON broker.console_access TO "${auditor_role}", "${admin_role}", "${tenant_admin_role}";
GRANT INSERT (tenant, claim, value, reason, enabled), UPDATE (tenant, claim, value, reason, enabled), DELETE
    ON broker.console_access TO "${admin_role}";

GRANT USAGE ON SCHEMA broker, audit, runtime, internal TO "${console_role}";
GRANT SELECT ON runtime.schema_version TO "${console_role}";
GRANT EXECUTE ON FUNCTION internal.tenants_of_viewer(), internal.viewer_sees_all(),
    internal.mints_of_subject(text, uuid, int), internal.grant_at(text, bigint, bigint) TO "${console_role}";
-- The questions that auditors ask too: what runs with its caller's rights shows no more to the console.
DO $$
DECLARE
    question regprocedure;
BEGIN
    FOR question IN
        SELECT p.oid FROM pg_catalog.pg_proc AS p
         WHERE p.pronamespace IN ('broker'::regnamespace, 'audit'::regnamespace, 'internal'::regnamespace)
           AND p.prokind = 'f' AND NOT p.prosecdef AND p.prorettype <> 'trigger'::regtype
           AND pg_catalog.has_function_privilege('${auditor_role}', p.oid, 'EXECUTE')
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO "${console_role}"', question);
    END LOOP;
END
$$;

UPDATE runtime.schema_version SET version = greatest(version, 16);
