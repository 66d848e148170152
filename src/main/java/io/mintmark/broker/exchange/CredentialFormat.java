package io.mintmark.broker.exchange;

import io.mintmark.base.verdict.RequestRefusal;
import io.mintmark.base.verdict.Verdict;
import io.mintmark.broker.grant.Granted;
import io.mintmark.broker.grant.Key;
import io.mintmark.broker.token.VerifiedActor;
import io.mintmark.broker.token.VerifiedToken;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.Outputs;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * How a credential is handed out: under the names that its key's {@code outputs} say, or under
 * those of a protocol, which not every credential can be expressed in.
 */
public final class CredentialFormat {
    private static final Outputs NONE = new Outputs(Map.of());

    /** The format of the mint endpoint: every type, under the names that the key's outputs give. */
    public static final CredentialFormat OF_KEYS =
            new CredentialFormat(
                    Collections.emptySortedSet(), NONE, false, Optional.empty(), Set.of());

    private final SortedSet<String> types;
    private final Outputs outputs;
    private final boolean repeatsToken;
    private final Optional<Set<String>> accepted;
    private final Set<String> distinct;

    private CredentialFormat(
            SortedSet<String> types,
            Outputs outputs,
            boolean repeatsToken,
            Optional<Set<String>> accepted,
            Set<String> distinct) {
        this.types = types;
        this.outputs = outputs;
        this.repeatsToken = repeatsToken;
        this.accepted = accepted;
        this.distinct = distinct;
    }

    /**
     * The format of a protocol. It can express the credentials of every type that has the fields
     * which it needs.
     *
     * @param outputs member names with the fields that fill them; they replace the key's own
     */
    static CredentialFormat of(AccessProviders providers, Outputs outputs) {
        return new CredentialFormat(
                providers.typesWith(outputs.fieldByMember().values()),
                outputs,
                false,
                Optional.empty(),
                Set.of());
    }

    /** The format for clients that present one token repeatedly. */
    public CredentialFormat repeatingToken() {
        return new CredentialFormat(types, outputs, true, accepted, distinct);
    }

    /** The format for a client that uses no member but these. */
    public CredentialFormat accepting(Set<String> members) {
        return new CredentialFormat(
                types, outputs, repeatsToken, Optional.of(Set.copyOf(members)), distinct);
    }

    /** The format for a client that can use each of these members of one key at most. */
    public CredentialFormat withDistinct(Set<String> members) {
        return new CredentialFormat(types, outputs, repeatsToken, accepted, Set.copyOf(members));
    }

    /** The format for a client that accepts credentials of one type of access provider alone. */
    public CredentialFormat only(String type) {
        return new CredentialFormat(
                new TreeSet<>(Set.of(type)), outputs, repeatsToken, accepted, distinct);
    }

    /** Whether the client uses whatever members there are. */
    boolean acceptsAll() {
        return accepted.isEmpty() && distinct.isEmpty();
    }

    /**
     * The members of a credential that keys before it have, and that the client can't use twice.
     */
    List<String> shared(Set<String> members, Set<String> before) {
        return members.stream()
                .filter(member -> distinct.contains(member) && before.contains(member))
                .sorted()
                .toList();
    }

    /** The members of a credential that the client would not use, sorted. */
    List<String> unaccepted(Set<String> members) {
        return accepted.stream()
                .flatMap(known -> members.stream().filter(member -> !known.contains(member)))
                .sorted()
                .toList();
    }

    /** Refuses one-time tokens if clients of this format send the same token repeatedly. */
    Verdict<Admitted> check(Admitted admitted) {
        return Stream.concat(
                        Stream.of(admitted.token().provider()),
                        admitted.actor().flatMap(VerifiedActor::token).stream()
                                .map(VerifiedToken::provider))
                .filter(provider -> repeatsToken && provider.oneTimeTokens())
                .findFirst()
                .<Verdict<Admitted>>map(provider ->
                        Verdict.refused(new RequestRefusal.OneTimeToken(provider.name().value())))
                .orElseGet(() -> Verdict.passed(admitted));
    }

    /** Requires that all these credentials can be expressed. */
    Verdict<List<Granted>> check(List<Granted> granted) {
        return granted.stream()
                .map(Granted::key)
                .filter(key -> !expresses(key))
                .findFirst()
                .map(this::refuse)
                .orElseGet(() -> Verdict.passed(granted));
    }

    /** Whether the credentials of a key can be expressed. */
    public boolean expresses(Key key) {
        return types.isEmpty() || types.contains(key.provider().type());
    }

    private Verdict<List<Granted>> refuse(Key key) {
        return Verdict.refused(
                new RequestRefusal.KeyOfOtherType(
                        key.name().value(), key.provider().type(), List.copyOf(types)));
    }

    /** The members of a key's credential. */
    Outputs outputs(Key key) {
        return outputs.orElse(key.outputs());
    }
}
