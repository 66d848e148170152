package io.mintmark.base.verdict;

/**
 * A provider of access gave no credential: 500 {@code CREDENTIAL_MINT_FAILED}.
 *
 * @param provider the access provider's name
 * @param key the key that could not be minted
 * @param reason the stable word; the provider's own words stay in the audit log and the log
 */
public record MintRefusal(String provider, String key, Reason reason) implements Refusal {

    /** Why, as far as a client may know. */
    public enum Reason {
        /** The provider didn't answer within the deadline. */
        PROVIDER_TIMEOUT("provider_timeout"),
        /** The provider couldn't be reached. */
        PROVIDER_UNREACHABLE("provider_unreachable"),
        /** The provider requests fewer calls. */
        PROVIDER_THROTTLED("provider_throttled"),
        /** The broker's identity was accepted, what it asked for was not permitted. */
        PROVIDER_REJECTED("provider_rejected"),
        /** The broker's own token or client was not accepted. */
        BROKER_IDENTITY_REJECTED("broker_identity_rejected"),
        /** The key's or the provider's settings can't work. */
        PROVIDER_MISCONFIGURED("provider_misconfigured"),
        /** The provider failed in another way. */
        PROVIDER_ERROR("provider_error");

        private final String word;

        Reason(String word) {
            this.word = word;
        }

        /** The stable word of {@code details.reason}. */
        public String word() {
            return word;
        }
    }
}
