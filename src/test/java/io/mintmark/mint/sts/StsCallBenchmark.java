package io.mintmark.mint.sts;

import io.mintmark.mint.Endpoint;
import io.mintmark.mint.MintingBroker;
import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.RawServer;
import io.mintmark.outbound.Sender;
import io.mintmark.outbound.SentSecrets;
import io.mintmark.outbound.TenantHttpClients;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import software.amazon.awssdk.services.sts.model.AssumeRoleWithWebIdentityRequest;
import software.amazon.awssdk.services.sts.model.Credentials;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * The call of an STS on loopback, each on a virtual thread of its own as in a mint: by the broker
 * and by the SDK. Both wait for the same server in the same process.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class StsCallBenchmark {
    private static final Sender ACME = new Sender("acme", () -> {});
    private static final String ANSWER =
            """
            <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
              <AssumeRoleWithWebIdentityResult>
                <AssumedRoleUser><Arn>arn</Arn><AssumedRoleId>id</AssumedRoleId></AssumedRoleUser>
                <Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>key</SecretAccessKey>
                <SessionToken>%s</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>
              </AssumeRoleWithWebIdentityResult>
              <ResponseMetadata><RequestId>r</RequestId></ResponseMetadata>
            </AssumeRoleWithWebIdentityResponse>
            """
                    .formatted("t".repeat(800));

    private final AssumeRoleWithWebIdentityRequest request =
            AssumeRoleWithWebIdentityRequest.builder()
                    .roleArn("arn:aws:iam::123456789012:role/deploy")
                    .roleSessionName("01980f5e-8a00-7000-8000-0123456789ab")
                    .durationSeconds(3600)
                    .webIdentityToken("t".repeat(900))
                    .build();
    private final SentSecrets nothing = new SentSecrets(List.of());
    private final Destinations allowed = new Destinations(List.of("127.0.0.1"));
    private final TenantHttpClients http = new TenantHttpClients(allowed);
    private final StsClients clients = new StsClients(allowed, MintingBroker.AMBIENT);
    private final WebIdentityCalls own = clients.unsigned(InstantSource.system());
    private final RawServer server;
    private final StsEndpoint sts;
    private final SdkCalls sdk;

    /** With a server that answers at once. */
    public StsCallBenchmark() {
        try {
            server = RawServer.serving(StsCallBenchmark::serve);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        Endpoint endpoint = Endpoint.at(server.origin());
        sts = new StsEndpoint(endpoint, "eu-central-1", StsEndpoint.Use.WEB_IDENTITY);
        sdk = new SdkCalls(endpoint, http);
    }

    private static void serve(Socket client) throws IOException {
        byte[] answer =
                "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s"
                        .formatted(ANSWER.length(), ANSWER)
                        .getBytes(StandardCharsets.US_ASCII);
        InputStream in = new BufferedInputStream(client.getInputStream());
        while (!RawServer.request(in).isEmpty()) {
            client.getOutputStream().write(answer);
        }
    }

    /** As a mint makes it, but on this thread. */
    public Credentials call() {
        return own.assumeRole(
                sts, ACME, request, nothing, InstantSource.system().instant().plusSeconds(10));
    }

    /** As a mint makes it. */
    @Benchmark
    public Credentials byBroker() throws Exception {
        return onVirtualThread(this::call);
    }

    @Benchmark
    public Credentials bySdk() throws Exception {
        return onVirtualThread(() -> sdk.assumeRole(ACME, request));
    }

    private static Credentials onVirtualThread(Callable<Credentials> call) throws Exception {
        var task = new FutureTask<>(call);
        Thread.ofVirtual().start(task);
        return task.get();
    }

    /** Ends the server and all connections. */
    @TearDown
    public void close() throws IOException {
        sdk.close();
        clients.close();
        http.close();
        server.close();
    }
}
