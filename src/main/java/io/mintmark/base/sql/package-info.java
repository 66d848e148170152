/**
 * Connections to the broker's database and queries over them. The SQL itself is in the packages
 * that it serves.
 */
@NullMarked
package io.mintmark.base.sql;

import org.jspecify.annotations.NullMarked;
