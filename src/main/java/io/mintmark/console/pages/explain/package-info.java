/** The page at {@code /explain}: which keys a token gives access to, and why others are denied. */
@NullMarked
package io.mintmark.console.pages.explain;

import org.jspecify.annotations.NullMarked;
