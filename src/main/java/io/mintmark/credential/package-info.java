/** Types of credentials: what each type knows besides how it mints. */
@NullMarked
package io.mintmark.credential;

import org.jspecify.annotations.NullMarked;
