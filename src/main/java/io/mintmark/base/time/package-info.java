/** Ends of waits, and points in time as text. */
@NullMarked
package io.mintmark.base.time;

import org.jspecify.annotations.NullMarked;
