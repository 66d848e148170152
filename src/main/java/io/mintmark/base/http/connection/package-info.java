/**
 * Connections: what a client may do to them before, between and after requests. Knows HTTP's
 * framing and nothing of what requests ask for.
 */
@NullMarked
package io.mintmark.base.http.connection;

import org.jspecify.annotations.NullMarked;
