-- What a certificate says of itself (X.509 in DER, RFC 5280 section 4.1), as far as rules about rows need it.

CREATE OR REPLACE FUNCTION internal.der_element(der bytea, place int, OUT tag int, OUT content int, OUT following int)
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    length int := get_byte(der, place + 1);
BEGIN
    tag := get_byte(der, place);
    content := place + 2;
    IF length > 127 THEN
        -- three bytes of length are 16 MiB, more than any setting
        IF length NOT BETWEEN 129 AND 131 THEN
            RAISE data_exception USING MESSAGE = 'unusable length';
        END IF;
        content := content + length - 128;
        length := 0;
        FOR i IN place + 2 .. content - 1 LOOP
            length := length * 256 + get_byte(der, i);
        END LOOP;
    END IF;
    following := content + length;
END
$$;
COMMENT ON FUNCTION internal.der_element(bytea, int) IS
    'The element of a DER encoding at an offset: its tag, where its content begins, and where the next element begins.';

CREATE OR REPLACE FUNCTION internal.certificate_facts(pem text, OUT not_before timestamptz, OUT not_after timestamptz,
                                                      OUT is_authority boolean, OUT signs_lists boolean)
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
    SET TimeZone = 'UTC'
AS $$
DECLARE
    der bytea;
    one record;
    part record;
    extension record;
    times timestamptz[] := '{}';
    oid bytea;
BEGIN
    is_authority := false;
    der := decode(substring(pem FROM '-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=[:space:]]+)-----END CERTIFICATE-----'), 'base64');
    IF der IS NULL THEN
        RETURN;
    END IF;
    one := internal.der_element(der, (internal.der_element(der, 0)).content);
    one := internal.der_element(der, one.content);
    IF one.tag = 160 THEN  -- version
        one := internal.der_element(der, one.following);
    END IF;
    FOR i IN 1 .. 3 LOOP  -- serial number, algorithm, issuer
        one := internal.der_element(der, one.following);
    END LOOP;
    part := internal.der_element(der, one.content);
    FOR i IN 1 .. 2 LOOP
        times := times || to_timestamp(CASE part.tag WHEN 23
                     -- UTCTime has two digits of the year: 50 to 99 are of the last century
                     THEN CASE WHEN get_byte(der, part.content) >= 53 THEN '19' ELSE '20' END ELSE '' END
                     || convert_from(substr(der, part.content + 1, part.following - part.content - 1), 'UTF8'), 'YYYYMMDDHH24MISS');
        part := CASE i WHEN 1 THEN internal.der_element(der, part.following) ELSE part END;
    END LOOP;
    not_before := times[1];
    not_after := times[2];
    FOR i IN 1 .. 2 LOOP  -- subject, public key
        one := internal.der_element(der, one.following);
    END LOOP;
    WHILE one.tag <> 163 AND one.following < length(der) LOOP
        one := internal.der_element(der, one.following);
        EXIT WHEN one.tag = 48;  -- no extensions: this is the signature's algorithm
    END LOOP;
    IF one.tag = 163 THEN
        part := internal.der_element(der, one.content);
        extension := internal.der_element(der, part.content);
        LOOP
            one := internal.der_element(der, extension.content);
            oid := substr(der, one.content + 1, one.following - one.content);
            one := internal.der_element(der, one.following);
            IF one.tag = 1 THEN  -- critical
                one := internal.der_element(der, one.following);
            END IF;
            IF oid = '\x551d13' THEN
                is_authority := position('\x0101ff'::bytea IN substr(der, one.content + 1, one.following - one.content)) > 0;
            ELSIF oid = '\x551d0f' THEN
                signs_lists := get_byte(der, (internal.der_element(der, one.content)).content + 1) & 6 = 6;
            END IF;
            EXIT WHEN extension.following >= part.following;
            extension := internal.der_element(der, extension.following);
        END LOOP;
    END IF;
EXCEPTION WHEN data_exception OR array_subscript_error OR null_value_not_allowed THEN
    not_before := NULL;
    not_after := NULL;
END
$$;
COMMENT ON FUNCTION internal.certificate_facts(text) IS
    'The validity of the first certificate in PEM, whether it is a CA certificate, and whether its key usage has keyCertSign and cRLSign (null if it has no key usage). The times are null if the certificate can''t be read.';

CREATE OR REPLACE FUNCTION internal.certificate_fault(rule jsonb, pem text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN f.not_after IS NULL THEN 'is a certificate that can''t be read'
        WHEN f.not_after <= now() THEN format('is a certificate that expired at %s', to_char(f.not_after AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"'))
        WHEN (rule ->> 'authority')::boolean AND NOT f.is_authority THEN 'is not a CA certificate (its basicConstraints lack CA:TRUE)'
        WHEN (rule ->> 'authority')::boolean AND NOT f.signs_lists THEN 'is a CA certificate whose key usage lacks keyCertSign or cRLSign' END
      FROM internal.certificate_facts(pem) AS f WHERE pem IS NOT NULL;
$$;
COMMENT ON FUNCTION internal.certificate_fault(jsonb, text) IS
    'What is wrong with certificates in PEM by a rule of broker.provider_type, as the end of a sentence; null if nothing is.';
