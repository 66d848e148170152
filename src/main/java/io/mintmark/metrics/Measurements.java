package io.mintmark.metrics;

import io.mintmark.audit.Kind;
import io.mintmark.exchange.MintListener;
import io.mintmark.http.RequestListener;
import io.mintmark.tenant.TenantName;
import io.mintmark.token.KeySetListener;
import io.mintmark.verdict.AccessRefusal;
import io.mintmark.verdict.MintRefusal;
import io.mintmark.verdict.Refusal;
import io.mintmark.verdict.RequestRefusal;
import io.mintmark.verdict.TokenRefusal;

import java.time.Duration;

/**
 * Counts what happens. No label is anything that a client chooses: neither subject nor address nor
 * path; tenants and types are what admins have set up.
 */
public final class Measurements implements RequestListener, MintListener, KeySetListener {
    private final Meters meters;

    public Measurements(Meters meters) {
        this.meters = meters;
    }

    @Override
    public void answered(String route, int status) {
        meters.count("requests", "route", route, "status", Integer.toString(status));
    }

    @Override
    public void refused(Refusal refusal) {
        meters.count("refusals", "reason", word(refusal));
    }

    private static String word(Refusal refusal) {
        return switch (refusal) {
            case RequestRefusal _ -> "invalid_request";
            case TokenRefusal token -> token.word();
            case AccessRefusal.KeysDenied _ -> "keys_denied";
            case AccessRefusal.KeysMissing _ -> "keys_missing";
            case AccessRefusal.SubjectNotFound _ -> "subject_not_found";
            case MintRefusal mint -> mint.reason().word();
        };
    }

    @Override
    public void tokenExamined(Duration taken) {
        meters.time("token_verification", taken);
    }

    @Override
    public void providerAnswered(String type, boolean minted, Duration taken) {
        meters.time("provider_call", taken, "type", type, "outcome", minted ? "minted" : "failed");
    }

    @Override
    public void ended(TenantName tenant, String type, Kind outcome) {
        meters.count("mints", "tenant", tenant.value(), "type", type, "outcome", outcome.word());
    }

    @Override
    public void fetched(boolean succeeded, Duration taken) {
        meters.time("key_set_fetch", taken, "outcome", Timed.outcome(succeeded));
    }
}
