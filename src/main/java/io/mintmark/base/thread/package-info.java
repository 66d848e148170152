/**
 * The platform threads of a process. Each is started here, and those that must not end are
 * supervised.
 */
@NullMarked
package io.mintmark.base.thread;

import org.jspecify.annotations.NullMarked;
