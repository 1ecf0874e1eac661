import type { StaticLabels } from '../metrics/catalogue/family.ts';
import type { ExporterFacade } from './exporter-facade.ts';
import { respondCompressed, respondText, type WebRequest, type WebResponse } from './http-messages.ts';
import { OWN_METRICS_PATH } from './scrape.ts';

/** A target group of Prometheus' HTTP service discovery. */
interface TargetGroup {
  readonly targets: readonly [string];
  readonly labels: Readonly<Record<string, string>>;
}

interface ScrapeAddress {
  /** Host, and port unless it is the default of the scheme. */
  readonly target: string;
  readonly scheme: string;
  readonly metricsPath: string;
  /** Of a Unix socket, for Prometheus 3.15 and later. */
  readonly socketPath?: string | undefined;
}

/** A host name of 253 characters, a colon and a port, with some to spare for brackets: each target repeats it. */
const MAX_HOST_CHARACTERS = 261;

/** Builds a target group for the process, and one for each service code, sorted by service code. */
export function buildTargetGroups(
  serviceCodes: readonly { readonly serviceCode: string; readonly labels: StaticLabels }[],
  { target, scheme, metricsPath, socketPath }: ScrapeAddress,
): readonly TargetGroup[] {
  const address = {
    __scheme__: scheme,
    ...(socketPath === undefined ? {} : { __unix_socket__: socketPath }),
  };
  const ofProcess: TargetGroup = {
    targets: [target],
    labels: { ...address, __metrics_path__: OWN_METRICS_PATH },
  };
  const ofCodes = serviceCodes
    .toSorted((a, b) => (a.serviceCode < b.serviceCode ? -1 : 1))
    .map(({ serviceCode, labels }): TargetGroup => ({
      targets: [target],
      labels: {
        // Configured labels come first, so that they cannot redirect a scrape.
        ...labels,
        ...address,
        __metrics_path__: metricsPath,
        __param_service_code: serviceCode,
        service_code: serviceCode,
      },
    }));
  return [ofProcess, ...ofCodes];
}

/** Responds to `/sd`. Targets have the address of the `Host` header: it is known to reach this exporter. */
export async function handleServiceDiscovery(
  facade: ExporterFacade,
  { headers, scheme = 'http', socketPath }: WebRequest,
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
  const groups = buildTargetGroups(facade.getServiceCodes(), {
    target: url.host,
    scheme,
    metricsPath: facade.telemetryPath,
    socketPath,
  });
  return await respondCompressed(JSON.stringify(groups), 'application/json', headers);
}
