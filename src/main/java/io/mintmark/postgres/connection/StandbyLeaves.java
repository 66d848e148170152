package io.mintmark.postgres.connection;

import com.zaxxer.hikari.SQLExceptionOverride;

import java.sql.SQLException;

/**
 * Takes a connection out of the pool that can't be written to any more. Behind a pooler connections
 * stay open when the primary becomes a standby.
 */
final class StandbyLeaves implements SQLExceptionOverride {
    private static final String READ_ONLY = "25006";

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException failure) {
        return READ_ONLY.equals(failure.getSQLState())
                ? SQLExceptionOverride.Override.MUST_EVICT
                : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
}
