-- a key of another tenant
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('other', 'elsewhere', 'x', 'deploy');
--> insert or update on table "subject_grant" violates foreign key constraint "the_key_exists_in_the_same_tenant"
--?

-- an identity provider of another tenant
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'elsewhere', 'x', 'deploy');
--> insert or update on table "subject_grant" violates foreign key constraint "the_identity_provider_exists_in_the_same_tenant"
--?

-- a glob that matches everybody
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', '**', 'glob', 'deploy');
--> The grant of key "deploy" to "**" is a glob that does not start with a literal segment.
--? for example "repo:acme/app:*"

-- a glob whose first segment is open
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', 'rep*:acme/app', 'glob', 'deploy');
--> The grant of key "deploy" to "rep*:acme/app" is a glob that does not start with a literal segment.
--?

-- another way to match
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key) VALUES ('acme', 'ci', 'x', 'regex', 'deploy');
--> The grant of key "deploy" to "x" has match "regex", and there are exact and glob.
--?

-- an empty subject
INSERT INTO broker.subject_grant (tenant, idp, subject, key) VALUES ('acme', 'ci', '', 'deploy');
--> new row for relation "subject_grant" violates check constraint "a_subject_is_one_line_of_up_to_1024_characters"
--?

-- a window that ends before it starts
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from, valid_until) VALUES ('acme', 'ci', 'x', 'deploy', '2030-01-02Z', '2030-01-01Z');
--> The grant of key "deploy" to "x" ends (valid_until 2030-01-01 00:00:00+00) before it starts (valid_from 2030-01-02 00:00:00+00).
--? Let valid_until be later; null is without end.

-- a window to infinity
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_until) VALUES ('acme', 'ci', 'x', 'deploy', 'infinity');
--> The grant of key "deploy" to "x" has a window to infinity.
--? A grant without an end has null in valid_until.

-- a window that no credential fits into
INSERT INTO broker.subject_grant (tenant, idp, subject, key, valid_from, valid_until) VALUES ('acme', 'ci', 'x', 'deploy', '2030-01-01 00:00Z', '2030-01-01 00:10Z');
--> The grant of key "deploy" to "x" is valid for less than the 900 seconds that a credential of type aws-sts lives at least.
--? Let valid_until be later.

-- shorter than the type allows
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration) VALUES ('acme', 'ci', 'x', 'deploy', 600);
--> The grant of key "deploy" to "x" has a max_duration of 600 seconds, and type aws-sts gives credentials for 900 to 43200 seconds.
--? Write 900 or more, or null to leave it to the key.

-- no time at all
INSERT INTO broker.subject_grant (tenant, idp, subject, key, max_duration) VALUES ('acme', 'ci', 'x', 'api', 0);
--> The grant of key "api" to "x" has a max_duration of 0 seconds.
--? Write a positive number

-- claims that are a list
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '["ref"]');
--> The grant of key "api" to "x": in its claims, they are an object, {"claim": value}, not a list.
--? For example {"environment": "production"

-- a condition that is an object
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"ref": {"globb": "refs/*"}}');
--> The grant of key "api" to "x": in its claims, the condition on "ref" is an object, which can only be {"glob": "…"}.
--?

-- a condition with something beside its glob
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"ref": {"glob": "refs/*", "or": "x"}}');
--> The grant of key "api" to "x": in its claims, the condition on "ref" is an object, which can only be {"glob": "…"}.
--?

-- a glob that is a number
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"ref": {"glob": 1}}');
--> The grant of key "api" to "x": in its claims, the condition on "ref" is an object, which can only be {"glob": "…"}.
--?

-- an empty list
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"groups": []}');
--> The grant of key "api" to "x": in its claims, the list for "groups" is empty, so no token could ever meet it.
--?

-- a list within a list
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"groups": ["a", ["b"]]}');
--> The grant of key "api" to "x": in its claims, the list for "groups" may hold texts, numbers, true, false and {"glob": "…"} only.
--?

-- a number that no token can hold
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"n": 1e400}');
--> The grant of key "api" to "x": in its claims, the number for "n" is too large.
--?

-- a pointer that is none
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"/a~2b": "x"}');
--> The grant of key "api" to "x": in its claims, "/a~2b" begins like a JSON pointer, where ~ is written ~0 and / is written ~1.
--?

-- all that conditions can be
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims) VALUES ('acme', 'ci', 'x', 'api', '{"a": "x", "b": 1.5, "c": true, "d": {"glob": "*"}, "e": ["x", 1, false, {"glob": "y:**"}], "/f/~0~1/0": "z", "": "x", "/": "y"}');
--> nothing

-- a grant moves to another tenant
UPDATE broker.subject_grant SET tenant = 'other', idp = 'elsewhere' WHERE key = 'api';
--> A row of broker.subject_grant stays with its tenant: it cannot move from "acme" to "other".
--? Insert it anew for the other tenant

-- a number that an admin chose
INSERT INTO broker.subject_grant (id, tenant, idp, subject, key) OVERRIDING SYSTEM VALUE VALUES (7, 'acme', 'ci', 'x', 'api');
--> permission denied for table subject_grant
--?
