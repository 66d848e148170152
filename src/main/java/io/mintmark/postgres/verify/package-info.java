/**
 * Reads the audit log for verification, from the database or an export, and repeats past decisions.
 */
@NullMarked
package io.mintmark.postgres.verify;

import org.jspecify.annotations.NullMarked;
