/** Who approved a grant, and in which words it was asked for. */
@NullMarked
package io.mintmark.console.pages.approvals;

import org.jspecify.annotations.NullMarked;
