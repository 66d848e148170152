-- Credentials that were ended before their time: which mint is meant, and how many there may be.

-- With the writer's permissions: they end the credentials of mints that they may see.
CREATE OR REPLACE FUNCTION internal.find_ended_mint() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mint record;
BEGIN
    IF NEW.mint_id IS NULL OR NEW.reason IS NULL THEN
        RETURN NEW;  -- has_what_it_needs says so
    ELSIF NEW.reason !~ '[^[:space:]]' THEN
        PERFORM internal.refuse(format('The end of mint %s has no reason.', NEW.mint_id), 'Enter a reason, for example the incident.');
    ELSIF length(NEW.reason) > 1000 THEN
        PERFORM internal.refuse(format('The end of mint %s has a reason of %s characters; the maximum is 1000.',
                                       NEW.mint_id, length(NEW.reason)), 'Shorten it.');
    END IF;
    SELECT r.tenant, r.provider_type, coalesce(o.expires_at, r.expires_at) AS expires_at, o.kind, o.reason,
           y.ends_early, y.leaves_behind
      INTO mint
      FROM audit.event AS r
      LEFT JOIN audit.event AS o ON o.mint_id = r.mint_id AND o.step = 2
      JOIN broker.provider_type AS y ON y.type = r.provider_type
     WHERE r.mint_id = NEW.mint_id AND r.step = 1;
    IF NOT FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'the_mint_exists', format('There is no mint %s that you may see.', NEW.mint_id),
            'SELECT mint_id, subject, key, expires_at FROM audit.active_credential lists the credentials that can be ended.',
            'foreign_key_violation', 'mint_id');
    ELSIF NOT (mint.ends_early OR mint.leaves_behind) THEN
        PERFORM internal.refuse(format('The broker cannot end the credential of mint %s early: it is of type "%s".',
                                       NEW.mint_id, mint.provider_type),
            'mintmark block-subject prints how to end it early.');
    ELSIF mint.kind = 'failed' AND NOT (mint.leaves_behind AND mint.reason IN ('provider_timeout', 'provider_unreachable')) THEN
        PERFORM internal.refuse(format('Mint %s failed (%s), so there is no credential to end.', NEW.mint_id, mint.reason),
            'SELECT mint_id, subject, key, expires_at FROM audit.active_credential lists the credentials that can be ended.');
    ELSIF NEW.tenant <> mint.tenant THEN
        PERFORM internal.refuse(format('Mint %s belongs to tenant "%s", not to "%s".', NEW.mint_id, mint.tenant, NEW.tenant),
            'Omit tenant: the row gets the tenant of the mint.');
    ELSIF mint.expires_at <= now() THEN
        RAISE WARNING 'The credential of mint % expired at %: there is nothing left to end.', NEW.mint_id, mint.expires_at
            USING HINT = 'Compare the mint id with audit.active_credential.';
    END IF;
    NEW.tenant := mint.tenant;
    NEW.provider_type := mint.provider_type;
    NEW.expires_at := mint.expires_at;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.find_ended_mint() IS
    'Trigger: finds the mint of an ended credential, fills its columns from the log, and rejects a mint without such a credential.';

CREATE OR REPLACE FUNCTION internal.count_ended_credentials() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    crowded text;
BEGIN
    SELECT t.tenant INTO crowded FROM (SELECT DISTINCT w.tenant FROM written AS w) AS t
     WHERE (SELECT count(*) > 20000
              FROM (SELECT FROM broker.ended_credential AS e WHERE e.tenant = t.tenant AND e.expires_at > now() LIMIT 20001) AS living)
     LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_tenant_has_no_more_than_20000_ended_credentials',
            format('Tenant "%s" would have more than 20000 ended credentials that have not expired yet, the maximum.', crowded),
            'To end all of them at once, remove the certificate authority from the servers.', 'check_violation');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_ended_credentials() IS
    'Trigger: refuses more ended credentials of a tenant than a revocation list holds.';
