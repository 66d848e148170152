/** Type x509: TLS certificates. */
@NullMarked
package io.mintmark.mint.x509;

import org.jspecify.annotations.NullMarked;
