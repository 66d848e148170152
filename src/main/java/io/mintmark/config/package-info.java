/** Settings: read once, checked, explained. */
@NullMarked
package io.mintmark.config;

import org.jspecify.annotations.NullMarked;
