/** The page at {@code /mints}: the search for mints and refusals, their lines, and its file. */
@NullMarked
package io.mintmark.console.pages.mints;

import org.jspecify.annotations.NullMarked;
