package io.mintmark.outbound;

import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.DefaultSchemePortResolver;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.apache.hc.client5.http.impl.io.BasicHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.DefaultHttpClientConnectionOperator;
import org.apache.hc.client5.http.impl.io.ManagedHttpClientConnectionFactory;
import org.apache.hc.client5.http.impl.routing.DefaultRoutePlanner;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.http.HttpHeaders;
import org.apache.hc.core5.http.URIScheme;
import org.apache.hc.core5.http.config.RegistryBuilder;
import org.apache.hc.core5.http.message.BasicHeader;
import org.apache.hc.core5.util.Timeout;

import java.net.Proxy;
import java.net.Socket;
import java.time.Duration;
import java.util.List;

/**
 * An HTTP client for one request, with all conveniences off: no proxy (not even that of the
 * environment), no redirects, cookies, authentication, retries or decompression. The client's own
 * defaults bound the heads of answers. It has a connection of its own, because a pool that tenants
 * share is a pool that one tenant's slow host can use up.
 */
final class OneConnection {
    private OneConnection() {}

    static CloseableHttpClient open(DnsResolver resolver, TlsSocketStrategy trust, Duration time) {
        return HttpClientBuilder.create()
                .setConnectionManager(connection(resolver, trust, Timeout.of(time)))
                .setRoutePlanner(new DefaultRoutePlanner(DefaultSchemePortResolver.INSTANCE))
                .setDefaultRequestConfig(request())
                .setDefaultHeaders(
                        List.of(
                                new BasicHeader(HttpHeaders.ACCEPT, "application/json"),
                                new BasicHeader(HttpHeaders.ACCEPT_ENCODING, "identity"),
                                new BasicHeader(HttpHeaders.CONNECTION, "close")))
                .setUserAgent("mintmark")
                .disableRedirectHandling()
                .disableCookieManagement()
                .disableAuthCaching()
                .disableAutomaticRetries()
                .disableContentCompression()
                .build();
    }

    private static BasicHttpClientConnectionManager connection(
            DnsResolver resolver, TlsSocketStrategy trust, Timeout time) {
        var tls =
                RegistryBuilder.<TlsSocketStrategy>create()
                        .register(URIScheme.HTTPS.id, trust)
                        .build();
        var connection =
                new BasicHttpClientConnectionManager(
                        new DefaultHttpClientConnectionOperator(
                                _ -> new Socket(Proxy.NO_PROXY),
                                DefaultSchemePortResolver.INSTANCE,
                                resolver,
                                tls),
                        ManagedHttpClientConnectionFactory.INSTANCE);
        connection.setConnectionConfig(
                ConnectionConfig.custom().setConnectTimeout(time).setSocketTimeout(time).build());
        return connection;
    }

    private static RequestConfig request() {
        return RequestConfig.custom()
                .setAuthenticationEnabled(false)
                .setProtocolUpgradeEnabled(false)
                .build();
    }
}
