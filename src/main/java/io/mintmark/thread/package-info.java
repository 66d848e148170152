/**
 * The platform threads of a process. Each is started here, and those that must not end are
 * supervised.
 */
@NullMarked
package io.mintmark.thread;

import org.jspecify.annotations.NullMarked;
