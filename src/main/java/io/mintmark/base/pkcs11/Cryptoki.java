package io.mintmark.base.pkcs11;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The functions of a PKCS#11 library that signing needs, on a 64-bit system where C's {@code long}
 * has 64 bits. Not the JDK's SunPKCS11: its key store shows only private keys that have a
 * certificate in the token, it finds a token by the number of its slot, and a token that was
 * removed stays lost to it until the process ends.
 */
final class Cryptoki implements Restartable {
    /** The functions, with their place in {@code CK_FUNCTION_LIST}. */
    private enum Function {
        INITIALIZE("C_Initialize", 0, ADDRESS),
        FINALIZE("C_Finalize", 1, ADDRESS),
        GET_SLOT_LIST("C_GetSlotList", 4, JAVA_BYTE, ADDRESS, ADDRESS),
        GET_TOKEN_INFO("C_GetTokenInfo", 6, JAVA_LONG, ADDRESS),
        OPEN_SESSION("C_OpenSession", 12, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS),
        CLOSE_SESSION("C_CloseSession", 13, JAVA_LONG),
        LOGIN("C_Login", 18, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG),
        GET_ATTRIBUTE_VALUE("C_GetAttributeValue", 24, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG),
        FIND_OBJECTS_INIT("C_FindObjectsInit", 26, JAVA_LONG, ADDRESS, JAVA_LONG),
        FIND_OBJECTS("C_FindObjects", 27, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS),
        FIND_OBJECTS_FINAL("C_FindObjectsFinal", 28, JAVA_LONG),
        SIGN_INIT("C_SignInit", 42, JAVA_LONG, ADDRESS, JAVA_LONG),
        SIGN("C_Sign", 43, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);

        private final String name;
        private final int place;

        @SuppressWarnings("ImmutableEnumChecker") // the JDK's descriptors never change
        private final FunctionDescriptor type;

        Function(String name, int place, MemoryLayout... parameters) {
            this.name = name;
            this.place = place;
            this.type = FunctionDescriptor.of(JAVA_LONG, parameters);
        }
    }

    /** A token that the library shows. */
    record Slot(long id, String token) {}

    /** A search term, or the value of an object. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Attribute(long type, byte[] value) {
        static Attribute number(long type, long value) {
            byte[] bytes = new byte[Long.BYTES];
            MemorySegment.ofArray(bytes).set(JAVA_LONG_UNALIGNED, 0, value);
            return new Attribute(type, bytes);
        }

        static Attribute text(long type, String value) {
            return new Attribute(type, value.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static final long WORD = Long.BYTES;
    private static final long ATTRIBUTE_BYTES = 3 * WORD;
    private static final long ARGUMENTS_BYTES = 6 * WORD;
    private static final long TOKEN_INFO_BYTES = 256;
    private static final long TOKEN_FLAGS = 96;
    private static final int LABEL_BYTES = 32;
    private static final long OS_LOCKING_OK = 2;
    private static final long TOKEN_INITIALIZED = 0x400;
    private static final long SERIAL_SESSION = 4;
    private static final long USER = 1;
    private static final long UNAVAILABLE = -1;
    private static final int MOST_FOUND = 16;

    /** An RSA signature of 16,384 bits. */
    private static final long LONGEST_SIGNATURE = 2048;

    private final Map<Function, MethodHandle> functions = new EnumMap<>(Function.class);

