import type { ExporterFacade } from './exporter-facade.ts';
import { respondCompressed, respondText, type WebRequest, type WebResponse } from './http-messages.ts';
import { OWN_METRICS_PATH } from './scrape.ts';

/** A host name of 253 characters, a colon and a port, with some to spare: each target repeats it. */
const MAX_HOST_CHARACTERS = 261;

/** Targets have the address of the `Host` header, which is known to reach this exporter. */
export async function handleServiceDiscovery(
  facade: ExporterFacade,
  { headers, scheme, socketPath }: WebRequest,
): Promise<WebResponse> {
  const { host = '' } = headers;
  const address = `${scheme}://${host}`;
  const url = host.length <= MAX_HOST_CHARACTERS && URL.canParse(address) ? new URL(address) : undefined;
  if (url?.href !== `${scheme}://${url?.host}/`) {
    const found = headers.host === undefined ? 'none' : 'another value';
    return respondText(
      400,
      `Expected the Host header to be a host name or IP address with an optional port, found ${found}.`,
    );
  }
  const targets = [url.host];
  const common = {
    __scheme__: scheme,
    // Prometheus knows it from 3.15 on.
    ...(socketPath !== undefined && { __unix_socket__: socketPath }),
  };
  const ofProcess = { targets, labels: { ...common, __metrics_path__: OWN_METRICS_PATH } };
  const ofCodes = facade
    .getServiceCodes()
    .toSorted((a, b) => (a.serviceCode < b.serviceCode ? -1 : 1))
    .map(({ serviceCode, labels }) => ({
      targets,
      labels: {
        // Configured labels come first, so that they cannot redirect a scrape.
        ...labels,
        ...common,
        __metrics_path__: facade.telemetryPath,
        __param_service_code: serviceCode,
        service_code: serviceCode,
      },
    }));
  const groups = JSON.stringify([ofProcess, ...ofCodes]);
  return await respondCompressed(groups, 'application/json', headers);
}
