package io.mintmark.broker.wiring;

import io.mintmark.base.outbound.SecretFiles;
import io.mintmark.base.outbound.TenantHttpClients;
import io.mintmark.provider.AccessProviders;
import io.mintmark.provider.SettingSecrets;
import io.mintmark.provider.TokenDestinations;
import io.mintmark.provider.awssts.AwsSts;
import io.mintmark.provider.azure.Azure;
import io.mintmark.provider.gcp.GoogleCloud;
import io.mintmark.provider.githubapp.GitHubApp;
import io.mintmark.provider.jwt.JwtProvider;
import io.mintmark.provider.kubernetes.Kubernetes;
import io.mintmark.provider.oauth2.OAuth2;
import io.mintmark.provider.postgresql.PostgresProvider;
import io.mintmark.provider.s3sts.S3Sts;
import io.mintmark.provider.ssh.SshProvider;
import io.mintmark.provider.sts.StsCaller;
import io.mintmark.provider.sts.StsClients;
import io.mintmark.provider.web.Calls;
import io.mintmark.provider.web.TokenCalls;
import io.mintmark.provider.webhook.Webhook;
import io.mintmark.provider.x509.X509Provider;

import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;

/** One access provider for each type. */
final class Providers {
    private Providers() {}

    /**
     * @param sts keeps the loggers of whole requests quiet, so nothing may be sent before it is
     *     made
     */
    static AccessProviders of(Prepared prepared, StsClients sts, TenantHttpClients connections) {
        InstantSource clock = prepared.clock();
        OwnIdentity identity = prepared.identity();
        TokenDestinations tokens = new TokenDestinations(prepared.destinations());
        SecureRandom random = new SecureRandom();
        Calls calls = new Calls(connections, clock, random);
        StsCaller stsCaller = new StsCaller(sts, calls);
        TokenCalls tokenCalls = new TokenCalls(calls, clock);
        SettingSecrets secrets =
                new SettingSecrets(
                        new SecretFiles(prepared.settings().secretsDir()), prepared.held());
        return new AccessProviders(
                List.of(
                        new AwsSts(identity.shown(), tokens, stsCaller),
                        new S3Sts(identity.shown(), tokens, stsCaller),
                        new GoogleCloud(identity.shown(), tokens, calls, clock),
                        new Azure(identity.shown(), tokens, tokenCalls),
                        new OAuth2(
                                identity.shown(),
                                identity.clientAssertions(),
                                secrets,
                                tokens,
                                tokenCalls),
                        new GitHubApp(secrets, tokens, calls, clock),
                        new Kubernetes(identity.shown(), secrets, tokens, calls),
                        new SshProvider(secrets, clock, random),
                        new X509Provider(secrets, clock),
                        new Webhook(identity.signed(), secrets, tokens, calls),
                        new PostgresProvider(
                                prepared.settings().broker().name(),
                                secrets,
                                prepared.destinations(),
                                clock,
                                random),
                        new JwtProvider(identity.accessTokens())),
                clock);
    }
}
