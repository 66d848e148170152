package io.mintmark.mint.sts;

import io.mintmark.mint.Endpoint;
import io.mintmark.mint.MintingBroker;
import io.mintmark.outbound.Destinations;
import io.mintmark.outbound.RawServer;
import io.mintmark.outbound.Sender;
import io.mintmark.outbound.SentSecrets;
import io.mintmark.outbound.TenantHttpClients;

import software.amazon.awssdk.services.sts.model.AssumeRoleWithWebIdentityRequest;
import software.amazon.awssdk.services.sts.model.Credentials;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;

/** The call of an STS on loopback that answers at once, without the rest of a mint. */
public class BareStsCall {
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

    /** With a server that answers at once. */
    public BareStsCall() {
        try {
            server = RawServer.serving(BareStsCall::serve);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        Endpoint endpoint = Endpoint.at(server.origin());
        sts = new StsEndpoint(endpoint, "eu-central-1", StsEndpoint.Use.WEB_IDENTITY);
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

    /** As a mint makes it. */
    public Credentials call() {
        return own.assumeRole(
                sts, ACME, request, nothing, InstantSource.system().instant().plusSeconds(10));
    }

    /** Ends the server and all connections. */
    public void close() throws IOException {
        clients.close();
        http.close();
        server.close();
    }
}
