package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.Processor;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.RawServer;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.broker.identity.ClientCredentialsIdentity;
import io.mintmark.broker.identity.IdpAccess;
import io.mintmark.broker.identity.IdpClient;
import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.broker.token.LogBook;
import io.mintmark.broker.token.RsaPairs;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.NotMinted;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.awssts.AwsSts;
import io.mintmark.provider.azure.Azure;
import io.mintmark.provider.gcp.GoogleCloud;
import io.mintmark.provider.githubapp.GitHubApp;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.NoBrokerTokenException;
import io.mintmark.provider.identity.TokenOrder;
import io.mintmark.provider.kubernetes.Kubernetes;
import io.mintmark.provider.oauth2.OAuth2;
import io.mintmark.provider.oauth2.TokenExchangeStandIn;
import io.mintmark.provider.s3sts.S3Sts;
import io.mintmark.provider.sts.StsCaller;
import io.mintmark.provider.sts.StsClients;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.TokenCalls;
import io.mintmark.provider.webhook.Webhook;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Services of all types and the broker's own identity provider lie in every way that chance finds:
 * whatever they say, nothing that was sent gets into a log, a detail or an answer, and others are
 * served meanwhile. {@code -Dlies=N} tells how many, {@code -Dseed=N} which.
 */
@Tag("heavy")
class LyingAnswersTest {
    private static final int LIES = Integer.getInteger("lies", 1_000);
    private static final long SEED = Long.getLong("seed", 20261121);
    private static final int AT_A_TIME = 24;

    /** Enough for an answer beside other suites: too many that come too late would hide nothing. */
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    /** Of processor time for one mint, on any machine. What froze the broker took 9 s. */
    private static final Duration MOST_WORK = Duration.ofMillis(150);

    /** So much of a secret tells nobody anything. */
    private static final int PIECE = 12;

    private static final Secret OPAQUE = new Secret(letters(1, 96));
    private static final Secret CLIENT = new Secret(letters(2, 40));

    private final Destinations allowed = new Destinations(List.of("127.0.0.1"));
    private final InstantSource clock = InstantSource.system();
    private final Set<String> pieces = pieces();
    @AutoClose private final LogBook log = LogBook.open();
    @TempDir Path secrets;

    /** One token for all, of which nothing can be told by its form. */
    private static final class External implements BrokerIdentity {
        @Override
        public Secret token(TokenOrder order) {
            return OPAQUE;
        }

        @Override
        public boolean shared() {
            return true;
        }

        @Override
        public Optional<String> fault() {
            return Optional.empty();
        }
    }

    @BeforeEach
    void writeSecrets() throws Exception {
        Files.createDirectories(secrets.resolve("acme"));
        Files.writeString(secrets.resolve("acme/client"), CLIENT.reveal());
        Files.writeString(secrets.resolve("acme/app.pem"), KeyDirectory.pkcs8(RsaPairs.next(2048)));
    }

    @Test
    void nothing_that_was_sent_is_told_and_others_are_served() throws Exception {
        AtomicInteger said = new AtomicInteger();
        Duration before = Processor.used();
        AtomicBoolean over = new AtomicBoolean();
        try (var server = RawServer.serving(client -> lie(said, client));
                var clients =
                        new StsClients(new TenantHttpClients(allowed), MintingBroker.AMBIENT);
                MintingBroker honest = MintingBroker.usual();
                var far =
                        new TokenExchangeStandIn(
                                MintingBroker.ISSUER,
                                honest.identity()::keySet,
                                TokenExchangeStandIn.Clients.NONE);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Integer> others = threads.submit(() -> serve(honest, far, over));
            try {
                hearAll(threads, providers(clients), server);
            } finally {
                over.set(true);
            }
            assertTrue(others.get() > LIES / 100, others.get() + " others were served");
        }
        assertEquals(List.of(), log.text().lines().filter(this::tells).toList());
        Duration each = Processor.used().minus(before).dividedBy(LIES);
        assertTrue(each.compareTo(MOST_WORK) < 0, each::toString);
    }

    private static void lie(AtomicInteger said, Socket client)
            throws IOException, InterruptedException {
        new Lies(SEED + said.incrementAndGet())
                .tell(RawServer.request(client.getInputStream()), client.getOutputStream());
    }

