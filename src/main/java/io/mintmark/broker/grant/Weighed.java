package io.mintmark.broker.grant;

/** Something read from the database that takes a known part of the heap. */
interface Weighed {

    /** The memory that it takes, in bytes. */
    long bytes();

    /** Whether the data was larger than its reader may take. If so, nothing of it is here. */
    boolean tooLarge();
}
