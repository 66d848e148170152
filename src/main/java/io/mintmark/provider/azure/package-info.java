/** Type azure: access tokens of Microsoft Entra ID. */
@NullMarked
package io.mintmark.provider.azure;

import org.jspecify.annotations.NullMarked;
