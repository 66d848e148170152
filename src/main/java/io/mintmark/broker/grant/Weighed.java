package io.mintmark.broker.grant;

/** Something read from the database that takes a known part of the heap. */
interface Weighed {

    /** The memory that it takes, in bytes. */
    long bytes();

    /** Whether it was more than its reader may take. Then nothing of it is there. */
    boolean tooLarge();
}
