-- Whose tokens a tenant accepts: broker.identity_provider.

-- ---------------------------------------------------------------- the row by itself

CREATE OR REPLACE FUNCTION internal.jwks_fault(jwks jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN jwks IS NULL THEN NULL
        WHEN NOT coalesce(jsonb_path_exists(jwks, 'strict $.keys[0].kty', silent => true), false)
            THEN 'is not a key set of the form {"keys": [{"kty": …}]}'
        WHEN jsonb_path_exists(jwks, '$.keys[*] ? (exists (@.d) || exists (@.k))')
            THEN 'contains a private or secret key'
        WHEN NOT jsonb_path_exists(jwks, '$.keys[*] ? ((@.kty == "RSA" && exists (@.n) && exists (@.e)
                                          || @.kty == "EC" && exists (@.crv) && exists (@.x) && exists (@.y)
                                          || @.kty == "OKP" && exists (@.crv) && exists (@.x))
                                         && (!exists (@.use) || @.use == "sig" || @.use == "jwt-svid"))')
            THEN 'has no key for verifying signatures' END;
$$;
COMMENT ON FUNCTION internal.jwks_fault(jsonb) IS
    'What is wrong with the key set in an identity provider''s jwks, as the end of a sentence; null if nothing is.';

-- ---------------------------------------------------------------- its issuer

