/** The most that an input may cost, as a multiple of an ordinary one of the same size. */
export const MAX_COST_RATIO = 10;

/** Long enough for the clock of CPU time. */
const MIN_SAMPLE_MS = 2;
/** Other work of the process can only add CPU time, so the least of some samples counts. */
const MAX_SAMPLES = 12;

type Run = () => unknown;

/**
 * Measures the CPU time of a call as a multiple of that of another one in the same process. Takes more
 * samples while the multiple is above half of the limit.
 */
export async function measureCostRatio(run: Run, ordinary: Run): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  let leastOrdinary = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < MAX_SAMPLES; sample += 1) {
    leastOrdinary = Math.min(leastOrdinary, await sampleCpuMs(ordinary));
    least = Math.min(least, await sampleCpuMs(run));
    if (sample > 0 && least / leastOrdinary < MAX_COST_RATIO / 2) break;
  }
  return least / leastOrdinary;
}

/** The CPU time of one call, of as many as take {@link MIN_SAMPLE_MS}. */
async function sampleCpuMs(run: Run): Promise<number> {
  const start = process.cpuUsage();
  for (let calls = 1; ; calls += 1) {
    await run();
    const { user, system } = process.cpuUsage(start);
    const ms = (user + system) / 1000;
    if (ms >= MIN_SAMPLE_MS) return ms / calls;
  }
}
