-- Who may do what to a table at all (privileges), and to which of its rows (policies). Whatever a later migration adds
-- is given there, by name.

-- ---------------------------------------------------------------- privileges

-- Nothing is left of what this database's default privileges gave.
DO $$
DECLARE
    role text;
    area text;
    what text;
BEGIN
    FOREACH role IN ARRAY ARRAY['PUBLIC', '${app_role}', '${admin_role}', '${tenant_admin_role}', '${auditor_role}'] LOOP
        CONTINUE WHEN role = current_user;  -- one role for everything: the owner keeps what it owns
        FOREACH area IN ARRAY ARRAY['broker', 'audit', 'runtime', 'internal'] LOOP
            FOREACH what IN ARRAY ARRAY['', 'ALL TABLES IN ', 'ALL SEQUENCES IN ', 'ALL ROUTINES IN '] LOOP
                EXECUTE format('REVOKE ALL ON %sSCHEMA %I FROM %s', what, area,
                               CASE role WHEN 'PUBLIC' THEN role ELSE quote_ident(role) END);
            END LOOP;
        END LOOP;
    END LOOP;
END
$$;


-- The service: reads the configuration, adds to the audit log, keeps used tokens.
GRANT USAGE ON SCHEMA broker, audit, runtime, internal TO "${app_role}";
GRANT SELECT ON ALL TABLES IN SCHEMA broker, runtime TO "${app_role}";
GRANT INSERT, DELETE ON runtime.used_token TO "${app_role}";
GRANT INSERT ON audit.event TO "${app_role}";
GRANT SELECT (tenant, revision) ON audit.config_change TO "${app_role}";
-- What sealing needs.
GRANT SELECT (mint_id, chain, seq, hash) ON audit.event TO "${app_role}";
GRANT SELECT (hash) ON audit.config_change TO "${app_role}";
GRANT SELECT, INSERT ON audit.checkpoint TO "${app_role}";
GRANT UPDATE (sealed_by) ON runtime.sealing TO "${app_role}";
GRANT INSERT, UPDATE (position) ON runtime.sealed_chain TO "${app_role}";
-- What its metrics show: how many mints are unresolved.
GRANT SELECT ON audit.open_mint TO "${app_role}";
GRANT EXECUTE ON FUNCTION audit.last_change(text), audit.changed_tenants(text[], text[]),
                          audit.first_mint_id(timestamptz) TO "${app_role}";
GRANT EXECUTE ON FUNCTION broker.revision(text), audit.create_partitions(int) TO "${app_role}";


-- Platform admins: write the whole configuration but what belongs to the code (provider types) and to the
-- triggers (id, external_id, created_at, created_by, updated_at, updated_by), and see what became of it.
GRANT USAGE ON SCHEMA broker, audit, internal TO "${admin_role}";
GRANT SELECT ON ALL TABLES IN SCHEMA broker, audit TO "${admin_role}";
GRANT EXECUTE ON FUNCTION broker.revision(text), audit.first_mint_id(timestamptz) TO "${admin_role}";
-- Renaming and deleting a tenant is left to the trigger, which says what to do instead.
GRANT INSERT (name, display_name, max_keys, max_grants, max_globs, max_calls, enabled),
      UPDATE (name, display_name, max_keys, max_grants, max_globs, max_calls, enabled), DELETE
    ON broker.tenant TO "${admin_role}";
GRANT INSERT (tenant, role_name), UPDATE (tenant, role_name), DELETE
    ON broker.tenant_admin TO "${admin_role}";
GRANT INSERT (issuer, owner_claims), UPDATE (issuer, owner_claims), DELETE
    ON broker.shared_issuer TO "${admin_role}";
GRANT INSERT (name, tenant, issuer, audiences, jwks_uri, jwks, ca_certificate, algorithms, required_claims,
              clock_skew, max_token_age, one_time_tokens, listed, enabled),
      UPDATE (name, tenant, issuer, audiences, jwks_uri, jwks, ca_certificate, algorithms, required_claims,
              clock_skew, max_token_age, one_time_tokens, listed, enabled), DELETE
    ON broker.identity_provider TO "${admin_role}";
GRANT INSERT (tenant, name, type, settings, allowed_targets, shared_identity, enabled),
      UPDATE (tenant, name, type, settings, allowed_targets, shared_identity, enabled), DELETE
    ON broker.access_provider TO "${admin_role}";
GRANT INSERT (tenant, name, provider, description, max_duration, settings, outputs, enabled),
      UPDATE (tenant, name, provider, description, max_duration, settings, outputs, enabled), DELETE
    ON broker.key TO "${admin_role}";
GRANT INSERT (tenant, idp, subject, match, key, claims, valid_from, valid_until, max_duration, reason, enabled),
      UPDATE (tenant, idp, subject, match, key, claims, valid_from, valid_until, max_duration, reason, enabled), DELETE
    ON broker.subject_grant TO "${admin_role}";
-- Called by the CHECKs and indexes of these tables, as the writer.
GRANT EXECUTE ON FUNCTION internal.is_line(text, int), internal.is_list(text[], int), internal.is_url(text),
    internal.is_glob_list(text[]), internal.is_outputs(jsonb), internal.glob_fault(text), internal.json_fault(jsonb, int),
    internal.canonical_field(text), internal.micros(timestamptz),
    internal.grant_digest(text, text, text, text, text, jsonb, timestamptz, timestamptz) TO "${admin_role}", "${tenant_admin_role}";


-- Called by the triggers that say which row a reference could name, as the writer.
GRANT EXECUTE ON FUNCTION internal.refuse_stranger(regclass, text, text, text, text, text[], text),
    internal.there_are(text, text[], text) TO "${admin_role}", "${tenant_admin_role}";


