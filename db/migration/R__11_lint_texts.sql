-- What lint says about a row, and what it finds in a single text. The rules are in R__12_lint.

CREATE OR REPLACE FUNCTION internal.lint_advice(rule text, detail text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format(CASE rule
        WHEN 'access_for_everybody' THEN 'The row gives access to %s. Use a claim and a value that only the right people have.'
        WHEN 'algorithm_not_sent' THEN '%s signs with %s, which algorithms does not list, so every token is rejected. Add it.'
        WHEN 'any_target' THEN 'allowed_targets is **, so a tenant admin can write a key for any user, role or name that type %s can give. List the targets that this tenant may have.'
        WHEN 'audience_of_another_service' THEN 'The audience "%s" belongs to another service, whose tokens would mint here too. Have clients request an audience of this broker, for example one with the name of the tenant.'
        WHEN 'authority_expires_first' THEN 'The certificate of access provider "%s" expires at %s, before a credential of this key would. Renew it, or lower max_duration.'
        WHEN 'access_never_long_enough' THEN 'No credential of key "%s" fits into max_access, so requests by the rule are refused. Set it to %s or more.'
        WHEN 'actor_is_its_subject' THEN 'The actor "%s" is the subject itself, so nobody acts for somebody else. Leave the actor out, or name another one.'
        WHEN 'approvals_ignored' THEN 'break_glass gives access at once and ignores the %s approvals. Set approvals to 0, or break_glass to false.'
        WHEN 'approver_is_the_requester' THEN 'The rule is for "%s" alone, and nobody approves their own request. Name another approver.'
        WHEN 'approver_beside_subject' THEN 'accepts has approver beside subject, so tokens of these audiences can mint, and approver adds nothing: subjects decide too. Write {approver} for an audience that must only decide, such as the console''s.'
        WHEN 'approver_not_accepted' THEN 'Identity provider "%s" accepts neither subjects nor approvers, so nobody can decide with its tokens. Add approver to broker.identity_provider.accepts, or name another identity provider.'
        WHEN 'awaits_approval' THEN 'The row was written or changed by "%s" and counts as disabled until another admin approves it: %s'
        WHEN 'too_few_approvers' THEN 'The rule needs %s approvals and has %s approvers, so its requests are refused. Add approvers, or lower approvals.'
        WHEN 'actor_matches_every_agent' THEN 'Any agent of identity provider "%s" may act for the subject. Name the agent, or match only agents of one team.'
        WHEN 'block_leaves_others' THEN '"%s" of identity provider "%s" is not blocked (%s). If it is meant too: %s'
        WHEN 'block_matches_nothing' THEN 'When the block was written, no grant and no row of audit.event in the last 90 days had a subject that it matches. Compare it with the sub claim of the tokens.'
        WHEN 'certificate_expired' THEN 'ca_certificate %s. Write the certificate of the authority that signs the server''s certificate now.'
        WHEN 'claim_fits_no_form' THEN '%s sends "%s" as %s. The condition %s never matches.'
        WHEN 'claim_of_other_type' THEN 'The issuer sends %s, so this condition never matches. Write the value with that type.'
        WHEN 'claim_of_the_users_choice' THEN 'Users can often choose the claim "%s" themselves, and so grant themselves access. Prefer sub, or groups that only admins assign.'
        WHEN 'clock_skew_exceeds_age' THEN 'The clock_skew of %s seconds is longer than the max_token_age, which it prolongs. Set a shorter clock_skew.'
        WHEN 'contradicts_identity_provider' THEN 'Each token of this grant has "%s" = %s, so the condition never matches. Write that value, or leave the condition out.'
        WHEN 'contradicts_its_subject' THEN 'The subject says "%s" = %s, so the condition never matches. Write that value, or leave the condition out.'
        WHEN 'contradicts_its_issuer' THEN 'Each token of this issuer has "%s" = %s, so required_claims rejects all of them. Write that value, or correct the issuer.'
        WHEN 'covered_by_another_rule' THEN 'Access rule %s already lets these subjects request as much with as many approvals, so this rule has no effect. Disable one of the two.'
        WHEN 'covered_by_another_grant' THEN 'Grant %s already allows all that this grant does, so its narrower conditions have no effect. Disable one of the two.'
        WHEN 'duration_too_short' THEN 'The unit of max_duration is seconds, and %s seconds end before most clients use the credential. Use 60 or more.'
        WHEN 'ended_already' THEN 'The row had ended when it was written and has no effect. Set a later end, or null for no end.'
        WHEN 'far_away' THEN 'The grant has no effect before %s. Check the year of valid_from; for a grant from now on, write null.'
        WHEN 'glob_matches_less_than_it_seems' THEN 'The glob matches only %s. * matches within one segment (no : and no /), ** across segments; all else is literal.'
        WHEN 'glob_sign_in_exact_subject' THEN 'With %1$s exact, "%2$s" in %3$s is literal. Set %1$s to glob, where * matches within one segment and ** across segments.'
        WHEN 'github_subject_by_name' THEN 'The subject has no ids, and repositories that were created, renamed or moved since 2026-07-15 send subjects with ids, such as repo:acme@1234567/shop@7654321:…, which it does not match. To match both: %s'
        WHEN 'incomplete_policy' THEN 'The policy has no valid %s. AWS rejects statements without Effect, Action and Resource, and applies the rules of 2008 to a policy without Version. Version is 2012-10-17, Effect is Allow or Deny.'
        WHEN 'endpoint_is_discovery' THEN 'The setting "%s" is the URL of a discovery document. Write the token_endpoint in that document.'
        WHEN 'issuer_inside_cluster' THEN '"%s" is a name inside a cluster, and only a broker in that cluster can fetch keys from it. Otherwise write the key set into jwks: kubectl get --raw /openid/v1/jwks.'
        WHEN 'issuer_is_discovery' THEN 'The issuer is the URL of a discovery document. Write the value of "issuer" in that document, which is the iss claim of the tokens.'
        WHEN 'issuer_is_endpoint' THEN 'The issuer ends in "%s", which is a path of its server. Write the iss claim of the tokens, such as https://sso.example.com/realms/acme.'
        WHEN 'issuer_is_the_broker' THEN '"%s" is the issuer of this broker, which never accepts its own tokens, so this identity provider cannot work. Delete it.'
        WHEN 'issuer_sends_no_tokens' THEN 'No token has the issuer "%s". Tokens of that service have the iss claim %s.'
        WHEN 'issuer_nearly_known' THEN 'Another identity provider or a known issuer is spelled "%s". Tokens must have the issuer exactly as it is written here.'
        WHEN 'jwks_uri_is_discovery' THEN 'The jwks_uri is the issuer or the URL of a discovery document. Write the jwks_uri in that document, or null: the broker finds it.'
        WHEN 'jwks_uri_of_another_issuer' THEN 'The jwks_uri is that of %s, so the signature of every token is rejected. Write %s.'
        WHEN 'jwks_uri_of_another_place' THEN 'The jwks_uri has "%s" and the issuer "%s", so these are the keys of another issuer, and every token is rejected. Make both the same.'
        WHEN 'list_in_one_value' THEN '"%s" is one value with a comma, and is compared as a whole. Write each value as an element of the list.'
        WHEN 'login_cannot_decide' THEN 'The approver''s %s, and so decides nothing. Write the login of an admin of the tenant as PostgreSQL spells it.'
        WHEN 'longer_than_its_key' THEN 'Key "%s" issues credentials for at most %s seconds, and the shorter duration applies. Raise the key''s max_duration, or set the grant''s to null.'
        WHEN 'longer_than_its_grants' THEN 'The key allows %s seconds, but its grants allow %s at most. Lower max_duration, or raise that of a grant.'
        WHEN 'longer_than_its_tenant' THEN 'Tenant "%s" allows credentials of %s seconds at most, and the shorter duration applies. Lower max_duration, or have a platform admin raise the tenant''s.'
        WHEN 'never_long_enough' THEN 'The window is shorter than the shortest credential, %s seconds. Set a later valid_until.'
        WHEN 'no_member_of_its_role' THEN 'Login "%s" is not a member of %s. Until a DBA adds it with GRANT, the row has no effect.'
        WHEN 'no_reason' THEN 'Auditors ask why a grant exists. Enter a reason, for example a ticket.'
        WHEN 'reason_pattern_fits_nothing' THEN 'No reason matches "%s", so every request by the rule is refused. A reason has 10 characters or more and no double spaces; * matches no : and no /, ** matches anything.'
        WHEN 'nobody_can_approve' THEN '%s Requests are refused. Correct its approvers, or lower approvals.'
        WHEN 'one_time_without_id' THEN '%s sends tokens without jti, so one_time_tokens rejects all of them. Set it to false.'
        WHEN 'one_authority_twice' THEN 'Access provider "%s" signs with the same ca_key, so servers that trust one trust the other. Give each a CA of its own.'
        WHEN 'one_role_as_owner_and_member' THEN 'Key "%s" gives the same role in the other way. A member can run ALTER DEFAULT PRIVILEGES for it, which applies to all that owners create later. Use two roles.'
        WHEN 'party_not_accepted' THEN 'Identity provider "%1$s" does not accept %2$ss, so no token fits the row. Add %2$s to broker.identity_provider.accepts, or name another identity provider.'
        WHEN 'placeholder' THEN 'The %s has "%s", a placeholder that was not filled in. Write the real value.'
        WHEN 'pointer_without_slash' THEN '"%s" names one claim. A JSON pointer, which starts with /, names a claim inside another one: "%s".'
        WHEN 'resource_by_http' THEN 'The resource "%s" is a URL without TLS, and clients would send tokens to it in the clear. Write the https URL that clients use.'
        WHEN 'role_cannot_log_in' THEN 'Role "%s" cannot log in, and the members of a role get nothing from its row. Write the login of a person.'
        WHEN 'shorter_than_asked' THEN 'The last credential of this key had a shorter life than the broker asked for: %s. Clients renew earlier than max_duration suggests. Set max_duration to what the provider gives, or raise its limit.'
        WHEN 'star_in_audience' THEN 'The audience "%s" is compared as it is. List each audience.'
        WHEN 'star_in_plain_claim' THEN 'The value %s is compared as it is. To match a pattern, write {"glob": …}; for a choice, write a list.'
        WHEN 'started_by_any_event' THEN 'It asks for "ref" and not for "event_name". Runs for pull_request_target and workflow_run have the ref of the default branch too, and a stranger can start them. Add "event_name": "push" to claims, or a list of events.'
        WHEN 'started_by_anybody' THEN 'A stranger can start a run with event_name "%s", and the run has the ref and the subject of the default branch. Write push or workflow_dispatch, or let the workflow run no code of a pull request.'
        WHEN 'stray_punctuation' THEN 'The %s starts or ends with %s, and values are compared exactly. Remove it.'
        WHEN 'same_as_another_row' THEN 'It does the same as "%s", and differs in nothing that matters. Use that one, or disable one of the two.'
        WHEN 'subject_fits_no_form' THEN '%s sends no such subject, unless it was configured to. It sends: %s.'
        WHEN 'subject_of_another_owner' THEN 'The identity provider requires "%s" = %s, and the subject says %s, so no token meets both. Correct the subject.'
        WHEN 'target_fits_no_form' THEN 'No target of type %s matches "%s". Targets have the form %s.'
        WHEN 'token_age_too_short' THEN 'A max_token_age of %s seconds rejects the tokens of slow clients. Use 60 or more.'
        WHEN 'undone_by_another_rule' THEN 'Access rule %s lets the same subjects request as much with fewer approvals (%s), and the rule with the fewest approvals is used. Exclude them there by claims or a narrower subject, or disable it.'
        WHEN 'unlike_its_issuer' THEN 'The %s is unlike those of %s. %s'
        WHEN 'unknown_claim' THEN '%s is not known to send the claim "%s". A condition on an absent claim never matches.'
        WHEN 'unknown_login' THEN 'Login "%s" does not exist yet. Until a DBA creates it (CREATE ROLE … LOGIN IN ROLE ${tenant_admin_role}), the row has no effect.'
        WHEN 'unlikely_settings' THEN 'The %s %s. %s'
        WHEN 'unlikely_name' THEN 'The setting "%s" has the name "%s", which is not in the vendor''s published list of 2026-11. Check its spelling.'
        WHEN 'unlikely_network' THEN 'The network %s %s.'
        WHEN 'white_space' THEN 'The %s has %s, and values are compared exactly. Remove it.'
        WHEN 'whole_organisation' THEN 'Any repository, project, pipeline or namespace matches. Name one in the subject or, better, by its id in claims.'
        END, VARIADIC string_to_array(coalesce(detail, ''), chr(10)));
$$;
COMMENT ON FUNCTION internal.lint_advice(text, text) IS 'A rule''s finding about a row, and what to do. detail: the parts of the row that the text shows, one per line.';

CREATE OR REPLACE FUNCTION internal.audiences_of_others() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{vault,sigstore,account,pypi,testpypi,rubygems.org,crates.io,octo-sts.dev,npm:registry.npmjs.org,https://gitlab.com,https://app.terraform.io,aws.workload.identity,gcp.workload.identity,azure.workload.identity,vault.workload.identity,https://kubernetes.default.svc,https://kubernetes.default.svc.cluster.local,api://default,broker,realm-management,security-admin-console,admin-cli,https://graph.microsoft.com,https://management.azure.com,https://management.core.windows.net,00000003-0000-0000-c000-000000000000}'::text[];
COMMENT ON FUNCTION internal.audiences_of_others() IS
    'Audiences of other services in tokens of common issuers: of Vault, Sigstore, Kubernetes, Okta, Keycloak''s own clients and Microsoft''s APIs.';

CREATE OR REPLACE FUNCTION internal.lint_text(value text) RETURNS TABLE (rule text, detail text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT r.rule, r.detail FROM (VALUES
        ('white_space', CASE
            WHEN value ~ '^[[:space:]]|[[:space:]]$' THEN 'a space at its start or end'
            WHEN value ~ U&'[\00A0\00AD\034F\061C\115F\1160\1680\17B4\17B5\180B-\180F\2000-\200F\2028-\202F\205F-\206F\3000\3164\FE00-\FE0F\FEFF\FFA0]'
                THEN 'an invisible character'
            WHEN value ~ '[A-Za-z]' AND value ~ U&'[\0370-\03FF\0400-\052F\FF01-\FF5E]'
                THEN 'letters of another script that look like Latin ones' END),
        ('stray_punctuation', substring(value FROM '^["''`]|["''`,;]$')),
        ('placeholder', CASE WHEN lower(value) IN ('null', 'undefined', 'todo', 'tbd', 'changeme') THEN value
            ELSE substring(value FROM '<[A-Za-z][A-Za-z0-9 _.-]*>|[$][{(][^})]*[})]|[{][{][^}]*[}][}]') END)
        ) AS r (rule, detail) WHERE r.detail IS NOT NULL;
$$;
COMMENT ON FUNCTION internal.lint_text(text) IS 'Findings in a compared value: characters that readers overlook, and copied or unfilled placeholders.';

CREATE OR REPLACE FUNCTION internal.unusual_text() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '^\s|\s$|[^]A-Za-z0-9 :/_.@*#=+|~!?()[-]|^(null|undefined|todo|tbd|changeme)$';
COMMENT ON FUNCTION internal.unusual_text() IS 'A pattern that matches each string with a finding of lint_text. Faster than lint_text.';

CREATE OR REPLACE FUNCTION internal.pattern_of(forms text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT '^(?:' || string_agg(CASE f WHEN '#' THEN '[0-9]+'
               ELSE replace(replace(regexp_replace(f, '([^A-Za-z0-9*])', '\\\1', 'g'), '**', '.+'), '*', '[^:/]*') END, '|') || ')$' FROM unnest(forms) AS f;
$$;
COMMENT ON FUNCTION internal.pattern_of(text[]) IS 'Globs, or # for digits, as one regular expression, which is a hundred times faster than single globs.';

-- "v1.*" and "dependabot[bot]" have no such sign.
CREATE OR REPLACE FUNCTION internal.sign_in(value text, is_glob boolean) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT coalesce(CASE WHEN NOT is_glob THEN substring(value FROM '[*]|%(?=[:/]|$)') END,
        substring(value FROM '(^\^|[])*+}][$]$|(?:^|(?<=[]:/@_)-]))[.][*+]|\\(?:[].*+?(){}|^$/:[-]|[dwsDWS][*+{])|\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|\\[dwsDWS])[^]]*\]|[])][+?{]|\((?:\?[:!=<]|[^()|]*\|)[^()]*\)|(?<=[^:/])\{[0-9]+(?:,[0-9]*)?\})'),
        CASE WHEN is_glob THEN substring(value FROM '([$]$|\{[^{},:/]+(?:,[^{},:/]+)+\}|[A-Za-z0-9*_-][?](?=[:/]|$)|%(?=[:/]|$)|\[(?!bot\])(?:[!^][A-Za-z0-9._-]+|[A-Za-z0-9._-]{2,})\])') END);
$$;
COMMENT ON FUNCTION internal.sign_in(text, boolean) IS 'The first sign of a pattern that has no meaning here: * and the % of LIKE outside globs, signs of shells in globs, those of regular expressions in both.';

CREATE OR REPLACE FUNCTION internal.likely_pointer(claim text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN claim ~ '^kubernetes[.]io[./][a-z]' THEN '/kubernetes.io/' || translate(substr(claim, 15), '.', '/')
        WHEN claim ~ '^[$][.][A-Za-z0-9_.-]+$' THEN translate(substr(claim, 2), '.', '/')
        -- domains, either way round, name claims too
        WHEN claim ~ '^[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)+$' AND claim !~* '^(com|org|net|io|dev|eu|de)[.]'
             AND claim !~* '[.](com|org|net|io|dev|app|cloud|local|internal|example|test|gov|edu|eu|de|uk|fr|ch|co|ai)$'
            THEN '/' || translate(claim, '.', '/')
        WHEN claim ~ '^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)+$' THEN '/' || claim END;
$$;
COMMENT ON FUNCTION internal.likely_pointer(text) IS 'The JSON pointer that a claim''s name probably means; null if it is probably a name.';
