// The number of elements, once the main thread is idle: the browser says so, or ten timers in a row
// were on time (it now and then says nothing after a navigation that was refused).
async (milliseconds) => {
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
}
