-- The texts of lint's findings, and its checks of single texts. The rules are in R__12_lint.

CREATE OR REPLACE FUNCTION internal.lint_advice(rule text, detail text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format(CASE rule
        WHEN 'access_for_everybody' THEN 'The row gives access to %s. Use a claim and a value that only the right people have.'
        WHEN 'access_without_consent' THEN 'By access rule %s, an actor needs the consent of its subject for this key, but grant %s allows the key to actor "%s" without it. Delete the grant, or disable the rule.'
        WHEN 'access_without_request' THEN 'Access rule %s lets the same subject request this key, but grant %s allows it at any time without a request. Delete the grant, give it a valid_until, or disable the rule.'
        WHEN 'address_without_at' THEN 'The value %s of "%s" has no @, so it is no address, and never matches. Write the whole address.'
        WHEN 'not_an_address' THEN 'The %s %s %s, so it is no email address and never matches. %s'
        WHEN 'algorithm_not_sent' THEN '%s signs with %s, but the column algorithms does not list it, so every token is rejected. Add it to algorithms.'
        WHEN 'any_account' THEN 'With shared_identity, only allowed_targets separates tenants, and "%s" allows the roles of every account, also those of other tenants. Write the number of the account.'
        WHEN 'allows_no_key' THEN 'Each key of type %s has a target of the form %s, and allowed_targets has none, so no key fits. Add one.'
        WHEN 'any_target' THEN 'allowed_targets is **, so a tenant admin can write a key for any user, role or name that type %s can give. List the targets that this tenant may have.'
        WHEN 'audience_of_another_service' THEN 'The audience "%s" belongs to another service, so tokens for that service would be accepted here too. Have clients request an audience of this broker, for example one with the name of the tenant.'
        WHEN 'audience_of_an_identity_provider' THEN 'Identity provider "%s" accepts the audience "%s", so a client could present a credential of this key to mint further credentials. Write the audience of the service that the credential is for.'
        WHEN 'authority_expires_first' THEN 'The certificate of access provider "%s" expires at %s, earlier than credentials of this key would. Renew the certificate, or lower the key''s max_duration.'
        WHEN 'access_never_long_enough' THEN 'max_access is too short for any credential of key "%s", so requests by the rule are refused. Set max_access to %s seconds or more.'
        WHEN 'actor_is_its_subject' THEN 'The actor "%s" is also the subject. Leave the actor out, or name another actor.'
        WHEN 'approver_is_a_job' THEN 'Tokens of %s identify jobs or workloads, not people, but the approver counts as a person. Set program to true, or name an identity provider of people.'
        WHEN 'everyone_approves' THEN 'Everyone who may request access by access rule %s may also approve the requests of others, because the approver has no claims. Require, for example, the approvers'' group in claims.'
        WHEN 'break_glass_for_everybody' THEN 'Everyone whose subject matches "%s" can give themselves access by break glass. To allow this only to the people on call, require their group in claims.'
        WHEN 'long_break_glass' THEN 'A break glass gives up to %s hours of access without an approval. Set max_access to the length of an emergency, at most 86400 (a day).'
        WHEN 'approvals_ignored' THEN 'break_glass gives access at once and ignores the %s approvals. Set approvals to 0, or break_glass to false.'
        WHEN 'approver_is_the_requester' THEN 'The rule is for "%s" alone, but nobody can approve their own request. Name another approver.'
        WHEN 'approver_beside_subject' THEN 'accepts contains both subject and approver, but subjects may decide anyway, so approver has no effect. If these tokens must only decide and never mint, such as those of the console''s login, set accepts to {approver}.'
        WHEN 'approver_not_accepted' THEN 'Identity provider "%s" accepts neither subjects nor approvers, so nobody can decide with its tokens. Add approver to broker.identity_provider.accepts, or name another identity provider.'
        WHEN 'audience_nearly_another' THEN 'The audience "%s" is almost the same as "%s" of identity provider "%s". If clients request the same audience, write it the same way.'
        WHEN 'audience_not_sent' THEN '%1$s sends only the audience "%2$s", which audiences lacks, so every token is rejected. Write {%2$s}.'
        WHEN 'awaits_approval' THEN 'The row was written or changed by %s and has no effect until another admin approves it: %s'
        WHEN 'block_awaits_approval' THEN 'The block stays as it is until another admin approves the change by %s: %s'
        WHEN 'block_leaves_other_forms' THEN 'The block does not match other subjects of the same repository or project, such as "%s". If they must be blocked too, write "%s" with match glob.'
        WHEN 'block_of_everybody' THEN 'Every token of identity provider "%s" matches the block, so all of its subjects are blocked. If only some are meant, name a repository, a project or an account.'
        WHEN 'certificate_of_a_public_issuer' THEN 'The broker trusts only ca_certificate, but the server of %s has a certificate of a public authority, so no keys can be fetched. Set ca_certificate to null, unless a proxy of yours replaces the certificates of servers.'
        WHEN 'consent_of_a_job' THEN 'Tokens of %s identify jobs or workloads, not people, so nobody reads the request before the subject consents. Name an identity provider of people, or set consent to false and write approvers.'
        WHEN 'consent_replaces_approvers' THEN 'Access rule %s lets an actor get the same access with the consent of the subject alone, without the approvers of this rule. If approvers must decide for actors too, disable that rule.'
        WHEN 'nearly_another_value' THEN 'The %s "%s" is almost the same as "%s" in other rows of the tenant. If the same is meant, write it the same way.'
        WHEN 'nearly_another_name' THEN 'The name "%s" is almost the same as "%s", so people take one for the other. If the other row was meant, delete this one and use that; otherwise choose a name that differs more.'
        WHEN 'no_second_admin' THEN 'The tenant requires a second admin, and its only admin is "%s", so only platform admins can approve what that login writes. Insert another row into broker.tenant_admin.'
        WHEN 'one_time_tokens_are_sent_again' THEN 'A Kubernetes pod uses the same token until the kubelet renews it, so with one_time_tokens the pod can mint only once in that time. Set one_time_tokens to false, unless clients request a token for each call.'
        WHEN 'parts_in_another_order' THEN '"%s" has the same parts as "%s" in other rows, in another order. Compare both with the sub claim of the tokens.'
        WHEN 'subject_is_an_audience' THEN 'The subject "%s" is an audience of identity provider "%s": the application that its tokens are for, not whom they identify. Write the sub claim of the tokens.'
        WHEN 'subject_is_blocked' THEN 'Block %s stops this subject, so the row has no effect. Correct the subject, or lift the block.'
        WHEN 'target_of_another_tenant' THEN 'Access provider "%s" of tenant "%s" has "%s" too, so both tenants reach the same place. If the row was copied, write what belongs to this tenant.'
        WHEN 'too_few_approvers' THEN 'The rule needs more approvals (%s) than it has approvers (%s), so its requests are refused. Add approvers, or lower approvals.'
        WHEN 'actor_matches_every_agent' THEN 'Any agent of identity provider "%s" may act for the subject. If some of them must not, name the agent, or match only agents of one team.'
        WHEN 'block_leaves_others' THEN '"%s" of identity provider "%s" is not blocked (%s). If it must be blocked too: %s'
        WHEN 'block_matches_nothing' THEN 'The block matched no subject of a grant, and none in audit.event in the 90 days before the block was written. This is normal if the subject never had access. Otherwise compare the block''s subject with the sub claim of the tokens.'
        WHEN 'block_of_part_of_a_subject' THEN 'The issuer''s subjects are longer than "%s", so the block probably stops nothing. To block all subjects that begin with it, set match to glob and subject to "%s".'
        WHEN 'certificate_expired' THEN 'ca_certificate %s. Write the certificate of the authority that signs the server''s certificate now.'
        WHEN 'claim_fits_no_form' THEN '%s sends "%s" as %s, so the condition %s never matches. Correct the condition.'
        WHEN 'claim_of_other_type' THEN 'The issuer sends %s, so this condition never matches. Write the value with that type.'
        WHEN 'claims_of_several_issuers' THEN 'No known issuer sends all of these claims, so no token has them: %s. Write one block for the claims of each issuer.'
        WHEN 'claim_of_several_owners' THEN 'owner_claims has "%s", which tokens of several customers of an issuer usually have in common. An identity provider that requires only this claim would accept tokens of strangers. List claims whose values one owner alone has, for example the id of an organization.'
        WHEN 'claim_of_the_users_choice' THEN 'Users can often set the claim "%s" themselves, and could grant themselves access that way. Prefer sub, or groups that only admins assign.'
        WHEN 'clock_skew_exceeds_age' THEN 'clock_skew is %s seconds and is added to max_token_age, so tokens are accepted at more than twice that age. Set a shorter clock_skew.'
        WHEN 'clock_skew_too_long' THEN 'clock_skew is in seconds, and tokens are accepted for %s minutes after they expire. Write a few seconds, or 0.'
        WHEN 'contradicts_identity_provider' THEN 'Every token of the identity provider has "%s" = %s, so the condition never matches. Write that value, or leave the condition out.'
        WHEN 'contradicts_its_subject' THEN 'In the subject, "%s" is %s, so the condition never matches. Write that value in the condition, or leave the condition out.'
        WHEN 'contradicts_another_claim' THEN 'The condition on "%1$s" requires "%2$s" = %3$s, but another condition, the subject or the identity provider excludes this value, so no token matches the row. Correct one of them.'
        WHEN 'id_of_the_owner' THEN 'The condition on "%s" has the value %s, which is the "%s" of the owner. An owner and a repository or project never have the same id, so the condition never matches. Write the id of the repository or project.'
        WHEN 'contradicts_its_issuer' THEN 'Each token of this issuer has "%s" = %s, so required_claims rejects all of them. Write that value, or correct the issuer.'
        WHEN 'credentials_outlive_access' THEN 'The rule ends credentials with their access, but the broker cannot end those of key "%s", of type %s: they work for up to %s seconds longer. Lower the key''s max_duration.'
        WHEN 'covered_by_another_rule' THEN 'Access rule %s already lets these subjects request at least this access with the same number of approvals, so this rule has no effect. Disable one of the two.'
        WHEN 'covered_by_another_grant' THEN 'Grant %s already allows all that this grant does, so the narrower conditions of this grant have no effect. Disable one of the two.'
        WHEN 'duration_too_short' THEN 'max_duration is in seconds: a credential of %s second' || CASE detail WHEN '1' THEN '' ELSE 's' END || ' expires before most clients can use it. Set 60 or more.'
        WHEN 'ended_already' THEN 'The row ended before it was written, so it has no effect. Set a later end, or null for no end.'
        WHEN 'far_away' THEN 'The grant has no effect before %s. Check the year of valid_from; for a grant from now on, write null.'
        WHEN 'glob_matches_less_than_it_seems' THEN 'The glob matches only %s. Correct it: * matches within one segment (no : and no /), ** across segments, and every other character only itself.'
        WHEN 'glob_matches_more_than_it_seems' THEN 'The glob also matches longer names, such as "%s-2". To match only this name, insert before ** the : or / that follows the name in subjects.'
        WHEN 'glob_sign_in_exact_subject' THEN 'With %1$s exact, "%2$s" in %3$s is literal. Set %1$s to glob, where * matches within one segment and ** across segments.'
        WHEN 'github_subject_by_name' THEN 'The subject has no ids, so it does not match repositories that were created, renamed or moved since 2026-07-15: their subjects have ids, such as repo:acme@1234567/shop@7654321:…. To match both: %s'
        WHEN 'incomplete_policy' THEN 'The policy has no valid %s. AWS rejects statements without Effect, Action and Resource, and reads a policy without Version as one of version 2008-10-17. Set Version to 2012-10-17, and Effect to Allow or Deny.'
        WHEN 'endpoint_is_discovery' THEN 'The setting "%s" is the URL of a discovery document. Set it to the token_endpoint from that document.'
        WHEN 'issuer_inside_cluster' THEN '"%s" is a name inside a cluster, so only a broker in that cluster can fetch keys from it. If the broker runs elsewhere, write the key set into jwks: kubectl get --raw /openid/v1/jwks.'
        WHEN 'issuer_is_discovery' THEN 'The issuer is the URL of a discovery document. Set it to the "issuer" from that document, which is the iss claim of the tokens.'
        WHEN 'issuer_is_endpoint' THEN 'The issuer ends in "%s", the path of an endpoint. Write the iss claim of the tokens, such as "https://sso.example.com/realms/acme".'
        WHEN 'issuer_is_the_broker' THEN '"%s" is the issuer of this broker, which never accepts its own tokens, so this identity provider cannot work. Delete the identity provider.'
        WHEN 'issuer_sends_no_tokens' THEN 'No token has the issuer "%s". Set it to the iss claim of that service''s tokens: %s'
        WHEN 'issuer_nearly_known' THEN 'The issuer is almost the same as "%s", a known issuer or that of another identity provider. Compare this row''s issuer with the iss claim of the tokens.'
        WHEN 'jwks_uri_is_discovery' THEN 'The jwks_uri is the issuer, or the URL of a discovery document or of another endpoint. Set it to the jwks_uri from the discovery document, or to null: the broker then finds it.'
        WHEN 'jwks_uri_of_another_issuer' THEN 'The jwks_uri is that of %s, so the signature of every token is rejected. Set jwks_uri to %s instead.'
        WHEN 'jwks_uri_of_another_host' THEN 'This issuer publishes its keys on its own host, but the jwks_uri is on "%s", which may be a name inside the cluster. Set jwks_uri to null: the broker then finds the keys by the issuer.'
        WHEN 'login_of_actors' THEN 'People log in with login_client_id "%s", but tokens of this identity provider identify actors only, so nobody can mint, request or decide after the login. Set login_client_id to null, or add subject or approver to accepts.'
        WHEN 'login_of_jobs' THEN 'Tokens of %s identify jobs or workloads, and nobody can log in there. Set login_client_id to null.'
        WHEN 'token_age_too_long' THEN 'max_token_age is in seconds, and %s seconds are %s days, longer than most tokens are valid. Write the age in seconds, for example 600, or null to check only exp.'
        WHEN 'token_type_of_another_use' THEN 'Tokens of the type "%s" end sessions, carry events or prove that a client has a key. They do not identify a subject, and a service that receives one could mint with it. Remove the type from token_types.'
        WHEN 'few_requests' THEN 'max_requests is %s a minute, and a client needs more than one request for a credential, so clients soon get 429. Write 60 or more, or null for no limit.'
        WHEN 'below_what_it_has' THEN 'The tenant has %2$s %3$ss and %1$s is %4$s, so nothing can be added, and a row that is removed cannot be replaced. Write %2$s or more, unless that is meant.'
        WHEN 'notices_to_the_broker' THEN 'notice_url has the host "%s", which for the broker is the broker''s own machine. Write the URL of the receiver. Ignore this warning if it runs there.'
        WHEN 'disabled_reference' THEN 'The %s "%s" is disabled, so the row has no effect until somebody enables it.'
        WHEN 'nearly_the_same_row' THEN 'The row differs from "%s" only in how its settings are spelled: the case of a host, a default port, a slash at the end or the order of a list. Disable one of the two.'
        WHEN 'jwks_uri_of_another_place' THEN 'The jwks_uri has "%s", but the issuer has "%s", so the keys belong to another issuer, and every token is rejected. Make both the same.'
        WHEN 'list_in_one_value' THEN '"%s" is one value with a comma or semicolon, and is compared as a whole. Write each value as an element of the list.'
        WHEN 'login_without_subject' THEN 'Login "%s" decides requests, but no row says which subject is the same person. That person could request access with a token and approve the request with the login. Insert a row with role_name, idp and subject, and delete this one.'
        WHEN 'login_cannot_decide' THEN 'The approver''s %s, so the approver cannot decide. Write the login of an admin of the tenant as PostgreSQL spells it.'
        WHEN 'longer_than_any_type' THEN 'max_duration is in seconds, and %s seconds are %s days, longer than credentials of the tenant''s types are valid (%s seconds at most), so it limits nothing. Write the seconds, for example 3600 for an hour, or null for no limit.'
        WHEN 'longer_than_its_key' THEN 'Key "%s" issues credentials for at most %s seconds, and the shorter duration applies. Raise the key''s max_duration, or set the grant''s max_duration to null.'
        WHEN 'longer_than_its_grants' THEN 'The key allows %s seconds, but its grants allow %s at most. Lower the key''s max_duration, or raise the max_duration of a grant.'
        WHEN 'longer_than_its_tenant' THEN 'Tenant "%s" allows credentials of %s seconds at most, and the shorter duration applies. Lower max_duration, or have a platform admin raise the max_duration of the tenant.'
        WHEN 'tenant_allows_too_little' THEN 'Tenant "%s" allows credentials of %s seconds at most, but those of type %s are valid for at least %s seconds, so nothing can be minted. A platform admin must raise the max_duration of the tenant.'
        WHEN 'max_access_has_no_effect' THEN 'Access rule %s allows %s seconds of access at most, so the max_access of the program has no effect. Lower the max_access of the program, or set it to null.'
        WHEN 'program_never_decides' THEN 'The max_access of the program is too short for any credential of key "%s", so the program can never decide. Set its max_access to %s seconds or more, or to null.'
        WHEN 'never_long_enough' THEN 'The time from valid_from to valid_until is shorter than the shortest credential (%s seconds), so nothing can be minted. Set a later valid_until.'
        WHEN 'no_member_of_its_role' THEN 'Login "%s" is not a member of %s. Until a DBA adds it with GRANT, the row has no effect.'
        WHEN 'no_reason' THEN 'The grant has no reason, and auditors ask for one. Write a reason, for example a ticket.'
        WHEN 'reason_pattern_fits_nothing' THEN 'No valid reason matches "%s", so every request by the rule is refused. Correct the pattern: a reason has at least 10 characters and no double spaces; * stops at : and /, ** does not.'
        WHEN 'reason_hint_is_refused' THEN 'The reason_pattern "%s" does not match "%s", the example in reason_hint, so a requester who follows the hint is refused. Correct the pattern or the example: * stops at : and /, ** does not, and every other character is literal.'
        WHEN 'nobody_can_approve' THEN '%s Requests for access are therefore refused. Correct the rule''s approvers, or lower approvals or people.'
        WHEN 'one_time_without_id' THEN '%s sends tokens without jti, so one_time_tokens rejects all of them. Set one_time_tokens to false.'
        WHEN 'one_authority_twice' THEN 'Access provider "%s" signs with the same ca_key, so servers that trust one provider''s certificates also trust the other''s. Give each access provider a CA of its own.'
        WHEN 'one_role_as_owner_and_member' THEN 'Key "%s" gives the same role with another value of its setting "as" (owner or member). A member can run ALTER DEFAULT PRIVILEGES for the role, which applies to every object that owners create later. Use two roles.'
        WHEN 'parties_swapped' THEN 'Identity provider "%s" accepts actors but no subjects, and "%s" accepts subjects but no actors, so the two seem to be swapped, and no token matches the row. Swap idp and subject with actor_idp and actor.'
        WHEN 'party_not_accepted' THEN 'Identity provider "%1$s" does not accept %2$ss, so no token matches the row. Add %2$s to broker.identity_provider.accepts, or name another identity provider.'
        WHEN 'any_target_beside_others' THEN 'allowed_targets has ** beside other targets, so keys may name any target, and the others have no effect. Remove **.'
        WHEN 'claim_of_one_token' THEN 'The claim "%s" differs from token to token, so the condition matches one token or none. Leave it out; the times of a token are always checked. To limit a grant in time, use valid_until.'
        WHEN 'claim_of_one_run' THEN 'The claim "%s" differs from run to run, so the condition matches the jobs of one run only. Leave it out, or name the branch, the environment or the workflow.'
        WHEN 'empty_value' THEN 'The condition on "%s" is an empty string. A token that lacks the claim never meets it: a condition cannot require that a claim is absent. Write a value, or leave the condition out.'
        WHEN 'domain_without_at' THEN 'The glob "%s" also matches addresses in other domains that end in the same letters. Write an @ between * and the domain.'
        WHEN 'ends_at_once' THEN 'The row ends within a minute of being written. An interval without a unit is in seconds: write, for example, now() + interval ''7 days''.'
        WHEN 'ends_far_away' THEN 'The row ends in the year %s. Check the year; for no end, write null.'
        WHEN 'file_looks_like_a_secret' THEN 'The file "%s…" in settings has a name that looks like a secret. If it is one, it is now in the change history: replace the secret at its service, write the new one to a file, and name that file.'
        WHEN 'list_in_a_string' THEN '%s is one string, and is compared as a whole. Write each value as an element of a JSON list.'
        WHEN 'no_negation' THEN '%s is compared as it is written: a condition cannot say what a claim must not be. Write the values that are allowed.'
        WHEN 'output_is_missing' THEN 'The outputs lack the field %s, and without it the credential does not work. Add an output for it.'
        WHEN 'output_of_another_field' THEN 'The output "%1$s" has the field %2$s, but tools expect %3$s in that variable. Give the output the field %3$s, or choose another name for it.'
        WHEN 'shorter_than_its_types' THEN 'max_duration is %s seconds, but credentials of type %s (access provider "%s") are valid for at least %s seconds, so keys of that type cannot be minted. Set a longer max_duration.'
        WHEN 'placeholder' THEN 'The %s has "%s", a placeholder that was not filled in. Write the real value.'
        WHEN 'pointer_without_slash' THEN '"%s" names a top-level claim. To name a claim inside another one, write a JSON pointer, which starts with /: "%s".'
        WHEN 'resource_by_http' THEN 'The resource "%s" is a URL without TLS, and clients would send tokens to it in the clear. Write the https URL that clients use.'
        WHEN 'reviews_too_rare' THEN 'review_days is in days, and %s days are %s years, so grants that nobody needs stay for years. Write, for example, 90.'
        WHEN 'role_cannot_log_in' THEN 'Role "%s" cannot log in, and this row gives the members of the role no rights. Write the login of a person.'
        WHEN 'shorter_than_asked' THEN 'The last credential of this key was valid for a shorter time than the broker asked for: %s. Clients renew earlier than max_duration suggests. Set max_duration to what the provider gives, or raise the provider''s limit.'
        WHEN 'setting_nearly_known' THEN 'The setting "%s" has "%s", which is almost the same as the known "%s". Check its spelling.'
        WHEN 'star_in_audience' THEN 'The * in audience "%s" has no special meaning. List each audience.'
        WHEN 'star_in_plain_claim' THEN 'The value %s is compared as plain text, not as a pattern. To match a pattern, write {"glob": …}; for a choice, write a list.'
        WHEN 'started_by_any_event' THEN 'The grant is for the default branch, without a condition on "event_name". Runs for pull_request_target and workflow_run have the ref and the subject of the default branch too, and a stranger can start them. Add "event_name": "push" to claims, or a list of events.'
        WHEN 'started_by_anybody' THEN 'A stranger can start a run with event_name "%s", and the run has the ref and the subject of the default branch. Write push or workflow_dispatch, or change the workflow so that it does not run code from pull requests.'
        WHEN 'stray_punctuation' THEN 'The %s has a stray %s at its start or end, and values are compared exactly. Correct it.'
        WHEN 'same_as_another_row' THEN 'The row has the same effect as "%s". Disable one of the two.'
        WHEN 'subject_fits_no_form' THEN 'By default, the subjects of %s have only these forms: %s. Correct the subject, unless the issuer is configured differently.'
        WHEN 'subject_without_this_claim' THEN 'By default, tokens of %s with this subject do not have the claim "%s", so the condition never matches. %s'
        WHEN 'subject_of_another_owner' THEN 'Every token of the identity provider has "%s" = %s, but the subject names %s, so no token meets both. Correct the subject.'
        WHEN 'target_fits_no_form' THEN 'No target of type %s can match "%s" in allowed_targets. Write targets of the form %s.'
        WHEN 'token_age_too_short' THEN 'A max_token_age of %s seconds rejects the tokens of slow clients. Use 60 or more.'
        WHEN 'undone_by_another_rule' THEN 'Access rule %s lets the same subjects request as much with fewer approvals (%s), and the broker uses the rule with the fewest approvals. Exclude these subjects from that rule by claims or a narrower subject, or disable that rule.'
        WHEN 'unlike_its_issuer' THEN 'The %s does not have the form that %s uses. %s'
        WHEN 'unknown_claim' THEN '%s is not known to send the claim "%s". Check its name, because a condition on an absent claim never matches.'
        WHEN 'unknown_login' THEN 'Login "%s" does not exist yet. Until a DBA creates it (CREATE ROLE … LOGIN IN ROLE ${tenant_admin_role}), the row has no effect.'
        WHEN 'unlikely_settings' THEN 'The %s %s. %s'
        WHEN 'unlikely_name' THEN 'The setting "%s" has the name "%s", which is not in the vendor''s published list of 2026-11. Check its spelling.'
        WHEN 'unlikely_network' THEN 'The network %s %s.'
        WHEN 'unlike_other_subjects' THEN 'The other subjects of identity provider "%s" in this tenant are UUIDs, but "%s" looks like a name. If its tokens have a UUID as sub, the row never matches. Compare the subject with the sub claim of the tokens.'
        WHEN 'white_space' THEN 'The %s has %s, and values are compared exactly. Correct it.'
        WHEN 'whole_organisation' THEN 'The row matches every repository, project, pipeline or namespace of the owner. Name one in the subject or, better, by its id in claims.'
        -- a part that is missing must not make a statement fail that only should warn
        END, VARIADIC string_to_array(coalesce(detail, ''), chr(10)) || '{…,…,…,…}'::text[]);
$$;
COMMENT ON FUNCTION internal.lint_advice(text, text) IS 'A rule''s finding about a row, and what to do. detail: the parts of the row that the text shows, one per line.';

CREATE OR REPLACE FUNCTION internal.is_far_end(ends timestamptz, written timestamptz) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    RETURN ends > written + interval '100 years'
        OR ends > written + interval '5 years'
           AND regexp_replace(to_char(ends, 'FMYYYY'), '(.)(.)$', '\2\1') IN (to_char(written, 'FMYYYY'), to_char(written + interval '1 year', 'FMYYYY'));
COMMENT ON FUNCTION internal.is_far_end(timestamptz, timestamptz) IS
    'Whether a time is more than a hundred years after a row was written, or in a year that is this or the next one with its last two digits exchanged.';

CREATE OR REPLACE FUNCTION internal.audiences_of_others() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{vault,sigstore,account,pypi,testpypi,rubygems.org,crates.io,octo-sts.dev,npm:registry.npmjs.org,https://gitlab.com,https://app.terraform.io,aws.workload.identity,gcp.workload.identity,azure.workload.identity,vault.workload.identity,https://kubernetes.default.svc,https://kubernetes.default.svc.cluster.local,api://default,broker,realm-management,security-admin-console,admin-cli,https://graph.microsoft.com,https://management.azure.com,https://management.core.windows.net,00000003-0000-0000-c000-000000000000}'::text[];
COMMENT ON FUNCTION internal.audiences_of_others() IS
    'Audiences of other services in tokens of common issuers: of Vault, Sigstore, Kubernetes, Okta, Keycloak''s own clients and Microsoft''s APIs.';

CREATE OR REPLACE FUNCTION internal.only_audience(issuer text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE issuer WHEN 'Azure DevOps' THEN 'api://AzureADTokenExchange' END;
COMMENT ON FUNCTION internal.only_audience(text) IS 'The audience of all tokens of a known issuer; null if clients choose the audience.';

CREATE OR REPLACE FUNCTION internal.token_types_of_other_uses() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{logout+jwt,secevent+jwt,dpop+jwt,kb+jwt,oauth-authz-req+jwt,client-authentication+jwt,token-introspection+jwt,entity-statement+jwt,trust-mark+jwt,refresh+jwt,rt+jwt,idpop+jwt,statuslist+jwt,openid-federation+jwt,wallet-attestation+jwt,oauth-client-attestation+jwt,oauth-client-attestation-pop+jwt}'::text[];
COMMENT ON FUNCTION internal.token_types_of_other_uses() IS
    'Types of tokens that do not say who sends them: of logouts, events, proofs of possession, requests, responses and refresh tokens.';

CREATE OR REPLACE FUNCTION internal.claims_of_one_run() RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '{run_id,run_number,check_run_id,job_id,pipeline_id,build_id,build_number,terraform_run_id,terraform_plan_id,pipelineUuid,pipelineRunUuid,stepUuid,oidc.circleci.com/job-id,oidc.circleci.com/pipeline-id,oidc.circleci.com/workflow-id,runId,workflow_id}'::text[];
COMMENT ON FUNCTION internal.claims_of_one_run() IS
    'Claims in which issuers put the id of a run, a build or a job. An issuer for which one of them names a project has it in project_claims.';

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

CREATE OR REPLACE FUNCTION internal.address_fault(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN value !~ '@' OR value ~ '[,;]' THEN NULL
                WHEN value ~ '<.*@.*>' THEN 'has < and > around the address'
                WHEN value ~* '^ *mailto:' THEN 'begins with mailto:'
                WHEN value ~ '^@' THEN 'has nothing before the @'
                WHEN value ~ '@$' THEN 'has nothing after the @'
                WHEN value ~ '^[^"].*@.*@' THEN 'has more than one @'
                WHEN value ~ '[.]$' THEN 'ends in a dot'
                WHEN value ~ '@[.]|@.*[.][.]' THEN 'has a dot too many'
                WHEN value ~ '^[^"]*[^" ] +[^ ]' THEN 'has a space in it' END;
$$;
COMMENT ON FUNCTION internal.address_fault(text) IS 'Why a text with an @, or a glob, is no email address, as the middle of a sentence. Null: it may be one, or a list of several.';

CREATE OR REPLACE FUNCTION internal.unusual_text() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN '^\s|\s$|[^]A-Za-z0-9 :/_.@*#=+|~!?()[-]|^(null|undefined|todo|tbd|changeme)$';
COMMENT ON FUNCTION internal.unusual_text() IS 'A pattern that matches each string with a finding of lint_text. Faster than lint_text.';

CREATE OR REPLACE FUNCTION internal.pattern_of(forms text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT '^(?:' || string_agg(CASE f WHEN '#' THEN '[0-9]+' WHEN '*-*-*-*-*' THEN '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}'
               ELSE replace(replace(regexp_replace(f, '([^A-Za-z0-9*])', '\\\1', 'g'), '**', '.+'), '*', '[^:/]*') END, '|') || ')$' FROM unnest(forms) AS f;
$$;
COMMENT ON FUNCTION internal.pattern_of(text[]) IS 'Globs, # for digits, or *-*-*-*-* for a UUID, as one regular expression, which is a hundred times faster than single globs.';

-- "v1.*" and "dependabot[bot]" have no such sign.
CREATE OR REPLACE FUNCTION internal.sign_in(value text, is_glob boolean) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT coalesce(CASE WHEN NOT is_glob THEN substring(value FROM '[*]|%(?=[:/]|$)') END,
        substring(value FROM '(^\^|[])*+}][$]$|(?:^|(?<=[]:/@_)-]))[.][*+]|\\(?:[].*+?(){}|^$/:[-]|[dwsDWS][*+{])|\[\^?(?:[A-Za-z0-9]-[A-Za-z0-9]|\\[dwsDWS])[^]]*\]|[])][+?{]|\((?:\?[:!=<]|[^()|]*\|)[^()]*\)|(?<=[^:/])\{[0-9]+(?:,[0-9]*)?\})'),
        CASE WHEN is_glob THEN substring(value FROM '([$]$|\{[^{},:/]+(?:,[^{},:/]+)+\}|[A-Za-z0-9*_-][?](?=[:/]|$)|%(?=[:/]|$)|\[(?!bot\])(?:[!^][A-Za-z0-9._-]+|[A-Za-z0-9._-]{2,})\])') END);
$$;
COMMENT ON FUNCTION internal.sign_in(text, boolean) IS 'The first pattern character that has no meaning here: * and the % of LIKE outside globs, shell patterns in globs, regular expressions in both.';

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

CREATE OR REPLACE FUNCTION internal.place_of_finding(rule text) RETURNS int
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN rule = 'awaits_approval' THEN 1
                WHEN rule IN ('github_subject_by_name', 'started_by_any_event', 'claim_of_one_run', 'disabled_reference', 'nearly_another_value', 'longer_than_its_tenant') THEN 3
                ELSE 2 END;
$$;
COMMENT ON FUNCTION internal.place_of_finding(text) IS
    'The place of a rule among the warnings of a statement: first what has no effect, last what many rows have or what is about another row.';
