package io.mintmark.broker.grant;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.broker.token.ClaimConditions;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/** The claims of a party that a decision evaluated, for the log. */
final class EvaluatedClaims {
    /** The maximum size of those that the decision doesn't depend on, in characters. */
    static final int MOST = 65_536;

    private EvaluatedClaims() {}

    /**
     * Returns them by name, complete where the decision depends on them: those that the identity
     * provider, blocks and the granted grants name.
     */
    static SortedMap<String, JsonNode> of(
            Party party,
            PartyBlocks blocks,
            List<Granted> granted,
            Function<Granted, ClaimConditions> ofGranted,
            List<Grant> grants,
            Function<Grant, ClaimConditions> ofGrant) {
        SortedMap<String, JsonNode> looked = new TreeMap<>();
        Stream.of(
                        Stream.of(party.required()),
                        blocks.claims().stream(),
                        granted.stream().map(ofGranted))
                .flatMap(Function.identity())
                .forEach(conditions -> looked.putAll(conditions.seenIn(party.claims())));
        long left = MOST;
        for (Grant grant : grants) {
            SortedMap<String, JsonNode> more = ofGrant.apply(grant).seenIn(party.claims());
            more.keySet().removeAll(looked.keySet());
            left -= more.values().stream().mapToLong(value -> value.toString().length()).sum();
            if (left < 0) {
                break;
            }
            looked.putAll(more);
        }
        return looked;
    }
}
