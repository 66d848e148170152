"""Five hundred mintmark-writers behind one address, in virtual time: python3 writers.py WRITER SEED [LATEST]

With LATEST, the writers renew as late as that part of a credential's life, as they must not.
Runs the loop of the program itself, one thread for each writer and one at a time. Only its clock, its waits, its
dice and its call of the broker are replaced. The broker counts as docs/settings.md says: 20 requests in a second and
100 in a minute of one address are served, others get "retry in N s". For 30 s it doesn't answer at all. Prints what
happened as JSON.
"""
import heapq
import importlib.machinery
import importlib.util
import json
import random
import sys
import threading

WRITERS, LIFE, HOURS, OUTAGE_AT, OUTAGE = 500, 3600, 4, 2400, 30
PER_SECOND, PER_MINUTE = 20, 100


def load(path):
    loader = importlib.machinery.SourceFileLoader("writer", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("writer", loader))
    loader.exec_module(module)
    return module


class World:
    """The clock, and who runs: the thread that waits for the earliest time."""

    def __init__(self):
        self.now, self.queue, self.number, self.turn = 0.0, [], 0, threading.Semaphore(0)

    def wait(self, seconds):
        """Blocks the calling thread for that long, and lets the world go on."""
        woken = threading.Semaphore(0)
        self.number += 1
        heapq.heappush(self.queue, (self.now + max(seconds, 0.001), self.number, woken))
        self.turn.release()
        woken.acquire()

    def run(self, until):
        while self.queue and self.queue[0][0] < until:
            self.now, _, woken = heapq.heappop(self.queue)
            woken.release()
            self.turn.acquire()


class Broker:
    def __init__(self, world):
        self.world, self.requests, self.mints, self.expired, self.ends = world, {}, {}, 0, {}

    def served(self):
        now = int(self.world.now)
        self.requests[now] = self.requests.get(now, 0) + 1
        minute = sum(count for second, count in self.mints.items() if second // 60 == now // 60)
        if self.mints.get(now, 0) >= PER_SECOND:
            return 1
        if minute >= PER_MINUTE:
            return 60 - now % 60
        self.mints[now] = self.mints.get(now, 0) + 1
        return 0

    def mint(self, writer, failed):
        if OUTAGE_AT <= self.world.now < OUTAGE_AT + OUTAGE:
            self.world.wait(5)  # the client's attempts
            raise failed("the broker cannot be reached")
        wait = self.served()
        if wait:
            raise failed("too many requests; retry in %d s (RATE_LIMIT_EXCEEDED)" % wait)
        self.world.wait(0.2)
        if writer.key in self.ends and self.ends[writer.key] < self.world.now:
            self.expired += 1
        self.ends[writer.key] = self.world.now + LIFE
        return {}, self.world.now, LIFE


class Stopped:
    """The event for which a writer waits."""

    def __init__(self, world):
        self.world = world

    def is_set(self):
        return False

    def wait(self, seconds):
        self.world.wait(seconds)


def main():
    module, dice = load(sys.argv[1]), random.Random(int(sys.argv[2]))
    world = World()
    broker = Broker(world)
    module.time = type("Clock", (), {name: staticmethod(lambda: world.now) for name in ("time", "monotonic")})
    module.random = dice
    module.RENEWED_AFTER = (float(sys.argv[3]),) * 2 if len(sys.argv) > 3 else module.RENEWED_AFTER
    module.log = lambda text: None
    module.Directory = lambda parent, key: type(
        "Nowhere", (), {"parent": parent, "require_own": lambda self: None, "replace": lambda self, files: None})()

    def start(number):
        writer = module.Writer("client", "/nowhere", "key-%d" % number, 90, [], "")
        writer.mint = lambda: broker.mint(writer, module.Failed)
        world.wait(dice.uniform(0, 5))  # a rollout
        writer.keep(Stopped(world), lambda: None)

    for number in range(WRITERS):
        threading.Thread(target=start, args=(number,), daemon=True).start()
        world.turn.acquire()
    world.run(HOURS * 3600)
    late = sum(1 for end in broker.ends.values() if end < world.now)
    after = [count for second, count in broker.requests.items() if second >= 900]
    minutes = {}
    for second, count in broker.mints.items():
        minutes[second // 60] = minutes.get(second // 60, 0) + count
    print(json.dumps({
        "writers": len(broker.ends), "mints": sum(broker.mints.values()), "pastTheirEnd": broker.expired + late,
        "mintsInOneSecond": max(broker.mints.values()), "mintsInOneMinute": max(minutes.values()),
        "requestsInOneSecondLater": max(after), "requests": sum(broker.requests.values()),
        "allServedAfter": next((s for s in sorted(broker.mints) if sum(
            c for t, c in broker.mints.items() if t <= s) >= WRITERS), None)}))


if __name__ == "__main__":
    main()
