/** The console's pages: their addresses, and below it a package for each page with its reads. */
@NullMarked
package io.mintmark.console.pages;

import org.jspecify.annotations.NullMarked;
