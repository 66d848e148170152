/** Settings: read once, checked, explained. */
@NullMarked
package io.mintmark.base.config;

import org.jspecify.annotations.NullMarked;
