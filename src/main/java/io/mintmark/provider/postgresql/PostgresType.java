package io.mintmark.provider.postgresql;

import static io.mintmark.base.credential.CredentialType.shellWord;

import io.mintmark.base.credential.ActiveCredential;
import io.mintmark.base.credential.CredentialType;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Logins to a tenant's own PostgreSQL server. */
public final class PostgresType implements CredentialType {
    private static final String COMMAND =
            "mintmark block-subject --end ends the login and its open sessions.";

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public Set<String> fields() {
        return Set.of(
                "Username", "Password", "Host", "Port", "Database", "SslMode", "Expiration", "Uri");
    }

    /** The variables of libpq, so that psql and most drivers need nothing else. */
    @Override
    public Map<String, String> defaultOutputs() {
        return Map.of(
                "PGUSER", "Username",
                "PGPASSWORD", "Password",
                "PGHOST", "Host",
                "PGPORT", "Port",
                "PGDATABASE", "Database",
                "PGSSLMODE", "SslMode");
    }

    @Override
    public String earlyEnd() {
        return COMMAND
                + " By hand, an administrator of the server runs the statements that"
                + " block-subject prints.";
    }

    @Override
    public List<ManualRevocation> manualRevocations(
            List<ActiveCredential> credentials, long block) {
        return ActiveCredential.by(ActiveCredential::provider, credentials).entrySet().stream()
                .map(each ->
                        new ManualRevocation(
                                "server of access provider " + each.getKey(),
                                ActiveCredential.lastExpiry(each.getValue()),
                                lines(each.getValue())))
                .toList();
    }

    private static List<String> lines(List<ActiveCredential> credentials) {
        List<String> lines = new ArrayList<>();
        lines.add(COMMAND + " By hand, on the server:");
        credentials.forEach(one -> lines.addAll(byHand(one)));
        return lines;
    }

    /** Only names of the broker's own form become part of a statement. */
    private static List<String> byHand(ActiveCredential one) {
        return one.credentialId()
                .flatMap(RoleName::of)
                .map(RoleName::toString)
                .map(role ->
                        List.of(
                                "ALTER ROLE %s NOLOGIN PASSWORD NULL;".formatted(role),
                                one.target()
                                        .map(target ->
                                                "REVOKE \"%s\" FROM %s;"
                                                        .formatted(
                                                                target.replace("\"", "\"\""), role))
                                        .orElse(
                                                "-- REVOKE the role of its key FROM %s;"
                                                        .formatted(role)),
                                RoleSessions.byHand(role),
                                "DROP ROLE %s;".formatted(role)))
                .orElseGet(() ->
                        List.of(
                                "SELECT rolname FROM pg_roles WHERE rolname LIKE 'mm\\_%%%s'; -- if it is there"
                                        .formatted(one.mintId().toString().replace("-", ""))));
    }

    @Override
    public ProviderLog log(LoggedMint mint) {
        return new ProviderLog(
                "The server's log, if log_line_prefix has %u: the name of the login ends in the"
                        + " mint id without its hyphens, and is the credential id.",
                mint.credentialId()
                        .flatMap(RoleName::of)
                        .map(role -> "grep -F " + shellWord(role.toString()) + " LOGFILE"));
    }
}
