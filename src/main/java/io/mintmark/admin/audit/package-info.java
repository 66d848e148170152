/** Commands that declare something about the log or take months out of it. */
@NullMarked
package io.mintmark.admin.audit;

import org.jspecify.annotations.NullMarked;
