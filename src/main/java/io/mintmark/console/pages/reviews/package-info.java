/** The page at {@code /reviews}: the grants that are due for review, and their file. */
@NullMarked
package io.mintmark.console.pages.reviews;

import org.jspecify.annotations.NullMarked;
