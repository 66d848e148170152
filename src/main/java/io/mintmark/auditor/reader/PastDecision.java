package io.mintmark.auditor.reader;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;

import io.mintmark.audit.canonical.EventFields;
import io.mintmark.auditor.reader.PastBlocks.Undecidable;
import io.mintmark.auditor.reader.PastRow.Table;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.auditor.verify.MintProof.Objection;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.catalogue.DocumentFields;
import io.mintmark.broker.grant.Grant;
import io.mintmark.broker.token.ClaimConditions;
import io.mintmark.broker.token.MatchingBudget;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/** Makes the decision on a mint again, in the state of the configuration that its row names. */
final class PastDecision {
    /** How far a broker's clock, which mints go by, may be from the database's, which blocks do. */
    private static final Duration SKEW = Duration.ofMinutes(1);

    /** What a credential may outlive its limits by: {@code provider.timeout}, and a minute. */
    private static final Duration SLACK = Duration.ofMinutes(2);

    private final PastRows rows;
    private final PastBlocks blocks;
    private final SealedStates states;
    private final LateChanges late;
    private final Ends ends;

    /** Where the history of a tenant ends; of null: that of the tables without tenant. */
    interface Ends {
        long lastRevision(@Nullable String tenant) throws IOException;
    }

    /** Why a mint isn't proven; an exception because that is rare. */
    private static final class Objected extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Objection objection;

