-- Joins the logs of the clouds with audit.mint: uses that did not come through the broker, and mints that
-- were never used. For psql, as an auditor who may make temporary tables; give the paths as variables:
--
--     psql "$DATABASE" -v cloudtrail=events.jsonl -f docs/audit/correlation.sql
--
-- Each file has one JSON object a line. Make it so of CloudTrail's files:   jq -c '.Records[]' *.json > events.jsonl
-- and of Google's:   gcloud logging read '…' --format json | jq -c '.[]' > google.jsonl
-- An export by MinIO's audit webhook has one object a line already.

\if :{?cloudtrail}
CREATE TEMP TABLE cloudtrail_line (record jsonb);
-- A quote and a delimiter that JSON can't contain, so that each line is one value.
\set load '\\copy cloudtrail_line FROM ' :'cloudtrail' ' WITH (FORMAT csv, QUOTE E''\\x01'', DELIMITER E''\\x02'')'
:load

-- What was done with a role's credentials, and which mints issued them. The session is named after
-- the mint: …:assumed-role/ROLE/SESSION, and SESSION has the mint id.
CREATE TEMP VIEW cloudtrail_event AS
SELECT (record ->> 'eventTime')::timestamptz AS used_at,
       record ->> 'eventName' AS action,
       false AS obtains,
       record #>> '{userIdentity,sessionContext,sessionIssuer,arn}' AS role_arn,
       record #>> '{userIdentity,arn}' AS session_arn,
       record #>> '{userIdentity,accessKeyId}' AS access_key_id,
       record ->> 'sourceIPAddress' AS address
  FROM cloudtrail_line
 WHERE record #>> '{userIdentity,type}' = 'AssumedRole'
UNION ALL
SELECT (record ->> 'eventTime')::timestamptz, record ->> 'eventName', true,
       record #>> '{requestParameters,roleArn}', record #>> '{responseElements,assumedRoleUser,arn}',
       record #>> '{responseElements,credentials,accessKeyId}', record ->> 'sourceIPAddress'
  FROM cloudtrail_line
 WHERE record ->> 'eventSource' = 'sts.amazonaws.com'
   AND record #>> '{responseElements,credentials,accessKeyId}' IS NOT NULL;

-- Every role that a key names or ever named; the account has others, which aren't the broker's business.
CREATE TEMP VIEW role_of_a_key AS
SELECT before #>> '{settings,role_arn}' AS role_arn FROM audit.config_change WHERE table_name = 'key'
UNION
SELECT after #>> '{settings,role_arn}' FROM audit.config_change WHERE table_name = 'key';

\echo 'AWS: uses of roles that did not come through the broker'
SELECT u.used_at, u.action, u.session_arn, u.access_key_id, u.address
  FROM cloudtrail_event AS u
  LEFT JOIN audit.mint AS m
         ON m.mint_id = substring(u.session_arn
                                  FROM '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}')::uuid
 WHERE u.role_arn IN (SELECT r.role_arn FROM role_of_a_key AS r)
   AND (m.mint_id IS NULL
        -- obtained, but never handed out, and used nevertheless
        OR NOT u.obtains AND m.outcome IS DISTINCT FROM 'issued'
        -- a session that borrows a mint's name
        OR m.credential_id IS DISTINCT FROM u.access_key_id AND m.outcome IN ('issued', 'withheld'))
 ORDER BY u.used_at, u.action;

\echo 'AWS: credentials of mints that failed or have no outcome'
SELECT u.used_at, u.session_arn, u.access_key_id, m.mint_id, m.tenant, m.subject, m.key, m.outcome, m.reason
  FROM cloudtrail_event AS u
  JOIN audit.mint AS m
    ON m.mint_id = substring(u.session_arn FROM '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}')::uuid
 WHERE u.obtains AND (m.outcome IS NULL OR m.outcome = 'failed')
 ORDER BY u.used_at, u.action;

\echo 'AWS: mints in the time of the file that were never used'
SELECT m.mint_id, m.tenant, m.subject, m.key, m.issued_at, m.credential_id
  FROM audit.mint AS m
 WHERE m.provider_type = 'aws-sts'
   AND m.outcome = 'issued'
   AND m.issued_at BETWEEN (SELECT min(record ->> 'eventTime')::timestamptz FROM cloudtrail_line)
                       AND (SELECT max(record ->> 'eventTime')::timestamptz FROM cloudtrail_line)
   AND NOT EXISTS (SELECT FROM cloudtrail_event AS u WHERE u.access_key_id = m.credential_id AND NOT u.obtains)
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
 ORDER BY u.used_at, u.action;

