package io.mintmark.auditor.reader;

import com.fasterxml.jackson.core.JsonProcessingException;

import io.mintmark.audit.canonical.EventFields;
import io.mintmark.auditor.reader.PastBlocks.Undecidable;
import io.mintmark.auditor.reader.PastEntitlements.Revisions;
import io.mintmark.auditor.reader.PastRow.Table;
import io.mintmark.auditor.reader.RecordedMint.Objected;
import io.mintmark.auditor.verify.LogReader;
import io.mintmark.auditor.verify.MintProof.Objection;
import io.mintmark.base.canonical.CanonicalForm;
import io.mintmark.base.tenant.TenantName;
import io.mintmark.base.time.TimeBounds;
import io.mintmark.base.verdict.Unavailable;
import io.mintmark.broker.grant.Grant;
import io.mintmark.broker.grant.Parties;
import io.mintmark.broker.grant.Unmet;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/** Makes the decision on a mint again, in the state of the configuration that its row names. */
final class PastDecision {
    /**
     * The time by which a credential may outlive its limits: {@code provider.timeout}, and a
     * minute.
     */
    private static final Duration SLACK = Duration.ofMinutes(2);

    private final PastRows rows;
    private final PastEntitlements entitlements;
    private final SealedStates states;
    private final LateChanges late;
    private final Ends ends;

    /** The end of a tenant's history; null selects the tables without a tenant. */
    interface Ends {
        long lastRevision(@Nullable String tenant) throws IOException;
    }

    PastDecision(
            PastRows rows, PastBlocks blocks, SealedStates states, LateChanges late, Ends ends) {
        this.rows = rows;
        this.entitlements = new PastEntitlements(blocks);
        this.states = states;
        this.late = late;
        this.ends = ends;
    }

    /** The reason why the history didn't grant a row {@code requested}; empty if it did. */
    Optional<Objection> objection(LogReader.Row row) throws IOException {
        try {
            return decide(new RecordedMint(row), row);
        } catch (Objected e) {
            return Optional.of(e.objection());
        } catch (Undecidable e) {
            return Optional.of(RecordedMint.ungranted(String.valueOf(e.getMessage())));
        } catch (Unavailable e) {
            return Optional.of(
                    RecordedMint.ungranted(
                            "the tenant's rules exceed the limit for evaluating a request"));
        } catch (JsonProcessingException | IllegalArgumentException | DateTimeException e) {
            return Optional.of(RecordedMint.ungranted("the mint's row can't be read"));
        }
    }

    private static Objected ofState(String why) {
        return new Objected(new Objection(why, true, Optional.empty()));
    }

    private Optional<Objection> decide(RecordedMint mint, LogReader.Row row)
            throws IOException, Objected, Undecidable, JsonProcessingException {
        String tenant = mint.text(EventFields.TENANT);
        long revision = mint.number(EventFields.GRANT_REVISION);
        PastRow owner = row(tenant, revision, Table.TENANT, tenant);
        PastRow idp = row(tenant, revision, Table.IDENTITY_PROVIDER, mint.text(EventFields.IDP));
        PastRow key = row(tenant, revision, Table.KEY, mint.text(EventFields.KEY));
        PastRow provider =
                row(tenant, revision, Table.ACCESS_PROVIDER, mint.text(EventFields.PROVIDER));
        PastRow grant = row(tenant, revision, Table.GRANT, mint.text(EventFields.GRANT_ID));
        requireApproved(owner, key, "key " + mint.text(EventFields.KEY), revision);
        requireApproved(owner, grant, "grant " + mint.text(EventFields.GRANT_ID), revision);
        Optional<PastRow> actorIdp =
                mint.has(EventFields.ACTOR)
                        ? Optional.of(
                                row(
                                        tenant,
                                        revision,
                                        Table.IDENTITY_PROVIDER,
                                        mint.text(EventFields.ACTOR_IDP)))
                        : Optional.empty();
        long shared = mint.number(EventFields.SHARED_REVISION);
        Revisions then = new Revisions(new TenantName(tenant), revision, shared);
        requireNamed(mint, idp, key, provider, revision);
        requireGranted(mint, then, grant.grant().orElseThrow(), mint.parties(then, idp, actorIdp));
        requireInForce(row, tenant, revision);
        requireLifetime(mint, owner, "tenant " + tenant, revision);
        late.requireMade(tenant, revision, mint.at());
        Optional<Objection> doubt = late.objection(tenant, revision, mint.at());
        requireInForce(row, null, shared);
        requireLifetimeOfType(mint, shared);
        late.requireMade(null, shared, mint.at());
        String used =
                CanonicalForm.DECISION.hash(
                        Arrays.asList(
                                owner.digest(),
                                idp.digest(),
                                provider.digest(),
                                key.digest(),
                                grant.digest(),
                                actorIdp.map(PastRow::digest).orElse(null)));
        RecordedMint.require(
                used.equals(EventFields.CONFIG_HASH.in(mint.fields())),
                () ->
                        "the mint's config_hash differs from the settings in the history (tenant, identity providers, access provider, key and grant) at revision "
                                + revision);
        return doubt.isPresent() ? doubt : late.objection(null, shared, mint.at());
    }

    private PastRow row(String tenant, long revision, Table table, String name)
            throws IOException, Objected {
        Optional<PastRow> found = rows.at(tenant, revision, table, name);
        RecordedMint.require(
                found.isPresent(),
                () ->
                        "the history of tenant %s has no %s %s at revision %d"
                                .formatted(tenant, table, name, revision));
        PastRow row = found.orElseThrow();
        RecordedMint.require(
                row.isEnabled(),
                () -> "%s %s is disabled at revision %d".formatted(table, name, revision));
        return row;
    }

