package io.mintmark.provider.s3sts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.endtoend.Eventually;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintingBroker;
import io.mintmark.provider.Orders;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.s3sts.Minio.Ran;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a real MinIO makes of the broker's tokens and policies; see docs/providers/s3-sts.md. */
@EnabledIfSystemProperty(
        named = Minio.HOME,
        matches = ".+",
        disabledReason = "needs a real MinIO: mvn test -Dtest=MinioTest -Dminio.home=FOLDER")
class MinioTest {
    @AutoClose private static MintingBroker broker;
    @AutoClose private static Minio minio;
    private static Path work;

    /** A credential's parts, in the order in which MinIO's client wants them. */
    private record Credential(String accessKey, String secretKey, String sessionToken) {
        Ran run(String... command) throws Exception {
            return minio.client(accessKey, secretKey, sessionToken, command);
        }

        boolean denied(String... command) {
            try {
                Ran ran = run(command);
                return ran.status() != 0 && ran.said().contains("Access Denied");
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        Ran makesAnAccessKey() throws Exception {
            return run("admin", "accesskey", "create", "it/");
        }
    }

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        work = directory;
        broker = MintingBroker.usual();
        minio = new Minio(work, broker.identity()::keySet);
    }

    @ParameterizedTest
    @ValueSource(strings = {"readwrite", "consoleAdmin"})
    void a_minted_credential_uses_storage_and_makes_no_access_key(String policy) throws Exception {
        Credential minted = minted(order(policy, ""));

        Ran bucket = minted.run("mb", "it/" + policy.toLowerCase(Locale.ROOT));
        Ran lasting = minted.makesAnAccessKey();

        assertEquals(0, bucket.status(), bucket.said());
        assertNotEquals(0, lasting.status(), lasting.said());
        assertTrue(lasting.said().contains("Access Denied"), lasting.said());
    }

    @ParameterizedTest
    @ValueSource(strings = {"s3:*", "*", "admin:*"})
    void nor_does_one_whose_key_has_a_policy_that_would_allow_it(String action) throws Exception {
        Credential minted =
                minted(
                        order(
                                "consoleAdmin",
                                "'policy':{'Version':'2012-10-17','Statement':[{'Effect':'Allow','Action':['%s']%s}]}"
                                        .formatted(
                                                action,
                                                action.startsWith("admin")
                                                        ? ""
                                                        : ",'Resource':['arn:aws:s3:::*']")));

        Ran lasting = minted.makesAnAccessKey();

        assertNotEquals(0, lasting.status(), lasting.said());
        assertTrue(lasting.said().contains("Access Denied"), lasting.said());
    }

    @Test
    void a_policy_that_denies_a_tokens_jti_ends_that_credential_alone() throws Exception {
        assertEquals(0, policy("").status());
        Credential minted = minted(order("ending", ""));
        assertEquals(0, minted.run("mb", "it/ended").status());

        Ran ofAnother = policy(deny("01980f5e-8a00-7000-8000-fedcba987654"));
        assertEquals(0, ofAnother.status(), ofAnother.said());
        Ran lists = minted.run("ls", "it/ended");
        assertEquals(0, lists.status(), lists.said());

        assertEquals(0, policy(deny(Orders.MINT_ID.toString())).status());
        Eventually.holds(() -> minted.denied("ls", "it/ended"));
    }

    /** As {@code mintmark block-subject} prints it. */
    private static String deny(String jti) {
        return """
        ,{"Effect":"Deny","Action":["s3:*"],"Resource":["arn:aws:s3:::*"],
          "Condition":{"StringEquals":{"jwt:jti":["%s"]}}}
        """
                .formatted(jti);
    }

    /** Writes the policy that all of storage is allowed, but for a statement. */
    private static Ran policy(String statement) throws Exception {
        Path file =
                Files.writeString(
                        work.resolve("ending.json"),
                        """
                        {"Version":"2012-10-17","Statement":[
                         {"Effect":"Allow","Action":["s3:*"],"Resource":["arn:aws:s3:::*"]}%s]}
                        """
                                .formatted(statement));
        return minio.root("admin", "policy", "create", "it", "ending", file.toString());
    }

