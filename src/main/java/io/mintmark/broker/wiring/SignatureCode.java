package io.mintmark.broker.wiring;

import io.mintmark.base.start.StartFailed;
import io.mintmark.base.thread.HelperThread;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.security.NoSuchAlgorithmException;
import java.security.Signature;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Chooses the implementation of signatures, native or Java, on a thread of its own during the
 * start.
 */
final class SignatureCode {
    private static final Logger log = LoggerFactory.getLogger(SignatureCode.class);

    private final FutureTask<String> choice;

    private SignatureCode(FutureTask<String> choice) {
        this.choice = choice;
    }

    /** Begins to load the native code, unless the operator doesn't want it. */
    static SignatureCode choose(boolean nativeSignatures) {
        FutureTask<String> choice =
                new FutureTask<>(nativeSignatures ? SignatureCode::best : SignatureCode::jdk);
        var _ = HelperThread.start("native-signatures", choice);
        return new SignatureCode(choice);
    }

    /** Waits until it is decided, and until what is used from now on is in place. */
    String awaited() {
        try {
            String name = choice.get();
            log.info("Signatures are made and verified by {}", name);
            return name;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StartFailed("interrupted while starting");
        } catch (ExecutionException e) {
            throw new IllegalStateException("loading " + NativeSignatures.class, e.getCause());
        }
    }

    private static String best() throws NoSuchAlgorithmException {
        try {
            return NativeSignatures.install();
        } catch (NativeSignatures.UnusableException e) {
            log.info("Amazon Corretto Crypto Provider isn't used: {}", e.getMessage());
            return jdk();
        }
    }

    private static String jdk() throws NoSuchAlgorithmException {
        return Signature.getInstance("SHA256withRSA").getProvider().getName();
    }
}
