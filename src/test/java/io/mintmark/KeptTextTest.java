package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import static java.util.Map.entry;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaParameterizedType;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;

import io.mintmark.broker.exchange.MintListener;
import io.mintmark.broker.http.RequestListener;
import io.mintmark.broker.token.KeySetListener;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Nothing that a stranger says is kept. Every map, set and cache that lives longer than a request,
 * in the packages that a request goes through, stands here with its keys and the reason why these
 * aren't text of a token that nobody has verified; those by tenants' and other configured names
 * need none. A new one makes this test fail until it stands here.
 */
@AnalyzeClasses(packages = "io.mintmark", importOptions = PackagesTest.WithoutTests.class)
class KeptTextTest {
    private static final Set<String> PACKAGES =
            Set.of(
                    "broker.token",
                    "broker.grant",
                    "broker.exchange",
                    "broker.http",
                    "broker.metrics",
                    "base.health",
                    "base.metrics",
                    "provider",
                    "base.outbound",
                    "base.limit",
                    "base.http",
                    "base.tenant",
                    "base.json",
                    "base.time",
                    "base.verdict",
                    "audit",
                    "auditor.verify",
                    "console");

    private static final String TENANT = "tenants that admins made: ";
    private static final String ROWS = "rows that admins wrote: ";
    private static final String SETTINGS = "set at start: ";
    private static final String REQUEST = "of one request, which it doesn't outlive: ";
    private static final String PEERS = "addresses of peers: ";
    private static final String FIELDS = "see the fields of this type";
    private static final String COMMAND = "of a command, which serves nobody: ";

    /** Types that keep keys; fields of these types are listed too. */
    private static final Set<String> KEYED =
            Set.of("SingleFlightCache", "SharedPermits", "WeightByOwner", "Windows");