    /** What the broker's statement is there against. */
    @Test
    void without_a_session_policy_a_credential_makes_a_lasting_one() throws Exception {
        Ran lasting = withoutPolicy().makesAnAccessKey();

        assertEquals(0, lasting.status(), lasting.said());
    }

    @Test
    void a_token_for_another_is_the_brokers_identity_rejected() {
        Failed failed =
                broker.failed(
                        Orders.of(
                                "s3-sts",
                                "{'endpoint':'%s','audience':'another'}"
                                        .formatted(minio.endpoint()),
                                "{}"));

        assertEquals(Reason.BROKER_IDENTITY_REJECTED, failed.reason(), failed.detail());
    }

    @Test
    void a_token_signed_with_a_key_that_it_does_not_know_is_the_brokers_identity_rejected() {
        try (MintingBroker stranger = MintingBroker.usual()) {
            Failed failed = stranger.failed(order("readwrite", ""));

            assertEquals(Reason.BROKER_IDENTITY_REJECTED, failed.reason(), failed.detail());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "'role_arn':'arn:minio:iam:::role/unknown'",
                "'policy':{'Version':'2012-10-17','Statement':[{'Effect':'Allow','Action':['s3:Nothing'],'Resource':['*']}]}",
                "'policy':{'Statement':[]}"
            })
    void what_a_key_asks_for_in_vain_is_misconfigured(String key) {
        Failed failed =
                broker.failed(
                        Orders.of(
                                "s3-sts",
                                "{'endpoint':'%s','policy_claim':{'name':'policy','value':'%s'}}"
                                        .formatted(
                                                minio.endpoint(),
                                                key.contains("role") ? "unknown" : "readwrite"),
                                "{" + key + "}"));

        assertEquals(Reason.PROVIDER_MISCONFIGURED, failed.reason(), failed.detail());
    }

    private static Orders order(String policy, String key) {
        return Orders.of(
                "s3-sts",
                "{'endpoint':'%s','policy_claim':{'name':'policy','value':'%s'}}"
                        .formatted(minio.endpoint(), policy),
                "{" + key + "}");
    }

    private static Credential minted(Orders order) {
        Minted minted = broker.minted(order);
        return new Credential(
                MintingBroker.field(minted, "AccessKeyId"),
                MintingBroker.field(minted, "SecretAccessKey"),
                MintingBroker.field(minted, "SessionToken"));
    }

    /** Asked for without the broker, with a token of its. */
    private static Credential withoutPolicy() throws Exception {
        MintOrder order = order("readwrite", "").order();
        String token =
                broker.identity()
                        .token(
                                new TokenOrder(
                                        order.tenant(),
                                        order.key(),
                                        order.mintId(),
                                        minio.endpoint(),
                                        false,
                                        Map.of("policy", "readwrite")))
                        .reveal();
        String form =
                "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&DurationSeconds=3600&WebIdentityToken="
                        + URLEncoder.encode(token, StandardCharsets.UTF_8);
        try (HttpClient client = HttpClient.newHttpClient()) {
            String answer =
                    client.send(
                                    HttpRequest.newBuilder(URI.create(minio.endpoint()))
                                            .header(
                                                    "Content-Type",
                                                    "application/x-www-form-urlencoded")
                                            .POST(BodyPublishers.ofString(form))
                                            .build(),
                                    BodyHandlers.ofString())
                            .body();
            return new Credential(
                    part(answer, "AccessKeyId"),
                    part(answer, "SecretAccessKey"),
                    part(answer, "SessionToken"));
        }
    }

    private static String part(String xml, String name) {
        Matcher part = Pattern.compile("<%1$s>([^<]*)</%1$s>".formatted(name)).matcher(xml);
        assertTrue(part.find(), xml);
        return part.group(1);
    }
}
