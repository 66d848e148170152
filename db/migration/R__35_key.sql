-- What clients ask for: broker.key.

-- ---------------------------------------------------------------- the row by itself

CREATE OR REPLACE FUNCTION internal.is_one_of(name text, globs text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT name ~ ('^(' || replace(regexp_replace(btrim(globs, ' ' || chr(10)), '[[:space:]]+', '|', 'g'), '*', '.*') || ')$');
$$;
COMMENT ON FUNCTION internal.is_one_of(text, text) IS 'Whether a name matches one of several globs, which spaces separate.';

-- The same two lists as mm_steering and mm_harmless in src/clients/mintmark-client; a test compares them.
-- The second has exceptions to the first: credentials, and the project and storage server that credentials belong to.
-- No program of its prefix takes anything but a credential from such a name: PIP_USER is none, since pip reads it as --user.
CREATE OR REPLACE FUNCTION internal.steers_programs(variable text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT internal.is_one_of(variable, '
        PATH IFS ENV CDPATH FPATH HOME SHELL SHELLOPTS BASHOPTS BASH_* PS0 PS1 PS2 PS4 PROMPT_COMMAND ZDOTDIR UID EUID PPID
        INPUTRC TMPDIR TMP TEMP TERM TERMCAP TERMINFO* XDG_*
        LD_* DYLD_* LIBPATH SHLIB_PATH GCONV_PATH LOCPATH NLSPATH GLIBC_TUNABLES MALLOC_* HOSTALIASES LOCALDOMAIN
        *OPTIONS *OPTS *FLAGS *_PROXY *_proxy *_WRAPPER *_CA_BUNDLE *_CACERT *COMMAND *COMMANDS *_CMD *_RSH *_SSH *_ASKPASS
        *RCPATH *_PLUGIN_PATH *_PLUGINS *_PRELOAD *_MODULES GTK_* GDK_* GIO_* GST_* QT_* QML* VK_* LIBGL_*
        MAKEFILES CC CXX CPP LD CLASSPATH JAVA_HOME JDK_HOME MAVEN_* GRADLE_*
        NODE_* npm_* NPM_* YARN_* PYTHON* PIP_* UV_* PERL* RUBY* GEM_* BUNDLE_* PHP* LUA_* TCL* ERL_* R_* JULIA_*
        CARGO_* RUSTC* GOROOT GOPATH GOENV GOPROXY GOINSECURE GONOSUMDB GOTOOLCHAIN
        DOTNET_* CORECLR_* COMPlus_* MSBUILD*
        *PAGER LESS* *EDITOR VISUAL BROWSER VIMINIT EXINIT GIT_* SSH_ASKPASS* SSH_AUTH_SOCK SSH_SK_* SUDO_*
        OPENSSL_* SSL_* SSLKEYLOGFILE CURL_* WGETRC NETRC RCLONE_CONFIG RCLONE_CONFIG_DIR
        DOCKER_* KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_PROFILE AWS_ENDPOINT_URL*
        AWS_CONTAINER_* BOTO_CONFIG CLOUDSDK_* GOOGLE_APPLICATION_CREDENTIALS AZURE_CONFIG_DIR TF_CLI_* TF_PLUGIN_*
        TF_DATA_DIR TF_REATTACH_PROVIDERS ANSIBLE_* HELM_* PGSERVICE* PGSYSCONFDIR PGPASSFILE PGSSLROOTCERT PGSSLKEY PGSSLCERT
        PGSSLCRL* PGREQUIRE* PSQLRC MYSQL_HOME LIBMYSQL_* ORACLE_HOME TNS_ADMIN ODBC*
        GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT GITHUB_STATE RUNNER_* ACTIONS_* BUILDKITE_* MINTMARK_* mm_*
        ') AND NOT internal.is_one_of(variable, '
        NPM_TOKEN NODE_AUTH_TOKEN YARN_NPM_AUTH_TOKEN CARGO_REGISTRY_TOKEN CARGO_REGISTRIES_*_TOKEN GEM_HOST_API_KEY
        DOCKER_USERNAME DOCKER_PASSWORD DOCKER_AUTH_CONFIG MAVEN_USERNAME MAVEN_PASSWORD
        HELM_REGISTRY_USERNAME HELM_REGISTRY_PASSWORD ANSIBLE_VAULT_PASSWORD GIT_TOKEN
        CLOUDSDK_AUTH_ACCESS_TOKEN CLOUDSDK_CORE_PROJECT AWS_ENDPOINT_URL_S3
        NPM_USER NPM_USERNAME NPM_PASSWORD NPM_EMAIL NPM_AUTH_TOKEN NPM_API_KEY YARN_TOKEN YARN_USERNAME YARN_PASSWORD
        PIP_TOKEN PIP_USERNAME PIP_PASSWORD UV_PUBLISH_TOKEN UV_PUBLISH_USERNAME UV_PUBLISH_PASSWORD PYTHON_REPO_TOKEN
        GIT_USER GIT_USERNAME GIT_PASSWORD HELM_USERNAME HELM_PASSWORD HELM_TOKEN RUBYGEMS_API_KEY PERL_API_KEY
        DOCKER_USER DOCKER_TOKEN MAVEN_USER MAVEN_TOKEN GRADLE_PUBLISH_KEY GRADLE_PUBLISH_SECRET CARGO_TOKEN DOTNET_TOKEN
        LD_SDK_KEY LD_API_KEY LD_ACCESS_TOKEN SSL_KEY_PASSWORD
        ');
$$;
COMMENT ON FUNCTION internal.steers_programs(text) IS
    'Whether a variable changes what programs run, load, trust or connect to. No output may have such a name.';

-- ---------------------------------------------------------------- its access provider

CREATE OR REPLACE FUNCTION internal.check_listed_names(owner text, rules jsonb, settings jsonb, provider broker.access_provider)
    RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name text;
    listing text;
    listed text[];
BEGIN
    FOR name, listing IN SELECT r.key, r.value ->> 'names_in' FROM jsonb_each(rules) AS r WHERE r.value ? 'names_in' LOOP
        listed := ARRAY(SELECT DISTINCT one FROM jsonb_array_elements_text(coalesce(provider.settings -> listing, '[]')) AS one ORDER BY one);
        IF listed <> ARRAY(SELECT one FROM jsonb_object_keys(coalesce(settings -> name, '{}')) AS one ORDER BY one) THEN
            PERFORM internal.refuse(
                CASE WHEN listed = '{}' THEN format('%s has the setting "%s", but access provider "%s" allows no such names, because its setting "%s" is missing.',
                                                    owner, name, provider.name, listing)
                     ELSE format('%s: the setting "%s" must have exactly the names %s, which access provider "%s" lists in its setting "%s".',
                                 owner, name, array_to_string(listed, ', '), provider.name, listing) END,
                CASE WHEN listed = '{}' THEN format('Leave out "%s".', name)
                     ELSE format('Write "%s": {%s}.', name,
                                 (SELECT string_agg(format('"%s": "…"', one), ', ') FROM unnest(listed) AS one)) END);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_listed_names(text, jsonb, jsonb, broker.access_provider) IS
    'Refuses a key whose object does not have exactly the names that its access provider lists.';

CREATE OR REPLACE FUNCTION internal.check_filled_lengths(owner text, rules jsonb, checked broker.key) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name text;
    longest int;
    filled int;
BEGIN
    FOR name, longest IN SELECT r.key, (r.value ->> 'longest_filled')::int FROM jsonb_each(rules) AS r
                          WHERE r.value ? 'longest_filled' AND checked.settings ? r.key LOOP
        filled := length(replace(replace(replace(checked.settings ->> name, '{mint_id}', repeat('0', 36)),
                                         '{tenant}', checked.tenant), '{key}', checked.name));
        IF filled > longest THEN
            PERFORM internal.refuse(format('%s: the setting "%s" gives %s characters once {mint_id}, {tenant} and {key} are filled in; the maximum is %s.',
                                           owner, name, filled, longest),
                                    format('Shorten it by %s: {mint_id} counts as 36 characters, {tenant} as %s and {key} as %s.',
                                           filled - longest, length(checked.tenant), length(checked.name)));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_filled_lengths(text, jsonb, broker.key) IS
    'Rejects a key with a template that is too long once it is filled in: "longest_filled" in the rules of its type.';

-- Called after the row is written and its change recorded. Recording locks the tenant's row, so
-- a provider can't change while its key is being checked, or the other way round.
CREATE OR REPLACE FUNCTION internal.check_key_fits_provider(checked broker.key) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', checked.name, checked.tenant);
    provider broker.access_provider;
    kind broker.provider_type;
    fields text[];
    aim text;
    named text;
    output record;
BEGIN
    SELECT p.* INTO provider FROM broker.access_provider AS p
     WHERE p.tenant = checked.tenant AND p.name = checked.provider;
    SELECT t.* INTO kind FROM broker.provider_type AS t WHERE t.type = provider.type;
    PERFORM internal.check_settings(owner, format('a key of type %s', kind.type), kind.key_settings, checked.settings);
    PERFORM internal.check_listed_names(owner, kind.key_settings, checked.settings, provider);
    PERFORM internal.check_contradictions(owner, kind, provider, checked.settings);
    PERFORM internal.check_filled_lengths(owner, kind.key_settings, checked);
    IF checked.resource IS NOT NULL AND NOT kind.fields @> '{AccessToken,Expiration}' THEN
        PERFORM internal.refuse(format('%s has a resource, but type %s issues no token that a client can present at a resource.', owner, kind.type),
                                format('Set resource to null. Only keys of the types %s can have a resource, by which clients of POST /oauth2/token name the key.',
                                       (SELECT string_agg(t.type, ', ' ORDER BY t.type) FROM broker.provider_type AS t WHERE t.fields @> '{AccessToken,Expiration}')));
    END IF;
    fields := internal.fields_at(kind, provider.settings);

    FOR output IN SELECT key AS member, value AS field FROM jsonb_each_text(checked.outputs) ORDER BY key COLLATE "C" LOOP
        IF output.field <> ALL (fields) THEN
            PERFORM internal.refuse(
                format('%s: the output "%s" names "%s", which is not a field of %s.', owner, output.member, output.field,
                       CASE WHEN fields = kind.fields THEN 'type ' || kind.type ELSE format('access provider "%s"', provider.name) END),
                internal.did_you_mean(output.field, fields, 'Its fields'));
        END IF;
    END LOOP;

    IF NOT checked.settings ?| (kind.target_setting || kind.further_targets)
       AND NOT internal.allows_target(provider.allowed_targets, '') THEN
        PERFORM internal.refuse(
            format('%s has no %s, but access provider "%s" requires one, because its allowed_targets restricts targets.', owner,
                   (SELECT string_agg(format('"%s"', name), ' and no ') FROM unnest(kind.target_setting || kind.further_targets) AS name
                     WHERE NOT kind.key_settings -> name ? 'names_in'),
                   provider.name),
            format('The access provider''s allowed_targets: %s. A platform admin can change them.', array_to_string(provider.allowed_targets, ', ')));
    END IF;
    SELECT setting, target INTO aim, named
      FROM unnest(kind.target_setting || kind.further_targets) AS setting,
           internal.targets(kind.key_settings -> setting, checked.settings -> setting) AS target
     WHERE strpos(target, '*') > 0 AND target NOT LIKE 'dns:*.%' ORDER BY target COLLATE "C" LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse(format('%s: the setting "%s" has a *, but a key names one target, not a pattern.', owner, aim),
                                internal.write_instead(aim, kind.key_settings -> aim) || ' Only allowed_targets may have patterns.');
    END IF;
    FOR aim, named IN
        SELECT setting, target
          FROM unnest(kind.target_setting || kind.further_targets) WITH ORDINALITY AS s (setting, place),
               internal.targets(kind.key_settings -> setting, checked.settings -> setting) AS target
         WHERE NOT internal.allows_target(provider.allowed_targets, target)
            OR target ~ (kind.key_settings -> setting ->> 'named_literally') AND target <> ALL (provider.allowed_targets)
         ORDER BY place, target COLLATE "C" LIMIT 1 LOOP
        PERFORM internal.refuse(
            format(CASE WHEN named = checked.settings ->> aim THEN '%s: the setting "%s" is "%s", which access provider "%s" does not allow.'
                        ELSE '%s: the setting "%s" has the target "%s", which access provider "%s" does not allow.' END,
                   owner, aim, named, provider.name),
            format('The access provider''s allowed_targets: %s. ', array_to_string(provider.allowed_targets, ', '))
                || CASE WHEN named ~ (kind.key_settings -> aim ->> 'named_literally') THEN format('They must contain "%s" itself, since no pattern matches it. ', named) ELSE '' END
                || 'A platform admin can change them.');
    END LOOP;
END
$$;
COMMENT ON FUNCTION internal.check_key_fits_provider(broker.key) IS
    'Refuses a key that does not fit its access provider: settings, outputs, target.';

CREATE OR REPLACE FUNCTION internal.check_key_duration(checked broker.key) RETURNS void
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', checked.name, checked.tenant);
    kind broker.provider_type;
    of_tenant int;
BEGIN
    SELECT y.* INTO kind
      FROM broker.access_provider AS p JOIN broker.provider_type AS y ON y.type = p.type
     WHERE p.tenant = checked.tenant AND p.name = checked.provider;
    SELECT t.max_duration INTO of_tenant FROM broker.tenant AS t WHERE t.name = checked.tenant;
    IF checked.max_duration < kind.min_duration OR checked.max_duration > kind.max_duration THEN
        PERFORM internal.refuse(
            format('%s: max_duration is %s seconds, but type %s issues credentials for %s.',
                   owner, checked.max_duration, kind.type, internal.span_of(kind.min_duration, kind.max_duration)),
            format('max_duration is in seconds%s. Write %s to %s, for example %s.',
                   CASE WHEN checked.max_duration BETWEEN 2 AND 48 THEN format(': %s hours are %s', checked.max_duration, checked.max_duration * 3600) ELSE '' END,
                   kind.min_duration, kind.max_duration,
                   CASE WHEN checked.max_duration <= 48 AND checked.max_duration * 3600 BETWEEN kind.min_duration AND kind.max_duration THEN checked.max_duration * 3600
                        ELSE least(greatest(checked.max_duration, kind.min_duration), kind.max_duration) END));
    ELSIF checked.max_duration > of_tenant THEN
        PERFORM internal.refuse(
            format('%s: max_duration is %s seconds; the tenant''s maximum is %s.', owner, checked.max_duration, of_tenant),
            CASE WHEN of_tenant < kind.min_duration
                 THEN format('Type %s issues credentials for %s seconds or more. ', kind.type, kind.min_duration)
                 ELSE format('Write %s. ', of_tenant) END
            || 'Platform admins can raise broker.tenant.max_duration.');
    END IF;
END
$$;
COMMENT ON FUNCTION internal.check_key_duration(broker.key) IS
    'Rejects a key whose credentials would be valid for a shorter or longer time than its type and tenant allow.';

-- ---------------------------------------------------------------- bounds

CREATE OR REPLACE FUNCTION internal.count_keys() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM internal.count_further(w.tenant, count(*), 0, 0) FROM written AS w GROUP BY w.tenant ORDER BY w.tenant;
    ELSE
        PERFORM internal.count_further(r.tenant, -count(*), 0, 0) FROM removed AS r GROUP BY r.tenant ORDER BY r.tenant;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.count_keys() IS 'Trigger: counts the keys of a tenant, and rejects keys beyond its limit.';

-- ---------------------------------------------------------------- lint

CREATE OR REPLACE VIEW internal.lint_of_key (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT k.tenant, 'key', k.name, r.rule, internal.lint_advice(r.rule, r.detail) FROM broker.key AS k CROSS JOIN LATERAL (
       SELECT n.rule, concat_ws(chr(10), format('setting "%s"', s.key), n.detail) FROM jsonb_each(k.settings) AS s CROSS JOIN internal.lint_text(CASE jsonb_typeof(s.value) WHEN 'string' THEN s.value #>> '{}' END) AS n
        WHERE s.key <> 'policy' AND n.rule = 'white_space'
       UNION ALL SELECT n.rule, concat_ws(chr(10), 'owner', n.detail) FROM internal.lint_text(k.owner) AS n
       -- policies, commands and conditions have signs of their own
       UNION ALL SELECT n.rule, concat_ws(chr(10), 'text in settings', n.detail) FROM jsonb_path_query(k.settings - '{policy,force_command,access_boundary}'::text[], '$.** ? (@.type() == "string")') AS s
        CROSS JOIN internal.lint_text(s #>> '{}') AS n WHERE n.rule = 'placeholder'
       -- each rule takes a tenth of a millisecond, so the function gets those for lint alone
       UNION ALL SELECT 'unlikely_settings' AS rule, concat_ws(chr(10), 'key', c.fault, c.advice)
         FROM broker.access_provider AS a JOIN broker.provider_type AS y ON y.type = a.type
        CROSS JOIN internal.contradictions(jsonb_path_query_array(y.contradictions, '$[*] ? (@.lint == true)'), a.settings, a.allowed_targets, k.settings, k.max_duration) AS c
        WHERE a.tenant = k.tenant AND a.name = k.provider
       UNION ALL SELECT 'resource_by_http' AS rule, k.resource WHERE k.resource ~* '^http://(?!(localhost|127[.][0-9.]+|\[::1\])([:/]|$))'
       UNION ALL SELECT 'one_role_as_owner_and_member' AS rule, o.name FROM broker.key AS o
        WHERE o.tenant = k.tenant AND o.provider = k.provider AND o.name <> k.name AND o.enabled
          AND o.settings ->> 'role' = k.settings ->> 'role' AND (o.settings ->> 'as' = 'owner') IS DISTINCT FROM (k.settings ->> 'as' = 'owner')
          AND 'owner' IN (o.settings ->> 'as', k.settings ->> 'as')
       UNION ALL SELECT 'same_as_another_row' AS rule, min(o.name) FROM broker.key AS o
        WHERE o.tenant = k.tenant AND o.provider = k.provider AND o.name <> k.name AND o.enabled AND o.max_duration = k.max_duration
          AND o.settings = k.settings AND o.outputs = k.outputs AND o.resource IS NULL AND k.resource IS NULL HAVING count(*) > 0
       UNION ALL SELECT 'unlikely_name' AS rule, concat_ws(chr(10), s.key, n.name)
         FROM broker.access_provider AS a JOIN broker.provider_type AS y ON y.type = a.type
        CROSS JOIN jsonb_each(k.settings) AS s CROSS JOIN jsonb_object_keys(CASE jsonb_typeof(s.value) WHEN 'object' THEN s.value ELSE '{}' END) AS n (name)
        WHERE a.tenant = k.tenant AND a.name = k.provider AND y.key_settings -> s.key ? 'likely_names' AND NOT y.key_settings -> s.key -> 'likely_names' ? n.name
       UNION ALL SELECT 'setting_nearly_known' AS rule, concat_ws(chr(10), s.key, v #>> '{}', min(l))
         FROM broker.access_provider AS a JOIN broker.provider_type AS y ON y.type = a.type
        CROSS JOIN jsonb_each(y.key_settings) AS s CROSS JOIN jsonb_path_query(k.settings -> s.key, '$[*]') AS v CROSS JOIN jsonb_array_elements_text(s.value -> 'likely_values') AS l
        WHERE a.tenant = k.tenant AND a.name = k.provider AND s.value ? 'likely_values' 
          -- Microsoft documents some of its scopes with two slashes
          AND NOT s.value -> 'likely_values' ? regexp_replace(v #>> '{}', '//[.]default$', '/.default') AND internal.is_misspelling(v #>> '{}', l) GROUP BY s.key, v
       -- what other types call the same field is known to tools too
       UNION ALL SELECT 'output_of_another_field' AS rule, concat_ws(chr(10), o.key, o.value, e.field)
         FROM broker.access_provider AS a JOIN broker.provider_type AS y ON y.type = a.type CROSS JOIN jsonb_each_text(k.outputs) AS o
        CROSS JOIN LATERAL (SELECT t.default_outputs ->> o.key FROM broker.provider_type AS t WHERE t.default_outputs ->> o.key = ANY (y.fields)
                             UNION SELECT CASE WHEN o.key ~* 'secret' AND o.value = 'AccessKeyId' THEN 'SecretAccessKey' WHEN o.key ~* 'access_?key_?id' AND o.value = 'SecretAccessKey' THEN 'AccessKeyId'
                                               WHEN o.key ~* 'passw' AND o.value = 'Username' THEN 'Password' WHEN o.key ~* 'user(_?name)?$' AND o.value = 'Password' THEN 'Username' END) AS e (field)
        WHERE a.tenant = k.tenant AND a.name = k.provider AND o.value <> e.field
       UNION ALL SELECT 'output_is_missing' AS rule, string_agg(f.field, ', ' ORDER BY f.place)
         FROM broker.access_provider AS a JOIN (VALUES (1, '{aws-sts,s3-sts}'::text[], 'AccessKeyId'), (2, '{aws-sts,s3-sts}', 'SecretAccessKey'),
              (3, '{aws-sts,s3-sts}', 'SessionToken'), (4, '{postgresql}', 'Username'), (5, '{postgresql}', 'Password')) AS f (place, types, field) ON a.type = ANY (f.types)
        WHERE a.tenant = k.tenant AND a.name = k.provider AND k.outputs <> '{}'
          AND NOT EXISTS (SELECT FROM jsonb_each_text(k.outputs) AS o WHERE o.value IN (f.field, 'Uri')) HAVING count(*) > 0
       -- the broker takes none of its own tokens, those of type jwt
       UNION ALL SELECT 'audience_of_an_identity_provider' AS rule, concat_ws(chr(10), min(p.name), s.audience) FROM broker.access_provider AS a
        CROSS JOIN LATERAL (SELECT regexp_replace(v #>> '{}', '/[.]default$', '') FROM jsonb_path_query(k.settings, '$.keyvalue() ? (@.key == "audience" || @.key == "audiences" || @.key == "scope").value[*]') AS v) AS s (audience)
         JOIN broker.identity_provider AS p ON p.tenant = k.tenant AND p.enabled AND s.audience = ANY (p.audiences)
        WHERE a.tenant = k.tenant AND a.name = k.provider AND a.type <> 'jwt' GROUP BY s.audience
       UNION ALL SELECT 'authority_expires_first' AS rule, concat_ws(chr(10), a.name, to_char(f.not_after AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"'))
         FROM broker.access_provider AS a CROSS JOIN internal.certificate_facts(a.settings ->> 'ca_certificate') AS f
        WHERE a.tenant = k.tenant AND a.name = k.provider AND a.type = 'x509' AND f.not_after < now() + k.max_duration * interval '1 second'
       -- among a thousand grants; requests for access make further ones
       UNION ALL SELECT 'longer_than_its_grants' AS rule, concat_ws(chr(10), k.max_duration, max(g.max_duration))
         FROM (SELECT o.max_duration FROM broker.subject_grant AS o WHERE o.tenant = k.tenant AND o.key = k.name AND o.enabled LIMIT 1000) AS g
       HAVING count(*) > 0 AND count(*) < 1000 AND count(*) = count(*) FILTER (WHERE g.max_duration < k.max_duration)
          AND NOT EXISTS (SELECT FROM broker.access_rule AS a WHERE a.tenant = k.tenant AND a.key = k.name AND a.enabled)
       UNION ALL SELECT CASE WHEN t.max_duration < y.min_duration THEN 'tenant_allows_too_little' ELSE 'longer_than_its_tenant' END AS rule,
                        concat_ws(chr(10), t.name, t.max_duration, CASE WHEN t.max_duration < y.min_duration THEN concat_ws(chr(10), y.type, y.min_duration) END)
         FROM broker.tenant AS t JOIN broker.access_provider AS a ON a.tenant = t.name AND a.name = k.provider JOIN broker.provider_type AS y ON y.type = a.type
        WHERE t.name = k.tenant AND t.max_duration < k.max_duration
       UNION ALL SELECT 'duration_too_short' AS rule, k.max_duration::text WHERE k.max_duration < 60) AS r (rule, detail) WHERE k.enabled
 UNION ALL
SELECT k.tenant, 'key', k.name, 'incomplete_policy', internal.lint_advice('incomplete_policy', m.member)
  FROM broker.key AS k CROSS JOIN (VALUES
       ('Version', '$ ? (!(@.Version == "2012-10-17" || @.Version == "2008-10-17"))'::jsonpath), ('Statement', '$ ? (!exists(@.Statement))'), ('Effect', '$.Statement[*] ? (!(@.Effect == "Allow" || @.Effect == "Deny"))'),
       ('Action', '$.Statement[*] ? (!exists(@.Action) && !exists(@.NotAction))'),
       ('Resource', '$.Statement[*] ? (!exists(@.Resource) && !exists(@.NotResource))')) AS m (member, missing)
 WHERE k.enabled AND jsonb_path_exists(CASE jsonb_typeof(k.settings -> 'policy') WHEN 'string' THEN (k.settings ->> 'policy')::jsonb
                                            ELSE k.settings -> 'policy' END, m.missing);
COMMENT ON VIEW internal.lint_of_key IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_key() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Key "%s" of tenant "%s"', NEW.name, NEW.tenant);
    example constant text := 'Write the variable, then the field, for example {"AWS_ACCESS_KEY_ID": "AccessKeyId"}.';
    wrong record;
BEGIN
    NEW := internal.approved(NEW, OLD);
    IF row_security_active(TG_RELID) AND NOT internal.login_is('a platform admin') THEN
        PERFORM internal.check_writer(TG_RELID, to_jsonb(NEW));
    END IF;
    PERFORM internal.refuse_owner(TG_RELID, format('Key "%s"', NEW.name), NEW.owner, NEW.tenant, NEW.enabled);
    IF internal.may_hold_secret(NEW.description) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'description', NEW.description, to_jsonb(NEW) - '{description,settings}'::text[]);
    END IF;
    IF internal.may_hold_secret(NEW.settings::text) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'settings', NEW.settings::text, to_jsonb(NEW) - '{description,settings}'::text[]);
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{tenant,name,provider,max_duration,settings,outputs,enabled}');
    IF TG_OP = 'UPDATE' THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.name !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        PERFORM internal.refuse(format('"%s" is not a valid key name.', NEW.name),
                              'Use a letter, then up to 63 letters, digits, _, . and -.');
    ELSIF NEW.max_duration <= 0 THEN
        PERFORM internal.refuse(format('%s has a max_duration of %s seconds.', owner, NEW.max_duration), 'Write a positive number.');
    ELSIF jsonb_typeof(NEW.settings) <> 'object' THEN
        PERFORM internal.refuse(format('%s: settings must be an object, not %s.', owner, internal.a_kind(NEW.settings)),
                              'For example {"audience": "https://api.example.com"}. The settings of each type: SELECT key_settings FROM broker.provider_type.');
    ELSIF jsonb_typeof(NEW.outputs) <> 'object' THEN
        PERFORM internal.refuse(format('%s: outputs must be an object, not %s.', owner, internal.a_kind(NEW.outputs)), example);
    END IF;
    IF NOT internal.is_absolute_uri(NEW.resource) THEN
        PERFORM internal.refuse(format('%s: the resource "%s" must be an absolute URI of at most 512 characters, without a fragment.', owner, NEW.resource),
                              'Write the URI that clients send in the parameter resource, for example "https://mcp.example.com/orders"; null for none.');
    ELSIF EXISTS (SELECT FROM broker.key AS k WHERE k.tenant = NEW.tenant
                     AND internal.normal_uri(k.resource) = internal.normal_uri(NEW.resource) AND k.name <> NEW.name
                     AND (TG_OP = 'INSERT' OR k.name <> OLD.name)) THEN
        PERFORM internal.refuse_in(TG_RELID, 'a_resource_belongs_to_one_key_of_a_tenant',
            format('Another key of tenant "%s" has the resource "%s".', NEW.tenant, NEW.resource),
            'A resource identifies one key of a tenant. Choose another URI, or set the resource of the other key to null.', 'unique_violation');
    END IF;
    IF length(NEW.description) > 1000 THEN
        PERFORM internal.refuse(format('%s: its description has %s characters; the maximum is 1000.', owner, length(NEW.description)), 'Shorten it.');
    ELSIF internal.json_fault(NEW.settings, 16384) IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: the JSON of its settings %s.', owner, internal.json_fault(NEW.settings, 16384)), 'Shorten them.');
    ELSIF internal.json_fault(NEW.outputs, 4096) IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: the JSON of its outputs %s.', owner, internal.json_fault(NEW.outputs, 4096)), 'Shorten them.');
    END IF;
    FOR wrong IN SELECT key AS member, value AS field FROM jsonb_each(NEW.outputs) LOOP
        IF wrong.member !~ '^[A-Za-z_][A-Za-z0-9_]*$' THEN
            PERFORM internal.refuse(format('%s: "%s" is not a valid output name.', owner, wrong.member),
                                  'Use letters, digits and _, and no digit first, for example {"AWS_ACCESS_KEY_ID": "AccessKeyId"}.');
        ELSIF internal.steers_programs(wrong.member) THEN
            PERFORM internal.refuse(format('%s: the output "%s" is a variable that changes what programs run, load, trust or connect to.',
                                         owner, wrong.member), 'Choose another name, for example one that starts with the name of the service.');
        ELSIF jsonb_typeof(wrong.field) <> 'string' THEN
            PERFORM internal.refuse(format('%s: the output "%s" must name a field, not %s.', owner, wrong.member, internal.a_kind(wrong.field)),
                                  example);
        END IF;
    END LOOP;
    PERFORM internal.refuse_values(TG_RELID, owner, 'settings', NEW.settings), internal.refuse_values(TG_RELID, owner, 'outputs', NEW.outputs);
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_key() IS
    'Trigger: rejects an invalid key with a message, keeps its approval, and signs it.';

-- With the writer's rights, so it reveals no rows that the writer may not see.
CREATE OR REPLACE FUNCTION internal.check_references_of_key() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND OLD.name <> NEW.name THEN
        PERFORM internal.check_not_referenced(TG_RELID, TG_TABLE_NAME, TG_OP, to_jsonb(OLD));
    END IF;
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND OLD.provider <> NEW.provider THEN
        IF NOT EXISTS (SELECT FROM broker.access_provider AS p WHERE p.tenant = NEW.tenant AND p.name = NEW.provider) THEN
            PERFORM internal.refuse_unknown_reference(TG_RELID, 'the_access_provider_exists_in_the_same_tenant',
                NEW.tenant, 'access provider', NEW.provider,
                ARRAY(SELECT p.name FROM broker.access_provider AS p WHERE p.tenant = NEW.tenant),
                (SELECT min(p.tenant) FROM broker.access_provider AS p WHERE p.name = NEW.provider), to_jsonb(NEW));
        END IF;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_references_of_key() IS
    'Trigger: rejects unknown references of a row, and the removal of a row that others refer to.';

CREATE OR REPLACE FUNCTION internal.record_key() RETURNS trigger
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
    PERFORM internal.record_row(TG_TABLE_NAME, 'tenant', TG_OP, to_jsonb(OLD), to_jsonb(NEW),
                                (SELECT to_jsonb(k) FROM broker.key AS k WHERE k.tenant = coalesce(NEW.tenant, OLD.tenant) AND k.name = coalesce(NEW.name, OLD.name)), OLD.updated_at >= transaction_timestamp());
    IF TG_OP = 'DELETE' THEN
        RETURN NULL;
    END IF;
    PERFORM internal.check_key_fits_provider(NEW);
    -- A key from before the tenant's maximum was lowered can be disabled.
    IF TG_OP = 'INSERT' OR NEW.enabled THEN
        PERFORM internal.check_key_duration(NEW);
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.provider <> NEW.provider THEN
        PERFORM internal.check_grant_duration(g) FROM broker.subject_grant AS g
          WHERE g.tenant = NEW.tenant AND g.key = NEW.name AND (g.max_duration IS NOT NULL OR g.valid_until IS NOT NULL);
        PERFORM internal.check_grant_issuer(g) FROM broker.subject_grant AS g
          WHERE g.tenant = NEW.tenant AND g.key = NEW.name;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_key() IS
    'Trigger: records a change of a key, and rejects a key that cannot work.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.key', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_key', 'always', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_key()'],
    ['FK_check_references', 'origin', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'check_references_of_key()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_key()'],
    ['add_changes_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_updated', 'always', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'count_changes()'],
    ['add_changes_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'count_changes()'],
    ['check_bounds_inserted', 'always', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'count_keys()'],
    ['check_bounds_deleted', 'always', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'count_keys()'],
    ['lint_inserted', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''name'')'],
    ['lint_updated', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''name'')'],
    ['warn_large_update', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'warn_large_edit(''tenant'')'],
    ['warn_large_delete', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'warn_large_edit(''tenant'')']
]);
