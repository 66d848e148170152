-- Kubernetes: tokens of service accounts, by the TokenRequest API. If you can configure the API server, a key of type jwt needs
-- no service account: docs/providers/jwt.md#kubernetes.
--
-- At the cluster, with the broker trusted in --authentication-config (issuer https://BROKER, audience = the server's origin,
-- username claim sub with the prefix "mintmark:"; docs/providers/kubernetes.md has the file):
--   kubectl create role mintmark -n shop --verb=create --resource=serviceaccounts/token --resource-name=deployer
--   kubectl create rolebinding mintmark -n shop --role=mintmark --user=mintmark:tenant:acme:key:cluster
-- EKS, GKE and other clusters without such a configuration: "auth": "token" and "token": {"file": "kubernetes-token"}, with the
-- token of a service account that has this role.
--
-- An API server with a private certificate authority (most have one) needs "ca_certificate" beside "server", as printed by
--   kubectl config view --raw --minify -o jsonpath='{.clusters[0].cluster.certificate-authority-data}' | base64 -d | jq -Rs .
-- A server with a private address must be listed in OUTBOUND_ALLOWED_HOSTS.
\set SHOW_CONTEXT never

INSERT INTO broker.access_provider (tenant, name, type, settings, allowed_targets)
VALUES ('acme', 'kubernetes', 'kubernetes', '{"server": "https://kubernetes.acme.example:6443"}', '{shop/*}');

-- bound_secret is the kill switch: deleting that Secret ends all tokens of the key.
--   kubectl create secret generic mintmark-deployer -n shop
INSERT INTO broker.key (tenant, name, provider, description, max_duration, settings)
VALUES ('acme', 'cluster', 'kubernetes', 'Deployments to the shop', 3600,
        '{"service_account": "shop/deployer", "bound_secret": "mintmark-deployer"}');
