/** The page at {@code /keys/{tenant}/{key}}: who may mint a key, or could at a time in the past. */
@NullMarked
package io.mintmark.console.pages.keys;

import org.jspecify.annotations.NullMarked;
