package io.mintmark.console.pages.proof;

import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.mintmark.console.Viewer;
import io.mintmark.console.ViewerDatabase;
import io.mintmark.console.pages.frame.Rendering;
import io.mintmark.console.pages.frame.Visibility;
import io.mintmark.console.verification.Proof;

import java.util.Optional;

/** Starts a verification, for viewers of all tenants, and leads back to the page of the proof. */
public final class VerifyButton implements Handler {
    private final ViewerDatabase database;
    private final Rendering rendering;
    private final Proof proof;

    /**
     * The button's answers.
     *
     * @param rendering of the refusal that other viewers get
     */
    public VerifyButton(ViewerDatabase database, Rendering rendering, Proof proof) {
        this.database = database;
        this.rendering = rendering;
        this.proof = proof;
    }

    @Override
    public void handle(ServerRequest request, ServerResponse response) {
        Viewer viewer = Rendering.viewer(request);
        Optional<Long> rows =
                database.read(
                        viewer,
                        connection ->
                                Visibility.seesAll(connection)
                                        ? Optional.of(ProofPage.expected(connection, proof.last()))
                                        : Optional.empty());
        if (rows.isEmpty()) {
            rendering.answer((_, _, _) -> ProofPage.onlyForAll(), request, response);
            return;
        }
        proof.begin(viewer, rows.get());
        Rendering.redirect(response, "/proof");
    }
}
