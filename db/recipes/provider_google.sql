-- Google Cloud, by workload identity federation (docs/providers/gcp.md).
--
-- At Google, run these commands. The attribute condition rejects tokens of the broker's other tenants:
--   gcloud services enable iam.googleapis.com sts.googleapis.com iamcredentials.googleapis.com
--   gcloud iam workload-identity-pools create mintmark --location=global
--   gcloud iam workload-identity-pools providers create-oidc mintmark --location=global --workload-identity-pool=mintmark \
--     --issuer-uri=https://BROKER --attribute-mapping='google.subject=assertion.sub,attribute.mint_id=assertion.jti' \
--     --attribute-condition='assertion.sub.startsWith("tenant:acme:")'
--   gcloud iam service-accounts add-iam-policy-binding deploy@acme-prod.iam.gserviceaccount.com \
--     --role=roles/iam.workloadIdentityUser \
--     --member='principal://iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/subject/tenant:acme:key:gcp-deploy'
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'google', 'gcp',
        '{"project_id": "acme-prod",
          "workload_identity_provider": "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/mintmark/providers/mintmark"}',
        '{deploy@acme-prod.iam.gserviceaccount.com}');

INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'gcp-deploy', 'google', 'Deploys to Cloud Run', 3600,
        '{"service_account": "deploy@acme-prod.iam.gserviceaccount.com"}');
