/** The one reader of JSON from outside, for every room that has some to read. */
@NullMarked
package io.mintmark.json;

import org.jspecify.annotations.NullMarked;
