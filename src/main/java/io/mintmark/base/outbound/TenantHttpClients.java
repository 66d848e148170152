package io.mintmark.base.outbound;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;

import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;

import org.apache.hc.client5.http.ConnectionKeepAliveStrategy;
import org.apache.hc.client5.http.classic.ExecChain;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.impl.ChainElement;
import org.apache.hc.client5.http.impl.DefaultConnectionKeepAliveStrategy;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.protocol.HttpClientContext;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.io.HttpClientResponseHandler;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.pool.PoolConcurrencyPolicy;
import org.apache.hc.core5.pool.PoolReusePolicy;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;

import java.io.IOException;
import java.time.Duration;

/**
 * HTTP clients that keep their connections, one for each tenant: no connection is ever shared by
 * tenants. Within a tenant, a connection serves one endpoint, and is reused only if everything that
 * was received on it has been read ({@link QuietConnection}).
 *
 * <p>A tenant's connections aren't limited here; its calls are limited elsewhere.
 */
public final class TenantHttpClients implements AutoCloseable {
    /** The maximum time of a call, whatever its deadline. */
    private static final Duration LONGEST_CALL = Duration.ofMinutes(1);

    /** A client that hasn't been used for so long has no call in flight. */
    private static final Duration FORGOTTEN = LONGEST_CALL.multipliedBy(2);

    private static final Duration CONNECT = Duration.ofSeconds(3);

    /** The name of a request's attribute that holds its sender. */
    private static final String SENDER = "sender";

    /**
     * Common servers end idle connections after five seconds and more. One that ends just when it
     * is used costs a mint.
     */
    private static final TimeValue IDLE = TimeValue.ofSeconds(4);

    private final Destinations destinations;
    private final TlsSocketStrategy trust;
    private final GuardedHttp http;
    private final LoadingCache<String, Client> clients;
    private final BackgroundThread sweeper =
            BackgroundThread.repeating(
                    ThreadName.IDLE_CONNECTIONS, IDLE.toDuration(), this::closeExpired);

    private record Client(
            CloseableHttpClient http, PoolingHttpClientConnectionManager connections) {}

    /**
     * @param destinations where connections may go
     */
    public TenantHttpClients(Destinations destinations) {
        this(destinations, Trust.publicAuthorities());
    }

    TenantHttpClients(Destinations destinations, TlsSocketStrategy trust) {
        this.destinations = destinations;
        this.trust = trust;
        this.http = new GuardedHttp(destinations);
        this.clients =
                Caffeine.newBuilder()
                        .expireAfterAccess(FORGOTTEN)
                        .executor(Runnable::run)
                        .<String, Client>removalListener((_, client, _) -> {
                            if (client != null) {
                                client.http().close(CloseMode.IMMEDIATE);
                            }
                        })
                        .build(this::open);
        var _ = sweeper.start();
    }

    /**
     * Sends a request over a connection of the sender's tenant, if the sender's last check lets it.
     *
     * @throws NotSent if it doesn't
     */
    public <T> T execute(
            Sender sender, ClassicHttpRequest request, HttpClientResponseHandler<T> handler)
            throws IOException {
        HttpClientContext context = HttpClientContext.create();
        context.setAttribute(SENDER, sender);
        return clients.get(sender.tenant()).http().execute(request, context, handler);
    }

    /**
     * Posts like {@link GuardedHttp#post}, over a connection of the sender's tenant. The connection
     * is reused only if the response was read completely, in time, and is a permitted one.
     *
     * @throws NotSent if the sender's last check doesn't let the request be sent
     */
    public Reply post(Sender sender, OutboundRequest post, Duration timeout)
            throws OutboundFailure {
        return http.post(this, sender, post, timeout);
    }

    @Override
    public void close() {
        sweeper.stop();
        clients.asMap().values().forEach(client -> client.http().close(CloseMode.IMMEDIATE));
    }

    private Duration closeExpired() {
        clients.cleanUp();
        clients.asMap().values().forEach(client -> client.connections().closeExpired());
        return IDLE.toDuration();
    }

    private Client open(String tenant) {
        PoolingHttpClientConnectionManager connections = connections(tenant);
        return new Client(
                HttpClients.on(connections)
                        .setKeepAliveStrategy(keepAlive())
                        .addExecInterceptorBefore(
                                ChainElement.MAIN_TRANSPORT.name(),
                                SENDER,
                                TenantHttpClients::sendIfAllowed)
                        .build(),
                connections);
    }

    /**
     * Makes the sender's last check. The connection exists, and the transport would write to it
     * next.
     */
    private static ClassicHttpResponse sendIfAllowed(
            ClassicHttpRequest request, ExecChain.Scope scope, ExecChain chain)
            throws IOException, HttpException {
        scope.clientContext.getAttribute(SENDER, Sender.class).lastCheck().run();
        return chain.proceed(request, scope);
    }

    private PoolingHttpClientConnectionManager connections(String tenant) {
        var connections =
                new PoolingHttpClientConnectionManager(
                        HttpClients.connecting(destinations.resolver(tenant), trust),
                        PoolConcurrencyPolicy.STRICT,
                        PoolReusePolicy.LIFO,
                        null,
                        _ -> new QuietConnection("tenant"));
        connections.setMaxTotal(Integer.MAX_VALUE);
        connections.setDefaultMaxPerRoute(Integer.MAX_VALUE);
        connections.setDefaultConnectionConfig(
                ConnectionConfig.custom()
                        .setConnectTimeout(Timeout.of(CONNECT))
                        // the caller ends the call at its deadline, which closes the socket
                        .setSocketTimeout(Timeout.DISABLED)
                        .setValidateAfterInactivity(TimeValue.ZERO_MILLISECONDS)
                        .build());
        return connections;
    }

    private static ConnectionKeepAliveStrategy keepAlive() {
        return (answer, context) -> {
            TimeValue wanted =
                    DefaultConnectionKeepAliveStrategy.INSTANCE.getKeepAliveDuration(
                            answer, context);
            return wanted.compareTo(IDLE) < 0 ? wanted : IDLE;
        };
    }
}
