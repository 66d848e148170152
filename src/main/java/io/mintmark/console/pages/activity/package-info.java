/** How often something was minted, denied or failed over time, as a chart and as a table. */
@NullMarked
package io.mintmark.console.pages.activity;

import org.jspecify.annotations.NullMarked;
