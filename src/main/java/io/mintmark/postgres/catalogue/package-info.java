/** Reads tenants' rows for the exchange, row by row and within a budget of memory. */
@NullMarked
package io.mintmark.postgres.catalogue;

import org.jspecify.annotations.NullMarked;
