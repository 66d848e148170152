package io.mintmark.admin.webhook;

import io.mintmark.base.outbound.ClientCertificate;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.Endpoint;
import io.mintmark.provider.PresentedCertificate;
import io.mintmark.provider.UnusableSettingsException;
import io.mintmark.provider.webhook.WebhookKey;
import io.mintmark.provider.webhook.WebhookSettings;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;

@Command(
        name = "check-webhook",
        description = {
            "Tests a service for access providers of type webhook: calls it as the broker does.",
            "Serves a test key while it runs: configure the service to trust the printed issuer."
                    + " Deletes the credentials that it made. Needs no database and no settings."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:all checks passed",
            "1:a check failed, or the checks could not begin",
            "2:wrong usage"
        },
        mixinStandardHelpOptions = true)
public final class CheckWebhook implements Callable<Integer> {
    @Parameters(paramLabel = "ENDPOINT", description = "The access provider's endpoint.")
    private String endpoint = "";

    @Option(
            names = "--target",
            required = true,
            paramLabel = "TARGET",
            description = "A target for which the service makes a credential.")
    private String target = "";

    @Option(
            names = "--field",
            required = true,
            paramLabel = "NAME",
            description = "A field that the service must return; may be repeated.")
    private Set<String> fields = Set.of();

    @Option(
            names = "--parameter",
            paramLabel = "NAME=TEXT",
            description = "A parameter of the key; may be repeated.")
    private Map<String, String> parameters = Map.of();

    @Option(
            names = "--send-subject",
            description = "Send subject and idp, as for keys with send_subject.")
    private boolean sendSubject;

    @Option(
            names = "--duration",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "Maximum lifetime of credentials; by default, ${DEFAULT-VALUE}.")
    private int duration;

    @Option(
            names = "--tenant",
            paramLabel = "NAME",
            defaultValue = "acme",
            description = "The tenant of the requests; by default, ${DEFAULT-VALUE}.")
    private String tenant = "";

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:8999",
            description =
                    "The host and port that serve the test key; by default, ${DEFAULT-VALUE}.")
    private String listen = "";

    @Option(
            names = "--issuer",
            paramLabel = "URL",
            description =
                    "URL at which the service reaches --listen; by default, http://HOST:PORT.")
    private @Nullable String issuer;

    @Option(
            names = "--ca-certificate",
            paramLabel = "FILE",
            description = "CA certificate of the service, PEM.")
    private @Nullable Path caCertificate;

    @Option(
            names = "--client-certificate",
            paramLabel = "FILE",
            description = "Client certificate to present to the service, PEM.")
    private @Nullable Path clientCertificate;

    @Option(
            names = "--client-key",
            paramLabel = "FILE",
            description = "Private key of --client-certificate, PEM.")
    private @Nullable Path clientKey;

    private final InstantSource clock;
    private final PrintStream out;

    public CheckWebhook(InstantSource clock, PrintStream out) {
        this.clock = clock;
        this.out = out;
    }

    @Override
    public Integer call() {
        WebhookBroker.Role role = role();
        InetSocketAddress address = address();
        String name = issuer == null ? "http://" + listen : issuer;
        try (CheckIssuer own = new CheckIssuer(name, address)) {
            out.println("note  the issuer is %s; its keys are at %s".formatted(name, own.keysAt()));
            WebhookBroker broker = new WebhookBroker(role, own, clock);
            MintIds ids = new MintIds(clock, new SecureRandom());
            return new WebhookChecks(broker, ids, clock, out).run() ? 0 : 1;
        }
    }

    private WebhookBroker.Role role() {
        try {
            WebhookSettings settings =
                    new WebhookSettings(
                            at(),
                            Optional.ofNullable(caCertificate).map(CheckWebhook::content),
                            Optional.empty(),
                            fields);
            return new WebhookBroker.Role(
                    settings,
                    certificate(),
                    new WebhookKey(target, parameters, sendSubject),
                    new TenantName(tenant),
                    new ProviderName("check-webhook"),
                    new KeyName("check-webhook"),
                    Duration.ofSeconds(duration));
        } catch (IllegalArgumentException | UnusableSettingsException e) {
            throw new CommandFailed(String.valueOf(e.getMessage()));
        }
    }

    private Endpoint at() {
        try {
            return Endpoint.at(endpoint);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed("'%s' %s".formatted(endpoint, e.getMessage()));
        }
    }

    private Optional<ClientCertificate> certificate() {
        if ((clientCertificate == null) != (clientKey == null)) {
            throw new CommandFailed("--client-certificate and --client-key must be given together");
        }
        return clientCertificate == null || clientKey == null
                ? Optional.empty()
                : Optional.of(
                        new PresentedCertificate(content(clientCertificate), clientKey.toString())
                                .with(new Secret(content(clientKey))));
    }

    private InetSocketAddress address() {
        try {
            URI place = new URI("http://" + listen);
            if (place.getHost() != null && place.getPort() >= 0) {
                return new InetSocketAddress(place.getHost(), place.getPort());
            }
        } catch (URISyntaxException | IllegalArgumentException e) {
            // not a host, or not a port
        }
        throw new CommandFailed(
                "--listen: '%s' is not HOST:PORT, such as 127.0.0.1:8999".formatted(listen));
    }

    private static String content(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new CommandFailed("'%s' can't be read (%s)".formatted(file, e));
        }
    }
}
