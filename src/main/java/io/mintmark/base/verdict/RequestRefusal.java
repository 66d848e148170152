package io.mintmark.base.verdict;

import java.time.Duration;
import java.util.List;

/** The request itself is not one that the interface knows: 400 {@code INVALID_REQUEST}. */
public sealed interface RequestRefusal extends Refusal {

    /**
     * One part of the request is invalid.
     *
     * @param field the member, parameter or header, or {@code body} for the whole body
     * @param reason a sentence that says what to send instead
     */
    record BadField(String field, String reason) implements RequestRefusal {}

    /**
     * Several elements of one member are wrong.
     *
     * @param field the member
     * @param issues a sentence for each problem, in the order of the elements
     */
    record BadElements(String field, List<String> issues) implements RequestRefusal {
        public BadElements {
            issues = List.copyOf(issues);
        }
    }

    /**
     * The key is granted, but the protocol can't carry its type of credential.
     *
     * @param types the types that it can carry
     */
    record KeyOfOtherType(String key, String type, List<String> types) implements RequestRefusal {
        public KeyOfOtherType {
            types = List.copyOf(types);
        }
    }

    /**
     * The client wants a credential for less time than the key's type can give.
     *
     * @param asked the lifetime that the client wants
     * @param atLeast the shortest that the type can give
     */
    record TooShort(String key, Duration asked, Duration atLeast) implements RequestRefusal {}

    /**
     * What the client names isn't one key.
     *
     * @param reason a sentence that says what to send instead
     */
    record WrongTarget(String reason) implements RequestRefusal {}

    /**
     * The key has outputs that the client would not use.
     *
     * @param outputs their names, sorted
     */
    record UnacceptedOutputs(String key, List<String> outputs) implements RequestRefusal {
        /** The header by which a client names the outputs that it accepts. */
        public static final String HEADER = "Mintmark-Accept-Outputs";

        public UnacceptedOutputs {
            outputs = List.copyOf(outputs);
        }
    }

    /**
     * The key has outputs that another key of the request has too, and the client can use only one
     * of each.
     *
     * @param outputs their names, sorted
     */
    record SharedOutputs(String key, List<String> outputs) implements RequestRefusal {
        /** The header by which a client names the outputs that one key at most may have. */
        public static final String HEADER = "Mintmark-Distinct-Outputs";

        public SharedOutputs {
            outputs = List.copyOf(outputs);
        }
    }

    /** The clients of the protocol show a token again and again, and this one works once. */
    record OneTimeToken(String idp) implements RequestRefusal {}
}
