/** The canonical text of the log's columns and of JSON, as PostgreSQL stores and hashes it. */
@NullMarked
package io.mintmark.postgres.canonical;

import org.jspecify.annotations.NullMarked;
