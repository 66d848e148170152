package io.mintmark.broker.wiring;

import org.junit.jupiter.api.function.Executable;

import java.security.Provider;
import java.security.Security;
import java.util.Optional;
import java.util.stream.Stream;

/** Whose code signs and verifies in this process while a test runs. */
public enum SignaturesBy {
    /** The JDK's. */
    JDK {
        @Override
        void choose() {
            Security.removeProvider(NativeSignatures.NAME);
        }
    },
    /** Amazon Corretto Crypto Provider's. */
    CORRETTO {
        @Override
        void choose() throws NativeSignatures.UnusableException {
            Loaded.putFirst();
        }
    };

    /** What is loaded stays, because loading it takes a while. */
    private static final class Loaded {
        private static Optional<Provider> provider = Optional.empty();

        static synchronized void putFirst() throws NativeSignatures.UnusableException {
            if (provider.isPresent()) {
                Security.insertProviderAt(provider.get(), 1);
            } else {
                NativeSignatures.install();
                provider = Optional.of(Security.getProvider(NativeSignatures.NAME));
            }
        }
    }

    abstract void choose() throws NativeSignatures.UnusableException;

    /** Runs something with this one's signatures. */
    public void during(Executable work) throws Throwable {
        boolean before = Security.getProvider(NativeSignatures.NAME) != null;
        choose();
        try {
            work.execute();
        } finally {
            (before ? CORRETTO : JDK).choose();
        }
    }

    /** The same for what throws nothing of its own. */
    public void duringSafely(Runnable work) {
        try {
            during(work::run);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Those that this machine has. {@link NativeSignaturesTest} says where both must be. */
    public static Stream<SignaturesBy> here() {
        return Stream.of(values()).filter(SignaturesBy::works);
    }

    private boolean works() {
        try {
            during(() -> {});
            return true;
        } catch (NativeSignatures.UnusableException e) {
            return false;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
