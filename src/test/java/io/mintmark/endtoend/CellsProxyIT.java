package io.mintmark.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.broker.http.ReverseProxy;
import io.mintmark.broker.token.IssuerStandIn;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Two cells behind the HAProxy of {@code docs/run/cells-haproxy.cfg}, at one URL. */
class CellsProxyIT {
    private static final Path PAGE = Path.of("docs/run/cells-haproxy.cfg").toAbsolutePath();
    private static final String HOST_OF_B = "127.0.0.2";
    private static final String FORM = "application/x-www-form-urlencoded";
    private static final String OAUTH = "urn:ietf:params:oauth:";

    @TempDir private Path directory;
    private final HttpClient http = HttpClient.newHttpClient();
    private World world;

    /** The default cell, which has no tenant before the move. */
    private MovingCell a;

    private MovingCell b;

    @BeforeEach
    void start() {
        assumeTrue(
                List.of(System.getProperty("proxies", "haproxy").split(",", -1))
                        .contains("haproxy"));
        world = new World();
        b = MovingCell.of(world, directory);
        a = MovingCell.make(directory);
    }

    @AfterEach
    void stop() {
        if (world != null) {
            a.broker().close();
            a.database().close();
            world.close();
        }
        http.close();
    }

    @Test
    void a_token_leads_to_its_tenants_cell_wherever_the_client_sends_it() throws Exception {
        String token = world.token();
        List<String> forms =
                List.of(
                        "subject_token_type=%1$stoken-type:jwt&grant_type=%1$sgrant-type:token-exchange&subject_token=%2$s",
                        "grant_type=%1$sgrant-type:jwt-bearer&assertion=%2$s",
                        "grant_type=client_credentials&client_assertion_type=%1$sclient-assertion-type:jwt-bearer&client_assertion=%2$s");
        String sts =
                "Action=AssumeRoleWithWebIdentity&RoleArn=%s&WebIdentityToken=%s"
                        .formatted(World.ROLE, token);
        try (ReverseProxy proxy = proxy("\"mintmark-acme\" b")) {
            assertEquals(200, mint(proxy, token));
            assertEquals(
                    200,
                    post(
                            proxy,
                            "/credentials/mint",
                            "application/json",
                            "{\"keys\":[\"api\"],\"oidcToken\":\"%s\"}".formatted(token)));
            assertEquals(200, get(proxy, "/credentials/keys?token=" + token));
            assertEquals(200, get(proxy, "/sdk/aws/deploy", "Authorization", token));
            assertEquals(200, post(proxy, "/sdk/sts", FORM, sts));
            for (String form : forms) {
                String body = "audience=api&" + form.formatted(OAUTH, token);
                assertEquals(200, post(proxy, "/oauth2/token", FORM, body), form);
            }
            assertEquals(
                    200,
                    mint(
                            proxy,
                            world.issuer()
                                    .sign(
                                            Map.of(
                                                    "sub",
                                                    World.SUBJECT,
                                                    "aud",
                                                    List.of(World.AUDIENCE)))));
        }
    }

    @Test
    void a_forged_audience_gets_nothing() throws Exception {
        try (ReverseProxy proxy = proxy("\"mintmark-acme\" b");
                IssuerStandIn stranger = IssuerStandIn.start()) {
            assertEquals(401, mint(proxy, stranger.sign(World.SUBJECT, World.AUDIENCE)));
            assertEquals(401, mint(proxy, world.issuer().sign(World.SUBJECT, "mintmark-acme-2")));
            assertEquals(401, mint(proxy, "a.b.c"));
            assertEquals(401, get(proxy, "/credentials/keys"));
            assertEquals(200, mint(proxy, world.token()));
        }
    }

    @Test
    void a_cells_own_host_leads_to_it_without_a_token() throws Exception {
        try (ReverseProxy proxy = proxy("\"mintmark-acme\" b")) {
            assertEquals(a.broker().url().toString(), issuer(proxy, "127.0.0.1"));
            assertEquals(b.broker().url().toString(), issuer(proxy, HOST_OF_B));
        }
    }

    @Test
    void a_moved_tenant_is_served_at_the_same_url_after_one_line_of_the_map() throws Exception {
        Path file = directory.resolve("acme.tenant");
        try (ReverseProxy proxy = proxy("\"mintmark-acme\" b")) {
            assertEquals(0, b.export(file, a).status());
            assertEquals(421, mint(proxy, world.token()));
            assertEquals(0, a.takeIn(file, b).status());
        }
        try (ReverseProxy proxy = proxy("\"mintmark-acme\" a")) {
            Eventually.holds(() -> mint(proxy, world.token()) == 200);
        }
    }

    /** The page's file, with the servers of this test and without TLS. */
    private ReverseProxy proxy(String map) throws IOException {
        Path cells = Files.writeString(directory.resolve("cells.map"), map + "\n");
        int port = RunningBroker.freePort();
        String text =
                Files.readString(PAGE)
                        .replaceAll("bind .*", "bind 127.0.0.1:%1$d,127.0.0.2:%1$d".formatted(port))
                        .replace("b.mintmark.example.com", HOST_OF_B)
                        .replace("/etc/haproxy/cells.map", cells.toString())
                        .replace("10.0.0.11:8080", "127.0.0.1:" + a.broker().url().getPort())
                        .replace("10.1.0.11:8080", "127.0.0.1:" + b.broker().url().getPort())
                        .replaceAll(" +server [ab]2 .*", "");
        Files.writeString(directory.resolve("haproxy.cfg"), text);
        return ReverseProxy.haproxy(directory, port);
    }

    private String issuer(ReverseProxy proxy, String host) throws IOException {
        String url = "http://%s:%d/.well-known/openid-configuration".formatted(host, proxy.port());
        return new ObjectMapper()
                .readTree(sent(HttpRequest.newBuilder(URI.create(url))).body())
                .path("issuer")
                .asText();
    }

    private int mint(ReverseProxy proxy, String token) {
        return post(
                proxy,
                "/credentials/mint",
                "application/json",
                "{\"keys\":[\"api\"]}",
                "Authorization",
                "Bearer " + token);
    }

    private int post(ReverseProxy proxy, String path, String type, String body, String... headers) {
        HttpRequest.Builder request =
                request(proxy, path)
                        .header("Content-Type", type)
                        .POST(BodyPublishers.ofString(body, StandardCharsets.UTF_8));
        return status(request, headers);
    }

    private int get(ReverseProxy proxy, String path, String... headers) {
        return status(request(proxy, path), headers);
    }

    private static HttpRequest.Builder request(ReverseProxy proxy, String path) {
        return HttpRequest.newBuilder(
                URI.create("http://localhost:%d%s".formatted(proxy.port(), path)));
    }

    private int status(HttpRequest.Builder request, String... headers) {
        if (headers.length > 0) {
            request.headers(headers);
        }
        return sent(request).statusCode();
    }

    private HttpResponse<String> sent(HttpRequest.Builder request) {
        return Unchecked.call(() -> http.send(request.build(), BodyHandlers.ofString()));
    }
}
