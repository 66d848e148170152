package io.mintmark;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.core.domain.properties.HasParameterTypes.Predicates.rawParameterTypes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import static org.junit.jupiter.api.Assertions.assertEquals;

import static java.util.Map.entry;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.ObjectCodec;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;

import io.mintmark.identity.BrokerIdentity;
import io.mintmark.identity.TokenOrder;
import io.mintmark.json.JacksonFactories;
import io.mintmark.json.StrictJson;
import io.mintmark.outbound.GuardedHttp;
import io.mintmark.outbound.Secret;
import io.mintmark.outbound.TenantHttpClients;

import org.apache.hc.client5.http.classic.HttpClient;

import java.net.Socket;
import java.net.URLConnection;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The packages of the code, and which others each may use. Arrows point one way. */
@AnalyzeClasses(packages = "io.mintmark", importOptions = PackagesTest.WithoutTests.class)
class PackagesTest {

    /** Whatever folder the build puts the tests' classes into. */
    static final class WithoutTests implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("/test-classes/");
        }
    }

    /** Who may know whom, in the order of docs/internals/architecture.md, which a test compares. */
    static final Map<String, Set<String>> MAY_USE =
            Map.ofEntries(
                    entry("verdict", Set.of()),
                    entry("tenant", Set.of()),
                    entry("credential", Set.of()),
                    entry("json", Set.of()),
                    entry("trace", Set.of()),
                    entry("thread", Set.of()),
                    entry("file", Set.of()),
                    entry("time", Set.of("thread")),
                    entry("config", Set.of("file")),
                    entry("outbound", Set.of("config", "thread")),
                    entry("limit", Set.of("config")),
                    entry("logging", Set.of("config", "time")),
                    entry("audit", Set.of("tenant", "time", "thread")),
                    entry("token", Set.of("verdict", "tenant", "outbound", "time")),
                    entry("identity", Set.of("tenant", "outbound", "thread", "file")),
                    entry("grant", Set.of("token", "verdict", "tenant", "time", "thread")),
                    entry(
                            "mint",
                            Set.of(
                                    "identity",
                                    "outbound",
                                    "verdict",
                                    "tenant",
                                    "credential",
                                    "time",
                                    "thread")),
                    entry(
                            "exchange",
                            Set.of(
                                    "token",
                                    "grant",
                                    "mint",
                                    "audit",
                                    "verdict",
                                    "tenant",
                                    "credential",
                                    "time",
                                    "trace")),
                    entry("revocation", Set.of("grant", "mint", "verdict", "tenant")),
                    entry("ending", Set.of("mint", "audit", "verdict", "tenant", "time", "thread")),
                    entry("health", Set.of("audit", "grant", "identity", "verdict", "tenant")),
                    entry(
                            "postgres",
                            Set.of(
                                    "audit",
                                    "grant",
                                    "revocation",
                                    "ending",
                                    "token",
                                    "verdict",
                                    "tenant",
                                    "credential",
                                    "time",
                                    "thread")),
                    // beyond its own: the token that it takes from a request, and its ports
                    entry(
                            "http",
                            Set.of(
                                    "exchange",
                                    "grant",
                                    "revocation",
                                    "health",
                                    "limit",
                                    "identity",
                                    "verdict",
                                    "tenant",
                                    "time",
                                    "thread",
                                    "file",
                                    "token",
                                    "config",
                                    "trace")),
                    // pages for people: reads of its own, and the guarded port
                    entry(
                            "console",
                            Set.of(
                                    "postgres",
                                    "audit",
                                    "credential",
                                    "http",
                                    "limit",
                                    "token",
                                    "outbound",
                                    "verdict",
                                    "tenant",
                                    "time",
                                    "thread",
                                    "config")),
                    // those that it measures
                    entry(
                            "metrics",
                            Set.of(
                                    "http",
                                    "exchange",
                                    "ending",
                                    "grant",
                                    "audit",
                                    "health",
                                    "postgres",
                                    "token",
                                    "verdict",
                                    "tenant",
                                    "file",
                                    "thread")));

    /** The composition root knows all of them, and the commands know it. */
    static final String WIRING = "wiring";

    static final String COMMANDS = "cli";

    /**
     * Every package uses only those that it may; all may use {@link Secret} and {@link StrictJson}.
     */
    @ArchTest
    static final ArchRule PACKAGES =
            packages()
                    .ignoreDependency(
                            alwaysTrue(),
                            belongToAnyOf(Secret.class, StrictJson.class, JacksonFactories.class));

    private static LayeredArchitecture packages() {
        LayeredArchitecture layers =
                layeredArchitecture()
                        .consideringOnlyDependenciesInLayers()
                        .layer(WIRING)
                        .definedBy("io.mintmark.wiring..")
                        .layer(COMMANDS)
                        .definedBy("io.mintmark", "io.mintmark.cli..");
        for (String name : MAY_USE.keySet()) {
            layers = layers.layer(name).definedBy("io.mintmark." + name + "..");
        }
        for (Map.Entry<String, Set<String>> rule : MAY_USE.entrySet()) {
            layers =
                    rule.getValue().isEmpty()
                            ? layers.whereLayer(rule.getKey()).mayNotAccessAnyLayer()
                            : layers.whereLayer(rule.getKey())
                                    .mayOnlyAccessLayers(rule.getValue().toArray(String[]::new));
        }
        return layers.whereLayer(WIRING)
                .mayOnlyBeAccessedByLayers(COMMANDS)
                .whereLayer("logging")
                .mayOnlyBeAccessedByLayers(COMMANDS)
                .whereLayer(COMMANDS)
                .mayNotBeAccessedByAnyLayer();
    }

    /** A package without a rule could use every other. */
    @ArchTest
    static void every_package_has_its_rule(JavaClasses classes) {
        Set<String> packages = new TreeSet<>(MAY_USE.keySet());
        packages.addAll(Set.of(WIRING, COMMANDS));

        assertEquals(
                packages,
                classes.stream()
                        .map(JavaClass::getPackageName)
                        .filter(name -> name.startsWith("io.mintmark."))
                        .map(name -> name.split("\\.", -1)[2])
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @ArchTest
    static final ArchRule NO_CYCLES =
            slices().matching("io.mintmark.(*)..").should().beFreeOfCycles();

    /** The same of the packages inside them: of two, one at most uses the other. */
    @ArchTest
    static final ArchRule NO_CYCLES_INSIDE =
            slices().matching("io.mintmark.(**)").should().beFreeOfCycles();

    /** It mints at tenants' own servers, and never sees the broker's database. */
    private static final String TENANTS_SERVERS = "io.mintmark.mint.postgresql..";

    /** The console asks its own questions, over connections that it is given. */
    @ArchTest
    static final ArchRule ONLY_POSTGRES_AND_THE_CONSOLE_TALK_SQL =
            noClasses()
                    .that()
                    .resideOutsideOfPackages(
                            "io.mintmark.postgres..", "io.mintmark.console..", TENANTS_SERVERS)
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("java.sql..");

    @ArchTest
    static final ArchRule ONLY_POSTGRES_CONNECTS_TO_IT =
            noClasses()
                    .that()
                    .resideOutsideOfPackages("io.mintmark.postgres..", TENANTS_SERVERS)
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "org.postgresql..",
                            "io.helidon.dbclient..",
                            "org.flywaydb..",
                            "com.zaxxer..");

    @ArchTest
    static final ArchRule ONLY_HTTP_AND_THE_CONSOLE_KNOW_THE_WEB_SERVER =
            noClasses()
                    .that()
                    .resideOutsideOfPackages("io.mintmark.http..", "io.mintmark.console..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("io.helidon.webserver..", "io.helidon.http..");

    /** Its default buffers stay with each thread, and each connection has one. */
    @ArchTest
    static final ArchRule JACKSON_HAS_BOUNDED_BUFFERS =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("io.mintmark.json")
                    .should()
                    .callMethodWhere(
                            target(nameMatching("builder"))
                                    .and(
                                            target(
                                                    owner(
                                                            belongToAnyOf(
                                                                    JsonMapper.class,
                                                                    JsonFactory.class))))
                                    .and(target(rawParameterTypes(new Class<?>[0]))))
                    .orShould()
                    .callConstructor(ObjectMapper.class)
                    .orShould()
                    .callConstructor(JsonMapper.class)
                    .orShould()
                    .callConstructor(JsonFactory.class);

    /** What it refuses to send must not go another way. */
    @ArchTest
    static final ArchRule BROKER_TOKENS_GO_THROUGH_ONE_PLACE =
            noClasses()
                    .that()
                    .doNotHaveFullyQualifiedName("io.mintmark.mint.BrokerTokens")
                    .should()
                    .callMethod(BrokerIdentity.class, "token", TokenOrder.class)
                    .orShould()
                    .callMethod(BrokerIdentity.class, "insteadOf", Secret.class);

    /**
     * Only {@link TenantHttpClients} ask right before the first byte whether the decision still
     * holds.
     */
    @ArchTest
    static final ArchRule PROVIDERS_ARE_CALLED_THROUGH_ONE_PLACE =
            noClasses()
                    .that()
                    .resideInAPackage("io.mintmark.mint..")
                    .should()
                    .dependOnClassesThat()
                    .areAssignableTo(GuardedHttp.class)
                    .orShould()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "java.net.http..", "javax.net..", "org.apache.hc.client5.http.impl..")
                    .orShould()
                    .dependOnClassesThat()
                    .belongToAnyOf(
                            HttpClient.class,
                            Socket.class,
                            SocketChannel.class,
                            URLConnection.class);

    /**
     * Other readers take members twice, or make numbers of a million digits. Nimbus may parse what
     * the broker has signed itself, and keys that were read before.
     */
    @ArchTest
    static final ArchRule JSON_FROM_OUTSIDE_GOES_THROUGH_ONE_READER =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "io.mintmark.token..",
                            "io.mintmark.outbound..",
                            "io.mintmark.identity..",
                            "io.mintmark.mint..",
                            "io.mintmark.http..")
                    .and()
                    .doNotHaveFullyQualifiedName("io.mintmark.identity.BuiltInIdentity")
                    .should()
                    .callMethodWhere(
                            target(owner(assignableTo(ObjectCodec.class)))
                                    .and(target(nameMatching("read.*"))))
                    .orShould()
                    .callMethodWhere(
                            target(
                                            owner(
                                                    resideInAnyPackage(
                                                            "com.nimbusds.jwt..",
                                                            "com.nimbusds.jose.jwk..",
                                                            "com.nimbusds.jose.util..")))
                                    .and(target(nameMatching("parse")))
                                    .and(target(rawParameterTypes(String.class))));
}
