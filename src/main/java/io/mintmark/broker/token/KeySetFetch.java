package io.mintmark.broker.token;

import io.mintmark.base.json.StrictJson;
import io.mintmark.base.outbound.GuardedHttp;
import io.mintmark.base.outbound.OutboundFailure;
import io.mintmark.base.outbound.SharedPermits;
import io.mintmark.base.outbound.SharedPermits.Permit;
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
    private static final int MAX_DISCOVERY_BYTES = 64 << 10;
    private static final Duration PATIENCE_FOR_A_PERMIT = Duration.ofSeconds(1);

    private final GuardedHttp http;
    private final Duration timeout;
    private final SharedPermits permits = new SharedPermits(AT_A_TIME, OF_A_TENANT);

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
            return KeySet.parse(json).orElseThrow(() -> new NoKeySet("jwks is not a JWK set"));
        }
        Fetch fetch = new Fetch(source, owner, System.nanoTime() + timeout.toNanos());
        try (Permit _ =
                permits.require(
                        owner.value(),
                        PATIENCE_FOR_A_PERMIT,
                        "too many key sets are being fetched for tenant '%s' or overall"
                                .formatted(owner))) {
            return fetch.keys(enough);
        }
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
                atDefault = published(wellKnown("jwks.json"), "jwks.json");
            } catch (IOException e) {
                return instead(e);
            }
            return enough.test(atDefault) ? atDefault.ofFirstPlace() : withDiscovered(atDefault);
        }

        /** Where an answer came that is no key set, the discovery document is the way to one. */
        private KeySet instead(IOException noKeySet) throws IOException {
            if (!isAnswer(noKeySet)) {
                throw noKeySet;
            }
            try {
                return discovered();
            } catch (NoKeySet e) {
                throw new NoKeySet(noKeySet.getMessage() + ", and " + e.getMessage());
            } catch (IOException e) {
                e.addSuppressed(noKeySet);
                throw e;
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
            String address =
                    get(wellKnown("openid-configuration"), this::jwksUri)
                            .orElseThrow(() -> new NoKeySet("no discovery document of the issuer"));
            return published(address, "the discovery document's jwks_uri");
        }

        private Optional<String> jwksUri(byte[] document) {
            return StrictJson.object(document, MAX_DISCOVERY_BYTES)
                    .filter(d -> source.issuer().equals(d.path("issuer").textValue()))
                    .flatMap(d -> Optional.ofNullable(d.path("jwks_uri").textValue()));
        }

        private KeySet published(String address, String where) throws IOException {
            KeySet keys =
                    get(address, KeySet::parse)
                            .orElseThrow(() ->
                                    new NoKeySet(
                                            where
                                                    + " is no JWK set of up to %d keys"
                                                            .formatted(KeySet.MAX_KEYS)));
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

        private <T> T get(String address, Function<byte[], T> parser) throws OutboundFailure {
            return http.get(
                    new GuardedHttp.Document(
                            owner.value(),
                            address,
                            source.caCertificate(),
                            Duration.ofNanos(Math.max(0, deadline - System.nanoTime()))),
                    parser);
        }

        /** One trailing slash of the issuer is dropped for addresses only. */
        private String wellKnown(String document) {
            String issuer = source.issuer();
            String base = issuer.endsWith("/") ? issuer.substring(0, issuer.length() - 1) : issuer;
            return base + "/.well-known/" + document;
        }
    }

    private static boolean isAnswer(IOException failure) {
        return failure instanceof NoKeySet
                || (failure instanceof OutboundFailure outbound && outbound.answered());
    }

    /** Whether nothing is known of the keys at a place, because it may answer later. */
    private static boolean mayPass(IOException failure) {
        return failure instanceof OutboundFailure outbound && outbound.mayPass();
    }

    /** An answer came, and it isn't what it should be. */
    private static final class NoKeySet extends IOException {
        private static final long serialVersionUID = 1L;

        NoKeySet(String message) {
            super(message);
        }
    }
}