    private void hearAll(ExecutorService threads, AccessProviders providers, RawServer server)
            throws Exception {
        List<Function<String, String>> asking = asking(providers);
        Semaphore places = new Semaphore(AT_A_TIME);
        List<Future<String>> heard = new ArrayList<>();
        for (int i = 0; i < LIES; i++) {
            Function<String, String> ask = asking.get(i % asking.size());
            places.acquire();
            heard.add(
                    threads.submit(() -> {
                        try {
                            return ask.apply(server.origin());
                        } finally {
                            places.release();
                        }
                    }));
        }
        int hidden = 0;
        for (Future<String> each : heard) {
            assertFalse(tells(each.get()), each.get());
            hidden += each.get().contains("[secret]") ? 1 : 0;
        }
        assertTrue(hidden > LIES / 20, hidden + " answers were worth hiding something in");
    }

    /** Mints of another tenant, one after the other; none may fail. */
    private static int serve(MintingBroker broker, TokenExchangeStandIn far, AtomicBoolean over) {
        int served = 0;
        while (!over.get()) {
            broker.minted(
                    Orders.of("oauth2", "{'token_endpoint':'%s'}".formatted(far.url()), "{}"));
            served++;
        }
        return served;
    }

    /** Each asks a server for something, and tells all that others could hear of it. */
    private List<Function<String, String>> asking(AccessProviders providers) {
        return List.of(
                at ->
                        told(
                                providers,
                                "azure",
                                "'tenant_id':'a','authority':'" + at + "'",
                                "'client_id':'a','scope':'s'"),
                at -> told(providers, "oauth2", "'token_endpoint':'" + at + "'", "'audience':'a'"),
                at ->
                        told(
                                providers,
                                "oauth2",
                                "'token_endpoint':'%1$s','client_id':'a','client_secret':{'file':'client'},'revocation_endpoint':'%1$s'"
                                        .formatted(at),
                                "'audience':'a'"),
                at ->
                        told(
                                providers,
                                "oauth2",
                                "'token_endpoint':'" + at + "','grant':'jwt-bearer','body':'json'",
                                "'audience':'a'"),
                at ->
                        told(
                                providers,
                                "oauth2",
                                "'token_endpoint':'" + at + "','subject_parameter':'jwt'",
                                "'audience':'a'"),
                at ->
                        told(
                                providers,
                                "gcp",
                                "'project_id':'p','workload_identity_provider':'//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/m/providers/m','sts_endpoint':'%1$s','iam_endpoint':'%1$s'"
                                        .formatted(at),
                                "'service_account':'a@b.iam.gserviceaccount.com'"),
                at ->
                        told(
                                providers,
                                "aws-sts",
                                "'region':'eu-central-1','endpoint':'" + at + "'",
                                "'role_arn':'arn:aws:iam::123456789012:role/a'"),
                at ->
                        told(
                                providers,
                                "s3-sts",
                                "'endpoint':'" + at + "'",
                                "'role_arn':'arn:minio:iam:::role/a'"),
                at ->
                        told(
                                providers,
                                "github-app",
                                "'client_id':'a','private_key':{'file':'app.pem'},'installation_id':'1','api_url':'"
                                        + at
                                        + "'",
                                "'repositories':['a'],'permissions':{'contents':'read'}"),
                at ->
                        told(
                                providers,
                                "kubernetes",
                                "'server':'" + at + "'",
                                "'service_account':'a/a'"),
                at ->
                        told(
                                providers,
                                "webhook",
                                "'endpoint':'" + at + "','fields':['a']",
                                "'target':'a'"),
                at -> token(at, new IdpClient.SecretBasic("a", CLIENT)),
                at -> token(at, new IdpClient.SecretPost("a", CLIENT)),
                at -> token(at, new IdpClient.PrivateKey("a", (_, _, _) -> OPAQUE)));
    }

    private static String told(
            AccessProviders providers, String type, String provider, String key) {
        Orders order =
                Orders.of(type, "{" + provider + "}", "{" + key + "}")
                        .within(TIMEOUT)
                        .sharing()
                        .allowing(
                                "a",
                                "a@b*",
                                "repository:a",
                                "a/a",
                                "permission:contents:read",
                                "arn:aws:iam::123456789012:role/a",
                                "arn:minio:iam:::role/a");
        return switch (order.mint(providers)) {
            case Minted minted ->
                    undone(minted.undo())
                            + ended(providers, type, order)
                            + minted.credentialId()
                            + minted.fields().values().stream()
                                    .map(Secret::reveal)
                                    .filter(LyingAnswersTest::isWhole)
                                    .collect(Collectors.joining(" "));
            case Withheld withheld ->
                    undone(withheld.undo())
                            + ended(providers, type, order)
                            + String.join(" ", withheld.credentialId(), withheld.detail());
            case NotMinted why -> why.detail();
            case MintResult.NotCalled not -> throw new AssertionError(not);
        };
    }

    /** What is on record if the provider was asked to end the credential, and lied about that. */
    private static String undone(Optional<Undo> undo) {
        return undo.flatMap(how -> how.undo(Instant.now().plus(TIMEOUT))).orElse("");
    }

