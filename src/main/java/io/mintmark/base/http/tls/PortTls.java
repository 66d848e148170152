package io.mintmark.base.http.tls;

import io.mintmark.base.config.TlsFiles;
import io.mintmark.base.file.RereadFile;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/**
 * The TLS of one port: versions 1.2 and 1.3, suites with forward secrecy and authenticated
 * encryption, HTTP/1.1. New connections use the last pair of certificate and key that was usable;
 * open ones keep theirs.
 */
public final class PortTls {
    private static final Logger log = LoggerFactory.getLogger(PortTls.class);

    private static final String[] VERSIONS = {"TLSv1.3", "TLSv1.2"};
    private static final String[] PROTOCOLS = {"http/1.1"};

    private final TlsFiles files;
    private final RereadFile file;
    private final SSLParameters parameters;
    private CertificatePair used;
    private CertificatePair seen;
    private volatile SSLContext context;
    private volatile Instant notAfter = Instant.MAX;

    private PortTls(TlsFiles files, CertificatePair pair) throws UnusableCertificate {
        this.files = files;
        this.file = new RereadFile(files.setting());
        this.used = pair;
        this.seen = pair;
        this.context = pair.context();
        this.parameters = parameters(context);
    }

    /**
     * Reads the pair for the first time.
     *
     * @throws UnusableCertificate if the files can't serve a port
     */
    public static PortTls of(TlsFiles files) throws UnusableCertificate {
        PortTls tls = new PortTls(files, CertificatePair.read(files));
        tls.report(tls.used);
        return tls;
    }

    private static SSLParameters parameters(SSLContext context) {
        SSLParameters parameters = context.getDefaultSSLParameters();
        parameters.setProtocols(VERSIONS);
        parameters.setApplicationProtocols(PROTOCOLS);
        parameters.setUseCipherSuitesOrder(true);
        parameters.setCipherSuites(
                Arrays.stream(parameters.getCipherSuites())
                        .filter(PortTls::isStrong)
                        .toArray(String[]::new));
        return parameters;
    }

    private static boolean isStrong(String suite) {
        boolean isVersion13 = suite.startsWith("TLS_AES_") || suite.startsWith("TLS_CHACHA20_");
        boolean isAuthenticated = suite.contains("_GCM_") || suite.contains("_CHACHA20_");
        return isVersion13 || (suite.startsWith("TLS_ECDHE_") && isAuthenticated);
    }

    /** The server's side of a new connection. */
    public SSLEngine engine() {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** The context of new connections. */
    SSLContext context() {
        return context;
    }

    /** Whether the files are usable now, for the metrics. */
    public RereadFile file() {
        return file;
    }

    /**
     * Reads the files again. A pair that has changed is judged when it is found unchanged the next
     * time, because the two files are written one after the other.
     */
    synchronized void look() {
        try {
            CertificatePair found = CertificatePair.read(files);
            if (found.isSameAs(used)) {
                file.accepted();
            } else if (found.isSameAs(seen)) {
                takeOver(found);
            }
            seen = found;
        } catch (UnusableCertificate e) {
            file.refused(String.valueOf(e.getMessage()));
        }
    }

    private void takeOver(CertificatePair pair) throws UnusableCertificate {
        context = pair.context();
        used = pair;
        file.accepted();
        report(pair);
    }

    private void report(CertificatePair pair) throws UnusableCertificate {
        X509Certificate own = pair.chain().getFirst();
        log.info(
                "{}: the certificate of {} is valid until {}",
                files.setting(),
                own.getSubjectX500Principal(),
                own.getNotAfter().toInstant());
        notAfter = own.getNotAfter().toInstant();
    }

    /** When the certificate that new connections use expires. */
    public Instant notAfter() {
        return notAfter;
    }
}
