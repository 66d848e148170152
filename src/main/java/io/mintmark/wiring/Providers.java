package io.mintmark.wiring;

import io.mintmark.mint.AccessProviders;
import io.mintmark.mint.SettingSecrets;
import io.mintmark.mint.TokenDestinations;
import io.mintmark.mint.awssts.AwsSts;
import io.mintmark.mint.azure.Azure;
import io.mintmark.mint.gcp.GoogleCloud;
import io.mintmark.mint.githubapp.GitHubApp;
import io.mintmark.mint.jwt.JwtProvider;
import io.mintmark.mint.kubernetes.Kubernetes;
import io.mintmark.mint.oauth2.OAuth2;
import io.mintmark.mint.postgresql.PostgresProvider;
import io.mintmark.mint.s3sts.S3Sts;
import io.mintmark.mint.ssh.SshProvider;
import io.mintmark.mint.sts.StsCaller;
import io.mintmark.mint.sts.StsClients;
import io.mintmark.mint.web.Calls;
import io.mintmark.mint.web.TokenCalls;
import io.mintmark.mint.webhook.Webhook;
import io.mintmark.mint.x509.X509Provider;
import io.mintmark.outbound.SecretFiles;
import io.mintmark.outbound.TenantHttpClients;

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
                new SettingSecrets(new SecretFiles(prepared.settings().secrets().directory()));
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
