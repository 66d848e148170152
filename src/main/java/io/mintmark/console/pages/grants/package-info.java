/** The grants in force, of a key or of a subject, on the pages of keys, subjects and people. */
@NullMarked
package io.mintmark.console.pages.grants;

import org.jspecify.annotations.NullMarked;
