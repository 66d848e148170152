-- Functions that constraints and indexes of the tables depend on. They never change, because PostgreSQL doesn't check
-- stored rows again when a function does: another rule is another function (docs/schema.md).

-- ---------------------------------------------------------------- text, lists, JSON

CREATE FUNCTION internal.is_line(value text, longest int) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN length(value) >= 1 AND length(value) <= longest AND value !~ '[\u0001-\u001f\u007f-\u009f]';
COMMENT ON FUNCTION internal.is_line(text, int) IS
    'Whether a text is neither empty nor longer than so many characters, without control characters.';

CREATE FUNCTION internal.is_list(list text[], longest int) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN array_ndims(list) IS NOT DISTINCT FROM 1 AND cardinality(list) <= 1000
       AND (SELECT count(DISTINCT item) = count(*) AND bool_and(coalesce(internal.is_line(item, longest), false))
              FROM unnest(list) AS item);
COMMENT ON FUNCTION internal.is_list(text[], int) IS
    'Whether a list has 1 to 1000 different elements, each of which is a line (internal.is_line) of at most so many characters.';

CREATE FUNCTION internal.is_url(value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN value ~ ('^(https://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\.?|\[[0-9A-Fa-f:.]+\])'
                 || '|http://(localhost|127(\.(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])){3}|\[::1\]))'
                 || '(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&''()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?(\?([A-Za-z0-9._~!$&''()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$')
       AND coalesce(substring(value FROM '^https?://(?:\[[^]]*\]|[^/:?]*):([0-9]+)')::int, 1) BETWEEN 1 AND 65535;
COMMENT ON FUNCTION internal.is_url(text) IS
    'Whether a text is an https URL, or an http URL with a loopback host, without user, password and fragment.';

-- A wildcard is ** or *. The service walks through a text once for each, so their number bounds its work.
CREATE FUNCTION internal.glob_fault(pattern text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN length(pattern) > 512 THEN format('has %s characters; the maximum for a glob is 512', length(pattern))
                WHEN regexp_count(pattern, '[*][*]?') > 8
                    THEN format('has %s stars; the maximum for a glob is 8', regexp_count(pattern, '[*][*]?')) END;
COMMENT ON FUNCTION internal.glob_fault(text) IS
    'The limit that a glob exceeds, as the end of a sentence; null if none. ** counts as one star.';

CREATE FUNCTION internal.is_anchored(glob text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    -- The host of a URI says whose subject it is: spiffe://** would match those of every trust domain.
    RETURN CASE WHEN glob ~ '^[A-Za-z][A-Za-z0-9+.-]*:/[/*]' OR glob ~* '^(spiffe|https?):[*]'
                THEN glob ~ '^[A-Za-z][A-Za-z0-9+.-]*://[^*/]+(/|$)'
                ELSE glob ~ '^[^*:/]+([:/]|$)' END;
COMMENT ON FUNCTION internal.is_anchored(text) IS
    'Whether a glob of subjects starts with a literal segment: up to the first : or /, in a URI up to the end of its host.';

CREATE FUNCTION internal.is_absolute_uri(value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN length(value) <= 512
       AND value ~ '^[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9._~!$&''()*+,;=:@/?-]|\[|\]|%[0-9A-Fa-f]{2})+$';
COMMENT ON FUNCTION internal.is_absolute_uri(text) IS
    'Whether a text is an absolute URI without a fragment (RFC 3986 section 4.3), of up to 512 characters.';

CREATE FUNCTION internal.unescape_unreserved(value text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT string_agg(CASE
                       WHEN piece[1] !~ '^%' THEN piece[1]
                       WHEN upper(piece[1]) ~ '^%(2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])$'
                           THEN chr(get_byte(decode(substr(piece[1], 2), 'hex'), 0))
                       ELSE upper(piece[1]) END, '' ORDER BY place)
              FROM regexp_matches(value, '%[0-9A-Fa-f]{2}|[^%]+', 'g') WITH ORDINALITY AS found (piece, place));
COMMENT ON FUNCTION internal.unescape_unreserved(text) IS
    'A URI without escapes of unreserved characters, its other escapes in upper case (RFC 3986 section 6.2.2).';

-- As ResourceUri has it in Java; both have the same test vectors.
CREATE FUNCTION internal.normal_uri(value text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    uri text[] := regexp_match(internal.unescape_unreserved(value), '^([^:]+:)(?://([^/?]*)([^?]*))?(.*)$');
    scheme text := lower(uri[1]);
    authority text[] := regexp_match(uri[2], '^([^@]*@)?([[][^]]*[]]|[^:@]*)(?::([0-9]*))?$');
    default_port text := CASE WHEN scheme IN ('http:', 'ws:') THEN '80' WHEN scheme IN ('https:', 'wss:') THEN '443' ELSE '' END;
    segments text[] := string_to_array(uri[3], '/');
    kept text[] := '{}';
BEGIN
    IF uri[2] IS NULL THEN
        RETURN scheme || uri[4];
    END IF;
    FOR i IN 2 .. coalesce(cardinality(segments), 0) LOOP
        IF segments[i] = '..' THEN
            kept := trim_array(kept, least(1, cardinality(kept)));
        END IF;
        IF segments[i] NOT IN ('.', '..') THEN
            kept := kept || segments[i];
        ELSIF i = cardinality(segments) THEN
            kept := kept || ''::text;
        END IF;
    END LOOP;
    RETURN scheme || '//'
        || coalesce(authority[1] || lower(authority[2]), lower(authority[2]), uri[2])
        || CASE WHEN authority[3] NOT IN ('', default_port) THEN ':' || authority[3] ELSE '' END
        || '/' || array_to_string(kept, '/') || uri[4];
END $$;
COMMENT ON FUNCTION internal.normal_uri(text) IS
    'The normalized form of an absolute URI, which is the same for all equivalent URIs (RFC 3986 sections 6.2.2 and 6.2.3).';

CREATE FUNCTION internal.is_glob_list(list text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN internal.is_list(list, 512)
       AND (SELECT bool_and(item = '**' OR item ~ '^[^*:/]+([:/]|$)' AND internal.glob_fault(item) IS NULL)
              FROM unnest(list) AS item);
COMMENT ON FUNCTION internal.is_glob_list(text[]) IS
    'Whether each element is ** or a glob of allowed size that starts with a literal segment (up to the first : or /).';

-- What is within these bounds can be read by the service, whatever it says.
CREATE FUNCTION internal.json_fault(value jsonb, longest int) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    fault text;
BEGIN
    IF value IS NULL OR value = '{}' THEN
        RETURN NULL;
    ELSIF octet_length(value::text) > longest THEN
        RETURN format('has %s bytes; the maximum is %s', octet_length(value::text), longest);
    ELSIF jsonb_path_exists(value, 'strict $.**{32 to last}') THEN
        RETURN 'is nested deeper than 32 levels';
    END IF;
    SELECT format('has a number of %s characters, which is outside the range of a double: %s…', length(number::text), left(number::text, 20))
      INTO fault
      FROM jsonb_path_query(value, 'strict $.** ? (@.type() == "number")') AS number
     WHERE abs(number::numeric) > 1.7976931348623157e308 OR length(number::text) > 400 LIMIT 1;
    IF NOT FOUND THEN
        SELECT format('has a field whose name has %s characters; the maximum is 512: "%s…"', length(name), left(name, 20))
          INTO fault
          FROM (SELECT key #>> '{}' AS name
                  FROM jsonb_path_query(value, 'strict $.** ? (@.type() == "object").keyvalue().key') AS key) AS member
         WHERE length(name) > 512 LIMIT 1;
    END IF;
    RETURN fault;
END
$$;
COMMENT ON FUNCTION internal.json_fault(jsonb, int) IS
    'What is too much of a JSON value (bytes of its text, levels, a number, a name), as the end of a sentence; null if nothing is.';

CREATE FUNCTION internal.values_fault(value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found bigint;
BEGIN
    IF value IS NULL OR value = '{}' THEN
        RETURN NULL;
    ELSIF jsonb_path_exists(value, 'strict $.**{8 to last}') THEN
        RETURN 'are nested more than 8 levels deep';
    END IF;
    SELECT count(*) - 1 INTO found FROM jsonb_path_query(value, 'strict $.**');
    RETURN CASE WHEN found > 256 THEN format('have %s fields and elements in all; the maximum is 256', found) END;
END
$$;
COMMENT ON FUNCTION internal.values_fault(jsonb) IS
    'Why a JSON value takes too much memory for its length (over 256 members of objects and elements of lists in all, over 8 levels), as the end of a sentence; null if it does not.';

CREATE FUNCTION internal.is_outputs(outputs jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN jsonb_typeof(outputs) = 'object' THEN
        (SELECT coalesce(bool_and(member.key ~ '^[A-Za-z_][A-Za-z0-9_]*$' AND jsonb_typeof(member.value) = 'string'), true)
           FROM jsonb_each(outputs) AS member)
        ELSE false END;
COMMENT ON FUNCTION internal.is_outputs(jsonb) IS
    'Whether a JSON value is an object of strings whose names consist of letters, digits and _, and do not begin with a digit.';

-- ---------------------------------------------------------------- digests

-- The canonical form is described in docs/audit.md. docs/verify.py and the service make the same bytes.
-- ::text, since int || text is only STABLE, and PostgreSQL inlines no IMMUTABLE function that calls a STABLE one.
CREATE FUNCTION internal.canonical_field(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN value IS NULL THEN '-,' ELSE octet_length(value)::text || ':' || value || ',' END;
COMMENT ON FUNCTION internal.canonical_field(text) IS
    'A field of the canonical form: its length in bytes, a colon, the text, a comma; a null is "-,".';

CREATE FUNCTION internal.micros(at timestamptz) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN trunc(extract(epoch FROM at) * 1000000)::text;
COMMENT ON FUNCTION internal.micros(timestamptz) IS
    'A time in the canonical form: microseconds since 1970-01-01 UTC, in decimal digits.';

CREATE FUNCTION internal.grant_digest(tenant text, idp text, key text, match text, subject text, claims jsonb,
                                      valid_from timestamptz, valid_until timestamptz,
                                      actor_idp text, actor_match text, actor text, actor_claims jsonb, networks cidr[]) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sha256(convert_to(
        internal.canonical_field(tenant) || internal.canonical_field(idp) || internal.canonical_field(key)
        || internal.canonical_field(match) || internal.canonical_field(subject) || internal.canonical_field(claims::text)
        || internal.canonical_field(internal.micros(valid_from)) || internal.canonical_field(internal.micros(valid_until))
        || internal.canonical_field(actor_idp) || internal.canonical_field(actor_match) || internal.canonical_field(actor)
        || internal.canonical_field(actor_claims::text) || internal.canonical_field(networks::text), 'UTF8'));
END
$$;
COMMENT ON FUNCTION internal.grant_digest(text, text, text, text, text, jsonb, timestamptz, timestamptz, text, text, text, jsonb, cidr[]) IS
    'A digest by which two grants are duplicates: SHA-256 of who gets which key, under which conditions and when.';

CREATE FUNCTION internal.networks_fault(networks cidr[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
        WHEN networks IS NULL THEN NULL
        WHEN cardinality(networks) = 0 OR array_ndims(networks) > 1 OR array_position(networks, NULL) IS NOT NULL
            THEN 'must be a list of networks'
        WHEN cardinality(networks) > 64 THEN format('list has %s networks; the maximum is 64', cardinality(networks))
        WHEN EXISTS (SELECT FROM unnest(networks) AS n (one) WHERE n.one <<= inet '::ffff:0:0/96')
            THEN (SELECT format('contain %s, an IPv4 network in IPv6 form', min(n.one)) FROM unnest(networks) AS n (one) WHERE n.one <<= inet '::ffff:0:0/96')
    END;
COMMENT ON FUNCTION internal.networks_fault(cidr[]) IS
    'What is wrong with the networks of a grant, as the end of a sentence; null if nothing is.';

-- Of one subject, blocked in one way, one row is enabled: who lifts it has lifted it. Rows that were lifted stay beside it.
CREATE FUNCTION internal.block_digest(tenant text, idp text, match text, subject text, claims jsonb) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN sha256(convert_to(internal.canonical_field(tenant) || internal.canonical_field(idp)
                             || internal.canonical_field(match) || internal.canonical_field(subject)
                             || internal.canonical_field(claims::text), 'UTF8'));
END
$$;
COMMENT ON FUNCTION internal.block_digest(text, text, text, text, jsonb) IS
    'A digest by which two blocks are duplicates: SHA-256 of whom they block and where. Their other columns (reason, until) do not count.';

CREATE FUNCTION internal.nearly(issuer text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN rtrim(regexp_replace(lower(issuer), ':443(?=/|$)', ''), '/');
COMMENT ON FUNCTION internal.nearly(text) IS
    'A form that is the same for issuers that differ only in case, in slashes at the end or in the default port.';
