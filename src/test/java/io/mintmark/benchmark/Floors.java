package io.mintmark.benchmark;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;

import io.mintmark.endtoend.RunningBroker;
import io.mintmark.mint.sts.BareStsCall;
import io.mintmark.postgres.LoggedMints;
import io.mintmark.wiring.SignaturesBy;

import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sts.StsClient;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** What nobody can go below on this machine: measured in the same run, on one thread each. */
final class Floors {
    private static final Duration WARM = Duration.ofSeconds(4);
    private static final Duration MEASURED = Duration.ofSeconds(4);

    private Floors() {}

    /**
     * What one repetition took.
     *
     * @param processorMicros of the thread, or of the server's process
     * @param medianMillis on the clock
     */
    record Cost(double processorMicros, double medianMillis) {
        @Override
        public String toString() {
            return "| %.0f | %,.0f | %.2f |"
                    .formatted(processorMicros, 1e6 / processorMicros, medianMillis);
        }
    }

    /** An RS256 verification and an ES256 signature over texts of a token's length. */
    static Cost signatures(SignaturesBy code) throws Throwable {
        Cost[] cost = new Cost[1];
        code.during(() -> cost[0] = signatures());
        return cost[0];
    }

    private static Cost signatures() throws JOSEException {
        byte[] text = "a".repeat(700).getBytes(StandardCharsets.US_ASCII);
        RSAKey rsa = new RSAKeyGenerator(2048).generate();
        JWSHeader header = new JWSHeader(JWSAlgorithm.RS256);
        Base64URL signature = new RSASSASigner(rsa).sign(header, text);
        RSASSAVerifier verifier = new RSASSAVerifier(rsa.toRSAPublicKey());
        ECDSASigner signer = new ECDSASigner(new ECKeyGenerator(Curve.P_256).generate());
        return cost(() ->
                verifier.verify(header, text, signature)
                        ? signer.sign(new JWSHeader(JWSAlgorithm.ES256), text)
                        : null);
    }

    /** The call of the AWS SDK with its own client, on a connection that is kept. */
    static Cost stsCall(StsForLoad sts) {
        try (StsClient client =
                StsClient.builder()
                        .endpointOverride(URI.create(sts.endpoint()))
                        .region(Region.EU_CENTRAL_1)
                        .credentialsProvider(AnonymousCredentialsProvider.create())
                        .httpClient(Apache5HttpClient.create())
                        .build()) {
            String token = "ey" + "a".repeat(900);
            return cost(() ->
                    client.assumeRoleWithWebIdentity(call ->
                            call.roleArn("arn:aws:iam::123456789012:role/deploy")
                                    .roleSessionName("load")
                                    .durationSeconds(3600)
                                    .webIdentityToken(token)));
        }
    }

    /** The broker's own call, with the same client that mints use, on a connection that is kept. */
    static Cost ownStsCall() throws IOException {
        var bare = new BareStsCall();
        try {
            return cost(bare::call);
        } finally {
            bare.close();
        }
    }

    /** A request to the broker's server that does nothing, as many at a time as ask for mints. */
    static Cost emptyHandler(int clients) throws IOException, InterruptedException {
        int port = RunningBroker.freePort();
        try (BrokerJar server =
                BrokerJar.start(EmptyServer.class, Map.of("SERVER_PORT", Integer.toString(port)))) {
            byte[] request =
                    "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            Load load = new Load(port);
            load.run(clients, WARM, _ -> request);
            Duration before = server.processorTime();
            Load.Result result = load.run(clients, MEASURED, _ -> request);
            Duration used = server.processorTime().minus(before);
            return new Cost(used.toNanos() / 1e3 / result.answers(), result.within(500));
        }
    }

    /** A row and its commit. */
    static Cost commit(BenchDatabase database) throws SQLException {
        database.run("postgres", "CREATE TABLE IF NOT EXISTS floor (text text)");
        try (Connection connection = database.connect("postgres");
                PreparedStatement insert =
                        connection.prepareStatement("INSERT INTO floor VALUES ('a row')")) {
            return cost(insert::executeUpdate);
        }
    }

    /** The rows that a mint leaves in the log, and the question for the state behind the first. */
    static Cost loggedMint(Bench bench) {
        try (LoggedMints log = bench.database().logged(bench.name())) {
            return cost(log::mint);
        }
    }

    private static Cost cost(Callable<?> work) {
        repeat(work, WARM);
        long before = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        List<Long> nanos = repeat(work, MEASURED);
        long used = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - before;
        Collections.sort(nanos);
        return new Cost(used / 1e3 / nanos.size(), nanos.get(nanos.size() / 2) / 1e6);
    }

    private static List<Long> repeat(Callable<?> work, Duration time) {
        List<Long> nanos = new ArrayList<>();
        long end = System.nanoTime() + time.toNanos();
        for (long now = System.nanoTime(); now < end; ) {
            try {
                if (work.call() == null) {
                    throw new IllegalStateException("the work isn't done");
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            long then = System.nanoTime();
            nanos.add(then - now);
            now = then;
        }
        return nanos;
    }
}
