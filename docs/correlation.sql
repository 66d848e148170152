-- Joins the logs of the clouds with audit.mint: uses that did not come through the broker, and mints that
-- were never used. For psql, as an auditor who may make temporary tables; give the paths as variables:
--
--     psql "$DATABASE" -v cloudtrail=events.jsonl -f docs/correlation.sql
--
-- Each file has one JSON object a line. Make it so of CloudTrail's files:   jq -c '.Records[]' *.json > events.jsonl
-- and of Google's:   gcloud logging read '…' --format json | jq -c '.[]' > google.jsonl
-- An export by MinIO's audit webhook has one object a line already.

\if :{?cloudtrail}
CREATE TEMP TABLE cloudtrail_line (record jsonb);
-- A quote and a delimiter that JSON can't contain, so that each line is one value.
\set load '\\copy cloudtrail_line FROM ' :'cloudtrail' ' WITH (FORMAT csv, QUOTE E''\\x01'', DELIMITER E''\\x02'')'
:load

-- The session of a role is named after the mint: …:assumed-role/ROLE/SESSION, and SESSION has the mint id.
CREATE TEMP VIEW cloudtrail_use AS
SELECT (record ->> 'eventTime')::timestamptz AS used_at,
       record ->> 'eventName' AS action,
       record #>> '{userIdentity,arn}' AS arn,
       record #>> '{userIdentity,accessKeyId}' AS access_key_id,
       record ->> 'sourceIPAddress' AS address,
       substring(record #>> '{userIdentity,arn}'
                 FROM '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}')::uuid AS mint_id
  FROM cloudtrail_line
 WHERE record #>> '{userIdentity,type}' = 'AssumedRole';

\echo 'AWS: uses of roles that did not come through the broker'
SELECT u.used_at, u.action, u.arn, u.access_key_id, u.address
  FROM cloudtrail_use AS u
  LEFT JOIN audit.mint AS m ON m.mint_id = u.mint_id
 WHERE m.mint_id IS NULL
    OR m.outcome IS DISTINCT FROM 'issued'                -- withheld or unresolved, and used nevertheless
    OR m.credential_id IS DISTINCT FROM u.access_key_id   -- a session that borrows a mint's name
 ORDER BY u.used_at;

\echo 'AWS: mints in the time of the file that were never used'
SELECT m.mint_id, m.tenant, m.subject, m.key, m.issued_at, m.credential_id
  FROM audit.mint AS m
 WHERE m.provider_type = 'aws-sts'
   AND m.outcome = 'issued'
   AND m.issued_at BETWEEN (SELECT min(used_at) FROM cloudtrail_use) AND (SELECT max(used_at) FROM cloudtrail_use)
   AND NOT EXISTS (SELECT FROM cloudtrail_use AS u WHERE u.access_key_id = m.credential_id)
 ORDER BY m.issued_at;
\endif

\if :{?minio}
CREATE TEMP TABLE minio_line (record jsonb);
\set load '\\copy minio_line FROM ' :'minio' ' WITH (FORMAT csv, QUOTE E''\\x01'', DELIMITER E''\\x02'')'
:load

-- MinIO names the access key of the temporary credential.
CREATE TEMP VIEW minio_use AS
SELECT (record ->> 'time')::timestamptz AS used_at,
       record #>> '{api,name}' AS action,
       record #>> '{api,bucket}' AS bucket,
       record ->> 'accessKey' AS access_key,
       record ->> 'remotehost' AS address
  FROM minio_line
 WHERE record ->> 'accessKey' <> '';

\echo 'MinIO: uses of credentials that did not come through the broker'
SELECT u.used_at, u.action, u.bucket, u.access_key, u.address
  FROM minio_use AS u
 WHERE NOT EXISTS (SELECT FROM audit.mint AS m WHERE m.credential_id = u.access_key AND m.outcome = 'issued')
 ORDER BY u.used_at;

\echo 'MinIO: mints in the time of the file that were never used'
SELECT m.mint_id, m.tenant, m.subject, m.key, m.issued_at, m.credential_id
  FROM audit.mint AS m
 WHERE m.provider_type = 's3-sts'
   AND m.outcome = 'issued'
   AND m.issued_at BETWEEN (SELECT min(used_at) FROM minio_use) AND (SELECT max(used_at) FROM minio_use)
   AND NOT EXISTS (SELECT FROM minio_use AS u WHERE u.access_key = m.credential_id)
 ORDER BY m.issued_at;
\endif

\if :{?google}
CREATE TEMP TABLE google_line (record jsonb);
\set load '\\copy google_line FROM ' :'google' ' WITH (FORMAT csv, QUOTE E''\\x01'', DELIMITER E''\\x02'')'
:load

-- Google's log names the federated principal, …/subject/tenant:TENANT:key:KEY, and not the mint. So uses are joined by
-- tenant, key and time: a use is explained if some credential of that key lived then.
CREATE TEMP VIEW google_use AS
SELECT (record ->> 'timestamp')::timestamptz AS used_at,
       record #>> '{protoPayload,methodName}' AS action,
       record #>> '{protoPayload,authenticationInfo,principalSubject}' AS principal,
       record #>> '{protoPayload,requestMetadata,callerIp}' AS address,
       substring(record #>> '{protoPayload,authenticationInfo,principalSubject}' FROM '/subject/tenant:([^:]+):key:') AS tenant,
       substring(record #>> '{protoPayload,authenticationInfo,principalSubject}' FROM '/subject/tenant:[^:]+:key:(.+)$') AS key
  FROM google_line
 WHERE record #>> '{protoPayload,authenticationInfo,principalSubject}' LIKE '%/workloadIdentityPools/%';

\echo 'Google: uses of the pool that did not come through the broker'
SELECT u.used_at, u.action, u.principal, u.address
  FROM google_use AS u
 WHERE NOT EXISTS (SELECT FROM audit.mint AS m
                    WHERE m.tenant = u.tenant AND m.key = u.key AND m.provider_type = 'gcp'
                      AND u.used_at BETWEEN m.requested_at - interval '1 minute' AND m.expires_at)
 ORDER BY u.used_at;

\echo 'Google: mints in the time of the file that were never used'
SELECT m.mint_id, m.tenant, m.subject, m.key, m.issued_at
  FROM audit.mint AS m
 WHERE m.provider_type = 'gcp'
   AND m.outcome = 'issued'
   AND m.issued_at BETWEEN (SELECT min(used_at) FROM google_use) AND (SELECT max(used_at) FROM google_use)
   AND NOT EXISTS (SELECT FROM google_use AS u
                    WHERE u.tenant = m.tenant AND u.key = m.key
                      AND u.used_at BETWEEN m.requested_at AND m.expires_at)
 ORDER BY m.issued_at;
\endif
