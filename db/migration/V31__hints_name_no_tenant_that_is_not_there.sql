-- The hint for a reference to what the tenant doesn't have ended with a tenant without a name.

CREATE OR REPLACE FUNCTION broker.refuse_stranger(target regclass, rule text, tenant text, what text, name text, known text[], elsewhere text)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM broker.tenant AS t WHERE t.name = refuse_stranger.tenant) THEN
        PERFORM broker.refuse_reference(target, rule, format('There is no tenant "%s".', tenant),
            broker.there_are(tenant, ARRAY(SELECT t.name FROM broker.tenant AS t), 'There are'));
    END IF;
    PERFORM broker.refuse_reference(target, rule, format('Tenant "%s" has no %s "%s".', tenant, what, name),
        broker.there_are(name, known, 'It has')
        || CASE WHEN elsewhere IS NULL THEN ''
                ELSE format(' Tenant "%s" has one of that name, but a row names only what its own tenant has.', elsewhere) END);
END
$$;
