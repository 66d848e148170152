package io.mintmark.provider;

import io.mintmark.provider.MintResult.Failed;

import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A key of an access provider, with its settings parsed and checked against what the provider
 * allows. Errors are found here once, and every mint of the key fails with them.
 */
public final class PreparedKey {
    private final Map<String, String> defaultOutputs;
    private final boolean callsProvider;
    private final boolean choosesLife;
    private final Function<MintOrder, MintResult> mint;

    private PreparedKey(
            Map<String, String> defaultOutputs,
            boolean callsProvider,
            boolean choosesLife,
            Function<MintOrder, MintResult> mint) {
        this.defaultOutputs = defaultOutputs;
        this.callsProvider = callsProvider;
        this.choosesLife = choosesLife;
        this.mint = mint;
    }

    /** A key whose settings are valid. */
    static PreparedKey of(
            AccessProvider type, AccessPoint access, AccessProvider.Prepared settings) {
        return new PreparedKey(
                type.defaultOutputs(access.settings()),
                type.callsProvider(),
                type.type().choosesLife(),
                settings.mint());
    }

    /** A key whose mints always fail. */
    static PreparedKey failing(Failed why) {
        return new PreparedKey(Map.of(), false, false, _ -> why);
    }

    /** {@link AccessProvider#callsProvider} of its type. */
    boolean callsProvider() {
        return callsProvider;
    }

    /** {@link io.mintmark.base.credential.CredentialType#choosesLife} of its type. */
    public boolean choosesLife() {
        return choosesLife;
    }

    /**
     * The members of an answer.
     *
     * @param wanted of the key or a protocol; if they name no field, the access provider's defaults
     *     apply
     */
    public Outputs outputs(Outputs wanted) {
        return wanted.orElse(defaultOutputs);
    }

    /**
     * Obtains a credential if the decision behind the order still holds after the wait for the
     * bulkhead. Types that call no provider don't wait.
     */
    MintResult mint(MintOrder order, TenantBulkhead bulkhead) {
        Supplier<MintResult> call =
                () -> {
                    order.decision().require();
                    return mint.apply(order);
                };
        return callsProvider ? bulkhead.call(order, call) : call.get();
    }
}