        private Objected(Objection objection) {
            super(objection.why(), null, false, false);
            this.objection = objection;
        }
    }

    PastDecision(
            PastRows rows, PastBlocks blocks, SealedStates states, LateChanges late, Ends ends) {
        this.rows = rows;
        this.blocks = blocks;
        this.states = states;
        this.late = late;
        this.ends = ends;
    }

    /** Why a row {@code requested} wasn't granted by the history; none if it was. */
    Optional<Objection> objection(LogReader.Row row) throws IOException {
        try {
            return decide(new Mint(row), row);
        } catch (Objected e) {
            return Optional.of(e.objection);
        } catch (Undecidable e) {
            return Optional.of(ungranted(String.valueOf(e.getMessage())));
        } catch (Unavailable e) {
            return Optional.of(ungranted("its rules are more work than a broker does"));
        } catch (JsonProcessingException | IllegalArgumentException | DateTimeException e) {
            return Optional.of(ungranted("its row can't be read"));
        }
    }

    private static Objection ungranted(String why) {
        return new Objection(why, false, Optional.empty());
    }

    private static Objected ofState(String why) {
        return new Objected(new Objection(why, true, Optional.empty()));
    }

    /** The fields of a mint's row. */
    private record Mint(List<@Nullable String> fields) {
        Mint(LogReader.Row row) {
            this(row.fields());
        }

        String text(EventFields field) throws Objected {
            String text = field.in(fields);
            require(text != null, () -> "its row names no " + field.column());
            return Objects.requireNonNull(text);
        }

        long number(EventFields field) throws Objected {
            return Long.parseLong(text(field));
        }

        Instant time(EventFields field) throws Objected {
            return Instant.EPOCH.plus(number(field), ChronoUnit.MICROS);
        }

        Instant at() throws Objected {
            return time(EventFields.OCCURRED_AT);
        }

        JsonNode claims() throws JsonProcessingException {
            String claims = EventFields.CLAIMS.in(fields);
            return DocumentFields.json(claims == null ? "{}" : claims);
        }
    }

    /** The sentence is only made where it is needed, since there may be many millions of mints. */
    private static void require(boolean fits, Supplier<String> why) throws Objected {
        if (!fits) {
            throw new Objected(ungranted(why.get()));
        }
    }

    private Optional<Objection> decide(Mint mint, LogReader.Row row)
            throws IOException, Objected, Undecidable, JsonProcessingException {
        String tenant = mint.text(EventFields.TENANT);
        long revision = mint.number(EventFields.GRANT_REVISION);
        PastRow owner = row(tenant, revision, Table.TENANT, tenant);
        PastRow idp = row(tenant, revision, Table.IDENTITY_PROVIDER, mint.text(EventFields.IDP));
        PastRow key = row(tenant, revision, Table.KEY, mint.text(EventFields.KEY));
        PastRow provider =
                row(tenant, revision, Table.ACCESS_PROVIDER, mint.text(EventFields.PROVIDER));
        PastRow grant = row(tenant, revision, Table.GRANT, mint.text(EventFields.GRANT_ID));
        requireNamed(mint, idp, key, provider, revision);
        requireGranted(mint, grant.grant().orElseThrow(), idp.required(), tenant, revision);
        requireNotBlocked(mint, tenant, revision);
        requireInForce(row, tenant, revision);
        requireLifetime(mint, owner, "tenant " + tenant, revision);
        Optional<Objection> doubt = late.objection(tenant, revision, mint.at());
        long shared = mint.number(EventFields.SHARED_REVISION);
        requireNotBlocked(mint, null, shared);
        requireInForce(row, null, shared);
        requireLifetimeOfType(mint, shared);
        String used =
                CanonicalForm.DECISION.hash(
                        List.of(
                                owner.digest(),
                                idp.digest(),
                                provider.digest(),
                                key.digest(),
                                grant.digest()));
        require(
                used.equals(EventFields.CONFIG_HASH.in(mint.fields())),
                () ->
                        "its tenant, identity provider, access provider, key or grant was used with"
                                + " other settings than the history has at revision "
                                + revision);
        return doubt.isPresent() ? doubt : late.objection(null, shared, mint.at());
    }

    private PastRow row(String tenant, long revision, Table table, String name)
            throws IOException, Objected {
        Optional<PastRow> found = rows.at(tenant, revision, table, name);
        require(
                found.isPresent(),
                () ->
                        "the history of tenant %s has no %s %s at revision %d"
                                .formatted(tenant, table, name, revision));
        PastRow row = found.orElseThrow();
        require(
                row.isEnabled(),
                () -> "%s %s is disabled at revision %d".formatted(table, name, revision));
        return row;
    }

    private static void requireNamed(
            Mint mint, PastRow idp, PastRow key, PastRow provider, long revision) throws Objected {
        require(
                idp.text("issuer").equals(mint.text(EventFields.ISSUER)),
                () -> "its identity provider has another issuer at revision " + revision);
        require(
                key.text("provider").equals(mint.text(EventFields.PROVIDER)),
                () -> "its key is of another access provider at revision " + revision);
        require(
                provider.text("type").equals(mint.text(EventFields.PROVIDER_TYPE)),
                () -> "its access provider is of another type at revision " + revision);
    }

    private static void requireGranted(
            Mint mint, Grant grant, ClaimConditions required, String tenant, long revision)
            throws Objected, JsonProcessingException {
        Function<String, Supplier<String>> why =
                what ->
                        () ->
                                "grant %d is for %s at revision %d"
                                        .formatted(grant.id(), what, revision);
        require(
                grant.idp().value().equals(mint.text(EventFields.IDP)),
                why.apply("another identity provider"));
        require(grant.key().value().equals(mint.text(EventFields.KEY)), why.apply("another key"));
        MatchingBudget budget = new MatchingBudget(new TenantName(tenant));
        String subject = mint.text(EventFields.SUBJECT);
        budget.spend(grant.subject().steps(subject));
        require(grant.subject().matches(subject), why.apply("other subjects"));
        require(grant.inForce(mint.at()), why.apply("another time"));
        if (!required.isEmpty() || !grant.claims().isEmpty()) {
            JsonNode claims = mint.claims();
            require(
                    required.areMetByRecord(claims, budget),
                    () ->
                            "its claims don't meet the conditions of its identity provider at"
                                    + " revision "
                                    + revision);
            require(
                    grant.claims().areMetByRecord(claims, budget),
                    () ->
                            "its claims don't meet the conditions of grant %d at revision %d"
                                    .formatted(grant.id(), revision));
        }
    }

    private void requireNotBlocked(Mint mint, @Nullable String tenant, long revision)
            throws IOException, Objected, Undecidable {
        boolean blocked =
                blocks.has(
                        tenant,
                        revision,
                        new IdpName(mint.text(EventFields.IDP)),
                        mint.text(EventFields.SUBJECT),
                        mint.at().plus(SKEW),
                        tenant == null
                                ? MatchingBudget.ofRulesOfAllTenants()
                                : new MatchingBudget(new TenantName(tenant)));
        require(
                !blocked,
                () ->
                        "its subject is blocked in %s at revision %d"
                                .formatted(
                                        tenant == null ? "all tenants" : "tenant " + tenant,
                                        revision));
    }

    private void requireLifetimeOfType(Mint mint, long shared) throws IOException, Objected {
        String name = mint.text(EventFields.PROVIDER_TYPE);
        Optional<PastRow> type =
                rows.at(PastRows.OF_ALL_TENANTS, shared, Table.PROVIDER_TYPE, name);
        require(
                type.isPresent(),
                () ->
                        "the history of the tables without tenant has no provider_type %s at revision %d"
                                .formatted(name, shared));
        requireLifetime(mint, type.orElseThrow(), "provider_type " + name, shared);
    }

    /** {@code config_hash} doesn't cover the limits of the tenant and of the provider's type. */
    private static void requireLifetime(Mint mint, PastRow limiting, String what, long revision)
            throws Objected {
        Duration life = Duration.between(mint.at(), mint.time(EventFields.EXPIRES_AT));
        require(
                DocumentFields.seconds(limiting.json(), "max_duration")
                        .filter(limit -> life.compareTo(limit.plus(SLACK)) > 0)
                        .isEmpty(),
                () ->
                        "it was requested for longer than the max_duration of %s at revision %d"
                                .formatted(what, revision));
    }

    /** Of a row that is in no chain it isn't known when it was committed; it is found as such. */
    private void requireInForce(LogReader.Row row, @Nullable String tenant, long revision)
            throws IOException, Objected {
        String of = tenant == null ? "the tables without tenant" : "tenant " + tenant;
        long end = ends.lastRevision(tenant);
        if (revision > end) {
            throw ofState(
                    "it was decided on revision %d of %s, whose history ends with %d"
                            .formatted(revision, of, end));
        }
        if (row.chain() != null && row.at() != null) {
            Optional<Long> overtaking = states.overtaking(tenant, revision, row.chain(), row.at());
            if (overtaking.isPresent()) {
                throw ofState(
                        "it was decided on revision %d of %s after checkpoint %d had sealed a later one"
                                .formatted(revision, of, overtaking.get()));
            }
        }
    }
}
