package io.mintmark.console;

import io.helidon.http.SetCookie;
import io.helidon.webserver.http.ServerRequest;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * The cookie that holds a session's ID token, or the id of a long one that this process keeps,
 * since reverse proxies and browsers take a few KiB of headers only: AES-256-GCM (NIST SP 800-38D)
 * under a key that no other cookie has, with the cookie's name as associated data. No other cookie
 * can take its place.
 */
final class SessionCookie {
    private static final String CIPHER = "AES/GCM/NoPadding";
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    /**
     * Characters of an ID token that fits into a cookie. Encrypted and encoded they are 2 KiB,
     * which leaves as much for the other headers in the 4 KiB that nginx takes by default.
     */
    private static final int LONGEST_TOKEN = 1_500;

    /** The prefix of a kept token's id. No ID token begins with it. */
    private static final String KEPT = "@";

    private final String name;
    private final boolean secure;
    private final List<SecretKey> keys;
    private final SecureRandom random = new SecureRandom();
    private final KeptTokens kept = new KeptTokens();

    /**
     * @param prefix the start of the names of all the console's cookies
     * @param secure whether browsers send it over https only
     */
    SessionCookie(String prefix, boolean secure, CookieKey key) {
        this.name = prefix + "session";
        this.secure = secure;
        this.keys = key.keysFor("mintmark console session");
    }

    /** Returns the cookie that begins a session with this token. */
    SetCookie of(String idToken) {
        String content = idToken.length() <= LONGEST_TOKEN ? idToken : KEPT + kept.keep(idToken);
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        try {
            byte[] sealed =
                    cipher(Cipher.ENCRYPT_MODE, keys.getFirst(), nonce)
                            .doFinal(content.getBytes(StandardCharsets.UTF_8));
            byte[] value =
                    ByteBuffer.allocate(nonce.length + sealed.length)
                            .put(nonce)
                            .put(sealed)
                            .array();
            return cookie(Base64.getUrlEncoder().withoutPadding().encodeToString(value)).build();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java runtime lacks " + CIPHER, e);
        }
    }

    /** Returns the cookie that ends the session in the browser. */
    SetCookie removed() {
        return cookie("").expires(Instant.EPOCH).build();
    }

    /** Returns the ID token of the request's session, if this console made the cookie. */
    Optional<String> read(ServerRequest request) {
        return request.headers().cookies().first(name).asOptional().flatMap(this::open);
    }

    /** The token in a cookie's value; empty if the console didn't make the value. */
    Optional<String> open(String value) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(value);
            return bytes.length < NONCE_BYTES
                    ? Optional.empty()
                    : keys.stream()
                            .flatMap(key -> open(bytes, key).stream())
                            .findFirst()
                            .flatMap(this::token);
        } catch (IllegalArgumentException _) {
            return Optional.empty(); // a cookie that this console didn't make is no cookie
        }
    }

    private Optional<String> token(String content) {
        return content.startsWith(KEPT)
                ? kept.find(content.substring(KEPT.length()))
                : Optional.of(content);
    }

    private Optional<String> open(byte[] bytes, SecretKey key) {
        try {
            byte[] token =
                    cipher(Cipher.DECRYPT_MODE, key, Arrays.copyOf(bytes, NONCE_BYTES))
                            .doFinal(bytes, NONCE_BYTES, bytes.length - NONCE_BYTES);
            return Optional.of(new String(token, StandardCharsets.UTF_8));
        } catch (GeneralSecurityException _) {
            return Optional.empty(); // encrypted with another key
        }
    }

    private Cipher cipher(int mode, SecretKey key, byte[] nonce) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance(CIPHER);
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(name.getBytes(StandardCharsets.US_ASCII));
        return cipher;
    }

    private SetCookie.Builder cookie(String value) {
        return SetCookie.builder(name, value)
                .path("/")
                .httpOnly(true)
                .secure(secure)
                // another site may link to a page
                .sameSite(SetCookie.SameSite.LAX);
    }
}
