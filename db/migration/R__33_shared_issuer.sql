-- Issuers that issue tokens to anyone: broker.shared_issuer. Its rows are in R__46_shared_issuers.

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_shared_issuer() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    shared_by_owners text;
BEGIN
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{issuer,owner_claims}');
    IF NOT internal.is_url(NEW.issuer) OR NEW.issuer ~ '[?]' THEN
        PERFORM internal.refuse(format('The shared issuer "%s" must be an https URL without a query.', NEW.issuer),
                              'Write the iss claim of its tokens as it is, for example "https://token.actions.githubusercontent.com".');
    ELSIF internal.list_fault(NEW.owner_claims, 255) IS NOT NULL THEN
        PERFORM internal.refuse(format('Shared issuer "%s": owner_claims %s.', NEW.issuer, internal.list_fault(NEW.owner_claims, 255)),
                              'List the claims that identify the token''s owner, for example ''{repository_owner_id,repository_id}''.');
    END IF;
    SELECT c INTO shared_by_owners FROM unnest(NEW.owner_claims) AS c
     WHERE c = ANY ('{iss,exp,nbf,iat,jti,nonce,auth_time,ref,ref_type,ref_path,ref_protected,sha,event_name,environment,workflow,runner_environment,email_verified}')
        OR EXISTS (SELECT FROM internal.known_issuer(NEW.issuer) AS k WHERE k.claim_forms ? c
                      AND NOT EXISTS (SELECT FROM jsonb_array_elements_text(k.claim_forms -> c) AS f WHERE f ~ '[*#]')) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse(format('Shared issuer "%s": the claim "%s" in owner_claims does not identify an owner, since tokens of many owners have the same value.', NEW.issuer, shared_by_owners),
                              'List the claims that identify the token''s owner, for example ''{repository_owner_id,repository_id}''.');
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
