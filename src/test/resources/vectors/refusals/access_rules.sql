-- an unknown key
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'depoly', 'ci', 'x', 3600);
--> Tenant "acme" has no key "depoly".
--? Did you mean "deploy"?
--! 23503 the_key_exists_in_the_same_tenant

-- an identity provider of another tenant
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'deploy', 'elsewhere', 'x', 3600);
--> Tenant "acme" has no identity provider "elsewhere".
--! 23503 the_identity_provider_exists_in_the_same_tenant

-- no approvals without break glass
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, approvals) VALUES ('acme', 'deploy', 'ci', 'x', 3600, 0);
--> The access rule for key "deploy": approvals is 0.
--? Write 1 to 5. 0 is for break_glass only, where access is granted at once.
--! 23514 a_rule_needs_1_to_5_approvals_or_breaks_the_glass

-- too many approvals
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, approvals) VALUES ('acme', 'deploy', 'ci', 'x', 3600, 6);
--> The access rule for key "deploy": approvals is 6.
--! 23514 a_rule_needs_1_to_5_approvals_or_breaks_the_glass

-- a glob without a literal segment
INSERT INTO broker.access_rule (tenant, key, idp, subject, match, max_access) VALUES ('acme', 'deploy', 'ci', '**', 'glob', 3600);
--> The access rule for key "deploy" has a glob that does not start with a literal segment.
--! 23514

-- access for longer than a month
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access) VALUES ('acme', 'deploy', 'ci', 'x', 2592001);
--> The access rule for key "deploy" has a max_access of 2592001 seconds.
--? Write 300 (5 minutes) to 2592000 (30 days).
--! 23514 max_access_is_300_to_2592000_seconds

-- claims in another form
INSERT INTO broker.access_rule (tenant, key, idp, subject, claims, max_access) VALUES ('acme', 'deploy', 'ci', 'x', '{"groups": {"a": 1}}', 3600);
--> The access rule for key "deploy" has claims in which …
--! 23514

-- an approver who is nobody
INSERT INTO broker.access_approver (rule) VALUES (1);
--> An approver of access rule 1 has neither a role_name nor a subject.
--? Both together say that they are one person.
--! 23514 an_approver_is_a_login_or_a_subject

-- a login and a glob
INSERT INTO broker.access_approver (rule, role_name, idp, subject, match) VALUES (1, 'alice', 'ci', 'lead:*', 'glob');
--> An approver of access rule 1 has login "alice" together with a glob.
--? A login is one person. Write the exact subject of this person, and name other people in other rows.
--! 23514 a_login_is_mapped_to_an_exact_subject_without_claims

-- an approver of no rule
INSERT INTO broker.access_approver (rule, role_name) VALUES (99, 'alice');
--> There is no access rule 99 that you may see.
--! 23503 the_rule_exists_in_the_same_tenant

-- a rule that goes before its approvers
DELETE FROM broker.access_rule WHERE id = 1;
--> Access rule 1 has 1 approver and cannot be deleted.
--? DELETE FROM broker.access_approver WHERE rule = 1; first
--! 23001

-- a decision on no request
INSERT INTO broker.access_decision (request, verdict) VALUES ('00000000-0000-4000-8000-000000000000', 'approve');
--> There is no access request 00000000-0000-4000-8000-000000000000 that you may see.
--! 23503 the_request_exists

-- a key that may be requested
DELETE FROM broker.key WHERE name = 'exchanged';
--> Key "exchanged" of tenant "acme" is referenced by 1 access rule and cannot be deleted.
--! 23001

-- a notice without a secret
UPDATE broker.tenant SET notice_url = 'https://hooks.example.com' WHERE name = 'acme';
--> Tenant "acme" has a notice_url but no notice_secret to sign notices with.
--? Write a secret to a file in the tenant's secrets directory, and {"file": "its-name"} into notice_secret.
--! 23514

-- a secret where a file belongs
UPDATE broker.tenant SET notice_url = 'https://hooks.example.com', notice_secret = '"hunter2"' WHERE name = 'acme';
--> Tenant "acme": its notice_secret must name the file with the secret; secrets are never stored in the database.
--! 23514

-- a pattern of reasons over two lines
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern) VALUES ('acme', 'deploy', 'ci', 'x', 3600, E'INC-*\nx');
--> The access rule for key "deploy" has a reason_pattern that …
--? Write a glob, for example INC-**
--! 23514 a_reason_pattern_is_one_line_of_up_to_512_characters_and_8_stars

