package io.mintmark;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.core.domain.properties.HasParameterTypes.Predicates.rawParameterTypes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
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

import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.TokenOrder;

import org.apache.hc.client5.http.classic.HttpClient;

import java.net.Socket;
import java.net.URLConnection;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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

    /**
     * The parts of the code, and which others each may use; docs/internals/architecture.md draws
     * them.
     */
    static final Map<String, Set<String>> PARTS =
            Map.of(
                    "base", Set.of(),
                    "audit", Set.of("base"),
                    "provider", Set.of("base"),
                    "broker", Set.of("provider", "audit", "base"),
                    "auditor", Set.of("broker", "audit", "base"),
                    "console", Set.of("auditor", "broker", "audit", "base"),
                    "admin", Set.of("console", "auditor", "broker", "provider", "audit", "base"));

    /**
     * Packages of a part that other parts than {@code admin} may use, where it isn't all of them.
     */
    private static final Map<String, Set<String>> OF_BROKER =
            Map.of(
                    "auditor", Set.of("token", "grant", "catalogue"),
                    "console", Set.of("token"));

    /**
     * Which packages of its own part each package may use; a package without a line may use none.
     */
    static final Map<String, Set<String>> MAY_USE =
            Map.ofEntries(
                    entry("base.config", Set.of("base.file")),
                    entry("base.key", Set.of("base.outbound", "base.pkcs11")),
                    entry("base.limit", Set.of("base.config")),
                    entry("base.pkcs11", Set.of("base.config", "base.limit", "base.thread")),
                    entry("base.logging", Set.of("base.config", "base.json", "base.time")),
                    entry(
                            "base.outbound",
                            Set.of(
                                    "base.file",
                                    "base.config",
                                    "base.json",
                                    "base.limit",
                                    "base.tenant",
                                    "base.thread")),
                    entry("base.health", Set.of("base.thread", "base.verdict")),
                    entry("base.http.observe", Set.of("base.config")),
                    entry("base.metrics", Set.of("base.file", "base.health", "base.thread")),
                    entry("base.output", Set.of("base.json")),
                    entry("base.time", Set.of("base.thread")),
                    entry(
                            "base.http.tls",
                            Set.of("base.config", "base.file", "base.key", "base.thread")),
                    entry(
                            "base.http.connection",
                            Set.of("base.http.tls", "base.limit", "base.config", "base.thread")),
                    entry(
                            "base.http.request",
                            Set.of(
                                    "base.http.connection",
                                    "base.limit",
                                    "base.config",
                                    "base.trace")),
                    entry("base.sql", Set.of("base.config", "base.time")),
                    entry("base.schema", Set.of("base.sql", "base.config", "base.canonical")),
                    entry(
                            "base.start",
                            Set.of(
                                    "base.config",
                                    "base.http.tls",
                                    "base.outbound",
                                    "base.sql",
                                    "base.thread")),
                    entry(
                            "audit.checkpoint",
                            Set.of("audit.canonical", "audit.chain", "audit.note", "audit.tree")),
                    entry("audit.note", Set.of("audit.tree")),
                    entry("audit.witness", Set.of("audit.log", "audit.note", "audit.tree")),
                    entry(
                            "audit.log",
                            Set.of(
                                    "audit",
                                    "audit.chain",
                                    "audit.checkpoint",
                                    "audit.canonical",
                                    "audit.tree")),
                    entry("broker.grant", Set.of("broker.token")),
                    entry("broker.approval", Set.of("broker.token", "broker.catalogue")),
                    entry(
                            "broker.exchange",
                            Set.of("broker.token", "broker.grant", "broker.approval")),
                    entry("broker.catalogue", Set.of("broker.token", "broker.grant")),
                    entry("broker.revocation", Set.of("broker.grant", "broker.catalogue")),
                    entry("broker.lease", Set.of("broker.catalogue")),
                    entry("broker.notice", Set.of("broker.catalogue")),
                    entry(
                            "broker.http",
                            Set.of(
                                    "broker.exchange",
                                    "broker.approval",
                                    "broker.grant",
                                    "broker.token",
                                    "broker.revocation",
                                    "broker.identity")),
                    entry(
                            "broker.metrics",
                            Set.of(
                                    "broker.http",
                                    "broker.exchange",
                                    "broker.grant",
                                    "broker.token",
                                    "broker.lease",
                                    "broker.notice")),
                    entry(
                            "broker.wiring",
                            Set.of(
                                    "broker.http",
                                    "broker.exchange",
                                    "broker.approval",
                                    "broker.grant",
                                    "broker.token",
                                    "broker.catalogue",
                                    "broker.revocation",
                                    "broker.lease",
                                    "broker.notice",
                                    "broker.identity",
                                    "broker.metrics")),
                    entry("auditor.reader", Set.of("auditor.verify")),
                    entry("auditor.result", Set.of("auditor.verify")),
                    entry(
                            "auditor.command",
                            Set.of(
                                    "auditor.verify",
                                    "auditor.reader",
                                    "auditor.result",
                                    "auditor.export",
                                    "auditor.explain",
                                    "auditor.witness")));

    /** Inside these, packages have no cycles, which is all that is asked of them. */
    private static final Set<String> FREE_INSIDE = Set.of("provider", "console", "admin");

    private static final String ROOT = "io.mintmark.";

    /** What mints, or leads to it. */
    private static final String[] MINTING = {
        "io.mintmark.provider..",
        "io.mintmark.broker.exchange..",
        "io.mintmark.broker.identity..",
        "io.mintmark.broker.lease..",
        "io.mintmark.broker.http..",
        "io.mintmark.broker.wiring.."
    };

    @ArchTest
    static void a_part_uses_only_those_below_it(JavaClasses classes) {
        assertEquals(
                List.of(),
                dependencies(classes)
                        .filter(it -> !part(it.from).equals(part(it.to)))
                        .filter(it -> !mayCross(it.from, it.to))
                        .map(Arrow::text)
                        .toList());
    }

    @ArchTest
    static void inside_a_part_packages_use_only_those_that_they_may(JavaClasses classes) {
        assertEquals(
                List.of(),
                dependencies(classes)
                        .filter(it -> part(it.from).equals(part(it.to)) && !it.from.equals(it.to))
                        .filter(it -> !FREE_INSIDE.contains(part(it.from)))
                        .filter(it -> !MAY_USE.getOrDefault(it.from, Set.of()).contains(it.to))
                        .map(Arrow::text)
                        .toList());
    }

    /** A package of the broker's or of a part, as these rules know it. */
    static boolean mayUse(String from, String to) {
        return part(from).equals(part(to))
                ? from.equals(to) || MAY_USE.getOrDefault(from, Set.of()).contains(to)
                : mayCross(from, to);
    }

    private static boolean mayCross(String from, String to) {
        Set<String> ofBroker = OF_BROKER.get(part(from));
        return PARTS.getOrDefault(part(from), Set.of()).contains(part(to))
                && (ofBroker == null
                        || !part(to).equals("broker")
                        || ofBroker.contains(to.substring("broker.".length())));
    }

    /** One package uses another; packages without the root that all have. */
    private record Arrow(String from, String to) {
        String text() {
            return from + " -> " + to;
        }
    }

    private static Stream<Arrow> dependencies(JavaClasses classes) {
        return classes.stream()
                .filter(type -> type.getPackageName().startsWith(ROOT))
                .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
                .filter(it -> it.getTargetClass().getPackageName().startsWith(ROOT))
                .map(it -> new Arrow(name(it.getOriginClass()), name(it.getTargetClass())))
                .distinct();
    }

    private static String name(JavaClass type) {
        return type.getPackageName().substring(ROOT.length());
    }

    private static String part(String name) {
        return name.replaceFirst("[.].*", "");
    }

    /** A part without a rule could use every other. */
    @ArchTest
    static void every_part_has_its_rule(JavaClasses classes) {
        assertEquals(
                new TreeSet<>(PARTS.keySet()),
                classes.stream()
                        .map(JavaClass::getPackageName)
                        .filter(name -> name.startsWith(ROOT))
                        .map(name -> part(name.substring(ROOT.length())))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    /** Otherwise a rule would go on to allow what nothing needs any more. */
    @ArchTest
    static void every_rule_inside_a_part_is_of_packages_that_exist(JavaClasses classes) {
        Set<String> packages =
                classes.stream()
                        .filter(type -> type.getPackageName().startsWith(ROOT))
                        .map(PackagesTest::name)
                        .collect(Collectors.toSet());
        Set<String> named = new TreeSet<>(MAY_USE.keySet());
        MAY_USE.values().forEach(named::addAll);
        named.removeAll(packages);
        assertEquals(Set.of(), named);
    }

    @ArchTest
    static final ArchRule NO_CYCLES =
            slices().matching("io.mintmark.(*)..").should().beFreeOfCycles();

    /** The same of the packages inside them: of two, one at most uses the other. */
    @ArchTest
    static final ArchRule NO_CYCLES_INSIDE =
            slices().matching("io.mintmark.(**)").should().beFreeOfCycles();

    /** Not even by way of other classes: an auditor runs them with a login that only reads. */
    @ArchTest
    static final ArchRule AUDITORS_TOOLS_REACH_NEITHER_MINTING_NOR_A_SERVER_NOR_A_CLOUD =
            noClasses()
                    .that()
                    .resideInAPackage("io.mintmark.auditor..")
                    .should()
                    .transitivelyDependOnClassesThat(
                            resideInAnyPackage(MINTING)
                                    .or(resideInAnyPackage("io.helidon..", "software.amazon..")));

    @ArchTest
    static final ArchRule THE_CONSOLE_DOES_NOT_REACH_MINTING =
            noClasses()
                    .that()
                    .resideInAPackage("io.mintmark.console..")
                    .should()
                    .transitivelyDependOnClassesThat(resideInAnyPackage(MINTING));

    /** Libraries log before the program has set up logging, and tests install it themselves. */
    @ArchTest
    static final ArchRule ONLY_COMMANDS_SET_UP_LOGGING =
            noClasses()
                    .that()
                    .resideInAnyPackage(
                            "io.mintmark.audit..",
                            "io.mintmark.provider..",
                            "io.mintmark.broker..",
                            "io.mintmark.auditor..",
                            "io.mintmark.console..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage("io.mintmark.base.logging..");

    /** It mints at tenants' own servers, and never sees the broker's database. */
    private static final String TENANTS_SERVERS = "io.mintmark.provider.postgresql..";

    /** SQL is in the packages whose tables it reads and writes. */
    private static final String[] SQL = {
        "io.mintmark.base.sql..",
        "io.mintmark.base.schema..",
        "io.mintmark.audit.log..",
        "io.mintmark.audit.canonical..",
        "io.mintmark.broker.catalogue..",
        "io.mintmark.broker.revocation..",
        "io.mintmark.broker.lease..",
        "io.mintmark.auditor.reader..",
        "io.mintmark.auditor.result..",
        "io.mintmark.auditor.export..",
        "io.mintmark.auditor.explain..",
        "io.mintmark.admin.cell..",
        "io.mintmark.admin.subject..",
        "io.mintmark.admin.tenant..",
        "io.mintmark.console..",
        TENANTS_SERVERS
    };

    @ArchTest
    static final ArchRule SQL_IS_WITH_WHAT_IT_SERVES =
            noClasses()
                    .that()
                    .resideOutsideOfPackages(SQL)
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("java.sql..");

    @ArchTest
    static final ArchRule FEW_PACKAGES_KNOW_THE_DRIVER =
            noClasses()
                    .that()
                    .resideOutsideOfPackages(
                            "io.mintmark.base.sql..",
                            "io.mintmark.base.schema..",
                            "io.mintmark.audit.log..",
                            "io.mintmark.broker.catalogue..",
                            "io.mintmark.broker.lease..",
                            "io.mintmark.broker.approval..",
                            "io.mintmark.broker.notice..",
                            "io.mintmark.auditor.reader..",
                            "io.mintmark.auditor.explain..",
                            "io.mintmark.admin.subject..",
                            TENANTS_SERVERS)
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
                    .resideOutsideOfPackages(
                            "io.mintmark.broker.http..",
                            "io.mintmark.base.http..",
                            "io.mintmark.console..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("io.helidon.webserver..", "io.helidon.http..");

    /** Its default buffers stay with each thread, and each connection has one. */
    @ArchTest
    static final ArchRule JACKSON_HAS_BOUNDED_BUFFERS =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("io.mintmark.base.json")
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
                    .doNotHaveFullyQualifiedName("io.mintmark.provider.BrokerTokens")
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
                    .resideInAPackage("io.mintmark.provider..")
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
                            "io.mintmark.broker.token..",
                            "io.mintmark.base.outbound..",
                            "io.mintmark.base.key..",
                            "io.mintmark.broker.identity..",
                            "io.mintmark.provider..",
                            "io.mintmark.broker.http..",
                            "io.mintmark.base.http..")
                    .and()
                    .doNotHaveFullyQualifiedName("io.mintmark.broker.identity.BuiltInIdentity")
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
