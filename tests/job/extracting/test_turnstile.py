import asyncio

from nacre.job.extracting.turnstile import VISIT, Turnstile


def test_so_many_go_on_per_turn_in_their_order():
    async def main() -> list[tuple[int, int]]:
        turn = 0
        seen: list[tuple[int, int]] = []
        gate = Turnstile(room=3 * VISIT)
        loop = asyncio.get_running_loop()

        def count() -> None:
            nonlocal turn
            turn += 1
            if len(seen) < 10:
                loop.call_soon(count)

        async def visit(number: int) -> None:
            await gate.enter(0)
            seen.append((number, turn))

        loop.call_soon(count)
        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(visit(number))
        return seen

    seen = asyncio.run(main())
    assert [number for number, _ in seen] == list(range(10))
    turns = [turn for _, turn in seen]
    assert max(turns.count(turn) for turn in turns) == 3


def test_a_large_document_goes_alone():
    async def main() -> list[bool]:
        gate = Turnstile(room=3 * VISIT)
        tasks = [asyncio.create_task(gate.enter(size)) for size in (0, 3 * VISIT, 0)]
        await asyncio.sleep(0)
        return [task.done() for task in tasks]

    assert asyncio.run(main()) == [True, True, False]


def test_one_that_was_cancelled_holds_nobody_up():
    async def main() -> list[bool]:
        gate = Turnstile(room=1)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(gate.enter(0)) for _ in range(4)]
            await asyncio.sleep(0)
            tasks[1].cancel()
            async with asyncio.timeout(5):
                await tasks[3]
        return [task.cancelled() for task in tasks]

    assert asyncio.run(main()) == [False, True, False, False]
