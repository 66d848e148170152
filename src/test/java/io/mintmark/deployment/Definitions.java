package io.mintmark.deployment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;

import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** Custom resource definitions, with which a cluster checks objects of their kinds. */
final class Definitions {
    private static final int LARGEST = 1 << 24;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final SchemaRegistry SCHEMAS =
            SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

    private final Map<String, Schema> schemas = new HashMap<>();

    /** Those of a folder. */
    Definitions(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                add(JSON.valueToTree(yaml().load(Files.readString(file))));
            }
        }
    }

    /** A definition is larger than what the parser usually takes. */
    private static Yaml yaml() {
        LoaderOptions options = new LoaderOptions();
        options.setCodePointLimit(LARGEST);
        return new Yaml(new SafeConstructor(options));
    }

    private void add(JsonNode definition) {
        JsonNode spec = definition.get("spec");
        for (JsonNode version : spec.get("versions")) {
            JsonNode schema = version.at("/schema/openAPIV3Schema");
            close(schema);
            String kind =
                    "%s/%s %s"
                            .formatted(
                                    spec.get("group").asText(),
                                    version.get("name").asText(),
                                    spec.at("/names/kind").asText());
            schemas.put(kind, SCHEMAS.getSchema(schema));
        }
    }

    /** Lets an object have no other fields than its schema has, as kubectl does. */
    private static void close(JsonNode schema) {
        if (schema instanceof ObjectNode object
                && schema.path("properties").isObject()
                && !schema.has("additionalProperties")
                && !schema.path("x-kubernetes-preserve-unknown-fields").asBoolean()) {
            object.put("additionalProperties", false);
        }
        schema.path("properties").forEach(Definitions::close);
        close(schema.path("items"), schema.path("additionalProperties"));
    }

    private static void close(JsonNode... inner) {
        Stream.of(inner).filter(JsonNode::isObject).forEach(Definitions::close);
    }

    boolean know(String kind) {
        return schemas.containsKey(kind);
    }

    /** What a cluster would say against an object of a kind that is known. */
    List<String> problems(String kind, Map<String, Object> object) {
        return Objects.requireNonNull(schemas.get(kind))
                .validate(JSON.<JsonNode>valueToTree(object))
                .stream()
                .map(Object::toString)
                .toList();
    }
}
