/** Commands for operators of several cells. */
@NullMarked
package io.mintmark.admin.cell;

import org.jspecify.annotations.NullMarked;
