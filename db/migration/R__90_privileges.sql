-- What each role may do; to which rows, is in R__21_policies. The only file with privileges. It runs again with every
-- version of the schema (${schema_version}), because a view or function that was dropped and created again has lost its own.

-- Nothing is left of what this database's default privileges gave.
DO $$
DECLARE
    role text;
    area text;
    what text;
BEGIN
    FOREACH role IN ARRAY ARRAY['PUBLIC', '${app_role}', '${admin_role}', '${tenant_admin_role}', '${auditor_role}',
                                '${console_role}'] LOOP
        CONTINUE WHEN role = current_user;  -- one role for everything: the owner keeps what it owns
        FOREACH area IN ARRAY ARRAY['broker', 'audit', 'log', 'runtime', 'work', 'internal'] LOOP
            FOREACH what IN ARRAY ARRAY['', 'ALL TABLES IN ', 'ALL SEQUENCES IN ', 'ALL ROUTINES IN '] LOOP
                EXECUTE format('REVOKE ALL ON %sSCHEMA %I FROM %s', what, area,
                               CASE role WHEN 'PUBLIC' THEN role ELSE quote_ident(role) END);
            END LOOP;
        END LOOP;
    END LOOP;
END
$$;


-- ---------------------------------------------------------------- everybody

GRANT USAGE ON SCHEMA broker, audit, internal
    TO "${app_role}", "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";
-- Only the service names tables of these two: a member's statement on a table waits for its readers, and mints for the statement.
GRANT USAGE ON SCHEMA log, work TO "${app_role}";
GRANT USAGE ON SCHEMA runtime TO "${app_role}", "${auditor_role}", "${console_role}";
-- The check of the next release lists what is pending, with the service's login.
DO $$
BEGIN
    IF to_regclass('runtime.flyway_schema_history') IS NOT NULL THEN
        GRANT SELECT ON runtime.flyway_schema_history TO "${app_role}";
    END IF;
END
$$;
GRANT SELECT ON runtime.schema_version TO "${app_role}", "${auditor_role}", "${console_role}";
GRANT SELECT ON internal.event_place, internal.change_place
    TO "${app_role}", "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";
GRANT EXECUTE ON FUNCTION internal.login_is(text), broker.revision(text), audit.first_mint_id(timestamptz), internal.without_bookkeeping(jsonb),
    internal.shown_row(jsonb), internal.name_of_table(regclass), internal.refuse(text, text, text),
    internal.refuse_in(regclass, text, text, text, text, text, jsonb)
    TO "${app_role}", "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";

-- The people's roles may call all that runs with its caller's rights: it gives nothing that the caller doesn't have. What
-- runs with its owner's rights is granted by name.
DO $$
DECLARE
    harmless regprocedure;
BEGIN
    FOR harmless IN SELECT p.oid FROM pg_catalog.pg_proc AS p
                     WHERE p.pronamespace IN ('broker'::regnamespace, 'audit'::regnamespace, 'internal'::regnamespace)
                       AND p.prokind = 'f' AND NOT p.prosecdef AND p.prorettype <> 'trigger'::regtype LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}"',
                       harmless);
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION internal.is_blocked_in_all_tenants(text, text, timestamptz, jsonb), internal.is_the_broker(text),
    internal.may_read_rows_of(text), internal.grants_that_name(text, text, text), internal.change_before(text, text, text, bigint), internal.types_at(timestamptz), internal.decided_in_all_tenants(timestamptz, timestamptz, text[], text[], text[]),
    internal.blocked_in_all_tenants_at(timestamptz, timestamptz, text[], text[])
    TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";


-- ---------------------------------------------------------------- the service: reads the configuration, adds to the log

GRANT SELECT ON broker.tenant, broker.tenant_admin, broker.shared_issuer, broker.identity_provider, broker.provider_type,
    broker.access_provider, broker.key, broker.subject_grant, broker.blocked_subject, broker.access_rule, broker.who_can_mint,
    broker.grant_ending_soon, work.trusted_audience, work.used_token, work.tenant_size, work.sealing,
    work.sealed_chain TO "${app_role}";
