package io.mintmark.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** What a real kube-apiserver refuses of type {@code kubernetes}, and what is on record of it. */
class RefusedTokenRequestsIT {
    @AutoClose private static TrustedCluster cluster;

    @BeforeAll
    static void start(@TempDir Path work) throws Exception {
        cluster = new TrustedCluster(work);
        cluster.serviceAccounts();
        cluster.server()
                .shell(
                        """
                        kubectl create serviceaccount other -n shop
                        kubectl create role gone -n shop --verb=create --resource=serviceaccounts/token --resource-name=gone
                        kubectl create rolebinding gone -n shop --role=gone --user=mintmark:tenant:acme:key:gone
                        kubectl create rolebinding plain -n shop --role=mintmark --user=mintmark:tenant:acme:key:plain
                        kubectl create rolebinding secretless -n shop --role=mintmark --user=mintmark:tenant:acme:key:secretless
                        """);
        cluster.world().admin(keys());
    }

    private static String keys() throws Exception {
        return """
        INSERT INTO broker.access_provider (tenant, name, type, settings)
        VALUES ('acme', 'elsewhere', 'kubernetes', '{%1$s, "audience": "elsewhere"}');
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings) VALUES
            ('acme', 'unbound', 'kubernetes', 3600, '{"service_account": "shop/other"}'),
            ('acme', 'gone', 'kubernetes', 3600, '{"service_account": "shop/gone"}'),
            ('acme', 'secretless', 'kubernetes', 3600,
             '{"service_account": "shop/deployer", "bound_secret": "missing"}'),
            ('acme', 'plain', 'kubernetes', 3600, '{"service_account": "shop/deployer"}'),
            ('acme', 'elsewhere', 'elsewhere', 3600, '{"service_account": "shop/deployer"}');
        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
        SELECT 'acme', 'ci', '%2$s', k.name FROM broker.key k
         WHERE k.tenant = 'acme' AND k.name NOT IN ('deploy', 'api');
        INSERT INTO broker.tenant (name) VALUES ('other');
        INSERT INTO broker.identity_provider (name, tenant, issuer, audiences)
        SELECT 'ci-of-other', 'other', i.issuer, '{mintmark-other}'
          FROM broker.identity_provider i WHERE i.name = 'ci';
        INSERT INTO broker.access_provider (tenant, name, type, settings)
        VALUES ('other', 'kubernetes', 'kubernetes', '{%1$s}');
        INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
        VALUES ('other', 'cluster', 'kubernetes', 3600, '{"service_account": "shop/deployer"}');
        INSERT INTO broker.subject_grant (tenant, idp, subject, key)
        VALUES ('other', 'ci-of-other', '%2$s', 'cluster');
        """
                .formatted(cluster.settings(), World.SUBJECT);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    elsewhere  | broker_identity_rejected | Unauthorized (HTTP 401)
                    unbound    | provider_rejected        | cannot create resource "serviceaccounts/token"
                    gone       | provider_misconfigured   | serviceaccounts "gone" not found (HTTP 404)
                    secretless | provider_misconfigured   | "missing" not found (HTTP 404)
                    """)
    void a_refusal_has_its_reason_and_is_on_record(String key, String reason, String told) {
        assertEquals(reason, cluster.mint(key).at("/details/reason"));
        assertOnRecord(key, reason, told);
    }

    private static void assertOnRecord(String key, String reason, String told) {
        String row =
                cluster.world()
                        .value(
                                """
                                SELECT concat_ws(' ', kind, reason, detail) FROM audit.event
                                 WHERE key = '%s' AND step = 2 ORDER BY mint_id DESC LIMIT 1
                                """
                                        .formatted(key));
        assertTrue(row.startsWith("failed " + reason), row);
        assertTrue(row.contains(told), row);
    }

    @Test
    void a_tenant_that_the_cluster_does_not_name_is_refused() {
        Answer answer =
                cluster.world()
                        .broker()
                        .mint(
                                cluster.world().issuer().sign(World.SUBJECT, "mintmark-other"),
                                "cluster");

        assertEquals("broker_identity_rejected", answer.at("/details/reason"));
    }

    @Test
    void priority_and_fairness_throttles() throws Exception {
        String token = cluster.minted("plain").at("/credentials/plain/KUBE_TOKEN");
        String jail = cluster.server().file("jail.yaml", JAIL);
        cluster.server().kubectl("apply", "-f", jail).output();
        try {
            Eventually.holds(() -> {
                try (Socket _ = takeTheSeat(token)) {
                    return isTheSeatTaken()
                            && "provider_throttled"
                                    .equals(cluster.mint("plain").at("/details/reason"));
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            assertOnRecord("plain", "provider_throttled", "(HTTP 429)");
        } finally {
            cluster.server().kubectl("delete", "-f", jail).output();
        }
        cluster.minted("plain");
    }

    @Test
    void an_admission_policy_refuses_lifetimes() throws Exception {
        String policy = cluster.server().file("policy.yaml", POLICY);
        cluster.server().kubectl("apply", "-f", policy).output();
        try {
            Eventually.holds(() ->
                    "provider_misconfigured".equals(cluster.mint("plain").at("/details/reason")));
            assertOnRecord("plain", "provider_misconfigured", "half an hour at most (HTTP 422)");
        } finally {
            cluster.server().kubectl("delete", "-f", policy).output();
        }
        Eventually.holds(() -> cluster.mint("plain").status() == 200);
    }

    /** What a policy refuses is 422, unless it gives another reason. */
    private static final String POLICY =
            """
            apiVersion: admissionregistration.k8s.io/v1
            kind: ValidatingAdmissionPolicy
            metadata: {name: short-tokens}
            spec:
              failurePolicy: Fail
              matchConstraints:
                resourceRules:
                  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [serviceaccounts/token]}
              validations:
                - {expression: "object.spec.expirationSeconds <= 1800", message: half an hour at most}
            ---
            apiVersion: admissionregistration.k8s.io/v1
            kind: ValidatingAdmissionPolicyBinding
            metadata: {name: short-tokens}
            spec: {policyName: short-tokens, validationActions: [Deny]}
            """;

    /** A request that the server works on until it has its body, which never comes. */
    private static Socket takeTheSeat(String token) throws Exception {
        Socket socket = cluster.connect();
        socket.getOutputStream()
                .write(
                        """
                        POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1
                        Host: localhost
                        Authorization: Bearer %s
                        Content-Type: application/json
                        Content-Length: 100

                        """
                                .replace("\n", "\r\n")
                                .formatted(token)
                                .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static boolean isTheSeatTaken() {
        return cluster.server()
                .kubectl(
                        "get",
                        "--raw",
                        "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1")
                .output()
                .lines()
                .anyMatch(line -> line.startsWith("jail,") && line.contains("selfsubjectreviews"));
    }

    /** No seat beyond the one that a level without requests always has. */
    private static final String JAIL =
            """
            apiVersion: flowcontrol.apiserver.k8s.io/v1
            kind: PriorityLevelConfiguration
            metadata: {name: jail}
            spec:
              type: Limited
              limited: {nominalConcurrencyShares: 0, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse: {type: Reject}}
            ---
            apiVersion: flowcontrol.apiserver.k8s.io/v1
            kind: FlowSchema
            metadata: {name: jail}
            spec:
              priorityLevelConfiguration: {name: jail}
              matchingPrecedence: 2
              rules:
                - subjects:
                    - {kind: User, user: {name: "mintmark:tenant:acme:key:plain"}}
                    - {kind: ServiceAccount, serviceAccount: {name: deployer, namespace: shop}}
                  resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true}]
            """;
}
