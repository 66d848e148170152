-- Which triggers each table has. They are apart from their functions, which change more often: to create a trigger waits
-- for the writers of its table, and other writers wait meanwhile. A trigger's comment is its definition, and one that is
-- defined as before is left alone.
--
-- PostgreSQL runs the triggers of a table in the order of their names, and checks foreign keys by triggers called RI_….
-- "always": also where session_replication_role is replica.

DO $$
DECLARE
    wanted record;
    definition text;
BEGIN
    FOR wanted IN
        SELECT w.* FROM (
        -- every table of the configuration; required: columns that must not be null, and an error says what they are for
        SELECT 'broker.' || c.name AS target, t.name, t.event, t.scope, t.function, t.always
          FROM (VALUES
                ('tenant', '''name''', '{name,max_keys,max_grants,max_globs,max_calls,max_changes,require_owner,require_second_admin,review_days,enabled}'::text[], true),
                ('tenant_admin', '''tenant''', '{tenant,role_name}', true),
                ('shared_issuer', '', '{issuer,owner_claims}', false),
                ('identity_provider', '''tenant''',
                 '{name,tenant,issuer,audiences,algorithms,token_types,required_claims,clock_skew,one_time_tokens,accepts,listed,enabled}', true),
                ('provider_type', '', '{}', false),
                ('known_issuer', '', '{}', false),
                ('access_provider', '''tenant''', '{tenant,name,type,settings,allowed_targets,shared_identity,enabled}', true),
                ('key', '''tenant''', '{tenant,name,provider,max_duration,settings,outputs,enabled}', true),
                ('subject_grant', '''tenant''', '{tenant,idp,subject,match,key,claims,actor_match,actor_claims,enabled}', true),
                ('blocked_subject', '''tenant''', '{subject,match,claims,reason,enabled}', true),
                ('grant_review', '''tenant''', '{grant_id,verdict,tenant}', false),
                ('ended_credential', '''tenant''', '{mint_id,reason,tenant,provider_type,expires_at}', false),
                ('access_rule', '''tenant''', '{tenant,key,idp,subject,match,claims,approvals,max_access,expires_after,break_glass,end_credentials,people,consent,enabled}', false),
                ('access_approver', '''tenant''', '{rule,match,claims,step,program,tenant}', false),
                ('access_request', '''tenant''', '{}', false),
                ('access_decision', '''tenant''', '{request,verdict,tenant,steps,program}', false),
                ('console_access', '''tenant''', '{all_tenants,claim,value,enabled}', false)
               ) AS c (name, tenant_column, required, large_edits_warn)
         CROSS JOIN LATERAL (VALUES
                ('is_signed', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'sign_row()', true, true),
                ('is_recorded', 'AFTER INSERT OR DELETE', 'FOR EACH ROW', format('record_change(%s)', c.tenant_column), true, true),
                ('is_recorded_when_it_differs', 'AFTER UPDATE', 'FOR EACH ROW WHEN (OLD.* *<> NEW.*)',
                 format('record_change(%s)', c.tenant_column), true, true),
                ('is_not_truncated', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()', true, true),
                ('has_what_it_needs', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
                 format('say_what_is_missing(''%s'')', array_to_string(c.required, ''', ''')), false, c.required <> '{}'),
                ('is_told_when_large', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT',
                 format('tell_a_large_edit(%s)', c.tenant_column), false, c.large_edits_warn),
                ('is_told_when_much_goes', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT',
                 format('tell_a_large_edit(%s)', c.tenant_column), false, c.large_edits_warn)
               ) AS t (name, event, scope, function, always, applies)
         WHERE t.applies
        UNION ALL
        SELECT t.* FROM (VALUES
            -- ------------------------------------------------ rows by themselves
            ('broker.tenant', 'is_kept', 'BEFORE UPDATE OR DELETE', 'FOR EACH ROW', 'keep_tenant()', true),
            ('broker.tenant', 'says_what_is_wrong', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_is_wrong_with_tenant()', true),
            ('broker.tenant', 'keeps_its_second_admin', 'BEFORE UPDATE', 'FOR EACH ROW', 'keep_second_admin()', true),
            ('broker.tenant', 'leaves_rows_in_force', 'AFTER UPDATE',
             'FOR EACH ROW WHEN (NEW.require_second_admin AND NOT OLD.require_second_admin)', 'leave_rows_in_force()', true),
            ('broker.key', 'awaits_approval', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'keep_approval()', true),
            ('broker.subject_grant', 'awaits_approval', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'keep_approval()', true),
            ('broker.access_rule', 'awaits_approval', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'keep_approval()', true),
            ('broker.access_approver', 'awaits_approval', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'keep_approval()', true),
            ('broker.subject_grant', 'is_as_it_was_approved', 'BEFORE UPDATE OR DELETE', 'FOR EACH ROW WHEN (OLD.request_id IS NOT NULL)',
             'keep_requested_grant()', true),
            ('broker.subject_grant', 'reports_its_end', 'AFTER UPDATE', 'FOR EACH ROW WHEN (OLD.request_id IS NOT NULL AND OLD.enabled AND NOT NEW.enabled)',
             'note_early_end()', true),
            ('broker.subject_grant', 'reports_that_it_goes', 'AFTER DELETE', 'FOR EACH ROW WHEN (OLD.request_id IS NOT NULL)',
             'note_early_end()', true),
            ('broker.subject_grant', 'ends_its_credentials', 'AFTER UPDATE', 'FOR EACH ROW WHEN (OLD.request_id IS NOT NULL AND OLD.enabled AND NOT NEW.enabled)',
             'end_requested_credentials()', true),
            ('broker.subject_grant', 'ends_its_credentials_with_it', 'AFTER DELETE', 'FOR EACH ROW WHEN (OLD.request_id IS NOT NULL AND OLD.enabled)',
             'end_requested_credentials()', true),
            ('broker.access_rule', 'fills_its_defaults', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'fill_access_rule()', true),
            ('broker.access_rule', 'has_no_secret', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'refuse_secrets(''reason'')', true),
            ('broker.access_rule', 'says_what_is_wrong', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'say_what_is_wrong_with_access_rule()', true),
            ('broker.access_rule', 'belongs_to_its_writer', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'say_whose_rows_are_yours()', false),
            ('broker.access_rule', 'is_counted', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_access_rules()', true),
            ('broker.access_rule', 'is_counted_anew', 'AFTER UPDATE', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_access_rules()', true),
            ('broker.access_rule', 'voids_its_requests', 'AFTER UPDATE OR DELETE', 'FOR EACH ROW', 'void_requests_of_rule()', true),
            ('broker.access_rule', 'FK_names_a_key', 'AFTER INSERT OR UPDATE OF tenant, key', 'FOR EACH ROW', 'say_which_keys_there_are()', false),
            ('broker.access_rule', 'FK_names_an_identity_provider', 'AFTER INSERT OR UPDATE OF tenant, idp', 'FOR EACH ROW',
             'say_which_identity_providers_there_are()', false),
            ('broker.access_rule', 'FK_is_named_by_none_that_goes', 'AFTER DELETE', 'FOR EACH ROW', 'say_who_approves_for_it()', false),
            ('broker.access_approver', 'finds_its_rule', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'find_rule_of_approver()', true),
            ('broker.access_approver', 'is_counted', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_access_approvers()', true),
            ('broker.access_approver', 'keeps_steps', 'AFTER DELETE OR UPDATE OF step', 'FOR EACH ROW', 'keep_steps_of_rule()', true),
            ('broker.access_approver', 'FK_names_an_identity_provider', 'AFTER INSERT OR UPDATE OF idp', 'FOR EACH ROW WHEN (NEW.idp IS NOT NULL)',
             'say_which_identity_providers_there_are()', false),
            ('broker.access_request', 'has_no_secret', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'refuse_secrets(''reason'')', true),
            ('broker.access_request', 'is_asked_with_a_token', 'BEFORE INSERT', 'FOR EACH ROW', 'check_requester()', true),
            ('broker.access_request', 'is_kept', 'BEFORE DELETE', 'FOR EACH STATEMENT', 'refuse_change()', true),
            ('broker.access_decision', 'finds_its_request', 'BEFORE INSERT', 'FOR EACH ROW', 'find_decided_request()', true),
            ('broker.access_decision', 'has_no_secret', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'refuse_secrets(''note'')', true),
            ('broker.access_decision', 'is_append_only', 'BEFORE UPDATE OR DELETE', 'FOR EACH STATEMENT', 'refuse_change()', true),
            ('broker.access_decision', 'settles_its_request', 'AFTER INSERT', 'FOR EACH ROW', 'settle_request()', true),
            ('broker.grant_review', 'signs_off_its_request', 'AFTER INSERT', 'FOR EACH ROW', 'sign_off_request()', true),
            ('broker.access_provider', 'has_no_secret', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'refuse_secrets(''settings'')', true),
            ('broker.key', 'has_no_secret', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'refuse_secrets(''description'', ''settings'')', true),
            ('broker.subject_grant', 'has_no_secret', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'refuse_secrets(''reason'')', true),
            ('broker.blocked_subject', 'has_no_secret', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'refuse_secrets(''reason'')', true),
            ('broker.console_access', 'has_no_secret', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'refuse_secrets(''reason'')', true),
            ('broker.grant_review', 'has_no_secret', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'refuse_secrets(''note'')', true),
            ('broker.grant_review', 'finds_its_grant', 'BEFORE INSERT', 'FOR EACH ROW', 'find_reviewed_grant()', true),
            ('broker.grant_review', 'removes_its_grant', 'AFTER INSERT', 'FOR EACH ROW WHEN (NEW.verdict = ''remove'')',
             'remove_reviewed_grant()', false),
            ('broker.grant_review', 'is_append_only', 'BEFORE UPDATE OR DELETE', 'FOR EACH STATEMENT', 'refuse_change()', true),
            ('broker.ended_credential', 'has_no_secret', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'refuse_secrets(''reason'')', true),
            ('broker.ended_credential', 'finds_its_mint', 'BEFORE INSERT', 'FOR EACH ROW', 'find_ended_mint()', true),
            ('broker.ended_credential', 'is_counted', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT',
             'count_ended_credentials()', true),
            ('broker.ended_credential', 'is_asked_for', 'AFTER INSERT', 'FOR EACH ROW', 'ask_for_early_end()', true),
            ('broker.ended_credential', 'is_append_only', 'BEFORE UPDATE OR DELETE', 'FOR EACH STATEMENT', 'refuse_change()', true),
            ('broker.key', 'has_an_owner', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_owner()', true),
            ('broker.subject_grant', 'has_an_owner', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_owner()', true),
            ('broker.tenant_admin', 'says_what_is_wrong', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_is_wrong_with_tenant_admin()', true),
            ('broker.shared_issuer', 'says_what_is_wrong', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_is_wrong_with_shared_issuer()', true),
            ('broker.identity_provider', 'says_what_is_wrong', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_is_wrong_with_identity_provider()', true),
            ('broker.access_provider', 'says_what_is_wrong', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_is_wrong_with_provider()', true),
            ('broker.key', 'says_what_is_wrong', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'say_what_is_wrong_with_key()', true),
            ('broker.subject_grant', 'says_what_is_wrong', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_is_wrong_with_grant()', true),
            ('broker.blocked_subject', 'awaits_approval', 'BEFORE UPDATE OR DELETE', 'FOR EACH ROW', 'keep_block()', true),
            ('broker.blocked_subject', 'says_what_is_wrong', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_is_wrong_with_block()', true),
            ('broker.blocked_subject', 'takes_the_place_of_one_that_ended', 'BEFORE INSERT', 'FOR EACH ROW WHEN (NEW.enabled)',
             'lift_block_that_ended()', false),
            ('broker.console_access', 'says_what_is_wrong', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_is_wrong_with_console_access()', true),
            ('broker.identity_provider', 'stays_within_its_values', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_has_too_many_values(''required_claims'')', true),
            ('broker.access_provider', 'stays_within_its_values', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_has_too_many_values(''settings'')', true),
            ('broker.key', 'stays_within_its_values', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_what_has_too_many_values(''settings'', ''outputs'')', true),
            ('broker.subject_grant', 'stays_within_its_values', 'BEFORE INSERT OR UPDATE',
             'FOR EACH ROW WHEN (NEW.claims <> ''{}'' OR NEW.actor_claims <> ''{}'')',
             'say_what_has_too_many_values(''claims'', ''actor_claims'')', true),
            ('broker.blocked_subject', 'stays_within_its_values', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW WHEN (NEW.claims <> ''{}'')',
             'say_what_has_too_many_values(''claims'')', true),

            -- ------------------------------------------------ whose rows one may write
            ('broker.key', 'belongs_to_its_writer', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'say_whose_rows_are_yours()', false),
            ('broker.subject_grant', 'belongs_to_its_writer', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_whose_rows_are_yours()', false),
            ('broker.blocked_subject', 'belongs_to_its_writer', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW',
             'say_whose_rows_are_yours()', false),
            ('broker.blocked_subject', 'belongs_to_the_platform', 'BEFORE INSERT OR UPDATE',
             'FOR EACH ROW WHEN (NEW.tenant IS NULL)', 'say_who_writes_for_all_tenants()', false),

            -- ------------------------------------------------ references, before the foreign keys' own triggers
            ('broker.tenant_admin', 'FK_names_a_tenant', 'AFTER INSERT OR UPDATE OF tenant', 'FOR EACH ROW',
             'say_which_tenants_there_are()', false),
            ('broker.identity_provider', 'FK_names_a_tenant', 'AFTER INSERT OR UPDATE OF tenant', 'FOR EACH ROW',
             'say_which_tenants_there_are()', false),
            ('broker.access_provider', 'FK_names_a_tenant', 'AFTER INSERT OR UPDATE OF tenant', 'FOR EACH ROW',
             'say_which_tenants_there_are()', false),
            ('broker.access_provider', 'FK_names_a_type', 'AFTER INSERT OR UPDATE OF type', 'FOR EACH ROW',
             'say_which_types_there_are()', false),
            ('broker.key', 'FK_names_an_access_provider', 'AFTER INSERT OR UPDATE OF tenant, provider', 'FOR EACH ROW',
             'say_which_access_providers_there_are()', false),
            ('broker.subject_grant', 'FK_names_an_identity_provider_and_a_key', 'AFTER INSERT OR UPDATE OF tenant, idp, actor_idp, key',
             'FOR EACH ROW', 'say_which_subjects_and_keys_there_are()', false),
            ('broker.blocked_subject', 'FK_names_a_tenant', 'AFTER INSERT OR UPDATE OF tenant',
             'FOR EACH ROW WHEN (NEW.tenant IS NOT NULL)', 'say_which_tenants_there_are()', false),
            ('broker.blocked_subject', 'FK_names_an_identity_provider', 'AFTER INSERT OR UPDATE OF tenant, idp',
             'FOR EACH ROW WHEN (NEW.idp IS NOT NULL)', 'say_which_identity_providers_there_are()', false),
            ('broker.console_access', 'FK_names_a_tenant', 'AFTER INSERT OR UPDATE OF tenant',
             'FOR EACH ROW WHEN (NEW.tenant IS NOT NULL)', 'say_which_tenants_there_are()', false),
            ('broker.identity_provider', 'FK_is_named_by_none_that_goes', 'AFTER DELETE', 'FOR EACH ROW', 'say_what_names_it()', false),
            ('broker.identity_provider', 'FK_is_named_by_none_when_renamed', 'AFTER UPDATE OF name',
             'FOR EACH ROW WHEN (OLD.name <> NEW.name)', 'say_what_names_it()', false),
            ('broker.access_provider', 'FK_is_named_by_none_that_goes', 'AFTER DELETE', 'FOR EACH ROW', 'say_what_names_it()', false),
            ('broker.access_provider', 'FK_is_named_by_none_when_renamed', 'AFTER UPDATE OF name',
             'FOR EACH ROW WHEN (OLD.name <> NEW.name)', 'say_what_names_it()', false),
            ('broker.access_provider', 'has_ended_all_before_it_goes', 'AFTER DELETE', 'FOR EACH ROW', 'say_what_is_to_be_ended()', true),
            ('broker.access_provider', 'has_ended_all_before_it_changes', 'AFTER UPDATE OF name, type',
             'FOR EACH ROW WHEN (OLD.name <> NEW.name OR OLD.type <> NEW.type)', 'say_what_is_to_be_ended()', true),
            ('broker.key', 'FK_is_named_by_none_that_goes', 'AFTER DELETE', 'FOR EACH ROW', 'say_what_names_it()', false),
            ('broker.key', 'FK_is_named_by_none_when_renamed', 'AFTER UPDATE OF name',
             'FOR EACH ROW WHEN (OLD.name <> NEW.name)', 'say_what_names_it()', false),

            -- ------------------------------------------------ rows that fit each other, after is_recorded has locked the tenant
            ('broker.shared_issuer', 'leaves_no_stranger', 'AFTER INSERT OR UPDATE', 'FOR EACH ROW',
             'check_written_shared_issuer()', true),
            ('broker.identity_provider', 'audiences_are_its_own', 'AFTER INSERT OR UPDATE OF name, issuer, audiences', 'FOR EACH ROW',
             'keep_trusted_audiences()', true),
            ('broker.identity_provider', 'names_the_owner', 'AFTER INSERT OR UPDATE', 'FOR EACH ROW',
             'check_written_identity_provider()', true),
            ('broker.access_provider', 'may_work_with_its_keys', 'AFTER INSERT OR UPDATE', 'FOR EACH ROW',
             'check_written_provider()', true),
            ('broker.key', 'may_be_minted_with_its_provider', 'AFTER INSERT OR UPDATE', 'FOR EACH ROW', 'check_written_key()', true),
            ('broker.subject_grant', 'may_be_minted_under', 'AFTER INSERT OR UPDATE', 'FOR EACH ROW', 'check_written_grant()', true),

            -- ------------------------------------------------ bounds of a tenant
            ('broker.key', 'is_counted', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_keys()', true),
            ('broker.key', 'is_counted_no_more', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT',
             'count_keys()', true),
            ('broker.subject_grant', 'is_counted', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT',
             'count_grants()', true),
            ('broker.subject_grant', 'is_counted_anew', 'AFTER UPDATE',
             'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_grants()', true),
            ('broker.subject_grant', 'is_counted_no_more', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT',
             'count_grants()', true),
            ('broker.blocked_subject', 'is_counted', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT',
             'count_blocks()', true),
            ('broker.blocked_subject', 'is_counted_anew', 'AFTER UPDATE',
             'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_blocks()', true),
            ('broker.blocked_subject', 'is_counted_no_more', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT',
             'count_blocks()', true),

            -- ------------------------------------------------ the log
            ('work.sealed_chain', 'begins_as_a_checkpoint_says', 'AFTER INSERT',
             'REFERENCING NEW TABLE AS marked FOR EACH STATEMENT', 'check_sealed_chain()', true),
            ('work.sealed_chain', 'moves_as_a_checkpoint_says', 'AFTER UPDATE',
             'REFERENCING NEW TABLE AS marked FOR EACH STATEMENT', 'check_sealed_chain()', true),
            ('log.checkpoint', 'comes_next', 'BEFORE INSERT', 'FOR EACH ROW', 'check_checkpoint()', true),
            ('log.checkpoint', 'is_append_only', 'BEFORE UPDATE OR DELETE OR TRUNCATE', 'FOR EACH STATEMENT', 'refuse_change()', true),
            ('log.verification', 'is_not_changed', 'BEFORE UPDATE OR TRUNCATE', 'FOR EACH STATEMENT', 'refuse_change()', true),
            ('log.verification', 'is_kept_for_400_days', 'BEFORE DELETE',
             'FOR EACH ROW WHEN (OLD.recorded_at > clock_timestamp() - interval ''400 days'')', 'refuse_change()', true),
            ('log.config_change', 'is_append_only', 'BEFORE UPDATE OR DELETE OR TRUNCATE', 'FOR EACH STATEMENT',
             'refuse_change()', true),
            ('log.event', 'keeps_open_mints', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT',
             'keep_open_mints()', true),
            ('log.event', 'is_append_only', 'BEFORE UPDATE OR DELETE OR TRUNCATE', 'FOR EACH STATEMENT', 'refuse_change()', true)
        ) AS t (target, name, event, scope, function, always)
        UNION ALL
        -- ---------------------------------------------------- changes of a day
        SELECT 'broker.' || c.name, t.name, t.event, 'REFERENCING ' || t.rows || ' FOR EACH STATEMENT', 'count_changes()', true
          FROM (VALUES ('key'), ('subject_grant'), ('grant_review'), ('blocked_subject'), ('ended_credential'), ('access_rule'), ('access_approver'),
                       ('access_request'), ('access_decision')) AS c (name)
         CROSS JOIN (VALUES ('counts_for_its_day', 'AFTER INSERT', 'NEW TABLE AS written'),
                            ('counts_for_its_day_when_changed', 'AFTER UPDATE', 'OLD TABLE AS removed NEW TABLE AS written'),
                            ('counts_for_its_day_when_deleted', 'AFTER DELETE', 'OLD TABLE AS removed')) AS t (name, event, rows)
        UNION ALL
        -- ---------------------------------------------------- lint
        SELECT 'broker.' || l.name, t.name, t.event, t.scope, format('lint_written(%L)', l.key), false
          FROM (VALUES ('identity_provider', 'name'), ('key', 'name'), ('access_provider', 'name'),
                       ('subject_grant', 'id'), ('blocked_subject', 'id'), ('console_access', 'id'),
                       ('tenant', 'name'), ('tenant_admin', 'role_name'), ('access_rule', 'id'), ('access_approver', 'id'),
                       ('shared_issuer', 'issuer')) AS l (name, key)
         CROSS JOIN (VALUES
                ('is_linted', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT'),
                ('is_linted_again', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT'),
                ('is_linted_no_more', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT')
               ) AS t (name, event, scope)
         WHERE t.name <> 'is_linted_no_more' OR l.key IN ('id', 'issuer', 'role_name')
        ) AS w
         -- The log last: mints wait for this file no longer than for their own table.
         ORDER BY w.target = 'log.event', starts_with(w.target, 'log.'), w.target, w.name
    LOOP
        definition := concat_ws(' ', wanted.event, wanted.scope, wanted.function, CASE WHEN wanted.always THEN 'always' END);
        CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_trigger AS t
                               WHERE t.tgrelid = wanted.target::regclass AND t.tgname = wanted.name
                                 AND obj_description(t.oid, 'pg_trigger') = definition);
        EXECUTE format('CREATE OR REPLACE TRIGGER %I %s ON %s %s EXECUTE FUNCTION internal.%s',
                       wanted.name, wanted.event, wanted.target, wanted.scope, wanted.function);
        IF wanted.always THEN
            EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', wanted.target, wanted.name);
        END IF;
        EXECUTE format('COMMENT ON TRIGGER %I ON %s IS %L', wanted.name, wanted.target, definition);
    END LOOP;
END
$$;
