/**
 * The platform threads of a process: each is started here, and those that must not end are known.
 */
@NullMarked
package io.mintmark.thread;

import org.jspecify.annotations.NullMarked;
