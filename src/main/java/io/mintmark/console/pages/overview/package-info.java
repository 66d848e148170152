/** The page at {@code /}: what the broker did in the last hours. */
@NullMarked
package io.mintmark.console.pages.overview;

import org.jspecify.annotations.NullMarked;
