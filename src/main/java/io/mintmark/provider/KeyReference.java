package io.mintmark.provider;

import io.mintmark.base.config.Pkcs11Uri;

/** The location of a setting's private key. It prints as messages name it. */
public sealed interface KeyReference {

    /** {@code {"file": "name"}}: a file in the tenant's secrets directory. */
    record InFile(String name) implements KeyReference {
        @Override
        public String toString() {
            return "'%s'".formatted(name);
        }
    }

    /** {@code {"pkcs11": "object=tenant/name"}}: a key that the broker's token holds. */
    record InToken(Pkcs11Uri uri) implements KeyReference {
        @Override
        public String toString() {
            return uri.toString();
        }
    }
}
