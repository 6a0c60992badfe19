/**
 * Watches the event loop: `stop()` returns the longest block, in milliseconds of processor time of the thread that watches. What other
 * threads use, or a pause forced by a busy machine, does not count.
 */
export function watchLoop(): { stop: () => number } {
  let longest = 0;
  let last = threadMs();
  const tick = (): void => {
    const now = threadMs();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(tick, 2);
  return {
    stop: () => {
      tick();
      clearInterval(timer);
      return longest;
    },
  };
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