-- Tenant admins: keys and grants of their tenants; which these are is said below. A row's
-- tenant is written once: there is no UPDATE (tenant).
GRANT USAGE ON SCHEMA broker, audit, internal TO "${tenant_admin_role}";
GRANT SELECT ON broker.tenant, broker.tenant_admin, broker.shared_issuer, broker.identity_provider, broker.provider_type,
    broker.access_provider, broker.key, broker.subject_grant, audit.event, audit.open_mint,
    audit.config_change TO "${tenant_admin_role}";
-- Views that show their reader what the tables would, and no other.
DO $$
DECLARE
    harmless regclass;
BEGIN
    FOR harmless IN SELECT c.oid FROM pg_catalog.pg_class AS c
                     WHERE c.relnamespace IN ('broker'::regnamespace, 'audit'::regnamespace)
                       AND c.relkind = 'v' AND 'security_invoker=true' = ANY (c.reloptions) LOOP
        EXECUTE format('GRANT SELECT ON %s TO "${tenant_admin_role}"', harmless);
    END LOOP;
END
$$;
GRANT INSERT (tenant, name, provider, description, max_duration, settings, outputs, enabled),
      UPDATE (name, provider, description, max_duration, settings, outputs, enabled), DELETE
    ON broker.key TO "${tenant_admin_role}";
GRANT INSERT (tenant, idp, subject, match, key, claims, valid_from, valid_until, max_duration, reason, enabled),
      UPDATE (idp, subject, match, key, claims, valid_from, valid_until, max_duration, reason, enabled), DELETE
    ON broker.subject_grant TO "${tenant_admin_role}";
GRANT EXECUTE ON FUNCTION broker.revision(text), internal.tenants_of_login(), audit.first_mint_id(timestamptz)
    TO "${tenant_admin_role}";


-- Auditors: read everything, write nothing.
GRANT USAGE ON SCHEMA broker, audit, runtime, internal TO "${auditor_role}";
GRANT SELECT ON ALL TABLES IN SCHEMA broker, audit, runtime TO "${auditor_role}";
-- pg_dump reads them too.
GRANT SELECT ON ALL SEQUENCES IN SCHEMA broker, audit, runtime TO "${auditor_role}";
GRANT EXECUTE ON FUNCTION broker.revision(text), audit.first_mint_id(timestamptz) TO "${auditor_role}";


-- The questions that admins and auditors ask: these functions see what their caller may see.
GRANT EXECUTE ON FUNCTION broker.explain(text, text, jsonb, timestamptz), broker.what_can_mint(text, text),
    internal.require_idp(text), internal.a_kind(jsonb),
    internal.try_grant(broker.subject_grant, int, int, jsonb, timestamptz),
    internal.grant_duration(broker.subject_grant, int, timestamptz), internal.common_start(text, text),
    internal.claims_met(jsonb, jsonb), internal.first_unmet(jsonb, jsonb), internal.claim_met(jsonb, jsonb),
    internal.value_fits(jsonb, jsonb), internal.claim_at(jsonb, text), internal.glob_matches(text, text),
    internal.glob_steps(text, text), internal.claims_steps(jsonb, jsonb), internal.refuse_too_much_work(text, bigint),
    internal.did_you_mean(text, text[], text), internal.nearest(text, text[]), internal.edit_distance(text, text)
    TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}";
-- Whoever is refused something is told so.
GRANT EXECUTE ON FUNCTION internal.refuse(text, text, text), internal.refuse_in(regclass, text, text, text, text, text)
    TO "${app_role}", "${admin_role}", "${tenant_admin_role}", "${auditor_role}";


-- ---------------------------------------------------------------- row security

-- The policies of the service, of platform admins and of auditors say "true": the planner drops that, so
-- it costs nothing. Owners are not held by policies, nor are the checks of foreign keys.

DO $$
DECLARE
    held record;
    mine constant text := 'tenant = ANY ((SELECT internal.tenants_of_login())::text[])';
BEGIN
    FOR held IN SELECT * FROM (VALUES
            ('broker', 'tenant', replace(mine, 'tenant =', 'name ='), false),
            ('broker', 'tenant_admin', mine, false),
            ('broker', 'identity_provider', mine, false),
            ('broker', 'access_provider', mine, false),
            ('broker', 'key', mine, true),
            ('broker', 'subject_grant', mine, true),
            ('audit', 'event', mine, false),
            ('audit', 'open_mint', mine, false),
            ('audit', 'config_change', mine, false)
        ) AS t (area, name, condition, written_by_tenant_admins)
    LOOP
        EXECUTE format('ALTER TABLE %I.%I ENABLE ROW LEVEL SECURITY', held.area, held.name);
        EXECUTE format('CREATE POLICY the_service_reads_every_row ON %I.%I FOR SELECT TO "${app_role}" USING (true)',
                       held.area, held.name);
        EXECUTE format('CREATE POLICY auditors_read_every_row ON %I.%I FOR SELECT TO "${auditor_role}" USING (true)',
                       held.area, held.name);
        EXECUTE format('CREATE POLICY platform_admins_see_every_row ON %I.%I FOR %s TO "${admin_role}" USING (true)',
                       held.area, held.name, CASE held.area WHEN 'broker' THEN 'ALL' ELSE 'SELECT' END);
        EXECUTE format('CREATE POLICY tenant_admins_see_their_tenants ON %I.%I FOR %s TO "${tenant_admin_role}" USING (%s)',
                       held.area, held.name, CASE WHEN held.written_by_tenant_admins THEN 'ALL' ELSE 'SELECT' END,
                       held.condition);
    END LOOP;

    CREATE POLICY the_service_writes_what_happened ON audit.event FOR INSERT TO "${app_role}" WITH CHECK (true);
END
$$;

UPDATE runtime.schema_version SET version = 11;