\echo 'MinIO: mints in the time of the file that were never used'
SELECT m.mint_id, m.tenant, m.subject, m.key, m.issued_at, m.credential_id
  FROM audit.mint AS m
 WHERE m.provider_type = 's3-sts'
   AND m.outcome = 'issued'
   AND m.issued_at BETWEEN (SELECT min(record ->> 'time')::timestamptz FROM minio_line)
                       AND (SELECT max(record ->> 'time')::timestamptz FROM minio_line)
   AND NOT EXISTS (SELECT FROM minio_use AS u WHERE u.access_key = m.credential_id)
 ORDER BY m.issued_at;
\endif

\if :{?google}
CREATE TEMP TABLE google_line (record jsonb);
\set load '\\copy google_line FROM ' :'google' ' WITH (FORMAT csv, QUOTE E''\\x01'', DELIMITER E''\\x02'')'
:load

-- Google's log names the federated principal, …/subject/tenant:TENANT:key:KEY. The call for a service account's token
-- (GenerateAccessToken) carries the mint id too, as its reason, and is explained by the mint that it names; all else is
-- explained if some credential of that tenant and key lived then. Where the principal stands depends on the event: an
-- exchange of tokens (ExchangeToken) has it in the metadata; what is done as a service account names that, and the principal
-- behind it as its delegation; all else, GenerateAccessToken too, is by the principal itself.
-- Data Access logs must be enabled for them.
CREATE TEMP VIEW google_principal AS
SELECT (record ->> 'timestamp')::timestamptz AS used_at,
       record #>> '{protoPayload,methodName}' AS action,
       record #>> '{protoPayload,methodName}' ~ '(^|\.)(ExchangeToken|GenerateAccessToken)$' AS obtains,
       record #>> '{protoPayload,requestMetadata,requestAttributes,reason}' AS mint_id,
       coalesce(record #>> '{protoPayload,metadata,mapped_principal}',
                jsonb_path_query_first(record, '$.protoPayload.authenticationInfo.serviceAccountDelegationInfo[*]'
                                               '.principalSubject ? (@ like_regex "/workloadIdentityPools/")') #>> '{}',
                record #>> '{protoPayload,authenticationInfo,principalSubject}') AS principal,
       record #>> '{protoPayload,requestMetadata,callerIp}' AS address
  FROM google_line;

CREATE TEMP VIEW google_event AS
SELECT used_at, action, obtains, mint_id, principal, address,
       substring(principal FROM '/subject/tenant:([^:]+):key:') AS tenant,
       substring(principal FROM '/subject/tenant:[^:]+:key:(.+)$') AS key
  FROM google_principal
 WHERE principal LIKE '%/workloadIdentityPools/%';

\echo 'Google: uses of the pool that did not come through the broker'
SELECT u.used_at, u.action, u.principal, u.address
  FROM google_event AS u
 WHERE NOT EXISTS (SELECT FROM audit.mint AS m
                    WHERE m.tenant = u.tenant AND m.key = u.key AND m.provider_type = 'gcp'
                      AND CASE WHEN u.action ~ '(^|\.)GenerateAccessToken$' THEN m.mint_id::text = u.mint_id
                               ELSE u.used_at BETWEEN m.requested_at - interval '1 minute' AND m.expires_at END)
 ORDER BY u.used_at, u.action;

\echo 'Google: mints in the time of the file that were never used'
SELECT m.mint_id, m.tenant, m.subject, m.key, m.issued_at
  FROM audit.mint AS m
 WHERE m.provider_type = 'gcp'
   AND m.outcome = 'issued'
   AND m.issued_at BETWEEN (SELECT min(record ->> 'timestamp')::timestamptz FROM google_line)
                       AND (SELECT max(record ->> 'timestamp')::timestamptz FROM google_line)
   AND NOT EXISTS (SELECT FROM google_event AS u
                    WHERE NOT u.obtains AND u.tenant = m.tenant AND u.key = m.key
                      AND u.used_at BETWEEN m.requested_at AND m.expires_at)
 ORDER BY m.issued_at;
\endif
