/**
 * Watches the event loop: `stop()` returns the longest block in milliseconds. A gap between two ticks counts with the processor
 * time that this thread used in it, so that a pause forced by a busy machine is not taken for a block.
 */
export function watchLoop(): { stop: () => number } {
  let longest = 0;
  let lastWall = performance.now();
  let lastCpu = threadMs();
  const tick = (): void => {
    const [wall, cpu] = [performance.now(), threadMs()];
    longest = Math.max(longest, Math.min(wall - lastWall, cpu - lastCpu));
    [lastWall, lastCpu] = [wall, cpu];
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
  const usage = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (usage.user + usage.system) / 1000;
}
