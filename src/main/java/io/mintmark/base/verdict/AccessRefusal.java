package io.mintmark.base.verdict;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The token is good, its subject may not have what it asks for. */
public sealed interface AccessRefusal extends Refusal {

    /**
     * The tenant has the keys, the subject isn't granted them now: 403.
     *
     * @param deniedKeys those of the request that are refused, in its order
     * @param allowedKeys all that the subject could mint now, by name
     * @param requestableKeys those of the refused keys that the subject may ask for
     * @param actor who acted for the subject, whose own grants count for nothing then
     * @param tooShort those of the refused keys whose grants fail by their duration alone
     * @param elsewhere those of the refused keys whose grants fail by the client's address alone
     * @param withdrawn access to refused keys that the subject was granted, and that was withdrawn
     */
    record KeysDenied(
            String subject,
            List<String> deniedKeys,
            List<String> allowedKeys,
            List<String> requestableKeys,
            Optional<String> actor,
            List<TooShortGrant> tooShort,
            Optional<OtherNetworks> elsewhere,
            List<WithdrawnAccess> withdrawn)
            implements AccessRefusal {
        public KeysDenied {
            deniedKeys = List.copyOf(deniedKeys);
            allowedKeys = List.copyOf(allowedKeys);
            requestableKeys = List.copyOf(requestableKeys);
            tooShort = List.copyOf(tooShort);
            withdrawn = List.copyOf(withdrawn);
        }

        /** Denies keys of which the subject may ask for none. */
        public KeysDenied(String subject, List<String> deniedKeys, List<String> allowedKeys) {
            this(
                    subject,
                    deniedKeys,
                    allowedKeys,
                    List.of(),
                    Optional.empty(),
                    List.of(),
                    Optional.empty(),
                    List.of());
        }

        /** Returns this refusal with access that was withdrawn. */
        public KeysDenied after(List<WithdrawnAccess> ended) {
            return new KeysDenied(
                    subject,
                    deniedKeys,
                    allowedKeys,
                    requestableKeys,
                    actor,
                    tooShort,
                    elsewhere,
                    ended);
        }
    }

    /**
     * Access by a request of the subject that ended before its time.
     *
     * @param by the approver who withdrew it, in words; empty if it was given back
     */
    record WithdrawnAccess(String key, UUID request, Optional<String> by, Instant at) {}

    /**
     * A grant that meets all conditions, and into which no credential fits any more.
     *
     * @param left for how long a credential could live at most
     * @param least for how long the shortest credential of the key lives
     */
    record TooShortGrant(String key, Duration left, Duration least) {}

    /**
     * Keys that are granted for other networks than the client's.
     *
     * @param address the client's, as the broker sees it
     */
    record OtherNetworks(String address, List<String> keys) {
        public OtherNetworks {
            keys = List.copyOf(keys);
        }
    }

    /** The tenant has no such keys: 404. */
    record KeysMissing(String subject, List<String> missingKeys) implements AccessRefusal {
        public KeysMissing {
            missingKeys = List.copyOf(missingKeys);
        }
    }

    /**
     * The subject could mint nothing: 404 of the list of keys.
     *
     * @param actor who acted for the subject
     */
    record SubjectNotFound(String subject, String idp, Optional<String> actor)
            implements AccessRefusal {}
}