    /** The same for a type whose mints are ended later. */
    private static String ended(AccessProviders providers, String type, Orders order) {
        var place =
                new LeaseRevoker.Place(
                        new TenantName("acme"),
                        order.access().name(),
                        order.access().settings(),
                        Instant.now().plus(TIMEOUT));
        return Optional.ofNullable(providers.revokers().get(type))
                .map(revoker ->
                        revoker.revoke(new LeaseRevoker.RevocationOrder(place, Orders.MINT_ID))
                                .detail())
                .orElse("");
    }

    private String token(String at, IdpClient client) {
        var access =
                new IdpAccess(
                        Optional.empty(),
                        Optional.of(URI.create(at)),
                        client,
                        Optional.empty(),
                        Optional.empty());
        try (var identity =
                new ClientCredentialsIdentity(
                        access, new GuardedHttp(allowed), clock, RandomGenerator.getDefault())) {
            Future<String> asked;
            try (ExecutorService thread = Executors.newVirtualThreadPerTaskExecutor()) {
                asked = thread.submit(() -> identity.token(order()).reveal());
                thread.shutdown();
                if (!thread.awaitTermination(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                    asked.cancel(true);
                }
            }
            return asked.isCancelled() ? "" : answer(asked);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String answer(Future<String> asked) {
        return switch (asked.state()) {
            case SUCCESS -> isWhole(asked.resultNow()) ? asked.resultNow() : "";
            case FAILED ->
                    asked.exceptionNow() instanceof NoBrokerTokenException why
                            ? String.valueOf(why.getMessage())
                            : String.valueOf(asked.exceptionNow());
            case RUNNING, CANCELLED -> "";
        };
    }

    private static TokenOrder order() {
        MintOrder order = Orders.of("x", "{}", "{}").order();
        return new TokenOrder(
                order.tenant(), order.key(), order.mintId(), "https://a", false, Map.of());
    }

    private AccessProviders providers(StsClients clients) {
        var identity = new External();
        var destinations = new TokenDestinations(allowed);
        var calls = new Calls(new TenantHttpClients(allowed), clock, RandomGenerator.getDefault());
        var sts = new StsCaller(clients, calls);
        var tokens = new TokenCalls(calls, clock);
        return new AccessProviders(
                List.of(
                        new AwsSts(identity, destinations, sts),
                        new S3Sts(identity, destinations, sts),
                        new GoogleCloud(identity, destinations, calls, clock),
                        new Azure(identity, destinations, tokens),
                        new OAuth2(
                                identity,
                                (_, _, _) -> OPAQUE,
                                new SettingSecrets(new SecretFiles(Optional.of(secrets))),
                                destinations,
                                tokens),
                        new GitHubApp(
                                new SettingSecrets(new SecretFiles(Optional.of(secrets))),
                                destinations,
                                calls,
                                clock),
                        new Kubernetes(
                                identity,
                                new SettingSecrets(new SecretFiles(Optional.of(secrets))),
                                destinations,
                                calls),
                        new Webhook(
                                identity,
                                new SettingSecrets(new SecretFiles(Optional.of(secrets))),
                                destinations,
                                calls)),
                clock);
    }

    private boolean tells(String text) {
        for (int i = 0; i + PIECE <= text.length(); i++) {
            if (pieces.contains(text.substring(i, i + PIECE))) {
                return true;
            }
        }
        return false;
    }

    /** A credential may have a piece of anything; a secret as a whole it may not. */
    private static boolean isWhole(String credential) {
        return forms(OPAQUE).stream().anyMatch(credential::contains)
                || forms(CLIENT).stream().anyMatch(credential::contains);
    }

    private static Set<String> pieces() {
        Set<String> pieces = new HashSet<>();
        for (Secret secret : List.of(OPAQUE, CLIENT)) {
            for (String form : forms(secret)) {
                for (int i = 0; i + PIECE <= form.length(); i++) {
                    pieces.add(form.substring(i, i + PIECE));
                }
            }
        }
        return pieces;
    }

    private static List<String> forms(Secret secret) {
        String text = secret.reveal();
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return List.of(
                text,
                URLEncoder.encode(text, StandardCharsets.UTF_8),
                Base64.getEncoder().withoutPadding().encodeToString(bytes),
                Base64.getUrlEncoder().withoutPadding().encodeToString(bytes),
                HexFormat.of().formatHex(bytes));
    }

    private static String letters(int seed, int length) {
        String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_~&";
        return new Random(seed)
                .ints(length, 0, alphabet.length())
                .mapToObj(i -> alphabet.substring(i, i + 1))
                .collect(Collectors.joining());
    }
}
