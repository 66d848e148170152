package io.mintmark.mint;

/** The decision behind an order, which may be overtaken before the provider is called. */
@FunctionalInterface
public interface FreshDecision {
    /**
     * Returns if the decision holds in a state of the tenant that is at most a second old. It is
     * cheap where that state was looked at less than a second ago, and asks the database otherwise.
     *
     * <p>It is called right before the first byte of each request to a provider, repeated ones
     * included, and right before a credential is made that no provider is asked for.
     *
     * @throws OutdatedDecision if the decision doesn't hold, or nobody can say
     */
    void require();
}
