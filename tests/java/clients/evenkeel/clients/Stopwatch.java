package evenkeel.clients;

import java.lang.management.ManagementFactory;

import com.sun.management.OperatingSystemMXBean;

/** Time and processor time since it was made. */
final class Stopwatch {
    private static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final long begunNs = System.nanoTime();
    private final long begunCpuNs = SYSTEM.getProcessCpuTime();

    /** Tells how long so many messages took; the processor time is that of the whole process. */
    void say(String name, long messages) {
        Lines.say("timed", "name", name, "messages", messages, "ns", System.nanoTime() - begunNs,
            "cpu_ns", SYSTEM.getProcessCpuTime() - begunCpuNs);
    }
}
