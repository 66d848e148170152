package io.mintmark.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.outbound.Authority;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Documented;
import io.mintmark.endtoend.Eventually;
import io.mintmark.endtoend.World;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;

/** Service accounts' tokens of real clusters as identity tokens, by issuer_kubernetes.sql. */
class ClusterIdentityTokensIT {
    private static final String DOCUMENTED_ISSUER = "https://k8s.acme.example";
    private static final String DOCUMENTED_UID = "8b7a6c5d-0001-4e2f-9a3b-4c5d6e7f8091";

    /** The only text in single quotes after {@code jwks} of the recipe's second row. */
    private static final String DOCUMENTED_KEYS = "(?s)'\\{\"keys\".*?\\]\\}'";

    private static final Authority AUTHORITY = new Authority();

    @AutoClose private static KubeApiServer named;
    @AutoClose private static KubeApiServer stock;
    @AutoClose private World world;

    @BeforeAll
    static void start(@TempDir Path work) throws Exception {
        named = cluster(work.resolve("named"), "URL");
        stock = cluster(work.resolve("stock"), KubeApiServer.STOCK_ISSUER);
    }

    private static KubeApiServer cluster(Path work, String issuer) throws Exception {
        Files.createDirectory(work);
        var server = new KubeApiServer(work, AUTHORITY, issuer, "");
        server.shell(
                """
                kubectl create namespace shop
                kubectl create serviceaccount deployer -n shop
                kubectl create serviceaccount other -n shop
                """);
        return server;
    }

    @BeforeEach
    void newWorld() {
        world = new World();
        world.admin(
                """
                INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                VALUES ('acme', 'read', 'own', 600, '{"audience": "https://read.example.com"}')
                """);
    }

    /** As the recipe stands, with this cluster's issuer and address, and its authority. */
    private void trust(KubeApiServer server, String issuer) throws Exception {
        String recipe = Documented.recipe("issuer_kubernetes");
        world.admin(
                recipe.replace(KubeApiServer.STOCK_ISSUER, "https://another.example")
                        .replace("'" + DOCUMENTED_ISSUER + "'", "'" + issuer + "'")
                        .replace(DOCUMENTED_ISSUER, server.url())
                        .replace(DOCUMENTED_UID, uid(server)));
        String update =
                recipe.lines()
                        .filter(line -> line.startsWith("-- UPDATE"))
                        .findFirst()
                        .orElseThrow()
                        .substring("-- ".length());
        world.admin(update.replace("-----BEGIN CERTIFICATE-----…", AUTHORITY.pem()));
    }

    private static String uid(KubeApiServer server) {
        return server.kubectl(
                        "get",
                        "serviceaccount",
                        "deployer",
                        "-n",
                        "shop",
                        "-o=jsonpath={.metadata.uid}")
                .output()
                .strip();
    }

    private static void letAnonymousReadKeys(KubeApiServer server) {
        if (server.kubectl("get", "clusterrolebinding", "oidc-reviewer").status() != 0) {
            server.shell(Documented.commands("issuer_kubernetes"));
        }
    }

    private Answer mint(KubeApiServer server, String account, String key) {
        String token =
                server.kubectl("create", "token", account, "-n", "shop", "--audience=mintmark-acme")
                        .output();
        return world.broker().mint(token.strip(), key);
    }

    private void assertTrusted(KubeApiServer server) {
        Eventually.holds(() -> mint(server, "deployer", "deploy").status() == 200);
        assertEquals(200, mint(server, "other", "read").status());
        assertEquals("FORBIDDEN", mint(server, "other", "deploy").at("/error"));
    }

    @Test
    void keys_are_fetched_as_soon_as_the_cluster_lets_strangers_read_them() throws Exception {
        stock.kubectl("delete", "clusterrolebinding", "oidc-reviewer", "--ignore-not-found")
                .output();
        trust(stock, KubeApiServer.STOCK_ISSUER);
        Eventually.holds(
                () -> "SERVICE_UNAVAILABLE".equals(mint(stock, "deployer", "deploy").at("/error")));

        letAnonymousReadKeys(stock);

        assertTrusted(stock);
    }

    @Test
    void a_cluster_that_names_its_own_address_is_trusted_by_the_recipe() throws Exception {
        letAnonymousReadKeys(named);
        trust(named, named.url());

        assertTrusted(named);
    }

    @Test
    void discovery_alone_finds_the_keys() throws Exception {
        letAnonymousReadKeys(named);
        trust(named, named.url());
        world.admin(
                "UPDATE broker.identity_provider SET jwks_uri = NULL WHERE name = 'acme-cluster'");

        assertTrusted(named);
    }

    @Test
    void keys_that_an_admin_pastes_need_no_connection() throws Exception {
        String keys = stock.kubectl("get", "--raw", "/openid/v1/jwks").output();
        String recipe = Documented.recipe("issuer_kubernetes");
        String pasted = recipe.replaceFirst(DOCUMENTED_KEYS, "'" + keys + "'");
        assertTrue(pasted.contains(keys), pasted);
        world.admin(pasted);
        world.admin(
                """
                INSERT INTO broker.subject_grant (tenant, idp, subject, key)
                VALUES ('acme', 'acme-cluster-inside', 'system:serviceaccount:shop:deployer', 'deploy')
                """);

        Eventually.holds(() -> mint(stock, "deployer", "deploy").status() == 200);
    }
}
