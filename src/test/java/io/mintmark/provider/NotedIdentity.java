package io.mintmark.provider;

import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.identity.TokenOrder;

import java.util.List;
import java.util.Optional;

/**
 * An identity whose tokens are worth nothing.
 *
 * @param orders every order that it got is added here
 */
public record NotedIdentity(boolean shared, List<TokenOrder> orders, Secret token)
        implements BrokerIdentity {

    public NotedIdentity(boolean shared, List<TokenOrder> orders) {
        this(shared, orders, new Secret("a-token"));
    }

    @Override
    public Secret token(TokenOrder order) {
        orders.add(order);
        return token;
    }

    @Override
    public Optional<String> fault() {
        return Optional.empty();
    }
}
