package io.mintmark.provider;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;

import io.mintmark.Unchecked;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.tenant.MintId;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.broker.identity.BuiltInIdentity;
import io.mintmark.broker.identity.KeyDirectory;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.Minted;
import io.mintmark.provider.MintResult.NotCalled;
import io.mintmark.provider.MintResult.NotMinted;
import io.mintmark.provider.MintResult.Withheld;
import io.mintmark.provider.awssts.AwsSts;
import io.mintmark.provider.azure.Azure;
import io.mintmark.provider.gcp.GoogleCloud;
import io.mintmark.provider.gcp.GoogleStandIn;
import io.mintmark.provider.githubapp.GitHubApp;
import io.mintmark.provider.jwt.JwtProvider;
import io.mintmark.provider.kubernetes.Kubernetes;
import io.mintmark.provider.oauth2.OAuth2;
import io.mintmark.provider.postgresql.PostgresProvider;
import io.mintmark.provider.s3sts.S3Sts;
import io.mintmark.provider.ssh.SshProvider;
import io.mintmark.provider.sts.StsCaller;
import io.mintmark.provider.sts.StsClients;
import io.mintmark.provider.sts.StsStandIn;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.TokenCalls;
import io.mintmark.provider.webhook.Webhook;
import io.mintmark.provider.x509.X509Provider;

import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/** As much of a broker as mints: its identity, its types of providers, and where it may connect. */
public final class MintingBroker implements AutoCloseable {
    public static final String ISSUER = "https://broker.example";
    public static final AwsCredentialsProvider AMBIENT =
            StaticCredentialsProvider.create(
                    AwsBasicCredentials.create("AKIAAMBIENT", "the-ambient-secret"));

    private static final String DAY = "2026-01-01";
    private static final String DAY_OF_RSA = "2025-01-01";

    private final Path keys;
    private final Path secrets;
    private final BuiltInIdentity identity;
    private final StsClients clients;
    private final TenantHttpClients connections;
    private final AwsSts awsSts;
    private final GoogleCloud googleCloud;
    private final List<AccessProvider> types;
    private final AccessProviders providers;

    public MintingBroker(
            InstantSource identityClock, AwsCredentialsProvider ambient, String... allowedHosts) {
        Destinations allowed = new Destinations(List.of(allowedHosts));
        TokenDestinations destinations = new TokenDestinations(allowed);
        keys = newKeys();
        secrets = keys.resolve("secrets");
        identity = new BuiltInIdentity(ISSUER, keys, identityClock);
        connections = new TenantHttpClients(allowed);
        clients = new StsClients(connections, ambient);
        InstantSource clock = InstantSource.system();
        Calls calls = new Calls(connections, clock, RandomGenerator.getDefault());
        StsCaller sts = new StsCaller(clients, calls);
        TokenCalls tokenCalls = new TokenCalls(calls, clock);
        awsSts = new AwsSts(identity, destinations, sts);
        googleCloud = new GoogleCloud(identity, destinations, calls, clock);
        var files = new SettingSecrets(new SecretFiles(Optional.of(secrets)));
        types =
                List.of(
                        awsSts,
                        new S3Sts(identity, destinations, sts),
                        googleCloud,
                        new Azure(identity, destinations, tokenCalls),
                        new OAuth2(identity, identity, files, destinations, tokenCalls),
                        new GitHubApp(files, destinations, calls, clock),
                        new Kubernetes(identity, files, destinations, calls),
                        new SshProvider(files, clock, new SecureRandom()),
                        new X509Provider(files, clock),
                        new Webhook(identity, files, destinations, calls),
                        new PostgresProvider("mintmark", files, allowed, clock, new SecureRandom()),
                        new JwtProvider(identity));
        providers = new AccessProviders(types, clock);
    }

    /** Calls at the usual waits. */
    public static Calls calls(Destinations allowed) {
        return new Calls(
                new TenantHttpClients(allowed),
                InstantSource.system(),
                RandomGenerator.getDefault());
    }