CREATE OR REPLACE FUNCTION internal.check_owner_claims(idp text, issuer text, required_claims jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    shared broker.shared_issuer;
BEGIN
    SELECT s.* INTO shared FROM broker.shared_issuer AS s
     WHERE internal.nearly(s.issuer) = internal.nearly(check_owner_claims.issuer)
     ORDER BY s.issuer <> check_owner_claims.issuer, s.issuer LIMIT 1;
    IF NOT FOUND OR internal.requires_an_owner(required_claims, shared.owner_claims) THEN
        RETURN;
    END IF;
    PERFORM internal.refuse(
        format(CASE WHEN shared.issuer = issuer
                    THEN 'Identity provider "%s": the issuer "%s" issues tokens to anyone, and required_claims names no owner by an exact value.'
                    ELSE 'Identity provider "%s": the issuer "%s" differs only by case or a slash from "%s", which issues tokens to anyone, and required_claims names no owner by an exact value.' END,
               idp, issuer, shared.issuer),
        CASE WHEN shared.issuer = issuer THEN '' ELSE format('Write the issuer exactly as "%s". ', shared.issuer) END
        || format('In required_claims, require at least one of %s, for example {"%s": "…"}; a glob is not enough.', array_to_string(shared.owner_claims, ', '), shared.owner_claims[1]));
END
$$;
COMMENT ON FUNCTION internal.check_owner_claims(text, text, jsonb) IS
    'Rejects an identity provider that would accept tokens of every customer of a shared issuer, in any spelling of its URL.';

-- ---------------------------------------------------------------- lint

CREATE OR REPLACE VIEW internal.usual_spelling (near, spellings) WITH (security_invoker = true) AS
SELECT w.near, array_agg(w.spelling ORDER BY w.spelling)
  FROM (SELECT s.near, s.spelling, rank() OVER (PARTITION BY s.near ORDER BY sum(s.weight) DESC) AS place
          FROM (SELECT internal.nearly(p.issuer), p.issuer, 1 FROM broker.identity_provider AS p WHERE p.enabled
                UNION ALL SELECT internal.nearly(l.issuer), l.issuer, 1000000000 FROM broker.shared_issuer AS l
                UNION ALL SELECT internal.nearly(k.issuer_pattern), k.issuer_pattern, 1000000000 FROM broker.known_issuer AS k WHERE strpos(k.issuer_pattern, '*') = 0)
               AS s (near, spelling, weight)
         GROUP BY s.near, s.spelling) AS w
 WHERE w.place = 1 GROUP BY w.near;
COMMENT ON VIEW internal.usual_spelling IS 'How issuers are spelled, by the lists of issuers or by most identity providers that the caller may see; several spellings if as many have each. Spellings differ by case, slashes at the end or the default port.';

CREATE OR REPLACE FUNCTION internal.usual_spellings_of(issuer text) RETURNS text[]
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT u.spellings FROM internal.usual_spelling AS u WHERE u.near = internal.nearly(usual_spellings_of.issuer);
$$;
COMMENT ON FUNCTION internal.usual_spellings_of(text) IS 'The usual spellings of one issuer. For many issuers, join internal.usual_spelling, which reads all rows once.';

CREATE OR REPLACE FUNCTION internal.lint_identity_provider(checked broker.identity_provider, spellings text[]) RETURNS TABLE (rule text, detail text)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
    SET plan_cache_mode = force_generic_plan -- from PostgreSQL 18 on it would be planned for each row
    AS $$
    SELECT c.rule, c.detail FROM (VALUES (1)) AS one LEFT JOIN internal.known_issuer(checked.issuer) AS k ON true
     CROSS JOIN LATERAL internal.lint_claims(checked.required_claims, k) AS c WHERE checked.required_claims <> '{}'
     UNION ALL
    SELECT 'claim_of_one_run', o FROM internal.known_issuer(checked.issuer) AS k CROSS JOIN unnest(internal.claims_of_one_run()) AS o
     WHERE checked.required_claims ? o AND k.claims ? o AND o <> ALL (k.project_claims)
     UNION ALL
    SELECT r.rule, r.detail FROM (VALUES
        ('issuer_nearly_known', (array_remove(spellings, checked.issuer))[1]),
        ('issuer_is_the_broker', CASE WHEN internal.is_the_broker(checked.issuer) THEN checked.issuer END),
        ('issuer_is_discovery', substring(checked.issuer FROM '/[.]well-known/')),
        ('issuer_is_endpoint', substring(checked.issuer FROM '/(?:protocol/openid-connect(?:/.*)?|oauth2?(?:/v[0-9.]+)?/(?:authorize|token|keys|certs|discovery/keys|userinfo)|api/v[0-9]+|admin/[^/]+/console(?:/.*)?|realms(?:/[^/]+/account(?:/.*)?)?)/?$')),
        ('issuer_sends_no_tokens', coalesce(CASE WHEN checked.issuer ~ internal.mistaken_issuer() THEN (SELECT concat_ws(chr(10), checked.issuer, m.advice) FROM broker.known_issuer AS o, jsonb_to_recordset(o.mistakes) AS m ("in" text, form text, advice text)
            WHERE m."in" = 'issuer' AND checked.issuer ~ m.form ORDER BY o.name, length(m.form) LIMIT 1) END,
            -- a slash too many; GitLab's keys tell it, whatever its host is called
            CASE WHEN checked.issuer ~ '/$' AND spellings @> ARRAY[checked.issuer] AND (SELECT count(*) FROM internal.known_issuer(checked.issuer)) = 0
                      AND (checked.jwks_uri ~ '/oauth/discovery/keys$' OR EXISTS (SELECT FROM internal.known_issuer(rtrim(checked.issuer, '/')) AS k WHERE k.name <> 'Kubernetes' OR k.issuer_pattern !~ '^https://kubernetes[.]'))
                 THEN concat_ws(chr(10), checked.issuer, rtrim(checked.issuer, '/')) END,
            -- Keycloak's issuers end without a slash, Auth0's with one; the host of Okta's admin console issues nothing; Cognito's have a pool
            CASE WHEN checked.issuer ~ '/realms/[^/]+/+$' THEN concat_ws(chr(10), checked.issuer, rtrim(checked.issuer, '/'))
                 WHEN checked.issuer ~ '^https://[^/]+[.]auth0[.]com$' THEN concat_ws(chr(10), checked.issuer, checked.issuer || '/')
                 WHEN checked.issuer ~ '^https://[^/.]+-admin[.](okta|oktapreview|okta-emea)[.]com(/|$)' THEN concat_ws(chr(10), checked.issuer, regexp_replace(checked.issuer, '-admin[.]', '.'))
                 WHEN checked.issuer ~ '^https://[^/]+[.](okta|oktapreview|okta-emea)[.]com/oauth2(/?$|/v1(/|$)|/[^/]+/)'
                 THEN concat_ws(chr(10), checked.issuer, 'https://HOST of the organization, or https://HOST/oauth2/ID, such as https://acme.okta.com/oauth2/default')
                 WHEN checked.issuer ~ '^https://cognito-idp[.][a-z0-9-]+[.]amazonaws[.]com(/?|/.*/)$|^https://[^/]+[.]amazoncognito[.]com(/|$)'
                 THEN concat_ws(chr(10), checked.issuer, 'https://cognito-idp.REGION.amazonaws.com/POOL_ID') END)),
        ('jwks_uri_is_discovery', coalesce(substring(checked.jwks_uri FROM '/[.]well-known/(?:openid-configuration|oauth-authorization-server)'),
                                           CASE WHEN rtrim(checked.jwks_uri, '/') = rtrim(checked.issuer, '/') OR checked.jwks_uri ~ '/(token|authorize|userinfo|introspect|logout|login)/?$' THEN '' END)),
        ('audience_of_another_service', (SELECT a FROM unnest(checked.audiences) AS a
           LEFT JOIN internal.known_issuer(checked.issuer) AS k ON true WHERE internal.is_vendor_audience(a) AND a IS DISTINCT FROM internal.only_audience(k.name)
             -- a cluster's own audience may be its issuer
             OR k.name <> 'Kubernetes' AND rtrim(a, '/') = rtrim(checked.issuer, '/')
             OR a = ANY (internal.audiences_of_others()) OR a ~ '^https://github[.]com/[^/]+$'
             -- the issuer's own APIs
             OR a ~ '/(userinfo|api/v2/)$' AND substring(a FROM '^https://[^/]+') = substring(checked.issuer FROM '^https://[^/]+')
             -- an OAuth client of one's own, by which people log in here; Google gives its id tokens no other audience. The two are gcloud's.
             OR a ~ '[.]apps[.]googleusercontent[.]com$' AND (a IS DISTINCT FROM checked.login_client_id OR a ~ '^(32555940559|764086051850)[.-]') LIMIT 1)),
        ('audience_not_sent', (SELECT concat_ws(chr(10), k.name, internal.only_audience(k.name)) FROM internal.known_issuer(checked.issuer) AS k
            WHERE internal.only_audience(k.name) <> ALL (checked.audiences))),
        ('audience_nearly_another', (SELECT concat_ws(chr(10), a, b, o.name) FROM broker.identity_provider AS o CROSS JOIN unnest(o.audiences) AS b CROSS JOIN unnest(checked.audiences) AS a
            WHERE o.tenant = checked.tenant AND o.name <> checked.name AND o.enabled AND a <> b AND abs(length(a) - length(b)) <= 1 AND internal.is_misspelling(a, b)
              AND b <> ALL (checked.audiences) AND NOT EXISTS (SELECT FROM broker.identity_provider AS s WHERE s.tenant = checked.tenant AND s.name <> checked.name AND s.enabled AND a = ANY (s.audiences))
            ORDER BY o.name LIMIT 1)),
        ('approver_beside_subject', CASE WHEN checked.accepts @> '{subject,approver}' THEN '' END),
        ('issuer_inside_cluster', CASE WHEN checked.jwks IS NULL AND coalesce(checked.jwks_uri, checked.issuer) ~* '^https?://([^/:]+[.])?(svc|local|kubernetes[.]default)([:/]|$)' THEN coalesce(checked.jwks_uri, checked.issuer) END),
        ('one_time_without_id', (SELECT k.name FROM internal.known_issuer(checked.issuer) AS k WHERE checked.one_time_tokens AND k.name IN ('Google', 'Microsoft Entra ID'))),
        ('one_time_tokens_are_sent_again', CASE WHEN checked.one_time_tokens AND (checked.jwks_uri ~ '/openid/v1/jwks$'
             OR EXISTS (SELECT FROM internal.known_issuer(checked.issuer) AS k WHERE k.name = 'Kubernetes')
             OR EXISTS (SELECT FROM (SELECT g.subject FROM broker.subject_grant AS g WHERE g.tenant = checked.tenant AND g.idp = checked.name AND g.match = 'exact' LIMIT 10) AS g
                         WHERE starts_with(g.subject, 'system:serviceaccount:'))) THEN '' END),
        -- of an issuer in the cloud, whose host is not the tenant's
        ('certificate_of_a_public_issuer', CASE WHEN checked.ca_certificate IS NOT NULL THEN coalesce((SELECT k.name FROM internal.known_issuer(checked.issuer) AS k WHERE k.issuer_pattern ~ '^https://[^/]*[.](com|io|net|org|dev)(/|$)'),
             (SELECT s.issuer FROM broker.shared_issuer AS s WHERE s.issuer = checked.issuer)) END),
        ('jwks_uri_of_another_issuer', coalesce((SELECT concat_ws(chr(10), CASE o.name WHEN k.name THEN substring(checked.jwks_uri FROM '^https://([^/]+)') ELSE o.name END, coalesce(k.jwks_uri, 'null')) FROM broker.known_issuer AS o
             LEFT JOIN internal.known_issuer(checked.issuer) AS k ON true
            WHERE (o.jwks_uri = checked.jwks_uri OR internal.glob_matches(rtrim(o.issuer_pattern, '/') || '/**', checked.jwks_uri) AND o.issuer_pattern !~ '^https://[*]')
              -- an installation of one's own has the name of the vendor's service
              AND (o.name IS DISTINCT FROM k.name OR o.name <> 'Kubernetes' AND NOT internal.glob_matches(o.issuer_pattern, checked.issuer))
              -- the same host is its own
              AND substring(checked.jwks_uri FROM '^https://[^/]+') <> substring(checked.issuer FROM '^https://[^/]+') LIMIT 1),
             -- the keys of an installation of one's own, told by their path; a copy of the vendor's has the vendor's host in its path
             (SELECT concat_ws(chr(10), h.of_keys, coalesce(k.jwks_uri, 'null')) FROM (VALUES (1)) AS one LEFT JOIN internal.known_issuer(checked.issuer) AS k ON true
               CROSS JOIN LATERAL (SELECT substring(checked.jwks_uri FROM '^https://([^/]+)') AS of_keys, substring(checked.issuer FROM '^https://([^/]+)') AS of_issuer) AS h
               WHERE h.of_keys <> h.of_issuer AND strpos(checked.jwks_uri, h.of_issuer) = 0 AND internal.sender_of_keys(checked.jwks_uri) IS NOT NULL
                 AND (k.jwks_uri IS NOT NULL OR internal.sender_of_keys(checked.jwks_uri) <> coalesce(k.name, CASE WHEN checked.issuer ~ '/realms/[^/]+$' THEN 'Keycloak' END))))),
        ('jwks_uri_of_another_place', internal.other_place(checked.issuer, checked.jwks_uri)),
        ('jwks_uri_of_another_host', (SELECT substring(checked.jwks_uri FROM '^https://([^/]+)') FROM internal.known_issuer(checked.issuer) AS k
            WHERE k.name = 'Kubernetes' AND k.issuer_pattern !~ '^https://kubernetes[.]' AND substring(checked.jwks_uri FROM '^https://[^/]+') <> substring(checked.issuer FROM '^https://[^/]+')
              AND internal.other_place(checked.issuer, checked.jwks_uri) IS NULL)),
        ('login_of_actors', CASE WHEN NOT checked.accepts && '{subject,approver}' THEN checked.login_client_id END),
        -- people sign in to GitLab
        ('login_of_jobs', CASE WHEN checked.login_client_id IS NOT NULL THEN (SELECT k.name FROM internal.known_issuer(checked.issuer) AS k WHERE k.project_wildcard > 0 AND k.name NOT IN ('GitLab', 'Gitea or Forgejo Actions')) END),
        ('token_type_of_another_use', (SELECT t FROM unnest(checked.token_types) AS t
            WHERE regexp_replace(lower(t), '^application/', '') = ANY (internal.token_types_of_other_uses()) LIMIT 1)),
        ('same_as_another_row', (SELECT min(o.name) FROM broker.identity_provider AS o WHERE o.tenant = checked.tenant AND o.name <> checked.name AND o.enabled
             -- by another audience other tokens come in
             AND internal.nearly(o.issuer) = internal.nearly(checked.issuer) AND o.audiences && checked.audiences
             AND internal.claims_cover(o.required_claims, checked.required_claims) AND internal.claims_cover(checked.required_claims, o.required_claims)
             AND (o.jwks, o.token_types, o.clock_skew, o.max_token_age, o.one_time_tokens)
                 IS NOT DISTINCT FROM (checked.jwks, checked.token_types, checked.clock_skew, checked.max_token_age, checked.one_time_tokens)
             AND o.accepts @> checked.accepts AND o.accepts <@ checked.accepts)),
        ('algorithm_not_sent', (SELECT concat_ws(chr(10), k.name, array_to_string(k.algorithms, ', ')) FROM internal.known_issuer(checked.issuer) AS k
            WHERE k.algorithms IS NOT NULL AND NOT k.algorithms && checked.algorithms)),
        ('certificate_expired', internal.certificate_fault('{}', checked.ca_certificate)),
        ('clock_skew_too_long', CASE WHEN checked.clock_skew > 600 THEN round(checked.clock_skew / 60.0)::text END),
        ('clock_skew_exceeds_age', CASE WHEN checked.clock_skew > checked.max_token_age THEN checked.clock_skew::text END),
        ('token_age_too_short', CASE WHEN checked.max_token_age < 60 THEN checked.max_token_age::text END),
        ('token_age_too_long', CASE WHEN checked.max_token_age > 86400 OR checked.max_token_age >= 30000 AND checked.max_token_age % 3600 <> 0 THEN concat_ws(chr(10), checked.max_token_age, round(checked.max_token_age / 86400.0, 1)) END)) AS r (rule, detail)
     WHERE r.detail IS NOT NULL
     UNION ALL
    SELECT 'contradicts_its_issuer', concat_ws(chr(10), c.claim, c.value) FROM internal.known_issuer(checked.issuer) AS k
     CROSS JOIN internal.claims_in_subject(k.subject_claims, checked.issuer) AS c
     WHERE checked.required_claims ? c.claim AND NOT internal.text_may_fit(checked.required_claims -> c.claim, c.value, 'exact')
     UNION ALL
    SELECT 'contradicts_its_issuer', concat_ws(chr(10), 'iss', checked.issuer)
     WHERE checked.required_claims ? 'iss' AND NOT internal.text_may_fit(checked.required_claims -> 'iss', checked.issuer, 'exact')
     UNION ALL
    SELECT 'contradicts_another_claim', concat_ws(chr(10), c.in_claim, c.claim, c.value) FROM internal.known_issuer(checked.issuer) AS k
     CROSS JOIN internal.claims_in_claims(k.subject_claims, checked.required_claims) AS c WHERE NOT internal.text_may_fit(checked.required_claims -> c.claim, c.value, c.match)
     UNION ALL
    SELECT t.rule, t.detail FROM unnest(checked.audiences) AS a CROSS JOIN LATERAL (
           SELECT n.rule, concat_ws(chr(10), 'audience', n.detail) FROM internal.lint_text(a) AS n
           UNION ALL SELECT 'star_in_audience', a WHERE strpos(a, '*') > 0
           UNION ALL SELECT 'list_in_one_value', a WHERE a ~ '^[^,]+(,[^,]+)+$') AS t (rule, detail);
$$;
COMMENT ON FUNCTION internal.lint_identity_provider(broker.identity_provider, text[]) IS 'Findings in an identity provider. spellings: the usual ones of its issuer.';

CREATE OR REPLACE VIEW internal.lint_of_identity_provider (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT p.tenant, 'identity_provider', p.name, r.rule, internal.lint_advice(r.rule, r.detail)
  FROM broker.identity_provider AS p JOIN internal.usual_spelling AS u ON u.near = internal.nearly(p.issuer)
 CROSS JOIN LATERAL internal.lint_identity_provider(p, u.spellings) AS r WHERE p.enabled;
COMMENT ON VIEW internal.lint_of_identity_provider IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view. Reads the issuers of all rows once.';

CREATE OR REPLACE VIEW internal.lint_of_few_identity_providers (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT p.tenant, 'identity_provider', p.name, r.rule, internal.lint_advice(r.rule, r.detail)
  FROM broker.identity_provider AS p CROSS JOIN LATERAL internal.lint_identity_provider(p, internal.usual_spellings_of(p.issuer)) AS r WHERE p.enabled;
COMMENT ON VIEW internal.lint_of_few_identity_providers IS 'The findings of internal.lint_of_identity_provider in a few rows: for each row, reads the rows with its issuer.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_identity_provider() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
    SET standard_conforming_strings = on
AS $$
DECLARE
    known constant text[] := '{RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512,EdDSA}';
    owner constant text := format('Identity provider "%s"', NEW.name);
    wrong text;
BEGIN
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{name,tenant,issuer,audiences,algorithms,token_types,required_claims,clock_skew,one_time_tokens,accepts,listed,enabled}');
    IF TG_OP = 'UPDATE' THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.name !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        PERFORM internal.refuse(format('"%s" is not a valid identity provider name.', NEW.name),
                              'Use a letter, then up to 63 letters, digits, _, . and -.');
    ELSIF EXISTS (SELECT FROM broker.identity_provider AS p WHERE p.name = NEW.name AND p.tenant <> NEW.tenant) THEN
        PERFORM internal.refuse_in(TG_RELID, 'an_identity_provider_name_is_taken_once',
            format('Another tenant has an identity provider "%s"; names are unique across tenants.', NEW.name),
            format('Start the name with the tenant, for example "%s-%s".', NEW.tenant, NEW.name), 'unique_violation');
    ELSIF NOT internal.is_url(NEW.issuer) THEN
        PERFORM internal.refuse(format('%s: the issuer "%s" is not an https URL.', owner, NEW.issuer),
            'Write the iss claim of its tokens as it is, for example "https://token.actions.githubusercontent.com". Plain http is for localhost only.');
    ELSIF NEW.issuer ~ '[?]' OR length(NEW.issuer) > 255 THEN
        PERFORM internal.refuse(format('%s: the issuer "%s" has a query or more than 255 characters.', owner, NEW.issuer),
                              'Write the iss claim of its tokens as it is. An issuer has no query (OpenID Connect Discovery).');
    ELSIF NOT internal.is_url(NEW.jwks_uri) THEN
        PERFORM internal.refuse(format('%s: the jwks_uri "%s" is not an https URL.', owner, NEW.jwks_uri),
            'Write an https URL; plain http is for localhost only. If the broker cannot reach the issuer, write the issuer''s key set into jwks instead.');
    END IF;

    wrong := internal.list_fault(NEW.audiences, 512);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: audiences %s.', owner, wrong),
                              'List the audiences (aud) of its tokens for this broker, for example ''{mintmark-acme}''.');
    END IF;
    wrong := internal.jwks_fault(NEW.jwks);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: jwks %s.', owner, wrong),
                              'Write the key set as the issuer publishes it, public keys only: kty, kid and n, e (RSA) or crv, x, y (EC).');
    ELSIF internal.json_fault(NEW.jwks, 65536) IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: jwks %s.', owner, internal.json_fault(NEW.jwks, 65536)),
                              'Write the keys alone, without their certificates (x5c).');
    ELSIF octet_length(NEW.ca_certificate) > 65536 THEN
        PERFORM internal.refuse(format('%s: ca_certificate has %s bytes; the maximum is 65536.', owner, octet_length(NEW.ca_certificate)),
                              'Include only the authorities that issued its server''s certificate.');
    ELSIF NEW.ca_certificate !~ '^\s*-----BEGIN CERTIFICATE-----' OR NEW.ca_certificate ~ 'PRIVATE KEY' THEN
        PERFORM internal.refuse(format('%s: ca_certificate must be PEM with certificates only.', owner),
                              'Write the certificates of the authorities to trust when fetching keys, without a private key.');
    END IF;

    SELECT algorithm INTO wrong FROM unnest(NEW.algorithms) AS algorithm WHERE algorithm <> ALL (known) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse(format('%s: the algorithm "%s" is not accepted.', owner, wrong),
                              internal.did_you_mean(wrong, known, 'The broker accepts'));
    END IF;
    wrong := internal.list_fault(NEW.algorithms, 5);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: algorithms %s.', owner, wrong), 'For example ''{RS256,ES256}'', the default.');
    END IF;

    wrong := CASE WHEN NEW.token_types = '{}' THEN NULL
                  ELSE coalesce(internal.list_fault(NEW.token_types, 127),
                                (SELECT format('has "%s", which is not a media type', type) FROM unnest(NEW.token_types) AS type
                                  WHERE type !~ '^[A-Za-z0-9!#$&^_.+-]+(/[A-Za-z0-9!#$&^_.+-]+)?$' LIMIT 1),
                                CASE WHEN cardinality(NEW.token_types) > 20
                                     THEN format('has %s elements; the maximum is 20', cardinality(NEW.token_types)) END) END;
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: token_types %s.', owner, wrong),
                              'List the values of typ in the header of its tokens, for example ''{vnd.example.identity+jwt}''. JWT, JOSE, at+jwt and id_token+jwt are always accepted; for these alone, write ''{}''.');
    END IF;
    wrong := internal.claims_fault(NEW.required_claims);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: in its required_claims, %s.', owner, wrong), internal.claims_hint());
    ELSIF NEW.clock_skew NOT BETWEEN 0 AND 3600 THEN
        PERFORM internal.refuse(format('%s has a clock_skew of %s seconds.', owner, NEW.clock_skew), 'Write 0 to 3600.');
    ELSIF NEW.max_token_age <= 0 THEN
        PERFORM internal.refuse(format('%s has a max_token_age of %s seconds.', owner, NEW.max_token_age),
                              'Write a positive number, or null to check only exp.');
    ELSIF internal.list_fault(NEW.accepts, 8) IS NOT NULL OR NOT NEW.accepts <@ '{subject,actor,approver}' THEN
        PERFORM internal.refuse(format('%s: the column accepts %s.', owner,
                                       coalesce(internal.list_fault(NEW.accepts, 8), format('has "%s"', (SELECT a FROM unnest(NEW.accepts) AS a
                                           WHERE a <> ALL ('{subject,actor,approver}') LIMIT 1)))),
                              'List whom its tokens may identify: subject (who gets credentials), actor (who acts for a subject), approver (who decides requests). The default is ''{subject}''.');
    ELSIF NEW.login_client_id !~ '^[!-~]{1,255}$' THEN
        PERFORM internal.refuse(format('%s: the login_client_id "%s" is not a client id.', owner, left(NEW.login_client_id, 100)),
                              'Write the id of the public client that your identity provider has for mintmark-client, 1 to 255 visible ASCII characters; or null.');
    ELSIF NEW.one_time_tokens AND NEW.max_token_age IS NULL THEN
        PERFORM internal.refuse(format('%s has one_time_tokens without a max_token_age.', owner),
                              'Set max_token_age to the maximum age of a token in seconds, for example 600. The broker remembers used tokens for that long.');
    END IF;
    PERFORM internal.refuse_values(TG_RELID, owner, 'required_claims', NEW.required_claims);
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_identity_provider() IS
    'Trigger: rejects an invalid identity provider with a message.';

