package io.mintmark.console.pages.proof;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.auditor.reader.MintReceipt;
import io.mintmark.auditor.reader.PostgresLog;
import io.mintmark.auditor.reader.ReceiptFile;
import io.mintmark.base.output.CommandFailed;
import io.mintmark.base.tenant.MintId;
import io.mintmark.console.Viewer;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.pages.frame.Parameters;
import io.mintmark.console.pages.frame.Rendering;
import io.mintmark.console.pages.frame.View;
import io.mintmark.console.pages.frame.Visibility;
import io.mintmark.console.verification.Proof;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Semaphore;

/**
 * The receipt of one mint, as {@code mintmark audit prove} writes it. The path from the mint's rows
 * to the checkpoint's root leads past rows of all tenants, so only those may have it who see them.
 */
public final class ReceiptDownload implements Handler {
    private final ViewerDatabase database;
    private final Rendering rendering;
    private final Proof proof;

    /** Each takes a connection of its own. */
    private final Semaphore one = new Semaphore(1);

    /** The file at {@code /proof/receipt?mint=ID}. */
    public ReceiptDownload(ViewerDatabase database, Rendering rendering, Proof proof) {
        this.database = database;
        this.rendering = rendering;
        this.proof = proof;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        Viewer viewer = Rendering.viewer(request);
        Optional<UUID> mint = new Parameters(request).text("mint").flatMap(Parameters::uuid);
        if (!database.read(viewer, Visibility::seesAll)) {
            refuse(ProofPage.onlyForAll(), request, response);
        } else if (mint.isEmpty()) {
            refuse(View.absent("mint"), request, response);
        } else if (!one.tryAcquire()) {
            refuse(
                    View.message(
                            503,
                            "Another receipt is being written",
                            "The console writes one at a time.",
                            "Retry in a few seconds."),
                    request,
                    response);
        } else {
            try {
                send(viewer, mint.get(), request, response);
            } finally {
                one.release();
            }
        }
    }

    private void send(Viewer viewer, UUID mint, ServerRequest request, ServerResponse response) {
        String receipt;
        try (PostgresLog log = proof.log(viewer)) {
            receipt = ReceiptFile.text(MintReceipt.of(log, new MintId(mint)));
        } catch (CommandFailed e) {
            refuse(
                    View.message(
                            404,
                            "No receipt",
                            "This mint has no receipt: %s.".formatted(e.getMessage()),
                            "A running broker seals new rows every minute."),
                    request,
                    response);
            return;
        }
        response.header(HeaderNames.CONTENT_TYPE, "application/json; charset=utf-8")
                .header(
                        HeaderNames.CONTENT_DISPOSITION,
                        "attachment; filename=\"receipt-%s.json\"".formatted(mint))
                .send(receipt.getBytes(StandardCharsets.US_ASCII));
    }

    private void refuse(View view, ServerRequest request, ServerResponse response) {
        rendering.answer((_, _, _) -> view, request, response);
    }
}
