package io.mintmark.endtoend;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.ClassType;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;

import io.mintmark.Unchecked;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Throws errors in the threads of a process, wherever they are, as nothing else can. */
final class Debugger implements AutoCloseable {
    private final VirtualMachine machine;

    /**
     * Attaches to a process with {@link #option}.
     *
     * @param port on which it waits for that
     */
    Debugger(int port) {
        AttachingConnector sockets =
                Bootstrap.virtualMachineManager().attachingConnectors().stream()
                        .filter(each -> each.name().equals("com.sun.jdi.SocketAttach"))
                        .findFirst()
                        .orElseThrow();
        Map<String, Connector.Argument> arguments = sockets.defaultArguments();
        Objects.requireNonNull(arguments.get("hostname")).setValue("127.0.0.1");
        Objects.requireNonNull(arguments.get("port")).setValue(Integer.toString(port));
        machine = Unchecked.call(() -> sockets.attach(arguments));
    }

    /** What a JVM needs to wait for a debugger. */
    static String option(int port) {
        return "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:"
                + port;
    }

    /** The names of all platform threads. */
    List<String> threads() {
        return machine.allThreads().stream().map(ThreadReference::name).toList();
    }

    /**
     * Throws an error in one thread of this name.
     *
     * @param field of {@link Sabotaged}
     */
    void sabotage(String name, String field) {
        ThreadReference thread =
                machine.allThreads().stream()
                        .filter(each -> each.name().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError("no thread '" + name + "'"));
        var owner = (ClassType) machine.classesByName(Sabotaged.class.getName()).getFirst();
        Unchecked.run(
                () -> thread.stop((ObjectReference) owner.getValue(owner.fieldByName(field))));
    }

    @Override
    public void close() {
        try {
            machine.dispose();
        } catch (VMDisconnectedException e) {
            // the process has ended
        }
    }
}
