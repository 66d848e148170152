-- Kubernetes: tokens of service accounts, by the TokenRequest API. If you can configure the API server, you can use a key of type
-- jwt instead, which needs no service account (docs/providers/jwt.md#kubernetes).
--
-- In the cluster, let --authentication-config trust the broker (issuer https://BROKER, audience = the server's origin, username
-- claim sub with the prefix "mintmark:"; docs/providers/kubernetes.md has the file). Then run:
--   kubectl create role mintmark -n shop --verb=create --resource=serviceaccounts/token --resource-name=deployer
--   kubectl create rolebinding mintmark -n shop --role=mintmark --user=mintmark:tenant:acme:key:cluster
-- EKS, GKE and some other clusters have no such configuration. There, set "auth": "token" and "token": {"file":
-- "kubernetes-token"}, and write the token of a service account that has this role into that file.
--
-- If a private CA signed the API server's certificate, as in most clusters, add "ca_certificate" to the settings. Print it with:
--   kubectl config view --raw --minify -o jsonpath='{.clusters[0].cluster.certificate-authority-data}' | base64 -d | jq -Rs .
-- A server with a private address must be listed in OUTBOUND_ALLOWED_HOSTS.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'kubernetes', 'kubernetes', '{"server": "https://kubernetes.acme.example:6443"}', '{shop/*}');

-- bound_secret names a Secret. If you delete this Secret, all tokens of the key stop working.
--   kubectl create secret generic mintmark-deployer -n shop
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'cluster', 'kubernetes', 'Deployments to the shop', 3600,
        '{"service_account": "shop/deployer", "bound_secret": "mintmark-deployer"}');
