package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.mintmark.base.outbound.LoopbackHttp;
import io.mintmark.clients.ClientProcess.Ended;
import io.mintmark.endtoend.Documented;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The blocks of docs/clients/tools.md for package managers: a registry gets what the broker minted,
 * and neither an argument nor a file has it. {@code .ci/libraries} runs it, because the tools ask
 * their registries for what they need themselves.
 */
class PackageManagersIT {
    private static final Path VENV = Path.of("target", "libraries", "venv", "bin").toAbsolutePath();
    private static final String CLIENTS =
            Objects.requireNonNull(ClientProcess.FILE.getParent()).toString();
    private static final String PAGE = "clients/tools.md";
    private static final Pattern KEY = Pattern.compile("([a-z-]+) -- ");
    private static final String WHEEL = "app-1.0-py3-none-any.whl";
    private static final byte[] NOTHING = new byte[0];
    private static final String TOKEN = "s3cr3t-of-an-hour";

    @TempDir Path directory;
    private final StandIn broker = new StandIn();
    private final List<String> uploads = new CopyOnWriteArrayList<>();
    private final List<String> downloads = new CopyOnWriteArrayList<>();
    private final Map<String, byte[]> served = new ConcurrentHashMap<>();
    private final Map<String, byte[]> servedAfterAnUpload = new ConcurrentHashMap<>();
    private final HttpServer registry = LoopbackHttp.serving(0, this::answer);

