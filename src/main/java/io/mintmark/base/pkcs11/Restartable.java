package io.mintmark.base.pkcs11;

/** A library that is started before use and can be started again, such as one of PKCS#11. */
interface Restartable {
    /** Starts it. Does nothing if it is started. */
    void initialize() throws CryptokiFailure;

    /** Ends it. Fails if it isn't started. */
    void terminate() throws CryptokiFailure;

    /** Ends and starts it. Starts it also if it couldn't be started the last time. */
    default void restart() throws CryptokiFailure {
        try {
            terminate();
        } catch (CryptokiFailure e) {
            // it isn't started, or the start will tell what is wrong
        }
        initialize();
    }
}
