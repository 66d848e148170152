package io.mintmark.provider.githubapp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.dialect.Dialects;

import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.broker.token.RsaPairs;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.interfaces.RSAPublicKey;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Our requests and the stand-in's answers against GitHub's own OpenAPI descriptions. */
@ParameterizedClass
@MethodSource("descriptions")
class GitHubDescriptionIT {
    private static final Path FOLDER = Path.of("target/github/package/generated");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String POST =
            "/paths/~1app~1installations~1{installation_id}~1access_tokens/post";
    private static final String DELETE = "/paths/~1installation~1token/delete";
    private static final KeyPair APP = RsaPairs.next(2048);

    private final JsonNode description;
    @AutoClose private final MintingBroker broker = MintingBroker.usual();

    @AutoClose
    private final GitHubStandIn github = new GitHubStandIn((RSAPublicKey) APP.getPublic(), "");

    private final SchemaRegistry registry =
            SchemaRegistry.withDialect(
                    Dialects.getOpenApi30(),
                    builder ->
                            builder.schemaRegistryConfig(
                                    SchemaRegistryConfig.builder()
                                            .formatAssertionsEnabled(true)
                                            .build()));

    /**
     * github.com, Enterprise Cloud and the oldest and newest Enterprise Server that is described.
     */
    static Stream<Path> descriptions() {
        if (!Files.isDirectory(FOLDER)) {
            throw new AssertionError(FOLDER + " is missing; run .ci/github, which fetches it");
        }
        try (Stream<Path> files = Files.list(FOLDER)) {
            List<Path> found =
                    files.filter(file -> file.toString().endsWith(".json"))
                            .filter(file -> !file.toString().contains(".deref."))
                            .sorted()
                            .toList();
            assertTrue(found.size() > 2, found::toString);
            return found.stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    GitHubDescriptionIT(Path file) throws IOException {
        description = JSON.readTree(file.toFile());
    }

    @BeforeEach
    void key() {
        broker.secret("app.pem", KeyDirectory.pkcs8(APP));
    }

    private Orders order(String key) {
        return Orders.of(
                "github-app",
                "{'client_id':'%s','private_key':{'file':'app.pem'},'installation_id':'%s','api_url':'%s'}"
                        .formatted(
                                GitHubStandIn.CLIENT_ID, GitHubStandIn.INSTALLATION, github.url()),
                "{" + key + "}");
    }

    /** What is wrong with a value by the schema at a JSON pointer. */
    private List<String> faults(String pointer, JsonNode value) {
        JsonNode at = description.at(pointer);
        assertFalse(at.isMissingNode(), pointer);
        ObjectNode schema = at.deepCopy();
        schema.set("components", description.path("components"));
        Schema compiled = registry.getSchema(schema);
        return compiled.validate(value).stream().map(Error::toString).toList();
    }

    /** Where the schema of an answer is, past a reference. */
    private String answer(int status) {
        String at = POST + "/responses/" + status;
        String reference = description.at(at + "/$ref").asText();
        String response = reference.isEmpty() ? at : reference.substring(1);
        String schema = response + "/content/application~1json/schema";
        String of = description.at(schema + "/$ref").asText();
        return of.isEmpty() ? schema : of.substring(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'repositories':['shop'],'permissions':{'contents':'read'}",
                "'repositories':['shop','docs'],'permissions':{'contents':'write','issues':'read'}",
                "'repository_ids':['7654321'],'permissions':{'metadata':'read'}",
                "'all_repositories':true,'permissions':{'contents':'read'}",
            })
    void our_requests_and_the_stand_ins_tokens_are_what_github_describes(String key) {
        Minted minted = broker.minted(order(key));

        JsonNode sent = Orders.json(github.calls().getLast().body());
        assertEquals(
                List.of(), faults(POST + "/requestBody/content/application~1json/schema", sent));
        assertTrue(described(sent).containsAll(names(sent)), sent::toString);
        assertEquals(
                List.of(), faults(answer(201), Orders.json(github.answers().getLast().body())));
        minted.undo().orElseThrow().undo(Instant.now().plusSeconds(10));
        assertEquals(
                Set.of(Integer.toString(github.answers().getLast().status())),
                names(description.at(DELETE + "/responses")));
    }

    /** The schema lets any field through; ours must be among those it names. */
    private Set<String> described(JsonNode sent) {
        assertNotEquals(0, sent.size());
        return names(
                description.at(POST + "/requestBody/content/application~1json/schema/properties"));
    }

    private static Set<String> names(JsonNode object) {
        return object.propertyStream()
                .map(field -> field.getKey())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void what_github_does_not_describe_does_not_validate() {
        assertNotEquals(List.of(), faults(answer(201), Orders.json("{'token':'t'}")));
        assertNotEquals(
                List.of(),
                faults(
                        POST + "/requestBody/content/application~1json/schema",
                        Orders.json("{'permissions':{'contents':'all'}}")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    401 | 'repositories':['shop'],'permissions':{'contents':'read'}         | OTHER KEY
                    403 | 'repositories':['shop'],'permissions':{'contents':'read'}         | SUSPENDED
                    404 | 'repositories':['shop'],'permissions':{'contents':'read'}         | OTHER INSTALLATION
                    422 | 'repositories':['shop'],'permissions':{'administration':'write'}  | -
                    422 | 'repositories':['unknown'],'permissions':{'contents':'read'}      | -
                    """)
    void the_stand_ins_refusals_are_what_github_describes(int status, String key, String how) {
        Orders order = order(key);
        switch (how) {
            case "OTHER KEY" -> broker.secret("app.pem", KeyDirectory.pkcs8(RsaPairs.next(2048)));
            case "SUSPENDED" -> github.suspend(true);
            case "OTHER INSTALLATION" ->
                    order =
                            Orders.of(
                                    "github-app",
                                    "{'client_id':'%s','private_key':{'file':'app.pem'},'installation_id':'1','api_url':'%s'}"
                                            .formatted(GitHubStandIn.CLIENT_ID, github.url()),
                                    "{" + key + "}");
            default -> assertEquals("-", how);
        }

        broker.failed(order);

        assertEquals(status, github.answers().getLast().status());
        assertEquals(
                List.of(), faults(answer(status), Orders.json(github.answers().getLast().body())));
    }

    /** Their example, but for its end, which was years ago. */
    @Test
    void the_answer_that_github_gives_as_an_example_is_a_credential() {
        ObjectNode example =
                description.at("/components/examples/installation-token/value").deepCopy();
        assertEquals(List.of(), faults(answer(201), example));
        example.put("expires_at", Instant.now().plusSeconds(3600).toString());
        github.next(GitHubStandIn.saying(201, example.toString()));

        Minted minted =
                broker.minted(
                        order(
                                "'repositories':['Hello-World'],'permissions':{'issues':'write','contents':'read'}"));

        assertEquals(
                example.path("token").asText(),
                minted.fields().values().stream()
                        .map(secret -> secret.reveal())
                        .filter(text -> text.startsWith("ghs_"))
                        .findFirst()
                        .orElse(""));
    }
}
