/** The list of all types of credentials that this release knows. */
@NullMarked
package io.mintmark.provider.types;

import org.jspecify.annotations.NullMarked;
