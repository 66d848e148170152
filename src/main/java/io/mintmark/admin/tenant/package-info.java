/** Commands that move a tenant from the database of one broker to that of another. */
@NullMarked
package io.mintmark.admin.tenant;

import org.jspecify.annotations.NullMarked;