GRANT INSERT, DELETE ON work.used_token TO "${app_role}";
GRANT INSERT ON log.event TO "${app_role}";
GRANT SELECT (mint_id, tenant, provider_type, expires_at) ON broker.ended_credential TO "${app_role}";
GRANT SELECT (tenant, revision, table_name, transaction_id) ON log.config_change TO "${app_role}";
-- The configuration once more, while somebody's lock keeps it from a table.
GRANT SELECT ON log.issuer_change, log.tenant, log.identity_provider, log.access_provider, log.key, log.subject_grant, log.blocked_subject, log.access_rule,
    log.provider_type TO "${app_role}";
GRANT EXECUTE ON FUNCTION audit.last_change(text), audit.changed_tenants(text[], text[]), audit.create_partitions(int)
    TO "${app_role}";
-- What sealing needs.
GRANT SELECT (mint_id, step, chain, seq, hash) ON log.event TO "${app_role}";
GRANT SELECT (hash) ON log.config_change TO "${app_role}";
GRANT SELECT, INSERT ON log.checkpoint, log.cosignature TO "${app_role}";
GRANT UPDATE (sealed_by, tree_number, tree_size, tree_edge, tree_checkpoint, witnesses_asked_at, witnessed_at) ON work.sealing TO "${app_role}";
GRANT SELECT, INSERT, UPDATE (tree, size, edge) ON work.witness TO "${app_role}";
GRANT INSERT, UPDATE (position) ON work.sealed_chain TO "${app_role}";
GRANT EXECUTE ON FUNCTION internal.sealed_by_last_checkpoint(), internal.record_role_members() TO "${app_role}";
-- What a promotion lost.
GRANT SELECT, INSERT, UPDATE (acknowledged_by) ON work.lost_row TO "${app_role}";
GRANT EXECUTE ON FUNCTION internal.skip_lost_ids() TO "${app_role}";
GRANT SELECT ON work.lost_row TO "${admin_role}", "${auditor_role}";
-- What mints leave behind at their providers.
GRANT SELECT, INSERT, UPDATE, DELETE ON work.ending TO "${app_role}";
GRANT SELECT, INSERT, UPDATE, DELETE ON work.sweep TO "${app_role}";
GRANT SELECT, DELETE ON work.early_end TO "${app_role}";
GRANT EXECUTE ON FUNCTION internal.note_left_behind(text, text, uuid[]) TO "${app_role}";
-- Requests for access, and notices of them.
GRANT EXECUTE ON FUNCTION internal.requestable_keys(text, text, text, jsonb, text, text, text[]),
    internal.request_access(text, text, text, jsonb, text, text, text[], text, int, boolean),
    internal.access_requests(text, text, text, jsonb, text, uuid, text, text),
    internal.decide_access(text, text, text, jsonb, boolean, uuid, text, text, jsonb), internal.withdraw_access(text, text, text, uuid),
    internal.withdrawn_access(text, text, text, text, text, text[]), internal.lapse_access_requests(int), internal.end_credentials_of_access(int), internal.take_notices(text, int, int, text[]), internal.confirm_notice(uuid, text),
    internal.postpone_notice(uuid, text, int, text), internal.release_notice(uuid, text) TO "${app_role}";
-- What its metrics show: how many mints are unresolved.
GRANT SELECT ON log.open_mint TO "${app_role}";


-- ---------------------------------------------------------------- people and the console: read

GRANT SELECT ON broker.tenant, broker.tenant_admin, broker.shared_issuer, broker.known_issuer, broker.identity_provider,
    broker.provider_type, broker.access_provider, broker.key, broker.subject_grant, broker.grant_review, broker.blocked_subject,
    broker.ended_credential, broker.access_rule, broker.access_approver, broker.access_request, broker.access_decision,
    broker.console_access, internal.lint_finding, log.config_change, log.event, log.open_mint
    TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";
