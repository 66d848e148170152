package io.mintmark.admin.check;

import io.mintmark.base.config.AdminSettings;
import io.mintmark.base.config.TlsFiles;
import io.mintmark.base.output.CommandFailed;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** The port for operators of a broker on this machine, as its settings describe it. */
final class AdminPort implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final URI url;
    private final HttpClient client;

    AdminPort(AdminSettings settings) {
        if (settings.port() == 0) {
            throw new CommandFailed(
                    "ADMIN_PORT is 0, so the command can't know the port; set ADMIN_PORT to a"
                            + " fixed port");
        }
        InetAddress host =
                settings.host().isAnyLocalAddress()
                        ? InetAddress.getLoopbackAddress()
                        : settings.host();
        String shown = host.getHostAddress();
        this.url =
                URI.create(
                        "%s://%s:%d"
                                .formatted(
                                        settings.tls().isPresent() ? "https" : "http",
                                        shown.contains(":") ? "[" + shown + "]" : shown,
                                        settings.port()));
        HttpClient.Builder builder =
                HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .connectTimeout(PATIENCE)
                        .proxy(HttpClient.Builder.NO_PROXY);
        settings.tls().ifPresent(files -> builder.sslContext(trusting(files)));
        this.client = builder.build();
    }

    /** The answer to a GET. */
    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(url.resolve(path)).timeout(PATIENCE).build(),
                BodyHandlers.ofString());
    }

    @Override
    public String toString() {
        return url.toString();
    }

    @Override
    public void close() {
        client.close();
    }

    private static SSLContext trusting(TlsFiles files) {
        try (InputStream pem = Files.newInputStream(files.certificate())) {
            Certificate own = CertificateFactory.getInstance("X.509").generateCertificate(pem);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new OnlyThis(own)}, null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new CommandFailed(
                    "%s: '%s' is not a readable certificate; write the port's certificate to it, in PEM"
                            .formatted(files.setting(), files.certificate()));
        }
    }

    /** Trusts the certificate in the port's file, whatever host it names. */
    private static final class OnlyThis extends X509ExtendedTrustManager {
        private final Certificate own;

        OnlyThis(Certificate own) {
            this.own = own;
        }

        private void require(X509Certificate[] chain) throws CertificateException {
            if (chain.length == 0 || !chain[0].equals(own)) {
                throw new CertificateException(
                        "the port presents a certificate that is not the one in ADMIN_TLS_CERTIFICATE_FILE; set the file that the broker uses");
            }
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            require(chain);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            require(chain);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type)
                throws CertificateException {
            require(chain);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            throw new CertificateException("the command accepts no TLS clients");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            throw new CertificateException("the command accepts no TLS clients");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type)
                throws CertificateException {
            throw new CertificateException("the command accepts no TLS clients");
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
