package io.mintmark.mint;

import io.mintmark.mint.MintResult.Failed;

import java.util.Map;
import java.util.function.Function;

/**
 * A key of an access provider, its settings read and held against what the provider allows. What
 * can't work or isn't allowed is found here once, and every mint fails of it.
 */
public final class PreparedKey {
    private final Map<String, String> defaultOutputs;
    private final boolean callsProvider;
    private final Function<MintOrder, MintResult> mint;

    private PreparedKey(
            Map<String, String> defaultOutputs,
            boolean callsProvider,
            Function<MintOrder, MintResult> mint) {
        this.defaultOutputs = defaultOutputs;
        this.callsProvider = callsProvider;
        this.mint = mint;
    }

    /** One that works as far as its settings tell. */
    static PreparedKey of(AccessProvider type, AccessProvider.Prepared settings) {
        return new PreparedKey(type.type().defaultOutputs(), type.callsProvider(), settings.mint());
    }

    /** One of which nothing can come. */
    static PreparedKey failing(Failed why) {
        return new PreparedKey(Map.of(), false, _ -> why);
    }

    /**
     * The members of an answer.
     *
     * @param ofKey the key's {@code outputs}; if it has none, the type's defaults count
     */
    public Outputs outputs(Map<String, String> ofKey) {
        return new Outputs(ofKey.isEmpty() ? defaultOutputs : ofKey);
    }

    /** What takes no room in a bulkhead isn't called in one. */
    MintResult mint(MintOrder order, TenantBulkhead bulkhead) {
        return callsProvider ? bulkhead.call(order, () -> mint.apply(order)) : mint.apply(order);
    }
}
