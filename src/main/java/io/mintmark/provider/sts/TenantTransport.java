package io.mintmark.provider.sts;

import io.mintmark.base.outbound.Sender;
import io.mintmark.base.outbound.TenantHttpClients;

import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpHeaders;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;

import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpResponse;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Set;

/**
 * Sends the SDK's requests over the connections of the tenant that {@link #SENDER} is bound to. A
 * request without a tenant isn't sent.
 *
 * <p>The SDK would read an endless response into memory, so it only gets complete ones.
 */
final class TenantTransport implements SdkHttpClient {
    /** The sender of a call. */
    static final ScopedValue<Sender> SENDER = ScopedValue.newInstance();

    /** The maximum size of a response. An STS answers with a few KiB. */
    private static final int MOST_BYTES = 256 * 1024;

    /** Headers that the HTTP client sets itself. */
    private static final Set<String> FRAMING = Set.of("content-length", "transfer-encoding");

    private final TenantHttpClients clients;

    TenantTransport(TenantHttpClients clients) {
        this.clients = clients;
    }

    @Override
    public ExecutableHttpRequest prepareRequest(HttpExecuteRequest prepared) {
        HttpUriRequestBase request = translate(prepared);
        return new ExecutableHttpRequest() {
            @Override
            public HttpExecuteResponse call() throws IOException {
                prepared.contentStreamProvider()
                        .ifPresent(content -> request.setEntity(entity(content)));
                return clients.execute(SENDER.get(), request, TenantTransport::translate);
            }

            @Override
            public void abort() {
                request.abort();
            }
        };
    }

    @Override
    public String clientName() {
        return "mintmark";
    }

    /** Closes nothing, because the clients' creator closes them. */
    @Override
    public void close() {}

    private static HttpUriRequestBase translate(HttpExecuteRequest prepared) {
        var from = prepared.httpRequest();
        var request = new HttpUriRequestBase(from.method().name(), from.getUri());
        from.forEachHeader((name, values) -> {
            if (!FRAMING.contains(name.toLowerCase(Locale.ROOT))) {
                values.forEach(value -> request.addHeader(name, value));
            }
        });
        request.setHeader(HttpHeaders.ACCEPT_ENCODING, "identity");
        return request;
    }

    /** The request's body. Its content type is among the SDK's headers. */
    private static ByteArrayEntity entity(ContentStreamProvider content) {
        try (InputStream stream = content.newStream()) {
            return new ByteArrayEntity(stream.readAllBytes(), (ContentType) null);
        } catch (IOException e) {
            throw SdkClientException.create("the request can't be read", e);
        }
    }

    private static HttpExecuteResponse translate(ClassicHttpResponse from) throws IOException {
        var response = SdkHttpResponse.builder().statusCode(from.getCode());
        for (Header header : from.getHeaders()) {
            response.appendHeader(header.getName(), header.getValue());
        }
        return HttpExecuteResponse.builder()
                .response(response.build())
                .responseBody(AbortableInputStream.create(new ByteArrayInputStream(body(from))))
                .build();
    }

    /** Reads a complete response. */
    static byte[] body(ClassicHttpResponse from) throws IOException {
        if (from.getEntity() == null) {
            return new byte[0];
        }
        long said = from.getEntity().getContentLength();
        int most = 0 <= said && said < MOST_BYTES ? (int) said : MOST_BYTES;
        byte[] body = from.getEntity().getContent().readNBytes(most + 1);
        if (body.length > MOST_BYTES) {
            throw SdkClientException.create(
                    "the response is longer than %d bytes".formatted(MOST_BYTES));
        }
        return body;
    }
}
