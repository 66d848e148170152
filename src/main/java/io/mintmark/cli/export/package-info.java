/**
 * {@code audit export} and {@code audit evidence}: the log as files, for other systems and
 * auditors.
 */
@NullMarked
package io.mintmark.cli.export;

import org.jspecify.annotations.NullMarked;
