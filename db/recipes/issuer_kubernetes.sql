-- A Kubernetes cluster as an issuer, with projected service account tokens:
--   volumes: - projected: sources: - serviceAccountToken: {audience: mintmark-acme, expirationSeconds: 600, path: token}
\set SHOW_CONTEXT never

-- A stock cluster requires a token to read its keys. Bind this role once, in the cluster:
--   kubectl create clusterrolebinding oidc-reviewer --clusterrole=system:service-account-issuer-discovery --group=system:unauthenticated

-- listed: true shows this row's name and issuer to anyone, and its audiences to anyone with a token of the issuer. Choose
-- false if they name customers or hosts that must not be public; tokens are accepted either way.

-- A cluster that the broker can reach. The issuer is the one in: kubectl get --raw /.well-known/openid-configuration
-- jwks_uri is at the API server's address as the broker reaches it. For EKS, GKE and AKS take it from that document too.
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks_uri, algorithms, listed)
VALUES ('acme-cluster', 'acme', 'https://k8s.acme.example', '{mintmark-acme}', 'https://k8s.acme.example/openid/v1/jwks', '{RS256}',
        true);
-- An API server with a private certificate authority (kubeadm and most others) also needs its certificate:
--   kubectl get configmap kube-root-ca.crt -o jsonpath='{.data.ca\.crt}'
-- UPDATE broker.identity_provider SET ca_certificate = '-----BEGIN CERTIFICATE-----…' WHERE name = 'acme-cluster';
-- A server with a private address must be listed in OUTBOUND_ALLOWED_HOSTS.

-- A cluster that cannot be reached: paste its keys, kubectl get --raw /openid/v1/jwks (again after each rotation).
INSERT INTO broker.identity_provider (name, tenant, issuer, audiences, jwks, listed)
VALUES ('acme-cluster-inside', 'acme', 'https://kubernetes.default.svc.cluster.local', '{mintmark-acme}',
        '{"keys": [{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "example",
                    "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}',
        false);

-- By names, which a cluster has once, and a new cluster again. If others may delete and create the namespace or the account,
-- ask for the account's uid in claims: docs/ci/kubernetes.md.
INSERT INTO broker.subject_grant (tenant, idp, subject, key, reason)
VALUES ('acme', 'acme-cluster', 'system:serviceaccount:shop:deployer', 'deploy', 'OPS-5: the deployer of the shop');

-- Claims with a / in front are JSON pointers into the token.
INSERT INTO broker.subject_grant (tenant, idp, subject, match, key, claims, reason)
VALUES ('acme', 'acme-cluster', 'system:serviceaccount:shop:*', 'glob', 'read',
        '{"/kubernetes.io/namespace": "shop"}', 'OPS-5: all of namespace shop reads');
