package io.mintmark.base.pkcs11;

import io.mintmark.base.config.Pkcs11Settings;
import io.mintmark.base.config.Pkcs11Uri;

import java.util.Optional;

/** The keys that a token holds, if the broker has one. The library is loaded at the first use. */
public final class HeldKeys implements AutoCloseable {
    private final Optional<Pkcs11Settings> settings;
    private Optional<Pkcs11Module> module = Optional.empty();

    public HeldKeys(Optional<Pkcs11Settings> settings) {
        this.settings = settings;
    }

    /** The keys of a broker without a token. */
    public static HeldKeys none() {
        return new HeldKeys(Optional.empty());
    }

    /**
     * A key pair.
     *
     * @throws TokenUnavailable if it can't be used
     */
    public TokenKey key(Pkcs11Uri uri) {
        return module().key(uri);
    }

    /**
     * An Ed25519 key pair.
     *
     * @throws TokenUnavailable if it can't be used
     */
    public TokenKey ed25519(Pkcs11Uri uri) {
        return module().ed25519(uri);
    }

    private synchronized Pkcs11Module module() {
        if (module.isEmpty()) {
            module =
                    Optional.of(
                            Pkcs11Module.open(
                                    settings.orElseThrow(() ->
                                            TokenUnavailable.token("PKCS11_MODULE is not set"))));
        }
        return module.orElseThrow();
    }

    @Override
    public synchronized void close() {
        module.ifPresent(Pkcs11Module::close);
        module = Optional.empty();
    }
}
