package io.mintmark.exchange;

import io.mintmark.grant.Granted;
import io.mintmark.grant.Key;
import io.mintmark.mint.AccessProviders;
import io.mintmark.token.VerifiedToken;
import io.mintmark.verdict.RequestRefusal;
import io.mintmark.verdict.Verdict;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;

/**
 * How a credential is handed out: under the names that its key's {@code outputs} say, or under
 * those of a protocol, which not every credential can be expressed in.
 */
public final class CredentialFormat {
    /** The format of the mint endpoint: every type, under the names that the key's outputs give. */
    public static final CredentialFormat OF_KEYS =
            new CredentialFormat(Collections.emptySortedSet(), Map.of(), false);

    private final SortedSet<String> types;
    private final Map<String, String> outputs;
    private final boolean repeatsToken;

    private CredentialFormat(
            SortedSet<String> types, Map<String, String> outputs, boolean repeatsToken) {
        this.types = types;
        this.outputs = Map.copyOf(outputs);
        this.repeatsToken = repeatsToken;
    }

    /**
     * The format of a protocol. It can express the credentials of every type that has the fields
     * which it needs.
     *
     * @param outputs member names with the fields that fill them; they replace the key's own
     */
    static CredentialFormat of(AccessProviders providers, Map<String, String> outputs) {
        return new CredentialFormat(providers.typesWith(outputs.values()), outputs, false);
    }

    /** The same for clients that present one token repeatedly. */
    public CredentialFormat repeatingToken() {
        return new CredentialFormat(types, outputs, true);
    }

    /** Whether its clients can work with such a token. */
    Verdict<Admitted> check(Admitted admitted) {
        VerifiedToken token = admitted.token();
        return repeatsToken && token.provider().oneTimeTokens()
                ? Verdict.refused(new RequestRefusal.OneTimeToken(token.provider().name().value()))
                : Verdict.passed(admitted);
    }

    /** Whether all of these can be expressed. */
    Verdict<List<Granted>> check(List<Granted> granted) {
        return granted.stream()
                .map(Granted::key)
                .filter(key -> !types.isEmpty() && !types.contains(key.provider().type()))
                .findFirst()
                .map(this::refuse)
                .orElseGet(() -> Verdict.passed(granted));
    }

    private Verdict<List<Granted>> refuse(Key key) {
        return Verdict.refused(
                new RequestRefusal.KeyOfOtherType(
                        key.name().value(), key.provider().type(), List.copyOf(types)));
    }

    /** The members of a key's credential, as {@link Key#outputs()} has them. */
    Map<String, String> outputs(Key key) {
        return outputs.isEmpty() ? key.outputs() : outputs;
    }
}
