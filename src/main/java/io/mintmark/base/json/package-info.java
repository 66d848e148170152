/** The only parser of untrusted JSON, for all packages. */
@NullMarked
package io.mintmark.base.json;

import org.jspecify.annotations.NullMarked;
