/** Who may mint which key, and who could at a time in the past. */
@NullMarked
package io.mintmark.auditor.explain;

import org.jspecify.annotations.NullMarked;
