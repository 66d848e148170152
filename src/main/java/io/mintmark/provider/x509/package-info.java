/** Type x509: TLS certificates. */
@NullMarked
package io.mintmark.provider.x509;

import org.jspecify.annotations.NullMarked;
