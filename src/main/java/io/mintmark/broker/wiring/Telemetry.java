package io.mintmark.broker.wiring;

import io.mintmark.audit.AuditLog;
import io.mintmark.audit.Rejections;
import io.mintmark.audit.log.LogFigures;
import io.mintmark.base.metrics.Meters;
import io.mintmark.base.metrics.ProcessGauges;
import io.mintmark.base.start.Components;
import io.mintmark.base.start.ProgramVersion;
import io.mintmark.base.trace.Traces;
import io.mintmark.broker.catalogue.PostgresCatalogue;
import io.mintmark.broker.metrics.Gauges;
import io.mintmark.broker.metrics.MeasuredCatalogue;
import io.mintmark.broker.metrics.Measurements;
import io.mintmark.broker.metrics.TenantExpiries;
import io.mintmark.provider.AccessProviders;

import java.util.Optional;

/** The metrics and traces of a broker. */
record Telemetry(Meters meters, Measurements measurements, Optional<Traces> traces) {

    static Telemetry of(Components components) {
        Meters meters = components.running(new Meters());
        Optional<Traces> traces = Traces.configured();
        traces.ifPresent(components::running);
        return new Telemetry(meters, new Measurements(meters), traces);
    }

    /** Shows the state of the broker's components at each scrape. */
    void show(
            Prepared prepared,
            Stores stores,
            MeasuredCatalogue readings,
            AuditLog audit,
            Rejections rejections,
            Witnesses witnesses) {
        Gauges levels = new Gauges(meters);
        levels.show(stores.database());
        levels.show(readings);
        levels.show(audit, rejections);
        levels.show(stores.writers(), stores.history());
        LogFigures figures = new LogFigures(stores.database(), System::nanoTime);
        levels.show(figures);
        witnesses.show(levels, figures);
        ProcessGauges process = new ProcessGauges(meters);
        process.showThreads();
        prepared.rereadFiles().forEach(process::show);
        Expiries.of(prepared).show(process);
        process.show(ProgramVersion.shown(), prepared.signatures());
    }

    /** Renews the metrics about the expiry of the tenants' certificates. */
    Runnable expiriesOfTenants(AccessProviders providers, Stores stores) {
        TenantExpiries shown = new TenantExpiries(meters);
        TenantCertificates read =
                new TenantCertificates(providers, new PostgresCatalogue(stores.database()));
        return () -> shown.show(read.expiries());
    }
}
