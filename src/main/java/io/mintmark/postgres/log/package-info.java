/** Writes, seals and retires the audit log, and looks up single rows of it. */
@NullMarked
package io.mintmark.postgres.log;

import org.jspecify.annotations.NullMarked;