    @AfterEach
    void stop() {
        broker.close();
        registry.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            String path = exchange.getRequestURI().getPath();
            boolean reads = exchange.getRequestMethod().matches("GET|HEAD");
            (reads ? downloads : uploads).add(path + " " + authorization);
            if (!reads) {
                served.putAll(servedAfterAnUpload);
            }
            byte[] body = reads ? served.getOrDefault(path, NOTHING) : bytes("{}");
            boolean isThere = !reads || served.containsKey(path);
            exchange.getResponseHeaders().set("Content-Type", "text/html");
            exchange.sendResponseHeaders(isThere ? 200 : 404, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String basic(String user) {
        return "Basic " + Base64.getEncoder().encodeToString(bytes(user + ":" + TOKEN));
    }

    /** The only block of a language that has a text, with the registry's address. */
    private String block(String language, String part) {
        List<String> found =
                Documented.blocks(PAGE, language).stream()
                        .filter(block -> block.contains(part))
                        .toList();
        assertEquals(1, found.size(), part);
        String address = "127.0.0.1:" + registry.getAddress().getPort();
        return found.getFirst()
                .replaceAll("(?:npm|crates|pypi)\\.acme\\.example", address)
                .replace("https://", "http://");
    }

    private void write(String file, String text) throws IOException {
        Path path = directory.resolve(file);
        Files.createDirectories(Objects.requireNonNull(path.getParent()));
        Files.writeString(path, text);
    }

    private void run(String tool, String members, String command) throws IOException {
        Assumptions.assumeTrue(
                Shell.find(tool).isPresent() || Files.isExecutable(VENV.resolve(tool)),
                "no " + tool);
        MatchResult key = KEY.matcher(command).results().findFirst().orElseThrow();
        broker.mints(key.group(1), members);
        ProcessBuilder builder = new ProcessBuilder("bash", "-euo", "pipefail", "-c", command);
        builder.directory(directory.toFile());
        builder.environment().clear();
        builder.environment().put("PATH", CLIENTS + ":" + VENV + ":" + Shell.SEARCH_PATH);
        builder.environment().put("HOME", directory.toString());
        builder.environment()
                .put("RUSTUP_HOME", Path.of(System.getProperty("user.home"), ".rustup").toString());
        builder.environment().put("PIP_TARGET", directory.resolve("installed").toString());
        builder.environment().put("MINTMARK_URL", broker.url());
        builder.environment().put("MINTMARK_TOKEN", "an.identity.token");
        Ended ended = ClientProcess.await(builder.start());
        assertEquals(0, ended.exit(), ended.toString());
        assertEquals(1, broker.asked().size());
    }

    @Test
    void npm_publishes_with_the_token() throws IOException {
        write(".npmrc", block("ini", "_authToken"));
        write("package.json", "{\"name\": \"app\", \"version\": \"1.0.0\"}");
        run("npm", "{\"NODE_AUTH_TOKEN\": \"%s\"}".formatted(TOKEN), block("sh", "npm publish"));
        assertEquals(List.of("/app Bearer " + TOKEN), uploads);
    }

    @Test
    void cargo_publishes_with_the_token() throws IOException {
        served.put(
                "/config.json",
                bytes(
                        "{\"dl\": \"http://127.0.0.1:1/\", \"api\": \"http://127.0.0.1:%d\"}"
                                .formatted(registry.getAddress().getPort())));
        servedAfterAnUpload.put(
                "/ac/me/acme-app",
                bytes(
                        "{\"name\":\"acme-app\",\"vers\":\"1.0.0\",\"deps\":[],\"cksum\":\"%s\",\"features\":{},\"yanked\":false}"
                                .formatted("0".repeat(64))));
        write(".cargo/config.toml", block("toml", "registries.acme"));
        write(
                "Cargo.toml",
                """
                [package]
                name = "acme-app"
                version = "1.0.0"
                edition = "2021"
                license = "MIT"
                description = "x"
                """);
        write("src/lib.rs", "");
        run(
                "cargo",
                "{\"CARGO_REGISTRIES_ACME_TOKEN\": \"%s\"}".formatted(TOKEN),
                block("sh", "cargo publish").strip() + " --no-verify --allow-dirty");
        assertEquals(List.of("/api/v1/crates/new " + TOKEN), uploads);
    }

    @Test
    void maven_deploys_with_user_and_password() throws IOException {
        write("settings.xml", block("xml", "<server>"));
        write(
                "pom.xml",
                """
                <project>
                  <modelVersion>4.0.0</modelVersion>
                  <groupId>acme</groupId><artifactId>app</artifactId><version>1</version><packaging>pom</packaging>
                  <distributionManagement><repository><id>acme</id><url>http://127.0.0.1:%d/maven</url></repository></distributionManagement>
                </project>
                """
                        .formatted(registry.getAddress().getPort()));
        run(
                "mvn",
                "{\"MAVEN_USERNAME\": \"robot\", \"MAVEN_PASSWORD\": \"%s\"}".formatted(TOKEN),
                block("sh", "mvn -s").strip() + " --batch-mode --quiet");
        assertTrue(uploads.contains("/maven/acme/app/1/app-1.pom " + basic("robot")), uploads + "");
    }

    @Test
    void pip_installs_with_the_token() throws IOException {
        served.put("/simple/app/", bytes("<a href='/%1$s'>%1$s</a>".formatted(WHEEL)));
        served.put("/" + WHEEL, wheel());
        run("pip", "{\"INDEX_TOKEN\": \"%s\"}".formatted(TOKEN), block("sh", "pip install"));
        assertTrue(downloads.contains("/simple/app/ " + basic("robot")), downloads + "");
        assertTrue(Files.exists(directory.resolve("installed/app.py")));
    }

    @Test
    void twine_uploads_with_the_token() throws IOException {
        Files.createDirectories(directory.resolve("dist"));
        Files.write(directory.resolve("dist").resolve(WHEEL), wheel());
        run("twine", "{\"TWINE_PASSWORD\": \"%s\"}".formatted(TOKEN), block("sh", "twine upload"));
        assertEquals(List.of("/legacy/ " + basic("__token__")), uploads);
    }

    private static byte[] wheel() throws IOException {
        Map<String, String> files =
                Map.of(
                        "app.py", "",
                        "app-1.0.dist-info/METADATA",
                                "Metadata-Version: 2.1\nName: app\nVersion: 1.0\n",
                        "app-1.0.dist-info/WHEEL",
                                "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                        "app-1.0.dist-info/RECORD",
                                "app.py,,\napp-1.0.dist-info/METADATA,,\napp-1.0.dist-info/WHEEL,,\napp-1.0.dist-info/RECORD,,\n");
        var out = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(out)) {
            for (var file : files.entrySet()) {
                zip.putNextEntry(new ZipEntry(file.getKey()));
                zip.write(bytes(file.getValue()));
            }
        }
        return out.toByteArray();
    }
}