-- Views show their reader what the tables would: all of them have security_invoker.
GRANT SELECT ON broker.who_can_mint, broker.grant_ending_soon, broker.pending_change, broker.pending_approval, broker.lint,
    internal.usual_spelling, internal.lint_of_identity_provider, internal.lint_of_few_identity_providers, internal.lint_of_access_provider, internal.lint_of_key, internal.lint_of_console_access, internal.lint_of_shared_issuer, internal.lint_of_tenant_admin, internal.lint_of_tenant,
    audit.access_request, audit.access_credential, audit.break_glass, internal.next_review, audit.grant_review,
    audit.role_member, audit.mint,
    audit.unresolved, audit.active_credential, audit.unended, audit.denial, audit.change, audit.unused_grant
    TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";
GRANT SELECT ON log.checkpoint, log.cosignature, log.verification TO "${admin_role}", "${auditor_role}", "${console_role}";
GRANT SELECT ON work.joined_subject, work.named_issuer, internal.one_person, internal.issuer_by_name TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";
-- For audit.unended: those without USAGE on schema runtime can't read it by itself.
GRANT SELECT ON work.ending TO "${admin_role}", "${tenant_admin_role}", "${auditor_role}", "${console_role}";


-- ---------------------------------------------------------------- platform admins: write the configuration

-- With id, request_id, steps, issuer of an approver, proposed and decided_by, so that a trigger refuses what is given, in words; so with created_at, created_by, updated_at, updated_by, approved_at and approved_by below. Not what belongs to the code (provider types,
-- known issuers) and to the triggers (external_id) and to moves between cells (issuer, moved_to, moved_from). Renaming and deleting a tenant is left to the trigger, which says what to do instead.
GRANT INSERT (name, display_name, max_keys, max_grants, max_globs, max_calls, max_requests, max_duration, max_changes, require_owner, require_second_admin, review_days,
              notice_url, notice_secret, enabled),
      UPDATE (name, display_name, max_keys, max_grants, max_globs, max_calls, max_requests, max_duration, max_changes, require_owner, require_second_admin, review_days,
              notice_url, notice_secret, enabled), DELETE
    ON broker.tenant TO "${admin_role}";
GRANT INSERT (tenant, role_name), UPDATE (tenant, role_name), DELETE
    ON broker.tenant_admin TO "${admin_role}";
GRANT INSERT (issuer, owner_claims), UPDATE (issuer, owner_claims), DELETE
    ON broker.shared_issuer TO "${admin_role}";
GRANT INSERT (name, tenant, issuer, audiences, jwks_uri, jwks, ca_certificate, algorithms, token_types, required_claims,
              clock_skew, max_token_age, one_time_tokens, accepts, login_client_id, listed, enabled),
      UPDATE (name, tenant, issuer, audiences, jwks_uri, jwks, ca_certificate, algorithms, token_types, required_claims,
              clock_skew, max_token_age, one_time_tokens, accepts, login_client_id, listed, enabled), DELETE
    ON broker.identity_provider TO "${admin_role}";
GRANT INSERT (tenant, name, type, settings, allowed_targets, shared_identity, enabled),
      UPDATE (tenant, name, type, settings, allowed_targets, shared_identity, enabled), DELETE
    ON broker.access_provider TO "${admin_role}";
GRANT INSERT (id, tenant, all_tenants, claim, value, reason, enabled), UPDATE (id, tenant, all_tenants, claim, value, reason, enabled), DELETE
    ON broker.console_access TO "${admin_role}";

GRANT EXECUTE ON FUNCTION broker.export_tenant(text, text, text), broker.import_tenant(jsonb, text, text, boolean) TO "${admin_role}";

-- Tenant admins write these three too. A row's tenant is written once: they have no UPDATE (tenant).
GRANT INSERT (tenant, name, provider, description, owner, max_duration, settings, outputs, resource, enabled),
      UPDATE (name, provider, description, owner, max_duration, settings, outputs, resource, enabled), DELETE
    ON broker.key TO "${admin_role}", "${tenant_admin_role}";
