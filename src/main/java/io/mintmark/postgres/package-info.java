/** The only package that uses SQL: stores and migrations. */
@NullMarked
package io.mintmark.postgres;

import org.jspecify.annotations.NullMarked;
