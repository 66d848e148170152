package io.mintmark.outbound;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;

import org.apache.hc.client5.http.ConnectionKeepAliveStrategy;
import org.apache.hc.client5.http.classic.HttpClient;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.impl.DefaultConnectionKeepAliveStrategy;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.pool.PoolConcurrencyPolicy;
import org.apache.hc.core5.pool.PoolReusePolicy;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * HTTP clients that keep their connections, one for each tenant: no connection ever serves two.
 * Within a tenant a connection serves one endpoint, and is used again only if everything that was
 * said on it has been read ({@link QuietConnection}).
 *
 * <p>A tenant's connections aren't bounded here; what it may have under way is bounded before.
 */
public final class TenantHttpClients implements AutoCloseable {
    /** The longest that a call may take, whatever its deadline. */
    private static final Duration LONGEST_CALL = Duration.ofMinutes(1);

    /** A client that is forgotten has no call under way. */
    private static final Duration FORGOTTEN = LONGEST_CALL.multipliedBy(2);

    private static final Duration CONNECT = Duration.ofSeconds(3);

    /**
     * Common servers end idle connections after five seconds and more. One that ends just when it
     * is used costs a mint.
     */
    private static final TimeValue IDLE = TimeValue.ofSeconds(4);

    private final Destinations destinations;
    private final TlsSocketStrategy trust;
    private final GuardedHttp http;
    private final LoadingCache<String, Client> clients;
    private final ScheduledExecutorService sweeper = newSweeper();

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
                        .build(_ -> open());
        var _ =
                sweeper.scheduleWithFixedDelay(
                        this::closeExpired,
                        IDLE.getDuration(),
                        IDLE.getDuration(),
                        TimeUnit.SECONDS);
    }

    /** The tenant's client; to be asked for again at every call. */
    public HttpClient of(String tenant) {
        return clients.get(tenant).http();
    }

    /**
     * As {@link GuardedHttp#post}, over a connection of the tenant's. It is used again only if the
     * answer was read whole, in time, and is what may be answered.
     */
    public Reply post(String tenant, Post post, Duration patience) throws OutboundFailure {
        return http.post(of(tenant), post, patience);
    }

    @Override
    public void close() {
        sweeper.shutdownNow();
        clients.asMap().values().forEach(client -> client.http().close(CloseMode.IMMEDIATE));
    }

    private void closeExpired() {
        clients.cleanUp();
        clients.asMap().values().forEach(client -> client.connections().closeExpired());
    }

    private Client open() {
        PoolingHttpClientConnectionManager connections = connections();
        return new Client(
                HttpClients.on(connections).setKeepAliveStrategy(keepAlive()).build(), connections);
    }

    private PoolingHttpClientConnectionManager connections() {
        var connections =
                new PoolingHttpClientConnectionManager(
                        HttpClients.connecting(destinations.resolver(), trust),
                        PoolConcurrencyPolicy.STRICT,
                        PoolReusePolicy.LIFO,
                        null,
                        _ -> new QuietConnection("tenant"));
        connections.setMaxTotal(Integer.MAX_VALUE);
        connections.setDefaultMaxPerRoute(Integer.MAX_VALUE);
        connections.setDefaultConnectionConfig(
                ConnectionConfig.custom()
                        .setConnectTimeout(Timeout.of(CONNECT))
                        // whoever calls ends the call at its deadline, and that closes the socket
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

    private static ScheduledExecutorService newSweeper() {
        return new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("idle-connections").factory());
    }
}
