// The number of elements once the main thread is idle, and a time later once it is idle again. The
// browser says that it is, or ten timers in a row were on time (it now and then says nothing after a
// navigation that was refused).
async (milliseconds, again) => {
  const countIdle = async () => {
    let isOver = false;
    const idle = new Promise((resolve) => {
      requestIdleCallback(resolve, { timeout: milliseconds });
    });
    const punctual = async () => {
      for (let inTime = 0; inTime < 10 && !isOver; ) {
        const start = performance.now();
        await pause(20);
        inTime = performance.now() - start < 50 ? inTime + 1 : 0;
      }
    };
    await Promise.race([idle, punctual()]);
    isOver = true;
    return countElements();
  };
  const first = await countIdle();
  await pause(again);
  return [first, await countIdle()];
}
