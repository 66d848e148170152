package io.mintmark.broker.token;

import java.time.Duration;

/** Listens to fetches of key sets; must neither block nor throw. */
public interface KeySetListener {

    /** A key set was fetched, or couldn't be. One in an identity provider's row isn't fetched. */
    void fetched(boolean succeeded, Duration taken);
}
