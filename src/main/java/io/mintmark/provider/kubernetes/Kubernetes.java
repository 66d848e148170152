package io.mintmark.provider.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.BrokerTokens;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.identity.BrokerIdentity;
import io.mintmark.provider.kubernetes.KubernetesSettings.Login;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.Step.Done;
import io.mintmark.provider.web.Step.Stopped;

import java.util.Map;

/**
 * Tokens of Kubernetes service accounts (kubernetes.io, "TokenRequest"). The API server may shorten
 * what is asked for, and says until when the token is valid.
 */
public final class Kubernetes implements AccessProvider {
    /**
     * The lifetime, in seconds, for which kube-apiserver signs a token for a year and reports an
     * hour ({@code --service-account-extend-token-expiration}).
     */
    private static final long EXTENDED = 3607;

    private final BrokerTokens tokens;
    private final SettingSecrets secrets;
    private final TokenDestinations destinations;
    private final Calls calls;

    public Kubernetes(
            BrokerIdentity identity,
            SettingSecrets secrets,
            TokenDestinations destinations,
            Calls calls) {
        this.tokens = new BrokerTokens(identity, destinations);
        this.secrets = secrets;
        this.destinations = destinations;
        this.calls = calls;
    }

    @Override
    public CredentialType type() {
        return new KubernetesType();
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        KubernetesSettings settings =
                KubernetesSettings.of(providerSettings, keySettings, destinations);
        boolean shared = settings.login() instanceof Login.ByBroker && tokens.shared();
        return new Prepared(settings.targets(), shared, order -> mint(order, settings));
    }

    private MintResult mint(MintOrder order, KubernetesSettings settings) {
        return switch (settings.login()) {
            case Login.ByBroker(String audience) ->
                    tokens.showing(
                            settings.server(),
                            order.token(audience, Map.of()),
                            shown -> ask(order, settings, shown));
            case Login.ByFile(String file) ->
                    ask(order, settings, secrets.read(order.tenant(), "token", file));
        };
    }

    private MintResult ask(MintOrder order, KubernetesSettings settings, Secret bearer) {
        OutboundRequest asked =
                OutboundRequest.json(
                                settings.address(), request(order, settings).toString(), bearer)
                        .authorized(bearer);
        OutboundRequest post = settings.caCertificate().map(asked::trusting).orElse(asked);
        return switch (calls.post(order, settings.server(), () -> post)) {
            case Stopped<Reply>(MintResult.NotMinted why) -> why;
            case Done<Reply>(Reply reply) ->
                    new TokenRequestAnswer(reply, settings.server()).result(settings);
        };
    }

    private static ObjectNode request(MintOrder order, KubernetesSettings settings) {
        ObjectNode request =
                JsonNodeFactory.instance
                        .objectNode()
                        .put("apiVersion", "authentication.k8s.io/v1")
                        .put("kind", "TokenRequest");
        ObjectNode spec = request.putObject("spec");
        long seconds = order.duration().toSeconds();
        spec.put("expirationSeconds", seconds == EXTENDED ? EXTENDED - 1 : seconds);
        if (!settings.audiences().isEmpty()) {
            settings.audiences().forEach(spec.putArray("audiences")::add);
        }
        settings.boundSecret()
                .ifPresent(name ->
                        spec.putObject("boundObjectRef")
                                .put("apiVersion", "v1")
                                .put("kind", "Secret")
                                .put("name", name));
        return request;
    }
}
