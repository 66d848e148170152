package io.mintmark.exchange;

import io.mintmark.grant.Granted;
import io.mintmark.grant.Key;
import io.mintmark.token.VerifiedToken;
import io.mintmark.verdict.RequestRefusal;
import io.mintmark.verdict.Verdict;

import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * How a credential is handed out: under the names that its key's {@code outputs} say, or under
 * those of a protocol, which not every credential can be expressed in.
 */
public final class CredentialFormat {
    /** That of the interface: every credential, as its key says. */
    public static final CredentialFormat OF_KEYS =
            new CredentialFormat(new TreeSet<>(), Map.of(), false);

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
     * The format of a protocol.
     *
     * @param types of access providers whose credentials it can express
     * @param outputs member names with the fields that fill them, whatever a key's own are
     */
    public static CredentialFormat of(List<String> types, Map<String, String> outputs) {
        return new CredentialFormat(new TreeSet<>(types), outputs, false);
    }

    /** The same for clients that show one token time and again. */
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
