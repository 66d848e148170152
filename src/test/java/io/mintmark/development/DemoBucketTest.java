package io.mintmark.development;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mintmark.provider.sts.StsStandIn;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.identity.spi.AwsSessionCredentialsIdentity;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;

/** The demo's bucket, asked by the AWS SDK's own signer. */
class DemoBucketTest {
    @AutoClose
    private static final StsStandIn storage =
            StsStandIn.minio("https://b.example", () -> "", "policy");

    @AutoClose private static final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void serve() {
        storage.serve(DemoBucket.PATH, new DemoBucket());
    }

    private static HttpResponse<String> get(String path, String secretKey, String sessionToken)
            throws IOException, InterruptedException {
        SdkHttpRequest request =
                SdkHttpRequest.builder()
                        .method(SdkHttpMethod.GET)
                        .uri(URI.create(storage.endpoint() + path))
                        .build();
        var signed =
                AwsV4HttpSigner.create()
                        .sign(sign ->
                                sign.identity(
                                                AwsSessionCredentialsIdentity.create(
                                                        "ASIASTANDIN000000007",
                                                        secretKey,
                                                        sessionToken))
                                        .request(request)
                                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "s3")
                                        .putProperty(AwsV4HttpSigner.REGION_NAME, "us-east-1"))
                        .request();
        HttpRequest.Builder sent = HttpRequest.newBuilder(signed.getUri());
        signed.forEachHeader((name, values) -> {
            if (!List.of("Host", "Content-Length").contains(name)) {
                values.forEach(value -> sent.header(name, value));
            }
        });
        return client.send(sent.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void whoever_signs_with_a_credential_reads_it() throws Exception {
        String key = StsStandIn.secretKey(7);
        String token = StsStandIn.sessionToken(7);
        assertEquals(
                "Hello from the demo bucket.\n", get("/demo-bucket/hello.txt", key, token).body());
        assertEquals(
                200,
                get("/demo-bucket?list-type=2&prefix=&encoding-type=url", key, token).statusCode());
        assertEquals(404, get("/demo-bucket/nothing", key, token).statusCode());
    }

    @Test
    void nobody_else_does() throws Exception {
        String token = StsStandIn.sessionToken(7);
        assertEquals(
                403, get("/demo-bucket/hello.txt", StsStandIn.secretKey(8), token).statusCode());
        assertEquals(
                403,
                get("/demo-bucket/hello.txt", StsStandIn.secretKey(7), StsStandIn.sessionToken(8))
                        .statusCode());
    }
}
