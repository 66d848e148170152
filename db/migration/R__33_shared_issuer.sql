-- Issuers that issue tokens to anyone: broker.shared_issuer. Its rows are in R__46_shared_issuers.

-- ---------------------------------------------------------------- claims that any tenant's tokens may have

-- Names that are unique within an owner only are among them, as are people, whom an owner invites.
CREATE OR REPLACE FUNCTION internal.claims_of_no_owner(issuer_name text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT '{iss,exp,nbf,iat,jti,nonce,auth_time,at_hash,c_hash,acr,amr,typ,email_verified}'::text[]
        || CASE WHEN issuer_name <> 'Vercel' THEN '{aud,scope,scp}'::text[] ELSE '{}' END
        || CASE issuer_name
           WHEN 'GitHub Actions' THEN '{actor,actor_id,base_ref,check_run_id,environment,event_name,head_ref,job_workflow_ref,job_workflow_sha,ref,ref_protected,ref_type,repository_visibility,run_attempt,run_id,run_number,runner_environment,sha,workflow,workflow_sha}'::text[]
           WHEN 'GitLab' THEN '{project_visibility,ref,ref_type,ref_path,ref_protected,environment,environment_protected,environment_action,deployment_tier,deployment_action,runner_environment,sha,ci_config_sha,pipeline_id,pipeline_source,job_id,job_source,user_access_level,name,nickname,preferred_username,website,profile,picture}'
           WHEN 'Buildkite' THEN '{pipeline_slug,build_branch,build_tag,build_commit,build_id,build_number,build_source,step_key,job_id,cluster_name,queue_key,runner_environment}'
           WHEN 'HCP Terraform' THEN '{terraform_run_phase,terraform_run_id,terraform_plan_id,terraform_operation,terraform_project_name,terraform_workspace_name,terraform_stack_name,terraform_stack_deployment_name}'
           WHEN 'Google' THEN '{name,given_name,family_name,picture,profile,locale,google/compute_engine/instance_name,google/compute_engine/zone}'
           WHEN 'Microsoft Entra ID' THEN '{tid,ver,idtyp,idp,azpacr,appidacr,name,email,preferred_username,upn,unique_name,given_name,family_name,acct,hasgroups}'
           WHEN 'Vercel' THEN '{project,environment,plan}'
           WHEN 'Codefresh' THEN '{pipeline_name,workflow_id,initiator,platform_url,scm_user_name,scm_repo_url,scm_ref,scm_pull_request_target_branch}'
           ELSE '{}' END;
$$;
COMMENT ON FUNCTION internal.claims_of_no_owner(text) IS 'Claims that do not identify the owner of a token of this known issuer, since tokens of several owners may have the same value. Null: of any issuer.';

CREATE OR REPLACE VIEW internal.lint_of_shared_issuer (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT NULL::text, 'shared_issuer', s.issuer::text, 'claim_of_several_owners', internal.lint_advice('claim_of_several_owners', c.claim)
  FROM broker.shared_issuer AS s CROSS JOIN LATERAL unnest(s.owner_claims) AS c (claim)
 WHERE ltrim(c.claim, '/') IN ('aud', 'scope', 'scp', 'actor', 'branch', 'environment', 'event_name', 'name', 'nickname', 'plan', 'preferred_username', 'project_visibility', 'ref', 'ref_protected', 'ref_type',
                               'region', 'repository_visibility', 'role', 'roles', 'runner_environment', 'sha', 'visibility', 'workflow')
   AND NOT EXISTS (SELECT FROM internal.known_issuer(s.issuer));
COMMENT ON VIEW internal.lint_of_shared_issuer IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_shared_issuer() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    known constant text := (SELECT k.name FROM internal.known_issuer(NEW.issuer) AS k);
    of_nobody text;
BEGIN
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{issuer,owner_claims}');
    IF NOT internal.is_url(NEW.issuer) OR NEW.issuer ~ '[?]' THEN
        PERFORM internal.refuse(format('The shared issuer "%s" must be an https URL without a query.', NEW.issuer),
                              'Write the iss claim of its tokens as it is, for example "https://token.actions.githubusercontent.com".');
    ELSIF internal.list_fault(NEW.owner_claims, 255) IS NOT NULL THEN
        PERFORM internal.refuse(format('Shared issuer "%s": owner_claims %s.', NEW.issuer, internal.list_fault(NEW.owner_claims, 255)),
                              'List the claims that identify the token''s owner, for example ''{repository_owner_id,repository_id}''.');
    END IF;
    SELECT c.claim INTO of_nobody FROM unnest(NEW.owner_claims) AS c (claim) WHERE ltrim(c.claim, '/') = ANY (internal.claims_of_no_owner(known)) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, '',
            format('Shared issuer "%s": owner_claims has "%s", which does not identify the owner of a token%s.', NEW.issuer, of_nobody, coalesce(' of ' || known, '')),
            'An identity provider that requires only this claim would accept tokens of strangers. List claims whose values one owner alone has'
                || CASE known WHEN 'GitHub Actions' THEN ', for example ''{repository_owner_id,repository_id}''' WHEN 'GitLab' THEN ', for example ''{namespace_id,project_id}'''
                              WHEN 'Google' THEN ', for example ''{hd,sub}''' WHEN 'Buildkite' THEN ', for example ''{organization_id,pipeline_id}'''
                              WHEN 'HCP Terraform' THEN ', for example ''{terraform_organization_id}''' ELSE ', for example the id of an organization' END || '.',
            'check_violation', 'owner_claims');
    END IF;
    IF strpos(NEW.issuer, '*') > 0 THEN
        PERFORM internal.refuse(format('The shared issuer "%s" has a *, but issuers are compared exactly.', NEW.issuer),
                              'Write the iss claim of its tokens as it is. An issuer of each customer''s own is not shared.');
    END IF;
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_shared_issuer() IS
    'Trigger: rejects an invalid shared issuer with a message.';

CREATE OR REPLACE FUNCTION internal.record_shared_issuer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
    SET enable_seqscan = off
    SET jit = off
AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD *= NEW THEN
        RETURN NULL;
    END IF;
    PERFORM internal.record_row(TG_TABLE_NAME, NULL, TG_OP, to_jsonb(OLD), to_jsonb(NEW),
                                (SELECT to_jsonb(s) FROM broker.shared_issuer AS s WHERE s.issuer = coalesce(NEW.issuer, OLD.issuer)), OLD.updated_at >= transaction_timestamp());
    -- identity providers of an issuer that becomes shared
    IF TG_OP <> 'DELETE' THEN
        PERFORM internal.check_owner_claims(p.name, p.issuer, p.required_claims)
           FROM broker.identity_provider AS p WHERE internal.nearly(p.issuer) = internal.nearly(NEW.issuer);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_shared_issuer() IS
    'Trigger: records a change of a shared issuer, and checks its identity providers.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.shared_issuer', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_shared_issuer', 'always', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_shared_issuer()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_shared_issuer()'],
    ['lint_inserted', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''issuer'')'],
    ['lint_updated', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''issuer'')'],
    ['lint_deleted', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'lint_written(''issuer'')']
]);
