import { Births, toKey, type ExposedCode } from './births.ts';
import { renderMetadata, renderSamples, type ExpositionFormat } from './exposition-lines.ts';
import type { Family, FamilySelection, FamilySpec, StaticLabels } from '../catalogue/family.ts';

/** Bodies that are kept for the next scrape; at least the last one is. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** Comes after the last family. */
const END: Readonly<Record<ExpositionFormat, string>> = { text: '', openmetrics: '# EOF\n' };

/** Room for what changes between two scrapes. */
const EXTRA_BYTES = 64 * 1024;

const NO_BYTES = Buffer.alloc(0);

/** A part of a kept body; without bytes when another one has taken its place. */
interface RenderedBlock {
  bytes: Buffer;
}

interface KeptBody {
  readonly body: ExpositionBody;
  readonly blocks: readonly RenderedBlock[];
}

/** Where the lines of some samples are in the body that had them last, if it is kept. */
interface RenderedLines {
  readonly block: RenderedBlock;
  readonly start: number;
  readonly end: number;
}

interface RenderedSamples extends Partial<Record<ExpositionFormat, RenderedLines>> {
  readonly staticLabels: StaticLabels | undefined;
}

/**
 * A rendered exposition: families of service codes, which change with polls only, then those of the process.
 * While its bytes are the same, it is the same object, as are its parts: all readers share one copy.
 */
export class ExpositionBody {
  readonly head: Buffer;
  readonly tail: Buffer;
  #bytes: Buffer | undefined;

  constructor(head: Buffer, tail: Buffer) {
    this.head = head;
    this.tail = tail;
  }

  get byteLength(): number {
    return this.head.length + this.tail.length;
  }

  /** The exposition as readers of plain text get it. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.concat([this.head, this.tail]);
    return this.#bytes;
  }
}

export interface CollectedFamilies {
  readonly families: readonly Family[];
  /** The service codes of which the families hold the counters. */
  readonly codes: readonly ExposedCode[];
}

export interface RenderedScrape {
  readonly body: ExpositionBody;
  /** Records that the scrape has been answered with it. */
  readonly answered: () => void;
}

/** Renders expositions. Samples are immutable: their lines are copied from the body that had them last. */
export class Exposition {
  /** By what does not change of samples: {@link toKey}. */
  readonly #sampleLines = new WeakMap<object, RenderedSamples>();
  /** By selection and format, the least recently used one first. */
  readonly #kept = new Map<string, KeptBody>();
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
   * Renders families in their order (text 0.0.4; OpenMetrics 1.0, "Text format"), without those that have no
   * samples. A family may come in several consecutive parts, each sample once. Returns the body of the last
   * scrape of this selection if nothing has changed since.
   */
  renderBody(
    selection: FamilySelection,
    families: readonly Family[],
    format: ExpositionFormat,
  ): ExpositionBody {
    const index = families.findIndex(({ spec }) => !spec.labels.includes('service_code'));
    const tailStart = index < 0 ? families.length : index;
    const key = createKey(selection, format);
    const kept = this.#kept.get(key);
    const head = this.#render(families.slice(0, tailStart), format, '', kept?.body.head);
    const tail = this.#render(families.slice(tailStart), format, END[format], kept?.body.tail);
    const isSame = head.bytes === kept?.body.head && tail.bytes === kept.body.tail;
    const body = isSame ? kept.body : new ExpositionBody(head.bytes, tail.bytes);
    this.#drop(key);
    this.#keptBytes += body.byteLength;
    this.#kept.set(key, { body, blocks: [head, tail] });
    for (const oldKey of this.#kept.keys()) {
      if (this.#keptBytes <= MAX_KEPT_BYTES || oldKey === key) break;
      this.#drop(oldKey);
    }
    return body;
  }

  #drop(key: string): void {
    const { body, blocks = [] } = this.#kept.get(key) ?? {};
    this.#keptBytes -= body?.byteLength ?? 0;
    this.#kept.delete(key);
    for (const block of blocks) block.bytes = NO_BYTES;
  }

  /** Renders a part of a body: the bytes before if they are the same. */
  #render(
    families: readonly Family[],
    format: ExpositionFormat,
    end: string,
    before: Buffer = NO_BYTES,
  ): RenderedBlock {
    const block: RenderedBlock = { bytes: NO_BYTES };
    const writer = new LineWriter(before.length + EXTRA_BYTES);
    let lastSpec: FamilySpec | undefined;
    for (const family of families) {
      const rendered = this.#getRendered(family);
      const last = rendered[format];
      const known = last && last.end <= last.block.bytes.length ? last : undefined;
      let start = writer.length;
      const begin = (): void => {
        if (family.spec === lastSpec) return;
        writer.write(renderMetadata(family.spec, format));
        lastSpec = family.spec;
        start = writer.length;
      };
      if (known === undefined)
        for (const text of renderSamples(family, format)) {
          begin();
          writer.write(text);
        }
      else if (known.start < known.end) {
        begin();
        writer.copy(known.block.bytes, known.start, known.end);
      }
      rendered[format] = { block, start, end: writer.length };
    }
    writer.write(end);
    block.bytes = writer.bytes.equals(before) ? before : writer.bytes;
    return block;
  }

  #getRendered({ samples, staticLabels }: Family): RenderedSamples {
    const key = toKey(samples);
    const found = this.#sampleLines.get(key);
    if (found !== undefined && found.staticLabels === staticLabels) return found;
    const created: RenderedSamples = { staticLabels };
    this.#sampleLines.set(key, created);
    return created;
  }
}

/** Collects text as bytes. Lone surrogates become U+FFFD. */
class LineWriter {
  length = 0;
  #room: Buffer;

  constructor(capacity: number) {
    this.#room = Buffer.allocUnsafeSlow(capacity);
  }

  get bytes(): Buffer {
    return this.#room.subarray(0, this.length);
  }

  write(text: string): void {
    // A UTF-16 unit takes three bytes at most.
    this.#reserve(3 * text.length);
    this.length += this.#room.write(text, this.length);
  }

  copy(source: Buffer, start: number, end: number): void {
    this.#reserve(end - start);
    this.length += source.copy(this.#room, this.length, start, end);
  }

  #reserve(byteLength: number): void {
    if (this.length + byteLength <= this.#room.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.length + byteLength));
    this.#room.copy(larger, 0, 0, this.length);
    this.#room = larger;
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
