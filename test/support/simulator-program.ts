import { fileURLToPath } from 'node:url';
import { Program } from './program.ts';

const SIMULATOR_PATH = fileURLToPath(new URL('../simulator/main.js', import.meta.url));

/** Starts the simulator on a free port; `flags` describe its world. */
export function startSimulatorProgram(...flags: readonly string[]): Program {
  return new Program(process.execPath, [SIMULATOR_PATH, '--listen-address=127.0.0.1:0', ...flags]);
}

/** Injects a fault in the simulator at `url`. */
export async function setFault(url: string, fault: object): Promise<void> {
  await request(`${url}/-/faults`, { method: 'PUT', body: JSON.stringify(fault) });
}

/** Removes the faults of one service code, or of all. */
export async function clearFaults(url: string, serviceCode?: string): Promise<void> {
  const query = serviceCode === undefined ? '' : `?service_code=${encodeURIComponent(serviceCode)}`;
  await request(`${url}/-/faults${query}`, { method: 'DELETE' });
}

async function request(url: string, init: RequestInit): Promise<void> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok)
    throw new Error(`Expected the simulator to accept the fault, found ${response.status}: ${text}`);
}
