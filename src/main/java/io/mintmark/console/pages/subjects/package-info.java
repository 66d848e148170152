/** The page at {@code /subjects}: what a subject may mint, what it got, and what blocks it. */
@NullMarked
package io.mintmark.console.pages.subjects;

import org.jspecify.annotations.NullMarked;
