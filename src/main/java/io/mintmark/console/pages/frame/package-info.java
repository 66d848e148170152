/**
 * What every page of the console uses: how a request is read and answered, and what surrounds a
 * page.
 */
@NullMarked
package io.mintmark.console.pages.frame;

import org.jspecify.annotations.NullMarked;
