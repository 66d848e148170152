package io.mintmark.broker.metrics;

import io.mintmark.audit.Kind;
import io.mintmark.base.metrics.Meters;
import io.mintmark.base.metrics.Metric;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.MintRefusal;
import io.mintmark.base.verdict.Refusal;
import io.mintmark.base.verdict.TokenRefusal;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.exchange.MintListener;
import io.mintmark.broker.http.RequestListener;
import io.mintmark.broker.lease.LeaseListener;
import io.mintmark.broker.notice.NoticeListener;
import io.mintmark.broker.token.KeySetListener;
import io.mintmark.broker.token.KeySource;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Counts what happens. No label is anything that a client chooses: neither subject nor address nor
 * path; tenants and types are what admins have set up.
 */
public final class Measurements
        implements RequestListener, MintListener, KeySetListener, LeaseListener, NoticeListener {
    private static final Logger log = LoggerFactory.getLogger(Measurements.class);
    private static final String INVALID_REQUEST = "invalid_request";
    private static final String KEYS_DENIED = "keys_denied";
    private static final String KEYS_MISSING = "keys_missing";
    private static final String SUBJECT_NOT_FOUND = "subject_not_found";
    private static final String TENANT_LIMIT = "tenant_limit";
    private static final String INTERNAL = "internal";
    private static final String MINTED = "minted";
    private static final String FAILED = "failed";
    private static final List<Integer> STATUSES = List.of(200, 500, 503);

    private final Meters meters;
    private final FailingIssuers failingIssuers;

    public Measurements(Meters meters) {
        this.meters = meters;
        this.failingIssuers = new FailingIssuers(meters, System::nanoTime);
    }

    /**
     * Shows all that can be counted without knowing who comes, so that the first event is a rise.
     *
     * @param routes that serve credentials
     * @param types of access providers
     * @param leavingBehind those types whose mints leave something behind
     */
    public void announce(
            Collection<String> routes, Collection<String> types, Collection<String> leavingBehind) {
        for (String route : routes) {
            for (int status : STATUSES) {
                meters.announce(Metric.REQUESTS, route, Integer.toString(status));
                meters.announce(Metric.REQUEST, route, Integer.toString(status));
            }
        }
        refusals().forEach(word -> meters.announce(Metric.REFUSALS, word));
        for (String type : types) {
            meters.announce(Metric.PROVIDER_CALL, type, MINTED);
            meters.announce(Metric.PROVIDER_CALL, type, FAILED);
        }
        for (String type : leavingBehind) {
            for (Result result : Result.values()) {
                meters.announce(Metric.ENDINGS, type, word(result));
            }
        }
        for (Unavailable.Part part : Unavailable.Part.values()) {
            meters.announce(Metric.FAILURES, word(part));
        }
        meters.announce(Metric.FAILURES, INTERNAL);
        meters.announce(Metric.FORWARDING_IGNORED);
        meters.announce(Metric.BREAK_GLASS);
        for (Outcome outcome : Outcome.values()) {
            meters.announce(Metric.NOTICES, word(outcome));
        }
        meters.announce(Metric.TOKEN_VERIFICATION);
        meters.announce(Metric.KEY_SET_FETCH, Timed.outcome(true));
        meters.announce(Metric.KEY_SET_FETCH, Timed.outcome(false));
    }

    private static Stream<String> refusals() {
        Stream<String> tokens =
                Stream.of(TokenRefusal.class.getPermittedSubclasses())
                        .map(refusal ->
                                refusal.getSimpleName().replaceAll("(?<=[a-z])(?=[A-Z])", "_"))
                        .map(word -> word.toLowerCase(Locale.ROOT));
        Stream<String> mints = Stream.of(MintRefusal.Reason.values()).map(MintRefusal.Reason::word);
        return Stream.of(
                        tokens,
                        mints,
                        Stream.of(
                                INVALID_REQUEST,
                                KEYS_DENIED,
                                KEYS_MISSING,
                                SUBJECT_NOT_FOUND,
                                TENANT_LIMIT))
                .flatMap(Function.identity());
    }

    @Override
    public void answered(String route, int status, Duration taken) {
        meters.count(Metric.REQUESTS, route, Integer.toString(status));
        meters.time(Metric.REQUEST, taken, route, Integer.toString(status));
    }

    @Override
    public void forwardingIgnored() {
        meters.count(Metric.FORWARDING_IGNORED);
    }

    @Override
    public void failed(Optional<Unavailable.Part> part) {
        meters.count(Metric.FAILURES, part.map(Measurements::word).orElse(INTERNAL));
    }

    private static String word(Unavailable.Part part) {
        return part.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void refused(Refusal refusal) {
        meters.count(Metric.REFUSALS, refusal.word());
    }

    @Override
    public void shortLived(TenantName tenant, String type) {
        meters.count(Metric.SHORT_CREDENTIALS, tenant.value(), type);
    }

    @Override
    public void tokenExamined(Duration taken) {
        meters.time(Metric.TOKEN_VERIFICATION, taken);
    }

    @Override
    public void providerAnswered(String type, boolean minted, Duration taken) {
        meters.time(Metric.PROVIDER_CALL, taken, type, minted ? MINTED : FAILED);
    }

    @Override
    public void ended(TenantName tenant, String type, Kind outcome) {
        meters.count(Metric.MINTS, tenant.value(), type, outcome.word());
    }

    @Override
    public void glassBroken(TenantName tenant) {
        meters.count(Metric.BREAK_GLASS);
        log.warn(
                "A subject of tenant '{}' was granted access without an approval (break glass); see"
                        + " audit.break_glass",
                tenant);
    }

    @Override
    public void tried(String type, Result result) {
        meters.count(Metric.ENDINGS, type, word(result));
    }

    @Override
    public void tried(Outcome outcome) {
        meters.count(Metric.NOTICES, word(outcome));
    }

    private static String word(Outcome outcome) {
        return outcome.name().toLowerCase(Locale.ROOT);
    }

    private static String word(Result result) {
        return result.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void fetched(TenantName tenant, KeySource source, FetchResult result, Duration taken) {
        meters.time(Metric.KEY_SET_FETCH, taken, Timed.outcome(result == FetchResult.SUCCEEDED));
        switch (result) {
            case SUCCEEDED -> failingIssuers.succeeded(source);
            case FAILED -> failingIssuers.failed(tenant, source);
            case BUSY -> {}
        }
    }
}
