import type { User } from '../listing/interface.ts';
import { mix, pick } from './hash.ts';
import { userSeedAt, type Population } from './lives.ts';
import { clientVersions, deviceTypes, servers } from './repertoire.ts';

/** A user as the simulator emits it: the interface's "User" with all of the sample's fields present. */
export type SimulatedUser = ReturnType<typeof userRecord>;

/** The users of a service code who are online at a moment. */
export function* usersAt(
  population: Population,
  serviceCode: string,
  timeMs: number,
): Generator<SimulatedUser, void, undefined> {
  for (let slot = 0; slot < population.slots; slot += 1) {
    const seed = userSeedAt(population, slot, timeMs);
    if (seed !== undefined) yield userRecord(serviceCode, seed);
  }
}

function userRecord(serviceCode: string, seed: number) {
  return {
    vs_id: pick(servers, mix(seed, 2)).id,
    service_code: serviceCode,
    user_name: String(seed % 1_000_000).padStart(6, '0'),
    client_version: pick(clientVersions, mix(seed, 3)),
    device_type: pick(deviceTypes, mix(seed, 4)),
  } satisfies User;
}
