package io.mintmark.broker.identity;

import com.nimbusds.jose.util.JSONObjectUtils;

import io.mintmark.base.tenant.TenantName;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * An issuer of tokens, known by its URL: the broker, which proves itself to access providers, or
 * one of its tenants, which gives access tokens to clients. That the two differ keeps an access
 * token from passing for the broker.
 */
record Issuer(String name) {

    Issuer ofTenant(TenantName tenant) {
        return new Issuer(base() + "/tenants/" + tenant);
    }

    /**
     * Whether this name could be mistaken for the issuer's or for one of its tenants', in any
     * spelling and with any suffix.
     */
    boolean couldBe(String other) {
        String plain = plain(other);
        String own = plain(base());
        return plain.equals(own) || plain.startsWith(own + "/");
    }

    /** Verifiers differ in what they do with capitals, the scheme and slashes. */
    private static String plain(String url) {
        return url.strip()
                .toLowerCase(Locale.ROOT)
                .replaceFirst("^[a-z][a-z0-9+.-]*://", "")
                .replaceFirst("/+$", "");
    }

    /**
     * The document at {@code /.well-known/openid-configuration} (OpenID Connect Discovery 1.0).
     *
     * @param further members by name
     */
    String discoveryDocument(List<String> algorithms, Map<String, ?> further) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("issuer", name);
        document.put("jwks_uri", base() + "/.well-known/jwks.json");
        document.put("response_types_supported", List.of("id_token"));
        document.put("subject_types_supported", List.of("public"));
        document.put("id_token_signing_alg_values_supported", algorithms);
        document.put("scopes_supported", List.of("openid"));
        document.put("claims_supported", List.of("iss", "sub", "aud", "exp", "nbf", "iat", "jti"));
        document.putAll(further);
        return JSONObjectUtils.toJSONString(document);
    }

    private String base() {
        return name.endsWith("/") ? name.substring(0, name.length() - 1) : name;
    }
}
