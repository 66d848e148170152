/** The rows of the log for exports and evidence. */
@NullMarked
package io.mintmark.auditor.export;

import org.jspecify.annotations.NullMarked;
