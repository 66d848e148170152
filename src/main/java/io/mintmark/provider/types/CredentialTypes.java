package io.mintmark.provider.types;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.provider.awssts.AwsStsType;
import io.mintmark.provider.azure.AzureType;
import io.mintmark.provider.gcp.GoogleCloudType;
import io.mintmark.provider.githubapp.GitHubAppType;
import io.mintmark.provider.jwt.JwtType;
import io.mintmark.provider.kubernetes.KubernetesType;
import io.mintmark.provider.oauth2.OAuth2Type;
import io.mintmark.provider.postgresql.PostgresType;
import io.mintmark.provider.s3sts.S3StsType;
import io.mintmark.provider.ssh.SshType;
import io.mintmark.provider.webhook.WebhookType;
import io.mintmark.provider.x509.X509Type;

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
