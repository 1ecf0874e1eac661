import { Births, toKey, type ExposedCode } from './births.ts';
import { ExpositionBody } from './exposition-body.ts';
import { renderMetadata, renderSamples, type ExpositionFormat } from './exposition-lines.ts';
import type { Family, FamilySelection, FamilySpec, StaticLabels } from '../catalogue/family.ts';

/** Bodies that are kept for the next scrape; at least the last one is. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** Comes after the last family. */
const END: Readonly<Record<ExpositionFormat, Buffer>> = {
  text: Buffer.alloc(0),
  openmetrics: Buffer.from('# EOF\n'),
};

/** Rendered lines of some samples, by format. */
interface RenderedSamples extends Partial<Record<ExpositionFormat, Buffer>> {
  readonly staticLabels: StaticLabels | undefined;
}

/** What a scrape asks for. */
export interface CollectedFamilies {
  readonly families: readonly Family[];
  /** The service codes of which the families hold the counters. */
  readonly codes: readonly ExposedCode[];
}

/** The response to a scrape. */
export interface RenderedScrape {
  readonly body: ExpositionBody;
  /** Records that the scrape has been answered with it. */
  readonly answered: () => void;
}

/** Renders expositions. Keeps the rendered lines of samples, which are immutable, while these are in use. */
export class Exposition {
  /** By what does not change of samples: {@link toKey}. */
  readonly #sampleLines = new WeakMap<object, RenderedSamples>();
  readonly #metadataLines = new WeakMap<FamilySpec, Partial<Record<ExpositionFormat, Buffer>>>();
  /** By selection and format, the least recently used one first. */
  readonly #keptBodies = new Map<string, ExpositionBody>();
  #keptBytes = 0;
  readonly #births = new Births();

  /** Renders the families of a scrape. New label sets of counters are at 0 ({@link Births}). */
  render(
    selection: FamilySelection,
    { families, codes }: CollectedFamilies,
    format: ExpositionFormat,
  ): RenderedScrape {
    const newborn = this.#births.findNewborn(codes);
    const expose = (family: Family): Family => {
      const samples = newborn.get(toKey(family.samples));
      return samples === undefined ? family : { ...family, samples };
    };
    return {
      body: this.renderBody(selection, newborn.size === 0 ? families : families.map(expose), format),
      answered: () => this.#births.recordAnswer(codes),
    };
  }

  /**
   * Renders families in their order (text 0.0.4; OpenMetrics 1.0, "Text format") and omits those without
   * samples. A family may come in several consecutive parts, each sample once. Lone surrogates become U+FFFD.
   *
   * Returns the body of the last scrape of this selection if nothing has changed since.
   */
  renderBody(
    selection: FamilySelection,
    families: readonly Family[],
    format: ExpositionFormat,
  ): ExpositionBody {
    const index = families.findIndex(({ spec }) => !spec.labels.includes('service_code'));
    const tailStart = index < 0 ? families.length : index;
    const headChunks = this.#renderChunks(families.slice(0, tailStart), format);
    const tail = Buffer.concat([...this.#renderChunks(families.slice(tailStart), format), END[format]]);
    const key = createKey(selection, format);
    const kept = this.#keptBodies.get(key);
    const body = ExpositionBody.createAfter(kept, headChunks, tail);
    this.#keep(key, kept, body);
    return body;
  }

  #keep(key: string, before: ExpositionBody | undefined, body: ExpositionBody): void {
    this.#keptBodies.delete(key);
    this.#keptBodies.set(key, body);
    this.#keptBytes += body.byteLength - (before?.byteLength ?? 0);
    for (const [oldKey, { byteLength }] of this.#keptBodies) {
      if (this.#keptBytes <= MAX_KEPT_BYTES || oldKey === key) return;
      this.#keptBodies.delete(oldKey);
      this.#keptBytes -= byteLength;
    }
  }

  #renderChunks(families: readonly Family[], format: ExpositionFormat): readonly Buffer[] {
    const chunks: Buffer[] = [];
    let lastSpec: FamilySpec | undefined;
    for (const family of families) {
      const { spec } = family;
      const samples = this.#renderSamples(family, format);
      if (samples.length === 0) continue;
      if (spec !== lastSpec) chunks.push(this.#renderMetadata(spec, format));
      lastSpec = spec;
      chunks.push(samples);
    }
    return chunks;
  }

  #renderMetadata(spec: FamilySpec, format: ExpositionFormat): Buffer {
    let rendered = this.#metadataLines.get(spec);
    if (rendered === undefined) {
      rendered = {};
      this.#metadataLines.set(spec, rendered);
    }
    rendered[format] ??= Buffer.from(renderMetadata(spec, format));
    return rendered[format];
  }

  #renderSamples(family: Family, format: ExpositionFormat): Buffer {
    const { samples, staticLabels } = family;
    const key = toKey(samples);
    let rendered = this.#sampleLines.get(key);
    if (rendered === undefined || rendered.staticLabels !== staticLabels) {
      rendered = { staticLabels };
      this.#sampleLines.set(key, rendered);
    }
    rendered[format] ??= renderSamples(family, format);
    return rendered[format];
  }
}

function createKey(selection: FamilySelection, format: ExpositionFormat): string {
  return `${format} ${typeof selection === 'string' ? selection : JSON.stringify(selection.serviceCode)}`;
}

/** Counts the series that Prometheus stores. */
export function countSeries(families: readonly Family[]): number {
  let count = 0;
  for (const { samples } of families) {
    if ('labelSets' in samples) for (const number of samples.numbers) count += Number.isNaN(number) ? 0 : 1;
    // A histogram has a series for each bucket, `_sum` and `_count`.
    else for (const { buckets } of samples) count += buckets.length + 2;
  }
  return count;
}
