package io.mintmark.base.outbound;

import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.DefaultSchemePortResolver;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.apache.hc.client5.http.impl.io.DefaultHttpClientConnectionOperator;
import org.apache.hc.client5.http.impl.routing.DefaultRoutePlanner;
import org.apache.hc.client5.http.io.HttpClientConnectionManager;
import org.apache.hc.client5.http.io.HttpClientConnectionOperator;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.http.URIScheme;
import org.apache.hc.core5.http.config.RegistryBuilder;

/**
 * HTTP clients with all conveniences off: no proxy (not even that of the environment), no
 * redirects, cookies, authentication, retries or decompression. The client's own defaults bound the
 * heads of answers.
 */
final class HttpClients {
    private HttpClients() {}

    static HttpClientBuilder on(HttpClientConnectionManager connections) {
        return HttpClientBuilder.create()
                .setConnectionManager(connections)
                .setRoutePlanner(new DefaultRoutePlanner(DefaultSchemePortResolver.INSTANCE))
                .setDefaultRequestConfig(
                        RequestConfig.custom()
                                .setAuthenticationEnabled(false)
                                .setProtocolUpgradeEnabled(false)
                                .build())
                .setUserAgent("mintmark")
                .disableRedirectHandling()
                .disableCookieManagement()
                .disableAuthCaching()
                .disableAutomaticRetries()
                .disableContentCompression();
    }

    /** Connects to the addresses that the resolver gives, and to nothing else. */
    static HttpClientConnectionOperator connecting(DnsResolver resolver, TlsSocketStrategy trust) {
        return new DefaultHttpClientConnectionOperator(
                _ -> new BoundedSocket(BoundedSocket.MOST_BYTES),
                DefaultSchemePortResolver.INSTANCE,
                resolver,
                RegistryBuilder.<TlsSocketStrategy>create()
                        .register(URIScheme.HTTPS.id, trust)
                        .build());
    }
}
