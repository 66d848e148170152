package io.mintmark.provider.githubapp;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.jwk.JWK;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.key.PrivateKeyPem;
import io.mintmark.base.key.PrivateKeyPem.UnfitException;
import io.mintmark.base.outbound.OutboundRequest;
import io.mintmark.base.outbound.Reply;
import io.mintmark.base.outbound.Secret;
import io.mintmark.base.outbound.Sender;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.KeyReference;
import io.mintmark.provider.KeyReference.InFile;
import io.mintmark.provider.KeyReference.InToken;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.Undo;
import io.mintmark.provider.UnusableSettingsException;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.Step.Done;
import io.mintmark.provider.web.Step.Stopped;

import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;

/**
 * Access tokens of an installation of a GitHub App (docs.github.com, "Generating an installation
 * access token for a GitHub App"). They live for an hour; the request has no parameter for it.
 */
public final class GitHubApp implements AccessProvider {
    private static final String VERSION = "2022-11-28";
    private static final int ANSWER_BYTES = 64 << 10;
    private static final int REPOSITORY_BYTES = 8 << 10;
    private static final int NO_CONTENT = 204;
    private static final int UNAUTHORIZED = 401;

    private final SettingSecrets secrets;
    private final TokenDestinations destinations;
    private final Calls calls;
    private final InstantSource clock;

    public GitHubApp(
            SettingSecrets secrets,
            TokenDestinations destinations,
            Calls calls,
            InstantSource clock) {
        this.secrets = secrets;
        this.destinations = destinations;
        this.calls = calls;
        this.clock = clock;
    }

    @Override
    public CredentialType type() {
        return new GitHubAppType();
    }

    /** The broker's own identity is not involved, so no tenant shares one. */
    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        GitHubAppSettings settings =
                GitHubAppSettings.of(providerSettings, keySettings, destinations);
        return new Prepared(settings.access().targets(), false, order -> mint(order, settings));
    }

    private MintResult mint(MintOrder order, GitHubAppSettings settings) {
        Secret assertion = assertion(order, settings);
        Access access = settings.access();
        OutboundRequest post =
                versioned(
                        OutboundRequest.json(
                                        settings.api()
                                                .below(
                                                        "/app/installations/%s/access_tokens"
                                                                .formatted(
                                                                        settings.installationId())),
                                        access.request().toString(),
                                        assertion)
                                .authorized(assertion)
                                .answeredWithin(
                                        ANSWER_BYTES
                                                + REPOSITORY_BYTES
                                                        * (access.repositories().size()
                                                                + access.repositoryIds().size())));
        return switch (calls.post(order, settings.api(), () -> post)) {
            case Stopped<Reply>(MintResult.NotMinted why) -> why;
            case Done<Reply>(Reply reply) ->
                    new GitHubAnswer(reply, settings.api(), clock.instant())
                            .result(
                                    access,
                                    Map.of(
                                            "InstallationId",
                                            settings.installationId(),
                                            "ApiUrl",
                                            settings.api().toString()),
                                    token -> revocation(order, settings, token));
        };
    }

    private Secret assertion(MintOrder order, GitHubAppSettings settings) {
        KeyReference reference = settings.privateKey();
        try {
            JWK key =
                    switch (reference) {
                        case InFile(String file) ->
                                PrivateKeyPem.read(
                                        secrets.read(order.tenant(), "private_key", file).reveal());
                        case InToken held ->
                                secrets.held(order.tenant(), "private_key", held).jwk();
                    };
            return AppAssertion.rs256(
                    key, settings.clientId(), order.mintId().toString(), clock.instant());
        } catch (UnfitException e) {
            throw new UnusableSettingsException(
                    "access provider setting 'private_key' refers to %s, which %s"
                            .formatted(reference, e.getMessage()));
        }
    }

    /** A token can only be revoked with itself ("Revoke an installation access token"). */
    private Undo revocation(MintOrder order, GitHubAppSettings settings, Secret token) {
        OutboundRequest post =
                versioned(
                        OutboundRequest.deletion(settings.api().below("/installation/token"))
                                .authorized(token));
        Sender sender = order.withoutDecision();
        return deadline ->
                switch (calls.send(sender, deadline, settings.api(), () -> post)) {
                    case Stopped<Reply>(MintResult.NotMinted why) -> Optional.of(why.detail());
                    case Done<Reply>(Reply reply) ->
                            reply.status() == NO_CONTENT || reply.status() == UNAUTHORIZED
                                    ? Optional.empty()
                                    : Optional.of(
                                            new GitHubAnswer(reply, settings.api(), clock.instant())
                                                    .failure()
                                                    .detail());
                };
    }

    private static OutboundRequest versioned(OutboundRequest post) {
        return post.with("Accept", "application/vnd.github+json")
                .with("X-GitHub-Api-Version", VERSION);
    }
}
