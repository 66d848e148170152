-- A Kubernetes cluster as an issuer, with projected service account tokens:
--   volumes: - projected: sources: - serviceAccountToken: {audience: mintmark-acme, expirationSeconds: 600, path: token}
\set SHOW_CONTEXT never

-- A stock cluster requires a token to read its keys. Bind this role once, in the cluster (not in EKS, GKE and AKS):
--   kubectl create clusterrolebinding oidc-reviewer --clusterrole=system:service-account-issuer-discovery --group=system:unauthenticated

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.

-- A cluster that the broker can reach. This command prints the issuer: kubectl get --raw /.well-known/openid-configuration
-- In jwks_uri, write the address at which the broker reaches the API server. For EKS, GKE and AKS, write null: the broker then
-- finds the keys through the public issuer. Don't copy jwks_uri from the output, which can name an internal host. In AKS, first
-- turn on the cluster's OIDC issuer.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, algorithms, listed)
VALUES ('acme-cluster', 'acme', 'https://k8s.acme.example', '{mintmark-acme}', 'https://k8s.acme.example/openid/v1/jwks', '{RS256}',
        true);
-- If a private CA signed the API server's certificate (kubeadm and most others), also set ca_certificate:
--   kubectl get configmap kube-root-ca.crt -o jsonpath='{.data.ca\.crt}'
-- UPDATE broker.identity_provider SET ca_certificate = '-----BEGIN CERTIFICATE-----…' WHERE name = 'acme-cluster';
-- A server with a private address must be listed in OUTBOUND_ALLOWED_HOSTS.

-- A cluster that the broker can't reach. Paste the output of: kubectl get --raw /openid/v1/jwks (again after each rotation).
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks, listed)
VALUES ('acme-cluster-inside', 'acme', 'https://kubernetes.default.svc.cluster.local', '{mintmark-acme}',
        '{"keys": [{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "example",
                    "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}',
        false);

-- The subject has only names, and somebody who deletes the namespace or the account can create another one of the same name. So
-- the grant also requires the account's uid, which is new for each account. If a pipeline creates the account again, update the
-- uid, or leave out claims if nobody else may create accounts in the namespace.
--   kubectl get serviceaccount deployer -n shop -o jsonpath='{.metadata.uid}'
INSERT INTO broker.subject_grant (tenant, idp, subject, key, claims, reason)
VALUES ('acme', 'acme-cluster', 'system:serviceaccount:shop:deployer', 'deploy',
        '{"/kubernetes.io/serviceaccount/uid": "8b7a6c5d-0001-4e2f-9a3b-4c5d6e7f8091"}', 'OPS-5: the deployer of the shop');

-- This grant names the namespace, because tokens have no uid of a namespace. Anyone who creates the namespace again gets the
-- key, so disable the grant before you delete the namespace. A claim that starts with / is a JSON pointer into the token.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason)
VALUES ('acme', 'acme-cluster', 'system:serviceaccount:shop:*', 'glob', 'read',
        '{"/kubernetes.io/namespace": "shop"}', 'OPS-5: all of namespace shop reads');
