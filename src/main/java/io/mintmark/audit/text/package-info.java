/** Text of the log for people: without control characters and spreadsheet formulas. */
@NullMarked
package io.mintmark.audit.text;

import org.jspecify.annotations.NullMarked;
