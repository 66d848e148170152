package io.mintmark.auditor.verify;

/** Receives the findings of a verification. */
public interface Findings {

    /** Reports an altered or missing row. The sentence names it. */
    void wrong(String sentence);

    /**
     * Reports a checkpoint that no broker made. The sentence names it. The verification goes on
     * without it.
     */
    void foreign(String sentence);

    /**
     * Reports a declaration about the log, signed with the audit key.
     *
     * @param hash of the checkpoint that contains it; an auditor accepts the declaration by it
     */
    void declared(String sentence, String hash);

    /**
     * Reports a mint that the recorded configuration did not allow, whether it succeeded or not.
     *
     * @param mint the mint id
     * @param why a sentence without its full stop
     */
    void ungranted(String mint, String why);

    /**
     * Reports a change that was perhaps hidden from brokers, or whose transaction was open for
     * long. The sentence says what to look at.
     *
     * @param change the hash of the change, by which the finding can be accepted
     */
    void doubtful(String sentence, String change);

    /** Reports a schema object that differs from this release. The sentence names it. */
    void altered(String sentence);

    /** Reports what a reader should know although nothing is wrong. */
    void told(String sentence);

    /**
     * Reports the number of rows read so far.
     *
     * @param expected the number of rows that checkpoints seal
     */
    void progress(long rows, long expected);
}
