package io.mintmark.provider.sts;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import com.github.benmanes.caffeine.cache.RemovalCause;

import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.base.thread.BackgroundThread;
import io.mintmark.base.thread.ThreadName;
import io.mintmark.provider.web.Calls;

import org.jspecify.annotations.Nullable;

import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sts.StsClient;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The clients for calls to STSs: for signed calls one client of the SDK for each STS, for others
 * {@link WebIdentityCalls}. Neither holds connections, which belong to the tenants. The SDK's own
 * discovery (profile files, proxies, endpoints in the environment, instance metadata) is switched
 * off, because only the provider's settings may decide where a token goes; only {@code ambient}
 * discovers credentials.
 */
public final class StsClients implements AutoCloseable {
    private static final int MOST_CLIENTS = 200;
    private static final Duration LONGEST_CALL = Duration.ofMinutes(1);
    private static final Duration IDLE = Duration.ofMinutes(10);

    private final TenantHttpClients http;
    private final AwsCredentialsProvider ambient;
    private final WireLogs silenced = new WireLogs();
    private final ScheduledExecutorService timer;
    private final LoadingCache<StsEndpoint, StsClient> clients;

    /**
     * @param http closed by the caller
     * @param ambient the broker's own AWS credentials, asked when first needed
     */
    public StsClients(TenantHttpClients http, AwsCredentialsProvider ambient) {
        this.http = http;
        this.ambient = ambient;
        this.timer = BackgroundThread.executor(ThreadName.STS_TIMER);
        this.clients =
                Caffeine.newBuilder()
                        .maximumSize(MOST_CLIENTS)
                        .expireAfterAccess(IDLE)
                        .removalListener(this::retire)
                        .build(this::connect);
    }

    /**
     * Creates clients whose {@code ambient} credentials come from AWS's default credential chain.
     */
    public static StsClients over(TenantHttpClients http) {
        return new StsClients(http, DefaultCredentialsProvider.builder().build());
    }

    /** The SDK's client for calls that the broker's own AWS credentials sign. */
    StsClient to(StsEndpoint sts) {
        return clients.get(sts);
    }

    /** A client for calls without a signature. */
    WebIdentityCalls unsigned(Calls calls) {
        return new WebIdentityCalls(http, calls);
    }

    /** The broker's own AWS credentials. */
    AwsCredentialsProvider ambient() {
        return ambient;
    }

    @Override
    public void close() {
        clients.asMap().values().forEach(StsClient::close);
        timer.shutdownNow();
        silenced.close();
    }

    /** Closes them later, because a call may be in flight. */
    private void retire(@Nullable StsEndpoint sts, @Nullable StsClient client, RemovalCause cause) {
        if (client != null && !timer.isShutdown()) {
            var _ = timer.schedule(client::close, LONGEST_CALL.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private StsClient connect(StsEndpoint sts) {
        return StsClient.builder()
                .region(Region.of(sts.region()))
                .endpointOverride(URI.create(sts.endpoint().origin()))
                .dualstackEnabled(false)
                .fipsEnabled(false)
                .credentialsProvider(ambient)
                .httpClient(new TenantTransport(http))
                .overrideConfiguration(configuration(sts))
                .build();
    }

    private ClientOverrideConfiguration configuration(StsEndpoint sts) {
        return ClientOverrideConfiguration.builder()
                .defaultProfileFile(ProfileFile.aggregator().build())
                .scheduledExecutorService(timer)
                .retryStrategy(SafeRetries.strategy())
                .addExecutionInterceptor(new AnswerFilter())
                .addExecutionInterceptor(new WholeUrl(sts.endpoint().uri().getRawPath()))
                .build();
    }
}