    /** Key types by field, and why nothing of a stranger's can be in them. */
    private static final Map<String, String> KEPT =
            Map.ofEntries(
                    entry("audit.log.SeenHistory.changes: String", TENANT + "their names"),
                    entry("auditor.verify.SealedHeads.lost: Optional<String>", COMMAND),
                    entry("base.http.connection.AnswerMemory.held: ConnectionState", "sockets"),
                    entry("broker.exchange.ShortLives.logged: TenantKey", ROWS),
                    entry("broker.metrics.FailingIssuers.failing: KeySource", ROWS),
                    entry("broker.metrics.TenantExpiries.shown: List<String>", ROWS),
                    entry(
                            "broker.token.IgnoredKeys.named: String",
                            "key ids of trusted issuers, forgotten when there are many"),
                    entry(
                            "console.KeptTokens.tokens: String",
                            "random ids of sessions, within a number of bytes"),
                    entry("audit.log.LossStop.known: LostRow", "rows of the replica's own log"),
                    entry("console.pages.mints.SearchAddress.parameters: String", REQUEST),
                    entry("audit.canonical.EventFields.PLACES: EventFields", "constants"),
                    entry("audit.canonical.ExportedLine.members: String", COMMAND),
                    entry("audit.log.EventRow.canonical: EventFields", "constants, of one row"),
                    entry("console.wiring.ConsoleStartup.types: String", SETTINGS),
                    entry("auditor.verify.ForeignCheckpoints.signers: String", COMMAND),
                    entry("auditor.verify.LostTails.sealedChanges: Optional<String>", COMMAND),
                    entry("auditor.verify.MintLedger.doubted: UUID", COMMAND),
                    entry("auditor.verify.MintLedger.flawed: UUID", COMMAND),
                    entry("auditor.verify.MintLedger.ofDoubted: UUID", COMMAND),
                    entry("auditor.verify.MintLedger.open: UUID", COMMAND),
                    entry("auditor.verify.RetiredMonths.byMonth: YearMonth", COMMAND),
                    entry("auditor.verify.RetiredMonths.parts: String", COMMAND),
                    entry("auditor.verify.RetiredMonths.sealedOn: Optional<String>", COMMAND),
                    entry(
                            "auditor.verify.RetirementVerification.byChain: Optional<String>",
                            COMMAND),
                    entry("auditor.verify.SealedHeads.last: Optional<String>", COMMAND),
                    entry("auditor.verify.SealedHeads.retired: Optional<String>", COMMAND),
                    entry("auditor.verify.SealedHeads.seen: Optional<String>", COMMAND),
                    entry("auditor.verify.SealedHeads.starts: Optional<String>", COMMAND),
                    entry("auditor.verify.WitnessedLog.last: String", COMMAND),
                    entry("auditor.verify.WitnessedLog.unknown: NoteKey", COMMAND),
                    entry("audit.checkpoint.CheckpointLines.open: String", COMMAND),
                    entry("audit.checkpoint.TrustedKeys.keys: String", COMMAND),
                    entry("audit.note.WitnessPolicy.keys: String", SETTINGS),
                    entry("audit.note.WitnessPolicy.logs: String", SETTINGS),
                    entry("audit.note.WitnessPolicy.members: String", SETTINGS),
                    entry("audit.note.WitnessPolicy.names: String", SETTINGS),
                    entry(
                            "console.LoggedOutSessions.expiries: LoggedOut",
                            "times and SHA-256 of verified tokens, at most 10,000"),
                    entry("console.LoginRoutes.sections: String", SETTINGS),
                    entry("console.verification.ProofRun.mints: String", "ids in the log"),
                    entry("console.pages.frame.Rendering.types: String", SETTINGS),
                    entry("console.Sessions.redeemed: String", "SHA-256"),
                    entry("console.SameSite.files: String", SETTINGS),
                    entry("console.pages.mints.MintSearch.ids: String", REQUEST),
                    entry("broker.exchange.CredentialFormat.types: String", SETTINGS),
                    entry("broker.exchange.CredentialFormat.distinct: String", REQUEST),
                    entry("broker.exchange.PreparedKeys.byRow: Key", ROWS),
                    entry("broker.grant.Catalogue.shared: Shared", "one key"),
                    entry(
                            "broker.grant.Catalogue.subjects: Subject",
                            "the subject of a verified token; weighed"),
                    entry("broker.grant.GlobIndex.byStart: Start", ROWS),
                    entry("broker.grant.IssuerIndex.listedOf: String", ROWS + "issuers"),
                    entry("broker.grant.KnownIssuers.index: Whole", "one key"),
                    entry(
                            "broker.grant.KnownIssuers.rows: Version",
                            ROWS + "names, with their version"),
                    entry("broker.grant.KnownIssuers.warnedOf: String", ROWS + "names"),
                    entry(
                            "broker.grant.SingleFlightCache$Held.values: K",
                            "see the cache's own fields"),
                    entry("broker.grant.SingleFlightCache.slots: K", FIELDS),
                    entry("broker.grant.SingleFlightCache.shares: K", FIELDS),
                    entry("base.limit.SharedPermits.owners: K", FIELDS),
                    entry("base.limit.WeightByOwner.weights: Object", FIELDS),
                    entry("base.limit.Windows.running: C", FIELDS),
                    entry("base.limit.RateLimiter.windows: Network", PEERS + "so many at most"),
                    entry("base.limit.RateLimiter.seconds: Network", PEERS + "so many at most"),
                    entry(
                            "base.http.connection.HandshakePermits.places: Network",
                            PEERS + "while their connections shake hands"),
                    entry("base.http.connection.GuardedConnection.memory: String", TENANT),
                    entry("base.http.connection.GuardedPort.memory: String", TENANT),
                    entry("base.http.connection.RequestPermits.memory: String", TENANT),
                    entry("base.outbound.BoundedLookup.places: String", TENANT),
                    entry("base.outbound.BoundedLookup.threads: String", TENANT),
                    entry("base.outbound.DocumentReader.longOnes: String", TENANT),
                    entry(
                            "console.ViewerDatabase.connections: String",
                            "the subject of a verified token; gone with the last who waits"),
                    entry("broker.http.Cors.allowedOrigins: String", SETTINGS),
                    entry(
                            "broker.http.Failures.logged: Integer",
                            "hash codes of messages of ours; so many at most"),
                    entry("broker.http.IssuerRoutes.endpoints: String", SETTINGS),
                    entry(
                            "base.http.connection.ConnectionLimiter.members: ConnectionState",
                            "sockets"),
                    entry(
                            "base.http.connection.GuardedConnection.withoutPermits: String",
                            SETTINGS),
                    entry("base.http.connection.GuardedPort.withoutPermits: String", SETTINGS),
                    entry(
                            "audit.log.SeenHistory.checkpoints: LostRow",
                            ROWS + "the checkpoints since the last look"),
                    entry("base.metrics.Meters.counters: Labelled", "see the listeners below"),
                    entry("base.metrics.Meters.timers: Labelled", "see the listeners below"),
                    entry("provider.AccessProviders.byType: String", SETTINGS),
                    entry("provider.PreparedKey.defaultOutputs: String", ROWS),
                    entry("provider.awssts.AwsTags.values: String", REQUEST + "a verified one"),
                    entry("provider.s3sts.S3Sts.denials: StsEndpoint", ROWS),
                    entry("provider.sts.StsClients.clients: StsEndpoint", ROWS),
                    entry(
                            "provider.sts.StsDocument.texts: String",
                            REQUEST + "a provider's answer"),
                    entry("provider.sts.WireLogs.before: Logger", SETTINGS),
                    entry(
                            "base.outbound.BoundedLookup.inFlight: String",
                            ROWS + "hosts, while looked up"),
                    entry("base.outbound.FormBody.parameters: String", REQUEST),
                    entry("base.outbound.SpecialAddresses.KINDS: Cidr", SETTINGS),
                    entry("base.outbound.TenantHttpClients.clients: String", TENANT),
                    entry("base.time.Timeout.PENDING: Timeout", "waits"),
                    entry("broker.token.ClaimConditions.byClaim: String", ROWS),
                    entry("broker.token.KeySources.bySource: KeySource", ROWS));