-- With the writer's rights, so it reveals no rows that the writer may not see.
CREATE OR REPLACE FUNCTION internal.check_references_of_identity_provider() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.name <> NEW.name THEN
        PERFORM internal.check_not_referenced(TG_RELID, TG_TABLE_NAME, TG_OP, to_jsonb(OLD));
    END IF;
    IF TG_OP = 'INSERT' THEN
        PERFORM internal.check_tenant_exists(TG_RELID, to_jsonb(NEW));
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_references_of_identity_provider() IS
    'Trigger: rejects unknown references of a row, and the removal of a row that others refer to.';

CREATE OR REPLACE FUNCTION internal.record_identity_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    taken text;
BEGIN
    IF TG_OP = 'UPDATE' AND OLD *= NEW THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND (OLD.name, OLD.issuer, OLD.audiences) IS DISTINCT FROM (NEW.name, NEW.issuer, NEW.audiences) THEN
        DELETE FROM work.trusted_audience
         WHERE idp = NEW.name AND (issuer <> NEW.issuer OR audience <> ALL (NEW.audiences));
        -- Waits for a concurrent transaction that has the pair, then leaves the pair to it.
        INSERT INTO work.trusted_audience (issuer, audience, idp)
        SELECT NEW.issuer, audience, NEW.name FROM unnest(NEW.audiences) AS audience ORDER BY audience
            ON CONFLICT (issuer, audience) DO NOTHING;
        -- The owner of the pair may belong to a tenant that the writer cannot see: don't name it.
        SELECT audience INTO taken
          FROM unnest(NEW.audiences) AS audience
         WHERE NOT EXISTS (SELECT FROM work.trusted_audience AS t
                            WHERE t.issuer = NEW.issuer AND t.audience = audience.audience AND t.idp = NEW.name)
         ORDER BY audience LIMIT 1;
        IF FOUND THEN
            PERFORM internal.refuse_in(TG_RELID, 'an_issuer_and_audience_lead_to_one_identity_provider',
                format('Issuer "%s" with audience "%s" already belongs to another identity provider.', NEW.issuer, taken),
                'A token''s issuer and audience must identify exactly one tenant. Have the clients request a separate audience, for example one that contains the tenant name, and add it to audiences.',
                'unique_violation', refused => to_jsonb(NEW));
        END IF;
    END IF;
    PERFORM internal.record_row(TG_TABLE_NAME, 'tenant', TG_OP, to_jsonb(OLD), to_jsonb(NEW),
                                (SELECT to_jsonb(p) FROM broker.identity_provider AS p WHERE p.name = coalesce(NEW.name, OLD.name)), OLD.updated_at >= transaction_timestamp());
    IF TG_OP = 'DELETE' THEN
        RETURN NULL;
    END IF;
    -- A change of broker.shared_issuer locks this row FOR UPDATE (internal.record_change), so one waits for the other.
    PERFORM FROM work.mutex AS m WHERE m.name = 'changes without tenant' FOR SHARE;
    PERFORM internal.check_owner_claims(NEW.name, NEW.issuer, NEW.required_claims);
    IF NEW.issuer ~* '^https://(login[.]microsoftonline[.](com|us)|login[.]partner[.]microsoftonline[.]cn|sts[.]windows[.]net)/(common|organizations|consumers)(/|$)' THEN
        PERFORM internal.refuse(format('Identity provider "%s": no token has the issuer "%s". In Entra''s URLs, "%s" means any directory; tokens name one directory.', NEW.name, NEW.issuer,
                                       substring(NEW.issuer FROM '(?i)(common|organizations|consumers)')),
                                'Write the directory''s id instead: az account show --query tenantId.');
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_identity_provider() IS
    'Trigger: maintains runtime.trusted_audience, rejects a pair of issuer and audience that any tenant already uses, records the change, and requires the owner''s claims of a shared issuer.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.identity_provider', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_identity_provider', 'always', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_identity_provider()'],
    ['FK_check_references', 'origin', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'check_references_of_identity_provider()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_identity_provider()'],
    ['lint_inserted', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''name'')'],
    ['lint_updated', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''name'')'],
    ['warn_large_update', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'warn_large_edit(''tenant'')'],
    ['warn_large_delete', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'warn_large_edit(''tenant'')']
]);
