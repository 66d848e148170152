package io.mintmark.token;

import java.time.Duration;

/** Told of key sets that were fetched; it must neither wait nor throw. */
public interface KeySetListener {

    /** One that stands inline in an identity provider's row isn't fetched. */
    void fetched(boolean succeeded, Duration taken);
}
