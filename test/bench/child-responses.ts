import { z } from 'zod';

/** What processes of `children/` answer to their commands. */
export const EMPTY_RESPONSE = z.object({});

/** Where one listens. */
export const ADDRESS_RESPONSE = z.object({ url: z.string() });

/** What one used since `begin`, as a share of a core; and the most memory that it has ever held. */
export const USAGE_RESPONSE = z.object({ cpuShare: z.number(), peakRssMb: z.number() });

/** CPU time that a process used so far. */
export const CPU_RESPONSE = z.object({ cpuMs: z.number() });
