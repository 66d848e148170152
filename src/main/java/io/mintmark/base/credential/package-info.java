/** Types of credentials: what each type knows besides how it mints. */
@NullMarked
package io.mintmark.base.credential;

import org.jspecify.annotations.NullMarked;