GRANT INSERT (id, tenant, idp, subject, match, key, claims, actor_idp, actor, actor_match, actor_claims, networks, valid_from, valid_until,
              max_duration, reason, owner, enabled, request_id),
      UPDATE (id, idp, subject, match, key, claims, actor_idp, actor, actor_match, actor_claims, networks, valid_from, valid_until,
              max_duration, reason, owner, enabled, request_id), DELETE
    ON broker.subject_grant TO "${admin_role}", "${tenant_admin_role}";
GRANT INSERT (id, tenant, grant_id, verdict, note) ON broker.grant_review TO "${admin_role}", "${tenant_admin_role}";
GRANT INSERT (id, tenant, key, idp, subject, match, claims, approvals, max_access, expires_after, break_glass, end_credentials, end_access, people, consent, steps, reason_pattern, reason_hint, owner, reason, enabled),
      UPDATE (id, key, idp, subject, match, claims, approvals, max_access, expires_after, break_glass, end_credentials, end_access, people, consent, steps, reason_pattern, reason_hint, owner, reason, enabled), DELETE
    ON broker.access_rule TO "${admin_role}", "${tenant_admin_role}";
GRANT INSERT (id, tenant, rule, role_name, idp, issuer, subject, match, claims, step, program, max_access),
      UPDATE (id, rule, role_name, idp, issuer, subject, match, claims, step, program, max_access), DELETE
    ON broker.access_approver TO "${admin_role}", "${tenant_admin_role}";
-- A trigger asks whether the login is an approver.
GRANT INSERT (id, tenant, request, verdict, note, decided_by, revisions) ON broker.access_decision TO "${admin_role}", "${tenant_admin_role}";
GRANT UPDATE (require_second_admin) ON broker.tenant TO "${tenant_admin_role}";
GRANT EXECUTE ON FUNCTION internal.new_id(regclass, bigint), internal.refuse_old_snapshot(text) TO "${admin_role}", "${tenant_admin_role}";
GRANT EXECUTE ON FUNCTION broker.approve(text, bigint, bigint), broker.approve(text, text, text, bigint) TO "${admin_role}", "${tenant_admin_role}";
GRANT INSERT (mint_id, tenant, reason) ON broker.ended_credential TO "${admin_role}", "${tenant_admin_role}";
GRANT INSERT (id, tenant, idp, subject, match, claims, reason, until, enabled, proposed),
      UPDATE (id, idp, subject, match, claims, reason, until, enabled, proposed), DELETE
    ON broker.blocked_subject TO "${admin_role}", "${tenant_admin_role}";
GRANT UPDATE (tenant) ON broker.key, broker.subject_grant, broker.blocked_subject, broker.access_rule TO "${admin_role}";

-- Where a role may write a row, a trigger refuses what it gives to these columns (internal.refuse_kept_column).
DO $$
DECLARE
    kept record;
BEGIN
    FOR kept IN
        SELECT c.relname, w.privilege_type AS what, pg_get_userbyid(w.grantee) AS role,
               (SELECT string_agg(quote_ident(k.attname), ', ' ORDER BY k.attnum) FROM pg_catalog.pg_attribute AS k
                 WHERE k.attrelid = c.oid AND k.attname = ANY ('{created_at,created_by,updated_at,updated_by,approved_at,approved_by}')) AS columns
          FROM pg_catalog.pg_class AS c
         CROSS JOIN LATERAL (SELECT DISTINCT p.privilege_type, p.grantee FROM pg_catalog.pg_attribute AS a CROSS JOIN LATERAL aclexplode(a.attacl) AS p
                              WHERE a.attrelid = c.oid AND p.privilege_type IN ('INSERT', 'UPDATE')
                                AND pg_get_userbyid(p.grantee) IN ('${admin_role}', '${tenant_admin_role}')) AS w
         WHERE c.relnamespace = 'broker'::regnamespace AND c.relkind = 'r' AND w.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT %s (%s) ON broker.%I TO %I', kept.what, kept.columns, kept.relname, kept.role);
    END LOOP;
