package io.mintmark.wiring;

import io.mintmark.credential.CredentialType;
import io.mintmark.mint.awssts.AwsStsType;
import io.mintmark.mint.azure.AzureType;
import io.mintmark.mint.gcp.GoogleCloudType;
import io.mintmark.mint.githubapp.GitHubAppType;
import io.mintmark.mint.jwt.JwtType;
import io.mintmark.mint.kubernetes.KubernetesType;
import io.mintmark.mint.oauth2.OAuth2Type;
import io.mintmark.mint.postgresql.PostgresType;
import io.mintmark.mint.s3sts.S3StsType;
import io.mintmark.mint.ssh.SshType;
import io.mintmark.mint.webhook.WebhookType;
import io.mintmark.mint.x509.X509Type;

import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The types of credentials that this release knows. */
public final class CredentialTypes {
    private CredentialTypes() {}

    /** All of them, by name. */
    public static Map<String, CredentialType> byName() {
        return Stream.of(
                        new AwsStsType(),
                        new S3StsType(),
                        new GoogleCloudType(),
                        new AzureType(),
                        new OAuth2Type(),
                        new GitHubAppType(),
                        new KubernetesType(),
                        new SshType(),
                        new X509Type(),
                        new WebhookType(),
                        new PostgresType(),
                        new JwtType())
                .collect(Collectors.toUnmodifiableMap(CredentialType::name, Function.identity()));
    }
}
