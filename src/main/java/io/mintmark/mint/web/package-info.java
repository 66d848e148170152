/** What the types share that are asked by plain HTTP: calling, trying again, reading refusals. */
@NullMarked
package io.mintmark.mint.web;

import org.jspecify.annotations.NullMarked;
