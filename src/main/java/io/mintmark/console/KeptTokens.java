package io.mintmark.console;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;

/**
 * ID tokens that are too long for a cookie, in memory and within a number of bytes: those that were
 * used longest ago go first. Such a session ends with the process, and is known to this process
 * alone.
 */
final class KeptTokens {
    private static final long MOST = Math.max(4 << 20, Runtime.getRuntime().maxMemory() / 32);
    private static final int ID_BYTES = 32;

    /** The overhead of a cache entry beside its characters, in bytes. */
    private static final int OBJECTS = 256;

    private final SecureRandom random = new SecureRandom();
    private final Cache<String, String> tokens;

    KeptTokens() {
        this(MOST);
    }

    /**
     * @param most bytes of tokens
     */
    KeptTokens(long most) {
        this.tokens =
                Caffeine.newBuilder()
                        .maximumWeight(most)
                        .weigher((String _, String token) -> OBJECTS + token.length())
                        .expireAfterWrite(Duration.ofDays(1))
                        .executor(Runnable::run)
                        .build();
    }

    /** Keeps a token, and returns the id by which it is found. */
    String keep(String token) {
        byte[] bytes = new byte[ID_BYTES];
        random.nextBytes(bytes);
        String id = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        tokens.put(id, token);
        return id;
    }

    Optional<String> find(String id) {
        return Optional.ofNullable(tokens.getIfPresent(id));
    }
}
