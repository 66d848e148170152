package io.mintmark.base.http.tls;

/** A certificate and its key can't serve a port. The message names both files. */
public final class UnusableCertificate extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableCertificate(String message) {
        super(message);
    }
}
