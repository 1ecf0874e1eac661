import { z } from 'zod';

/** The response of a command without a result. */
export const EMPTY_RESPONSE = z.object({});

/** The address of a server. */
export const ADDRESS_RESPONSE = z.object({ url: z.string() });

/** CPU time since `begin` as a share of a core, and peak memory since the start. */
export const USAGE_RESPONSE = z.object({ cpuShare: z.number(), peakRssMb: z.number() });

/** CPU time that a process used so far. */
export const CPU_RESPONSE = z.object({ cpuMs: z.number() });
