package io.mintmark.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.TextNode;

import io.mintmark.base.outbound.Authority;
import io.mintmark.endtoend.Answer;
import io.mintmark.endtoend.Documented;
import io.mintmark.endtoend.TlsFront;
import io.mintmark.endtoend.World;

import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * A cluster that trusts a broker as docs/providers/kubernetes.md and jwt.md tell, with the service
 * account {@code shop/deployer}.
 */
final class TrustedCluster implements AutoCloseable {
    private static final String ENTRY = "  - issuer:";

    private final Authority authority = new Authority();
    private final TlsFront front = new TlsFront(authority);
    private final Path secrets;
    private final World world;
    private final KubeApiServer server;

    TrustedCluster(Path work) throws Exception {
        secrets = Files.createDirectories(work.resolve("secrets/acme"));
        world =
                new World(
                        Map.of(
                                "BROKER_ISSUER", front.url(),
                                "SECRETS_DIR", work.resolve("secrets").toString()));
        front.before(world.broker().url());
        server = new KubeApiServer(work, authority, "URL", authentication());
        server.shell(
                """
                kubectl create namespace shop
                kubectl create serviceaccount deployer -n shop
                """);
    }

    private String authentication() throws Exception {
        String own = Documented.yaml("providers/kubernetes.md").getFirst();
        String tenants = Documented.yaml("providers/jwt.md").getFirst();
        return (own + tenants.substring(tenants.indexOf(ENTRY)))
                .replaceAll("( +)url: https://BROKER(.*)\n", "$0$1certificateAuthority: PEM\n")
                .replace("PEM", TextNode.valueOf(authority.pem()).toString())
                .replace("https://BROKER", front.url());
    }

    /** Runs a recipe's statements about this cluster, as a platform admin. */
    void recipe(String name) throws Exception {
        world.admin(
                Documented.recipe(name)
                        .replace(
                                "\"server\": \"" + KubeApiServer.DOCUMENTED_URL + "\"",
                                settings()));
    }

    /** Keys of type {@code kubernetes} by the recipe, whose account may list pods. */
    void serviceAccounts() throws Exception {
        recipe("provider_kubernetes");
        server.shell(Documented.commands("provider_kubernetes"));
        server.shell(
                """
                kubectl create role pods -n shop --verb=list --resource=pods
                kubectl create rolebinding pods -n shop --role=pods --serviceaccount=shop:deployer
                """);
    }

    /** The access provider's settings for this cluster. */
    String settings() throws Exception {
        return "\"server\": \"%s\", \"ca_certificate\": %s"
                .formatted(server.url(), TextNode.valueOf(authority.pem()));
    }

    void secret(String name, String content) throws Exception {
        Files.writeString(secrets.resolve(name), content);
    }

    /** A TLS connection to the API server. */
    Socket connect() throws Exception {
        URI url = URI.create(server.url());
        return authority.client().getSocketFactory().createSocket(url.getHost(), url.getPort());
    }

    Answer mint(String key) {
        return world.broker().mint(world.token(), key);
    }

    Answer minted(String key) {
        Answer answer = mint(key);
        assertEquals(200, answer.status(), answer.toString());
        return answer;
    }

    World world() {
        return world;
    }

    KubeApiServer server() {
        return server;
    }

    @Override
    public void close() {
        server.close();
        world.close();
        front.close();
    }
}
