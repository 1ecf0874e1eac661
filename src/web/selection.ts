import type { Selection } from '../metrics/selection.ts';
import { notHere } from './not-here.ts';
import { respondText, type WebResponse } from './response.ts';
import type { ExporterView } from './view.ts';

/** The parts of an exposition, by the names under which node_exporter's `collect[]` asks for its own. */
const PARTS = ['exporter', 'service_codes'] as const;
const EXPECTED = PARTS.join(' or ');
const MAX_SHOWN = 40;

/** What a scrape wants, by its `collect[]` and `service_code`; or the answer that refuses it. */
export function selectionOf(query: URLSearchParams, view: ExporterView): Selection | WebResponse {
  const collected = query.getAll('collect[]');
  const stranger = collected.find((name) => !PARTS.some((part) => part === name));
  if (stranger !== undefined)
    return respondText(400, `Expected collect[] to be ${EXPECTED}, found ${shown(stranger)}.`);
  const serviceCodes = query.getAll('service_code');
  if (serviceCodes.length === 0) return partOf(collected);
  if (serviceCodes.includes(''))
    return respondText(400, 'Expected service_code to have a value, found none.');
  // An answer without any series would be a scrape that succeeds, and hides that it was asked for nothing.
  if (collected.includes('exporter'))
    return respondText(400, 'Expected collect[]=exporter without service_code, found both.');
  const missing = serviceCodes.find((serviceCode) => !view.hasServiceCode(serviceCode));
  return missing === undefined ? new Set(serviceCodes) : notHere(view, missing);
}

function partOf(collected: readonly string[]): Selection {
  const [part] = PARTS.filter((name) => collected.includes(name));
  return part === undefined || PARTS.every((name) => collected.includes(name)) ? 'everything' : part;
}

/** In quotes, not too much of it, and nothing but what is printed everywhere. */
function shown(value: string): string {
  const text = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}...` : value;
  return `"${text.replaceAll(/[^\w .:,()[\]-]/g, '?')}"`;
}
