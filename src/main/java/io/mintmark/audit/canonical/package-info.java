/** The canonical text of the log's columns and of JSON, as PostgreSQL stores and hashes it. */
@NullMarked
package io.mintmark.audit.canonical;

import org.jspecify.annotations.NullMarked;
