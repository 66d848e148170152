package io.mintmark.broker.catalogue;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.broker.identity.BuiltInIdentity;
import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.UnusableSettingsException;
import io.mintmark.provider.awssts.AwsSts;
import io.mintmark.provider.azure.Azure;
import io.mintmark.provider.gcp.GoogleCloud;
import io.mintmark.provider.githubapp.GitHubApp;
import io.mintmark.provider.jwt.JwtProvider;
import io.mintmark.provider.kubernetes.Kubernetes;
import io.mintmark.provider.oauth2.OAuth2;
import io.mintmark.provider.postgresql.PostgresProvider;
import io.mintmark.provider.s3sts.S3Sts;
import io.mintmark.provider.ssh.SshProvider;
import io.mintmark.provider.sts.StsCaller;
import io.mintmark.provider.sts.StsClients;
import io.mintmark.provider.types.CredentialTypes;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.TokenCalls;
import io.mintmark.provider.webhook.Webhook;
import io.mintmark.provider.x509.X509Provider;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/** The rules in {@code broker.provider_type} are those of the code. */
class ProviderTypesTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final InstantSource CLOCK = InstantSource.system();

    @TempDir Path keys;

    @TestFactory
    Stream<DynamicTest> a_type_is_described_as_it_is() {
        var identity =
                new BuiltInIdentity(
                        "https://broker.example",
                        new KeyDirectory(keys).withP256("2026-01-01").path(),
                        CLOCK);
        var allowed = new Destinations(List.of());
        var tokens = new TokenDestinations(allowed);
        var http = new TenantHttpClients(allowed);
        var calls = new Calls(http, CLOCK, RandomGenerator.getDefault());
        var sts = new StsCaller(StsClients.over(http), calls);
        var tokenCalls = new TokenCalls(calls, CLOCK);
        return Stream.of(
                        new AwsSts(identity, tokens, sts),
                        new S3Sts(identity, tokens, sts),
                        new GoogleCloud(identity, tokens, calls, CLOCK),
                        new Azure(identity, tokens, tokenCalls),
                        new OAuth2(
                                identity,
                                identity,
                                new SettingSecrets(new SecretFiles(Optional.empty())),
                                tokens,
                                tokenCalls),
                        new GitHubApp(
                                new SettingSecrets(new SecretFiles(Optional.empty())),
                                tokens,
                                calls,
                                CLOCK),
                        new Kubernetes(
                                identity,
                                new SettingSecrets(new SecretFiles(Optional.empty())),
                                tokens,
                                calls),
                        new SshProvider(
                                new SettingSecrets(new SecretFiles(Optional.empty())),
                                CLOCK,
                                new SecureRandom()),
                        new X509Provider(
                                new SettingSecrets(new SecretFiles(Optional.empty())), CLOCK),
                        new Webhook(
                                identity,
                                new SettingSecrets(new SecretFiles(Optional.empty())),
                                tokens,
                                calls),
                        new PostgresProvider(
                                "https://broker.example",
                                new SettingSecrets(new SecretFiles(Optional.empty())),
                                allowed,
                                CLOCK,
                                new SecureRandom()),
                        new JwtProvider(identity))
                .map(type -> dynamicTest(type.type().name(), () -> check(type)));
    }

    @Test
    void the_program_and_the_database_know_the_same_types() {
        try (TestDatabase database = TestDatabase.migrated()) {
            assertEquals(
                    CredentialTypes.byName().keySet(),
                    Set.copyOf(database.column("SELECT type FROM broker.provider_type")));
        }
    }

    private static void check(AccessProvider type) {
        JsonNode row = row(type.type().name());
        String target = row.path("target_setting").asText();
        ObjectNode provider = TypeExamples.of(row.path("provider_settings"));
        ObjectNode examples = TypeExamples.of(row.path("key_settings"));
        ObjectNode misspelt = examples.deepCopy().put("misspelt", "x");
        List<String> aims =
                Stream.concat(
                                Stream.of(target),
                                row.path("further_targets").valueStream().map(JsonNode::asText))
                        .toList();
        boolean required = row.at("/key_settings/" + target + "/required").booleanValue();
        // what stands beside a target that can be left out may need it
        ObjectNode aimless = required ? examples.deepCopy() : examples.deepCopy().retain(aims);
        aimless.remove(target);
        assertAll(
                () ->
                        assertEquals(
                                JSON.convertValue(row.path("default_outputs"), Map.class),
                                type.type().defaultOutputs()),
                () ->
                        assertEquals(
                                JSON.convertValue(row.path("fields"), Set.class),
                                type.type().fields()),
                () ->
                        assertEquals(
                                targets(aims, row, examples),
                                type.prepare(provider, examples).targets()),
                () ->
                        assertEquals(
                                "key setting 'misspelt' is not a setting of this type",
                                refusal(type, provider, misspelt)),
                () -> {
                    if (row.at("/key_settings/permissions").has("needs_one_of")) {
                        assertEquals(
                                "key setting 'repositories' or repository_ids or all_repositories"
                                        + " is required, and only one of them",
                                refusal(type, provider, aimless));
                    } else if (required) {
                        assertEquals(
                                "key setting '%s' is missing".formatted(target),
                                refusal(type, provider, aimless));
                    } else {
                        assertEquals(
                                targets(aims, row, aimless),
                                type.prepare(provider, aimless).targets());
                    }
                },
                () ->
                        assertFalse(
                                type.prepare(provider, examples).usesSharedIdentity(),
                                "the examples are of the tenant's own identity"));
    }

    /** What the database takes for the targets of a key. */
    private static List<String> targets(List<String> aims, JsonNode row, JsonNode settings) {
        try (TestDatabase database = TestDatabase.migrated()) {
            return aims.stream()
                    .filter(settings::has)
                    .flatMap(aim ->
                            database
                                    .column(
                                            "SELECT internal.targets('%s', '%s')"
                                                    .formatted(
                                                            row.path("key_settings").get(aim),
                                                            settings.get(aim)))
                                    .stream())
                    .toList();
        }
    }

    private static String refusal(AccessProvider type, JsonNode provider, JsonNode key) {
        return assertThrows(UnusableSettingsException.class, () -> type.prepare(provider, key))
                .getMessage();
    }

    private static JsonNode row(String type) {
        try (TestDatabase database = TestDatabase.migrated()) {
            return TypeExamples.json(
                    database.value(
                            "SELECT to_jsonb(t) FROM broker.provider_type AS t WHERE type = '%s'"
                                    .formatted(type)));
        }
    }
}
