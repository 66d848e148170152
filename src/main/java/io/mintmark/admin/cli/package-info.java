/** The command line: which commands there are, and how their failures are reported. */
@NullMarked
package io.mintmark.admin.cli;

import org.jspecify.annotations.NullMarked;
