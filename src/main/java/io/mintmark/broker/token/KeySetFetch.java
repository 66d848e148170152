package io.mintmark.broker.token;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.limit.SharedPermits;
import io.mintmark.base.limit.SharedPermits.Permit;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.tenant.TenantName;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Keys as issuers publish them: inline, at {@code jwks_uri}, at the issuer's default address, or
 * where its discovery document (OpenID Connect Discovery 1.0 section 4) says. All documents of a
 * fetch have one deadline.
 */
final class KeySetFetch implements KeyFetch {
    /** Fetches at a time, each with a connection and up to 64 KiB of an answer. */
    static final int AT_A_TIME = 64;

    /** Fetches at a time in the share of one tenant. */
    static final int OF_A_TENANT = AT_A_TIME / 8;

    private static final Logger LOG = LoggerFactory.getLogger(KeySetFetch.class);
    private static final String WELL_KNOWN = "/.well-known/";
    private static final String KEYS = "jwks.json";
    private static final String DISCOVERY = "openid-configuration";
    private static final int MAX_DISCOVERY_BYTES = 64 << 10;
    private static final Duration PATIENCE_FOR_A_PERMIT = Duration.ofSeconds(1);

    private final GuardedHttp http;
    private final Duration timeout;
    private final SharedPermits<TenantName> permits = new SharedPermits<>(AT_A_TIME, OF_A_TENANT);

    KeySetFetch(GuardedHttp http) {
        this(http, GuardedHttp.TIMEOUT);
    }

    /**
     * @param timeout for all documents of a fetch together
     */
    KeySetFetch(GuardedHttp http, Duration timeout) {
        this.http = http;
        this.timeout = timeout;
    }

    @Override
    public KeySet fetch(KeySource source, TenantName owner, Predicate<KeySet> enough)
            throws IOException {
        if (source.jwks().isPresent()) {
            byte[] json = source.jwks().get().getBytes(StandardCharsets.UTF_8);
            return usable("jwks of the identity provider", KeySet.parse(json));
        }
        Fetch fetch = new Fetch(source, owner, System.nanoTime() + timeout.toNanos());
        try (Permit _ = permit(owner)) {
            return fetch.keys(enough);
        }
    }

    private Permit permit(TenantName owner) throws OutboundFailure {
        return permits.acquire(owner, PATIENCE_FOR_A_PERMIT)
                .orElseThrow(() ->
                        OutboundFailure.busy(
                                "too many key sets are being fetched at the moment, for tenant '%s' or in total"
                                        .formatted(owner)));
    }

    /** One fetch, until its deadline by {@link System#nanoTime}. */
    private final class Fetch {
        private final KeySource source;
        private final TenantName owner;
        private final long deadline;

        Fetch(KeySource source, TenantName owner, long deadline) {
            this.source = source;
            this.owner = owner;
            this.deadline = deadline;
        }

        KeySet keys(Predicate<KeySet> enough) throws IOException {
            if (source.jwksUri().isPresent()) {
                return published(source.jwksUri().get(), "jwks_uri");
            }
            KeySet atDefault;
            try {
                atDefault = published(wellKnown(KEYS), WELL_KNOWN + KEYS);
            } catch (IOException e) {
                return instead(e);
            }
            return enough.test(atDefault) ? atDefault.ofFirstPlace() : withDiscovered(atDefault);
        }

        /**
         * If the response at the default address isn't a key set, the discovery document leads to
         * one.
         */
        private KeySet instead(IOException noKeySet) throws IOException {
            if (!isAnswer(noKeySet)) {
                throw noKeySet;
            }
            try {
                return discovered();
            } catch (IOException e) {
                if (PendingFetch.isBusy(e)) {
                    throw e;
                }
                throw new NoKeySet(noKeySet.getMessage() + "; " + e.getMessage(), e);
            }
        }

        private KeySet withDiscovered(KeySet atDefault) {
            try {
                return atDefault.followedBy(discovered());
            } catch (IOException e) {
                LOG.debug("issuer {} has no other keys: {}", source.issuer(), e.getMessage());
                return mayPass(e) ? atDefault.withoutSecond() : atDefault;
            }
        }

        private KeySet discovered() throws IOException {
            String address = get(wellKnown(DISCOVERY), WELL_KNOWN + DISCOVERY, this::jwksUri);
            return published(address, "jwks_uri of " + WELL_KNOWN + DISCOVERY);
        }

        private Parsed<String> jwksUri(byte[] document) {
            return Parsed.object(document, MAX_DISCOVERY_BYTES).then(this::jwksUri);
        }

        private Parsed<String> jwksUri(ObjectNode document) {
            JsonNode issuer = document.path("issuer");
            if (!source.issuer().equals(issuer.textValue())) {
                return Parsed.unusable(
                        Text.fault(issuer, Text.NAME).isEmpty()
                                ? "names another issuer, '%s'".formatted(issuer.textValue())
                                : "doesn't name its issuer");
            }
            return Optional.ofNullable(document.path("jwks_uri").textValue())
                    .map(Parsed::usable)
                    .orElseGet(() -> Parsed.unusable("has no jwks_uri"));
        }

        private KeySet published(String address, String where) throws IOException {
            KeySet keys = get(address, where, KeySet::parse);
            if (keys.isFull()) {
                LOG.warn(
                        "Issuer {} publishes {} keys or more at its {}; the broker uses the first"
                                + " {}",
                        source.issuer(),
                        KeySet.MAX_KEPT,
                        where,
                        KeySet.MAX_KEPT);
            }
            return keys;
        }

        /**
         * Gets a document.
         *
         * @param where the document is, for the log
         */
        private <T> T get(String address, String where, Function<byte[], Parsed<T>> parser)
                throws IOException {
            Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
            Parsed<T> parsed;
            try {
                parsed =
                        http.get(
                                new GuardedHttp.Document(
                                        owner.value(), address, source.caCertificate(), left),
                                parser);
            } catch (OutboundFailure e) {
                throw e.about(where);
            }
            return usable(where, parsed);
        }

        /** One trailing slash of the issuer is dropped for addresses only. */
        private String wellKnown(String document) {
            String issuer = source.issuer();
            String base = issuer.endsWith("/") ? issuer.substring(0, issuer.length() - 1) : issuer;
            return base + WELL_KNOWN + document;
        }
    }

    private static <T> T usable(String where, Parsed<T> parsed) throws NoKeySet {
        return switch (parsed) {
            case Parsed.Usable<T>(T value) -> value;
            case Parsed.Unusable<T>(String fault) -> throw new NoKeySet(where + " " + fault);
        };
    }

    private static boolean isAnswer(IOException failure) {
        return failure instanceof NoKeySet
                || (failure instanceof OutboundFailure outbound && outbound.answered());
    }

    /** Whether the keys at a place are unknown, because the place may answer later. */
    private static boolean mayPass(IOException failure) {
        return failure instanceof OutboundFailure outbound && outbound.mayPass();
    }

    /** The response isn't a key set. */
    private static final class NoKeySet extends IOException {
        private static final long serialVersionUID = 1L;

        NoKeySet(String message) {
            super(message);
        }

        NoKeySet(String message, IOException cause) {
            super(message, cause);
        }
    }
}