    /** Writes a secret of the orders' tenant. */
    public void secret(String name, String content) {
        try {
            Path file = secrets.resolve("acme").resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One that may connect to the stand-ins' host. */
    public static MintingBroker usual() {
        return new MintingBroker(InstantSource.system(), AMBIENT, "127.0.0.1");
    }

    /** One of each type, as the broker has them. */
    public List<AccessProvider> types() {
        return types;
    }

    public BuiltInIdentity identity() {
        return identity;
    }

    public StsStandIn aws() {
        return StsStandIn.aws(ISSUER, identity::keySet);
    }

    public GoogleStandIn google() {
        return GoogleStandIn.trusting(ISSUER, identity::keySet);
    }

    public MintResult mint(Orders order) {
        return order.mint(providers);
    }

    /** The list of a type with these mints, for the orders' tenant. */
    public byte[] revocationList(String type, String settings, MintId... ended) {
        return Unchecked.call(() ->
                Objects.requireNonNull(providers.revocations().get(type))
                        .list(
                                new TenantName("acme"),
                                new ObjectMapper().readTree(settings),
                                List.of(ended),
                                Instant.now())
                        .content());
    }

    /** Ends what the mint of an order left behind, before its time. */
    public LeaseRevocation end(Orders order) {
        LeaseRevoker revoker =
                Objects.requireNonNull(providers.revokers().get(order.access().type()));
        return revoker.revoke(
                new LeaseRevoker.RevocationOrder(
                        new LeaseRevoker.Place(
                                new TenantName("acme"),
                                order.access().name(),
                                order.access().settings(),
                                Instant.now().plusSeconds(10)),
                        Orders.MINT_ID));
    }

    /** By the type itself, without the rules and the timeout of {@link AccessProviders}. */
    public MintResult awsSts(Orders order) {
        return order.mint(awsSts);
    }

    /** The credential, in a test where there must be one. */
    public Minted minted(Orders order) {
        return switch (mint(order)) {
            case Minted minted -> minted;
            case NotMinted why -> throw new AssertionError("no credential: " + why);
            case NotCalled why -> throw new AssertionError("not tried: " + why);
        };
    }

    /** The text of a credential's field, which must be there. */
    public static String field(Minted minted, String name) {
        return Objects.requireNonNull(minted.fields().get(name), name).reveal();
    }

    /** The failure, which must be for this reason. */
    public Failed assertFailed(Reason reason, Orders order) {
        return assertFailed(reason, "", order);
    }

    /** The failure, which must be for this reason and contain this in its detail. */
    public Failed assertFailed(Reason reason, String part, Orders order) {
        return assertFailed(reason, part, mint(order));
    }

    /** The same of what came of an order. */
    public static Failed assertFailed(Reason reason, String part, MintResult result) {
        Failed failed = failed(result);
        assertEquals(reason, failed.reason(), failed::toString);
        assertTrue(failed.detail().contains(part), failed::toString);
        return failed;
    }

    /** The failure, in a test where there must be one. */
    public Failed failed(Orders order) {
        return failed(mint(order));
    }

    private static Failed failed(MintResult result) {
        return switch (result) {
            case Minted _ -> throw new AssertionError("a credential");
            case Withheld withheld -> throw new AssertionError("one withheld: " + withheld);
            case Failed failed -> failed;
            case NotCalled why -> throw new AssertionError("not tried: " + why);
        };
    }

    /** Why there is nothing to hand out, in a test where there must be nothing. */
    public NotMinted refused(Orders order) {
        return switch (mint(order)) {
            case NotMinted why -> why;
            case Minted _, NotCalled _ -> throw new AssertionError("a credential, or not tried");
        };
    }

    /** What is known of a token that isn't handed out, in a test where there must be one. */
    public Withheld withheld(Orders order) {
        return switch (mint(order)) {
            case Withheld withheld -> withheld;
            case Minted _, Failed _, NotCalled _ -> throw new AssertionError("nothing withheld");
        };
    }

    @Override
    public void close() {
        clients.close();
        connections.close();
        try (Stream<Path> files = Files.walk(keys)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path newKeys() {
        return Unchecked.call(() ->
                new KeyDirectory(Files.createTempDirectory("signing-keys"))
                        .withP256(DAY)
                        .withRsa(DAY_OF_RSA, 2048)
                        .path());
    }
}
