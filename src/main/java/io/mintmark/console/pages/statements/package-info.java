/**
 * What can be done about what a page shows, as SQL to be copied: the console itself changes
 * nothing.
 */
@NullMarked
package io.mintmark.console.pages.statements;

import org.jspecify.annotations.NullMarked;
