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

import com.fasterxml.jackson.core.ObjectCodec;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import io.mintmark.identity.BrokerIdentity;
import io.mintmark.identity.TokenOrder;
import io.mintmark.json.StrictJson;
import io.mintmark.outbound.Secret;

/** The rooms of the code and who may know whom. Arrows point one way. */
@AnalyzeClasses(packages = "io.mintmark", importOptions = RoomsTest.WithoutTests.class)
class RoomsTest {

    /** Whatever folder the build puts the tests' classes into. */
    static final class WithoutTests implements ImportOption {
        @Override
        public boolean includes(Location location) {
            return !location.contains("/test-classes/");
        }
    }

    /**
     * Every room knows only those that it may; {@link Secret} and {@link StrictJson} may be known
     * by all.
     */
    @ArchTest
    static final ArchRule ROOMS =
            layeredArchitecture()
                    .consideringOnlyDependenciesInLayers()
                    .layer("verdict")
                    .definedBy("io.mintmark.verdict..")
                    .layer("tenant")
                    .definedBy("io.mintmark.tenant..")
                    .layer("config")
                    .definedBy("io.mintmark.config..")
                    .layer("outbound")
                    .definedBy("io.mintmark.outbound..")
                    .layer("json")
                    .definedBy("io.mintmark.json..")
                    .layer("token")
                    .definedBy("io.mintmark.token..")
                    .layer("grant")
                    .definedBy("io.mintmark.grant..")
                    .layer("identity")
                    .definedBy("io.mintmark.identity..")
                    .layer("mint")
                    .definedBy("io.mintmark.mint..")
                    .layer("audit")
                    .definedBy("io.mintmark.audit..")
                    .layer("exchange")
                    .definedBy("io.mintmark.exchange..")
                    .layer("limit")
                    .definedBy("io.mintmark.limit..")
                    .layer("health")
                    .definedBy("io.mintmark.health..")
                    .layer("postgres")
                    .definedBy("io.mintmark.postgres..")
                    .layer("http")
                    .definedBy("io.mintmark.http..")
                    .layer("metrics")
                    .definedBy("io.mintmark.metrics..")
                    .layer("logging")
                    .definedBy("io.mintmark.logging..")
                    .layer("wiring")
                    .definedBy("io.mintmark.wiring..")
                    .layer("cli")
                    .definedBy("io.mintmark", "io.mintmark.cli..")
                    .whereLayer("verdict")
                    .mayNotAccessAnyLayer()
                    .whereLayer("tenant")
                    .mayNotAccessAnyLayer()
                    .whereLayer("config")
                    .mayNotAccessAnyLayer()
                    .whereLayer("json")
                    .mayNotAccessAnyLayer()
                    .whereLayer("outbound")
                    .mayOnlyAccessLayers("config")
                    .whereLayer("token")
                    .mayOnlyAccessLayers("verdict", "tenant", "outbound")
                    .whereLayer("grant")
                    .mayOnlyAccessLayers("token", "verdict", "tenant")
                    .whereLayer("identity")
                    .mayOnlyAccessLayers("tenant", "outbound")
                    .whereLayer("mint")
                    .mayOnlyAccessLayers("identity", "outbound", "verdict", "tenant")
                    .whereLayer("audit")
                    .mayOnlyAccessLayers("tenant")
                    .whereLayer("exchange")
                    .mayOnlyAccessLayers("token", "grant", "mint", "audit", "verdict", "tenant")
                    .whereLayer("limit")
                    .mayOnlyAccessLayers("config")
                    .whereLayer("health")
                    .mayOnlyAccessLayers("audit", "grant", "identity", "verdict", "tenant")
                    .whereLayer("postgres")
                    .mayOnlyAccessLayers("audit", "grant", "token", "verdict", "tenant")
                    .whereLayer("http")
                    // beyond its own: the token that it takes out of a request, and its ports
                    .mayOnlyAccessLayers(
                            "exchange",
                            "grant",
                            "health",
                            "limit",
                            "identity",
                            "verdict",
                            "tenant",
                            "token",
                            "config")
                    .whereLayer("metrics")
                    // those that it measures
                    .mayOnlyAccessLayers(
                            "http",
                            "exchange",
                            "grant",
                            "audit",
                            "postgres",
                            "token",
                            "verdict",
                            "tenant")
                    .whereLayer("logging")
                    .mayOnlyAccessLayers("config")
                    .whereLayer("logging")
                    .mayOnlyBeAccessedByLayers("cli")
                    .whereLayer("wiring")
                    .mayOnlyBeAccessedByLayers("cli")
                    .whereLayer("cli")
                    .mayNotBeAccessedByAnyLayer()
                    .ignoreDependency(alwaysTrue(), belongToAnyOf(Secret.class, StrictJson.class));

    @ArchTest
    static final ArchRule NO_CYCLES =
            slices().matching("io.mintmark.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule ONLY_POSTGRES_TALKS_SQL =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("io.mintmark.postgres..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(
                            "java.sql..",
                            "org.postgresql..",
                            "io.helidon.dbclient..",
                            "org.flywaydb..",
                            "com.zaxxer..");

    @ArchTest
    static final ArchRule ONLY_HTTP_KNOWS_THE_WEB_SERVER =
            noClasses()
                    .that()
                    .resideOutsideOfPackage("io.mintmark.http..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage("io.helidon.webserver..", "io.helidon.http..");

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
