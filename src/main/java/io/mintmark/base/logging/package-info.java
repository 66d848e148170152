/** The log of the process: its lines, their forms, and what must never be in them. */
@NullMarked
package io.mintmark.base.logging;

import org.jspecify.annotations.NullMarked;
