/** Types of credentials: what is known about each type besides how it is minted. */
@NullMarked
package io.mintmark.credential;

import org.jspecify.annotations.NullMarked;
