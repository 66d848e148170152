package io.mintmark.base.outbound;

import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.impl.ChainElement;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.io.BasicHttpClientConnectionManager;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.http.HttpHeaders;
import org.apache.hc.core5.http.message.BasicHeader;
import org.apache.hc.core5.util.Timeout;

import java.time.Duration;
import java.util.List;

/**
 * An HTTP client for one request. It has a connection of its own, because a pool that tenants share
 * is a pool that one tenant's slow host can use up.
 */
final class OneConnection {
    /**
     * Key sets (RFC 7517 section 8.5) and discovery documents. A kube-apiserver answers 406 to a
     * request for its keys that takes only {@code application/json}; other servers name their key
     * sets in ways of their own.
     */
    private static final String DOCUMENTS = "application/jwk-set+json, application/json, */*;q=0.1";

    private OneConnection() {}

    /**
     * @param lastCheck runs when there is a connection, right before the first byte is sent
     */
    static CloseableHttpClient open(
            DnsResolver resolver, TlsSocketStrategy trust, Duration time, Runnable lastCheck) {
        return HttpClients.on(connection(resolver, trust, Timeout.of(time)))
                .addExecInterceptorBefore(
                        ChainElement.MAIN_TRANSPORT.name(),
                        "last check",
                        (request, scope, chain) -> {
                            lastCheck.run();
                            return chain.proceed(request, scope);
                        })
                .setDefaultHeaders(
                        List.of(
                                new BasicHeader(HttpHeaders.ACCEPT, DOCUMENTS),
                                new BasicHeader(HttpHeaders.ACCEPT_ENCODING, "identity"),
                                new BasicHeader(HttpHeaders.CONNECTION, "close")))
                .build();
    }

    private static BasicHttpClientConnectionManager connection(
            DnsResolver resolver, TlsSocketStrategy trust, Timeout time) {
        var connection =
                new BasicHttpClientConnectionManager(
                        HttpClients.connecting(resolver, trust),
                        _ -> new QuietConnection("outbound"));
        connection.setConnectionConfig(
                ConnectionConfig.custom().setConnectTimeout(time).setSocketTimeout(time).build());
        return connection;
    }
}
