/** The only room that talks SQL: stores and migrations. */
@NullMarked
package io.mintmark.postgres;

import org.jspecify.annotations.NullMarked;
