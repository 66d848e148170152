/** Streams the audit log and its evidence to people and their tools. */
@NullMarked
package io.mintmark.postgres.export;

import org.jspecify.annotations.NullMarked;
