/**
 * What several parts share: settings, outbound calls, the guarded port, SQL connections, names,
 * refusals, time, JSON and logging. May use no other part, and every part may use it. Begin at the
 * package that a caller imports; each of them stands on its own.
 */
@NullMarked
package io.mintmark.base;

import org.jspecify.annotations.NullMarked;