    /**
     * Loads a library, for as long as the process runs.
     *
     * @throws IllegalArgumentException if the file isn't a PKCS#11 library
     */
    @SuppressWarnings("restricted") // the manifest allows native access
    Cryptoki(Path library) {
        SymbolLookup symbols = SymbolLookup.libraryLookup(library, Arena.global());
        MemorySegment entry =
                symbols.find("C_GetFunctionList")
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        "it lacks the function C_GetFunctionList"));
        Linker linker = Linker.nativeLinker();
        MethodHandle getFunctionList =
                linker.downcallHandle(entry, FunctionDescriptor.of(JAVA_LONG, ADDRESS));
        AddressLayout pointers =
                ADDRESS.withTargetLayout(MemoryLayout.sequenceLayout(100, ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            long result = (long) invoke(getFunctionList, out);
            if (result != 0) {
                throw new IllegalArgumentException("it doesn't list its functions");
            }
            MemorySegment list = out.get(pointers, 0);
            for (Function each : Function.values()) {
                // behind the version, which is padded to a word
                MemorySegment code = list.get(ADDRESS, WORD * (1 + each.place));
                functions.put(each, linker.downcallHandle(code, each.type));
            }
        }
    }

    @Override
    public void initialize() throws CryptokiFailure {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment arguments = arena.allocate(ARGUMENTS_BYTES, WORD);
            arguments.set(JAVA_LONG, 4 * WORD, OS_LOCKING_OK);
            call(Function.INITIALIZE, arguments);
        } catch (CryptokiFailure e) {
            if (e.code() != CryptokiFailure.CRYPTOKI_ALREADY_INITIALIZED) {
                throw e;
            }
        }
    }

    /** Ends all sessions. The next {@link #initialize} looks for tokens anew. */
    @Override
    public void terminate() throws CryptokiFailure {
        call(Function.FINALIZE, MemorySegment.NULL);
    }

    /** The tokens that are present and initialized. */
    List<Slot> slots() throws CryptokiFailure {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_LONG);
            call(Function.GET_SLOT_LIST, (byte) 1, MemorySegment.NULL, count);
            long known = count.get(JAVA_LONG, 0);
            MemorySegment ids = arena.allocate(JAVA_LONG, Math.max(1, known));
            call(Function.GET_SLOT_LIST, (byte) 1, ids, count);
            List<Slot> slots = new ArrayList<>();
            for (int i = 0; i < Math.min(known, count.get(JAVA_LONG, 0)); i++) {
                slot(ids.getAtIndex(JAVA_LONG, i), arena).ifPresent(slots::add);
            }
            return slots;
        }
    }

    private Optional<Slot> slot(long id, Arena arena) throws CryptokiFailure {
        MemorySegment info = arena.allocate(TOKEN_INFO_BYTES, WORD);
        call(Function.GET_TOKEN_INFO, id, info);
        if ((info.get(JAVA_LONG, TOKEN_FLAGS) & TOKEN_INITIALIZED) == 0) {
            return Optional.empty();
        }
        byte[] label = info.asSlice(0, LABEL_BYTES).toArray(JAVA_BYTE);
        return Optional.of(new Slot(id, new String(label, StandardCharsets.UTF_8).stripTrailing()));
    }

    long openSession(long slot) throws CryptokiFailure {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment session = arena.allocate(JAVA_LONG);
            call(
                    Function.OPEN_SESSION,
                    slot,
                    SERIAL_SESSION,
                    MemorySegment.NULL,
                    MemorySegment.NULL,
                    session);
            return session.get(JAVA_LONG, 0);
        }
    }

    void closeSession(long session) throws CryptokiFailure {
        call(Function.CLOSE_SESSION, session);
    }

    /** Logs in to the session's token; it counts for all sessions. */
    void login(long session, String pin) throws CryptokiFailure {
        try (Arena arena = Arena.ofConfined()) {
            byte[] bytes = pin.getBytes(StandardCharsets.UTF_8);
            MemorySegment text = arena.allocateFrom(JAVA_BYTE, bytes);
            call(Function.LOGIN, session, USER, text, (long) bytes.length);
            text.fill((byte) 0);
        } catch (CryptokiFailure e) {
            if (e.code() != CryptokiFailure.USER_ALREADY_LOGGED_IN) {
                throw e;
            }
        }
    }

    /** The handles of the objects that have all of these attributes, 16 at most. */
    List<Long> find(long session, List<Attribute> attributes) throws CryptokiFailure {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment template = arena.allocate(ATTRIBUTE_BYTES * attributes.size(), WORD);
            for (int i = 0; i < attributes.size(); i++) {
                byte[] value = attributes.get(i).value();
                MemorySegment at = template.asSlice(i * ATTRIBUTE_BYTES, ATTRIBUTE_BYTES);
                at.set(JAVA_LONG, 0, attributes.get(i).type());
                at.set(ADDRESS, WORD, arena.allocateFrom(JAVA_BYTE, value));
                at.set(JAVA_LONG, 2 * WORD, value.length);
            }
            call(Function.FIND_OBJECTS_INIT, session, template, (long) attributes.size());
            MemorySegment found = arena.allocate(JAVA_LONG, MOST_FOUND);
            MemorySegment count = arena.allocate(JAVA_LONG);
            call(Function.FIND_OBJECTS, session, found, (long) MOST_FOUND, count);
            call(Function.FIND_OBJECTS_FINAL, session);
            List<Long> handles = new ArrayList<>();
            for (int i = 0; i < count.get(JAVA_LONG, 0); i++) {
                handles.add(found.getAtIndex(JAVA_LONG, i));
            }
            return handles;
        }
    }

    /** An attribute of an object; empty if it has none or keeps it to itself. */
    Optional<byte[]> value(long session, long object, long type) throws CryptokiFailure {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attribute = arena.allocate(ATTRIBUTE_BYTES, WORD);
            attribute.set(JAVA_LONG, 0, type);
            call(Function.GET_ATTRIBUTE_VALUE, session, object, attribute, 1L);
            long length = attribute.get(JAVA_LONG, 2 * WORD);
            if (length == UNAVAILABLE || length == 0) {
                return Optional.empty();
            }
            MemorySegment value = arena.allocate(length);
            attribute.set(ADDRESS, WORD, value);
            call(Function.GET_ATTRIBUTE_VALUE, session, object, attribute, 1L);
            return Optional.of(value.toArray(JAVA_BYTE));
        } catch (CryptokiFailure e) {
            if (e.code() == CryptokiFailure.ATTRIBUTE_TYPE_INVALID
                    || e.code() == CryptokiFailure.ATTRIBUTE_SENSITIVE) {
                return Optional.empty();
            }
            throw e;
        }
    }

    byte[] sign(long session, long key, long mechanism, byte[] data) throws CryptokiFailure {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment how = arena.allocate(3 * WORD, WORD);
            how.set(JAVA_LONG, 0, mechanism);
            call(Function.SIGN_INIT, session, how, key);
            MemorySegment signature = arena.allocate(LONGEST_SIGNATURE);
            MemorySegment length = arena.allocateFrom(JAVA_LONG, LONGEST_SIGNATURE);
            call(
                    Function.SIGN,
                    session,
                    arena.allocateFrom(JAVA_BYTE, data),
                    (long) data.length,
                    signature,
                    length);
            return signature.asSlice(0, length.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
        }
    }

    private void call(Function function, Object... arguments) throws CryptokiFailure {
        long result = (long) invoke(Objects.requireNonNull(functions.get(function)), arguments);
        if (result != 0) {
            throw new CryptokiFailure(function.name, result);
        }
    }

    private static Object invoke(MethodHandle function, Object... arguments) {
        try {
            return function.invokeWithArguments(arguments);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a call of the PKCS#11 library threw an exception", e);
        }
    }
}
