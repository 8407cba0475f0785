const SAMPLE_INTERVAL_MS = 20;
const STANDSTILL_MS = 200;

/** How long work takes, in milliseconds. Where the machine stands still, an interval counts up to `STANDSTILL_MS` only. */
export async function awakeMs(work: () => Promise<unknown>): Promise<number> {
  let [spent, sampledMs] = [0, performance.now()];
  const sample = () => {
    const nowMs = performance.now();
    spent += Math.min(nowMs - sampledMs, STANDSTILL_MS);
    sampledMs = nowMs;
  };
  const timer = setInterval(sample, SAMPLE_INTERVAL_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  sample();
  return spent;
}

/** What work costs, in milliseconds of processor time: other processes do not make it look slow. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
