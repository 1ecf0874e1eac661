import type { ExporterFacade, PolledServiceCode } from './exporter-facade.ts';
import { runAtOnce, type Scheme, type WebRequest } from './request.ts';
import { respondCompressed, respondText, type WebResponse } from './response.ts';
import { OWN_METRICS_PATH } from './scrape.ts';

/** A target group of Prometheus' HTTP service discovery. */
interface TargetGroup {
  readonly targets: readonly [string];
  readonly labels: Readonly<Record<string, string>>;
}

interface ScrapeAddress {
  /** Host, and port unless it is the default of the scheme. */
  readonly target: string;
  readonly scheme: Scheme;
  readonly metricsPath: string;
}

/** Builds a target group for the process, and one for each service code, sorted by service code. */
export function buildTargetGroups(
  serviceCodes: readonly PolledServiceCode[],
  { target, scheme, metricsPath }: ScrapeAddress,
): readonly TargetGroup[] {
  const ofProcess: TargetGroup = {
    targets: [target],
    labels: { __scheme__: scheme, __metrics_path__: OWN_METRICS_PATH },
  };
  const ofCodes = serviceCodes
    .toSorted((a, b) => (a.serviceCode < b.serviceCode ? -1 : 1))
    .map(({ serviceCode, labels }): TargetGroup => ({
      targets: [target],
      labels: {
        // Configured labels come first, so that they cannot redirect a scrape.
        ...labels,
        __scheme__: scheme,
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
  { headers, scheme = 'http', inTurn = runAtOnce }: WebRequest,
  metricsPath: string,
): Promise<WebResponse> {
  const target = parseTarget(headers.host ?? '', scheme);
  if (target === undefined) {
    const found = headers.host === undefined ? 'none' : 'another value';
    return respondText(
      400,
      `Expected the Host header to be a host name or IP address with an optional port, found ${found}.`,
    );
  }
  return await inTurn(async () => {
    const groups = buildTargetGroups(facade.getServiceCodes(), { target, scheme, metricsPath });
    const vary = { Vary: 'Accept-Encoding' };
    return await respondCompressed(JSON.stringify(groups), 'application/json', headers, vary);
  });
}

/** The address in a `Host` header; `undefined` if the header is more or less than an address. */
function parseTarget(host: string, scheme: Scheme): string | undefined {
  if (!URL.canParse(`${scheme}://${host}`)) return undefined;
  const url = new URL(`${scheme}://${host}`);
  return url.href === `${scheme}://${url.host}/` ? url.host : undefined;
}
