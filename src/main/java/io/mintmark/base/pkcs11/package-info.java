/** Keys that stay in a hardware security module, used through its PKCS#11 library. */
@NullMarked
package io.mintmark.base.pkcs11;

import org.jspecify.annotations.NullMarked;
