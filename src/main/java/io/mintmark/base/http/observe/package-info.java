/** The ports for operators: health and metrics. */
@NullMarked
package io.mintmark.base.http.observe;

import org.jspecify.annotations.NullMarked;
