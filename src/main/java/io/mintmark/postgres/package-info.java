/**
 * The only package that uses SQL, apart from the console's reads of its own: one subpackage for
 * each task.
 */
@NullMarked
package io.mintmark.postgres;

import org.jspecify.annotations.NullMarked;