    @ArchTest
    static void no_unverified_text_is_a_key(JavaClasses classes) {
        Set<String> kept =
                classes.stream()
                        .filter(KeptTextTest::isOnTheWayOfARequest)
                        .filter(owner -> !owner.isRecord())
                        .flatMap(owner -> owner.getFields().stream())
                        .filter(KeptTextTest::isKeyed)
                        .filter(field -> !isConstant(field) && !isName(key(field)))
                        .map(KeptTextTest::described)
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> unexplained = new TreeSet<>(kept);
        unexplained.removeAll(KEPT.keySet());
        Set<String> gone = new TreeSet<>(KEPT.keySet());
        gone.removeAll(kept);
        assertEquals(Set.of(), unexplained);
        assertEquals(Set.of(), gone);
    }

    /** A cache in a variable would be none of the fields above. */
    @ArchTest
    static void caches_are_fields(JavaClasses classes) {
        Set<String> owners =
                classes.stream()
                        .flatMap(owner -> owner.getFields().stream())
                        .filter(field -> field.getRawType().isAssignableTo(Cache.class))
                        .map(field -> field.getOwner().getName())
                        .collect(Collectors.toSet());
        Set<String> builders =
                classes.stream()
                        .filter(owner ->
                                owner.getMethodCallsFromSelf().stream()
                                        .anyMatch(call ->
                                                call.getTargetOwner()
                                                        .isEquivalentTo(Caffeine.class)))
                        .map(JavaClass::getName)
                        .collect(Collectors.toSet());
        assertEquals(owners, builders);
    }

    /** Labels of metrics come from words, numbers and configured names alone. */
    @ArchTest
    static void no_unverified_text_is_a_label(JavaClasses classes) {
        Map<String, List<String>> texts = new TreeMap<>();
        Stream.of(RequestListener.class, MintListener.class, KeySetListener.class)
                .flatMap(listener -> classes.get(listener).getMethods().stream())
                .forEach(method ->
                        texts.put(
                                method.getOwner().getSimpleName() + "." + method.getName(),
                                method.getRawParameterTypes().stream()
                                        .map(JavaClass::getSimpleName)
                                        .toList()));
        assertEquals(
                Map.of(
                        // the route is one of the interface's, or "none"
                        "RequestListener.answered", List.of("String", "int", "Duration"),
                        // counted by its word
                        "RequestListener.refused", List.of("Refusal"),
                        "RequestListener.forwardingIgnored", List.of(),
                        // a constant
                        "RequestListener.failed", List.of("Optional"),
                        "MintListener.tokenExamined", List.of("Duration"),
                        // the type is an access provider's
                        "MintListener.providerAnswered", List.of("String", "boolean", "Duration"),
                        "MintListener.ended", List.of("TenantName", "String", "Kind"),
                        "MintListener.shortLived", List.of("TenantName", "String"),
                        // counted without a label
                        "MintListener.glassBroken", List.of("TenantName"),
                        // the issuer's address is of a row
                        "KeySetListener.fetched",
                                List.of("TenantName", "KeySource", "FetchResult", "Duration")),
                texts);
    }

    private static boolean isOnTheWayOfARequest(JavaClass owner) {
        String inside = owner.getPackageName() + ".";
        return PACKAGES.stream().anyMatch(name -> inside.startsWith("io.mintmark." + name + "."));
    }

    private static boolean isKeyed(JavaField field) {
        JavaClass type = field.getRawType();
        boolean isKeyedCollection =
                type.isAssignableTo(Collection.class)
                        && !type.isAssignableTo(List.class)
                        && !type.isAssignableTo(java.util.Queue.class);
        return !field.getModifiers().contains(JavaModifier.SYNTHETIC)
                && (type.isAssignableTo(Map.class)
                        || type.isAssignableTo(Cache.class)
                        || isKeyedCollection
                        || (KEYED.contains(type.getSimpleName())
                                && !field.getOwner().getSimpleName().equals("Held")));
    }

    /** What nobody can put anything into. */
    private static boolean isConstant(JavaField field) {
        if (!field.getModifiers().contains(JavaModifier.STATIC)) {
            return false;
        }
        try {
            var constant = field.reflect();
            constant.setAccessible(true);
            Object value = constant.get(null);
            return value != null
                    && value.getClass().getName().startsWith("java.util.ImmutableCollections");
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static JavaType key(JavaField field) {
        return field.getType() instanceof JavaParameterizedType type
                ? type.getActualTypeArguments().getFirst()
                : field.getRawType();
    }

    /** What admins named: their types have a package of their own. */
    private static boolean isName(JavaType key) {
        JavaType name =
                key instanceof JavaParameterizedType optional
                        ? optional.getActualTypeArguments().getFirst()
                        : key;
        return name.toErasure().getPackageName().equals("io.mintmark.base.tenant");
    }

    private static String described(JavaField field) {
        String name = key(field).getName().replaceAll("[\\w.]*[.$](\\w+)", "$1");
        return field.getFullName().substring("io.mintmark.".length()) + ": " + name;
    }
}
