package io.mintmark.audit;

/** Takes what verifying finds. */
public interface Findings {

    /** Reports an altered or missing row. The sentence names it. */
    void wrong(String sentence);

    /**
     * The log contains a checkpoint that no broker made, which the sentence names. It seals
     * nothing, and the rest is judged without it.
     */
    void foreign(String sentence);

    /**
     * Somebody who has the key declared something of the log.
     *
     * @param hash of the checkpoint that declares it, by which it can be accepted
     */
    void declared(String sentence, String hash);

    /**
     * A credential was minted, or was to be, that the history of the configuration didn't allow.
     *
     * @param mint its id
     * @param why a sentence without its end
     */
    void ungranted(String mint, String why);

    /**
     * A change was perhaps hidden from brokers, or its transaction was open for long: a sentence
     * that says what to look at.
     *
     * @param change the hash of the change, by which the finding can be accepted
     */
    void doubtful(String sentence, String change);

    /** An object of the schema isn't the one that this release made: a sentence that names it. */
    void altered(String sentence);

    /** Something that a reader should know and that proves nothing wrong. */
    void told(String sentence);

    /**
     * Comes now and then.
     *
     * @param rows that were read so far
     * @param expected the number of rows that checkpoints seal
     */
    void progress(long rows, long expected);
}
