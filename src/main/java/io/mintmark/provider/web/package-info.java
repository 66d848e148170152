/** What the types share that are asked by plain HTTP: calling, trying again, reading refusals. */
@NullMarked
package io.mintmark.provider.web;

import org.jspecify.annotations.NullMarked;
