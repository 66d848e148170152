package io.mintmark.mint.postgresql;

import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.credential.CredentialType;
import io.mintmark.mint.AccessProvider;
import io.mintmark.mint.Ended;
import io.mintmark.mint.Ender;
import io.mintmark.mint.Ender.EndOrder;
import io.mintmark.mint.Ender.Place;
import io.mintmark.mint.MintOrder;
import io.mintmark.mint.MintResult;
import io.mintmark.mint.SettingSecrets;
import io.mintmark.mint.Undo;
import io.mintmark.outbound.Destinations;
import io.mintmark.tenant.TenantName;

import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * LoginRoles to a tenant's own PostgreSQL server: for each mint a role that the server lets in no
 * longer than that.
 */
public final class PostgresProvider implements AccessProvider {
    private final TargetSessions sessions;
    private final LoginRoles logins;
    private final RoleEnder endings;

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
        this.endings = new RoleEnder(sessions, broker);
    }

    @Override
    public CredentialType type() {
        return new PostgresType();
    }

    @Override
    public Optional<Ender> ender() {
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
                order -> mint(order, settings, key, undo(order, providerSettings)));
    }

    private MintResult mint(MintOrder order, PostgresSettings settings, LoginKey key, Undo undo) {
        try (Session session =
                sessions.open(order.tenant(), settings, settings.database(), order.deadline())) {
            return logins.make(session, order, settings, key, undo);
        } catch (TargetFailure e) {
            return e.failed();
        }
    }

    private Undo undo(MintOrder order, JsonNode settings) {
        return deadline ->
                switch (endings.end(
                        new EndOrder(
                                new Place(order.tenant(), order.provider(), settings, deadline),
                                order.mintId(),
                                true))) {
                    case Ended.Gone _ -> Optional.empty();
                    case Ended.Disarmed _ -> Optional.empty();
                    case Ended.NotYet(_, String why) -> Optional.of(why);
                };
    }
}
