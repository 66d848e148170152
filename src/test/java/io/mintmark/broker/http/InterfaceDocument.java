package io.mintmark.broker.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;

import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** The OpenAPI document, and what it says of answers. */
final class InterfaceDocument {
    /** Which methods a path item describes. */
    static final List<String> METHODS =
            List.of("get", "put", "post", "delete", "options", "head", "patch", "trace");

    /** Those that belong to HTTP and not to the interface. */
    private static final Set<String> OF_HTTP =
            Set.of("connection", "content-length", "content-type", "date");

    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Something that can be asked for.
     *
     * @param name method and path, or the name of one of {@code x-other-requests}
     * @param responses by status
     */
    record Place(String name, JsonNode responses) {}

    private final JsonNode root = load();
    private final SchemaRegistry registry =
            SchemaRegistry.withDefaultDialect(
                    SpecificationVersion.DRAFT_2020_12,
                    builder ->
                            builder.schemaRegistryConfig(
                                    SchemaRegistryConfig.builder()
                                            .formatAssertionsEnabled(true)
                                            .build()));
    private final Map<JsonNode, Schema> schemas =
            Collections.synchronizedMap(new IdentityHashMap<>());

    private static JsonNode load() {
        try (InputStream in =
                Objects.requireNonNull(
                        InterfaceDocument.class.getResourceAsStream(DocumentRoute.RESOURCE))) {
            LoaderOptions strict = new LoaderOptions();
            strict.setAllowDuplicateKeys(false);
            Object document = new Yaml(new SafeConstructor(strict)).load(in);
            return JSON.valueToTree(document);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Everything at a JSON pointer. */
    JsonNode at(String pointer) {
        return root.at(pointer);
    }

    /** The node that is meant where a reference may stand. */
    JsonNode resolved(JsonNode node) {
        return node.has("$ref") ? root.at(node.path("$ref").asText().substring(1)) : node;
    }

    /** All that can be asked for. */
    List<Place> places() {
        List<Place> places = new ArrayList<>();
        root.path("paths")
                .properties()
                .forEach(path ->
                        METHODS.stream()
                                .filter(path.getValue()::has)
                                .map(method -> place(path.getKey(), method))
                                .forEach(places::add));
        root.path("x-other-requests")
                .propertyStream()
                .map(other -> other(other.getKey()))
                .forEach(places::add);
        return places;
    }

    /** What a request is about that can be read. */
    Place place(String request) {
        String[] parts = (request + " ").split("[ ?]", -1);
        String asked = parts[1];
        for (var path : root.path("paths").properties()) {
            if (asked.matches(path.getKey().replaceAll("\\{[^}]*}", "[\\\\w-][\\\\w.-]*"))) {
                String method = parts[0].toLowerCase(Locale.ROOT);
                return METHODS.contains(method) && path.getValue().has(method)
                        ? place(path.getKey(), method)
                        : other(path.getValue().path("x-other-method").asText("otherMethod"));
            }
        }
        // behind three slashes the server reads no path of the interface
        String understood =
                asked.startsWith("///") ? "" : asked.replaceAll(";[^/]*", "").replaceAll("/+", "/");
        if (understood.equals("/sdk/sts")) {
            return place("/sdk/sts", "post");
        }
        // generated clients escape what they are given as a key
        String method = parts[0].toLowerCase(Locale.ROOT);
        if (asked.matches("/sign/[^/;]+") && List.of("post", "options").contains(method)) {
            return place("/sign/{key}", method);
        }
        return understood.startsWith("/sdk/aws/")
                ? place("/sdk/aws/{key}", "get")
                : other("otherPath");
    }

    /** One of {@code x-other-requests}. */
    Place other(String name) {
        return new Place(name, root.path("x-other-requests").path(name).path("responses"));
    }

    private Place place(String path, String method) {
        return new Place(
                upper(method) + " " + path,
                root.path("paths").path(path).path(method).path("responses"));
    }

    private static String upper(String method) {
        return method.toUpperCase(Locale.ROOT);
    }

    /** What is wrong with an answer; nothing if it is as the document says. */
    List<String> problems(Place place, RawAnswer answer, boolean withBody) {
        JsonNode response = resolved(place.responses().path(Integer.toString(answer.status())));
        if (response.isMissingNode()) {
            return List.of("status %d isn't documented".formatted(answer.status()));
        }
        List<String> problems = headerProblems(response.path("headers"), answer);
        if (withBody) {
            problems.addAll(bodyProblems(response.path("content"), answer));
        }
        return problems;
    }

    private List<String> headerProblems(JsonNode documented, RawAnswer answer) {
        List<String> problems = new ArrayList<>();
        Set<String> known = new TreeSet<>(OF_HTTP);
        for (var entry : documented.properties()) {
            JsonNode header = resolved(entry.getValue());
            String name = entry.getKey().toLowerCase(Locale.ROOT);
            known.add(name);
            if (answer.headers().containsKey(name)) {
                check(header.path("schema"), headerValue(header, answer.header(name)))
                        .forEach(problem -> problems.add("header " + name + ": " + problem));
            } else if (header.path("required").asBoolean()) {
                problems.add("header %s is missing".formatted(name));
            }
        }
        answer.headers().keySet().stream()
                .filter(name -> !known.contains(name))
                .forEach(name -> problems.add("header %s isn't documented".formatted(name)));
        return problems;
    }

    private JsonNode headerValue(JsonNode header, String value) {
        JsonNode schema = resolved(header.path("schema"));
        boolean number =
                schema.path("type").asText().equals("integer") || schema.path("const").isNumber();
        return number && value.matches("[0-9]{1,18}")
                ? LongNode.valueOf(Long.parseLong(value))
                : TextNode.valueOf(value);
    }

    private List<String> bodyProblems(JsonNode content, RawAnswer answer) {
        if (content.isMissingNode()) {
            return answer.body().isEmpty() ? List.of() : List.of("there is a body");
        }
        String type = answer.header("content-type");
        if (!content.has(type)) {
            return List.of("content type '%s' isn't documented".formatted(type));
        }
        return check(content.path(type).path("schema"), read(type, answer.body()));
    }

    private static JsonNode read(String type, String body) {
        if (!type.equals("application/json")) {
            return TextNode.valueOf(body);
        }
        try {
            return JSON.readTree(body);
        } catch (JsonProcessingException e) {
            return TextNode.valueOf("no JSON: " + body);
        }
    }

    /** What is wrong with a value by a schema of the document. */
    List<String> check(JsonNode schema, JsonNode value) {
        return schemas.computeIfAbsent(schema, this::compile).validate(value).stream()
                .map(Object::toString)
                .toList();
    }

    /** Its references lead into the components, so it takes them along. */
    private Schema compile(JsonNode schema) {
        ObjectNode whole = schema.deepCopy();
        whole.set("components", root.path("components"));
        return registry.getSchema(whole);
    }

    /** What documented requests and answers look like, with the schemas that they follow. */
    List<Example> examples() {
        List<Example> examples = new ArrayList<>();
        collect("#", root, examples);
        return examples;
    }

    /**
     * An example.
     *
     * @param where in the document
     */
    record Example(String where, JsonNode schema, JsonNode value) {}

    private void collect(String where, JsonNode node, List<Example> examples) {
        if (node.has("schema") && node.has("example")) {
            examples.add(new Example(where, node.path("schema"), node.path("example")));
        }
        if (node.has("schema")) {
            node.path("examples")
                    .properties()
                    .forEach(example ->
                            examples.add(
                                    new Example(
                                            where + "/" + example.getKey(),
                                            node.path("schema"),
                                            example.getValue().path("value"))));
        }
        node.properties()
                .forEach(
                        child -> collect(where + "/" + child.getKey(), child.getValue(), examples));
    }
}