    private static void requireApproved(PastRow owner, PastRow row, String what, long revision)
            throws Objected {
        RecordedMint.require(
                !owner.requiresSecondAdmin() || row.isApproved(),
                () -> "unapproved_%s at revision %d".formatted(what, revision));
    }

    private static void requireNamed(
            RecordedMint mint, PastRow idp, PastRow key, PastRow provider, long revision)
            throws Objected {
        String ofIdp = mint.text(EventFields.IDP);
        String ofKey = mint.text(EventFields.KEY);
        String ofProvider = mint.text(EventFields.PROVIDER);
        String issuer = mint.text(EventFields.ISSUER);
        String type = mint.text(EventFields.PROVIDER_TYPE);
        String had = "%s '%s' had the %s '%s' at revision %d, but the mint's row has '%s'";
        RecordedMint.require(
                idp.issuer().equals(issuer),
                () ->
                        had.formatted(
                                "identity provider",
                                ofIdp,
                                "issuer",
                                idp.issuer(),
                                revision,
                                issuer));
        RecordedMint.require(
                key.provider().equals(ofProvider),
                () ->
                        had.formatted(
                                "key",
                                ofKey,
                                "access provider",
                                key.provider(),
                                revision,
                                ofProvider));
        RecordedMint.require(
                provider.type().equals(type),
                () ->
                        had.formatted(
                                "access provider",
                                ofProvider,
                                "type",
                                provider.type(),
                                revision,
                                type));
    }

    private void requireGranted(RecordedMint mint, Revisions then, Grant grant, Parties parties)
            throws IOException, Objected, Undecidable {
        Function<String, Supplier<String>> why =
                what ->
                        () ->
                                "grant %d is for %s at revision %d"
                                        .formatted(grant.id(), what, then.own());
        RecordedMint.require(
                grant.idp().value().equals(mint.text(EventFields.IDP)),
                why.apply("another identity provider"));
        RecordedMint.require(
                grant.key().value().equals(mint.text(EventFields.KEY)), why.apply("another key"));
        Optional<Unmet> unmet =
                entitlements
                        .of(then, grant, parties, mint.at())
                        .unmet(grant, TimeBounds.of(mint.at()));
        if (unmet.isPresent()) {
            throw new Objected(RecordedMint.ungranted(sentence(unmet.get(), grant, then)));
        }
    }

    private static String sentence(Unmet unmet, Grant grant, Revisions then) {
        String isFor = "grant %d is for %%s at revision %d".formatted(grant.id(), then.own());
        return switch (unmet) {
            case NOT_BLOCKED ->
                    "the subject or actor is blocked at revision %d of tenant %s or %d of the tables without tenant"
                            .formatted(then.own(), then.tenant().value(), then.shared());
            case SUBJECT -> isFor.formatted("other subjects");
            case ACTOR -> isFor.formatted("another actor");
            case CLAIMS ->
                    "the claims don't meet the conditions of grant %d at revision %d"
                            .formatted(grant.id(), then.own());
            case NETWORKS -> isFor.formatted("other networks");
            case TIME -> isFor.formatted("another time");
        };
    }

    private void requireLifetimeOfType(RecordedMint mint, long shared)
            throws IOException, Objected {
        String name = mint.text(EventFields.PROVIDER_TYPE);
        Optional<PastRow> type =
                rows.at(PastRows.OF_ALL_TENANTS, shared, Table.PROVIDER_TYPE, name);
        RecordedMint.require(
                type.isPresent(),
                () ->
                        "the history of the tables without tenant has no provider_type %s at revision %d"
                                .formatted(name, shared));
        requireLifetime(mint, type.orElseThrow(), "provider_type " + name, shared);
    }

    /** {@code config_hash} doesn't cover the limits of the tenant and of the provider's type. */
    private static void requireLifetime(
            RecordedMint mint, PastRow limiting, String what, long revision) throws Objected {
        Duration life = Duration.between(mint.at(), mint.time(EventFields.EXPIRES_AT));
        RecordedMint.require(
                limiting.maxDuration()
                        .filter(limit -> life.compareTo(limit.plus(SLACK)) > 0)
                        .isEmpty(),
                () ->
                        "the credential was requested for longer than the max_duration of %s at revision %d"
                                .formatted(what, revision));
    }

    /**
     * Requires that the revision existed, and that no checkpoint sealed a later revision before the
     * mint was committed. For a row that is in no chain the commit time is unknown; such a row is
     * reported by other checks.
     */
    private void requireInForce(LogReader.Row row, @Nullable String tenant, long revision)
            throws IOException, Objected {
        String of = tenant == null ? "the tables without tenant" : "tenant " + tenant;
        long end = ends.lastRevision(tenant);
        if (revision > end) {
            throw ofState(
                    "the mint was decided on revision %d of %s, whose history ends with revision %d"
                            .formatted(revision, of, end));
        }
        if (row.chain() != null && row.at() != null) {
            Optional<Long> overtaking = states.overtaking(tenant, revision, row.chain(), row.at());
            if (overtaking.isPresent()) {
                throw ofState(
                        ("the broker used revision %d of %s, although checkpoint %d had already sealed"
                                        + " a later revision")
                                .formatted(revision, of, overtaking.get()));
            }
        }
    }
}
