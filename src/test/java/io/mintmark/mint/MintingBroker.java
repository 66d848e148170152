package io.mintmark.mint;

import io.mintmark.identity.BuiltInIdentity;
import io.mintmark.identity.KeyDirectory;
import io.mintmark.mint.MintResult.Failed;
import io.mintmark.mint.MintResult.Minted;
import io.mintmark.mint.awssts.AwsSts;
import io.mintmark.mint.gcp.GoogleCloud;
import io.mintmark.mint.jwt.JwtProvider;
import io.mintmark.mint.s3sts.S3Sts;
import io.mintmark.mint.sts.StsCaller;
import io.mintmark.mint.sts.StsClients;
import io.mintmark.mint.web.Calls;
import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.GuardedHttp;

import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.random.RandomGenerator;

/** As much of a broker as mints: its identity, its types of providers, and where it may connect. */
final class MintingBroker implements AutoCloseable {
    static final String ISSUER = "https://broker.example";
    static final AwsCredentialsProvider AMBIENT =
            StaticCredentialsProvider.create(
                    AwsBasicCredentials.create("AKIAAMBIENT", "the-ambient-secret"));

    private static final String DAY = "2026-01-01";

    private final Path keys;
    private final BuiltInIdentity identity;
    private final StsClients clients;
    private final AwsSts awsSts;
    private final GoogleCloud googleCloud;
    private final AccessProviders providers;

    MintingBroker(
            InstantSource identityClock, AwsCredentialsProvider ambient, String... allowedHosts) {
        Destinations allowed = new Destinations(List.of(allowedHosts));
        TokenDestinations destinations = new TokenDestinations(allowed);
        keys = newKeys();
        identity = new BuiltInIdentity(ISSUER, keys, identityClock);
        clients = new StsClients(allowed, ambient);
        StsCaller sts = new StsCaller(clients, InstantSource.system());
        awsSts = new AwsSts(identity, destinations, sts);
        Calls calls =
                new Calls(
                        new GuardedHttp(allowed),
                        InstantSource.system(),
                        RandomGenerator.getDefault());
        googleCloud = new GoogleCloud(identity, destinations, calls, InstantSource.system());
        providers =
                new AccessProviders(
                        List.of(
                                awsSts,
                                new S3Sts(identity, destinations, sts),
                                googleCloud,
                                new JwtProvider(identity)),
                        InstantSource.system());
    }

    /** One that may connect to the stand-ins' host. */
    static MintingBroker usual() {
        return new MintingBroker(InstantSource.system(), AMBIENT, "127.0.0.1");
    }

    BuiltInIdentity identity() {
        return identity;
    }

    StsStandIn aws() {
        return StsStandIn.aws(ISSUER, identity::keySet);
    }

    GoogleStandIn google() {
        return GoogleStandIn.trusting(ISSUER, identity::keySet);
    }

    MintResult mint(Orders order) {
        return providers.mint(order.order());
    }

    /** The type by itself, without the rules and the patience of {@link AccessProviders}. */
    AwsSts awsSts() {
        return awsSts;
    }

    /** The credential, in a test where there must be one. */
    Minted minted(Orders order) {
        return switch (mint(order)) {
            case Minted minted -> minted;
            case Failed failed -> throw new AssertionError("no credential: " + failed);
        };
    }

    /** The failure, in a test where there must be one. */
    Failed failed(Orders order) {
        return switch (mint(order)) {
            case Minted _ -> throw new AssertionError("a credential");
            case Failed failed -> failed;
        };
    }

    @Override
    public void close() {
        clients.close();
        try {
            Files.delete(keys.resolve(DAY + ".pem"));
            Files.delete(keys);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path newKeys() {
        try {
            return new KeyDirectory(Files.createTempDirectory("signing-keys")).withP256(DAY).path();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
