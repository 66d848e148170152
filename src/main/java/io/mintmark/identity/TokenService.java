package io.mintmark.identity;

/** Whoever gives the broker its tokens. */
interface TokenService {

    /**
     * A new token, blocking for some seconds at most.
     *
     * @throws NoBrokerTokenException if there is none to be had
     */
    IssuedToken issue();
}
