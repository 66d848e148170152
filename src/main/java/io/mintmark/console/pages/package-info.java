/** The console's pages: what is asked of the database, and how it is shown. */
@NullMarked
package io.mintmark.console.pages;

import org.jspecify.annotations.NullMarked;
