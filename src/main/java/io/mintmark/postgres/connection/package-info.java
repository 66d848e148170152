/** Logins, pools, sessions and single statements. No other package opens a connection. */
@NullMarked
package io.mintmark.postgres.connection;

import org.jspecify.annotations.NullMarked;
