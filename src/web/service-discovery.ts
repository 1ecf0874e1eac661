import { respondCompressed } from './compression.ts';
import { hostAndPort, type Scheme } from './host.ts';
import { respondText, type WebResponse } from './response.ts';
import type { WebRequest } from './routes.ts';
import type { ExporterView, PolledServiceCode } from './view.ts';

/** A target of Prometheus' HTTP service discovery. */
interface TargetGroup {
  readonly targets: readonly [string];
  readonly labels: Readonly<Record<string, string>>;
}

/** Where the targets are. */
interface Address {
  /** Host and port. */
  readonly target: string;
  readonly scheme: Scheme;
  readonly metricsPath: string;
}

/** Where Prometheus finds each of the service codes, in their order, with the labels that they bring. */
export function targetGroups(
  serviceCodes: readonly PolledServiceCode[],
  { target, scheme, metricsPath }: Address,
): readonly TargetGroup[] {
  return serviceCodes
    .toSorted((a, b) => (a.serviceCode < b.serviceCode ? -1 : 1))
    .map(({ serviceCode, labels }) => ({
      targets: [target],
      labels: {
        // First: whatever they are called, they must not lead a scrape elsewhere.
        ...labels,
        __scheme__: scheme,
        __metrics_path__: metricsPath,
        __param_service_code: serviceCode,
        service_code: serviceCode,
      },
    }));
}

/** What `/sd` answers: the targets under the address by which the asker came, since only that is known to lead here. */
export async function discovery(
  view: ExporterView,
  { headers, scheme = 'http' }: WebRequest,
  metricsPath: string,
): Promise<WebResponse> {
  const target = hostAndPort(headers.host ?? '', scheme);
  if (target === undefined) {
    const found = headers.host === undefined ? 'none' : 'something else';
    return respondText(
      400,
      `Expected the Host header to be a name or an address, with or without a port, found ${found}.`,
    );
  }
  const groups = targetGroups(view.serviceCodes(), { target, scheme, metricsPath });
  return await respondCompressed([Buffer.from(JSON.stringify(groups))], 'application/json', headers, {
    Vary: 'Accept-Encoding',
  });
}
