package io.mintmark.provider;

/** The decision behind an order, which may be overtaken before the provider is called. */
@FunctionalInterface
public interface FreshDecision {
    /**
     * Returns if the decision holds in a state of the tenant that is at most a second old. It is
     * cheap if that state was checked less than a second ago, and asks the database otherwise.
     *
     * <p>Call it right before the first byte of each request to a provider, including retries, and
     * right before a credential is made without a provider.
     *
     * @throws OutdatedDecision if the decision doesn't hold, or that can't be determined
     */
    void require();
}