-- a pattern of reasons with too many stars
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern) VALUES ('acme', 'deploy', 'ci', 'x', 3600, '*a*b*c*d*e*f*g*h*i');
--> The access rule for key "deploy" has a reason_pattern that has 9 stars; the maximum for a glob is 8.
--! 23514 a_reason_pattern_is_one_line_of_up_to_512_characters_and_8_stars

-- a hint for no pattern
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_hint) VALUES ('acme', 'deploy', 'ci', 'x', 3600, 'Start with the ticket');
--> The access rule for key "deploy" has a reason_hint, but no reason_pattern.
--! 23514 a_reason_hint_explains_a_pattern

-- a hint of two lines
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'ci', 'x', 3600, 'INC-**', E'Start with\nthe ticket');
--> The access rule for key "deploy" has a reason_hint that …
--? Write a sentence for the requester
--! 23514 a_reason_hint_is_one_line_of_up_to_200_characters

-- a pattern that is removed without its hint
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, reason_pattern, reason_hint) VALUES ('acme', 'deploy', 'ci', 'x', 3600, 'INC-**', 'Start with the ticket');
UPDATE broker.access_rule SET reason_pattern = NULL WHERE subject = 'x';
--> The access rule for key "deploy" has a reason_hint, but no reason_pattern.
--! 23514 a_reason_hint_explains_a_pattern

-- neither yes nor no to the end of access
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, end_access) VALUES ('acme', 'deploy', 'ci', 'x', 3600, NULL);
--> A row of broker.access_rule needs "end_access", which is missing or null.
--! 23502

-- a list of credentials to end
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, end_credentials) VALUES ('acme', 'deploy', 'ci', 'x', 3600, 'aws-sts');
--> invalid input syntax for type boolean: "aws-sts"
--! 22P02

-- no word about credentials: as break_glass says
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, end_credentials) VALUES ('acme', 'deploy', 'ci', 'x', 3600, NULL);
--> nothing

-- more people than there can be
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, people) VALUES ('acme', 'deploy', 'ci', 'x', 3600, 26);
--> The access rule for key "deploy": people is 26; it must be 0 to 25.
--! 23514 people_are_0_to_25

-- consent of two
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent, approvals) VALUES ('acme', 'deploy', 'ci', 'x', 3600, true, 2);
--> The access rule for key "deploy" has consent, which cannot be combined with approvals = 2.
--? With consent, one approval by the subject decides
--! 23514 a_rule_of_consent_needs_the_subject_alone

-- consent that breaks the glass
INSERT INTO broker.access_rule (tenant, key, idp, subject, max_access, consent, break_glass) VALUES ('acme', 'deploy', 'ci', 'x', 3600, true, true);
--> The access rule for key "deploy" has consent, which cannot be combined with break_glass.
--! 23514 a_rule_of_consent_needs_the_subject_alone

-- consent where others approve
UPDATE broker.access_rule SET consent = true WHERE id = 1;
--> The access rule for key "exchanged" has approvers, but with consent the subject alone decides.
--? DELETE FROM broker.access_approver WHERE rule = 1; first
--! 23514 a_rule_of_consent_has_no_approvers

-- a sixth step
INSERT INTO broker.access_approver (rule, role_name, step) VALUES (1, 'alice', 6);
--> An approver of access rule 1: step is 6.
--! 23514 a_step_is_1_to_5

-- a person with a longest access
INSERT INTO broker.access_approver (rule, role_name, max_access) VALUES (1, 'alice', 900);
--> An approver of access rule 1 has a max_access, but is not a program.
--? Set program to true too, or omit max_access
--! 23514 only_a_program_has_a_max_access

-- a program for access that is shorter than any
INSERT INTO broker.access_approver (rule, role_name, program, max_access) VALUES (1, 'alice', true, 299);
--> An approver of access rule 1 has a max_access of 299 seconds.
--? Write 300 (5 minutes) to 2592000 (30 days), or null.
--! 23514 max_access_is_300_to_2592000_seconds

-- a withdrawal of no access
INSERT INTO broker.access_decision (request, verdict) VALUES ('00000000-0000-4000-8000-000000000000', 'withdraw');
--> There is no access request 00000000-0000-4000-8000-000000000000 that you may see.
--! 23503 the_request_exists