END
$$;
GRANT EXECUTE ON FUNCTION internal.tenants_of_login() TO "${tenant_admin_role}";


-- ---------------------------------------------------------------- who verifies the log: says what came of it

GRANT EXECUTE ON FUNCTION internal.record_verification(bigint, bigint, bigint, bigint, bigint, bigint, text[], text, text)
    TO "${auditor_role}", "${console_role}";


-- ---------------------------------------------------------------- auditors: read everything

GRANT SELECT ON ALL TABLES IN SCHEMA work TO "${auditor_role}";
GRANT SELECT ON ALL TABLES IN SCHEMA runtime TO "${auditor_role}";
GRANT SELECT ON internal.bookkeeping TO "${auditor_role}";
-- pg_dump reads sequences by themselves.
GRANT SELECT ON ALL SEQUENCES IN SCHEMA broker TO "${auditor_role}";


-- ---------------------------------------------------------------- the console: what its viewer's claims allow

GRANT EXECUTE ON FUNCTION internal.tenants_of_viewer(), internal.viewer_sees_all(),
    internal.find_mints(text, text, text, text, text, uuid, uuid, int),
    internal.activity(text, text, text, timestamptz, interval, int, int),
    internal.activity_of_tenants(text[], timestamptz, interval, int, int), internal.most_denied(text, timestamptz, int, int),
    internal.users_of_key(text, text, timestamptz, int, int), internal.uses_of_grants(bigint[], timestamptz, int),
    internal.log_begins(text), internal.revisions_in_time(text, timestamptz, timestamptz), internal.uses_in_time(text, timestamptz, timestamptz, int, int),
    internal.denials_in_time(text, timestamptz, timestamptz, int, int),
    internal.reviews_due(int), internal.ends_soon(interval, interval, int), internal.overdue_ends(int), internal.lints_keys(int), internal.lint_by_tenant(int, int),
    internal.lint_of_tenants(text[], int, int),
    internal.verifications_not_clean(), internal.changes_by(text, timestamptz, timestamptz, int), internal.waiting_for_viewer(int), internal.asked_by_viewer(int), internal.requests_of_names(text[], int),
    internal.viewer_may_withdraw(uuid), internal.withdrawable_by_viewer(), internal.requestable_by_viewer(text, int),
    internal.names_of_viewer(),
    internal.living_credentials(text, int),
    internal.activity_of_subject(text, timestamptz, int), internal.unsealed_rows(int),
    internal.grants_for(text, int), internal.blocks_of(text, int), internal.grant_at(text, bigint, bigint),
    internal.changes_of_grant(text, bigint, int), internal.grant_changes_of_key(text, text, int) TO "${console_role}";


-- ---------------------------------------------------------------- views of tables: as their tables

DO $$
DECLARE
    allowed record;
BEGIN
    FOR allowed IN
        SELECT s.views, c.relname, p.privilege_type AS what, pg_get_userbyid(p.grantee) AS role
          FROM (VALUES ('log', 'audit'), ('work', 'runtime')) AS s (tables, views)
          JOIN pg_catalog.pg_class AS c ON c.relnamespace = s.tables::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
         CROSS JOIN LATERAL aclexplode(c.relacl) AS p
         WHERE p.grantee <> c.relowner
        UNION ALL
        SELECT s.views, c.relname, format('%s (%s)', p.privilege_type, string_agg(quote_ident(a.attname), ', ')), pg_get_userbyid(p.grantee)
          FROM (VALUES ('log', 'audit'), ('work', 'runtime')) AS s (tables, views)
          JOIN pg_catalog.pg_class AS c ON c.relnamespace = s.tables::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
          JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
         CROSS JOIN LATERAL aclexplode(a.attacl) AS p
         WHERE p.grantee <> c.relowner
         GROUP BY s.views, c.relname, p.privilege_type, p.grantee
    LOOP
        EXECUTE format('GRANT %s ON %I.%I TO %I', allowed.what, allowed.views, allowed.relname, allowed.role);
    END LOOP;
END
$$;
