package io.mintmark.base.credential;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A type of access provider as far as it doesn't mint. Each type implements this next to its
 * provider; the endpoints, the console and the commands ask it instead of comparing names, so that
 * a new type doesn't compile before it answers all of them.
 */
public interface CredentialType {

    /** The name in {@code broker.provider_type}. */
    String name();

    /**
     * The fields of a credential, which the {@code outputs} of a key may name. A type whose access
     * providers list fields in a setting names those that all of them have.
     */
    Set<String> fields();

    /**
     * Output names with the field that fills each, for keys without {@code outputs}. Empty if each
     * access provider has its own.
     */
    Map<String, String> defaultOutputs();

    /**
     * Whether the provider chooses how long a credential lives, whatever the broker asks for, so
     * that a shorter life tells nothing about its settings.
     */
    default boolean choosesLife() {
        return false;
    }

    /** How a credential can be ended before it expires: one or more sentences. */
    String earlyEnd();

    /**
     * How exactly these credentials can be ended before they expire.
     *
     * @param credentials of this type, at least one
     * @param block id of the row of {@code broker.blocked_subject}, for the names of what the
     *     operator creates at the provider
     * @return one entry for each target at the provider
     */
    List<ManualRevocation> manualRevocations(List<ActiveCredential> credentials, long block);

    /** The place where the provider's own log shows a mint. */
    ProviderLog log(LoggedMint mint);

    /**
     * Instructions for one target.
     *
     * @param target what the instructions apply to, such as {@code role arn:…}; may be empty
     * @param lastExpiry when the last of the credentials expires
     * @param lines sentences, and commands to copy
     */
    record ManualRevocation(String target, Instant lastExpiry, List<String> lines) {

        public ManualRevocation {
            lines = List.copyOf(lines);
        }

        /** Instructions for credentials of one target. */
        public static ManualRevocation of(
                String target, List<ActiveCredential> credentials, String... lines) {
            return new ManualRevocation(
                    target, ActiveCredential.lastExpiry(credentials), List.of(lines));
        }
    }

    /**
     * A mint as the audit log shows it.
     *
     * @param expiresAt if a credential was issued
     */
    record LoggedMint(
            String tenant,
            String key,
            Optional<String> credentialId,
            Instant at,
            Optional<Instant> expiresAt) {}

    /**
     * Where to look.
     *
     * @param where a sentence
     * @param command a shell command that finds the mint there, if one exists
     */
    record ProviderLog(String where, Optional<String> command) {}

    /** Quotes a string as one word of a POSIX shell. */
    static String shellWord(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
