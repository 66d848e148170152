/** Ends of waits. */
@NullMarked
package io.mintmark.time;

import org.jspecify.annotations.NullMarked;
