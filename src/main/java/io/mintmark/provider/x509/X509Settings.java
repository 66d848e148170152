package io.mintmark.provider.x509;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.provider.CaKey;
import io.mintmark.provider.KeyReference;
import io.mintmark.provider.Settings;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The settings of an access provider of type {@code x509} and of a key there.
 *
 * @param caCertificate PEM: the CA's own, then those above it
 * @param caKey where the CA's private key is
 * @param subject a template as openssl writes names, {@code /O=acme/CN={key}}
 * @param uri a SPIFFE id
 * @param keyType of the pairs that the broker makes
 */
record X509Settings(
        String caCertificate,
        KeyReference caKey,
        String subject,
        Optional<String> uri,
        List<String> dnsNames,
        Set<String> usages,
        String keyType) {
    private static final String TEXT = "([A-Za-z0-9._@:-]|[{](mint_id|tenant|key)[}])";

    /** The form of a subject. Values contain no slash, so that none can begin another attribute. */
    private static final Pattern SUBJECT =
            Pattern.compile("(/(CN|OU|O|L|ST|C|DC|UID)=%1$s( ?%1$s){0,63}){1,10}".formatted(TEXT));

    /** SPIFFE-ID sections 2.1 and 2.2: no empty segment, and none of dots alone. */
    private static final Pattern SPIFFE =
            Pattern.compile(
                    "spiffe://([a-z0-9._-]{1,255})(/(?!\\.{1,2}(/|$))[A-Za-z0-9._-]+){1,16}");

    private static final Pattern DNS =
            Pattern.compile("(\\*\\.)?[a-z0-9-]{1,63}(\\.[a-z0-9-]{1,63}){0,8}");
    private static final int MOST_NAMES = 64;
    private static final int LONGEST = 1024;

    static Settings ofProvider(JsonNode settings) {
        return Settings.ofProvider(settings, Set.of("ca_certificate", "ca_key", "trust_domain"));
    }

    static X509Settings of(JsonNode ofProvider, JsonNode ofKey) {
        Settings provider = ofProvider(ofProvider);
        Settings key =
                Settings.ofKey(
                        ofKey,
                        Set.of("subject", "uri", "dns_names", "usage", "key_type", "caller_key"));
        var _ = key.oneOf("caller_key", "optional", "required", "refused");
        Optional<String> uri = key.text("uri");
        uri.ifPresent(id -> requireWithin(provider.text("trust_domain"), id, key));
        X509Settings settings =
                new X509Settings(
                        provider.requiredText("ca_certificate"),
                        CaKey.reference(provider),
                        key.requiredText("subject"),
                        uri,
                        key.texts("dns_names"),
                        usages(key),
                        key.oneOf("key_type", "ec-p256", "ed25519"));
        settings.requireNames(key);
        return settings;
    }

    private static Set<String> usages(Settings key) {
        Set<String> usages = new TreeSet<>(key.texts("usage"));
        if (!Set.of("client", "server").containsAll(usages)) {
            throw key.unusable("usage", "may contain only client and server");
        }
        return usages.isEmpty() ? Set.of("client") : usages;
    }

    private static void requireWithin(Optional<String> trustDomain, String id, Settings key) {
        var given = SPIFFE.matcher(id);
        if (id.length() > LONGEST || !given.matches()) {
            throw key.unusable("uri", "must be a SPIFFE id: spiffe://trust-domain/path");
        }
        if (!trustDomain.equals(Optional.of(given.group(1)))) {
            throw key.unusable(
                    "uri", "must be in the trust_domain that the access provider's settings name");
        }
    }

    private void requireNames(Settings key) {
        if (subject.length() > LONGEST || !SUBJECT.matcher(subject).matches()) {
            throw key.unusable("subject", "must have the form /O=acme/CN={key}");
        }
        if (!dnsNames.isEmpty() && !usages.contains("server")) {
            throw key.unusable("dns_names", "needs the usage 'server'");
        }
        if (dnsNames.size() > MOST_NAMES
                || !dnsNames.stream().allMatch(name -> DNS.matcher(name).matches())) {
            throw key.unusable("dns_names", "must be at most %d host names".formatted(MOST_NAMES));
        }
    }

    List<String> targets() {
        List<String> targets = new ArrayList<>();
        targets.add("subject:" + subject);
        uri.ifPresent(targets::add);
        dnsNames.forEach(name -> targets.add("dns:" + name));
        return targets;
    }
}
