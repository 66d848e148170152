-- Answers at ten million rows: what is open, what lives, what was refused.

-- ---------------------------------------------------------------- mints without outcome

-- To find them among all rows takes longer the longer the log is, so they are kept as a list. The list is only a
-- way to find them quickly: audit.unresolved looks at the rows again, and `mintmark audit verify` compares the two.
CREATE TABLE audit.open_mint (
    mint_id uuid NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    CONSTRAINT a_mint_is_open_once PRIMARY KEY (mint_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);
COMMENT ON TABLE audit.open_mint IS
    'The mints that have no outcome yet, kept by a trigger. Proves nothing; read audit.unresolved instead.';
COMMENT ON COLUMN audit.open_mint.mint_id IS 'The mint.';
COMMENT ON COLUMN audit.open_mint.tenant IS 'Its tenant.';

-- Once for each statement, which is many rows. As the owner, so that the service needs no privilege on the list, and
-- always along the index: the table is small, but no plan made while it was empty may read all that died in it.
CREATE FUNCTION audit.keep_open_mints() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET enable_hashjoin = off
    SET enable_mergejoin = off
AS $$
BEGIN
    INSERT INTO audit.open_mint (mint_id, tenant)
    SELECT written.mint_id, written.tenant FROM written WHERE written.step = 1
        ON CONFLICT DO NOTHING;
    DELETE FROM audit.open_mint AS done
     USING written
     WHERE written.step = 2 AND done.mint_id = written.mint_id;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION audit.keep_open_mints() IS
    'Notes mints that were requested in audit.open_mint, and takes them out when their outcome is recorded.';

CREATE TRIGGER keeps_open_mints AFTER INSERT ON audit.event
    REFERENCING NEW TABLE AS written
    FOR EACH STATEMENT EXECUTE FUNCTION audit.keep_open_mints();
ALTER TABLE audit.event ENABLE ALWAYS TRIGGER keeps_open_mints;

INSERT INTO audit.open_mint (mint_id, tenant)
SELECT r.mint_id, r.tenant
  FROM audit.event AS r
 WHERE r.step = 1
   AND NOT EXISTS (SELECT FROM audit.event AS o WHERE o.mint_id = r.mint_id AND o.step = 2);

CREATE OR REPLACE VIEW audit.unresolved WITH (security_invoker = true) AS
SELECT r.mint_id, r.request_id, r.tenant, r.idp, r.issuer, r.subject, r.key, r.provider, r.provider_type,
       r.occurred_at AS requested_at, r.expires_at AS credential_may_exist_until, r.grant_id, r.grant_revision,
       r.token_id, r.token_hash, r.client_address, r.user_agent, r.broker
  FROM audit.open_mint AS open
  JOIN audit.event AS r ON r.mint_id = open.mint_id AND r.step = 1
 WHERE NOT EXISTS (SELECT FROM audit.event AS o WHERE o.mint_id = open.mint_id AND o.step = 2);


-- ---------------------------------------------------------------- credentials that live, or may

-- A range of blocks is as good as its longest-lived credential, so one of a week made a BRIN read a week of rows.
DROP INDEX audit.events_by_expiry;
CREATE INDEX credentials_by_expiry ON audit.event (expires_at) WHERE kind IN ('issued', 'withheld');
-- Failures after which the far side may have made a credential all the same. Few.
CREATE INDEX failures_in_doubt ON audit.event (mint_id)
 WHERE kind = 'failed' AND reason IN ('provider_timeout', 'provider_unreachable');

CREATE OR REPLACE VIEW audit.active_credential WITH (security_invoker = true) AS
SELECT o.mint_id, o.tenant, o.subject, o.key, o.provider, o.provider_type, o.kind AS outcome, o.credential_id,
       o.issued_at, o.expires_at, o.grant_id, o.grant_revision, o.request_id, o.client_address, o.reason
  FROM audit.event AS o
 WHERE o.expires_at > now() AND o.kind IN ('issued', 'withheld')
UNION ALL
SELECT o.mint_id, o.tenant, o.subject, o.key, o.provider, o.provider_type, o.kind, NULL,
       NULL, r.expires_at, o.grant_id, o.grant_revision, o.request_id, o.client_address, o.reason
  FROM audit.event AS o
  JOIN audit.event AS r ON r.mint_id = o.mint_id AND r.step = 1
 WHERE r.expires_at > now()
   AND o.kind = 'failed' AND o.reason IN ('provider_timeout', 'provider_unreachable')
UNION ALL
SELECT u.mint_id, u.tenant, u.subject, u.key, u.provider, u.provider_type, 'unresolved', NULL,
       NULL, u.credential_may_exist_until, u.grant_id, u.grant_revision, u.request_id, u.client_address, NULL
  FROM audit.unresolved AS u
 WHERE u.credential_may_exist_until > now();
COMMENT ON VIEW audit.active_credential IS
    'Credentials that live, or may: issued, withheld (obtained and dropped), unresolved, and failed ones of which nobody knows whether the provider made a credential.';
COMMENT ON COLUMN audit.active_credential.outcome IS
    'issued and withheld: it was obtained. unresolved and failed: it may exist, only the far side knows.';
COMMENT ON COLUMN audit.active_credential.expires_at IS
    'When it ends; where it only may exist, the latest that it could live.';
COMMENT ON COLUMN audit.active_credential.reason IS
    'Why it was withheld, or failed: provider_timeout or provider_unreachable.';


-- ---------------------------------------------------------------- refusals, and what was done with a key

-- Only refusals pay for these.
CREATE INDEX refusals_by_time ON audit.event (mint_id) WHERE kind IN ('denied', 'rejected');
CREATE INDEX refusals_of_a_subject_by_time ON audit.event (subject, mint_id)
 WHERE kind IN ('denied', 'rejected') AND subject IS NOT NULL;
CREATE INDEX events_of_a_key_by_time ON audit.event (key, mint_id) WHERE key IS NOT NULL;
