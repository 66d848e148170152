package io.mintmark.token;

import java.io.IOException;

/** Gets the keys of a source from where they are, anew each time. */
interface KeyFetch {

    /**
     * The keys that the source gives now.
     *
     * @throws IOException if it gives none; the message is for the log
     */
    KeySet fetch(KeySource source) throws IOException;
}
