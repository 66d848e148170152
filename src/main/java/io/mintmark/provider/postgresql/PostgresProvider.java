package io.mintmark.provider.postgresql;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.base.credential.CredentialType;
import io.mintmark.base.outbound.Destinations;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.provider.AccessProvider;
import io.mintmark.provider.LeaseRevoker;
import io.mintmark.provider.MintOrder;
import io.mintmark.provider.MintResult;
import io.mintmark.provider.SettingSecrets;

import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Logins to a tenant's own PostgreSQL server: for each mint a role that the server lets in no
 * longer than that.
 */
public final class PostgresProvider implements AccessProvider {
    private final TargetSessions sessions;
    private final LoginRoles logins;
    private final RoleRevoker endings;

    /**
     * @param broker the broker's issuer, which marks its roles
     * @param random for passwords
     */
    public PostgresProvider(
            String broker,
            SettingSecrets secrets,
            Destinations destinations,
            InstantSource clock,
            RandomGenerator random) {
        this.sessions = new TargetSessions(destinations, secrets, clock);
        this.logins = new LoginRoles(broker, clock, random);
        this.endings = new RoleRevoker(sessions, broker);
    }

    @Override
    public CredentialType type() {
        return new PostgresType();
    }

    @Override
    public Optional<LeaseRevoker> revoker() {
        return Optional.of(endings);
    }

    @Override
    public void requireSecrets(TenantName tenant, JsonNode providerSettings) {
        sessions.requireSecrets(tenant, PostgresSettings.of(providerSettings));
    }

    @Override
    public Prepared prepare(JsonNode providerSettings, JsonNode keySettings) {
        PostgresSettings settings = PostgresSettings.of(providerSettings);
        LoginKey key = LoginKey.of(keySettings);
        return new Prepared(
                List.of(key.role()),
                key.literalTargets(),
                false,
                order -> mint(order, settings, key));
    }

    private MintResult mint(MintOrder order, PostgresSettings settings, LoginKey key) {
        try (Session session =
                sessions.open(order.tenant(), settings, settings.database(), order.deadline())) {
            return logins.make(session, order, settings, key);
        } catch (TargetFailure e) {
            return e.failed();
        }
    }
}
