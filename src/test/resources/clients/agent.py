"""The agent's mints in virtual time: python3 agent.py AGENT SCENARIO

Runs the agent's own code. Only its clocks and its calls of the client are replaced. A caller asks once a
minute. Prints what happened as JSON: when the client was called, and the statuses that callers got.
"""
import asyncio
import importlib.machinery
import importlib.util
import json
import selectors
import sys
import time

LIFE = 3600
UNKNOWN = "the broker may have issued a credential; the audit log shows whether it did"


def load(path):
    loader = importlib.machinery.SourceFileLoader("agent", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("agent", loader))
    loader.exec_module(module)
    return module


class World(selectors.DefaultSelector):
    """A clock that jumps to the time for which everybody waits."""

    now = 0.0
    wrong_by = 0.0

    def wall(self):
        return 1700000000 + self.now + self.wrong_by

    def select(self, timeout=None):
        self.now += max(timeout, 1e-6) if timeout else 0
        return super().select(0)


class Loop(asyncio.SelectorEventLoop):
    def __init__(self, world):
        super().__init__(world)
        self.world = world

    def time(self):
        return self.world.now


class Client:
    """What the client ends with, one result after another, the last for ever."""

    def __init__(self, world, lives, failures):
        self.world, self.lives, self.failures, self.calls = world, lives, failures, []

    async def run(self, _arguments):
        now = self.world.now
        self.calls.append(now)
        await asyncio.sleep(0.5)
        life = self.lives.pop(0) if len(self.lives) > 1 else self.lives[0]
        for begin, end, code, messages in self.failures:
            if begin <= now < end:
                return code, b"", messages
        expiry = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.world.wall() + life))
        return 0, json.dumps({"AccessKeyId": "A", "SecretAccessKey": "s", "SessionToken": "t",
                              "Expiration": expiry}).encode(), ""


async def ask(module, mints, world, times, statuses):
    door = module.Aws("")
    for at in times:
        await asyncio.sleep(at - world.now)
        statuses.append((await mints.answer(door, "deploy"))("/deploy", {}).status)


SCENARIOS = {
    # name: lives, failures as (from, until, exit code, messages), times at which a caller asks
    "steady": ([LIFE], [], range(0, 40000, 60)),
    "once": ([LIFE], [], [0]),
    "outage": ([LIFE], [(1000, 2900, 3, "cannot reach the broker")], range(0, 3600, 60)),
    "asked": ([LIFE], [(0, 120, 75, "too many requests\nmintmark-client: retry in 100 s")], range(0, 200, 5)),
    "gateway": ([LIFE], [(0, 200, 75, UNKNOWN)], range(0, 200, 1)),
    "expired": ([-600], [], range(0, 400, 1)),
    "set back": ([LIFE], [], range(0, 40000, 60)),
}


def main():
    module = load(sys.argv[1])
    lives, failures, times = SCENARIOS[sys.argv[2]]
    world = World()
    module.time = type("Clock", (), {"time": staticmethod(world.wall),
                                     "monotonic": staticmethod(lambda: world.now)})
    module.log = lambda text: None
    loop = Loop(world)
    asyncio.set_event_loop(loop)
    client = Client(world, list(lives), failures)
    if sys.argv[2] == "set back":
        loop.call_later(10, lambda: setattr(world, "wrong_by", -20000.0))
    statuses = []

    async def run():
        mints = module.Mints("client", 90)
        mints.run_client = client.run
        await ask(module, mints, world, times, statuses)
        await asyncio.sleep(5 * LIFE if sys.argv[2] == "once" else 0)

    loop.run_until_complete(run())
    print(json.dumps({"mints": client.calls, "statuses": statuses}))


if __name__ == "__main__":
    main()
