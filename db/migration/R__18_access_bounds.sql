-- Bounds of requests for access, and the refusals that they lead to.

CREATE OR REPLACE FUNCTION internal.open_request_bound(tenant text, issuer text, subject text, rules bigint[], OUT detail text, OUT retry_after int, OUT bound int)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    counted record;
BEGIN
    SELECT c.* INTO counted FROM (
        SELECT 1 AS place, 5 AS most, 'You have %s open requests; the maximum is %s.' AS sentence, count(*) AS open, cardinality(rules) AS further,
               min(q.expires_at) FILTER (WHERE q.status = 'pending') AS first_end
          FROM broker.access_request AS q
         WHERE q.tenant = open_request_bound.tenant AND (q.status = 'pending' OR q.break_glass AND q.signed_off_by IS NULL)
           AND hashtextextended(q.issuer || ' ' || q.subject, 0)
               = hashtextextended(open_request_bound.issuer || ' ' || open_request_bound.subject, 0)
           AND (q.issuer, q.subject) = (open_request_bound.issuer, open_request_bound.subject)
        UNION ALL
        SELECT 2, 100, 'The rule has %s open requests; the maximum is %s.', (SELECT count(*) FROM broker.access_request AS q
                 WHERE q.tenant = open_request_bound.tenant AND q.rule = r.id AND q.status = 'pending'), r.further,
               (SELECT min(q.expires_at) FROM broker.access_request AS q
                 WHERE q.tenant = open_request_bound.tenant AND q.rule = r.id AND q.status = 'pending')
          FROM (SELECT u.id, count(*) AS further FROM unnest(rules) AS u (id) GROUP BY u.id) AS r
        UNION ALL
        SELECT 3, 1000, 'The tenant has %s open requests; the maximum is %s.', count(*), cardinality(rules), min(q.expires_at)
          FROM broker.access_request AS q WHERE q.tenant = open_request_bound.tenant AND q.status = 'pending') AS c
     WHERE c.open + c.further > c.most ORDER BY c.place LIMIT 1;
    IF FOUND THEN
        detail := format(counted.sentence, counted.open, counted.most);
        bound := counted.most;
        retry_after := coalesce(least(3600, greatest(1, ceil(extract(epoch FROM counted.first_end - clock_timestamp()))::int)), 3600);
    END IF;
END
$$;
COMMENT ON FUNCTION internal.open_request_bound(text, text, text, bigint[]) IS
    'The limit of open requests that further requests by these rules would exceed, and in how many seconds to try again; nulls if none.';

CREATE OR REPLACE FUNCTION internal.refusal_of(constraint_name text, otherwise text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE constraint_name WHEN 'a_tenant_has_no_more_than_max_changes_a_day' THEN 'too_many_changes'
                                WHEN 'secret_in_text' THEN otherwise ELSE 'grant_refused' END;
COMMENT ON FUNCTION internal.refusal_of(text, text) IS
    'The refusal for an error of a constraint. otherwise: that for a text with a secret.';

CREATE OR REPLACE FUNCTION internal.seconds_until_tomorrow() RETURNS int
    LANGUAGE sql STABLE
    RETURN ceil(extract(epoch FROM date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') + interval '1 day'
                                   - (clock_timestamp() AT TIME ZONE 'UTC')))::int;
COMMENT ON FUNCTION internal.seconds_until_tomorrow() IS 'Seconds until the next day (UTC), when the count of changes begins at 0 again.';

CREATE OR REPLACE FUNCTION internal.change_bound(constraint_name text, of_tenant text, reduces boolean, OUT retry_after int, OUT bound int)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF internal.refusal_of(constraint_name, '') = 'too_many_changes' THEN
        retry_after := internal.seconds_until_tomorrow();
        SELECT CASE WHEN reduces THEN least(2147483647, 2 * t.max_changes::bigint)::int ELSE t.max_changes END INTO bound
          FROM broker.tenant AS t WHERE t.name = of_tenant;
    END IF;
END
$$;
COMMENT ON FUNCTION internal.change_bound(text, text, boolean) IS
    'The changes of a day that a tenant may make and the seconds until the next day, if the error of this constraint says that they are used up; else nulls. reduces: less access, for which there are twice as many (internal.add_changes).';
