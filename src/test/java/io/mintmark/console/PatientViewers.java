package io.mintmark.console;

import io.mintmark.base.sql.DatabaseLogin;
import io.mintmark.base.sql.TestDatabase;
import io.mintmark.endtoend.Eventually;

/**
 * What viewers read, for tests of pages: on a busy machine a page takes longer than the console
 * waits for one.
 */
public final class PatientViewers {
    private PatientViewers() {}

    /**
     * Reads as the console does.
     *
     * @param size how many pages at a time
     */
    public static ViewerDatabase of(DatabaseLogin login, int size) {
        return new ViewerDatabase(
                TestDatabase.patient(login, size),
                size,
                new ViewerDatabase.Bounds(Eventually.PATIENCE, Eventually.PATIENCE));
    }
}
