/** Reads the log that is verified, from the database or from an export. */
@NullMarked
package io.mintmark.auditor.reader;

import org.jspecify.annotations.NullMarked;
