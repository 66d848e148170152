/** Type azure: access tokens of Microsoft Entra ID. */
@NullMarked
package io.mintmark.mint.azure;

import org.jspecify.annotations.NullMarked;
