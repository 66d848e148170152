-- What a tenant's keys are minted at: broker.access_provider. The rules for its settings are in R__06_settings.

-- ---------------------------------------------------------------- lint

CREATE OR REPLACE VIEW internal.lint_of_access_provider (tenant, table_name, name, rule, advice) WITH (security_invoker = true) AS
SELECT a.tenant, 'access_provider', a.name, 'glob_matches_less_than_it_seems',
       internal.lint_advice('glob_matches_less_than_it_seems', format('targets with "%s"', internal.sign_in(t, true)))
  FROM broker.access_provider AS a CROSS JOIN unnest(a.allowed_targets) AS t WHERE a.enabled AND internal.sign_in(t, true) <> ''
 UNION ALL
SELECT a.tenant, 'access_provider', a.name, r.rule, internal.lint_advice(r.rule, r.detail) COLLATE "default"
  FROM broker.access_provider AS a JOIN broker.provider_type AS y ON y.type = a.type CROSS JOIN LATERAL (
       SELECT n.rule, concat_ws(chr(10), 'target', n.detail) FROM unnest(a.allowed_targets) AS t CROSS JOIN internal.lint_text(t) AS n
       UNION ALL SELECT 'target_fits_no_form' AS rule, concat_ws(chr(10), a.type, t, array_to_string(y.target_forms, ' or ')) FROM unnest(a.allowed_targets) AS t
        WHERE y.target_forms IS NOT NULL AND NOT EXISTS (SELECT FROM unnest(y.target_forms) AS f WHERE internal.globs_overlap(t, f))
       -- names of these types have no comma
       UNION ALL SELECT 'list_in_one_value' AS rule, t FROM unnest(a.allowed_targets) AS t
        WHERE t ~ '^[^,]+(,[^,]+)+$' AND (a.type IN ('ssh', 'postgresql', 'kubernetes', 'github-app', 'gcp', 'azure') OR t ~ ',[ ]*arn:')
       -- the settings that each key of the type has
       UNION ALL SELECT 'allows_no_key' AS rule, concat_ws(chr(10), a.type, f.form) FROM (VALUES ('github-app', 'permission:', 'permission:NAME:LEVEL'),
              ('github-app', '(repository|repository_id):|all_repositories$', 'repository:NAME, repository_id:ID or all_repositories'), ('x509', 'subject:', 'subject:/CN=NAME')) AS f (type, start, form)
        WHERE f.type = a.type AND NOT EXISTS (SELECT FROM unnest(a.allowed_targets) AS t WHERE t = '**' OR t ~ ('^' || f.start))
       UNION ALL SELECT 'unlikely_name' AS rule, concat_ws(chr(10), 'allowed_targets', split_part(t, ':', 2)) FROM unnest(a.allowed_targets) AS t
        WHERE a.type = 'github-app' AND t ~ '^permission:[a-z_]+:' AND NOT y.key_settings -> 'permissions' -> 'likely_names' ? split_part(t, ':', 2)
       UNION ALL SELECT 'any_target' AS rule, a.type WHERE a.allowed_targets = '{**}' AND a.type IN ('ssh', 'x509', 'postgresql')
       UNION ALL SELECT 'any_account' AS rule, t FROM unnest(a.allowed_targets) AS t WHERE a.shared_identity AND t ~ '^arn:[^:]*:iam:[^:]*:[^:]*[*]'
       UNION ALL SELECT 'any_target_beside_others' AS rule, '' AS detail WHERE '**' = ANY (a.allowed_targets) AND cardinality(a.allowed_targets) > 1
       -- at least twice a letter behind a digit: not acmeProd2026ClientSecret
       UNION ALL SELECT 'file_looks_like_a_secret' AS rule, left(f #>> '{}', 4) FROM jsonb_path_query(a.settings, '$.**.file ? (@.type() == "string")') AS f
        WHERE f #>> '{}' ~ '^(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9~_+=-]{24,}$' AND regexp_count(f #>> '{}', '[0-9][A-Za-z]') > 1
       UNION ALL SELECT 'one_authority_twice' AS rule, o.name FROM broker.access_provider AS o
        WHERE o.tenant = a.tenant AND o.name <> a.name AND o.enabled AND o.type IN ('ssh', 'x509') AND a.type IN ('ssh', 'x509')
          AND o.settings -> 'ca_key' = a.settings -> 'ca_key'
       UNION ALL SELECT 'same_as_another_row' AS rule, min(o.name) FROM broker.access_provider AS o
        WHERE o.tenant = a.tenant AND o.name <> a.name AND o.enabled AND o.type = a.type AND o.shared_identity = a.shared_identity
          AND o.settings = a.settings AND o.allowed_targets @> a.allowed_targets AND o.allowed_targets <@ a.allowed_targets HAVING count(*) > 0
       UNION ALL SELECT 'endpoint_is_discovery' AS rule, s.key FROM jsonb_each_text(a.settings) AS s
        WHERE s.value ~ '/[.]well-known/(openid-configuration|oauth-authorization-server)'
       UNION ALL SELECT 'unlikely_settings' AS rule, concat_ws(chr(10), 'access provider', c.fault, c.advice)
         FROM internal.contradictions(jsonb_path_query_array(y.contradictions, '$[*] ? (@.lint == true)'), a.settings, a.allowed_targets, NULL, NULL) AS c
       UNION ALL SELECT n.rule, concat_ws(chr(10), 'text in settings', n.detail) FROM jsonb_path_query(a.settings, '$.** ? (@.type() == "string")') AS s CROSS JOIN internal.lint_text(s #>> '{}') AS n
        WHERE n.rule = 'placeholder') AS r (rule, detail) WHERE a.enabled;
COMMENT ON VIEW internal.lint_of_access_provider IS 'The rows of broker.lint about this table, for its trigger, which would otherwise plan the whole view.';

-- ---------------------------------------------------------------- what happens to each row

CREATE OR REPLACE FUNCTION internal.check_access_provider() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    owner constant text := format('Access provider "%s" of tenant "%s"', NEW.name, NEW.tenant);
    example constant text := '"arn:aws:iam::123456789012:role/ci-*"';
    wrong text;
BEGIN
    IF internal.may_hold_secret(NEW.settings::text) THEN
        PERFORM internal.refuse_secret(TG_RELID, 'settings', NEW.settings::text, to_jsonb(NEW) - 'settings');
    END IF;
    PERFORM internal.refuse_missing(TG_RELID, to_jsonb(NEW), '{tenant,name,type,settings,allowed_targets,shared_identity,enabled}');
    IF TG_OP = 'UPDATE' THEN
        PERFORM internal.refuse_move(TG_TABLE_NAME, OLD.tenant, NEW.tenant);
    END IF;
    IF NEW.name !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' THEN
        PERFORM internal.refuse(format('"%s" is not a valid access provider name.', NEW.name),
                              'Use a letter, then up to 63 letters, digits, _, . and -.');
    ELSIF jsonb_typeof(NEW.settings) <> 'object' THEN
        PERFORM internal.refuse(format('%s: settings must be an object, not %s.', owner, internal.a_kind(NEW.settings)),
                              'For example {"region": "eu-central-1"}. The settings of each type: SELECT provider_settings FROM broker.provider_type.');
    END IF;

    wrong := internal.json_fault(NEW.settings, 16384);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: the JSON of its settings %s.', owner, wrong), 'Shorten them.');
    END IF;
    wrong := internal.list_fault(NEW.allowed_targets, 512);
    IF wrong IS NOT NULL THEN
        PERFORM internal.refuse(format('%s: allowed_targets %s.', owner, wrong),
                              format('List the targets that keys may name, for example %s. ** alone allows every target.', example));
    END IF;
    SELECT format('"%s" %s', item, internal.glob_fault(item)) INTO wrong FROM unnest(NEW.allowed_targets) AS item
     WHERE internal.glob_fault(item) IS NOT NULL LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse(format('%s: in allowed_targets, %s.', owner, wrong), 'Write several shorter globs instead.');
    END IF;
    SELECT item INTO wrong FROM unnest(NEW.allowed_targets) AS item
     WHERE NOT coalesce(internal.is_glob_list(ARRAY[item]), false) LIMIT 1;
    IF FOUND THEN
        PERFORM internal.refuse(format('%s: "%s" in allowed_targets does not start with a literal segment.', owner, wrong),
            format('The text up to the first : or / must not contain *, for example %s. ** alone allows every target.', example));
    ELSIF NEW.settings ->> 'auth' = 'ambient' AND NEW.type = 'aws-sts' AND NOT NEW.shared_identity THEN
        PERFORM internal.refuse(format('%s uses auth "ambient" without shared_identity. With auth "ambient", all tenants look alike to AWS.', owner),
            'Set shared_identity = true and list this tenant''s roles in allowed_targets.');
    ELSIF NEW.shared_identity AND '**' = ANY (NEW.allowed_targets) THEN
        PERFORM internal.refuse(format('%s has shared_identity, so all tenants look alike to the provider, but its allowed_targets is **, which allows every target.', owner),
            'List this tenant''s targets in allowed_targets, because nothing else separates tenants with shared_identity.');
    END IF;
    PERFORM internal.refuse_values(TG_RELID, owner, 'settings', NEW.settings);
    NEW := internal.signed(NEW, OLD);
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION internal.check_access_provider() IS
    'Trigger: rejects an invalid access provider with a message, before a constraint does.';

-- With the writer's rights, so it reveals no rows that the writer may not see.
CREATE OR REPLACE FUNCTION internal.check_references_of_access_provider() RETURNS trigger
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
    IF TG_OP = 'INSERT' OR TG_OP = 'UPDATE' AND OLD.type <> NEW.type THEN
        IF NOT EXISTS (SELECT FROM broker.provider_type AS t WHERE t.type = NEW.type) THEN
            PERFORM internal.refuse_in(TG_RELID, 'the_provider_type_exists',
                format('Access provider "%s" of tenant "%s" has the unknown type "%s".', NEW.name, NEW.tenant, NEW.type),
                internal.there_are(NEW.type, ARRAY(SELECT t.type FROM broker.provider_type AS t), 'There are'), 'foreign_key_violation');
        END IF;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.check_references_of_access_provider() IS
    'Trigger: rejects unknown references of a row, and the removal of a row that others refer to.';

CREATE OR REPLACE FUNCTION internal.record_access_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    SET TimeZone = 'UTC'
    SET enable_seqscan = off
    SET jit = off
AS $$
DECLARE
    owner constant text := format('Access provider "%s" of tenant "%s"', NEW.name, NEW.tenant);
    kind broker.provider_type;
    open bigint;
BEGIN
    IF TG_OP = 'UPDATE' AND OLD *= NEW THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND (OLD.name <> NEW.name OR OLD.type <> NEW.type) THEN
        SELECT count(*) INTO open FROM work.ending AS e WHERE e.tenant = OLD.tenant AND e.provider = OLD.name;
        IF open > 0 THEN
            PERFORM internal.refuse_in(TG_RELID, '',
                format('%s of access provider "%s" of tenant "%s" %s not revoked yet, so the access provider cannot be %s.',
                       CASE open WHEN 1 THEN 'A credential' ELSE open || ' credentials' END, OLD.name, OLD.tenant,
                       CASE open WHEN 1 THEN 'is' ELSE 'are' END,
                       CASE WHEN TG_OP = 'DELETE' THEN 'deleted' WHEN OLD.name <> NEW.name THEN 'renamed' ELSE 'given another type' END),
                format('Disable the access provider: UPDATE broker.access_provider SET enabled = false WHERE tenant = %L AND name = %L; the broker then removes its credentials as they expire. To remove them now, insert their mint ids into broker.ended_credential.',
                       OLD.tenant, OLD.name),
                'restrict_violation');
        END IF;
    END IF;
    PERFORM internal.record_row(TG_TABLE_NAME, 'tenant', TG_OP, to_jsonb(OLD), to_jsonb(NEW),
                                (SELECT to_jsonb(p) FROM broker.access_provider AS p WHERE p.tenant = coalesce(NEW.tenant, OLD.tenant) AND p.name = coalesce(NEW.name, OLD.name)), OLD.updated_at >= transaction_timestamp());
    IF TG_OP = 'DELETE' THEN
        RETURN NULL;
    END IF;
    SELECT t.* INTO kind FROM broker.provider_type AS t WHERE t.type = NEW.type;
    PERFORM internal.check_settings(owner, format('an access provider of type %s', kind.type), kind.provider_settings, NEW.settings);
    PERFORM internal.check_token_labels(owner, NEW.tenant, NEW.settings);
    PERFORM internal.check_contradictions(owner, kind, NEW, NULL);
    IF NEW.shared_identity AND NOT kind.may_share_identity THEN
        PERFORM internal.refuse(format('%s has shared_identity, but type %s does not use the broker''s identity.', owner, kind.type),
                              'Set shared_identity to false.');
    END IF;
    IF TG_OP = 'UPDATE' AND (OLD.type, OLD.allowed_targets, internal.fields_at(kind, OLD.settings))
                            IS DISTINCT FROM (NEW.type, NEW.allowed_targets, internal.fields_at(kind, NEW.settings)) THEN
        PERFORM internal.check_key_fits_provider(k) FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.provider = NEW.name;
        PERFORM internal.check_key_duration(k) FROM broker.key AS k
          WHERE OLD.type <> NEW.type AND k.tenant = NEW.tenant AND k.provider = NEW.name;
        PERFORM internal.check_grant_duration(g)
           FROM broker.key AS k
           JOIN broker.subject_grant AS g ON g.tenant = k.tenant AND g.key = k.name
          WHERE OLD.type <> NEW.type AND k.tenant = NEW.tenant AND k.provider = NEW.name
            AND (g.max_duration IS NOT NULL OR g.valid_until IS NOT NULL);
        PERFORM internal.check_grant_issuer(g)
           FROM broker.key AS k
           JOIN broker.subject_grant AS g ON g.tenant = k.tenant AND g.key = k.name
          WHERE OLD.type <> NEW.type AND k.tenant = NEW.tenant AND k.provider = NEW.name;
    ELSIF TG_OP = 'UPDATE' AND OLD.settings <> NEW.settings THEN
        PERFORM internal.check_contradictions(format('Key "%s" of tenant "%s"', k.name, k.tenant), kind, NEW, k.settings)
           FROM broker.key AS k WHERE k.tenant = NEW.tenant AND k.provider = NEW.name;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION internal.record_access_provider() IS
    'Trigger: rejects deleting or renaming an access provider while its mints are to be ended, records the change, and checks that it works with its keys.';

-- ---------------------------------------------------------------- triggers, in the order in which they run

CALL internal.set_triggers('broker.access_provider', ARRAY[
    ['refuse_truncate', 'always', 'BEFORE TRUNCATE', 'FOR EACH STATEMENT', 'refuse_truncate()'],
    ['check_access_provider', 'always', 'BEFORE INSERT OR UPDATE', 'FOR EACH ROW', 'check_access_provider()'],
    ['FK_check_references', 'origin', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'check_references_of_access_provider()'],
    ['record_change', 'always', 'AFTER INSERT OR UPDATE OR DELETE', 'FOR EACH ROW', 'record_access_provider()'],
    ['lint_inserted', 'origin', 'AFTER INSERT', 'REFERENCING NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''name'')'],
    ['lint_updated', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'lint_written(''name'')'],
    ['warn_large_update', 'origin', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS written FOR EACH STATEMENT', 'warn_large_edit(''tenant'')'],
    ['warn_large_delete', 'origin', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', 'warn_large_edit(''tenant'')']
]);
